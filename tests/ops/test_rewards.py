"""Weighted rewards: C against NumPy, gradients against finite differences and Aesara's own derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from op_oracles import DTYPES, IN_C, assert_same, by_c, by_perform, central_differences, symbolic_like

from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.metrics.class_rates import ClassSums
from aesara_nondecomp.ops import reward_sums
from aesara_nondecomp.ops.rewards import RewardSums

IN_PYTHON = aesara.compile.mode.Mode(linker="py", optimizer=None)
WEIGHTS = np.array([1.5, 0.25, 0.5, 2.0])


def batch(kind: str, dtype: str = "float64"):
    """Scores and signed weights of a mini-batch of one kind."""
    rng = np.random.default_rng(4)
    scores, y = 3 * rng.normal(size=37), np.where(rng.random(37) < 0.4, 1.0, -1.0)
    if kind == "weighted":
        y *= rng.uniform(0.2, 3.0, 37)
    if kind == "padded":
        y[-9:] = 0.0
    if kind == "extreme":
        scores = 1e4 * np.sign(scores)
    if kind == "zero scores":
        scores[:] = 0.0
    if kind in ("positives only", "negatives only"):
        y = np.abs(y) if kind == "positives only" else -np.abs(y)
    if kind == "padding only":
        y[:] = 0.0
    if kind == "empty":
        scores, y = scores[:0], y[:0]
    return scores.astype(dtype), y.astype(dtype)


KINDS = (
    "plain", "weighted", "padded", "extreme", "zero scores", "positives only", "negatives only", "padding only",
    "empty",
)  # fmt: skip


def rewards_by_c(scores, y, weights=WEIGHTS, temperature=1.0):
    return by_c(lambda *v: RewardSums()(*v), scores, y, weights, np.array(temperature))


def rewards_by_perform(scores, y, weights=WEIGHTS, temperature=1.0):
    return by_perform(RewardSums(), scores, y, weights, np.array(temperature))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("temperature", [1.0, 0.5, 3.0])
@pytest.mark.parametrize("kind", KINDS)
def test_rewards_in_c_equal_the_numpy_route(kind, temperature, dtype):
    scores, y = batch(kind, dtype)
    found = rewards_by_c(scores, y, temperature=temperature)
    assert_same(found, rewards_by_perform(scores, y, temperature=temperature), dtype)


@pytest.mark.parametrize("temperature", [1.0, 0.5, 3.0])
@pytest.mark.parametrize("kind", ["plain", "weighted", "padded", "positives only", "negatives only"])
def test_slope_of_the_objective_equals_finite_differences(kind, temperature):
    scores, y = batch(kind)
    expected = central_differences(lambda f: rewards_by_perform(f, y, temperature=temperature)[0], scores)
    slope = rewards_by_c(scores, y, temperature=temperature)[2]
    np.testing.assert_allclose(slope, expected, atol=1e-9)


def transcribed_objective(f, y, weights, temperature):
    """The objective in Aesara's own elementary operations."""
    positive, negative = at.maximum(y, 0), at.maximum(-y, 0)
    parts = [
        at.sum(positive * at.sigmoid(f / temperature)),
        at.sum(negative * at.sigmoid(-f / temperature)),
        at.sum(positive * (1 - at.softplus(-f))),
        at.sum(negative * (1 - at.softplus(f))),
    ]
    return sum(weights[k] * part for k, part in enumerate(parts)) / at.sum(at.abs(y))


@pytest.mark.parametrize("kind", ["plain", "weighted", "padded"])
def test_objective_and_gradient_equal_those_of_a_graph_of_elementary_operations(kind):
    scores, y = batch(kind)
    inputs = symbolic_like(scores, y, WEIGHTS, np.array(2.0))

    def value_and_gradient(objective, mode):
        gradient = aesara.grad(objective, inputs[0])
        return aesara.function(inputs, [objective, gradient], mode=mode)(scores, y, WEIGHTS, 2.0)

    plain = value_and_gradient(transcribed_objective(*inputs), IN_PYTHON)
    fused = value_and_gradient(reward_sums(*inputs)[0], None)
    for one, other in zip(fused, plain):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rewards_of_extreme_scores_are_the_finite_limits(dtype):
    scores, y = np.array([1e4, -1e4, 1e4, -1e4], dtype), np.array([1, 1, -1, -1], dtype)
    objective, sums, slope = rewards_by_c(scores, y)
    expected = ClassSums(1.0, 1.0, 2.0 - 1e4, 2.0 - 1e4, 1.0, 1.0, 2.0, 2.0)
    np.testing.assert_allclose(sums, expected)
    np.testing.assert_allclose(slope, [0.0, WEIGHTS[2] / 4, -WEIGHTS[3] / 4, 0.0])
    assert np.isfinite(objective)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_score_of_zero_counts_as_a_negative_prediction(dtype):
    scores, y = batch("zero scores", dtype)
    sums = ClassSums(*rewards_by_c(scores, y)[1])
    assert (sums.count_pos, sums.count_neg) == (0.0, np.sum(y < 0))


@pytest.mark.parametrize("kind", ["padding only", "empty"])
def test_a_batch_without_rows_has_objective_and_slope_zero(kind):
    objective, sums, slope = rewards_by_c(*batch(kind))
    assert objective == 0.0
    assert not sums.any()
    assert not slope.any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_column_of_scores_gives_what_a_vector_gives(dtype):
    scores, y = batch("weighted", dtype)
    vector, column = rewards_by_c(scores, y), rewards_by_c(scores[:, None], y)
    for one, other in zip(vector, column):
        np.testing.assert_array_equal(one, other.ravel() if other.ndim == 2 else other)
    assert column[2].shape == (37, 1)


def test_rewards_read_arrays_with_strides():
    scores, y = batch("weighted")
    wide = np.stack([scores, -scores], axis=1)
    spread = np.repeat(WEIGHTS, 2)
    found = rewards_by_c(wide[::-1, :1], y[::-1], spread[::2])
    expected = rewards_by_c(scores, y)
    assert_same([found[0], found[1], found[2][::-1, 0]], expected, "float64")


def test_labels_in_a_column_are_refused_when_the_graph_is_built():
    with pytest.raises(TypeError, match=r"y of shape \(b,\)"):
        reward_sums(at.dmatrix(), at.dmatrix(), WEIGHTS)
    with pytest.raises(TypeError, match="of one float type"):
        reward_sums(at.fvector(), at.dvector(), WEIGHTS)
    with pytest.raises(TypeError, match="float64 weights"):
        reward_sums(at.fvector(), at.fvector(), at.fvector())


@pytest.mark.parametrize("route", [rewards_by_c, rewards_by_perform])
@pytest.mark.parametrize(
    ("scores", "weights"),
    [(np.zeros(6), WEIGHTS), (np.zeros((3, 2)), WEIGHTS), (np.zeros((2, 1)), WEIGHTS), (np.zeros(4), WEIGHTS[:3])],
)
def test_sizes_that_do_not_fit_are_refused_at_run_time(route, scores, weights):
    labels = np.ones(6 if scores.shape == (3, 2) else 4)
    with pytest.raises(ValueError, match="one score per label and 4 weights"):
        route(scores, labels, weights)


def test_logistic_rewards_keep_the_digits_of_float32_where_they_are_near_one():
    y, inputs = np.ones(1, "float32"), [at.fvector(), at.fvector()]
    sums = RewardSums()(*inputs, at.constant(WEIGHTS), at.constant(1.0, dtype="float64"))[1]
    function = aesara.function(inputs, sums, mode=IN_C)
    for u in np.linspace(-30, 30, 301).astype("float32"):
        loss = 1 - function(np.array([u]), y)[2]
        np.testing.assert_allclose(loss, np.logaddexp(0, -np.float64(u)), rtol=4e-7, atol=7e-8)
