"""Encode a table as a matrix: missing values imputed, categories one-hot encoded, later tables like the first.

A table is a data frame (pandas or polars) or a mapping from column names to cells, as `read_csv_columns` returns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import warn_caller
from aesara_nondecomp.data.cells import (
    as_number_or_truth,
    category_places,
    normal_form,
    numbers_or_none,
    over_distinct,
    spelling,
)
from aesara_nondecomp.data.column_kinds import stray_cell, typed
from aesara_nondecomp.data.rows import LazyRows
from aesara_nondecomp.data.table_columns import TableColumns, read_table

MOST_CATEGORIES = 200
WORDS_OF_A_TEXT = 3
FEW_CATEGORIES = 20  # so many are no sign of texts, in a table of few rows
MOST_EXAMPLES = 3  # of unknown categories, in a warning


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
    missing : tuple of str
        Spellings of a missing value, beside the usual ones.
    """

    numeric: tuple[str, ...]
    medians: tuple[float, ...]
    categorical: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]
    missing: tuple[str, ...] = ()

    @classmethod
    def fit(
        cls,
        table: Any,
        categorical: Sequence[str] = (),
        missing: Sequence[str] = (),
        rows: NDArray[Any] | None = None,
        more: Mapping[str, Collection[str]] | None = None,
    ) -> TableEncoder:
        """Learn an encoder from the training rows.

        Parameters
        ----------
        table : data frame, mapping of str to sequence, or TableColumns
            Features without the labels. In a mapping, a column of str is numeric if every cell is a number or missing;
            in a data frame, text is always categorical.
        categorical : sequence of str, optional
            Numeric columns to treat as categorical, such as codes.
        missing : sequence of str, optional
            Spellings of a missing value, beside the usual ones.
        rows : int array, shape (k,), optional
            Indices of the training rows, if the table has others too: those tell only which columns are numeric.
            Default: all rows.
        more : mapping of str to collection of str, optional
            What cells of the columns are also spelt like, if the table is a sample of another one.

        Returns
        -------
        TableEncoder

        Raises
        ------
        ValueError
            If there is no column, a column holds only missing values or too many categories, numbers but for a few
            cells or in a spelling that is not read, or dates; or if `categorical` names an unknown column.
        """
        columns = typed(read_table(table, categorical=categorical, missing=missing))
        if not columns.cells:
            raise ValueError("a table needs feature columns beside the labels, got none. Check the delimiter.")
        chosen = slice(None) if rows is None else rows  # of one column at a time, to save memory
        numeric = [name for name in columns.cells if name not in columns.categories]
        medians = tuple(_median(name, columns.cells[name][chosen]) for name in numeric)
        others = more or {}
        for name in numeric:
            _check_numbers(name, others.get(name, ()))
        found = {
            name: _categories(name, [*columns.cells[name][chosen].tolist(), *others.get(name, ())])
            for name in columns.cells
            if name not in numeric
        }
        return cls(tuple(numeric), medians, tuple(found), tuple(found.values()), columns.missing)

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

        Warns
        -----
        UserWarning
            If categories are unknown: how many cells of which column.
        """
        return np.asarray(self.rows(table))

    def rows(self, table: Any, *, unknown: UnknownCategories | None = None) -> LazyRows:
        """Encode a table as `transform` does, but each row only when it is read.

        Parameters
        ----------
        table : data frame, mapping of str to sequence, or TableColumns
            With at least the columns of the training table; it must not change while rows are read.
        unknown : UnknownCategories, optional
            Counts the cells of unknown categories, of which there is no warning then.

        Returns
        -------
        LazyRows, shape (n, d)
            In float32 if every numeric column is, otherwise in float64.

        Raises
        ------
        ValueError
            If a column is missing, or a numeric one holds text.

        Warns
        -----
        UserWarning
            If categories are unknown: how many cells of which column.
        """
        columns = read_table(table, [*self.numeric, *self.categorical], missing=self.missing)
        places = [_places(columns.cells[name], known) for name, known in zip(self.categorical, self.categories)]
        counts = UnknownCategories() if unknown is None else unknown
        for name, place in zip(self.categorical, places):
            counts.add(name, columns.cells[name], place)
        if unknown is None:
            counts.warn()
        numbers = [_numbers(name, columns) for name in self.numeric]
        widths = [len(known) for known in self.categories]
        return LazyRows(TableMatrix(numbers, self.medians, places, widths, columns.first_row))

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
            With the keys "numeric", "medians", "categorical", "categories" and, since 0.2, "missing".

        Returns
        -------
        TableEncoder
        """
        return cls(
            tuple(values["numeric"]),
            tuple(float(median) for median in values["medians"]),
            tuple(values["categorical"]),
            tuple(tuple(found) for found in values["categories"]),
            tuple(values.get("missing", ())),
        )


class UnknownCategories:
    """Counts the cells whose categories training did not hold, over all blocks of a table."""

    def __init__(self) -> None:
        self._cells: Counter[str] = Counter()
        self._unknown: Counter[str] = Counter()
        self._examples: dict[str, list[str]] = {}

    def add(self, name: str, cells: NDArray[Any], place: NDArray[Any]) -> None:
        """Count some cells of a column.

        Parameters
        ----------
        name : str
            The column.
        cells : array, shape (n,)
            Its cells.
        place : int array, shape (n,)
            Index of each cell's category; -1 for an unknown one.
        """
        unknown = np.flatnonzero(place < 0)
        self._cells[name] += place.size
        self._unknown[name] += unknown.size
        examples = (*self._examples.get(name, ()), *map(spelling, cells[unknown].tolist()))
        self._examples[name] = list(dict.fromkeys(examples))[:MOST_EXAMPLES]

    def warn(self) -> None:
        """Issue one warning of all columns, if a cell was unknown."""
        if message := self.message():
            warn_caller(message)

    def message(self) -> str:
        """Say how many cells of which column were unknown; "" if none was.

        Returns
        -------
        str
        """
        told = []
        for name, unknown in self._unknown.items():
            if unknown:
                shown = ", ".join(repr(text) if text else "a missing value" for text in self._examples[name])
                share = f"{unknown} of {self._cells[name]} cells ({unknown / self._cells[name]:.1%})"
                told.append(f"{share} of {name!r}: {shown}")
        return f"categories that training did not hold are encoded as zeros: {'; '.join(told)}." if told else ""


class TableMatrix:
    """The matrix of a table, of which only the rows that are read are made: a copy of all would take more memory.

    Parameters
    ----------
    numbers : list of float array, shape (n,)
        The numeric columns, which come first; NaN for a missing value.
    medians : sequence of float
        What replaces a missing value of each.
    places : list of int array, shape (n,)
        Of each categorical column, which category a cell holds; -1 for an unknown one.
    widths : sequence of int
        Number of categories of each.
    first_row : int, default 0
        Index of the first row among the caller's rows, for messages.
    """

    def __init__(
        self,
        numbers: list[NDArray[Any]],
        medians: Sequence[float],
        places: list[NDArray[Any]],
        widths: Sequence[int],
        first_row: int = 0,
    ):
        self._numbers, self._medians, self._places, self._widths = numbers, medians, places, widths
        self.first_row = first_row
        wide = any(cells.dtype != np.float32 for cells in numbers)
        self.dtype = np.dtype(np.float64 if wide else np.float32)
        self.shape = len([*numbers, *places][0]), len(numbers) + sum(widths)

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        """Encode the rows at a slice or int array."""
        numbers, places = [cells[rows] for cells in self._numbers], [place[rows] for place in self._places]
        matrix = np.zeros((len([*numbers, *places][0]), self.shape[1]), self.dtype)
        for k, (cells, median) in enumerate(zip(numbers, self._medians)):
            matrix[:, k] = np.where(np.isnan(cells), cells.dtype.type(median), cells)
        first = len(numbers)
        for place, width in zip(places, self._widths):
            known = np.flatnonzero(place >= 0)
            matrix[known, first + place[known]] = 1
            first += width
        return matrix


# -- columns ---------------------------------------------------------------------------------------------------------


def _categories(name: str, cells: Sequence[Any]) -> tuple[str, ...]:
    """The categories of a column in sorted order; of several spellings of one, the first."""
    by_form: dict[str, str] = {}
    for text in sorted(set(over_distinct(spelling, cells))):
        by_form.setdefault(normal_form(text), text)
    _check_values(name, set(by_form) == {""})
    if len(by_form) > MOST_CATEGORIES:
        remedy = _train_on_texts(name) if _are_texts(by_form) else "otherwise group its values."
        raise ValueError(
            f"column {name!r} holds {len(by_form)} different texts, more than the {MOST_CATEGORIES} that are "
            f"encoded one by one. Drop it if it names rows; {remedy}"
        )
    if len(by_form) > max(FEW_CATEGORIES, len(cells) / 2) and _are_texts(by_form):
        warn_caller(
            f"column {name!r} holds {len(by_form)} different texts in {len(cells)} rows: each becomes a category, "
            f"which says nothing of new texts. Drop it if it names rows; {_train_on_texts(name)}"
        )
    return tuple(sorted(by_form.values()))


def _are_texts(different: Collection[str]) -> bool:
    """Whether half of the different values or more are of several words, and not names of categories."""
    return 2 * sum(len(text.split()) >= WORDS_OF_A_TEXT for text in different) >= len(different)


def _train_on_texts(name: str) -> str:
    return (
        f"to learn from its words, train on this column alone: an.fit(list(table[{name!r}]), y), or on the command "
        "line --network attention, with all other columns in --drop."
    )


def _median(name: str, numbers: NDArray[Any]) -> float:
    _check_values(name, bool(np.isnan(numbers).all()))
    return float(np.nanmedian(numbers))


def _check_values(name: str, empty: bool) -> None:
    if empty:
        raise ValueError(f"column {name!r} holds no values. Drop it.")


def _check_numbers(name: str, spellings: Collection[str]) -> None:
    """Refuse text in a column that a sample of its rows says to be numeric."""
    strange = sorted(text for text in spellings if not _is_number(text))
    if strange:
        raise ValueError(
            f"column {name!r} holds numbers in most rows, but also {strange[0]!r}. Correct that cell, leave it empty, "
            "say that it is missing (--missing, missing=), or name the column as categorical (--categorical, "
            "categorical=)."
        )


def _numbers(name: str, columns: TableColumns) -> NDArray[Any]:
    """The numbers of a column that was numeric in training."""
    cells = columns.cells[name]
    numbers = numbers_or_none(cells)
    if numbers is None:
        row = next(row for row, cell in enumerate(cells) if not _is_number(cell))
        raise stray_cell(name, cells[row], columns.first_row + row)
    return numbers


def _is_number(cell: Any) -> bool:
    try:
        as_number_or_truth(cell)
    except ValueError:
        return False
    return True


def _places(cells: NDArray[Any], categories: Sequence[str]) -> NDArray[Any]:
    """Index of each cell's category, or -1."""
    return np.array(over_distinct(category_places(categories), cells.tolist()), dtype=np.int32)
