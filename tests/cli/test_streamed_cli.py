"""The command line on tables in several files and in Parquet, also when they are streamed."""

import bz2
import gzip
import json
import lzma
import os
import signal

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="needs the extra files")
pandas = pytest.importorskip("pandas", reason="needs the extra files")

from aesara_nondecomp import load_model  # noqa: E402
from aesara_nondecomp.cli import main  # noqa: E402
from aesara_nondecomp.data import streamed_tables  # noqa: E402

N = 6000  # more than the rows of one block that is scored
RNG = np.random.default_rng(0)
AGE, COLOUR = RNG.normal(50, 10, N).round(2), RNG.choice(["red", "blue"], N)
SICK = np.where(AGE + 10 * (COLOUR == "red") + RNG.normal(0, 5, N) > 62, "yes", "no")
FRAME = pandas.DataFrame({"age": AGE, "colour": COLOUR, "id": np.arange(N), "sick": SICK})
QUICK = ["--network", "linear", "--steps", "60", "--validation", "0.25", "--quiet"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("streamed")
    FRAME.to_csv(found / "t.csv", index=False)
    FRAME.to_parquet(found / "t.parquet")
    for suffix in ("csv", "parquet"):
        (found / suffix).mkdir()
        for k in range(3):
            part, path = FRAME[k * 2000 : (k + 1) * 2000], found / suffix / f"{k}.{suffix}"
            part.to_csv(path, index=False) if suffix == "csv" else part.to_parquet(path)
    arguments = ["train", str(found / "t.csv"), "--target", "sick", "--drop", "id", "--out", str(found / "m"), *QUICK]
    assert main(arguments) == 0
    return found


SOURCES = ["t.csv", "t.parquet", "csv", "parquet", "csv/*.csv", "parquet/[0-2].parquet"]


def train(folder, source, out, *options):
    return main(
        ["train", str(folder / source), "--target", "sick", "--drop", "id", "--out", str(out), *QUICK, *options]
    )


@pytest.mark.parametrize("source", SOURCES[1:])
def test_a_table_in_several_files_trains_the_model_of_one_file(source, folder, tmp_path):
    assert train(folder, source, tmp_path / "m") == 0
    found, expected = load_model(tmp_path / "m"), load_model(folder / "m")
    assert [p.tobytes() for p in found.parameters] == [p.tobytes() for p in expected.parameters]
    assert found.threshold == expected.threshold


def test_a_streamed_training_that_is_stopped_before_it_is_evaluated_leaves_a_model(
    folder, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(streamed_tables, "IN_MEMORY_CELLS", 10_000)
    monkeypatch.setattr("aesara_nondecomp.cli.train._stops", lambda stop: os.kill(os.getpid(), signal.SIGTERM) or True)
    assert train(folder, "parquet", tmp_path / "m", "--steps", "60") == 143
    assert "terminated. The model so far is in" in capsys.readouterr().err
    assert load_model(tmp_path / "m").classes == ("no", "yes")


@pytest.mark.parametrize("source", ["t.csv", "parquet"])
def test_a_large_table_is_streamed(source, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(streamed_tables, "IN_MEMORY_CELLS", 10_000)
    assert train(folder, source, tmp_path / "m", "--report", str(tmp_path / "r.json"), "--positive", "no") == 0
    model, report = load_model(tmp_path / "m"), json.loads((tmp_path / "r.json").read_text())
    assert model.classes == ("yes", "no") and report["judged_on"] == "held-out rows"
    assert model.encoder.table.numeric == ("age",) and report["rows"] == N / 4
    assert model.value(FRAME[["age", "colour"]], SICK) > 0.85


@pytest.mark.parametrize("source", SOURCES)
def test_predictions_do_not_depend_on_how_the_table_is_stored_or_they_are_written(source, folder, tmp_path):
    for name in ("p.csv", "p.parquet"):
        arguments = ["predict", str(folder / "m"), str(folder / source), "--out", str(tmp_path / name), "--quiet"]
        assert main(arguments) == 0
    model, stored = load_model(folder / "m"), pandas.read_parquet(tmp_path / "p.parquet")
    assert stored["row"].tolist() == list(range(1, N + 1))
    assert np.array_equal(stored["score"], model.decision_function(FRAME))
    assert stored["prediction"].tolist() == model.predict(FRAME).tolist()
    text = pandas.read_csv(tmp_path / "p.csv")
    assert list(text) == list(stored) and text[["row", "prediction"]].equals(stored[["row", "prediction"]])
    for name in ("score", "probability"):
        assert text[name].tolist() == [float(f"{value:.6g}") for value in stored[name]]


@pytest.mark.parametrize("name", ["p.csv.gz", "p.CSV.BZ2", "p.csv.xz", "p.tsv", "p.tsv.gz", "p.out"])
def test_predictions_are_written_in_the_format_of_their_suffix(name, folder, tmp_path):
    written = []
    for path in (tmp_path / "p.csv", tmp_path / name, tmp_path / f"again {name}"):
        assert main(["predict", str(folder / "m"), str(folder / "t.csv"), "--out", str(path), "--quiet"]) == 0
        written.append(path)
    plain, one, two = written
    delimiter = "\t" if ".tsv" in name else ","
    packed = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}.get(one.suffix.lower(), open)
    with packed(one, "rt", newline="") as file:
        assert file.read() == plain.read_text().replace(",", delimiter)
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("source", SOURCES[1:])
def test_evaluate_and_quantify_report_the_same_of_every_source(source, folder, tmp_path):
    reports = []
    for k, path in enumerate((folder / "t.csv", folder / source)):
        for command in ("evaluate", "quantify"):
            out = tmp_path / f"{command}{k}.json"
            assert main([command, str(folder / "m"), str(path), "--out", str(out), "--quiet"]) == 0
            reports.append(json.loads(out.read_text()))
    assert reports[:2] == reports[2:] and reports[0]["rows"] == N


def test_a_row_without_a_label_is_named_in_a_later_block_too(folder, tmp_path, capsys):
    FRAME.assign(sick=FRAME["sick"].where(FRAME["id"] != 5000)).to_parquet(tmp_path / "t.parquet")
    assert main(["evaluate", str(folder / "m"), str(tmp_path / "t.parquet")]) == 1
    assert "has 1 rows without a label, the first is row 5001" in capsys.readouterr().err


@pytest.mark.parametrize("options, message", [
    (["--groups", "colour"], "does not take --groups"),
    (["--refit"], "does not take --refit"),
    (["--constraint", "precision >= 0.5"], "does not take --constraint"),
    (["--validation", "none"], "leave --validation out"),
    (["--sampler", "balanced"], "does not take --sampler"),
    (["--drop", "nothing"], "no column 'nothing' to drop"),
])  # fmt: skip
def test_options_that_a_streamed_table_does_not_take_are_refused(
    options, message, folder, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(streamed_tables, "IN_MEMORY_CELLS", 10_000)
    assert train(folder, "t.parquet", tmp_path / "m", *options) == 1
    assert message in capsys.readouterr().err and not (tmp_path / "m").exists()


def test_a_pattern_without_files_and_an_output_among_the_inputs_are_refused(folder, capsys):
    assert train(folder, "no/*.parquet", folder / "x") == 1
    assert "there is no file of a table in" in capsys.readouterr().err
    assert train(folder, "csv", folder / "csv" / "1.csv") == 1
    assert "must be another one than those to read" in capsys.readouterr().err
