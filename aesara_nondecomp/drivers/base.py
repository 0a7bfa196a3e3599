"""What a driver is: a rule that updates four numbers between two calls of the compiled step."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np

from aesara_nondecomp import measures
from aesara_nondecomp._checks import number, one_of, require
from aesara_nondecomp._names import warn_renamed
from aesara_nondecomp.metrics.class_rates import ClassSums, RunningRates


class RewardWeights(NamedTuple):
    """Weights of the class means of the two differentiable rewards in the primal objective.

    The objective is sigmoid_pos P_sigmoid + sigmoid_neg N_sigmoid + logistic_pos P_logistic + logistic_neg N_logistic,
    where P and N are means over the positives and over the negatives.

    Attributes
    ----------
    sigmoid_pos : float
        Weight of the mean sigmoid reward of the positives.
    sigmoid_neg : float
        Weight of the mean sigmoid reward of the negatives.
    logistic_pos : float
        Weight of the mean logistic reward of the positives.
    logistic_neg : float
        Weight of the mean logistic reward of the negatives.
    """

    sigmoid_pos: float = 0.0
    sigmoid_neg: float = 0.0
    logistic_pos: float = 0.0
    logistic_neg: float = 0.0

    @classmethod
    def on(cls, reward: str, pos: float, neg: float) -> RewardWeights:
        """Both weights on one reward.

        Parameters
        ----------
        reward : {"sigmoid", "logistic"}
            Reward that the gradient goes through.
        pos : float
            Weight of the positives' mean.
        neg : float
            Weight of the negatives' mean.

        Returns
        -------
        RewardWeights
            0 on the other reward.
        """
        return cls(pos, neg) if reward == "sigmoid" else cls(0.0, 0.0, pos, neg)

    def mixed(self, other: RewardWeights, share: float) -> RewardWeights:
        """The convex combination (1 - share) self + share other.

        Parameters
        ----------
        other : RewardWeights
            The other weights.
        share : float
            Share of `other`, in [0, 1].

        Returns
        -------
        RewardWeights
            The combination.
        """
        rest, (sigmoid_pos, sigmoid_neg, logistic_pos, logistic_neg) = 1 - share, self
        return RewardWeights(
            rest * sigmoid_pos + share * other.sigmoid_pos,
            rest * sigmoid_neg + share * other.sigmoid_neg,
            rest * logistic_pos + share * other.logistic_pos,
            rest * logistic_neg + share * other.logistic_neg,
        )


class Driver:
    """Base of all drivers: explicit state in plain floats, no Aesara, no arrays.

    A loop calls `weights`, takes a gradient step on the weighted objective, and hands the step's class sums to
    `observe`. While `needs_refresh` is true it first hands the class sums of rows evaluated at the current weights to
    `refresh`: every adaptive driver starts so (the listing's S_0), and DAME does so for each new level. Those rows
    should hold both classes (docs/algorithms.md 1.4): the rate of a class not seen yet is taken to be 1/2. Drivers
    that adapt refuse sums that are not finite by a ValueError, and stay as they were.

    Attributes
    ----------
    evaluate : {"old", "new"}
        Whether `observe` gets the sums at the weights before the step (from the gradient's own forward pass) or after
        it.
    moves : bool
        Whether it moves its duals by rows held out, as drivers of cells do.
    several_classes : bool
        False; whether it is a driver of `drivers.multiclass`, by which the training loop tells them apart.
    round_rows : int or None
        Number of rows to evaluate for `refresh`; None is one mini-batch.
    """

    evaluate: str = "old"
    moves: bool = False
    several_classes: Literal[False] = False
    round_rows: int | None = None

    def weights(self) -> RewardWeights:
        """The reward weights of the next step.

        Returns
        -------
        RewardWeights
            Plain floats.
        """
        raise NotImplementedError

    def needs_refresh(self) -> bool:
        """Whether `refresh` must be called before the next step.

        Returns
        -------
        bool
            False for drivers that do not adapt.
        """
        return False

    def refresh(self, sums: ClassSums) -> None:
        """Take class sums evaluated at the current weights.

        Parameters
        ----------
        sums : ClassSums
            Of rows that should hold both classes.
        """

    def observe(self, sums: ClassSums) -> None:
        """Take the class sums of the step just made.

        Parameters
        ----------
        sums : ClassSums
            Of the step's batch, at the weights that `evaluate` says.
        """

    def duals(self) -> dict[str, float]:
        """Values to log: duals, valuation level v.

        Returns
        -------
        dict of str to float
            Empty for drivers that do not adapt.
        """
        return {}

    def state(self) -> dict[str, Any]:
        """Complete state for exact resumption.

        Returns
        -------
        dict
            Floats, bools, and lists and dicts of them, ready for JSON.
        """
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a state returned by `state`.

        Parameters
        ----------
        state : dict
            Returned by `state` of a driver with the same options.
        """

    def wants_round(self) -> bool:
        """Former name of `needs_refresh`.

        Returns
        -------
        bool
            That of `needs_refresh`.
        """
        warn_renamed("Driver.wants_round", "needs_refresh")
        return self.needs_refresh()

    def begin_round(self, sums: ClassSums) -> None:
        """Former name of `refresh`.

        Parameters
        ----------
        sums : ClassSums
            As in `refresh`.
        """
        warn_renamed("Driver.begin_round", "refresh")
        self.refresh(sums)


class AdaptiveDriver(Driver):
    """Base of the drivers that follow a measure: DUPLE, DENIM and DAME.

    Parameters
    ----------
    measure : str or measures.Measure
        What to train for: a name in the catalogue, or a measure that `algorithm` serves.
    prior : float
        Fraction of positives in the training set, in (0, 1).
    reward : {"sigmoid", "logistic"}
        Reward that the gradient goes through.
    counts : bool
        Whether the running rates count right predictions instead of averaging the sigmoid reward.
    forgetting : float
        Forgetting factor of the running rates, in (0, 1].
    evaluate : {"old", "new"}
        See `Driver`.
    eps : float
        Smoothing of KLD-like measures, at least 0.

    Attributes
    ----------
    algorithm : str
        Name in `measures.Measure.drivers` of the algorithm whose measures this driver serves.
    rates : RunningRates
        Running class rates (P, N).

    Raises
    ------
    ValueError
        If the measure is unknown or not served (the message names the drivers that serve it), or an option is out of
        range.
    """

    algorithm: str
    measure: Any

    def __init__(
        self,
        measure: str | measures.Measure,
        prior: float,
        *,
        reward: str,
        counts: bool,
        forgetting: float,
        evaluate: str,
        eps: float,
    ) -> None:
        check_driver_options(prior, reward, evaluate, eps)
        require(isinstance(counts, (bool, np.bool_)), "counts must be True or False", counts)
        self.measure = _served_measure(measure, self.algorithm, counts, eps)
        self.prior, self.reward, self.eps = float(prior), reward, float(eps)
        self.evaluate = evaluate
        self.rates = RunningRates("count" if counts else "sigmoid", forgetting)


def _served_measure(measure: str | measures.Measure, algorithm: str, counts: bool, eps: float) -> measures.Measure:
    """The measure; a ValueError if the algorithm cannot train for it, or not from counts with this `eps`."""
    measure = measures.get(measure)
    measure.require_driver(algorithm)
    if counts and measure.needs_smoothing:
        require(eps > 0, f"{measure} on counts, whose prevalence can be 0 or 1, needs eps > 0: 1 / (2 n_train)", eps)
    return measure


def check_driver_options(prior: float, reward: str, evaluate: str, eps: float = 0.0) -> None:
    """Check the options that drivers share.

    Parameters
    ----------
    prior : float
        Fraction of positives in the training set.
    reward : str
        Reward that the gradient goes through.
    evaluate : str
        Which weights `Driver.observe` gets the class sums of.
    eps : float, default 0.0
        Smoothing of KLD-like measures.

    Raises
    ------
    ValueError
        If one is out of range.
    """
    require(
        isinstance(prior, Real) and 0 < prior < 1,
        "prior must lie strictly between 0 and 1 (the fraction of positives in the training labels)",
        prior,
    )
    one_of("reward", reward, ("sigmoid", "logistic"), " (Mix takes half of each)")
    one_of("evaluate", evaluate, ("old", "new"))
    require(0 <= number("eps", eps) < float("inf"), "eps must be a finite number of at least 0", eps)


def capped(pos: float, neg: float, cap: float | None) -> tuple[float, float]:
    """A pair of weights, scaled down so that abs(pos) + abs(neg) <= cap.

    Parameters
    ----------
    pos : float
        Weight of the positives.
    neg : float
        Weight of the negatives.
    cap : float or None
        Bound above 0; None for no bound.

    Returns
    -------
    pos : float
        Scaled weight of the positives.
    neg : float
        Scaled weight of the negatives.
    """
    size = abs(pos) + abs(neg)
    return (pos, neg) if cap is None or size <= cap else (pos * cap / size, neg * cap / size)
