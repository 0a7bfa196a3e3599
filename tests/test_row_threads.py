"""The crew of threads that share the rows of a batch: results, forks, signals, and how many there are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from aesara_nondecomp._aesara import aesara
from aesara_nondecomp.compiled import TrainFunctions
from aesara_nondecomp.networks import mlp

pytestmark = pytest.mark.skipif(
    "scipy_openblas" not in aesara.config.blas__ldflags, reason="only with an OpenBLAS of our own"
)
ROWS, COLUMNS, HIDDEN = 1500, 90, 110  # 15 million multiply-adds: worth three threads


def gradients_of_a_large_batch(times: int = 1):
    """Gradients of one batch as bytes, so often."""
    functions = TrainFunctions(mlp(COLUMNS, (HIDDEN,), seed=0))
    functions.steer((1.0, 1.0, 1.0, 1.0), 0.1)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(ROWS, COLUMNS)).astype("float32"), np.where(np.arange(ROWS) % 3, -1, 1).astype("float32")
    return [b"".join(g.tobytes() for g in functions.gradients(X, y)[1]) for _ in range(times)]


def allow(threads: int) -> None:
    """Set the number of threads of this process; the library has to be loaded before."""
    gradients_of_a_large_batch()
    pytest.importorskip("threadpoolctl").threadpool_limits(threads)


def crew(number: int = signal.SIGINT) -> int:
    """Threads of this process that leave a signal, by default the keyboard's, to others."""
    time.sleep(0.1)  # a thread that is being started leaves it to others for a moment too
    files = Path("/proc/self/task").glob("*/status")
    masks = [line.split()[1] for file in files for line in file.read_text().splitlines() if line.startswith("SigBlk")]
    return sum(int(mask, 16) >> (number - 1) & 1 for mask in masks)


def in_a_process(code: str, threads: int = 1, module: str = "test_row_threads") -> list[str]:
    """Words that Python code, to which a test module is `t`, prints where BLAS starts with so many threads."""
    path = os.pathsep.join(str(folder) for folder in (Path(__file__).parent, Path(__file__).parents[1]))
    command = [sys.executable, "-c", f"import os, {module} as t\n{code}"]
    environment = {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": str(threads)}
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.split()


def test_results_are_the_same_to_the_last_bit_whoever_takes_which_part():
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
    assert in_a_process(code) == ["0", "True"]


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")
def test_all_modules_share_one_crew_which_leaves_signals_to_the_interpreter():
    pytest.importorskip("threadpoolctl")
    code = """
t.allow(3)
print(t.crew())
t.gradients_of_a_large_batch(times=3)
print(t.crew(), t.crew(t.signal.SIGSEGV))
"""
    assert in_a_process(code) == ["0", "2", "0"]  # a fault of their own they must not keep to themselves
