"""Bootstrap intervals of measures of K classes, and of the recall, precision and F1 of each class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import positive_int, random_generator, require, share, warn_caller
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.measures.identity import by_text
from aesara_nondecomp.measures.multiclass import MulticlassMeasure
from aesara_nondecomp.measures.multiclass.base import Counted
from aesara_nondecomp.metrics.bootstrap import FEW_ROWS, interval_of, quantiles, warn_of_few_that_differ
from aesara_nondecomp.metrics.checks import check_several_measures, checked_class_confusion, checked_class_indices

Array = NDArray[Any]
RATES = ("recall", "precision", "f1")


class ClassIntervals(NamedTuple):
    """Intervals of a classifier of K classes.

    Attributes
    ----------
    measures : dict of str to tuple of float
        Intervals by ``str(measure)``, each as (low, high), in the measure's own orientation; NaN where it is undefined
        on all resamples.
    classes : dict of str to array, shape (K, 2)
        Those of the "recall", the "precision" and the "f1" of each class.
    """

    measures: dict[str, tuple[float, float]]
    classes: dict[str, Array]


def bootstrap_classes(
    confusion: Any,
    measures: Iterable[str | MulticlassMeasure] | None = None,
    *,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    seed: Any = 0,
) -> ClassIntervals:
    """Percentile intervals of measures of K classes under resampling of the rows.

    Parameters
    ----------
    confusion : array-like, shape (K, K)
        Counts of true classes by predicted ones, without sample weights.
    measures : iterable of str or MulticlassMeasure, optional
        By default all of `measures.multiclass.defaults`.
    n_resamples : int, default 1000
        Confusion matrices to draw, at least 1.
    confidence_level : float, default 0.95
        In (0, 1).
    seed : int, numpy.random.Generator or None, default 0
        Equal seeds give equal intervals.

    Returns
    -------
    ClassIntervals

    Warns
    -----
    UserWarning
        If a class has fewer than 10 rows.

    Raises
    ------
    ValueError
        If the matrix is not square, is empty, a count is negative or not whole, a measure is unknown, two different
        ones have the same text, or `n_resamples` or `confidence_level` is out of range.

    Notes
    -----
    As in `bootstrap.bootstrap`, matrices are drawn instead of rows, and the recall of a class that is always or never
    predicted rightly is drawn from the Beta distribution of Clopper and Pearson (1934); errors that were not seen go to
    each other class alike.
    """
    counts, found = checked_counts(confusion), chosen_class_measures(measures)
    level, rng = share("confidence_level", confidence_level), random_generator(seed)
    n = positive_int("n_resamples", n_resamples)
    _warn_of_few_rows(counts.sum(axis=1))
    values, rates = np.empty((n, len(found))), np.empty((n, len(RATES), len(counts)))
    for k, (drawn,) in enumerate(_resamples([counts], counts.reshape(-1), np.arange(counts.size)[:, None], n, rng)):
        table = _with_errors(rng, counts, drawn)
        values[k], rates[k] = class_values(found, table), np.stack(list(class_rates(table).values()))
    tails = [(1 - level) / 2, (1 + level) / 2]
    found_values, found_rates = class_values(found, counts), class_rates(counts)
    of_measures = zip(map(str, found), values.T, found_values)
    of_classes = zip(RATES, rates.transpose(1, 2, 0), found_rates.values())
    return ClassIntervals(
        {name: interval_of(drawn, tails, value) for name, drawn, value in of_measures},
        {
            name: np.array([interval_of(drawn, tails, value) for drawn, value in zip(several, own)])
            for name, several, own in of_classes
        },
    )


def bootstrap_classes_difference(
    y_true: Any,
    first: Any,
    second: Any,
    n_classes: int,
    measures: Iterable[str | MulticlassMeasure] | None = None,
    *,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    seed: Any = 0,
) -> dict[str, tuple[float, float]]:
    """Percentile intervals of the differences of two classifiers, under resampling of the rows that both predicted.

    Parameters
    ----------
    y_true : array-like of int, shape (n,)
        True classes, from 0 to K - 1.
    first : array-like of int, shape (n,)
        Predicted classes.
    second : array-like of int, shape (n,)
        Those of the other classifier, whose values less those of the first are the differences.
    n_classes : int
        Number K of classes, at least 2.
    measures : iterable of str or MulticlassMeasure, optional
        By default all of `measures.multiclass.defaults`.
    n_resamples : int, default 1000
        Samples to draw, at least 1.
    confidence_level : float, default 0.95
        In (0, 1).
    seed : int, numpy.random.Generator or None, default 0
        Equal seeds give equal intervals.

    Returns
    -------
    dict of str to tuple of float
        From ``str(measure)`` to (low, high), in the measure's own orientation; NaN where a difference is undefined on
        all resamples.

    Warns
    -----
    UserWarning
        If predictions differ on 1 to 9 rows, or a class has fewer than 10 rows.

    Raises
    ------
    ValueError
        As in `bootstrap_classes`; if vectors are of other lengths, or hold what is no class.

    Notes
    -----
    Two measures depend on the rows through the counts of true class and both predictions, whose resamples are
    multinomial.
    """
    size = positive_int("n_classes", n_classes)
    truth = checked_class_indices("y_true", y_true, size)
    named = {"first": first, "second": second}
    both = [checked_class_indices(name, given, size, len(truth)) for name, given in named.items()]
    found, rng = chosen_class_measures(measures), random_generator(seed)
    level, n = share("confidence_level", confidence_level), positive_int("n_resamples", n_resamples)
    pairs = np.stack([truth * size + given for given in both], axis=1)
    places, counts = np.unique(pairs, axis=0, return_counts=True)
    tables = [np.bincount(place, counts, size**2).reshape(size, size) for place in places.T]
    _warn_of_few_rows(tables[0].sum(axis=1))
    warn_of_few_that_differ(int(np.sum(both[0] != both[1])))
    differences = np.empty((n, len(found)))
    with np.errstate(invalid="ignore"):  # of two infinite errors
        for k, (former, latter) in enumerate(_resamples(tables, counts, places, n, rng)):
            differences[k] = np.subtract(class_values(found, latter), class_values(found, former))
    tails = [(1 - level) / 2, (1 + level) / 2]
    return {str(measure): quantiles(drawn, tails) for measure, drawn in zip(found, differences.T)}


def class_values(measures: Iterable[MulticlassMeasure], counts: Array) -> list[float]:
    """Values of measures on one confusion matrix.

    Parameters
    ----------
    measures : iterable of MulticlassMeasure
        The measures.
    counts : array, shape (K, K)
        True classes by predicted ones.

    Returns
    -------
    list of float
        NaN where a measure is undefined.
    """
    counted = Counted.of(np.asarray(counts, float))
    return [measure._of_counts(counted) for measure in measures]


def class_rates(counts: Array) -> dict[str, Array]:
    """Recall, precision and F1 of each class.

    Parameters
    ----------
    counts : array, shape (K, K)
        True classes by predicted ones.

    Returns
    -------
    dict of str to float64 array, shape (K,)
        The "recall", the "precision" and the "f1"; NaN where one reads 0/0.
    """
    hits, rows, predicted = np.diagonal(counts), counts.sum(axis=1), counts.sum(axis=0)
    with np.errstate(invalid="ignore"):
        return {"recall": hits / rows, "precision": hits / predicted, "f1": 2 * hits / (rows + predicted)}


def trivial_class_value(measure: MulticlassMeasure, counts: Array) -> float:
    """Value of the best of the K constant predictions on the same rows.

    Parameters
    ----------
    measure : MulticlassMeasure
        Any measure of K classes.
    counts : array, shape (K, K)
        True classes by predicted ones, of any predictions of the rows.

    Returns
    -------
    float
        In the measure's own orientation; NaN where it is undefined for all of them.
    """
    rows = np.asarray(counts).sum(axis=1, keepdims=True)
    best: float = max((measure.from_confusion(rows * own) for own in np.eye(len(rows))), key=measure.merit)
    return round(best, 12)  # a kappa of 0 is not shown as 6.5e-17


def chosen_class_measures(measures: Any) -> list[MulticlassMeasure]:
    """Resolve an argument `measures` of several classes.

    Parameters
    ----------
    measures : iterable of str or MulticlassMeasure, or None
        None for all of `measures.multiclass.defaults`.

    Returns
    -------
    list of MulticlassMeasure

    Raises
    ------
    ValueError
        If it is a single name or measure, none of these, or two different ones have the same text.
    """
    if measures is None:
        return list(multiclass.defaults())
    check_several_measures(measures)
    return list(by_text(multiclass.get(measure) for measure in measures).values())


def checked_counts(confusion: Any) -> Array:
    """Check a confusion matrix of counts.

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
        If it is not square, is empty, or a count is negative or not whole.
    """
    counts = checked_class_confusion(confusion)
    usable = bool(np.isfinite(counts).all() and (counts >= 0).all() and (counts == np.rint(counts)).all())
    require(usable, "confusion must hold whole counts of at least 0, no sample weights", confusion)
    require(bool(counts.sum() > 0), "confusion must be of at least one row", confusion)
    return counts


def _resamples(
    like: list[Array], counts: Array, places: Array, n: int, rng: np.random.Generator
) -> Iterator[list[Array]]:
    """Draw tables of as many rows: of the groups of rows that each have their place in each of the tables."""
    kept = counts > 0
    weights, places = counts[kept], places[kept]
    for _ in range(n):
        drawn = rng.multinomial(int(weights.sum()), weights / weights.sum())
        yield [
            np.bincount(place, drawn, table.size).reshape(table.shape) for table, place in zip(like, places.T)
        ]  # fmt: skip


def _with_errors(rng: np.random.Generator, counts: Array, drawn: Array) -> Array:
    """The drawn table, with the rows of classes that are always or never right split anew by drawn recalls."""
    rows, hits = counts.sum(axis=1), np.diagonal(counts)
    for k in np.flatnonzero((rows > 0) & ((hits == 0) | (hits == rows))):
        others = np.arange(len(counts)) != k
        wrong = drawn[k, others] if drawn[k, others].any() else np.ones(len(counts) - 1)
        recall = rng.beta(*((rows[k], 1.0) if hits[k] else (1.0, rows[k])))
        total = drawn[k].sum()
        drawn[k, others] = (1 - recall) * total * wrong / wrong.sum()
        drawn[k, k] = recall * total
    return drawn


def _warn_of_few_rows(rows: Array) -> None:
    few = int(np.sum(rows < FEW_ROWS))
    if few:
        warn_caller(
            f"intervals are rough where classes have few rows: {few} of {len(rows)} have fewer than {FEW_ROWS}, the "
            f"smallest {int(rows.min())}."
        )
