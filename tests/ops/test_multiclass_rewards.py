"""Rewards of K classes: C against NumPy, the golden case, differences, and two classes against `reward_sums`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from op_oracles import DTYPES, IN_C, TOLERANCE, assert_same, by_c, by_perform, central_differences, symbolic_like

from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.metrics.confusion_sums import ConfusionSums
from aesara_nondecomp.ops import cell_rewards
from aesara_nondecomp.ops.cell_rewards import CellRewards
from aesara_nondecomp.ops.rewards import RewardSums

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden_cells.json").read_text())["reward_op"]
TARGET = np.array([0, 1, 2, 2, 0], "int32")
RNG = np.random.default_rng(0)
GAINS, LOGS = RNG.normal(size=(5, 3)), np.array([0.3, 0.0, 1.0, 2.0, 0.1])
SHIFT = np.array([0.4, -0.2, 1.1])
NO_SHIFT, ONE = np.zeros(3), np.asarray(1.0)


def batch(kind: str, dtype: str = "float64"):
    """Scores, cells and weights of a mini-batch of one kind: 137 rows, three blocks of the C++ with a rest."""
    rng = np.random.default_rng(4)
    scores, cell = 3 * rng.normal(size=(137, 3)), rng.integers(0, 5, 137)
    weight = rng.uniform(0.2, 3.0, 137)
    if kind == "padded":
        cell[-30:] = -1
        scores[-30:] = 0
    if kind == "extreme":
        scores = 1e4 * np.sign(scores)
    if kind == "equal scores":
        scores[:] = 0.0
    if kind == "one cell":
        cell[:] = 3
    if kind == "padding only":
        cell[:] = -1
    if kind == "without weight":
        weight[:] = 0
    if kind == "empty":
        scores, cell, weight = scores[:0], cell[:0], weight[:0]
    return scores.astype(dtype), cell.astype("int32"), weight.astype(dtype)


KINDS = ("plain", "padded", "extreme", "equal scores", "one cell", "padding only", "without weight", "empty")
REST = {"plain": (NO_SHIFT, ONE), "shifted": (SHIFT, ONE), "cooled": (SHIFT, np.asarray(0.5))}


def rewards_by_c(*arrays):
    return by_c(lambda *v: CellRewards()(*v), *arrays)


def rewards_by_perform(*arrays):
    return by_perform(CellRewards(), *arrays)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rest", REST)
@pytest.mark.parametrize("kind", KINDS)
def test_cell_rewards_in_c_equal_the_numpy_route(kind, rest, dtype):
    arrays = (*batch(kind, dtype), TARGET, GAINS, LOGS, *REST[rest])
    assert_same(rewards_by_c(*arrays), rewards_by_perform(*arrays), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("route", [rewards_by_c, rewards_by_perform])
def test_the_golden_batch_has_its_objective_slope_and_sums(route, dtype):
    given = [np.array(GOLDEN[name], dtype) for name in ("scores", "weight")]
    gains, logs = np.array(GOLDEN["gains"]), np.array(GOLDEN["logs"])
    cell, target = np.array(GOLDEN["cell"], "int32"), np.arange(3, dtype="int32")
    objective, table, slope = route(given[0], cell, given[1], target, gains, logs, NO_SHIFT, ONE)
    sums, near = ConfusionSums(table), {"rtol": TOLERANCE[dtype] / 0.01, "atol": TOLERANCE[dtype] / 0.01}
    np.testing.assert_allclose(objective, GOLDEN["objective"], **near)
    np.testing.assert_allclose(slope, GOLDEN["slope"], **near)
    np.testing.assert_allclose(sums.soft, GOLDEN["soft"], **near)
    np.testing.assert_allclose(sums.hard, GOLDEN["hard"], **near)
    np.testing.assert_array_equal(sums.weight, [1.0, 2.5, 1.0])


@pytest.mark.parametrize("rest", REST)
@pytest.mark.parametrize("kind", ["plain", "padded", "one cell"])
def test_slope_of_the_objective_equals_finite_differences(kind, rest):
    scores, cell, weight = (array[-40:-28] for array in batch(kind))
    others = (cell, weight, TARGET, GAINS, LOGS, *REST[rest])
    expected = central_differences(lambda f: rewards_by_perform(f, *others)[0], scores)
    np.testing.assert_allclose(rewards_by_c(scores, *others)[2], expected, atol=1e-9)


@pytest.mark.parametrize("kind", ["plain", "padded"])
def test_objective_and_gradient_equal_those_of_a_graph_of_elementary_operations(kind):
    scores, cell, weight = batch(kind)
    arrays = scores, cell, weight, TARGET, GAINS, LOGS, SHIFT, np.array(2.0)
    inputs = symbolic_like(*arrays)
    f, c, w, target, G, logs, shift, temperature = inputs
    used = at.maximum(c, 0)
    w = w * at.ge(c, 0)

    def softmax(z):
        return at.exp(z) / at.exp(z).sum(axis=1, keepdims=True)

    log_shifted = at.log(softmax(f + shift))[at.arange(f.shape[0]), target[used]]
    parts = (G[used] * softmax(f / temperature)).sum(axis=1) + logs[used] * (1 + log_shifted)
    plain = at.sum(w * parts) / at.sum(w)
    in_python = aesara.compile.mode.Mode(linker="py", optimizer=None)
    expected = aesara.function(inputs, [plain, aesara.grad(plain, f)], mode=in_python)(*arrays)
    fused = cell_rewards(*inputs)[0]
    found = aesara.function(inputs, [fused, aesara.grad(fused, f)])(*arrays)
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("kind", ["plain", "padded", "extreme", "equal scores"])
@pytest.mark.parametrize("temperature", [1.0, 0.5, 3.0])
def test_two_classes_give_what_reward_sums_gives(kind, temperature):
    """Equivalence (a): scores (0, f), G = diag(beta, alpha), and one log weight for each class."""
    scores, cell, weight = batch(kind)
    f, positive = scores[:, 0], cell % 2 == 1
    y = np.where(cell < 0, 0.0, np.where(positive, weight, -weight))
    weights, t = np.array([1.5, 0.25, 0.5, 2.0]), np.asarray(temperature)
    objective, sums, slope = by_perform(RewardSums(), f, y, weights, t)
    two = np.stack([np.zeros_like(f), f], axis=1)
    cells = np.where(cell < 0, -1, positive).astype("int32")
    gains, target = np.diag([weights[1], weights[0]]), np.arange(2, dtype="int32")
    found = rewards_by_c(two, cells, weight, target, gains, weights[[3, 2]], np.zeros(2), t)
    np.testing.assert_allclose(found[0], objective, rtol=1e-12)
    np.testing.assert_allclose(found[2][:, 1], slope, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found[2].sum(axis=1), 0, atol=1e-14)
    of_cells = ConfusionSums(found[1])
    rights = [of_cells.soft[1, 1], of_cells.soft[0, 0], *of_cells.logistic[::-1], of_cells.hard[1, 1]]
    rights += [of_cells.hard[0, 0], *of_cells.weight[::-1]]
    np.testing.assert_allclose(rights, sums, rtol=1e-12, atol=1e-12)


def test_a_constant_added_to_a_row_of_the_gains_moves_no_score():
    """Equivalence (b)."""
    scores, cell, weight = batch("plain")
    rest = LOGS, SHIFT, np.asarray(0.7)
    slopes = [rewards_by_c(scores, cell, weight, TARGET, G, *rest)[2]
              for G in (GAINS, GAINS + np.array([[3.0], [-20.0], [0.0], [7.0], [0.1]]))]  # fmt: skip
    np.testing.assert_allclose(*slopes, atol=1e-14)


def test_permuting_the_classes_permutes_sums_and_slopes():
    """Equivalence (c): the class of row k is moved to place order[k]."""
    scores, cell, weight = batch("plain")
    order = np.array([2, 0, 1])
    inverse = np.argsort(order)
    first = rewards_by_c(scores, cell, weight, TARGET, GAINS, LOGS, SHIFT, ONE)
    moved = rewards_by_c(scores[:, order], cell, weight, inverse[TARGET].astype("int32"), GAINS[:, order], LOGS,
                         SHIFT[order], ONE)  # fmt: skip
    np.testing.assert_allclose(moved[0], first[0], rtol=1e-12)
    np.testing.assert_allclose(moved[2], first[2][:, order], atol=1e-15)
    one, other = ConfusionSums(first[1]), ConfusionSums(moved[1])
    np.testing.assert_allclose(other.soft, one.soft[:, order], rtol=1e-12)
    np.testing.assert_allclose(other.hard, one.hard[:, order], rtol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_soft_and_hard_counts_of_a_cell_add_up_to_its_weight(dtype):
    """Equivalence (i)."""
    scores, cell, weight = batch("padded", dtype)
    sums = ConfusionSums(rewards_by_c(scores, cell, weight, TARGET, GAINS, LOGS, SHIFT, ONE)[1])
    expected = np.bincount(cell[cell >= 0], weight[cell >= 0], 5)
    for counts in (sums.soft, sums.hard):
        np.testing.assert_allclose(counts.sum(axis=1), expected, rtol=10 * TOLERANCE[dtype])
    np.testing.assert_allclose(sums.weight, expected, rtol=10 * TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
def test_rewards_of_extreme_scores_are_the_finite_limits(dtype):
    scores = np.array([[1e4, -1e4, 0], [-1e4, 1e4, 0], [3e38, 0, 0]], dtype)
    cell, weight = np.array([0, 0, 1], "int32"), np.ones(3, dtype)
    objective, table, slope = rewards_by_c(scores, cell, weight, TARGET, GAINS, LOGS, NO_SHIFT, ONE)
    sums = ConfusionSums(table)
    np.testing.assert_allclose(sums.soft[:2], [[1, 1, 0], [1, 0, 0]], atol=1e-30)
    np.testing.assert_allclose(sums.logistic[:2], [2 - 2e4, -3e38], rtol=1e-6)
    np.testing.assert_allclose(slope[1], [0.1, -0.1, 0], atol=1e-30)  # the log weight .3 over 3 rows
    assert np.isfinite(objective) and np.isfinite(slope).all()  # cell 1 has no log weight


@pytest.mark.parametrize("dtype", DTYPES)
def test_of_equal_scores_the_first_class_is_predicted(dtype):
    sums = ConfusionSums(rewards_by_c(*batch("equal scores", dtype), TARGET, GAINS, LOGS, SHIFT, ONE)[1])
    assert (sums.hard[:, 0] > 0).all() and not sums.hard[:, 1:].any()


@pytest.mark.parametrize("kind", ["padding only", "without weight", "empty"])
def test_a_batch_without_weight_has_objective_and_slope_zero(kind):
    objective, sums, slope = rewards_by_c(*batch(kind), TARGET, GAINS, LOGS, SHIFT, ONE)
    assert objective == 0.0 and not sums.any() and not slope.any()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_score_that_is_not_finite_is_seen_in_the_sums_of_its_cell_alone(bad):
    scores, cell, weight = batch("padded")
    scores[0, 1] = bad
    scores[-1] = bad  # padding is not looked at
    arrays = [scores, cell, weight, TARGET, GAINS, LOGS, NO_SHIFT, ONE]
    function = aesara.function(inputs := symbolic_like(*arrays), CellRewards()(*inputs), mode=IN_C)
    objective, table, slope = function(*arrays)
    sums, others = ConfusionSums(table), np.arange(5) != cell[0]
    assert np.isnan(objective) and np.isnan(sums.soft[cell[0]]).all() and np.isnan(slope[0]).all()
    assert np.isfinite(table[others]).all() and np.isfinite(slope[1:]).all()
    assert not slope[-1].any()
    with pytest.raises(ValueError, match="scores must be finite"):
        rewards_by_perform(*arrays)


def test_cell_rewards_read_arrays_with_strides():
    scores, cell, weight = batch("plain")
    wide = np.repeat(np.repeat(scores, 2, axis=1), 2, axis=0)
    spread = [np.repeat(array, 2)[::2] for array in (cell, weight)]
    gains = np.asfortranarray(GAINS)
    found = rewards_by_c(wide[::2, ::2], *spread, np.repeat(TARGET, 2)[::2], gains, LOGS, np.repeat(SHIFT, 2)[::2], ONE)
    assert_same(found, rewards_by_c(scores, cell, weight, TARGET, GAINS, LOGS, SHIFT, ONE), "float64")


def test_the_loss_of_equal_scores_is_the_logarithm_of_the_number_of_classes():
    for n_classes in range(2, 201):
        gains, logs = np.zeros((1, n_classes)), np.ones(1)
        row = np.zeros((1, n_classes), "float32"), np.zeros(1, "int32"), np.ones(1, "float32")
        loss = 1 - rewards_by_c(*row, TARGET[:1], gains, logs, np.zeros(n_classes), ONE)[1][0, -2]
        assert loss == pytest.approx(np.log(n_classes), rel=3e-7)


def test_losses_keep_the_digits_of_float32_where_they_are_near_zero():
    arrays = [np.zeros((1, 3), "float32"), np.zeros(1, "int32"), np.ones(1, "float32"), TARGET[:1], GAINS[:1],
              LOGS[:1], NO_SHIFT, ONE]  # fmt: skip
    function = aesara.function(inputs := symbolic_like(*arrays), CellRewards()(*inputs)[1], mode=IN_C)
    for u in np.linspace(-30, 30, 121).astype("float32"):
        arrays[0] = np.array([[u, 0, -1]], "float32")
        loss = 1 - ConfusionSums(function(*arrays)).logistic[0]
        expected = np.logaddexp.reduce([0, -np.float64(u), -1 - np.float64(u)])
        np.testing.assert_allclose(loss, expected, rtol=1e-6, atol=1e-15)


@pytest.mark.parametrize("route", [rewards_by_c, rewards_by_perform])
@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (0, np.zeros((137, 4))), (0, np.zeros((136, 3))), (1, np.zeros(3, "int32")), (2, np.ones(3)),
        (3, TARGET[:4]), (4, GAINS[:, :2]), (4, GAINS[:4]), (5, LOGS[:4]), (6, SHIFT[:2]),
    ],
)  # fmt: skip
def test_sizes_that_do_not_fit_are_refused_at_run_time(route, place, wrong):
    arrays = [*batch("plain"), TARGET, GAINS, LOGS, SHIFT, ONE]
    arrays[place] = wrong
    with pytest.raises(ValueError, match="a cell and a weight for each row"):
        route(*arrays)


@pytest.mark.parametrize("route", [rewards_by_c, rewards_by_perform])
@pytest.mark.parametrize(
    ("place", "value", "message"),
    [(1, 5, "from -1 to 4"), (1, -2, "from -1 to 4"), (2, -1.0, "at least 0"), (2, np.nan, "at least 0"),
     (3, 3, "from 0 to 2"), (3, -1, "from 0 to 2")],
)  # fmt: skip
def test_cells_targets_and_weights_out_of_range_are_refused_at_run_time(route, place, value, message):
    arrays = [*batch("plain"), TARGET.copy(), GAINS, LOGS, SHIFT, ONE]
    arrays[place][2] = value
    with pytest.raises(ValueError, match=message):
        route(*arrays)


def test_other_types_and_dimensions_are_refused_when_the_graph_is_built():
    right = [at.fmatrix(), at.ivector(), at.fvector(), at.ivector(), at.dmatrix(), at.dvector(), at.dvector()]
    assert cell_rewards(*right)[0].dtype == "float32"
    for place, wrong in enumerate([at.fvector(), at.lvector(), at.dvector(), at.lvector(), at.fmatrix(), at.fvector(),
                                   at.fvector()]):  # fmt: skip
        with pytest.raises(TypeError, match="cell_rewards needs scores of 2 dimensions"):
            cell_rewards(*[wrong if k == place else each for k, each in enumerate(right)])
