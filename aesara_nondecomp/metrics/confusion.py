"""Scores of hard predictions, from the counts of a confusion table; and the best threshold for a measure.

The label rule throughout: +1 iff the score is strictly above the threshold (spec 1.1).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from aesara_nondecomp.measures import Measure, defaults, get


class ConfusionMatrix(NamedTuple):
    """Counts of a classifier's hits and misses on the positives (TP, FN) and on the negatives (TN, FP)."""

    TP: int
    FN: int
    FP: int
    TN: int

    @property
    def n(self) -> int:
        """Number of points."""
        return self.TP + self.FN + self.FP + self.TN

    @property
    def prior(self) -> float:
        """Proportion of positives, in [0, 1]."""
        return _share(self.TP + self.FN, self.n)

    @property
    def predicted_prevalence(self) -> float:
        """Proportion predicted positive, in [0, 1]."""
        return _share(self.TP + self.FP, self.n)

    @property
    def tpr(self) -> float:
        """True positive rate P; NaN without positives."""
        return _share(self.TP, self.TP + self.FN)

    @property
    def tnr(self) -> float:
        """True negative rate N; NaN without negatives."""
        return _share(self.TN, self.TN + self.FP)


def confusion_matrix(y_true_signs: Any, predicted_signs: Any) -> ConfusionMatrix:
    """Count hits and misses of each class.

    Parameters
    ----------
    y_true_signs, predicted_signs : array, shape (n,), entries -1 or +1
        True labels and predictions, in this order: swapped, they give another table.

    Raises
    ------
    ValueError
        If a shape is not (n,), lengths differ, or an entry is neither -1 nor +1.
    """
    truth, predicted = _signs("y_true_signs", y_true_signs), _signs("predicted_signs", predicted_signs)
    _check_same_length("y_true_signs", truth, "predicted_signs", predicted)
    positive, predicted_positive = truth > 0, predicted > 0
    return ConfusionMatrix(
        TP=int(np.sum(positive & predicted_positive)),
        FN=int(np.sum(positive & ~predicted_positive)),
        FP=int(np.sum(~positive & predicted_positive)),
        TN=int(np.sum(~positive & ~predicted_positive)),
    )


def confusion_at_threshold(scores: Any, signs: Any, threshold: float = 0.0) -> ConfusionMatrix:
    """Confusion table of the rule "+1 iff score > threshold".

    Parameters
    ----------
    scores : array of float, shape (n,), finite
    signs : array, shape (n,), entries -1 or +1
        True labels.
    threshold : float
        May be infinite.

    Raises
    ------
    ValueError
        On a wrong shape, unequal lengths, a score that is not finite, an entry of `signs` that is not a
        sign, or a threshold of NaN.
    """
    if math.isnan(threshold):
        raise ValueError("threshold must be a number, perhaps infinite, got NaN.")
    return confusion_matrix(signs, np.where(_scores(scores) > threshold, 1, -1))


def score(measure: str | Measure, table: ConfusionMatrix) -> float:
    """Value of a measure, or of the measure of that name; KLD-like ones and "rae" are smoothed with eps = 1/(2n).

    Parameters
    ----------
    measure : str or Measure
    table : ConfusionMatrix

    Returns
    -------
    float
        In the measure's own orientation; NaN where it is undefined on this table.

    Raises
    ------
    ValueError
        If the name is unknown, or a count negative.
    TypeError
        If `measure` is neither a name nor a measure.
    """
    return float(get(measure).from_counts(*table))


def report(table: ConfusionMatrix, measures: Iterable[str | Measure] | None = None) -> dict[str, float]:
    """Values of several measures on a table, by label.

    Parameters
    ----------
    table : ConfusionMatrix
    measures : iterable of str or Measure, optional
        By default every measure of the catalogue with its default parameters (`measures.defaults`).

    Returns
    -------
    dict of str to float
        NaN for a measure that is undefined on this table.

    Raises
    ------
    ValueError, TypeError
        As in `score`.
    """
    if isinstance(measures, str):
        raise TypeError(f"report needs several measures, got {measures!r} alone. Pass [{measures!r}], or use score.")
    chosen = defaults() if measures is None else [get(measure) for measure in measures]
    return {str(measure): score(measure, table) for measure in chosen}


def best_threshold(measure: str | Measure, scores: Any, signs: Any) -> tuple[float, float]:
    """The exact plug-in threshold: no other has a better value of `measure` on these points (spec 3.8).

    Choose it on held-out training points, never on the test set. O(n log n).

    Parameters
    ----------
    measure : str or Measure
    scores : array of float, shape (n,), finite
    signs : array, shape (n,), entries -1 or +1
        True labels.

    Returns
    -------
    threshold : float
        Predict +1 iff score > threshold. Of several best cuts the one that predicts fewest positives; halfway
        between two scores, or infinite for a trivial classifier. Exact in the precision of `scores`.
    value : float
        The measure at that threshold, in its own orientation.

    Raises
    ------
    ValueError
        As in `confusion_at_threshold`, or if the measure's name is unknown, or it is undefined because `signs` lacks a
        class.
    TypeError
        If `measure` is neither a name nor a measure.
    """
    measure = get(measure)
    scores, signs = _scores(scores), _signs("signs", signs)
    _check_same_length("scores", scores, "signs", signs)
    order = np.argsort(-scores, kind="stable")
    ranked, positive = scores[order], signs[order] > 0
    cuts = _cuts(ranked)
    values = _values_at_cuts(measure, positive, cuts)
    best = int(np.argmax(measure.oriented(values)))
    return _threshold_below(ranked, int(cuts[best])), float(values[best])


def _cuts(ranked: np.ndarray) -> np.ndarray:
    """Numbers k of top-ranked points that some threshold can predict positive: those that split no tie."""
    splits = np.flatnonzero(ranked[:-1] != ranked[1:]) + 1
    return np.concatenate([[0], splits, [len(ranked)]])


def _values_at_cuts(measure: Measure, positive: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Value of the measure with the first k points predicted positive, for each k of `cuts`."""
    hits = np.concatenate([[0], np.cumsum(positive)])
    positives, negatives = hits[-1], len(positive) - hits[-1]
    true_positives = hits[cuts]
    false_positives = cuts - true_positives
    values = np.asarray(
        measure.from_counts(true_positives, positives - true_positives, false_positives, negatives - false_positives)
    )
    if np.any(np.isnan(values)):
        raise ValueError(
            f"{measure} needs points of both classes to choose a threshold, got {positives} positives and "
            f"{negatives} negatives. Use a larger or stratified validation split."
        )
    return values


def _threshold_below(ranked: np.ndarray, k: int) -> float:
    """A threshold that exactly the first `k` of the descending scores exceed."""
    if k == 0:
        return math.inf
    if k == len(ranked):
        return -math.inf
    above, below = ranked[k - 1], ranked[k]
    with np.errstate(over="ignore"):
        # In the scores' own precision: a float64 midpoint could round up to `above` when compared with
        # float32.
        middle = (above + below) / 2
    return float(middle if below <= middle < above else below)


def _scores(scores: Any) -> np.ndarray:
    array = np.asarray(scores)
    if not np.issubdtype(array.dtype, np.floating):
        array = array.astype(float)
    _check_vector("scores", array)
    if not np.all(np.isfinite(array)):
        raise ValueError(
            f"scores must be finite, got {int(np.sum(~np.isfinite(array)))} infinite or NaN of {array.size}. "
            "Training may have diverged: lower the learning rate."
        )
    return array


def _signs(name: str, signs: Any) -> np.ndarray:
    array = np.asarray(signs)
    _check_vector(name, array)
    is_sign = (array == 1) | (array == -1)
    if array.dtype == bool or not np.all(is_sign):
        found = ", ".join(repr(value) for value in np.unique(array)[:5].tolist())
        raise ValueError(f"{name} must hold -1 and +1 only, got {found}. Labels 0 and 1 become signs by 2*y - 1.")
    return array


def _check_vector(name: str, array: np.ndarray) -> None:
    if array.ndim != 1:
        raise ValueError(f"{name} must have shape (n,), got {array.shape}. If it is a column, pass {name}.ravel().")
    if array.size == 0:
        raise ValueError(f"{name} must hold at least one point, got none.")


def _check_same_length(name: str, array: np.ndarray, other_name: str, other: np.ndarray) -> None:
    if len(array) != len(other):
        raise ValueError(
            f"{name} and {other_name} must be equally long, got {len(array)} and {len(other)}. "
            "Score the same points that the labels belong to."
        )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan
