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
from aesara_nondecomp.metrics.class_group_report import ClassGroupReport
from aesara_nondecomp.metrics.constraint_report import ConstraintReport
from aesara_nondecomp.models.by_group import check_groups, constraints_to_judge
from aesara_nondecomp.models.network_model import NetworkModel

Array = NDArray[Any]


class GroupedClasses(NamedTuple):
    """Labelled rows of several classes with their groups.

    Attributes
    ----------
    cell : int32 array, shape (n,)
        Cell of each row.
    cells : measures.multiclass.GroupedCells
        The cells of these rows.
    """

    cell: Array
    cells: GroupedCells

    @classmethod
    def of(cls, codes: Array, groups: Any, classes: tuple[Any, ...]) -> GroupedClasses:
        """Read the groups of rows.

        Parameters
        ----------
        codes : int array, shape (n,)
            Classes as numbers.
        groups : array-like of shape (n,), table, or None
            As in `fit`; None for none.
        classes : tuple
            The classes.

        Returns
        -------
        GroupedClasses

        Raises
        ------
        ValueError
            If there is not one group per row.
        """
        found = read_groups(groups, len(codes))
        cell = cell_of_classes(codes, found.codes, len(found.names), len(classes))
        return cls(cell, GroupedCells.of(cell, found.names, classes))


def class_rows_of_measure(
    measure: MulticlassMeasure, codes: Array, groups: Any, classes: tuple[Any, ...]
) -> GroupedClasses | None:
    """The groups that a measure is evaluated with; to be called before rows are scored.

    Parameters
    ----------
    measure : measures.multiclass.MulticlassMeasure
        To be evaluated.
    codes : int array, shape (n,)
        Classes as numbers.
    groups : object or None
        As given.
    classes : tuple
        The classes.

    Returns
    -------
    GroupedClasses or None
        None for a measure of the classes.

    Raises
    ------
    ValueError
        If groups are needed and missing, unusable, or given and without effect.
    """
    if not isinstance(measure, GroupMeasure):
        require(groups is None, f"groups have no effect on {measure}: leave them out, or use by_group", groups)
        return None
    check_groups([str(measure)], groups)
    return GroupedClasses.of(codes, groups, classes)


class ClassByGroup(NetworkModel):
    """Methods of a model of several classes that need the groups of rows, or judge constraints."""

    classes: tuple[Any, ...]
    constrained_by: tuple[Constraint, ...]

    def by_group(self, X: Any, y: Any, groups: Any) -> ClassGroupReport:
        """Report the recall of each class in each group, and of each group accuracy and mean recall.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
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
        predicted, rows = self._judged(X, y, groups)
        return ClassGroupReport.of(predicted, *rows)

    def constraints(self, X: Any, y: Any, groups: Any = None, asked: Any = None) -> ConstraintReport:
        """Judge whether constraints hold on labelled rows: "held", "not shown" or "broken", by 95 % intervals.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
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
        predicted, rows = self._judged(X, y, groups)
        return ConstraintReport.of_classes(asked, predicted, *rows)

    def _judged(self, X: Any, y: Any, groups: Any) -> tuple[Array, GroupedClasses]:
        """Predictions, and the cells of the rows; these are checked before the rows are scored."""
        rows = GroupedClasses.of(encode_classes_as(y, self.classes), groups, self.classes)
        return self._predicted(self._scores(self._labelled(X, y)[0])), rows

    def _labelled(self, X: Any, y: Any) -> tuple[Any, Array]:
        raise NotImplementedError

    def _predicted(self, scores: Array) -> Array:
        raise NotImplementedError
