"""Bootstrap intervals of measures of hard predictions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import positive_int, require
from aesara_nondecomp._names import lazy, named_keywords
from aesara_nondecomp.measures import Measure, defaults, get
from aesara_nondecomp.metrics.confusion import ConfusionMatrix

__getattr__ = lazy(__name__, {}, former={"bootstrap_intervals": "bootstrap"})[0]


@named_keywords(table="confusion", chosen="measures", draws="n_resamples", level="confidence_level")
def bootstrap(
    confusion: ConfusionMatrix,
    measures: Iterable[str | Measure] | None = None,
    *,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    seed: Any = 0,
) -> dict[str, tuple[float, float]]:
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
    dict of str to tuple of float
        From ``str(measure)`` to (low, high), in the measure's own orientation. Resamples on which a measure is
        undefined are left out; NaN if it is undefined on all.

    Raises
    ------
    ValueError
        If the matrix is empty, a count is negative or not whole, a measure is unknown, or `n_resamples` or
        `confidence_level` is out of range.

    Notes
    -----
    A measure depends on the rows through the four counts alone, and the counts of n rows drawn with replacement are
    multinomial, so confusion matrices are drawn instead of rows. The classifier is fixed: the interval does not include
    the variation over training sets.

    Source: Efron and Tibshirani 1993, chapter 13.
    """
    require(confusion.n > 0, "a confusion matrix of at least one row is needed", confusion)
    require(all(count == int(count) for count in confusion), "whole counts are needed, no sample weights", confusion)
    require(0 < confidence_level < 1, "confidence_level must lie strictly between 0 and 1", confidence_level)
    rng, n = np.random.default_rng(seed), int(confusion.n)
    drawn = rng.multinomial(n, np.array(confusion) / n, size=positive_int("n_resamples", n_resamples)).T
    tails = [(1 - confidence_level) / 2, (1 + confidence_level) / 2]
    found = defaults() if measures is None else [get(measure) for measure in measures]
    return {str(measure): _quantiles(np.asarray(measure.from_counts(*drawn)), tails) for measure in found}


def _quantiles(values: NDArray[Any], tails: list[float]) -> tuple[float, float]:
    """The quantiles of the values that are not NaN; NaN if all are."""
    defined = values[~np.isnan(values)]
    if not defined.size:
        return float("nan"), float("nan")
    # Interpolation between a finite and an infinite value (of an unsmoothed error) would give NaN.
    low, high = np.quantile(defined, tails, method="nearest")
    return float(low), float(high)
