"""Cells of delimited text, from the Arrow arrays that pyarrow reads to arrays of floats and of text."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.data.cells import as_number, is_missing, is_plain_number, plain_number
from aesara_nondecomp.data.files import PathLike

# Spellings of MISSING_VALUES that need not be looked at in Python.
_NULLS = ["", "?", "NA", "na", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "Null"]


class Floats:
    """A column of floats that grows; arrays that grow in many small steps leave the heap full of gaps.

    Parameters
    ----------
    room : int
        Number of floats to reserve memory for, which is not used before they come.

    Attributes
    ----------
    size : int
        Number of floats.
    """

    def __init__(self, room: int):
        self._cells, self.size = np.empty(room), 0

    def add(self, found: NDArray[Any]) -> None:
        """Append floats.

        Parameters
        ----------
        found : float array, shape (n,)
            The floats.
        """
        end = self.size + len(found)
        if end > len(self._cells):
            held, self._cells = self.cells(), np.empty(2 * end)
            self._cells[: self.size] = held
        self._cells[self.size : end] = found
        self.size = end

    def cells(self) -> NDArray[Any]:
        """All floats, not copied."""
        return self._cells[: self.size]


def arrow_blocks(batches: Iterable[Any], rows: int) -> Iterator[Any]:
    """Cut the rows of Arrow batches into blocks of equal length.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch or None
        The rows; after None, those so far are a block.
    rows : int
        Number of rows of a block; the last one, and one before a None, may have fewer.

    Yields
    ------
    pyarrow.Table
    """
    import pyarrow

    rest: list[Any] = []
    for batch in itertools.chain(batches, [None]):
        if batch is None:
            if any(part.num_rows for part in rest):
                yield pyarrow.Table.from_batches(rest)
            rest = []
            continue
        table = pyarrow.Table.from_batches([*rest, batch])
        whole = table.num_rows - table.num_rows % rows
        for start in range(0, whole, rows):
            yield table.slice(start, rows)
        rest = table.slice(whole).to_batches()


def without_blank_end(batches: Iterable[Any], nulls: bool) -> Iterator[Any]:
    """Leave out the blank lines at the end of a table of one column.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch or None
        The rows, of one column of strings; a blank line is null, and a cell of quotes around nothing is "".
    nulls : bool
        Whether blank lines stay null, and are not to be "".

    Yields
    ------
    pyarrow.RecordBatch or None
        Blank lines come only with the next row, as they may be the last ones.
    """
    import pyarrow
    from pyarrow import compute

    held: list[Any] = []
    for batch in batches:
        if batch is None:
            yield None
            continue
        filled = np.flatnonzero(batch.column(0).is_valid().to_numpy(zero_copy_only=False))
        end = int(filled[-1]) + 1 if filled.size else 0
        for rows in [*held, batch.slice(0, end)] if end else []:
            cells = rows.column(0) if nulls else compute.fill_null(rows.column(0), "")
            yield pyarrow.RecordBatch.from_arrays([cells], names=rows.schema.names)
        held = [*([] if end else held), batch.slice(end)]


def as_floats(cells: Any, decimal: str, missing: bool) -> NDArray[Any] | None:
    """Convert text to floats, a null to NaN.

    Parameters
    ----------
    cells : pyarrow.Array of strings, shape (n,)
        The text.
    decimal : str
        The decimal sign, "." or ",".
    missing : bool
        Whether the usual spellings of a missing value are NaN too.

    Returns
    -------
    float64 array, shape (n,), or None
        None if a cell is not a number.
    """
    floats = _cast(cells, decimal)
    if floats is None and missing:
        floats = _cast(_with_nulls(cells), decimal)
    if floats is not None:
        return floats
    coded = cells.dictionary_encode()  # blanks, or rarer spellings of missing values
    number = as_number if missing else plain_number
    try:
        return _decoded(coded, np.array([*(number(text, decimal) for text in coded.dictionary.to_pylist()), np.nan]))
    except ValueError:
        return None


def _cast(cells: Any, decimal: str) -> NDArray[Any] | None:
    """Text as floats, by Arrow alone; None if a cell is neither null nor a number without blanks around it."""
    import pyarrow
    from pyarrow import compute

    if decimal != ".":  # a point separates thousands, and is refused as they are
        cells = compute.replace_substring(compute.replace_substring(cells, ".", "'"), decimal, ".")
    try:
        floats: NDArray[Any] = compute.cast(cells, pyarrow.float64()).to_numpy(zero_copy_only=False)
    except pyarrow.ArrowInvalid:
        return None
    return floats


def _with_nulls(cells: Any) -> Any:
    """Text in which the most usual spellings of a missing value are null."""
    import pyarrow
    from pyarrow import compute

    return compute.if_else(compute.is_in(cells, pyarrow.array(_NULLS, cells.type)), None, cells)


def as_texts(cells: Any) -> NDArray[Any]:
    """Strip text of blanks around it, and make None of a null.

    Parameters
    ----------
    cells : pyarrow.Array of strings, shape (n,)
        The text.

    Returns
    -------
    object array, shape (n,)
    """
    coded = cells.dictionary_encode()
    return _decoded(coded, np.array([*(text.strip() for text in coded.dictionary.to_pylist()), None], dtype=object))


def _decoded(coded: Any, values: NDArray[Any]) -> NDArray[Any]:
    """The value of each code; the last one for a null."""
    codes = coded.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)
    decoded: NDArray[Any] = values.take(codes)
    return decoded


def refuse_points(
    path: PathLike, columns: Mapping[str, NDArray[Any]], texts: Collection[str], decimal: str, first_row: int = 0
) -> None:
    """Refuse columns of numbers with points beside decimal commas: 1.234 may be a thousand or one.

    Parameters
    ----------
    path : path-like
        The file, for the error message.
    columns : mapping of str to array, shape (n,)
        Its columns; those that are not numbers hold text.
    texts : collection of str
        Columns that are to be text.
    decimal : str
        The decimal sign, "." or ",".
    first_row : int, default 0
        Index of the first row among those of the file.

    Raises
    ------
    ValueError
        If there is such a column; naming row and cell.
    """
    for name, cells in columns.items() if decimal != "." else ():
        pointed = None if name in texts or cells.dtype != object else _pointed(cells.tolist(), decimal)
        if pointed is not None:
            raise ValueError(
                f"{path}, row {first_row + pointed + 1} (from 1), column {name!r}: got {cells[pointed]!r} beside "
                f"decimal={decimal!r}. Leave out the separators of thousands, or give the other decimal sign."
            )


def _pointed(cells: Sequence[str | None], decimal: str) -> int | None:
    """The first row of a number with a point, if all are numbers with or without points."""
    pointed = next((row for row, cell in enumerate(cells) if cell and "." in cell and is_plain_number(cell)), None)
    texts = [cell.replace(".", "").replace(decimal, ".") for cell in cells if cell is not None and not is_missing(cell)]
    return pointed if pointed is not None and all(map(is_plain_number, texts)) else None
