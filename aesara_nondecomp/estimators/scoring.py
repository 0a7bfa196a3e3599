"""Scorers for scikit-learn's searches: any measure, turned so that larger is better."""

from __future__ import annotations

from typing import Any

from aesara_nondecomp import measures, metrics
from aesara_nondecomp.data import encode_as, encode_labels
from aesara_nondecomp.estimators.sklearn_compat import make_scorer


def measure_scorer(measure: Any, pos_label: Any = None) -> Any:
    """A scikit-learn scorer by the counts of the predicted labels, larger is better.

    For `scoring=` of GridSearchCV, cross_val_score or TunedThresholdClassifierCV, with any classifier.

    Parameters
    ----------
    measure : str or measures.Measure
        An error such as "kld" is negated, as scikit-learn's "neg_..." scores are.
    pos_label : optional. The positive label; default the larger one.

    Raises
    ------
    ValueError
        If the measure is unknown; and, when scoring, if the true labels do not hold two classes.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> always_one = DummyClassifier(strategy="constant", constant=1).fit([[0], [0], [0], [0]], [0, 1, 1, 1])
    >>> float(measure_scorer("f1")(always_one, [[0], [0]], [0, 1]))
    0.6666666666666666
    """
    return make_scorer(oriented_value, measure=measures.get(measure), pos_label=pos_label)


def oriented_value(y_true: Any, y_predicted: Any, measure: measures.Measure, pos_label: Any = None) -> float:
    """Value of `measure` by counts, larger is better; `measure_scorer` documents the arguments."""
    labels = encode_labels(y_true, pos_label)
    table = metrics.confusion_matrix(labels.signs, encode_as(y_predicted, labels.classes))
    return float(measure.oriented(metrics.score(measure, table)))
