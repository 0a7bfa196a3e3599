"""DAME for K classes: alternate maximisation for ratios and sums of ratios (docs/multiclass.md 3.3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara_nondecomp.drivers.multiclass.base import AdaptiveCellDriver, Array
from aesara_nondecomp.measures.multiclass import Cells, MulticlassMeasure, Pseudolinear, SumOfRatios
from aesara_nondecomp.metrics.confusion_sums import ConfusionSums


class DAME(AdaptiveCellDriver):
    """Ascend the valuation N - v D at the level v that the measure has reached.

    A sum of ratios has a level v_k and a scale 1/D_k for each; the valuation is the sum of (N_k - v_k D_k) / D_k. All
    follow the running rates at every step, without which a sum of ratios might fall.

    Parameters
    ----------
    measure : str, measures.multiclass.Pseudolinear or measures.multiclass.SumOfRatios
        What to train for.
    cells : measures.multiclass.Cells
        Of the training set.
    counts : bool, default True
        Whether the running rates count predictions instead of averaging probabilities.
    forgetting : float, default 0.9
        Forgetting factor on the running confusion sums, in (0, 1].
    anchor : {"class_weighted", "cross_entropy"}, default "class_weighted"
        What is mixed into the probability reward.
    anchor_share : float, default 0.5
        Share of the anchor, strictly between 0 and 1.

    Raises
    ------
    ValueError
        If the measure is unknown or no ratio (the message names the drivers that serve it), or an option is out of
        range.

    Notes
    -----
    State: the running rates, and the levels with their scales.
    """

    algorithm = "dame"
    measure: Pseudolinear | SumOfRatios

    def __init__(
        self,
        measure: str | MulticlassMeasure,
        cells: Cells,
        *,
        counts: bool = True,
        forgetting: float = 0.9,
        anchor: str = "class_weighted",
        anchor_share: float = 0.5,
    ) -> None:
        super().__init__(
            measure, cells, reward="probability", counts=counts, forgetting=forgetting, anchor=anchor,
            anchor_share=anchor_share, cap=None, eps=0.0,
        )  # fmt: skip
        self.levels = self.measure.levels(self.rates.rates(), cells)
        self.started = False

    def dual_gains(self) -> Array:
        return self.measure.level_gains(self.levels, self.cells)

    def needs_refresh(self) -> bool:
        return not self.started

    def refresh(self, sums: ConfusionSums) -> None:
        self.observe(sums)
        self.started = True

    def observe(self, sums: ConfusionSums) -> None:
        self.rates.add(sums)
        self.levels = self.measure.levels(self.rates.rates(), self.cells)

    def duals(self) -> dict[str, list[float]]:
        return {"v": np.atleast_2d(self.levels)[0].tolist()}

    def state(self) -> dict[str, Any]:
        return {"rates": self.rates.state(), "levels": self.levels.tolist(), "started": self.started}

    def restore(self, state: dict[str, Any]) -> None:
        self.rates.restore(state["rates"])
        self.levels, self.started = np.array(state["levels"]), state["started"]
