"""DUPLE for K classes: dual updates for concave measures (docs/multiclass.md 3.1)."""

# ruff: noqa: N803 -- G is the name used by the formulas
from __future__ import annotations

from typing import Any

import numpy as np

from aesara_nondecomp._checks import positive_number, require
from aesara_nondecomp.drivers.multiclass.base import AdaptiveCellDriver, Array
from aesara_nondecomp.measures.multiclass import Cells, Concave, MeanOfWorst, MulticlassMeasure
from aesara_nondecomp.metrics.confusion_sums import ConfusionSums


class DUPLE(AdaptiveCellDriver):
    """Ascend the sum of G R, where G is a supergradient of the measure at the running rates.

    Of the worst recalls the exact supergradient jumps between cells. There G follows steps on the log-weights of the
    cells, by their recalls.

    Parameters
    ----------
    measure : str or measures.multiclass.Concave
        What to train for.
    cells : measures.multiclass.Cells
        Of the training set.
    reward : {"probability", "logistic", "adjusted"}, optional
        Reward that the gradient goes through. Default: "adjusted" for a measure of the recalls alone, else
        "probability".
    counts : bool, default True
        Whether the running rates count predictions instead of averaging probabilities.
    forgetting : float, default 0.9
        Forgetting factor on the running confusion sums, in (0, 1].
    dual_rate : float, optional
        Size of a step on the log-weights, above 0; only for "min_recall" and "mean_of_worst". Default: 0.05.
    anchor : {"class_weighted", "cross_entropy"}, default "class_weighted"
        What is mixed into the probability reward.
    anchor_share : float, default 0.5
        Share of the anchor, strictly between 0 and 1.
    cap : float, optional
        Bound above 0 on the sum of the weights of the logistic reward. Default: no bound.
    eps : float, default 0.0
        Smoothing of KLD-like measures, at least 0: 1 / (2 n_train). On counts they need it.

    Raises
    ------
    ValueError
        If the measure is unknown or not concave (the message names the drivers that serve it), or an option is out of
        range or does not go with the measure.

    Notes
    -----
    State: the running rates, the duals G, and the log-weights.
    """

    algorithm = "duple"
    measure: Concave

    def __init__(
        self,
        measure: str | MulticlassMeasure,
        cells: Cells,
        *,
        reward: str | None = None,
        counts: bool = True,
        forgetting: float = 0.9,
        dual_rate: float | None = None,
        anchor: str = "class_weighted",
        anchor_share: float = 0.5,
        cap: float | None = None,
        eps: float = 0.0,
    ) -> None:
        super().__init__(
            measure, cells, reward=reward, counts=counts, forgetting=forgetting, anchor=anchor,
            anchor_share=anchor_share, cap=cap, eps=eps,
        )  # fmt: skip
        # Of how many worst cells the mean is; 0 for other measures, whose supergradient is smooth enough to follow.
        self.worst = self.measure.h if isinstance(self.measure, MeanOfWorst) else 0
        require(bool(self.worst) or dual_rate is None, "dual_rate needs min_recall or mean_of_worst", dual_rate)
        self.dual_rate = positive_number("dual_rate", 0.05 if dual_rate is None else dual_rate)
        self.log_weights = np.zeros(cells.n_cells)
        self.G = cells.own / cells.n_cells
        self.started = False

    def dual_gains(self) -> Array:
        return self.G

    def needs_refresh(self) -> bool:
        return not self.started

    def refresh(self, sums: ConfusionSums) -> None:
        self.rates.add(sums)
        self.started = True
        if not self.worst:
            self.G = self._supergradient()

    def observe(self, sums: ConfusionSums) -> None:
        self.rates.add(sums)
        self.G = self._dual_step() if self.worst else self._supergradient()

    def _supergradient(self) -> Array:
        return self.measure._gains(self.rates.rates(), self.cells, self.eps)

    def _dual_step(self) -> Array:
        moved = self.log_weights - self.dual_rate * self.cells.recalls(self.rates.rates())
        self.log_weights = moved - moved.max()
        return capped_softmax(self.log_weights, 1.0 / self.worst)[:, None] * self.cells.own

    def duals(self) -> dict[str, list[float]]:
        return {"alpha": (self.cells.recalls(self.G) + 0.0).tolist()}

    def state(self) -> dict[str, Any]:
        own = {"G": self.G.tolist(), "log_weights": self.log_weights.tolist(), "started": self.started}
        return {"rates": self.rates.state(), **own}

    def restore(self, state: dict[str, Any]) -> None:
        self.rates.restore(state["rates"])
        self.G, self.log_weights = np.array(state["G"]), np.array(state["log_weights"])
        self.started = state["started"]


def capped_softmax(log_weights: Array, most: float) -> Array:
    """The distribution nearest to a softmax, in relative entropy, of which no entry is above `most`.

    Parameters
    ----------
    log_weights : float64 array, shape (m,)
        Logarithms of weights, up to a constant.
    most : float
        At least 1/m.

    Returns
    -------
    float64 array, shape (m,)
        The largest entries are `most`, the others keep their proportions.
    """
    order = (-log_weights).argsort(kind="stable")
    falling = log_weights[order]
    found = np.full(falling.size, most)
    for full in range(falling.size):  # the number of entries at the bound
        weights = np.exp(falling[full:] - falling[full])  # by their own largest: not all of them underflow
        largest = (1.0 - full * most) / weights.sum()
        if largest <= most * (1 + 1e-12):
            break
    found[order[full:]] = largest * weights
    return found
