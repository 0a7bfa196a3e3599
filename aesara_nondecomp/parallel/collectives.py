"""Processes that go on together or end together: what one of them meets alone must leave none of them waiting."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


def all_succeed(comm: Any, make: Callable[[], T]) -> T:
    """What `make` returns in this process, if it succeeds in every one; without a communicator, just that.

    Raises
    ------
    ValueError
        In all processes, if it raises a ValueError, TypeError or OSError in any.
    """
    if comm is None:
        return make()
    value, problem = None, None
    try:
        value = make()
    except (ValueError, TypeError, OSError) as error:
        problem = str(error)
    problems = comm.allgather(problem)
    for rank, text in enumerate(problems):
        if text is not None:
            raise ValueError(f"process {rank} of {comm.size}: {text}")
    return value  # type: ignore[return-value]  # it was made


@contextmanager
def abort_on_error(comm: Any) -> Iterator[None]:
    """End the whole job when this process fails inside the block: the others wait for its sums and would hang.

    Without a communicator, or alone in it, errors pass as they are.
    """
    try:
        yield
    except BaseException:
        if comm is None or comm.size == 1:
            raise
        # The job ends here and now, so nobody up the stack could report it any more.
        traceback.print_exc()
        print(
            f"process {comm.rank} of {comm.size} failed, and the job ends with it. "
            "If it kept a checkpoint, run it again with resume=True, on any number of processes.",
            file=sys.stderr,
            flush=True,
        )
        comm.Abort(1)
        raise


def allgather(comm: Any, values: np.ndarray) -> np.ndarray:
    """The entries of all processes, in the order of the ranks; without a communicator, one's own."""
    return values if comm is None else np.concatenate(comm.allgather(values))


def comm_world() -> Any:
    """The communicator of all processes that were started together.

    Raises
    ------
    ValueError
        If mpi4py, or an MPI library for it, is missing.
    """
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as problem:
        raise ValueError("MPI needs mpi4py and an MPI library: pip install 'aesara-nondecomp[mpi]'") from problem
    return MPI.COMM_WORLD


def local_slice(comm: Any, n: int) -> slice:
    """This process's share of n rows that every process could read; without a communicator, all of them."""
    if comm is None:
        return slice(0, n)
    return slice(n * comm.rank // comm.size, n * (comm.rank + 1) // comm.size)


def local_indices(comm: Any, numbers: np.ndarray, n: int) -> np.ndarray:
    """Of `numbers` among the rows of all processes, those of this process's `n` rows, counted from its first."""
    if comm is None:
        return numbers
    before = sum(comm.allgather(n)[: comm.rank])
    return numbers[(numbers >= before) & (numbers < before + n)] - before


def on_root(comm: Any, callback: Callable[[Any], Any]) -> Callable[[Any], bool]:
    """`callback`, called in the first process only; its answer, as true or false, goes to all."""
    return lambda step: comm.bcast(bool(callback(step)) if comm.rank == 0 else None)
