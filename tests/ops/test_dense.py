"""Dense layers: C code against NumPy, gradients against finite differences, any number of threads, any BLAS."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from op_oracles import DTYPES, TOLERANCE, assert_same, by_c, by_perform, central_differences, layer_values
from processes import PYTHONPATH

from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.ops import ACTIVATIONS, dense
from aesara_nondecomp.ops.dense import Dense, InputGradient, WeightGradient

TRANSCRIPTS = {
    "identity": lambda z: z,
    "relu": lambda z: (z + np.abs(z)) / 2,
    "leaky_relu": lambda z: z * (0.01 + 0.99 * (z > 0)),
    "elu": lambda z: np.where(z > 0, z, np.exp(np.minimum(z, 0)) - 1),
    "tanh": lambda z: 1 - 2 / (1 + np.exp(2 * z)),
    "sigmoid": lambda z: 0.5 + np.tanh(z / 2) / 2,
    "softplus": lambda z: np.logaddexp(0, z),
}


def layer_gradients(activation):
    """Builds the gradients of a dense layer, as `aesara.grad` finds them, from x, W, b and the upstream gradient."""

    def build(x, W, b, upstream):
        out = dense(x, W, b, activation)
        return aesara.grad(None, [x, W, b], known_grads={out: upstream})

    return build


def test_every_activation_has_a_transcript():
    assert TRANSCRIPTS.keys() == ACTIVATIONS.keys()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_dense_in_c_equals_numpy_and_a_transcript(activation, dtype):
    x, W, b = layer_values(dtype)
    (found,) = by_c(lambda *v: [dense(*v, activation)], x, W, b)
    assert_same([found], by_perform(Dense(activation), x, W, b), dtype)
    np.testing.assert_allclose(found, TRANSCRIPTS[activation](x @ W + b), atol=10 * TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("rows, h", [(200, 4), (200, 1), (300, 900)])
def test_gradients_of_a_layer_in_c_equal_numpy(activation, rows, h, dtype):
    """So many rows that the column sums take several runs; with 900 columns also the products."""
    rng = np.random.default_rng(2)
    x, W, b = (rng.normal(size=shape).astype(dtype) for shape in ((rows, 5), (5, h), h))
    (out,) = by_perform(Dense(activation), x, W, b)
    upstream = rng.normal(size=out.shape).astype(dtype)
    for op, other in ((InputGradient(activation), W), (WeightGradient(activation), x)):
        found = by_c(lambda *v, op=op: op(*v) if isinstance(op, WeightGradient) else [op(*v)], out, upstream, other)
        assert_same(found, by_perform(op, out, upstream, other), dtype)


def test_a_layer_whose_rows_are_shared_between_threads_is_that_of_one_and_leaves_their_number_alone():
    pools = pytest.importorskip("threadpoolctl")
    rng = np.random.default_rng(2)
    x, W, b, upstream = (rng.normal(size=shape) for shape in ((2000, 130), (130, 140), 140, (2000, 140)))
    results = []
    for threads in (1, 3):
        with pools.threadpool_limits(threads):
            before = pools.threadpool_info()
            gradients = by_c(layer_gradients("tanh"), x, W, b, upstream)
            results.append([by_c(lambda *v: dense(*v, "tanh"), x, W, b), *gradients])
            assert before == pools.threadpool_info()
    for one, other in zip(*results):
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("activation, exact", [("tanh", np.tanh), ("sigmoid", lambda z: 1 / (1 + np.exp(-z)))])
def test_functions_written_out_for_float32_keep_its_digits_for_small_and_large_arguments(activation, exact):
    x = np.concatenate([np.geomspace(1e-30, 80, 4000), np.linspace(0.5, 1, 4000)]).astype("float32")
    x = np.concatenate([-x, [0], x]).astype("float32")[:, None]
    (found,) = by_c(lambda *v: [dense(*v, activation)], x, np.ones((1, 1), "float32"), np.zeros(1, "float32"))
    np.testing.assert_allclose(found, exact(x.astype("float64")), rtol=4e-7)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradient_of_a_dense_layer_equals_finite_differences(activation):
    values = layer_values("float64")
    assert np.abs(values[0] @ values[1] + values[2]).min() > 1e-3, "too near a kink for finite differences"
    upstream = np.random.default_rng(5).normal(size=(7, 4))
    found = by_c(layer_gradients(activation), *values, upstream)
    for k, value in enumerate(values):

        def weighted_sum(moved, k=k):
            z = [*values[:k], moved, *values[k + 1 :]]
            return np.sum(upstream * TRANSCRIPTS[activation](z[0] @ z[1] + z[2]))

        np.testing.assert_allclose(found[k], central_differences(weighted_sum, value), atol=1e-8)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations_of_extreme_inputs_are_finite(activation):
    x = np.array([[-800.0], [800.0]])
    (found,) = by_c(lambda *v: [dense(*v, activation)], x, np.ones((1, 1)), np.zeros(1))
    assert_same([found], by_perform(Dense(activation), x, np.ones((1, 1)), np.zeros(1)), "float64")
    assert np.isfinite(found).all()


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_value_that_is_no_number_is_passed_on_and_not_hidden(activation):
    values = np.full((1, 1), np.nan), np.ones((1, 1)), np.zeros(1)
    assert np.isnan(by_c(lambda *v: dense(*v, activation), *values)).all()
    assert np.isnan(by_perform(Dense(activation), *values)[0]).all()


STRIDED = {
    "transposed": lambda a: np.ascontiguousarray(a.T).T,
    "every second row": lambda a: np.repeat(a, 2, axis=0)[::2],
    "reversed": lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
}


@pytest.mark.parametrize("layout", STRIDED)
def test_layer_and_gradients_read_arrays_with_strides(layout):
    x, W, b = layer_values("float64")
    upstream = np.random.default_rng(5).normal(size=(7, 4))
    arrays = [*(STRIDED[layout](a) for a in (x, W)), np.repeat(b, 2)[::2], STRIDED[layout](upstream)]
    assert not any(a.flags.c_contiguous for a in arrays)
    found, expected = (by_c(layer_gradients("tanh"), *given) for given in (arrays, [x, W, b, upstream]))
    for one, other in zip(found, expected):
        np.testing.assert_array_equal(one, other)
    forward = by_c(lambda *v: dense(*v, "tanh"), *arrays[:3])
    np.testing.assert_array_equal(forward, by_c(lambda *v: dense(*v, "tanh"), x, W, b))


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_empty_batch_gives_empty_output_and_gradients_of_zero(dtype):
    x, W, b = layer_values(dtype, rows=0)
    upstream = np.zeros((0, 4), dtype)
    assert by_c(lambda *v: dense(*v, "relu"), x, W, b).shape == (0, 4)
    dx, dW, db = by_c(layer_gradients("relu"), x, W, b, upstream)
    assert (dx.shape, dW.shape, db.shape) == ((0, 5), (5, 4), (4,))
    assert not dW.any()
    assert not db.any()


def test_a_layer_without_input_columns_gives_its_biases():
    b = np.array([0.5, -2.0])
    found = by_c(dense, np.zeros((3, 0)), np.zeros((0, 2)), b)
    np.testing.assert_array_equal(found, np.tile(b, (3, 1)))


def test_products_are_right_without_a_linked_blas():
    """Aesara then brings a substitute, whose declarations differ from those of a BLAS."""
    code = (
        "import aesara_nondecomp, test_dense; from aesara_nondecomp._aesara.imports import aesara\n"
        "assert not aesara.config.blas__ldflags\n"
        "test_dense.test_dense_in_c_equals_numpy_and_a_transcript('relu', 'float32')\n"
        "for rows, h in ((200, 4), (200, 1), (300, 900)):\n"
        "    test_dense.test_gradients_of_a_layer_in_c_equal_numpy('relu', rows, h, 'float64')\n"
        "test_dense.test_a_layer_without_input_columns_gives_its_biases()\n"
    )
    flags = f"{os.environ['AESARA_FLAGS']},blas__ldflags="
    environment = {**os.environ, "AESARA_FLAGS": flags, "PYTHONPATH": PYTHONPATH}
    command = [sys.executable, "-c", code]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert finished.returncode == 0, finished.stderr


def test_a_layer_of_another_width_is_refused_with_both_widths():
    x, W, b = layer_values("float64")
    with pytest.raises(ValueError, match="needs 5 columns .* and 4 biases, got 3 and 4"):
        by_c(dense, x[:, :3], W, b)
    with pytest.raises(ValueError, match="and 4 biases, got 5 and 2"):
        by_c(dense, x, W, b[:2])
    for op, other in ((InputGradient("relu"), W), (WeightGradient("relu"), x)):
        with pytest.raises(ValueError, match="the shape of its output"):
            by_c(op, x @ W, (x @ W)[:2], other)
    with pytest.raises(ValueError, match="as wide as its output"):
        by_c(InputGradient("relu"), x, x, W)
    with pytest.raises(ValueError, match="as many rows as its output"):
        by_c(WeightGradient("relu"), x, x, x[:2])


def test_types_and_names_that_do_not_fit_are_refused_when_the_graph_is_built():
    with pytest.raises(TypeError, match="of one float type"):
        dense(at.fmatrix(), at.dmatrix(), at.dvector())
    with pytest.raises(TypeError, match=r"b \(h,\)"):
        dense(at.dmatrix(), at.dmatrix(), at.dmatrix())
    with pytest.raises(ValueError, match="Did you mean 'sigmoid'"):
        dense(at.dmatrix(), at.dmatrix(), at.dvector(), "sigmod")
