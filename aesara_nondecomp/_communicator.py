"""The communicator between the processes of a job: mpi4py's, or a stand-in where there is one process."""

from __future__ import annotations

from typing import Any, NoReturn, Protocol

from numpy.typing import NDArray

from aesara_nondecomp._checks import require


class Communicator(Protocol):
    """The part of an mpi4py communicator that this package uses."""

    @property
    def rank(self) -> int:
        """Index of this process, from 0."""

    @property
    def size(self) -> int:
        """Number of processes."""

    def allgather(self, value: Any, /) -> list[Any]:
        """The values of all processes, in the order of their ranks."""

    def bcast(self, value: Any, /) -> Any:
        """The value of rank 0."""

    def Allreduce(self, own: NDArray[Any], total: NDArray[Any], /) -> None:  # noqa: N802  # mpi4py's name
        """Write the sum of all processes' arrays to `total`."""

    def Abort(self, code: int, /) -> NoReturn:  # noqa: N802  # mpi4py's name
        """End all processes."""


class SingleProcess:
    """The communicator of one process that trains alone."""

    rank, size = 0, 1

    def allgather(self, value: Any, /) -> list[Any]:
        """A list of the value alone."""
        return [value]

    def bcast(self, value: Any, /) -> Any:
        """The value."""
        return value

    def Allreduce(self, own: NDArray[Any], total: NDArray[Any], /) -> None:  # noqa: N802  # mpi4py's name
        """Copy `own` to `total`."""
        total[...] = own

    def Abort(self, code: int, /) -> NoReturn:  # noqa: N802  # mpi4py's name
        """Raise SystemExit."""
        raise SystemExit(code)


LOCAL = SingleProcess()


def communicator(comm: Any) -> Communicator:
    """The communicator to train with.

    Parameters
    ----------
    comm : mpi4py communicator or None

    Returns
    -------
    Communicator
        `comm`, or `LOCAL` for None.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    require(comm is None or hasattr(comm, "allgather"), "comm must be a communicator of mpi4py", comm)
    return LOCAL if comm is None else comm
