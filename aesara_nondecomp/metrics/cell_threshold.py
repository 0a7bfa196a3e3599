"""The threshold for a measure of cells, or for a measure under constraints, on labelled rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import random_generator
from aesara_nondecomp.measures import Cells, Constraint, GroupMeasure, Measure
from aesara_nondecomp.metrics.confusion import ConfusionMatrix, confusion_at_threshold
from aesara_nondecomp.metrics.threshold import RESAMPLED_CUTS, RESAMPLES, Ranking

Array = NDArray[Any]
REACHED = 1e-9  # a constraint broken by less is rounding


class CellGoal(NamedTuple):
    """What a threshold is chosen for: a measure, under constraints if there are any.

    Attributes
    ----------
    measure : Measure
        Of cells, or of two rates.
    constraints : tuple of Constraint
        Those that a threshold must meet, bounds on rates by a standard error, as the best of many thresholds flatters
        itself; where none can, it is the one that breaks them least.
    groups : tuple of str
        Names of the groups.
    """

    measure: Measure
    constraints: tuple[Constraint, ...]
    groups: tuple[str, ...]

    def at(self, threshold: float, scores: Array, cell: Array, weight: Array | None) -> AtThreshold:
        """What is reached at a threshold.

        Parameters
        ----------
        threshold : float
            Scores above it are positive.
        scores : array, shape (n,)
            Of the rows.
        cell : int array, shape (n,)
            Of the rows.
        weight : array, shape (n,), or None
            Sample weights; None for equal ones.

        Returns
        -------
        AtThreshold
        """
        cells = Cells.of(cell, self.groups, weight)
        right = (scores > threshold) == (cell % 2 == 1)
        weights = np.ones(len(cell)) if weight is None else weight
        totals = np.bincount(cell, weights=weights, minlength=len(cells.rows))
        counts = np.bincount(cell, weights=weights * right, minlength=len(cells.rows))
        values, excess = self._judge(counts[None], totals, cells)
        matrix = confusion_at_threshold(scores, np.where(cell % 2 == 1, 1, -1), threshold, weight)
        return AtThreshold(float(values[0]), float(excess[0]), matrix)

    def recalls(self, threshold: float, scores: Array, cell: Array, weight: Array | None) -> tuple[Array, Cells]:
        """Recalls of the cells at a threshold.

        Parameters
        ----------
        threshold : float
            Scores above it are positive.
        scores : array, shape (n,)
            Of the rows.
        cell : int array, shape (n,)
            Of the rows.
        weight : array, shape (n,), or None
            Sample weights; None for equal ones.

        Returns
        -------
        recalls : float64 array, shape (m,)
            NaN for cells without rows.
        cells : Cells
        """
        cells, weights = Cells.of(cell, self.groups, weight), np.ones(len(cell)) if weight is None else weight
        right = weights * ((scores > threshold) == (cell % 2 == 1))
        with np.errstate(invalid="ignore"):
            return np.bincount(cell, right, len(cells.rows)) / np.bincount(cell, weights, len(cells.rows)), cells

    def best_threshold(self, scores: Array, cell: Array, weight: Array | None) -> float:
        """The best threshold on these rows; of several, the one that predicts fewest positives.

        Parameters
        ----------
        scores : array, shape (n,)
            Of the rows.
        cell : int array, shape (n,)
            Of the rows.
        weight : array, shape (n,), or None
            Sample weights; None for equal ones.

        Returns
        -------
        float
        """
        ranking, of_row = _ranked(scores, cell, weight)
        return self._best(ranking, ranking.cuts(), of_row, ranking.weight)

    def steady_threshold(self, scores: Array, cell: Array, weight: Array | None, seed: Any = 0) -> float:
        """The mean of the best thresholds of resamples of these rows, which moves less if other rows are drawn.

        Under constraints it is the best threshold itself, as a mean of feasible thresholds need not be feasible, and
        so it is where many rows share a score.

        Parameters
        ----------
        scores : array, shape (n,)
            Of the rows.
        cell : int array, shape (n,)
            Of the rows.
        weight : array, shape (n,), or None
            Sample weights; None for equal ones.
        seed : int, numpy Generator or None, default 0
            Of the resamples, which are drawn within each cell.

        Returns
        -------
        float
        """
        ranking, of_row = _ranked(scores, cell, weight)
        cuts, rng = ranking.cuts(), random_generator(seed)
        if self.constraints or ranking.is_tied():
            return self._best(ranking, cuts, of_row, ranking.weight)
        cuts = cuts[np.unique(np.linspace(0, len(cuts) - 1, RESAMPLED_CUTS).astype(int))]
        low, high = float(ranking.scores[-1]), float(ranking.scores[0])  # thresholds may be infinite
        members = [np.flatnonzero(of_row == value) for value in np.unique(of_row)]
        found = []
        for _ in range(RESAMPLES):
            drawn = np.concatenate([rng.choice(rows, len(rows)) for rows in members])
            weights = np.bincount(drawn, minlength=len(of_row)) * ranking.weight
            found.append(np.clip(self._best(ranking, cuts, of_row, weights), low, high))
        return float(np.mean(found))

    def _best(self, ranking: Ranking, cuts: Array, cell: Array, weight: Array) -> float:
        cells = Cells.of(cell, self.groups, weight)
        of_cells = np.zeros((len(cell) + 1, len(cells.rows)))
        of_cells[np.arange(1, len(cell) + 1), cell] = weight
        above, totals = np.cumsum(of_cells, axis=0)[cuts], of_cells.sum(axis=0)
        values, excess = self._judge(np.where(cells.positive, above, totals - above), totals, cells)
        excess = np.where(excess <= REACHED, 0.0, excess)
        merits = np.where(np.isnan(values), -np.inf, self.measure.oriented(values))
        least = excess == excess.min()
        best = int(np.argmax(np.where(least, merits, -np.inf))) if least.any() else 0
        return ranking.threshold_below(int(cuts[best]))

    def _judge(self, right: Array, totals: Array, cells: Cells) -> tuple[Array, Array]:
        """Values of the measure, and by how much the constraints are broken, by the weights predicted right."""
        with np.errstate(invalid="ignore", divide="ignore"):
            recalls = right / totals
        if isinstance(self.measure, GroupMeasure):
            values = self.measure.of_cells(recalls, cells)
        else:
            TP, TN = right[:, 1::2].sum(axis=1), right[:, ::2].sum(axis=1)  # noqa: N806
            values = self.measure.from_counts(TP, totals[1::2].sum() - TP, totals[::2].sum() - TN, TN)
        broken = [
            constraint.excess(constraint.value(recalls, cells), constraint.standard_error(recalls, cells))
            for constraint in self.constraints
        ]
        return np.asarray(values), np.sum(broken, axis=0) if broken else np.zeros(len(right))


class AtThreshold(NamedTuple):
    """What is reached at a threshold.

    Attributes
    ----------
    value : float
        Of the measure, in its own orientation.
    excess : float
        By how much the constraints are broken, added up, by the standard error of a rate; 0 if all are met.
    confusion : ConfusionMatrix
        Of all rows.
    """

    value: float
    excess: float
    confusion: ConfusionMatrix


def _ranked(scores: Array, cell: Array, weight: Array | None) -> tuple[Ranking, Array]:
    """Rows by descending score, and the cell of each."""
    ranking = Ranking.of(scores, np.where(cell % 2 == 1, 1, -1), weight)
    return ranking, cell[np.argsort(-np.asarray(scores), kind="stable")]
