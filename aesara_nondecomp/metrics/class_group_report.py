"""How a classifier of several classes does by group: recalls of the cells, accuracy and mean recall of the groups."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._tables import interval_text, number_text
from aesara_nondecomp.measures.constraints import label_text
from aesara_nondecomp.measures.multiclass import GroupedCells, GroupMeasure, get
from aesara_nondecomp.metrics.cell_intervals import TAIL, jeffreys_interval, recall_draws
from aesara_nondecomp.metrics.cell_tables import draw_cells, report_dict, report_text, share_of, worst_value
from aesara_nondecomp.metrics.class_scores import cell_confusion

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[Any]
COLOUR, WORST = "#0072B2", "#D55E00"  # of Okabe and Ito's palette


class ClassCellRate(NamedTuple):
    """The rows of one class in one group.

    Attributes
    ----------
    name : str
        Such as "rare of sex=F".
    group : str
        Name of the group.
    label : str
        The class.
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
    label: str
    rows: int
    right: int
    rate: float
    low: float
    high: float


class ClassGroupRates(NamedTuple):
    """Rates of one group, with 95 % intervals.

    Attributes
    ----------
    name : str
        Of the group.
    rows : int
        Number of rows.
    accuracy : float
        Share predicted right; NaN without rows.
    accuracy_low : float
        Lower end of its interval.
    accuracy_high : float
        Upper end.
    mean_recall : float
        Mean of the recalls of its cells; NaN if it lacks a class.
    mean_recall_low : float
        Lower end of its interval.
    mean_recall_high : float
        Upper end.
    """

    name: str
    rows: int
    accuracy: float
    accuracy_low: float
    accuracy_high: float
    mean_recall: float
    mean_recall_low: float
    mean_recall_high: float


class ClassGroupReport(NamedTuple):
    """How a classifier of several classes does by group, from `ClassModel.by_group`. ``str(report)`` is a table.

    Attributes
    ----------
    cells : tuple of ClassCellRate
        For each group its classes, in order.
    groups : tuple of ClassGroupRates
        In sorted order.
    rows_without_group : int
        Rows whose group is missing, which take no part.
    """

    cells: tuple[ClassCellRate, ...]
    groups: tuple[ClassGroupRates, ...]
    rows_without_group: int

    @classmethod
    def of(cls, predicted: Array, cell: Array, of_rows: GroupedCells) -> ClassGroupReport:
        """Count predictions by cell.

        Parameters
        ----------
        predicted : int array, shape (n,)
            Predicted classes, as numbers.
        cell : int array, shape (n,)
            Cell of each row.
        of_rows : measures.multiclass.GroupedCells
            The cells of these rows.

        Returns
        -------
        ClassGroupReport
        """
        C = cell_confusion(cell, predicted, (of_rows.n_cells, of_rows.n_classes))  # noqa: N806
        right, rows = C[np.arange(len(C)), of_rows.target], C.sum(axis=1)
        low, high = jeffreys_interval(right, rows)
        with np.errstate(invalid="ignore"):
            rates = right / rows
        names, K = of_rows.names, of_rows.n_classes  # noqa: N806
        cells = tuple(
            ClassCellRate(
                names[c], of_rows.groups[c // K], label_text(of_rows.labels[c % K]), int(rows[c]), int(right[c]),
                float(rates[c]), float(low[c]), float(high[c]),
            )
            for c in np.flatnonzero(of_rows.in_group)
        )  # fmt: skip
        draws = recall_draws(right, rows)
        groups = tuple(
            _rates_of(name, right[of_rows.group(g)], rows[of_rows.group(g)], draws[:, of_rows.group(g)])
            for g, name in enumerate(of_rows.groups)
        )
        return cls(cells, groups, int(rows[~of_rows.in_group].sum()))

    @property
    def worst_cell(self) -> ClassCellRate:
        """The cell with the smallest recall."""
        return min((cell for cell in self.cells if cell.rows), key=lambda cell: cell.rate)

    @property
    def worst_group(self) -> ClassGroupRates | None:
        """The group with the smallest mean recall; None if no group has all classes."""
        known = [group for group in self.groups if not math.isnan(group.mean_recall)]
        return min(known, key=lambda group: group.mean_recall, default=None)

    def value(self, measure: str | GroupMeasure) -> dict[str, float]:
        """Evaluate a measure of the worst group.

        Parameters
        ----------
        measure : str or measures.multiclass.GroupMeasure
            Such as "worst_cell".

        Returns
        -------
        dict of str to float
            Its "value", the ends "low" and "high" of its 95 % interval, and as "trivial" the best value of one class
            for all rows. All NaN if no group takes part, as in the mean recall if none has all classes.

        Raises
        ------
        ValueError
            If the measure is unknown, or is none of groups.
        """
        labels = tuple(dict.fromkeys(cell.label for cell in self.cells))
        rest = [0] * len(labels)
        right, rows = (np.array([getattr(cell, name) for cell in self.cells] + rest) for name in ("right", "rows"))
        index = np.repeat(np.arange(len(rows)), rows)
        cells = GroupedCells.of(index, tuple(group.name for group in self.groups), labels)
        return worst_value(get(measure), right, cells, cells.own.T)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; what is undefined is None.

        Returns
        -------
        dict of str to object
            "cells" and "groups" are lists of dicts of what they hold; "worst_cell" and "worst_group" are names.
        """
        return report_dict(self)

    def __str__(self) -> str:
        groups = [
            (g.name, g.rows, *_shown(*g[2:5]), *_shown(*g[5:8])) for g in self.groups
        ]  # fmt: skip
        header = ("group", "rows", "accuracy", "95 % interval", "mean recall", "95 % interval")
        worst = f"worst cell: {self.worst_cell.name}"
        if self.worst_group is not None:
            worst += f"; group of the smallest mean recall: {self.worst_group.name}"
        return report_text(self.cells, header, groups, worst, self.rows_without_group)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw the recalls of the cells with their intervals.

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
        worst = [cell is self.worst_cell for cell in self.cells]
        others = [not each for each in worst]
        return draw_cells(self.cells, [(others, COLOUR, "o", "recall"), (worst, WORST, "s", "worst cell")], path)


def _rates_of(name: str, right: Array, rows: Array, draws: Array) -> ClassGroupRates:
    """Rates of a group from the rows of its cells and the draws of their recalls."""
    hits, total = right.sum(), rows.sum()
    low, high = jeffreys_interval(hits, total)
    mean = (math.nan,) * 3
    if rows.all():
        mean = _with_interval(float((right / rows).mean()), draws.mean(axis=1))
    return ClassGroupRates(name, int(total), float(share_of(hits, total)), float(low), float(high), *mean)


def _with_interval(value: float, draws: Array) -> tuple[float, float, float]:
    """A value and the ends of its 95 % interval, which holds it."""
    low, high = np.quantile(draws, [TAIL, 1 - TAIL])
    return value, min(float(low), value), max(float(high), value)


def _shown(value: float, low: float, high: float) -> tuple[str, str]:
    return number_text(value), interval_text(low, high)
