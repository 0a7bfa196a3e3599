"""The columns of a table, read from a data frame or a mapping."""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import is_sparse
from aesara_nondecomp._checks import check_listed, require, suggestion
from aesara_nondecomp.data.cells import as_number, is_missing, normal_form, over_distinct, with_point


class TableColumns(NamedTuple):
    """The cells of a table, column by column, as `read_table` returns them.

    Attributes
    ----------
    cells : dict of str to array, shape (n,)
        Float arrays with NaN for a missing value, or object arrays of the cells as they were.
    texts : frozenset of str
        Columns that hold text or categories by their dtype, even if every cell looks like a number.
    categories : frozenset of str
        Columns that are categorical, whatever they hold.
    missing : tuple of str
        Further spellings of a missing value; such cells are None or NaN already.
    first_row : int
        Index of the first row among those of the file, if these are a block of it; for messages.
    decimal : str
        The decimal sign of numbers among text, "." or ",".
    """

    cells: dict[str, NDArray[Any]]
    texts: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    missing: tuple[str, ...] = ()
    first_row: int = 0
    decimal: str = "."

    @property
    def ndim(self) -> int:
        """2, as of a matrix, so that the tuple is not taken for a sequence of texts."""
        return 2

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

    def without(self, names: Sequence[str]) -> TableColumns:
        """Leave some of the columns out.

        Parameters
        ----------
        names : sequence of str
            Their names.

        Returns
        -------
        TableColumns
        """
        return self._replace(cells={name: column for name, column in self.cells.items() if name not in names})


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
    return isinstance(X, Mapping) and not is_sparse(X) or _is_frame(X)  # some sparse matrices are dicts


def read_table(
    table: Any, names: Sequence[str] | None = None, *, categorical: Sequence[str] = (), missing: Sequence[str] = ()
) -> TableColumns:
    """Read the cells of a table, column by column.

    `fit` reads a table by itself; read it before to say which columns are categorical, or how missing values are spelt.

    Parameters
    ----------
    table : data frame, mapping of str to sequence, or TableColumns
        The table.
    names : sequence of str, optional
        The columns to read, in this order. Default: all columns.
    categorical : sequence of str, optional
        Numeric columns to treat as categorical, such as codes.
    missing : sequence of str, optional
        Spellings of a missing value, such as "-999", beside the usual ones.

    Returns
    -------
    TableColumns

    Raises
    ------
    ValueError
        If `names`, `categorical` or `missing` is a single text, or a column is missing or named twice, holds neither
        numbers nor text, or differs in length from the others.

    Examples
    --------
    >>> table = read_table({"age": [31, -999], "zip": [10115, 8001]}, categorical=["zip"], missing=["-999"])
    >>> table.cells["age"], table.categories
    (array([31, None], dtype=object), frozenset({'zip'}))
    """
    for name, value in (("names", () if names is None else names), ("categorical", categorical), ("missing", missing)):
        check_listed(name, value)
    columns = table if isinstance(table, TableColumns) else _read_columns(table, names)
    check_names([*(() if names is None else names), *categorical], columns.cells)
    columns = columns._replace(categories=columns.categories | set(categorical))
    pointed = [with_point(text, columns.decimal) for text in missing]  # later tables may have decimal points
    new = tuple(text for text in pointed if text not in columns.missing)
    if not new:
        return columns
    forms = {normal_form(text) for text in new}
    cells = {name: _without_missing(column, forms, columns.decimal) for name, column in columns.cells.items()}
    return columns._replace(cells=cells, missing=(*columns.missing, *new))


def join_tables(parts: Sequence[TableColumns]) -> TableColumns:
    """Join the rows of tables of the same columns.

    Parameters
    ----------
    parts : sequence of TableColumns
        At least one.

    Returns
    -------
    TableColumns
        A column is of text or categorical if it is in any of the parts.
    """
    cells = {name: np.concatenate([part.cells[name] for part in parts]) for name in parts[0].cells}
    texts, categories = (
        frozenset[str]().union(*(getattr(part, field) for part in parts)) for field in ("texts", "categories")
    )
    return parts[0]._replace(cells=cells, texts=texts, categories=categories)


def check_unique(names: Sequence[Any]) -> None:
    """Check that no two columns of a table have one name.

    Parameters
    ----------
    names : sequence
        The columns.

    Raises
    ------
    ValueError
        If a name is there twice.
    """
    twice = sorted(name for name, times in Counter(map(str, names)).items() if times > 1)
    if twice:
        raise ValueError(f"a table must name each column once, got {twice} more than once. Rename them.")


def check_names(names: Sequence[str], columns: Collection[str]) -> None:
    """Check that a table has some columns.

    Parameters
    ----------
    names : sequence of str
        The columns.
    columns : collection of str
        Those of the table.

    Raises
    ------
    ValueError
        If one is not there.
    """
    for name in names:
        if name not in columns:
            raise ValueError(f"the table has no column {name!r}. {suggestion(name, columns)}")


# -- reading ---------------------------------------------------------------------------------------------------------

_CATEGORY_DTYPES = ("category", "categorical", "enum", "dictionary")
_TEXT_DTYPES = (*_CATEGORY_DTYPES, "object", "str", "large_string")
_NUMBER_DTYPE = re.compile(r"(u?int|float|double|halffloat|bool|boolean|decimal)(?![a-z])")  # an interval is none


def _read_columns(table: Any, names: Sequence[str] | None) -> TableColumns:
    found = list(table) if isinstance(table, Mapping) else list(table.columns)
    check_unique(found)
    by_text = {str(name): name for name in found}
    check_names(names or (), by_text)
    chosen = {name: table[by_text[name]] for name in (by_text if names is None else names)}
    columns = TableColumns(
        {name: _cells(name, column) for name, column in chosen.items()},
        frozenset(name for name, column in chosen.items() if _is_text(column)),
        frozenset(name for name, column in chosen.items() if _has_dtype(column, _CATEGORY_DTYPES)),
    )
    lengths = {name: len(cells) for name, cells in columns.cells.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the columns of a table must be equally long, got {lengths}")
    return columns


def _is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars data frame; neither library is imported here."""
    modules = (sys.modules.get(name) for name in ("pandas", "polars"))
    return any(module is not None and isinstance(X, module.DataFrame) for module in modules)


def _is_series(column: Any) -> bool:
    return hasattr(column, "dtype") and not isinstance(column, np.ndarray)


def _has_dtype(column: Any, kinds: tuple[str, ...]) -> bool:
    return _is_series(column) and str(column.dtype).lower().startswith(kinds)


def _is_text(column: Any) -> bool:
    """Whether a data frame's column holds text or categories; one of dtype object does if all cells are str."""
    if not _has_dtype(column, _TEXT_DTYPES):
        return False
    objects = str(column.dtype).lower() == "object"
    return not objects or {str} == {type(cell) for cell in column.to_list() if not is_missing(cell)}


def _cells(name: str, column: Any) -> NDArray[Any]:
    """The cells of a column, as in `TableColumns`."""
    if isinstance(column, np.ma.MaskedArray):
        column = column.tolist()  # type: ignore[no-untyped-call, unused-ignore]  # None where it is masked
    if isinstance(getattr(column, "dtype", None), np.dtype) and column.dtype.kind in "biuf":
        values = np.asarray(column)
        return values if values.dtype == np.float32 else values.astype(np.float64, copy=False)
    if not _is_series(column):
        return _objects(name, column)
    dtype = str(column.dtype).lower()
    if dtype.startswith("sparse"):
        return _cells(name, column.sparse.to_dense())
    if dtype.startswith(_TEXT_DTYPES):
        return _objects(name, column.to_list())
    if _NUMBER_DTYPE.match(dtype):
        return np.array([math.nan if is_missing(cell) else float(cell) for cell in column.to_list()])
    cells = column.to_list()
    if all(map(is_missing, cells)):  # of a column without values, as of dtype null, the dtype says nothing
        return np.full(len(cells), None, dtype=object)
    raise _unusable(name, column.dtype)


def _objects(name: str, cells: Any) -> NDArray[Any]:
    listed = isinstance(cells, Iterable) and not isinstance(cells, (str, bytes))
    require(listed, f"column {name!r} must hold one cell per row", cells)
    # The extra None keeps lists of equal length from becoming a matrix.
    array = np.array([*cells, None], dtype=object)[:-1]
    strange = next((cell for cell in array.tolist() if isinstance(cell, (list, tuple, dict, set, np.ndarray))), None)
    if strange is not None:
        raise _unusable(name, f"a cell that is a {type(strange).__name__}")
    return array


def _unusable(name: str, got: Any) -> ValueError:
    return ValueError(
        f"column {name!r} must hold numbers, booleans, categories or text, got {got}. "
        "Make numbers of it, such as the seconds of a date, or drop it."
    )


def _without_missing(cells: NDArray[Any], forms: set[str], decimal: str) -> NDArray[Any]:
    """Cells in which those of the forms given are None or NaN."""

    def kept(cell: Any) -> Any:
        return None if normal_form(with_point(cell, decimal)) in forms else cell

    if cells.dtype == object:
        return np.array(over_distinct(kept, cells), dtype=object)
    numbers = [number for number in map(_number_or_nan, forms) if number == number]
    with np.errstate(over="ignore"):  # what float32 cannot hold is infinite in the cells too
        spelt = np.array(numbers, dtype=cells.dtype)
    return np.where(np.isin(cells, spelt), cells.dtype.type(np.nan), cells)


def _number_or_nan(text: str) -> float:
    try:
        return as_number(text)
    except ValueError:
        return math.nan
