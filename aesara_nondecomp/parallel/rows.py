"""Rows distributed over the processes of a communicator, with one global index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import is_sparse
from aesara_nondecomp._communicator import LOCAL, Communicator
from aesara_nondecomp.data import (
    BatchSource,
    Standardiser,
    check_lengths,
    prepare_rows,
    select_rows,
)
from aesara_nondecomp.data.features import check_finite, row_slices
from aesara_nondecomp.data.scaling import squares_left_float64
from aesara_nondecomp.data.tokens import used_width
from aesara_nondecomp.parallel.collectives import all_succeed, common_error


class LocalBatch(NamedTuple):
    """This process's rows of a batch that is distributed over all processes.

    Attributes
    ----------
    X : array, shape (m, d)
        The rows.
    positions : int array, shape (m,)
        Their positions in the batch, ascending.
    n : int
        Number of rows of the whole batch.
    """

    X: Any
    positions: NDArray[Any]
    n: int

    @property
    def dtype(self) -> Any:
        """Dtype of the rows."""
        return self.X.dtype


class DistributedRows(BatchSource):
    """A matrix of which each process holds some rows; a batch is a `LocalBatch` in each process.

    Parameters
    ----------
    comm : communicator
        Of the processes.
    own : array, LazyRows or CSR matrix, shape (m, d)
        This process's rows.
    indices : int array, shape (m,)
        Their global row indices, ascending.
    n : int
        Number of rows of all processes.
    block_rows : int, optional
        Rows per block, where the rows of all processes are on disks. Default: they are not.
    """

    def __init__(self, comm: Communicator, own: Any, indices: NDArray[Any], n: int, block_rows: int | None = None):
        self.comm, self.own, self.indices, self.block_rows = comm, own, indices, block_rows
        self.shape, self.dtype = (n, own.shape[1]), own.dtype
        self._place: NDArray[Any] | None = None  # of each row of all, unless those of this process are side by side
        if len(indices) and indices[-1] - indices[0] + 1 != len(indices):
            self._place = np.full(n, -1, dtype=np.int64)
            self._place[indices] = np.arange(len(indices))
        self._buffer = np.empty((0, self.shape[1]), dtype=self.dtype)

    def batch(self, indices: NDArray[Any]) -> LocalBatch:
        """Take this process's rows of a batch, valid until the next call.

        Parameters
        ----------
        indices : int array, shape (b,)
            Global row indices; -1 belongs to no process.

        Returns
        -------
        LocalBatch
        """
        place = self._places(indices)
        mine = np.flatnonzero(place >= 0)
        rows = self._take(place[mine])
        if is_sparse(rows):
            rows = rows.toarray()
        elif self.dtype.kind == "i":
            rows = rows[:, : used_width(rows)]
        return LocalBatch(rows, mine, len(indices))

    def _places(self, rows: NDArray[Any]) -> NDArray[Any]:
        """The places of global row indices among this process's rows; -1 of those that it does not have."""
        if self._place is not None:
            return np.where(rows >= 0, self._place[rows], -1)
        place = rows - (self.indices[0] if len(self.indices) else 0)
        return np.where((place >= 0) & (place < len(self.indices)), place, -1)

    def _take(self, place: NDArray[Any]) -> Any:
        if type(self.own) is not np.ndarray:
            return self.own[place]
        if len(self._buffer) < len(place):
            self._buffer = np.empty((len(place), self.shape[1]), dtype=self.dtype)
        # One buffer for all batches, as fresh pages cost as much as the copy. Only "clip" writes straight to `out`.
        return np.take(self.own, place, axis=0, out=self._buffer[: len(place)], mode="clip")

    def token_lengths(self) -> NDArray[Any]:
        """Number of tokens of each row, shape (n,)."""
        lengths, total = np.zeros(len(self), dtype=np.int64), np.empty(len(self), dtype=np.int64)
        lengths[self.indices] = np.count_nonzero(self.own, axis=1)
        self.comm.Allreduce(lengths, total)
        return total

    def part(self, rows: NDArray[Any]) -> DistributedRows:
        """Select some of the rows, reindexed from 0.

        Parameters
        ----------
        rows : int array, shape (k,)
            Global row indices.

        Returns
        -------
        DistributedRows
        """
        place = self._places(rows)
        mine = np.flatnonzero(place >= 0)
        return self.with_own(select_rows(self.own, place[mine]), mine, len(rows))

    def with_own(self, own: Any, indices: NDArray[Any] | None = None, n: int | None = None) -> DistributedRows:
        """Replace this process's rows.

        Parameters
        ----------
        own : array, LazyRows or CSR matrix, shape (m, d)
            The new rows.
        indices : int array, shape (m,), optional
            Their global row indices. Default: as before.
        n : int, optional
            Number of rows of all processes. Default: as before.

        Returns
        -------
        DistributedRows
        """
        return DistributedRows(
            self.comm,
            own,
            self.indices if indices is None else indices,
            len(self) if n is None else n,
            self.block_rows if indices is None else None,
        )

    def prepared(self, dtype: Any, standardiser: Standardiser | None = None) -> DistributedRows:
        """Prepare the rows for a network, see `data.prepare_rows`.

        Parameters
        ----------
        dtype : dtype
            The network's.
        standardiser : Standardiser, optional
            Fitted to the rows of all processes. Default: rows are not standardised.

        Returns
        -------
        DistributedRows

        Raises
        ------
        ValueError
            In all processes, if an entry is not finite in any of them.
        """
        own = all_succeed(self.comm, lambda: prepare_rows(self.own, dtype, standardiser) if len(self.indices) else None)
        return self.with_own(np.zeros((0, self.shape[1]), dtype) if own is None else own)

    @property
    def sparse(self) -> bool:
        """Whether any process holds its rows as a sparse matrix."""
        return any(self.comm.allgather(is_sparse(self.own)))

    def standardiser(self, sample_weight: NDArray[Any] | None = None) -> Standardiser | None:
        """Fit a Standardiser to the rows of all processes.

        Parameters
        ----------
        sample_weight : array, shape (n,), optional
            Positive weights of all rows. Default: equal weights.

        Returns
        -------
        Standardiser or None
            None for sparse rows.

        Raises
        ------
        ValueError
            In all processes, if an entry is not finite in any of them, or a deviation is below 1e-140 or above 1e140.
        """
        if self.sparse:
            return None
        all_succeed(self.comm, lambda: check_finite(self.own))
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        total = len(self) if weights is None else weights.sum()
        slices = list(row_slices(*self.own.shape))

        def weighed(part: slice, rows: NDArray[Any]) -> NDArray[Any]:
            own = np.ones(len(rows)) if weights is None else weights[self.indices[part]]
            return np.asarray(own @ rows)

        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # what float64 cannot hold is found below
            mean = self._total(weighed(part, self.own[part]) for part in slices) / total
            squares = self._total(weighed(part, np.square(self.own[part] - mean)) for part in slices)
        firsts = self.comm.allgather(self.own[:1] if len(self.indices) else None)
        first = next(row for row in firsts if row is not None)
        constant = self._total((self.own[part] != first).sum(axis=0) for part in slices) == 0
        scale = np.where(constant, 1.0, np.sqrt(squares / total))
        extreme = np.flatnonzero(squares_left_float64(scale))
        if extreme.size:
            raise common_error(
                self.comm,
                "features of several processes must have deviations between 1e-140 and 1e140, but column "
                f"{extreme[0]} (from 0) does not. Rescale it, for example by its largest entry.",
            )
        return Standardiser(np.where(constant, 0.0, mean), scale)

    def digest(self) -> str:
        """Compute a digest of all entries in their order, independent of how the rows are distributed.

        Of rows that are standardised it is not: the last digits of means and deviations depend on the distribution.

        Returns
        -------
        str
        """
        own = all_succeed(self.comm, self._own_hash)  # to read rows of a table may fail
        total = sum(self.comm.allgather(own)) % 2**64
        return f"{self.shape} {self.dtype} {total:016x}"

    def _own_hash(self) -> int:
        parts = [slice(None)] if is_sparse(self.own) else row_slices(*self.own.shape)
        return sum(  # wraps around, in any order
            int((_row_hashes(self.own[part]) * _mixed(self.indices[part].astype(np.uint64))).sum(dtype=np.uint64))
            for part in parts
        )

    def _total(self, parts: Any) -> NDArray[Any]:
        own = sum(parts, np.zeros(self.shape[1]))
        total = np.empty_like(own)
        self.comm.Allreduce(own, total)
        return total


def gather_vectors(comm: Communicator, n_own: int, *vectors: Any) -> tuple[Any, ...]:
    """Gather labels, weights and other per-row vectors of all processes, in the order of their ranks.

    Parameters
    ----------
    comm : communicator
        Of the processes.
    n_own : int
        Number of rows of this process.
    *vectors : array-like, shape (n_own,), or None
        One entry per row of this process.

    Returns
    -------
    tuple of array, shape (n,), or None
        In a single process the vectors themselves.

    Raises
    ------
    ValueError
        In all processes, if the lengths differ in any of them, or only some give weights.
    """
    if comm.size == 1:
        return vectors
    all_succeed(comm, lambda: _check_vectors(n_own, vectors))
    return tuple(_gathered(comm, vector) for vector in vectors)


def distribute_rows(comm: Communicator, n_own: int, make: Callable[[], Any]) -> Any:
    """Join the rows of all processes in one matrix, in the order of their ranks; token ids are padded to one width.

    Parameters
    ----------
    comm : communicator
        Of the processes.
    n_own : int
        Number of rows of this process; it may be 0, as long as other processes have rows.
    make : callable
        Returns this process's rows: an array, LazyRows or CSR matrix, shape (n_own, d). Not called if `n_own` is 0.

    Returns
    -------
    DistributedRows, shape (n, d)
        In a single process, what `make` returns.

    Raises
    ------
    ValueError
        In all processes, if `make` raises one in any of them, or their numbers of columns differ.
    """
    if comm.size == 1:
        return make()
    own = all_succeed(comm, lambda: make() if n_own else None)
    kinds = comm.allgather(None if own is None else (own.shape[1], own.dtype))
    widths, dtypes = zip(*(kind for kind in kinds if kind is not None))
    if own is None:
        own = np.zeros((0, widths[0]), dtypes[0])
    if own.dtype == np.int32:
        own = np.pad(own, ((0, 0), (0, max(widths) - own.shape[1])))
    elif len(set(widths)) > 1:
        raise common_error(comm, f"all processes need rows of the same columns, got {list(widths)} columns")
    lengths = comm.allgather(n_own)
    before = sum(lengths[: comm.rank])
    return DistributedRows(comm, own, np.arange(before, before + n_own), sum(lengths))


def rows_digest(rows: Any) -> str:
    """Compute a digest of rows that is the same for any number of processes; see `DistributedRows.digest`.

    Parameters
    ----------
    rows : array, LazyRows, CSR matrix or DistributedRows, shape (n, d)
        Not yet standardised.

    Returns
    -------
    str
    """
    n: int = rows.shape[0]
    spread = rows if isinstance(rows, DistributedRows) else DistributedRows(LOCAL, rows, np.arange(n), n)
    return spread.digest()


def _row_hashes(rows: Any) -> NDArray[Any]:
    """One hash per row, of all bits of its entries; those of a sparse row are those of a dense one."""
    columns = _mixed(np.arange(rows.shape[1], dtype=np.uint64))
    if not is_sparse(rows):
        return _mixed(_mixed(_bits(np.ascontiguousarray(rows))) @ columns)
    of_zero = _mixed(np.zeros(1, dtype=np.uint64))
    moves = (_mixed(_bits(rows.data)) - of_zero) * columns[rows.indices]
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(moves)])
    return _mixed(sums[rows.indptr[1:]] - sums[rows.indptr[:-1]] + of_zero * columns.sum())


def _bits(values: NDArray[Any]) -> NDArray[Any]:
    return values.view(f"u{values.dtype.itemsize}").astype(np.uint64)


def _mixed(values: NDArray[Any]) -> NDArray[Any]:
    """Mix 64-bit numbers into well-spread odd ones (the finaliser of SplitMix64)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((values ^ (values >> np.uint64(31))) | np.uint64(1))


def _check_vectors(n_own: int, vectors: Sequence[Any]) -> None:
    for vector in vectors:
        if vector is not None and (len(vector) or n_own):
            check_lengths(np.empty((n_own, 0)), np.asarray(vector))


def _gathered(comm: Communicator, vector: Any) -> NDArray[Any] | None:
    parts = comm.allgather(None if vector is None else np.asarray(vector))
    given = [part for part in parts if part is not None]
    if given and len(given) < len(parts):
        raise common_error(comm, "either all processes need sample weights or groups, or none")
    return np.concatenate(given) if given else None
