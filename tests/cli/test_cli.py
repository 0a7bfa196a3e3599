"""The command line: from raw files to predictions and reports, its exit statuses and its one-line errors."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="tables with text need the extra `sklearn`")

from sklearn.compose import ColumnTransformer  # noqa: E402
from sklearn.impute import SimpleImputer  # noqa: E402
from sklearn.preprocessing import OneHotEncoder  # noqa: E402

from aesara_nondecomp import __version__, load_model, measures  # noqa: E402
from aesara_nondecomp.cli import (
    main,  # noqa: E402
    report_lines,  # noqa: E402
)
from aesara_nondecomp.data.tabular import TableEncoder  # noqa: E402
from aesara_nondecomp.metrics.confusion import ConfusionMatrix  # noqa: E402
from aesara_nondecomp.metrics.quantification import METHODS  # noqa: E402
from aesara_nondecomp.reports.facts import evaluation  # noqa: E402

RNG = np.random.default_rng(0)
N = 300
AGE, COLOUR = RNG.normal(40, 10, N), RNG.choice(["red", "green", "blue"], N)
SICK = AGE / 10 + 3 * (COLOUR == "red") + RNG.standard_normal(N) > 5.5
SMALL = ["--hidden", "4", "--steps", "60", "--learning-rate", "0.02", "--quiet"]


def write_table(path, gaps=True, labels=("well", "sick")):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "age", "colour", "state"])
        for k in range(N):
            age = "?" if gaps and k % 10 == 0 else f"{AGE[k]:.4f}"
            colour = "" if gaps and k % 15 == 0 else COLOUR[k]
            writer.writerow([f"person {k}", age, colour, labels[int(SICK[k])]])
    return str(path)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    table, model = write_table(folder / "people.csv"), str(folder / "people.model")
    arguments = ["train", table, "--target", "state", "--positive", "sick", "--drop", "name", "--out", model, *SMALL]
    assert main([*arguments, "--report", str(folder / "report.json")]) == 0
    return table, model, folder


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# -- from train to predict -------------------------------------------------------------------------------------------


def test_predictions_of_a_raw_table_are_those_of_the_model(trained, tmp_path):
    table, path, _ = trained
    assert main(["predict", path, table, "--out", str(tmp_path / "p.csv"), "--quiet"]) == 0
    rows, model = rows_of(tmp_path / "p.csv"), load_model(path)
    assert [row["row"] for row in rows] == [str(k) for k in range(1, N + 1)]
    scores = np.array([float(row["score"]) for row in rows])
    assert {row["prediction"] for row in rows} == {"sick", "well"}
    assert np.array_equal([row["prediction"] == "sick" for row in rows], scores > model.threshold)
    probabilities = [float(row["probability"]) for row in rows]
    assert np.array_equal(np.argsort(probabilities, kind="stable"), np.argsort(scores, kind="stable"))
    assert np.mean((scores > model.threshold) == SICK) > 0.8


def test_the_network_follows_from_the_columns_unless_it_is_named(trained, tmp_path):
    table, path, _ = trained
    arguments = ["train", table, "--target", "state", "--positive", "sick", "--drop", "name", "--network", "mlp"]
    assert main([*arguments, "--validation", "none", "--out", str(tmp_path / "m"), *SMALL]) == 0
    assert load_model(path).network_description["builder"] == "tabular"
    assert load_model(tmp_path / "m").network_description["builder"] == "mlp"


def test_predict_needs_no_labels_and_writes_to_stdout(trained, tmp_path, capsys):
    table, path, _ = trained
    unlabelled = tmp_path / "new.csv"
    rows = rows_of(table)[:5]
    with open(unlabelled, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["colour", "age", "unheard of"], extrasaction="ignore", restval="?")
        writer.writeheader()
        writer.writerows(rows)
    assert main(["predict", path, str(unlabelled)]) == 0
    by_order_of_columns = capsys.readouterr().out
    assert main(["predict", path, table]) == 0
    assert by_order_of_columns.splitlines() == capsys.readouterr().out.splitlines()[:6]


def all_parameters(path):
    """Of the networks in a model file."""
    model = load_model(path)
    return [p for parameters in (model.parameters, *model.voters) for p in parameters]


def test_one_seed_gives_one_model_in_two_processes(trained, tmp_path):
    table, path, _ = trained
    again = str(tmp_path / "again.model")
    arguments = ["train", table, "--target", "state", "--positive", "sick", "--drop", "name", "--out", again, *SMALL]
    root = Path(__file__).parents[2]
    assert subprocess.run([sys.executable, "-m", "aesara_nondecomp", *arguments], cwd=root).returncode == 0
    assert all(map(np.array_equal, all_parameters(path), all_parameters(again)))


def test_the_report_of_training_is_of_the_held_out_rows(trained):
    report = json.loads((trained[2] / "report.json").read_text())
    assert report["rows"] == sum(report["table"].values()) == N  # each by the network that was not trained on it
    assert report["judged_on"] == "held-out rows"
    assert report["model"] == {**report["model"], "positive": "sick", "negative": "well", "measure": "f1"}
    assert report["measures"]["f1"]["value"] > report["measures"]["f1"]["trivial"]


def test_evaluate_reports_every_measure_with_its_interval(trained, tmp_path, capsys):
    table, path, _ = trained
    assert main(["evaluate", path, table, "--out", str(tmp_path / "r.json"), "--draws", "200"]) == 0
    report, told = json.loads((tmp_path / "r.json").read_text()), capsys.readouterr().out
    assert (
        report["table"]
        == load_model(path).confusion_matrix(_features(path, table), np.where(SICK, "sick", "well"))._asdict()
    )
    assert set(report["measures"]) == {str(measure) for measure in measures.defaults()}
    assert all(m["low"] <= m["value"] <= m["high"] for m in report["measures"].values() if m["better"] == "larger")
    assert set(report["prevalence"]) == set(METHODS)
    for text in ("predicted sick", "true well", "95 % interval", "adjusted count", "threshold"):
        assert text in told


def _features(model_path, table):
    from aesara_nondecomp.cli.model_rows import row_blocks

    (rows,) = row_blocks(table, load_model(model_path))
    return rows


def test_equal_seeds_of_evaluate_give_equal_reports(trained, tmp_path):
    table, path, _ = trained
    for name in ("a", "b"):
        main(["evaluate", path, table, "--out", str(tmp_path / name), "--draws", "50", "--seed", "7", "--quiet"])
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()


def test_quantify_estimates_the_share_by_five_methods(trained, tmp_path, capsys):
    table, path, _ = trained
    assert main(["quantify", path, table, "--out", str(tmp_path / "q.json")]) == 0
    estimates = json.loads((tmp_path / "q.json").read_text())["prevalence"]
    assert list(estimates) == list(METHODS)
    assert estimates["pacc"] == pytest.approx(SICK.mean(), abs=0.1)
    assert "expectation-maximisation" in capsys.readouterr().out


def test_an_onnx_graph_labels_the_encoded_rows_as_predict_does(trained, tmp_path, capsys):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    runtime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    table, path, _ = trained
    assert main(["export-onnx", path, str(tmp_path / "m.onnx")]) == 0
    columns = "age, age is missing, colour=, colour=blue, colour=green, colour=red"
    assert capsys.readouterr().out == f"saved in {tmp_path / 'm.onnx'}; X is of 6 columns: {columns}\n"
    model, session = load_model(path), runtime.InferenceSession(str(tmp_path / "m.onnx"))
    raw = _features(path, table)
    rows = np.asarray(model.encoder.encode(raw)).astype("float32")
    label, probabilities = session.run(["label", "probabilities"], {"X": rows})
    assert label.tolist() == model.predict(raw).tolist()
    assert probabilities == pytest.approx(model.predict_proba(raw), abs=1e-4)


def test_an_onnx_graph_takes_float64_if_asked_to(trained, tmp_path):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    runtime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    assert main(["export-onnx", trained[1], str(tmp_path / "m.onnx"), "--input-dtype", "float64"]) == 0
    [given] = runtime.InferenceSession(str(tmp_path / "m.onnx")).get_inputs()
    assert given.type == "tensor(double)"


def test_libsvm_and_npz_files_give_the_same_model_and_predictions(tmp_path, capsys):
    X = np.column_stack([AGE / 10, COLOUR == "red"]).astype("float32").round(3)
    y = np.where(SICK, 1, -1)
    np.savez(tmp_path / "d.npz", X=X, y=y)
    lines = [f"{label} 1:{row[0]:.3f} 2:{row[1]:.0f}\n" for label, row in zip(y, X)]
    (tmp_path / "d.svm").write_text("".join(lines))
    answers = []
    for data in ("d.npz", "d.svm"):
        model = str(tmp_path / (data + ".model"))
        assert main(["train", str(tmp_path / data), "--out", model, *SMALL, "--tune-threshold"]) == 0
        assert main(["predict", model, str(tmp_path / data)]) == 0
        answers.append(capsys.readouterr().out)
        assert main(["evaluate", model, str(tmp_path / data), "--quiet"]) == 0
    assert answers[0] == answers[1]


def test_columns_of_npz_files_are_matched_by_name_where_both_files_name_them(tmp_path, capsys):
    X = np.column_stack([AGE / 10, COLOUR == "red"]).astype("float32")
    np.savez(tmp_path / "named.npz", X=X, y=SICK, feature_names=["age", "red"])
    np.savez(tmp_path / "plain.npz", X=X, y=SICK)
    wide = np.column_stack([X[:, 1], AGE, X[:, 0]])
    np.savez(tmp_path / "reordered.npz", X=wide, y=SICK, feature_names=["red", "note", "age"])
    model = str(tmp_path / "m")
    assert main(["train", str(tmp_path / "named.npz"), "--out", model, *SMALL, "--validation", "0.2"]) == 0
    for command, options in (("predict", []), ("evaluate", ["--draws", "50"]), ("quantify", [])):
        told = set()
        for name in ("named", "plain", "reordered"):
            assert main([command, model, str(tmp_path / f"{name}.npz"), *options]) == 0
            told.add(capsys.readouterr().out)
        assert len(told) == 1
    np.savez(tmp_path / "others.npz", X=X, y=SICK, feature_names=["years", "red"])
    assert main(["predict", model, str(tmp_path / "others.npz")]) == 1
    assert "no column 'age'. Known: years, red" in capsys.readouterr().err
    np.savez(tmp_path / "twice.npz", X=wide, y=SICK, feature_names=["age", "red", "age"])
    assert main(["predict", model, str(tmp_path / "twice.npz")]) == 1
    assert "must name each column once, got ['age']" in capsys.readouterr().err


def test_labels_that_look_like_numbers_are_told_apart_by_value(tmp_path):
    table = write_table(tmp_path / "t.csv", labels=("0", "1"))
    model = str(tmp_path / "m")
    columns = ["--target", "state", "--drop", "name", "--positive", "1.0"]
    assert main(["train", table, *columns, "--out", model, *SMALL]) == 0
    assert load_model(model).classes == (0, 1)
    assert main(["evaluate", model, table, "--quiet"]) == 0


# -- rows held out ---------------------------------------------------------------------------------------------------

HELD_OUT = [("auto", 5, N), ("3", 3, N), ("0.2", 1, N // 5), ("last", 1, N // 5), ("none", 1, 0)]


@pytest.mark.parametrize("validation, networks, held", HELD_OUT)
def test_rows_are_held_out_as_asked_for(tmp_path, validation, networks, held):
    table, model, report = write_table(tmp_path / "t.csv"), str(tmp_path / "m"), tmp_path / "r.json"
    columns = ["--target", "state", "--positive", "sick", "--drop", "name"]
    arguments = ["train", table, *columns, "--validation", validation, "--out", model, "--report", str(report)]
    assert main([*arguments, *SMALL]) == 0
    facts = json.loads(report.read_text())
    assert 1 + len(load_model(model).voters) == networks
    assert (facts["judged_on"], facts["rows"]) == (("held-out rows", held) if held else ("training rows", N))
    assert (facts["best_step"] is None) == (held == 0)


@pytest.mark.parametrize("validation", ["auto", "0.2"])
def test_a_refit_saves_one_network_that_is_judged_on_rows_held_out_before(tmp_path, validation):
    table, model, report = write_table(tmp_path / "t.csv"), str(tmp_path / "m"), tmp_path / "r.json"
    columns = ["--target", "state", "--positive", "sick", "--drop", "name", "--validation", validation]
    columns += ["--patience", "99"]
    assert main(["train", table, *columns, "--refit", "--out", model, "--report", str(report), *SMALL]) == 0
    facts = json.loads(report.read_text())
    assert load_model(model).voters == [] and facts["judged_on"] == "held-out rows"
    assert facts["rows"] == (N if validation == "auto" else N // 5)
    assert facts["steps"] == 60 * (5 if validation == "auto" else 1) + facts["best_step"]


# -- interruption ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("signum, status, told", [
    (signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated"),
])  # fmt: skip
def test_an_interrupted_training_keeps_its_best_and_is_resumed_to_the_same_end(
    trained, tmp_path, monkeypatch, capsys, signum, status, told
):
    from aesara_nondecomp.training.checkpoints import CheckpointFile

    table, path, _ = trained
    model = str(tmp_path / "m")
    arguments = ["train", table, "--target", "state", "--positive", "sick", "--drop", "name", "--out", model, *SMALL]
    original, sent = CheckpointFile.write, []

    def write_and_interrupt(self, fitting, finished):
        original(self, fitting, finished)
        if len(fitting.history) >= 90 and not sent:  # in the second network or the third
            sent.append(os.kill(os.getpid(), signum))

    monkeypatch.setattr(CheckpointFile, "write", write_and_interrupt)
    _checkpoint_every(monkeypatch, 30)
    assert main(arguments) == status
    assert capsys.readouterr().err.splitlines() == [
        f"aesara-nondecomp: error: {told}. The model so far is in {model}. The checkpoint is {model}.checkpoint: run "
        "the command again with --resume to go on."
    ]
    assert load_model(model).classes == ("well", "sick")
    monkeypatch.undo()
    _checkpoint_every(monkeypatch, 30)
    assert main([*arguments, "--resume"]) == 0
    assert not Path(f"{model}.checkpoint").exists()
    assert all(map(np.array_equal, all_parameters(path), all_parameters(model)))
    assert len(load_model(model).voters) == len(load_model(path).voters) == 4


def _checkpoint_every(monkeypatch, every):
    from functools import partial

    from aesara_nondecomp.cli import usage

    monkeypatch.setattr(usage, "Checkpoint", partial(usage.Checkpoint, every=every))


# -- tables ----------------------------------------------------------------------------------------------------------

COLUMNS = {"age": ["1", "?", "3.5", " "], "colour": ["red", "", "blue", "red"], "code": ["10", "20", "10", "10"]}


def test_a_preparation_does_what_a_column_transformer_does():
    preparation = TableEncoder.fit(COLUMNS, categorical=["code"])
    numbers = np.array([[1.0], [np.nan], [3.5], [np.nan]], dtype=object)
    cells = np.column_stack([numbers, np.array([COLUMNS["colour"], COLUMNS["code"]], dtype=object).T])
    oracle = ColumnTransformer(
        [("n", SimpleImputer(strategy="median"), [0]), ("c", OneHotEncoder(sparse_output=False), [1, 2])]
    )
    expected = oracle.fit_transform(cells).astype("float32")
    restored = TableEncoder.from_dict(json.loads(json.dumps(preparation.as_dict())))
    for one in (preparation, restored):
        np.testing.assert_array_equal(one.transform(COLUMNS), expected)
    assert restored.feature_names == ("age", "colour=", "colour=blue", "colour=red", "code=10", "code=20")


def test_an_unknown_category_is_none_of_the_known_and_a_gap_takes_the_median():
    preparation = TableEncoder.fit({"age": ["1", "2", "9"], "colour": ["red", "blue", "red"]})
    with pytest.warns(UserWarning, match=r"1 of 2 cells \(50.0%\) of 'colour': 'pink'"):
        new = preparation.transform({"colour": ["pink", "red"], "age": ["NA", "4"], "other": ["x", "y"]})
    np.testing.assert_array_equal(new, [[2, 0, 0], [4, 0, 1]])


@pytest.mark.parametrize("columns, message", [
    ({"a": ["", "?"]}, "column 'a' holds no values. Drop it"),
    ({"a": [f"name {k}" for k in range(201)]}, "201 different texts, more than the 200"),
    ({}, "got none. Check the delimiter"),
])  # fmt: skip
def test_a_table_that_cannot_be_prepared_is_refused(columns, message):
    with pytest.raises(ValueError, match=message):
        TableEncoder.fit(columns)


def test_a_later_table_must_have_the_columns_and_their_kind():
    preparation = TableEncoder.fit({"age": ["1", "2"], "colour": ["red", "blue"]})
    with pytest.raises(ValueError, match="no column 'age'. Did you mean 'ages'"):
        preparation.transform({"ages": ["1"], "colour": ["red"]})
    with pytest.raises(ValueError, match="column 'age' held numbers in training.*'old'"):
        preparation.transform({"age": ["old"], "colour": ["red"]})
    with pytest.raises(ValueError, match="no column 'code'"):
        TableEncoder.fit({"age": ["1"]}, categorical=["code"])


# -- reports ---------------------------------------------------------------------------------------------------------


def test_the_floor_in_a_report_is_the_better_of_two_answers_for_all():
    table = ConfusionMatrix(20, 10, 5, 65)
    facts = evaluation(_model_stub(), table, draws=10, seed=0)
    assert facts["measures"]["f1"]["trivial"] == pytest.approx(2 * 30 / (30 + 100))
    assert facts["measures"]["ae"]["trivial"] == pytest.approx(0.3)
    assert facts["measures"]["accuracy"]["trivial"] == pytest.approx(0.7)


def _model_stub():
    class Stub:
        measure = measures.get("fbeta", beta=2)

    return Stub()


def test_what_is_not_finite_is_null_in_json():
    text = report_lines.as_json({"a": [float("nan"), float("inf"), 1.5, "x"]})
    assert json.loads(text) == {"a": [None, None, 1.5, "x"]}


# -- the rest --------------------------------------------------------------------------------------------------------


def test_measures_lists_the_catalogue(capsys):
    assert main(["measures", "--json"]) == 0
    facts = {fact["measure"]: fact for fact in json.loads(capsys.readouterr().out)}
    assert tuple(facts)[: len(measures.names())] == measures.names()
    f1 = {"measure": "f1", "classes": "two", "better": "larger", "drivers": ["dame"], "parameters": [], "needs": None}
    assert facts["f1"] == f1
    assert facts["qwk"]["classes"] == "more" and facts["kld"]["classes"] == "two or more"
    assert set(measures.multiclass.names()) <= facts.keys() and facts["mean_of_worst"]["parameters"] == ["h"]
    assert facts["worst_cell"]["needs"] == "--groups" and facts["recall"]["needs"] == "--constraint"
    assert facts["kld"]["better"] == "smaller" and facts["fbeta"]["parameters"] == ["beta"]
    assert main(["measures"]) == 0
    assert "report only" in capsys.readouterr().out


COMMANDS = ["train", "predict", "evaluate", "compare", "quantify", "export-onnx", "measures", "doctor"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_an_example_in_its_help(command, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    assert f"example: aesara-nondecomp {command}" in capsys.readouterr().out


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"aesara-nondecomp {__version__}\n"


@pytest.mark.parametrize("arguments, message", [
    ([], "the following arguments are required: command"),
    (["train", "d.csv", "--out", "m", "--measure", "auc"], "Take 'gmean' or 'balanced_accuracy'"),
    (["trian"], "invalid choice: 'trian'"),
    (["train", "d.csv"], "--out"),
    (["train", "d.csv", "--out", "m", "--measure", "f11"], "unknown measure 'f11'. Did you mean 'f1'"),
    (["train", "d.csv", "--out", "m", "--measure", "fbeta:beta=0"], "fbeta needs a finite beta at least"),
    (["train", "d.csv", "--out", "m", "--measure", "fbeta:bta=2"], "no parameter 'bta'"),
    (["train", "d.csv", "--out", "m", "--measure", "weighted_accuracy"], "needs the parameter c, got none"),
    (["train", "d.csv", "--out", "m", "--measure", "fbeta:2"], "Write it as f1 or fbeta:beta=2"),
    (["train", "d.csv", "--out", "m", "--steps", "many"], "expected int >= 1, got 'many'"),
    (["train", "d.csv", "--out", "m", "--hidden", "a,b"], "expected sequence of int >= 1, got"),
    (["train", "d.csv", "--out", "m", "--stepz", "5"], "unrecognized arguments"),
    (["predict", "m"], "the following arguments are required: data"),
    (["evaluate", "m", "d.csv", "--draws", "x"], "invalid int value"),
])  # fmt: skip
def test_a_usage_error_exits_with_2(arguments, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_a_reader_that_stops_early_is_no_traceback(trained):
    table, path, _ = trained
    command = f"{sys.executable} -m aesara_nondecomp predict {path} {table} | head -1"
    done = subprocess.run(command, shell=True, cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert done.stdout == "row,prediction,score,probability\n"
    assert "Traceback" not in done.stderr
