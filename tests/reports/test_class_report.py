"""Reports of models of several classes: their figures are those of the JSON and of the predictions."""

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
from aesara_nondecomp.data import InputEncoder
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.metrics.class_bootstrap import bootstrap_classes
from aesara_nondecomp.reports.class_comparison import class_comparison_facts, class_comparison_page
from aesara_nondecomp.reports.class_facts import class_evaluation_facts
from aesara_nondecomp.reports.class_sections import SECTIONS, class_evaluation_page, class_table
from aesara_nondecomp.reports.curves import CalibrationCurve
from aesara_nondecomp.reports.markup import number, plain_name, shaded
from aesara_nondecomp.reports.two_models import Scored

RNG = np.random.default_rng(0)
N = 500
LABELS = np.array(["<script>common</script>", "fair\u202e", "rare" + "y" * 1000])
CODES = RNG.choice(3, N, p=[0.7, 0.2, 0.1])
TABLE = dict(zip(("<b>a", "b"), (RNG.normal(size=(N, 2)) + np.array([[0, 0], [3, 0], [0, 3]])[CODES]).T))
TABLE["noise"] = RNG.choice(["x", "y"], N).astype(object)
Y = LABELS[CODES]


@pytest.fixture(scope="module")
def model():
    stopping = an.EarlyStopping(0.3, patience=None)
    return an.fit(TABLE, Y, "min_recall", network=(6,), steps=60, validation=stopping, seed=0, progress=False)


@pytest.fixture(scope="module")
def reported(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    return path, model.report(TABLE, Y, path, n_resamples=40)


def test_the_page_shows_the_figures_of_the_json_and_these_are_of_the_predictions(model, reported):
    path, facts = reported
    assert json.loads(json.dumps(facts))["classes"] == facts["classes"]
    rows, predicted = rows_of(path), model.predict(TABLE)
    for measure, m in facts["measures"].items():
        assert rows[measure] == [m["better"], *shown(m)], measure
        assert m["value"] == pytest.approx(model.value(TABLE, Y, measure), nan_ok=True)
    for k, label in enumerate(LABELS):
        counts = [int(np.sum((Y == label) & (predicted == other))) for other in LABELS]
        assert facts["table"][k] == counts
        assert rows[f"true {plain_name(label)}"] == list(map(str, counts))
        each = facts["classes"][k]
        assert rows[plain_name(label)][:4] == [
            number(each["rows"]), number(each["predicted"]), number(float(model.priors[k])),
            number(np.mean(predicted[Y == label] == label)),
        ]  # fmt: skip
        assert each["precision"]["value"] == pytest.approx(np.mean(Y[predicted == label] == label))


def test_what_is_undefined_is_none_in_the_figures_of_the_page(model, tmp_path):
    rows = np.flatnonzero(Y == LABELS[0])
    some = {key: column[rows] for key, column in TABLE.items()}
    with pytest.warns(UserWarning):
        facts = model.report(some, Y[rows], tmp_path / "r.html", n_resamples=5)
    json.dumps(facts, allow_nan=False)
    assert facts["measures"]["min_recall"]["value"] is None


def test_model_and_command_give_one_page(model, tmp_path):
    labels = np.array(["common", "fair", "rare"])
    plain = replace(model, classes=tuple(labels.tolist()), extra={"target": "y"}, history=[], evaluations=[])
    lines = [
        f"{TABLE['<b>a'][k].item()!r},{TABLE['b'][k].item()!r},{TABLE['noise'][k]},{labels[CODES[k]]}\n"
        for k in range(N)
    ]
    (tmp_path / "rows.csv").write_text("<b>a,b,noise,y\n" + "".join(lines))
    plain.save(tmp_path / "m.model")
    files = [str(tmp_path / "m.model"), str(tmp_path / "rows.csv"), "--draws", "40", "--quiet"]
    assert main(["evaluate", *files, "--html", str(tmp_path / "c.html"), "--out", str(tmp_path / "c.json")]) == 0
    facts = plain.report(TABLE, labels[CODES], tmp_path / "m.html", n_resamples=40)
    assert (tmp_path / "m.html").read_text() == (tmp_path / "c.html").read_text()
    assert json.loads((tmp_path / "c.json").read_text()) == json.loads(json.dumps(facts).replace("NaN", "null"))


def test_a_page_loads_nothing_closes_its_tags_and_shortens_names(reported):
    text = reported[0].read_text(encoding="utf-8")
    tree = Tree(text)
    assert not {tag for tag, _ in tree.tags} & {"script", "img", "iframe", "b"}
    ids = [found["id"] for _, found in tree.tags if "id" in found]
    assert len(ids) == len(set(ids)) and "y" * 61 not in text and "\u202e" not in text
    pictures = [found for tag, found in tree.tags if tag == "svg"]
    assert len(pictures) >= 3 and all(set(each["aria-labelledby"].split()) <= set(ids) for each in pictures)


def test_columns_that_tell_the_classes_apart_are_important_and_noise_is_not(reported):
    text = reported[0].read_text(encoding="utf-8")
    section = text[text.index('<section id="importance"') :].partition("</section>")[0]
    listed = [row[0] for row in Tree(section + "</section>").rows[1:]]
    assert listed[-1] == "noise" and set(listed) == set(TABLE)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"calibration": None}, "not calibrated"),
        ({"rule": np.diag([1.0, 1e-300, 1e-300])}, "Never predicted, though there are rows of them"),
        ({"history": [], "evaluations": []}, "call report right after fit"),
    ],
)
def test_what_a_model_lacks_is_said(model, tmp_path, changes, said):
    replace(model, **changes).report(TABLE, Y, tmp_path / "r.html", n_resamples=3)
    assert said in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_class_of_few_rows_is_warned_of(model, tmp_path):
    rows = np.flatnonzero((CODES < 2) | (np.cumsum(CODES == 2) <= 4))
    table = {name: column[rows] for name, column in TABLE.items()}
    with pytest.warns(UserWarning, match="1 of 3 have fewer than 10, the smallest 4"):
        model.report(table, Y[rows], tmp_path / "r.html", n_resamples=3)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Intervals are rough below 10 rows" in text and "(4)" in text


@pytest.mark.parametrize(
    ("wrong", "said"), [({"n_resamples": 0}, "n_resamples"), ({"seed": "x"}, "seed"), ({"path": "no/where"}, "folder")]
)
def test_wrong_arguments_are_refused(model, tmp_path, wrong, said):
    arguments = {"path": "r.html", **wrong}
    with pytest.raises((ValueError, OSError), match=said):
        model.report(TABLE, Y, tmp_path / arguments.pop("path"), **arguments)
    assert list(tmp_path.iterdir()) == []


class Many:
    """A model of forty classes that predicts by given scores."""

    measure, classes, priors = an.measures.multiclass.get("macro_f1"), tuple(range(40)), np.full(40, 1 / 40)
    rule = calibration = best_step = None
    network_description, history, evaluations, voters, constrained_by = {}, [], [], [], ()
    encoder = InputEncoder()

    class functions:  # noqa: N801
        class network:  # noqa: N801
            takes_tokens = False

    def _rows(self, X, unknown):
        return X

    def _scores(self, rows):
        return rows


@pytest.mark.filterwarnings("ignore:intervals are rough")
def test_a_matrix_of_many_classes_is_a_picture_beside_its_errors(tmp_path):
    codes = np.repeat(np.arange(40), 12)
    scores = np.eye(40)[codes] + 0.4 * RNG.normal(size=(len(codes), 40))
    scores[:9] = np.eye(40)[7]  # most rows of class 0 are taken for class 7
    facts = class_evaluation_facts(Many(), scores, codes, 2, 0)
    text = class_evaluation_page(Many(), scores, codes, scores, facts)
    assert Tree(text) and 'id="matrix-title"' in text and "predicted 39" not in text
    assert text.count('class="square"') == np.sum(np.array(facts["table"]) / 12 >= 0.005)
    errors = text[text.index("The most frequent errors") :]
    first = Tree("<table>" + errors[errors.index("<tbody>") :].partition("</table>")[0] + "</table>").rows[0]
    assert first == ["0", "7", str(facts["table"][0][7]), number(facts["table"][0][7] / 12)]


def test_a_cell_is_the_darker_the_larger_its_share_of_the_true_class():
    facts = {"table": [[3, 1], [0, 0]], "classes": [{"label": "<a>"}, {"label": "b"}]}
    text = class_table(facts, "<caption>")
    assert shaded("3", 0.75) in text and shaded("0", 0.0) in text
    assert "opacity:0.38" in shaded("3", 0.75) and "opacity:0.00" in shaded("3", np.nan)
    assert Tree(text).rows[1] == ["true <a>", "3", "1"]


def test_the_most_probable_class_is_calibrated_by_its_own_labels(model, reported):
    probabilities = model.predict_proba(TABLE)
    curve = CalibrationCurve.of(probabilities.max(axis=1), np.where(probabilities.argmax(axis=1) == CODES, 1, -1))
    ends = ", ".join(number(float(each[-1])) for each in (curve.predicted, curve.observed))
    assert f"highest probabilities: {ends}." in reported[0].read_text(encoding="utf-8")


def test_a_comparison_with_itself_differs_nowhere_and_other_classes_are_refused(model):
    scored = Scored(model, CODES, model._scores(model._rows(TABLE)))
    facts = class_comparison_facts(scored, scored, 5, 0)
    assert facts["differ"] == 0
    assert all(m["value"] == m["low"] == m["high"] == 0 for m in facts["differences"].values() if m["low"] == m["low"])
    page = Tree(class_comparison_page(["one", "<other>"], facts))
    assert [row for row in page.rows if row[0] == "trained for"] == [["trained for", "min_recall", "min_recall"]]
    with pytest.raises(ValueError, match="two models of the same classes"):
        class_comparison_facts(scored, scored._replace(model=replace(model, classes=("a", "b", "c"))), 5, 0)


class Accuracy(multiclass.MulticlassMeasure):
    """A measure of one's own with a name of the catalogue."""

    name = "min_recall"

    def _value(self, R, cells, eps):  # noqa: N803 -- of the method
        return np.sum(cells.hits(R))


def test_a_measure_of_ones_own_is_not_reported_as_another_one_of_its_name(model):
    mine, said = replace(model, measure=Accuracy()), "texts that tell them apart, got 'min_recall' twice"
    scored = [Scored(each, CODES, each._scores(each._rows(TABLE))) for each in (model, mine)]
    with pytest.raises(ValueError, match=said):
        class_evaluation_facts(mine, scored[1].scores, CODES, 5, 0)
    with pytest.raises(ValueError, match=said):
        class_comparison_facts(*scored, 5, 0)
    with pytest.raises(ValueError, match=said):
        bootstrap_classes(np.eye(3) * 20, ["min_recall", Accuracy()])


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
        shade = "getComputedStyle(document.querySelector('.shade'))"
        assert float(window.evaluate(f"{shade}.opacity")) > 0 and window.evaluate(f"{shade}.position") == "absolute"
    finally:
        window.close()
