"""Rows that are checked while they are scored: what is not finite is found, and what is computed stays the same."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from op_oracles import DTYPES, IN_C, by_c, by_perform, layer_values
from processes import PYTHONPATH

from aesara_nondecomp import Model, TrainFunctions, measures, mlp
from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.data import InputEncoder, Standardiser
from aesara_nondecomp.networks import Network
from aesara_nondecomp.ops import checked, dense
from aesara_nondecomp.ops.dense import CheckedDense
from aesara_nondecomp.ops.finite import AllFinite
from aesara_nondecomp.ops.scaling import Standardise
from aesara_nondecomp.step import scoring

RNG = np.random.default_rng(8)
X = RNG.normal(size=(23, 6))
SCALING = Standardiser.fit(10 * X + 1)


@pytest.fixture(scope="module")
def layers():
    return TrainFunctions(mlp(6, (4,), seed=0))


@pytest.fixture(scope="module")
def own():
    """A network without a layer of ours, from which more can be read than scores."""
    inputs, w = at.fmatrix(), aesara.shared(np.ones((6, 1), "float32"))
    extras = {"squares": inputs**2, "a sum": inputs.sum(axis=0)}
    return TrainFunctions(Network(inputs, at.dot(inputs, w), [w], extras=extras))


def model_of(functions, scaling):
    return Model(functions, functions.parameters(), measures.get("f1"), (0, 1), 0.5, InputEncoder(standardiser=scaling))


def two_layers(x, W, b):
    return dense(dense(x, W, b, "tanh"), W.T, at.zeros_like(W[:, 0]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_one_entry_that_is_not_finite_is_found_wherever_it_is(dtype, strange):
    X = np.full((5000, 41), np.finfo(dtype).max, dtype)  # rows enough for several threads
    X[0, 0] = 5e-324  # a denormal number, or 0
    W, b = np.zeros((41, 64), dtype), np.zeros(64, dtype)
    numbers = np.zeros(41), np.ones(41), np.asarray(10.0)
    finders = {
        "alone": lambda x: AllFinite()(x),
        "by a layer": lambda x: CheckedDense("relu")(x, W, b)[1],
        "by standardising": lambda x: Standardise()(x, *numbers)[1],
    }
    x = at.TensorType(dtype, shape=(None, None))()
    find = aesara.function([x], [build(x) for build in finders.values()], mode=IN_C)
    for whole in (X, X[:0], X[:, ::-1], np.asfortranarray(X)):
        assert find(whole) == [True] * 3
    for place in [(0, 0), (2499, 40), (2500, 0), (4999, 40)]:
        broken = X.copy()
        broken[place] = strange
        assert find(broken) == find(np.asfortranarray(broken)) == [False] * 3
        assert not by_perform(AllFinite(), broken)[0] and not by_perform(CheckedDense("relu"), broken, W, b)[1]
        assert not by_perform(Standardise(), broken, *numbers)[1]


def test_a_checked_output_is_the_output():
    x, W, b = layer_values("float32")
    plain, both = (by_c(build, x, W, b) for build in (two_layers, lambda *v: checked(two_layers(*v), v[0])))
    np.testing.assert_array_equal(both[0], plain)
    assert both[1]


def test_rows_that_no_layer_takes_and_token_ids_are_checked_too():
    rows, ids = at.dmatrix(), at.imatrix()
    (output, of_rows), (_, of_ids) = checked(rows + 1, rows), checked(ids, ids)
    assert of_rows.owner.op == AllFinite() and of_ids.data
    assert output.owner.inputs[0] is rows
    with pytest.raises(TypeError, match="float32 or float64 are needed, got 2 dimensions of int32"):
        AllFinite()(ids)


def test_a_compiler_that_takes_all_numbers_to_be_finite_finds_what_is_not():
    code = (
        "import test_checked_rows; from aesara_nondecomp._aesara.imports import aesara\n"
        "assert '-ffast-math' in aesara.config.gcc__cxxflags\n"
        "test_checked_rows.test_one_entry_that_is_not_finite_is_found_wherever_it_is('float32', float('nan'))\n"
        "test_checked_rows.test_one_entry_that_is_not_finite_is_found_wherever_it_is('float64', float('inf'))\n"
    )
    flags = f"{os.environ['AESARA_FLAGS']},gcc__cxxflags=-ffast-math"
    environment = {**os.environ, "AESARA_FLAGS": flags, "PYTHONPATH": PYTHONPATH}
    command = [sys.executable, "-c", code]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert finished.returncode == 0, finished.stderr


# -- chunk by chunk --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "scaling"),
    [(bad, scaling) for scaling in (None, SCALING) for bad in (np.nan, np.inf, -np.inf)] + [(1e300, None)],
    ids=lambda value: "standardised" if value is SCALING else None,
)
@pytest.mark.parametrize("place", [2, 17], ids=["first chunk", "later chunk"])
def test_rows_that_are_not_finite_are_refused_with_their_row_index_among_all(layers, monkeypatch, bad, scaling, place):
    monkeypatch.setattr(scoring, "SCORING_ROWS", 5)
    model, broken = model_of(layers, scaling), X.copy()
    expected = layers.scores(X.astype("float32") if scaling is None else scaling.transform(X, "float32"))
    np.testing.assert_array_equal(model.decision_function(X), expected)
    broken[place, 2] = bad
    checked_as = "float32" if scaling is None else "float64"
    with pytest.raises(ValueError, match=f"finite in {checked_as}.*row {place}, column 2"):
        model.decision_function(broken)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_features_and_extras_of_rows_that_are_not_finite_are_refused_too(layers, own, monkeypatch, bad):
    monkeypatch.setattr(scoring, "SCORING_ROWS", 5)
    model, rows, broken = model_of(own, SCALING), X.astype("float32"), X.copy()
    np.testing.assert_allclose(model.read_out("squares", X), np.square(SCALING.transform(X, "float32")), rtol=1e-6)
    assert layers.features(rows).shape == (23, 4)
    broken[17, 2] = bad  # which would be cut to an ordinary number, were it infinite and scaled first
    readers = (
        model.decision_function,
        lambda b: model.read_out("squares", b),
        lambda b: own.extra("squares", b.astype("float32")),
        lambda b: layers.features(b.astype("float32")),
    )
    for read in readers:
        with pytest.raises(ValueError, match="finite in float.*row 17, column 2"):
            read(broken)


def test_an_extra_without_a_row_for_each_row_is_refused(own):
    with pytest.raises(ValueError, match=r"one row for each row of X, got \(6,\)"):
        own.extra("a sum", X.astype("float32"))


def test_extras_take_no_copy_of_the_rows(own):
    rows = np.zeros((200_000, 6))
    model = model_of(own, SCALING)
    model.read_out("squares", rows[:10])
    tracemalloc.start()
    found = model.read_out("squares", rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - found.nbytes < found.nbytes / 3


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int16"])
def test_rows_of_another_dtype_become_that_of_the_network(layers, dtype):
    rows = np.round(9 * X).astype(dtype)
    np.testing.assert_array_equal(layers.scores(rows), layers.scores(rows.astype("float32")))
    np.testing.assert_array_equal(layers.features(rows), layers.features(rows.astype("float32")))


def test_rows_too_large_for_the_network_are_refused_before_and_after_its_functions_are_compiled():
    functions, rows = TrainFunctions(mlp(6, (4,), seed=0)), X.copy()
    rows[17, 2] = 1e300
    for _ in range(2):
        with pytest.raises(ValueError, match="finite in float32.*row 17, column 2"):
            functions.scores(rows)
        functions.scores(X)


@pytest.mark.parametrize("dtype", ["float64", "int64"])
@pytest.mark.parametrize("to", ["float32", "float64"])
def test_wider_rows_keep_their_digits_until_they_are_standardised(monkeypatch, dtype, to):
    monkeypatch.setattr(scoring, "SCORING_ROWS", 5)
    functions = TrainFunctions(mlp(6, (4,), dtype=to, seed=0))
    rows = (10**9 + np.round(9 * X)).astype(dtype)
    scaling = Standardiser.fit(rows.astype("float64"))
    small = Standardiser(scaling.mean_ - 10**9, scaling.scale_, scaling.clip)
    expected = functions.scores((rows - 10**9).astype(to), small)
    np.testing.assert_array_equal(functions.scores(rows, scaling), expected)
    assert np.unique(expected).size > 20  # in float32 all rows would be near 10^9, 64 apart


def test_standardised_rows_of_each_dtype_have_a_function_of_their_own_and_float32_rows_keep_theirs(layers, own):
    functions = TrainFunctions(mlp(6, (4,), seed=0))
    single, double = X.astype("float32"), X.astype("float32").astype("float64")
    first = functions.scores(single, SCALING)
    np.testing.assert_array_equal(first, functions.scores(SCALING.transform(single)))
    np.testing.assert_array_equal(functions.scores(double, SCALING), first)
    np.testing.assert_array_equal(functions.scores(single, SCALING), first)
    np.testing.assert_array_equal(own.extra("squares", double, SCALING), own.extra("squares", single, SCALING))
    double[17, 2] = np.inf
    with pytest.raises(ValueError, match="finite in float64.*row 17, column 2"):
        functions.scores(double, SCALING)


@pytest.mark.parametrize("shape, dtype", [((7, 3, 6), "float32"), ((7, 6), "float16"), ((7,), "float32")])
def test_rows_of_other_shapes_and_types_are_scored_and_checked_too(shape, dtype):
    inputs, w = at.TensorType(dtype, shape=(None,) * len(shape))(), aesara.shared(np.float32(2))
    summed = inputs.astype("float32").sum(axis=tuple(range(1, len(shape)))) if len(shape) > 1 else inputs
    functions, rows = TrainFunctions(Network(inputs, summed * w, [w])), np.ones(shape, dtype)
    np.testing.assert_allclose(functions.scores(rows), 2 * np.prod(shape[1:]) * np.ones(7))
    rows[5] = np.inf
    with pytest.raises(ValueError, match="finite.*row 5, column 0"):
        functions.scores(rows)
