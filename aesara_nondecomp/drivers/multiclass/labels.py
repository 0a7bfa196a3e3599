"""Drivers of several labels: one of two classes for each label, or one for all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp.drivers.base import Driver
from aesara_nondecomp.drivers.cells import CellDriver as CellDriverOfGroups
from aesara_nondecomp.drivers.multiclass.base import CellDriver, StepGains
from aesara_nondecomp.drivers.struct_ann import RowDriver
from aesara_nondecomp.measures.multiclass import Cells
from aesara_nondecomp.metrics.class_rates import ClassSums
from aesara_nondecomp.metrics.confusion_sums import ConfusionSums


def label_cells(priors: NDArray[Any]) -> Cells:
    """The cells of L labels: of each the rows without it, then those with it.

    Parameters
    ----------
    priors : float64 array, shape (L,)
        Share of the rows that has each label.

    Returns
    -------
    Cells
        2 L of two classes.
    """
    priors = np.asarray(priors, dtype=float)
    shares = np.stack([1 - priors, priors], axis=1).ravel() / len(priors)
    return Cells(shares, np.tile([0, 1], len(priors)), 2)


class LabelDrivers(CellDriver):
    """Two-class drivers of the labels of one network: the objective is the mean of the labels' objectives.

    Parameters
    ----------
    drivers : sequence of Driver
        One for each label; or a single one, which sees the counts of all labels together.
    cells : measures.multiclass.Cells
        From `label_cells`.

    Raises
    ------
    ValueError
        If there are neither one nor as many drivers as labels, or one needs the sums after a step or weights rows.
    """

    def __init__(self, drivers: Sequence[Driver], cells: Cells) -> None:
        super().__init__(cells)
        n_labels = cells.n_cells // 2
        needed = f"{n_labels} labels need as many drivers, or one for all of them"
        require(len(drivers) in (1, n_labels), needed, len(drivers))
        for driver in drivers:
            usable = not isinstance(driver, (RowDriver, CellDriverOfGroups)) and driver.evaluate == "old"
            require(usable, "a driver of labels must weight classes by the sums before a step", type(driver).__name__)
        self.drivers = list(drivers)
        # Of the rewards of a cell in those of its driver: 1, or the cell's share of its class in all labels.
        pooled = cells.shares / cells.priors[cells.target]
        self._of_driver = pooled if len(drivers) == 1 else np.full(cells.n_cells, 1 / n_labels)

    def gains(self) -> StepGains:
        weights = np.array([driver.weights() for driver in self.drivers])  # sigmoid +, -, logistic +, -
        of_cells = weights[:, [1, 0, 3, 2]].reshape(-1, 2, 2).transpose(0, 2, 1).reshape(-1, 2)
        sigmoid, logistic = (np.resize(of_cells, (self.cells.n_cells, 2)) * self._of_driver[:, None]).T
        return StepGains(sigmoid[:, None] * self.cells.own, logistic, np.zeros(2))

    def needs_refresh(self) -> bool:
        return any(driver.needs_refresh() for driver in self.drivers)

    def refresh(self, sums: ConfusionSums) -> None:
        for driver, own in zip(self.drivers, self._class_sums(sums)):
            if driver.needs_refresh():
                driver.refresh(own)

    def observe(self, sums: ConfusionSums) -> None:
        for driver, own in zip(self.drivers, self._class_sums(sums)):
            driver.observe(own)

    def duals(self) -> dict[str, list[float]]:
        of_drivers = [driver.duals() for driver in self.drivers]
        return {name: [duals[name] for duals in of_drivers] for name in of_drivers[0]}

    def state(self) -> dict[str, Any]:
        return {"drivers": [driver.state() for driver in self.drivers]}

    def restore(self, state: dict[str, Any]) -> None:
        for driver, own in zip(self.drivers, state["drivers"]):
            driver.restore(own)

    def _class_sums(self, sums: ConfusionSums) -> list[ClassSums]:
        """The class sums that each driver sees."""
        right = np.arange(self.cells.n_cells), self.cells.target
        rewards = np.stack([sums.soft[right], sums.logistic, sums.hard[right], sums.weight], axis=1)
        of_labels = rewards.reshape(-1, 2, 4)[:, ::-1]  # positives first
        if len(self.drivers) == 1:
            of_labels = of_labels.sum(axis=0, keepdims=True)
        return [ClassSums(*row) for row in of_labels.transpose(0, 2, 1).reshape(-1, 8).tolist()]
