"""Drivers with constant reward weights: cross-entropy, class-weighted cross-entropy."""

from __future__ import annotations

import numpy as np

from aesara_nondecomp._arrays import as_vector
from aesara_nondecomp._checks import require, share
from aesara_nondecomp.drivers.base import Driver, RewardWeights, check_driver_options


class FixedWeights(Driver):
    """Four constant weights.

    Parameters
    ----------
    weights : RewardWeights
        Or four numbers in its order.

    Raises
    ------
    ValueError
        If they are no four finite numbers.
    """

    def __init__(self, weights: RewardWeights) -> None:
        four = as_vector(weights, "weights")
        require(len(four) == 4 and bool(np.isfinite(four).all()), "weights must be four finite numbers", weights)
        self._weights = RewardWeights(*four.tolist())

    def weights(self) -> RewardWeights:
        return self._weights


class CrossEntropy(FixedWeights):
    """Cross-entropy (ANN 0-1): logistic reward, each class weighted by its prior.

    p P_logistic + (1 - p) N_logistic is 1 minus the mean cross-entropy.

    Parameters
    ----------
    prior : float
        Fraction of positives in the training set, in (0, 1).

    Raises
    ------
    ValueError
        If `prior` is out of range.

    Notes
    -----
    Source: docs/algorithms.md 3.7.
    """

    def __init__(self, prior: float) -> None:
        check_driver_options(prior, "logistic", "old")
        super().__init__(RewardWeights.on("logistic", float(prior), 1 - float(prior)))


class ClassWeighted(FixedWeights):
    """Class-weighted cross-entropy (ANN-p): logistic reward, class means weighted `positive` and 1 - `positive`.

    Parameters
    ----------
    prior : float
        Fraction of positives in the training set, in (0, 1). Only checked, as the class means already hold it; every
        driver takes it.
    positive : float, default 0.5
        Weight of the positives' mean, in (0, 1); 1/2 is the balanced form.

    Raises
    ------
    ValueError
        If `prior` or `positive` is out of range.
    """

    def __init__(self, prior: float, positive: float = 0.5) -> None:
        check_driver_options(prior, "logistic", "old")
        positive = share("positive", positive)
        super().__init__(RewardWeights.on("logistic", positive, 1 - positive))
