"""Points of the pictures of a report, from scores and labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
BINS, MOST_POINTS, GRID = 40, 300, 49
LEVELS = (0.1, 0.3, 0.5, 0.7, 0.9)  # of the values on the plane: isolines that leave equal areas between them


class Ranking(NamedTuple):
    """Rates of all thresholds, from the one that predicts no row positive to the one that predicts all.

    Attributes
    ----------
    tpr : array, shape (k,)
        True positive rates, which are the recalls.
    fpr : array, shape (k,)
        False positive rates.
    precision : array, shape (k,)
        Share of positives among the rows predicted positive; that of the next threshold where there are none.
    """

    tpr: Array
    fpr: Array
    precision: Array

    @classmethod
    def of(cls, scores: Array, signs: Array) -> Ranking:
        """Rank labelled rows.

        Parameters
        ----------
        scores : array, shape (n,)
            Finite scores.
        signs : array, shape (n,)
            Labels in {-1, +1}, of both classes.

        Returns
        -------
        Ranking
            Of at most 300 thresholds, about evenly along the curve.
        """
        order = np.argsort(-scores, kind="stable")
        ranked, positive = scores[order], signs[order] > 0
        cuts = np.append(np.flatnonzero(ranked[:-1] != ranked[1:]) + 1, len(ranked))
        hits = np.append(0, np.cumsum(positive))
        rates = hits[cuts] / hits[-1], (cuts - hits[cuts]) / (len(ranked) - hits[-1])
        kept = np.arange(len(cuts))
        if len(cuts) > MOST_POINTS:  # evenly along the curve and not by rows, as nearly all rows may be negative
            along = np.searchsorted(rates[0] + rates[1], np.linspace(0, 2, MOST_POINTS - 1))
            kept = np.unique(np.append(np.minimum(along, len(cuts) - 1), len(cuts) - 1))
        precision = hits[cuts[kept]] / cuts[kept]
        tpr, fpr = (np.append(0.0, rate[kept]) for rate in rates)
        return cls(tpr, fpr, np.append(precision[0], precision))


class Histogram(NamedTuple):
    """Shares of the rows of each class by score.

    Attributes
    ----------
    edges : array, shape (bins + 1,)
        Of the bins; the outer ones hold all scores beyond them too.
    positives : array, shape (bins,)
        Sums to 1.
    negatives : array, shape (bins,)
        Sums to 1.
    """

    edges: Array
    positives: Array
    negatives: Array

    @classmethod
    def of(cls, scores: Array, signs: Array) -> Histogram:
        """Count labelled rows.

        Parameters
        ----------
        scores : array, shape (n,)
            Finite scores.
        signs : array, shape (n,)
            Labels in {-1, +1}, of both classes.

        Returns
        -------
        Histogram
        """
        low, high = np.quantile(np.asarray(scores, np.float64), [0.002, 0.998])
        edges = np.linspace(low, high, BINS + 1) if low < high else low + np.linspace(-1, 1, BINS + 1)
        shares = [
            np.histogram(np.clip(scores[side], edges[0], edges[-1]), edges)[0] / max(1, int(side.sum()))
            for side in (signs > 0, signs < 0)
        ]
        return cls(edges, *shares)


class CalibrationCurve(NamedTuple):
    """Shares of positives by predicted probability, in groups of about equally many rows.

    Rows of equal probability are in one group, so that the order of the rows does not matter.

    Attributes
    ----------
    predicted : array, shape (k,)
        Mean probability of each group.
    observed : array, shape (k,)
        Share of positives of each group.
    low : array, shape (k,)
        Lower ends of the shares' 95 % intervals.
    high : array, shape (k,)
        Upper ends of the shares' 95 % intervals.

    Notes
    -----
    Source of the intervals: Wilson 1927.
    """

    predicted: Array
    observed: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, probabilities: Array, signs: Array, groups: int = 10) -> CalibrationCurve:
        """Compare probabilities with labels.

        Parameters
        ----------
        probabilities : array, shape (n,)
            Of the positive class.
        signs : array, shape (n,)
            Labels in {-1, +1}.
        groups : int, default 10
            At most as many groups.

        Returns
        -------
        CalibrationCurve
        """
        parts = _groups_by_size(probabilities, min(groups, len(signs)))
        n = np.array([len(part) for part in parts])
        predicted = np.array([probabilities[part].mean() for part in parts])
        observed = np.array([(signs[part] > 0).mean() for part in parts])
        z = 1.959963984540054
        centre = (observed + z**2 / (2 * n)) / (1 + z**2 / n)
        half = z / (1 + z**2 / n) * np.sqrt(observed * (1 - observed) / n + z**2 / (4 * n**2))
        return cls(predicted, observed, centre - half, centre + half)


class Plane(NamedTuple):
    """The values of a measure on a grid of the ROC plane or of the precision-recall plane.

    Attributes
    ----------
    x : array, shape (m,)
        False positive rates, or recalls.
    y : array, shape (m,)
        True positive rates, or precisions.
    values : array, shape (m, m)
        Of the measure, by y and x; NaN where no classifier can be.
    """

    x: Array
    y: Array
    values: Array

    @classmethod
    def roc(cls, measure: Any, prior: float, rows: int) -> Plane:
        """The plane of false positive rate (x) and true positive rate (y).

        Parameters
        ----------
        measure : Measure
            What to evaluate.
        prior : float
            Share of positives, in (0, 1).
        rows : int
            Number of rows, for the smoothing.

        Returns
        -------
        Plane
        """
        ticks = np.linspace(0, 1, GRID)
        fpr, tpr = np.meshgrid(ticks, ticks)
        return cls(ticks, ticks, np.asarray(measure.value(tpr, 1 - fpr, prior, eps=1 / (2 * rows))))

    @classmethod
    def precision_recall(cls, measure: Any, prior: float, rows: int) -> Plane:
        """The plane of recall (x) and precision (y).

        Parameters
        ----------
        measure : Measure
            What to evaluate.
        prior : float
            Share of positives, in (0, 1).
        rows : int
            Number of rows, for the smoothing.

        Returns
        -------
        Plane
        """
        ticks = np.linspace(0, 1, GRID)
        recall, precision = np.meshgrid(ticks, ticks)
        with np.errstate(divide="ignore", invalid="ignore"):
            fpr = recall * prior / (1 - prior) * (1 / precision - 1)
        possible = fpr <= 1  # false for NaN
        values = np.full(fpr.shape, np.nan)
        values[possible] = measure.value(recall[possible], 1 - fpr[possible], prior, eps=1 / (2 * rows))
        return cls(ticks, ticks, values)

    def levels(self) -> list[float]:
        """Round values for isolines, that leave about equal areas between them."""
        finite = self.values[np.isfinite(self.values)]
        return sorted({float(f"{level:.2g}") for level in np.quantile(finite, LEVELS)}) if finite.size else []

    def holds(self, value: float) -> bool:
        """Whether a value is one of those on the plane that are not its very best or worst: its isoline is smooth.

        Parameters
        ----------
        value : float
            The value.

        Returns
        -------
        bool
        """
        finite = self.values[np.isfinite(self.values)]
        room = 0.01 * np.ptp(finite) if finite.size else np.inf
        return bool(finite.size and finite.min() + room < value < finite.max() - room)

    def isoline(self, level: float) -> list[tuple[float, float, float, float]]:
        """The line along which the measure has a value, by marching squares.

        Parameters
        ----------
        level : float
            The value.

        Returns
        -------
        list of tuple (x1, y1, x2, y2)
            A piece for each cell of the grid that the line crosses.
        """
        v = self.values - level
        corners = np.stack([v[:-1, :-1], v[:-1, 1:], v[1:, 1:], v[1:, :-1]])
        with np.errstate(invalid="ignore"):
            crossed = np.isfinite(corners).all(axis=0) & (corners.min(axis=0) <= 0) & (corners.max(axis=0) > 0)
        pieces = []
        for j, i in zip(*np.nonzero(crossed)):
            x, y = self.x[[i, i + 1, i + 1, i]], self.y[[j, j, j + 1, j + 1]]
            ends = _crossings(x, y, corners[:, j, i])
            pieces += [(*a, *b) for a, b in zip(ends[::2], ends[1::2])]
        return pieces


def _groups_by_size(values: Array, count: int) -> list[Array]:
    """Indices of values from the smallest to the largest, in at most so many groups; equal values are in one."""
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    ends = np.cumsum([len(part) for part in np.array_split(order, count)])
    ends = np.unique(np.searchsorted(ranked, ranked[ends - 1], side="right"))
    return np.split(order, ends[:-1])


def _crossings(x: Array, y: Array, values: Array) -> list[tuple[float, float]]:
    """Where the four sides of a cell are 0, by linear interpolation; an even number of points."""
    found = []
    for a, b in ((0, 1), (1, 2), (2, 3), (3, 0)):
        if (values[a] > 0) != (values[b] > 0):
            t = values[a] / (values[a] - values[b])
            found.append((float(x[a] + t * (x[b] - x[a])), float(y[a] + t * (y[b] - y[a]))))
    return found
