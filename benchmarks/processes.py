"""Run a command of the benchmarks in a process of its own, with a fixed number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

THREADS = 2
"""Threads of all timings that do not say otherwise."""
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run_in_process(arguments: Sequence[str], threads: int = THREADS) -> str:
    """Run ``python -m benchmarks ARGUMENTS``; libraries read their number of threads when they are loaded.

    Parameters
    ----------
    arguments : sequence of str
        The command and its options.
    threads : int, default 2
        Threads of OpenMP, OpenBLAS and MKL.

    Returns
    -------
    str
        The last line of its output.

    Raises
    ------
    ValueError
        If the process fails, with what it wrote to its standard error.
    """
    done = subprocess.run(_command(arguments), env=_environment(threads), capture_output=True, text=True)
    if done.returncode:
        raise ValueError(done.stderr.strip() or f"the process of {' '.join(arguments)} failed")
    return done.stdout.splitlines()[-1]


def status_of_process(arguments: Sequence[str], threads: int = THREADS) -> int:
    """The same, with the output of the process passed on; its exit status."""
    return subprocess.run(_command(arguments), env=_environment(threads)).returncode


def _command(arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "benchmarks", *arguments]


def _environment(threads: int) -> dict[str, str]:
    return {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads))}
