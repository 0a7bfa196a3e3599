"""Read .csv files with a header row: features and labels, or columns of text."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Sequence
from typing import IO, Any

import numpy as np

from aesara_nondecomp._checks import suggestion
from aesara_nondecomp.data.files import PathLike, Table, as_numbers, text_lines


def read_csv(path: PathLike, target: str, delimiter: str = ",") -> Table:
    """Read a table of numbers with a header row.

    Parameters
    ----------
    path : path
        Plain text or .gz, .bz2, .xz.
    target : str
        Name of the label column, of numbers or text; every other column is a feature.
    delimiter : str
        One character.

    Returns
    -------
    Table
        `X` in float32; `y` as integers or float64 if all labels are finite numbers, else strings.

    Raises
    ------
    ValueError
        If `delimiter` is longer, the file is empty or no text, `target` is not in the header, a
        name occurs twice, there are no rows or features, a row has too many or too few cells, or
        a feature is not a number (naming line and column).
    FileNotFoundError
        If there is no such file.
    """
    with text_lines(path) as lines:
        rows = _csv_rows(path, lines, delimiter)
        header = [name.strip() for name in next(rows, [])]
        where = _target_position(path, header, target)
        names = tuple(header[:where] + header[where + 1 :])
        values, labels = array("f"), []
        for row in rows:
            if row:
                _check_cells(f"{path}, line {rows.line_num}", row, header)
                labels.append(row.pop(where).strip())
                values.extend(_csv_numbers(f"{path}, line {rows.line_num}", row, names))
    if not labels:
        raise ValueError(f"{path} must hold rows below its header, got none. Check that it is complete.")
    return Table(np.asarray(values).reshape(len(labels), len(names)), as_numbers(labels), names)


def read_csv_columns(path: PathLike, delimiter: str = ",") -> dict[str, list[str]]:
    """Read a table with a header row as text, column by column: numbers, categories and gaps as they stand.

    Parameters
    ----------
    path : path
        Plain text or .gz, .bz2, .xz.
    delimiter : str
        One character.

    Returns
    -------
    dict
        From each column's name to its cells, without blanks around them.

    Raises
    ------
    ValueError
        If `delimiter` is longer, the file is no text, a name occurs twice, there are no rows, or
        a row has too many or too few cells.
    FileNotFoundError
        If there is no such file.
    """
    with text_lines(path) as lines:
        rows = _csv_rows(path, lines, delimiter)
        header = [name.strip() for name in next(rows, [])]
        _check_unique(path, header)
        columns: list[list[str]] = [[] for _ in header]
        for row in rows:
            if row:
                _check_cells(f"{path}, line {rows.line_num}", row, header)
                for column, cell in zip(columns, row):
                    column.append(cell.strip())
    if not columns or not columns[0]:
        raise ValueError(f"{path} must hold rows below its header, got none. Check that it is complete.")
    return dict(zip(header, columns))


def _csv_rows(path: PathLike, lines: IO[str], delimiter: str) -> Any:
    if len(delimiter) != 1:
        raise ValueError(f"the delimiter of {path} must be one character, got {delimiter!r}.")
    return csv.reader(lines, delimiter=delimiter)


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
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise ValueError(f"{path} must name each column once, got {twice} more than once. Rename them.")


def _check_cells(where: str, row: list[str], header: list[str]) -> None:
    if len(row) != len(header):
        raise ValueError(
            f"{where}: expected {len(header)} cells as in the header, got {len(row)}. "
            "Check the delimiter and the quotes."
        )


def _csv_numbers(where: str, cells: list[str], names: Sequence[str]) -> list[float]:
    try:
        return [float(cell) for cell in cells]
    except ValueError:
        for name, cell in zip(names, cells):
            _csv_number(where, name, cell)
        raise


def _csv_number(where: str, name: str, cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise ValueError(
            f"{where}, column {name!r}: expected a number, got {cell!r}. Encode text as numbers "
            "(for example one-hot) and fill in missing cells first."
        ) from None
