"""Class sums of rewards, and the running class rates (P, N) that drive the duals (docs/algorithms.md 1.3, 1.4, 3.3)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aesara_nondecomp._checks import choose, number, positive_number, require
from aesara_nondecomp._numeric import sigmoid, softplus

REWARDS = ("sigmoid", "logistic", "count")


class ClassSums(NamedTuple):
    """Sums of each reward over the positives and over the negatives of a batch, and the weights of the classes.

    Attributes
    ----------
    sigmoid_pos : float
        Sum of the sigmoid reward over the positives: a soft count of true positives.
    sigmoid_neg : float
        The same over the negatives: a soft count of true negatives.
    logistic_pos : float
        Sum of the logistic reward over the positives.
    logistic_neg : float
        The same over the negatives.
    count_pos : float
        Sum of the count reward over the positives: TP.
    count_neg : float
        The same over the negatives: TN.
    n_pos : float
        Number of positives, or the sum of their sample weights.
    n_neg : float
        Number of negatives, or the sum of their sample weights.
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
        """The two sums of one reward.

        Parameters
        ----------
        reward : {"sigmoid", "logistic", "count"}
            Name of the reward.

        Returns
        -------
        pos : float
            Sum over the positives.
        neg : float
            Sum over the negatives.

        Raises
        ------
        ValueError
            If the reward is unknown.
        """
        start = 2 * REWARDS.index(reward)
        return self[start], self[start + 1]

    def rates(self, reward: str) -> tuple[float, float]:
        """Class means of one reward.

        Parameters
        ----------
        reward : {"sigmoid", "logistic", "count"}
            Name of the reward.

        Returns
        -------
        P : float
            Mean over the positives; NaN if there are none.
        N : float
            Mean over the negatives; NaN if there are none.

        Raises
        ------
        ValueError
            If the reward is unknown.
        """
        pos, neg = self.of(reward)
        nan = float("nan")
        return (pos / self.n_pos if self.n_pos else nan, neg / self.n_neg if self.n_neg else nan)

    # Sums add up entry by entry; a longer tuple would mean nothing.
    def __add__(self, other: Any) -> ClassSums:
        return ClassSums(*(a + b for a, b in zip(self, other)))


def class_sums(scores: ArrayLike, y: ArrayLike, temperature: float = 1.0) -> ClassSums:
    """Class sums of a batch of scores, in NumPy: what a loop outside Aesara feeds to a driver.

    Parameters
    ----------
    scores : array-like, shape (b,)
        Raw outputs of the last linear unit; finite.
    y : array-like, shape (b,)
        Labels in {-1, +1}, or sample weights with the sign of the label; 0 marks padding, which comes last.
    temperature : float, default 1.0
        Temperature of the sigmoid reward, above 0.

    Returns
    -------
    ClassSums
        In float64.

    Raises
    ------
    ValueError
        If the two differ in shape, as (n, 1) scores and (n,) labels do, a score or label is not finite, the labels are
        of another coding, such as {0, 1}, or the temperature is not positive.

    Notes
    -----
    A score of exactly 0 counts as a negative prediction. Source: docs/algorithms.md 1.2.
    """
    f = np.asarray(scores, dtype="float64")
    if f.shape != np.shape(y) or f.ndim != 1:
        raise ValueError(
            f"class_sums needs scores and labels of one shape (b,), got {f.shape} and {np.shape(y)}. "
            "Ravel the scores of a network with one output column."
        )
    signed, rewards = row_rewards(f, y, temperature)
    weights = np.maximum(signed, 0.0), np.maximum(-signed, 0.0)
    return ClassSums(*(float(np.dot(w, reward)) for reward in rewards for w in weights))


def row_rewards(
    scores: NDArray[np.float64], y: ArrayLike, temperature: float
) -> tuple[NDArray[np.float64], tuple[NDArray[Any], ...]]:
    """Check a batch, and give each reward of its rows.

    Parameters
    ----------
    scores : float64 array, shape (b,)
        Raw outputs of the last linear unit; finite.
    y : array-like, shape (b,)
        As for `check_signed`.
    temperature : float
        Temperature of the sigmoid reward, above 0.

    Returns
    -------
    signed : float64 array, shape (b,)
        The labels as `check_signed` returns them.
    rewards : tuple of 4 arrays, shape (b,)
        The sigmoid, the logistic and the count reward of each row, and 1, whose sum is the number of rows.

    Raises
    ------
    ValueError
        If a score or label is not finite, the labels are of another coding, or the temperature is not positive.
    """
    positive_number("temperature", temperature)
    _require_finite("scores", scores)
    signed = check_signed(y)
    u = np.sign(signed) * scores
    right = np.where(signed > 0, scores > 0, scores <= 0)
    return signed, (sigmoid(u / temperature), 1.0 - softplus(-u), right, np.ones_like(scores))


def check_signed(y: ArrayLike) -> NDArray[np.float64]:
    """Check labels that are signed: negatives have a minus, and 0 is padding and no class.

    Parameters
    ----------
    y : array-like, shape (b,)
        Labels in {-1, +1}, or sample weights with the sign of the label; 0 marks padding, which comes last.

    Returns
    -------
    float64 array, shape (b,)

    Raises
    ------
    ValueError
        If an entry is not finite, or the labels are of another coding, such as {0, 1} or bool.
    """
    given = np.asarray(y)
    signed = given.astype("float64")
    _require_finite("labels", signed)
    # Batches with padding are floats, and their padding comes last; any other 0 beside positives alone is a negative.
    padded = given.dtype.kind == "f" and not np.any(signed[np.count_nonzero(signed) :])
    unsigned = given.dtype.kind in "bu"
    if unsigned or not padded and np.any(signed == 0) and not np.any(signed < 0) and np.any(signed > 0):
        found = given.dtype.name if unsigned else "0 beside positive ones and no negative one"
        raise ValueError(
            f"labels must be -1 or +1, got {found}: 0 marks padding and no class. Pass 2.0 * y - 1.0 for labels in "
            "{0, 1}; put padding last."
        )
    return signed


def reward_slopes(u: NDArray[Any], temperature: float = 1.0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Derivatives of the sigmoid and of the logistic reward in the margin.

    Parameters
    ----------
    u : array of float
        Margins y f, of any shape.
    temperature : float, default 1.0
        Temperature of the sigmoid reward, above 0.

    Returns
    -------
    of_sigmoid : array of float
        Derivatives of the sigmoid reward.
    of_logistic : array of float
        Derivatives of the logistic reward.

    Notes
    -----
    Source: docs/algorithms.md 1.2.
    """
    share = sigmoid(u / temperature)
    return share * (1.0 - share) / temperature, sigmoid(-u)


def check_sums(sums: ClassSums) -> None:
    """Refuse class sums that would leave whatever follows them NaN for good.

    Parameters
    ----------
    sums : ClassSums
        Of a batch.

    Raises
    ------
    ValueError
        If one of them is not finite.
    """
    if not math.isfinite(sum(sums)):
        raise ValueError(f"class sums must be finite, got {sums}. Check rows and scores, or lower the learning rate.")


class RunningRates:
    """Running class means (P, N) of one reward: A+/C+ and A-/C- over all batches seen so far.

    Parameters
    ----------
    reward : {"sigmoid", "logistic", "count"}, default "sigmoid"
        Name of the reward.
    forgetting : float, default 1.0
        Forgetting factor in (0, 1] on a class's sum and count, applied before a batch that holds the class is added. 1
        is the cumulative average of the listing (follow the leader). A batch without the class leaves both unchanged.

    Raises
    ------
    ValueError
        If the reward is unknown, or `forgetting` is out of range.
    """

    def __init__(self, reward: str = "sigmoid", forgetting: float = 1.0) -> None:
        choose("reward", reward, dict.fromkeys(REWARDS))
        require(0 < number("forgetting", forgetting) <= 1, "forgetting must lie in (0, 1]", forgetting)
        self.reward, self.forgetting = reward, forgetting
        self._first = 2 * REWARDS.index(reward)  # position of its two sums among `ClassSums`
        self.reset()

    def reset(self) -> None:
        """Discard all batches."""
        self.sums, self.counts = [0.0, 0.0], [0.0, 0.0]

    def add(self, sums: ClassSums) -> None:
        """Add the class sums of a batch.

        Parameters
        ----------
        sums : ClassSums
            Of the batch.

        Raises
        ------
        ValueError
            If one of them is not finite; then nothing is added.
        """
        if not math.isfinite(sum(sums)):
            check_sums(sums)  # called only if it raises, as each step comes here
        for k, count in enumerate((sums.n_pos, sums.n_neg)):
            if count > 0:
                self.sums[k] = self.forgetting * self.sums[k] + sums[self._first + k]
                self.counts[k] = self.forgetting * self.counts[k] + count

    def rates(self) -> tuple[float, float]:
        """The running class means.

        Returns
        -------
        P : float
            Of the positives; 1/2, the rate of a coin, before any was seen.
        N : float
            Of the negatives, likewise.
        """
        (pos, neg), (n_pos, n_neg) = self.sums, self.counts
        return (pos / n_pos if n_pos else 0.5), (neg / n_neg if n_neg else 0.5)

    def state(self) -> dict[str, list[float]]:
        """Complete state for exact resumption.

        Returns
        -------
        dict of str to list of float
            Ready for JSON.
        """
        return {"sums": list(self.sums), "counts": list(self.counts)}

    def restore(self, state: dict[str, list[float]]) -> None:
        """Restore a state returned by `state`.

        Parameters
        ----------
        state : dict
            Returned by `state`.
        """
        self.sums, self.counts = list(state["sums"]), list(state["counts"])


def _require_finite(what: str, values: NDArray[Any]) -> None:
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ValueError(f"{what} must be finite, got {values[bad[0]]} in row {bad[0]} (from 0). Drop such rows.")
