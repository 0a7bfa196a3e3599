"""Attention: the pooling Op against NumPy and differences, and weights that can be read off a network."""

from __future__ import annotations

import numpy as np
import pytest
from op_oracles import by_c, by_perform, central_differences

from aesara_nondecomp import TrainFunctions, networks
from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.ops.attention import AttentionGradient, AttentionPool, attention_pool

B, T, H = 4, 5, 3
MASK = np.array([[1, 1, 1, 1, 1], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 1, 0, 1, 1]], dtype="int32")


def case(dtype, seed=0):
    rng = np.random.default_rng(seed)
    return 3 * rng.normal(size=(T * B, 1)).astype(dtype), rng.normal(size=(T * B, H)).astype(dtype), MASK


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-6), ("float64", 1e-13)])
def test_context_weights_and_gradients_in_c_are_those_of_numpy(dtype, tolerance):
    inputs = case(dtype)
    context, weights = by_perform(AttentionPool(), *inputs)
    for found, expected in zip(by_c(lambda *v: list(AttentionPool()(*v)), *inputs), (context, weights)):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    given = (np.random.default_rng(1).normal(size=(B, H)).astype(dtype), weights, inputs[1])
    slopes = by_c(lambda *v: list(AttentionGradient()(*v)), *given)
    for found, expected in zip(slopes, by_perform(AttentionGradient(), *given)):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(found, expected, rtol=10 * tolerance, atol=10 * tolerance)


def test_weights_are_a_softmax_over_the_valid_tokens():
    energies, states, _ = case("float64")
    context, weights = by_perform(AttentionPool(), energies, states, MASK)
    for r in range(B):
        valid = np.flatnonzero(MASK[r])
        own = np.exp(energies.reshape(T, B)[valid, r])
        np.testing.assert_allclose(weights[r, valid], own / own.sum() if len(valid) else [], rtol=1e-12)
        np.testing.assert_allclose(context[r], weights[r] @ states.reshape(T, B, H)[:, r], rtol=1e-12, atol=1e-15)
    assert (weights[MASK == 0] == 0).all() and (context[2] == 0).all()


@pytest.mark.parametrize("mask", [MASK, np.zeros_like(MASK)], ids=["one row of padding", "nothing but padding"])
def test_rows_of_padding_are_zero_without_a_floating_point_warning(mask):
    energies, states, _ = case("float32")
    with np.errstate(all="raise"):
        context, weights = by_perform(AttentionPool(), energies, states, mask)
    assert (context[2] == 0).all() and (weights[2] == 0).all()


def test_energies_of_any_size_give_finite_weights():
    energies, states, mask = case("float32")
    energies[::3] = 1e4
    context, weights = by_c(lambda *v: list(AttentionPool()(*v)), energies, states, mask)
    assert np.isfinite(context).all()
    np.testing.assert_allclose(weights.sum(axis=1), mask.any(axis=1), rtol=1e-6)


def test_the_gradient_is_that_of_central_differences():
    energies, states, _ = case("float64")
    upstream = np.random.default_rng(2).normal(size=(B, H))

    def value(energies, states):
        return float((upstream * by_perform(AttentionPool(), energies, states, MASK)[0]).sum())

    def slopes(energies, states):
        context, _ = attention_pool(energies, states, at.constant(MASK))
        return aesara.grad((upstream * context).sum(), [energies, states])

    of_energies, of_states = by_c(slopes, energies, states)
    np.testing.assert_allclose(of_energies, central_differences(lambda e: value(e, states), energies), atol=1e-8)
    np.testing.assert_allclose(of_states, central_differences(lambda s: value(energies, s), states), atol=1e-8)


def test_a_trained_network_attends_less_to_what_stands_before_the_word_that_decides():
    functions = TrainFunctions(networks.attention(12, 4, 5, 6, 7, seed=0))
    functions.set_objective((0.0, 0.0, 1.0, 1.0), 0.02)
    rng = np.random.default_rng(0)
    ids = rng.choice([1, 2, 3, 4, 6, 7], size=(60, 6)).astype("int32")
    ids[:, 4:] = 0
    places = rng.integers(0, 4, size=30)
    ids[:30][np.arange(30), places] = 5
    ids[30:][np.arange(30), places] = 8
    y = np.where(np.arange(60) < 30, 1, -1).astype("float32")
    for _ in range(150):
        functions.ascend(ids, y)
    assert ((functions.scores(ids) > 0) == (y > 0)).all()
    weights = functions.extra("attention_weights", ids)
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-5)
    assert (weights[ids == 0] == 0).all()
    # The encoder carries the word's meaning on, so weight may lie on it or behind it.
    before = np.arange(6) < np.tile(places, 2)[:, None]
    assert weights[before].mean() < 0.75 * weights[~before & (ids != 0)].mean()
    with pytest.raises(ValueError, match="unknown extra 'weights'.*attention_weights"):
        functions.extra("weights", ids)
