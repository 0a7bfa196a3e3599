"""Checks of what measures are computed from: scores, labels, thresholds and weights."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_array, as_floats, as_vector, check_vector
from aesara_nondecomp._checks import number, require, shown, warn_caller
from aesara_nondecomp._numeric import row_counts

Array = NDArray[Any]
ROW_SUM_TOLERANCE = 1e-3  # float32 probabilities sum to 1 less exactly


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
        Scores that it is applied to.

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
                "all scores lie in [0, 1], as probabilities do, and are thresholded at 0. Give threshold=0.5 if they "
                "are probabilities, and threshold=0 if not."
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
        On another shape or length, or if a weight is negative or not finite, or none is above 0.
    """
    array = as_vector(sample_weight, "sample_weight")
    require(len(array) == n, f"sample_weight must hold one weight for each of {n} points", len(array))
    usable = np.isfinite(array) & (array >= 0)
    require(bool(usable.all()), "sample_weight must be finite and at least 0", float(array[np.argmin(usable)]))
    require(bool(array.any()), "sample_weight must be above 0 for some point", "0 for all")
    return row_counts(array)


def checked_class_indices(name: str, values: Any, n_classes: int, n: int | None = None) -> Array:
    """Check class indices of rows.

    Parameters
    ----------
    name : str
        Of the argument, for the error.
    values : array-like of int, shape (n,)
        Of at least one row.
    n_classes : int
        Number K of classes.
    n : int, optional
        Number of rows. Default: any.

    Returns
    -------
    int array, shape (n,)

    Raises
    ------
    ValueError
        On another shape, without rows, or if an index is not a whole number from 0 to K - 1.
    """
    indices = as_array(values, name)
    check_vector(indices, name)
    needed = f"{name} must hold one class index from 0 to {n_classes - 1} per row"
    require(n in (None, len(indices)), f"{needed}, shape ({n},)", indices.shape)
    inside = indices.dtype.kind in "iu" and bool(((indices >= 0) & (indices < n_classes)).all())
    require(inside, needed, values)
    return indices.astype(np.intp, copy=False)


def checked_class_confusion(confusion: Any) -> Array:
    """Check the shape of a confusion matrix of K classes.

    Parameters
    ----------
    confusion : array-like, shape (K, K)
        True classes by predicted ones.

    Returns
    -------
    float64 array, shape (K, K)

    Raises
    ------
    ValueError
        If it is not square, or of fewer than two classes.
    """
    counts = as_floats(confusion, "confusion")
    square = counts.ndim == 2 and counts.shape[0] == counts.shape[1] >= 2
    require(square, "confusion must have shape (K, K), true classes by predicted ones", counts.shape)
    return counts


def checked_probabilities(probabilities: Any) -> Array:
    """Check class probabilities.

    Parameters
    ----------
    probabilities : array-like, shape (n, K)
        Of at least one row and two classes.

    Returns
    -------
    float64 array, shape (n, K)

    Raises
    ------
    ValueError
        On another shape, or if a row is not at least 0 with the sum 1.
    """
    found = as_floats(probabilities, "probabilities")
    shaped = found.ndim == 2 and found.shape[0] >= 1 and found.shape[1] >= 2
    require(shaped, "probabilities must have shape (n, K), one column for each class", found.shape)
    right = (found >= 0).all(axis=1) & (np.abs(found.sum(axis=1) - 1) < ROW_SUM_TOLERANCE)
    require(bool(right.all()), "each row of probabilities must be at least 0 and sum to 1", found[np.argmin(right)])
    return found


def check_several_measures(measures: Any) -> None:
    """Check that an argument `measures` holds several, and is no single name or measure.

    Parameters
    ----------
    measures : iterable
        As given.

    Raises
    ------
    ValueError
        If it is a text, or not iterable.
    """
    several = isinstance(measures, Iterable) and not isinstance(measures, str)
    require(several, f"measures must be several, such as [{shown(measures)}]", measures)


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


def checked_labelled_scores(scores: Any, signs: Any, sample_weight: Any) -> tuple[Array, Array, Array]:
    """Check scores with their labels and weights.

    Parameters
    ----------
    scores : array-like, shape (n,)
        Finite scores.
    signs : array-like, shape (n,)
        Labels in {-1, +1}.
    sample_weight : array-like, shape (n,), or None
        At least 0; None for equal ones.

    Returns
    -------
    scores : float64 array, shape (n,)
    signs : array, shape (n,)
    weight : array, shape (n,)

    Raises
    ------
    ValueError
        If a shape is not (n,), lengths differ, a score is not finite, a label is neither -1 nor +1, or a weight is
        negative.
    """
    scores, signs = checked_scores(scores).astype(np.float64, copy=False), checked_signs("signs", signs)
    check_same_length("scores", scores, "signs", signs)
    weight = np.ones(len(scores)) if sample_weight is None else checked_weights(sample_weight, len(scores))
    return scores, signs, weight
