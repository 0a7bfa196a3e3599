"""Whether a classifier meets constraints: their values with intervals, and verdicts."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._figures import new_figure, plain_text, save_figure
from aesara_nondecomp._tables import interval_text, number_text, table_lines
from aesara_nondecomp.measures import Cells, Constraint
from aesara_nondecomp.metrics.cell_intervals import count_draws, interval_of_largest
from aesara_nondecomp.metrics.cell_tables import draw_intervals, finish, plain
from aesara_nondecomp.metrics.group_report import cell_counts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aesara_nondecomp.measures.multiclass import GroupedCells

Array = NDArray[Any]
EXTREMES = 5  # groups that are compared with each other for the lower end of a gap
HELD, NOT_SHOWN, BROKEN = "held", "not shown", "broken"
# Of Okabe and Ito's palette, which colour-blind people can tell apart.
STYLES = {HELD: ("#009E73", "o"), NOT_SHOWN: ("#E69F00", "s"), BROKEN: ("#D55E00", "X")}


class Verdict(NamedTuple):
    """What labelled rows say about a constraint.

    Attributes
    ----------
    constraint : str
        Such as "tpr gap <= 0.02".
    bound : float
        What was asked for.
    value : float
        On the rows: a rate, or its largest difference between two groups. NaN if it is undefined, as the precision is
        if nothing is predicted positive, and the gap if the rows are of one group.
    low : float
        Lower end of its 95 % interval; NaN likewise.
    high : float
        Upper end.
    verdict : {"held", "not shown", "broken"}
        "held" if the whole interval meets the bound, "broken" if all of it breaks the bound.
    """

    constraint: str
    bound: float
    value: float
    low: float
    high: float
    verdict: str


class ConstraintReport(NamedTuple):
    """Whether a classifier meets constraints, from the method `constraints` of a model. ``str(report)`` is a table.

    Attributes
    ----------
    verdicts : tuple of Verdict
        In the order of the constraints.
    """

    verdicts: tuple[Verdict, ...]

    @classmethod
    def of(
        cls, constraints: Sequence[Constraint], predicted: Array, cell: Array, groups: Sequence[str]
    ) -> ConstraintReport:
        """Judge predictions.

        Parameters
        ----------
        constraints : sequence of Constraint
            What is asked for.
        predicted : bool array, shape (n,)
            Whether each row is predicted positive.
        cell : int array, shape (n,)
            Cell of each row, from `cell_of_rows`.
        groups : sequence of str
            Names of the groups; none will do if no constraint compares groups.

        Returns
        -------
        ConstraintReport
        """
        return cls(tuple(_judged(constraint, predicted, cell, groups) for constraint in constraints))

    @classmethod
    def of_classes(
        cls, constraints: Sequence[Constraint], predicted: Array, cell: Array, of_rows: GroupedCells
    ) -> ConstraintReport:
        """Judge predictions of several classes: for each constraint those of its class against all others.

        Parameters
        ----------
        constraints : sequence of Constraint
            What is asked for.
        predicted : int array, shape (n,)
            Predicted classes, as numbers.
        cell : int array, shape (n,)
            Cell of each row.
        of_rows : measures.multiclass.GroupedCells
            The cells of these rows.

        Returns
        -------
        ConstraintReport
        """
        verdicts = []
        for constraint in constraints:
            rest = of_rows.against_rest(constraint)
            binary, right = rest.binary[cell], predicted == rest.column[cell]
            judged = _judged(constraint.of_two_classes, right, binary, of_rows.groups)
            verdicts.append(judged._replace(constraint=str(constraint)))
        return cls(tuple(verdicts))

    @property
    def held(self) -> bool:
        """Whether all constraints are shown to be met."""
        return all(verdict.verdict == HELD for verdict in self.verdicts)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; what is undefined is None.

        Returns
        -------
        dict of str to dict
            By the text of the constraint: "bound", "value", "low", "high" and "verdict".
        """
        facts = (plain(verdict) for verdict in self.verdicts)
        return {fact.pop("constraint"): fact for fact in facts}

    def __str__(self) -> str:
        rows = [(v.constraint, number_text(v.value), interval_text(v.low, v.high), v.verdict) for v in self.verdicts]
        return "\n".join(table_lines(("constraint", "value", "95 % interval", "verdict"), rows))

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw the values with their intervals, and the bounds.

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
        figure = new_figure(3.5, 1.1 + 0.3 * len(self.verdicts))
        axis = figure.subplots()
        defined = [(row, each) for row, each in enumerate(self.verdicts) if not math.isnan(each.value)]
        for verdict, (colour, marker) in STYLES.items():
            shown = [(row, each.value, each.low, each.high) for row, each in defined if each.verdict == verdict]
            draw_intervals(axis, shown, colour, marker, verdict)
        for row, each in enumerate(self.verdicts):
            label = "bound" if row == 0 else None
            axis.plot([each.bound] * 2, [row - 0.35, row + 0.35], color="black", linewidth=1.2, label=label)
        names = [plain_text(each.constraint) for each in self.verdicts]
        axis.set_yticks(range(len(names)), names, fontsize=7)
        axis.set(ylim=(len(self.verdicts) - 0.5, -0.5))
        axis.set_xlabel("value, 95 % interval", fontsize=8)
        finish(figure, axis)
        if path is not None:
            save_figure(figure, path, dpi=200)
        return figure


def _judged(constraint: Constraint, predicted: Array, cell: Array, groups: Sequence[str]) -> Verdict:
    if not constraint.needs_groups:  # the cells are the classes, so that Jeffreys' prior weighs on four counts alone
        cell, groups = cell % 2, ()
    right, rows = cell_counts(predicted, cell, len(groups))
    cells = Cells(tuple(groups), rows, rows / rows.sum())
    rates = constraint.rates_of_counts(*count_draws(right, rows), cells)
    value = math.nan
    if constraint.kind != "gap" or len(rates) > 1:
        with np.errstate(invalid="ignore"):
            value = float(constraint.value(right / rows, cells))
    if math.isnan(value):
        return Verdict(str(constraint), constraint.bound, value, math.nan, math.nan, NOT_SHOWN)
    if constraint.kind == "gap":
        low, high = _interval_of_gap(rates, value)
    else:
        low, high = interval_of_largest(rates[0], rates, 1, value)
    return Verdict(str(constraint), constraint.bound, value, low, high, _verdict(constraint, low, high))


def _interval_of_gap(rates: Sequence[Array], value: float) -> tuple[float, float]:
    """The gap is the largest difference of two rates: of one of the highest and one of the lowest."""
    order = np.argsort([np.mean(draws) for draws in rates])
    pairs = itertools.product(order[-EXTREMES:], order[:EXTREMES])
    differences = (rates[above] - rates[below] for above, below in pairs if above != below)
    largest = np.max(rates, axis=0) - np.min(rates, axis=0)
    low, high = interval_of_largest(largest, differences, len(rates) * (len(rates) - 1), value)
    return max(low, 0.0), high


def _verdict(constraint: Constraint, low: float, high: float) -> str:
    broken = [constraint.excess(end) > 0 for end in (low, high)]
    return BROKEN if all(broken) else NOT_SHOWN if any(broken) else HELD
