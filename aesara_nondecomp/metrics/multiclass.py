"""Macro and micro values of a binary measure, for problems of several classes or several labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara_nondecomp import measures, metrics
from aesara_nondecomp._checks import choose, require


def one_vs_rest_confusions(y_true: Any, y_predicted: Any) -> dict[Any, metrics.ConfusionMatrix]:
    """One confusion table per class (that class against the rest) or per label.

    Parameters
    ----------
    y_true, y_predicted : array-like, shape (n,) or (n, k)
        Vectors of class labels, or indicator matrices of 0 and 1 with one column per label.

    Returns
    -------
    dict
        From each class that occurs in either vector, in sorted order, or from each column number.

    Raises
    ------
    ValueError
        If the shapes differ, there are no rows, or a matrix holds other values than 0 and 1.
    """
    truth, predicted = np.asarray(y_true), np.asarray(y_predicted)
    require(
        truth.shape == predicted.shape and truth.ndim in (1, 2) and truth.size > 0,
        f"labels and predictions must share one shape (n,) or (n, k), labels have {truth.shape}",
        predicted.shape,
    )
    if truth.ndim == 1:
        found = np.union1d(truth, predicted).tolist()
        return {label: metrics.confusion_matrix(_signs(truth == label), _signs(predicted == label)) for label in found}
    strange = [value for value in np.union1d(truth, predicted).tolist() if value not in (0, 1)]
    require(not strange, "indicator matrices hold 0 and 1 only", strange)
    columns = range(truth.shape[1])
    return {k: metrics.confusion_matrix(_signs(truth[:, k] == 1), _signs(predicted[:, k] == 1)) for k in columns}


def averaged_value(measure, y_true: Any, y_predicted: Any, average: str = "macro") -> float:
    """Macro or micro value of a measure, in its own orientation.

    Parameters
    ----------
    measure : str or measures.Measure
    y_true, y_predicted : array-like, shape (n,) or (n, k). As in `one_vs_rest_confusions`.
    average : {"macro", "micro"}
        "macro" is the mean of the classes' values; "micro" is the value of the sum of their tables. For vectors of
        class labels the micro F1 equals the accuracy, as every false positive of one class is a miss of another.

    Returns
    -------
    float
        NaN if the measure is undefined for a class, as where a class occurs in the predictions only.

    Raises
    ------
    ValueError
        If the measure's name or `average` is unknown, or as `one_vs_rest_confusions`.
    TypeError
        If `measure` is neither a name nor a measure.

    Examples
    --------
    >>> averaged_value("f1", ["a", "b", "c", "a"], ["a", "b", "b", "a"], average="micro")
    0.75
    """
    measure = measures.get(measure)
    choose("average", average, {"macro": 0, "micro": 0})
    tables = list(one_vs_rest_confusions(y_true, y_predicted).values())
    if average == "micro":
        return metrics.score(measure, metrics.ConfusionMatrix(*np.sum(tables, axis=0).tolist()))
    return float(np.mean([metrics.score(measure, table) for table in tables]))


def _signs(is_positive: np.ndarray) -> np.ndarray:
    return np.where(is_positive, 1, -1)
