"""STRUCT-ANN and direct loss minimisation: baselines on the loss-augmented oracle.

Unlike the other drivers these weight single rows instead of class means: `RowDriver`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import measures
from aesara_nondecomp._checks import one_of, positive_number, require
from aesara_nondecomp.drivers.base import Driver, RewardWeights
from aesara_nondecomp.drivers.oracle import Oracle
from aesara_nondecomp.metrics.class_rates import check_signed

Array = NDArray[Any]


class RowDriver(Driver):
    """A driver that gives each row of a batch a coefficient: the step ascends sum_i c_i f(x_i).

    `training.train` scores the batch, asks for `coefficients` and makes the step; it skips batches without both
    classes, since they leave the loss undefined (docs/algorithms.md 1.4). `Mix` and `WarmStart` cannot hold such a
    driver; for a warm start give the recipe a phase of cross-entropy first.

    Parameters
    ----------
    measure : str or measures.Measure
        Any of the catalogue, or your own. Its loss is computed from the batch's own counts, so batches should hold the
        classes in their natural proportions (sampler "natural" or "stratified").
    score_scale : float, default 1.0
        Factor above 0 on the scores beside the loss. At 1 (the listing) the oracle adds up the scores of a whole batch,
        and the margins grow to about 1 / b; at 1 / b the mean score stands beside the loss.

    Raises
    ------
    ValueError
        If `measure` is neither a name in the catalogue nor a measure, or `score_scale` is not positive.
    """

    def __init__(self, measure: str | measures.Measure, score_scale: float = 1.0) -> None:
        self.measure, self.oracle = measures.get(measure), Oracle(measure)
        self.score_scale = positive_number("score_scale", score_scale)

    def coefficients(self, scores: Array, y: Array) -> Array:
        """The coefficient of each row.

        Parameters
        ----------
        scores : array, shape (b,)
            Scores at the current weights.
        y : array, shape (b,)
            Labels in {-1, +1}; 0 marks padding, which comes last.

        Returns
        -------
        array of float64, shape (b,)
            0 for padding.

        Raises
        ------
        ValueError
            If there is not one label per score, `y` holds sample weights or labels in {0, 1}, a class is missing, or a
            score is not finite.
        """
        scores, y = np.asarray(scores, dtype="float64"), check_signed(y)
        require(scores.shape == y.shape, f"one label per score is needed, shape {scores.shape}", y.shape)
        rows = np.flatnonzero(y)
        positive = y[rows] > 0
        if not np.all(np.abs(y[rows]) == 1):
            raise ValueError(f"{type(self).__name__} counts rows: labels of -1 and +1 are needed, no sample weights")
        coefficients = np.zeros(len(y))
        coefficients[rows] = self._of_rows(self.score_scale * scores[rows], positive)
        return coefficients

    def _of_rows(self, scores: Array, positive: Array) -> Array:
        """Coefficients from scaled scores, without padding."""
        raise NotImplementedError

    def weights(self) -> RewardWeights:
        raise TypeError(
            f"{type(self).__name__} weights rows, not class means, so Mix, WarmStart and loops over weights() cannot "
            "hold it. Use train() or fit(), with a phase of cross-entropy before it for a warm start."
        )


class StructANN(RowDriver):
    """Joachims' structural loss of a network: STRUCT-ANN (the paper's appendix).

    Descends C max over assignments t of [loss(t, y) + score_scale sum_i (t_i - y_i) f(x_i)], labels in {0, 1}: an upper
    bound of C times the loss of the batch's predictions. The penalty (lambda / 2) norm(w)^2 is `fit`'s `l2`.

    Parameters
    ----------
    measure : str or measures.Measure
        As in `RowDriver`.
    C : float, default 1.0
        Factor above 0 on the structural loss beside the penalty; without a penalty, a factor on the learning rate.
    score_scale : float, default 1.0
        As in `RowDriver`.

    Raises
    ------
    ValueError
        If `measure` is neither a name in the catalogue nor a measure, or a number is not positive.

    Notes
    -----
    This is margin rescaling (Joachims 2005), not the direct loss minimisation of Song et al., which is `DirectLoss`.
    For a network it is neither convex nor concave in the weights (docs/algorithms.md, slip 38).

    `duals` holds the structural loss of the last batch, divided by C.

    Source: docs/algorithms.md 3.6.
    """

    def __init__(self, measure: str | measures.Measure, *, C: float = 1.0, score_scale: float = 1.0) -> None:
        super().__init__(measure, score_scale)
        self.C = positive_number("C", C)
        self.structural_loss = float("nan")

    def _of_rows(self, scores: Array, positive: Array) -> Array:
        worst = self.oracle(scores, positive)
        self.structural_loss = worst.value - float(scores[positive].sum())
        return np.asarray(self.C * self.score_scale * (positive.astype(float) - worst.positive))

    def duals(self) -> dict[str, float]:
        return {"structural_loss": self.structural_loss}


class DirectLoss(RowDriver):
    """Direct loss minimisation by the loss-augmented oracle (Song, Schwing, Zemel and Urtasun 2016).

    With t_w the assignment by the signs of the scores and t the maximiser of
    sum_i t_i f(x_i) + (or -) epsilon loss(t, y), descends (1 / epsilon) sum_i (t_i - t_w,i) f(x_i), or its negative for
    the minus: a finite difference whose limit, epsilon to 0, is the gradient of the expected loss.

    Parameters
    ----------
    measure : str or measures.Measure
        As in `RowDriver`.
    epsilon : float, default 1.0
        Weight of the loss in the oracle, above 0. If it is too small, t is t_w for every batch: no gradient.
    direction : {"away", "towards"}, default "away"
        "away" (plus) moves away from an assignment that is worse than the scores' own, "towards" (minus) to a better
        one. Where the scores' own assignment already has the largest loss, as all negatives have by F1, nothing is
        worse and "away" has no gradient: start from trained weights.
    score_scale : float, default 1.0
        As in `RowDriver`.

    Raises
    ------
    ValueError
        If `measure` is neither a name in the catalogue nor a measure, or an option is out of range.

    Notes
    -----
    Source: docs/algorithms.md 3.6.
    """

    def __init__(
        self,
        measure: str | measures.Measure,
        *,
        epsilon: float = 1.0,
        direction: str = "away",
        score_scale: float = 1.0,
    ) -> None:
        super().__init__(measure, score_scale)
        one_of("direction", direction, ("away", "towards"))
        self.epsilon, self.direction = positive_number("epsilon", epsilon), direction

    def _of_rows(self, scores: Array, positive: Array) -> Array:
        sign = 1.0 if self.direction == "away" else -1.0
        perturbed = self.oracle(scores, positive, sign * self.epsilon).positive
        difference = (scores > 0).astype(float) - perturbed
        return np.asarray(sign * self.score_scale / self.epsilon * difference)
