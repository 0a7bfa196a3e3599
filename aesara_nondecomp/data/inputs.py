"""Encode a model's inputs (a matrix, a table or texts) as the rows of its network."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import is_sparse
from aesara_nondecomp._checks import require
from aesara_nondecomp.data.categories import UnknownCategories
from aesara_nondecomp.data.cells import numbers_or_none
from aesara_nondecomp.data.rows import BatchSource, LazyRows, prepare_rows, raw_rows, select_rows
from aesara_nondecomp.data.scaling import Standardiser
from aesara_nondecomp.data.table_columns import TableColumns, is_table, read_table
from aesara_nondecomp.data.tabular import TableEncoder, TableMatrix, WithoutGaps
from aesara_nondecomp.data.text import Vocabulary, check_texts, is_text


@dataclass(frozen=True)
class InputEncoder:
    """Input pipeline of a model, learned from its training rows: from raw inputs to rows of numbers.

    Tables (data frames, mappings of columns) are encoded column by column, texts become token ids, and matrices are
    taken as they are. Dense numbers are then centred and scaled in float64, before conversion to the network's dtype.

    Parameters
    ----------
    table : TableEncoder, optional
        Encodes the columns of a table. Default: the inputs are not tables.
    vocabulary : Vocabulary, optional
        Words of the training texts. Default: the inputs are not texts.
    standardiser : Standardiser, optional
        Means and scales of the columns. Default: rows are not standardised.
    names : tuple of str, optional
        Column names of a matrix, if known; those of a table follow from `table`.

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
        """Learn an encoder from the training rows.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            The training rows.
        sample_weight : array, shape (n,), optional
            Positive weights, used for means and scales.
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
            If the rows are unusable, or `categorical` is given without a table.
        """
        encoder = cls.learn(X, categorical)
        return encoder.measured(encoder.encode(X), sample_weight) if standardize else encoder

    @classmethod
    def learn(
        cls,
        X: Any,
        categorical: Sequence[str] = (),
        rows: NDArray[Any] | None = None,
        add_indicator: bool = False,
    ) -> InputEncoder:
        """Learn the columns of a table or the words of texts, the first half of `fit`; nothing for a matrix.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            The training rows.
        categorical : sequence of str, optional
            Numeric columns of a table to treat as categorical.
        rows : int array, shape (k,), optional
            Indices of the training rows, if `X` holds others too; see `TableEncoder.fit`. Default: all rows.
        add_indicator : bool, default False
            Of a table, add columns that tell where numbers are missing; likewise.

        Returns
        -------
        InputEncoder
            Without a standardiser.

        Raises
        ------
        ValueError
            If the rows are unusable, or `categorical` is given without a table.
        """
        if is_input_table(X):
            return cls(table=TableEncoder.fit(X, categorical, rows=rows, add_indicator=add_indicator))
        require(not len(categorical), "only a table has categorical columns to name: give a data frame", categorical)
        if not is_text(X):
            return cls()
        texts = check_texts(X)
        return cls(vocabulary=Vocabulary.learn(texts if rows is None else select_inputs(texts, rows)))

    def measured(self, rows: Any, sample_weight: NDArray[Any] | None = None) -> InputEncoder:
        """Add means and scales, the second half of `fit`; sparse rows and token ids are not standardised.

        Parameters
        ----------
        rows : array, CSR matrix, LazyRows or BatchSource, shape (n, d)
            Encoded training rows.
        sample_weight : array, shape (n,), optional
            Positive weights.

        Returns
        -------
        InputEncoder
            A copy with a standardiser, or itself.
        """
        if isinstance(rows, BatchSource):
            return replace(self, standardiser=rows.standardiser(sample_weight))
        dense = not is_sparse(rows) and self.vocabulary is None
        return replace(self, standardiser=Standardiser.fit(rows, sample_weight=sample_weight)) if dense else self

    def encode(self, X: Any, columns: int | None = None, *, unknown: UnknownCategories | None = None) -> Any:
        """Encode inputs as rows of numbers, not yet standardised: `transform` without its last step.

        Parameters
        ----------
        X : matrix, shape (n, d), table, list of str or token ids
            As raw as the training rows. The columns of a table are matched by name.
        columns : int, optional
            Required number of columns of a matrix. Default: any.
        unknown : UnknownCategories, optional
            Counts the cells of a table whose categories training did not hold. Default: one warning tells of them.

        Returns
        -------
        array, CSR matrix or LazyRows, shape (n, d)
            In their own dtype; for texts an int32 array of token ids, shape (n, T). The rows of a table are encoded
            when they are read; `numpy.asarray` reads all of them.

        Raises
        ------
        ValueError
            If the rows are unusable, or of another kind than the training rows.
        """
        if self.vocabulary is not None:
            return self.vocabulary.transform(X) if np.ndim(X) < 2 else X
        if self.table is not None:
            return self._encode_table(self.table, X, unknown)
        if is_input_table(X):
            return _matrix_of(read_table(X, self.names), self.names, columns)
        return raw_rows(X, columns)

    def transform(self, X: Any, dtype: Any = "float32") -> Any:
        """Turn inputs into rows for the network: encoded, standardised in float64, then converted.

        Parameters
        ----------
        X : matrix, shape (n, d), table, list of str or token ids
            As raw as the training rows.
        dtype : dtype, default "float32"
            The network's. Token ids stay int32.

        Returns
        -------
        array, CSR matrix or LazyRows, shape (n, d)
            A memory map is not copied; a sparse matrix stays sparse and unscaled.

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
        """Plain values, ready for JSON; `from_dict` rebuilds the encoder from them."""
        return {
            "table": self.table and self.table.as_dict(),
            "vocabulary": self.vocabulary and self.vocabulary.to_dict(),
            "standardiser": self.standardiser and self.standardiser.as_dict(),
            "names": self.names,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> InputEncoder:
        """Rebuild an encoder from the values of `as_dict`.

        Parameters
        ----------
        values : mapping of str to plain values
            With the keys that `as_dict` writes.

        Returns
        -------
        InputEncoder
        """
        table, vocabulary, standardiser = (values[part] for part in ("table", "vocabulary", "standardiser"))
        return cls(
            table=None if table is None else TableEncoder.from_dict(table),
            vocabulary=None if vocabulary is None else Vocabulary.from_dict(vocabulary),
            standardiser=None if standardiser is None else Standardiser.from_dict(standardiser),
            names=None if values["names"] is None else tuple(values["names"]),
        )

    def _encode_table(self, table: TableEncoder, X: Any, unknown: UnknownCategories | None) -> Any:
        if is_input_table(X):
            return table.rows(X, unknown=unknown)
        if table.categorical:
            raise ValueError(
                f"rows must be a table with the columns {', '.join((*table.numeric, *table.categorical))}, as in "
                f"training, got {type(X).__name__}. Give a data frame or a mapping of columns."
            )
        rows = raw_rows(X, len(table.numeric))
        if not table.gaps:
            return rows
        if is_sparse(rows):
            from scipy import sparse  # slow to import

            return sparse.hstack([rows, sparse.csr_matrix((rows.shape[0], len(table.gaps)), dtype=rows.dtype)], "csr")
        return LazyRows(WithoutGaps(rows, len(table.gaps)))


def is_input_table(X: Any) -> bool:
    """Whether an input is a table in any of the forms that `read_table` takes.

    Parameters
    ----------
    X : object
        The input.

    Returns
    -------
    bool
    """
    return isinstance(X, TableColumns) or is_table(X)


def select_inputs(X: Any, rows: NDArray[Any]) -> Any:
    """Select some rows of an input.

    Parameters
    ----------
    X : matrix, TableColumns or list of str
        The input.
    rows : int array, shape (k,)
        Row indices.

    Returns
    -------
    matrix, TableColumns or list of str
        Of the kind of `X`.
    """
    if isinstance(X, TableColumns):
        return X.part(rows)
    return [X[row] for row in rows] if isinstance(X, list) else select_rows(X, rows)


def count_rows(X: Any) -> int:
    """Count the rows of an input.

    Parameters
    ----------
    X : matrix, TableColumns, list of str or None
        The input; None has no rows.

    Returns
    -------
    int
    """
    if X is None:
        return 0
    return len(X) if isinstance(X, list) else int(X.shape[0])


def _matrix_of(table: TableColumns, names: Sequence[str] | None, width: int | None) -> Any:
    """The matrix of a table for a model trained on a matrix: columns in the order of `names`, or of the table."""
    columns = {}
    for name in names or table.cells:
        numbers = numbers_or_none(table.cells[name], table.decimal)
        if numbers is None:
            raise ValueError(
                f"the model was trained on a matrix of numbers, but column {name!r} holds text. Give it the columns "
                "that it was trained on, or train it on the table."
            )
        columns[name] = numbers
    if not columns:
        return raw_rows(np.empty(table.shape), width)
    return raw_rows(LazyRows(TableMatrix(columns, [math.nan] * len(columns), first_row=table.first_row)), width)
