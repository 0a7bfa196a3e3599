"""Drivers of cells of K classes, which are the class times the group of a row: worst groups, constraints, baselines.

As with two classes the duals move every so many steps, by rows held out. Source: docs/multiclass.md 8.
"""

# ruff: noqa: N803, N806 -- R and B are the names used by the formulas
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara_nondecomp._checks import one_of, require
from aesara_nondecomp.drivers.duals import LogDuals, Multipliers, has_enough_rows
from aesara_nondecomp.drivers.multiclass.base import AdaptiveCellDriver, Array, CellDriver, StepGains
from aesara_nondecomp.measures import Constraint
from aesara_nondecomp.measures.multiclass import Cells, GroupMeasure, MulticlassMeasure
from aesara_nondecomp.metrics.cell_rates import CellSums, RunningCellRates
from aesara_nondecomp.metrics.confusion_sums import ConfusionSums, RunningConfusion, conditional


def held_rates(held: Array | None, running: Array) -> Array:
    """The rates that duals move by.

    Parameters
    ----------
    held : float64 array, shape (m, K), or None
        Confusion matrix of the cells of rows held out; the weights of a cell sum to its number of rows.
    running : float64 array, shape (m, K)
        Running conditional confusion matrix of the training rows.

    Returns
    -------
    float64 array, shape (m, K)
        That of the rows held out; of a cell with fewer than 30 of them, that of the training rows.
    """
    if held is None:
        return running
    weight = held.sum(axis=1)
    return conditional(held, np.where(has_enough_rows(weight), weight, 0.0), running)


class CellWeighted(CellDriver):
    """Cross-entropy in which each cell has the same weight, however few rows it has: a baseline.

    Parameters
    ----------
    cells : measures.multiclass.GroupedCells
        Of the training rows.
    """

    def gains(self) -> StepGains:
        filled = (self.cells.shares > 0).astype(float)
        K = self.cells.n_classes
        return StepGains(np.zeros((len(filled), K)), filled / filled.sum(), np.zeros(K))


class WorstGroup(AdaptiveCellDriver):
    """DUPLE for a minimum over groups: its duals, a distribution over the linear forms, move to the worst of them.

    Parameters
    ----------
    measure : str or measures.multiclass.GroupMeasure
        The smallest of several linear forms of the cells' recalls.
    cells : measures.multiclass.GroupedCells
        Of the training rows.
    signal : {"count", "logistic"}, default "count"
        What the duals move by: recalls, of rows held out if there are any, or the mean logistic rewards of training
        rows, which makes it group DRO (Sagawa et al. 2020).
    reward : {"logistic", "adjusted", "probability"}, default "logistic"
        Reward that the gradient goes through; "adjusted" needs counts as the signal, as it shifts the scores.
    forgetting : float, default 0.9
        Forgetting factor of the running rates, in (0, 1].
    dual_rate : float, default 0.5
        Step size on the logarithms of the duals, above 0.
    anchor : {"class_weighted", "cross_entropy"}, default "class_weighted"
        What is mixed into the probability reward.
    anchor_share : float, default 0.5
        Share of the anchor, strictly between 0 and 1.

    Raises
    ------
    ValueError
        If the measure is none of groups, no group has rows of each class, or an option is out of range.
    """

    algorithm = "worst_group"
    measure: GroupMeasure
    moves = True

    def __init__(
        self,
        measure: str | MulticlassMeasure,
        cells: Cells,
        *,
        signal: str = "count",
        reward: str = "logistic",
        forgetting: float = 0.9,
        dual_rate: float = 0.5,
        anchor: str = "class_weighted",
        anchor_share: float = 0.5,
    ) -> None:
        one_of("signal", signal, ("count", "logistic"))
        shifted = signal == "logistic" and reward == "adjusted"
        require(not shifted, "signal='logistic' needs a reward that does not shift the scores", reward)
        super().__init__(
            measure, cells, reward=reward, counts=True, forgetting=forgetting, anchor=anchor,
            anchor_share=anchor_share, cap=None, eps=0.0,
        )  # fmt: skip
        self.signal = signal
        self.forms, self.names = self.measure.forms(cells), self.measure.form_names(cells)
        self.log_duals = LogDuals(len(self.forms), dual_rate)
        self.logistic = RunningCellRates(cells.n_cells, "logistic", forgetting)

    def dual_gains(self) -> Array:
        return np.asarray((self.log_duals.alpha @ self.forms)[:, None] * self.cells.own)

    def observe(self, sums: ConfusionSums) -> None:
        self.rates.add(sums)
        self.logistic.add(_of_own_class(sums, self.cells))

    def move(self, held: Array | None = None) -> None:
        if self.signal == "logistic":
            rewards: Array = self.logistic.rates()
        else:
            rewards = self.cells.recalls(held_rates(held, self.rates.rates()))
        self.log_duals.move(self.forms @ rewards)

    def duals(self) -> dict[str, Any]:
        return {f"alpha[{name}]": float(value) for name, value in zip(self.names, self.log_duals.alpha)}

    def state(self) -> dict[str, Any]:
        return {"rates": self.rates.state(), "logistic": self.logistic.state(), **self.log_duals.state()}

    def restore(self, state: dict[str, Any]) -> None:
        self.rates.restore(state["rates"])
        self.logistic.restore(state["logistic"])
        self.log_duals.restore(state)


class OfClasses(CellDriver):
    """A driver that knows the classes alone, on cells that are their parts.

    Parameters
    ----------
    inner : CellDriver
        Its cells are the classes.
    cells : measures.multiclass.GroupedCells
        Of the training rows.
    """

    def __init__(self, inner: CellDriver, cells: Cells) -> None:
        super().__init__(cells)
        same = inner.cells.n_cells == inner.cells.n_classes == cells.n_classes
        require(same, f"the cells of the inner driver must be the {cells.n_classes} classes", inner.cells.n_cells)
        self.inner = inner
        self.within = cells.shares / cells.priors[cells.target]

    def gains(self) -> StepGains:
        G, logs, shift = self.inner.gains()
        target = self.cells.target
        return StepGains(G[target] * self.within[:, None], logs[target] * self.within, shift)

    def needs_refresh(self) -> bool:
        return self.inner.needs_refresh()

    def refresh(self, sums: ConfusionSums) -> None:
        self.inner.refresh(self._of_classes(sums))

    def observe(self, sums: ConfusionSums) -> None:
        self.inner.observe(self._of_classes(sums))

    def duals(self) -> dict[str, Any]:
        return self.inner.duals()

    def state(self) -> dict[str, Any]:
        return self.inner.state()

    def restore(self, state: dict[str, Any]) -> None:
        self.inner.restore(state)

    def _of_classes(self, sums: ConfusionSums) -> ConfusionSums:
        table = np.zeros((self.cells.n_classes, sums.table.shape[1]))
        np.add.at(table, self.cells.target, sums.table)
        return ConfusionSums(table)


class Constrained(CellDriver):
    """A driver's objective subject to constraints: the Lagrangian, whose multipliers rise while a constraint is broken.

    Parameters
    ----------
    inner : CellDriver
        Of the objective, with the same cells.
    constraints : sequence of Constraint
        At least one.
    cells : measures.multiclass.GroupedCells
        Of the training rows.
    forgetting : float, default 0.9
        Of the running rates that stand for cells with few rows held out, in (0, 1].
    dual_rate : float, default 0.5
        First step size on the multipliers, above 0; see `drivers.duals.Multipliers`.
    cap : float, default 20.0
        Largest multiplier, above 0.

    Notes
    -----
    For constraint h(R) >= 0 on the conditional confusion matrix R, lambda <- min(max(lambda - rate h(R), 0), cap). The
    multipliers times the slopes of h are added to the gains.
    """

    moves = True

    def __init__(
        self,
        inner: CellDriver,
        constraints: Sequence[Constraint],
        cells: Cells,
        *,
        forgetting: float = 0.9,
        dual_rate: float = 0.5,
        cap: float = 20.0,
    ) -> None:
        super().__init__(cells)
        same = inner.cells.n_cells == cells.n_cells
        require(same, f"the inner driver must have the same {cells.n_cells} cells", inner.cells.n_cells)
        self.inner, self.constraints = inner, tuple(constraints)
        self.lagrangian = Multipliers(constraints, cells, dual_rate, cap)
        self.rates = RunningConfusion(cells.n_cells, cells.n_classes, "count", forgetting)

    def gains(self) -> StepGains:
        step = self.inner.gains()
        return step._replace(gains=step.gains + self.lagrangian.slopes())

    def needs_refresh(self) -> bool:
        return self.inner.needs_refresh()

    def refresh(self, sums: ConfusionSums) -> None:
        self.inner.refresh(sums)

    def observe(self, sums: ConfusionSums) -> None:
        self.rates.add(sums)
        self.inner.observe(sums)

    def move(self, held: Array | None = None) -> None:
        self.lagrangian.move(held_rates(held, self.rates.rates()))
        self.inner.move(held)

    def duals(self) -> dict[str, Any]:
        return {**self.inner.duals(), **self.lagrangian.duals()}

    def state(self) -> dict[str, Any]:
        return {"running": self.rates.state(), "inner": self.inner.state(), **self.lagrangian.state()}

    def restore(self, state: dict[str, Any]) -> None:
        self.rates.restore(state["running"])
        self.inner.restore(state["inner"])
        self.lagrangian.restore(state)


def _of_own_class(sums: ConfusionSums, cells: Cells) -> CellSums:
    """The sums of each cell's own class."""
    rows = np.arange(cells.n_cells), cells.target
    return CellSums(sums.soft[rows], sums.logistic, sums.hard[rows], sums.weight)
