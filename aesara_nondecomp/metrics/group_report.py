"""How a classifier does by group: the rate predicted right of each cell, with its interval, and rates of each group."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._tables import number_text
from aesara_nondecomp.measures import Cells, GroupMeasure, get
from aesara_nondecomp.metrics.cell_intervals import jeffreys_interval
from aesara_nondecomp.metrics.cell_tables import draw_cells, report_dict, report_text, share_of, worst_value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[Any]
# Of Okabe and Ito's palette, which colour-blind people can tell apart; the markers differ too.
COLOURS, MARKERS = ("#0072B2", "#D55E00"), ("o", "s")


class CellRate(NamedTuple):
    """The rows of one class in one group.

    Attributes
    ----------
    name : str
        Such as ">50K of sex=F".
    group : str
        Name of the group.
    positive : bool
        Whether the class is the positive one.
    rows : int
        Number of rows.
    right : int
        Those that are predicted right.
    rate : float
        Their share, the recall of the cell; NaN without rows.
    low : float
        Lower end of its 95 % interval; NaN without rows.
    high : float
        Upper end.
    """

    name: str
    group: str
    positive: bool
    rows: int
    right: int
    rate: float
    low: float
    high: float


class GroupRates(NamedTuple):
    """Rates of one group.

    Attributes
    ----------
    name : str
        Of the group.
    rows : int
        Number of rows.
    accuracy : float
        Share predicted right.
    balanced_accuracy : float
        Mean of the recalls of its two cells; NaN if it lacks a class.
    selection_rate : float
        Share predicted positive.
    """

    name: str
    rows: int
    accuracy: float
    balanced_accuracy: float
    selection_rate: float


class GroupReport(NamedTuple):
    """How a classifier does by group, from `Model.by_group`. ``str(report)`` is a table.

    Attributes
    ----------
    cells : tuple of CellRate
        For each group the rows of the negative class, then those of the positive one.
    groups : tuple of GroupRates
        In sorted order.
    rows_without_group : int
        Rows whose group is missing, which take no part.
    """

    cells: tuple[CellRate, ...]
    groups: tuple[GroupRates, ...]
    rows_without_group: int

    @classmethod
    def of(cls, predicted: Array, cell: Array, groups: Sequence[str], labels: tuple[str, str]) -> GroupReport:
        """Count predictions by cell.

        Parameters
        ----------
        predicted : bool array, shape (n,)
            Whether each row is predicted positive.
        cell : int array, shape (n,)
            Cell of each row, from `cell_of_rows`.
        groups : sequence of str
            Names of the groups.
        labels : tuple of str
            What the negative and the positive class are called.

        Returns
        -------
        GroupReport
        """
        right, rows = cell_counts(predicted, cell, len(groups))
        rates = share_of(right, rows)
        low, high = jeffreys_interval(right, rows)
        cells = tuple(
            CellRate(
                f"{labels[k % 2]} of {groups[k // 2]}", groups[k // 2], bool(k % 2), int(rows[k]), int(right[k]),
                float(rates[k]), float(low[k]), float(high[k]),
            )
            for k in range(2 * len(groups))
        )  # fmt: skip
        return cls(cells, tuple(_rates_of(*pair) for pair in zip(cells[::2], cells[1::2])), int(rows[-2:].sum()))

    @property
    def worst_cell(self) -> CellRate:
        """The cell with the smallest rate predicted right."""
        return min((cell for cell in self.cells if cell.rows), key=lambda cell: cell.rate)

    @property
    def worst_group(self) -> GroupRates | None:
        """The group with the smallest balanced accuracy; None if no group has both classes."""
        known = [group for group in self.groups if not math.isnan(group.balanced_accuracy)]
        return min(known, key=lambda group: group.balanced_accuracy, default=None)

    def value(self, measure: str | GroupMeasure) -> dict[str, float]:
        """Evaluate a measure of the worst group.

        Parameters
        ----------
        measure : str or GroupMeasure
            Such as "worst_cell".

        Returns
        -------
        dict of str to float
            Its "value", the ends "low" and "high" of its 95 % interval, and as "trivial" the better value of the two
            constant predictions. All NaN if no group takes part, as in balanced accuracy if none has both classes.

        Raises
        ------
        ValueError
            If the measure is unknown, or is none of groups.
        """
        right, rows = (np.array([getattr(cell, name) for cell in self.cells] + [0, 0]) for name in ("right", "rows"))
        cells = Cells(tuple(group.name for group in self.groups), rows, rows / rows.sum())
        return worst_value(get(measure), right, cells, (cells.positive, ~cells.positive))

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; what is undefined is None.

        Returns
        -------
        dict of str to object
            "cells" and "groups" are lists of dicts of what they hold; "worst_cell" and "worst_group" are names.
        """
        return report_dict(self)

    def __str__(self) -> str:
        groups = [(group.name, group.rows, *map(number_text, group[2:])) for group in self.groups]
        header = ("group", "rows", "accuracy", "balanced accuracy", "predicted positive")
        worst = f"worst cell: {self.worst_cell.name}"
        if self.worst_group is not None:
            worst += f"; group of the smallest balanced accuracy: {self.worst_group.name}"
        return report_text(self.cells, header, groups, worst, self.rows_without_group)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw the rates of the cells with their intervals.

        Parameters
        ----------
        path : str or path-like, optional
            Also write the figure to this file, in the format of its suffix.

        Returns
        -------
        matplotlib.figure.Figure
            As wide as a column of text.

        Raises
        ------
        ImportError
            If matplotlib is missing.
        """
        parts = [
            ([cell.positive == positive for cell in self.cells], COLOURS[positive], MARKERS[positive], label)
            for positive, label in ((False, "negatives"), (True, "positives"))
        ]
        return draw_cells(self.cells, parts, path)


def cell_counts(predicted: Array, cell: Array, n_groups: int) -> tuple[Array, Array]:
    """Count predictions by cell.

    Parameters
    ----------
    predicted : bool array, shape (n,)
        Whether each row is predicted positive.
    cell : int array, shape (n,)
        Cell of each row.
    n_groups : int
        Number of groups G.

    Returns
    -------
    right : int array, shape (2 G + 2,)
        Rows of each cell that are predicted right.
    rows : int array, shape (2 G + 2,)
        All rows of each cell.
    """
    right, m = predicted == (cell % 2 == 1), 2 * n_groups + 2
    return np.bincount(cell[right], minlength=m), np.bincount(cell, minlength=m)


def _rates_of(negatives: CellRate, positives: CellRate) -> GroupRates:
    rows = negatives.rows + positives.rows
    selected = negatives.rows - negatives.right + positives.right
    return GroupRates(
        negatives.group,
        rows,
        (negatives.right + positives.right) / rows if rows else math.nan,
        (negatives.rate + positives.rate) / 2,
        selected / rows if rows else math.nan,
    )
