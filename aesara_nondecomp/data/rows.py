"""Rows that are converted and standardised only as they are read, so that a memory map is never copied as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.data.features import as_matrix, check_finite, to_dtype
from aesara_nondecomp.data.scaling import Standardiser


class LazyRows:
    """Stands in for a dense array: indexing with rows reads, converts and standardises those rows.

    Parameters
    ----------
    X : array or memory map, shape (N, d)
        The rows as they are stored.
    dtype : dtype, optional
        Of the rows handed out. Default: that of `X`.
    standardiser : Standardiser, optional
        Applied in float64, before rows become `dtype`.
    rows : int array, shape (n,), optional
        Indices of the rows of `X` that are in. Default: all of them.
    """

    ndim = 2

    def __init__(
        self,
        X: Any,
        dtype: Any = None,
        standardiser: Standardiser | None = None,
        rows: NDArray[Any] | None = None,
    ):
        self.dtype: np.dtype[Any] = np.dtype(X.dtype if dtype is None else dtype)
        self._X, self._standardiser, self._rows = X, standardiser, rows

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return (self._X.shape[0] if self._rows is None else len(self._rows)), self._X.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        """The rows at a slice or int array, in memory and in C order."""
        part = self._X[rows if self._rows is None else self._rows[rows]]
        if self._standardiser is not None and len(part):
            return self._standardiser.transform(part, self.dtype)
        with np.errstate(over="ignore"):  # what is too large for the dtype is reported as not finite
            return np.ascontiguousarray(part, dtype=self.dtype)

    def part(self, rows: NDArray[Any]) -> LazyRows:
        """Some of the rows, still unread."""
        kept = rows if self._rows is None else self._rows[rows]
        return LazyRows(self._X, self.dtype, self._standardiser, kept)

    def prepared(self, dtype: Any, standardiser: Standardiser | None = None) -> LazyRows:
        """The same rows, to become `dtype`, standardised or not, as they are read."""
        return LazyRows(self._X, dtype, standardiser, self._rows)


class BatchSource:
    """Base of rows that are not held in this process's memory: on a device, or spread over processes.

    `MiniBatches` asks for the rows of one batch at a time and hands on what it gets as the batch's `X`; what that is
    is between the subclass and the functions that train on it.
    """

    ndim = 2
    dtype: np.dtype[Any]
    shape: tuple[int, int]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Any:
        """All rows, ``[:]``, as one batch."""
        return self.batch(np.arange(len(self))[rows])

    def batch(self, indices: NDArray[Any]) -> Any:
        """The rows at `indices`, shape (b,); zeros, or nothing, at -1."""
        raise NotImplementedError

    def part(self, rows: NDArray[Any]) -> BatchSource:
        """Some of the rows, numbered anew from 0."""
        raise NotImplementedError

    def prepared(self, dtype: Any, standardiser: Standardiser | None = None) -> BatchSource:
        """The same rows in another dtype, standardised or not."""
        raise NotImplementedError

    def standardiser(self, sample_weight: NDArray[Any] | None = None) -> Standardiser | None:
        """Means and scales of the rows, weighted; None for rows that are not to be standardised."""
        raise NotImplementedError

    def token_lengths(self) -> NDArray[Any]:
        """Number of tokens of each row (n,), where the rows are token ids."""
        raise NotImplementedError


def raw_rows(X: Any, columns: int | None = None) -> Any:
    """A feature matrix as its rows are stored, neither converted nor read: see `features.as_matrix`.

    Parameters
    ----------
    X : array-like, memory map, CSR matrix or LazyRows, shape (n, d)
        Numbers or booleans.
    columns : int, optional
        The number of columns wanted.

    Returns
    -------
    array, CSR matrix or, for a memory map, LazyRows
        In the dtype of `X`.

    Raises
    ------
    ValueError
        If `X` is not a non-empty matrix of numbers, or has another number of columns.
    """
    if isinstance(X, LazyRows):
        return X
    matrix = as_matrix(X, columns)
    return LazyRows(matrix) if isinstance(matrix, np.memmap) else matrix


def select_rows(X: Any, rows: NDArray[Any]) -> Any:
    """Some rows of an array, CSR matrix, LazyRows or BatchSource."""
    return X.part(rows) if isinstance(X, (LazyRows, BatchSource)) else X[rows]


def prepare_rows(X: Any, dtype: Any, standardiser: Standardiser | None = None) -> Any:
    """Raw rows as a network takes them: finite, standardised in float64, then in the network's dtype.

    Parameters
    ----------
    X : array, CSR matrix, LazyRows or BatchSource, shape (n, d)
        As from `raw_rows`.
    dtype : dtype
        Of the network.
    standardiser : Standardiser, optional
        Default: rows are converted alone. Sparse rows are never standardised.

    Returns
    -------
    array, CSR matrix, LazyRows or BatchSource, shape (n, d)
        A memory map is read once, slice by slice, to see that all entries are finite, and stays unread otherwise.

    Raises
    ------
    ValueError
        If an entry is not finite, in the dtype it has or in the one it gets, or sparse rows are to be standardised.
    """
    if isinstance(X, BatchSource):
        return X.prepared(dtype, standardiser)
    if standardiser is None:
        converted = X.prepared(dtype) if isinstance(X, LazyRows) else to_dtype(X, np.dtype(dtype))
        check_finite(converted)
        return converted
    check_finite(X)
    return X.prepared(dtype, standardiser) if isinstance(X, LazyRows) else standardiser.transform(X, dtype)
