"""Cells of K classes in groups, and the measures of the worst group.

Source: docs/multiclass.md 8.
"""

# ruff: noqa: N803, N806 -- R, G and K are the names used by the formulas
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp.measures.constraints import Constraint, label_text
from aesara_nondecomp.measures.groups import AccuracyForms, BalancedForms, CellForms, WorstOfForms
from aesara_nondecomp.measures.groups import Cells as TwoCells
from aesara_nondecomp.measures.multiclass.base import Cells, Matrix, MulticlassMeasure
from aesara_nondecomp.measures.multiclass.linear import Accuracy

__all__ = ["GroupMeasure", "GroupedCells", "Likelihood", "WorstCell", "WorstGroupAccuracy", "WorstGroupBalanced"]


@dataclass(frozen=True, eq=False)
class GroupedCells(Cells):
    """Cells that are the class times the group of a row: for each group its K classes, then those without a group.

    Made by `GroupedCells.of`. Those without a group may be empty.

    Parameters
    ----------
    shares : array-like, shape ((G + 1) K,)
        Share of each cell in the weight of all rows; they sum to 1.
    target : array-like of int, shape ((G + 1) K,)
        True class of each cell.
    n_classes : int
        Number K of classes.
    groups : tuple of str
        Names of the G groups.
    labels : tuple
        The classes, for names.
    rows : int array, shape ((G + 1) K,)
        Number of rows of each cell.
    """

    groups: tuple[str, ...] = ()
    labels: tuple[Any, ...] = ()
    rows: Any = None

    @classmethod
    def of(
        cls, cell: NDArray[Any], groups: Sequence[str], labels: Sequence[Any], weight: NDArray[Any] | None = None
    ) -> GroupedCells:
        """Count the cells of some rows.

        Parameters
        ----------
        cell : int array, shape (n,)
            Of each row, from `measures.groups.cell_of_classes`.
        groups : sequence of str
            Names of the groups.
        labels : sequence
            The K classes.
        weight : array, shape (n,), optional
            Sample weights. Default: equal ones.

        Returns
        -------
        GroupedCells
        """
        K, G = len(labels), len(groups)
        rows = np.bincount(cell, minlength=K * (G + 1))
        weights = rows if weight is None else np.bincount(cell, weights=weight, minlength=len(rows))
        target = np.arange(len(rows)) % K
        return cls(weights / weights.sum(), target, K, tuple(groups), tuple(labels), rows)

    def of_others(self, cell: NDArray[Any], weight: NDArray[Any] | None = None) -> GroupedCells:
        """Count other rows in the same cells.

        Parameters
        ----------
        cell : int array, shape (n,)
            Of each row.
        weight : array, shape (n,), optional
            Sample weights. Default: equal ones.

        Returns
        -------
        GroupedCells
        """
        return GroupedCells.of(cell, self.groups, self.labels, weight)

    def place(self, label: Any) -> int:
        """Number of a class.

        Parameters
        ----------
        label : object
            The class, or its text.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            If there is no such class.
        """
        places = {text: k for k, each in enumerate(self.labels) for text in (str(each), label_text(each))}
        known = ", ".join(map(label_text, self.labels))
        require(label_text(label) in places, f"label must be one of the classes {known}", label)
        return places[label_text(label)]

    def against_rest(self, constraint: Constraint) -> AgainstRest:
        """The cells of two classes that a constraint is a function of: its class, and all others.

        Parameters
        ----------
        constraint : Constraint
            With a label, or on the accuracy, for which all rows are of one class.

        Returns
        -------
        AgainstRest

        Raises
        ------
        ValueError
            If the label is missing, or no class.
        """
        labelled = constraint.label is not None or constraint.rate == "accuracy"
        classes = ", ".join(map(label_text, self.labels))
        require(labelled, f"{constraint} needs label=, one of the classes {classes}", constraint.label)
        if constraint.label is None:
            own, column = np.ones(self.n_cells, dtype=bool), self.target
        else:
            column = np.full(self.n_cells, self.place(constraint.label))
            own = self.target == column
        binary = 2 * (np.arange(self.n_cells) // self.n_classes) + own
        size = 2 * len(self.groups) + 2
        shares = np.bincount(binary, self.shares, minlength=size)
        rows = np.bincount(binary, self.rows, minlength=size)
        within = np.divide(self.shares, shares[binary], out=np.zeros(self.n_cells), where=shares[binary] > 0)
        return AgainstRest(TwoCells(self.groups, rows, shares), binary, within, column)

    @property
    def in_group(self) -> NDArray[np.bool_]:
        """Whether each cell belongs to a group, shape (m,)."""
        return np.asarray(np.arange(self.n_cells) < self.n_classes * len(self.groups))

    @property
    def names(self) -> list[str]:
        """Names of the cells, such as "rare of women"."""
        of_groups = [f" of {group}" for group in self.groups] + [" without a group" if self.groups else ""]
        return [f"{label_text(label)}{of_group}" for of_group in of_groups for label in self.labels]

    def group(self, index: int) -> NDArray[np.bool_]:
        """Whether each cell is one of a group's.

        Parameters
        ----------
        index : int
            Of the group.

        Returns
        -------
        bool array, shape (m,)
        """
        return np.asarray(np.arange(self.n_cells) // self.n_classes == index)


class AgainstRest(NamedTuple):
    """One class against the rest: cells of two classes, whose recalls are affine in the conditional confusion matrix.

    Attributes
    ----------
    cells : measures.Cells
        For each group the rows of other classes and those of the class.
    binary : int array, shape (m,)
        Which of these each cell of K classes is in.
    share : float64 array, shape (m,)
        Its share in that.
    column : int array, shape (m,)
        The class that must be predicted, or for other rows must not.
    """

    cells: TwoCells
    binary: NDArray[np.intp]
    share: Matrix
    column: NDArray[np.intp]

    def recalls(self, R: Matrix) -> Matrix:
        """Recalls of the cells of two classes.

        Parameters
        ----------
        R : float64 array, shape (..., m, K)
            Conditional confusion matrix of the cells of K classes.

        Returns
        -------
        float64 array, shape (..., 2 G + 2)
            0 for cells without rows.
        """
        predicted = R[..., np.arange(len(self.binary)), self.column]
        right = np.where(self.binary % 2 == 1, predicted, 1.0 - predicted)
        members = self.share[:, None] * (self.binary[:, None] == np.arange(len(self.cells.rows)))
        return np.asarray(right @ members)

    def spread(self, weights: Matrix) -> Matrix:
        """Weights of the recalls as gains, up to constants in the rows.

        Parameters
        ----------
        weights : float64 array, shape (2 G + 2,)
            Of the recalls.

        Returns
        -------
        float64 array, shape (m, K)
        """
        gains = np.zeros((len(self.binary), len(self.binary) // (len(self.cells.groups) + 1)))
        sign = np.where(self.binary % 2 == 1, 1.0, -1.0)
        gains[np.arange(len(gains)), self.column] = sign * self.share * weights[self.binary]
        return gains


class GroupMeasure(WorstOfForms, MulticlassMeasure):
    """The smallest of several linear forms of the cells' recalls; its cells must be `GroupedCells`."""

    family = "worst group"
    of_recalls = True

    def drivers(self) -> tuple[str, ...]:
        return ("worst_group", "group_dro")

    def _value(self, R: Matrix, cells: Cells, eps: float) -> Any:
        return np.min(self._forms(cells) @ cells.recalls(R))

    def _gains(self, R: Matrix, cells: Cells, eps: float) -> Matrix:
        forms = self._forms(cells)
        values = forms @ cells.recalls(R)
        smallest = values == values.min()
        return np.asarray((smallest / smallest.sum()) @ forms)[:, None] * cells.own

    def _forms(self, cells: Cells) -> Matrix:
        needed = f"{self} needs the groups of the rows: give them, as to fit(..., groups=) or value(X, y, groups=)"
        require(isinstance(cells, GroupedCells), needed, "cells without groups")
        return self.forms_of(cells)


@dataclass(frozen=True)
class WorstCell(CellForms, GroupMeasure):
    """The smallest recall of a cell, which is a class in a group."""

    name = "worst_cell"


@dataclass(frozen=True)
class WorstGroupBalanced(BalancedForms, GroupMeasure):
    """The smallest mean recall of a group: the mean of the recalls of its K cells."""

    name = "worst_group_balanced"


@dataclass(frozen=True)
class WorstGroupAccuracy(AccuracyForms, GroupMeasure):
    """The smallest accuracy of a group."""

    name = "worst_group_accuracy"


@dataclass(frozen=True)
class Likelihood(Accuracy):
    """The likelihood of the labels as what is trained for, by cross-entropy; evaluated by the accuracy.

    For constraints: the most likely model among those that meet them.
    """

    name = "likelihood"
