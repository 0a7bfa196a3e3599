"""The duals that move by the rates of cells, of two classes or of several: of a minimum, and of constraints.

Source: docs/algorithms.md 3.10.
"""

# ruff: noqa: N806 -- B is the name used by the formulas
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import positive_number, require
from aesara_nondecomp.measures import Constraint

Array = NDArray[Any]
ENOUGH_HELD_ROWS = 30  # of a cell; with fewer its rate among the rows held out is mostly noise


def has_enough_rows(rows: Array) -> Array:
    """Whether the rate of a cell is known well enough to move duals by.

    Parameters
    ----------
    rows : array, shape (m,)
        Numbers of rows held out of the cells, or sums of weights that make up these numbers.

    Returns
    -------
    bool array, shape (m,)
    """
    return np.asarray(rows > ENOUGH_HELD_ROWS - 0.5)  # as such sums are not exact


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


class Inequalities(NamedTuple):
    """Inequalities ``B @ r + b >= 0`` on the recalls r of some cells of two classes.

    Attributes
    ----------
    view : measures.Cells or measures.multiclass.groups.AgainstRest
        The cells, and what r is of the rates that duals move by.
    rows : int array, shape (k,)
        Their places among all inequalities.
    B : float64 array, shape (k, 2 G + 2)
        Slopes.
    b : float64 array, shape (k,)
        Constants.
    """

    view: Any
    rows: Array
    B: Array
    b: Array


class Multipliers:
    """Lagrange multipliers of constraints, which are inequalities ``B @ r + b >= 0`` on recalls r.

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
        views = [cells.against_rest(constraint) for constraint in constraints]
        parts = [constraint.inequalities(view.cells) for constraint, view in zip(constraints, views)]
        self.of_constraint = np.repeat(np.arange(len(parts)), [len(b) for _, b in parts])
        ends = np.cumsum([len(b) for _, b in parts])
        self.blocks = []  # of constraints on one class, whose inequalities are on the same recalls
        for label in dict.fromkeys(constraint.label for constraint in constraints):
            own = [j for j, constraint in enumerate(constraints) if constraint.label == label]
            rows = np.concatenate([np.arange(ends[j] - len(parts[j][1]), ends[j]) for j in own])
            B, b = (np.concatenate([parts[j][k] for j in own]) for k in (0, 1))
            self.blocks.append(Inequalities(views[own[0]], rows, B, b))
        count = int(ends[-1])
        self.values, self.rate, self.side = np.zeros(count), np.full(count, self.first_rate), np.zeros(count)

    def slopes(self) -> Array:
        """What the Lagrangian adds to the gains of the rates.

        Returns
        -------
        float64 array
            Shape (m,), or (m, K) of K classes.
        """
        parts = [block.view.spread(self.values[block.rows] @ block.B) for block in self.blocks]
        return np.asarray(sum(parts[1:], parts[0]))

    def move(self, rates: Array) -> None:
        """Move the multipliers: up while a constraint is broken.

        Parameters
        ----------
        rates : array, shape (m,) or (m, K)
            Recalls of the cells; of K classes their conditional confusion matrix.
        """
        slack = np.empty(len(self.values))
        for view, rows, B, b in self.blocks:
            slack[rows] = B @ view.recalls(rates) + b
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
