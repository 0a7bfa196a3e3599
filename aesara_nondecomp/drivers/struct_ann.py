"""STRUCT-ANN and direct loss minimisation: baselines that ask an oracle for the worst labelling of each batch.

Unlike the other drivers these do not weight class means but single rows: `RowDriver`.
"""

from __future__ import annotations

import numpy as np

from aesara_nondecomp import measures
from aesara_nondecomp._checks import positive_number, require
from aesara_nondecomp.drivers.base import Driver, RewardWeights
from aesara_nondecomp.drivers.oracle import Oracle


class RowDriver(Driver):
    """A driver that gives each row of a batch a coefficient: the step ascends sum_i c_i f(x_i).

    `training.train` scores the batch, asks for `coefficients` and makes the step; batches without both classes are
    passed over, since they leave the loss undefined (spec 1.4).  In `Mix` and `WarmStart` it has no place; for a
    warm start give the recipe a phase of cross-entropy first.

    Parameters
    ----------
    measure : str or measures.Measure
        Any of the catalogue, or your own; its loss is taken on the batch's own counts, so batches should hold the
        classes in their natural shares (sampler "natural" or "stratified").
    score_scale : float > 0
        Factor on the scores beside the loss. At 1 (the listing) the oracle adds up the scores of a whole batch, and
        the margins grow to about 1 / b; at the batch size's inverse the scores' mean stands beside the loss.

    Raises
    ------
    ValueError
        If the measure's name is unknown, or `score_scale` is not positive.
    TypeError
        If `measure` is neither a name nor a measure.
    """

    def __init__(self, measure: str | measures.Measure, score_scale: float = 1.0):
        self.measure, self.oracle = measures.get(measure), Oracle(measure)
        self.score_scale = positive_number("score_scale", score_scale)

    def coefficients(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The coefficient of each row, shape (b,); 0 for padding.

        Parameters
        ----------
        scores : float array, shape (b,). At the present weights.
        y : array, shape (b,). Labels in {-1, +1}; 0 marks padding.

        Raises
        ------
        ValueError
            If there is not one label per score, `y` holds sample weights, a class is missing, or a score is not
            finite.
        """
        scores, y = np.asarray(scores, dtype="float64"), np.asarray(y)
        require(scores.shape == y.shape, f"one label per score is needed, shape {scores.shape}", y.shape)
        rows = np.flatnonzero(y)
        positive = y[rows] > 0
        if not np.all(np.abs(y[rows]) == 1):
            raise ValueError(f"{type(self).__name__} counts rows: labels of -1 and +1 are needed, no sample weights")
        coefficients = np.zeros(len(y))
        coefficients[rows] = self._of_rows(self.score_scale * scores[rows], positive)
        return coefficients

    def _of_rows(self, scores: np.ndarray, positive: np.ndarray) -> np.ndarray:
        """Coefficients of scaled scores, padding aside."""
        raise NotImplementedError

    def weights(self) -> RewardWeights:
        raise TypeError(
            f"{type(self).__name__} weights rows, not class means, so Mix, WarmStart and loops over weights() cannot "
            "hold it. Use train() or fit(), with a phase of cross-entropy before it for a warm start."
        )


class StructANN(RowDriver):
    """Joachims' structural loss of a network (STRUCT-ANN; spec 3.6; paper, appendix).

    Descends  C max over labelings t of [loss(t, y) + score_scale sum_i (t_i - y_i) f(x_i)],  labels in {0, 1}: an
    upper bound of C times the loss of the batch's predictions.  The penalty (lambda / 2) norm(w)^2 is `fit`'s `l2`.

    Parameters
    ----------
    measure, score_scale : see `RowDriver`.
    C : float > 0. Factor on the structural loss beside the penalty; without one, a factor on the learning rate.

    Raises
    ------
    ValueError
        If the measure's name is unknown, or a number is not positive.
    TypeError
        If `measure` is neither a name nor a measure.

    Notes
    -----
    This is margin rescaling (Joachims 2005), not the direct loss minimisation of Song et al., which is `DirectLoss`.
    For a network it is neither convex nor concave in the weights (slip 38).

    `duals` tells the last batch's structural loss, over C.
    """

    def __init__(self, measure: str | measures.Measure, *, C: float = 1.0, score_scale: float = 1.0):
        super().__init__(measure, score_scale)
        self.C = positive_number("C", C)
        self.structural_loss = float("nan")

    def _of_rows(self, scores: np.ndarray, positive: np.ndarray) -> np.ndarray:
        worst = self.oracle(scores, positive)
        self.structural_loss = worst.value - float(scores[positive].sum())
        return self.C * self.score_scale * (positive.astype(float) - worst.positive)

    def duals(self) -> dict[str, float]:
        return {"structural_loss": self.structural_loss}


class DirectLoss(RowDriver):
    """Direct loss minimisation by the loss-augmented oracle (Song, Schwing, Zemel and Urtasun 2016; spec 3.6).

    With t_w the labelling of the scores' signs and t the maximiser of  sum_i t_i f(x_i) + (or -) epsilon loss(t, y),
    descends  (1 / epsilon) sum_i (t_i - t_w,i) f(x_i),  or its negative for the minus: a finite difference whose
    limit, epsilon to 0, is the gradient of the expected loss.

    Parameters
    ----------
    measure, score_scale : see `RowDriver`.
    epsilon : float > 0
        Weight of the loss in the oracle. Too small, and t is t_w for every batch: no gradient.
    direction : {"away", "towards"}
        "away" (plus) moves away from a labelling that is worse than the scores' own, "towards" (minus) to a better one.
        Where the scores' own labelling already has the largest loss, as all negatives have by F1, nothing is worse
        and "away" has no gradient: start from trained weights.

    Raises
    ------
    ValueError
        If the measure's name is unknown, or an option is out of range.
    TypeError
        If `measure` is neither a name nor a measure.
    """

    def __init__(
        self,
        measure: str | measures.Measure,
        *,
        epsilon: float = 1.0,
        direction: str = "away",
        score_scale: float = 1.0,
    ):
        super().__init__(measure, score_scale)
        require(direction in ("away", "towards"), "direction must be 'away' or 'towards'", direction)
        self.epsilon, self.direction = positive_number("epsilon", epsilon), direction

    def _of_rows(self, scores: np.ndarray, positive: np.ndarray) -> np.ndarray:
        sign = 1.0 if self.direction == "away" else -1.0
        perturbed = self.oracle(scores, positive, sign * self.epsilon).positive
        difference = (scores > 0).astype(float) - perturbed
        return sign * self.score_scale / self.epsilon * difference
