"""Encode a table as a matrix: missing values imputed, categories one-hot encoded, later tables like the first.

A table is a data frame (pandas or polars) or a mapping from column names to cells, as `read_csv_columns` returns.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from aesara_nondecomp._checks import suggestion

MISSING_VALUES = ("", "?", "na", "n/a", "nan", "null")  # compared in lower case
MOST_CATEGORIES = 200


class TableColumns(NamedTuple):
    """The cells of a table, column by column, as `read_table` returns them.

    Attributes
    ----------
    cells : dict of str to array, shape (n,)
        Float arrays with NaN for a missing value, or object arrays of the cells as they were.
    texts : frozenset of str
        Columns that hold text or categories by their dtype, even if every cell looks like a number.
    """

    cells: dict[str, NDArray[Any]]
    texts: frozenset[str] = frozenset()

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(next(iter(self.cells.values()), ())), len(self.cells)

    def part(self, rows: NDArray[Any]) -> TableColumns:
        """Select some of the rows.

        Parameters
        ----------
        rows : int array, shape (k,)
            Row indices.

        Returns
        -------
        TableColumns
        """
        return self._replace(cells={name: column[rows] for name, column in self.cells.items()})


class TableEncoder(NamedTuple):
    """Encoder of a table's columns as a matrix; make one with `TableEncoder.fit`.

    Attributes
    ----------
    numeric : tuple of str
        Numeric columns; they come first in the matrix.
    medians : tuple of float
        Median of each numeric column, which replaces its missing values.
    categorical : tuple of str
        One-hot encoded columns; a missing value is a category of its own, "".
    categories : tuple of tuple of str
        Known categories of each categorical column; an unknown one is encoded as zeros.
    """

    numeric: tuple[str, ...]
    medians: tuple[float, ...]
    categorical: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]

    @classmethod
    def fit(cls, table: Any, categorical: Sequence[str] = ()) -> TableEncoder:
        """Learn an encoder from the training rows.

        Parameters
        ----------
        table : data frame, mapping of str to sequence, or TableColumns
            Features without the labels. In a mapping, a column of str is numeric if every cell is a number or missing;
            in a data frame, text is always categorical.
        categorical : sequence of str, optional
            Numeric columns to treat as categorical, such as codes.

        Returns
        -------
        TableEncoder

        Raises
        ------
        ValueError
            If there is no column, a column holds only missing values or too many categories, or `categorical` names an
            unknown column.
        """
        columns = read_table(table)
        _check_names(categorical, columns.cells)
        if not columns.cells:
            raise ValueError("a table needs feature columns beside the labels, got none. Check the delimiter.")
        texts = columns.texts | set(categorical)
        parsed = {name: None if name in texts else numbers_or_none(cells) for name, cells in columns.cells.items()}
        for name, numbers in parsed.items():
            _check_column(name, columns.cells[name], numbers)
        numeric = {name: numbers for name, numbers in parsed.items() if numbers is not None}
        medians = tuple(float(np.nanmedian(numbers)) for numbers in numeric.values())
        others = {name: _as_text(columns.cells[name]) for name in columns.cells if name not in numeric}
        categories = tuple(tuple(sorted(set(cells.tolist()))) for cells in others.values())
        return cls(tuple(numeric), medians, tuple(others), categories)

    def transform(self, table: Any) -> NDArray[Any]:
        """Encode a table as a matrix; columns are matched by name, and further columns are ignored.

        Parameters
        ----------
        table : data frame, mapping of str to sequence, or TableColumns
            With at least the columns of the training table.

        Returns
        -------
        array, shape (n, d)
            In float32 if every numeric column is, otherwise in float64.

        Raises
        ------
        ValueError
            If a column is missing, or a numeric one holds text.
        """
        columns = read_table(table, [*self.numeric, *self.categorical]).cells
        numbers = [_imputed(name, columns[name], median) for name, median in zip(self.numeric, self.medians)]
        one_hot = [_one_hot(columns[name], found) for name, found in zip(self.categorical, self.categories)]
        return np.hstack([*(column[:, None] for column in numbers), *one_hot])

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Column names of the matrix, such as "age" and "colour=red"."""
        one_hot = [f"{name}={category}" for name, found in zip(self.categorical, self.categories) for category in found]
        return (*self.numeric, *one_hot)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; `from_dict` rebuilds the encoder from them."""
        return self._asdict()

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TableEncoder:
        """Rebuild an encoder from the values of `as_dict`.

        Parameters
        ----------
        values : mapping of str to plain values
            With the keys "numeric", "medians", "categorical" and "categories".

        Returns
        -------
        TableEncoder
        """
        return cls(
            tuple(values["numeric"]),
            tuple(float(median) for median in values["medians"]),
            tuple(values["categorical"]),
            tuple(tuple(found) for found in values["categories"]),
        )


def is_table(X: Any) -> bool:
    """Whether an input is a data frame or a mapping of columns, and not a matrix.

    Parameters
    ----------
    X : object
        The input.

    Returns
    -------
    bool
    """
    return isinstance(X, Mapping) and not scipy.sparse.issparse(X) or _is_frame(X)  # some sparse matrices are dicts


def read_table(table: Any, names: Sequence[str] | None = None) -> TableColumns:
    """Read the cells of a table, column by column.

    Parameters
    ----------
    table : data frame, mapping of str to sequence, or TableColumns
        The table; TableColumns are returned as they are.
    names : sequence of str, optional
        The columns to read, in this order. Default: all columns.

    Returns
    -------
    TableColumns

    Raises
    ------
    ValueError
        If a column is missing or named twice, holds neither numbers nor text, or differs in length from the others.
    """
    if isinstance(table, TableColumns):
        _check_names(names or (), table.cells)
        return table
    found = list(table) if isinstance(table, Mapping) else list(table.columns)
    _check_unique(found)
    by_text = {str(name): name for name in found}
    _check_names(names or (), by_text)
    chosen = {name: table[by_text[name]] for name in (by_text if names is None else names)}
    columns = TableColumns(
        {name: _cells(name, column) for name, column in chosen.items()},
        frozenset(name for name, column in chosen.items() if _is_text(column)),
    )
    lengths = {name: len(cells) for name, cells in columns.cells.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the columns of a table must be equally long, got {lengths}")
    return columns


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
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING_VALUES
    try:
        return cell is None or bool(cell != cell)
    except TypeError:  # pandas.NA is neither equal to itself nor different
        return True


# -- cells -----------------------------------------------------------------------------------------------------------


def _is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars data frame; neither library is imported here."""
    modules = (sys.modules.get(name) for name in ("pandas", "polars"))
    return any(module is not None and isinstance(X, module.DataFrame) for module in modules)


_TEXT_DTYPES = ("category", "categorical", "enum", "object", "str", "large_string", "dictionary")
_NUMBER_DTYPES = ("int", "uint", "float", "double", "halffloat", "bool", "decimal")


def _is_series(column: Any) -> bool:
    return hasattr(column, "dtype") and not isinstance(column, np.ndarray)


def _is_text(column: Any) -> bool:
    """Whether a data frame's column holds text or categories; one of dtype object does if any cell is a str."""
    if not _is_series(column) or not str(column.dtype).lower().startswith(_TEXT_DTYPES):
        return False
    objects = str(column.dtype).lower() == "object"
    return not objects or any(isinstance(cell, str) for cell in column.to_list())


def _cells(name: str, column: Any) -> NDArray[Any]:
    """The cells of a column, as in `TableColumns`."""
    if isinstance(getattr(column, "dtype", None), np.dtype) and column.dtype.kind in "biuf":
        values = np.asarray(column)
        return values if values.dtype == np.float32 else values.astype(np.float64)
    if not _is_series(column):
        # The extra None keeps lists of equal length from becoming a matrix.
        return np.array([*column, None], dtype=object)[:-1]
    dtype = str(column.dtype).lower()
    if dtype.startswith(_TEXT_DTYPES):
        return np.array([*column.to_list(), None], dtype=object)[:-1]
    if dtype.startswith(_NUMBER_DTYPES):
        return np.array([math.nan if is_missing(cell) else float(cell) for cell in column.to_list()])
    raise ValueError(
        f"column {name!r} must hold numbers, booleans, categories or text, got {column.dtype}. "
        "Make numbers of it, such as the seconds of a date, or drop it."
    )


def numbers_or_none(cells: NDArray[Any]) -> NDArray[Any] | None:
    """Convert cells to floats, with NaN for a missing value.

    Parameters
    ----------
    cells : array, shape (n,)
        Floats, or objects.

    Returns
    -------
    array, shape (n,), or None
        None if a cell is not a number.
    """
    if cells.dtype != object:
        return cells
    try:
        return np.array([math.nan if is_missing(cell) else _number(cell) for cell in cells])
    except (TypeError, ValueError):
        return None


def _number(cell: Any) -> float:
    """A cell as a float; a ValueError for text such as "12_34", which only Python takes for a number."""
    if isinstance(cell, str) and "_" in cell:
        raise ValueError(cell)
    return float(cell)


def _as_text(cells: NDArray[Any]) -> NDArray[Any]:
    """Cells as categories: text as it is, whole numbers without a decimal point, a missing value as ""."""
    return np.array(["" if is_missing(cell) else _category(cell) for cell in cells.tolist()], dtype=object)


def _category(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _imputed(name: str, cells: NDArray[Any], median: float) -> NDArray[Any]:
    """A numeric column with its missing values replaced by the median."""
    numbers = numbers_or_none(cells)
    if numbers is None:
        strange = next(cell for cell in cells if numbers_or_none(np.array([cell], dtype=object)) is None)
        raise ValueError(
            f"column {name!r} held numbers in training, but now: could not convert string to float: {strange!r}. "
            "Correct the cell, or leave it empty."
        )
    known: NDArray[Any] = np.where(np.isnan(numbers), numbers.dtype.type(median), numbers)
    return known


def _one_hot(cells: NDArray[Any], categories: Sequence[str]) -> NDArray[Any]:
    places: NDArray[Any] = _as_text(cells)[:, None] == np.array(categories, dtype=object)
    return places.astype(np.float32)


def _check_names(names: Sequence[str], columns: Mapping[str, Any]) -> None:
    for name in names:
        if name not in columns:
            raise ValueError(f"the table has no column {name!r}. {suggestion(name, columns)}")


def _check_unique(names: Sequence[Any]) -> None:
    twice = sorted(name for name, times in Counter(map(str, names)).items() if times > 1)
    if twice:
        raise ValueError(f"a table must name each column once, got {twice} more than once. Rename them.")


def _check_column(name: str, cells: NDArray[Any], numbers: NDArray[Any] | None) -> None:
    texts = set() if numbers is not None else set(_as_text(cells).tolist())
    if texts == {""} or numbers is not None and np.isnan(numbers).all():
        raise ValueError(f"column {name!r} holds no values. Drop it.")
    if len(texts) > MOST_CATEGORIES:
        raise ValueError(
            f"column {name!r} holds {len(texts)} different texts, more than the {MOST_CATEGORIES} that are "
            "encoded one by one. Drop it if it names rows; otherwise group its values."
        )
