"""Sigmoid, softplus and log-odds without overflow: of floats by `math`, of arrays by NumPy. Weights as row counts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

SMALLEST_SHARE = 2.0**-52  # a double can still tell 1 minus this from 1
MOST_REPEATS = 1e6  # larger ratios of weights than this are no counts of rows


def decay(x: NDArray[Any]) -> NDArray[Any]:
    """exp(-abs(x)), which never overflows; `sigmoid` and `softplus` of the same x can share it."""
    return np.asarray(np.exp(-np.abs(x)))


@overload
def sigmoid(x: float) -> float: ...
@overload
def sigmoid(x: NDArray[Any], small: NDArray[Any] | None = None) -> NDArray[Any]: ...
def sigmoid(x: Any, small: Any = None) -> Any:
    """1 / (1 + exp(-x)); `small` is ``decay(x)`` where it is known already."""
    if isinstance(x, float):
        small = math.exp(-abs(x))
        return (1.0 if x >= 0.0 else small) / (1.0 + small)
    small = decay(x) if small is None else small
    return np.where(x > 0, 1.0, small) / (1.0 + small)


def softplus(x: NDArray[Any], small: NDArray[Any] | None = None) -> NDArray[Any]:
    """ln(1 + exp(x)); `small` is ``decay(x)`` where it is known already."""
    return np.asarray(np.log1p(decay(x) if small is None else small) + np.maximum(x, 0.0))


def log_odds(share: float) -> float:
    """ln(share / (1 - share)), kept within +-36, where a double can still tell the share from 0 and 1."""
    inside = min(max(share, SMALLEST_SHARE), 1.0 - SMALLEST_SHARE)
    return math.log(inside / (1.0 - inside))


def mean_of_networks(outputs: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """The mean of outputs, added one after another; a single one is returned as it is."""
    remaining = iter(outputs)
    total, count = next(remaining), 1
    for output in remaining:
        total, count = total + output, count + 1
    return np.asarray(total / total.dtype.type(count)) if count > 1 else total


def vote(scores: NDArray[Any]) -> NDArray[Any]:
    """The mean of scores (n, k) or (n, k, ...) of k networks; scores of shape (n,) are a mean already."""
    return scores if scores.ndim == 1 else np.ascontiguousarray(mean_of_networks(np.moveaxis(scores, 1, 0)))


def plain(values: Any) -> float | NDArray[Any]:
    """A Python float if `values` holds a single number, else an array of float."""
    array = np.asarray(values, dtype=float)
    return float(array) if array.ndim == 0 else array


def row_counts(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sample weights on the scale of row counts, whatever scale they came on; smoothing adds halves of rows to them.

    Whole multiples of the smallest weight are repeated rows. Others are scaled to a mean of 1 over rows with weight.
    """
    found = weight[weight > 0]
    if not found.size:
        return weight
    with np.errstate(over="ignore", invalid="ignore"):
        counts = weight / found.min()
        whole = np.rint(counts)
        if counts.max() <= MOST_REPEATS and (np.abs(counts - whole) <= 1e-9 * whole).all():
            return np.asarray(whole)
    largest = found.max()  # sums of weights may overflow, sums of their shares do not
    return np.asarray(weight / largest * (found.size / float((found / largest).sum())))
