"""The command line where a row may have several labels: from a raw table to predictions and reports."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="tables with text need the extra `sklearn`")

from aesara_nondecomp import load_model, measures  # noqa: E402
from aesara_nondecomp.cli import main  # noqa: E402
from aesara_nondecomp.cli.label_columns import labels_of, target_columns  # noqa: E402
from aesara_nondecomp.cli.parser import build_parser  # noqa: E402
from aesara_nondecomp.data.table_columns import TableColumns  # noqa: E402
from aesara_nondecomp.measures import Averaged  # noqa: E402

N, LABELS = 400, ("news", "sport", "art, theatre")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = (X @ [[1, 0, -1], [0, 1, 1]] + RNG.normal(size=(N, 3)) > [0.3, 0.8, 1.2]).astype(int)
TARGET = 'news,sport,"art, theatre"'
SMALL = ["--hidden", "4", "--steps", "60", "--quiet"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, and a model of it for macro_f1 with a share held out."""
    folder = tmp_path_factory.mktemp("labels")
    with open(folder / "rows.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "colour", *LABELS])
        rows = ([f"{a:.4f}", f"{b:.4f}", "red" if a > b else "blue", *y] for (a, b), y in zip(X, Y.tolist()))
        writer.writerows(rows)
    np.savez(folder / "rows.npz", X=X, y=Y)
    train = ["train", str(folder / "rows.csv"), "--target", TARGET, *SMALL, "--validation", "0.3"]
    report = ["--report", str(folder / "trained.json")]
    assert main([*train, "--measure", "macro_f1", "--out", str(folder / "m.model"), *report]) == 0
    return folder


def columns(folder):
    with open(folder / "rows.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    numbers = {name: np.array([float(row[name]) for row in rows]) for name in ("a", "b")}
    return {**numbers, "colour": np.array([row["colour"] for row in rows], dtype=object)}


def test_the_model_has_the_columns_as_labels_and_none_of_them_as_input(folder):
    model = load_model(folder / "m.model")
    assert model.labels == LABELS and str(model.measure) == "macro_f1"
    assert [name.partition("=")[0] for name in model.feature_names] == ["a", "b", "colour", "colour"]
    np.testing.assert_allclose(model.priors, Y.mean(axis=0), atol=0.02)
    facts = json.loads((folder / "trained.json").read_text())
    assert facts["judged_on"] == "held-out rows" and facts["rows"] == pytest.approx(0.3 * N, abs=5)
    assert [each["label"] for each in facts["labels"]] == list(LABELS)
    assert facts["measures"]["macro_f1"]["low"] is None  # of counts alone there is no interval of a mean


def test_predictions_are_those_of_the_model_with_a_probability_for_each_label(folder, tmp_path):
    model, path, table = load_model(folder / "m.model"), tmp_path / "p.csv", columns(folder)
    arguments = ["predict", str(folder / "m.model"), str(folder / "rows.csv"), "--out", str(path), "--quiet"]
    assert main([*arguments, "--scores"]) == 0
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    found = {kind: np.array([[float(row[f"{kind} {label}"]) for label in LABELS] for row in rows])
             for kind in ("prediction", "probability", "score")}  # fmt: skip
    np.testing.assert_array_equal(found["prediction"], model.predict(table))
    np.testing.assert_allclose(found["probability"], model.predict_proba(table), rtol=1e-5)
    np.testing.assert_allclose(found["score"], model.decision_function(table), rtol=1e-5)
    assert main(arguments) == 0
    assert not any(name.startswith("score") for name in path.read_text().splitlines()[0].split(","))


def test_evaluate_reports_each_label_and_every_measure(folder, tmp_path, capsys):
    path = tmp_path / "r.json"
    arguments = ["evaluate", str(folder / "m.model"), str(folder / "rows.csv"), "--draws", "30"]
    assert main([*arguments, "--out", str(path)]) == 0
    facts, lines = json.loads(path.read_text()), capsys.readouterr().out.splitlines()
    model, table = load_model(folder / "m.model"), columns(folder)
    report = model.by_label(table, Y)
    for each, row in zip(facts["labels"], report.rows):
        assert (each["label"], each["rows"], each["predicted"]) == (row.label, row.rows, row.predicted)
        assert each["f1"]["value"] == pytest.approx(row.f1)
        assert each["recall"]["value"] == pytest.approx(row.recall)
        assert each["recall"]["low"] <= row.recall <= each["recall"]["high"]
        assert any(line.startswith(str(row.label)) and f"{row.precision:.4f}" in line for line in lines)
    for name in ("macro_f1", "micro_f1", "macro_min", "macro_kld"):
        m, value = facts["measures"][name], model.value(table, Y, name)
        assert m["value"] == pytest.approx(value) and m["low"] <= value <= m["high"]
        assert any(line.split()[:3] == [name, m["better"], f"{value:.4f}"] for line in lines), name


def test_an_archive_holds_a_matrix_of_labels_and_verbose_says_the_thresholds(folder, tmp_path, capsys):
    path, rows = str(tmp_path / "m.model"), str(folder / "rows.npz")
    train = ["train", rows, "--network", "linear", "--steps", "5", "--validation", "none", "--verbose"]
    assert main([*train, "--measure", "micro_f1", "--out", path]) == 0
    model, told = load_model(path), capsys.readouterr()
    assert model.labels == (0, 1, 2) and model.measure == Averaged("f1", "micro")
    assert "thresholds: " + ", ".join(f"{each:.6g}" for each in model.thresholds) in told.err.splitlines()
    assert f"rows: {N}, none held out" in told.err.splitlines()
    assert main(["evaluate", path, rows, "--draws", "5"]) == 0
    assert f"{model.value(X, Y):.4f}" in capsys.readouterr().out


def test_a_comparison_has_the_values_of_both_models_and_their_differences(folder, tmp_path, capsys):
    rows, other = folder / "rows.csv", tmp_path / "other.model"
    train = ["train", rows, "--target", TARGET, "--measure", "macro_min", "--network", "linear", "--steps", "5"]
    assert run(*train, "--validation", "none", "--out", other) == 0
    paths = [str(folder / "m.model"), str(other), str(rows)]
    out, page = tmp_path / "c.json", tmp_path / "c.html"
    assert main(["compare", *paths, "--draws", "30", "--out", str(out), "--html", str(page)]) == 0
    facts, table = json.loads(out.read_text()), columns(folder)
    models = [load_model(path) for path in paths[:2]]
    predicted = [model.predict(table) for model in models]
    assert facts["differ"] == np.sum((predicted[0] != predicted[1]).any(axis=1)) > 0
    for name in ("macro_f1", "micro_f1", "macro_min"):
        m, values = facts["differences"][name], [model.value(table, Y, name) for model in models]
        assert m["value"] == pytest.approx(values[1] - values[0]) and m["low"] <= m["value"] <= m["high"], name
    assert f"400 rows; predictions differ on {facts['differ']}" in capsys.readouterr().out
    assert "Comparison of two models" in page.read_text() and "art, theatre" in page.read_text()


def test_models_of_labels_and_of_classes_are_not_compared(folder, tmp_path, capsys):
    path = tmp_path / "one.model"
    train = ["train", folder / "rows.csv", "--target", "news", "--network", "linear", "--steps", "2", "--out", path]
    assert run(*train, "--validation", "none") == 0
    assert run("compare", folder / "m.model", path, folder / "rows.csv") == 1
    assert "two models of the same labels" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "expected"), [
    ("micro_f1", Averaged("f1", "micro")),
    ("macro_min", Averaged("min")),
    ("micro_fbeta:beta=2", Averaged(measures.get("fbeta", beta=2), "micro")),
    ("micro_f1:negative=0", measures.multiclass.get("micro_f1", negative=0)),  # of several classes
])  # fmt: skip
def test_averages_are_read(text, expected):
    train = ["train", "rows.csv", "--out", "m", "--measure", text]
    assert build_parser().parse_args(train).measure == expected


@pytest.mark.parametrize(("typed", "expected"), [
    (["a"], ("a",)),
    (["a,b"], ("a", "b")),
    (["a", "b"], ("a", "b")),
    (["x, y"], ("x, y",)),
    (["a", "x, y"], ("a", "x, y")),
    (['a,"x, y"'], ("a", "x, y")),
])  # fmt: skip
def test_targets_are_repeated_or_between_commas_and_a_column_may_have_one_in_its_name(typed, expected):
    arguments = [part for text in typed for part in ("--target", text)]
    options = build_parser().parse_args(["train", "rows.csv", "--out", "m", *arguments])
    assert target_columns("rows.csv", options.target, ["a", "b", "x, y"]) == expected


def test_labels_are_0_and_1_or_true_and_false():
    cells = {"x": ["1", "0"], "y": ["TRUE", "false"], "z": [True, False], "w": ["1.0", "0"]}
    table = TableColumns({name: np.array(column, dtype=object) for name, column in cells.items()})
    found = labels_of("rows.csv", table, tuple(cells))
    np.testing.assert_array_equal(found.matrix, [[True] * 4, [False] * 4])
    assert found.labels == tuple(cells) and not table.cells


WRONG = {
    "missing column": (["--target", "news,sprt"], 1, "no column 'sprt' for --target. Did you mean 'sport'"),
    "twice": (["--target", "news,news"], 1, "must name each column once"),
    "text": (["--target", "news,colour"], 1, "must hold 0 and 1, or true and false; 'colour' has others, got ['red'"),
    "positive": (["--target", "news,sport", "--positive", "1"], 2, "--positive is not available for several labels"),
    "prior": (["--target", "news,sport", "--prior", "0.2"], 2, "--prior is not available for several labels"),
    "groups": (["--target", "news,sport", "--groups", "colour"], 2, "--groups is not available for several labels"),
    "constraint": (["--target", "news,sport", "--constraint", "precision >= 0.5"], 2, "--constraint is not available"),
    "of classes": (["--target", "news,sport", "--measure", "kappa"], 2, "several labels need a measure of two classes"),
    "average of one": (["--target", "news", "--measure", "macro_min"], 1, "macro_min is a measure of several labels"),
    "micro of one": (["--target", "news", "--measure", "micro_f1"], 1, "'micro_f1' needs the parameter negative"),
    "unknown": (["--target", "news,sport", "--measure", "macro_mini"], 2, "unknown measure 'macro_mini'"),
    "algorithm": (["--target", "news,sport", "--algorithm", "struct_ann"], 1, "unknown algorithm of several labels"),
    "input left": (["--target", TARGET, "--drop", "a,b,colour"], 1, "no feature columns beside the labels"),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.usefixtures("nothing_may_be_compiled")
def test_what_cannot_be_trained_is_refused_in_one_line(folder, tmp_path, capsys, case):
    arguments, status, said = WRONG[case]
    assert run("train", folder / "rows.csv", "--out", tmp_path / "m", *arguments) == status
    error = capsys.readouterr().err
    assert said in error and "Traceback" not in error and list(tmp_path.iterdir()) == []


def run(*arguments):
    """The exit status of a command."""
    try:
        return main([*map(str, arguments), "--quiet"])
    except SystemExit as stopped:
        return stopped.code


@pytest.mark.parametrize(("command", "more", "status", "said"), [
    ("quantify", [], 2, "quantify takes models of one label a row"),
    ("evaluate", ["--groups", "colour"], 2, "groups are reported for one label a row"),
    ("evaluate", ["--target", "news"], 1, "--target must name as many columns, got 'one column'"),
    ("evaluate", ["--target", "news,sport"], 1, "must have the 3 columns of training"),
    ("evaluate", ["--target", 'sport,news,"art, theatre"'], 1, "must have the 3 columns of training"),
])  # fmt: skip
def test_what_a_model_of_several_labels_does_not_do_is_said(folder, capsys, command, more, status, said):
    assert run(command, folder / "m.model", folder / "rows.csv", *more) == status
    assert said in capsys.readouterr().err


def test_a_model_of_one_label_takes_one_target(folder, tmp_path, capsys):
    path = tmp_path / "one.model"
    train = ["train", folder / "rows.csv", "--target", "news", "--network", "linear", "--steps", "2", "--out", path]
    assert run(*train, "--validation", "none") == 0
    assert run("evaluate", path, folder / "rows.csv", "--target", "news,sport") == 1
    assert "--target must name one column" in capsys.readouterr().err


def test_a_table_that_is_streamed_takes_one_column_of_labels(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("aesara_nondecomp.cli.training_tables.is_large", lambda *_: True)
    assert run("train", folder / "rows.csv", "--target", TARGET, "--out", tmp_path / "m") == 1
    assert "a streamed table takes one column of labels" in capsys.readouterr().err
