"""The JAX backend gives what the C backend gives: Op by Op, along the golden trajectories, and through `fit`."""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from oracles import FixedBatches, LinearProblem

import aesara_nondecomp as an
from aesara_nondecomp import TrainFunctions, measures, networks, train
from aesara_nondecomp._aesara.imports import aesara, at, jax_mode
from aesara_nondecomp.drivers import DAME, DENIM, DUPLE, ClassWeighted, CrossEntropy, StructANN
from aesara_nondecomp.networks import Network
from aesara_nondecomp.ops import ACTIVATIONS, FusedUpdate, RowUpdate, optimisers
from aesara_nondecomp.ops.attention import AttentionGradient, AttentionPool
from aesara_nondecomp.ops.cell_rewards import CellRewards
from aesara_nondecomp.ops.dense import CheckedDense, Dense, InputGradient, WeightGradient
from aesara_nondecomp.ops.dropout import Dropout
from aesara_nondecomp.ops.embedding import Rows
from aesara_nondecomp.ops.finite import AllFinite
from aesara_nondecomp.ops.lstm import LSTM, LSTMGradient
from aesara_nondecomp.ops.periodic import Periodic, PeriodicGradient
from aesara_nondecomp.ops.rewards import CellRewardSums, RewardSums
from aesara_nondecomp.ops.scaling import Standardise
from aesara_nondecomp.step import backends
from aesara_nondecomp.training.checkpoints import Checkpoint

jax = pytest.importorskip("jax", reason="the JAX backend needs the extra `jax`")
jax_mode()  # switches 64 bits on, before any array is made

from aesara_nondecomp.ops import jax_dispatch  # noqa: E402
from aesara_nondecomp.step.device_rows import DeviceRows  # noqa: E402

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden_trajectories.json").read_text())
INPUTS, RUNS = GOLDEN["inputs"], GOLDEN["runs"]
PROBLEM = LinearProblem(*(np.array(INPUTS[name]) for name in ("X", "y", "w0")))
LITERAL = {"forgetting": 1.0, "evaluate": "new"}

# -- Op by Op --------------------------------------------------------------------------------------------------------

RNG = np.random.default_rng(0)
b, d, h, T, V = 6, 5, 3, 4, 9
IDS = np.array([[1, 2, 3, 4], [2, 2, 0, 0], [0, 0, 0, 0], [5, 0, 1, 0], [8, 8, 8, 8], [0, 0, 0, 7]], dtype="int32")


def normal(*shape):
    return RNG.normal(size=shape)


def performed(op, inputs):
    """The outputs of the Op's NumPy implementation."""
    node = op.make_node(*[at.as_tensor_variable(x) for x in inputs])
    outputs = [[None] for _ in node.outputs]
    extra = {"params": None} if isinstance(op, (Dense, InputGradient, WeightGradient, LSTMGradient)) else {}
    with np.errstate(invalid="ignore"):  # a row of padding alone, whose -inf - -inf is not used
        op.perform(node, [np.array(x) for x in inputs], outputs, **extra)
    return [out[0] for out in outputs]


def translated(op, inputs):
    outputs = jax.jit(jax_dispatch.translations()[type(op)](op))(*inputs)
    return [np.asarray(out) for out in (outputs if isinstance(outputs, tuple) else (outputs,))]


def update_inputs(rule, t):
    scalars = [np.asarray(0.05), np.asarray(0.9), np.asarray(t), np.array([0.0, 0.1])]
    return [*scalars, normal(d, h), normal(d, h), *(np.abs(normal(d, h)) for _ in rule.slots), normal(d, h)]


def row_update_inputs(rule, t):
    touched = np.minimum(np.arange(V), t).astype("float64")
    slots = [np.abs(normal(V, d)) for _ in rule.slots]
    scalars = [np.asarray(0.05), np.asarray(0.9), np.asarray(t), np.array([0.0, 0.2])]
    return [*scalars, IDS, normal(T * b, d), normal(V, d), normal(V, d), touched, *slots]


def lstm_inputs():
    return [normal(T * b, d), IDS, normal(d, 4 * h), normal(h, 4 * h), normal(4 * h)]


def lstm_gradient_inputs(of_last):
    x, mask, W, U, bias = given = lstm_inputs()
    kept = performed(LSTM(), given)[1:]
    return [normal(b if of_last else T * b, h), x, mask, W, U, *kept]


def output_of(activation):
    return ACTIVATIONS[activation].value(np, normal(b, h))


def standardise_inputs():
    return [30 * normal(b, d), normal(d), np.abs(normal(d)) + 0.1, np.asarray(2.0)]


def attention_weights():
    return performed(AttentionPool(), [normal(T * b, 1), normal(T * b, h), IDS])[1]


def periodic_inputs():
    columns, bin_columns = np.array([2, 0], "int32"), np.array([1, 1, 0], "int32")
    weights = [normal(2, 6), normal(2, 6), normal(2, 6, h), normal(2, h)]
    return [3 * normal(b, d), columns, *weights, bin_columns, normal(3), np.array([1.0, 0.5, 0.0])]


def periodic_gradient_inputs():
    given = periodic_inputs()
    return [normal(b, d + 2 * h + 3), *given[:5]]


def cell_inputs():
    cell, weight = np.array([0, 3, -1, 2, 0, 1], "int32"), np.array([1.0, 0.5, 2.0, 0.0, 1.5, 1.0])
    target, rest = np.array([0, 2, 1, 2], "int32"), [normal(4, 3), np.array([0.3, 0.0, 1.0, 2.0])]
    return {
        "plain": [normal(b, 3), cell, weight, target, *rest, np.zeros(3), np.asarray(1.0)],
        "shifted": [normal(b, 3) * 40, cell, weight, target, *rest, normal(3), np.asarray(0.7)],
        "of padding": [normal(b, 3), np.full(b, -1, "int32"), weight, target, *rest, np.zeros(3), np.asarray(1.0)],
    }


SIGNED = np.array([1.0, -1.0, 0.0, 2.5, -0.5, 1.0])
CASES = {
    "rewards": (RewardSums(), [normal(b), SIGNED, np.array([1.0, 0.5, 2.0, 0.1]), np.asarray(0.7)]),
    "rewards of a column": (RewardSums(), [normal(b, 1) * 40, SIGNED, np.array([1.0, 0, 0, 0.1]), np.asarray(1.0)]),
    "rewards of cells": (
        CellRewardSums(),
        [normal(b), SIGNED, np.array([1, 0, 3, 3, 2, 1], "int32"), normal(4, 2), np.asarray(0.7)],
    ),
    "rewards of padding": (RewardSums(), [normal(b), np.zeros(b), np.ones(4), np.asarray(1.0)]),
    **{f"dense {name}": (Dense(name), [normal(b, d), normal(d, h), normal(h)]) for name in ACTIVATIONS},
    "dense, checked": (CheckedDense("relu"), [normal(b, d), normal(d, h), normal(h)]),
    "finite": (AllFinite(), [np.array([[1.0, np.inf]])]),
    **{
        f"{op.__name__} of {name}": (op(name), [output_of(name), normal(b, h), normal(*shape)])
        for name in ACTIVATIONS
        for op, shape in ((InputGradient, (d, h)), (WeightGradient, (b, d)))
    },
    "standardising": (Standardise(), standardise_inputs()),
    "standardising wide rows": (Standardise("float32"), standardise_inputs()),
    **{
        f"{name} at step {t}": (FusedUpdate(rule, 1), update_inputs(rule, t))
        for name in ("sgd", "momentum", "nesterov", "adam", "adamw")
        for rule in [optimisers.get(name)]
        for t in (0.0, 7.0)
    },
    **{
        f"rows by {name} at step {t}": (RowUpdate(rule, 1), row_update_inputs(rule, t))
        for name in ("sgd", "adam")
        for rule in [optimisers.get(name)]
        for t in (0.0, 7.0)
    },
    "lookup": (Rows(), [normal(V, d), IDS]),
    "lstm": (LSTM(), lstm_inputs()),
    "lstm back from the last state": (LSTMGradient(True), lstm_gradient_inputs(True)),
    "lstm back from all states": (LSTMGradient(False), lstm_gradient_inputs(False)),
    "attention": (AttentionPool(), [normal(T * b, 1), normal(T * b, h), IDS]),
    "attention back": (AttentionGradient(), [normal(b, h), attention_weights(), normal(T * b, h)]),
    "periodic": (Periodic(), periodic_inputs()),
    "periodic back": (PeriodicGradient(), periodic_gradient_inputs()),
    "dropout": (Dropout(), [normal(b, h), np.arange(b * h).reshape(b, h) % 3 // 2, np.asarray(1.5)]),
    **{f"cell rewards {name}": (CellRewards(), given) for name, given in cell_inputs().items()},
}


@pytest.mark.parametrize("case", CASES)
def test_the_translation_of_an_op_gives_its_numpy_result(case):
    op, inputs = CASES[case]
    for got, expected in zip(translated(op, inputs), performed(op, inputs)):
        assert got.dtype == np.asarray(expected).dtype and got.shape == np.shape(expected)
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_every_fused_op_has_a_case():
    assert {type(op) for op, _ in CASES.values()} == set(jax_dispatch.translations())


# -- the step --------------------------------------------------------------------------------------------------------


def without_bias():
    X, w = at.matrix("X", dtype="float32"), aesara.shared(PROBLEM.w.astype("float32"), name="w")
    return Network(X, at.dot(X, w), [w])


@pytest.fixture(scope="module")
def compiled():
    return {backend: TrainFunctions(without_bias(), "sgd", backend) for backend in ("c", "jax")}


def walk(functions, driver, batches):
    functions.initialise()
    stub = FixedBatches(batches, PROBLEM.prior, "float32")
    steps = islice(train(functions, driver, stub, learning_rate=INPUTS["eta"]), 5)
    return [[*functions.parameters()[0], *step.sums, step.gradient_norm, *step.duals.values()] for step in steps]


PARTS = [PROBLEM.part(rows) for rows in INPUTS["minibatches_S0_to_S5"]]
DRIVERS = {
    "duple_qmean": lambda p: DUPLE(measures.get("qmean"), p, **LITERAL),
    "duple_min": lambda p: DUPLE(measures.get("min"), p, **LITERAL),
    "duple_negkld": lambda p: DUPLE(measures.get("kld"), p, **LITERAL),
    "duple_ns_qmean": lambda p: DUPLE(measures.get("qmean"), p, counts=True, **LITERAL),
    "duple_qmean_minibatch": lambda p: DUPLE(measures.get("qmean"), p, **LITERAL),
    "denim_negkld": lambda p: DENIM(measures.get("kld"), p, **LITERAL),
    "denim_qmeasure_1": lambda p: DENIM(measures.get("qmeasure"), p, **LITERAL),
    "denim_ns_qmeasure_1": lambda p: DENIM(measures.get("qmeasure"), p, counts=True, eps=1 / 16, **LITERAL),
    "dame_f1": lambda p: DAME(measures.get("f1"), p, inner_steps=INPUTS["dame_inner_steps"], **LITERAL),
    "cross_entropy": CrossEntropy,
    "class_weighted": ClassWeighted,
    "struct_ann": lambda p: StructANN("f1"),
}


@pytest.mark.parametrize("run", DRIVERS)
def test_jax_walks_with_c_along_the_golden_trajectories(run, compiled):
    batches = PARTS if run.endswith("minibatch") else (PROBLEM,)
    paths = [walk(compiled[backend], DRIVERS[run](PROBLEM.prior), batches) for backend in ("jax", "c")]
    np.testing.assert_allclose(*paths, atol=1e-5)
    if run in RUNS and run != "dame_f1":
        golden = [record["w"] for record in RUNS[run][1:]]
        np.testing.assert_allclose([step[: len(PROBLEM.w)] for step in paths[0]], golden, atol=1e-5)


def by_numpy(inputs, outputs, name, updates=()):
    """A function by the Ops' NumPy implementations, which other tests hold against the C code."""
    mode = aesara.compile.mode.Mode(linker="py", optimizer=None)
    return aesara.function(inputs, outputs, updates=updates, name=name, mode=mode, accept_inplace=True)


NETWORKS = {
    "mlp": lambda: networks.mlp(d, (4, 3), seed=0),
    "tabular": lambda: networks.tabular(d, (4, 3), bins=[(0, -1.0, 0.5)], seed=0),
    "members": lambda: networks.tabular(d, (4, 3), members=3, seed=0),
    "lstm": lambda: networks.lstm(V, 4, 3, seed=0),
    "attention": lambda: networks.attention(V, 4, 3, 3, 3, seed=0),
}


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # attention over padding alone, in NumPy
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_take_the_steps_of_the_numpy_implementations(name, monkeypatch):
    monkeypatch.setitem(backends.BACKENDS, "numpy", by_numpy)
    y = np.array([1, -1, -1, 1, -1, 1], dtype="float32")
    ends = []
    for backend in ("numpy", "jax"):
        functions = TrainFunctions(NETWORKS[name](), "momentum", backend)
        X = IDS if functions.network.takes_tokens else np.random.default_rng(1).normal(size=(b, d)).astype("float32")
        functions.initialise(0)
        functions.configure(l2=0.01, averaging=0.8)
        for k in range(6):
            functions.set_objective((1.0, 0.5, 0.2 * k, 0.3), 0.05)
            functions.ascend(X, y)
        ends.append([*functions.parameters(), *functions.averaged_parameters(), functions.scores(X)])
    for got, expected in zip(*ends):
        np.testing.assert_allclose(got, expected, atol=1e-5)


def test_no_change_of_weights_rates_or_settings_is_traced_again(monkeypatch):
    traces = []
    inner = jax_dispatch._reward_sums
    monkeypatch.setattr(jax_dispatch, "_reward_sums", lambda *args: traces.append(1) or inner(*args))
    functions = TrainFunctions(networks.linear(d), "adam", "jax")
    X, y = np.ones((b, d), "float32"), np.ones(b, "float32")
    for k in range(5):
        functions.configure(l2=0.1 * k, averaging=0.1 * k, temperature=1.0 + k)
        functions.set_objective((k, 1.0, 0.5 * k, 0.0), 0.1 / (k + 1))
        functions.ascend(X, y)
    state = functions.state()
    functions.initialise(1)
    functions.restore(state)
    functions.ascend(X, y)
    assert len(traces) == 1


# -- fit -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, d)).astype("float32")
    return X, (X[:, 0] + 0.5 * rng.normal(size=200) > 0.8).astype(int)


def test_fit_gives_the_model_of_the_c_backend(data):
    models = [
        an.fit(*data, "qmean", network=(4,), steps=30, batch_size=32, seed=0, optimizer="sgd", schedule="constant",
               validation=an.EarlyStopping(0.25, patience=None, tune_threshold=False), backend=backend)
        for backend in ("c", "jax")
    ]  # fmt: skip
    for got, expected in zip(models[1].parameters, models[0].parameters):
        np.testing.assert_allclose(got, expected, atol=1e-5)
    assert isinstance(models[1].predict(data[0]), np.ndarray)
    assert models[1].best_step == models[0].best_step


def test_rows_on_the_device_are_the_rows(data):
    X, _ = data
    rows = DeviceRows(X)
    got = rows.batch(np.array([3, -1, 0]))
    assert isinstance(got, jax.Array)
    np.testing.assert_array_equal(got, [X[3], np.zeros(d), X[0]])
    np.testing.assert_array_equal(rows.part(np.array([5, 2]))[:], X[[5, 2]])


# -- dropout ---------------------------------------------------------------------------------------------------------


def test_masks_drop_their_share_and_change_with_every_call_and_the_seed():
    network = networks.mlp(d, (40, 3), activation="identity", dropout=0.25, seed=0)
    call = backends.compile_jax([network.inputs], network.training_scores, "training_scores")
    plain = backends.compile_jax([network.inputs], network.scores, "scores")
    X = normal(1, d).astype("float32").repeat(500, axis=0)
    draws = []
    for seed in (1, 1, 2):
        network.initialise(seed)
        draws.append([np.asarray(call(X)) for _ in range(4)])
    np.testing.assert_array_equal(draws[0], draws[1])
    assert len({array.tobytes() for array in draws[0] + draws[2]}) == 8
    # Without an activation the mean over masks is the score without dropout.
    scores, drawn = np.asarray(plain(X))[0], np.concatenate(draws[2])
    assert abs(drawn.mean() - scores) < 4 * drawn.std() / len(drawn) ** 0.5


def test_a_mask_keeps_and_scales_as_it_should():
    network = networks.mlp(1, (400,), activation="identity", dropout=0.25, seed=0)
    network.parameters[0].set_value(np.ones((1, 400), "float32"))
    network.parameters[2].set_value(np.ones((400, 1), "float32"))
    call = backends.compile_jax([network.inputs], network.training_scores, "training_scores")
    kept = np.asarray(call(np.ones((50, 1), "float32"))) * 0.75  # a count of units, of each row's own mask
    np.testing.assert_allclose(kept, np.rint(kept), atol=1e-3)
    assert abs(kept.mean() - 300) < 4 * (400 * 0.25 * 0.75 / 50) ** 0.5 and len(np.unique(np.rint(kept))) > 5


@pytest.mark.parametrize("build", [lambda: networks.mlp(d, (4,), dropout=0.5, seed=0),
                                   lambda: networks.attention(V, 4, 3, 3, 3, dropout=0.5, seed=0)])  # fmt: skip
def test_new_masks_are_not_traced_again(build, monkeypatch):
    traces, inner = [], jax_dispatch._reward_sums
    monkeypatch.setattr(jax_dispatch, "_reward_sums", lambda *args: traces.append(1) or inner(*args))
    functions = TrainFunctions(build(), "sgd", "jax")
    X = IDS if functions.network.takes_tokens else np.ones((b, d), "float32")
    functions.set_objective((1.0, 1.0, 1.0, 1.0), 0.0)
    norms = {functions.ascend(X, np.sign(SIGNED + 0.1).astype("float32"))[1] for _ in range(6)}
    assert len(traces) == 1 and len(norms) > 1


def test_a_checkpoint_of_the_other_backend_is_refused(data, tmp_path):
    options = {"network": lambda d: networks.mlp(d, (4,)), "steps": 20, "seed": 3, "validation": None}
    an.fit(*data, "qmean", checkpoint=tmp_path / "run.npz", on_step=lambda step: step.step == 7, **options)
    with pytest.raises(ValueError, match="is of another run: it differs in backend"):
        an.fit(*data, "qmean", backend="jax", checkpoint=Checkpoint(tmp_path / "run.npz", resume=True), **options)


def test_a_resumed_run_with_dropout_ends_as_the_undisturbed_one(data, tmp_path):
    options = {
        "network": TrainFunctions(networks.mlp(d, (4,), dropout=0.5), "sgd", "jax"),
        "steps": 20,
        "seed": 3,
        "validation": None,
    }
    undisturbed, other = (an.fit(*data, "qmean", batch_size=32, **{**options, "seed": seed}) for seed in (3, 4))
    for stop in (7, None):
        resumed = an.fit(*data, "qmean", batch_size=32, checkpoint=Checkpoint(tmp_path / "run.npz", resume=True),
                         on_step=lambda step, stop=stop: step.step == stop, **options)  # fmt: skip
    for got, expected, different in zip(resumed.parameters, undisturbed.parameters, other.parameters):
        np.testing.assert_array_equal(got, expected)
        assert not np.array_equal(different, expected)


# -- what is refused -------------------------------------------------------------------------------------------------


def test_an_op_without_translation_is_named_with_its_layer():
    X, W = at.matrix("X", dtype="float32"), aesara.shared(np.zeros((d, 1), "float32"), name="W")
    functions = TrainFunctions(Network(X, at.sort(at.dot(X, W)), [W]), backend="jax")
    with pytest.raises(ValueError, match="backend='jax' cannot take this network: SortOp.*use backend='c'"):
        functions.scores(np.zeros((2, d), "float32"))


def test_an_unknown_backend_is_refused_with_a_suggestion():
    with pytest.raises(ValueError, match="jax"):
        TrainFunctions(networks.linear(d), backend="jaxx")


def test_a_missing_jax_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ImportError, match=r"aesara-nondecomp\[jax\]"):
        TrainFunctions(networks.linear(d), backend="jax")


@pytest.mark.parametrize("standardize", [True, False])
def test_fit_of_several_classes_gives_the_model_of_the_c_backend(standardize):
    """Also where rows are kept on the device, and with a rule chosen on rows held out."""
    rng = np.random.default_rng(0)
    y = rng.choice(3, 300, p=[0.6, 0.3, 0.1])
    X = (rng.normal(size=(300, 2)) + np.array([[0, 0], [2, 0], [0, 2]])[y]).astype("float32")
    options = {"network": (4,), "steps": 15, "batch_size": 64, "validation": 0.3, "seed": 0}
    by_c, by_jax = (
        an.fit(X, y, "min_recall", backend=backend, standardize=standardize, **options) for backend in ("c", "jax")
    )
    assert by_jax.functions.backend == "jax"
    assert by_jax.decision_function(X) == pytest.approx(by_c.decision_function(X), abs=1e-4)
    assert by_jax.predict_proba(X) == pytest.approx(by_c.predict_proba(X), abs=1e-4)


def test_fit_of_several_labels_gives_the_model_of_the_c_backend():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)).astype("float32")
    Y = (X @ [[1, 0, -1], [0, 1, 1]] + rng.normal(size=(300, 3)) > [0.3, 0.8, 1.2]).astype(int)
    options = {"network": (4,), "steps": 15, "batch_size": 64, "validation": 0.3, "seed": 0}
    by_c, by_jax = (an.fit(X, Y, "f1", backend=backend, **options) for backend in ("c", "jax"))
    assert by_jax.functions.backend == "jax"
    assert by_jax.decision_function(X) == pytest.approx(by_c.decision_function(X), abs=1e-4)
    assert by_jax.predict_proba(X) == pytest.approx(by_c.predict_proba(X), abs=1e-4)
    assert by_jax.thresholds == pytest.approx(by_c.thresholds, abs=1e-4)
