"""Drivers that combine others: a mixture of two, or one first and another after it."""

from __future__ import annotations

from typing import Any

from aesara_nondecomp._checks import number, positive_int, require
from aesara_nondecomp.drivers.base import Driver, RewardWeights
from aesara_nondecomp.drivers.fixed_weights import FixedWeights
from aesara_nondecomp.metrics.class_rates import ClassSums, check_sums


class _Wrapper(Driver):
    """Delegates to `inner` everything that a subclass does not override."""

    def __init__(self, inner: Driver) -> None:
        require(isinstance(inner, Driver), "inner must be a driver", inner)
        self.inner = inner
        self.evaluate, self.round_rows = inner.evaluate, inner.round_rows

    def weights(self) -> RewardWeights:
        return self.inner.weights()

    def needs_refresh(self) -> bool:
        return self.inner.needs_refresh()

    def refresh(self, sums: ClassSums) -> None:
        self.inner.refresh(sums)

    def observe(self, sums: ClassSums) -> None:
        self.inner.observe(sums)

    def duals(self) -> dict[str, float]:
        return self.inner.duals()

    def state(self) -> dict[str, Any]:
        return {"inner": self.inner.state()}

    def restore(self, state: dict[str, Any]) -> None:
        self.inner.restore(state["inner"])


class Mix(_Wrapper):
    """(1 - share) of a driver's weights and `share` of an anchor's: the mixed objective of the default recipes.

    The sigmoid reward gives almost no gradient on badly misclassified rows; the anchor's logistic reward does.

    Parameters
    ----------
    inner : Driver
        The driver that adapts.
    anchor : FixedWeights
        Usually `CrossEntropy` or `ClassWeighted`.
    share : float, default 0.5
        Share of the anchor's weights, in [0, 1].

    Raises
    ------
    ValueError
        If the anchor is another driver, or the share is out of range.
    """

    def __init__(self, inner: Driver, anchor: FixedWeights, share: float = 0.5) -> None:
        super().__init__(inner)
        _check_fixed("the anchor of a Mix", anchor)
        require(0 <= number("share", share) <= 1, "share must lie in [0, 1]", share)
        self.anchor, self.share = anchor, share

    def weights(self) -> RewardWeights:
        return self.inner.weights().mixed(self.anchor.weights(), self.share)


class WarmStart(_Wrapper):
    """`first` for a number of steps, then `inner`, which starts from the rewards of the last warm step.

    Parameters
    ----------
    first : FixedWeights
        Usually `CrossEntropy` or `ClassWeighted`.
    steps : int
        Length of the warm start, at least 1; it is prolonged until a batch holds both classes.
    inner : Driver
        The driver that follows.

    Raises
    ------
    ValueError
        If `first` is another driver, or `steps` is below 1.
    """

    def __init__(self, first: FixedWeights, steps: int, inner: Driver) -> None:
        super().__init__(inner)
        _check_fixed("a WarmStart", first)
        self.first, self.left = first, positive_int("steps", steps)

    def weights(self) -> RewardWeights:
        return self.first.weights() if self.left else self.inner.weights()

    def needs_refresh(self) -> bool:
        return not self.left and self.inner.needs_refresh()

    def observe(self, sums: ClassSums) -> None:
        if self.left == 0:
            self.inner.observe(sums)
            return
        check_sums(sums)
        if self.left > 1:
            self.left -= 1
        elif sums.n_pos > 0 and sums.n_neg > 0:
            self.left = 0
            self.inner.refresh(sums)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "left": self.left}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.left = state["left"]


def _check_fixed(what: str, driver: Driver) -> None:
    """Raise ValueError for an adaptive driver: it would get no class sums and silently never adapt."""
    is_fixed = isinstance(driver, FixedWeights)
    require(is_fixed, f"{what} needs fixed weights, such as CrossEntropy", type(driver).__name__)
