"""Rows that are converted and scaled only as they are read, so that a memory map is never copied as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from aesara_nondecomp.data.labels import _as_array, _check_kind, _check_shape, check_features, check_finite
from aesara_nondecomp.data.scaling import Standardiser


class LazyRows:
    """Stands in for a dense array of shape (n, d): indexing with rows reads, converts and scales those rows.

    Parameters
    ----------
    X : array or memory map, shape (N, d)
    dtype : floating dtype of the rows handed out.
    scaling : Standardiser, optional
    rows : int array, shape (n,), optional. The rows of `X` that are in; default all of them.
    """

    ndim = 2

    def __init__(self, X: Any, dtype: Any, scaling: Standardiser | None = None, rows: np.ndarray | None = None):
        self.dtype = np.dtype(dtype)
        self._X, self._scaling, self._rows = X, scaling, rows

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return (self._X.shape[0] if self._rows is None else len(self._rows)), self._X.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> np.ndarray:
        """The rows at a slice or int array, in memory and in C order."""
        with np.errstate(over="ignore"):  # what is too large for the dtype is reported as not finite
            part = np.ascontiguousarray(self._X[rows if self._rows is None else self._rows[rows]], dtype=self.dtype)
        return self._scaling.transform(part) if self._scaling and len(part) else part

    def part(self, rows: np.ndarray) -> LazyRows:
        """Some of the rows, still unread."""
        kept = rows if self._rows is None else self._rows[rows]
        return LazyRows(self._X, self.dtype, self._scaling, kept)

    def scaled(self, scaling: Standardiser) -> LazyRows:
        """The same rows, to be scaled as they are read."""
        return LazyRows(self._X, self.dtype, scaling, self._rows)


class BatchSource:
    """Base of rows that are no array of this process: on a device, or spread over processes.

    `MiniBatches` asks for the rows of one batch at a time, and hands on what it gets as the batch's `X`; what that is
    is between the subclass and the functions that train on it.
    """

    ndim = 2
    dtype: np.dtype
    shape: tuple[int, int]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Any:
        """All rows, ``[:]``, as one batch."""
        return self.batch(np.arange(len(self))[rows])

    def batch(self, indices: np.ndarray) -> Any:
        """The rows at `indices`, shape (b,); zeros, or nothing, at -1."""
        raise NotImplementedError

    def part(self, rows: np.ndarray) -> BatchSource:
        """Some of the rows, numbered anew from 0."""
        raise NotImplementedError

    def scaled(self, scaling: Standardiser) -> BatchSource:
        """The same rows, scaled."""
        raise NotImplementedError

    def token_lengths(self) -> np.ndarray:
        """Number of tokens of each row (n,), where the rows are token ids."""
        raise NotImplementedError


def feature_rows(X: Any, *, columns: int | None = None, dtype: Any = "float32", unchecked: bool = False) -> Any:
    """As `check_features`, but a memory map is left where it is, whatever its dtype.

    Parameters
    ----------
    X, columns, dtype : as in `check_features`.
    unchecked : bool
        For a reader that checks the entries itself, slice by slice, as `TrainFunctions.scores` does: all but a sparse
        matrix is left where it is, and whether its entries are finite is left open.

    Returns
    -------
    array, CSR matrix or, for what is left where it is, LazyRows
        Unless `unchecked`, a memory map is read once, slice by slice, to see that all entries are finite.

    Raises
    ------
    ValueError
        As `check_features`.
    """
    mapped = isinstance(X, np.memmap)
    if not mapped and (scipy.sparse.issparse(X) or not unchecked):
        return check_features(X, columns=columns, dtype=dtype)
    matrix = X if mapped else _as_array(X, "features")
    _check_kind(matrix)
    _check_shape(matrix, columns)
    rows = LazyRows(matrix, dtype)
    if not unchecked:
        check_finite(rows)  # type: ignore[arg-type]  # it is indexed by slices only
    return rows


def select_rows(X: Any, rows: np.ndarray) -> Any:
    """Some rows of an array, CSR matrix, LazyRows or BatchSource."""
    return X.part(rows) if isinstance(X, (LazyRows, BatchSource)) else X[rows]


def scale_rows(X: Any, scaling: Standardiser | None) -> Any:
    """`X` scaled: what is lazy stays so; None scales nothing. ValueError: sparse rows are never scaled."""
    if scaling is None:
        return X
    if isinstance(X, (LazyRows, BatchSource)):
        return X.scaled(scaling)
    return scaling.transform(X)
