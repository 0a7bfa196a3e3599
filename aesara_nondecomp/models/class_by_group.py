"""What a model of several classes is worth by group and under constraints, on labelled rows.

Groups are never needed to predict.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp.data import encode_classes_as
from aesara_nondecomp.data.groups import read_groups
from aesara_nondecomp.measures import Constraint
from aesara_nondecomp.measures.groups import cell_of_classes
from aesara_nondecomp.measures.multiclass import GroupedCells, GroupMeasure, MulticlassMeasure
from aesara_nondecomp.metrics.class_goal import ClassGoal
from aesara_nondecomp.metrics.class_group_report import ClassGroupReport
from aesara_nondecomp.metrics.constraint_report import ConstraintReport
from aesara_nondecomp.models.by_group import check_groups, constraints_to_judge
from aesara_nondecomp.models.network_model import NetworkModel

Array = NDArray[Any]


class Judged(NamedTuple):
    """Predictions for labelled rows, by cell.

    Attributes
    ----------
    predicted : int array, shape (n,)
        Predicted classes, as numbers.
    cell : int32 array, shape (n,)
        Cell of each row.
    cells : measures.multiclass.GroupedCells
        The cells of these rows.
    """

    predicted: Array
    cell: Array
    cells: GroupedCells


class ClassByGroup(NetworkModel):
    """Methods of a model of several classes that need the groups of rows, or judge constraints."""

    classes: tuple[Any, ...]
    constrained_by: tuple[Constraint, ...]

    def by_group(self, X: Any, y: Any, groups: Any) -> ClassGroupReport:
        """Report the recall of each class in each group, and of each group accuracy and mean recall.

        Parameters
        ----------
        X : matrix, shape (n, d) or table
            As in `decision_function`.
        y : array-like, shape (n,)
            True labels.
        groups : array-like of shape (n,) or table
            The group of each row; of several columns, their combinations. They need not be those of the training rows.

        Returns
        -------
        ClassGroupReport
            With 95 % intervals. Its ``str`` is a table; `plot` draws it.

        Raises
        ------
        ValueError
            If X, y or groups are unusable.
        """
        require(groups is not None, "by_group needs groups, a value per row", groups)
        return ClassGroupReport.of(*self._judged(X, y, groups))

    def constraints(self, X: Any, y: Any, groups: Any = None, asked: Any = None) -> ConstraintReport:
        """Judge whether constraints hold on labelled rows: "held", "not shown" or "broken", by 95 % intervals.

        Parameters
        ----------
        X : matrix, shape (n, d) or table
            As in `decision_function`; rows that were not trained on.
        y : array-like, shape (n,)
            True labels.
        groups : array-like of shape (n,) or table, optional
            The group of each row, for gaps between groups.
        asked : sequence of Constraint, optional
            Default: `constrained_by`, what the model was trained under.

        Returns
        -------
        ConstraintReport
            Its ``str`` is a table; `plot` draws it.

        Raises
        ------
        ValueError
            If there is no constraint, one is of no class, one needs groups and there are none, or X, y or groups are
            unusable.
        """
        asked = constraints_to_judge(self.constrained_by, asked, groups)
        cells = GroupedCells.of(np.arange(len(self.classes)), (), self.classes)
        for constraint in asked:
            cells.against_rest(constraint)  # refuses one of no class, before rows are scored
        return ConstraintReport.of_classes(asked, *self._judged(X, y, groups))

    def _value_by_group(self, X: Any, y: Any, measure: MulticlassMeasure, groups: Any) -> float:
        """Evaluate a measure of groups."""
        of_groups = isinstance(measure, GroupMeasure)
        require(of_groups, f"groups have no effect on {measure}: leave them out, or use by_group", groups)
        check_groups([str(measure)], groups)
        predicted, cell, cells = self._judged(X, y, groups)
        return ClassGoal(measure, (), cells).at(predicted, cell).value

    def _judged(self, X: Any, y: Any, groups: Any) -> Judged:
        """Predictions, and the cells of the rows; these are checked before the rows are scored."""
        codes = encode_classes_as(y, self.classes)
        found = read_groups(groups, len(codes))
        cell = cell_of_classes(codes, found.codes, len(found.names), len(self.classes))
        cells = GroupedCells.of(cell, found.names, self.classes)
        return Judged(self._predicted(self._scores(self._labelled(X, y)[0])), cell, cells)

    def _labelled(self, X: Any, y: Any) -> tuple[Any, Array]:
        raise NotImplementedError

    def _predicted(self, scores: Array) -> Array:
        raise NotImplementedError
