"""What the cells of a table say: missing values, numbers and categories, each in its usual spellings."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import is_null

# Compared in lower case. The first are missing in every column. The others are missing among numbers only, since a
# column of text may mean them: a school-leaver has the degree "none".
MISSING_VALUES = ("", "?", "na", "n/a", "nan", "null")
MISSING_NUMBERS = frozenset(
    (*MISSING_VALUES, "none", "nil", "missing", "unknown", "undefined", "<na>", "nat", "n.a.", "-nan", "1.#qnan")
    + ("-", "--", "---", ".", "..", "...", "#n/a", "#na", "#div/0!", "#value!", "#num!", "#ref!", "#name?", "#null!")
)  # fmt: skip

_BODY = r"(\d{1,3}([,.'\s]\d{3})+([.,]\d+)?|\d+([.,]\d+)?|[.,]\d+)"
_SIGN, _UNIT = r"[-+\u2212]?\s*", r"([$€£¥₹%‰]|USD|EUR|GBP|CHF|JPY)?\s*"
_DECORATED = re.compile(rf"\(?{_SIGN}{_UNIT}{_SIGN}{_BODY}\s*{_UNIT}\)?", re.IGNORECASE)
_DATE = re.compile(
    r"(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3\d{2,4})([T\s]+\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
)
_NUMERAL = re.compile(r"-?(0|[1-9]\d*)(\.\d*)?(e[-+]?\d+)?", re.IGNORECASE)
_WHOLE, _WHOLE_WITH_POINT = re.compile(r"-?(0|[1-9]\d*)"), re.compile(r"-?(0|[1-9]\d*)\.0")
_TRUTHS = (("false", "true"), ("f", "t"), ("no", "yes"), ("n", "y"), ("0", "1"), ("off", "on"))


def is_missing(cell: Any) -> bool:
    """Whether a cell is missing: None, NaN, pandas.NA, or text that is empty, "?", "NA", "n/a", "NaN" or "null".

    Parameters
    ----------
    cell : object
        The cell.

    Returns
    -------
    bool
    """
    return cell.strip().lower() in MISSING_VALUES if isinstance(cell, str) else is_null(cell)


def plain_number(cell: str, decimal: str = ".") -> float:
    """Read text as a number, as Python does but for the decimal sign.

    Parameters
    ----------
    cell : str
        The text.
    decimal : str, default "."
        The decimal sign, "." or ",".

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the text is something else.
    """
    if decimal != ".":
        if "." in cell:  # it separates thousands, and 1.234 may be a thousand or one
            raise ValueError(cell)
        cell = cell.replace(decimal, ".")
    return float(cell)


def is_plain_number(cell: str, decimal: str = ".") -> bool:
    """Tell whether Python reads a cell as a number, but for the decimal sign.

    Parameters
    ----------
    cell : str
        The cell.
    decimal : str, default "."
        The decimal sign, "." or ",".

    Returns
    -------
    bool
    """
    try:
        plain_number(cell, decimal)
    except ValueError:
        return False
    return True


def with_point(cell: Any, decimal: str) -> Any:
    """Write a number among text with a decimal point.

    Parameters
    ----------
    cell : object
        The cell.
    decimal : str
        The decimal sign of text, "." or ",".

    Returns
    -------
    object
        Any other cell as it is.
    """
    if isinstance(cell, str) and is_plain_number(cell, decimal):
        return cell.replace(decimal, ".")
    return cell


def as_number(cell: Any, decimal: str = ".") -> float:
    """Read a cell of a numeric column; NaN if it is missing in any of the usual spellings.

    Parameters
    ----------
    cell : object
        The cell.
    decimal : str, default "."
        The decimal sign of text, "." or ",".

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the cell is something else.
    """
    if isinstance(cell, str):
        if cell.strip().lower() in MISSING_NUMBERS:
            return math.nan
        if "_" in cell:  # only Python takes 12_34 for a number
            raise ValueError(cell)
        return plain_number(cell, decimal)
    if is_null(cell):
        return math.nan
    try:
        return float(cell)
    except OverflowError:
        return math.inf
    except TypeError:
        raise ValueError(cell) from None


def is_truth(cell: Any) -> bool:
    """Whether text is "true" or "false", in any case.

    Parameters
    ----------
    cell : object
        The cell.

    Returns
    -------
    bool
    """
    return isinstance(cell, str) and cell.strip().lower() in _TRUTHS[0]


def as_number_or_truth(cell: Any, decimal: str = ".") -> float:
    """Read a cell of a numeric column as `as_number` does, and "true" and "false" as 1 and 0.

    Parameters
    ----------
    cell : object
        The cell.
    decimal : str, default "."
        The decimal sign of text, "." or ",".

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the cell is something else.
    """
    return float(_TRUTHS[0].index(cell.strip().lower())) if is_truth(cell) else as_number(cell, decimal)


def is_decorated(cell: Any) -> bool:
    """Whether text is a number that `float` does not read: "1,5", "1 200", "$5", "12 %".

    Parameters
    ----------
    cell : object
        The cell.

    Returns
    -------
    bool
    """
    return isinstance(cell, str) and not is_date(cell) and _DECORATED.fullmatch(cell.strip()) is not None


def is_date(cell: Any) -> bool:
    """Whether a cell is a date or a time of day, such as "2024-01-31", "31/01/24 10:30" or "10:30".

    Parameters
    ----------
    cell : object
        The cell.

    Returns
    -------
    bool
    """
    return _DATE.fullmatch(str(cell).strip()) is not None


def spelling(cell: Any) -> str:
    """Text that a category is called by: as it is, whole numbers without a decimal point, a missing value as "".

    Parameters
    ----------
    cell : object
        The cell.

    Returns
    -------
    str
    """
    if is_missing(cell):
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()


def category_form(cell: Any) -> str:
    """Text by which categories are compared: 1, 1.0, "1" and " 1.0" are one, as are True, "True" and "true".

    Texts that are spelt differently are different categories otherwise, though they may read as one number: "01" and
    "1" are codes, "1.1" and "1.10" are versions.

    Parameters
    ----------
    cell : object
        The cell.

    Returns
    -------
    str
    """
    text = spelling(cell)
    if not isinstance(cell, str) or text.lower() in _TRUTHS[0]:
        return normal_form(cell)
    return text[:-2] if _WHOLE_WITH_POINT.fullmatch(text) else text


def normal_form(cell: Any) -> str:
    """Text by which numbers and truth values are compared, in whatever spelling: -999, "-999.00" and "-9.99e2" are one.

    Parameters
    ----------
    cell : object
        The cell.

    Returns
    -------
    str
        Of any other cell, and of a number with leading zeros, as it is spelt.
    """
    text = spelling(cell)
    if text.lower() in _TRUTHS[0]:
        return text.lower()
    if not _NUMERAL.fullmatch(text) or text.lstrip("-").isdigit():
        return text
    number = float(text)
    return str(int(number)) if number.is_integer() else repr(number)


def category_places(categories: Sequence[str]) -> Callable[[Any], int]:
    """Make the function that finds a cell among known categories, in whatever spelling.

    Where the categories are one pair of truth values, such as "N" and "Y", a cell may use another pair. A whole number
    may be spelt otherwise, such as 3 as "3.00"; of "1.10" nobody can tell whether it is 1.1 or another version.

    Parameters
    ----------
    categories : sequence of str
        The known categories, as `spelling` returns them.

    Returns
    -------
    callable
        From a cell to an index in `categories`, or -1.
    """
    places: dict[str, int] = {}
    for place, category in enumerate(categories):
        places.setdefault(category_form(category), place)
    known = {form.lower(): place for form, place in places.items() if form}
    pair = next((pair for pair in _TRUTHS if known.keys() == set(pair)), ())
    truths = {word: known[pair[value]] for words in _TRUTHS for value, word in enumerate(words)} if pair else {}
    exact = {category: place for place, category in enumerate(categories)}
    whole = {form: place for form, place in places.items() if _WHOLE.fullmatch(form)}

    def place_of(cell: Any) -> int:
        form = category_form(cell)
        known = (exact, spelling(cell)), (places, form), (truths, form.lower()), (whole, normal_form(cell))
        return next((found[text] for found, text in known if text in found), -1)

    return place_of


def over_distinct(function: Callable[[Any], Any], cells: Iterable[Any]) -> list[Any]:
    """Apply a function to each cell, once to equal ones.

    Parameters
    ----------
    function : callable
        Of a cell.
    cells : iterable
        Hashable cells.

    Returns
    -------
    list
        The results, one per cell.
    """
    cells = list(cells)
    if set(map(type, cells)) == {str}:
        found = {cell: function(cell) for cell in set(cells)}
        return [found[cell] for cell in cells]
    results = {key: function(key[1]) for key in {(type(cell), cell) for cell in cells}}  # True is not 1
    return [results[type(cell), cell] for cell in cells]


def cell_list(cells: NDArray[Any]) -> list[Any]:
    """The cells of a column as Python objects; float32 as the shortest decimals, so that 0.1 is 0.1 in any dtype.

    Parameters
    ----------
    cells : array, shape (n,)
        Floats, or objects.

    Returns
    -------
    list
    """
    listed: list[Any] = cells.tolist()
    return over_distinct(shortest_decimal, listed) if cells.dtype == np.float32 else listed


def shortest_decimal(cell: Any) -> Any:
    """Of a number that float32 holds the shortest decimal that float32 tells apart, such as 0.1.

    Parameters
    ----------
    cell : object
        The cell.

    Returns
    -------
    object
        A whole number keeps its digits, which may be a code; all other cells are as they were.
    """
    if not isinstance(cell, (float, np.floating)):
        return cell
    if float(cell).is_integer():
        return float(cell)
    with np.errstate(over="ignore"):
        narrow = np.float32(cell)
    return float(str(narrow)) if narrow == cell else cell


def numbers_or_none(cells: NDArray[Any], decimal: str = ".") -> NDArray[Any] | None:
    """Convert cells to floats, with NaN for a missing value.

    Parameters
    ----------
    cells : array, shape (n,)
        Floats, or objects.
    decimal : str, default "."
        The decimal sign of text, "." or ",".

    Returns
    -------
    array, shape (n,), or None
        None if a cell is not a number.
    """
    if cells.dtype != object:
        return cells
    try:
        return np.array(over_distinct(partial(as_number_or_truth, decimal=decimal), cells), dtype=np.float64)
    except ValueError:
        return None
