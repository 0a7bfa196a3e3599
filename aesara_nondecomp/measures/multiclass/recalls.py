"""Means of the recalls, and the worst of them."""

# ruff: noqa: N803 -- R is the name used by the formulas
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from aesara_nondecomp._checks import positive_int, require
from aesara_nondecomp.measures._parameters import set_number
from aesara_nondecomp.measures.multiclass.base import Cells, Matrix
from aesara_nondecomp.measures.multiclass.families import Concave

__all__ = ["MeanOfWorst", "OfRecalls", "PowerMean", "QMean"]

_STEEPEST = math.log(1e6)  # of slopes at a recall of 0, which for s below 0 and near it are as good as infinite
_SMALLEST_EXPONENT = 1e-8  # smaller powers are 1 to rounding, of which no root gives the mean back
_NAMES = {1.0: "mean_recall", 0.0: "gmean", -1.0: "hmean"}


class OfRecalls(Concave):
    """A concave function of the recalls of the cells, and of nothing else."""

    needs_every_cell = True
    of_recalls = True

    def _value(self, R: Matrix, cells: Cells, eps: float) -> Any:
        return self.of(cells.recalls(R))

    def _gains(self, R: Matrix, cells: Cells, eps: float) -> Matrix:
        return self._slopes(cells.recalls(R))[:, None] * cells.own

    def of(self, r: Matrix) -> Any:
        """Value of recalls.

        Parameters
        ----------
        r : float64 array, shape (..., m)
            Of all cells.

        Returns
        -------
        float64 array, shape (...)
        """
        raise NotImplementedError

    def _slopes(self, r: Matrix) -> Matrix:
        raise NotImplementedError


@dataclass(frozen=True)
class MeanOfWorst(OfRecalls):
    """Mean of the h smallest recalls; "min_recall", the smallest one, for h = 1.

    Parameters
    ----------
    h : int
        At least 1, and at most the number of cells, which without groups are the classes.

    Raises
    ------
    ValueError
        If `h` is no whole number of at least 1; where the measure is used, if there are fewer cells.

    Notes
    -----
    Recalls that tie for the last place share the slope that is left. Source: docs/multiclass.md.
    """

    h: int
    name = "mean_of_worst"
    required_parameters = {"h": 2}

    def __post_init__(self) -> None:
        object.__setattr__(self, "h", positive_int("h", self.h))
        if self.h == 1:
            self._rename("min_recall", "h")

    def of(self, r: Matrix) -> Any:
        return np.sort(r, axis=-1)[..., : self._worst_of(r)].mean(axis=-1)

    def _slopes(self, r: Matrix) -> Matrix:
        h = self._worst_of(r)
        last = np.partition(r, h - 1)[h - 1]
        below, tied = r < last, r == last
        return np.asarray((below + tied * (h - below.sum()) / tied.sum()) / h)

    def _worst_of(self, r: Matrix) -> int:
        require(self.h <= r.shape[-1], f"{self} needs at least {self.h} classes", r.shape[-1])
        return self.h


@dataclass(frozen=True)
class PowerMean(OfRecalls):
    """Power mean of the recalls: (mean of r^s)^(1/s).

    Parameters
    ----------
    s : float
        At most 1, where the mean is concave: 1 is "mean_recall" (balanced accuracy), 0 "gmean", -1 "hmean". Within 1e-8
        of 0 it is taken as 0.
    floor : float, default 0.01
        In (0, 1]: for s >= 0, whose slope is unbounded at a recall of 0, slopes are taken at recalls raised to it. At
        1e-6 the weights of 26 classes would reach 1e4. The value takes no notice of it.

    Raises
    ------
    ValueError
        If a parameter is not a finite number in its range.

    Notes
    -----
    For s < 0 the slope at recalls of 0 is its limit where these grow together. Source: docs/multiclass.md.
    """

    s: float
    floor: float = 0.01
    name = "power_mean"
    required_parameters = {"s": -2.0}

    def __post_init__(self) -> None:
        set_number(self, "s", at_most=1.0)
        set_number(self, "floor", above=0.0, at_most=1.0)
        if abs(self.s) < _SMALLEST_EXPONENT:
            object.__setattr__(self, "s", 0.0)
        if self.s in _NAMES:
            self._rename(_NAMES[self.s], "s")

    def of(self, r: Matrix) -> Any:
        if self.s == 1.0:
            return _mean(r)
        low = r.min(axis=-1)
        mean = self._of_positive(r, low)
        return mean if self.s > 0.0 else np.where(low > 0.0, mean, 0.0)

    def _of_positive(self, r: Matrix, low: Any) -> Any:
        """The mean of recalls above 0, of which `low` is the smallest."""
        if self.s == 0.0:
            return np.exp(_mean(np.log(r)))
        scale = low if self.s < 0.0 else np.ones_like(low)  # or the powers would overflow
        return scale * _mean((r / scale[..., None]) ** self.s) ** (1.0 / self.s)

    def _slopes(self, r: Matrix) -> Matrix:
        if self.s == 1.0:
            return np.full(r.size, 1.0 / r.size)
        raised = np.maximum(r, self.floor) if self.s >= 0.0 else r
        low = raised.min()
        if low <= 0.0:
            zero = r <= 0.0
            slope = (1.0 - self.s) / self.s * math.log(zero.mean())
            return np.asarray(zero * (math.exp(min(slope, _STEEPEST)) / r.size))
        return np.asarray((self._of_positive(raised, low) / raised) ** (1.0 - self.s) / r.size)


@dataclass(frozen=True)
class QMean(OfRecalls):
    """Q-mean: 1 - sqrt(mean of (1 - r)^2).

    At the apex, where all recalls are 1, each slope is 1/m, its limit along equal recalls; 0 would be valid there too,
    but would stop training for ever. Source: docs/multiclass.md.
    """

    name = "qmean"

    def of(self, r: Matrix) -> Any:
        return 1.0 - np.sqrt(_mean((1.0 - r) ** 2))

    def _slopes(self, r: Matrix) -> Matrix:
        errors = 1.0 - r
        distance = math.sqrt(_mean(errors * errors))
        return np.full(r.size, 1.0 / r.size) if distance == 0.0 else np.asarray(errors / (r.size * distance))


def _mean(values: Matrix) -> Any:
    """Mean along the last axis: that of `np.mean`, in a third of its time, as each step comes here."""
    return np.add.reduce(values, axis=-1) / values.shape[-1]
