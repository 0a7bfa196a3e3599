"""Scores of K classes: the confusion matrix of their predictions, and probabilities from them.

Source: docs/multiclass.md 6.
"""

# ruff: noqa: N806 -- P is the name used by the formulas
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._numeric import row_counts
from aesara_nondecomp.metrics.confusion_sums import log_softmax, softmax

Array = NDArray[Any]
RIDGE = 0.1  # on the offsets, in rows: a class with few rows keeps the network's own offset
NEWTON_STEPS = 100
FLATTEST = 1e-6  # slope of scores of spread 1: one of 0 would tie all probabilities, a negative one reverse them


def class_confusion(codes: Array, predicted: Array, n_classes: int, weight: Array | None = None) -> Array:
    """Confusion matrix of predicted classes.

    Parameters
    ----------
    codes : int array, shape (n,)
        True classes.
    predicted : int array, shape (n,)
        Predicted ones.
    n_classes : int
        Number K of classes.
    weight : array, shape (n,), optional
        Sample weights. Default: 1, so that the entries are counts.

    Returns
    -------
    array, shape (K, K)
        True classes by predicted ones.
    """
    return cell_confusion(codes, predicted, (n_classes, n_classes), weight)


def cell_confusion(cell: Array, predicted: Array, shape: tuple[int, int], weight: Array | None = None) -> Array:
    """Confusion matrix of the cells of rows.

    Parameters
    ----------
    cell : int array, shape (n,)
        Cell of each row.
    predicted : int array, shape (n,)
        Predicted classes.
    shape : tuple (m, K)
        Numbers of cells and of classes.
    weight : array, shape (n,), optional
        Sample weights. Default: 1, so that the entries are counts.

    Returns
    -------
    array, shape (m, K)
        Cells by predicted classes.
    """
    n_cells, n_classes = shape
    found = np.bincount(cell * n_classes + predicted, weight, minlength=n_cells * n_classes)
    return np.asarray(found.reshape(shape))


def decision_scores(scores: Array, rule: Array | None) -> Array:
    """Scores whose largest one is the predicted class.

    Parameters
    ----------
    scores : array, shape (n, K)
        Of the network.
    rule : array, shape (K, K), or None
        Of a plug-in: what it is worth to predict a column for a row's class. A diagonal one holds offsets of the
        scores. None for the scores themselves.

    Returns
    -------
    array, shape (n, K)
        With a rule that is not diagonal, expected worths.
    """
    if rule is None:
        return np.asarray(scores)
    if is_diagonal(rule):
        return np.asarray(scores + offsets_of(rule))
    return np.asarray(softmax(scores.astype(np.float64)) @ rule)


def is_diagonal(rule: Array) -> bool:
    """Whether a rule is one of offsets on the scores.

    Parameters
    ----------
    rule : array, shape (K, K)
        Of a plug-in.

    Returns
    -------
    bool
    """
    return bool(np.count_nonzero(rule) == np.count_nonzero(np.diagonal(rule)))


def offsets_of(rule: Array) -> Array:
    """The offsets of the scores that a diagonal rule stands for.

    Parameters
    ----------
    rule : array, shape (K, K)
        Of a plug-in.

    Returns
    -------
    float64 array, shape (K,)
    """
    return np.asarray(np.log(np.maximum(np.diagonal(rule), np.finfo(float).tiny)))


@dataclass(frozen=True, eq=False)
class ClassCalibration:
    """Probabilities from scores: softmax(slope * scores + offsets).

    Attributes
    ----------
    slope : float
        Above 0; one over the temperature.
    offsets : float64 array, shape (K,)
        Of the classes.
    """

    slope: float
    offsets: Array

    @classmethod
    def fit(cls, scores: Array, codes: Array, weight: Array | None = None) -> ClassCalibration:
        """Fit by maximum likelihood with smoothed targets, as Platt's, and a small penalty on the offsets.

        Parameters
        ----------
        scores : array, shape (n, K)
            Of rows that were not trained on.
        codes : int array, shape (n,)
            Their classes.
        weight : array, shape (n,), optional
            Sample weights. Default: equal weights.

        Returns
        -------
        ClassCalibration
        """
        w = np.ones(len(scores)) if weight is None else row_counts(weight)
        z, spread = _standardised(np.asarray(scores, dtype=np.float64), w)
        targets = _smoothed_targets(codes, w, z.shape[1])
        theta = _newton(np.zeros(1 + z.shape[1]), z, targets, w)
        if theta[0] < FLATTEST:
            theta = _newton(np.append(FLATTEST, np.zeros(z.shape[1])), z, targets, w, fixed=1)
        return cls(float(theta[0]) / spread, theta[1:])

    def probabilities(self, scores: Array) -> Array:
        """Probabilities of the classes.

        Parameters
        ----------
        scores : array, shape (n, K)
            Of the network.

        Returns
        -------
        float64 array, shape (n, K)
            Rows sum to 1.
        """
        return softmax(self.slope * np.asarray(scores, dtype=np.float64) + self.offsets)

    def as_list(self) -> list[Any]:
        """Plain numbers, ready for JSON.

        Returns
        -------
        list
            The slope, and the list of offsets.
        """
        return [self.slope, self.offsets.tolist()]

    @classmethod
    def from_list(cls, values: Sequence[Any]) -> ClassCalibration:
        """The calibration that `as_list` described.

        Parameters
        ----------
        values : sequence
            Returned by `as_list`.

        Returns
        -------
        ClassCalibration
        """
        slope, offsets = values
        return cls(slope, np.array(offsets, dtype=np.float64))


def log_likelihood(scores: Array, codes: Array, weight: Array | None = None) -> float:
    """The mean log-likelihood of classes by softmax(scores).

    Parameters
    ----------
    scores : array, shape (n, K)
        Of any rows.
    codes : int array, shape (n,)
        Their classes.
    weight : array, shape (n,), optional
        Sample weights. Default: equal weights.

    Returns
    -------
    float
    """
    logs = log_softmax(np.asarray(scores, dtype=np.float64))[np.arange(len(codes)), codes]
    return float(np.average(logs, weights=weight))


def sober_log_likelihood(scores: Array, codes: Array, weight: Array | None = None) -> float:
    """The mean log-likelihood of classes by softmax(slope * scores), at the best slope up to 1.

    Networks that are too certain of themselves are calibrated later, so that comparing them should not count it.

    Parameters
    ----------
    scores : array, shape (n, K)
        Of rows that were not trained on.
    codes : int array, shape (n,)
        Their classes.
    weight : array, shape (n,), optional
        Sample weights. Default: equal weights.

    Returns
    -------
    float
        At least -log(K), and at least the log-likelihood of the scores as they are.
    """
    f = np.asarray(scores, dtype=np.float64)
    own = f[np.arange(len(codes)), codes]

    def fall(slope: float) -> float:  # of the log-likelihood with the slope: it rises
        return float(np.average((softmax(slope * f) * f).sum(axis=1) - own, weights=weight))

    slope = 1.0
    if fall(1.0) > 0:
        from scipy.optimize import brentq  # slow

        slope = brentq(fall, 0.0, 1.0, xtol=1e-12, rtol=1e-4) if fall(0.0) < 0 else 0.0
    return log_likelihood(slope * f, codes, weight)


def _standardised(f: Array, w: Array) -> tuple[Array, float]:
    """Scores less each row's mean, which the probabilities do not see, over their spread; and the spread."""
    z = f - f[:, :1]  # of equal scores exactly 0
    z -= z.mean(axis=1, keepdims=True)
    spread = float(np.sqrt(np.average((z**2).mean(axis=1), weights=w))) or 1.0
    return z / spread, spread


def _smoothed_targets(codes: Array, w: Array, n_classes: int) -> Array:
    """Targets short of 0 and 1, of two classes Platt's: classes that the scores separate get a finite slope."""
    counts = np.bincount(codes, w, minlength=n_classes)
    rest = 1.0 / (counts + 2.0)
    targets = np.repeat((rest / (n_classes - 1))[codes][:, None], n_classes, axis=1)
    targets[np.arange(len(codes)), codes] = 1.0 - rest[codes]
    return targets


def _newton(theta: Array, z: Array, targets: Array, w: Array, fixed: int = 0) -> Array:
    """Slope and offsets of the smallest loss, with step halving; the first `fixed` of them stay as they are."""
    loss = _loss(theta, z, targets, w)
    for _ in range(NEWTON_STEPS):
        direction = _newton_direction(theta, z, targets, w, fixed)
        places = (theta + 0.5**k * direction for k in range(30))
        losses = ((_loss(place, z, targets, w), place) for place in places)
        lower, moved = next((found for found in losses if found[0] < loss), (loss, theta))
        gained, theta, loss = loss - lower, moved, lower
        if gained < 1e-12 * w.sum():
            break
    return theta


def _loss(theta: Array, f: Array, targets: Array, w: Array) -> float:
    logs = log_softmax(theta[0] * f + theta[1:])
    return float(-(w * (targets * logs).sum(axis=1)).sum() + RIDGE / 2 * (theta[1:] ** 2).sum())


def _newton_direction(theta: Array, f: Array, targets: Array, w: Array, fixed: int) -> Array:
    P = softmax(theta[0] * f + theta[1:])
    mean = (P * f).sum(axis=1, keepdims=True)
    centred = P * (f - mean)  # the covariance of the classes' indicators, times the scores
    residual = P - targets
    gradient = np.append((w[:, None] * residual * f).sum(), w @ residual + RIDGE * theta[1:])
    n = len(theta)
    hessian = np.empty((n, n))
    hessian[1:, 1:] = np.diag(w @ P) - (w[:, None] * P).T @ P + RIDGE * np.eye(n - 1)
    hessian[0, 1:] = hessian[1:, 0] = w @ centred
    hessian[0, 0] = (w[:, None] * centred * f).sum() + 1e-9
    free = slice(fixed, None)
    return np.append(np.zeros(fixed), -np.linalg.solve(hessian[free, free], gradient[free]))
