"""Sums of rewards over cells (class times group), and their running rates."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aesara_nondecomp._checks import number, require
from aesara_nondecomp.metrics.class_rates import row_rewards

Array = NDArray[Any]


class CellSums(NamedTuple):
    """Sums of each reward over the rows of each cell, and the weights of the cells.

    Attributes
    ----------
    sigmoid : float64 array, shape (m,)
        Sums of the sigmoid reward.
    logistic : float64 array, shape (m,)
        Sums of the logistic reward.
    right : float64 array, shape (m,)
        Weights of the rows that are predicted right.
    weight : float64 array, shape (m,)
        Weights of all rows.
    """

    sigmoid: Array
    logistic: Array
    right: Array
    weight: Array

    # Sums add up entry by entry; a longer tuple would mean nothing.
    def __add__(self, other: Any) -> CellSums:
        return CellSums(*(a + b for a, b in zip(self, other)))

    def of(self, reward: str) -> Array:
        """The sums of one reward.

        Parameters
        ----------
        reward : {"count", "sigmoid", "logistic"}
            Name of the reward.

        Returns
        -------
        float64 array, shape (m,)
        """
        return {"count": self.right, "sigmoid": self.sigmoid, "logistic": self.logistic}[reward]

    def rates(self, reward: str = "count") -> Array:
        """Means of one reward over the cells.

        Parameters
        ----------
        reward : {"count", "sigmoid", "logistic"}, default "count"
            Name of the reward.

        Returns
        -------
        float64 array, shape (m,)
            NaN for a cell without rows.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.of(reward) / self.weight)


def cell_sums(scores: ArrayLike, y: ArrayLike, cell: ArrayLike, n_cells: int, temperature: float = 1.0) -> CellSums:
    """Cell sums of a batch of scores, in NumPy: what a loop outside Aesara feeds to a driver of cells.

    Parameters
    ----------
    scores : array-like, shape (b,)
        Raw outputs of the last linear unit; finite.
    y : array-like, shape (b,)
        Labels in {-1, +1}, or sample weights with the sign of the label; 0 marks padding, which comes last.
    cell : int array-like, shape (b,)
        Cell of each row, in 0 .. `n_cells` - 1.
    n_cells : int
        Number of cells m.
    temperature : float, default 1.0
        Of the sigmoid reward, above 0.

    Returns
    -------
    CellSums
        In float64.

    Raises
    ------
    ValueError
        If lengths differ, a cell is out of range, a score or label is not finite, the labels are of another coding,
        such as {0, 1}, or the temperature is not positive.
    """
    f, cell = np.asarray(scores, dtype="float64"), np.asarray(cell)
    if not f.shape == np.shape(y) == cell.shape or f.ndim != 1:
        raise ValueError(
            f"cell_sums needs scores, labels and cells of one shape (b,), got {f.shape}, {np.shape(y)} and "
            f"{cell.shape}."
        )
    inside = cell.size == 0 or 0 <= cell.min() and cell.max() < n_cells
    require(bool(inside), f"cells must lie in 0 .. {n_cells - 1}", cell)
    signed, rewards = row_rewards(f, y, temperature)
    weighted = (np.abs(signed) * reward for reward in rewards)
    return CellSums(*(np.bincount(cell, weights=values, minlength=n_cells).astype(float) for values in weighted))


class RunningCellRates:
    """Running means of a reward over each cell, with forgetting; a batch without a cell leaves its mean as it was.

    Parameters
    ----------
    n_cells : int
        Number of cells m.
    reward : {"count", "sigmoid", "logistic"}, default "count"
        Name of the reward.
    forgetting : float, default 0.9
        Forgetting factor in (0, 1], applied to a cell's sum and weight before a batch that holds it is added.

    Raises
    ------
    ValueError
        If `forgetting` is out of range.
    """

    def __init__(self, n_cells: int, reward: str = "count", forgetting: float = 0.9) -> None:
        require(0 < number("forgetting", forgetting) <= 1, "forgetting must lie in (0, 1]", forgetting)
        self.reward, self.forgetting = reward, forgetting
        self.sums, self.weights = np.zeros(n_cells), np.zeros(n_cells)

    def add(self, sums: CellSums) -> None:
        """Add the cell sums of a batch.

        Parameters
        ----------
        sums : CellSums
            Of the batch.

        Raises
        ------
        ValueError
            If one of them is not finite; then nothing is added.
        """
        values = sums.of(self.reward)
        require(bool(np.isfinite(values).all()), "cell sums must be finite", values)
        kept = np.where(sums.weight > 0, self.forgetting, 1.0)
        self.sums, self.weights = kept * self.sums + values, kept * self.weights + sums.weight

    def rates(self) -> Array:
        """The running means.

        Returns
        -------
        float64 array, shape (m,)
            1/2 for a cell that was not seen yet.
        """
        seen = self.weights > 0
        return np.where(seen, self.sums / np.where(seen, self.weights, 1.0), 0.5)

    def state(self) -> dict[str, list[float]]:
        """Complete state, ready for JSON.

        Returns
        -------
        dict of str to list of float
        """
        return {"sums": self.sums.tolist(), "weights": self.weights.tolist()}

    def restore(self, state: dict[str, list[float]]) -> None:
        """Restore a state returned by `state`.

        Parameters
        ----------
        state : dict
            Returned by `state`.
        """
        self.sums, self.weights = np.array(state["sums"]), np.array(state["weights"])
