"""Rows that are converted and standardised as they are read, so that a memory map or a table is never copied whole."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.data.disk_rows import DiskMatrix
from aesara_nondecomp.data.features import as_matrix, check_finite, check_shape, row_slices, to_dtype
from aesara_nondecomp.data.memory_maps import MappedFile
from aesara_nondecomp.data.scaling import Standardiser


class LazyRows:
    """A stand-in for a dense array: indexing reads, converts and standardises the selected rows.

    Parameters
    ----------
    X : array, memory map, TableMatrix or DiskMatrix, shape (N, d)
        The rows as they are stored.
    dtype : dtype, optional
        Of the rows returned. Default: that of `X`.
    standardiser : Standardiser, optional
        Applied in float64, before conversion to `dtype`. Default: rows are not standardised.
    rows : int array, shape (n,), optional
        Indices of the selected rows of `X`. Default: all rows.
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
        self._file = MappedFile.of(X)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return (self._X.shape[0] if self._rows is None else len(self._rows)), self._X.shape[1]

    @property
    def first_row(self) -> int:
        """Index of the first stored row among the caller's rows: above 0 in the later blocks of a table."""
        return int(getattr(self._X, "first_row", 0))

    @property
    def block_rows(self) -> int | None:
        """Rows per block of a matrix on a disk, which is read faster by blocks; None for other rows."""
        return getattr(self._X, "block_rows", None) if self._rows is None else None

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """All rows as an array."""
        return np.asarray(self._all(), dtype)

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        """Read the rows at a slice or int array; the result is in C order."""
        if self._file:
            self._file.check()
        part = self._X[rows if self._rows is None else self._rows[rows]]
        if self._standardiser is not None and len(part):
            return self._standardiser.transform(part, self.dtype)
        with np.errstate(over="ignore"):  # what is too large for the dtype is reported as not finite
            return np.require(part, self.dtype, ["C", "A"])

    def part(self, rows: NDArray[Any]) -> LazyRows:
        """Select some of the rows without reading them.

        Parameters
        ----------
        rows : int array, shape (k,)
            Row indices.

        Returns
        -------
        LazyRows
        """
        kept = rows if self._rows is None else self._rows[rows]
        return LazyRows(self._X, self.dtype, self._standardiser, kept)

    def prepared(self, dtype: Any, standardiser: Standardiser | None = None) -> LazyRows | NDArray[Any]:
        """Convert and standardise the rows: at once those of a table, all others from now on, as they are read.

        Parameters
        ----------
        dtype : dtype
            Of the rows returned.
        standardiser : Standardiser, optional
            Default: rows are not standardised.

        Returns
        -------
        LazyRows, or array for a table
        """
        lazy = LazyRows(self._X, dtype, standardiser, self._rows)
        # The rows of a table are not encoded anew in each epoch.
        return lazy if isinstance(self._X, (np.ndarray, DiskMatrix)) else lazy._all()

    def _all(self) -> NDArray[Any]:
        """All rows, read slice by slice."""
        matrix = np.empty(self.shape, self.dtype)
        for part in row_slices(*self.shape):
            matrix[part] = self[part]
        return matrix


class BatchSource:
    """Base class of rows not held in this process's memory: on a device, or distributed over processes.

    `MiniBatches` asks for one batch at a time and passes the answer on as the batch's `X`; its type is agreed between
    the subclass and the functions that train on it.
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
        """Fetch the rows of a batch.

        Parameters
        ----------
        indices : int array, shape (b,)
            Row indices; at -1 a subclass returns zeros or no row.

        Returns
        -------
        object
            The batch, as the training functions of the subclass take it.
        """
        raise NotImplementedError

    def part(self, rows: NDArray[Any]) -> BatchSource:
        """Select some of the rows, reindexed from 0.

        Parameters
        ----------
        rows : int array, shape (k,)
            Row indices.

        Returns
        -------
        BatchSource
        """
        raise NotImplementedError

    def prepared(self, dtype: Any, standardiser: Standardiser | None = None) -> BatchSource:
        """Convert and standardise the rows.

        Parameters
        ----------
        dtype : dtype
            The network's.
        standardiser : Standardiser, optional
            Default: rows are not standardised.

        Returns
        -------
        BatchSource
        """
        raise NotImplementedError

    def standardiser(self, sample_weight: NDArray[Any] | None = None) -> Standardiser | None:
        """Fit a Standardiser to the rows.

        Parameters
        ----------
        sample_weight : array, shape (n,), optional
            Positive weights. Default: equal weights.

        Returns
        -------
        Standardiser or None
            None for rows that are not to be standardised.
        """
        raise NotImplementedError

    def token_lengths(self) -> NDArray[Any]:
        """Number of tokens of each row, shape (n,), if the rows are token ids."""
        raise NotImplementedError


def raw_rows(X: Any, columns: int | None = None) -> Any:
    """Check that `X` is a feature matrix, without converting or reading it; see `features.as_matrix`.

    Parameters
    ----------
    X : array-like, memory map, CSR matrix or LazyRows, shape (n, d)
        Numbers or booleans.
    columns : int, optional
        Required number of columns. Default: any.

    Returns
    -------
    array, CSR matrix or, for a memory map, LazyRows
        In the dtype of `X`, but float64 for longdouble, which compiled code does not take.

    Raises
    ------
    ValueError
        If `X` is not a non-empty matrix of numbers, or has another number of columns.
    """
    if isinstance(X, LazyRows):
        check_shape(X, columns)
        return X
    matrix = as_matrix(X, columns)
    too_wide = matrix.dtype.type is np.longdouble
    if isinstance(matrix, np.memmap):
        return LazyRows(matrix, np.float64 if too_wide else None)
    return to_dtype(matrix, np.dtype(np.float64)) if too_wide else matrix


def select_rows(X: Any, rows: NDArray[Any]) -> Any:
    """Select some rows of a matrix.

    Parameters
    ----------
    X : array, CSR matrix, LazyRows or BatchSource, shape (n, d)
        The matrix.
    rows : int array, shape (k,)
        Row indices.

    Returns
    -------
    array, CSR matrix, LazyRows or BatchSource, shape (k, d)
        Of the kind of `X`.
    """
    return X.part(rows) if isinstance(X, (LazyRows, BatchSource)) else X[rows]


def prepare_rows(X: Any, dtype: Any, standardiser: Standardiser | None = None) -> Any:
    """Prepare raw rows for a network: checked to be finite, standardised in float64, then converted.

    Parameters
    ----------
    X : array, CSR matrix, LazyRows or BatchSource, shape (n, d)
        As from `raw_rows`.
    dtype : dtype
        The network's.
    standardiser : Standardiser, optional
        Default: rows are not standardised. Sparse rows never are.

    Returns
    -------
    array, CSR matrix, LazyRows or BatchSource, shape (n, d)
        A memory map is read once, slice by slice, to check that all entries are finite, but not copied. The rows of a
        table become an array.

    Raises
    ------
    ValueError
        If an entry is not finite, before or after conversion, or sparse rows are to be standardised.
    """
    if isinstance(X, BatchSource):
        return X.prepared(dtype, standardiser)
    if standardiser is None:
        converted = X.prepared(dtype) if isinstance(X, LazyRows) else to_dtype(X, np.dtype(dtype))
        check_finite(converted)
        return converted
    check_finite(X)
    return X.prepared(dtype, standardiser) if isinstance(X, LazyRows) else standardiser.transform(X, dtype)
