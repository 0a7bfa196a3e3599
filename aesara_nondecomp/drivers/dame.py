"""DAME: alternate maximisation for pseudolinear and pseudo-concave measures (spec 3.5; paper, Algorithm 3)."""

from __future__ import annotations

from typing import Any

from aesara_nondecomp._checks import positive_int
from aesara_nondecomp.drivers.base import Driver, RewardWeights, check_driver_options, served_measure
from aesara_nondecomp.metrics.class_rates import ClassSums, RunningRates


class DAME(Driver):
    """Ascend the valuation Pa - v Pb at the level v that the measure has reached.

    For F1 the weights of (P, N) are (2 - v, v theta), theta = (1 - p) / p.  With ``inner_steps=None`` (one phase)
    v follows the running rates at every step.  With ``inner_steps=T'`` each round evaluates v afresh and keeps it
    for T' steps, as in the listing.  On a linear network this is AMP.

    Parameters
    ----------
    measure : measures.Pseudolinear, measures.PseudoConcave, or the name of one
    prior : float in (0, 1). Share of positives in the training labels.
    reward : {"sigmoid", "logistic"}. Reward that the gradient goes through.
    counts : bool. DAME-NS: v (and the running rates) from counts.
    forgetting : float in (0, 1]. Factor on the running sums.
    inner_steps : int >= 1 or None. Steps per round, T' in the listing.
    round_rows : int >= 1 or None. Rows evaluated for v at the start of a round; None is one mini-batch.
    evaluate : {"old", "new"}. See `Driver`.
    eps : float >= 0. Smoothing of KLD-like measures, 1 / (2 n_train); on counts they need it.

    Raises
    ------
    ValueError
        If the measure is neither pseudolinear nor pseudo-concave (the message names the drivers that serve it), its
        name is unknown, or an option is out of range.
    TypeError
        If `measure` is neither a name nor a measure.

    Notes
    -----
    Departures from the listing (lines of the paper's Algorithm 3; corrections of spec 8):

    - the split into a pre-trained lower part and a head is the trainer's business (`fit` with two phases), so this
      rule serves all layers as well as the head alone;
    - lines 6, 7: v is taken from class means of the round's own sample at the round's first weights (29 to 31);
    - ``inner_steps=None``, `forgetting` and the logistic reward are options that the listing does not have;
    - for a pseudo-concave measure the weights are the supergradient of the valuation at the running rates, which each
      round starts anew (spec 3.5: DUPLE on V(.; v)).

    State: class sums (`rates`), the level v, and the steps left in the round.
    """

    def __init__(
        self,
        measure,
        prior: float,
        *,
        reward: str = "sigmoid",
        counts: bool = False,
        forgetting: float = 0.9,
        inner_steps: int | None = None,
        round_rows: int | None = None,
        evaluate: str = "old",
        eps: float = 0.0,
    ):
        check_driver_options(prior, reward, evaluate, eps)
        self.measure = served_measure(measure, "dame", counts, eps)
        self.prior, self.reward, self.eps = float(prior), reward, float(eps)
        self.inner_steps = None if inner_steps is None else positive_int("inner_steps", inner_steps)
        self.round_rows = None if round_rows is None else positive_int("round_rows", round_rows)
        self.evaluate = evaluate
        self.rates = RunningRates("count" if counts else "sigmoid", forgetting)
        self.v = 0.0
        self.steps_left = 0.0

    def weights(self) -> RewardWeights:
        pair = self.measure.valuation_weights(*self.rates.rates(), self.v, self.prior, self.eps)
        return RewardWeights.on(self.reward, *pair)

    def needs_refresh(self) -> bool:
        return self.steps_left == 0

    def refresh(self, sums: ClassSums) -> None:
        self.steps_left = float("inf") if self.inner_steps is None else self.inner_steps
        self.rates.reset()
        self.rates.add(sums)
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
