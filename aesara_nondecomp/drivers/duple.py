"""DUPLE: dual updates for concave measures (spec 3.3; paper, Algorithm 1)."""

from __future__ import annotations

import math
from typing import Any

from aesara_nondecomp import measures
from aesara_nondecomp._checks import positive_number, require
from aesara_nondecomp.drivers.base import Driver, RewardWeights, check_driver_options, served_measure
from aesara_nondecomp.metrics.class_rates import ClassSums, RunningRates


class DUPLE(Driver):
    """Ascend alpha P + beta N, where (alpha, beta) is a supergradient of the measure at the running rates.

    On a linear network with ``evaluate="old"`` this is SPADE.

    Parameters
    ----------
    measure : measures.Concave, or the name of one
    prior : float in (0, 1). Share of positives in the training labels.
    reward : {"sigmoid", "logistic"}. Reward that the gradient goes through.
    counts : bool
        DUPLE-NS: the running rates count right answers instead of averaging the sigmoid reward.
    forgetting : float in (0, 1]. Factor on the running class sums; 1 is the listing's cumulative average.
    dual : {"exact", "step"}
        The exact supergradient, or a stochastic step towards it: the share `dual_rate` of the way for a smooth
        measure; for min, whose exact supergradient jumps between two corners, a step of size `dual_rate` times
        N - P on the log-odds of alpha.
    dual_rate : float > 0, at most 1 for a smooth measure; only with ``dual="step"``. Default: 0.05.
    cap : float > 0 or None. Bound on abs(alpha) + abs(beta); larger duals are scaled down.
    evaluate : {"old", "new"}. See `Driver`.
    eps : float >= 0. Smoothing of KLD-like measures, 1 / (2 n_train); on counts they need it.

    Raises
    ------
    ValueError
        If the measure is not concave (the message names the drivers that serve it), its name is
        unknown, or an option is out of range.
    TypeError
        If `measure` is neither a name nor a measure.

    Notes
    -----
    Departures from the listing (line numbers of the paper's Algorithm 1; corrections of spec 8):

    - line 2: the sums start from rewards at w^0 instead of zeros, whose first step moves nothing (slip 9);
    - lines 5 to 7: the gradient is taken at the old weights, sums are class sums over class counts (10, 11);
    - line 10: the argmin is the closed-form safe supergradient (spec 3.1); `forgetting` < 1, ``dual="step"``,
      `cap` and ``evaluate="old"`` are options that the listing does not have.

    State: the class sums A+, A- and counts C+, C- (`rates`), and the duals alpha, beta.
    """

    def __init__(
        self,
        measure,
        prior: float,
        *,
        reward: str = "sigmoid",
        counts: bool = False,
        forgetting: float = 0.9,
        dual: str = "exact",
        dual_rate: float | None = None,
        cap: float | None = None,
        evaluate: str = "old",
        eps: float = 0.0,
    ):
        check_driver_options(prior, reward, evaluate, eps)
        self.measure = served_measure(measure, "duple", counts, eps)
        require(dual in ("exact", "step"), "dual must be 'exact' or 'step'", dual)
        self.prior, self.reward, self.eps = float(prior), reward, float(eps)
        require(dual == "step" or dual_rate is None, "dual_rate needs dual='step'", dual_rate)
        self.dual, self.dual_rate = dual, positive_number("dual_rate", 0.05 if dual_rate is None else dual_rate)
        moves_a_share = dual == "step" and not self._on_log_odds
        require(not moves_a_share or self.dual_rate <= 1, "dual_rate must be at most 1", dual_rate)
        self.cap = None if cap is None else positive_number("cap", cap)
        self.evaluate = evaluate
        self.rates = RunningRates("count" if counts else "sigmoid", forgetting)
        self.alpha = self.beta = 0.5
        self.started = False

    def weights(self) -> RewardWeights:
        return RewardWeights.on(self.reward, *capped(self.alpha, self.beta, self.cap))

    def needs_refresh(self) -> bool:
        return not self.started

    def refresh(self, sums: ClassSums) -> None:
        self.started = True
        self.rates.add(sums)
        if not self._on_log_odds:
            self.alpha, self.beta = self._supergradient()

    def observe(self, sums: ClassSums) -> None:
        self.rates.add(sums)  # lines 6 to 9
        self.alpha, self.beta = self._supergradient() if self.dual == "exact" else self._dual_step()  # line 10

    @property
    def _on_log_odds(self) -> bool:
        return self.dual == "step" and isinstance(self.measure, measures.Min)

    def _supergradient(self) -> tuple[float, float]:
        return self.measure.supergradient(*self.rates.rates(), self.prior, self.eps)

    def _dual_step(self) -> tuple[float, float]:
        if self._on_log_odds:
            P, N = self.rates.rates()
            alpha = logistic(log_odds(self.alpha) + self.dual_rate * (N - P))
            return alpha, 1.0 - alpha
        alpha, beta = self._supergradient()
        return self.alpha + self.dual_rate * (alpha - self.alpha), self.beta + self.dual_rate * (beta - self.beta)

    def duals(self) -> dict[str, float]:
        return {"alpha": self.alpha, "beta": self.beta}

    def state(self) -> dict[str, Any]:
        return {"rates": self.rates.state(), "alpha": self.alpha, "beta": self.beta, "started": self.started}

    def restore(self, state: dict[str, Any]) -> None:
        self.rates.restore(state["rates"])
        self.alpha, self.beta, self.started = state["alpha"], state["beta"], state["started"]


def capped(pos: float, neg: float, cap: float | None) -> tuple[float, float]:
    """The pair, scaled down so that abs(pos) + abs(neg) <= cap."""
    size = abs(pos) + abs(neg)
    return (pos, neg) if cap is None or size <= cap else (pos * cap / size, neg * cap / size)


def logistic(x: float) -> float:
    """1 / (1 + exp(-x)), without overflow."""
    return 1.0 / (1.0 + math.exp(-x)) if x > 0 else math.exp(x) / (1.0 + math.exp(x))


def log_odds(share: float) -> float:
    """ln(share / (1 - share)), kept within +-36, where a double can still tell the share from 0 and 1."""
    inside = min(max(share, 2.0**-52), 1.0 - 2.0**-52)
    return math.log(inside / (1.0 - inside))
