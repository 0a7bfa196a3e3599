"""What a driver of K classes is: a rule that moves a matrix of gains between two steps.

Source: docs/multiclass.md 3.
"""

# ruff: noqa: N803, N806 -- G and R are the names used by the formulas
from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import number, one_of, positive_number, require, share
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.measures.multiclass import Cells, GroupedCells, MulticlassMeasure
from aesara_nondecomp.metrics.confusion_sums import ConfusionSums, RunningConfusion

Array = NDArray[np.float64]
REWARDS = ("probability", "logistic", "adjusted")
SMALLEST_CLASS_WEIGHT = 1e-3  # of the mean one; at 0 the adjusted reward would forbid the class


class StepGains(NamedTuple):
    """What a step ascends: sum of gains * R plus sum of logs * mean logistic rewards of the cells.

    Attributes
    ----------
    gains : float64 array, shape (m, K)
        Weights of the conditional confusion matrix.
    logs : float64 array, shape (m,)
        Weights of the cells' mean logistic reward.
    shift : float64 array, shape (K,)
        Added to the scores in the logistic reward.
    """

    gains: Array
    logs: Array
    shift: Array


class CellDriver:
    """Base of all drivers of K classes: explicit state in NumPy, no Aesara.

    A loop calls `gains`, takes a gradient step on the objective, and hands the step's confusion sums to `observe`.
    While `needs_refresh` is true it first hands the confusion sums of rows evaluated at the current weights to
    `refresh`. A cell that no batch has held yet has the rates 1/K.

    Parameters
    ----------
    cells : measures.multiclass.Cells
        Of the training set; each has rows.

    Attributes
    ----------
    several_classes : bool
        True, by which the training loop tells it from a driver of two classes.
    moves : bool
        Whether `move` does something, for which rows held out are scored.

    Raises
    ------
    ValueError
        If `cells` is something else, or a class has no cell with rows.
    """

    several_classes: Literal[True] = True
    moves: bool = False

    def __init__(self, cells: Cells) -> None:
        require(isinstance(cells, Cells), "cells must be measures.multiclass.Cells", cells)
        shares = cells.shares[cells.in_group] if isinstance(cells, GroupedCells) else cells.shares
        filled = bool((shares > 0).all() and (cells.priors > 0).all())
        require(filled, "each cell and class must have rows: all shares must be above 0", cells.priors.tolist())
        self.cells = cells

    def gains(self) -> StepGains:
        """What the next step ascends.

        Returns
        -------
        StepGains
            Not divided by the cells' shares of the rows: that is the step's part. The arrays are the driver's; copy
            them before you change one.
        """
        raise NotImplementedError

    def needs_refresh(self) -> bool:
        """Whether `refresh` must be called before the next step.

        Returns
        -------
        bool
            False for drivers that do not adapt.
        """
        return False

    def refresh(self, sums: ConfusionSums) -> None:
        """Take confusion sums evaluated at the current weights.

        Parameters
        ----------
        sums : ConfusionSums
            Of rows that should hold all cells.
        """

    def observe(self, sums: ConfusionSums) -> None:
        """Take the confusion sums of the step just made.

        Parameters
        ----------
        sums : ConfusionSums
            Of the step's batch, or of held-out rows.
        """

    def move(self, held: Array | None = None) -> None:
        """Move the duals by rows that are not trained on.

        Parameters
        ----------
        held : float64 array, shape (m, K), optional
            Confusion matrix of the cells of such rows, at the current weights; the weights of a cell are to sum to its
            number of rows. Default: there are no such rows.
        """

    def duals(self) -> dict[str, Any]:
        """Values to log: duals of the cells, levels.

        Returns
        -------
        dict of str to list of float
            Empty for drivers that do not adapt.
        """
        return {}

    def state(self) -> dict[str, Any]:
        """Complete state for exact resumption.

        Returns
        -------
        dict
            Floats, bools, and lists and dicts of them, ready for JSON.
        """
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a state returned by `state`.

        Parameters
        ----------
        state : dict
            Returned by `state` of a driver with the same options.
        """


class FixedGains(CellDriver):
    """Constant weights of the logistic reward: cross-entropies.

    Parameters
    ----------
    cells : measures.multiclass.Cells
        Of the training set.
    kind : {"cross_entropy", "class_weighted", "logit_adjusted"}
        Each row weighted alike; each class; or each row, with the scores shifted by the logarithms of the priors, which
        is the adjusted reward of the mean recall.

    Raises
    ------
    ValueError
        If an argument is something else.
    """

    def __init__(self, cells: Cells, kind: str) -> None:
        super().__init__(cells)
        one_of("kind", kind, ("cross_entropy", "class_weighted", "logit_adjusted"))
        of_class = cells.priors[cells.target] * cells.n_classes
        self._gains = StepGains(
            np.zeros((cells.n_cells, cells.n_classes)),
            cells.shares / of_class if kind == "class_weighted" else cells.shares,
            np.log(cells.priors) if kind == "logit_adjusted" else np.zeros(cells.n_classes),
        )

    def gains(self) -> StepGains:
        return self._gains


class AdaptiveCellDriver(CellDriver):
    """Base of the drivers that follow a measure: DUPLE, DENIM and DAME.

    Parameters
    ----------
    measure : str or measures.multiclass.MulticlassMeasure
        What to train for: a name in the catalogue, or a measure that `algorithm` serves.
    cells : measures.multiclass.Cells
        Of the training set.
    reward : {"probability", "logistic", "adjusted"}, optional
        Reward that the gradient goes through. Default: "adjusted" for a measure of the recalls alone; others have
        gains on other classes too, for which only "probability" will do.
    counts : bool
        Whether the running rates count predictions instead of averaging probabilities.
    forgetting : float
        Forgetting factor of the running rates, in (0, 1].
    anchor : {"class_weighted", "cross_entropy"}
        What is mixed into the probability reward, which alone can give up whole classes.
    anchor_share : float
        Share of the anchor, strictly between 0 and 1.
    cap : float, optional
        Bound above 0 on the sum of the weights of the logistic reward. Default: no bound.
    eps : float
        Smoothing of KLD-like measures, at least 0.

    Attributes
    ----------
    algorithm : str
        Name in `measures.multiclass.MulticlassMeasure.drivers` of the algorithm whose measures this driver serves.
    rates : RunningConfusion
        Running conditional confusion matrix R.

    Raises
    ------
    ValueError
        If the measure is unknown or not served (the message names the drivers that serve it), or an option is out of
        range or does not go with the measure.
    """

    algorithm: str
    measure: Any

    def __init__(
        self,
        measure: str | MulticlassMeasure,
        cells: Cells,
        *,
        reward: str | None,
        counts: bool,
        forgetting: float,
        anchor: str,
        anchor_share: float,
        cap: float | None,
        eps: float,
    ) -> None:
        super().__init__(cells)
        self.measure = multiclass.get(measure)
        self.measure.require_driver(self.algorithm)
        self.measure.value(cells.own, cells)  # refuses a measure that does not fit these cells
        require(isinstance(counts, (bool, np.bool_)), "counts must be True or False", counts)
        self.eps = number("eps", eps)
        require(0 <= self.eps < float("inf"), "eps must be a finite number of at least 0", eps)
        smooth = not (counts and self.measure.needs_smoothing) or self.eps > 0
        require(smooth, f"{self.measure} on counts, of which a class may have none, needs eps > 0: 1 / (2 n)", eps)
        self.reward = _checked_reward(reward, self.measure)
        require(cap is None or self.reward == "logistic", "cap needs reward='logistic', as others are scaled", cap)
        self.cap = None if cap is None else positive_number("cap", cap)
        one_of("anchor", anchor, ("class_weighted", "cross_entropy"))
        self.anchor, self.anchor_share = FixedGains(cells, anchor).gains(), share("anchor_share", anchor_share)
        self._anchor_logs, self._no_gains = self.anchor_share * self.anchor.logs, np.zeros_like(self.anchor.gains)
        followed = "count" if counts else "probability"
        self.rates = RunningConfusion(cells.n_cells, cells.n_classes, followed, forgetting)

    def dual_gains(self) -> Array:
        """The measure's gains at the duals: what `gains` makes a reward of.

        Returns
        -------
        float64 array, shape (m, K)
        """
        raise NotImplementedError

    def gains(self) -> StepGains:
        G = self.dual_gains()
        if self.reward == "probability":
            scaled, rest = G / (spread(G) or 1.0), 1.0 - self.anchor_share
            return StepGains(rest * scaled, self._anchor_logs, self.anchor.shift)
        own = self.cells.recalls(G)
        logs, shift = self._adjusted(own) if self.reward == "adjusted" else (self._capped(own), self.anchor.shift)
        return StepGains(self._no_gains, logs, shift)

    def _capped(self, own: Array) -> Array:
        size = abs(own).sum()
        return own if self.cap is None or size <= self.cap else np.asarray(own * (self.cap / size))

    def _adjusted(self, own: Array) -> tuple[Array, Array]:
        """Logs and shift of the adjusted reward: gains differ between classes by the shift, within one by the logs."""
        cells, priors = self.cells, self.cells.priors
        of_class = np.bincount(cells.target, own, minlength=cells.n_classes)
        per_row = of_class / priors
        mean = per_row.sum() / cells.n_classes
        weights = np.ones_like(per_row) if mean <= 0 else per_row / mean  # of NaN NaN, which training refuses
        logs = cells.shares if cells.n_cells == cells.n_classes else self._within_classes(own, of_class)
        return logs, -np.log(np.maximum(weights, SMALLEST_CLASS_WEIGHT))

    def _within_classes(self, own: Array, of_class: NDArray[Any]) -> Array:
        """The weight of each class, divided among its cells by their gains."""
        target, of_row = self.cells.target, self.cells.priors[self.cells.target]
        within = np.divide(own, of_class[target], out=self.cells.shares / of_row, where=of_class[target] > 0)
        return np.asarray(within * of_row)


def spread(G: Array) -> float:
    """Size of gains, by which a constant added to a row does not matter: the sum of the duals, if G has one a row.

    Parameters
    ----------
    G : float64 array, shape (m, K)
        Gains.

    Returns
    -------
    float
        Dividing by it makes the share of an anchor mean the same for all K.
    """
    K = G.shape[1]
    scale: float = float(np.abs(G - G.sum(axis=1, keepdims=True) / K).sum()) / 2 * K / (K - 1)
    return scale


def _checked_reward(reward: str | None, measure: MulticlassMeasure) -> str:
    if reward is None:
        return "adjusted" if measure.of_recalls else "probability"
    one_of("reward", reward, REWARDS)
    fits = measure.of_recalls or reward == "probability"
    require(fits, f"{measure}, which is more than a function of the recalls, needs reward='probability'", reward)
    return reward
