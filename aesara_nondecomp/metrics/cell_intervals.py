"""Intervals of the recalls of cells, and of what follows from them, on labelled rows.

The rows of a cell are predicted right independently, with the recall as their probability. Given Jeffreys' prior, the
recall then has a Beta distribution, whose quantiles are a good interval also for few rows (Brown, Cai and DasGupta,
"Interval estimation for a binomial proportion", Statistical Science 16:101-133, 2001).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
LEVEL = 0.95
TAIL = (1 - LEVEL) / 2
DRAWS = 4000
FEWEST_BELOW = 10  # draws below a quantile, to rely on it


def jeffreys_interval(right: Array, rows: Array) -> tuple[Array, Array]:
    """The 95 % intervals of recalls.

    Parameters
    ----------
    right : int array, shape (m,)
        Rows of each cell that are predicted right.
    rows : int array, shape (m,)
        All rows of each cell.

    Returns
    -------
    low : float64 array, shape (m,)
        0 where no row is right; NaN for a cell without rows.
    high : float64 array, shape (m,)
        1 where all are right; NaN likewise.
    """
    from scipy.special import betaincinv as quantile  # slow

    a, b = right + 0.5, rows - right + 0.5
    low = np.where(right == 0, 0.0, quantile(a, b, TAIL))
    high = np.where(right == rows, 1.0, quantile(a, b, 1 - TAIL))
    return np.where(rows > 0, low, np.nan), np.where(rows > 0, high, np.nan)


def recall_draws(right: Array, rows: Array, seed: Any = 0) -> Array:
    """Recalls drawn from their distributions given the rows.

    Parameters
    ----------
    right : int array, shape (m,)
        Rows of each cell that are predicted right.
    rows : int array, shape (m,)
        All rows of each cell.
    seed : int, optional
        Equal seeds give equal draws.

    Returns
    -------
    float64 array, shape (4000, m)
    """
    return np.random.default_rng(seed).beta(right + 0.5, rows - right + 0.5, size=(DRAWS, len(rows)))


def count_draws(right: Array, rows: Array) -> tuple[Array, Array]:
    """Rows predicted right and wrong, drawn with the recalls and with the shares of the cells.

    New rows have other shares of the cells, so a rate of rows of both classes, such as a precision, varies by more than
    the recalls do. Divided by their sum, the counts have the distribution of a multinomial's shares given Jeffreys'
    prior.

    Parameters
    ----------
    right : int array, shape (m,)
        Rows of each cell that are predicted right.
    rows : int array, shape (m,)
        All rows of each cell.

    Returns
    -------
    right : float64 array, shape (4000, m)
    wrong : float64 array, shape (4000, m)
    """
    rng = np.random.default_rng(0)
    recalls = recall_draws(right, rows, rng)
    drawn = rng.gamma(rows + 1.0, size=recalls.shape)
    return recalls * drawn, (1 - recalls) * drawn


def interval_of_largest(largest: Array, statistics: Iterable[Array], count: int, value: float) -> tuple[float, float]:
    """The 95 % interval of the largest of several statistics.

    The upper end is a quantile of the largest draw. That would not do for the lower end, as the largest of several
    noisy statistics lies above all of their true values: a gap would seem to be there where there is none. The lower
    end is that of the statistic that lies surely highest, each at its share of the error.

    Parameters
    ----------
    largest : array, shape (k,)
        Draws of the largest statistic.
    statistics : iterable of array, shape (k,)
        Draws of those that may be the largest.
    count : int
        Number of all statistics.
    value : float
        The largest statistic of the rows, which the interval always holds.

    Returns
    -------
    low : float
    high : float
    """
    low = max(_low_quantile(draws, TAIL / count) for draws in statistics)
    return min(low, value), max(float(np.quantile(largest, 1 - TAIL)), value)


def _low_quantile(draws: Array, level: float) -> float:
    """A quantile of draws; beyond what their number resolves, at most that of a normal distribution."""
    found = float(np.quantile(draws, level))
    if level * len(draws) >= FEWEST_BELOW:
        return found
    from scipy.special import ndtri  # slow

    return min(found, float(draws.mean() + ndtri(level) * draws.std()))
