"""Class prevalences from a classifier: counts, adjusted counts, and expectation-maximisation. NumPy only.

- `classify_and_count` ("cc") is biased whenever the error rates are not balanced;
- `adjusted_count` ("acc", "pacc") corrects that bias by the rates measured on labelled rows;
- `probabilistic_count` ("pcc") averages calibrated posteriors;
- `expectation_maximisation` ("sld") moves the prior behind the posteriors until it explains the new rows.

A `Quantifier` holds what the five methods need, measured on labelled rows.

Source: Forman 2008 (cc, acc); Bella et al. 2010 (pcc, pacc); Saerens, Latinne and Decaestecker 2002 (sld);
Platt 1999 and Lin, Lin and Weng 2007 (calibration).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from aesara_nondecomp._checks import choose, require

METHODS = ("cc", "acc", "pcc", "pacc", "sld")
_SLICE = 2**13  # rows calibrated on at a time: they stay in the cache, and NumPy's BLAS on one thread
_FLATTEST = 1e-6  # a slope of 0 would tie all posteriors, and a negative one would turn the ranking round


def classify_and_count(predicted_positive: Any) -> float:
    """Share of rows predicted positive, in [0, 1].

    Parameters
    ----------
    predicted_positive : boolean array, shape (n,), n >= 1

    Raises
    ------
    ValueError
        On another shape, or without rows.
    """
    return float(np.mean(_vector("predicted_positive", predicted_positive) > 0))


def adjusted_count(share: float, of_positives: float, of_negatives: float) -> float:
    """Prevalence p that solves  share = p of_positives + (1 - p) of_negatives, clipped to [0, 1].

    Parameters
    ----------
    share : float in [0, 1]
        Mean prediction on the new rows: of labels (acc) or of posteriors (pacc).
    of_positives, of_negatives : float in [0, 1]
        The same mean on labelled positives (the true positive rate) and negatives (the false positive rate).

    Returns
    -------
    float
        `share` itself where there is no solution: a classifier that cannot tell the classes apart (equal rates), or
        that does worse than chance.
    """
    gain = of_positives - of_negatives
    if not gain > 1e-9:
        return float(share)
    return float(np.clip((share - of_negatives) / gain, 0.0, 1.0))


def probabilistic_count(posteriors: Any) -> float:
    """Mean posterior probability of the positive class, in [0, 1].

    Parameters
    ----------
    posteriors : array, shape (n,), in [0, 1], n >= 1

    Raises
    ------
    ValueError
        On another shape, without rows, or if a posterior is outside [0, 1].
    """
    return float(np.mean(_posteriors(posteriors)))


def expectation_maximisation(posteriors: Any, prior: float, max_rounds: int = 1000, tolerance: float = 1e-6) -> float:
    """The prevalence under which the posteriors, re-weighted to it, have that very mean.

    Parameters
    ----------
    posteriors : array, shape (n,), in [0, 1], n >= 1
    prior : float in (0, 1). Share of positives that the posteriors are calibrated to.
    max_rounds : int. Rounds at most; the last estimate is returned if they do not cache_march_flags.
    tolerance : float. Change of the estimate at which they have settled.

    Returns
    -------
    float in [0, 1]

    Raises
    ------
    ValueError
        As in `probabilistic_count`, or if `prior` is out of range.
    """
    posteriors = _posteriors(posteriors)
    require(0 < prior < 1, "prior must lie strictly between 0 and 1", prior)
    estimate = prior
    for _ in range(max_rounds):
        positive = posteriors * (estimate / prior)
        negative = (1 - posteriors) * ((1 - estimate) / (1 - prior))
        before, estimate = estimate, float(np.mean(positive / np.maximum(positive + negative, 1e-300)))
        if abs(estimate - before) < tolerance:
            break
    return float(np.clip(estimate, 0.0, 1.0))


class Calibration(NamedTuple):
    """Platt's map from scores to probabilities, 1 / (1 + exp(-(slope score + intercept))).

    Attributes
    ----------
    slope : float > 0, so that probabilities rank as the scores do.
    intercept : float
    """

    slope: float
    intercept: float

    @classmethod
    def fit(cls, scores: Any, signs: Any, sample_weight: Any = None) -> Calibration:
        """Maximum likelihood with Platt's smoothed targets, by Newton's method.

        Parameters
        ----------
        scores : array, shape (n,), finite
        signs : array, shape (n,), in {-1, +1}, both occurring
        sample_weight : array, shape (n,), optional. Non-negative.

        Raises
        ------
        ValueError
            If a score is not finite, there is not one label per score, or a class has no weight.
        """
        scores, signs = _scores(scores), np.asarray(signs)
        require(scores.shape == signs.shape, f"one label per score is needed, shape {scores.shape}", signs.shape)
        weight = _weights(scores, sample_weight)
        _both_classes(signs, weight)
        centre = np.average(scores, weights=weight)
        spread = float(np.sqrt(np.average((scores - centre) ** 2, weights=weight))) or 1.0
        targets = _smoothed_targets(signs, weight)
        slope, intercept = _newton((scores - centre) / spread, targets, weight)
        if slope < _FLATTEST:
            slope, intercept = _FLATTEST, _logit(np.average(targets, weights=weight))
        return cls(slope / spread, intercept - slope / spread * float(centre))

    def posteriors(self, scores: Any) -> np.ndarray:
        """Probabilities (n,) of the positive class, in float64."""
        return _sigmoid(self.slope * np.asarray(scores, dtype=np.float64) + self.intercept)


class Quantifier(NamedTuple):
    """What the methods need to know of a classifier; measure it with `Quantifier.fit`.

    Attributes
    ----------
    threshold : float. A row is predicted positive iff its score exceeds it.
    calibration : Calibration
    prior : float. Share of positives of the labelled rows, to which the posteriors are calibrated.
    tpr, fpr : float. Share predicted positive of the labelled positives, and of the negatives.
    soft_tpr, soft_fpr : float. Mean posterior of the labelled positives, and of the negatives.
    """

    threshold: float
    calibration: Calibration
    prior: float
    tpr: float
    fpr: float
    soft_tpr: float
    soft_fpr: float

    @classmethod
    def fit(cls, scores: Any, signs: Any, threshold: float = 0.0, sample_weight: Any = None) -> Quantifier:
        """Measure a classifier on labelled rows, best ones it was not trained on.

        Parameters
        ----------
        scores : array, shape (n,), finite
        signs : array, shape (n,), in {-1, +1}, both occurring
        threshold : float
        sample_weight : array, shape (n,), optional. Non-negative.

        Raises
        ------
        ValueError
            If a score is not finite, there is not one label per score, or a class has no weight.
        """
        scores, signs = _scores(scores), np.asarray(signs)
        calibration = Calibration.fit(scores, signs, sample_weight)
        weight = _weights(scores, sample_weight)
        hard, soft = scores > threshold, calibration.posteriors(scores)
        positives, negatives = weight * (signs > 0), weight * (signs < 0)
        rates = [float(np.average(part, weights=of)) for part in (hard, soft) for of in (positives, negatives)]
        return cls(float(threshold), calibration, float(np.average(signs > 0, weights=weight)), *rates)

    def posteriors(self, scores: Any) -> np.ndarray:
        """Calibrated probabilities (n,) of the positive class."""
        return self.calibration.posteriors(scores)

    def prevalence(self, scores: Any, method: str = "cc") -> float:
        """Estimated share of positives among rows with these scores, in [0, 1].

        Parameters
        ----------
        scores : array, shape (n,), n >= 1
        method : {"cc", "acc", "pcc", "pacc", "sld"}

        Raises
        ------
        ValueError
            If the method is unknown, where the nearest is suggested, a score is not finite, or there are no rows.
        """
        choose("method", method, dict.fromkeys(METHODS))
        scores = _scores(scores)
        if method in ("cc", "acc"):
            share = classify_and_count(scores > self.threshold)
            return share if method == "cc" else adjusted_count(share, self.tpr, self.fpr)
        posteriors = self.posteriors(scores)
        if method == "sld":
            return expectation_maximisation(posteriors, self.prior)
        share = probabilistic_count(posteriors)
        return share if method == "pcc" else adjusted_count(share, self.soft_tpr, self.soft_fpr)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, ready for JSON."""
        return {**self._asdict(), "calibration": list(self.calibration)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Quantifier:
        """The quantifier that `as_dict` described."""
        return cls(**{**values, "calibration": Calibration(*values["calibration"])})


def _scores(scores: Any) -> np.ndarray:
    scores = np.asarray(scores, dtype=np.float64)
    require(bool(np.isfinite(scores).all()), "scores must be finite", f"{np.sum(~np.isfinite(scores))} that are not")
    return scores


class _Point(NamedTuple):
    """Slope and intercept, and the cross-entropy there with its first and second derivatives."""

    place: np.ndarray
    loss: float
    gradient: np.ndarray
    curvature: np.ndarray


def _newton(z: np.ndarray, targets: np.ndarray, weight: np.ndarray, rounds: int = 100) -> tuple[float, float]:
    """Slope and intercept that minimise the weighted cross-entropy of `targets`, with step halving."""
    total = float(weight.sum())
    point = _cross_entropy(np.array([0.0, _logit(np.average(targets, weights=weight))]), z, targets, weight)
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


def _cross_entropy(place: np.ndarray, z: np.ndarray, targets: np.ndarray, weight: np.ndarray) -> _Point:
    """Evaluated slice by slice: long arrays would take several times as long."""
    loss, slopes, curvature = 0.0, np.zeros(2), np.zeros(3)
    for start in range(0, len(z), _SLICE):
        x, t, w = (column[start : start + _SLICE] for column in (z, targets, weight))
        logits = place[0] * x + place[1]
        small = np.exp(-np.abs(logits))  # never overflows
        loss += float(w @ (np.log1p(small) + np.maximum(logits, 0.0) - t * logits))
        probabilities = np.where(logits > 0, 1.0, small) / (1.0 + small)
        slope, bend = w * (probabilities - t), w * small / np.square(1.0 + small)
        slopes += slope @ x, slope.sum()
        bent = bend * x
        curvature += bent @ x, bent.sum(), bend.sum()
    return _Point(place, loss, slopes, curvature[[[0, 1], [1, 2]]])


def _smoothed_targets(signs: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Platt's targets, short of 0 and 1, so that separable scores get a finite slope."""
    positives, negatives = float(weight[signs > 0].sum()), float(weight[signs < 0].sum())
    return np.where(signs > 0, (positives + 1) / (positives + 2), 1 / (negatives + 2))


def _sigmoid(logits: np.ndarray) -> np.ndarray:
    return 0.5 * (1.0 + np.tanh(0.5 * logits))


def _logit(p: float) -> float:
    return float(np.log(p / (1 - p)))


def _weights(scores: np.ndarray, sample_weight: Any) -> np.ndarray:
    return np.ones(len(scores)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)


def _both_classes(signs: np.ndarray, weight: np.ndarray) -> None:
    positives, negatives = (float(weight[side].sum()) for side in (signs > 0, signs < 0))
    if not (positives > 0 and negatives > 0):
        raise ValueError(
            f"calibration needs rows of both classes, got {positives:g} positives and {negatives:g} negatives. "
            "Use a larger or stratified set of labelled rows."
        )


def _vector(name: str, values: Any) -> np.ndarray:
    array = np.asarray(values)
    require(array.ndim == 1 and array.size > 0, f"{name} must have shape (n,) with at least one row", array.shape)
    return array


def _posteriors(values: Any) -> np.ndarray:
    array = _vector("posteriors", np.asarray(values, dtype=np.float64))
    require(bool(np.all((array >= 0) & (array <= 1))), "posteriors must lie in [0, 1]", values)
    return array
