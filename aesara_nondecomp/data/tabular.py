"""Encode a table as a matrix: missing values imputed, categories one-hot encoded, later tables like the first.

A table is a data frame (pandas or polars) or a mapping from column names to cells, as `read_csv_columns` returns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.data.categories import (
    UnknownCategories,
    check_values,
    count_categories,
    most_frequent,
    places_of,
    room_for_categories,
)
from aesara_nondecomp.data.cells import as_number_or_truth, cell_list, numbers_or_none
from aesara_nondecomp.data.column_kinds import stray_cell, typed
from aesara_nondecomp.data.rows import LazyRows
from aesara_nondecomp.data.table_columns import TableColumns, read_table

FEWEST_GAPS = 20  # from fewer missing values than these nothing is learned but single rows


class TableEncoder(NamedTuple):
    """Encoder of a table's columns as a matrix; make one with `TableEncoder.fit`.

    Attributes
    ----------
    numeric : tuple of str
        Numeric columns; they come first in the matrix.
    medians : tuple of float
        Median of each numeric column, which replaces its missing values.
    categorical : tuple of str
        One-hot encoded columns; a missing value is a category of its own, "", which may be one of those pooled.
    categories : tuple of tuple of str
        Known categories of each categorical column; an unknown one is encoded as zeros.
    missing : tuple of str
        Spellings of a missing value, beside the usual ones.
    gaps : tuple of str
        Numeric columns in which training had 20 missing values or more: for each, a column after the numeric ones is 1
        where the value is missing, as that may tell of the label.
    pooled : tuple of str
        Categorical columns of more than 200 categories (1,000 with ten rows for each), of which the most frequent are
        known: all others count as one, of which there is no warning.
    """

    numeric: tuple[str, ...]
    medians: tuple[float, ...]
    categorical: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]
    missing: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    pooled: tuple[str, ...] = ()

    @classmethod
    def fit(
        cls,
        table: Any,
        categorical: Sequence[str] = (),
        missing: Sequence[str] = (),
        rows: NDArray[Any] | None = None,
        more: Mapping[str, Collection[str]] | None = None,
        add_indicator: bool = False,
    ) -> TableEncoder:
        """Learn an encoder from the training rows.

        Parameters
        ----------
        table : data frame, mapping of str to sequence, or TableColumns
            Features without the labels. In a mapping, a column of str is numeric if every cell is a number or missing,
            or if every cell is true, false or missing; in a data frame, text is always categorical.
        categorical : sequence of str, optional
            Numeric columns to treat as categorical, such as codes.
        missing : sequence of str, optional
            Spellings of a missing value, beside the usual ones.
        rows : int array, shape (k,), optional
            Indices of the training rows, if the table has others too: those tell only which columns are numeric.
            Default: all rows.
        more : mapping of str to collection of str, optional
            What cells of the columns are also spelt like, if the table is a sample of another one.
        add_indicator : bool, default False
            Add a column of 0 and 1 for each numeric one with 20 missing values or more: see `gaps`. `fit` trains with
            them.

        Returns
        -------
        TableEncoder

        Raises
        ------
        ValueError
            If there is no column, a column holds only missing values, texts, names of rows, numbers but for a few cells
            or in a spelling that is not read, or dates; or if `categorical` names an unknown column.

        Warns
        -----
        UserWarning
            If a column holds more categories than can be encoded, or texts that may be categories.
        """
        columns = typed(read_table(table, categorical=categorical, missing=missing))
        if not columns.cells:
            raise ValueError("a table needs feature columns beside the labels, got none. Check the delimiter.")
        chosen = slice(None) if rows is None else rows  # of one column at a time, to save memory
        numeric = [name for name in columns.cells if name not in columns.categories]
        medians = tuple(_median(name, columns.cells[name][chosen]) for name in numeric)
        gaps = tuple(
            name
            for name in numeric
            if add_indicator and np.count_nonzero(np.isnan(columns.cells[name][chosen])) >= FEWEST_GAPS
        )
        others = more or {}
        for name in numeric:
            _check_numbers(name, others.get(name, ()), columns.decimal)
        found = {
            name: count_categories(name, cell_list(columns.cells[name][chosen]), others.get(name, ()))
            for name in columns.cells
            if name not in numeric
        }
        room = room_for_categories(len(next(iter(columns.cells.values()))[chosen]), found.values())
        known = {name: most_frequent(name, rows_of, room) for name, rows_of in found.items()}
        pooled = tuple(name for name in known if len(known[name]) < len(found[name]))
        return cls(tuple(numeric), medians, tuple(known), tuple(known.values()), columns.missing, gaps, pooled)

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
        places = [places_of(columns.cells[name], known) for name, known in zip(self.categorical, self.categories)]
        counts = UnknownCategories() if unknown is None else unknown
        for name, place in zip(self.categorical, places):
            if name not in self.pooled:
                counts.add(name, columns.cells[name], place)
        if unknown is None:
            counts.warn()
        numbers = {name: _numbers(name, columns) for name in self.numeric}
        widths = [len(known) for known in self.categories]
        gaps = [self.numeric.index(name) for name in self.gaps]
        return LazyRows(TableMatrix(numbers, self.medians, places, widths, gaps, columns.first_row))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Column names of the matrix, such as "age", "age is missing" and "colour=red"."""
        return tuple(name for _, name in self._features())

    @property
    def places(self) -> dict[str, list[int]]:
        """Where in the matrix each column of the table is."""
        found: dict[str, list[int]] = {name: [] for name in (*self.numeric, *self.categorical)}
        for place, (column, _) in enumerate(self._features()):
            found[column].append(place)
        return found

    def _features(self) -> Iterator[tuple[str, str]]:
        """The column of the table and the name of each column of the matrix."""
        yield from ((name, name) for name in self.numeric)
        yield from ((name, f"{name} is missing") for name in self.gaps)
        for name, known in zip(self.categorical, self.categories):
            yield from ((name, f"{name}={category}") for category in known)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; `from_dict` rebuilds the encoder from them."""
        return self._asdict()

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TableEncoder:
        """Rebuild an encoder from the values of `as_dict`.

        Parameters
        ----------
        values : mapping of str to plain values
            With the keys "numeric", "medians", "categorical", "categories" and, since 0.2, "missing", "gaps" and
            "pooled".

        Returns
        -------
        TableEncoder
        """
        return cls(
            tuple(values["numeric"]),
            tuple(float(median) for median in values["medians"]),
            tuple(values["categorical"]),
            tuple(tuple(found) for found in values["categories"]),
            *(tuple(values.get(name, ())) for name in ("missing", "gaps", "pooled")),
        )


class WithoutGaps:
    """A matrix of numbers, of which none is missing, as a table with gaps: columns of 0 follow.

    Parameters
    ----------
    matrix : array or LazyRows, shape (n, d)
        The numeric columns.
    gaps : int
        Number of further columns.
    """

    def __init__(self, matrix: Any, gaps: int):
        self._matrix, self._gaps = matrix, gaps
        self.dtype = matrix.dtype
        self.shape = len(matrix), matrix.shape[1] + gaps

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        """Read the rows at a slice or int array."""
        part = self._matrix[rows]
        return np.hstack([part, np.zeros((len(part), self._gaps), self.dtype)])


class TableMatrix:
    """The matrix of a table, of which only the rows that are read are made: a copy of all would take more memory.

    Parameters
    ----------
    numbers : dict of str to float array, shape (n,)
        The numeric columns, which come first; NaN for a missing value.
    medians : sequence of float
        What replaces a missing value of each; NaN where none may be missing.
    places : sequence of int array, shape (n,), default ()
        Of each categorical column, which category a cell holds; -1 for an unknown one.
    widths : sequence of int, default ()
        Number of categories of each.
    gaps : sequence of int, default ()
        Which of the numeric columns have a column after the numeric ones that tells where a value is missing.
    first_row : int, default 0
        Index of the first row among the caller's rows, for messages.
    """

    def __init__(
        self,
        numbers: Mapping[str, NDArray[Any]],
        medians: Sequence[float],
        places: Sequence[NDArray[Any]] = (),
        widths: Sequence[int] = (),
        gaps: Sequence[int] = (),
        first_row: int = 0,
    ):
        self._names, self._numbers = tuple(numbers), list(numbers.values())
        self._medians, self._places, self._widths = medians, places, widths
        self._gaps, self.first_row = gaps, first_row
        wide = any(cells.dtype != np.float32 for cells in self._numbers)
        self.dtype = np.dtype(np.float64 if wide else np.float32)
        self.shape = len([*self._numbers, *places][0]), len(numbers) + len(gaps) + sum(widths)

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        """Encode the rows at a slice or int array; a ValueError names the first number that is not finite."""
        numbers, places = [cells[rows] for cells in self._numbers], [place[rows] for place in self._places]
        matrix = np.zeros((len([*numbers, *places][0]), self.shape[1]), self.dtype)
        for k, (cells, median) in enumerate(zip(numbers, self._medians)):
            matrix[:, k] = np.where(np.isnan(cells), cells.dtype.type(median), cells)
        self._check_finite(matrix[:, : len(numbers)], rows)
        first = len(numbers) + len(self._gaps)
        for k, gap in enumerate(self._gaps, start=len(numbers)):
            matrix[:, k] = np.isnan(numbers[gap])
        for place, width in zip(places, self._widths):
            known = np.flatnonzero(place >= 0)
            matrix[known, first + place[known]] = 1
            first += width
        return matrix

    def _check_finite(self, numbers: NDArray[Any], rows: Any) -> None:
        """Check numeric columns here, where their names and the rows of the caller are known."""
        strange = np.argwhere(~np.isfinite(numbers))
        if len(strange):
            row, column = strange[0]
            found = "a missing value" if np.isnan(numbers[row, column]) else numbers[row, column]
            place = self.first_row + int(np.arange(self.shape[0])[rows][row]) + 1
            raise ValueError(
                f"column {self._names[column]!r} must hold finite numbers, got {found} in row {place} (from 1). "
                "Correct that cell, or drop the row."
            )


# -- columns ---------------------------------------------------------------------------------------------------------


def _median(name: str, numbers: NDArray[Any]) -> float:
    check_values(name, bool(np.isnan(numbers).all()))
    return float(np.nanmedian(numbers))


def _check_numbers(name: str, spellings: Collection[str], decimal: str) -> None:
    """Refuse text in a column that a sample of its rows says to be numeric."""
    strange = sorted(text for text in spellings if not _is_number(text, decimal))
    if strange:
        raise ValueError(
            f"column {name!r} holds numbers in most rows, but also {strange[0]!r}. Correct that cell, leave it empty, "
            "say that it is missing (--missing, missing=), or name the column as categorical (--categorical, "
            "categorical=)."
        )


def _numbers(name: str, columns: TableColumns) -> NDArray[Any]:
    """The numbers of a column that was numeric in training."""
    cells = columns.cells[name]
    numbers = numbers_or_none(cells, columns.decimal)
    if numbers is None:
        row = next(row for row, cell in enumerate(cells) if not _is_number(cell, columns.decimal))
        raise stray_cell(name, cells[row], columns.first_row + row, columns.decimal)
    return numbers


def _is_number(cell: Any, decimal: str) -> bool:
    try:
        as_number_or_truth(cell, decimal)
    except ValueError:
        return False
    return True
