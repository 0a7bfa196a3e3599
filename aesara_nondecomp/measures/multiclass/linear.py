"""Linear measures, whose gains never change: accuracy, given costs, and macro-averaged absolute error."""

# ruff: noqa: N803 -- R is the name used by the formulas
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aesara_nondecomp.measures.multiclass._parameters import cost_rows, matrix_for
from aesara_nondecomp.measures.multiclass.base import Cells, Matrix
from aesara_nondecomp.measures.multiclass.families import Concave

__all__ = ["Accuracy", "CostMatrix", "MacroMAE"]


class _Linear(Concave):
    """A sum of slopes times R."""

    family = "linear"

    def _own_slopes(self, cells: Cells) -> Matrix:
        """Slopes of the value, in its own orientation."""
        raise NotImplementedError

    def _value(self, R: Matrix, cells: Cells, eps: float) -> Any:
        return np.vdot(self._own_slopes(cells), R)

    def _gains(self, R: Matrix, cells: Cells, eps: float) -> Matrix:
        slopes = self._own_slopes(cells)
        return slopes if self.greater_is_better else -slopes


@dataclass(frozen=True)
class Accuracy(_Linear):
    """Accuracy, the share of rows that are predicted as their class.

    Source: docs/multiclass.md.
    """

    name = "accuracy"
    of_recalls = True

    def _own_slopes(self, cells: Cells) -> Matrix:
        return np.asarray(cells.shares[:, None] * cells.own)


@dataclass(frozen=True)
class CostMatrix(_Linear):
    """Mean cost of the predictions; smaller is better.

    Parameters
    ----------
    costs : array-like, shape (K, K)
        What it costs to predict column k for a row of class j.

    Raises
    ------
    ValueError
        If it is no such matrix.

    Notes
    -----
    Source: docs/multiclass.md.
    """

    costs: Any
    name = "cost_matrix"
    greater_is_better = False
    required_parameters = {"costs": ((0, 1), (1, 0))}

    def __post_init__(self) -> None:
        object.__setattr__(self, "costs", cost_rows("costs", self.costs))

    def _own_slopes(self, cells: Cells) -> Matrix:
        costs = matrix_for("costs", self.costs, cells.n_classes)
        return np.asarray(cells.shares[:, None] * costs[cells.target])


@dataclass(frozen=True)
class MacroMAE(_Linear):
    """Macro-averaged mean absolute error of ordered classes: the mean over the cells of abs(t - k); smaller is better.

    Source: docs/multiclass.md.
    """

    name = "macro_mae"
    of_order = True
    greater_is_better = False
    needs_every_cell = True

    def _own_slopes(self, cells: Cells) -> Matrix:
        distances = np.abs(cells.target[:, None] - np.arange(cells.n_classes))
        return np.asarray(distances / cells.n_cells)
