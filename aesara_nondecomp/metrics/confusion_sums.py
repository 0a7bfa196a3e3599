"""Sums of rewards over the cells of a batch of K classes, and the running confusion matrix that drives the duals.

Source: docs/multiclass.md 1.
"""

# ruff: noqa: N803 -- P is the name used by the formulas
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_array, as_floats
from aesara_nondecomp._checks import number, one_of, positive_number, require, shown

Array = NDArray[np.float64]
FOLLOWED = ("probability", "count")


@dataclass(frozen=True, eq=False)
class ConfusionSums:
    """Sums of each reward over the cells of a batch, and the weights of the cells; batches add up by ``+``.

    Attributes
    ----------
    table : float64 array, shape (m, 2 K + 2)
        One row for each cell: the soft counts of predicted classes (sums of probabilities), the hard counts (of the
        largest score), the sum of the logistic reward, and the number of rows, or the sum of their weights.
    """

    table: Array

    @property
    def soft(self) -> Array:
        """Sums of the probabilities.

        Returns
        -------
        float64 array, shape (m, K)
            Each row adds up to the cell's weight.
        """
        return self.table[:, : self.n_classes]

    @property
    def hard(self) -> Array:
        """Confusion matrix of the predictions: of equal scores the first class.

        Returns
        -------
        float64 array, shape (m, K)
        """
        return self.table[:, self.n_classes : 2 * self.n_classes]

    @property
    def logistic(self) -> Array:
        """Sums of the logistic reward.

        Returns
        -------
        float64 array, shape (m,)
        """
        return self.table[:, -2]

    @property
    def weight(self) -> Array:
        """Weights of the cells.

        Returns
        -------
        float64 array, shape (m,)
        """
        return self.table[:, -1]

    @property
    def n_classes(self) -> int:
        """Number K of classes.

        Returns
        -------
        int
        """
        return int(self.table.shape[1] // 2 - 1)

    def of(self, reward: str) -> Array:
        """Confusion matrix of one reward.

        Parameters
        ----------
        reward : {"probability", "count"}
            Name of the reward.

        Returns
        -------
        float64 array, shape (m, K)
            Soft or hard counts.
        """
        return self.soft if reward == "probability" else self.hard

    def __add__(self, other: ConfusionSums) -> ConfusionSums:
        return ConfusionSums(self.table + other.table)


def confusion_sums(
    scores: Any, cell: Any, target: Any, weight: Any = None, *, shift: Any = None, temperature: float = 1.0
) -> ConfusionSums:
    """Confusion sums of a batch of scores, in NumPy: what a loop outside Aesara feeds to a driver.

    Parameters
    ----------
    scores : array-like, shape (b, K)
        Raw outputs of the last linear layer; finite.
    cell : array-like of int, shape (b,)
        Cell of each row, from 0 to m - 1; -1 marks padding. Without groups the class.
    target : array-like of int, shape (m,)
        True class of each cell.
    weight : array-like, shape (b,), optional
        Weights of the rows, at least 0. Default: 1.
    shift : array-like, shape (K,), optional
        Added to the scores in the logistic reward, which is then the "adjusted" one. Default: 0.
    temperature : float, default 1.0
        Temperature of the probabilities, above 0.

    Returns
    -------
    ConfusionSums
        In float64.

    Raises
    ------
    ValueError
        If shapes differ, a score is not finite, a cell or target is out of range, or a weight is below 0.
    """
    positive_number("temperature", temperature)
    batch = cell_batch(scores, cell, target, weight)
    added = np.zeros(batch.scores.shape[1]) if shift is None else as_floats(shift, "shift")
    require(added.shape == batch.scores.shape[1:], f"shift must have shape {batch.scores.shape[1:]}", added.shape)
    return batch.sums(softmax(batch.scores / temperature), log_softmax(batch.scores + added))


@dataclass(frozen=True, eq=False)
class CellBatch:
    """The rows of a batch that are no padding, checked.

    Attributes
    ----------
    scores : float64 array, shape (b, K)
        Their scores.
    cell : array of int, shape (b,)
        Their cells.
    target : array of int, shape (m,)
        True class of each cell.
    weight : float64 array, shape (b,)
        Their weights.
    kept : array of bool
        Which rows of the batch they are.
    """

    scores: Array
    cell: NDArray[np.intp]
    target: NDArray[np.intp]
    weight: Array
    kept: NDArray[np.bool_]

    def sums(self, probabilities: Array, log_probabilities: Array) -> ConfusionSums:
        """Confusion sums of given probabilities.

        Parameters
        ----------
        probabilities : float64 array, shape (b, K)
            Of the soft counts.
        log_probabilities : float64 array, shape (b, K)
            Of the logistic reward.

        Returns
        -------
        ConfusionSums
            Of the rows.
        """
        rows, (b, n_classes) = np.arange(len(self.scores)), self.scores.shape
        table = np.zeros((len(self.target), 2 * n_classes + 2))
        parts = np.empty((b, 2 * n_classes + 2))
        parts[:, :n_classes] = probabilities
        parts[:, n_classes : 2 * n_classes] = self.scores.argmax(axis=1)[:, None] == np.arange(n_classes)
        parts[:, -2] = 1.0 + log_probabilities[rows, self.target[self.cell]]
        parts[:, -1] = 1.0
        np.add.at(table, self.cell, self.weight[:, None] * parts)
        return ConfusionSums(table)


def cell_batch(scores: Any, cell: Any, target: Any, weight: Any = None) -> CellBatch:
    """Check a batch of scores with its cells, and leave out its padding.

    Parameters
    ----------
    scores : array-like, shape (b, K)
        Raw outputs of the last linear layer.
    cell : array-like of int, shape (b,)
        Cell of each row; -1 marks padding.
    target : array-like of int, shape (m,)
        True class of each cell.
    weight : array-like, shape (b,), optional
        Weights of the rows. Default: 1.

    Returns
    -------
    CellBatch
        The other rows.

    Raises
    ------
    ValueError
        As in `confusion_sums`.
    """
    f = as_floats(scores, "scores")
    require(f.ndim == 2 and f.shape[1] >= 2, "scores must have shape (b, K), one column for each class", f.shape)
    of_cells = _whole("target", target, None, 0, f.shape[1])
    cells = _whole("cell", cell, len(f), -1, len(of_cells))
    weights = np.ones(len(f)) if weight is None else as_floats(weight, "weight")
    require(weights.shape == (len(f),), f"weight must have shape {(len(f),)}, as the scores have rows", weights.shape)
    kept = cells >= 0
    finite = np.isfinite(f[kept]).all(axis=1)
    require(bool(finite.all()), "scores must be finite (drop such rows, or lower the learning rate)", f[kept][~finite])
    right = bool((weights[kept] >= 0).all() and np.isfinite(weights[kept]).all())
    require(right, "weight must be finite and at least 0", weights[kept])
    return CellBatch(f[kept], cells[kept], of_cells, weights[kept], kept)


def softmax(scores: Array) -> Array:
    """Probabilities of the classes, without overflow.

    Parameters
    ----------
    scores : float64 array, shape (b, K)
        Finite.

    Returns
    -------
    float64 array, shape (b, K)
        Rows sum to 1.
    """
    powers = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def log_softmax(scores: Array) -> Array:
    """Logarithms of the probabilities of the classes, without overflow.

    Parameters
    ----------
    scores : float64 array, shape (b, K)
        Finite.

    Returns
    -------
    float64 array, shape (b, K)
        At most 0.
    """
    rows, first = np.arange(len(scores)), scores.argmax(axis=1)
    below = scores - scores[rows, first][:, None]
    powers = np.exp(below)
    powers[rows, first] = 0.0  # which is 1: by log1p of the others' sum a loss near 0 keeps its digits
    return np.asarray(below - np.log1p(powers.sum(axis=1, keepdims=True)))


def check_confusion_sums(sums: ConfusionSums) -> None:
    """Refuse confusion sums that would leave whatever follows them NaN for good.

    Parameters
    ----------
    sums : ConfusionSums
        Of a batch.

    Raises
    ------
    ValueError
        If one of them is not finite.
    """
    # A sum of squares is quicker than a look at each; it overflows where numbers are large, but finite.
    if not math.isfinite(np.vdot(sums.table, sums.table)) and not np.isfinite(sums.table).all():
        raise ValueError(
            f"confusion sums must be finite, got {shown(sums.table.tolist())}. Check rows and scores, or lower the "
            "learning rate."
        )


class RunningConfusion:
    """Running conditional confusion matrix: each cell's counts over its weight, over all batches seen so far.

    Parameters
    ----------
    n_cells : int
        Number m of cells.
    n_classes : int
        Number K of classes.
    reward : {"probability", "count"}, default "count"
        Whether soft or hard counts are kept.
    forgetting : float, default 1.0
        Forgetting factor in (0, 1] on a cell's counts and weight, applied before a batch that holds the cell is added.
        A batch without the cell leaves both unchanged.

    Raises
    ------
    ValueError
        If the reward is unknown, or `forgetting` is out of range.
    """

    def __init__(self, n_cells: int, n_classes: int, reward: str = "count", forgetting: float = 1.0) -> None:
        one_of("reward", reward, FOLLOWED)
        require(0 < number("forgetting", forgetting) <= 1, "forgetting must lie in (0, 1]", forgetting)
        self.shape = n_cells, n_classes
        self.reward, self.forgetting = reward, forgetting
        first = n_classes * FOLLOWED.index(reward)
        self._followed = slice(first, first + n_classes)  # columns of the counts in a table of confusion sums
        self.reset()

    def reset(self) -> None:
        """Discard all batches."""
        m, n_classes = self.shape
        self._table = np.zeros((m, 2 * n_classes + 2))  # as in `ConfusionSums`
        self._complete = False  # whether each cell has been seen

    @property
    def counts(self) -> Array:
        """Running counts of the predicted classes.

        Returns
        -------
        float64 array, shape (m, K)
        """
        return self._table[:, self._followed]

    @property
    def weight(self) -> Array:
        """Running weights of the cells.

        Returns
        -------
        float64 array, shape (m,)
        """
        return self._table[:, -1]

    def add(self, sums: ConfusionSums) -> None:
        """Add the confusion sums of a batch.

        Parameters
        ----------
        sums : ConfusionSums
            Of the batch.

        Raises
        ------
        ValueError
            If one of them is not finite, or they are of other cells; then nothing is added.
        """
        check_confusion_sums(sums)
        table = sums.table
        if table.shape != self._table.shape:
            require(False, f"confusion sums must be of (m, K) = {self.shape}", sums.soft.shape)
        weight = table[:, -1]
        every = min(weight.tolist()) > 0  # on few numbers faster than NumPy, and each step comes here
        self._table *= self.forgetting if every else np.where(weight > 0, self.forgetting, 1.0)[:, None]
        self._table += table
        self._complete = self._complete or every or bool((self.weight > 0).all())

    def rates(self) -> Array:
        """The running conditional confusion matrix.

        Returns
        -------
        float64 array, shape (m, K)
            Rows sum to 1; 1/K, the rate of a fair die, for a cell not seen yet.
        """
        if self._complete:
            return self._table[:, self._followed] / self._table[:, -1:]
        return conditional(self.counts, self.weight, np.full(self.shape, 1.0 / self.shape[1]))

    def state(self) -> dict[str, Any]:
        """Complete state for exact resumption.

        Returns
        -------
        dict of str to list
            Ready for JSON.
        """
        return {"counts": self.counts.tolist(), "weight": self.weight.tolist()}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a state returned by `state`.

        Parameters
        ----------
        state : dict
            Returned by `state`.
        """
        self.counts[...], self.weight[...] = state["counts"], state["weight"]
        self._complete = bool((self.weight > 0).all())


def conditional(counts: Array, weight: Array, otherwise: Array) -> Array:
    """Conditional confusion matrix of counts.

    Parameters
    ----------
    counts : float64 array, shape (m, K)
        Counts of predicted classes.
    weight : float64 array, shape (m,)
        Weights of the cells.
    otherwise : float64 array, shape (m, K)
        Rows for cells without weight.

    Returns
    -------
    float64 array, shape (m, K)
        Rows sum to 1.
    """
    return np.divide(counts, weight[:, None], out=otherwise.copy(), where=weight[:, None] > 0)


def _whole(name: str, values: Any, size: int | None, lowest: int, end: int) -> NDArray[np.intp]:
    """Whole numbers from `lowest` to `end` - 1 as a vector; a ValueError on anything else."""
    array = as_array(values, name)
    right = array.ndim == 1 and (array.dtype.kind in "iu" or array.size == 0) and (size is None or len(array) == size)
    wanted = "(m,)" if size is None else f"({size},)"
    require(right, f"{name} must hold whole numbers, of shape {wanted}", values)
    inside = bool((array >= lowest).all() and (array < end).all())
    require(inside, f"{name} must hold numbers from {lowest} to {end - 1}", values)
    return array.astype(np.intp)
