"""Read delimited text with a header row (.csv, .tsv, .data), by pyarrow and batch by batch."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import suggestion
from aesara_nondecomp.data.cells import is_plain_number
from aesara_nondecomp.data.csv_cells import (
    Floats,
    arrow_blocks,
    as_floats,
    as_texts,
    refuse_points,
    without_blank_end,
)
from aesara_nondecomp.data.csv_headers import first_lines, read_header
from aesara_nondecomp.data.files import (
    STANDARD_STREAM,
    PathLike,
    Table,
    narrow_floats,
    not_utf8,
    open_binary,
    unreadable_text,
)
from aesara_nondecomp.data.label_numbers import as_numbers
from aesara_nondecomp.data.standard_input import StandardInput

BLOCK_BYTES = 2**20  # of a batch, which holds at least 32 lines as long as the longest of the sample


class CsvFile(NamedTuple):
    """An open table of delimited text; made by `open_csv`, or of several files by `table_parts.open_csv_files`.

    Attributes
    ----------
    path : path-like
        The file, for error messages.
    source : binary file or StandardInput
        Its bytes, uncompressed.
    names : tuple of str
        The columns, as in the header.
    delimiter : str
        One character.
    lines_above : int
        Lines down to the end of the header.
    block_bytes : int
        Size of a batch, which must hold any row.
    expected_rows : int
        About as many as there are, to reserve memory for; 0 if that shows only by reading.
    more : tuple of path-like
        Files of the same columns, whose rows follow.
    """

    path: PathLike
    source: IO[bytes] | StandardInput
    names: tuple[str, ...]
    delimiter: str
    lines_above: int
    block_bytes: int
    expected_rows: int
    more: tuple[PathLike, ...] = ()

    def read(
        self,
        names: Sequence[str],
        texts: Collection[str] = frozenset(),
        *,
        decimal: str = ".",
        missing: bool = True,
    ) -> dict[str, NDArray[Any]]:
        """Read some of the columns.

        Parameters
        ----------
        names : sequence of str
            The columns.
        texts : collection of str, optional
            Columns to read as text, even if every cell is a number.
        decimal : str, default "."
            The decimal sign, "." or ",".
        missing : bool, default True
            Whether an empty cell is missing, and among numbers the usual spellings of a missing value too.

        Returns
        -------
        dict of str to array, shape (n,)
            Float arrays for columns of numbers; for the others object arrays of str without leading and trailing
            blanks, and of None for an empty cell.

        Raises
        ------
        ValueError
            If there are no rows, or one has too many or too few cells; naming it.
        """
        if isinstance(self.source, StandardInput):  # columns may have to be read twice
            return _opened(self.path, self.source.spooled(), self.delimiter).read(
                names, texts, decimal=decimal, missing=missing
            )
        numbers, parts, late = self._columns(names, texts, decimal, missing)
        if late:
            parts.update(self._columns(late, late, decimal, missing)[1])
        found: dict[str, NDArray[Any]] = {name: numbers.pop(name).cells() for name in list(numbers)}
        found.update({name: np.concatenate(parts.pop(name)) for name in list(parts) if parts[name]})
        if not all(map(len, found.values())) or len(found) < len(names):
            raise self._without_rows()
        refuse_points(self.path, found, texts, decimal)
        return {name: found[name] for name in names}

    def blocks(
        self, names: Sequence[str], texts: Collection[str], rows: int, *, decimal: str = "."
    ) -> Iterator[dict[str, NDArray[Any]]]:
        """Read some of the columns block by block, in memory for one block.

        Parameters
        ----------
        names : sequence of str
            The columns.
        texts : collection of str
            Columns to read as text, even if every cell is a number.
        rows : int
            Number of rows of each block but the last one, and but those after which standard input pauses.
        decimal : str, default "."
            The decimal sign, "." or ",".

        Yields
        ------
        dict of str to array, shape (n,)
            As from `read`; a column of numbers with a cell of text is one of text in the block of that cell only.

        Raises
        ------
        ValueError
            If there are no rows, or one has too many or too few cells; naming it.
        """
        first = 0
        for block in arrow_blocks(self._batches(names, nulls=True), rows):
            found = {}
            for name, column in zip(names, block.columns):
                cells = column.combine_chunks()
                numbers = None if name in texts else as_floats(cells, decimal, missing=True)
                found[name] = as_texts(cells) if numbers is None else numbers
            refuse_points(self.path, found, texts, decimal, first)
            yield found
            first += block.num_rows
        if not first:
            raise self._without_rows()

    def _columns(
        self, names: Sequence[str], texts: Collection[str], decimal: str, missing: bool
    ) -> tuple[dict[str, Floats], dict[str, list[NDArray[Any]]], list[str]]:
        """Columns of numbers; those of text, in parts; and those of text that are to be read once more as `texts`."""
        numbers = {name: Floats(self.expected_rows) for name in names if name not in texts}
        parts: dict[str, list[NDArray[Any]]] = {name: [] for name in names if name in texts}
        late: list[str] = []
        for batch in self._batches(names, missing):
            for name, cells in zip(names, batch.columns):
                found = as_floats(cells, decimal, missing) if name in numbers else None
                if found is not None:
                    numbers[name].add(found)
                    continue
                if name in numbers:
                    parts[name] = []
                    late += [name] if numbers.pop(name).size else []
                if name not in late:
                    parts[name].append(as_texts(cells))
        return numbers, parts, late

    def count_rows(self) -> int:
        """About how many rows there are: by a sample of the lines; of compressed files the lines; of a pipe 0."""
        if self.expected_rows or isinstance(self.source, StandardInput):
            return self.expected_rows
        self.source.seek(0)
        rows = sum(block.count(b"\n") for block in iter(partial(self.source.read, BLOCK_BYTES), b""))
        for path in self.more:
            with open_csv(path, self.delimiter) as file:
                rows += file.count_rows()
        return rows

    def _batches(self, names: Sequence[str], nulls: bool) -> Iterator[Any]:
        """Arrow batches of some columns of all files, as text."""
        yield from self._own_batches(names, nulls)
        for path in self.more:
            with open_csv(path, self.delimiter) as file:
                yield from file._own_batches(names, nulls)

    def _own_batches(self, names: Sequence[str], nulls: bool) -> Iterator[Any]:
        batches = self._rows(names, nulls)
        return without_blank_end(batches, nulls) if len(self.names) == 1 else batches

    def _rows(self, names: Sequence[str], nulls: bool) -> Iterator[Any]:
        """Arrow batches of the columns of this file; of a single column also its blank lines, as nulls."""
        if not isinstance(self.source, StandardInput):
            self.source.seek(0)
            yield from self._parsed(self.source, names, nulls, self.block_bytes, self.lines_above)
            return
        lines_above, rows = self.lines_above, 0
        for piece in self.source.pieces(self.delimiter):
            if piece is None:
                yield None
                continue
            for batch in self._parsed(io.BytesIO(piece), names, nulls, len(piece), lines_above, rows):
                rows += batch.num_rows
                yield batch
            lines_above = 0

    def _parsed(
        self, source: IO[bytes], names: Sequence[str], nulls: bool, block_bytes: int, lines_above: int, rows: int = 0
    ) -> Iterator[Any]:
        """Arrow batches of some columns of text, below `rows` rows of the same file."""
        import pyarrow
        from pyarrow import csv as arrow_csv

        strange: list[Any] = []
        one = len(self.names) == 1  # a blank line is a row of one column, and quotes around nothing are another

        def judge(row: Any) -> str:
            strange.append(row)
            return "skip" if _is_comment(row.text) else "error"

        try:
            reader = arrow_csv.open_csv(
                source,
                arrow_csv.ReadOptions(
                    use_threads=False, block_size=block_bytes, skip_rows=lines_above, column_names=self.names
                ),
                arrow_csv.ParseOptions(
                    delimiter=self.delimiter,
                    newlines_in_values=True,
                    ignore_empty_lines=not one,
                    invalid_row_handler=judge,
                ),
                arrow_csv.ConvertOptions(
                    column_types={name: pyarrow.string() for name in self.names},
                    include_columns=names,
                    strings_can_be_null=nulls or one,
                    quoted_strings_can_be_null=not one,
                    null_values=[""] if nulls or one else [],
                ),
            )
            with reader:
                yield from reader
        except pyarrow.ArrowInvalid as error:
            raise self._unreadable(error, strange, rows - lines_above) from None

    def _without_rows(self) -> ValueError:
        return ValueError(f"{self.path} must hold rows below its header, got none. Check that it is complete.")

    def _unreadable(self, error: Exception, strange: Sequence[Any], before: int) -> ValueError:
        """The error about a row that does not fit the columns, the last one of `strange`, or about something else."""
        if strange and not _is_comment(strange[-1].text):
            row, comments = strange[-1], len(strange) - 1
            return ValueError(
                f"{self.path}, row {before + row.number - comments} (from 1, below the header): expected "
                f"{row.expected_columns} cells as in the header, got {row.actual_columns}. "
                "Check the delimiter and the quotes."
            )
        if "UTF8" in str(error):
            return not_utf8(self.path)
        return ValueError(f"cannot read {self.path}: {error}. Check the delimiter and the quotes.")


@contextmanager
def open_csv(path: PathLike, delimiter: str | None = None) -> Iterator[CsvFile]:
    """Open a table of delimited text, and read its header.

    A first line `sep=;` names the delimiter. Lines that start with "#" are comments where they have another number of
    cells than the others. Blank lines are no rows, but in a table of one column those above its last row are empty
    cells.

    Parameters
    ----------
    path : path-like
        Plain text, or compressed as .gz, .bz2 or .xz; "-" for standard input.
    delimiter : str, optional
        One character. Default: "," or ";" or "|" or a tab, as the first lines say.

    Yields
    ------
    CsvFile

    Raises
    ------
    ValueError
        If `delimiter` is not one character, if the file is not text, or if it has no header or one that repeats a name.
    FileNotFoundError
        If there is no such file.
    ImportError
        If pyarrow is missing.
    """
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii()):
        raise ValueError(f"the delimiter of {path} must be one character, got {delimiter!r}.")
    try:
        import pyarrow.csv  # noqa: F401  # the error comes before any work
    except ImportError:
        raise ImportError(f"reading {path} needs pyarrow: pip install 'aesara-nondecomp[files]'") from None
    if path == STANDARD_STREAM:
        with unreadable_text(path), StandardInput() as piped:
            yield _opened(path, piped, delimiter)
    else:
        with open_binary(path) as source:
            yield _opened(path, source, delimiter)


def read_csv(path: PathLike, target: str, delimiter: str | None = None, decimal: str = ".") -> Table:
    """Read a table of numbers with a header row.

    Parameters
    ----------
    path : path-like
        Plain text, or compressed as .gz, .bz2 or .xz.
    target : str
        Name of the label column, of numbers or text; every other column is a feature.
    delimiter : str, optional
        One character. Default: "," or ";" or "|" or a tab, as the first lines say.
    decimal : str, default "."
        The decimal sign, "." or ",".

    Returns
    -------
    Table
        `X` is in float32, or in float64 where float32 would lose digits (timestamps, long ids); `y` holds integers or
        float64 if all labels are finite numbers, otherwise strings.

    Raises
    ------
    ValueError
        If `delimiter` is not one character, if the file is not text, if the header lacks `target`, repeats a name or
        has no other column, or if there are no rows; also if a row has too many or too few cells or a feature is not a
        number, naming row and column.
    FileNotFoundError
        If there is no such file.
    """
    with open_csv(path, delimiter) as table:
        _check_target(path, table.names, target)
        columns = table.read(table.names, [target], decimal=decimal, missing=False)
    labels = columns.pop(target).tolist()
    for name, cells in columns.items():
        if cells.dtype == object:
            raise _not_numeric(path, name, cells, decimal)
    return Table(narrow_floats(np.column_stack(list(columns.values()))), as_numbers(labels), tuple(columns))


def read_csv_columns(path: PathLike, delimiter: str | None = None) -> dict[str, list[str]]:
    """Read a table with a header row as columns of text: numbers, categories and missing values as they stand.

    Parameters
    ----------
    path : path-like
        Plain text, or compressed as .gz, .bz2 or .xz.
    delimiter : str, optional
        One character. Default: "," or ";" or "|" or a tab, as the first lines say.

    Returns
    -------
    dict of str to list of str
        The cells of each column, by its name, without leading and trailing blanks.

    Raises
    ------
    ValueError
        If `delimiter` is not one character, if the file is not text, if the header repeats a name, if there are no
        rows, or if a row has too many or too few cells, naming it.
    FileNotFoundError
        If there is no such file.
    """
    with open_csv(path, delimiter) as table:
        columns = table.read(table.names, table.names, missing=False)
    return {name: cells.tolist() for name, cells in columns.items()}


def _opened(path: PathLike, source: IO[bytes] | StandardInput, delimiter: str | None) -> CsvFile:
    lines = source.first_lines() if isinstance(source, StandardInput) else first_lines(source)
    header = read_header(path, lines, delimiter)
    block_bytes = max([BLOCK_BYTES, *(32 * len(line.encode()) for line in lines)])
    expected_rows = int(1.05 * len(lines) * _size(source) / len("".join(lines)))
    return CsvFile(path, source, *header, block_bytes, expected_rows)


def _size(source: IO[bytes] | StandardInput) -> int:
    """Bytes of a file; 0 if it is compressed, or still to come."""
    return source.seek(0, io.SEEK_END) if isinstance(source, (io.BufferedReader, io.BufferedRandom)) else 0


def _is_comment(text: str) -> bool:
    return text.lstrip().startswith("#")


def _check_target(path: PathLike, names: Sequence[str], target: str) -> None:
    if target not in names:
        raise ValueError(
            f"{path} has no column {target!r}; name one with target= and, if need be, give "
            f"delimiter=. {suggestion(target, names)}"
        )
    if len(names) < 2:
        raise ValueError(f"{path} must have feature columns beside {target!r}, got none. Check delimiter=.")


def _not_numeric(path: PathLike, name: str, cells: NDArray[Any], decimal: str) -> ValueError:
    row = next(row for row, cell in enumerate(cells.tolist()) if not is_plain_number(cell, decimal))
    return ValueError(
        f"{path}, row {row + 1} (from 1), column {name!r}: expected a number, got {cells[row]!r}. Encode text as "
        "numbers (for example one-hot) and fill in missing cells first."
    )
