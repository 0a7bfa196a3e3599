"""Prefetched rows: the same batches, none overwritten too soon, no memory kept, forks and single threads."""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
import weakref

import numpy as np
import processes
import pytest
from test_batches import assert_same, copies

from aesara_nondecomp import Checkpoint, fit, mlp
from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.data import LazyRows, MiniBatches
from aesara_nondecomp.data import batches as batches_module
from aesara_nondecomp.ops import prefetch_rows
from aesara_nondecomp.step import prefetch
from aesara_nondecomp.step.prefetch import Prefetcher, row_loader_for
from aesara_nondecomp.step.train_functions import TrainFunctions

own_blas = pytest.mark.skipif(
    "openblas_set_num_threads" not in aesara.config.blas__ldflags, reason="only with an OpenBLAS of our own"
)
threads_are_counted = pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")
N, D = 53, 3
SIGNS = np.where(np.random.default_rng(0).random(N) < 0.3, 1, -1)
X = np.random.default_rng(1).random((N, D), dtype="float32")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Two batches of ten rows a block, so that many blocks follow each other."""
    monkeypatch.setattr(batches_module, "BLOCK_BYTES", 20 * D * 4)


def in_a_process(code, threads):
    return processes.in_a_process(code, "test_prefetch", threads)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sampler", ["natural", "balanced"])
def test_prefetched_batches_equal_those_loaded_when_needed_to_the_last_bit(sampler, dtype):
    rows = X.astype(dtype)
    ahead, then = (
        MiniBatches(rows, SIGNS, 10, 3, sampler, loader=loader) for loader in (Prefetcher, batches_module.RowLoader)
    )
    assert_same(copies(ahead, 25), copies(then, 25))


@pytest.mark.parametrize("taken", [0, 1, 2, 7])
def test_batches_resume_from_a_state_with_and_without_prefetching(taken):
    batches = MiniBatches(X, SIGNS, 10, 3, loader=Prefetcher)
    copies(batches, taken)
    state, expected = batches.state(), copies(batches, 9)
    again, plain = MiniBatches(X, SIGNS, 10, 99, loader=Prefetcher), MiniBatches(X, SIGNS, 10, 99)
    copies(again, 3)  # their request is dropped by the restore
    for other in (again, plain):
        other.restore(state)
        assert_same(copies(other, 9), expected)


def test_the_current_batch_stays_unchanged_while_the_next_rows_are_prefetched():
    batches = MiniBatches(X, SIGNS, 10, 3, loader=Prefetcher)
    for batch in itertools.islice(batches, 20):
        before = batch.X.tobytes()
        time.sleep(0.002)
        assert batch.X.tobytes() == before


@pytest.fixture
def threads_taking_turns_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("threads_taking_turns_often")
def test_prefetchers_in_several_threads_do_not_mix_their_rows():
    sets = [X + k for k in range(4)]
    expected = [copies(MiniBatches(rows, SIGNS, 10, k), 200) for k, rows in enumerate(sets)]
    found = [None] * len(sets)

    def take(k):
        found[k] = copies(MiniBatches(sets[k], SIGNS, 10, k, loader=Prefetcher), 200)

    threads = [threading.Thread(target=take, args=(k,)) for k in range(len(sets))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for mine, wanted in zip(found, expected):
        assert_same(mine, wanted)


def test_rows_are_freed_with_their_batches():
    rows = X.copy()
    batches, gone = MiniBatches(rows, SIGNS, 10, 3, loader=Prefetcher), weakref.ref(rows)
    next(batches)
    del rows
    assert gone() is not None  # some of them are being read
    del batches
    assert gone() is None


@own_blas
@threads_are_counted
@pytest.mark.parametrize(("allowed", "started"), [(1, "0"), (2, "1")])
def test_one_thread_prefetches_and_blocks_signals_unless_blas_may_use_only_one(allowed, started):
    code = """
t.assert_same(t.copies(t.MiniBatches(t.X, t.SIGNS, 10, 3, loader=t.Prefetcher), 20),
              t.copies(t.MiniBatches(t.X, t.SIGNS, 10, 3), 20))
print(t.processes.crew())
"""
    assert in_a_process(code, allowed) == [started]


@own_blas
@threads_are_counted
def test_a_forked_child_continues_the_same_batches_with_a_thread_of_its_own():
    code = """
rows = t.np.random.default_rng(0).random((200_000, 50), dtype="float32")
signs = t.np.tile([1, -1], 100_000)
expected = t.copies(t.MiniBatches(rows, signs, 20_000, 3), 12)
for taken in range(1, 6):
    batches = t.MiniBatches(rows, signs, 20_000, 3, loader=t.Prefetcher)
    t.copies(batches, taken)  # the next rows take milliseconds to be read
    child = os.fork()
    t.assert_same(t.copies(batches, 12 - taken), expected[taken:])
    if child == 0:
        os._exit(0 if t.processes.crew() == 1 else 1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert in_a_process(code, 2) == ["0"] * 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_forked_while_another_thread_prefetches_does_not_deadlock():
    code = """
batches = t.MiniBatches(t.X, t.SIGNS, 10, 3, loader=t.Prefetcher)
next(batches)
t.prefetch._LOCK.acquire()  # as another thread would, for a moment
child = os.fork()
if child == 0:
    t.copies(batches, 10)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert in_a_process(code, 2) == ["0"]


SHARED_ROWS = """
from multiprocessing import shared_memory
shared = shared_memory.SharedMemory(create=True, size=40_000_000)
rows = t.np.ndarray((200_000, 50), "float32", buffer=shared.buf)
rows[:] = 1
def unmap():
    shared.close()
    shared.unlink()
def read_others():
    t.copies(t.MiniBatches(t.X, t.SIGNS, 10, 3, loader=t.Prefetcher), 20)
"""


@own_blas
@pytest.mark.parametrize("threads", [1, 2])
def test_no_row_is_read_after_fit_ends_even_by_an_error(threads):
    code = """
kept = None
try:
    t.fit(rows, t.np.arange(200_000) % 2, "qmean", network=(4,), standardize=False, steps=50, batch_size=20_000, seed=0,
          validation=None, on_step=lambda step: step.step == 5 and 1 / 0)
except ZeroDivisionError as problem:
    kept = problem  # and with it all that it was raised in
assert kept
unmap()  # whoever reads now does so from memory that is gone
read_others()
print("alive")
"""
    assert in_a_process(SHARED_ROWS + code, threads) == ["alive"]


@pytest.mark.parametrize("threads", [1, 2])
def test_no_row_is_read_after_the_batches_are_freed(threads):
    code = """
batches = t.MiniBatches(rows, t.np.tile([1, -1], 100_000), 20_000, 3, loader=t.Prefetcher)
next(batches)
if os.environ["OPENBLAS_NUM_THREADS"] == "1":
    unmap()  # nothing of it is being read, and nothing shall be
    del batches
else:
    del batches
    unmap()
read_others()
print("alive")
"""
    assert in_a_process(SHARED_ROWS + code, threads) == ["alive"]


def test_closed_batches_end_with_the_current_one():
    batches = MiniBatches(X, SIGNS, 10, 3, loader=Prefetcher)
    batch = next(batches)
    before = batch.X.tobytes()
    batches.close()
    assert batch.X.tobytes() == before
    with pytest.raises(ValueError, match="closed"):
        copies(batches, 20)


@pytest.mark.parametrize("threads", [1, 2])
def test_closing_one_prefetcher_keeps_the_requests_of_others(threads):
    code = """
mine, other = t.Prefetcher(t.X, 4), t.Prefetcher(t.X, 4)
numbers = t.np.array([3, 1, 4, 1])
other.request(numbers)
mine.close()
print((other.result() == t.X[numbers]).all())
"""
    assert in_a_process(code, threads) == ["True"]


@own_blas
def test_fit_prefetches_large_contiguous_arrays_and_gives_the_same_model(monkeypatch, tmp_path):
    y, used = SIGNS, []
    real = Prefetcher.request
    monkeypatch.setattr(Prefetcher, "request", lambda self, rows: used.append(len(rows)) or real(self, rows))
    functions = TrainFunctions(mlp(D, (4,), seed=0))
    options = {"network": functions, "steps": 30, "batch_size": 10, "seed": 1, "validation": None}
    plain = fit(X, y, "qmean", **options)
    assert not used
    monkeypatch.setattr(prefetch, "LARGE", 0)
    ahead = fit(X, y, "qmean", **options)
    assert used
    path = tmp_path / "run.npz"
    fit(X, y, "qmean", checkpoint=Checkpoint(path, every=7), on_step=lambda step: step.step == 17, **options)
    resumed = fit(X, y, "qmean", checkpoint=Checkpoint(path, resume=True), **options)
    for model in (ahead, resumed):
        assert [p.tobytes() for p in model.parameters] == [p.tobytes() for p in plain.parameters]


@own_blas
def test_only_large_contiguous_floats_are_prefetched_and_not_for_jax(monkeypatch):
    monkeypatch.setattr(prefetch, "LARGE", X.nbytes)
    assert row_loader_for(X, "c") is Prefetcher and row_loader_for(X.astype("float64"), "c") is Prefetcher
    assert X[1:].flags.c_contiguous
    for other in (X[1:], X.T, X.astype("float16").repeat(2, 0), X.astype("int32"), LazyRows(X, "float32")):
        assert row_loader_for(other, "c") is batches_module.RowLoader
    unaligned = np.frombuffer(b"." + X.tobytes(), np.uint8, offset=1).view("float32").reshape(X.shape)
    assert row_loader_for(unaligned, "c") is batches_module.RowLoader
    assert row_loader_for(X, "jax") is batches_module.RowLoader


def test_the_op_in_python_gives_what_it_gives_in_c():
    inputs = [at.fmatrix(), at.lvector(), at.fmatrix(), at.bscalar()]
    python = aesara.function(inputs, prefetch_rows(*inputs), mode="FAST_COMPILE")
    wanted, by_python, by_c = np.array([4, -1, 0, 52, 4]), np.empty((5, D), "float32"), np.empty((5, D), "float32")
    c = prefetch._compiled("float32")
    for call, buffer in ((python, by_python), (c, by_c)):
        assert call(X, wanted, buffer, prefetch._WANTED)
        assert not call(X, wanted[:0], buffer, prefetch._WANTED)
        assert not call(X, wanted, buffer, prefetch._UNWANTED)
    np.testing.assert_array_equal(by_c, np.where(wanted[:, None] < 0, 0, X[wanted]))
    np.testing.assert_array_equal(by_python, by_c)


@pytest.mark.parametrize(
    ("rows", "numbers", "buffer", "error", "words"),
    [
        (X, [N], np.empty((1, D), "float32"), IndexError, "rows that are there"),
        (X, [0, 1], np.empty((1, D), "float32"), ValueError, "a row for each index"),
        (X, [0], np.empty((1, D + 1), "float32"), ValueError, "a row for each index"),
        (np.asfortranarray(X), [0], np.empty((1, D), "float32"), ValueError, "contiguous"),
    ],
    ids=["no such row", "short buffer", "wide buffer", "Fortran order"],
)
def test_unusable_requests_are_refused_before_any_row_is_copied(rows, numbers, buffer, error, words):
    call = prefetch._compiled("float32")
    with pytest.raises(error, match=words):
        call(rows, np.asarray(numbers), buffer, prefetch._WANTED)
    assert not call(X, np.empty(0, "int64"), buffer, prefetch._WANTED)


def test_the_op_needs_rows_indices_and_a_buffer_of_one_type():
    for inputs in ((at.fmatrix(), at.ivector(), at.fmatrix()), (at.fmatrix(), at.lvector(), at.dmatrix()),
                   (at.fvector(), at.lvector(), at.fmatrix())):  # fmt: skip
        with pytest.raises(TypeError, match="a buffer"):
            prefetch_rows(*inputs, at.bscalar())
    with pytest.raises(TypeError, match="int8"):
        prefetch_rows(at.fmatrix(), at.lvector(), at.fmatrix(), at.fscalar())
