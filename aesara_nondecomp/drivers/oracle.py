"""The loss-augmented oracle: the assignment of labels to a batch with the largest weight * loss + sum of its scores.

The loss of a measure depends on an assignment through TP and FP alone, and of all assignments with given (TP, FP) the
one that takes the highest scores of each class has the largest sum. So the search runs over counts instead of
assignments:

- over the whole table of (TP, FP) in general, O(b log b + n+ n-), block by block in NumPy;
- over one line per TP + FP where the loss is affine along it (`Measure.affine_in_tp`), O(b log b);
- over TP and over FP separately for min (`Measure.min_of_rates`), whose loss is the larger of the two classes' error
  rates, O(b log b).

Source: docs/algorithms.md 3.6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import measures
from aesara_nondecomp._checks import require

Array = NDArray[Any]
KEPT_ENTRIES = 2**22  # 32 MiB of float64: tables of losses kept for the next batch; beyond that, the last one only
BLOCK_ENTRIES = 2**15  # of a table, searched at a time: they stay in cache


class Labelling(NamedTuple):
    """The assignment of labels to a batch that the oracle found.

    Attributes
    ----------
    value : float
        weight * loss + sum of the scores labelled positive: the largest of all assignments.
    loss : float
        Loss of the assignment against the true labels.
    TP : int
        True positives.
    FP : int
        False positives.
    positive : array of bool, shape (b,)
        The rows labelled positive.
    """

    value: float
    loss: float
    TP: int
    FP: int
    positive: Array


class Oracle:
    """Exact argmax over all 2^b assignments of weight * loss + sum of the scores labelled positive.

    The loss is perfect minus value, both oriented so that larger is better (docs/algorithms.md 2.7): 1 - F1, C - BAKLD,
    the KLD smoothed with 1 / (2b). It is never negative and 0 for the true labels.

    Parameters
    ----------
    measure : str or measures.Measure
        Any of the catalogue, or your own.

    Raises
    ------
    ValueError
        If `measure` is neither a name in the catalogue nor a measure.

    Notes
    -----
    Of several maximisers, the table gives the first in row-major order of (TP, FP), the search along lines the one with
    fewest predicted positives, then with smallest TP; only the value is unique. Equal scores are ranked in the order of
    the rows.
    """

    def __init__(self, measure: str | measures.Measure) -> None:
        self.measure = measures.get(measure)
        self._kept: dict[tuple[int, int], Any] = {}
        self._kept_entries = 0

    def __call__(self, scores: Array, positive: Array, weight: float = 1.0) -> Labelling:
        """The best assignment of labels to a batch.

        Parameters
        ----------
        scores : array, shape (b,)
            Finite scores.
        positive : array of bool, shape (b,)
            True labels.
        weight : float, default 1.0
            Weight of the loss. A negative one searches for an assignment that is better than the scores' own instead of
            worse.

        Returns
        -------
        Labelling
            The assignment, its loss and its counts.

        Raises
        ------
        ValueError
            If there is not one label per score, a class is missing, which leaves the loss undefined
            (docs/algorithms.md 1.4), or a score is not finite.
        """
        scores, positive = np.asarray(scores), np.asarray(positive, dtype=bool)  # ~ of integers is not the complement
        require(scores.shape == positive.shape, f"one label per score is needed, shape {scores.shape}", positive.shape)
        n_pos = int(np.count_nonzero(positive))
        if not 0 < n_pos < len(scores):
            raise ValueError(f"the oracle needs rows of both classes, got {n_pos} positives of {len(scores)} rows")
        of_pos, of_neg = _ranked(scores, np.flatnonzero(positive)), _ranked(scores, np.flatnonzero(~positive))
        if not np.isfinite(of_pos.sums[-1] + of_neg.sums[-1]):
            raise ValueError("the oracle needs finite scores. Training may have diverged: lower the learning rate.")
        tp, fp = self._search(weight)(of_pos.sums, of_neg.sums, weight)
        loss = float(self.loss(tp, fp, n_pos, len(scores) - n_pos))
        value = float(of_pos.sums[tp] + of_neg.sums[fp]) + weight * loss
        chosen = np.zeros(len(scores), dtype=bool)
        chosen[of_pos.rows[:tp]] = chosen[of_neg.rows[:fp]] = True
        return Labelling(value, loss, tp, fp, chosen)

    def loss(self, tp: Any, fp: Any, n_pos: int, n_neg: int) -> Any:
        """Loss of assignments with given counts.

        Parameters
        ----------
        tp : int or array of int
            True positives, at most `n_pos`.
        fp : int or array of int
            False positives, at most `n_neg`.
        n_pos : int
            Number of positives, at least 1.
        n_neg : int
            Number of negatives, at least 1.

        Returns
        -------
        float or array of float
            At least 0; 0 for the true labels.
        """
        value = self.measure.from_counts(tp, n_pos - tp, fp, n_neg - fp)
        perfect = self.measure.from_counts(n_pos, 0, 0, n_neg)
        return self.measure.oriented(perfect) - self.measure.oriented(value)

    def table(self, n_pos: int, n_neg: int) -> Array:
        """Losses of all counts.

        Parameters
        ----------
        n_pos : int
            Number of positives, at least 1.
        n_neg : int
            Number of negatives, at least 1.

        Returns
        -------
        array of float, shape (n_pos + 1, n_neg + 1)
            TP along the rows, FP along the columns.
        """
        return np.asarray(self.loss(np.arange(n_pos + 1)[:, None], np.arange(n_neg + 1)[None, :], n_pos, n_neg))

    def _search(self, weight: float) -> Callable[[Array, Array, float], tuple[int, int]]:
        if self.measure.affine_in_tp:
            return self._along_lines
        return _class_by_class if self.measure.min_of_rates and weight >= 0 else self._in_table

    def _in_table(self, pos_sums: Array, neg_sums: Array, weight: float) -> tuple[int, int]:
        n_pos, n_neg = len(pos_sums) - 1, len(neg_sums) - 1
        losses = self._keep(self.table, n_pos, n_neg, pos_sums.size * neg_sums.size)
        rows, best, place = max(1, BLOCK_ENTRIES // neg_sums.size), -np.inf, (0, 0)
        for start in range(0, n_pos + 1, rows):
            values = losses[start : start + rows] * weight
            values += pos_sums[start : start + rows, None]
            values += neg_sums
            tp, fp = divmod(int(np.argmax(values)), neg_sums.size)
            if values[tp, fp] > best:
                best, place = values[tp, fp], (start + tp, fp)
        return place

    def _along_lines(self, pos_sums: Array, neg_sums: Array, weight: float) -> tuple[int, int]:
        n_pos, n_neg = len(pos_sums) - 1, len(neg_sums) - 1
        lines = self._keep(self._lines, n_pos, n_neg, len(_Lines._fields) * (n_pos + n_neg + 1))
        gains, losses = np.diff(pos_sums), np.diff(neg_sums)
        tp = _last_gain(lines, weight * lines.slope, gains, losses)
        values = weight * (lines.loss + lines.slope * (tp - lines.lowest)) + pos_sums[tp] + neg_sums[lines.k - tp]
        best = int(np.argmax(values))
        return int(tp[best]), int(lines.k[best] - tp[best])

    def _lines(self, n_pos: int, n_neg: int) -> _Lines:
        k = np.arange(n_pos + n_neg + 1)
        lowest, highest = np.maximum(k - n_neg, 0), np.minimum(k, n_pos)
        first, last = (self.loss(tp, k - tp, n_pos, n_neg) for tp in (lowest, highest))
        return _Lines(k, lowest, highest, first, (last - first) / np.maximum(highest - lowest, 1))

    def _keep(self, make: Callable[[int, int], Any], n_pos: int, n_neg: int, entries: int) -> Any:
        """make(n_pos, n_neg), cached: batches come in a few class counts, and the losses depend on nothing else."""
        if (n_pos, n_neg) not in self._kept:
            self._kept_entries += entries
            if self._kept_entries > KEPT_ENTRIES:
                self._kept.clear()
                self._kept_entries = entries
            self._kept[n_pos, n_neg] = make(n_pos, n_neg)
        return self._kept[n_pos, n_neg]


def _class_by_class(pos_sums: Array, neg_sums: Array, weight: float) -> tuple[int, int]:
    """For the loss max(1 - P, 1 - N): the better of taking either class's error rate for the loss."""
    missed, raised = np.linspace(1.0, 0.0, len(pos_sums)), np.linspace(0.0, 1.0, len(neg_sums))
    choices = ((pos_sums + weight * missed, neg_sums), (pos_sums, neg_sums + weight * raised))
    best = max(choices, key=lambda choice: float(choice[0].max() + choice[1].max()))
    return int(np.argmax(best[0])), int(np.argmax(best[1]))


class _Ranked(NamedTuple):
    """Rows of one class by descending score, and the sums of the first 0, 1, 2 ... of their scores."""

    rows: Array
    sums: Array


def _ranked(scores: Array, rows: Array) -> _Ranked:
    of_class = np.asarray(scores, dtype="float64")[rows]
    order = np.argsort(-of_class, kind="stable")
    return _Ranked(rows[order], np.concatenate([[0.0], np.cumsum(of_class[order])]))


class _Lines(NamedTuple):
    """The counts with TP + FP = k, for every k: TP runs from `lowest` to `highest`, the loss from `loss` by `slope`."""

    k: Array
    lowest: Array
    highest: Array
    loss: Array
    slope: Array


def _last_gain(lines: _Lines, slope: Array, gains: Array, losses: Array) -> Array:
    """On each line, the TP with the largest value: a binary search on all lines at once.

    One more true positive gains its score and the slope, and loses the score of the false positive that it replaces.
    Both scores come from descending lists, so the gain only falls as TP grows, and the search finds where it ends.
    """
    low, high = lines.lowest.copy(), lines.highest.copy()
    while np.any(low < high):
        middle = (low + high) // 2
        open_ = low < high
        # A closed line may sit at its end, where there is no next row; its comparison is not used.
        next_gain = gains[np.minimum(middle, len(gains) - 1)] + slope
        grows = open_ & (next_gain > losses[np.clip(lines.k - middle - 1, 0, len(losses) - 1)])
        low = np.where(grows, middle + 1, low)
        high = np.where(open_ & ~grows, middle, high)
    return low
