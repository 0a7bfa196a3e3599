"""The input block of tables: C code against NumPy and a transcript, gradients against differences, its limits."""

from __future__ import annotations

import numpy as np
import pytest
from op_oracles import DTYPES, by_c, by_perform, central_differences

from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.ops import periodic
from aesara_nondecomp.ops.periodic import Periodic, PeriodicGradient

WEIGHTS = slice(2, 6)  # W, c, V and b among the inputs
SIZES = {
    "some columns and bins": {},
    "all columns": {"columns": [0, 1, 2, 3]},
    "no numeric column": {"columns": []},
    "no bin": {"bins": []},
    "neither": {"columns": [], "bins": []},
    "one row": {"rows": 1},
    "several blocks of rows": {"rows": 600},
    "one frequency and output": {"f": 1, "e": 1},
    "many frequencies and outputs": {"f": 21, "e": 7},
}


def block_inputs(dtype, rows=37, columns=(3, 1), bins=((0, -1.0, 2.0), (3, 0.5, 4.0), (3, 0.0, 0.0)), f=5, e=3):
    """Inputs of the Op, in its order; the bins are (column, low, rate)."""
    rng = np.random.default_rng(1)
    d = len(columns)
    X, W, c = 2 * rng.normal(size=(rows, 4)), 0.5 * rng.normal(size=(d, f)), rng.uniform(-4, 4, size=(d, f))
    V, b = rng.normal(size=(d, f, e)), rng.normal(size=(d, e))
    places = [np.array(list(given), "int32") for given in (columns, [column for column, _, _ in bins])]
    low, rate = (np.array([each[k] for each in bins], dtype) for k in (1, 2))
    return [X.astype(dtype), places[0], *(v.astype(dtype) for v in (W, c, V, b)), places[1], low, rate]


def transcript(X, columns, W, c, V, b, bin_columns, low, rate):
    """The block written out entry by entry, in float64."""
    X, W, c, V, b, low, rate = (v.astype("float64") for v in (X, W, c, V, b, low, rate))
    rows = []
    for x in X:
        own, features = x.copy(), []
        for d, column in enumerate(columns):
            s = own[column] = x[column] / np.hypot(1, x[column] / 3)
            for e in range(b.shape[1]):
                waves = (np.cos(2 * np.pi * s * W[d, f] + c[d, f]) * V[d, f, e] for f in range(W.shape[1]))
                features.append(sum(waves) + b[d, e])
        places = [min(max((x[column] - low[k]) * rate[k], 0), 1) for k, column in enumerate(bin_columns)]
        rows.append([*own, *features, *places])
    return np.array(rows)


def gradients(*inputs):
    """The gradients of W, c, V and b as `aesara.grad` finds them; the last input is that of the output."""
    *inputs, upstream = inputs
    out = periodic(*inputs)
    return aesara.grad(None, inputs[WEIGHTS], known_grads={out: upstream})


def upstream_of(inputs):
    X, columns, b, bins = inputs[0], inputs[1], inputs[5], inputs[6]
    shape = len(X), X.shape[1] + len(columns) * b.shape[1] + len(bins)
    return np.random.default_rng(2).normal(size=shape).astype(X.dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", SIZES)
def test_the_block_in_c_and_in_numpy_is_that_of_a_transcript(case, dtype):
    inputs = block_inputs(dtype, **SIZES[case])
    tolerance = {"float32": 1e-5, "float64": 1e-12}[dtype]
    (found,), expected = by_c(lambda *v: [periodic(*v)], *inputs), transcript(*inputs)
    for out in (found, by_perform(Periodic(), *inputs)[0]):
        assert (out.dtype, out.shape) == (dtype, expected.shape)
        np.testing.assert_allclose(out, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", SIZES)
def test_gradients_in_c_equal_numpy(case, dtype):
    inputs = block_inputs(dtype, **SIZES[case])
    given = [upstream_of(inputs), *inputs[:5]]
    for one, other in zip(by_c(lambda *v: PeriodicGradient()(*v), *given), by_perform(PeriodicGradient(), *given)):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        scale = max(1.0, float(np.max(np.abs(other), initial=0.0)))
        # An angle of 5 turns is known to 2e-6 in float32.
        np.testing.assert_allclose(one, other, rtol=0, atol={"float32": 1e-5, "float64": 1e-12}[dtype] * scale)


@pytest.mark.parametrize("case", ["some columns and bins", "no bin", "one frequency and output"])
def test_the_gradient_is_that_of_finite_differences(case):
    inputs = block_inputs("float64", **SIZES[case])
    upstream = upstream_of(inputs)
    found = by_c(gradients, *inputs, upstream)
    for k, slopes in zip(range(2, 6), found):

        def weighted_sum(moved, k=k):
            return np.sum(upstream * by_perform(Periodic(), *inputs[:k], moved, *inputs[k + 1 :])[0])

        np.testing.assert_allclose(slopes, central_differences(weighted_sum, inputs[k]), atol=1e-7)


def test_cosines_written_out_for_float32_keep_its_digits_over_many_turns():
    s = np.linspace(-2.9, 2.9, 20001)
    X = (s / np.sqrt(1 - (s / 3) ** 2)).astype("float32")[:, None]
    one = np.ones((1, 1), "float32")
    none = np.zeros(0, "int32"), np.zeros(0, "float32"), np.zeros(0, "float32")
    for frequency in (0.0, 0.1, 1.7):
        for phase in (0.0, 1.5, -3.1):
            given = [X, np.zeros(1, "int32"), frequency * one, phase * one, one[:, :, None], 0 * one, *none]
            (found,) = by_c(lambda *v: [periodic(*v)], *given)
            angle = 2 * np.pi * found[:, 0].astype("float64") * np.float32(frequency) + np.float32(phase)
            np.testing.assert_allclose(found[:, 1], np.cos(angle), atol=2e-6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_far_outside_stay_finite_and_their_bins_between_0_and_1(dtype):
    inputs = block_inputs(dtype)
    large = np.finfo(dtype).max / 4
    inputs[0][:6] = np.array([[large], [-large], [1e15], [-1e15], [1e7], [0]])
    (found,) = by_c(lambda *v: [periodic(*v)], *inputs)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[:5, 3], [3, -3, 3, -3, 3], rtol=1e-6)
    bins = found[:, -3:]
    assert (bins >= 0).all() and (bins <= 1).all()
    np.testing.assert_array_equal(bins[:2, :2], [[1, 1], [0, 0]])
    np.testing.assert_array_equal(bins[:, 2], 0)  # whose rate is 0
    np.testing.assert_allclose(found, by_perform(Periodic(), *inputs)[0], rtol=1e-5, atol=1e-5)


def test_a_value_that_is_no_number_is_passed_on_and_not_hidden():
    inputs = block_inputs("float32")
    inputs[0][2] = np.nan
    for out in (by_c(lambda *v: [periodic(*v)], *inputs)[0], by_perform(Periodic(), *inputs)[0]):
        assert np.isnan(out[2]).sum() == out.shape[1]
        assert not np.isnan(np.delete(out, 2, axis=0)).any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_empty_batch_gives_empty_output_and_gradients_of_zero(dtype):
    inputs = block_inputs(dtype, rows=0)
    assert by_c(periodic, *inputs).shape == (0, 13)
    found = by_c(gradients, *inputs, upstream_of(inputs))
    assert [g.shape for g in found] == [v.shape for v in inputs[WEIGHTS]]
    assert not any(g.any() for g in found)


def test_arrays_with_strides_are_read_right():
    inputs = block_inputs("float64")
    upstream = upstream_of(inputs)
    strided = [np.repeat(v, 2, axis=0)[::2] for v in inputs]
    assert not strided[0].flags.c_contiguous
    np.testing.assert_array_equal(by_c(periodic, *strided), by_c(periodic, *inputs))
    given = by_c(gradients, *strided, np.asfortranarray(upstream)), by_c(gradients, *inputs, upstream)
    for one, other in zip(*given):
        np.testing.assert_array_equal(one, other)


def test_rows_shared_between_threads_give_the_results_of_one_and_the_same_bits_each_time():
    pools = pytest.importorskip("threadpoolctl")
    inputs = block_inputs("float64", rows=20000, columns=(0, 1, 2, 3), f=16)
    upstream = upstream_of(inputs)
    results = []
    for threads in (1, 3):
        with pools.threadpool_limits(threads):
            runs = [[by_c(periodic, *inputs), *by_c(gradients, *inputs, upstream)] for _ in range(5)]
        for again in runs[1:]:
            for one, other in zip(runs[0], again):
                np.testing.assert_array_equal(one, other)
        results.append(runs[0])
    for one, other in zip(*results):
        np.testing.assert_allclose(other, one, rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("index", [-1, 4])
@pytest.mark.parametrize("which", [1, 6])
def test_an_index_that_is_none_of_a_column_is_refused(which, index):
    inputs = block_inputs("float64")
    inputs[which][1] = index
    for run in (lambda: by_c(periodic, *inputs), lambda: by_perform(Periodic(), *inputs)):
        with pytest.raises(IndexError, match="indices of the 4 columns"):
            run()


def test_lengths_that_do_not_fit_are_refused():
    inputs = block_inputs("float64")
    upstream = upstream_of(inputs)
    for k in (2, 3, 4):
        with pytest.raises(ValueError, match=r"W \(d, f\), c \(d, f\) and V \(d, f, e\)"):
            by_c(periodic, *inputs[:k], inputs[k][:, 1:], *inputs[k + 1 :])
    for k in (5, 7, 8):
        with pytest.raises(ValueError, match=r"b \(d, e\), and a low end and a rate"):
            by_c(periodic, *inputs[:k], inputs[k][1:], *inputs[k + 1 :])
    for shorter in (upstream[1:], upstream[:, :5]):
        with pytest.raises(ValueError, match="the shape of its output"):
            by_c(PeriodicGradient(), shorter, *inputs[:5])


def test_types_that_do_not_fit_are_refused_when_the_graph_is_built():
    fitting = [at.fmatrix(), at.ivector(), at.fmatrix(), at.fmatrix(), at.ftensor3(), at.fmatrix(), at.ivector()]
    with pytest.raises(TypeError, match="of one float type"):
        periodic(*fitting, at.fvector(), at.dvector())
    with pytest.raises(TypeError, match="int32 columns"):
        periodic(fitting[0], at.lvector(), *fitting[2:], at.fvector(), at.fvector())
    with pytest.raises(TypeError, match="3 dimensions"):
        periodic(at.ftensor3(), *fitting[1:], at.fvector(), at.fvector())


def test_the_rows_have_no_gradient_and_a_graph_that_asks_for_it_is_refused():
    inputs = [at.dmatrix(), at.ivector(), at.dmatrix(), at.dmatrix(), at.dtensor3(), at.dmatrix(), at.ivector()]
    out = periodic(*inputs, at.dvector(), at.dvector())
    with pytest.raises(aesara.gradient.NullTypeGradError, match="bottom of a network"):
        aesara.grad(out.sum(), inputs[0])
