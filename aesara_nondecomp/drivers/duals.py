"""The duals that move by the rates of cells, of two classes or of several: of a minimum, and of constraints.

Source: docs/algorithms.md 3.10.
"""

# ruff: noqa: N803 -- B is the name used by the formulas
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import positive_number, require
from aesara_nondecomp.measures import Constraint

Array = NDArray[Any]
ENOUGH_HELD_ROWS = 30  # of a cell; with fewer its rate among the rows held out is mostly noise


class LogDuals:
    """A distribution over the values of which a minimum is taken, moved by steps on its logarithms.

    Parameters
    ----------
    count : int
        Number of values.
    rate : float
        Step size, above 0.
    """

    def __init__(self, count: int, rate: float) -> None:
        self.rate, self.logs = positive_number("dual_rate", rate), np.zeros(count)

    @property
    def alpha(self) -> Array:
        """The duals, shape (k,): at least 0, and summing to 1."""
        exponentials = np.exp(self.logs - self.logs.max())
        return np.asarray(exponentials / exponentials.sum())

    def move(self, values: Array) -> None:
        """Move towards the smallest value.

        Parameters
        ----------
        values : array, shape (k,)
            At the current weights.
        """
        self.logs = self.logs - self.rate * values
        self.logs -= self.logs.max()

    def state(self) -> dict[str, Any]:
        """Complete state, ready for JSON.

        Returns
        -------
        dict of str to list of float
        """
        return {"logs": self.logs.tolist()}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a state returned by `state`.

        Parameters
        ----------
        state : dict
            May hold more.
        """
        self.logs = np.array(state["logs"])


class Multipliers:
    """Lagrange multipliers of constraints ``B @ r + b >= 0`` on the rates r of cells.

    Parameters
    ----------
    constraints : sequence of Constraint
        At least one.
    cells : measures.Cells or measures.multiclass.GroupedCells
        Of the training rows.
    rate : float
        First step size, above 0. That of each inequality grows by a fifth while it stays on one side of its bound, at
        most tenfold, and is halved when it changes sides.
    cap : float
        Largest multiplier, above 0.
    """

    GROWTH, SHRINKING, MOST = 1.2, 0.5, 10.0

    def __init__(self, constraints: Sequence[Constraint], cells: Any, rate: float, cap: float) -> None:
        require(len(constraints) > 0, "Constrained needs at least one constraint", len(constraints))
        self.constraints = tuple(constraints)
        self.first_rate, self.cap = positive_number("dual_rate", rate), positive_number("cap", cap)
        parts = [constraint.inequalities(cells) for constraint in constraints]
        self.B, self.b = np.concatenate([B for B, _ in parts]), np.concatenate([b for _, b in parts])
        self.of_constraint = np.repeat(np.arange(len(parts)), [len(b) for _, b in parts])
        self.values, self.rate = np.zeros(len(self.b)), np.full(len(self.b), self.first_rate)
        self.side = np.zeros(len(self.b))

    def slopes(self) -> Array:
        """What the Lagrangian adds to the gains of the rates.

        Returns
        -------
        float64 array
            Of as many entries as r.
        """
        return np.asarray(self.values @ self.B)

    def move(self, rates: Array) -> None:
        """Move the multipliers: up while a constraint is broken.

        Parameters
        ----------
        rates : array
            The rates r.
        """
        slack = self.B @ rates + self.b
        side = np.sign(slack)
        factor = np.where(side == self.side, self.GROWTH, np.where(side == -self.side, self.SHRINKING, 1.0))
        self.rate = np.minimum(self.rate * factor, self.MOST * self.first_rate)
        self.values = np.clip(self.values - self.rate * slack, 0.0, self.cap)
        # A multiplier at 0 waits with the first step size for its constraint to be broken.
        self.rate = np.where((self.values == 0) & (slack > 0), self.first_rate, self.rate)
        self.side = side

    def duals(self) -> dict[str, float]:
        """Values to log.

        Returns
        -------
        dict of str to float
            For each constraint the sum of its multipliers.
        """
        of_each = np.bincount(self.of_constraint, weights=self.values, minlength=len(self.constraints))
        return {f"lambda[{constraint}]": float(value) for constraint, value in zip(self.constraints, of_each)}

    def state(self) -> dict[str, Any]:
        """Complete state, ready for JSON.

        Returns
        -------
        dict of str to list of float
        """
        return {"multipliers": self.values.tolist(), "rate": self.rate.tolist(), "side": self.side.tolist()}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a state returned by `state`.

        Parameters
        ----------
        state : dict
            May hold more.
        """
        self.values = np.array(state["multipliers"], dtype=float)
        self.rate, self.side = np.array(state["rate"], dtype=float), np.array(state["side"], dtype=float)
