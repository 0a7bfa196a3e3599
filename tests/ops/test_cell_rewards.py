"""Rewards weighted by cells: C against NumPy and brute force, and against the classes' own rewards."""

from __future__ import annotations

import numpy as np
import pytest
from op_oracles import DTYPES, assert_same, by_c, by_perform, central_differences
from test_rewards import KINDS, WEIGHTS, batch, rewards_by_c

from aesara_nondecomp._aesara.imports import at
from aesara_nondecomp.ops import cell_reward_sums
from aesara_nondecomp.ops.rewards import CellRewardSums

GROUPS = 3


def cells_of(y):
    """A cell for each row: its group times its class, and for padding the last one."""
    group = np.random.default_rng(5).integers(0, GROUPS, len(y))
    return np.where(y == 0, 2 * GROUPS - 1, 2 * group + (y > 0)).astype("int32")


def weights_of_cells():
    return np.random.default_rng(6).normal(size=(2 * GROUPS, 2))


def by_cells(route, scores, y, cell, weights, temperature=1.0):
    run = by_perform if route == "perform" else by_c
    op = CellRewardSums()
    return run(op if route == "perform" else (lambda *v: op(*v)), scores, y, cell, weights, np.array(temperature))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_cell_rewards_in_c_equal_the_numpy_route(kind, dtype):
    scores, y = batch(kind, dtype)
    given = scores, y, cells_of(y), weights_of_cells(), 0.7
    assert_same(by_cells("c", *given), by_cells("perform", *given), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_equal_weights_in_the_cells_of_a_class_give_its_own_rewards_bit_for_bit(kind, dtype):
    scores, y = batch(kind, dtype)
    sigmoid_pos, sigmoid_neg, logistic_pos, logistic_neg = WEIGHTS
    weights = np.tile([[sigmoid_neg, logistic_neg], [sigmoid_pos, logistic_pos]], (GROUPS, 1))
    _, sums, of_cells, slope = by_cells("c", scores, y, cells_of(y), weights)
    _, class_sums, class_slope = rewards_by_c(scores, y)
    assert np.array_equal(sums, class_sums) and np.array_equal(slope, class_slope)
    for k, column in enumerate((0, 1, 2, 3)):
        np.testing.assert_allclose([of_cells[1::2, column].sum(), of_cells[::2, column].sum()], sums[2 * k : 2 * k + 2])


def test_the_sums_of_a_cell_are_those_of_its_rows_alone():
    scores, y = batch("weighted")
    cell = cells_of(y)
    of_cells = by_cells("c", scores, y, cell, weights_of_cells())[2]
    for c in range(2 * GROUPS):
        rows = cell == c
        sums = rewards_by_c(scores[rows], y[rows])[1]
        np.testing.assert_allclose(of_cells[c], sums[::2] + sums[1::2], rtol=1e-13)


@pytest.mark.parametrize("kind", ["plain", "weighted", "padded"])
def test_the_slope_of_cell_rewards_is_the_derivative_of_the_objective(kind):
    scores, y = batch(kind)
    cell, weights = cells_of(y), weights_of_cells()
    expected = central_differences(lambda f: by_cells("perform", f, y, cell, weights)[0], scores)
    np.testing.assert_allclose(by_cells("c", scores, y, cell, weights)[3], expected, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("route", ["c", "perform"])
@pytest.mark.parametrize("cell", [-1, 2 * GROUPS, 1])
def test_a_cell_without_weights_or_of_the_other_class_is_refused(route, cell):
    scores, y = batch("plain")
    wrong = cells_of(y)
    wrong[np.flatnonzero(y < 0)[2]] = cell
    with pytest.raises(ValueError, match=r"cells must lie in 0 \.\. 5"):
        by_cells(route, scores, y, wrong, weights_of_cells())


@pytest.mark.parametrize("route", ["c", "perform"])
def test_one_cell_per_label_is_needed(route):
    scores, y = batch("plain")
    with pytest.raises(ValueError, match="one score and one cell per label"):
        by_cells(route, scores, y, cells_of(y)[:-1], weights_of_cells())


def test_cell_rewards_refuse_other_types_before_compilation():
    with pytest.raises(TypeError, match="int32 cells"):
        cell_reward_sums(at.fvector(), at.fvector(), at.lvector(), weights_of_cells())
    with pytest.raises(TypeError, match="scores"):
        cell_reward_sums(at.fvector(), at.dvector(), at.ivector(), weights_of_cells())
