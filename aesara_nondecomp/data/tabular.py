"""From columns of text to a matrix: gaps filled in, categories one-hot, the same way for every later file.

The work is done by scikit-learn's transformers (extra `sklearn`).  What they learned is kept as plain values and not
as a pickle: `TableEncoder.as_dict` goes into a model file, and transformers fitted to those values do what the first
ones did.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from aesara_nondecomp._checks import suggestion

Columns = Mapping[str, Sequence[str]]
MISSING_VALUES = ("", "?", "na", "n/a", "nan", "null")  # in any case of letters
MOST_CATEGORIES = 200


class TableEncoder(NamedTuple):
    """How to make a matrix of a table; learn it with `TableEncoder.fit`.

    Attributes
    ----------
    numeric : tuple of str. Columns of numbers; they come first in the matrix.
    medians : tuple of float. What fills the gaps of each.
    categorical : tuple of str. Columns of text, one-hot encoded; a gap is a category of its own, "".
    categories : tuple of tuple of str. Of each; another category gives zeros in all of its column's places.
    """

    numeric: tuple[str, ...]
    medians: tuple[float, ...]
    categorical: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]

    @classmethod
    def fit(cls, columns: Columns, categorical: Sequence[str] = ()) -> TableEncoder:
        """Learn from the training rows.

        Parameters
        ----------
        columns : mapping of str to sequence of str
            Cells by column, as `data.read_csv_columns` gives them, without the labels. A column whose cells are all
            numbers or gaps is numeric.
        categorical : sequence of str. Columns to take as text although they hold numbers, such as codes.

        Raises
        ------
        ValueError
            If there is no column, one holds gaps only or too many categories, or `categorical` names an unknown one.
        """
        _check_names(categorical, columns)
        if not columns:
            raise ValueError("a table needs feature columns beside the labels, got none. Check the delimiter.")
        parsed = {name: None if name in categorical else _numbers_or_none(cells) for name, cells in columns.items()}
        numbers = {name: values for name, values in parsed.items() if values is not None}
        texts = {name: _texts(columns[name]) for name, values in parsed.items() if values is None}
        for name, cells in columns.items():
            _check_column(name, cells, texts.get(name))
        imputer, encoder = _transformers()
        medians = imputer.fit(np.column_stack(list(numbers.values()))).statistics_.tolist() if numbers else []
        found = encoder.fit(np.column_stack(list(texts.values()))).categories_ if texts else []
        return cls(tuple(numbers), tuple(medians), tuple(texts), tuple(tuple(part.tolist()) for part in found))

    def transform(self, columns: Columns) -> np.ndarray:
        """The matrix (n, d), float32, of a table with these columns; other columns are passed over.

        Raises
        ------
        ValueError
            If a column is missing, or a numeric one holds text.
        """
        _check_names([*self.numeric, *self.categorical], columns)
        imputer, encoder = self._fitted_transformers()
        parts = []
        if self.numeric:
            numbers = np.column_stack([_known_numbers(name, columns[name]) for name in self.numeric])
            parts.append(imputer.transform(numbers).astype(np.float32))
        if self.categorical:
            parts.append(encoder.transform(np.column_stack([_texts(columns[name]) for name in self.categorical])))
        return np.hstack(parts)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the matrix's columns, such as "age" and "colour=red"."""
        one_hot = [f"{name}={category}" for name, found in zip(self.categorical, self.categories) for category in found]
        return (*self.numeric, *one_hot)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return self._asdict()

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TableEncoder:
        """The preparation that `as_dict` described."""
        return cls(
            tuple(values["numeric"]),
            tuple(float(median) for median in values["medians"]),
            tuple(values["categorical"]),
            tuple(tuple(found) for found in values["categories"]),
        )

    def _fitted_transformers(self):
        """Transformers fitted to the known values: the median of one row is that row."""
        imputer, encoder = _transformers(self.categories)
        if self.numeric:
            imputer.fit(np.array([self.medians]))
        if self.categorical:
            encoder.fit(np.array([[found[0] for found in self.categories]], dtype=object))
        return imputer, encoder


def _transformers(categories: Sequence[Sequence[str]] | None = None):
    try:
        from sklearn.impute import SimpleImputer
        from sklearn.preprocessing import OneHotEncoder
    except ImportError as error:
        raise ImportError("a .csv table needs scikit-learn: pip install 'aesara-nondecomp[sklearn]'") from error
    known = "auto" if categories is None else [np.array(found, dtype=object) for found in categories]
    encoder = OneHotEncoder(categories=known, handle_unknown="ignore", sparse_output=False, dtype=np.float32)
    return SimpleImputer(strategy="median"), encoder


def _numbers(cells: Sequence[str]) -> np.ndarray:
    """Cells as float64, with NaN for gaps."""
    return np.array([math.nan if is_missing(cell) else float(cell) for cell in cells])


def _numbers_or_none(cells: Sequence[str]) -> np.ndarray | None:
    """The same; None if a cell is text."""
    try:
        return _numbers(cells)
    except ValueError:
        return None


def _known_numbers(name: str, cells: Sequence[str]) -> np.ndarray:
    """The same, of a column that held numbers in training."""
    try:
        return _numbers(cells)
    except ValueError as error:
        raise ValueError(
            f"column {name!r} held numbers in training, but now: {error}. Correct the cell, or leave it empty."
        ) from None


def _texts(cells: Sequence[str]) -> np.ndarray:
    return np.array(["" if is_missing(cell) else cell for cell in cells], dtype=object)


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a missing value: empty, "?", "NA", "n/a", "NaN" or "null"."""
    return cell.strip().lower() in MISSING_VALUES


def _check_names(names: Sequence[str], columns: Columns) -> None:
    for name in names:
        if name not in columns:
            raise ValueError(f"the table has no column {name!r}. {suggestion(name, columns)}")


def _check_column(name: str, cells: Sequence[str], texts: np.ndarray | None) -> None:
    if all(is_missing(cell) for cell in cells):
        raise ValueError(f"column {name!r} holds no values. Drop it.")
    if texts is not None and len(set(texts)) > MOST_CATEGORIES:
        raise ValueError(
            f"column {name!r} holds {len(set(texts))} different texts, more than the {MOST_CATEGORIES} that are "
            "encoded one by one. Drop it if it names rows; otherwise group its values."
        )
