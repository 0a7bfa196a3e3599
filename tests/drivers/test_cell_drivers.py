"""Drivers of cells: golden duals, group DRO's rule, multipliers by hand, state."""

import json

import numpy as np
import pytest

from aesara_nondecomp import measures
from aesara_nondecomp.drivers import CellWeighted, Constrained, CrossEntropy, WorstGroup
from aesara_nondecomp.measures import Cells, at_least, gap
from aesara_nondecomp.metrics.cell_rates import CellSums

CELLS = Cells(("a", "b"), np.array([40, 10, 30, 20, 0, 0]), np.array([0.4, 0.1, 0.3, 0.2, 0, 0]))


def sums(recalls, rows=100.0, logistic=None):
    """Cell sums with these recalls."""
    weight = np.where(CELLS.rows > 0, rows, 0.0)
    right = weight * np.array([*recalls, 0, 0])
    of_logistic = right if logistic is None else weight * np.array([*logistic, 0, 0])
    return CellSums(right, of_logistic, right, weight)


def test_the_duals_of_a_minimum_follow_the_golden_sequence():
    three = Cells(("a", "b", "c"), np.array([0, 10, 0, 10, 0, 10, 0, 0]), np.array([0, 1, 0, 1, 0, 1, 0, 0]) / 3)
    driver = WorstGroup(measures.get("worst_cell"), three, dual_rate=0.05)
    expected = [
        (0.3300056110, 0.3366721665, 0.3333222225),
        (0.3277983625, 0.3377813088, 0.3344203287),
        (0.3244935208, 0.3343758198, 0.3411306594),
    ]
    for recalls, alpha in zip([(0.9, 0.5, 0.7), (0.8, 0.6, 0.6), (0.9, 0.9, 0.3)], expected):
        right = np.array([0, recalls[0], 0, recalls[1], 0, recalls[2], 0, 0]) * 100
        weight = np.array([0, 1, 0, 1, 0, 1, 0, 0]) * 100.0
        driver.move(CellSums(right, right, right, weight))
        np.testing.assert_allclose(driver.alpha, alpha, atol=1e-10)


def test_group_dro_is_the_exponentiated_gradient_on_the_losses():
    driver = WorstGroup(measures.get("worst_group_accuracy"), CELLS, signal="logistic", dual_rate=0.3)
    rewards = np.array([0.9, 0.2, 0.5, 0.7])
    driver.observe_cells(sums([1, 1, 1, 1], logistic=rewards))
    driver.move(sums([0.1, 0.1, 0.9, 0.9]))  # rows held out play no part
    losses = 1 - np.array([0.8 * 0.9 + 0.2 * 0.2, 0.6 * 0.5 + 0.4 * 0.7])
    weights = np.exp(0.3 * losses)
    np.testing.assert_allclose(driver.alpha, weights / weights.sum(), atol=1e-12)


def test_the_gains_of_a_minimum_are_its_supergradient_at_the_duals():
    driver = WorstGroup(measures.get("worst_group_balanced"), CELLS)
    driver.move(sums([1.0, 0.0, 1.0, 1.0]))
    alpha = driver.alpha
    np.testing.assert_allclose(driver.cell_weights()[:, 1], [alpha[0] / 2] * 2 + [alpha[1] / 2] * 2 + [0, 0])
    assert alpha[0] > alpha[1] and not driver.cell_weights()[:, 0].any()


def test_cell_weights_are_equal_for_all_cells_that_have_rows():
    np.testing.assert_allclose(CellWeighted(CELLS).cell_weights()[:, 1], [0.25] * 4 + [0, 0])


def test_a_multiplier_rises_while_its_constraint_is_broken_and_falls_back_to_zero():
    driver = Constrained(CrossEntropy(0.3), [gap("tpr", at_most=0.1)], CELLS, dual_rate=0.5)
    driver.move(sums([1, 0.9, 1, 0.5]))  # a gap of .4: .3 too much
    assert driver.duals() == {"lambda[tpr gap <= 0.1]": pytest.approx(0.15)}
    weights = driver.cell_weights()
    np.testing.assert_allclose(weights[:, 0], [0, -0.15, 0, 0.15, 0, 0], atol=1e-12)
    assert driver.weights() == CrossEntropy(0.3).weights()
    driver.move(sums([1, 0.9, 1, 0.5]))  # on the same side: a step larger by a fifth
    assert driver.duals()["lambda[tpr gap <= 0.1]"] == pytest.approx(0.15 + 0.6 * 0.3)
    for _ in range(30):
        driver.move(sums([1, 0.7, 1, 0.7]))
    assert driver.duals()["lambda[tpr gap <= 0.1]"] == 0


def test_a_multiplier_stays_below_its_cap():
    driver = Constrained(CrossEntropy(0.3), [at_least("precision", 0.9)], CELLS, cap=3.0)
    for _ in range(200):
        driver.move(sums([0.1, 0.9, 0.1, 0.9]))
    assert driver.duals() == {"lambda[precision >= 0.9]": 3.0}


def test_constraints_that_hold_leave_the_weights_of_the_inner_driver():
    driver = Constrained(CrossEntropy(0.3), [gap("tpr", at_most=0.1), at_least("tpr", 0.5)], CELLS)
    for _ in range(50):
        driver.move(sums([0.2, 0.8, 0.9, 0.75]))
    assert not driver.cell_weights().any()


def test_a_cell_with_few_rows_held_out_moves_by_its_training_rows():
    driver = WorstGroup(measures.get("worst_cell"), CELLS)
    driver.observe_cells(sums([0.9, 0.1, 0.9, 0.9]))
    few = sums([0.5, 0.5, 0.5, 0.5])
    scale = np.array([0.3 - 1e-12, 0.29, 1, 1, 1, 1])  # 30 rows of the first cell, to rounding, and 29 of the second
    few = CellSums(*(values * scale for values in few))
    np.testing.assert_allclose(driver.rates(few)[:4], [0.5, 0.1, 0.5, 0.5])


@pytest.mark.parametrize(
    "make",
    [
        lambda: WorstGroup(measures.get("worst_cell"), CELLS),
        lambda: Constrained(WorstGroup(measures.get("worst_cell"), CELLS), [gap("selection", at_most=0.1)], CELLS),
    ],
)
def test_a_restored_driver_goes_on_as_the_first_one(make):
    first, second, rng = make(), make(), np.random.default_rng(0)
    for _ in range(5):
        first.observe_cells(sums(rng.random(4)))
        first.move(sums(rng.random(4)))
    second.restore(json.loads(json.dumps(first.state())))
    for driver in (first, second):
        driver.move(sums([0.3, 0.6, 0.2, 0.9]))
    assert np.array_equal(first.cell_weights(), second.cell_weights()) and first.duals() == second.duals()
