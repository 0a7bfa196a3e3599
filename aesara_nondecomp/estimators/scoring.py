"""Scorers for scikit-learn's searches: any measure, oriented so that larger is better."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

import numpy as np

from aesara_nondecomp import measures, metrics
from aesara_nondecomp._arrays import as_array
from aesara_nondecomp._checks import number, require, warn_caller
from aesara_nondecomp.data.class_order import check_class_order
from aesara_nondecomp.data.labels import (
    count_labels,
    encode_classes,
    encode_classes_as,
    encode_pair,
)
from aesara_nondecomp.estimators.sklearn_compat import UndefinedMetricWarning, make_scorer
from aesara_nondecomp.measures.groups import WorstOfForms
from aesara_nondecomp.metrics.checks import check_same_length, checked_weights
from aesara_nondecomp.metrics.class_scores import class_confusion
from aesara_nondecomp.training.class_labels import needs_classes, takes_classes

WARN = "warn"


def measure_scorer(measure: Any, pos_label: Any = None, zero_division: Any = WARN, labels: Any = None) -> Any:
    """Make a scikit-learn scorer of a measure of the predicted labels; larger is better.

    Use it as `scoring=` of GridSearchCV, cross_val_score or TunedThresholdClassifierCV, with any classifier.

    Parameters
    ----------
    measure : str, measures.Measure or measures.multiclass.MulticlassMeasure
        Errors such as "kld" are negated, like scikit-learn's ``neg_`` scores. A name that measures of two classes and
        of several have, such as "gmean", is that of several where there are more than two labels.
    pos_label : scalar, optional
        The positive label of two. Default: the larger one.
    zero_division : {"warn", 0.0, 1.0, nan}, default "warn"
        Value of the measure on rows on which it is undefined, as F1 is where no row is positive and none predicted so,
        and the measures of both classes where one is missing. "warn" is 0 with an UndefinedMetricWarning, as in
        scikit-learn; for an error, of which 0 is the best value, it is NaN.
    labels : array-like, optional
        The labels of several classes, in their order. Give them for a measure of ordered classes, such as "qwk": a fold
        may lack some, and the order of text need not be that of the classes. Default: those that occur, sorted.

    Returns
    -------
    callable (estimator, X, y) -> float

    Raises
    ------
    ValueError
        If the measure is unknown or needs groups, or `zero_division` is no number; when scoring, if there are more
        labels than the measure takes, or all true and predicted ones are equal and `pos_label` does not say which class
        it is.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> always_one = DummyClassifier(strategy="constant", constant=1).fit([[0], [0], [0], [0]], [0, 1, 1, 1])
    >>> float(measure_scorer("f1")(always_one, [[0], [0]], [0, 1]))
    0.6666666666666666
    """
    if not (isinstance(zero_division, str) and zero_division == WARN):
        zero_division = number("zero_division", zero_division, "'warn' or a number")
    found = measures.multiclass.get(measure) if needs_classes(measure) else measures.get(measure)
    if isinstance(found, WorstOfForms):
        raise ValueError(
            f"measure_scorer takes measures of labels alone, got {measure}, which needs groups: leave scoring out, and "
            "pass groups to MeasureClassifier.score by metadata routing."
        )
    measure = found if needs_classes(measure) else measure
    return make_scorer(oriented_value, measure=measure, pos_label=pos_label, zero_division=zero_division, labels=labels)


def oriented_value(
    y_true: Any,
    y_predicted: Any,
    measure: Any,
    pos_label: Any = None,
    zero_division: Any = WARN,
    sample_weight: Any = None,
    labels: Any = None,
) -> float:
    """Evaluate a measure on predicted labels; larger is better.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels, of at most two classes for a measure of two.
    y_predicted : array-like, shape (n,)
        Predicted labels, in the coding of the true ones.
    measure : str, Measure or MulticlassMeasure
        Errors are negated.
    pos_label : scalar, optional
        The positive label. Default: the larger one.
    zero_division : {"warn"} or float, default "warn"
        Value where the measure is undefined; see `measure_scorer`.
    sample_weight : array-like, shape (n,), optional
        Weights of at least 0. Default: equal weights.
    labels : array-like, optional
        Those of several classes; see `measure_scorer`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If there are more labels than the measure takes, or they do not say which one is positive.
    """
    pair = as_array(y_true, "labels"), as_array(y_predicted, "labels")
    found: Any
    n_labels = count_labels(np.concatenate(pair) if labels is None else labels)
    if needs_classes(measure) or n_labels > 2:
        needed = f"{str(measure)!r} is of two classes: of more give 'macro_f1', 'min_recall' or another of several"
        require(takes_classes(measure), needed, f"{n_labels} labels")
        found, value = _value_of_several(*pair, measure, pos_label, sample_weight, labels)
    else:
        found = measures.get(measure)
        value = metrics.score(found, metrics.confusion_matrix(*encode_pair(*pair, pos_label), sample_weight))
    if math.isnan(value):
        value = _undefined(found, zero_division)
    return float(found.oriented(value))


def _value_of_several(
    y_true: Any, y_predicted: Any, measure: Any, pos_label: Any, sample_weight: Any, labels: Any
) -> tuple[measures.multiclass.MulticlassMeasure, float]:
    """The measure of several classes, and its value."""
    found = measures.multiclass.get(measure)
    require(pos_label is None, "pos_label is for labels of two classes: of several, leave it out", pos_label)
    classes = _classes(np.concatenate([y_true, y_predicted]), labels, found)
    codes, predicted = encode_classes_as(y_true, classes), encode_classes_as(y_predicted, classes)
    check_same_length("true labels", codes, "predicted labels", predicted)
    weight = None if sample_weight is None else checked_weights(sample_weight, len(codes))
    return found, found.from_confusion(class_confusion(codes, predicted, len(classes), weight))


def _classes(given: Any, labels: Any, measure: measures.multiclass.MulticlassMeasure) -> tuple[Any, ...]:
    """The classes in their order: that of `labels`, or that in which those given are sorted."""
    if labels is None:
        classes = encode_classes(given).classes
        check_class_order(given, classes, measure, otherwise="give labels= in their order")
        return classes
    places, classes = encode_classes(labels)
    require(len(places) == len(classes), "labels must name each class once", labels)
    return tuple(classes[place] for place in places)


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


def _undefined(measure: Any, zero_division: Any) -> float:
    if zero_division != WARN:
        return float(zero_division)
    value = 0.0 if measure.greater_is_better else math.nan
    warn_caller(
        f"{measure} is undefined on these rows, of which a class is missing or never predicted, and counts as {value}. "
        "zero_division says what it counts as.",
        UndefinedMetricWarning,
    )
    return value
