"""What the cells of a label column say: numbers or text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.data.cells import over_distinct

LARGEST_EXACT = 2**53  # from here on a float64 no longer stands for one whole number


def as_labels(cells: NDArray[Any]) -> NDArray[Any]:
    """Convert the label column of a table as its cells suggest.

    Parameters
    ----------
    cells : object array, shape (n,)
        Text, or values of a data frame.

    Returns
    -------
    array, shape (n,)
        Text as by `as_numbers`; other values in their own dtype, in int64 if all are whole numbers.
    """
    listed = cells.tolist()
    if all(issubclass(kind, str) for kind in set(map(type, listed))):
        return as_numbers(listed)
    values: NDArray[Any] = np.array(listed)
    return whole_numbers(values) if values.dtype.kind == "f" else values


def as_numbers(cells: Sequence[str]) -> NDArray[Any]:
    """Convert labels to numbers if all of them are finite numbers, and no two of them become one.

    Parameters
    ----------
    cells : sequence of str, shape (n,)
        Labels as text.

    Returns
    -------
    array, shape (n,)
        In int64 if all labels are whole numbers, in float64 if all are finite numbers. Otherwise the strings; also if
        one has a "_" or is 2**53 or more, or if two are one number in other whole digits, as 1 and 01 are.
    """
    digits_of: dict[float, str] = {}
    for cell in dict.fromkeys(cells):
        number, digits = _number(cell), _whole_digits(cell)
        if number is None or digits_of.setdefault(number, digits) != digits:
            return np.array(cells)
    return whole_numbers(np.array(over_distinct(float, cells)))


def whole_numbers(numbers: NDArray[Any]) -> NDArray[Any]:
    """Convert labels to integers if all of them are whole.

    Parameters
    ----------
    numbers : array of float, shape (n,)
        Labels.

    Returns
    -------
    array, shape (n,)
        In int64, or `numbers` itself if one is not whole or not exact in float64.
    """
    whole = bool((np.abs(numbers) <= LARGEST_EXACT).all()) and np.array_equal(numbers, np.rint(numbers))
    return numbers.astype(np.int64) if whole else numbers


def same_number(one: Any, other: Any) -> bool:
    """Whether two labels are one number.

    Parameters
    ----------
    one : object
        A label, or its text.
    other : object
        Likewise.

    Returns
    -------
    bool
        False for two texts of other whole digits, such as 1 and 01, which `as_numbers` keeps apart.
    """
    if isinstance(one, str) and isinstance(other, str) and _whole_digits(one) != _whole_digits(other):
        return False
    number = _number(one)
    return number is not None and number == _number(other)


def _number(label: Any) -> float | None:
    """The number that a label says; None if it says none, or one of which float64 loses digits."""
    try:
        number = float(label)
    except (TypeError, ValueError):
        return None
    of_python = isinstance(label, str) and "_" in label  # only Python takes 1_1 for a number
    return number if abs(number) < LARGEST_EXACT and not of_python else None


def _whole_digits(cell: str) -> str:
    """The digits before the decimal point, as of a code: "1" of 1, -1 and 1.0, "01" of 01, "0" of 0.5 and .5."""
    return cell.strip().lstrip("+-").partition(".")[0] or "0"
