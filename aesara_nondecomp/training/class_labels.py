"""Whether labels and measure are of two classes or of several, without loading what only several classes need."""

from __future__ import annotations

from typing import Any

from aesara_nondecomp import measures
from aesara_nondecomp.data import count_labels
from aesara_nondecomp.measures import Measure
from aesara_nondecomp.parallel import Communicator


def is_of_classes(y: Any, measure: Any, comm: Communicator) -> bool:
    """Whether `fit` trains a network of several classes: by the measure, or by the labels.

    Parameters
    ----------
    y : array-like
        The labels.
    measure : object
        As given to `fit`.
    comm : communicator
        With several processes the measure alone decides, as none sees all labels.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If the labels are of more than two classes, and the measure is of two.
    """
    if needs_classes(measure):
        return True
    n_classes = count_labels(y) if comm.size == 1 else 0
    if n_classes <= 2:
        return False
    if takes_classes(measure):
        return True
    raise ValueError(
        f"labels for {str(measure)!r} must be of two classes, got {n_classes}. For those give a measure of several "
        "classes: 'min_recall', 'mean_recall', 'gmean', 'macro_f1', 'micro_f1', 'kappa', 'kld' or another one that "
        "measures.multiclass.names() lists."
    )


def needs_classes(measure: Any) -> bool:
    """Whether a measure is one of several classes alone, also where labels are of two.

    Parameters
    ----------
    measure : object
        As given to `fit`.

    Returns
    -------
    bool
    """
    if isinstance(measure, Measure) or isinstance(measure, str) and measure in measures.names():
        return False
    from aesara_nondecomp.measures import multiclass

    return (
        isinstance(measure, multiclass.MulticlassMeasure) or isinstance(measure, str) and measure in multiclass.names()
    )


def takes_classes(measure: Any) -> bool:
    """Whether a measure can be trained for on labels of more than two classes.

    Parameters
    ----------
    measure : object
        As given to `fit`.

    Returns
    -------
    bool
    """
    if isinstance(measure, Measure):
        return False
    from aesara_nondecomp.measures import multiclass

    named = isinstance(measure, str) and measure in (*multiclass.names(), *multiclass.catalogue.ALIASES)
    return named or isinstance(measure, multiclass.MulticlassMeasure)
