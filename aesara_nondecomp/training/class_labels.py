"""Whether labels and measure are of two classes or of several, without loading what only several classes need."""

from __future__ import annotations

from typing import Any

from aesara_nondecomp import measures
from aesara_nondecomp.data import distinct_labels
from aesara_nondecomp.data.labels import why_not_classes
from aesara_nondecomp.measures import Measure
from aesara_nondecomp.parallel import Communicator, common_error

MOST_SENT = 1000  # labels of a process; numbers that are measured would be as many as there are rows


def is_of_classes(y: Any, measure: Any, comm: Communicator) -> bool:
    """Whether `fit` trains a network of several classes: by the measure, or by the labels.

    Parameters
    ----------
    y : array-like
        The labels.
    measure : object
        As given to `fit`.
    comm : communicator
        Of the processes whose labels these are; all decide alike.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If the labels are of more than two classes, and the measure is of two.
    """
    needed = comm.allgather(needs_classes(measure))
    if any(needed):  # where processes disagree, `fit` says so
        return True
    labels = distinct_labels(y) if comm.size == 1 else labels_of_all(y, comm)
    if len(labels) <= 2:
        return False
    if takes_classes(measure):
        return True
    if isinstance(measure, str) and measure not in measures.names():
        try:
            measures.multiclass.get(measure)
        except ValueError as error:  # it is unknown, whatever the labels
            raise common_error(comm, str(error)) from None
    raise common_error(
        comm,
        why_not_classes(labels)
        or f"labels for {str(measure)!r} must be of two classes, got {len(labels)}. For those give a measure of "
        "several classes: 'min_recall', 'mean_recall', 'gmean', 'macro_f1', 'micro_f1', 'kappa', 'kld' or another one "
        "that measures.multiclass.names() lists.",
    )


def labels_of_all(y: Any, comm: Communicator) -> list[Any]:
    """The distinct labels of all processes.

    Parameters
    ----------
    y : array-like, shape (n,)
        Those of this process.
    comm : communicator
        Of the processes.

    Returns
    -------
    list
        In no order, and of each process at most as many as tell that there are too many.
    """
    return list(dict.fromkeys(label for part in comm.allgather(distinct_labels(y)[:MOST_SENT]) for label in part))


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

    named = isinstance(measure, str) and measure in multiclass.catalogue.known_names()
    return named or isinstance(measure, multiclass.MulticlassMeasure)
