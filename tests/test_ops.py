"""The fused Ops: C code against NumPy, gradients against finite differences and Aesara's own derivatives."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from aesara_nondecomp import data
from aesara_nondecomp._aesara import aesara, at
from aesara_nondecomp.ops import ACTIVATIONS, dense, reward_sums
from aesara_nondecomp.ops.dense import Dense, InputGradient, WeightGradient
from aesara_nondecomp.ops.rewards import RewardSums
from aesara_nondecomp.ops.scaling import Standardise
from aesara_nondecomp.rates import ClassSums

DTYPES = ("float32", "float64")
TOLERANCE = {"float32": 1e-6, "float64": 1e-12}
IN_C = aesara.compile.mode.Mode(linker="cvm", optimizer=None)
IN_PYTHON = aesara.compile.mode.Mode(linker="py", optimizer=None)
TESTS = Path(__file__).parent
WEIGHTS = np.array([1.5, 0.25, 0.5, 2.0])


def symbolic_like(*arrays):
    return [at.TensorType(str(a.dtype), shape=(None,) * a.ndim)() for a in arrays]


def by_c(build, *arrays):
    """Values of the outputs that `build` makes of symbolic inputs, every node of the graph running its C code."""
    inputs = symbolic_like(*arrays)
    function = aesara.function(inputs, build(*inputs), mode=IN_C, on_unused_input="ignore")
    assert all(hasattr(thunk, "cthunk") for thunk in function.vm.thunks)
    return function(*arrays)


def by_perform(op, *arrays):
    """Outputs of one Op by its NumPy implementation."""
    node = op.make_node(*symbolic_like(*arrays))
    storage = [[None] for _ in node.outputs]
    op.perform(node, arrays, storage)
    return [cell[0] for cell in storage]


def central_differences(function, x, step=1e-6):
    """Derivatives of a scalar function in every entry of the float64 array `x`."""
    slopes = np.zeros_like(x)
    for index in np.ndindex(*x.shape):
        moved = [x.copy(), x.copy()]
        moved[0][index] += step
        moved[1][index] -= step
        slopes[index] = (function(moved[0]) - function(moved[1])) / (2 * step)
    return slopes


def assert_same(found, expected, dtype):
    """Entries agree relative to the largest one, and types and shapes are the same."""
    for one, other in zip(found, expected):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        scale = max(1.0, float(np.max(np.abs(other), initial=0.0)))
        np.testing.assert_allclose(one, other, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype] * scale)


# -- rewards -----------------------------------------------------------------------------------------------------


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


# -- dense layers ------------------------------------------------------------------------------------------------

TRANSCRIPTS = {
    "identity": lambda z: z,
    "relu": lambda z: (z + np.abs(z)) / 2,
    "leaky_relu": lambda z: z * (0.01 + 0.99 * (z > 0)),
    "elu": lambda z: np.where(z > 0, z, np.exp(np.minimum(z, 0)) - 1),
    "tanh": lambda z: 1 - 2 / (1 + np.exp(2 * z)),
    "sigmoid": lambda z: 0.5 + np.tanh(z / 2) / 2,
    "softplus": lambda z: np.logaddexp(0, z),
}


def layer_values(dtype: str, rows: int = 7):
    rng = np.random.default_rng(11)
    x, W, b = rng.normal(size=(rows, 5)), rng.normal(size=(5, 4)), rng.normal(size=4)
    return x.astype(dtype), W.astype(dtype), b.astype(dtype)


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


def test_logistic_rewards_keep_the_digits_of_float32_where_they_are_near_one():
    y, inputs = np.ones(1, "float32"), [at.fvector(), at.fvector()]
    sums = RewardSums()(*inputs, at.constant(WEIGHTS), at.constant(1.0, dtype="float64"))[1]
    function = aesara.function(inputs, sums, mode=IN_C)
    for u in np.linspace(-30, 30, 301).astype("float32"):
        loss = 1 - function(np.array([u]), y)[2]
        np.testing.assert_allclose(loss, np.logaddexp(0, -np.float64(u)), rtol=4e-7, atol=7e-8)


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
        "import aesara_nondecomp, test_ops; from aesara_nondecomp._aesara import aesara\n"
        "assert not aesara.config.blas__ldflags\n"
        "test_ops.test_dense_in_c_equals_numpy_and_a_transcript('relu', 'float32')\n"
        "for rows, h in ((200, 4), (200, 1), (300, 900)):\n"
        "    test_ops.test_gradients_of_a_layer_in_c_equal_numpy('relu', rows, h, 'float64')\n"
        "test_ops.test_a_layer_without_input_columns_gives_its_biases()\n"
    )
    flags = f"{os.environ['AESARA_FLAGS']},blas__ldflags="
    path = os.pathsep.join([str(TESTS), str(TESTS.parent)])
    environment = {**os.environ, "AESARA_FLAGS": flags, "PYTHONPATH": path}
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


# -- standardising -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("clip", [0.5, 10.0, np.inf])
def test_rows_are_standardised_as_in_training_to_the_last_bit(dtype, clip):
    rng = np.random.default_rng(3)
    X = (1e4 + 300 * rng.normal(size=(203, 7))).astype(dtype)
    X[:3] = [[np.finfo(dtype).max], [-np.finfo(dtype).max], [0]]
    scaling = data.Standardiser.fit(X[3:], clip=clip)
    given = (X, scaling.mean_, scaling.scale_, np.asarray(scaling.clip))
    (found,) = by_c(lambda *v: [Standardise()(*v)], *given)
    np.testing.assert_array_equal(found, scaling.transform(X))
    np.testing.assert_array_equal(found, by_perform(Standardise(), *given)[0])


def test_standardising_refuses_other_columns_and_types():
    with pytest.raises(ValueError, match="a mean and a scale for each column"):
        by_c(Standardise(), np.zeros((3, 2)), np.zeros(3), np.ones(3), np.asarray(1.0))
    with pytest.raises(TypeError, match="float64 means"):
        Standardise()(at.fmatrix(), at.fvector(), at.fvector(), at.fscalar())
