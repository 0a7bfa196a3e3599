"""The table of activations: one entry makes layers in C, NumPy and JAX, `mlp`, and the export to ONNX."""

from __future__ import annotations

import numpy as np
import pytest
from op_oracles import assert_same, by_c, by_perform, layer_values

from aesara_nondecomp import TrainFunctions, measures, networks
from aesara_nondecomp._aesara.imports import jax_mode
from aesara_nondecomp.models import Model, export_onnx
from aesara_nondecomp.ops import ACTIVATIONS, dense
from aesara_nondecomp.ops.activations import Activation
from aesara_nondecomp.ops.dense import Dense, InputGradient, WeightGradient

SOFTSIGN = Activation(
    value=lambda xp, z: z / (1 + xp.abs(z)),
    slope=lambda xp, a: (1 - xp.abs(a)) ** 2,
    c_value="z / (1 + (z < 0 ? -z : z))",
    c_slope="(1 - (a < 0 ? -a : a)) * (1 - (a < 0 ? -a : a))",
    onnx=("Softsign", {}),
    initialisation="glorot",
)
X = np.random.default_rng(0).normal(size=(40, 3)).astype("float32")


@pytest.fixture
def one_more(monkeypatch):
    monkeypatch.setitem(ACTIVATIONS, "softsign", SOFTSIGN)
    return "softsign"


def test_the_first_activation_is_the_identity_whose_gradient_the_c_code_passes_on():
    assert next(iter(ACTIVATIONS)) == "identity"


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_slope_is_the_derivative_of_the_value(name):
    z = np.array([-3.0, -0.7, -0.1, 0.2, 0.9, 4.0])
    value, step = ACTIVATIONS[name].value, 1e-6
    differences = (value(np, z + step) - value(np, z - step)) / (2 * step)
    np.testing.assert_allclose(ACTIVATIONS[name].slope(np, value(np, z)), differences, atol=1e-9)


def test_one_entry_makes_a_layer_and_its_gradients_in_c_and_numpy(one_more):
    x, W, b = layer_values("float32")
    out = by_c(lambda *v: dense(*v, one_more), x, W, b)
    z = x @ W + b
    assert_same([out], [z / (1 + np.abs(z))], "float32")
    for op, other in ((InputGradient(one_more), W), (WeightGradient(one_more), x)):
        found = by_c(lambda *v, op=op: op(*v) if isinstance(op, WeightGradient) else [op(*v)], out, z, other)
        assert_same(found, by_perform(op, out, z, other), "float32")


def test_one_entry_makes_a_layer_and_its_gradients_in_jax(one_more):
    pytest.importorskip("jax", reason="the JAX backend needs the extra `jax`")
    jax_mode()  # switches 64 bits on
    from aesara_nondecomp.ops.jax_dispatch import translations

    x, W, b = layer_values("float32")
    z = x @ W + b
    for op, given in ((Dense(one_more), (x, W, b)), (InputGradient(one_more), (z / (1 + np.abs(z)), z, W)),
                      (WeightGradient(one_more), (z / (1 + np.abs(z)), z, x))):  # fmt: skip
        found = translations()[type(op)](op)(*given)
        found = [np.asarray(out) for out in (found if isinstance(found, tuple) else (found,))]
        assert_same(found, by_perform(op, *given), "float32")


def test_one_entry_makes_a_network_that_learns_and_its_initial_weights(one_more):
    network, other = (networks.mlp(3, (4,), activation=name, seed=0) for name in (one_more, "tanh"))
    np.testing.assert_array_equal(network.parameters[0].get_value(), other.parameters[0].get_value())
    functions, y = TrainFunctions(network, "sgd"), np.where(X[:, 0] > 0, 1, -1).astype("float32")
    W, b, w, c = functions.parameters()
    z = X @ W + b
    np.testing.assert_allclose(functions.scores(X), (z / (1 + np.abs(z)) @ w + c).ravel(), rtol=1e-5, atol=1e-6)
    functions.set_objective((1.0, 1.0, 0.0, 0.0), 0.1)
    first, *_, last = (functions.ascend(X, y)[0].sigmoid_pos for _ in range(20))
    assert last > first


def test_one_entry_makes_the_export_to_onnx(one_more, tmp_path):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    runtime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    functions = TrainFunctions(networks.mlp(3, (4,), activation=one_more, seed=0))
    model = Model(functions, functions.parameters(), measures.get("f1"), (0, 1), 0.5)
    export_onnx(model, tmp_path / "model.onnx")
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    (scores,) = session.run(["scores"], {"X": X})
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-6)
