"""What a driver is: a rule that moves four numbers between two calls of the compiled step."""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

from aesara_nondecomp import measures
from aesara_nondecomp._checks import require
from aesara_nondecomp.metrics.class_rates import ClassSums


class RewardWeights(NamedTuple):
    """Weights of the class means of the two differentiable rewards in the primal objective

    sigmoid_pos P_sigmoid + sigmoid_neg N_sigmoid + logistic_pos P_logistic + logistic_neg N_logistic,

    where P and N are means over the positives and over the negatives.
    """

    sigmoid_pos: float = 0.0
    sigmoid_neg: float = 0.0
    logistic_pos: float = 0.0
    logistic_neg: float = 0.0

    @classmethod
    def on(cls, reward: str, pos: float, neg: float) -> RewardWeights:
        """Both weights on one reward, "sigmoid" or "logistic"."""
        return cls(pos, neg) if reward == "sigmoid" else cls(0.0, 0.0, pos, neg)

    def mixed(self, other: RewardWeights, share: float) -> RewardWeights:
        """(1 - share) of these and `share` of the other's."""
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
    `observe`.  While `needs_refresh` is true it first hands the class sums of rows evaluated at the current weights
    to `refresh`: every adaptive driver starts so (the listing's S_0), and DAME does so for each new level.  Those
    rows should hold both classes (spec 1.4): the rate of a class not seen yet is taken to be 1/2.

    Attributes
    ----------
    evaluate : {"old", "new"}
        Whether `observe` gets the sums at the weights before the step (the gradient's own forward pass) or after it.
    round_rows : int or None
        How many rows to evaluate for `refresh`; None is one mini-batch.
    """

    evaluate: str = "old"
    round_rows: int | None = None

    def weights(self) -> RewardWeights:
        """The four numbers of the next step."""
        raise NotImplementedError

    def needs_refresh(self) -> bool:
        """Whether `refresh` must be called before the next step."""
        return False

    def refresh(self, sums: ClassSums) -> None:
        """Take class sums evaluated at the current weights."""

    def observe(self, sums: ClassSums) -> None:
        """Take the class sums of the step just made."""

    def duals(self) -> dict[str, float]:
        """The named numbers worth a record: dual variables, the level v."""
        return {}

    def state(self) -> dict[str, Any]:
        """Everything needed to go on exactly: floats, bools and lists of them, ready for JSON."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up a state that `state` gave."""


def served_measure(measure, driver: str, counts: bool, eps: float) -> Any:
    """The measure, given by its name or as it is; refused (ValueError) if `driver` cannot train for it so."""
    measure = measures.get(measure)
    measure.require_driver(driver)
    if counts and measure.needs_smoothing:
        require(eps > 0, f"{measure} on counts, whose prevalence can be 0 or 1, needs eps > 0: 1 / (2 n_train)", eps)
    return measure


def check_driver_options(prior: float, reward: str, evaluate: str, eps: float = 0.0) -> None:
    """Raise ValueError unless the options that the adaptive drivers share are in range."""
    require(
        isinstance(prior, Real) and 0 < prior < 1,
        "prior must lie strictly between 0 and 1 (the share of positives in the training labels)",
        prior,
    )
    require(
        reward in ("sigmoid", "logistic"), "reward must be 'sigmoid' or 'logistic' (Mix takes half of each)", reward
    )
    require(evaluate in ("old", "new"), "evaluate must be 'old' or 'new'", evaluate)
    require(0 <= eps < float("inf"), "eps must be a finite number of at least 0", eps)
