"""Bootstrap intervals of measures of several labels, and of the recall, precision and F1 of each label."""

# ruff: noqa: N806 -- TP, FN, FP and TN are the names of the counts
from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_array, distinct_rows
from aesara_nondecomp._checks import positive_int, random_generator, require, share, warn_caller
from aesara_nondecomp.measures import Averaged, Measure, defaults
from aesara_nondecomp.measures.identity import by_text
from aesara_nondecomp.metrics.bootstrap import (
    FEW_ROWS,
    class_with_errors,
    interval_of,
    quantiles,
    warn_of_few_that_differ,
)
from aesara_nondecomp.metrics.checks import check_several_measures
from aesara_nondecomp.metrics.confusion import ConfusionMatrix, trivial_score
from aesara_nondecomp.metrics.label_confusion import label_confusions, label_rates

Array = NDArray[Any]
MOST_DRAWN = 4_000_000  # weights of rows that are drawn at once


class LabelIntervals(NamedTuple):
    """Intervals of a classifier of several labels.

    Attributes
    ----------
    measures : dict of str to tuple of float
        Intervals by ``str(measure)``, each as (low, high), in the measure's own orientation; NaN where it is undefined
        on all resamples.
    labels : dict of str to array, shape (L, 2)
        Those of the "recall", the "precision" and the "f1" of each label.
    """

    measures: dict[str, tuple[float, float]]
    labels: dict[str, Array]


def bootstrap_labels(
    y_true: Any,
    y_pred: Any,
    measures: Iterable[str | Measure | Averaged] | None = None,
    *,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    seed: Any = 0,
) -> LabelIntervals:
    """Percentile intervals of measures of several labels under resampling of the rows.

    Parameters
    ----------
    y_true : array-like, shape (n, L)
        0 and 1: which labels the rows have.
    y_pred : array-like, shape (n, L)
        Which are predicted.
    measures : iterable of str, Measure or Averaged, optional
        Such as "macro_f1" and "micro_f1". By default those of `default_label_measures`.
    n_resamples : int, default 1000
        Samples to draw, at least 1.
    confidence_level : float, default 0.95
        In (0, 1).
    seed : int, numpy.random.Generator or None, default 0
        Equal seeds give equal intervals.

    Returns
    -------
    LabelIntervals

    Warns
    -----
    UserWarning
        If fewer than 10 rows have a label, or do not have it.

    Raises
    ------
    ValueError
        If a matrix holds other values than 0 and 1 or the shapes differ, a measure is unknown, or `n_resamples` or
        `confidence_level` is out of range.

    Notes
    -----
    Rows are resampled with all their labels, so that the interval of an average has the correlation of the labels in
    it. As in `bootstrap.bootstrap`, a rate without errors or without hits is drawn from the Beta distribution of
    Clopper and Pearson (1934).
    """
    truth, predicted = _matrices({"y_true": y_true, "y_pred": y_pred})
    found, rng = chosen_label_measures(measures), random_generator(seed)
    level, n = share("confidence_level", confidence_level), positive_int("n_resamples", n_resamples)
    _warn_of_few_rows(truth)
    counts = label_confusions(truth, predicted)
    (drawn,) = _resamples(truth, [predicted], n, rng)
    drawn = _with_errors(rng, counts, drawn)
    tails = [(1 - level) / 2, (1 + level) / 2]
    rates, values = label_rates(drawn), label_rates(counts)
    return LabelIntervals(
        {str(each): interval_of(each.values(drawn), tails, each.from_confusions(counts)) for each in found},
        {
            rate: np.array([interval_of(own, tails, value) for own, value in zip(rates[rate].T, values[rate])])
            for rate in rates
        },
    )


def bootstrap_labels_difference(
    y_true: Any,
    first: Any,
    second: Any,
    measures: Iterable[str | Measure | Averaged] | None = None,
    *,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    seed: Any = 0,
) -> dict[str, tuple[float, float]]:
    """Percentile intervals of the differences of two classifiers, under resampling of the rows that both predicted.

    Parameters
    ----------
    y_true : array-like, shape (n, L)
        0 and 1: which labels the rows have.
    first : array-like, shape (n, L)
        Which are predicted.
    second : array-like, shape (n, L)
        Those of the other classifier, whose values less those of the first are the differences.
    measures : iterable of str, Measure or Averaged, optional
        As in `bootstrap_labels`.
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
        If predictions differ on 1 to 9 rows, or fewer than 10 rows have a label, or do not have it.

    Raises
    ------
    ValueError
        As in `bootstrap_labels`.
    """
    truth, *both = _matrices({"y_true": y_true, "first": first, "second": second})
    found, rng = chosen_label_measures(measures), random_generator(seed)
    level, n = share("confidence_level", confidence_level), positive_int("n_resamples", n_resamples)
    _warn_of_few_rows(truth)
    warn_of_few_that_differ(int((both[0] != both[1]).any(axis=1).sum()))
    former, latter = _resamples(truth, both, n, rng)
    tails = [(1 - level) / 2, (1 + level) / 2]
    with np.errstate(invalid="ignore"):  # of two infinite errors
        return {str(each): quantiles(each.values(latter) - each.values(former), tails) for each in found}


def default_label_measures() -> list[Averaged]:
    """What is reported of several labels.

    Returns
    -------
    list of Averaged
        "macro_f1" and "micro_f1", and the mean of every other measure of two classes that needs no parameter.
    """
    return [Averaged("f1"), Averaged("f1", "micro"), *(Averaged(each) for each in defaults() if str(each) != "f1")]


def chosen_label_measures(measures: Any) -> list[Averaged]:
    """Resolve an argument `measures` of several labels.

    Parameters
    ----------
    measures : iterable of str, Measure or Averaged, or None
        None for those of `default_label_measures`.

    Returns
    -------
    list of Averaged

    Raises
    ------
    ValueError
        If it is a single name or measure, one is unknown, or two different ones have the same text.
    """
    if measures is None:
        return default_label_measures()
    check_several_measures(measures)
    return list(by_text(Averaged.get(measure) for measure in measures).values())


def trivial_label_value(measure: Averaged, confusions: Array) -> float:
    """The best value of predictions that are the same for all rows: of a mean, the best of each label.

    Parameters
    ----------
    measure : Averaged
        Any measure of several labels.
    confusions : array, shape (L, 4)
        TP, FN, FP and TN of each label, of any predictions of the rows.

    Returns
    -------
    float
        In the measure's own orientation; NaN where a label has no rows with it, or none without it. Of a micro average
        the better value of all labels for all rows, and of none.
    """
    pooled = measure.average == "micro"
    of_labels = np.asarray(confusions).sum(axis=0, keepdims=True) if pooled else np.asarray(confusions)
    return float(np.mean([trivial_score(measure.measure, ConfusionMatrix(*row)) for row in of_labels.tolist()]))


def _matrices(named: dict[str, Any]) -> list[Array]:
    """Matrices of booleans of one shape."""
    found = [as_array(given, name) for name, given in named.items()]
    columns = {name: list(given.columns) for name, given in named.items() if hasattr(given, "columns")}
    columns = {name: own for name, own in columns.items() if own != list(range(len(own)))}  # which pandas gives arrays
    for name, own in columns.items():
        first = next(iter(columns))
        require(
            own == columns[first], f"{name} must have the columns of {first}, {columns[first]}, in their order", own
        )
    for name, matrix in zip(named, found):
        usable = matrix.ndim == 2 and matrix.size > 0 and bool(np.isin(matrix, (0, 1)).all())
        require(usable, f"{name} must be a matrix of 0 and 1, with a column for each label", named[name])
        same = f"{name} must have the shape of {next(iter(named))}, {found[0].shape}"
        require(matrix.shape == found[0].shape, same, matrix.shape)
    return [matrix.astype(bool) for matrix in found]


def _resamples(truth: Array, predictions: list[Array], n: int, rng: np.random.Generator) -> list[Array]:
    """Confusion matrices (n, L, 4) of resampled rows, for each of the predictions of the same rows."""
    first, kinds = distinct_rows(np.concatenate([truth, *predictions], axis=1))
    of_kinds, shares = [_cells(truth[first], given[first]) for given in predictions], np.bincount(kinds) / len(kinds)
    parts = []
    step = max(1, MOST_DRAWN // len(first))
    for start in range(0, n, step):
        weights = rng.multinomial(len(kinds), shares, size=min(step, n - start)).astype(float)
        parts.append([(weights @ cells).reshape(len(weights), -1, 4) for cells in of_kinds])
    return [np.concatenate(own) for own in zip(*parts)]


def _cells(truth: Array, predicted: Array) -> Array:
    """For each row, 1 in the one of four cells that it is in for each label; shape (n, 4 L)."""
    cells = np.stack([truth & predicted, truth & ~predicted, ~truth & predicted, ~truth & ~predicted], axis=2)
    return cells.reshape(len(truth), -1).astype(float)


def _with_errors(rng: np.random.Generator, counts: Array, drawn: Array) -> Array:
    """The drawn matrices, in which rates without errors or without hits are drawn anew."""
    for k, cells in enumerate(counts):
        for of_class in (slice(0, 2), slice(2, 4)):
            drawn[:, k, of_class] = class_with_errors(rng, cells[of_class], drawn[:, k, of_class].T).T
    return drawn


def _warn_of_few_rows(truth: Array) -> None:
    having = truth.sum(axis=0)
    rarer = np.minimum(having, len(truth) - having)
    few = int(np.sum(rarer < FEW_ROWS))
    if few:
        warn_caller(
            f"intervals are rough where few rows have a label, or lack it: for {few} of {len(rarer)} labels these are "
            f"fewer than {FEW_ROWS}, at the least {int(rarer.min())}."
        )
