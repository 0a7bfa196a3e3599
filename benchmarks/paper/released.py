"""The preset "as released": the settings that the authors' published code uses where it differs from the paper.

- DUPLE: 150-100 rectifiers, initial weights of deviation 0.01, biases fixed at 0, Adam 0.002, batches of 256. On min
  its dual step hardly moves, so both duals stay at one half: balanced error.
- DENIM: 100-80, deviation 0.001, batches of 512; baseline the same with batches of 256, and its F1 is read at a
  predicted probability of 0.9. (That baseline trains on squared error; here it is cross-entropy, as the paper says.)
- DAME: 60-60-80 tanh units, dropout 0.6, Adam 0.01 in pre-training and 0.001 in fine-tuning, and a level v that is
  set once and never refreshed. The pre-training is 30 of 330 epochs; here it is half of the steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import measures
from aesara_nondecomp._aesara import aesara, at
from aesara_nondecomp.drivers import DAME, DENIM, DUPLE, CrossEntropy, FixedWeights, RewardWeights
from aesara_nondecomp.ops import dense
from aesara_nondecomp.recipes import Phase, Problem, Recipe

RATES = {"duple": 0.002, "denim": 0.002, "dame": 0.01, "baseline": 0.002}
BATCH_SIZES = {"duple": 256, "denim": 512, "dame": 512, "baseline": 256}
SCHEDULES = {"dame": "step"}
"""The rate of the second half of the steps is a tenth: 0.001."""
LOG_ODDS_NINE = math.log(9.0)
"""Score at a predicted probability of 0.9."""


def duple(measure: str, problem: Problem) -> Recipe:
    """Min: equal weights throughout. Q-mean: the cumulative closed form."""
    equal = FixedWeights(RewardWeights.on("sigmoid", 0.5, 0.5))
    closed_form = DUPLE(measures.get(measure), problem.prior, forgetting=1.0, eps=problem.eps)
    return Recipe((Phase(equal if measure == "min" else closed_form),), learning_rate=RATES["duple"], averaging=0.0)


def denim(measure: str, problem: Problem) -> Recipe:
    """The cumulative closed form at the old weights."""
    driver = DENIM(measures.get(measure), problem.prior, forgetting=1.0, eps=problem.eps)
    return Recipe((Phase(driver),), learning_rate=RATES["denim"], averaging=0.0)


def dame(measure: str, problem: Problem) -> Recipe:
    """Pre-training, then the head at one fixed level."""
    # A round longer than any run: the level is never refreshed.
    driver = DAME(
        measures.get(measure), problem.prior, forgetting=1.0, inner_steps=10**9, round_rows=8192, eps=problem.eps
    )
    phases = (Phase(CrossEntropy(problem.prior), 0.5), Phase(driver, 0.5, head_only=True))
    return Recipe(phases, learning_rate=RATES["dame"], averaging=0.0)


def duple_network(n_features: int) -> an.Network:
    """150-100 rectifiers, deviation 0.01."""
    return _without_biases((n_features, 150, 100, 1), 0.01)


def denim_network(n_features: int) -> an.Network:
    """100-80 rectifiers, deviation 0.001."""
    return _without_biases((n_features, 100, 80, 1), 0.001)


def baseline_network(n_features: int) -> an.Network:
    """100-80 rectifiers, deviation 0.001."""
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
