"""Read the groups of rows: a vector, or the columns of a table, whose product they are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require, shown
from aesara_nondecomp.data.cells import category_form, cell_list, is_missing, over_distinct
from aesara_nondecomp.data.table_columns import is_table, read_table

MOST_GROUPS = 200  # more of them are numbers that were not divided into ranges


class Groups(NamedTuple):
    """The group of each row.

    Attributes
    ----------
    codes : int32 array, shape (n,)
        Index of its name; -1 where it is missing.
    names : tuple of str
        In sorted order.
    """

    codes: NDArray[Any]
    names: tuple[str, ...]


def read_groups(groups: Any, n_rows: int) -> Groups:
    """Read the groups of rows.

    Parameters
    ----------
    groups : array-like of shape (n,), table, or None
        A value per row, in any coding; of a table the groups are the combinations of its columns' values, such as
        "sex=F, race=Black". Missing values are those of tables (None, NaN, "" ...): a row with one has no group. None
        for no groups at all.
    n_rows : int
        Number of rows.

    Returns
    -------
    Groups

    Raises
    ------
    ValueError
        If there is not one value for each row, or there are more than 200 groups.
    """
    if groups is None:
        return Groups(np.full(n_rows, -1, dtype=np.int32), ())
    columns = [(f"{name}=", cells) for name, cells in read_table(groups).cells.items()] if is_table(groups) else None
    columns = [("", _vector(groups))] if columns is None else columns
    require(len(columns) > 0, "groups must have a column", "none")
    for _, cells in columns:
        require(len(cells) == n_rows, f"groups must hold one value per row, {n_rows} of them", len(cells))
    labels = [_labels(prefix, cells) for prefix, cells in columns]
    combined = [", ".join(parts) if all(parts) else "" for parts in zip(*labels)]
    names = sorted({*combined} - {""})
    if len(names) > MOST_GROUPS:
        raise ValueError(
            f"groups must be at most {MOST_GROUPS} different ones, got {len(names)}, such as {shown(names[0])}. "
            "Divide numbers into ranges first."
        )
    require(len(names) > 0, "groups must not all be missing", len(combined))
    places = {name: place for place, name in enumerate(names)}
    return Groups(np.array([places.get(name, -1) for name in combined], dtype=np.int32), tuple(names))


def without_unused(groups: Groups, rows: NDArray[Any]) -> Groups:
    """Leave out groups that none of the chosen rows has.

    Parameters
    ----------
    groups : Groups
        Of all rows.
    rows : int array, shape (k,)
        Indices of the chosen rows.

    Returns
    -------
    Groups
        Of all rows; a row of a group that is left out has none.

    Raises
    ------
    ValueError
        If no chosen row has a group, and others do.
    """
    used = np.setdiff1d(groups.codes[rows], [-1])
    require(len(used) > 0 or not groups.names, "groups must not all be missing", len(rows))
    places = np.full(len(groups.names) + 1, -1, dtype=np.int32)
    places[used] = np.arange(len(used))
    return Groups(places[groups.codes], tuple(groups.names[place] for place in used))


def _vector(groups: Any) -> NDArray[Any]:
    """The values of a vector as they are; NumPy would turn a list of texts and None into texts."""
    if isinstance(groups, np.ma.MaskedArray):
        groups = groups.tolist()  # type: ignore[no-untyped-call, unused-ignore]  # None where it is masked
    values = np.asarray(groups, dtype=object) if isinstance(groups, (list, tuple)) else np.asarray(groups)
    if values.ndim != 1:
        raise ValueError(f"groups must have shape (n,), or be a table of columns, got shape {values.shape}.")
    return values


def _labels(prefix: str, cells: NDArray[Any]) -> list[str]:
    """What each row's value is called; "" where it is missing. Spellings of one value are one, in all sets of rows."""

    def label(cell: Any) -> str:
        return "" if is_missing(cell) else prefix + category_form(cell)

    return over_distinct(label, cell_list(cells))
