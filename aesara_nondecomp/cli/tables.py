"""Inputs and labels of a file, and what reading them for `fit` and for a model has in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from aesara_nondecomp._checks import require, suggestion
from aesara_nondecomp.data.cells import is_missing
from aesara_nondecomp.data.label_sets import Indicators, is_indicator_matrix, read_indicators
from aesara_nondecomp.data.table_columns import TableColumns


class LabelledTable(NamedTuple):
    """Inputs and labels of a file.

    Attributes
    ----------
    X : TableColumns, StreamedTable, Survey, list of str, array or CSR matrix, shape (n, d)
        The columns of a table, the texts of one of them, or a matrix; a Survey of one process's share of a table.
    y : array, shape (n,), or Indicators
        Labels, in the file's own coding; of a StreamedTable or Survey the distinct ones. Of several labels which rows
        have them.
    names : sequence of str, or None
        Column names of a matrix, if the file has them.
    groups : dict of str to array, or None
        The columns whose combinations are the groups of the rows, if there are groups.
    text : str or None
        The column that the inputs are the texts of, if they are texts.
    """

    X: Any
    y: Any
    names: Sequence[str] | None = None
    groups: dict[str, NDArray[Any]] | None = None
    text: str | None = None


def texts_of(columns: TableColumns, name: str) -> list[str]:
    """The texts of a column.

    Parameters
    ----------
    columns : TableColumns
        Of a table.
    name : str
        One of them.

    Returns
    -------
    list of str
        A missing one is empty.
    """
    return ["" if is_missing(cell) and not isinstance(cell, str) else str(cell) for cell in columns.cells[name]]


def array_name(target: Any) -> str:
    """The name of the array of labels in an .npz.

    Parameters
    ----------
    target : str or sequence of str, or None
        The option --target.

    Returns
    -------
    str
        By default "y".

    Raises
    ------
    ValueError
        If it names several.
    """
    one = "--target names one array of an .npz, which is a matrix where rows have several labels"
    require(target is None or isinstance(target, str), one, target)
    return target or "y"


def labels_of_archive(y: NDArray[Any]) -> NDArray[Any] | Indicators:
    """The labels in an array of an .npz.

    Parameters
    ----------
    y : array, shape (n,) or (n, L)
        As read.

    Returns
    -------
    array, shape (n,), or Indicators
        Of a matrix which rows have which label.
    """
    return read_indicators(y) if is_indicator_matrix(y) else y


def refuse_target(path: str, target: str | Sequence[str] | None) -> None:
    """Refuse the option --target for LIBSVM text.

    Parameters
    ----------
    path : str
        Path of the file.
    target : str or sequence of str, or None
        The option.

    Raises
    ------
    ValueError
        If it is given.
    """
    if target is not None:
        raise ValueError(f"--target names a column or an array, and the labels of {path} come first in its lines")


def checked_groups(groups: Sequence[str] | None, targets: Sequence[str], names: Sequence[str]) -> list[str]:
    """The columns of groups.

    Parameters
    ----------
    groups : sequence of str, or None
        The option --groups.
    targets : sequence of str
        Columns of the labels.
    names : sequence of str
        All columns.

    Returns
    -------
    list of str
        Each once.

    Raises
    ------
    ValueError
        If there is no such column, or it holds labels.
    """
    for name in groups or ():
        if name not in names:
            raise ValueError(f"there is no column {name!r} for --groups. {suggestion(name, names)}")
        if name in targets:
            raise ValueError(f"--groups must be other columns than the labels, got {name!r}")
    return list(dict.fromkeys(groups or ()))
