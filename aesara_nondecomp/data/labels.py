"""Labels to {-1, +1} and back, and the checks every array passes at the public edge."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from aesara_nondecomp._checks import suggestion

# Large arrays are walked in slices of about this many entries, so that no check or
# transformation ever needs a second array of the size of the data.
ENTRIES_PER_SLICE = 2**20


class Labels(NamedTuple):
    """Two-class labels in the coding of the paper.

    Attributes
    ----------
    signs : int8 array, shape (n,), in {-1, +1}
        +1 for the positive class.
    classes : tuple (negative, positive)
        The two labels in the user's own coding, as plain Python scalars.
    """

    signs: np.ndarray
    classes: tuple[Any, Any]

    @property
    def prior(self) -> float:
        """Share of positives p, in (0, 1)."""
        return float(np.mean(self.signs > 0))


def encode_labels(y: Any, positive: Any = None) -> Labels:
    """Turn any coding of two classes into signs.

    Parameters
    ----------
    y : array-like, shape (n,)
        Two distinct values of any kind: {0, 1}, {-1, +1}, booleans, strings, unsigned bytes, ...
    positive : scalar, optional
        The label of the positive class. By default the larger of the two in sorted order
        (True, 1, "pos" rather than "neg").

    Returns
    -------
    Labels

    Raises
    ------
    ValueError
        If `y` is not one-dimensional, is empty, holds NaN, or does not hold exactly two
        distinct labels; or if `positive` is not one of them.

    Source: spec 1.1 (labels in {-1, +1}, both classes present).
    """
    values = _label_vector(y)
    found = _labels_in(values)
    if len(found) != 2:
        raise ValueError(
            f"labels must hold exactly two classes, got {len(found)}: {_preview(found)}. "
            "Pass the labels of a binary problem in which both classes occur."
        )
    if positive is None:
        positive = found[1]
    elif np.ndim(positive) or positive not in found:
        raise ValueError(
            f"positive must be one of the two labels, got {positive!r}. "
            f"{suggestion(repr(positive), [repr(label) for label in found])}"
        )
    negative, positive = found if found[1] == positive else found[::-1]
    signs = np.where(values == positive, np.int8(1), np.int8(-1))
    return Labels(signs, (negative, positive))


def encode_as(y: Any, classes: Sequence[Any]) -> np.ndarray:
    """Signs of labels in a coding that is known already: those of a test set, which may hold one class only.

    Parameters
    ----------
    y : array-like, shape (n,)
    classes : pair (negative, positive)

    Returns
    -------
    int8 array, shape (n,), in {-1, +1}

    Raises
    ------
    ValueError
        If `y` is not one-dimensional, is empty, or holds a label that is neither of the two.
    """
    values = _label_vector(y)
    negative, positive = classes
    strange = [label for label in _labels_in(values) if label != negative and label != positive]
    if strange:
        raise ValueError(
            f"labels must be {negative!r} or {positive!r}, as in training, got {_preview(strange)}. "
            "Use the coding of the training labels."
        )
    return np.where(values == positive, np.int8(1), np.int8(-1))


def decode(signs: np.ndarray, classes: Sequence[Any]) -> np.ndarray:
    """Signs back to the user's coding.

    Parameters
    ----------
    signs : array, shape (n,)
        Positive entries mean the positive class, all others the negative one.
    classes : (negative, positive)
        As in `Labels.classes`.

    Returns
    -------
    array, shape (n,)
        The labels; its dtype is the one NumPy gives to `classes`.
    """
    return np.asarray(classes)[(np.asarray(signs) > 0).astype(np.intp)]


def check_features(X: Any, *, columns: int | None = None, dtype: Any = "float32") -> Any:
    """Check a feature matrix once and bring it to one dtype and layout.

    Parameters
    ----------
    X : array-like or SciPy sparse matrix, shape (n, d)
        Numbers or booleans.
    columns : int, optional
        The number of columns wanted, when a fitted model scores `X`.
    dtype : floating dtype
        The dtype wanted.

    Returns
    -------
    C-contiguous array of `dtype`, or a CSR matrix of `dtype` for sparse input
        The input itself when it already is that (a memory map stays a memory map); sparse
        input is never made dense.

    Raises
    ------
    ValueError
        If `X` is not a non-empty 2-D array of finite numbers (finite in `dtype`), or has
        another number of columns than `columns`.
    """
    if scipy.sparse.issparse(X):
        matrix = X.tocsr()
    elif isinstance(X, np.memmap):
        matrix = X
    else:
        matrix = _as_array(X, "features")
    _check_kind(matrix)
    _check_shape(matrix, columns)
    converted = _convert(matrix, np.dtype(dtype))
    if scipy.sparse.issparse(converted):
        _check_finite_sparse(converted)
    else:
        check_finite(converted)
    return converted


def check_lengths(X: Any, y: Any) -> None:
    """Check that features and labels have the same number of rows.

    Raises
    ------
    ValueError
        If they have not.
    """
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if rows != len(y):
        raise ValueError(
            f"features and labels must have the same number of rows, got {rows} rows "
            f"of features and {len(y)} labels. Check that both come from the same file."
        )


def row_slices(rows: int, columns: int, entries: int = ENTRIES_PER_SLICE) -> Iterator[slice]:
    """Slices of whole rows, each of about `entries` matrix entries and of at least one row."""
    step = max(1, entries // max(1, columns))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def _as_array(values: Any, what: str) -> np.ndarray:
    try:
        # NumPy before 1.24 warns about ragged rows and makes objects of them.
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="Creating an ndarray from ragged")
            return np.asarray(values)
    except (ValueError, Warning) as error:
        raise ValueError(
            f"{what} must form a rectangular array, got rows of unequal length ({error}). "
            "Give every row the same number of entries."
        ) from None


def _label_vector(y: Any) -> np.ndarray:
    values = _as_array(y, "labels")
    if values.ndim == 2 and values.shape[1] == 1:
        raise ValueError(f"labels must be one-dimensional, got shape {values.shape}. Pass y.ravel().")
    if values.ndim != 1:
        raise ValueError(f"labels must be one-dimensional, got shape {values.shape}. Pass one label per row.")
    if values.size == 0:
        raise ValueError("labels must hold both classes, got an empty array. Check how they were read.")
    return values


def _labels_in(values: np.ndarray) -> list[Any]:
    """The distinct labels in sorted order, as plain Python scalars."""
    # np.unique cannot sort mixed objects and would keep every NaN apart, so objects take a set.
    try:
        found = list(set(values.tolist())) if values.dtype == object else distinct(values).tolist()
    except TypeError:
        raise ValueError(f"labels must be numbers or strings, got {values[0]!r}.") from None
    if any(isinstance(label, float) and label != label for label in found):
        raise ValueError("labels must not be missing, got NaN among them. Drop those rows or fill them in.")
    try:
        return sorted(found)
    except TypeError:
        raise ValueError(
            f"labels must all be of one kind, got {_preview(found)}. Convert them all to numbers or all to strings."
        ) from None


def distinct(values: np.ndarray) -> np.ndarray:
    """As np.unique, but without sorting numbers of which there are at most two, the usual case of long columns."""
    if values.dtype.kind in "biuf":
        ends = np.array([values.min(), values.max()])
        if ((values == ends[0]) | (values == ends[1])).all():
            return ends[: 1 if ends[0] == ends[1] else 2]
    return np.unique(values)


def _preview(found: Sequence[Any]) -> str:
    shown = ", ".join(repr(label) for label in found[:10])
    return f"[{shown}, ...]" if len(found) > 10 else f"[{shown}]"


def _check_kind(matrix: Any) -> None:
    if matrix.dtype.kind not in "biuf":
        raise ValueError(
            f"features must be numbers, got an array of dtype {matrix.dtype}. Encode text and "
            "categories as numbers (for example one-hot) and convert to a float dtype."
        )


def _check_shape(matrix: Any, columns: int | None) -> None:
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


def _convert(matrix: Any, dtype: np.dtype) -> Any:
    # Values too large for the dtype become infinite and are reported by the finiteness check.
    with np.errstate(over="ignore"):
        if scipy.sparse.issparse(matrix):
            return matrix.astype(dtype, copy=False)
        if matrix.dtype == dtype and matrix.flags.c_contiguous:
            return matrix
        return np.ascontiguousarray(matrix, dtype=dtype)


def check_finite(matrix: np.ndarray, first_row: int = 0) -> None:
    """Raise a ValueError that names the first entry that is not finite, if there is one.

    Parameters
    ----------
    matrix : array, shape (n, d); or (n, ...), whose columns are then numbered through each row
    first_row : int. Number of the first row among the caller's.
    """
    columns = math.prod(matrix.shape[1:])
    for part in row_slices(len(matrix), columns):
        finite = np.isfinite(matrix[part])
        if not finite.all():
            row, column = np.argwhere(~finite.reshape(len(finite), columns))[0]
            raise _not_finite(first_row + part.start + row, column, matrix.dtype)


def _check_finite_sparse(matrix: Any) -> None:
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if bad.size:
        row = np.searchsorted(matrix.indptr, bad[0], side="right") - 1
        raise _not_finite(row, matrix.indices[bad[0]], matrix.dtype)


def _not_finite(row: int, column: int, dtype: np.dtype) -> ValueError:
    return ValueError(
        f"features must be finite in {dtype}, got NaN, infinity or a value out of its range "
        f"first in row {row}, column {column} (from 0). Drop or fill in such entries, "
        "or rescale."
    )
