"""What a model of several classes is worth by group, on labelled rows; groups are never needed to predict."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp.data import encode_classes_as
from aesara_nondecomp.data.groups import read_groups
from aesara_nondecomp.measures.groups import cell_of_classes
from aesara_nondecomp.measures.multiclass import GroupedCells, GroupMeasure, MulticlassMeasure
from aesara_nondecomp.metrics.class_goal import ClassGoal
from aesara_nondecomp.metrics.class_group_report import ClassGroupReport
from aesara_nondecomp.models.by_group import check_groups
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
    """Methods of a model of several classes that need the groups of rows."""

    classes: tuple[Any, ...]
    extra: dict[str, Any]

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
        target = self.extra.get("target")  # of the command line
        labels = [f"{target}={label}" if target else label for label in self.classes]
        return Judged(
            self._predicted(self._scores(self._labelled(X, y)[0])), cell, GroupedCells.of(cell, found.names, labels)
        )

    def _labelled(self, X: Any, y: Any) -> tuple[Any, Array]:
        raise NotImplementedError

    def _predicted(self, scores: Array) -> Array:
        raise NotImplementedError
