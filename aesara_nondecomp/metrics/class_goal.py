"""What a model of several classes is judged by where groups or constraints play a part."""

# ruff: noqa: N806 -- C and R are the names used by the formulas
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.measures import Constraint
from aesara_nondecomp.measures.multiclass import GroupedCells, GroupMeasure, MulticlassMeasure
from aesara_nondecomp.metrics.class_scores import cell_confusion
from aesara_nondecomp.metrics.confusion_sums import conditional

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
    """

    measure: MulticlassMeasure
    constraints: tuple[Constraint, ...]
    cells: GroupedCells

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
        broken = [each.excess(each.value(R.ravel(), cells)) for each in self.constraints]
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
