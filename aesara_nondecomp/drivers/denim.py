"""DENIM: dual updates for nested concave measures (docs/algorithms.md 3.4; the paper, Algorithm 2)."""

from __future__ import annotations

import math
from typing import Any

from aesara_nondecomp import measures
from aesara_nondecomp._checks import positive_number
from aesara_nondecomp.drivers.base import AdaptiveDriver, RewardWeights, capped
from aesara_nondecomp.metrics.class_rates import ClassSums, check_sums

Pair = tuple[float, float]


class DENIM(AdaptiveDriver):
    """Ascend (gamma1 alpha1 + gamma2 beta1) P + (gamma1 alpha2 + gamma2 beta2) N for Psi(zeta1, zeta2).

    alpha and beta are supergradients of zeta1 and zeta2 at the running rates r; gamma is the gradient of Psi at q, the
    running mean of the linearised zetas. On a linear network with ``evaluate="old"`` this is NEMSIS.

    Parameters
    ----------
    measure : str or measures.NestedConcave
        What to train for.
    prior : float
        Fraction of positives in the training set, in (0, 1).
    reward : {"sigmoid", "logistic"}, default "sigmoid"
        Reward that the gradient goes through.
    counts : bool, default False
        DENIM-NS: r and z are fractions of right predictions instead of mean sigmoid rewards.
    forgetting : float, default 0.98
        Forgetting factor on the running sums, in (0, 1]; 1 is the listing's cumulative average.
    cap : float, optional
        Bound above 0 on the sum of the absolute weights of P and N. Default: no bound.
    evaluate : {"old", "new"}, default "old"
        See `Driver`.
    eps : float, default 0.0
        Smoothing of KLD-like measures, at least 0: 1 / (2 n_train). On counts they need it.

    Raises
    ------
    ValueError
        If the measure is unknown or not nested concave (the message names the drivers that serve it), or an option is
        out of range.

    Notes
    -----
    Departures from the listing (line numbers of the paper's Algorithm 2; slips of docs/algorithms.md 8):

    - line 2: started at the supergradients of w^0's rewards, since zeta*(0) can be -inf (slip 20);
    - line 5: gradient and duals of the step before (slip 21); lines 6, 7, 9: batch means, not sums (slip 22);
    - line 8: the conjugate is that of the old dual, so the increment is zeta(r) + alpha . (z - r) (slip 23);
    - `forgetting` < 1, `cap` and ``evaluate="old"`` are options that the listing does not have.

    State: class sums (`rates`, giving r), q, its weight `seen`, and alpha, beta, gamma.
    """

    algorithm = "denim"
    measure: measures.NestedConcave

    def __init__(
        self,
        measure: str | measures.Measure,
        prior: float,
        *,
        reward: str = "sigmoid",
        counts: bool = False,
        forgetting: float = 0.98,
        cap: float | None = None,
        evaluate: str = "old",
        eps: float = 0.0,
    ) -> None:
        super().__init__(
            measure, prior, reward=reward, counts=counts, forgetting=forgetting, evaluate=evaluate, eps=eps
        )
        self.cap = None if cap is None else positive_number("cap", cap)
        self.q: Pair = (0.0, 0.0)
        self.seen = 0.0
        self.alpha: Pair = (0.0, 0.0)
        self.beta: Pair = (0.0, 0.0)
        self.gamma: Pair = (0.0, 0.0)

    def weights(self) -> RewardWeights:
        (a1, a2), (b1, b2), (g1, g2) = self.alpha, self.beta, self.gamma
        return RewardWeights.on(self.reward, *capped(g1 * a1 + g2 * b1, g1 * a2 + g2 * b2, self.cap))

    def needs_refresh(self) -> bool:
        return self.seen == 0

    def refresh(self, sums: ClassSums) -> None:
        self.rates.add(sums)
        self.q, self.seen = self.measure.components(*self.rates.rates(), self.prior, self.eps), 1.0
        self._take_duals()

    def observe(self, sums: ClassSums) -> None:
        check_sums(sums)  # a NaN below is a class that is missing
        r = self.rates.rates()
        # A class that is missing (NaN) keeps its running rate.
        z = [old if math.isnan(new) else new for old, new in zip(r, sums.rates(self.rates.reward))]
        zeta = self.measure.components(*r, self.prior, self.eps)
        lin = [  # lines 6 to 8
            value + slope[0] * (z[0] - r[0]) + slope[1] * (z[1] - r[1])
            for value, slope in zip(zeta, (self.alpha, self.beta))
        ]
        self.seen = self.rates.forgetting * self.seen + 1.0
        q1, q2 = (old + (new - old) / self.seen for old, new in zip(self.q, lin))
        self.q = q1, q2
        self.rates.add(sums)  # line 9
        self._take_duals()  # lines 10 to 12

    def _take_duals(self) -> None:
        self.alpha, self.beta = self.measure.component_gradients(*self.rates.rates(), self.prior, self.eps)
        self.gamma = self.measure.outer_gradient(*self.q, self.prior, self.eps)

    def duals(self) -> dict[str, float]:
        pairs = {"alpha": self.alpha, "beta": self.beta, "gamma": self.gamma}
        return {f"{name}{k + 1}": pair[k] for name, pair in pairs.items() for k in (0, 1)}

    def state(self) -> dict[str, Any]:
        pairs = {"q": self.q, "alpha": self.alpha, "beta": self.beta, "gamma": self.gamma}
        return {"rates": self.rates.state(), "seen": self.seen, **{name: list(pair) for name, pair in pairs.items()}}

    def restore(self, state: dict[str, Any]) -> None:
        self.rates.restore(state["rates"])
        self.seen = state["seen"]
        self.q, self.alpha, self.beta, self.gamma = (tuple(state[name]) for name in ("q", "alpha", "beta", "gamma"))
