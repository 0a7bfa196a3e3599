"""Values of measures on hard predictions, from the confusion matrix.

The label rule throughout: +1 iff the score is strictly above the threshold (docs/algorithms.md 1.1).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_floats
from aesara_nondecomp._checks import shown
from aesara_nondecomp._names import named_keywords, warn_renamed
from aesara_nondecomp.measures import Measure, defaults, get
from aesara_nondecomp.measures.identity import by_text
from aesara_nondecomp.metrics.checks import (
    check_same_length,
    check_several_measures,
    checked_scores,
    checked_signs,
    checked_threshold,
    checked_weights,
)

Array = NDArray[Any]


class ConfusionMatrix(NamedTuple):
    """Counts of right and wrong predictions on the positives (TP, FN) and on the negatives (FP, TN).

    Attributes
    ----------
    TP : int
        True positives; with sample weights, their weighted number (float). Likewise below.
    FN : int
        False negatives.
    FP : int
        False positives.
    TN : int
        True negatives.
    """

    TP: int
    FN: int
    FP: int
    TN: int

    @property
    def n(self) -> int:
        """Number of points."""
        return self.TP + self.FN + self.FP + self.TN

    @property
    def prevalence(self) -> float:
        """Fraction of positives, in [0, 1]; NaN without points."""
        return _fraction(self.TP + self.FN, self.n)

    @property
    def predicted_prevalence(self) -> float:
        """Fraction predicted positive, in [0, 1]; NaN without points."""
        return _fraction(self.TP + self.FP, self.n)

    @property
    def tpr(self) -> float:
        """True positive rate P; NaN without positives."""
        return _fraction(self.TP, self.TP + self.FN)

    @property
    def tnr(self) -> float:
        """True negative rate N; NaN without negatives."""
        return _fraction(self.TN, self.TN + self.FP)

    @property
    def precision(self) -> float:
        """Fraction of positives among those predicted positive; NaN without any."""
        return _fraction(self.TP, self.TP + self.FP)

    @property
    def prior(self) -> float:
        """Former name of `prevalence`."""
        warn_renamed("ConfusionMatrix.prior", "prevalence")
        return self.prevalence


def confusion_matrix(y_true_signs: Any, predicted_signs: Any, sample_weight: Any = None) -> ConfusionMatrix:
    """Count right and wrong predictions of each class.

    Parameters
    ----------
    y_true_signs : array-like, shape (n,)
        True labels in {-1, +1}.
    predicted_signs : array-like, shape (n,)
        Predicted labels in {-1, +1}. Swapped with the true ones they give another matrix.
    sample_weight : array-like, shape (n,), optional
        Finite weights of the points, at least 0. Only their ratios count: whole multiples of the smallest are repeated
        points, others have a mean of 1. By default each point counts once.

    Returns
    -------
    ConfusionMatrix
        Of int; with weights, of float.

    Raises
    ------
    ValueError
        If a shape is not (n,), lengths differ, a label is neither -1 nor +1, or a weight is negative or not finite.
    """
    truth, predicted = checked_signs("y_true_signs", y_true_signs), checked_signs("predicted_signs", predicted_signs)
    check_same_length("y_true_signs", truth, "predicted_signs", predicted)
    positive, predicted_positive = truth > 0, predicted > 0
    cells = (
        positive & predicted_positive,
        positive & ~predicted_positive,
        ~positive & predicted_positive,
        ~positive & ~predicted_positive,
    )
    if sample_weight is None:
        return ConfusionMatrix(*(int(np.sum(cell)) for cell in cells))
    weight = checked_weights(sample_weight, len(truth))
    sums: list[Any] = [float(weight[cell].sum()) for cell in cells]
    return ConfusionMatrix(*sums)


def confusion_at_threshold(
    scores: Any, signs: Any, threshold: float | None = None, sample_weight: Any = None
) -> ConfusionMatrix:
    """Confusion matrix of the rule "+1 iff score > threshold".

    Parameters
    ----------
    scores : array-like, shape (n,)
        Finite scores.
    signs : array-like, shape (n,)
        True labels in {-1, +1}.
    threshold : float, optional
        May be infinite. Default: 0, with a warning if all scores lie in [0, 1], as probabilities do.
    sample_weight : array-like, shape (n,), optional
        Finite weights of the points, at least 0. Only their ratios count: whole multiples of the smallest are repeated
        points, others have a mean of 1. By default each point counts once.

    Returns
    -------
    ConfusionMatrix
        Of int; with weights, of float.

    Raises
    ------
    ValueError
        If `threshold` is NaN, a score is not finite, or as in `confusion_matrix`.
    """
    scores, signs = checked_scores(scores), checked_signs("signs", signs)
    check_same_length("scores", scores, "signs", signs)
    threshold = checked_threshold(threshold, scores)
    return confusion_matrix(signs, np.where(scores > threshold, 1, -1), sample_weight)


@named_keywords(table="confusion")
def score(measure: str | Measure, confusion: ConfusionMatrix) -> float:
    """Value of a measure on hard predictions; the KLD-like measures and "rae" are smoothed with eps = 1/(2n).

    Parameters
    ----------
    measure : str or Measure
        Name in the catalogue, or a measure.
    confusion : ConfusionMatrix
        Of the predictions.

    Returns
    -------
    float
        In the measure's own orientation; NaN where it is undefined.

    Raises
    ------
    ValueError
        If `measure` is neither a name in the catalogue nor a measure, or `confusion` is no four counts of at least 0.
    """
    return float(get(measure).from_counts(*checked_confusion(confusion)))


def trivial_score(measure: str | Measure, confusion: ConfusionMatrix) -> float:
    """Value of the better of the two constant predictions on the same rows.

    Parameters
    ----------
    measure : str or Measure
        Name in the catalogue, or a measure.
    confusion : ConfusionMatrix
        Of any predictions of the rows.

    Returns
    -------
    float
        In the measure's own orientation; NaN if a class is missing.

    Raises
    ------
    ValueError
        As in `score`.
    """
    measure, (TP, FN, FP, TN) = get(measure), checked_confusion(confusion)
    positives, negatives = TP + FN, FP + TN
    if not positives or not negatives:
        return math.nan
    ends = (ConfusionMatrix(positives, 0, negatives, 0), ConfusionMatrix(0, positives, 0, negatives))
    return max((score(measure, end) for end in ends), key=measure.merit)


@named_keywords(table="confusion")
def report(confusion: ConfusionMatrix, measures: Iterable[str | Measure] | None = None) -> dict[str, float]:
    """Values of several measures on hard predictions.

    Parameters
    ----------
    confusion : ConfusionMatrix
        Of the predictions.
    measures : iterable of str or Measure, optional
        By default all of `measures.defaults`.

    Returns
    -------
    dict of str to float
        By ``str(measure)``, in the measure's own orientation; NaN where it is undefined.

    Raises
    ------
    ValueError
        If `measures` is a single name, two different ones have the same text, or as in `score`.
    """
    confusion = checked_confusion(confusion)
    return {str(measure): score(measure, confusion) for measure in chosen_measures(measures)}


def chosen_measures(measures: Any) -> list[Measure]:
    """Resolve an argument `measures`.

    Parameters
    ----------
    measures : iterable of str or Measure, or None
        None for all of `measures.defaults`.

    Returns
    -------
    list of Measure

    Raises
    ------
    ValueError
        If it is a single name or measure, none of these, or two different ones have the same text.
    """
    if measures is None:
        return list(defaults())
    check_several_measures(measures)
    return list(by_text(get(measure) for measure in measures).values())


def checked_confusion(confusion: Any) -> ConfusionMatrix:
    """Check a confusion matrix.

    Parameters
    ----------
    confusion : ConfusionMatrix
        Or four counts.

    Returns
    -------
    ConfusionMatrix

    Raises
    ------
    ValueError
        If it is no four finite numbers of at least 0.
    """
    if isinstance(confusion, Iterable) and len(cells := list(confusion)) == 4:
        counts = as_floats(cells, "confusion")
        if counts.ndim == 1 and bool(np.all(np.isfinite(counts) & (counts >= 0))):
            return ConfusionMatrix(*cells)
    raise ValueError(f"confusion must hold the counts TP, FN, FP and TN, of at least 0, got {shown(confusion)}.")


def _fraction(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
