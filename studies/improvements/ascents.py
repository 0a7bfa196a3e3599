"""Training steps of two dropped ideas: margins per class, and sharpness-aware steps."""

from __future__ import annotations

import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp._aesara.imports import at
from aesara_nondecomp.metrics.class_rates import ClassSums
from aesara_nondecomp.ops import reward_sums
from studies.improvements.variants import Variant


def functions_for(variant: Variant, n_features: int) -> an.TrainFunctions:
    """The functions that train the variant's network with its kind of step; not yet compiled."""
    network = an.mlp(n_features, variant.hidden)
    if variant.margin:
        return _Margin(network, variant.margin)
    return _SharpnessAware(network, variant.radius) if variant.radius else an.TrainFunctions(network)


class _Margin(an.TrainFunctions):
    """While training, the reward of a positive is that of its score minus a margin."""

    def __init__(self, network, margin: float):
        super().__init__(network)
        self.margin = margin

    def _class_objective(self):
        shift = at.gt(self._y, 0).astype(self.network.dtype)[:, None] * np.asarray(self.margin, self.network.dtype)
        return reward_sums(self.network.training_scores - shift, self._y, self._weights, self._temperature)


class _SharpnessAware(an.TrainFunctions):
    """Each step follows the gradient at the worst point of a ball around the weights (Foret et al. 2021)."""

    def __init__(self, network, radius: float):
        super().__init__(network)
        self.radius = radius

    def ascend(self, X: np.ndarray, y: np.ndarray) -> tuple[ClassSums, float]:
        sums, gradients = self.gradients(X, y)
        here = self.parameters()
        norm = np.sqrt(sum(float(np.vdot(g, g)) for g in gradients)) + 1e-12
        self.load([p - self.radius / norm * g for p, g in zip(here, gradients)])
        _, gradients = self.gradients(X, y)
        self.load(here)
        return sums, self.apply(gradients)
