"""DAME: alternate maximisation for pseudolinear and pseudo-concave measures (docs/algorithms.md 3.5; Algorithm 3)."""

from __future__ import annotations

from typing import Any

from aesara_nondecomp import measures
from aesara_nondecomp._checks import positive_int
from aesara_nondecomp.drivers.base import AdaptiveDriver, RewardWeights
from aesara_nondecomp.metrics.class_rates import ClassSums, check_sums


class DAME(AdaptiveDriver):
    """Ascend the valuation Pa - v Pb at the level v that the measure has reached.

    For F1 the weights of (P, N) are (2 - v, v theta), theta = (1 - p) / p. With ``inner_steps=None`` (one phase) v
    follows the running rates at every step. With ``inner_steps=T'`` each round evaluates v afresh and keeps it for T'
    steps, as in the listing. On a linear network this is AMP.

    Parameters
    ----------
    measure : str, measures.Pseudolinear or measures.PseudoConcave
        What to train for.
    prior : float
        Fraction of positives in the training set, in (0, 1).
    reward : {"sigmoid", "logistic"}, default "sigmoid"
        Reward that the gradient goes through.
    counts : bool, default False
        DAME-NS: v and the running rates come from counts instead of mean sigmoid rewards.
    forgetting : float, default 0.9
        Forgetting factor on the running sums, in (0, 1].
    inner_steps : int, optional
        Steps per round, at least 1: T' in the listing. By default v follows the running rates.
    round_rows : int, optional
        Rows evaluated for v at the start of a round, at least 1. By default one mini-batch.
    evaluate : {"old", "new"}, default "old"
        See `Driver`.
    eps : float, default 0.0
        Smoothing of KLD-like measures, at least 0: 1 / (2 n_train). On counts they need it.

    Raises
    ------
    ValueError
        If the measure is unknown or neither pseudolinear nor pseudo-concave (the message names the drivers that serve
        it), or an option is out of range.

    Notes
    -----
    Departures from the listing (line numbers of the paper's Algorithm 3; slips of docs/algorithms.md 8):

    - the split into a pre-trained lower part and a head is left to the trainer (`fit` with two phases), so this rule
      serves all layers as well as the head alone;
    - lines 6, 7: v is taken from class means of the round's own sample at the round's first weights (slips 29 to 31);
    - ``inner_steps=None``, `forgetting` and the logistic reward are options that the listing does not have;
    - for a pseudo-concave measure the weights are the supergradient of the valuation at the running rates, which each
      round starts anew (docs/algorithms.md 3.5: DUPLE on V(.; v)).

    State: class sums (`rates`), the valuation level v, and the steps left in the round.
    """

    algorithm = "dame"
    measure: measures.Pseudolinear | measures.PseudoConcave

    def __init__(
        self,
        measure: str | measures.Measure,
        prior: float,
        *,
        reward: str = "sigmoid",
        counts: bool = False,
        forgetting: float = 0.9,
        inner_steps: int | None = None,
        round_rows: int | None = None,
        evaluate: str = "old",
        eps: float = 0.0,
    ) -> None:
        super().__init__(
            measure, prior, reward=reward, counts=counts, forgetting=forgetting, evaluate=evaluate, eps=eps
        )
        self.inner_steps = None if inner_steps is None else positive_int("inner_steps", inner_steps)
        self.round_rows = None if round_rows is None else positive_int("round_rows", round_rows)
        self.v = 0.0
        self.steps_left = 0.0

    def weights(self) -> RewardWeights:
        pair = self.measure.valuation_weights(*self.rates.rates(), self.v, self.prior, self.eps)
        return RewardWeights.on(self.reward, *pair)

    def needs_refresh(self) -> bool:
        return self.steps_left <= 0  # below 0 if nobody asked when the round ended

    def refresh(self, sums: ClassSums) -> None:
        check_sums(sums)  # before the rates are discarded
        self.rates.reset()
        self.rates.add(sums)
        self.steps_left = float("inf") if self.inner_steps is None else self.inner_steps
        self.v = self._level()  # line 7

    def observe(self, sums: ClassSums) -> None:
        self.rates.add(sums)
        self.steps_left -= 1
        if self.inner_steps is None:
            self.v = self._level()

    def _level(self) -> float:
        return float(self.measure.value(*self.rates.rates(), self.prior, self.eps))

    def duals(self) -> dict[str, float]:
        return {"v": self.v}

    def state(self) -> dict[str, Any]:
        left = None if self.steps_left == float("inf") else self.steps_left  # JSON has no infinity
        return {"rates": self.rates.state(), "v": self.v, "steps_left": left}

    def restore(self, state: dict[str, Any]) -> None:
        self.rates.restore(state["rates"])
        self.v = state["v"]
        self.steps_left = float("inf") if state["steps_left"] is None else state["steps_left"]
