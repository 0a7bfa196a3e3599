"""What a model of several classes is judged by where groups or constraints play a part."""

# ruff: noqa: N806 -- C and R are the names used by the formulas
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.measures import Constraint
from aesara_nondecomp.measures.multiclass import GroupedCells, GroupMeasure, MulticlassMeasure
from aesara_nondecomp.metrics.class_scores import cell_confusion
from aesara_nondecomp.metrics.confusion_sums import conditional, softmax
from aesara_nondecomp.metrics.plug_in_rule import plug_in

Array = NDArray[Any]


class Reached(NamedTuple):
    """What predictions reach.

    Attributes
    ----------
    value : float
        Of the measure, in its own orientation; NaN where it is undefined.
    excess : float
        By how much the constraints are broken, added up; 0 if all are met.
    confusion : array, shape (K, K)
        Confusion matrix of all rows.
    """

    value: float
    excess: float
    confusion: Array


class ClassGoal(NamedTuple):
    """A measure of several classes, under constraints if there are any.

    Attributes
    ----------
    measure : measures.multiclass.MulticlassMeasure
        Of the classes, or of their cells.
    constraints : tuple of Constraint
        Those that predictions must meet.
    cells : measures.multiclass.GroupedCells
        Which cells there are; their shares and numbers of rows do not count.
    tuned : bool
        Whether offsets may be chosen under the constraints.
    """

    measure: MulticlassMeasure
    constraints: tuple[Constraint, ...]
    cells: GroupedCells
    tuned: bool = False

    @property
    def by_offsets(self) -> bool:
        """Whether offsets are chosen: not where groups are compared, of which they know nothing."""
        grouped = isinstance(self.measure, GroupMeasure) or any(each.needs_groups for each in self.constraints)
        return self.tuned and bool(self.constraints) and not grouped

    def rule(self, scores: Array, cell: Array, weight: Array | None, candidates: int = 60) -> Array | None:
        """The best offsets that meet the constraints on these rows.

        Parameters
        ----------
        scores : array, shape (n, K)
            Of the rows.
        cell : int array, shape (n,)
            Cell of each row.
        weight : array, shape (n,), or None
            Sample weights.
        candidates : int, default 60
            As for `plug_in`.

        Returns
        -------
        float64 array, shape (K, K), or None
            None if they are not chosen.
        """
        if not self.by_offsets:
            return None
        found = plug_in(
            self.measure, softmax(scores.astype(np.float64)), cell % self.cells.n_classes, weight, method="offsets",
            starts=1, candidates=candidates, constraints=self.constraints, labels=self.cells.labels,
        )  # fmt: skip
        return found.matrix

    def at(self, predicted: Array, cell: Array, weight: Array | None = None) -> Reached:
        """Judge predictions.

        Parameters
        ----------
        predicted : int array, shape (n,)
            Predicted classes.
        cell : int array, shape (n,)
            Cell of each row.
        weight : array, shape (n,), or None
            Sample weights. Default: equal ones.

        Returns
        -------
        Reached
        """
        R, cells, C = self.rates(predicted, cell, weight)
        broken = [each.excess(each.value(R, cells)) for each in self.constraints]
        confusion = C.reshape(-1, cells.n_classes, cells.n_classes).sum(axis=0)
        if isinstance(self.measure, GroupMeasure):
            value = self.measure.value(R, cells)
        else:
            value = self.measure.from_confusion(confusion)
        return Reached(value, float(np.sum(broken)), confusion)

    def rates(self, predicted: Array, cell: Array, weight: Array | None = None) -> tuple[Array, GroupedCells, Array]:
        """The rates that measures and constraints are functions of.

        Parameters
        ----------
        predicted : int array, shape (n,)
            Predicted classes.
        cell : int array, shape (n,)
            Cell of each row.
        weight : array, shape (n,), or None
            Sample weights. Default: equal ones.

        Returns
        -------
        R : float64 array, shape (m, K)
            Conditional confusion matrix; of cells without rows as if all were right.
        cells : GroupedCells
            Those of the rows.
        C : array, shape (m, K)
            Confusion matrix of the cells.
        """
        cells = self.cells.of_others(cell, weight)
        C = cell_confusion(cell, predicted, (cells.n_cells, cells.n_classes), weight)
        return conditional(C, C.sum(axis=1), cells.own), cells, C
