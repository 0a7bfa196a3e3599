"""Macro and micro averages of a binary measure, for problems of several classes or several labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_array
from aesara_nondecomp._checks import choose, is_null, require
from aesara_nondecomp._names import lazy
from aesara_nondecomp.measures import Measure, get
from aesara_nondecomp.metrics.confusion import ConfusionMatrix, confusion_matrix, score

__getattr__ = lazy(__name__, {}, former={"one_vs_rest_tables": "one_vs_rest_confusions"})[0]


def one_vs_rest_confusions(y_true: Any, y_predicted: Any) -> dict[Any, ConfusionMatrix]:
    """One confusion matrix per class (that class against the rest) or per label.

    Parameters
    ----------
    y_true : array-like, shape (n,) or (n, k)
        Vector of class labels, or indicator matrix of 0 and 1 with one column per label.
    y_predicted : array-like, shape (n,) or (n, k)
        Predictions, of the same shape.

    Returns
    -------
    dict
        From each class that occurs in either vector, in sorted order, or from each column index.

    Raises
    ------
    ValueError
        If the shapes differ, there are no rows, labels are missing or not all of one kind, or a matrix holds other
        values than 0 and 1.
    """
    truth, predicted = as_array(y_true, "y_true"), as_array(y_predicted, "y_predicted")
    require(
        truth.shape == predicted.shape and truth.ndim in (1, 2) and truth.size > 0,
        f"labels and predictions must share one shape (n,) or (n, k), labels have {truth.shape}",
        predicted.shape,
    )
    if truth.ndim == 1:
        found = _labels_in(truth, predicted)
        return {label: confusion_matrix(_signs(truth == label), _signs(predicted == label)) for label in found}
    strange = [value for value in np.union1d(truth, predicted).tolist() if value not in (0, 1)]
    require(not strange, "indicator matrices hold 0 and 1 only", strange)
    columns = range(truth.shape[1])
    return {k: confusion_matrix(_signs(truth[:, k] == 1), _signs(predicted[:, k] == 1)) for k in columns}


def _labels_in(truth: Any, predicted: Any) -> list[Any]:
    """The distinct labels of both in sorted order; NumPy would make text of numbers beside text."""
    found = {*truth.tolist(), *predicted.tolist()}
    missing = [label for label in found if is_null(label)]
    require(not missing, "labels and predictions must not be missing", missing)
    try:
        return sorted(found)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in found})
        raise ValueError(f"labels and predictions must all be of one kind, got {kinds}. Convert one of them.") from None


def averaged_value(measure: str | Measure, y_true: Any, y_predicted: Any, average: str = "macro") -> float:
    """Macro or micro average of a measure, in its own orientation.

    Parameters
    ----------
    measure : str or Measure
        Name in the catalogue, or a measure.
    y_true : array-like, shape (n,) or (n, k)
        True labels, as in `one_vs_rest_confusions`.
    y_predicted : array-like, shape (n,) or (n, k)
        Predictions, of the same shape.
    average : {"macro", "micro"}, default "macro"
        "macro" is the mean of the classes' values; "micro" is the value of the sum of their confusion matrices. For
        vectors of class labels the micro F1 equals the accuracy, as every false positive of one class is a false
        negative of another.

    Returns
    -------
    float
        NaN if the measure is undefined for a class, such as one that occurs in the predictions only.

    Raises
    ------
    ValueError
        If `measure` is neither a name in the catalogue nor a measure, `average` is unknown, or as in
        `one_vs_rest_confusions`.

    Examples
    --------
    >>> averaged_value("f1", ["a", "b", "c", "a"], ["a", "b", "b", "a"], average="micro")
    0.75
    """
    measure = get(measure)
    choose("average", average, {"macro": 0, "micro": 0})
    confusions = list(one_vs_rest_confusions(y_true, y_predicted).values())
    if average == "micro":
        return score(measure, ConfusionMatrix(*np.sum(confusions, axis=0).tolist()))
    return float(np.mean([score(measure, confusion) for confusion in confusions]))


def _signs(is_positive: NDArray[np.bool_]) -> NDArray[np.int_]:
    """+1 where true, -1 elsewhere."""
    return np.where(is_positive, 1, -1)
