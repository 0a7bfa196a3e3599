"""Files that each process streams for itself give what one process gives that streams all of them."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="needs the extra files")
pandas = pytest.importorskip("pandas", reason="needs the extra files")

from test_parallel import in_all, launched, needs_mpi, written  # noqa: E402

from aesara_nondecomp import load_model  # noqa: E402
from aesara_nondecomp.data import MiniBatches, TableFiles, disk_rows, streamed_tables, table_survey  # noqa: E402
from aesara_nondecomp.networks import linear  # noqa: E402
from aesara_nondecomp.parallel import LOCAL, local_slice  # noqa: E402
from aesara_nondecomp.training.streamed_rows import inputs_of  # noqa: E402
from aesara_nondecomp.training.training_data import prepare  # noqa: E402

ROWS, PARTS = 240, 6
RNG = np.random.default_rng(0)
FRAME = pandas.DataFrame(
    {
        "size": np.where(RNG.random(ROWS) < 0.1, np.nan, RNG.normal(size=ROWS).round(3)),
        "colour": np.where(np.arange(ROWS) == ROWS - 1, "rare", RNG.choice(["red", "blue"], ROWS)),
        "label": np.repeat([*"abcabc"], [120, 40, 20, 40, 10, 10]),  # most files lack a label
    }
)
FRAME["two"] = np.where(FRAME["label"] == "a", "no", "yes")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    for part in range(PARTS):
        FRAME[part * ROWS // PARTS : (part + 1) * ROWS // PARTS].to_csv(folder / f"{part}.csv", index=False)
    return sorted(map(str, folder.iterdir()))


@pytest.fixture(autouse=True)
def streamed(monkeypatch):
    """Every table is too large for memory, and is shuffled by blocks of three rows."""
    monkeypatch.setattr(streamed_tables, "IN_MEMORY_CELLS", 0)
    monkeypatch.setattr(disk_rows, "BLOCK_BYTES", 3 * 5 * 8)
    monkeypatch.setattr("aesara_nondecomp.data.samplers.GROUPED_BLOCKS", 4)


def data_of(files, target, validation, comm, columns=5):
    own = files[local_slice(comm, len(files))]
    X, y = inputs_of(data_files(own, target), None, target, {}, comm)
    return prepare(
        X, y, network=linear(columns, seed=0), validation=validation, seed=np.random.default_rng(3), comm=comm,
        multiclass=target == "label",
    )  # fmt: skip


def data_files(paths, target):
    return TableFiles(paths, drop=["two" if target == "label" else "label"])


def whole(rows, parts):
    """The rows of all processes, from what each has of them."""
    found = np.full(rows.shape, np.nan)
    for part in parts:
        found[part.indices] = part.own[:]
    return found


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("target", ["two", "label"])
@pytest.mark.parametrize("validation", ["auto", "last", None])
def test_rows_to_train_on_and_to_hold_out_are_those_of_one_process(size, target, validation, files):
    expected = data_of(files, target, validation, LOCAL)
    found = in_all(size, lambda comm: data_of(files, target, validation, comm))
    for data in found:
        assert (data.classes, data.encoder.table) == (expected.classes, expected.encoder.table)
        for own, one in ((data.rows, expected.rows), (data.held, expected.held)):
            assert (own is None) == (one is None)
            if own is not None:
                np.testing.assert_array_equal(own.signs, one.signs)
                np.testing.assert_array_equal(own.cell, one.cell)
        assert data.rows.X.block_rows == expected.rows.X.block_rows == 3
    for name in ("rows", "held") if validation else ("rows",):
        one, parts = getattr(expected, name).X, [getattr(data, name).X for data in found]
        np.testing.assert_allclose(whole(one, parts), one[:], atol=1e-6)


@pytest.mark.parametrize("size", [2, 4])
def test_batches_are_those_of_one_process(size, files):
    def batches_of(comm):
        data = data_of(files, "two", "auto", comm)
        return MiniBatches(data.rows.X, data.rows.signs, 16, 5)

    one = batches_of(LOCAL)
    expected = [(batch.X.copy(), batch.y.copy()) for batch, _ in zip(one, range(40))]

    def drawn(comm):
        return [(batch.X.positions, batch.X.X.copy(), batch.y.copy()) for batch, _ in zip(batches_of(comm), range(40))]

    found = in_all(size, drawn)
    for k, (X, y) in enumerate(expected):
        rows = np.zeros_like(X)
        for positions, own, signs in (process[k] for process in found):
            rows[positions] = own
            np.testing.assert_array_equal(signs, y)
        np.testing.assert_allclose(rows, X, atol=1e-6)


def test_of_more_rows_than_a_sample_all_processes_learn_one_encoder_with_the_categories_of_all(files, monkeypatch):
    monkeypatch.setattr(table_survey, "SAMPLED_ROWS", (60, 60))
    first, second = (data.encoder.table for data in in_all(2, lambda comm: data_of(files, "two", None, comm, 4)))
    assert first == second and first.categories == (("blue", "rare", "red"),)
    median = FRAME["size"].median()
    assert first.medians[0] != median and abs(first.medians[0] - median) < 4 * 1.26 * FRAME["size"].std() / np.sqrt(60)


def test_a_table_that_is_large_in_one_process_is_streamed_in_all(files, monkeypatch):
    monkeypatch.setattr(streamed_tables, "IN_MEMORY_CELLS", 2 * 50)  # a file has 40 rows of 2 columns
    parts = [files[:1], files[1:]]
    kinds = in_all(2, lambda comm: inputs_of(data_files(parts[comm.rank], "two"), None, "two", {}, comm)[0])
    assert [type(kind).__name__ for kind in kinds] == ["StreamedTable"] * 2


def without_a_column(folder):
    FRAME[:9].drop(columns="size").to_csv(folder / "t.csv", index=False)


def without_a_label(folder):
    FRAME[:9].assign(two=None).to_csv(folder / "t.csv", index=False)


def of_text(folder):
    FRAME[:39].assign(size=[*FRAME["size"][:38], "large"]).to_csv(folder / "t.csv", index=False)


@pytest.mark.parametrize("write, message", [
    (lambda folder: None, "process 1 of 2: there is no file"),
    (without_a_column, r"the files of all processes need the same columns, got \[\['colour', 'size'\], \['colour'\]\]"),
    (without_a_label, "process 1 of 2: .* has 9 rows without a label"),
    (of_text, "column 'size' .*'large'"),
])  # fmt: skip
def test_what_is_wrong_in_the_files_of_one_process_is_told_in_all(write, message, files, tmp_path):
    write(tmp_path)
    paths = [files[0], tmp_path / "t.csv"]
    for problem in in_all(2, lambda comm: inputs_of(data_files([paths[comm.rank]], "two"), None, "two", {}, comm)):
        assert isinstance(problem, ValueError)
        with pytest.raises(ValueError, match=message):
            raise problem


def test_files_in_one_process_and_rows_in_another_are_refused(files):
    def read(comm):
        given = (files, None, "two") if comm.rank else (FRAME[["size"]], FRAME["two"], None)
        return inputs_of(*given, {}, comm)

    for problem in in_all(2, read):
        assert "either all processes need files and their target, or none does" in str(problem)


@needs_mpi
def test_files_of_each_process_train_the_model_of_one_process_with_all_files(tmp_path):
    for gaps in written(2, tmp_path / "gaps", "streamed"):
        assert len(gaps) == 2 and max(gaps.values()) < 1e-9, gaps


@needs_mpi
def test_the_command_line_gives_each_process_its_share_of_the_files(files, tmp_path):
    streaming = "from aesara_nondecomp.data import streamed_tables as t; t.IN_MEMORY_CELLS = 0; "
    code = streaming + "from aesara_nondecomp.cli import run; run()"
    folder = str(Path(files[0]).parent)

    def trained(size, out, data=folder):
        options = ["--target", "two", "--drop", "label", "--network", "linear", "--steps", "30", "--seed", "1"]
        more = ["--mpi"] if size > 1 else []
        return launched(
            size, "-c", code, "train", data, *options, *more, "--positive", "no", "--verbose", "--out", tmp_path / out
        )

    for size, out in ((1, "one"), (2, "two")):
        done = trained(size, out)
        assert done.returncode == 0 and done.stdout.count("threshold") == 1, done.stderr
        assert f"rows: {ROWS}, " in done.stderr  # those of all processes
    one, two = (load_model(tmp_path / name) for name in ("one", "two"))
    assert one.classes == two.classes == ("yes", "no") and one.encoder.table == two.encoder.table
    rows = FRAME[["size", "colour"]]
    np.testing.assert_allclose(two.decision_function(rows), one.decision_function(rows), atol=1e-4)
    refused = trained(2, "three", data=files[0])
    needed = "is streamed by 2 processes from as many files or more, got '1 of"
    assert refused.returncode == 1 and needed in refused.stderr
