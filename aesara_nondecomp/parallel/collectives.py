"""Operations in which all processes take part: an error on one rank is raised on all ranks, so none deadlocks."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._communicator import Communicator

T = TypeVar("T")


def all_succeed(comm: Communicator, make: Callable[[], T]) -> T:
    """Call a function in every process, and return its value if it succeeds in all.

    Parameters
    ----------
    comm : communicator
        Of the processes.
    make : callable
        Called without arguments.

    Returns
    -------
    object
        What `make` returned in this process.

    Raises
    ------
    ValueError
        In all processes, if `make` raises a ValueError, TypeError or OSError in any of several. In a single process
        its own error is raised.
    """
    if comm.size == 1:
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
    return value  # type: ignore[return-value]  # no process had a problem, so it was made


@contextmanager
def abort_on_error(comm: Communicator) -> Iterator[None]:
    """Abort the whole job if this process fails inside the ``with`` block, as the others wait for its sums.

    The error of a single process is raised as it is.

    Parameters
    ----------
    comm : communicator
        Of the processes.
    """
    try:
        yield
    except BaseException:
        if comm.size == 1:
            raise
        # The job ends here and now, so no caller could report the error.
        traceback.print_exc()
        print(
            f"process {comm.rank} of {comm.size} failed, and the job ends with it. "
            "If it kept a checkpoint, run it again with resume=True, on any number of processes.",
            file=sys.stderr,
            flush=True,
        )
        comm.Abort(1)
        raise


def allgather(comm: Communicator, values: NDArray[Any]) -> NDArray[Any]:
    """The entries of all processes, in the order of their ranks.

    Parameters
    ----------
    comm : communicator
        Of the processes.
    values : array, shape (m, ...)
        Those of this process.

    Returns
    -------
    array, shape (n, ...)
        In a single process `values`, uncopied.
    """
    parts = comm.allgather(values)
    gathered: NDArray[Any] = np.concatenate(parts) if len(parts) > 1 else parts[0]
    return gathered


def comm_world() -> Any:
    """The communicator of all processes that were started together.

    Returns
    -------
    mpi4py.MPI.Intracomm

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


def local_slice(comm: Communicator, n: int) -> slice:
    """This process's part of rows that every process can read.

    Parameters
    ----------
    comm : communicator
        Of the processes.
    n : int
        Number of rows.

    Returns
    -------
    slice
        Of n / size rows, rounded; the slices of all ranks cover the rows in their order.
    """
    return slice(n * comm.rank // comm.size, n * (comm.rank + 1) // comm.size)


def local_indices(comm: Communicator, indices: NDArray[Any], n: int) -> NDArray[Any]:
    """Those of some row indices that are of this process's rows.

    Parameters
    ----------
    comm : communicator
        Of the processes.
    indices : int array, shape (k,)
        Row indices among the rows of all processes.
    n : int
        Number of this process's rows.

    Returns
    -------
    int array
        Row indices among this process's rows, in the order of `indices`.
    """
    before: int = sum(comm.allgather(n)[: comm.rank])
    own: NDArray[Any] = indices[(indices >= before) & (indices < before + n)] - before
    return own


def on_root(comm: Communicator, callback: Callable[[Any], Any]) -> Callable[[Any], bool]:
    """A callback that is called on rank 0 only, and whose answer is returned on all ranks.

    Parameters
    ----------
    comm : communicator
        Of the processes.
    callback : callable
        Takes one argument.

    Returns
    -------
    callable
        Takes the same argument and returns the truth of the answer.
    """
    return lambda step: comm.bcast(bool(callback(step)) if comm.rank == 0 else None)
