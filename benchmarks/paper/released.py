"""The preset "as released": what the authors' published code does where it differs from the paper.

- DUPLE: 150-100 rectifiers, initial weights of standard deviation 0.01, biases fixed at 0, Adam at 0.002, batches of
  256. On min its dual step moves by 1e-5 at most and in the wrong direction, so here both duals stay at one half,
  which is the balanced error. On Q-mean its code weights the positives by the count of true positives and the
  negatives by that of false positives (`CountDuals`).
- DENIM: 100-80 rectifiers, standard deviation 0.001, batches of 512. The duals are the closed form here; the authors'
  update, one side of the threshold at a time, is not reproduced.
- The baselines: the same network, batches of 256, squared error; ANN-p weights the rows of a class by the share of the
  other one. F1 is evaluated at a predicted probability of 0.9. Batches without both classes are skipped here.
- DAME: 60-60-80 tanh units, dropout 0.6, Adam at 0.01 in pre-training and at 0.001 in fine-tuning, and a level v that
  is set once and never refreshed. The authors pre-train for 30 of 330 epochs on squared error; here pre-training is
  half of the steps on cross-entropy, because row coefficients do not support dropout.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit

import aesara_nondecomp as an
from aesara_nondecomp import measures
from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.drivers import DAME, DENIM, CrossEntropy, Driver, FixedWeights, RewardWeights, RowDriver
from aesara_nondecomp.metrics.class_rates import ClassSums
from aesara_nondecomp.ops import dense
from aesara_nondecomp.training.recipes import Phase, Problem, Recipe

RATES = {"duple": 0.002, "denim": 0.002, "dame": 0.01, "baseline": 0.002}
BATCH_SIZES = {"duple": 256, "denim": 512, "dame": 512, "baseline": 256}
SCHEDULES = {"dame": "step"}
"""The second half of the steps has a tenth of the rate, 0.001."""
LOG_ODDS_NINE = math.log(9.0)
"""Score at a predicted probability of 0.9."""


# -- drivers ---------------------------------------------------------------------------------------------------------


class CountDuals(Driver):
    """Q-mean's duals in the authors' code: (alpha, beta) = (TP, FP) / norm((TP, FP)), counted over all batches.

    The closed form is proportional to (1 - P, 1 - N), the error rates of both classes. While both counts are 0, where
    the authors divide 0 by 0, both duals are one half.
    """

    def __init__(self) -> None:
        self.true_positives = self.false_positives = 0.0

    def weights(self) -> RewardWeights:
        return RewardWeights.on("sigmoid", *self._pair())

    def observe(self, sums: ClassSums) -> None:
        self.true_positives += sums.count_pos
        self.false_positives += sums.n_neg - sums.count_neg

    def _pair(self) -> tuple[float, float]:
        norm = math.hypot(self.true_positives, self.false_positives)
        return (self.true_positives / norm, self.false_positives / norm) if norm else (0.5, 0.5)

    def duals(self) -> dict[str, float]:
        return dict(zip(("alpha", "beta"), self._pair()))

    def state(self) -> dict[str, Any]:
        return {"true_positives": self.true_positives, "false_positives": self.false_positives}

    def restore(self, state: dict[str, Any]) -> None:
        self.true_positives, self.false_positives = state["true_positives"], state["false_positives"]


class SquaredError(RowDriver):
    """Descend sum_i w_i (t_i - s_i)^2 over a batch: logistic outputs s = 1 / (1 + exp(-f)), labels t in {0, 1}.

    Parameters
    ----------
    positive, negative : float, default 1.0
        Weights w of the rows of each class, above 0.
    """

    def __init__(self, positive: float = 1.0, negative: float = 1.0):
        super().__init__("accuracy")
        self.positive, self.negative = positive, negative

    def _of_rows(self, scores: np.ndarray, positive: np.ndarray) -> np.ndarray:
        outputs = expit(scores)
        weights = np.where(positive, self.positive, self.negative)
        return 2 * weights * (positive - outputs) * outputs * (1 - outputs)


# -- recipes ---------------------------------------------------------------------------------------------------------


def duple(measure: str, problem: Problem) -> Recipe:
    """Constant equal weights for min, `CountDuals` for Q-mean."""
    driver = FixedWeights(RewardWeights.on("sigmoid", 0.5, 0.5)) if measure == "min" else CountDuals()
    return Recipe((Phase(driver),), learning_rate=RATES["duple"], averaging=0.0)


def baseline(measure: str, problem: Problem) -> Recipe:
    """Squared error."""
    return Recipe((Phase(SquaredError()),), learning_rate=RATES["baseline"], averaging=0.0)


def weighted_baseline(measure: str, problem: Problem) -> Recipe:
    """Squared error, with each class weighted by the share of the other one."""
    driver = SquaredError(1 - problem.prior, problem.prior)
    return Recipe((Phase(driver),), learning_rate=RATES["baseline"], averaging=0.0)


def denim(measure: str, problem: Problem) -> Recipe:
    """The cumulative closed form at the old weights."""
    driver = DENIM(measures.get(measure), problem.prior, forgetting=1.0, eps=problem.eps)
    return Recipe((Phase(driver),), learning_rate=RATES["denim"], averaging=0.0)


def dame(measure: str, problem: Problem) -> Recipe:
    """Pre-training, then training of the head at one fixed level v."""
    # A round is longer than any run, so the level is never refreshed.
    driver = DAME(
        measures.get(measure), problem.prior, forgetting=1.0, inner_steps=10**9, round_rows=8192, eps=problem.eps
    )
    phases = (Phase(CrossEntropy(problem.prior), 0.5), Phase(driver, 0.5, head_only=True))
    return Recipe(phases, learning_rate=RATES["dame"], averaging=0.0)


# -- networks --------------------------------------------------------------------------------------------------------


def duple_network(n_features: int) -> an.Network:
    """150-100 rectifiers, standard deviation 0.01."""
    return _without_biases((n_features, 150, 100, 1), 0.01)


def denim_network(n_features: int) -> an.Network:
    """100-80 rectifiers, standard deviation 0.001."""
    return _without_biases((n_features, 100, 80, 1), 0.001)


def baseline_network(n_features: int) -> an.Network:
    """100-80 rectifiers, standard deviation 0.001."""
    return _without_biases((n_features, 100, 80, 1), 0.001)


def dame_network(n_features: int) -> an.Network:
    """60-60-80 tanh units with dropout 0.6."""
    return an.mlp(n_features, (60, 60, 80), activation="tanh", dropout=0.6)


def _without_biases(sizes: Sequence[int], deviation: float) -> an.Network:
    """A rectifier network whose biases stay 0."""

    def draw(rng: np.random.Generator) -> list[np.ndarray]:
        shapes = zip(sizes, sizes[1:])
        return [rng.normal(0.0, deviation, shape).astype("float32") for shape in shapes]

    weights = [aesara.shared(value, name=f"W{k}") for k, value in enumerate(draw(np.random.default_rng(0)))]
    X = at.TensorType("float32", shape=(None, sizes[0]))("X")
    layer = X
    for k, W in enumerate(weights):
        bias = aesara.shared(np.zeros(sizes[k + 1], "float32"), name=f"b{k}")
        layer = dense(layer, W, bias, "identity" if k == len(weights) - 1 else "relu")
    return an.Network(X, layer, weights, draw=draw)
