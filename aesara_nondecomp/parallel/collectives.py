"""Operations in which all processes take part: an error on one rank is raised on all ranks, so none deadlocks."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._communicator import Communicator

T = TypeVar("T")


class CommonError(ValueError):
    """An error that all processes raise at once, so that none waits for another.

    Parameters
    ----------
    message : str
        Equal in all of them.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)


class _QuietError(CommonError, SystemExit):
    """The same in the other processes: if nobody catches it, it ends them without a second traceback."""

    code = 1


def common_error(comm: Communicator, message: str) -> ValueError:
    """Make an error that all processes raise at once.

    Parameters
    ----------
    comm : communicator
        Of the processes.
    message : str
        Of which the first process's is reported.

    Returns
    -------
    ValueError
        If nobody catches it, only the first process prints a traceback, and all end with status 1.
    """
    if comm.size == 1:
        return ValueError(message)
    return CommonError(message) if comm.rank == 0 else _QuietError(message)


def agree(comm: Communicator, settings: Mapping[str, str]) -> None:
    """Refuse settings that differ between the processes, which would wait for each other or train different models.

    Parameters
    ----------
    comm : communicator
        Of the processes.
    settings : mapping of str to str
        Values as short texts, or digests of them, by name.

    Raises
    ------
    ValueError
        In all processes, if a setting differs; it is named.
    """
    given = comm.allgather(dict(settings))
    differing = sorted(name for name in set().union(*given) if len({one.get(name) for one in given}) > 1)
    if differing:
        values = [one.get(differing[0]) for one in given]
        other = next(rank for rank, value in enumerate(values) if value != values[0])
        raise common_error(
            comm,
            f"all processes need the same settings, but {', '.join(differing)} differ: process {other} of {comm.size} "
            f"has {differing[0]} = {str(values[other])[:60]}, and process 0 {str(values[0])[:60]}. Give all the same.",
        )


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
            raise common_error(comm, f"process {rank} of {comm.size}: {text}")
    return value  # type: ignore[return-value]  # no process had a problem, so it was made


@contextmanager
def abort_on_error(comm: Communicator) -> Iterator[None]:
    """Abort the whole job if this process fails inside the ``with`` block, as the others wait for its sums.

    The error of a single process is raised as it is, and so is one that all processes raise.

    Parameters
    ----------
    comm : communicator
        Of the processes.
    """
    try:
        yield
    except CommonError:
        raise
    except BaseException:
        if comm.size == 1:
            raise
        if comm.rank > 0:
            time.sleep(1)  # if the first process met the same error, it reports it now and ends this one
        # The job ends here and now, so no caller could report the error.
        traceback.print_exc()
        print(
            f"process {comm.rank} of {comm.size} failed, and the job ends with it. "
            "If it kept a checkpoint, run it again with resume=True, on any number of processes, with the rows in the "
            "same order.",
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
    """Select the row indices that belong to this process, renumbered from its first row.

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
