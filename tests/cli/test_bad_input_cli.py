"""Bad input to the command line is one clear message and an exit status, before anything is compiled or written."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="tables with text need the extra `sklearn`")

from test_bad_input_estimators import NAN, X, Y, short, untrained  # noqa: E402

from aesara_nondecomp.cli import main  # noqa: E402
from aesara_nondecomp.data import InputEncoder, TableEncoder  # noqa: E402
from aesara_nondecomp.models.model import Model  # noqa: E402

pytestmark = pytest.mark.usefixtures("nothing_may_be_compiled")

HEADER = "a,b,c,y\n"
GOOD = HEADER + "".join(f"{r[0]},{r[1]},{r[2]},{label}\n" for r, label in zip(X, Y))


def changed(old, new):
    assert old in GOOD
    return GOOD.replace(old, new, 1)


TRAIN = [
    # the table
    (GOOD.replace(",0\n", ",1\n"), [], "two classes, got 1"),
    (changed(",1\n", ",2\n"), [], "two classes, got 3"),
    (changed(",1\n", ",\n"), [], "1 rows without a label, the first is row 1"),
    (HEADER, [], "must hold rows below its header, got none"),
    ("", [], "must hold rows below its header, got none"),
    (changed(",1\n", ",1,5\n"), [], "row 1 (from 1, below the header): expected 4 cells as in the header, got 5"),
    (GOOD.replace("a,b,c,y", "a,a,c,y"), [], "must name each column once, got ['a']"),
    ("y\n0\n1\n", [], "no feature columns beside the labels"),
    (changed(str(X[0, 0]), "inf"), [], "column 'a' must hold finite numbers, got inf in row 1 (from 1)"),
    (HEADER + "?,1,2,0\n?,2,3,1\n" * 3, [], "column 'a' holds no values. Drop it"),
    (b"\xff\xfe\x00", [], "must be UTF-8 text, got another encoding. Save it as UTF-8"),
    (GOOD.encode() + b"K\xf6ln,1,2,0\n", [], "must be UTF-8 text, got another encoding. Save it as UTF-8"),
    (HEADER + "".join(f"{k},1,2,{k}.5\n" for k in range(9)), [], "must be whole numbers or text, got [0.5, 1.5"),
    # the options
    (GOOD, ["--target", "z"], "no column 'z' for --target"),
    (GOOD, ["--positive", "2"], "label '2' is unknown. Known: 0, 1"),
    (GOOD, ["--drop", "zz"], "no column 'zz' to drop"),
    (GOOD, ["--categorical", "zz"], "no column 'zz'"),
]  # fmt: skip


USAGE = [
    (["--algorithm", "duplle"], "unknown algorithm 'duplle'. Did you mean 'duple'"),
    (["--steps", "0"], "steps must be a whole number of at least 1, got 0"),
    (["--batch-size", "many"], "expected int >= 1, got 'many'"),
    (["--learning-rate", "0"], "learning_rate must be a positive finite number, got 0.0"),
    (["--hidden", "8,0"], "a hidden width must be a whole number of at least 1, got 0"),
    (["--optimizer", "addam"], "unknown optimiser 'addam'. Did you mean 'adam'"),
    (["--schedule", "cosin"], "unknown schedule 'cosin'. Did you mean 'cosine'"),
    (["--sampler", "1.5"], "share of positives strictly between 0 and 1, got 1.5"),
    (["--averaging", "1"], "averaging must lie in [0, 1), got 1.0"),
    (["--l2", "-1"], "l2 must be a finite number of at least 0, got -1.0"),
    (["--dropout", "1"], "dropout must lie in [0, 1), got 1.0"),
    (["--activation", "rely"], "unknown activation 'rely'. Did you mean 'relu'"),
    (["--backend", "cc"], "unknown backend 'cc'"),
    (["--validation", "1.5"], "a share of the rows strictly between 0 and 1, a number of folds of at least 2"),
    (["--validation", "1"], "a number of folds of at least 2"),
    (["--validation", "first"], "validation must be 'auto', 'last', a share"),
    (["--patience", "0"], "patience must be a whole number of at least 1, got 0"),
    (["--patience", "long"], "expected int >= 1, None or auto, got 'long'"),
    (["--network", "attentoin"], "unknown network 'attentoin'. Did you mean 'attention'"),
    (["--delimiter", "xx"], "the delimiter must be one character, got 'xx'"),
    (["--seed", "-1"], "--seed must be a non-negative integer"),
    (["--quiet", "--verbose"], "argument --verbose: not allowed with argument --quiet"),
    # options that do not go together
    (["--measure", "gtppr"], "no driver trains gtppr directly"),
    (["--algorithm", "denim"], "'denim' cannot train for f1, which is pseudolinear. Use 'dame'"),
    (["--network", "attention", "--hidden", "8"], "network='attention' does not take hidden=(8,)"),
    (["--validation", "none", "--patience", "5"], "--patience needs held-out rows"),
    (["--validation", "none", "--tune-threshold"], "--tune-threshold needs held-out rows"),
    (["--validation", "none", "--refit"], "--refit needs held-out rows"),
    # options that are not known
    (["--stepz", "5"], "unrecognized arguments: --stepz 5. Did you mean '--steps'"),
]


@pytest.mark.parametrize("options, message", USAGE, ids=short)
def test_a_bad_option_is_a_usage_error(capsys, options, message):
    with pytest.raises(SystemExit) as stopped:
        main(["train", "t.csv", "--out", "m", *options])
    told = capsys.readouterr().err
    assert stopped.value.code == 2 and message in told and told.startswith("usage: aesara-nondecomp train ")


@pytest.mark.parametrize("command", ["evaluate", "compare"])
@pytest.mark.parametrize("option, message", [
    (["--draws", "0"], "--draws must be a whole number of at least 1, got 0"),
    (["--draws", "x"], "invalid int value: 'x'"),
    (["--seed", "-1"], "--seed must be a non-negative integer"),
    (["--hmtl", "p.html"], "unrecognized arguments: --hmtl p.html. Did you mean '--html'"),
])  # fmt: skip
def test_a_bad_option_of_a_report_is_a_usage_error(capsys, command, option, message):
    with pytest.raises(SystemExit) as stopped:
        main([command, "a.model", "b.model", "t.csv"][: 4 if command == "compare" else 3] + option)
    told = capsys.readouterr().err
    assert stopped.value.code == 2 and message in told and told.startswith(f"usage: aesara-nondecomp {command} ")


def refused(arguments, message, capsys):
    """Exit status 1, nothing on stdout, and one line on stderr."""
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    errors = [line for line in captured.err.splitlines() if ": error: " in line]
    assert len(errors) == 1 and message in errors[0], captured.err
    assert "Traceback" not in captured.err


@pytest.mark.parametrize("text, options, message", TRAIN, ids=short)
def test_a_bad_table_or_option_gets_one_line_of_error_and_no_model(tmp_path, capsys, text, options, message):
    table, model = tmp_path / "t.csv", tmp_path / "m"
    table.write_bytes(text if isinstance(text, bytes) else text.encode())
    options = options if "--target" in options else ["--target", "y", *options]
    refused(["train", str(table), "--out", str(model), *options], message, capsys)
    assert not model.exists()


@pytest.mark.parametrize("name, content, message", [
    ("t.csv", GOOD, "needs the name of its label column: give --target. Columns: a, b, c, y"),
    ("t.svm", "1 1:2\n0 a:3\n", "line 2: expected index:value"),
    ("t.svm", "", "must hold rows with features, got none"),
    ("t.npz", "no archive", "cannot read"),
    ("t.xls", "PK", "unknown suffix '.xls'"),
])  # fmt: skip
def test_train_refuses_files(tmp_path, capsys, name, content, message):
    (tmp_path / name).write_text(content)
    refused(["train", str(tmp_path / name), "--out", str(tmp_path / "m")], message, capsys)


@pytest.mark.parametrize("name, options, message", [
    ("t.npz", ["--drop", "a"], "--drop is for a table, such as a .csv file"),
    ("t.npz", ["--categorical", "a"], "--categorical is for a table, such as a .csv file"),
    ("t.svm", ["--target", "y"], "--target names a column or an array"),
])  # fmt: skip
def test_train_refuses_options_that_the_file_leaves_without_effect(tmp_path, capsys, name, options, message):
    np.savez(tmp_path / "t.npz", X=X, y=Y)
    (tmp_path / "t.svm").write_text("1 1:2\n0 1:3\n")
    refused(["train", str(tmp_path / name), "--out", str(tmp_path / "m"), *options], message, capsys)


def test_train_refuses_a_missing_file_and_a_missing_folder(tmp_path, capsys):
    missing = str(tmp_path / "t.csv")
    refused(["train", missing, "--target", "y", "--out", str(tmp_path / "m")], "there is no file", capsys)
    (tmp_path / "t.csv").write_text(GOOD)
    refused(["train", missing, "--target", "y", "--out", str(tmp_path / "no" / "m")], "there is no folder", capsys)


@pytest.mark.parametrize("arrays, message", [
    ({"X": X}, "no array 'y'"),
    ({"X": X, "y": Y[:30]}, "same number of rows"),
    ({"X": X, "y": Y[:, None]}, "Pass y.ravel()"),
    ({"X": NAN, "y": Y}, "first in row 3, column 1"),
    ({"X": X.astype(str), "y": Y}, "must be numbers"),
    ({"X": X[:, 0], "y": Y}, "two-dimensional"),
])  # fmt: skip
def test_train_refuses_arrays(tmp_path, capsys, arrays, message):
    np.savez(tmp_path / "t.npz", **arrays)
    refused(["train", str(tmp_path / "t.npz"), "--out", str(tmp_path / "m")], message, capsys)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """One for tables, one for arrays, one without what `train` adds."""
    folder = tmp_path_factory.mktemp("models")
    table = InputEncoder(table=TableEncoder(("a", "b", "c"), (0.0,) * 3, (), ()))
    for name, changes in (
        ("table", {"encoder": table, "extra": {"target": "y"}}),
        ("arrays", {"extra": {"target": "y"}}),
        ("bare", {"quantifier": None}),
    ):
        replace(untrained().model_, **changes).save(folder / name)
    (folder / "cut").write_bytes((folder / "table").read_bytes()[:-40])
    (folder / "foreign").write_text("hello")
    return folder


APPLY = [
    ("table", "t.csv", GOOD.replace("a,b,c,y", "z,b,c,y"), "no column 'a'"),
    ("table", "t.csv", changed(str(X[0, 0]), "old"), "column 'a' held numbers in training"),
    ("table", "t.csv", changed(str(X[0, 0]), "inf"), "column 'a' must hold finite numbers, got inf"),
    ("table", "t.csv", HEADER, "must hold rows below its header"),
    ("table", "t.svm", "1 1:2\n", "trained on a table, such as a .csv file"),
    ("arrays", "t.csv", GOOD, "trained on LIBSVM text or .npz"),
    ("arrays", "t.svm", "1 4:2\n", "holds feature 4, more than n_features=3"),
    ("cut", "t.csv", GOOD, "is not usable"),
    ("foreign", "t.csv", GOOD, "is not usable"),
    ("absent", "t.csv", GOOD, "there is no file"),
]  # fmt: skip


@pytest.mark.parametrize("command", ["predict", "evaluate", "quantify"])
@pytest.mark.parametrize("case", APPLY, ids=short)
def test_a_model_is_not_applied_to_what_it_does_not_fit(models, tmp_path, capsys, command, case):
    model, name, content, message = case
    (tmp_path / name).write_text(content)
    refused([command, str(models / model), str(tmp_path / name)], message, capsys)


@pytest.mark.parametrize("content, options, message", [
    (changed(",1\n", ",7\n"), [], "the label '7' is unknown. Known: 0, 1"),
    (GOOD.replace("a,b,c,y", "a,b,c,z"), [], "no column 'y' for --target"),
    (GOOD, ["--target", "yy"], "no column 'yy' for --target. Did you mean 'y'"),
])  # fmt: skip
def test_evaluate_refuses_labels(models, tmp_path, capsys, content, options, message):
    (tmp_path / "t.csv").write_text(content)
    refused(["evaluate", str(models / "table"), str(tmp_path / "t.csv"), *options], message, capsys)


@pytest.mark.parametrize("options", [[], ["--html"]])
@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_evaluate_refuses_a_target_that_is_an_input(models, tmp_path, capsys, name, options):
    pandas = pytest.importorskip("pandas", reason="needs the extra files")
    (tmp_path / "t.csv").write_text(GOOD)
    pandas.read_csv(tmp_path / "t.csv").to_parquet(tmp_path / "t.parquet")
    page = [*options, str(tmp_path / "page.html")] if options else []
    arguments = ["evaluate", str(models / "table"), str(tmp_path / name), "--target", "b", *page]
    refused(arguments, "--target must name other columns than the inputs of the model, got ['b']", capsys)


def test_evaluate_refuses_a_target_that_the_file_leaves_without_effect(models, tmp_path, capsys):
    (tmp_path / "t.svm").write_text("1 1:2\n0 1:3\n")
    arguments = ["evaluate", str(models / "arrays"), str(tmp_path / "t.svm"), "--target", "y"]
    refused(arguments, "--target names a column or an array", capsys)


OUTPUTS = [("no/file", "there is no folder"), ("", "not a folder"), ("t.csv", "another one than those to read")]


@pytest.mark.parametrize("name, message", OUTPUTS)
@pytest.mark.parametrize("command", ["train", "predict", "evaluate", "quantify"])
def test_a_file_that_cannot_be_written_is_refused_before_the_work(models, tmp_path, capsys, command, name, message):
    (tmp_path / "t.csv").write_text(GOOD)
    data, out = str(tmp_path / "t.csv"), str(tmp_path / name)
    given = ["--target", "y", "--out", str(tmp_path / "m"), "--report", out]
    arguments = [data, *given] if command == "train" else [str(models / "table"), data, "--out", out]
    refused([command, *arguments], message, capsys)
    assert (tmp_path / "t.csv").read_text() == GOOD and [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize("name", ["p.xlsx", "p.NPZ", "p.json", "p.json.gz", "p.feather", "p.parquet.gz", "p.csv.zip"])
def test_predictions_are_not_written_under_the_name_of_another_format(models, tmp_path, capsys, name):
    (tmp_path / "t.csv").write_text(GOOD)
    with pytest.raises(SystemExit, match="2"):
        main(["predict", str(models / "table"), str(tmp_path / "t.csv"), "--out", str(tmp_path / name)])
    told = capsys.readouterr().err
    assert "predictions are written as .csv, .tsv or other text" in told and f"got '{tmp_path / name}'" in told
    assert not (tmp_path / name).exists()


def test_two_files_to_write_at_one_path_are_refused(tmp_path, capsys):
    (tmp_path / "t.csv").write_text(GOOD)
    data, out = str(tmp_path / "t.csv"), str(tmp_path / "m")
    refused(["train", data, "--target", "y", "--out", out, "--report", out], "files to write must differ", capsys)


def test_quantify_refuses_a_model_without_calibration(models, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(Model, "decision_function", lambda self, X: np.zeros(len(X)))
    np.savez(tmp_path / "t.npz", X=X)
    refused(["quantify", str(models / "bare"), str(tmp_path / "t.npz")], "this model is not calibrated", capsys)


def test_a_pipe_has_no_checkpoint_to_resume_from(tmp_path, capsys):
    (tmp_path / "t.csv").write_text(GOOD)
    arguments = ["train", str(tmp_path / "t.csv"), "--target", "y", "--out", "/dev/stderr", "--resume"]
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert "--resume needs a model file" in capsys.readouterr().err
