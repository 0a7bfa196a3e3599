"""What one pass over a table tells, or over one process's part of it: labels, a sample, and all spellings of text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.data.categories import MOST_CATEGORIES
from aesara_nondecomp.data.cells import cell_list, is_missing, over_distinct, spelling
from aesara_nondecomp.data.table_columns import TableColumns, join_tables, read_table
from aesara_nondecomp.data.table_files import OpenTable, TableFiles

SAMPLED_ROWS, SAMPLED_CELLS = (5_000, 100_000), 2**22  # for medians, and to tell numbers from categories
MOST_LABELS = 1000  # different ones, at most; with more of them a column holds no classes
_BLOCK_CELLS = 2**21
_MOST_SPELLINGS = 10 * MOST_CATEGORIES


class Sample(NamedTuple):
    """Rows of a table, drawn at random.

    Attributes
    ----------
    columns : TableColumns
        The rows, in the order of the table.
    keys : float array, shape (m,)
        The random number of each; the rows of the smallest ones are the sample.
    size : int
        Rows that a sample has at most.
    """

    columns: TableColumns
    keys: NDArray[Any]
    size: int

    def up_to(self, key: float) -> Sample:
        """The rows whose keys are not above one.

        Parameters
        ----------
        key : float
            The largest one.

        Returns
        -------
        Sample
        """
        chosen = np.flatnonzero(self.keys <= key)
        return Sample(self.columns.part(chosen), self.keys[chosen], self.size)


class Survey(NamedTuple):
    """What one pass over a table tells; made by `survey`.

    Attributes
    ----------
    files : TableFiles
        The table.
    target : str
        Column of the labels.
    labels : list
        The distinct labels, as their cells are.
    codes : uint array, shape (n,)
        Index of each row's label among them.
    sample : Sample
        Some of the rows.
    spellings : dict of str to set of str
        How the cells of each column with text are spelt, so that no category is missed for being rare.
    numbers : set of str
        The columns of which a block held numbers alone, and lost how they were spelt: "01" and "1" are 1.0 there.
    """

    files: TableFiles
    target: str
    labels: list[Any]
    codes: NDArray[Any]
    sample: Sample
    spellings: dict[str, set[str]]
    numbers: set[str]


def survey(files: TableFiles, table: OpenTable, features: Sequence[str], target: str, part: int = 0) -> Survey:
    """Pass once over a table.

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
    part : int, default 0
        Which part of a larger table it is: each has random numbers of its own.

    Returns
    -------
    Survey

    Raises
    ------
    ValueError
        If the table cannot be read, has rows without a label, or too many different labels.
    """
    labels, sample, spellings = _Labels(files.source, target), _Sampler(len(features), part), _Spellings()
    numbers: set[str] = set()
    names, texts = [target, *features], [target, *files.categorical]
    for block in table.blocks(names, texts, block_rows(len(names))):
        labels.add(block.cells.pop(target), block.first_row)
        numbers |= {name for name, cells in block.cells.items() if cells.dtype.kind == "f"}
        columns = read_table(block, categorical=files.categorical, missing=files.missing)
        sample.add(columns)
        spellings.add(columns)
    found, codes = labels.found()
    return Survey(files, target, found, codes, sample.found(), spellings.by_column, numbers)


def survey_again(before: Survey, categorical: Sequence[str], part: int = 0) -> Survey:
    """Pass over a table once more, with further columns as text.

    Parameters
    ----------
    before : Survey
        Of the first pass.
    categorical : sequence of str
        The columns.
    part : int, default 0
        As for `survey`.

    Returns
    -------
    Survey
    """
    files = before.files._replace(categorical=[*before.files.categorical, *categorical])
    with files.opened() as table:
        return survey(files, table, files.features(table.names, before.target), before.target, part)


def misspelt(categorical: Sequence[str], surveys: Sequence[Survey]) -> list[str]:
    """The categorical columns that some block or part of a text held as numbers: later they are read as text.

    Parameters
    ----------
    categorical : sequence of str
        Those of the encoder that was learned from the surveys.
    surveys : sequence of Survey
        Of all parts.

    Returns
    -------
    list of str
    """
    known = surveys[0].files.categorical
    return [name for name in categorical if name not in known and any(name in part.numbers for part in surveys)]


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


def join_samples(samples: Sequence[Sample]) -> TableColumns:
    """Join samples of the parts of a table to one of the whole.

    Parameters
    ----------
    samples : sequence of Sample
        Of the parts, in their order.

    Returns
    -------
    TableColumns
    """
    joined = join_tables([sample.columns for sample in samples])
    return _smallest(Sample(joined, np.concatenate([sample.keys for sample in samples]), samples[0].size)).columns


def check_labels(labels: Collection[Any], source: Any, target: str) -> None:
    """Refuse a column of too many different labels.

    Parameters
    ----------
    labels : collection
        The distinct ones.
    source : object
        The table, for the message.
    target : str
        The column.

    Raises
    ------
    ValueError
        If there are more than `MOST_LABELS`.
    """
    if len(labels) > MOST_LABELS:
        raise ValueError(
            f"column {target!r} of {source} must hold the labels of classes, got more than {MOST_LABELS} different "
            "ones. Name another column."
        )


def refuse_unlabelled(source: Any, rows: NDArray[Any]) -> None:
    """Refuse rows without a label.

    Parameters
    ----------
    source : object
        The table, for the message.
    rows : int array
        Their indices.

    Raises
    ------
    ValueError
        If there are any.
    """
    if rows.size:
        first = rows[0] + 1
        raise ValueError(f"{source} has {rows.size} rows without a label, the first is row {first}. Drop them.")


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

    def found(self) -> tuple[list[Any], NDArray[Any]]:
        """The distinct labels, and the index of each row's."""
        refuse_unlabelled(self._source, np.concatenate([np.empty(0, np.intp), *self._missing]))
        return list(self._code_of), np.concatenate(self._parts)

    def _code(self, cell: Any) -> int:
        code = self._code_of.setdefault(None if is_missing(cell) else cell, len(self._code_of))
        check_labels(self._code_of, self._source, self._target)
        return code


class _Sampler:
    """Draws rows of a table at random but alike each time: all of them, if there are few enough."""

    def __init__(self, columns: int, part: int):
        fewest, most = SAMPLED_ROWS
        self._size = min(max(fewest, SAMPLED_CELLS // columns), most)
        self._rng = np.random.default_rng([0, part] if part else 0)
        self._parts: list[TableColumns] = []
        self._keys, self._limit = np.empty(0), 1.0

    def add(self, block: TableColumns) -> None:
        keys = self._rng.random(block.shape[0])
        kept = np.flatnonzero(keys < self._limit)
        self._parts.append(block.part(kept))
        self._keys = np.concatenate([self._keys, keys[kept]])
        if len(self._keys) > 2 * self._size:
            smaller = self.found()
            self._parts, self._keys, self._limit = [smaller.columns], smaller.keys, float(smaller.keys.max())

    def found(self) -> Sample:
        return _smallest(Sample(join_tables(self._parts), self._keys, self._size))


def _smallest(sample: Sample) -> Sample:
    """The rows of the smallest keys, at most as many as a sample has."""
    if len(sample.keys) <= sample.size:
        return sample
    chosen = np.sort(np.argpartition(sample.keys, sample.size)[: sample.size])
    return Sample(sample.columns.part(chosen), sample.keys[chosen], sample.size)


class _Spellings:
    """What the cells of text are spelt like."""

    def __init__(self) -> None:
        self.by_column: dict[str, set[str]] = {}

    def add(self, block: TableColumns) -> None:
        for name, cells in block.cells.items():
            if cells.dtype != object and name not in block.categories:
                continue
            known = self.by_column.setdefault(name, set())
            if len(known) <= _MOST_SPELLINGS:
                values = cells if cells.dtype == object else np.unique(cells)
                known.update(over_distinct(spelling, cell_list(values)))
