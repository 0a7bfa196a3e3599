"""Reports of models of several labels: their figures are those of the JSON and of the predictions."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import browser
import numpy as np
import pytest
from test_report_page import Tree, rows_of, shown

import aesara_nondecomp as an
from aesara_nondecomp.cli import main
from aesara_nondecomp.data.label_sets import Indicators
from aesara_nondecomp.measures import Averaged
from aesara_nondecomp.measures.user import UserPseudolinear
from aesara_nondecomp.reports.label_comparison import label_comparison_facts, label_comparison_page
from aesara_nondecomp.reports.label_facts import label_evaluation_facts
from aesara_nondecomp.reports.label_sections import SECTIONS
from aesara_nondecomp.reports.markup import number, plain_name
from aesara_nondecomp.reports.two_models import Scored

RNG = np.random.default_rng(0)
N, LABELS = 500, ("<script>news</script>", "sport\u202e", "art" + "y" * 1000)
TABLE = dict(zip(("<b>a", "b"), RNG.normal(size=(2, N))))
TABLE["noise"] = RNG.choice(["x", "y"], N).astype(object)
SIDES = np.stack([TABLE["<b>a"], TABLE["b"], TABLE["b"] - TABLE["<b>a"]], axis=1)
MATRIX = SIDES + 0.5 * RNG.normal(size=(N, 3)) > [0.3, 0.8, 1.5]
Y = Indicators(MATRIX, LABELS)


@pytest.fixture(scope="module")
def model():
    stopping = an.EarlyStopping(0.3, patience=None)
    return an.fit(TABLE, Y, "f1", network=(6,), steps=60, validation=stopping, seed=0, progress=False)


@pytest.fixture(scope="module")
def reported(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    return path, model.report(TABLE, Y, path, n_resamples=40)


def test_the_page_shows_the_figures_of_the_json_and_these_are_of_the_predictions(model, reported):
    path, facts = reported
    assert json.loads(json.dumps(facts))["labels"] == facts["labels"]
    rows, predicted = rows_of(path), model.predict(TABLE).astype(bool)
    for measure, m in facts["measures"].items():
        assert rows[measure] == [m["better"], *shown(m)], measure
        assert m["value"] == pytest.approx(model.value(TABLE, MATRIX, measure), nan_ok=True)
    for k, label in enumerate(LABELS):
        each, given, has = facts["labels"][k], predicted[:, k], MATRIX[:, k]
        assert each["table"] == {
            "TP": np.sum(given & has), "FN": np.sum(~given & has), "FP": np.sum(given & ~has),
            "TN": np.sum(~given & ~has),
        }  # fmt: skip
        cells = rows[plain_name(label)]
        prior, recall = float(model.priors[k]), float(np.mean(given[has]))
        assert cells[:4] == [str(has.sum()), str(given.sum()), number(prior), number(recall)]
        assert cells[-1] == number(float(model.thresholds[k]))
        assert each["precision"]["value"] == pytest.approx(np.mean(has[given]))


def test_what_is_undefined_is_none_in_the_figures_of_the_page(model, tmp_path):
    rows = np.flatnonzero(~MATRIX[:, 2])
    some = {key: column[rows] for key, column in TABLE.items()}
    with pytest.warns(UserWarning):
        facts = model.report(some, MATRIX[rows], tmp_path / "r.html", n_resamples=5)
    json.dumps(facts, allow_nan=False)
    assert facts["labels"][2]["recall"]["value"] is None


def test_model_and_command_give_one_page(model, tmp_path):
    labels = ("news", "sport", "art")
    plain = replace(model, labels=labels, extra={"target": list(labels)}, history=[], evaluations=[])
    columns = TABLE["<b>a"].tolist(), TABLE["b"].tolist(), TABLE["noise"], *MATRIX.T.astype(int).tolist()
    lines = [",".join(map(str, cells)) + "\n" for cells in zip(*columns)]
    (tmp_path / "rows.csv").write_text("<b>a,b,noise,news,sport,art\n" + "".join(lines))
    plain.save(tmp_path / "m.model")
    files = [str(tmp_path / "m.model"), str(tmp_path / "rows.csv"), "--draws", "40", "--quiet"]
    assert main(["evaluate", *files, "--html", str(tmp_path / "c.html"), "--out", str(tmp_path / "c.json")]) == 0
    facts = plain.report(TABLE, MATRIX, tmp_path / "m.html", n_resamples=40)
    assert (tmp_path / "m.html").read_text() == (tmp_path / "c.html").read_text()
    assert json.loads((tmp_path / "c.json").read_text()) == json.loads(json.dumps(facts).replace("NaN", "null"))


def test_a_page_loads_nothing_closes_its_tags_and_shortens_names(reported):
    text = reported[0].read_text(encoding="utf-8")
    tree = Tree(text)
    assert not {tag for tag, _ in tree.tags} & {"script", "img", "iframe", "b"}
    ids = [found["id"] for _, found in tree.tags if "id" in found]
    assert len(ids) == len(set(ids)) and "y" * 61 not in text and "\u202e" not in text
    pictures = [found for tag, found in tree.tags if tag == "svg"]
    assert len(pictures) >= 4 and all(set(each["aria-labelledby"].split()) <= set(ids) for each in pictures)


def test_the_picture_of_labels_has_a_point_and_an_interval_for_each(reported):
    text = reported[0].read_text(encoding="utf-8")
    picture = text[text.index('aria-labelledby="label-f1-title') :].partition("</svg>")[0]
    assert picture.count('class="point"') == picture.count("whisker") == len(LABELS)
    worst = min(range(3), key=lambda k: reported[1]["labels"][k]["f1"]["value"])
    assert f"of the label {worst}." in picture


def test_columns_that_tell_the_labels_are_important_and_noise_is_not(reported):
    text = reported[0].read_text(encoding="utf-8")
    section = text[text.index('<section id="importance"') :].partition("</section>")[0]
    assert [row[0] for row in Tree(section + "</section>").rows[1:]][-1] == "noise"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"calibrations": ()}, "not calibrated"),
        ({"thresholds": np.array([0.0, np.inf, -np.inf])}, "Given to all rows or to none: "),
        ({"thresholds": np.zeros(3)}, "one threshold for all labels"),
        ({"history": [], "evaluations": []}, "call report right after fit"),
    ],
)
def test_what_a_model_lacks_is_said(model, tmp_path, changes, said):
    replace(model, **changes).report(TABLE, Y, tmp_path / "r.html", n_resamples=3)
    assert said in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_label_of_few_rows_is_warned_of(model, tmp_path):
    rows = np.flatnonzero(~MATRIX[:, 2] | (np.cumsum(MATRIX[:, 2]) <= 4))
    table = {name: column[rows] for name, column in TABLE.items()}
    with pytest.warns(UserWarning, match="for 1 of 3 labels these are fewer than 10, at the least 4"):
        model.report(table, MATRIX[rows], tmp_path / "r.html", n_resamples=3)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Intervals are rough where fewer than 10 rows" in text and "(4)" in text


@pytest.mark.parametrize(
    ("wrong", "said"), [({"n_resamples": 0}, "n_resamples"), ({"seed": "x"}, "seed"), ({"path": "no/where"}, "folder")]
)
def test_wrong_arguments_are_refused(model, tmp_path, wrong, said):
    arguments = {"path": "r.html", **wrong}
    with pytest.raises((ValueError, OSError), match=said):
        model.report(TABLE, Y, tmp_path / arguments.pop("path"), **arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_comparison_with_itself_differs_nowhere_and_other_labels_are_refused(model):
    scored = Scored(model, MATRIX, model.decision_function(TABLE))
    facts = label_comparison_facts(scored, scored, 5, 0)
    assert facts["differ"] == 0
    assert all(m["value"] == m["low"] == m["high"] == 0 for m in facts["differences"].values() if m["low"] == m["low"])
    page = Tree(label_comparison_page(["one", "<other>"], facts))
    assert [row for row in page.rows if row[0] == "trained for"] == [["trained for", "macro_f1", "macro_f1"]]
    with pytest.raises(ValueError, match="two models of the same labels"):
        label_comparison_facts(scored, scored._replace(model=replace(model, labels=("a", "b", "c"))), 5, 0)
    with pytest.raises(ValueError, match="two models on the same rows"):
        label_comparison_facts(scored, scored._replace(truth=~MATRIX), 5, 0)


def test_measures_of_ones_own_of_one_name_are_not_taken_for_each_other(model):
    said = "texts that tell them apart, got 'macro_.*' twice"
    costs = [Averaged(UserPseudolinear("cost", (0, weight, 1), (2, 0, 0))) for weight in (1, 5)]
    scored = [Scored(replace(model, measure=each), MATRIX, model.decision_function(TABLE)) for each in costs]
    with pytest.raises(ValueError, match=said):
        label_comparison_facts(*scored, 5, 0)
    mine = replace(model, measure=Averaged(UserPseudolinear("f1", (0, 1, 1), (2, 0, 0))))
    with pytest.raises(ValueError, match=said):
        label_evaluation_facts(mine, scored[0].scores, MATRIX, 5, 0)


def test_every_section_has_a_place_of_its_own():
    assert len(set(SECTIONS)) == len(SECTIONS)


@pytest.mark.skipif(not browser.CHROMIUM or os.name != "posix", reason="needs chromium")
def test_a_browser_shows_the_page_at_both_widths_without_a_complaint_or_overflow(reported, tmp_path):
    window = browser.Browser(tmp_path / "profile")
    try:
        for width, dark in ((360, False), (1280, True)):
            window.open(Path(reported[0]), width, dark)
            assert window.complaints() == []
            assert window.evaluate("document.documentElement.scrollWidth") <= width
    finally:
        window.close()
