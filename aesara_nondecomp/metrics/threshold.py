"""The threshold of a measure: the best one on labelled rows, and one that depends less on which rows they are."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import random_generator
from aesara_nondecomp.measures import Measure, get
from aesara_nondecomp.metrics.calibration import Calibration
from aesara_nondecomp.metrics.checks import check_same_length, checked_scores, checked_signs, checked_weights

Array = NDArray[Any]
RESAMPLES = 30
ROWS_OF_A_TIE = 20  # on average, from which on scores count as tied
RESAMPLED_CUTS = 4096  # thresholds that compete in a resample: closer ones differ by less than its noise


def best_threshold(measure: str | Measure, scores: Any, signs: Any, sample_weight: Any = None) -> tuple[float, float]:
    """The exact plug-in threshold: no other has a better value of the measure on these points.

    Choose it on held-out training points, never on the test set.

    Parameters
    ----------
    measure : str or Measure
        Name in the catalogue, or a measure.
    scores : array-like, shape (n,)
        Finite scores.
    signs : array-like, shape (n,)
        True labels in {-1, +1}.
    sample_weight : array-like, shape (n,), optional
        Weights of at least 0; only their ratios count, as in `confusion_matrix`. Default: equal weights.

    Returns
    -------
    threshold : float
        Predict +1 iff score > threshold. Of several best thresholds the one that predicts fewest positives; halfway
        between two scores, or infinite for a trivial classifier. Exact in the precision of `scores`.
    value : float
        Value of the measure at that threshold, in its own orientation.

    Raises
    ------
    ValueError
        As in `confusion_at_threshold`, or if `measure` is neither a name in the catalogue nor a measure, or it is
        undefined because `signs` lacks a class.

    Notes
    -----
    O(n log n). Source: docs/algorithms.md 3.8.
    """
    measure = get(measure)
    ranking = Ranking.of(scores, signs, sample_weight)
    return ranking.best(measure, ranking.cuts(), *ranking.of_each_class())


def steady_threshold(
    measure: str | Measure, scores: Any, signs: Any, sample_weight: Any = None, seed: Any = 0
) -> tuple[float, float]:
    """A good threshold that moves little if other rows of the same kind are drawn.

    The best threshold on a few rows follows their noise. This one is halfway between two steadier ones: the mean of the
    best thresholds of bootstrap resamples, and the best threshold for the counts that calibrated probabilities predict,
    which two fitted numbers decide and not the order of single rows. If the midpoint is worse than the former by more
    than one standard error of the resamples, calibration does not fit these scores, and the former is taken. Where 20
    rows share a score on average, as in tables of few categories, it is the best threshold: a mean of thresholds could
    lie on the wrong side of many equal rows.

    Parameters
    ----------
    measure : str or Measure
        Name in the catalogue, or a measure.
    scores : array-like, shape (n,)
        Finite scores of rows that were not trained on.
    signs : array-like, shape (n,)
        True labels in {-1, +1}, of both classes.
    sample_weight : array-like, shape (n,), optional
        Weights of at least 0; only their ratios count, as in `confusion_matrix`. Default: equal weights.
    seed : int, numpy Generator or None, default 0
        Of the resamples.

    Returns
    -------
    threshold : float
        Predict +1 iff score > threshold. Infinite if it is no better than to predict one class only.
    value : float
        Value of the measure at that threshold, in its own orientation.

    Raises
    ------
    ValueError
        As in `best_threshold`.

    Notes
    -----
    In a prototype, on seven development sets of 400 to 11,200 rows, scored in five folds, three seeds each, mean F1,
    min and Q-mean on other rows were .735, .789 and .832. The best threshold had .735, .785 and .830, the threshold 0
    of direct training .715, .783 and .830. To keep 0 unless the rows tell another one from it had .737, .790 and .825.
    """
    measure, rng = get(measure), random_generator(seed)
    ranking = Ranking.of(scores, signs, sample_weight)
    of_each = ranking.of_each_class()
    tied = ranking.is_tied()
    chosen = ranking.best(measure, ranking.cuts(), *of_each)[0] if tied else _steady(measure, ranking, rng)
    value, trivial = ranking.value(measure, chosen, *of_each), ranking.trivial(measure)
    return (chosen, value) if measure.merit(value) > measure.merit(trivial[1]) else trivial


def _steady(measure: Measure, ranking: Ranking, rng: np.random.Generator) -> float:
    resamples = [ranking.resampled(rng) for _ in range(RESAMPLES)]
    cuts = ranking.cuts()
    cuts = cuts[np.unique(np.linspace(0, len(cuts) - 1, RESAMPLED_CUTS).astype(int))]
    low, high = float(ranking.scores[-1]), float(ranking.scores[0])  # thresholds may be infinite
    bagged = np.mean([np.clip(ranking.best(measure, cuts, *weights)[0], low, high) for weights in resamples])
    calibration = Calibration.fit(ranking.scores, np.where(ranking.positive, 1, -1), ranking.weight)
    posteriors = calibration.posteriors(ranking.scores)
    of_each = posteriors * ranking.weight, (1 - posteriors) * ranking.weight
    expected = float(np.clip(ranking.best(measure, cuts, *of_each)[0], low, high))
    # In the precision of the scores, to which a threshold is rounded when they are compared with it.
    places = [float(ranking.scores.dtype.type(place)) for place in (bagged, (bagged + expected) / 2)]
    merits = [[measure.merit(ranking.value(measure, t, *weights)) for t in places] for weights in resamples]
    gains = -np.diff(merits)
    return places[0] if gains.mean() > gains.std() else places[1]


def relative_scores(scores: Array, threshold: float) -> Array:
    """Scores relative to their threshold: above 0 where they exceed it.

    Parameters
    ----------
    scores : array, shape (n,)
        Finite scores.
    threshold : float
        Infinite for one label for all rows, which are still ranked.

    Returns
    -------
    array, shape (n,)
        Finite.
    """
    if not np.isinf(threshold):
        return np.asarray(scores - threshold)
    towards = np.sign(-threshold)
    return np.asarray(towards * np.exp(towards * np.clip(scores, -50, 50)))


class Ranking(NamedTuple):
    """Rows by descending score.

    Attributes
    ----------
    scores : array, shape (n,)
        In that order.
    positive : bool array, shape (n,)
        Whether each row's label is +1.
    weight : array, shape (n,)
        Sample weights.
    """

    scores: Array
    positive: Array
    weight: Array

    @classmethod
    def of(cls, scores: Any, signs: Any, sample_weight: Any) -> Ranking:
        """Rank rows.

        Parameters
        ----------
        scores : array-like, shape (n,)
            Finite scores.
        signs : array-like, shape (n,)
            Labels in {-1, +1}.
        sample_weight : array-like, shape (n,), or None
            Weights of at least 0; None for equal ones.

        Returns
        -------
        Ranking
        """
        scores, signs = checked_scores(scores), checked_signs("signs", signs)
        check_same_length("scores", scores, "signs", signs)
        n = len(scores)
        weight = np.ones(n, dtype=np.int64) if sample_weight is None else checked_weights(sample_weight, n)
        order = np.argsort(-scores, kind="stable")
        return cls(scores[order], signs[order] > 0, weight[order])

    def of_each_class(self) -> tuple[Array, Array]:
        """Weights of positives and of negatives, each of shape (n,)."""
        return self.weight * self.positive, self.weight * ~self.positive

    def resampled(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """The same of rows that are drawn anew, within their class.

        Parameters
        ----------
        rng : numpy Generator
            Of the draw.

        Returns
        -------
        tuple of arrays, shape (n,)
            Weights of positives and of negatives.
        """
        weights = np.zeros((2, len(self.scores)), dtype=np.float32)  # all resamples are kept
        counted = self.weight > 0  # a resample of others alone would lack a class
        for row, of_class in zip(weights, (self.positive, ~self.positive)):
            members = np.flatnonzero(of_class & counted)
            row[:] = np.bincount(rng.choice(members, len(members)), minlength=len(row)) * self.weight
        return weights[0], weights[1]

    def cuts(self) -> Array:
        """Each count k of top-ranked rows that a threshold can predict positive: those that split no tie."""
        splits = np.flatnonzero(self.scores[:-1] != self.scores[1:]) + 1
        return np.concatenate([[0], splits, [len(self.scores)]])

    def is_tied(self) -> bool:
        """Whether many rows share a score, so that a threshold between two good ones may be a bad one."""
        return len(self.cuts()) * ROWS_OF_A_TIE <= len(self.scores)

    def best(self, measure: Measure, cuts: Array, positive: Array, negative: Array) -> tuple[float, float]:
        """The best of some thresholds.

        Parameters
        ----------
        measure : Measure
            What it is the best for.
        cuts : int array
            Of `cuts`: the thresholds that compete.
        positive : array, shape (n,)
            Weight of the positives in each row.
        negative : array, shape (n,)
            Weight of the negatives in each row.

        Returns
        -------
        threshold : float
            Of several, the one that predicts fewest positives.
        value : float
            Of the measure, in its own orientation.
        """
        values = self._values(measure, cuts, positive, negative)
        best = int(np.argmax(measure.oriented(values)))
        return self.threshold_below(int(cuts[best])), float(values[best])

    def value(self, measure: Measure, threshold: float, positive: Array, negative: Array) -> float:
        """The value at a threshold.

        Parameters
        ----------
        measure : Measure
            What to evaluate.
        threshold : float
            Scores above it are positive.
        positive : array, shape (n,)
            As for `best`.
        negative : array, shape (n,)
            As for `best`.

        Returns
        -------
        float
        """
        cut = np.searchsorted(-self.scores, -threshold, side="left")
        return float(self._values(measure, np.array([cut]), positive, negative)[0])

    def trivial(self, measure: Measure) -> tuple[float, float]:
        """The threshold of the better of the two constant predictions, and its value.

        Parameters
        ----------
        measure : Measure
            By which they are compared.

        Returns
        -------
        tuple (float, float)
        """
        values = self._values(measure, np.array([0, len(self.scores)]), *self.of_each_class())
        best = int(np.argmax(measure.oriented(values)))
        return (math.inf, -math.inf)[best], float(values[best])

    def _values(self, measure: Measure, cuts: Array, positive: Array, negative: Array) -> Array:
        """Value of the measure with the first k rows predicted positive, for each k of `cuts`."""
        hits, misses = (
            np.concatenate([[0], np.cumsum(weights, dtype=_total(weights))]) for weights in (positive, negative)
        )
        TP, FP = hits[cuts], misses[cuts]
        values = np.asarray(measure.from_counts(TP, hits[-1] - TP, FP, misses[-1] - FP))
        if np.any(np.isnan(values)):
            raise ValueError(
                f"{measure} needs points of both classes to choose a threshold, got {hits[-1]:g} positives and "
                f"{misses[-1]:g} negatives. Use a larger or stratified validation split."
            )
        return values

    def threshold_below(self, k: int) -> float:
        """A threshold that exactly the first `k` scores exceed.

        Parameters
        ----------
        k : int
            One of `cuts`.

        Returns
        -------
        float
            Infinite for none or all of them.
        """
        if k == 0:
            return math.inf
        if k == len(self.scores):
            return -math.inf
        above, below = self.scores[k - 1], self.scores[k]
        with np.errstate(over="ignore"):
            # In the scores' own precision: a float64 midpoint could round up to `above` when compared with float32.
            middle = (above + below) / 2
        return float(middle if below <= middle < above else below)


def _total(weights: Array) -> type:
    """The type to add weights up in: whole numbers stay whole."""
    return np.int64 if weights.dtype.kind in "iub" else np.float64
