"""The compiled functions: one compilation, exact continuation, and steps that equal NumPy transcripts."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from processes import PYTHONPATH

from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.metrics.class_rates import class_sums, reward_slopes
from aesara_nondecomp.networks import Network, linear, mlp
from aesara_nondecomp.ops.optimisers import SGD
from aesara_nondecomp.step import scoring
from aesara_nondecomp.step.train_functions import TrainFunctions

RNG = np.random.default_rng(21)
X = RNG.normal(size=(25, 3))
Y = np.where(RNG.random(25) < 0.4, 1.0, -1.0) * RNG.uniform(0.5, 2.0, 25)
Y[-3:] = 0.0
WEIGHTS = (1.0, 0.5, 0.25, 2.0)


def tanh_network(dropout: float = 0.0) -> Network:
    return mlp(3, (4,), activation="tanh", dropout=dropout, dtype="float64", seed=0)


@pytest.fixture(scope="module")
def compiled_once():
    functions = TrainFunctions(tanh_network(), "adam")
    functions.compile()
    return functions


@pytest.fixture
def functions(compiled_once):
    """The compiled network at its first weights, as if new."""
    begin(compiled_once)
    return compiled_once


@pytest.fixture(scope="module")
def linear_sgd():
    return TrainFunctions(linear(3, dtype="float64"), SGD())


def begin(functions, seed=0):
    functions.initialise(seed)
    functions.configure()
    functions.set_objective(WEIGHTS, 0.05)


def climb(functions, steps: int) -> list[np.ndarray]:
    """Parameters after some steps, each on other rows."""
    for k in range(steps):
        rows = np.arange(k % 4, 25, 2)
        functions.ascend(X[rows], Y[rows])
    return functions.parameters()


def assert_same_bits(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        np.testing.assert_array_equal(one, other)


def linear_step(w, b, rate, l2=0.0, temperature=1.0, weights=WEIGHTS):
    """A step of gradient ascent on the weighted rewards of a linear model, in NumPy."""
    margins = np.sign(Y) * (X @ w[:, 0] + b)
    of_sigmoid, of_logistic = reward_slopes(margins, temperature)
    pos = Y > 0
    ascent = np.where(pos, weights[0], weights[1]) * of_sigmoid + np.where(pos, weights[2], weights[3]) * of_logistic
    slope = Y * ascent / np.abs(Y).sum()
    gradient = X.T @ slope, slope.sum()
    norm = np.sqrt(np.sum(gradient[0] ** 2) + gradient[1] ** 2)
    return w + rate * (gradient[0][:, None] - l2 * w), b + rate * gradient[1], norm


# -- steps -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"l2": 0.3}, {"temperature": 0.5}, {"l2": 0.1, "temperature": 2.0}])
def test_steps_of_a_linear_model_equal_a_numpy_transcript(linear_sgd, options):
    linear_sgd.initialise()
    linear_sgd.configure(**options)
    w, b = np.zeros((3, 1)), np.zeros(1)
    for rate in (2.0, 1.0, 0.5, 0.25):
        linear_sgd.set_objective(WEIGHTS, rate)
        found = linear_sgd.ascend(X, Y)
        w, b, norm = linear_step(w, b, rate, **options)
        for one, other in zip([*linear_sgd.parameters(), found[1]], [w, b, norm]):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def test_a_step_of_a_network_climbs_its_finite_difference_gradient(functions):
    """The first step of Adam is the learning rate times the gradient's sign; its norm is the gradient's."""
    before, h = functions.parameters(), 1e-6

    def objective(parameters):
        with functions.using(parameters):
            return np.dot(WEIGHTS, functions.class_sums(X, Y)[:4]) / np.abs(Y).sum()

    gradient = []
    for k, p in enumerate(before):
        for index in np.ndindex(*p.shape):
            up, down = ([q.copy() for q in before] for _ in range(2))
            up[k][index] += h
            down[k][index] -= h
            gradient.append((objective(up) - objective(down)) / (2 * h))
    _, norm = functions.ascend(X, Y)
    assert norm == pytest.approx(np.linalg.norm(gradient), rel=1e-7)
    moved = np.concatenate([(q - p).ravel() for p, q in zip(before, functions.parameters())])
    np.testing.assert_allclose(moved, 0.05 * np.sign(gradient), rtol=1e-4)


def test_a_network_of_plain_operations_takes_the_same_steps_as_the_fused_one(functions, in_python):
    W, b, v, c = (aesara.shared(value, name=name) for value, name in zip(functions.parameters(), "WbVc"))
    inputs = at.dmatrix("X")
    scores = at.dot(at.tanh(at.dot(inputs, W) + b), v) + c
    own = TrainFunctions(Network(inputs, scores, [W, b, v, c]), "adam")
    own.set_objective(WEIGHTS, 0.05)
    for one, other in zip(climb(own, 5), climb(functions, 5)):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_a_vector_of_scores_trains_like_a_column(linear_sgd, in_python):
    w, b = aesara.shared(np.zeros(3), name="w"), aesara.shared(np.zeros(()), name="b")
    inputs = at.dmatrix("X")
    own = TrainFunctions(Network(inputs, at.dot(inputs, w) + b, [w, b]), "sgd")
    for functions in (own, linear_sgd):
        begin(functions)
    for one, other in zip(climb(own, 3), climb(linear_sgd, 3)):
        np.testing.assert_allclose(one.ravel(), other.ravel(), rtol=1e-10)


def test_a_network_whose_first_values_were_transposed_trains(in_python):
    w = aesara.shared(np.ones((2, 3)).T, name="w")
    inputs = at.dmatrix("X")
    functions = TrainFunctions(Network(inputs, at.dot(inputs, w).sum(axis=1), [w]), "sgd")
    begin(functions)
    assert np.all(climb(functions, 1)[0] != 1.0)


def test_float32_steps_stay_near_float64_steps(linear_sgd):
    single = TrainFunctions(linear(3), "adam")
    double = TrainFunctions(linear(3, dtype="float64"), "adam")
    for functions in (single, double):
        begin(functions)
    for _ in range(10):
        single.ascend(X.astype("float32"), Y.astype("float32"))
        double.ascend(X, Y)
    for one, other in zip(single.parameters(), double.parameters()):
        assert (one.dtype, other.dtype) == ("float32", "float64")
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_l2_decays_weights_and_leaves_biases(linear_sgd):
    linear_sgd.load([np.full((3, 1), 2.0), np.full(1, 2.0)])
    linear_sgd.configure(l2=0.25)
    linear_sgd.set_objective((0.0, 0.0, 0.0, 0.0), 0.4)
    linear_sgd.ascend(X, Y)
    w, b = linear_sgd.parameters()
    np.testing.assert_allclose(w, 2.0 * (1 - 0.4 * 0.25))
    np.testing.assert_array_equal(b, 2.0)


def test_padding_rows_change_nothing(functions):
    padded = np.concatenate([X, np.full((7, 3), 9.0)]), np.concatenate([Y, np.zeros(7)])
    found = functions.ascend(*padded)
    after = functions.parameters()
    begin(functions)
    assert found[0] == pytest.approx(functions.ascend(X, Y)[0])
    for one, other in zip(after, functions.parameters()):
        np.testing.assert_allclose(one, other, rtol=1e-10)


def test_the_average_is_loadable_and_follows_the_formula(functions):
    functions.configure(averaging=0.7)
    visited = [climb(functions, 1) for _ in range(6)]
    weights = 0.3 * 0.7 ** np.arange(6)[::-1] / (1 - 0.7**6)
    for k, average in enumerate(functions.averaged_parameters()):
        np.testing.assert_allclose(average, sum(w * p[k] for w, p in zip(weights, visited)), rtol=1e-12)


# -- compilation -------------------------------------------------------------------------------------------------


def test_ctrl_c_while_other_parameters_are_loaded_leaves_the_current_ones(functions, monkeypatch):
    begin(functions)
    before, load = functions.parameters(), functions.load

    def press(parameters):
        monkeypatch.undo()
        load([parameters[0], *before[1:]])
        raise KeyboardInterrupt

    monkeypatch.setattr(functions, "load", press)
    with pytest.raises(KeyboardInterrupt), functions.using([value + 1 for value in before]):
        pass
    assert_same_bits(functions.parameters(), before)


def test_ascend_is_compiled_once_whatever_changes(monkeypatch):
    names, function = [], aesara.function

    def counting(*arguments, **options):
        names.append(options["name"])
        return function(*arguments, **options)

    monkeypatch.setattr(aesara, "function", counting)
    functions = TrainFunctions(tanh_network(), "adam")
    assert names == [], "nothing is compiled before it is used"
    for k in range(1, 4):
        functions.initialise(k)
        functions.configure(l2=0.1 * k, averaging=0.2 * k, temperature=k)
        functions.set_objective((k, 1.0, 0.0, k), 0.1 / k)
        functions.ascend(X[: 5 * k], Y[: 5 * k])
    assert names == ["ascend"]
    functions.class_sums(X, Y)
    functions.scores(X)
    functions.scores(X)
    assert names == ["ascend", "class_sums", "scores"]


@pytest.mark.parametrize("setting", ["weights", "rate", "l2", "temperature"])
def test_every_setting_changes_the_step(linear_sgd, setting):
    linear_sgd.load([np.ones((3, 1)), np.ones(1)])
    linear_sgd.configure(**{"l2": {"l2": 0.5}, "temperature": {"temperature": 3.0}}.get(setting, {}))
    linear_sgd.set_objective(
        (5.0, 1.0, 1.0, 1.0) if setting == "weights" else WEIGHTS, 0.2 if setting == "rate" else 0.1
    )
    linear_sgd.ascend(X, Y)
    plain = linear_step(np.ones((3, 1)), np.ones(1), 0.1)[0]
    assert np.all(np.abs(linear_sgd.parameters()[0] - plain) > 1e-5)


def test_networks_of_other_depths_and_widths_share_the_compiled_modules(monkeypatch):
    y = np.array([1, -1, 1], dtype="float32")
    TrainFunctions(mlp(6, (4,), seed=0)).ascend(np.ones((3, 6), dtype="float32"), y)

    def refuse(*args, **kwargs):
        raise AssertionError("a module was compiled")

    monkeypatch.setattr(aesara.link.c.cmodule.GCC_compiler, "compile_str", refuse)
    deeper = TrainFunctions(mlp(5, (4, 3, 2), seed=0))
    deeper.set_objective((1.0, 1.0, 1.0, 1.0), 0.1)
    sums, norm = deeper.ascend(np.ones((3, 5), dtype="float32"), y)
    assert (sums.n_pos, sums.n_neg) == (2, 1) and norm > 0


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="other processors are left as they are")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_fitted_row_leaves_no_denormal_numbers_in_the_optimiser_and_none_are_flushed_elsewhere(dtype):
    settled = {"float32": 95.0, "float64": 730.0}[dtype]  # exp of minus this is denormal
    functions = TrainFunctions(linear(2, seed=0, dtype=dtype))
    functions.initialise(parameters=[np.array([[settled], [0.0]], dtype), np.zeros(1, dtype)])
    functions.set_objective((1.0, 1.0, 1.0, 1.0), 0.1)
    functions.ascend(np.array([[1, 1]], dtype), np.ones(1, dtype))
    slots = [value for name, value in functions.state().items() if name.startswith("slots")]
    assert len(slots) == 4 and not any(value.any() for value in slots)
    assert np.array(1e-40, "float32") / np.float32(2) > 0
    assert np.array(1e-310) / 2 > 0


# -- evaluation --------------------------------------------------------------------------------------------------


def test_sums_before_a_step_are_those_the_step_returns(functions):
    climb(functions, 3)
    before = functions.class_sums(X, Y)
    assert functions.ascend(X, Y)[0] == pytest.approx(before, rel=1e-14)
    assert functions.class_sums(X, Y) != before


def test_sums_are_those_of_the_scores(functions):
    functions.configure(temperature=2.0)
    assert functions.class_sums(X, Y) == pytest.approx(class_sums(functions.scores(X), Y, 2.0), rel=1e-12)


def test_intermediate_arrays_are_kept_and_results_are_not_overwritten(functions):
    first = functions.scores(X)
    kept = first.copy()
    assert not functions._scores.vm.allow_gc
    functions.scores(-X)
    np.testing.assert_array_equal(first, kept)


def test_rows_in_chunks_give_what_all_rows_give(functions, monkeypatch):
    whole = functions.scores(X), functions.features(X), functions.class_sums(X, Y)
    monkeypatch.setattr(scoring, "SCORING_ROWS", 10)
    for one, other in zip((functions.scores(X), functions.features(X), functions.class_sums(X, Y)), whole):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    assert functions.scores(X).shape == (25,)


def test_sparse_rows_are_scored_like_dense_ones(functions):
    sparse = scipy.sparse.csr_matrix(X)
    np.testing.assert_array_equal(functions.scores(sparse), functions.scores(X))
    np.testing.assert_array_equal(functions.features(sparse), functions.features(X))
    assert functions.class_sums(sparse, Y) == functions.class_sums(X, Y)


def test_no_rows_have_no_scores_and_empty_sums(functions):
    assert functions.scores(X[:0]).shape == (0,)
    assert functions.features(X[:0]).shape == (0, 4)
    assert functions.class_sums(X[:0], Y[:0]) == (0.0,) * 8


def test_a_network_without_a_lower_part_has_no_features(linear_sgd):
    with pytest.raises(ValueError, match="`features` needs a network with a lower part"):
        linear_sgd.features(X)


def test_the_head_alone_scores_and_moves_the_shared_parameters(functions):
    features, before = functions.features(X), functions.parameters()
    head = functions.head
    assert head is functions.head
    begin(head)
    functions.load(before)
    np.testing.assert_allclose(head.scores(features), functions.scores(X), rtol=1e-12)
    head.ascend(features, Y)
    after = functions.parameters()
    assert_same_bits(after[:2], before[:2])
    assert np.all(after[2] != before[2])
    np.testing.assert_allclose(head.scores(features), functions.scores(X), rtol=1e-12)


# -- settings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"l2": -0.1}, "l2 must be a finite number of at least 0, got -0.1"),
        ({"l2": np.inf}, "l2 must be a finite number"),
        ({"averaging": 1.0}, r"averaging must lie in \[0, 1\), got 1.0"),
        ({"temperature": 0.0}, "temperature must be a positive finite number, got 0.0"),
    ],
)
def test_settings_out_of_range_are_refused(linear_sgd, options, message):
    with pytest.raises(ValueError, match=message):
        linear_sgd.configure(**options)


def test_an_unknown_optimiser_is_refused_before_anything_is_compiled():
    with pytest.raises(ValueError, match="Did you mean 'momentum'"):
        TrainFunctions(linear(3), "momentun")


# -- without a compiler ------------------------------------------------------------------------------------------


def trained_numbers() -> dict[str, list]:
    """What five steps lead to, as plain numbers."""
    functions = TrainFunctions(tanh_network(), "adam")
    begin(functions)
    functions.configure(l2=0.01, averaging=0.9)
    parameters = climb(functions, 5)
    averages, scores = functions.averaged_parameters(), functions.scores(X)
    return {"numbers": np.concatenate([v.ravel() for v in (*parameters, *averages, scores)]).tolist()}


@pytest.mark.parametrize("hidden", [False, True], ids=["by the library of compiled Ops", "by NumPy"])
def test_the_numbers_are_the_same_without_a_compiler(hidden):
    code = (
        f"import sys; sys.modules.update({{'aesara_nondecomp.ops._library': None}} if {hidden} else {{}})\n"
        "import json, aesara_nondecomp, test_train_functions; from aesara_nondecomp._aesara.imports import aesara\n"
        "from aesara_nondecomp.ops import library\n"
        f"assert not aesara.config.cxx and (library.problem() is not None) == {hidden}\n"
        "print(json.dumps(test_train_functions.trained_numbers()))"
    )
    environment = {**os.environ, "AESARA_FLAGS": f"{os.environ['AESARA_FLAGS']},cxx=", "PYTHONPATH": PYTHONPATH}
    command = [sys.executable, "-c", code]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert finished.returncode == 0, finished.stderr
    found = json.loads(finished.stdout)["numbers"]
    np.testing.assert_allclose(found, trained_numbers()["numbers"], rtol=1e-10, atol=1e-10)
