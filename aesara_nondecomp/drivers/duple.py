"""DUPLE: dual updates for concave measures (docs/algorithms.md 3.3; the paper, Algorithm 1)."""

from __future__ import annotations

from typing import Any

from aesara_nondecomp import measures
from aesara_nondecomp._checks import one_of, positive_number, require
from aesara_nondecomp._numeric import log_odds, sigmoid
from aesara_nondecomp.drivers.base import AdaptiveDriver, RewardWeights, capped
from aesara_nondecomp.metrics.class_rates import ClassSums


class DUPLE(AdaptiveDriver):
    """Ascend alpha P + beta N, where (alpha, beta) is a supergradient of the measure at the running rates.

    On a linear network with ``evaluate="old"`` this is SPADE.

    Parameters
    ----------
    measure : str or measures.Concave
        What to train for.
    prior : float
        Fraction of positives in the training set, in (0, 1).
    reward : {"sigmoid", "logistic"}, default "sigmoid"
        Reward that the gradient goes through.
    counts : bool, default False
        DUPLE-NS: the running rates count right predictions instead of averaging the sigmoid reward.
    forgetting : float, default 0.9
        Forgetting factor on the running class sums, in (0, 1]; 1 is the listing's cumulative average.
    dual : {"exact", "step"}, default "exact"
        The exact supergradient, or a stochastic step towards it: the share `dual_rate` of the way for a smooth
        measure; for min, whose exact supergradient jumps between two corners, a step of size `dual_rate` times
        N - P on the log-odds of alpha.
    dual_rate : float, optional
        Above 0, and at most 1 for a smooth measure; only with ``dual="step"``. Default: 0.05.
    cap : float, optional
        Bound above 0 on abs(alpha) + abs(beta); larger duals are scaled down. Default: no bound.
    evaluate : {"old", "new"}, default "old"
        See `Driver`.
    eps : float, default 0.0
        Smoothing of KLD-like measures, at least 0: 1 / (2 n_train). On counts they need it.

    Raises
    ------
    ValueError
        If the measure is unknown or not concave (the message names the drivers that serve it), or an option is out of
        range.

    Notes
    -----
    Departures from the listing (line numbers of the paper's Algorithm 1; slips of docs/algorithms.md 8):

    - line 2: the sums start from rewards at w^0 instead of zeros, whose first step moves nothing (slip 9);
    - lines 5 to 7: the gradient is taken at the old weights, sums are class sums over class counts (slips 10, 11);
    - line 10: the argmin is the closed-form safe supergradient (docs/algorithms.md 3.1); `forgetting` < 1,
      ``dual="step"``, `cap` and ``evaluate="old"`` are options that the listing does not have.

    State: the class sums A+, A- and counts C+, C- (`rates`), and the duals alpha, beta.
    """

    algorithm = "duple"
    measure: measures.Concave

    def __init__(
        self,
        measure: str | measures.Measure,
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
    ) -> None:
        super().__init__(
            measure, prior, reward=reward, counts=counts, forgetting=forgetting, evaluate=evaluate, eps=eps
        )
        one_of("dual", dual, ("exact", "step"))
        require(dual == "step" or dual_rate is None, "dual_rate needs dual='step'", dual_rate)
        self.dual, self.dual_rate = dual, positive_number("dual_rate", 0.05 if dual_rate is None else dual_rate)
        moves_a_share = dual == "step" and not self._on_log_odds
        require(not moves_a_share or self.dual_rate <= 1, "dual_rate must be at most 1", dual_rate)
        self.cap = None if cap is None else positive_number("cap", cap)
        self.alpha = self.beta = 0.5
        self.started = False

    def weights(self) -> RewardWeights:
        return RewardWeights.on(self.reward, *capped(self.alpha, self.beta, self.cap))

    def needs_refresh(self) -> bool:
        return not self.started

    def refresh(self, sums: ClassSums) -> None:
        self.rates.add(sums)
        self.started = True
        if not self._on_log_odds:
            self.alpha, self.beta = self._supergradient()

    def observe(self, sums: ClassSums) -> None:
        self.rates.add(sums)  # lines 6 to 9
        self.alpha, self.beta = self._supergradient() if self.dual == "exact" else self._dual_step()  # line 10

    @property
    def _on_log_odds(self) -> bool:
        return self.dual == "step" and self.measure.min_of_rates

    def _supergradient(self) -> tuple[float, float]:
        return self.measure.supergradient(*self.rates.rates(), self.prior, self.eps)

    def _dual_step(self) -> tuple[float, float]:
        if self._on_log_odds:
            P, N = self.rates.rates()
            alpha = sigmoid(log_odds(self.alpha) + self.dual_rate * (N - P))
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
