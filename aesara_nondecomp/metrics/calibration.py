"""Probabilities from scores: Platt's map of two classes, fitted by Newton's method. NumPy only.

Source: Platt 1999 and Lin, Lin and Weng 2007.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_floats
from aesara_nondecomp._numeric import decay, log_odds, sigmoid, softplus
from aesara_nondecomp.metrics.checks import checked_labelled_scores

Array = NDArray[Any]
_SLICE = 2**13  # rows calibrated on at a time: they stay in the cache, and NumPy's BLAS on one thread
_FLATTEST = 1e-6  # a slope of 0 would tie all posteriors, and a negative one would reverse the ranking


class Calibration(NamedTuple):
    """Platt's map from scores to probabilities, 1 / (1 + exp(-(slope score + intercept))).

    Attributes
    ----------
    slope : float
        Above 0, so that probabilities rank as the scores do.
    intercept : float
        Log-odds at a score of 0.
    """

    slope: float
    intercept: float

    @classmethod
    def fit(cls, scores: Any, signs: Any, sample_weight: Any = None) -> Calibration:
        """Maximum likelihood with Platt's smoothed targets, by Newton's method.

        Parameters
        ----------
        scores : array-like, shape (n,)
            Finite scores.
        signs : array-like, shape (n,)
            Labels in {-1, +1}, of both classes.
        sample_weight : array-like, shape (n,), optional
            Weights of the rows, at least 0; only their ratios count, as in `confusion_matrix`.

        Returns
        -------
        Calibration
            With a positive slope.

        Raises
        ------
        ValueError
            If a shape is not (n,), lengths differ, a score is not finite, a label is neither -1 nor +1, a weight is
            negative, or a class has no weight.
        """
        scores, signs, weight = checked_labelled_scores(scores, signs, sample_weight)
        _both_classes(signs, weight)
        centre = np.average(scores, weights=weight)
        spread = float(np.sqrt(np.average((scores - centre) ** 2, weights=weight))) or 1.0
        targets = _smoothed_targets(signs, weight)
        slope, intercept = _newton((scores - centre) / spread, targets, weight)
        if slope < _FLATTEST:
            slope, intercept = _FLATTEST, log_odds(float(np.average(targets, weights=weight)))
        return cls(slope / spread, intercept - slope / spread * float(centre))

    def posteriors(self, scores: Any) -> Array:
        """Calibrated probabilities of the positive class.

        Parameters
        ----------
        scores : array-like, shape (n,)
            Scores of the rows.

        Returns
        -------
        array of float64, shape (n,)
            In [0, 1].
        """
        logits = self.slope * as_floats(scores, "scores") + self.intercept
        return np.asarray(0.5 * (1.0 + np.tanh(0.5 * logits)))  # the sigmoid in a single pass


class _Point(NamedTuple):
    """A slope and intercept, and the cross-entropy there with its first and second derivatives."""

    place: Array
    loss: float
    gradient: Array
    curvature: Array


def _newton(z: Array, targets: Array, weight: Array, rounds: int = 100) -> tuple[float, float]:
    """Slope and intercept that minimise the weighted cross-entropy of `targets`, with step halving."""
    total = float(weight.sum())
    point = _cross_entropy(np.array([0.0, log_odds(float(np.average(targets, weights=weight)))]), z, targets, weight)
    for _ in range(rounds):
        if np.abs(point.gradient).max() < 1e-10 * total:
            break
        step = np.linalg.solve(point.curvature + 1e-12 * total * np.eye(2), point.gradient)
        bound = point.loss * (1 + 1e-12)  # the last steps change the loss by less than its rounding
        halved = (_cross_entropy(point.place - 0.5**k * step, z, targets, weight) for k in range(30))
        lower = next((candidate for candidate in halved if candidate.loss <= bound), None)
        if lower is None:
            break
        point = lower
    return float(point.place[0]), float(point.place[1])


def _cross_entropy(place: Array, z: Array, targets: Array, weight: Array) -> _Point:
    """Cross-entropy at a slope and intercept, slice by slice: long arrays would take several times as long."""
    loss, slopes, curvature = 0.0, np.zeros(2), np.zeros(3)
    for start in range(0, len(z), _SLICE):
        x, t, w = (column[start : start + _SLICE] for column in (z, targets, weight))
        logits = place[0] * x + place[1]
        small = decay(logits)
        loss += float(w @ (softplus(logits, small) - t * logits))
        slope, bend = w * (sigmoid(logits, small) - t), w * small / np.square(1.0 + small)
        slopes += slope @ x, slope.sum()
        bent = bend * x
        curvature += bent @ x, bent.sum(), bend.sum()
    return _Point(place, loss, slopes, curvature[[[0, 1], [1, 2]]])


def _smoothed_targets(signs: Array, weight: Array) -> Array:
    """Platt's targets, short of 0 and 1, so that separable scores get a finite slope."""
    positives, negatives = float(weight[signs > 0].sum()), float(weight[signs < 0].sum())
    return np.where(signs > 0, (positives + 1) / (positives + 2), 1 / (negatives + 2))


def _both_classes(signs: Array, weight: Array) -> None:
    positives, negatives = (float(weight[side].sum()) for side in (signs > 0, signs < 0))
    if not (positives > 0 and negatives > 0):
        raise ValueError(
            f"calibration needs rows of both classes, got {positives:g} positives and {negatives:g} negatives. "
            "Use a larger or stratified set of labelled rows."
        )
