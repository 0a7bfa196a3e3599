"""From whatever a model is trained on and asked about - a matrix, a table, texts - to the rows of its network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp.data.rows import BatchSource, prepare_rows, raw_rows, select_rows
from aesara_nondecomp.data.scaling import Standardiser
from aesara_nondecomp.data.tabular import TableColumns, TableEncoder, is_table, numbers_or_none, read_table
from aesara_nondecomp.data.text import Vocabulary, check_texts, is_text


@dataclass(frozen=True)
class InputEncoder:
    """How inputs become rows of numbers: the model's way in, learned from its training rows.

    Tables (data frames, mappings of columns) are encoded column by column, texts become token ids, matrices are taken
    as they are; dense numbers are then centred and scaled in float64, before they become the network's dtype.

    Parameters
    ----------
    table : TableEncoder, optional
        Of the columns of a table. Default: the inputs are no tables.
    vocabulary : Vocabulary, optional
        Of the training texts. Default: the inputs are no texts.
    standardiser : Standardiser, optional
        Default: rows are not standardised.
    names : tuple of str, optional
        Names of a matrix's columns, where they were given; those of a table follow from `table`.

    Examples
    --------
    >>> encoder = InputEncoder.fit({"age": [20, 40, 60], "colour": ["red", "blue", "red"]})
    >>> encoder.feature_names
    ('age', 'colour=blue', 'colour=red')
    >>> encoder.transform({"colour": ["blue"], "age": [40]}).round(2)
    array([[ 0.  ,  1.41, -1.41]], dtype=float32)
    """

    table: TableEncoder | None = None
    vocabulary: Vocabulary | None = None
    standardiser: Standardiser | None = None
    names: tuple[str, ...] | None = None

    @classmethod
    def fit(
        cls,
        X: Any,
        sample_weight: NDArray[Any] | None = None,
        *,
        standardize: bool = True,
        categorical: Sequence[str] = (),
    ) -> InputEncoder:
        """Learn from the training rows.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            The training rows.
        sample_weight : array, shape (n,), optional
            Positive weights, for means and scales.
        standardize : bool, default True
            Centre and scale dense columns.
        categorical : sequence of str, optional
            Numeric columns of a table to treat as categorical.

        Returns
        -------
        InputEncoder

        Raises
        ------
        ValueError
            If the rows are unusable.
        """
        encoder = cls.learn(X, categorical)
        return encoder.measured(encoder.encode(X), sample_weight) if standardize else encoder

    @classmethod
    def learn(cls, X: Any, categorical: Sequence[str] = ()) -> InputEncoder:
        """The first half of `fit`: the columns of a table or the words of texts; nothing, for a matrix."""
        if is_input_table(X):
            return cls(table=TableEncoder.fit(X, categorical))
        require(not len(categorical), "only a table has categorical columns to name: give a data frame", categorical)
        return cls(vocabulary=Vocabulary.learn(check_texts(X))) if is_text(X) else cls()

    def measured(self, rows: Any, sample_weight: NDArray[Any] | None = None) -> InputEncoder:
        """The second half of `fit`: means and scales of encoded training rows, where these are dense numbers."""
        if isinstance(rows, BatchSource):
            return replace(self, standardiser=rows.standardiser(sample_weight))
        dense = not scipy.sparse.issparse(rows) and self.vocabulary is None
        return replace(self, standardiser=Standardiser.fit(rows, sample_weight=sample_weight)) if dense else self

    def encode(self, X: Any, columns: int | None = None) -> Any:
        """Rows of numbers that are not yet standardised: all that `transform` does, but for its last step.

        Parameters
        ----------
        X : matrix, shape (n, d), table, list of str or token ids
            As raw as the training rows. The columns of a table are matched by name.
        columns : int, optional
            The number of columns that a matrix must have.

        Returns
        -------
        array, CSR matrix or LazyRows, shape (n, d)
            In the dtype that they have; of texts an int32 array of token ids, shape (n, T).

        Raises
        ------
        ValueError
            If the rows are unusable, or of another kind than the training rows.
        """
        if self.vocabulary is not None:
            return self.vocabulary.transform(X) if np.ndim(X) < 2 else X
        if self.table is not None:
            return self._encode_table(self.table, X)
        if is_input_table(X):
            return _matrix_of(read_table(X, self.names), self.names)
        return raw_rows(X, columns)

    def transform(self, X: Any, dtype: Any = "float32") -> Any:
        """Rows as a network takes them: encoded, standardised in float64, then converted.

        Parameters
        ----------
        X : matrix, shape (n, d), table, list of str or token ids
            As raw as the training rows.
        dtype : dtype, default "float32"
            Of the network. Token ids stay int32.

        Returns
        -------
        array, CSR matrix or LazyRows, shape (n, d)
            A memory map stays unread, a sparse matrix sparse and unscaled.

        Raises
        ------
        ValueError
            If the rows are unusable, or of another kind than the training rows.
        """
        rows = self.encode(X, None if self.standardiser is None else len(self.standardiser.mean_))
        return rows if self.vocabulary is not None else prepare_rows(rows, dtype, self.standardiser)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns after encoding; None for texts and for a matrix without names."""
        return self.names if self.table is None else self.table.feature_names

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; `from_dict` makes an equal encoder of them."""
        return {
            "table": self.table and self.table.as_dict(),
            "vocabulary": self.vocabulary and self.vocabulary.to_dict(),
            "standardiser": self.standardiser and self.standardiser.as_dict(),
            "names": self.names,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> InputEncoder:
        """The encoder that `as_dict` described.

        Parameters
        ----------
        values : mapping of str to plain values

        Raises
        ------
        ValueError
            If it describes none.
        """
        table, vocabulary, standardiser = (values[part] for part in ("table", "vocabulary", "standardiser"))
        return cls(
            table=None if table is None else TableEncoder.from_dict(table),
            vocabulary=None if vocabulary is None else Vocabulary.from_dict(vocabulary),
            standardiser=None if standardiser is None else Standardiser.from_dict(standardiser),
            names=None if values["names"] is None else tuple(values["names"]),
        )

    def _encode_table(self, table: TableEncoder, X: Any) -> Any:
        if is_input_table(X):
            return table.transform(X)
        if table.categorical:
            raise ValueError(
                f"rows must be a table with the columns {', '.join((*table.numeric, *table.categorical))}, as in "
                f"training, got {type(X).__name__}. Give a data frame or a mapping of columns."
            )
        return raw_rows(X, len(table.numeric))


def is_input_table(X: Any) -> bool:
    """Whether an input is a table in any of the forms that `read_table` takes."""
    return isinstance(X, TableColumns) or is_table(X)


def select_inputs(X: Any, rows: NDArray[Any]) -> Any:
    """Some rows of an input: a matrix, TableColumns or a list of str."""
    if isinstance(X, TableColumns):
        return X.part(rows)
    return [X[row] for row in rows] if isinstance(X, list) else select_rows(X, rows)


def count_rows(X: Any) -> int:
    """The number of rows of an input: a matrix, TableColumns, a list of str; 0 for None."""
    if X is None:
        return 0
    if isinstance(X, TableColumns):
        return X.n_rows
    return len(X) if isinstance(X, list) else int(X.shape[0])


def _matrix_of(table: TableColumns, names: Sequence[str] | None) -> Any:
    """A table for a model of a bare matrix: its columns in the order of `names`, or as they stand."""
    columns = []
    for name in names or table.cells:
        numbers = numbers_or_none(table.cells[name])
        if numbers is None:
            raise ValueError(
                f"the model was trained on a matrix of numbers, but column {name!r} holds text. Give it the columns "
                "that it was trained on, or train it on the table."
            )
        columns.append(numbers)
    return raw_rows(np.column_stack(columns))
