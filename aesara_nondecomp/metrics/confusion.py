"""Values of measures on hard predictions, from the confusion matrix; and the best threshold for a measure.

The label rule throughout: +1 iff the score is strictly above the threshold (docs/algorithms.md 1.1).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp._names import named_keywords, warn_renamed
from aesara_nondecomp.measures import Measure, defaults, get

Array = NDArray[Any]


class ConfusionMatrix(NamedTuple):
    """Counts of right and wrong predictions on the positives (TP, FN) and on the negatives (FP, TN).

    Attributes
    ----------
    TP : int
        True positives; with sample weights, the sum of their weights (float). Likewise below.
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
        Finite weights of the points, at least 0. By default each point counts once.

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
    weight = checked_weights(sample_weight)
    check_same_length("y_true_signs", truth, "sample_weight", weight)
    sums: list[Any] = [float(weight[cell].sum()) for cell in cells]
    return ConfusionMatrix(*sums)


def confusion_at_threshold(
    scores: Any, signs: Any, threshold: float = 0.0, sample_weight: Any = None
) -> ConfusionMatrix:
    """Confusion matrix of the rule "+1 iff score > threshold".

    Parameters
    ----------
    scores : array-like, shape (n,)
        Finite scores.
    signs : array-like, shape (n,)
        True labels in {-1, +1}.
    threshold : float, default 0.0
        May be infinite.
    sample_weight : array-like, shape (n,), optional
        Finite weights of the points, at least 0. By default each point counts once.

    Returns
    -------
    ConfusionMatrix
        Of int; with weights, of float.

    Raises
    ------
    ValueError
        If `threshold` is NaN, a score is not finite, or as in `confusion_matrix`.
    """
    if math.isnan(threshold):
        raise ValueError("threshold must be a number, perhaps infinite, got NaN.")
    return confusion_matrix(signs, np.where(checked_scores(scores) > threshold, 1, -1), sample_weight)


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
        If `measure` is neither a name in the catalogue nor a measure, or a count is negative.
    """
    return float(get(measure).from_counts(*confusion))


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
    if isinstance(measures, str):
        raise ValueError(f"report needs several measures, got {measures!r} alone. Pass [{measures!r}], or use score.")
    chosen = defaults() if measures is None else [get(measure) for measure in measures]
    return {str(measure): score(measure, confusion) for measure in chosen}


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
    array = np.asarray(signs)
    _check_vector(name, array)
    is_sign = (array == 1) | (array == -1)
    if array.dtype == bool or not np.all(is_sign):
        found = ", ".join(repr(value) for value in np.unique(array)[:5].tolist())
        raise ValueError(f"{name} must hold -1 and +1 only, got {found}. Labels 0 and 1 become signs by 2*y - 1.")
    return array


def checked_weights(sample_weight: Any) -> Array:
    """Check sample weights.

    Parameters
    ----------
    sample_weight : array-like, shape (n,)
        Of at least one point.

    Returns
    -------
    float64 array, shape (n,)

    Raises
    ------
    ValueError
        On another shape, without points, or if a weight is negative or not finite.
    """
    array = np.asarray(sample_weight, dtype=np.float64)
    _check_vector("sample_weight", array)
    require(bool(np.all(np.isfinite(array) & (array >= 0))), "sample_weight must be finite and at least 0", array.min())
    return array


def _check_vector(name: str, array: Array) -> None:
    if array.ndim != 1:
        raise ValueError(f"{name} must have shape (n,), got {array.shape}. If it is a column, pass {name}.ravel().")
    if array.size == 0:
        raise ValueError(f"{name} must hold at least one point, got none.")


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
