"""Read .csv files with a header row, as features and labels or as columns of text."""

from __future__ import annotations

import csv
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from aesara_nondecomp._checks import suggestion
from aesara_nondecomp.data.files import PathLike, Table, as_numbers, narrow_floats, text_lines


def read_csv(path: PathLike, target: str, delimiter: str = ",") -> Table:
    """Read a table of numbers with a header row.

    Parameters
    ----------
    path : path-like
        Plain text, or compressed as .gz, .bz2 or .xz.
    target : str
        Name of the label column, of numbers or text; every other column is a feature.
    delimiter : str, default ","
        One character.

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
        number, naming line and column.
    FileNotFoundError
        If there is no such file.
    """
    with _open_csv(path, delimiter) as (header, lines):
        where = _target_position(path, header, target)
        names = tuple(header[:where] + header[where + 1 :])
        values, labels = array("d"), []
        for number, cells in lines:
            labels.append(cells.pop(where).strip())
            values.extend(_csv_numbers(path, number, cells, names))
    _check_rows(path, len(labels))
    X = np.asarray(values).reshape(len(labels), len(names))
    return Table(narrow_floats(X), as_numbers(labels), names)


def read_csv_columns(path: PathLike, delimiter: str = ",") -> dict[str, list[str]]:
    """Read a table with a header row as columns of text: numbers, categories and missing values as they stand.

    Parameters
    ----------
    path : path-like
        Plain text, or compressed as .gz, .bz2 or .xz.
    delimiter : str, default ","
        One character.

    Returns
    -------
    dict of str to list of str
        The cells of each column, by its name, without leading and trailing blanks.

    Raises
    ------
    ValueError
        If `delimiter` is not one character, if the file is not text, if the header repeats a name, if there are no
        rows, or if a row has too many or too few cells, naming the line.
    FileNotFoundError
        If there is no such file.
    """
    with _open_csv(path, delimiter) as (header, lines):
        _check_unique(path, header)
        columns: list[list[str]] = [[] for _ in header]
        for _, cells in lines:
            for column, cell in zip(columns, cells):
                column.append(cell.strip())
    _check_rows(path, len(columns[0]) if columns else 0)
    return dict(zip(header, columns))


class _OpenTable(NamedTuple):
    header: list[str]
    lines: Iterator[tuple[int, list[str]]]


@contextmanager
def _open_csv(path: PathLike, delimiter: str) -> Iterator[_OpenTable]:
    """The header of a table, and its other lines by their numbers, which are read as they are asked for."""
    with text_lines(path) as text:
        if len(delimiter) != 1:
            raise ValueError(f"the delimiter of {path} must be one character, got {delimiter!r}.")
        reader = csv.reader(text, delimiter=delimiter)
        header = [name.strip() for name in next(reader, [])]
        yield _OpenTable(header, _complete_lines(path, reader, len(header)))


def _complete_lines(path: PathLike, reader: Any, width: int) -> Iterator[tuple[int, list[str]]]:
    """Lines that are not empty, each checked to have `width` cells."""
    for cells in reader:
        if cells:
            if len(cells) != width:
                raise ValueError(
                    f"{path}, line {reader.line_num}: expected {width} cells as in the header, got {len(cells)}. "
                    "Check the delimiter and the quotes."
                )
            yield reader.line_num, cells


def _target_position(path: PathLike, header: list[str], target: str) -> int:
    if not header:
        raise ValueError(f"{path} must start with a header row, but it is empty.")
    if target not in header:
        raise ValueError(
            f"{path} has no column {target!r}; name one with target= and, if need be, give "
            f"delimiter=. {suggestion(target, header)}"
        )
    _check_unique(path, header)
    if len(header) < 2:
        raise ValueError(f"{path} must have feature columns beside {target!r}, got none. Check delimiter=.")
    return header.index(target)


def _check_unique(path: PathLike, header: list[str]) -> None:
    twice = sorted(name for name, count in Counter(header).items() if count > 1)
    if twice:
        raise ValueError(f"{path} must name each column once, got {twice} more than once. Rename them.")


def _check_rows(path: PathLike, rows: int) -> None:
    if not rows:
        raise ValueError(f"{path} must hold rows below its header, got none. Check that it is complete.")


def _csv_numbers(path: PathLike, line: int, cells: list[str], names: Sequence[str]) -> list[float]:
    try:
        return [float(cell) for cell in cells]
    except ValueError:
        name, cell = next((name, cell) for name, cell in zip(names, cells) if not _is_number(cell))
        raise ValueError(
            f"{path}, line {line}, column {name!r}: expected a number, got {cell!r}. Encode text as numbers "
            "(for example one-hot) and fill in missing cells first."
        ) from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
