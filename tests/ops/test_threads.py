"""The thread pool that shares the rows of a batch: results, forks, signals, and how many threads there are."""

from __future__ import annotations

import os

import numpy as np
import processes
import pytest

from aesara_nondecomp._aesara.imports import aesara
from aesara_nondecomp._aesara.linked_blas import ask_openblas, library_path, one_blas_thread, threads_of_steps
from aesara_nondecomp.networks import mlp
from aesara_nondecomp.step.train_functions import TrainFunctions

pytestmark = pytest.mark.skipif(
    "scipy_openblas" not in aesara.config.blas__ldflags, reason="only with an OpenBLAS of our own"
)
ROWS, COLUMNS, HIDDEN = 1500, 90, 110  # 15 million multiply-adds: worth three threads


def gradients_of_a_large_batch(times: int = 1):
    """Gradients of one batch as bytes, so often."""
    functions = TrainFunctions(mlp(COLUMNS, (HIDDEN,), seed=0))
    functions.set_objective((1.0, 1.0, 1.0, 1.0), 0.1)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(ROWS, COLUMNS)).astype("float32"), np.where(np.arange(ROWS) % 3, -1, 1).astype("float32")
    return [b"".join(g.tobytes() for g in functions.gradients(X, y)[1]) for _ in range(times)]


def allow(threads: int) -> None:
    """Set the number of threads of this process; the library has to be loaded before."""
    gradients_of_a_large_batch()
    pytest.importorskip("threadpoolctl").threadpool_limits(threads)


def test_results_are_the_same_to_the_last_bit_whichever_thread_takes_which_chunk():
    gradients_of_a_large_batch()
    with pytest.importorskip("threadpoolctl").threadpool_limits(3):
        assert len(set(gradients_of_a_large_batch(times=100))) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_whose_threads_are_gone_gets_new_ones_and_the_same_results():
    pytest.importorskip("threadpoolctl")
    code = """
t.allow(3)
here = t.gradients_of_a_large_batch()
child = os.fork()
if child == 0:
    os._exit(0 if t.gradients_of_a_large_batch() == here else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), t.gradients_of_a_large_batch() == here)
"""
    assert processes.in_a_process(code, module="test_threads") == ["0", "True"]


def threads_of_openblas():
    return ask_openblas(library_path(aesara.config.blas__ldflags))[1]


def test_results_are_the_same_while_openblas_has_one_thread_and_it_gets_the_others_back():
    flags = aesara.config.blas__ldflags
    gradients_of_a_large_batch()
    with pytest.importorskip("threadpoolctl").threadpool_limits(3):
        expected = gradients_of_a_large_batch()
        with one_blas_thread(flags), one_blas_thread(flags):
            assert gradients_of_a_large_batch() == expected
            assert (threads_of_openblas(), threads_of_steps(flags)) == (1, 3)
        assert (threads_of_openblas(), threads_of_steps(flags)) == (3, 3)
        with pytest.raises(KeyError), one_blas_thread(flags):
            raise KeyError
        assert (threads_of_openblas(), threads_of_steps(flags)) == (3, 3)


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")
def test_a_child_forked_meanwhile_starts_no_threads_of_openblas_and_has_the_same_results():
    pytest.importorskip("threadpoolctl")
    code = """
t.allow(3)
here = t.gradients_of_a_large_batch()
with t.one_blas_thread(t.aesara.config.blas__ldflags):
    child = os.fork()
    if child == 0:
        same = t.gradients_of_a_large_batch() == here
        os._exit(len(os.listdir("/proc/self/task")) if same else 100)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    # The thread that forked, and two that share rows.
    assert processes.in_a_process(code, module="test_threads") == ["3"]


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")
def test_all_modules_share_one_pool_whose_threads_leave_signals_to_the_interpreter():
    pytest.importorskip("threadpoolctl")
    code = """
t.allow(3)
print(t.processes.crew())
t.gradients_of_a_large_batch(times=3)
print(t.processes.crew(), t.processes.crew(t.processes.signal.SIGSEGV))
"""
    # A fault of their own must reach the process.
    assert processes.in_a_process(code, module="test_threads") == ["0", "2", "0"]
