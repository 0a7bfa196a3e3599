"""Encode a table as a matrix: missing values imputed, categories one-hot encoded, later tables like the first.

A table is a data frame (pandas or polars) or a mapping from column names to cells, as `read_csv_columns` returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from aesara_nondecomp.data.table_columns import TableColumns, read_table

MOST_CATEGORIES = 200
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
    def fit(cls, table: Any, categorical: Sequence[str] = (), missing: Sequence[str] = ()) -> TableEncoder:
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
        numeric = {name: cells for name, cells in columns.cells.items() if name not in columns.categories}
        for name, numbers in numeric.items():
            _check_values(name, bool(np.isnan(numbers).all()))
        medians = tuple(float(np.nanmedian(numbers)) for numbers in numeric.values())
        found = {name: _categories(name, columns.cells[name]) for name in columns.cells if name not in numeric}
        return cls(tuple(numeric), medians, tuple(found), tuple(found.values()), columns.missing)

    def transform(self, table: Any, *, quiet: bool = False) -> NDArray[Any]:
        """Encode a table as a matrix; columns are matched by name, and further columns are ignored.

        Parameters
        ----------
        table : data frame, mapping of str to sequence, or TableColumns
            With at least the columns of the training table.
        quiet : bool, default False
            Do not warn of categories that training did not hold.

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
        columns = read_table(table, [*self.numeric, *self.categorical], missing=self.missing)
        places = [_places(columns.cells[name], known) for name, known in zip(self.categorical, self.categories)]
        if not quiet:
            self._warn_of_unknown(columns, places)
        wide = any(columns.cells[name].dtype != np.float32 for name in self.numeric)
        matrix = np.zeros((columns.shape[0], len(self.feature_names)), dtype=np.float64 if wide else np.float32)
        for k, (name, median) in enumerate(zip(self.numeric, self.medians)):
            matrix[:, k] = _imputed(name, columns.cells[name], median)
        first = len(self.numeric)
        for place, known in zip(places, self.categories):
            rows = np.flatnonzero(place >= 0)
            matrix[rows, first + place[rows]] = 1
            first += len(known)
        return matrix

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

    def _warn_of_unknown(self, columns: TableColumns, places: list[NDArray[Any]]) -> None:
        told = []
        for name, place in zip(self.categorical, places):
            unknown = np.flatnonzero(place < 0)
            if unknown.size:
                examples = list(dict.fromkeys(map(spelling, columns.cells[name][unknown].tolist())))[:MOST_EXAMPLES]
                shown = ", ".join(repr(text) if text else "a missing value" for text in examples)
                share = f"{unknown.size} of {place.size} cells ({unknown.size / place.size:.1%})"
                told.append(f"{share} of {name!r}: {shown}")
        if told:
            warn_caller(f"categories that training did not hold are encoded as zeros: {'; '.join(told)}.")


# -- columns ---------------------------------------------------------------------------------------------------------


def _categories(name: str, cells: NDArray[Any]) -> tuple[str, ...]:
    """The categories of a column in sorted order; of several spellings of one, the first."""
    by_form: dict[str, str] = {}
    for text in sorted(set(over_distinct(spelling, cells.tolist()))):
        by_form.setdefault(normal_form(text), text)
    _check_values(name, set(by_form) == {""})
    if len(by_form) > MOST_CATEGORIES:
        raise ValueError(
            f"column {name!r} holds {len(by_form)} different texts, more than the {MOST_CATEGORIES} that are "
            "encoded one by one. Drop it if it names rows; otherwise group its values."
        )
    return tuple(sorted(by_form.values()))


def _check_values(name: str, empty: bool) -> None:
    if empty:
        raise ValueError(f"column {name!r} holds no values. Drop it.")


def _imputed(name: str, cells: NDArray[Any], median: float) -> NDArray[Any]:
    """A numeric column with its missing values replaced by the median."""
    numbers = numbers_or_none(cells)
    if numbers is None:
        raise stray_cell(name, [row for row, cell in enumerate(cells) if not _is_number(cell)], cells)
    known: NDArray[Any] = np.where(np.isnan(numbers), numbers.dtype.type(median), numbers)
    return known


def _is_number(cell: Any) -> bool:
    try:
        as_number_or_truth(cell)
    except ValueError:
        return False
    return True


def _places(cells: NDArray[Any], categories: Sequence[str]) -> NDArray[Any]:
    """Index of each cell's category, or -1."""
    return np.array(over_distinct(category_places(categories), cells.tolist()), dtype=np.int64)
