"""Reports as web pages: their figures are those of the JSON, whatever columns and labels are called."""

from __future__ import annotations

import json
import os
import re
from contextlib import nullcontext
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import browser
import numpy as np
import pytest
import scipy.sparse

import aesara_nondecomp as an
from aesara_nondecomp.cli import main
from aesara_nondecomp.measures.user import UserPseudolinear
from aesara_nondecomp.metrics import Quantifier
from aesara_nondecomp.reports.comparison import comparison_facts
from aesara_nondecomp.reports.facts import evaluation_facts
from aesara_nondecomp.reports.markup import LONGEST_NAME, name, number, plain_name
from aesara_nondecomp.reports.page import page
from aesara_nondecomp.reports.sections import SECTIONS
from aesara_nondecomp.reports.two_models import Scored

RNG = np.random.default_rng(0)
N = 400
NAMES = [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(2)>", "'`&amp;", "x" * 10_000, "\u202egnp.exe\u2066",
    "\u05e2\u05d1\u05e8\u05d9\u05ea" * 20, "]]>", "<!--", "\ud800", "\x00\x07", "https://evil.example/a.js", "",
]  # fmt: skip
POSITIVE, NEGATIVE = "<script>pos</script>" + "y" * 10_000, "</td></table>neg\u202e"
COLOURS = np.array([["<i>red</i>", "blue\u202e", "\ud83d\ude00"][k % 3] for k in range(N)], dtype=object)
TABLE = {**{column: RNG.normal(size=N) for column in NAMES}, "<b>colour</b>": COLOURS}
Y = np.where(TABLE[NAMES[0]] + 0.5 * RNG.normal(size=N) > 1, POSITIVE, NEGATIVE)
VOID = {"meta", "link", "br", "img", "hr", "input"}


class Tree(HTMLParser):
    """Reads a page strictly: every tag is closed in its turn. Keeps tags, and the text of each row of a table."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.rows, self.texts = [], [], [], {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts[self.open[-1] if self.open else ""] = self.texts.get(self.open[-1] if self.open else "", "") + data
        if {"th", "td"} & set(self.open):
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def model():
    stopping = an.EarlyStopping(0.3, patience=None)
    return an.fit(TABLE, Y, "f1", positive=POSITIVE, steps=60, validation=stopping, seed=0, progress=False)


@pytest.fixture(scope="module")
def reported(model, tmp_path_factory):
    """The page, and the figures that `report` returned, of rows with new categories and a column that moved."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    colours = np.where(COLOURS == "blue\u202e", "<u>new</u>", COLOURS)
    moved = {**TABLE, NAMES[1]: TABLE[NAMES[1]] + 9, "<b>colour</b>": colours}
    with pytest.warns(UserWarning, match="categories that training did not hold"):
        facts = model.report(moved, Y, path, n_resamples=50)
    return path, facts


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two models and labelled rows, as files."""
    folder = tmp_path_factory.mktemp("files")
    rows = "".join(f"{a:.4f},{b:.4f},{'yes' if a > 0.5 else 'no'}\n" for a, b in RNG.normal(size=(N, 2)))
    (folder / "rows.csv").write_text(f"a,b,y\n{rows}")
    for measure in ("f1", "kld"):
        arguments = [
            "train",
            str(folder / "rows.csv"),
            "--target",
            "y",
            "--measure",
            measure,
            "--steps",
            "40",
            "--quiet",
        ]
        assert (
            main([*arguments, "--validation", "0.3", "--hidden", "4", "--out", str(folder / f"{measure}.model")]) == 0
        )
    return folder


def rows_of(path):
    """The rows of all tables, by their first cell; of several of one name, the first."""
    found = {}
    for row in Tree(Path(path).read_text(encoding="utf-8")).rows:
        found.setdefault(row[0], row[1:])
    return found


# -- figures -----------------------------------------------------------------------------------------------------------


def test_the_page_of_the_command_shows_the_figures_of_its_json(files, tmp_path):
    html, out = str(tmp_path / "r.html"), str(tmp_path / "r.json")
    arguments = ["evaluate", str(files / "f1.model"), str(files / "rows.csv"), "--draws", "50", "--quiet"]
    assert main([*arguments, "--html", html, "--out", out]) == 0
    facts, rows = json.loads(Path(out).read_text()), rows_of(html)
    for measure, m in facts["measures"].items():
        assert rows[measure] == [m["better"], *shown(m)], measure
    cells = facts["table"]
    assert rows["true no"][:2] == [str(cells["TN"]), str(cells["FP"])]
    assert rows["true yes"][:2] == [str(cells["FN"]), str(cells["TP"])]
    methods = {row[0]: row[1] for row in rows.values() if row and row[0] in facts["prevalence"]}
    assert methods == {method: number(share) for method, share in facts["prevalence"].items()}


def shown(m):
    """Value, interval and trivial value, where each is a number."""
    value, low, high, trivial = (
        number(np.nan if m[key] is None else m[key]) for key in ("value", "low", "high", "trivial")
    )
    return [value, f"{low} to {high}", trivial]


def test_model_estimator_and_command_give_one_page_of_one_model(files, tmp_path):
    model = an.load_model(files / "f1.model")
    read = np.genfromtxt(files / "rows.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    X = {"a": read["a"], "b": read["b"]}
    facts = model.report(X, read["y"], tmp_path / "model.html", n_resamples=50)
    arguments = ["evaluate", str(files / "f1.model"), str(files / "rows.csv"), "--draws", "50", "--quiet"]
    assert main([*arguments, "--html", str(tmp_path / "cli.html"), "--out", str(tmp_path / "r.json")]) == 0
    assert (tmp_path / "model.html").read_text() == (tmp_path / "cli.html").read_text()
    assert json.loads((tmp_path / "r.json").read_text()) == json.loads(json.dumps(facts).replace("NaN", "null"))
    classifier = an.MeasureClassifier()
    classifier.model_, classifier.n_features_in_ = model, 2
    classifier.report(np.column_stack([read["a"], read["b"]]), read["y"], tmp_path / "estimator.html", n_resamples=50)
    assert (tmp_path / "estimator.html").read_text() == (tmp_path / "cli.html").read_text()


def test_a_measure_of_ones_own_is_not_reported_as_another_one_of_its_name(model):
    said, signs, scores = "texts that tell them apart", np.where(Y == POSITIVE, 1, -1), model.decision_function(TABLE)
    mine = replace(model, measure=UserPseudolinear("min", (0, 9, 1), (10, 0, 0)))
    with pytest.raises(ValueError, match=f"{said}, got 'min' twice"):
        evaluation_facts(mine, scores, signs, 5, 0)
    costs = [replace(model, measure=UserPseudolinear("cost", (0, weight, 1), (2, 0, 0))) for weight in (1, 5)]
    with pytest.raises(ValueError, match=f"{said}, got 'cost' twice"):
        comparison_facts(*(Scored(each, signs, scores) for each in costs), 5, 0)


def test_a_comparison_shows_both_models_and_the_figures_of_its_json(files, tmp_path):
    html, out = str(tmp_path / "c.html"), str(tmp_path / "c.json")
    models = [str(files / "f1.model"), str(files / "kld.model")]
    arguments = ["compare", *models, str(files / "rows.csv"), "--draws", "50", "--quiet"]
    assert main([*arguments, "--html", html, "--out", out]) == 0
    facts, rows = json.loads(Path(out).read_text()), rows_of(html)
    assert rows["trained for"] == ["f1", "kld"]
    for measure, m in facts["differences"].items():
        values = [each["measures"][measure]["value"] for each in facts["models"]]
        assert m["value"] == values[1] - values[0] and m["low"] <= m["high"]
        assert rows[measure][1:4] == [number(value) for value in (*values, m["value"])]
    predicted = [an.load_model(path) for path in models]
    read = np.genfromtxt(files / "rows.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    labels = [model.predict({"a": read["a"], "b": read["b"]}) for model in predicted]
    assert facts["differ"] == np.sum(labels[0] != labels[1])


def test_a_model_compared_with_itself_differs_nowhere(files, tmp_path, capsys):
    path = str(files / "f1.model")
    assert (
        main(["compare", path, path, str(files / "rows.csv"), "--draws", "20", "--out", str(tmp_path / "c.json")]) == 0
    )
    facts = json.loads((tmp_path / "c.json").read_text())
    assert facts["differ"] == 0
    assert all(m["value"] == m["low"] == m["high"] == 0 for m in facts["differences"].values())
    assert "predictions differ on 0" in capsys.readouterr().out


def test_what_is_undefined_or_infinite_is_none_in_the_figures_of_the_page(model, tmp_path):
    rows = np.flatnonzero(Y == NEGATIVE)
    of_one_class = {key: column[rows] for key, column in TABLE.items()}
    constant = replace(model, threshold=np.inf)
    with pytest.warns(UserWarning, match="intervals from 0 positive"):
        facts = constant.report(of_one_class, Y[rows], tmp_path / "r.html", n_resamples=5)
    json.dumps(facts, allow_nan=False)
    assert facts["model"]["threshold"] is None and facts["true_positive_rate"] is None


def test_after_another_threshold_is_set_no_page_counts_predictions_at_the_former_one(files, tmp_path, capsys):
    model, path, rows = an.load_model(files / "f1.model"), str(tmp_path / "moved.model"), str(files / "rows.csv")
    model.threshold += 1
    model.save(path)
    out, html = str(tmp_path / "r.json"), str(tmp_path / "r.html")
    for command in (["evaluate", path], ["quantify", path], ["compare", path, str(files / "f1.model")]):
        judged = [] if command[0] == "quantify" else ["--draws", "5", "--html", html]
        assert main([*command, rows, *judged, "--quiet", "--out", out]) == 0
        facts = json.loads(Path(out).read_text())
        facts = facts["models"][0] if command[0] == "compare" else facts
        assert list(facts["prevalence"]) == ["pcc", "pacc", "sld"], command
        if judged:
            text = Path(html).read_text(encoding="utf-8")
            assert "expectation" in text and "classify and count" not in text
        if command[0] == "evaluate":
            assert "The threshold was changed after the model was calibrated" in text


def test_models_of_other_labels_and_a_stream_are_not_compared(files, model, tmp_path, capsys):
    replace(an.load_model(files / "f1.model"), classes=("yes", "no")).save(tmp_path / "other.model")
    pair = [str(files / "f1.model"), str(tmp_path / "other.model")]
    assert main(["compare", *pair, str(files / "rows.csv")]) == 1
    assert "same negative and positive label" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["compare", *pair, "-"])
    assert "compare needs a file" in capsys.readouterr().err


# -- what else is on the page ------------------------------------------------------------------------------------------


def test_new_categories_and_a_moved_column_are_among_the_warnings(reported):
    text = reported[0].read_text(encoding="utf-8")
    warnings = text[text.index('<section id="warnings"') : text.index('<section id="confusion"')]
    assert "Categories that training did not hold" in warnings
    assert warnings.count("<li>") == 2 and f"{name(NAMES[1])} is now about" in warnings


def test_the_column_that_made_the_labels_is_the_most_important(model, tmp_path):
    model.report(TABLE, Y, tmp_path / "r.html", n_resamples=20)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    section = text[text.index('<section id="importance"') :].partition("</section>")[0]
    listed = Tree(section + "</section>").rows[1:]
    assert listed[0][0] == NAMES[0] and len(listed) == len(TABLE)


def test_a_loaded_model_says_why_it_has_no_training_curves(model, reported, tmp_path):
    assert 'id="evaluations-title"' in reported[0].read_text(encoding="utf-8")
    replace(model, history=[], evaluations=[]).report(TABLE, Y, tmp_path / "r.html", n_resamples=5)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "call report right after fit" in text and 'id="evaluations-title"' not in text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"quantifier": None}, "not calibrated"),
        ({"threshold": np.inf}, "predicts one label for all rows"),
        ({"threshold": 1e6}, "All of these rows are predicted to have one label"),
        ({}, "and there are no curves without both"),
    ],
)
def test_what_a_model_or_its_rows_lack_is_said(model, tmp_path, changes, said):
    rows = np.arange(N) if changes else np.flatnonzero(Y == NEGATIVE)
    table = {key: column[rows] for key, column in TABLE.items()}
    with nullcontext() if changes else pytest.warns(UserWarning, match="intervals from 0 positive"):
        replace(model, **changes).report(table, Y[rows], tmp_path / "r.html", n_resamples=5)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert said in text and Tree(text)
    assert ('id="roc-title"' in text) == bool(changes)


def test_sparse_rows_have_a_page_without_importance(tmp_path):
    X = scipy.sparse.csr_matrix(RNG.normal(size=(60, 400)))
    y = np.arange(60) % 2
    model = an.fit(X, y, "f1", network="linear", steps=3, validation=None, seed=0, progress=False)
    model.quantifier = Quantifier.fit(model.decision_function(X), 2 * y - 1, 0.0)
    model.report(X, y, tmp_path / "r.html", n_resamples=5)
    assert "Not measured: that takes a table" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_groups_and_constraints_show_the_figures_of_the_report(model, tmp_path):
    asked = (an.measures.Constraint("tpr", 0.1, kind="gap"), an.measures.Constraint("precision", 0.9, kind="at_least"))
    groups = np.where(np.arange(N) % 2, "<script>f</script>", "m\u202e")
    judged = replace(model, measure=an.measures.get("worst_cell"), constrained_by=asked)
    facts, rows = (
        judged.report(TABLE, Y, tmp_path / "r.html", groups=groups, n_resamples=5),
        rows_of(tmp_path / "r.html"),
    )
    for cell in facts["groups"]["cells"]:
        assert rows[plain_name(cell["name"])][:2] == [str(cell["rows"]), number(cell["rate"])]
    for group in facts["groups"]["groups"]:
        assert rows[plain_name(group["name"])][3] == number(group["selection_rate"])
    for constraint, verdict in facts["constraints"].items():
        assert rows[constraint][0] == number(verdict["value"]) and rows[constraint][-1] == verdict["verdict"]
    assert rows["worst_cell"] == ["larger", *shown(facts["measures"]["worst_cell"])]


def test_a_measure_of_groups_has_a_page_without_groups(model, tmp_path):
    replace(model, measure=an.measures.get("worst_cell")).report(TABLE, Y, tmp_path / "r.html", n_resamples=5)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "by the groups of the rows, which were not given" in text and "equal min" in text


@pytest.mark.parametrize(
    ("wrong", "said"), [({"n_resamples": 0}, "n_resamples"), ({"seed": "x"}, "seed"), ({"path": "no/where"}, "folder")]
)
def test_wrong_arguments_are_refused(model, tmp_path, wrong, said):
    arguments = {"path": "r.html", **wrong}
    with pytest.raises((ValueError, OSError), match=said):
        model.report(TABLE, Y, tmp_path / arguments.pop("path"), **arguments)
    assert list(tmp_path.iterdir()) == []


# -- hostile names, and the page as a document -------------------------------------------------------------------------


def test_a_page_loads_and_runs_nothing(reported):
    tree = Tree(reported[0].read_text(encoding="utf-8"))
    names = {tag for tag, _ in tree.tags}
    assert not names & {"script", "img", "iframe", "object", "embed", "base", "form", "u", "i", "b"}
    attributes = [(key, value) for _, found in tree.tags for key, value in found.items()]
    assert not [key for key, _ in attributes if key.startswith("on") or key == "src"]
    assert {value for key, value in attributes if key == "href"} <= {"data:,", *(f"#{key}" for key in ids(tree))}
    assert "url(" not in tree.texts["style"] and "@import" not in tree.texts["style"]


def ids(tree):
    return [found["id"] for _, found in tree.tags if "id" in found]


def test_ids_are_unique_headers_have_a_scope_and_pictures_have_a_text(reported):
    tree = Tree(reported[0].read_text(encoding="utf-8"))
    assert len(ids(tree)) == len(set(ids(tree)))
    assert {found.get("scope") for tag, found in tree.tags if tag == "th"} == {"col", "row"}
    pictures = [found for tag, found in tree.tags if tag == "svg"]
    assert len(pictures) == 6
    assert all(set(found["aria-labelledby"].split()) <= set(ids(tree)) for found in pictures)
    tags = [tag for tag, _ in tree.tags]
    assert [tags.count(tag) for tag in ("h1", "main", "figure", "figcaption")] == [1, 1, 6, 6]
    assert tags.count("table") == tags.count("caption") == 4
    assert {found["aria-labelledby"] for tag, found in tree.tags if tag == "section"} <= set(ids(tree))
    assert tree.tags[0] == ("html", {"lang": "en"})


def test_long_and_hidden_parts_of_names_are_not_on_the_page(reported):
    text = reported[0].read_text(encoding="utf-8")
    assert "x" * 61 not in text and "y" * 61 not in text and len(text) < 100_000
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x09\x0b-\x1f\ud800-\udfff]", text)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("age", "age"),
        ("", "(empty)"),
        ("a\nb\tc", "a b c"),
        ("\u202eabc", "\ufffdabc"),
        ("\u05e2\u05d1", "\u05e2\u05d1"),
        ("\ud800", "\ufffd"),
        ("\U0001f600", "\U0001f600"),
        (12.5, "12.5"),
    ],
)
def test_a_name_is_shown_as_far_as_it_can_be(given, expected):
    assert plain_name(given) == expected


def test_a_long_name_keeps_its_ends():
    found = plain_name("a" * 500 + "b" * 500)
    assert len(found) == LONGEST_NAME and found.startswith("aaa") and found.endswith("bbb")
    assert name("<" * 10_000).count("&lt;") < LONGEST_NAME


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.5, "0.5000"), (0.0, "0.0000"), (1.66e-5, "1.7e-05"), (-0.25, "-0.2500"), (np.nan, "undefined"),
     (-np.inf, "-\u221e"), (12345, "12,345")],
)  # fmt: skip
def test_a_small_number_is_not_shown_as_zero(value, expected):
    assert number(value) == expected


def test_every_section_has_a_place_of_its_own():
    assert len(set(SECTIONS)) == len(SECTIONS)
    assert Tree(page("<title>", [])).texts["h1"] == "<title>"


# -- in a browser ------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not browser.CHROMIUM or os.name != "posix", reason="needs chromium")
def test_a_browser_shows_pages_at_both_widths_without_a_complaint_or_overflow(reported, files, tmp_path):
    models = [str(files / "f1.model"), str(files / "kld.model"), str(files / "rows.csv")]
    main(["compare", *models, "--draws", "20", "--quiet", "--html", str(tmp_path / "c.html")])
    window = browser.Browser(tmp_path / "profile")
    try:
        for path in (reported[0], tmp_path / "c.html"):
            for width, dark in ((360, False), (1280, True)):
                window.open(path, width, dark)
                assert window.complaints() == []
                across, body = window.evaluate("[document.documentElement.scrollWidth, document.body.innerText]")
                assert across <= width
                ground = window.evaluate("getComputedStyle(document.body).backgroundColor")
                assert ground == ("rgb(22, 24, 28)" if dark else "rgb(255, 255, 255)")
        window.open(reported[0], 1280)
        body = window.evaluate("document.body.innerText")
        assert number(reported[1]["measures"]["f1"]["value"]) in body and NAMES[0] in body
        assert window.evaluate("document.scripts.length + document.images.length") == 0
    finally:
        window.close()
