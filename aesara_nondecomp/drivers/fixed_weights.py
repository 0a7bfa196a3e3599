"""Drivers whose four numbers never move: cross-entropy, class-weighted cross-entropy."""

from __future__ import annotations

from aesara_nondecomp._checks import require
from aesara_nondecomp.drivers.base import Driver, RewardWeights, check_driver_options


class FixedWeights(Driver):
    """Four constant weights.

    Parameters
    ----------
    weights : RewardWeights
    """

    def __init__(self, weights: RewardWeights):
        self._weights = RewardWeights(*weights)

    def weights(self) -> RewardWeights:
        return self._weights


class CrossEntropy(FixedWeights):
    """Cross-entropy (ANN 0-1, spec 3.7): logistic reward, each class weighted by its share.

    p P_logistic + (1 - p) N_logistic is 1 minus the mean cross-entropy.

    Parameters
    ----------
    prior : float in (0, 1). Share of positives in the training labels.

    Raises
    ------
    ValueError
        If `prior` is out of range.
    """

    def __init__(self, prior: float):
        check_driver_options(prior, "logistic", "old")
        super().__init__(RewardWeights.on("logistic", float(prior), 1 - float(prior)))


class ClassWeighted(FixedWeights):
    """Class-weighted cross-entropy (ANN-p): logistic reward, the two class means weighted `positive` and the rest.

    Parameters
    ----------
    prior : float in (0, 1)
        Taken so that all drivers are built alike; the class means already hold it.
    positive : float in (0, 1). Weight of the positives' mean; 1/2 is the balanced form.

    Raises
    ------
    ValueError
        If `prior` or `positive` is out of range.
    """

    def __init__(self, prior: float, positive: float = 0.5):
        check_driver_options(prior, "logistic", "old")
        require(0 < positive < 1, "positive must lie strictly between 0 and 1", positive)
        super().__init__(RewardWeights.on("logistic", float(positive), 1 - float(positive)))
