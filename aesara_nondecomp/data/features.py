"""Checks of a feature matrix, made once, where it enters the package."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_array, is_sparse

# Large arrays are walked in slices of about this many entries, so that no check or transformation ever needs a second
# array of the size of the data.
ENTRIES_PER_SLICE = 2**20


class NotFiniteError(ValueError):
    """An entry of a feature matrix is not finite.

    Parameters
    ----------
    row : int
        Its row, from 0.
    column : int
        Its column, from 0.
    dtype : dtype
        Of the entries.
    """

    def __init__(self, row: int, column: int, dtype: Any):
        super().__init__(int(row), int(column), np.dtype(dtype))

    def __str__(self) -> str:
        row, column, dtype = self.args
        return (
            f"features must be finite in {dtype}, got NaN, infinity or a value out of its range "
            f"first in row {row}, column {column} (from 0). Give a data frame, in which missing numbers are filled in, "
            "or drop, fill in or rescale such entries."
        )


def check_features(X: Any, *, columns: int | None = None, dtype: Any = "float32") -> Any:
    """Check a feature matrix and convert it to one dtype and layout.

    Parameters
    ----------
    X : array-like or SciPy sparse matrix, shape (n, d)
        Numbers or booleans.
    columns : int, optional
        Required number of columns, when a fitted model scores `X`. Default: any.
    dtype : dtype, default "float32"
        Floating dtype of the result.

    Returns
    -------
    array or CSR matrix, shape (n, d)
        C-contiguous, aligned and of `dtype`; the input itself if it already is all that. A memory map of that dtype
        stays a memory map, and a sparse matrix stays sparse.

    Raises
    ------
    ValueError
        If `X` is not a non-empty 2-D array of numbers that are finite in `dtype`, or does not have `columns` columns.
    """
    converted = to_dtype(as_matrix(X, columns), np.dtype(dtype))
    check_finite(converted)
    return converted


def as_matrix(X: Any, columns: int | None = None) -> Any:
    """Check that `X` is a matrix of numbers, and keep its dtype; entries may be infinite or NaN.

    Parameters
    ----------
    X : array-like, memory map or SciPy sparse matrix, shape (n, d)
        Numbers or booleans.
    columns : int, optional
        Required number of columns. Default: any.

    Returns
    -------
    array, memory map or CSR matrix, shape (n, d)
        Not copied if it already is one of these.

    Raises
    ------
    ValueError
        If `X` is not a non-empty 2-D array of numbers, or does not have `columns` columns.
    """
    is_map = isinstance(X, np.memmap)
    matrix = X.tocsr() if is_sparse(X) else X if is_map else as_array(X, "features")
    _check_kind(matrix)
    check_shape(matrix, columns)
    return matrix


def to_dtype(matrix: Any, dtype: np.dtype[Any]) -> Any:
    """Convert a matrix to a floating dtype, C-contiguous and aligned; values out of its range become infinite.

    Parameters
    ----------
    matrix : array or sparse matrix, shape (n, d)
        Numbers or booleans.
    dtype : dtype
        Floating dtype of the result.

    Returns
    -------
    array or sparse matrix, shape (n, d)
        The input itself if nothing has to change.
    """
    with np.errstate(over="ignore"):
        if is_sparse(matrix):
            return matrix.astype(dtype, copy=False)
        return np.require(matrix, dtype, ["C", "A"])


def check_finite(matrix: Any, first_row: int = 0) -> None:
    """Raise a ValueError that names the first non-finite entry, if there is one.

    Parameters
    ----------
    matrix : array, LazyRows or CSR matrix, shape (n, d)
        Or an array of shape (n, ...), each row of which is flattened to count its columns.
    first_row : int, default 0
        Index of the first row among the caller's rows.

    Raises
    ------
    ValueError
        If an entry is NaN or infinite.
    """
    if is_sparse(matrix):
        _check_finite_sparse(matrix)
        return
    if matrix.dtype.kind != "f":
        return
    columns = math.prod(matrix.shape[1:])
    for part in row_slices(len(matrix), columns):
        finite = np.isfinite(matrix[part])
        if not finite.all():
            row, column = np.argwhere(~finite.reshape(len(finite), columns))[0]
            raise NotFiniteError(first_row + part.start + row, column, matrix.dtype)


@contextmanager
def rows_among_all(rows: NDArray[Any] | None) -> Iterator[None]:
    """Let an error about an entry that is not finite name the caller's row, where only some rows are checked.

    Parameters
    ----------
    rows : int array, shape (k,), or None
        Indices of the rows that are checked; None for all rows.

    Yields
    ------
    None

    Raises
    ------
    ValueError
        That of `check_finite`.
    """
    try:
        yield
    except NotFiniteError as error:
        if rows is None:
            raise
        row, column, dtype = error.args
        raise NotFiniteError(rows[row], column, dtype) from None


def check_lengths(X: Any, y: Any) -> None:
    """Check that features and labels have the same number of rows.

    Parameters
    ----------
    X : matrix, shape (n, d), or sequence of length n
        Features.
    y : sequence of length n
        Labels.

    Raises
    ------
    ValueError
        If the lengths differ.
    """
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if rows != len(y):
        raise ValueError(
            f"features and labels must have the same number of rows, got {rows} rows "
            f"of features and {len(y)} labels. Check that both come from the same file."
        )


def row_slices(rows: int, columns: int, entries: int = ENTRIES_PER_SLICE) -> Iterator[slice]:
    """Cut a matrix into slices of whole rows, each of about `entries` entries and at least one row.

    Parameters
    ----------
    rows : int
        Number of rows.
    columns : int
        Number of columns.
    entries : int, default 2**20
        Entries per slice.

    Yields
    ------
    slice
        Of the rows, in order.
    """
    step = max(1, entries // max(1, columns))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def _check_kind(matrix: Any) -> None:
    if matrix.dtype.kind not in "biuf":
        raise ValueError(
            f"features must be numbers, got an array of dtype {matrix.dtype}. Encode text and categories as numbers, "
            "or give a data frame, whose categorical columns are encoded."
        )


def check_shape(matrix: Any, columns: int | None = None) -> None:
    """Check that a matrix has rows, columns and, if it is given, the required number of columns.

    Parameters
    ----------
    matrix : array, CSR matrix or LazyRows
        The matrix; only its shape is read.
    columns : int, optional
        Required number of columns. Default: any.

    Raises
    ------
    ValueError
        If the shape is another one.
    """
    if matrix.ndim == 1:
        raise ValueError(
            f"features must be two-dimensional, got shape {matrix.shape}. Use X.reshape(-1, 1) "
            "for one feature, or X.reshape(1, -1) for one row."
        )
    if matrix.ndim != 2:
        raise ValueError(f"features must be two-dimensional, got shape {matrix.shape}. Flatten each row to a vector.")
    if 0 in matrix.shape:
        raise ValueError(f"features must not be empty, got shape {matrix.shape}. Check how they were read.")
    if columns is not None and matrix.shape[1] != columns:
        raise ValueError(
            f"features must have the {columns} columns seen in training, got "
            f"{matrix.shape[1]}. Apply the same preparation to both."
        )


def _check_finite_sparse(matrix: Any) -> None:
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if bad.size:
        row = np.searchsorted(matrix.indptr, bad[0], side="right") - 1
        raise NotFiniteError(int(row), matrix.indices[bad[0]], matrix.dtype)
