"""Scorers for scikit-learn's searches: any measure, oriented so that larger is better."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

from aesara_nondecomp import measures, metrics
from aesara_nondecomp._checks import number, warn_caller
from aesara_nondecomp.data.labels import encode_pair
from aesara_nondecomp.estimators.sklearn_compat import UndefinedMetricWarning, make_scorer

WARN = "warn"


def measure_scorer(measure: Any, pos_label: Any = None, zero_division: Any = WARN) -> Any:
    """Make a scikit-learn scorer of a measure of the predicted labels; larger is better.

    Use it as `scoring=` of GridSearchCV, cross_val_score or TunedThresholdClassifierCV, with any classifier.

    Parameters
    ----------
    measure : str or measures.Measure
        Errors such as "kld" are negated, like scikit-learn's ``neg_`` scores.
    pos_label : scalar, optional
        The positive label. Default: the larger one.
    zero_division : {"warn", 0.0, 1.0, nan}, default "warn"
        Value of the measure on rows on which it is undefined, as F1 is where no row is positive and none predicted so,
        and the measures of both classes where one is missing. "warn" is 0 with an UndefinedMetricWarning, as in
        scikit-learn; for an error, of which 0 is the best value, it is NaN.

    Returns
    -------
    callable (estimator, X, y) -> float

    Raises
    ------
    ValueError
        If the measure is unknown or needs groups, or `zero_division` is no number; when scoring, if the labels are of
        more than two classes, or all true and predicted ones are equal and `pos_label` does not say which class it is.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> always_one = DummyClassifier(strategy="constant", constant=1).fit([[0], [0], [0], [0]], [0, 1, 1, 1])
    >>> float(measure_scorer("f1")(always_one, [[0], [0]], [0, 1]))
    0.6666666666666666
    """
    if not (isinstance(zero_division, str) and zero_division == WARN):
        zero_division = number("zero_division", zero_division, "'warn' or a number")
    measure = measures.get(measure)
    if isinstance(measure, measures.GroupMeasure):
        raise ValueError(
            f"measure_scorer takes measures of two rates, got {measure}, which needs groups: leave scoring out, and "
            "pass groups to MeasureClassifier.score by metadata routing."
        )
    return make_scorer(oriented_value, measure=measure, pos_label=pos_label, zero_division=zero_division)


def oriented_value(
    y_true: Any,
    y_predicted: Any,
    measure: measures.Measure,
    pos_label: Any = None,
    zero_division: Any = WARN,
    sample_weight: Any = None,
) -> float:
    """Evaluate a measure on predicted labels; larger is better.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels, of at most two classes.
    y_predicted : array-like, shape (n,)
        Predicted labels, in the coding of the true ones.
    measure : Measure
        Errors are negated.
    pos_label : scalar, optional
        The positive label. Default: the larger one.
    zero_division : {"warn"} or float, default "warn"
        Value where the measure is undefined; see `measure_scorer`.
    sample_weight : array-like, shape (n,), optional
        Weights of at least 0. Default: equal weights.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the labels are of more than two classes, or do not say which one is positive.
    """
    table = metrics.confusion_matrix(*encode_pair(y_true, y_predicted, pos_label), sample_weight)
    value = metrics.score(measure, table)
    if math.isnan(value):
        value = _undefined(measure, zero_division)
    return float(measure.oriented(value))


def warn_of_unlike_scores() -> None:
    """Warn if a search of scikit-learn over `measure` compares what `score` returns: each in its own measure."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        searched = frame.f_locals.get("parameters") if frame.f_code.co_name == "_fit_and_score" else None
        if isinstance(searched, Mapping) and any(name.split("__")[-1] == "measure" for name in searched):
            warn_caller(
                "this search over `measure` compares values of different measures, as `score` reports the one trained "
                "for. Give the search one for all: scoring=measure_scorer('f1'), for example."
            )
            return
        frame = frame.f_back


def _undefined(measure: measures.Measure, zero_division: Any) -> float:
    if zero_division != WARN:
        return float(zero_division)
    value = 0.0 if measure.greater_is_better else math.nan
    warn_caller(
        f"{measure} is undefined on these rows, of which a class is missing or never predicted, and counts as {value}. "
        "zero_division says what it counts as.",
        UndefinedMetricWarning,
    )
    return value
