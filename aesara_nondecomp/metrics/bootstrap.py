"""How far a count score can be trusted: bootstrap intervals."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from aesara_nondecomp import measures
from aesara_nondecomp._checks import positive_int, require
from aesara_nondecomp.measures import Measure
from aesara_nondecomp.metrics.confusion import ConfusionMatrix


def bootstrap(
    table: ConfusionMatrix,
    chosen: Iterable[str | Measure] | None = None,
    *,
    draws: int = 1000,
    level: float = 0.95,
    seed=0,
) -> dict[str, tuple[float, float]]:
    """Percentile intervals of count scores under resampling of the rows.

    A count score depends on the rows through the four counts alone, and the counts of n rows drawn with replacement
    are multinomial: so tables are drawn, not rows.  The classifier is taken as given; what another training set would
    have given is not in the interval.

    Parameters
    ----------
    table : ConfusionMatrix. Counts.
    chosen : iterable of str or Measure, optional. Default: every measure of the catalogue.
    draws : int >= 1. Tables to draw.
    level : float in (0, 1)
    seed : int, numpy Generator or None

    Returns
    -------
    dict
        From ``str(measure)`` to (low, high), in the measure's own orientation. Draws on which a measure is undefined
        are left out; NaN where it is undefined on all.

    Raises
    ------
    ValueError
        If the table is empty, a count is negative, a measure's name is unknown, or `draws` or `level` is out of range.
    TypeError
        If a measure is neither a name nor a measure.

    Source: Efron and Tibshirani 1993, chapter 13.
    """
    require(table.n > 0, "a table of at least one row is needed", table)
    require(0 < level < 1, "level must lie strictly between 0 and 1", level)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(table.n, np.array(table) / table.n, size=positive_int("draws", draws)).T
    tails = [(1 - level) / 2, (1 + level) / 2]
    found = measures.defaults() if chosen is None else [measures.get(measure) for measure in chosen]
    return {str(measure): _quantiles(np.asarray(measure.from_counts(*drawn)), tails) for measure in found}


def _quantiles(values: np.ndarray, tails: list[float]) -> tuple[float, float]:
    defined = values[~np.isnan(values)]
    if not defined.size:
        return float("nan"), float("nan")
    # An infinite value (an unsmoothed error) must not turn into NaN between two draws, as interpolation would have it.
    low, high = np.quantile(defined, tails, method="nearest")
    return float(low), float(high)
