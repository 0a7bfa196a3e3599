"""Tables in files: read at once if they are small; otherwise one pass learns how to encode them, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require, suggestion
from aesara_nondecomp.data.cells import is_missing, over_distinct, spelling
from aesara_nondecomp.data.features import row_slices
from aesara_nondecomp.data.files import as_labels
from aesara_nondecomp.data.inputs import InputEncoder
from aesara_nondecomp.data.table_columns import TableColumns, check_names, join_tables, read_table
from aesara_nondecomp.data.table_files import OpenTable, open_table
from aesara_nondecomp.data.tabular import MOST_CATEGORIES, TableEncoder, UnknownCategories

IN_MEMORY_CELLS = 2**25  # of the features; a larger table is streamed
SAMPLED_ROWS, SAMPLED_CELLS = (5_000, 100_000), 2**22  # for medians, and to tell numbers from categories
MOST_LABELS = 1000  # different ones, at most; with more of them a column holds no classes
_BLOCK_CELLS = 2**21
_MOST_SPELLINGS = 10 * MOST_CATEGORIES


class TableFiles(NamedTuple):
    """A table to train on, and how to read it: for `fit(TableFiles(...), target=...)`.

    Attributes
    ----------
    source : path-like, sequence of path-like, pyarrow.dataset.Dataset or pyarrow.Table
        See `open_table`: a file, several, a folder, or a pattern such as ``data/*.parquet``.
    drop : sequence of str
        Columns to leave out.
    categorical : sequence of str
        Numeric columns to treat as categorical.
    missing : sequence of str
        Spellings of a missing value, beside the usual ones.
    delimiter : str, optional
        Of text. Default: told from the first lines.
    decimal : {".", ","}
        The decimal sign of text.

    Examples
    --------
    >>> files = TableFiles("data/*.csv", drop=["id"], categorical=["zip"])  # for fit(files, target="label")
    """

    source: Any
    drop: Sequence[str] = ()
    categorical: Sequence[str] = ()
    missing: Sequence[str] = ()
    delimiter: str | None = None
    decimal: str = "."

    def opened(self) -> AbstractContextManager[OpenTable]:
        """Open the table.

        Returns
        -------
        context manager of OpenTable
        """
        return open_table(self.source, self.delimiter, self.decimal)

    def features(self, names: Sequence[str], target: str) -> list[str]:
        """Find the columns of the features among all columns.

        Parameters
        ----------
        names : sequence of str
            All columns.
        target : str
            That of the labels.

        Returns
        -------
        list of str

        Raises
        ------
        ValueError
            If a named column is not there, or no feature is left.
        """
        if target not in names:
            raise ValueError(f"{self.source} has no column {target!r} of labels. {suggestion(target, names)}")
        for name in self.drop:
            if name not in names:
                raise ValueError(f"there is no column {name!r} to drop. {suggestion(name, names)}")
        features = [name for name in names if name not in (target, *self.drop)]
        if not features:
            raise ValueError(f"{self.source} has no feature columns beside the labels. Check its delimiter.")
        check_names(self.categorical, features)
        return features


@dataclass(frozen=True)
class StreamedTable:
    """A table on a disk, of which one pass has learned the encoder and read the labels; made by `read_files`.

    Parameters
    ----------
    files : TableFiles
        The table.
    encoder : TableEncoder
        Learned from all rows: medians and kinds of columns from a sample, if there are more rows than in one.
    codes : uint array, shape (n,)
        Class of each row.
    classes : array, shape (k,)
        The distinct labels.
    """

    files: TableFiles
    encoder: TableEncoder
    codes: NDArray[Any]
    classes: NDArray[Any]

    ndim = 2

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self.codes), len(self.encoder.numeric) + len(self.encoder.categorical)

    def encoded(self, encoder: InputEncoder, unknown: UnknownCategories) -> Iterator[tuple[int, NDArray[Any]]]:
        """Encode the rows, some at a time, in a second pass.

        Parameters
        ----------
        encoder : InputEncoder
            Of this table, or of a model to train further.
        unknown : UnknownCategories
            Counts the cells of unknown categories.

        Yields
        ------
        first : int
            Index of the first row.
        rows : float array, shape (m, d)
            Encoded, and not standardised.

        Raises
        ------
        ValueError
            If the files are not as they were.
        """
        known = encoder.table or self.encoder
        names = [*known.numeric, *known.categorical]
        with self.files.opened() as table:
            check_names(names, table.names)
            end = 0
            for block in table.blocks(names, known.categorical, block_rows(len(names))):
                rows = encoder.encode(block, unknown=unknown)
                for part in row_slices(*rows.shape):
                    yield block.first_row + part.start, rows[part]
                end = block.first_row + len(rows)
        require(end == len(self.codes), f"the files must keep their {len(self.codes)} rows while they are read", end)


def block_rows(columns: int) -> int:
    """Rows of a block of a table that is read block by block.

    Parameters
    ----------
    columns : int
        Number of columns.

    Returns
    -------
    int
    """
    return max(1, _BLOCK_CELLS // columns)


def read_files(files: TableFiles, target: str, streamed: Callable[[], None] = lambda: None) -> tuple[Any, NDArray[Any]]:
    """Read a table and its labels at once if it has at most `IN_MEMORY_CELLS` cells; otherwise learn its encoder.

    Parameters
    ----------
    files : TableFiles
        The table.
    target : str
        Column of the labels.
    streamed : callable, optional
        Called before the pass over a larger table; it may refuse one by a ValueError.

    Returns
    -------
    X : TableColumns or StreamedTable
        The features.
    y : array
        The label of each row; of a StreamedTable the distinct labels.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the table cannot be read, lacks a named column, has rows without a label, or its columns cannot be encoded.
    """
    with files.opened() as table:
        features = files.features(table.names, target)
        if is_large(table, features):
            streamed()
            found = learn(files, table, features, target)
            return found, found.classes
        columns = table.read([target, *features], [target, *files.categorical])
    y = popped_labels(files.source, columns, target)
    return read_table(columns, categorical=files.categorical, missing=files.missing), as_labels(y)


def popped_labels(source: Any, columns: TableColumns, target: str) -> NDArray[Any]:
    """The labels, taken out of the columns of a table.

    Parameters
    ----------
    source : object
        The table, for the message.
    columns : TableColumns
        Its columns.
    target : str
        That of the labels.

    Returns
    -------
    array, shape (n,)
        As their cells are.

    Raises
    ------
    ValueError
        If there are rows without a label.
    """
    labels = columns.cells.pop(target)
    missing = np.flatnonzero(over_distinct(is_missing, labels.tolist()))
    _refuse_missing(source, columns.first_row + missing)
    return labels


def is_large(table: OpenTable, features: Sequence[str]) -> bool:
    """Whether a table is streamed, and not read at once.

    Parameters
    ----------
    table : OpenTable
        The table; Excel and ARFF are read at once in any case, and so is standard input, which is there once.
    features : sequence of str
        Its columns of features.

    Returns
    -------
    bool
    """
    return table.count_rows() * len(features) > IN_MEMORY_CELLS


def learn(files: TableFiles, table: OpenTable, features: Sequence[str], target: str) -> StreamedTable:
    """Learn an encoder and read the labels in one pass over a table.

    Parameters
    ----------
    files : TableFiles
        Where the table is, for the next pass.
    table : OpenTable
        The table, opened.
    features : sequence of str
        Its columns of features.
    target : str
        That of the labels.

    Returns
    -------
    StreamedTable

    Raises
    ------
    ValueError
        If the table cannot be read, has rows without a label, or its columns cannot be encoded.
    """
    labels, sample, seen = _Labels(files.source, target), _Sample(len(features)), _Spellings()
    names, texts = [target, *features], [target, *files.categorical]
    for block in table.blocks(names, texts, block_rows(len(names))):
        labels.add(block.cells.pop(target), block.first_row)
        columns = read_table(block, categorical=files.categorical, missing=files.missing)
        sample.add(columns)
        seen.add(columns)
    codes, classes = labels.found()
    return StreamedTable(files, TableEncoder.fit(sample.table(), more=seen.by_column), codes, classes)


class _Labels:
    """The labels of a table, as a number each."""

    def __init__(self, source: Any, target: str):
        self._source, self._target = source, target
        self._code_of: dict[Any, int] = {}
        self._parts: list[NDArray[Any]] = []
        self._missing: list[NDArray[Any]] = []

    def add(self, cells: NDArray[Any], first_row: int) -> None:
        codes = over_distinct(self._code, cells.tolist())
        self._parts.append(np.array(codes, dtype=np.min_scalar_type(len(self._code_of))))
        if None in self._code_of:
            missing = np.flatnonzero(self._parts[-1] == self._code_of[None])
            self._missing.append(first_row + missing)

    def found(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The class of each row, and the distinct labels."""
        _refuse_missing(self._source, np.concatenate([np.empty(0, np.intp), *self._missing]))
        labels = np.array([*self._code_of, None], dtype=object)[:-1]
        classes, places = np.unique(as_labels(labels), return_inverse=True)
        codes = places.reshape(-1).astype(np.min_scalar_type(len(classes)))
        return codes[np.concatenate(self._parts)], classes

    def _code(self, cell: Any) -> int:
        code = self._code_of.setdefault(None if is_missing(cell) else cell, len(self._code_of))
        if code >= MOST_LABELS:
            raise ValueError(
                f"column {self._target!r} of {self._source} must hold the labels of classes, got more than "
                f"{MOST_LABELS} different ones. Name another column."
            )
        return code


class _Sample:
    """Rows of a table, drawn at random but alike each time: all of them, if there are few enough."""

    def __init__(self, columns: int):
        fewest, most = SAMPLED_ROWS
        self._rows = min(max(fewest, SAMPLED_CELLS // columns), most)
        self._rng = np.random.default_rng(0)
        self._parts: list[TableColumns] = []
        self._keys, self._limit = np.empty(0), 1.0  # the rows of the smallest keys are the sample

    def add(self, block: TableColumns) -> None:
        keys = self._rng.random(block.shape[0])
        kept = np.flatnonzero(keys < self._limit)
        self._parts.append(block.part(kept))
        self._keys = np.concatenate([self._keys, keys[kept]])
        if len(self._keys) > 2 * self._rows:
            self._parts = [self.table()]

    def table(self) -> TableColumns:
        """The sample, in the order of the table."""
        joined = join_tables(self._parts)
        if len(self._keys) <= self._rows:
            return joined
        chosen = np.sort(np.argpartition(self._keys, self._rows)[: self._rows])
        self._keys = self._keys[chosen]
        self._limit = float(self._keys.max())
        return joined.part(chosen)


class _Spellings:
    """What the cells of text are spelt like, so that no category is missed for being rare."""

    def __init__(self) -> None:
        self.by_column: dict[str, set[str]] = {}

    def add(self, block: TableColumns) -> None:
        for name, cells in block.cells.items():
            if cells.dtype != object and name not in block.categories:
                continue
            known = self.by_column.setdefault(name, set())
            if len(known) <= _MOST_SPELLINGS:
                values = cells if cells.dtype == object else np.unique(cells)
                known.update(over_distinct(spelling, values.tolist()))


def _refuse_missing(source: Any, rows: NDArray[Any]) -> None:
    if rows.size:
        first = rows[0] + 1
        raise ValueError(f"{source} has {rows.size} rows without a label, the first is row {first}. Drop them.")
