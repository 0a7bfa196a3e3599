"""Values of measures on hard predictions, from the confusion matrix; and the best threshold for a measure.

The label rule throughout: +1 iff the score is strictly above the threshold (docs/algorithms.md 1.1).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_array, as_floats, as_vector, check_vector
from aesara_nondecomp._checks import number, require, shown, warn_caller
from aesara_nondecomp._names import named_keywords, warn_renamed
from aesara_nondecomp._numeric import row_counts
from aesara_nondecomp.measures import Measure, defaults, get

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
        If `measures` is a single name, or as in `score`.
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
        If it is a single name or measure, or none of these.
    """
    if measures is None:
        return list(defaults())
    if isinstance(measures, (str, Measure)) or not isinstance(measures, Iterable):
        raise ValueError(
            f"measures must be several, got {shown(measures)} alone. Pass [{shown(measures)}], or use score."
        )
    return [get(measure) for measure in measures]


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


def checked_scores(scores: Any) -> Array:
    """Check scores.

    Parameters
    ----------
    scores : array-like, shape (n,)
        Of at least one point.

    Returns
    -------
    float array, shape (n,)

    Raises
    ------
    ValueError
        On another shape, without points, or if a score is not finite.
    """
    array = as_array(scores, "scores")
    if array.dtype.kind != "f":
        array = as_floats(array, "scores")
    check_vector(array, "scores")
    if not np.all(np.isfinite(array)):
        raise ValueError(
            f"scores must be finite, got {int(np.sum(~np.isfinite(array)))} infinite or NaN of {array.size}. "
            "Training may have diverged: lower the learning rate."
        )
    return array


def checked_network_scores(scores: Any) -> Array:
    """Check scores of one network or of several.

    Parameters
    ----------
    scores : array-like, shape (n,) or (n, k)
        Of at least one point, by each of k networks.

    Returns
    -------
    float array, shape (n,) or (n, k)

    Raises
    ------
    ValueError
        As in `checked_scores`.
    """
    array = as_array(scores, "scores")
    return checked_scores(array.ravel()).reshape(array.shape) if array.ndim == 2 else checked_scores(array)


def checked_signs(name: str, signs: Any) -> Array:
    """Check labels.

    Parameters
    ----------
    name : str
        Of the argument, for the error.
    signs : array-like, shape (n,)
        Of at least one point.

    Returns
    -------
    array, shape (n,), in {-1, +1}

    Raises
    ------
    ValueError
        On another shape, without points, or for another label.
    """
    array = as_array(signs, name)
    check_vector(array, name)
    is_sign = np.zeros(array.shape, bool) if array.dtype.kind in "bSU" else (array == 1) | (array == -1)
    if not is_sign.all():
        first = int(np.argmin(is_sign))
        found = ", ".join(dict.fromkeys(map(shown, array[max(0, first - 1) : first + 9].tolist())))
        raise ValueError(f"{name} must hold -1 and +1 only, got {found}. Labels 0 and 1 become signs by 2*y - 1.")
    return array


def checked_threshold(threshold: Any, scores: Array) -> float:
    """Check a threshold, or choose its default.

    Parameters
    ----------
    threshold : float or None
        As given; may be infinite.
    scores : array, shape (n,)
        What it cuts.

    Returns
    -------
    float
        0 for None, with a warning if the scores look like probabilities: all of them would be predicted positive.

    Raises
    ------
    ValueError
        If it is no number, or NaN.
    """
    if threshold is None:
        if scores.min() >= 0 and 0 < scores.max() <= 1:
            warn_caller(
                "all scores lie in [0, 1], as probabilities do, and are cut at 0. Give threshold=0.5 if they are "
                "probabilities, and threshold=0 if not."
            )
        return 0.0
    found = number("threshold", threshold)
    if math.isnan(found):
        raise ValueError("threshold must be a number, perhaps infinite, got NaN.")
    return found


def checked_weights(sample_weight: Any, n: int) -> Array:
    """Check sample weights.

    Parameters
    ----------
    sample_weight : array-like, shape (n,)
        Of at least one point.
    n : int
        Number of points.

    Returns
    -------
    float64 array, shape (n,)
        On the scale of row counts: the same for all weights of equal ratios.

    Raises
    ------
    ValueError
        On another shape or length, or if a weight is negative or not finite.
    """
    array = as_vector(sample_weight, "sample_weight")
    require(len(array) == n, f"sample_weight must hold one weight for each of {n} points", len(array))
    usable = np.isfinite(array) & (array >= 0)
    require(bool(usable.all()), "sample_weight must be finite and at least 0", float(array[np.argmin(usable)]))
    return row_counts(array)


def check_same_length(name: str, array: Array, other_name: str, other: Array) -> None:
    """Check that two arguments have one entry for each point.

    Parameters
    ----------
    name : str
        Of the first argument.
    array : array
        The first argument.
    other_name : str
        Of the second argument.
    other : array
        The second argument.

    Raises
    ------
    ValueError
        If their lengths differ.
    """
    if len(array) != len(other):
        raise ValueError(
            f"{name} and {other_name} must be equally long, got {len(array)} and {len(other)}. "
            "Score the same points that the labels belong to."
        )


def _fraction(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
