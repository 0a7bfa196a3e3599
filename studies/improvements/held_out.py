"""A driver whose class rates come from rows that are not trained on."""

from __future__ import annotations

from aesara_nondecomp import TrainFunctions
from aesara_nondecomp.data import MiniBatches
from aesara_nondecomp.drivers import Driver, RewardWeights
from aesara_nondecomp.metrics.class_rates import ClassSums


class HeldOutDuals(Driver):
    """A driver whose class rates come from held-out mini-batches, at the present weights.

    On its training rows a network soon has class rates near 1, so the duals and the level v that they give do not fit
    other rows.

    Parameters
    ----------
    inner : Driver
        The driver that gets the class sums of the held-out rows.
    functions : TrainFunctions
        The network in training.
    batches : MiniBatches
        Held-out rows; balanced batches need few rows to estimate both rates.
    every : int, default 2
        Steps between two updates, at least 1; each update costs a forward pass.
    """

    def __init__(self, inner: Driver, functions: TrainFunctions, batches: MiniBatches, every: int = 2):
        self.inner, self.functions, self.batches, self.every = inner, functions, batches, every
        self.steps = 0

    def weights(self) -> RewardWeights:
        return self.inner.weights()

    def needs_refresh(self) -> bool:
        return self.inner.needs_refresh()

    def refresh(self, sums: ClassSums) -> None:
        self.inner.refresh(self._held_out_sums())

    def observe(self, sums: ClassSums) -> None:
        self.steps += 1
        if self.steps % self.every == 0:
            self.inner.observe(self._held_out_sums())

    def duals(self) -> dict[str, float]:
        return self.inner.duals()

    def _held_out_sums(self) -> ClassSums:
        batch = next(self.batches)
        return self.functions.class_sums(batch.X, batch.y)
