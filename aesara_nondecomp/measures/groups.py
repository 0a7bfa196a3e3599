"""Cells, which are the class times the group of a row, and the measures of the worst group.

Every quantity here is a function of the recalls of the cells: of the positives of a group its true positive rate, of
its negatives the true negative rate. Groups are needed to train and to evaluate, never to predict.

Source: docs/algorithms.md 3.10.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.measures.base import Measure

__all__ = ["Cells", "GroupMeasure", "WorstCell", "WorstGroupAccuracy", "WorstGroupBalanced"]

Array = NDArray[Any]


class Cells(NamedTuple):
    """The cells of a set of rows: for each group its negatives and its positives, then those without a group.

    Attributes
    ----------
    groups : tuple of str
        Names of the G groups.
    rows : int array, shape (2 G + 2,)
        Number of rows of each cell; even indices are negatives.
    shares : float64 array, shape (2 G + 2,)
        Share of the weight of all rows; they sum to 1.
    """

    groups: tuple[str, ...]
    rows: Array
    shares: Array

    @classmethod
    def of(cls, cell: Array, groups: Sequence[str], weight: Array | None = None) -> Cells:
        """Count the cells of some rows.

        Parameters
        ----------
        cell : int array, shape (n,)
            Of each row, from `cell_of_rows`.
        groups : sequence of str
            Names of the groups.
        weight : array, shape (n,), optional
            Sample weights. Default: equal ones.

        Returns
        -------
        Cells
        """
        m = 2 * len(groups) + 2
        rows = np.bincount(cell, minlength=m)
        weights = rows if weight is None else np.bincount(cell, weights=weight, minlength=m)
        return cls(tuple(groups), rows, weights / (weights.sum() or 1))

    def of_others(self, cell: Array, weight: Array | None = None) -> Cells:
        """Count other rows in the same cells.

        Parameters
        ----------
        cell : int array, shape (n,)
            Of each row.
        weight : array, shape (n,), optional
            Sample weights. Default: equal ones.

        Returns
        -------
        Cells
        """
        return Cells.of(cell, self.groups, weight)

    def at_prior(self, prior: float) -> Cells:
        """These cells where positives have another share of the rows; within a class the shares keep their ratios.

        Parameters
        ----------
        prior : float
            That share, in (0, 1).

        Returns
        -------
        Cells
            With rows of both classes, as these must have.
        """
        factors = np.where(self.positive, prior / self.prior, (1 - prior) / (1 - self.prior))
        return self._replace(shares=self.shares * factors)

    def against_rest(self, constraint: Any) -> Cells:
        """The cells that a constraint is a function of, as of several classes: these.

        Parameters
        ----------
        constraint : Constraint
            Of two classes.

        Returns
        -------
        Cells

        Raises
        ------
        ValueError
            If it is of several classes.
        """
        if constraint.label is not None:
            raise ValueError(f"labels are of two classes here: {constraint} must be given without label=.")
        return self

    @property
    def cells(self) -> Cells:
        """Itself, see `against_rest`."""
        return self

    def recalls(self, recalls: Array) -> Array:
        """The recalls of these cells, see `against_rest`.

        Parameters
        ----------
        recalls : array, shape (..., 2 G + 2)
            Of the cells.

        Returns
        -------
        array, shape (..., 2 G + 2)
            As given.
        """
        return recalls

    def spread(self, weights: Array) -> Array:
        """Weights of the recalls as weights of what `recalls` takes.

        Parameters
        ----------
        weights : array, shape (2 G + 2,)
            Of the recalls.

        Returns
        -------
        array, shape (2 G + 2,)
            As given.
        """
        return weights

    @property
    def in_group(self) -> Array:
        """Whether each cell belongs to a group, shape (2 G + 2,)."""
        return np.asarray(np.arange(len(self.rows)) < 2 * len(self.groups))

    @property
    def positive(self) -> Array:
        """Whether each cell holds positives, shape (2 G + 2,)."""
        return np.asarray(np.arange(len(self.rows)) % 2 == 1)

    @property
    def names(self) -> list[str]:
        """Names of the cells, such as "positives of women"."""
        of_groups = [f" of {group}" for group in self.groups] + [" without a group" if self.groups else ""]
        return [f"{kind}{of_group}" for of_group in of_groups for kind in ("negatives", "positives")]

    def group(self, index: int) -> Array:
        """Whether each cell is one of a group's two.

        Parameters
        ----------
        index : int
            Of the group.

        Returns
        -------
        bool array, shape (2 G + 2,)
        """
        return np.asarray(np.arange(len(self.rows)) // 2 == index)

    def class_rates(self, recalls: Array) -> tuple[Any, Any]:
        """The true positive and the true negative rate of all rows.

        Parameters
        ----------
        recalls : array, shape (..., 2 G + 2)
            Of the cells; those without rows are ignored.

        Returns
        -------
        P : float or array
        N : float or array
        """
        weighted = np.where(self.shares > 0, recalls, 0.0) * self.shares
        of_class = [np.sum(weighted[..., k::2], axis=-1) / np.sum(self.shares[k::2]) for k in (1, 0)]
        return of_class[0], of_class[1]

    @property
    def prior(self) -> float:
        """Share of positives, by weight."""
        return float(np.sum(self.shares[1::2]))


def cell_of_rows(signs: Array, codes: Array, n_groups: int) -> Array:
    """Index of each row's cell.

    Parameters
    ----------
    signs : array, shape (n,)
        Labels in {-1, +1}.
    codes : int array, shape (n,)
        Index of each row's group; -1 for none.
    n_groups : int
        Number of groups.

    Returns
    -------
    int32 array, shape (n,)
    """
    return cell_of_classes(signs > 0, codes, n_groups, 2)


def cell_of_classes(classes: Array, codes: Array, n_groups: int, n_classes: int) -> Array:
    """Index of each row's cell, where there are any number of classes.

    Parameters
    ----------
    classes : int array, shape (n,)
        Classes as numbers from 0.
    codes : int array, shape (n,)
        Index of each row's group; -1 for none.
    n_groups : int
        Number of groups.
    n_classes : int
        Number of classes.

    Returns
    -------
    int32 array, shape (n,)
    """
    group = np.where(codes < 0, n_groups, codes)
    return (n_classes * group + classes).astype(np.int32)


class WorstOfForms:
    """The smallest of several linear forms of the cells' recalls, for cells of two classes or of several."""

    _classes = "each class"
    pools_rows = False  # whether a form is the share of right ones among all rows of its cells

    def forms(self, cells: Any) -> Array:
        """The linear forms, of which the measure is the smallest.

        Parameters
        ----------
        cells : Cells or multiclass.GroupedCells
            Of the rows; groups and cells without rows are left out.

        Returns
        -------
        float64 array, shape (k, m)
            Weights of at least 0; each row sums to 1.
        """
        raise NotImplementedError

    def forms_of(self, cells: Any) -> Array:
        """The linear forms, of which there must be one.

        Parameters
        ----------
        cells : Cells or multiclass.GroupedCells
            As for `forms`.

        Returns
        -------
        float64 array, shape (k, m)

        Raises
        ------
        ValueError
            If no group takes part.
        """
        forms = self.forms(cells)
        if not len(forms):
            raise ValueError(f"{self} needs a group with rows of {self._classes}, got none: {list(cells.groups)}.")
        return forms

    def form_names(self, cells: Any) -> list[str]:
        """Name what each form is the value of.

        Parameters
        ----------
        cells : Cells or multiclass.GroupedCells
            As for `forms`.

        Returns
        -------
        list of str
        """
        return [group for k, group in enumerate(cells.groups) if self._counts(cells, k)]

    def _counts(self, cells: Any, group: int) -> bool:
        """Whether a group takes part: if it has rows of each class."""
        return bool(np.all(cells.shares[cells.group(group)] > 0))


class GroupMeasure(WorstOfForms, Measure):
    """The smallest of several linear forms of the cells' recalls, such as the recall of the worst cell.

    It has no value on the two rates (P, N): `of_cells` takes the place of `value`.
    """

    family = "worst group"
    hint = "Use 'worst_group' or 'group_dro', with fit(..., groups=...)."
    _classes = "both classes"

    def of_cells(self, recalls: Array, cells: Cells) -> Any:
        """Value of the measure.

        Parameters
        ----------
        recalls : array, shape (..., m)
            Of the cells.
        cells : Cells
            Of the rows.

        Returns
        -------
        float or array
            In [0, 1].

        Raises
        ------
        ValueError
            If no group takes part.
        """
        return np.min(np.where(cells.shares > 0, recalls, 0.0) @ self.forms_of(cells).T, axis=-1)

    def drivers(self) -> tuple[str, ...]:
        return ("worst_group", "group_dro")

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:  # noqa: N803
        raise ValueError(
            f"{self.name} is a function of the recalls of cells, not of two rates: give groups, as to "
            "Model.value(X, y, groups=...)."
        )

    def _from_counts(self, *counts: Any, smoothed: bool) -> Any:
        self._value(0.0, 0.0, 0.5, 0.0)


class CellForms(WorstOfForms):
    """The recalls of the cells of all groups."""

    def forms(self, cells: Any) -> Array:
        return np.eye(len(cells.rows))[self._cells(cells)]

    def form_names(self, cells: Any) -> list[str]:
        return [cells.names[c] for c in self._cells(cells)]

    def _cells(self, cells: Any) -> Array:
        return np.flatnonzero(cells.in_group & (cells.shares > 0))


class BalancedForms(WorstOfForms):
    """The mean recall of the cells of each group."""

    def forms(self, cells: Any) -> Array:
        return _of_groups(self, cells, np.ones(len(cells.rows)))


class AccuracyForms(WorstOfForms):
    """The accuracy of each group."""

    pools_rows = True

    def forms(self, cells: Any) -> Array:
        return _of_groups(self, cells, cells.shares)

    def _counts(self, cells: Any, group: int) -> bool:
        return bool(np.any(cells.shares[cells.group(group)] > 0))


def _of_groups(measure: WorstOfForms, cells: Any, weights: Array) -> Array:
    """For each group that takes part, the mean of its recalls by these weights."""
    rows = [np.where(cells.group(k), weights, 0.0) for k in range(len(cells.groups)) if measure._counts(cells, k)]
    return np.array([row / row.sum() for row in rows]).reshape(-1, len(cells.rows))


@dataclass(frozen=True)
class WorstCell(CellForms, GroupMeasure):
    """The smallest recall of a cell: of the positives or the negatives of a group."""

    name = "worst_cell"


@dataclass(frozen=True)
class WorstGroupBalanced(BalancedForms, GroupMeasure):
    """The smallest balanced accuracy of a group: the mean of the recalls of its two cells."""

    name = "worst_group_balanced"


@dataclass(frozen=True)
class WorstGroupAccuracy(AccuracyForms, GroupMeasure):
    """The smallest accuracy of a group."""

    name = "worst_group_accuracy"
