"""Tables as people have them, through the command line: what is read, what is refused, and what is told."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import select
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="needs the extra files")

from aesara_nondecomp import load_model  # noqa: E402
from aesara_nondecomp.cli import main  # noqa: E402
from aesara_nondecomp.cli.model_rows import label_like
from aesara_nondecomp.cli.parser import build_parser  # noqa: E402
from aesara_nondecomp.cli.training_tables import read_training_table  # noqa: E402
from aesara_nondecomp.data import InputEncoder, read_npz  # noqa: E402

RNG = np.random.default_rng(0)
N = 240
AGE, CODE = RNG.integers(18, 90, N), RNG.integers(1, 6, N)
SICK = (AGE + 30 * (CODE == 2) + RNG.normal(0, 5, N) > 80).astype(int)
SMALL = ["--hidden", "4", "--steps", "40", "--learning-rate", "0.02", "--validation", "0.25", "--quiet"]


def table_of(age=AGE, code=CODE, header="age,code,sick", delimiter=","):
    rows = zip(map(str, age), map(str, code), map(str, SICK))
    return "\n".join([header.replace(",", delimiter), *map(delimiter.join, rows)]) + "\n"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    (folder / "t.csv").write_text(table_of())
    arguments = ["train", str(folder / "t.csv"), "--target", "sick", "--categorical", "code"]
    assert main([*arguments, "--out", str(folder / "m"), *SMALL]) == 0
    return folder


def predictions(model, path, *options):
    """What `predict` writes to standard output."""
    captured, stdout = io.StringIO(), sys.stdout
    sys.stdout = captured
    try:
        assert main(["predict", str(model), str(path), *options]) == 0
    finally:
        sys.stdout = stdout
    return captured.getvalue()


SPELLINGS = {
    "floats": table_of(code=CODE.astype(float), age=AGE.astype(float)),
    "blanks": table_of(code=[f" {code} " for code in CODE]),
    "semicolons": table_of(delimiter=";"),
    "tabs": table_of(delimiter="\t"),
    "reordered": "code,note,age\n" + "".join(f"{code},x,{age}\n" for code, age in zip(CODE, AGE)),
    "an index": ",age,code\n" + "".join(f"{k},{age},{code}\n" for k, (age, code) in enumerate(zip(AGE, CODE))),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_predictions_do_not_depend_on_how_the_table_is_written(trained, tmp_path, capsys, name):
    (tmp_path / "t.csv").write_text(SPELLINGS[name])
    assert predictions(trained / "m", tmp_path / "t.csv") == predictions(trained / "m", trained / "t.csv")
    assert capsys.readouterr().err == ""


def test_a_table_is_read_from_standard_input_and_written_to_standard_output(trained, monkeypatch, tmp_path):
    expected = predictions(trained / "m", trained / "t.csv")
    for options in ([], ["--out", "-"]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(table_of().encode())))
        assert predictions(trained / "m", "-", *options) == expected


def long_table(**cells):
    """More rows than are read at a time, where cells["age"] and others replace what stands in row 5000 (from 1)."""
    lines = [f"{18 + k % 70},{1 + k % 5}" for k in range(9_000)]
    lines[4999] = "{age},{code}".format(**{"age": 40, "code": 2, **cells})
    return "\n".join(["age,code", *lines]) + "\n"


def test_a_file_is_predicted_block_by_block_as_it_would_be_at_once(trained, tmp_path):
    (tmp_path / "t.csv").write_text(long_table())
    lines = predictions(trained / "m", tmp_path / "t.csv").splitlines()[1:]
    rows = {"age": [18 + k % 70 for k in range(9_000)], "code": [1 + k % 5 for k in range(9_000)]}
    rows["age"][4999], rows["code"][4999] = 40, 2
    model = load_model(trained / "m")
    found = zip(model.predict(rows), model.decision_function(rows), model.predict_proba(rows)[:, 1])
    assert lines == [f"{row},{label},{score:.6g},{p:.6g}" for row, (label, score, p) in enumerate(found, start=1)]
    assert main(["quantify", str(trained / "m"), str(tmp_path / "t.csv"), "--out", str(tmp_path / "q"), "--quiet"]) == 0
    report = json.loads((tmp_path / "q").read_text())
    assert report["rows"] == 9_000 and report["prevalence"]["cc"] == pytest.approx(model.predict_prevalence(rows))


@pytest.mark.parametrize("text, message", [
    (long_table(age="old"), "column 'age' held numbers in training, but holds 'old' in row 5000 (from 1)"),
    (long_table(age="inf"), "column 'age' must hold finite numbers, got inf in row 5000 (from 1)"),
    (long_table(code="2,7"), "row 5000 (from 1, below the header): expected 2 cells"),
])  # fmt: skip
def test_what_is_wrong_in_a_later_row_is_named_and_leaves_the_former_predictions(
    trained, tmp_path, capsys, text, message
):
    (tmp_path / "t.csv").write_text(text)
    (tmp_path / "p.csv").write_text("former")
    assert main(["predict", str(trained / "m"), str(tmp_path / "t.csv"), "--out", str(tmp_path / "p.csv")]) != 0
    assert message in capsys.readouterr().err
    assert (tmp_path / "p.csv").read_text() == "former"


@pytest.mark.parametrize("command", ["evaluate", "quantify"])
def test_a_report_on_standard_output_is_json_alone(trained, capsys, command):
    arguments = [command, str(trained / "m"), str(trained / "t.csv"), "--out", "-"]
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["prevalence"]


def test_unknown_categories_are_counted_in_one_warning(trained, tmp_path, capsys):
    (tmp_path / "t.csv").write_text(table_of(code=[9, *CODE[1:]]))
    for command in (["predict"], ["evaluate", "--draws", "10"], ["quantify"]):
        assert main([command[0], str(trained / "m"), str(tmp_path / "t.csv"), *command[1:]]) == 0
        told = capsys.readouterr().err.splitlines()
        assert len(told) == 1 and "1 of 240 cells (0.4%) of 'code': '9'" in told[0]


def test_a_decimal_comma_named_in_training_is_that_of_later_files(tmp_path):
    (tmp_path / "comma.csv").write_text(table_of(age=[f"{age},5" for age in AGE], delimiter=";"))
    (tmp_path / "point.csv").write_text(table_of(age=AGE + 0.5))
    for name, options in (("comma", ["--decimal", ","]), ("point", [])):
        arguments = ["train", str(tmp_path / f"{name}.csv"), "--target", "sick", *options]
        assert main([*arguments, "--out", str(tmp_path / name), *SMALL]) == 0
    expected = predictions(tmp_path / "point", tmp_path / "point.csv")
    assert predictions(tmp_path / "comma", tmp_path / "comma.csv") == expected
    assert predictions(tmp_path / "comma", tmp_path / "point.csv", "--decimal", ".") == expected


def test_options_of_text_named_in_training_are_not_those_of_other_formats(tmp_path, capsys):
    pandas = pytest.importorskip("pandas", reason="needs the extra files")
    (tmp_path / "t.csv").write_text(table_of(age=[f"{age},5" for age in AGE], delimiter=";"))
    arguments = ["train", str(tmp_path / "t.csv"), "--target", "sick", "--delimiter", ";", "--decimal", ","]
    assert main([*arguments, "--out", str(tmp_path / "m"), *SMALL]) == 0
    frame = pandas.DataFrame({"age": AGE + 0.5, "code": CODE, "sick": SICK})
    written = [tmp_path / "t.parquet"]
    frame.to_parquet(written[0])
    if importlib.util.find_spec("openpyxl"):
        written.append(tmp_path / "t.xlsx")
        frame.to_excel(written[-1], index=False)
    for path in written:
        assert predictions(tmp_path / "m", path) == predictions(tmp_path / "m", tmp_path / "t.csv")
        assert main(["evaluate", str(tmp_path / "m"), str(path), "--draws", "50"]) == 0
    assert main(["predict", str(tmp_path / "m"), str(written[0]), "--delimiter", ";"]) == 1
    assert "leave delimiter and decimal out, got 'delimiter=;'" in capsys.readouterr().err


def read(path, text, *options):
    path.write_text(text)
    arguments = ["train", str(path), "--target", "sick", "--out", "m", *options]
    return read_training_table(build_parser().parse_args(arguments))


@pytest.mark.parametrize("header, options, kept", [
    (",age,sick", ["--drop", ""], ["age"]),
    ('"age, in years",b,sick', ["--drop", '"age, in years"'], ["b"]),
    ('"age, in years",b,sick', ["--drop", "b"], ["age, in years"]),
    ("a,b,c,sick", ["--drop", "a", "--drop", "c"], ["b"]),
    ("a,b,c,sick", ["--drop", "a, c"], ["b"]),
])  # fmt: skip
def test_columns_are_dropped_by_whatever_name(tmp_path, header, options, kept):
    cells = ",".join(str(k) for k in range(3 if header.startswith("a,") else header.replace("e, i", "").count(",")))
    table = read(tmp_path / "t.csv", "\n".join([header, f"{cells},0", f"{cells},1"]), *options)
    assert list(table.X.cells) == kept


def test_missing_values_are_named_and_counted(tmp_path):
    with pytest.warns(UserWarning, match="3 cells are missing values because they are 'n.d.' or '-1'"):
        table = read(
            tmp_path / "t.csv", table_of(age=["n.d.", -1, -1, *AGE[3:]]), "--missing", "n.d.", "--missing", "-1"
        )
    encoder = InputEncoder.fit(table.X)
    assert encoder.table.numeric == ("age", "code") and encoder.table.missing == ("n.d.", "-1")
    assert encoder.table.medians[0] == np.median(AGE[3:])


@pytest.mark.parametrize("cells, message", [
    ({"age": ["old", *AGE[1:]]}, "column 'age' holds numbers, but also 'old' in row 1 (from 1)"),
    ({"age": [*AGE[:-1], "1,5"]}, "row 240 (from 1, below the header): expected 3 cells as in the header, got 4"),
    ({"age": [*AGE[:-1], '"1,5"']}, "column 'age' holds numbers with a decimal comma"),
    ({"age": ["2024-01-31"] * N}, "column 'age' holds dates or times"),
])  # fmt: skip
def test_cells_that_are_no_numbers_are_refused_before_training(tmp_path, capsys, cells, message):
    (tmp_path / "t.csv").write_text(table_of(**cells))
    assert main(["train", str(tmp_path / "t.csv"), "--target", "sick", "--out", str(tmp_path / "m"), *SMALL]) == 1
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1 and message in told[0]
    assert not (tmp_path / "m").exists()


def test_a_saved_index_is_left_out_with_one_warning(tmp_path, capsys):
    indexed = [f"{k},{line}" for k, line in enumerate(table_of().splitlines()[1:])]
    (tmp_path / "t.csv").write_text("\n".join([",age,code,sick", *indexed]))
    assert main(["train", str(tmp_path / "t.csv"), "--target", "sick", "--out", str(tmp_path / "m"), *SMALL]) == 0
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1 and "column '' has no name and numbers the rows: it is left out" in told[0]
    assert load_model(tmp_path / "m").feature_names == ["age", "code"]


# -- precision -------------------------------------------------------------------------------------------------------

T = RNG.permutation(N).astype(float)
FAR = {
    "unix seconds within an hour": 1.7e9 + 15 * T,
    "unix seconds with thousandths": 1.7e9 + T / 1000,
    "1e9 + x": 1e9 + T / 100,
    "1e8 + normal": 1e8 + RNG.normal(size=N),
    "1e-30 x": 1e-30 * RNG.normal(size=N),
    "1e-40 x": 1e-40 * RNG.normal(size=N),
    "1e-300 x": 1e-300 * RNG.normal(size=N),
    "1e200 x": 1e200 * RNG.normal(size=N),
    "ids": 2.0**40 + T,
}


def as_csv(path, column):
    path.with_suffix(".csv").write_text("x,y\n" + "".join(f"{x!r},{k % 2}\n" for k, x in enumerate(column.tolist())))
    return path.with_suffix(".csv")


def as_gaps(path, column):
    """With a blank beside each number, and a gap in a spelling that Python looks at."""
    lines = [f" {x!r} ,{k % 2}\n" for k, x in enumerate(column.tolist())]
    path.with_suffix(".csv").write_text("x,y\n" + "".join(lines))
    return path.with_suffix(".csv")


def as_npz(path, column):
    np.savez(path.with_suffix(".npz"), X=column[:, None], y=np.arange(N) % 2)
    return path.with_suffix(".npz")


def as_parquet(path, column):
    pandas = pytest.importorskip("pandas", reason="needs the extra files")
    pandas.DataFrame({"x": column, "y": np.arange(N) % 2}).to_parquet(path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


@pytest.mark.parametrize("written", [as_csv, as_gaps, as_npz, as_parquet])
@pytest.mark.parametrize("name", FAR)
def test_a_column_keeps_its_digits_from_the_file_to_the_network(tmp_path, name, written):
    column = FAR[name]
    path = written(tmp_path / "t", column)
    target = [] if path.suffix == ".npz" else ["--target", "y"]
    table = read_training_table(build_parser().parse_args(["train", str(path), *target, "--out", "m"]))
    rows = InputEncoder.fit(table.X).transform(table.X)[:, 0]
    near = (column - column[0]) / np.abs(column - column[0]).max()
    np.testing.assert_allclose(rows, (near - near.mean()) / near.std(), atol=2e-6)


def test_a_model_of_seconds_is_as_good_as_one_of_centred_seconds(tmp_path):
    labels = (np.sin(T / 20) > 0.3).astype(int)
    values = {}
    for name, column in (("near", T - T.mean()), ("far", 1.7e9 + T)):
        np.savez(tmp_path / f"{name}.npz", X=column[:, None], y=labels)
        lines = [f"{x!r},{y}\n" for x, y in zip(column.tolist(), labels)]
        (tmp_path / f"{name}.csv").write_text("x,y\n" + "".join(lines))
        for suffix, target in ((".npz", []), (".csv", ["--target", "y"])):
            model = str(tmp_path / (name + suffix + ".model"))
            options = ["--steps", "150", "--validation", "none", "--quiet"]
            assert main(["train", str(tmp_path / (name + suffix)), *target, "--out", model, *options]) == 0
            X = read_npz(tmp_path / f"{name}.npz").X
            values[name + suffix] = load_model(model).value({"x": X[:, 0]} if target else X, labels)
    assert min(values.values()) > 0.9 and np.ptp(list(values.values())) < 0.02, values


def test_rows_are_answered_while_more_of_them_are_to_come(trained, tmp_path):
    (tmp_path / "t.csv").write_text(long_table())
    lines = long_table().splitlines(keepends=True)
    code = "from aesara_nondecomp.cli import run; run()"
    command = [sys.executable, "-c", code, "predict", str(trained / "m"), "-"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        found, sent = b"", []
        for part in (lines[:8000], lines[8000:8001], lines[8001:]):  # each waits for the answers to the one before
            sent += part
            process.stdin.write("".join(part).encode())
            process.stdin.flush()
            while found.count(b"\n") < len(sent):
                assert select.select([process.stdout], [], [], 60)[0], "no answer while standard input is open"
                found += os.read(process.stdout.fileno(), 2**16)
        process.stdin.close()
        found += process.stdout.read()
    expected = predictions(trained / "m", tmp_path / "t.csv")
    columns, right = (np.loadtxt(io.StringIO(text), delimiter=",", skiprows=1) for text in (found.decode(), expected))
    np.testing.assert_array_equal(columns[:, :2], right[:, :2])
    np.testing.assert_allclose(columns, right, rtol=1e-4)


def test_a_label_is_looked_for_as_it_is_written_before_as_a_number():
    assert [label_like(text, ("01", "1", "x")) for text in ("1", "01", "1.0")] == ["1", "01", "1"]
    assert label_like("1.0", (False, True)) is True and label_like("01", (1, 2)) == 1
    for text, classes in (("1_1", (11, 12)), ("001", ("01", "1")), (str(2**53 + 1), (2**53, 3))):
        with pytest.raises(ValueError, match=f"the label '{text}' is unknown"):
            label_like(text, classes)
    assert label_like("1.0", (0, 1)) == 1 and label_like("1.0", ("1", "1.0")) == "1.0"
