"""Drivers that weight cells, which are the class times the group of a row: worst groups, constraints, baselines.

Their duals move every so many steps, by the rates of rows held out: a network that fits its training rows makes every
training rate 1, and duals taken from these stand still while the gap on other rows remains.

Source: docs/algorithms.md 3.10.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import one_of
from aesara_nondecomp.drivers.base import Driver, RewardWeights
from aesara_nondecomp.drivers.duals import LogDuals, Multipliers, has_enough_rows
from aesara_nondecomp.measures import Cells, Constraint, GroupMeasure
from aesara_nondecomp.metrics.cell_rates import CellSums, RunningCellRates
from aesara_nondecomp.metrics.class_rates import ClassSums

Array = NDArray[Any]


class CellDriver(Driver):
    """Base of the drivers with weights for cells.

    The objective is that of `weights`, as for every driver, plus ``cell_weights()[c]`` times the mean sigmoid and
    logistic rewards of each cell c.

    Parameters
    ----------
    cells : Cells
        Of the training rows.
    reward : {"count", "logistic"}, default "count"
        Whose running means over the training rows stand for cells with few rows held out.
    forgetting : float, default 0.9
        Of these means, in (0, 1].
    """

    moves = True

    def __init__(self, cells: Cells, reward: str = "count", forgetting: float = 0.9) -> None:
        one_of("reward", reward, ("count", "logistic"))
        self.cells = cells
        self.running = RunningCellRates(len(cells.rows), reward, forgetting)

    def weights(self) -> RewardWeights:
        return RewardWeights()

    def cell_weights(self) -> Array:
        """Weights of the cells' mean rewards for the next step.

        Returns
        -------
        float64 array, shape (m, 2)
            Of the sigmoid and of the logistic reward.
        """
        raise NotImplementedError

    def observe_cells(self, sums: CellSums) -> None:
        """Take the cell sums of the step just made.

        Parameters
        ----------
        sums : CellSums
            Of the step's batch, at the weights before it.
        """
        self.running.add(sums)

    def move(self, held: CellSums | None = None) -> None:
        """Move the duals.

        Parameters
        ----------
        held : CellSums, optional
            Of rows that are not trained on, at the current weights; the weights of a cell are to sum to its number of
            rows. Default: the running rates of the training rows.
        """

    def rates(self, held: CellSums | None) -> Array:
        """Rates that the duals move by.

        Parameters
        ----------
        held : CellSums or None
            As for `move`.

        Returns
        -------
        float64 array, shape (m,)
            Recalls of rows held out; for a cell with fewer than 30 of them, the running means of training rows.
        """
        running = self.running.rates()
        if held is None:
            return running
        return np.where(has_enough_rows(held.weight), np.nan_to_num(held.rates()), running)

    def state(self) -> dict[str, Any]:
        return {"running": self.running.state()}

    def restore(self, state: dict[str, Any]) -> None:
        self.running.restore(state["running"])


class CellWeighted(CellDriver):
    """Cross-entropy in which each cell has the same weight, however few rows it has: a baseline.

    Parameters
    ----------
    cells : Cells
        Of the training rows.
    """

    def __init__(self, cells: Cells) -> None:
        super().__init__(cells)

    def cell_weights(self) -> Array:
        filled = (self.cells.rows > 0).astype(float)
        return np.column_stack([np.zeros(len(filled)), filled / filled.sum()])


class WorstGroup(CellDriver):
    """DUPLE for a minimum over groups: its duals, a distribution over the linear forms, move to the worst of them.

    Parameters
    ----------
    measure : GroupMeasure
        The smallest of several linear forms of the cells' recalls.
    cells : Cells
        Of the training rows.
    signal : {"count", "logistic"}, default "count"
        What the duals move by: recalls, of rows held out if there are any, or the mean logistic rewards of training
        rows, which makes it group DRO (Sagawa et al. 2020).
    dual_rate : float, default 0.5
        Step size on the logarithms of the duals, above 0.

    Notes
    -----
    The exact supergradient of a minimum jumps between its corners; a step on the logarithms is its stochastic
    approximation, and for two cells DUPLE's step on the log-odds (docs/algorithms.md 3.3 and 3.10).
    """

    def __init__(self, measure: GroupMeasure, cells: Cells, *, signal: str = "count", dual_rate: float = 0.5) -> None:
        super().__init__(cells, signal)
        self.measure, self.signal = measure, signal
        self.forms, self.names = measure.forms_of(cells), measure.form_names(cells)
        self.log_duals = LogDuals(len(self.forms), dual_rate)

    @property
    def alpha(self) -> Array:
        """The duals, shape (k,): at least 0, and summing to 1."""
        return self.log_duals.alpha

    def cell_weights(self) -> Array:
        gains = self.alpha @ self.forms
        return np.column_stack([np.zeros(len(gains)), gains])

    def move(self, held: CellSums | None = None) -> None:
        self.log_duals.move(self.forms @ self.rates(held if self.signal == "count" else None))

    def duals(self) -> dict[str, float]:
        return {f"alpha[{name}]": float(value) for name, value in zip(self.names, self.alpha)}

    def state(self) -> dict[str, Any]:
        return {**super().state(), **self.log_duals.state()}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.log_duals.restore(state)


class Constrained(CellDriver):
    """A driver's objective subject to constraints: the Lagrangian, whose multipliers rise while a constraint is broken.

    Parameters
    ----------
    inner : Driver
        Of the objective.
    constraints : sequence of Constraint
        At least one.
    cells : Cells
        Of the training rows.
    dual_rate : float, default 0.5
        First step size on the multipliers, above 0. That of each inequality grows by a fifth while it stays on one side
        of its bound, at most tenfold, and is halved when it changes sides.
    cap : float, default 20.0
        Largest multiplier, above 0.

    Notes
    -----
    For constraint h(r) >= 0 on the recalls r, lambda <- min(max(lambda - rate h(r), 0), cap). The multipliers times the
    slopes of h are added to the weights of the cells' mean sigmoid reward.
    """

    def __init__(
        self,
        inner: Driver,
        constraints: Sequence[Constraint],
        cells: Cells,
        *,
        dual_rate: float = 0.5,
        cap: float = 20.0,
    ) -> None:
        super().__init__(cells)
        self.inner, self.constraints = inner, tuple(constraints)
        self.evaluate, self.round_rows = inner.evaluate, inner.round_rows
        self.lagrangian = Multipliers(constraints, cells, dual_rate, cap)

    def weights(self) -> RewardWeights:
        return self.inner.weights()

    def cell_weights(self) -> Array:
        weights = np.zeros((len(self.cells.rows), 2))
        if isinstance(self.inner, CellDriver):
            weights += self.inner.cell_weights()
        weights[:, 0] += self.lagrangian.slopes()
        return weights

    def needs_refresh(self) -> bool:
        return self.inner.needs_refresh()

    def refresh(self, sums: ClassSums) -> None:
        self.inner.refresh(sums)

    def observe(self, sums: ClassSums) -> None:
        self.inner.observe(sums)

    def observe_cells(self, sums: CellSums) -> None:
        super().observe_cells(sums)
        if isinstance(self.inner, CellDriver):
            self.inner.observe_cells(sums)

    def move(self, held: CellSums | None = None) -> None:
        self.lagrangian.move(self.rates(held))
        if isinstance(self.inner, CellDriver):
            self.inner.move(held)

    def duals(self) -> dict[str, float]:
        return {**self.inner.duals(), **self.lagrangian.duals()}

    def state(self) -> dict[str, Any]:
        return {**super().state(), "inner": self.inner.state(), **self.lagrangian.state()}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.inner.restore(state["inner"])
        self.lagrangian.restore(state)
