"""Class prevalences from a classifier: counts, adjusted counts, and expectation-maximisation. NumPy only.

- `classify_and_count` ("cc") is biased whenever the error rates are not balanced;
- `adjusted_count` ("acc", "pacc") corrects that bias by the rates measured on labelled rows;
- `probabilistic_count` ("pcc") averages calibrated posteriors;
- `expectation_maximisation` ("sld") adjusts the prior behind the posteriors until it explains the new rows.

A `Quantifier` holds what the five methods need, measured on labelled rows.

Source: Forman 2008 (cc, acc); Bella et al. 2010 (pcc, pacc); Saerens, Latinne and Decaestecker 2002 (sld);
Platt 1999 and Lin, Lin and Weng 2007 (calibration).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_array, as_floats, as_vector, check_vector
from aesara_nondecomp._checks import choose, number, positive_int, positive_number, require, share
from aesara_nondecomp._numeric import decay, log_odds, sigmoid, softplus, vote
from aesara_nondecomp.metrics.confusion import (
    check_same_length,
    checked_network_scores,
    checked_scores,
    checked_signs,
    checked_threshold,
    checked_weights,
)

METHODS = ("cc", "acc", "pcc", "pacc", "sld")
ADJUSTED = ("acc", "pacc", "sld")  # by what was measured on labelled rows
Array = NDArray[Any]
_SLICE = 2**13  # rows calibrated on at a time: they stay in the cache, and NumPy's BLAS on one thread
_FLATTEST = 1e-6  # a slope of 0 would tie all posteriors, and a negative one would reverse the ranking


def classify_and_count(predicted_positive: Any) -> float:
    """Fraction of rows predicted positive.

    Parameters
    ----------
    predicted_positive : array-like of bool, shape (n,)
        Predictions of at least one row; also 0 and 1, or -1 and +1.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        On another shape, without rows, or for other values, such as probabilities, which `probabilistic_count` takes.
    """
    array = as_array(predicted_positive, "predicted_positive")
    check_vector(array, "predicted_positive")
    if array.dtype != bool:
        array = as_vector(array, "predicted_positive")
        strange = array[~np.isin(array, (-1.0, 0.0, 1.0))]
        needed = "predicted_positive must hold predictions, True and False: count probabilities by probabilistic_count"
        require(not strange.size, needed, strange[:3].tolist())
    return float(np.mean(array > 0))


def adjusted_count(share: float, of_positives: float, of_negatives: float) -> float:
    """The prevalence p that solves share = p of_positives + (1 - p) of_negatives, clipped to [0, 1].

    Parameters
    ----------
    share : float
        Mean prediction on the new rows, in [0, 1]: of labels (acc) or of posteriors (pacc).
    of_positives : float
        The same mean on labelled positives, in [0, 1]: the true positive rate.
    of_negatives : float
        The same mean on labelled negatives, in [0, 1]: the false positive rate.

    Returns
    -------
    float
        In [0, 1]; `share` itself where there is no solution, for a classifier that cannot tell the classes apart (equal
        rates) or does worse than chance.

    Raises
    ------
    ValueError
        If an argument is no number in [0, 1].
    """
    given = {"share": share, "of_positives": of_positives, "of_negatives": of_negatives}
    share, of_positives, of_negatives = (_proportion(name, value) for name, value in given.items())
    gain = of_positives - of_negatives
    if not gain > 1e-9:
        return share
    return float(np.clip((share - of_negatives) / gain, 0.0, 1.0))


def probabilistic_count(posteriors: Any) -> float:
    """Mean posterior probability of the positive class.

    Parameters
    ----------
    posteriors : array-like, shape (n,)
        Probabilities of at least one row, in [0, 1].

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        On another shape, without rows, or if a posterior is outside [0, 1].
    """
    return float(np.mean(_posteriors(posteriors)))


def expectation_maximisation(posteriors: Any, prior: float, max_rounds: int = 1000, tolerance: float = 1e-6) -> float:
    """The prevalence that equals the mean of the posteriors re-weighted to it.

    Parameters
    ----------
    posteriors : array-like, shape (n,)
        Probabilities of at least one row, in [0, 1].
    prior : float
        Fraction of positives that the posteriors are calibrated to, in (0, 1).
    max_rounds : int, default 1000
        Largest number of iterations; the last estimate is returned if they do not converge.
    tolerance : float, default 1e-6
        Change of the estimate below which the iterations have converged.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        As in `probabilistic_count`, or if `prior`, `max_rounds` or `tolerance` is out of range.
    """
    posteriors, prior = _posteriors(posteriors), share("prior", prior)
    max_rounds, tolerance = positive_int("max_rounds", max_rounds), positive_number("tolerance", tolerance)
    pair = np.stack([1 - posteriors, posteriors]), np.array([1 - prior, prior])
    return float(explained_shares(*pair, max_rounds, tolerance)[1])


def explained_shares(posteriors: Array, priors: Array, max_rounds: int = 1000, tolerance: float = 1e-6) -> Array:
    """The prevalences of K classes that equal the means of the posteriors re-weighted to them.

    Parameters
    ----------
    posteriors : float64 array, shape (K, n)
        Probabilities of at least one row; each column sums to 1.
    priors : float64 array, shape (K,)
        Class shares that they are calibrated to, above 0.
    max_rounds : int, default 1000
        As in `expectation_maximisation`.
    tolerance : float, default 1e-6
        As in `expectation_maximisation`, of each estimate.

    Returns
    -------
    float64 array, shape (K,)
        In [0, 1].
    """
    estimate = priors
    for _ in range(max_rounds):
        weighted = posteriors * (estimate / priors)[:, None]
        rest = (weighted[1:] / np.maximum(weighted.sum(axis=0), 1e-300)).mean(axis=1)
        before, estimate = estimate, np.append(1.0 - rest.sum(), rest)
        if np.abs(estimate - before)[1:].max() < tolerance:
            break
    return np.asarray(np.clip(estimate, 0.0, 1.0))


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
        scores, signs, weight = _labelled(scores, signs, sample_weight)
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


class Quantifier(NamedTuple):
    """What the methods need to know of a classifier; measure it with `Quantifier.fit`.

    Attributes
    ----------
    threshold : float
        A row is predicted positive iff its score exceeds it.
    calibration : Calibration
        From scores to posteriors.
    prior : float
        Fraction of positives of the labelled rows, to which the posteriors are calibrated.
    tpr : float
        Fraction of the labelled positives that are predicted positive.
    fpr : float
        Fraction of the labelled negatives that are predicted positive.
    soft_tpr : float
        Mean posterior of the labelled positives.
    soft_fpr : float
        Mean posterior of the labelled negatives.
    of_networks : Quantifier, optional
        Where several networks vote, the same of their single scores. A vote has other rates, which can only be
        estimated where each row is held out from one network alone; so "acc", "pacc" and "sld" are more accurate from
        the scores of each network.
    """

    threshold: float
    calibration: Calibration
    prior: float
    tpr: float
    fpr: float
    soft_tpr: float
    soft_fpr: float
    of_networks: Quantifier | None = None

    @classmethod
    def fit(cls, scores: Any, signs: Any, threshold: float | None = None, sample_weight: Any = None) -> Quantifier:
        """Measure a classifier on labelled rows, preferably rows that it was not trained on.

        Parameters
        ----------
        scores : array-like, shape (n,)
            Finite scores.
        signs : array-like, shape (n,)
            Labels in {-1, +1}, of both classes.
        threshold : float, optional
            A row is predicted positive iff its score exceeds it. Default: 0, with a warning if all scores lie in
            [0, 1], as probabilities do.
        sample_weight : array-like, shape (n,), optional
            Weights of the rows, at least 0; only their ratios count, as in `confusion_matrix`.

        Returns
        -------
        Quantifier
            Plain numbers.

        Raises
        ------
        ValueError
            As in `Calibration.fit`, or if `threshold` is no number.
        """
        scores, signs, weight = _labelled(scores, signs, sample_weight)
        threshold = checked_threshold(threshold, scores)
        calibration = Calibration.fit(scores, signs, weight)
        hard, soft = scores > threshold, calibration.posteriors(scores)
        positives, negatives = weight * (signs > 0), weight * (signs < 0)
        tpr, fpr, soft_tpr, soft_fpr = (
            float(np.average(part, weights=of)) for part in (hard, soft) for of in (positives, negatives)
        )
        prior = float(np.average(signs > 0, weights=weight))
        return cls(threshold, calibration, prior, tpr, fpr, soft_tpr, soft_fpr)

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
        return self.calibration.posteriors(scores)

    def prevalence(self, scores: Any, method: str = "cc") -> float:
        """Estimated prevalence of the positive class among rows with these scores.

        Parameters
        ----------
        scores : array-like, shape (n,) or (n, k)
            Finite scores of at least one row; or of each of k networks that vote, as from `Model.network_scores`.
        method : {"cc", "acc", "pcc", "pacc", "sld"}, default "cc"
            See the top of this module.

        Returns
        -------
        float
            In [0, 1].

        Raises
        ------
        ValueError
            If the method is unknown (the nearest is suggested), a score is not finite, or the shape is none of these.
        """
        choose("method", method, dict.fromkeys(METHODS))
        scores = checked_network_scores(scores)
        if scores.ndim == 2 and self.of_networks is not None and method in ADJUSTED:
            return self.of_networks.prevalence(scores.ravel(), method)
        scores = vote(scores)
        if method in ("cc", "acc"):
            share = classify_and_count(scores > self.threshold)
            return share if method == "cc" else adjusted_count(share, self.tpr, self.fpr)
        posteriors = self.posteriors(scores)
        if method == "sld":
            return expectation_maximisation(posteriors, self.prior)
        share = probabilistic_count(posteriors)
        return share if method == "pcc" else adjusted_count(share, self.soft_tpr, self.soft_fpr)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, ready for JSON.

        Returns
        -------
        dict
            By field.
        """
        of_networks = None if self.of_networks is None else self.of_networks.as_dict()
        return {**self._asdict(), "calibration": list(self.calibration), "of_networks": of_networks}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Quantifier:
        """The quantifier that `as_dict` described.

        Parameters
        ----------
        values : dict
            Returned by `as_dict`.

        Returns
        -------
        Quantifier
            Equal to the original.
        """
        nested = values.get("of_networks")  # former files lack it
        of_networks = None if nested is None else cls.from_dict(nested)
        return cls(**{**values, "calibration": Calibration(*values["calibration"]), "of_networks": of_networks})


def _labelled(scores: Any, signs: Any, sample_weight: Any) -> tuple[Array, Array, Array]:
    """Checked scores, in float64, with their labels and weights."""
    scores, signs = checked_scores(scores).astype(np.float64, copy=False), checked_signs("signs", signs)
    check_same_length("scores", scores, "signs", signs)
    weight = np.ones(len(scores)) if sample_weight is None else checked_weights(sample_weight, len(scores))
    return scores, signs, weight


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


def _proportion(name: str, value: Any) -> float:
    found = number(name, value)
    require(0 <= found <= 1, f"{name} must lie in [0, 1]", value)
    return found


def _posteriors(values: Any) -> Array:
    array = as_vector(values, "posteriors")
    outside = array[~((array >= 0) & (array <= 1))]
    require(not outside.size, "posteriors must lie in [0, 1]", outside[:3].tolist())
    return array
