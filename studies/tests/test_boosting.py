"""The objective of boosted trees has the derivatives that it says, and each choice is made on the validation rows."""

import numpy as np
import pytest

from aesara_nondecomp.drivers import FixedWeights, RewardWeights
from studies.boosting import Parts, Stage, choose, tree_objective

RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=40)
SIGNS = np.where(RNG.random(40) < 0.3, 1, -1)


def loss(scores, weights):
    """Minus n times the weighted class means of the two rewards."""
    u = SIGNS * scores
    rewards = 1 / (1 + np.exp(-u)), 1 - np.log1p(np.exp(-u))
    means = [reward[SIGNS == sign].mean() for reward in rewards for sign in (1, -1)]
    return -len(scores) * np.dot(weights, means)


def difference(row, step, weights, order):
    """A central difference of the loss in one score."""
    at = [loss(SCORES + k * step * np.eye(40)[row], weights) for k in (-1, 0, 1)]
    return (at[2] - at[0]) / (2 * step) if order == 1 else (at[2] - 2 * at[1] + at[0]) / step**2


@pytest.mark.parametrize("weights", [(0.7, 0.4, 0, 0), (0, 0, 1.5, 0.2), (0.3, -0.6, 0.5, 0.5)], ids=str)
def test_the_objective_has_the_slope_of_the_class_means_and_bounds_their_curvature(weights):
    first, second = tree_objective(FixedWeights(RewardWeights(*weights)), SIGNS)(SCORES, None)
    slopes = [difference(row, 1e-5, weights, 1) for row in range(40)]
    np.testing.assert_allclose(first, slopes, atol=1e-6)
    curvatures = [difference(row, 1e-3, weights, 2) for row in range(40)]
    assert np.all(second >= np.abs(curvatures) - 1e-5)
    if weights[:2] == (0, 0):
        np.testing.assert_allclose(second, curvatures, atol=1e-5)  # exact on the logistic reward


def test_the_stage_and_the_threshold_are_chosen_on_the_validation_rows():
    y = np.array([-1, -1, 1, 1])
    parts = Parts(*[(np.zeros((4, 1)), y)] * 3)
    good, bad = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, -1.0, 1.0, -2.0])
    stages = [Stage(bad, good - 2.5), Stage(good, bad)]
    assert choose("min", stages, parts, tuned=False) == (0.5, 1.0)
    assert choose("min", stages, parts, tuned=True) == (1.0, 0.0)
