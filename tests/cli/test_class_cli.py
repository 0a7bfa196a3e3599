"""The command line for labels of several classes: from a raw table to predictions, reports and comparisons."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="tables with text need the extra `sklearn`")

from aesara_nondecomp import load_model, measures  # noqa: E402
from aesara_nondecomp.cli import main  # noqa: E402
from aesara_nondecomp.cli.parser import build_parser  # noqa: E402
from aesara_nondecomp.measures import multiclass  # noqa: E402

RNG = np.random.default_rng(0)
N, LABELS = 400, np.array(["common", "fair", "rare"])
Y = RNG.choice(3, N, p=[0.7, 0.2, 0.1])
X = RNG.normal(size=(N, 2)) + np.array([[0, 0], [2, 0], [0, 2]])[Y]
SMALL = ["--hidden", "4", "--steps", "60", "--quiet"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, and two models of it: for min_recall with folds, for a gmean that DUPLE trains with a share held out."""
    folder = tmp_path_factory.mktemp("classes")
    with open(folder / "rows.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "colour", "kind"])
        writer.writerows([f"{a:.4f}", f"{b:.4f}", "red" if a > b else "blue", LABELS[k]] for (a, b), k in zip(X, Y))
    train = ["train", str(folder / "rows.csv"), "--target", "kind", *SMALL, "--validation", "0.3"]
    report = ["--report", str(folder / "trained.json")]
    assert main([*train, "--measure", "min_recall", "--out", str(folder / "one.model"), *report]) == 0
    more = ["--measure", "gmean", "--algorithm", "duple"]
    assert main([*train, *more, "--out", str(folder / "other.model")]) == 0
    return folder


def columns(folder):
    with open(folder / "rows.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    numbers = {name: np.array([float(row[name]) for row in rows]) for name in ("a", "b")}
    return {**numbers, "colour": np.array([row["colour"] for row in rows], dtype=object)}


def test_widths_are_those_given_or_wide_for_many_classes(folder, tmp_path):
    assert load_model(folder / "one.model").network_description["hidden"] == [4]
    with open(tmp_path / "many.csv", "w") as file:
        file.write("a,kind\n" + "".join(f"{k / 7:.4f},{k % 6}\n" for k in range(600)))
    train = ["train", str(tmp_path / "many.csv"), "--target", "kind", "--measure", "macro_f1", "--steps", "1"]
    assert main([*train, "--validation", "0", "--quiet", "--out", str(tmp_path / "many.model")]) == 0
    assert load_model(tmp_path / "many.model").network_description["hidden"] == [128, 128]


def test_predictions_are_those_of_the_model_with_a_probability_for_each_class(folder, tmp_path):
    model, path = load_model(folder / "one.model"), tmp_path / "p.csv"
    arguments = ["predict", str(folder / "one.model"), str(folder / "rows.csv"), "--out", str(path), "--quiet"]
    assert main([*arguments, "--scores"]) == 0
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    table = columns(folder)
    assert [row["prediction"] for row in rows] == model.predict(table).tolist()
    found = {kind: [[float(row[f"{kind} {label}"]) for label in LABELS] for row in rows]
             for kind in ("probability", "score")}  # fmt: skip
    np.testing.assert_allclose(found["probability"], model.predict_proba(table), rtol=1e-5)
    np.testing.assert_allclose(found["score"], model._scores(model._rows(table)), rtol=1e-5)
    assert main(arguments) == 0
    assert path.read_text().splitlines()[0] == "row,prediction,probability common,probability fair,probability rare"


def test_evaluate_reports_the_matrix_the_classes_and_every_measure(folder, tmp_path, capsys):
    path = tmp_path / "r.json"
    arguments = ["evaluate", str(folder / "one.model"), str(folder / "rows.csv"), "--draws", "30"]
    assert main([*arguments, "--out", str(path)]) == 0
    facts, lines, table = json.loads(path.read_text()), capsys.readouterr().out.splitlines(), columns(folder)
    model = load_model(folder / "one.model")
    assert facts["table"] == model.confusion_matrix(table, LABELS[Y]).tolist()
    assert [each["label"] for each in facts["classes"]] == facts["model"]["classes"] == LABELS.tolist()
    for measure in multiclass.defaults(ordered=False):
        m, value = facts["measures"][str(measure)], model.value(table, LABELS[Y], measure)
        assert m["value"] == pytest.approx(value)
        assert m["low"] <= m["value"] <= m["high"]
        assert any(line.split()[:3] == [str(measure), m["better"], f"{value:.4f}"] for line in lines), measure
    assert "qwk" not in facts["measures"]  # text has no order
    for name, counts in zip(LABELS, facts["table"]):
        assert ["true", name, *map(str, counts)] in [line.split() for line in lines]


def test_the_report_of_training_is_of_the_rows_held_out(folder):
    facts = json.loads((folder / "trained.json").read_text())
    assert facts["judged_on"] == "held-out rows" and facts["rows"] == np.sum(facts["table"]) < N / 2
    assert facts["model"]["measure"] == "min_recall" and facts["model"]["rule"] == "offsets"


def test_verbose_says_what_was_chosen_of_several_classes_too(folder, tmp_path, capsys):
    train = ["train", str(folder / "rows.csv"), "--target", "kind", *SMALL[:-1], "--validation", "0.3", "--verbose"]
    assert main([*train, "--measure", "min_recall", "--out", str(tmp_path / "m")]) == 0
    lines = dict(line.split(": ", 1) for line in capsys.readouterr().err.splitlines() if line.startswith("ru"))
    assert lines == {"rule": "offsets"}


def test_a_name_of_both_kinds_of_measures_is_that_of_the_labels(folder):
    measure = load_model(folder / "other.model").measure
    assert measure == multiclass.get("gmean")


def test_a_comparison_has_the_values_of_both_models_and_their_differences(folder, tmp_path, capsys):
    paths = [str(folder / "one.model"), str(folder / "other.model"), str(folder / "rows.csv")]
    assert main(["compare", *paths, "--draws", "30", "--out", str(tmp_path / "c.json")]) == 0
    facts, table = json.loads((tmp_path / "c.json").read_text()), columns(folder)
    models = [load_model(path) for path in paths[:2]]
    assert facts["differ"] == np.sum(models[0].predict(table) != models[1].predict(table)) > 0
    for name, m in facts["differences"].items():
        values = [model.value(table, LABELS[Y], name) for model in models]
        assert m["value"] == pytest.approx(values[1] - values[0], nan_ok=True) and m["low"] <= m["high"], name
    assert f"predictions differ on {facts['differ']}" in capsys.readouterr().out


def test_a_parameter_of_a_measure_is_json(folder, tmp_path):
    costs = [[0, 1, 2], [1, 0, 1], [8, 4, 0]]
    train = ["train", str(folder / "rows.csv"), "--out", str(tmp_path / "m.model"), "--measure"]
    for text, expected in (
        (f"cost_matrix:costs={json.dumps(costs)}", multiclass.get("cost_matrix", costs=costs)),
        ("micro_f1:negative=0", multiclass.get("micro_f1", negative=0)),
        ("mean_of_worst:h=2", multiclass.get("mean_of_worst", h=2)),
        ("macro_fbeta: beta = 2", multiclass.get("macro_fbeta", beta=2)),
        ("bakld:C=0.25", measures.get("bakld", C=0.25)),  # of two classes too: the labels decide
    ):
        assert build_parser().parse_args([*train, text]).measure == expected
    small = ["--target", "kind", *SMALL, "--steps", "2", "--validation", "0.3"]
    assert main([*train, "bakld:C=0.25", *small]) == 0
    assert load_model(tmp_path / "m.model").measure == multiclass.get("bakld", C=0.25)


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ([], 1, "labels for 'f1' must be of two classes, got 3"),
        (["--measure", "min_recall", "--positive", "rare"], 1, "positive is not available for several classes"),
        (["--measure", "mean_of_worst:h=0"], 2, "h must be"),
        (["--measure", "mean_of_worst:h=two"], 2, "Write it as"),
        (["--measure", "kappa", "--algorithm", "duple"], 1, "'duple' cannot train for kappa"),
        (["--measure", "kappa", "--preset", "paper"], 1, "--preset applies to two classes only"),
        (["--measure", "kappa", "--algorithm", "no_such"], 2, "algorithm"),
        (["--measure", "kappa", "--network", "linear", "--hidden", "4"], 2, "does not take hidden"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(folder, tmp_path, capsys, arguments, status, said):
    path = str(tmp_path / "m.model")
    try:
        found = main(["train", str(folder / "rows.csv"), "--target", "kind", "--out", path, "--quiet", *arguments])
    except SystemExit as stopped:
        found = stopped.code
    error = capsys.readouterr().err
    assert found == status and said in error and "Traceback" not in error


def test_algorithms_of_several_classes_are_refused_for_two(folder, tmp_path, capsys):
    (tmp_path / "two.csv").write_text("a,y\n" + "".join(f"{k},{k % 2}\n" for k in range(40)))
    arguments = ["train", str(tmp_path / "two.csv"), "--target", "y", "--out", str(tmp_path / "m")]
    assert main([*arguments, "--algorithm", "plug_in_linear"]) == 1
    assert "algorithm" in capsys.readouterr().err


def test_models_of_two_and_of_several_classes_are_not_compared(folder, tmp_path, capsys):
    (tmp_path / "two.csv").write_text("a,y\n" + "".join(f"{k},{k % 2}\n" for k in range(40)))
    two = ["train", str(tmp_path / "two.csv"), "--target", "y", "--out", str(tmp_path / "m"), "--network", "linear"]
    assert main([*two, "--steps", "2", "--validation", "none", "--quiet"]) == 0
    assert main(["compare", str(folder / "one.model"), str(tmp_path / "m"), str(folder / "rows.csv")]) == 1
    assert "two models of the same labels" in capsys.readouterr().err


def test_estimated_shares_are_those_of_the_model_by_each_method(folder, tmp_path, capsys):
    model, out = load_model(folder / "one.model"), tmp_path / "shares.json"
    assert main(["quantify", str(folder / "one.model"), str(folder / "rows.csv"), "--out", str(out)]) == 0
    found = json.loads(out.read_text())["prevalence"]
    assert list(found) == ["cc", "acc", "pcc", "pacc", "sld"]
    for method, shares in found.items():
        np.testing.assert_allclose(shares, model.predict_prevalence(columns(folder), method), rtol=1e-9)
    assert "common" in capsys.readouterr().out
