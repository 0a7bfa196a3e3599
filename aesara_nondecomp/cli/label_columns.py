"""The columns of labels that --target names: one, or several of 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require, suggestion
from aesara_nondecomp.cli.option_types import column_names
from aesara_nondecomp.data.label_numbers import as_labels
from aesara_nondecomp.data.label_sets import Indicators
from aesara_nondecomp.data.streamed_tables import popped_labels
from aesara_nondecomp.data.table_columns import TableColumns
from aesara_nondecomp.data.table_files import TableFiles

TRUTH = {"true": 1, "false": 0}


def target_columns(path: str, typed: str | Sequence[str] | None, names: Sequence[str]) -> tuple[str, ...]:
    """The columns that a target stands for.

    Parameters
    ----------
    path : str
        The table, for messages.
    typed : str, sequence of str, or None
        A column, or several between commas; or several of these.
    names : sequence of str
        All columns. One that is named as typed, commas included, is that column.

    Returns
    -------
    tuple of str
        One column, or those of several labels.

    Raises
    ------
    ValueError
        If nothing was typed, a column is not there, or one is named twice.
    """
    if not typed:
        raise ValueError(f"{path} needs the name of its label column: give --target. Columns: {', '.join(names)}")
    parts = [typed] if isinstance(typed, str) else typed
    found = [name for part in parts for name in ([part] if part in names else column_names(part))]
    for name in found:
        if name not in names:
            raise ValueError(f"{path} has no column {name!r} for --target. {suggestion(name, names)}")
    require(len(set(found)) == len(found), "--target must name each column once", found)
    return tuple(found)


def one_target(path: str, typed: str | Sequence[str] | None, names: Sequence[str]) -> str:
    """The column that a target stands for, where a row has one label.

    Parameters
    ----------
    path : str
        As in `target_columns`.
    typed : str, sequence of str, or None
        Likewise.
    names : sequence of str
        Likewise.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        Likewise; or if it names several columns.
    """
    found = target_columns(path, typed, names)
    require(len(found) == 1, "this model has one label for each row: --target must name one column", found)
    return found[0]


def features_beside(files: TableFiles, names: Sequence[str], targets: Sequence[str]) -> list[str]:
    """The columns of the features, beside those of the labels.

    Parameters
    ----------
    files : TableFiles
        The table, with the columns to drop.
    names : sequence of str
        All columns.
    targets : sequence of str
        Those of the labels.

    Returns
    -------
    list of str

    Raises
    ------
    ValueError
        If a named column is not there, or no feature is left.
    """
    return files._replace(drop=(*files.drop, *targets[1:])).features(names, targets[0])


def labels_of(path: str, columns: TableColumns, targets: Sequence[str]) -> NDArray[Any] | Indicators:
    """The labels, taken out of the columns of a table.

    Parameters
    ----------
    path : str
        The table, for messages.
    columns : TableColumns
        Its columns.
    targets : sequence of str
        Those of the labels.

    Returns
    -------
    array, shape (n,), or Indicators
        The cells of one column as they are; of several which rows have each label.

    Raises
    ------
    ValueError
        If rows lack a label, or one of several columns holds anything but 0 and 1, or true and false.
    """
    if len(targets) == 1:
        return popped_labels(path, columns, targets[0])
    found = [_having(name, as_labels(popped_labels(path, columns, name))) for name in targets]
    return Indicators(np.stack(found, axis=1), tuple(targets))


def _having(name: str, cells: NDArray[Any]) -> NDArray[np.bool_]:
    """Which rows have a label, by the cells of its column."""
    read = [TRUTH.get(cell.lower(), cell) if isinstance(cell, str) else cell for cell in cells.tolist()]
    strange = [cell for cell in dict.fromkeys(read) if isinstance(cell, str) or cell not in (0, 1)]
    needed = f"of several labels each column must hold 0 and 1, or true and false; {name!r} has others"
    require(not strange, needed, strange[:5])
    return np.array(read, dtype=bool)
