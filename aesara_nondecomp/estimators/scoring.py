"""Scorers for scikit-learn's searches: any measure, oriented so that larger is better."""

from __future__ import annotations

from typing import Any

from aesara_nondecomp import measures, metrics
from aesara_nondecomp.data import encode_as, encode_labels
from aesara_nondecomp.estimators.sklearn_compat import make_scorer


def measure_scorer(measure: Any, pos_label: Any = None) -> Any:
    """Make a scikit-learn scorer of a measure of the predicted labels; larger is better.

    Use it as `scoring=` of GridSearchCV, cross_val_score or TunedThresholdClassifierCV, with any classifier.

    Parameters
    ----------
    measure : str or measures.Measure
        Errors such as "kld" are negated, like scikit-learn's "neg_..." scores.
    pos_label : scalar, optional
        The positive label. Default: the larger one.

    Returns
    -------
    callable (estimator, X, y) -> float

    Raises
    ------
    ValueError
        If the measure is unknown; when scoring, if the true labels do not hold two classes.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> always_one = DummyClassifier(strategy="constant", constant=1).fit([[0], [0], [0], [0]], [0, 1, 1, 1])
    >>> float(measure_scorer("f1")(always_one, [[0], [0]], [0, 1]))
    0.6666666666666666
    """
    return make_scorer(oriented_value, measure=measures.get(measure), pos_label=pos_label)


def oriented_value(y_true: Any, y_predicted: Any, measure: measures.Measure, pos_label: Any = None) -> float:
    """Evaluate a measure on predicted labels; larger is better.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        True labels, of two classes.
    y_predicted : array-like, shape (n,)
        Predicted labels, in the coding of the true ones.
    measure : Measure
        Errors are negated.
    pos_label : scalar, optional
        The positive label. Default: the larger one.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the true labels do not hold two classes, or a predicted label is neither of them.
    """
    labels = encode_labels(y_true, pos_label)
    table = metrics.confusion_matrix(labels.signs, encode_as(y_predicted, labels.classes))
    return float(measure.oriented(metrics.score(measure, table)))
