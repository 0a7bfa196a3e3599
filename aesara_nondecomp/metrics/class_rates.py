"""Class sums of rewards and the running class rates (P, N) that set_objective the duals (spec 1.3, 1.4, 3.3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from aesara_nondecomp._checks import choose, positive_number, require

REWARDS = ("sigmoid", "logistic", "count")


class ClassSums(NamedTuple):
    """Sums of each reward over the positives and over the negatives of a batch, and the class weights.

    A class's weight is its number of rows, or the sum of their sample weights.  The sigmoid sums are soft
    surrogates; the count sums are the hard TP and TN.
    """

    sigmoid_pos: float
    sigmoid_neg: float
    logistic_pos: float
    logistic_neg: float
    count_pos: float
    count_neg: float
    n_pos: float
    n_neg: float

    def of(self, reward: str) -> tuple[float, float]:
        """The two sums (positives, negatives) of one reward: "sigmoid", "logistic" or "count" (else ValueError)."""
        start = 2 * REWARDS.index(reward)
        return self[start], self[start + 1]

    def rates(self, reward: str) -> tuple[float, float]:
        """Class means (P, N) of one reward; NaN for a class that is missing."""
        pos, neg = self.of(reward)
        nan = float("nan")
        return (pos / self.n_pos if self.n_pos else nan, neg / self.n_neg if self.n_neg else nan)

    def __add__(self, other):  # type: ignore[override]  # sums add up; a longer tuple would mean nothing
        return ClassSums(*(a + b for a, b in zip(self, other)))


def class_sums(scores: ArrayLike, y: ArrayLike, temperature: float = 1.0) -> ClassSums:
    """Class sums of a batch of scores, in NumPy: what a loop outside Aesara feeds to a driver.

    Parameters
    ----------
    scores : array-like, shape (b,). Raw outputs of the last linear unit.
    y : array-like, shape (b,). Labels in {-1, +1}, or signed sample weights; 0 marks padding.
    temperature : float > 0. Of the sigmoid reward.

    Raises
    ------
    ValueError
        If the two differ in shape, as (n, 1) scores and (n,) labels do, or the temperature is not positive.

    Notes
    -----
    Rewards of spec 1.2. A score of exactly 0 counts as a negative prediction.
    """
    positive_number("temperature", temperature)
    f, signed = np.asarray(scores, dtype="float64"), np.asarray(y, dtype="float64")
    if f.shape != signed.shape or f.ndim != 1:
        raise ValueError(
            f"class_sums needs scores and labels of one shape (b,), got {f.shape} and {signed.shape}. "
            "Ravel the scores of a network with one output column."
        )
    u = np.sign(signed) * f
    right = np.where(signed > 0, f > 0, f <= 0)
    rewards = (_sigmoid(u / temperature), 1.0 - _softplus(-u), right, np.ones_like(f))
    weights = np.maximum(signed, 0.0), np.maximum(-signed, 0.0)
    return ClassSums(*(float(np.dot(w, reward)) for reward in rewards for w in weights))


def reward_slopes(u: np.ndarray, temperature: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of the sigmoid and of the logistic reward in the margin u = y f (spec 1.2)."""
    share = _sigmoid(u / temperature)
    return share * (1.0 - share) / temperature, _sigmoid(-u)


def _sigmoid(u):
    small = np.exp(-np.abs(u))  # never overflows
    return np.where(u > 0, 1.0, small) / (1.0 + small)


def _softplus(u):
    return np.log1p(np.exp(-np.abs(u))) + np.maximum(u, 0.0)


class RunningRates:
    """Running class means (P, N) of one reward: A+/C+ and A-/C- over all batches seen so far.

    Parameters
    ----------
    reward : {"sigmoid", "logistic", "count"}
    forgetting : float in (0, 1]
        Factor on a class's sum and count before a batch that holds the class is added; 1 is the cumulative
        average of the listing (follow the leader). A batch without the class leaves both as they are.

    Raises
    ------
    ValueError
        If the reward is unknown, or `forgetting` is out of range.
    """

    def __init__(self, reward: str = "sigmoid", forgetting: float = 1.0):
        choose("reward", reward, dict.fromkeys(REWARDS))
        require(0 < forgetting <= 1, "forgetting must lie in (0, 1]", forgetting)
        self.reward, self.forgetting = reward, forgetting
        self._first = 2 * REWARDS.index(reward)  # position of its two sums among `ClassSums`
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.sums, self.counts = [0.0, 0.0], [0.0, 0.0]

    def add(self, sums: ClassSums) -> None:
        """Add a batch's class sums."""
        for k, count in enumerate((sums.n_pos, sums.n_neg)):
            if count > 0:
                self.sums[k] = self.forgetting * self.sums[k] + sums[self._first + k]
                self.counts[k] = self.forgetting * self.counts[k] + count

    def rates(self) -> tuple[float, float]:
        """(P, N); 1/2, the rate of a coin, for a class not seen yet."""
        (pos, neg), (n_pos, n_neg) = self.sums, self.counts
        return (pos / n_pos if n_pos else 0.5), (neg / n_neg if n_neg else 0.5)

    def state(self) -> dict[str, list[float]]:
        """Everything needed to go on exactly: plain floats."""
        return {"sums": list(self.sums), "counts": list(self.counts)}

    def restore(self, state: dict[str, list[float]]) -> None:
        """Take up a state that `state` gave."""
        self.sums, self.counts = list(state["sums"]), list(state["counts"])
