"""A memory map whose file another program shortens ends in an error: reading on would kill the process (SIGBUS)."""

import mmap
import os

import numpy as np
import pytest
import scipy.sparse
from processes import in_a_process

from aesara_nondecomp.data import LazyRows
from aesara_nondecomp.data.memory_maps import MappedFile
from aesara_nondecomp.data.row_loader import RowLoader
from aesara_nondecomp.data.samplers import EpochSampler
from aesara_nondecomp.step.prefetch import LARGE, row_loader_for

N, D = 5000, 4
SIGNS = np.where(np.arange(N) % 3, -1, 1).astype("int8")


def mapped(path, dtype="float64", offset=0):
    """A memory map of random rows, behind `offset` other bytes."""
    rows = (1000 * np.random.default_rng(0).random((N, D))).astype(dtype)
    path.write_bytes(bytes(offset) + rows.tobytes())
    return np.memmap(path, dtype, "r", offset, (N, D))


def sparse(path):
    whole = mapped(path)
    row_ends = np.arange(0, N * D + 1, D)
    return scipy.sparse.csr_matrix((whole.reshape(-1), np.tile(np.arange(D), N), row_ends), (N, D), copy=False)


def plain(path):
    mapped(path, "float32")
    with open(path, "rb") as file:
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), "float32").reshape(N, D)


MAPS = {
    "map": lambda path: LazyRows(mapped(path)),
    "columns": lambda path: LazyRows(mapped(path)[:, :2]),
    "rows": lambda path: LazyRows(mapped(path)[1000:]).part(np.arange(500, 3000)),
    "behind a header": lambda path: LazyRows(mapped(path, offset=128)),
    "behind pages": lambda path: mapped(path, "float32", 3 * mmap.ALLOCATIONGRANULARITY + 64),
    "float32": lambda path: mapped(path, "float32"),
    "array of a map": lambda path: np.asarray(mapped(path, "float32"))[10:],
    "tokens": lambda path: mapped(path, "int32"),
    "frombuffer": plain,
    "sparse": sparse,
}


def size_of(kind, folder):
    """The least size of the file with which its rows can be read."""
    return os.stat(folder / kind).st_size


@pytest.mark.parametrize("kind", MAPS)
def test_the_next_block_is_refused_and_one_of_a_whole_file_is_read(kind, tmp_path):
    X = MAPS[kind](tmp_path / kind)
    loader, indices = RowLoader(X, 64), EpochSampler(X.shape[0], 64, np.random.default_rng(0)).draw(1)[0]
    loader.request(indices)
    before = loader.result().copy()
    os.truncate(tmp_path / kind, size_of(kind, tmp_path) + 100)  # longer is harmless
    loader.request(indices)
    assert np.array_equal(loader.result(), before)
    os.truncate(tmp_path / kind, size_of(kind, tmp_path) - 101)
    loader.request(indices)
    with pytest.raises(OSError, match=r"of a memory map was shortened while it was in use, to \d+ of \d+ bytes"):
        loader.result()


@pytest.mark.parametrize("X", [np.ones((3, 2)), np.ones((3, 2))[:, :1], scipy.sparse.eye(3).tocsr(), object()], ids=str)
def test_what_is_in_memory_has_no_file(X):
    assert MappedFile.of(X) is None


def test_no_thread_of_its_own_reads_a_mapped_file(tmp_path):
    rows = np.memmap(tmp_path / "X", "float32", "w+", shape=(LARGE // 4 // 64 + 1, 64))
    assert row_loader_for(np.asarray(rows), "c") is RowLoader


FIT = """
import pathlib, tempfile
from aesara_nondecomp import fit
folder = pathlib.Path(tempfile.mkdtemp())
options = {"network": "linear", "steps": 400, "batch_size": 512, "seed": 0, "validation": None}
for kind in ("map", "columns", "array of a map"):
    X = t.MAPS[kind](folder / kind)
    X = X._X if isinstance(X, t.LazyRows) else X
    y = t.SIGNS[: len(X)] > 0
    model = fit(X, y, **{**options, "steps": 2})
    def shorten(step):
        if step.step == 3:
            os.truncate(folder / kind, 4096)
    scales = kind != "array of a map"  # otherwise its rows are copied before training
    for call in (lambda: fit(X, y, standardize=scales, on_step=shorten, **options), lambda: model.predict(X)):
        try:
            call()
        except OSError as problem:
            print(str(problem).count("was shortened while it was in use"))
"""


def test_training_and_prediction_end_in_an_error():
    assert in_a_process(FIT, "test_memory_maps") == ["1"] * 6
