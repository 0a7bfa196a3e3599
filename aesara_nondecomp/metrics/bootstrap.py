"""Bootstrap intervals of measures of hard predictions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import positive_int, random_generator, require, share, warn_caller
from aesara_nondecomp._names import lazy, named_keywords
from aesara_nondecomp.measures import Measure
from aesara_nondecomp.metrics.checks import check_same_length, checked_signs
from aesara_nondecomp.metrics.confusion import ConfusionMatrix, checked_confusion, chosen_measures, score

FEW_ROWS = 10  # of a class, below which intervals are rough
__getattr__ = lazy(__name__, {}, former={"bootstrap_intervals": "bootstrap"})[0]


class Intervals(dict[str, tuple[float, float]]):
    """Intervals by ``str(measure)``, each as (low, high), and the number of rows of each class that they rest on.

    Parameters
    ----------
    intervals : dict of str to tuple of float
        The entries.
    positives : int
        Number of positive rows.
    negatives : int
        Number of negative rows.
    """

    def __init__(self, intervals: dict[str, tuple[float, float]], positives: int, negatives: int) -> None:
        super().__init__(intervals)
        self.positives, self.negatives = positives, negatives


@named_keywords(table="confusion", chosen="measures", draws="n_resamples", level="confidence_level")
def bootstrap(
    confusion: ConfusionMatrix,
    measures: Iterable[str | Measure] | None = None,
    *,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    seed: Any = 0,
) -> Intervals:
    """Percentile intervals of measures under resampling of the rows.

    Parameters
    ----------
    confusion : ConfusionMatrix
        Counts, without sample weights.
    measures : iterable of str or Measure, optional
        By default all of `measures.defaults`.
    n_resamples : int, default 1000
        Confusion matrices to draw, at least 1.
    confidence_level : float, default 0.95
        In (0, 1).
    seed : int, numpy.random.Generator or None, default 0
        Equal seeds give equal intervals.

    Returns
    -------
    Intervals
        A dict from ``str(measure)`` to (low, high), in the measure's own orientation, with the number of rows of each
        class. Resamples on which a measure is undefined are left out; NaN if it is undefined on all.

    Warns
    -----
    UserWarning
        If a class has fewer than 10 rows.

    Raises
    ------
    ValueError
        If the matrix is empty, a count is negative or not whole, a measure is unknown, two different ones have the same
        text, or `n_resamples` or `confidence_level` is out of range.

    Notes
    -----
    A measure depends on the rows through the four counts alone, and the counts of n rows drawn with replacement are
    multinomial, so confusion matrices are drawn instead of rows. The classifier is fixed: the interval does not include
    the variation over training sets.

    Resamples of a class without errors have none either, however few rows it has. The rate of such a class, and of one
    without hits, is therefore drawn from the Beta distribution whose quantiles are the exact limits of Clopper and
    Pearson (1934): with 6 rows, all right, a rate from .541 to 1.

    Source: Efron and Tibshirani 1993, chapter 13.
    """
    counts = np.array(checked_confusion(confusion), dtype=float)
    require(counts.sum() > 0, "a confusion matrix of at least one row is needed", confusion)
    require(bool((counts == np.rint(counts)).all()), "whole counts are needed, no sample weights", confusion)
    level, rng = share("confidence_level", confidence_level), random_generator(seed)
    found = chosen_measures(measures)
    drawn = rng.multinomial(int(counts.sum()), counts / counts.sum(), size=positive_int("n_resamples", n_resamples)).T
    drawn = np.concatenate(
        [class_with_errors(rng, of_class, some) for of_class, some in zip(_of_each(counts), _of_each(drawn))]
    )
    tails = [(1 - level) / 2, (1 + level) / 2]
    positives, negatives = (int(of_class.sum()) for of_class in _of_each(counts))
    _warn_of_few_rows(positives, negatives)
    intervals = {}
    for measure in found:
        drawn_values = np.asarray(measure.from_counts(*drawn))
        intervals[str(measure)] = interval_of(drawn_values, tails, score(measure, confusion))
    return Intervals(intervals, positives, negatives)


def bootstrap_difference(
    y_true_signs: Any,
    first: Any,
    second: Any,
    measures: Iterable[str | Measure] | None = None,
    *,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    seed: Any = 0,
) -> Intervals:
    """Percentile intervals of the differences of two classifiers, under resampling of the rows that both predicted.

    As the rows are the same, what makes a row hard for both does not widen the intervals.

    Parameters
    ----------
    y_true_signs : array-like, shape (n,)
        True labels in {-1, +1}.
    first : array-like, shape (n,)
        Predicted labels in {-1, +1}.
    second : array-like, shape (n,)
        Those of the other classifier, whose values less those of the first are the differences.
    measures : iterable of str or Measure, optional
        By default all of `measures.defaults`.
    n_resamples : int, default 1000
        Samples to draw, at least 1.
    confidence_level : float, default 0.95
        In (0, 1).
    seed : int, numpy.random.Generator or None, default 0
        Equal seeds give equal intervals.

    Returns
    -------
    Intervals
        From ``str(measure)`` to (low, high), in the measure's own orientation. Resamples on which a difference is
        undefined are left out; NaN if it is undefined on all.

    Warns
    -----
    UserWarning
        If predictions differ on 1 to 9 rows, or a class has fewer than 10 rows.

    Raises
    ------
    ValueError
        As in `bootstrap` and `confusion_matrix`.

    Notes
    -----
    Two measures depend on the rows through eight counts: of each class, those that both, one or neither classifier has
    right. Their resamples are multinomial.

    Source: Efron and Tibshirani 1993, chapter 13.
    """
    names = ("y_true_signs", "first", "second")
    truth, *both = (checked_signs(name, given) > 0 for name, given in zip(names, (y_true_signs, first, second)))
    for name, given in zip(names[1:], both):
        check_same_length(names[0], truth, name, given)
    level, rng, found = share("confidence_level", confidence_level), random_generator(seed), chosen_measures(measures)
    counts = np.bincount(4 * truth + 2 * both[0] + both[1], minlength=8)
    differ, positives = int(counts[[1, 2, 5, 6]].sum()), int(truth.sum())
    _warn_of_few_rows(positives, len(truth) - positives)
    warn_of_few_that_differ(differ)
    drawn = rng.multinomial(len(truth), counts / len(truth), size=positive_int("n_resamples", n_resamples))
    cells = drawn.T.reshape(2, 2, 2, -1)  # by truth, first and second prediction
    matrices = [(t[1, 1], t[1, 0], t[0, 1], t[0, 0]) for t in (cells.sum(axis=2), cells.sum(axis=1))]
    tails, intervals = [(1 - level) / 2, (1 + level) / 2], {}
    for measure in found:
        former, latter = (np.asarray(measure.from_counts(*matrix)) for matrix in matrices)
        with np.errstate(invalid="ignore"):  # of two infinite errors
            intervals[str(measure)] = quantiles(latter - former, tails)
    return Intervals(intervals, positives, len(truth) - positives)


def _warn_of_few_rows(positives: int, negatives: int) -> None:
    if min(positives, negatives) < FEW_ROWS:
        warn_caller(
            f"intervals from {positives} positive and {negatives} negative rows are rough: {FEW_ROWS} rows of each "
            "class are the least to rely on."
        )


def _of_each(counts: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The two cells of the positives, and those of the negatives."""
    return counts[:2], counts[2:]


def class_with_errors(rng: np.random.Generator, cells: NDArray[Any], drawn: NDArray[Any]) -> NDArray[Any]:
    """The drawn cells of a class; if one of its cells is empty, split anew by drawn rates.

    Parameters
    ----------
    rng : numpy Generator
        Draws the rates, from the Beta distribution of Clopper and Pearson (1934).
    cells : array, shape (2,)
        Counts of the rows themselves: of a class those predicted rightly and wrongly, in either order.
    drawn : array, shape (2, n)
        Those of the resamples.

    Returns
    -------
    array, shape (2, n)
    """
    rows = cells.sum()
    if not rows or cells.all():
        return drawn
    hits, errors = np.where(cells, rows, 1.0).tolist()
    shares = rng.beta(hits, errors, size=drawn.shape[1])
    return np.asarray(drawn.sum(axis=0) * np.stack([shares, 1.0 - shares]))


def warn_of_few_that_differ(differ: int) -> None:
    """Warn of intervals of differences that rest on few rows.

    Parameters
    ----------
    differ : int
        Number of rows that are predicted differently.

    Warns
    -----
    UserWarning
        If there are 1 to 9 of them.
    """
    if 0 < differ < FEW_ROWS:
        warn_caller(f"intervals of differences from {differ} rows that are predicted differently are rough.")


def interval_of(drawn: NDArray[Any], tails: list[float], value: float) -> tuple[float, float]:
    """The interval of a value, which the tails of a skewed distribution may leave out.

    Parameters
    ----------
    drawn : array, shape (n,)
        Values of the resamples.
    tails : list of float
        Of the lower and of the upper quantile.
    value : float
        Of the rows themselves.

    Returns
    -------
    low : float
        At most the value; NaN if it is undefined on all resamples.
    high : float
        At least the value, likewise.
    """
    low, high = quantiles(drawn, tails)
    return (low, high) if np.isnan(value) else (min(low, value), max(high, value))


def quantiles(values: NDArray[Any], tails: list[float]) -> tuple[float, float]:
    """The quantiles of the values that are not NaN.

    Parameters
    ----------
    values : array, shape (n,)
        Of the resamples.
    tails : list of float
        Of the lower and of the upper quantile.

    Returns
    -------
    low : float
        The lower one; NaN if all values are.
    high : float
        The upper one, likewise.
    """
    defined = values[~np.isnan(values)]
    if not defined.size:
        return float("nan"), float("nan")
    # Interpolation between a finite and an infinite value (of an unsmoothed error) would give NaN.
    low, high = np.quantile(defined, tails, method="nearest")
    return float(low), float(high)
