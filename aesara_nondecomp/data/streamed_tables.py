"""Tables in files: read at once if they are small; otherwise one pass learns how to encode them, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp.data.categories import UnknownCategories
from aesara_nondecomp.data.cells import is_missing, over_distinct
from aesara_nondecomp.data.features import row_slices
from aesara_nondecomp.data.inputs import InputEncoder
from aesara_nondecomp.data.label_numbers import as_labels
from aesara_nondecomp.data.table_columns import TableColumns, check_names, read_table
from aesara_nondecomp.data.table_files import OpenTable, TableFiles
from aesara_nondecomp.data.table_survey import (
    Survey,
    block_rows,
    check_labels,
    join_samples,
    refuse_unlabelled,
)
from aesara_nondecomp.data.tabular import TableEncoder

IN_MEMORY_CELLS = 2**25  # of the features; a larger table is streamed


@dataclass(frozen=True)
class StreamedTable:
    """A table on a disk, of which one pass has learned the encoder and read the labels; made by `learned`.

    Parameters
    ----------
    files : TableFiles
        The table; with several processes, the part of one of them.
    encoder : TableEncoder
        Learned from all rows, of all processes: kinds of columns, medians, which columns have missing values and which
        categories are frequent from a sample, if there are more rows than in one.
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


def read_at_once(files: TableFiles, table: OpenTable, features: Sequence[str], target: str) -> tuple[Any, NDArray[Any]]:
    """Read a table and its labels into memory.

    Parameters
    ----------
    files : TableFiles
        How to read it.
    table : OpenTable
        The table, opened.
    features : sequence of str
        Its columns of features.
    target : str
        That of the labels.

    Returns
    -------
    X : TableColumns
        The features.
    y : array, shape (n,)
        The labels.

    Raises
    ------
    ValueError
        If the table cannot be read, has rows without a label, or its columns cannot be encoded.
    """
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
    refuse_unlabelled(source, columns.first_row + missing)
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


def learned(surveys: Sequence[Survey], own: int = 0) -> StreamedTable:
    """Learn an encoder from passes over the parts of a table.

    Parameters
    ----------
    surveys : sequence of Survey
        Of all parts, of the same columns.
    own : int, default 0
        Index of the part whose rows are to be read.

    Returns
    -------
    StreamedTable
        The part, with the encoder and the classes of all.

    Raises
    ------
    ValueError
        If there are too many different labels, or the columns cannot be encoded.
    """
    files, target = surveys[own].files, surveys[own].target
    labels = list(dict.fromkeys(label for part in surveys for label in part.labels))
    check_labels(labels, files.source, target)
    classes, places = np.unique(as_labels(np.array([*labels, None], dtype=object)[:-1]), return_inverse=True)
    place_of = dict(zip(labels, places.reshape(-1).tolist()))
    codes = np.array([place_of[label] for label in surveys[own].labels], np.min_scalar_type(len(classes)))
    more: dict[str, set[str]] = {}
    for part in surveys:
        for name, spellings in part.spellings.items():
            more.setdefault(name, set()).update(spellings)
    encoder = TableEncoder.fit(join_samples([part.sample for part in surveys]), more=more, add_indicator=True)
    return StreamedTable(files, encoder, codes[surveys[own].codes], classes)
