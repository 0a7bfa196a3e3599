"""Tell the numeric columns of a training table from the categorical ones, and refuse those that are neither."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import warn_caller
from aesara_nondecomp.data.cells import (
    as_number,
    is_date,
    is_decorated,
    is_missing,
    is_truth,
    numbers_or_none,
    over_distinct,
)
from aesara_nondecomp.data.table_columns import TableColumns, read_table

STRAY_SHARE = 0.1  # of the cells of a numeric column, or of its different ones, at most, are text by mistake
MOST_CODES = 20  # different numbers, at most, that may be categories beside some of text
_UNNAMED = re.compile(r"(Unnamed: \d+(\.\d+)*)?")  # as pandas calls a column without a name


def typed(columns: TableColumns) -> TableColumns:
    """Tell numeric columns from categorical ones, by all rows, before any are held out.

    Parameters
    ----------
    columns : TableColumns
        All rows of a training table.

    Returns
    -------
    TableColumns
        With float arrays for the numeric columns, and with all others among the `categories`. A column without a name
        that numbers or names the rows is left out, with a warning.

    Raises
    ------
    ValueError
        If a column holds numbers but for a few cells, numbers in a spelling that is not read, or dates; naming column,
        row and cell.
    """
    kept = columns.without(_row_names(columns))
    numbers = {
        name: None if name in kept.categories else _numbers_of(name, cells, name in kept.texts, kept.decimal)
        for name, cells in kept.cells.items()
    }
    cells = {name: kept.cells[name] if found is None else found for name, found in numbers.items()}
    return kept._replace(cells=cells, categories=frozenset(name for name in numbers if numbers[name] is None))


def without_row_names(table: Any) -> Any:
    """Leave out columns without a name that number or name the rows, such as a saved index, with a warning.

    Parameters
    ----------
    table : data frame or mapping of str to sequence
        A training table.

    Returns
    -------
    data frame or mapping of str to sequence
        The table itself if it has no such column.
    """
    names = list(table) if isinstance(table, Mapping) else list(table.columns)
    unnamed = [str(name) for name in names if _UNNAMED.fullmatch(str(name))]
    left_out = _row_names(read_table(table, unnamed)) if unnamed else []
    if not left_out:
        return table
    kept = [name for name in names if str(name) not in left_out]
    return {name: table[name] for name in kept} if isinstance(table, Mapping) else table[kept]


def stray_cell(name: str, cell: Any, row: int, decimal: str = ".") -> ValueError:
    """Make the error about a cell that is no number, in a column that was numeric in training.

    Parameters
    ----------
    name : str
        The column.
    cell : object
        The first such cell.
    row : int
        Its row, from 0.
    decimal : str, default "."
        The decimal sign of text.

    Returns
    -------
    ValueError
    """
    return ValueError(
        f"column {name!r} held numbers in training, but holds {cell!r} in row {row + 1} (from 1). "
        f"Write a plain number such as 1234{decimal}5, or leave the cell empty."
    )


def _row_names(columns: TableColumns) -> list[str]:
    """Columns without a name whose cells are all different whole numbers or texts; each is told in a warning."""
    found = [
        name
        for name, cells in columns.cells.items()
        if _UNNAMED.fullmatch(name) and _tells_rows_apart(cells, columns.decimal)
    ]
    for name in found:
        warn_caller(f"column {name!r} has no name and numbers the rows: it is left out. Name it to train on it.")
    return found


def _tells_rows_apart(cells: NDArray[Any], decimal: str) -> bool:
    numbers = numbers_or_none(cells, decimal)
    different = len(cells) > 1 and len(set(cells.tolist())) == len(cells)
    return different and (numbers is None or bool((numbers == np.rint(numbers)).all()))


def _numbers_of(name: str, cells: NDArray[Any], by_dtype: bool, decimal: str) -> NDArray[Any] | None:
    """The numbers of a numeric column; None for a categorical one. `by_dtype` says that it is text by its dtype."""
    if cells.dtype != object:
        return cells
    if not by_dtype and all(over_distinct(lambda cell: is_truth(cell) or is_missing(cell), cells)):
        return numbers_or_none(cells)
    read = over_distinct(partial(_number_or_none, decimal=decimal), cells)
    strange = [row for row, number in enumerate(read) if number is None]
    plain = [number for number in read if number is not None and number == number]
    if strange:
        _refuse_dates(name, cells, strange, len(plain))
        _refuse_text_among_numbers(name, cells, strange, plain, by_dtype, decimal)
    elif by_dtype:
        _refuse_gaps(name, cells, read, plain)
    return None if strange or by_dtype else np.array(read, dtype=np.float64)


def _number_or_none(cell: Any, decimal: str) -> float | None:
    try:
        return as_number(cell, decimal)
    except ValueError:
        return None


def _refuse_dates(name: str, cells: NDArray[Any], strange: list[int], numbers: int) -> None:
    dates, _ = _divided(strange, cells, is_date)
    if len(dates) > max(numbers, len(strange) / 2):
        raise ValueError(
            f"column {name!r} holds dates or times: {_shown(dates, cells)}. Make numbers of it, such as days or the "
            "hour, drop it, or name it as categorical (--categorical, data.read_table)."
        )


def _refuse_text_among_numbers(
    name: str, cells: NDArray[Any], strange: list[int], plain: list[float], by_dtype: bool, decimal: str
) -> None:
    """Refuse numbers, also in spellings that are not read, such as "$5", if at most a few texts are among them."""
    decorated, others = _divided(strange, cells, is_decorated)
    numbers = [*plain, *cells[decorated]]
    few_rows = len(others) <= STRAY_SHARE * (len(numbers) + len(others))
    few_texts = len(set(cells[others])) <= STRAY_SHARE * len(set(numbers))
    if others and (_are_codes(numbers) or not (few_rows or few_texts)):
        return
    if len(decorated) > len(others):
        raise _decorated(name, decorated, cells, decimal)
    raise _stray(name, others, cells, by_dtype)


def _refuse_gaps(name: str, cells: NDArray[Any], read: list[float | None], plain: list[float]) -> None:
    """Refuse numbers that a few gaps turned into text; numbers that are text without a gap are codes."""
    gaps = [row for row, cell in enumerate(cells) if isinstance(cell, str) and read[row] != read[row]]
    if gaps and len(gaps) <= STRAY_SHARE * (len(plain) + len(gaps)) and not _are_codes(plain):
        raise _stray(name, gaps, cells, by_dtype=True)


def _divided(rows: Sequence[int], cells: NDArray[Any], test: Callable[[Any], bool]) -> tuple[list[int], list[int]]:
    """The rows whose cells pass a test, and the others."""
    passed = over_distinct(test, cells[rows])
    return [row for row, yes in zip(rows, passed) if yes], [row for row, yes in zip(rows, passed) if not yes]


def _are_codes(numbers: Sequence[Any]) -> bool:
    return len(set(numbers)) <= min(MOST_CODES, len(numbers) / 2)


def _stray(name: str, strange: Sequence[int], cells: NDArray[Any], by_dtype: bool) -> ValueError:
    cell = cells[strange[0]]
    remedy = (
        f"Correct the cell, leave it empty, or say that {cell!r} is missing: missing=[{cell!r}], --missing {cell!r}. "
        "If it is a category, name the column as categorical (--categorical, data.read_table)."
    )
    if by_dtype:
        remedy = "Convert the column, by pandas.to_numeric(column, errors='coerce'), or by .astype('category')."
    return ValueError(f"column {name!r} holds numbers, but also {_shown(strange, cells)}. {remedy}")


def _decorated(name: str, rows: Sequence[int], cells: NDArray[Any], decimal: str) -> ValueError:
    remedy = " Decimal commas of a .csv table are read with --decimal , or decimal=','." if decimal == "." else ""
    return ValueError(
        f"column {name!r} holds numbers with a decimal comma, thousands separators, a currency or a per cent sign: "
        f"{_shown(rows, cells)}. Write plain numbers such as 1234{decimal}5, or name the column as categorical "
        f"(--categorical, data.read_table).{remedy}"
    )


def _shown(rows: Sequence[int], cells: NDArray[Any]) -> str:
    more = f", and others in {len(rows) - 1} more rows" if len(rows) > 1 else ""
    return f"{cells[rows[0]]!r} in row {rows[0] + 1} (from 1){more}"
