"""DENIM for K classes: dual updates for nested concave measures (docs/multiclass.md 3.4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara_nondecomp.drivers.multiclass.base import AdaptiveCellDriver, Array
from aesara_nondecomp.measures.multiclass import Cells, MulticlassMeasure, NestedConcave
from aesara_nondecomp.metrics.confusion_sums import ConfusionSums, check_confusion_sums, conditional


class DENIM(AdaptiveCellDriver):
    """Ascend the sum of (gamma1 alpha + gamma2 beta) R for Psi(zeta1, zeta2).

    alpha and beta are supergradients of zeta1 and zeta2 at the running rates; gamma is the gradient of Psi at q, the
    running mean of the linearised zetas.

    Parameters
    ----------
    measure : str or measures.multiclass.NestedConcave
        What to train for.
    cells : measures.multiclass.Cells
        Of the training set.
    counts : bool, default True
        Whether the running rates count predictions instead of averaging probabilities.
    forgetting : float, default 0.98
        Forgetting factor on the running sums, in (0, 1].
    anchor : {"class_weighted", "cross_entropy"}, default "class_weighted"
        What is mixed into the probability reward.
    anchor_share : float, default 0.5
        Share of the anchor, strictly between 0 and 1.
    eps : float, default 0.0
        Smoothing of KLD-like measures, at least 0: 1 / (2 n_train). On counts they need it.

    Raises
    ------
    ValueError
        If the measure is unknown or not nested concave (the message names the drivers that serve it), or an option is
        out of range.

    Notes
    -----
    State: the running rates, q, its weight `seen`, and alpha, beta, gamma.
    """

    algorithm = "denim"
    measure: NestedConcave

    def __init__(
        self,
        measure: str | MulticlassMeasure,
        cells: Cells,
        *,
        counts: bool = True,
        forgetting: float = 0.98,
        anchor: str = "class_weighted",
        anchor_share: float = 0.5,
        eps: float = 0.0,
    ) -> None:
        super().__init__(
            measure, cells, reward="probability", counts=counts, forgetting=forgetting, anchor=anchor,
            anchor_share=anchor_share, cap=None, eps=eps,
        )  # fmt: skip
        self.q, self.seen = (0.0, 0.0), 0.0
        self._take_duals()

    def dual_gains(self) -> Array:
        return np.asarray(self.gamma[0] * self.alpha + self.gamma[1] * self.beta)

    def needs_refresh(self) -> bool:
        return self.seen == 0

    def refresh(self, sums: ConfusionSums) -> None:
        self.rates.add(sums)
        self.q, self.seen = self.measure.components(self.rates.rates(), self.cells, self.eps), 1.0
        self._take_duals()

    def observe(self, sums: ConfusionSums) -> None:
        check_confusion_sums(sums)
        before = self.rates.rates()
        step = conditional(sums.of(self.rates.reward), sums.weight, before) - before  # 0 in a cell that is missing
        zeta = self.measure.components(before, self.cells, self.eps)
        linearised = zeta[0] + np.vdot(self.alpha, step), zeta[1] + np.vdot(self.beta, step)
        self.rates.add(sums)
        self.seen = self.rates.forgetting * self.seen + 1.0
        q1, q2 = (float(old + (new - old) / self.seen) for old, new in zip(self.q, linearised))
        self.q = q1, q2
        self._take_duals()

    def _take_duals(self) -> None:
        self.alpha, self.beta = self.measure.component_gains(self.rates.rates(), self.cells, self.eps)
        self.gamma = self.measure.outer_gradient(*self.q)

    def duals(self) -> dict[str, list[float]]:
        return {"gamma": list(self.gamma)}

    def state(self) -> dict[str, Any]:
        duals = {"alpha": self.alpha.tolist(), "beta": self.beta.tolist(), "gamma": list(self.gamma)}
        return {"rates": self.rates.state(), "q": list(self.q), "seen": self.seen, **duals}

    def restore(self, state: dict[str, Any]) -> None:
        self.rates.restore(state["rates"])
        self.q, self.gamma = tuple(state["q"]), tuple(state["gamma"])
        self.seen, self.alpha, self.beta = state["seen"], np.array(state["alpha"]), np.array(state["beta"])
