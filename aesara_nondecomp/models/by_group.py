"""What a model is worth by group and under constraints, on labelled rows; groups are never needed to predict."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import measures, metrics
from aesara_nondecomp._checks import require, warn_caller
from aesara_nondecomp.data import encode_as
from aesara_nondecomp.data.groups import read_groups
from aesara_nondecomp.measures.constraints import check_constraints
from aesara_nondecomp.measures.groups import Cells, cell_of_rows
from aesara_nondecomp.metrics.cell_threshold import REACHED, CellGoal
from aesara_nondecomp.metrics.constraint_report import ConstraintReport
from aesara_nondecomp.metrics.group_report import GroupReport

Array = NDArray[Any]


class GroupedRows(NamedTuple):
    """Labelled rows with their groups.

    Attributes
    ----------
    cell : int32 array, shape (n,)
        Cell of each row.
    names : tuple of str
        Of the groups.
    """

    cell: Array
    names: tuple[str, ...]

    @classmethod
    def of(cls, signs: Array, groups: Any) -> GroupedRows:
        """Read the groups of rows.

        Parameters
        ----------
        signs : array, shape (n,)
            Labels in {-1, +1}.
        groups : array-like of shape (n,), table, or None
            As in `fit`; None for none.

        Returns
        -------
        GroupedRows

        Raises
        ------
        ValueError
            If there is not one group per row.
        """
        found = read_groups(groups, len(signs))
        return cls(cell_of_rows(signs, found.codes, len(found.names)), found.names)


def check_groups(users: list[str], groups: Any) -> None:
    """Check that groups are given where they are needed.

    Parameters
    ----------
    users : list of str
        Measures, constraints and arguments that need them.
    groups : object or None
        As given.

    Raises
    ------
    ValueError
        If they are needed and missing.
    """
    require(not users or groups is not None, f"{', '.join(users)} needs groups=, a value per row", groups)


def constraints_to_judge(
    trained_under: tuple[measures.Constraint, ...], asked: Any, groups: Any
) -> tuple[measures.Constraint, ...]:
    """The constraints that a model is judged by.

    Parameters
    ----------
    trained_under : tuple of Constraint
        Those of the model.
    asked : sequence of Constraint or None
        As given; None for those of the model.
    groups : object or None
        As given.

    Returns
    -------
    tuple of Constraint

    Raises
    ------
    ValueError
        If there is none, or one needs groups and there are none.
    """
    found = trained_under if asked is None else check_constraints("asked", asked)
    needed = "constraints needs asked=, such as gap('tpr', at_most=0.02), for a model that was trained under none"
    require(len(found) > 0, needed, found)
    check_groups([str(each) for each in found if each.needs_groups], groups)
    return found


def rows_of_measure(measure: measures.Measure, signs: Array, groups: Any) -> GroupedRows | None:
    """The groups that a measure is evaluated with; to be called before rows are scored.

    Parameters
    ----------
    measure : Measure
        To be evaluated.
    signs : array, shape (n,)
        Labels in {-1, +1}.
    groups : object or None
        As given.

    Returns
    -------
    GroupedRows or None
        None for a measure of two rates.

    Raises
    ------
    ValueError
        If groups are needed and missing, unusable, or given and without effect.
    """
    if not isinstance(measure, measures.GroupMeasure):
        require(groups is None, f"groups have no effect on {measure}: leave them out, or use by_group", groups)
        return None
    check_groups([str(measure)], groups)
    return GroupedRows.of(signs, groups)


def value_at_threshold(
    measure: measures.Measure, scores: Array, signs: Array, threshold: float, rows: GroupedRows | None,
    weight: Array | None = None,
) -> float:  # fmt: skip
    """Evaluate a measure on hard predictions.

    Parameters
    ----------
    measure : Measure
        Of two rates, or of groups.
    scores : array, shape (n,)
        Of the rows.
    signs : array, shape (n,)
        Labels in {-1, +1}.
    threshold : float
        Scores above it are positive.
    rows : GroupedRows or None
        From `rows_of_measure`.
    weight : array, shape (n,), or None
        Sample weights; None for equal ones.

    Returns
    -------
    float
        In the measure's own orientation.

    Raises
    ------
    ValueError
        If no group has rows for the measure.
    """
    if rows is None:
        return metrics.score(measure, metrics.confusion_at_threshold(scores, signs, threshold, weight))
    return CellGoal(measure, (), rows.names).at(threshold, scores, rows.cell, weight).value


class ByGroup:
    """Methods of a model that need the groups of rows, or judge constraints."""

    threshold: float
    classes: tuple[Any, Any]
    constrained_by: tuple[measures.Constraint, ...]
    extra: dict[str, Any]

    def by_group(self, X: Any, y: Any, groups: Any) -> GroupReport:
        """Report the rate predicted right of each class in each group, with 95 % intervals.

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
        GroupReport
            Its ``str`` is a table; `plot` draws it.

        Raises
        ------
        ValueError
            If X, y or groups are unusable.
        """
        require(groups is not None, "by_group needs groups, a value per row", groups)
        scores, rows = self._scored_groups(X, y, groups)
        target = self.extra.get("target")  # of the command line
        named = [f"{target}={label}" if target else str(label) for label in self.classes]
        return GroupReport.of(scores > self.threshold, rows.cell, rows.names, (named[0], named[1]))

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
            If there is no constraint, one needs groups and there are none, or X, y or groups are unusable.
        """
        asked = constraints_to_judge(self.constrained_by, asked, groups)
        for constraint in asked:
            Cells.of(np.arange(2), ()).against_rest(constraint)  # refuses one of several classes
        scores, rows = self._scored_groups(X, y, groups)
        return ConstraintReport.of(asked, scores > self.threshold, rows.cell, rows.names)

    def _best_threshold(self, measure: measures.Measure, scores: Array, rows: GroupedRows) -> float:
        """The best threshold for a measure of groups, or under the model's constraints."""
        goal = CellGoal(measure, self.constrained_by, rows.names)
        threshold = goal.best_threshold(scores, rows.cell, None)
        if goal.at(threshold, scores, rows.cell, None).excess > REACHED:
            asked = ", ".join(map(str, self.constrained_by))
            warn_caller(f"no threshold meets {asked} on these rows: this one breaks them least")
        return threshold

    def _rows_of_goal(self, measure: measures.Measure, signs: Array, groups: Any) -> GroupedRows | None:
        """The groups that the threshold for a measure is chosen with; None where two rates suffice."""
        users = [str(each) for each in self.constrained_by if each.needs_groups]
        if not users:
            found = rows_of_measure(measure, signs, groups)
            return GroupedRows.of(signs, None) if found is None and self.constrained_by else found
        check_groups(users, groups)
        return GroupedRows.of(signs, groups)

    def _scored_groups(self, X: Any, y: Any, groups: Any) -> tuple[Array, GroupedRows]:
        """Scores, and the cells of the rows."""
        rows = GroupedRows.of(encode_as(y, self.classes), groups)  # checked before the rows are scored
        return self._scored(X, y)[0], rows

    def _scored(self, X: Any, y: Any) -> tuple[Array, Array]:
        raise NotImplementedError
