"""Ratios of functions of the confusion matrix: F1 of several classes, kappa and weighted kappa, MCC."""

# ruff: noqa: N803, N806 -- R, A, B and W are the names used by the formulas
from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from aesara_nondecomp._checks import require
from aesara_nondecomp.measures._parameters import BETAS, set_number
from aesara_nondecomp.measures.multiclass._parameters import cost_rows, label_numbers, matrix_for
from aesara_nondecomp.measures.multiclass.base import Cells, Matrix, MulticlassMeasure
from aesara_nondecomp.measures.multiclass.families import Pseudolinear, SumOfRatios

__all__ = ["MCC", "QWK", "Kappa", "MacroFBeta", "MicroF1", "WeightedKappa"]

SMALLEST_SPREAD = 1e-12  # below it all rows are of one class, up to rounding


@dataclass(frozen=True)
class MicroF1(Pseudolinear):
    """Micro-averaged F1 of the classes that are not negative: 2 sum of p_k r_k / (2 - p_S - q_S).

    Parameters
    ----------
    negative : int or sequence of int
        The negative classes S, numbered from 0: at least one, as the micro F1 of all classes is the accuracy, and not
        all.

    Raises
    ------
    ValueError
        If it holds no class numbers.

    Notes
    -----
    Source: docs/multiclass.md.
    """

    negative: Any
    name = "micro_f1"
    required_parameters = {"negative": 0}

    def __post_init__(self) -> None:
        object.__setattr__(self, "negative", label_numbers("negative", self.negative))

    def coefficients(self, cells: Cells) -> tuple[float, Matrix, float, Matrix]:
        negative = _chosen("negative", self.negative, cells)
        require(not negative.all(), "negative must leave at least one class", self.negative)
        A = 2.0 * cells.shares[:, None] * cells.own * ~negative
        B = -cells.shares[:, None] * negative
        return 0.0, A, 2.0 - float(cells.priors[negative].sum()), B


@dataclass(frozen=True)
class Kappa(Pseudolinear):
    """Cohen's kappa: (accuracy - e) / (1 - e), where e = sum of p_k q_k is the accuracy by chance.

    Source: docs/multiclass.md.
    """

    name = "kappa"

    def coefficients(self, cells: Cells) -> tuple[float, Matrix, float, Matrix]:
        by_chance = cells.shares[:, None] * cells.priors
        return 0.0, cells.shares[:, None] * cells.own - by_chance, 1.0, -by_chance


class _WeightedKappa(Pseudolinear):
    """1 - sum of pi W R / sum of q_k e_k, where e_k = sum of p_j W_jk."""

    def _disagreement(self, n_classes: int) -> Matrix:
        """The weights W (K, K)."""
        raise NotImplementedError

    def coefficients(self, cells: Cells) -> tuple[float, Matrix, float, Matrix]:
        W = self._disagreement(cells.n_classes)
        by_chance = cells.shares[:, None] * (cells.priors @ W)
        return 0.0, by_chance - cells.shares[:, None] * W[cells.target], 0.0, by_chance


@dataclass(frozen=True)
class QWK(_WeightedKappa):
    """Quadratic weighted kappa, of ordered classes: weighted kappa with W_jk = (j - k)^2.

    Source: docs/multiclass.md.
    """

    name = "qwk"
    of_order = True

    def _disagreement(self, n_classes: int) -> Matrix:
        return _squared_distances(n_classes)


@dataclass(frozen=True)
class WeightedKappa(_WeightedKappa):
    """Weighted kappa of given disagreements.

    Parameters
    ----------
    disagreement : array-like, shape (K, K)
        What it costs to predict column k for a row of class j, at least 0; 0 where both agree. No row and no column is
        0: where only a class that costs nothing is predicted, the measure would be 0/0.

    Raises
    ------
    ValueError
        If it is no such matrix.

    Notes
    -----
    Source: docs/multiclass.md.
    """

    disagreement: Any
    name = "weighted_kappa"
    required_parameters = {"disagreement": ((0, 1), (1, 0))}

    def __post_init__(self) -> None:
        rows = cost_rows("disagreement", self.disagreement)
        costs = np.array(rows)
        right = not costs.diagonal().any() and costs.min() >= 0 and costs.any(axis=0).all() and costs.any(axis=1).all()
        needed = (
            "disagreement must be 0 on the diagonal, at least 0 elsewhere, and above 0 somewhere in each row and column"
        )
        require(bool(right), needed, self.disagreement)
        object.__setattr__(self, "disagreement", rows)

    def _disagreement(self, n_classes: int) -> Matrix:
        return matrix_for("disagreement", self.disagreement, n_classes)


@dataclass(frozen=True)
class MacroFBeta(SumOfRatios):
    """Mean of the classes' F_beta: F_k = (1+B) p_k r_k / (B p_k + q_k), where B = beta^2.

    Parameters
    ----------
    beta : float, default 1.0
        In [1e-4, 1e6]. Above 1 it favours recall, below 1 precision.
    labels : int or sequence of int, optional
        Classes to average, numbered from 0. Default: all.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    Source: docs/multiclass.md.
    """

    beta: float = 1.0
    labels: Any = None
    name = "macro_fbeta"
    required_parameters = {"labels": (0, 1)}

    def __post_init__(self) -> None:
        set_number(self, "beta", **BETAS)
        if self.labels is not None:
            object.__setattr__(self, "labels", label_numbers("labels", self.labels))
        if self.beta == 1.0:
            self._rename("macro_f1" if self.labels is None else "f1_of", "beta")

    def levels(self, R: Matrix, cells: Cells) -> Matrix:
        chosen = self._averaged(cells)
        u = 1.0 / (self.beta**2 * cells.priors + cells.predicted(R))[chosen]
        return np.array([(1.0 + self.beta**2) * cells.hits(R)[chosen] * u, u])

    def level_gains(self, levels: Any, cells: Cells) -> Matrix:
        chosen = self._averaged(cells)
        v, u = levels
        slopes = ((1.0 + self.beta**2) * cells.own[:, chosen] - v) * u / u.size
        if self.labels is None:
            return np.asarray(cells.shares[:, None] * slopes)
        G = np.zeros((cells.n_cells, cells.n_classes))
        G[:, chosen] = cells.shares[:, None] * slopes
        return G

    def _averaged(self, cells: Cells) -> Any:
        if self.labels is None:
            return slice(None)
        return _chosen("labels", self.labels, cells)

    def _value(self, R: Matrix, cells: Cells, eps: float) -> Any:
        return self.levels(R, cells)[0].mean()


@dataclass(frozen=True)
class MCC(MulticlassMeasure):
    """Matthews correlation coefficient of K classes: (accuracy - e) / sqrt((1 - sum of p^2)(1 - sum of q^2)).

    It is 0 where all rows are of one class, or are predicted as one. It belongs to no family that an algorithm serves:
    report only. Source: docs/multiclass.md.
    """

    name = "mcc"

    def _value(self, R: Matrix, cells: Cells, eps: float) -> Any:
        p, q = cells.priors, cells.predicted(R)
        of_rows, of_predictions = 1.0 - p @ p, 1.0 - q @ q
        if min(of_rows, of_predictions) < SMALLEST_SPREAD:
            return 0.0
        return (cells.hits(R).sum() - p @ q) / np.sqrt(of_rows * of_predictions)


@lru_cache
def _squared_distances(n_classes: int) -> Matrix:
    """((j - k) / (K - 1))^2; the scale leaves the measure unchanged, and its gains are then of the size of others."""
    place = np.arange(n_classes) / (n_classes - 1)
    distances = np.subtract.outer(place, place) ** 2
    distances.flags.writeable = False
    return np.asarray(distances)


def _chosen(name: str, labels: tuple[int, ...], cells: Cells) -> Any:
    """Which classes a parameter names, as a mask (K,)."""
    require(max(labels) < cells.n_classes, f"{name} must hold classes from 0 to {cells.n_classes - 1}", labels)
    return np.isin(np.arange(cells.n_classes), labels)
