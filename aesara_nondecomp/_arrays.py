"""Array arguments: converted in one way, with errors that name the argument."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import shown

# NumPy before 1.24 warns about ragged rows and makes objects of them; to change warnings is unsafe in threads.
WARNS_OF_RAGGED = np.lib.NumpyVersion(np.__version__) < "1.24.0"
# What NumPy and the arrays of other packages raise for values that form no array, or none of numbers.
UNUSABLE = (TypeError, ValueError, OverflowError, RuntimeError, Warning)


def is_sparse(X: Any) -> bool:
    """Whether `X` is a sparse matrix; `scipy.sparse`, slow to import, is left alone until somebody has imported it.

    Parameters
    ----------
    X : object
        Anything.

    Returns
    -------
    bool
    """
    issparse = getattr(sys.modules.get("scipy.sparse"), "issparse", None)
    return issparse is not None and bool(issparse(X))


def as_array(values: Any, what: str) -> NDArray[Any]:
    """Convert to an array that every later step can read: aligned, in the byte order of the machine.

    Parameters
    ----------
    values : array-like
        Numbers, or labels.
    what : str
        What the values are, for the message.

    Returns
    -------
    array
        The input itself if nothing has to change.

    Raises
    ------
    ValueError
        If the rows differ in length, entries of a masked array are masked, the values come one by one, or text stands
        beside other values, which NumPy would turn into text.
    """
    refuse_masked(values, what)
    refuse_iterator(values, what)
    try:
        array = _to_array(values)
    except (ValueError, Warning) as error:
        raise ValueError(
            f"{what} must form a rectangular array, got rows of unequal length ({error}). "
            "Give every row the same number of entries."
        ) from None
    except UNUSABLE:
        raise ValueError(f"{what} must form an array, got {shown(values)}") from None
    if array.dtype.kind in "SU" and array.ndim == 1 and isinstance(values, (list, tuple)):
        _refuse_mixed(values, what)
    return in_machine_layout(array)


def as_floats(values: Any, what: str) -> NDArray[np.float64]:
    """Convert to an array of float64; see `as_array`.

    Parameters
    ----------
    values : array-like
        Numbers or booleans.
    what : str
        What the values are, for the message.

    Returns
    -------
    float64 array

    Raises
    ------
    ValueError
        As in `as_array`, or if the values are no real numbers in the range of float64.
    """
    array = as_array(values, what)
    try:
        if array.dtype.kind not in "biufO":
            raise TypeError
        return array.astype(np.float64, copy=False)
    except UNUSABLE:
        raise ValueError(f"{what} must be numbers, got {shown(values)}") from None


def as_vector(values: Any, what: str) -> NDArray[np.float64]:
    """Convert to a vector of float64 with at least one entry; see `as_floats`.

    Parameters
    ----------
    values : array-like, shape (n,)
        Numbers or booleans.
    what : str
        What the values are, for the message.

    Returns
    -------
    float64 array, shape (n,)

    Raises
    ------
    ValueError
        As in `as_floats`, or on another shape.
    """
    array = as_floats(values, what)
    check_vector(array, what)
    return array


def distinct_rows(matrix: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The distinct rows of a matrix of booleans.

    Parameters
    ----------
    matrix : bool array, shape (n, m)
        Any.

    Returns
    -------
    first : int array, shape (k,)
        A row of each kind.
    kinds : int array, shape (n,)
        The kind of each row, from 0 to k - 1.
    """
    _, first, kinds = np.unique(np.packbits(matrix, axis=1), axis=0, return_index=True, return_inverse=True)
    return first, kinds.reshape(-1)


def check_vector(array: NDArray[Any], what: str) -> None:
    """Raise a ValueError unless an array has one dimension and at least one entry."""
    if array.ndim != 1:
        raise ValueError(f"{what} must have shape (n,), got {array.shape}. If it is a column, pass {what}.ravel().")
    if array.size == 0:
        raise ValueError(f"{what} must hold at least one point, got none.")


def refuse_masked(values: Any, what: str) -> None:
    """Raise a ValueError if entries of a masked array are masked: NumPy would go on with what lies under the mask."""
    count = int(np.sum(values.mask)) if isinstance(values, np.ma.MaskedArray) else 0
    if count:
        raise ValueError(
            f"{what} must not be masked, got {count} masked of {values.size} entries. Fill them in or drop those rows: "
            "only the columns of a table may have missing values."
        )


def refuse_iterator(values: Any, what: str) -> None:
    """Raise a ValueError for a generator or a file read in chunks, which NumPy would take for a single object."""
    if isinstance(values, Iterator):
        raise ValueError(
            f"{what} must be an array, got a {type(values).__name__}, whose values come one by one. Pass list(...) of "
            "it, or pandas.concat(...) of the chunks of a table; one too large for memory is for fit(path, target=...)."
        )


def in_machine_layout(array: NDArray[Any]) -> NDArray[Any]:
    """A copy in the machine's byte order and aligned, as compiled code reads it; the array itself if it is both."""
    if array.dtype.kind in "iufc" and not array.dtype.isnative:
        return array.astype(array.dtype.newbyteorder("="))
    return array if array.flags.aligned else array.copy()


def _to_array(values: Any) -> NDArray[Any]:
    if not WARNS_OF_RAGGED or isinstance(values, np.ndarray):
        return np.asarray(values)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Creating an ndarray from ragged")
        return np.asarray(values)


def _refuse_mixed(values: Any, what: str) -> None:
    """Refuse text beside other values: NaN would become a label 'nan', and 1 the text '1'."""
    kind = str if any(isinstance(value, str) for value in values) else bytes
    strange = [value for value in values if not isinstance(value, kind)][:1]
    if strange:
        missing = strange[0] != strange[0]
        need = "not be missing" if missing else "all be of one kind"
        remedy = "Drop those rows or fill them in." if missing else "Convert them all to numbers or all to strings."
        raise ValueError(f"{what} must {need}, got {shown(strange[0])} among text. {remedy}")
