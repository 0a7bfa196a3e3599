"""The network of tables: its scores against NumPy, what it starts with, what it learns, and its way to disk."""

from __future__ import annotations

import json

import numpy as np
import pytest

from aesara_nondecomp import Model, TrainFunctions, fit, load_model, measures
from aesara_nondecomp._aesara.imports import aesara
from aesara_nondecomp.data import InputEncoder, Standardiser
from aesara_nondecomp.models.onnx import export_onnx
from aesara_nondecomp.networks import build, make, mlp, tabular

D = 4
BINS = ((1, -1.0, 0.5), (1, 0.5, 0.5), (3, 0.0, 2.0))
RNG = np.random.default_rng(0)
X = 2 * RNG.normal(size=(50, D))
SHAPES = {
    "all columns": {},
    "some columns and bins": {"numeric": [2, 0], "bins": BINS, "frequencies": 5, "outputs": 2},
    "no numeric column": {"numeric": [], "bins": BINS},
    "neither": {"numeric": ()},
}


def values_of(network):
    return [p.get_value() for p in network.parameters]


def expected_scores(network, rows):
    """In float64, from the description and the parameters."""
    said = network.description
    W, c, V, b, *layers = (value.astype("float64") for value in values_of(network))
    own = rows.copy()
    own[:, said["numeric"]] /= np.sqrt(1 + (rows[:, said["numeric"]] / 3) ** 2)
    waves = np.cos(2 * np.pi * own[:, said["numeric"], None] * W + c)
    features = (waves[:, :, :, None] * V).sum(axis=2) + b
    bins = [np.clip((rows[:, k] - low) / ((high - low) or np.inf), 0, 1) for k, low, high in said["bins"]]
    layer = np.column_stack([own, features.reshape(len(rows), -1), *bins])
    for k, (W_k, b_k) in enumerate(zip(layers[::2], layers[1::2])):
        layer = layer @ W_k + b_k if k == len(layers) // 2 - 1 else np.tanh(layer @ W_k + b_k)
    return layer[:, 0]


def model_of(network, **options):
    functions = TrainFunctions(network)
    return Model(functions, functions.parameters(), measures.get("f1"), (0, 1), 0.3, **options)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-12)])
@pytest.mark.parametrize("case", SHAPES)
def test_scores_equal_a_numpy_forward_pass(case, dtype, tolerance):
    network = tabular(D, (6, 5), activation="tanh", dtype=dtype, seed=1, **SHAPES[case])
    rows = X.astype(dtype)
    found = TrainFunctions(network).scores(rows)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected_scores(network, rows.astype("float64")), atol=tolerance)


def test_rows_far_outside_have_finite_scores():
    functions = TrainFunctions(tabular(D, (6,), bins=BINS, numeric=range(D), seed=1))
    rows = np.array([[1e30, -1e30, 1e15, -1e15], [0, 0, 0, 0]], "float32")
    assert np.isfinite(functions.scores(rows)).all()


def test_the_block_starts_as_described_and_the_dense_layers_as_those_of_an_mlp():
    network = tabular(300, (7,), seed=3)
    W, c, V, b, *layers = values_of(network)
    assert np.std(W) == pytest.approx(0.1, rel=0.05) and abs(W.mean()) < 0.01
    assert np.abs(c).max() <= np.pi and np.std(c) == pytest.approx(np.pi / 3**0.5, rel=0.05)
    for uniform in (V, b):
        assert np.abs(uniform).max() <= 0.25 and np.std(uniform) == pytest.approx(0.25 / 3**0.5, rel=0.05)
    assert [v.shape for v in (W, c, V, b)] == [(300, 16), (300, 16), (300, 16, 3), (300, 3)]
    like = values_of(mlp(300 * 4, (7,), seed=0))
    assert [v.shape for v in layers] == [v.shape for v in like]
    assert np.std(layers[0]) == pytest.approx(np.std(like[0]), rel=0.05)


def test_weights_decay_and_frequencies_phases_and_biases_do_not():
    network = tabular(D, (6, 5), bins=BINS, seed=1)
    assert [p.name for p in network.parameters] == ["W", "c", "V", "b", "W0", "b0", "W1", "b1", "W2", "b2"]
    assert [p.name for p in network.decayed] == ["V", "W0", "W1", "W2"]
    head = network.head_network()
    assert [p.name for p in head.parameters] == ["W2", "b2"] and [p.name for p in head.decayed] == ["W2"]


def test_equal_seeds_give_equal_networks_and_a_description_of_plain_values_builds_them_again():
    network = tabular(D, (6,), numeric=np.array([2, 0]), bins=BINS, dropout=0.25, seed=3)
    again = build(json.loads(json.dumps(network.description)))
    again.initialise(3)
    for one, other in zip(values_of(network), values_of(again)):
        np.testing.assert_array_equal(one, other)
    assert again.description == network.description
    assert network.description["numeric"] == [2, 0]
    assert network.description["bins"] == [list(each) for each in BINS]
    assert make("tabular", D, seed=3).description["numeric"] == [0, 1, 2, 3]


def test_columns_and_bins_are_no_parameters():
    network = tabular(D, (6,), bins=BINS, seed=1)
    shared = {
        v.name: v.get_value()
        for v in aesara.graph.basic.graph_inputs([network.scores])
        if isinstance(v, aesara.compile.sharedvalue.SharedVariable) and v not in network.parameters
    }
    assert shared.keys() == {"columns", "bin_columns", "bin_low", "bin_rate"}
    np.testing.assert_allclose(shared["bin_rate"], [1 / 1.5, 0, 0.5], rtol=1e-6)


def test_a_bin_between_two_neighbouring_numbers_is_finite():
    low = 1e-40
    functions = TrainFunctions(tabular(1, (), numeric=(), bins=[(0, 0.0, low), (0, 0.0, 5e-324)], seed=1))
    assert np.isfinite(functions.scores(np.array([[0], [1], [-1]], "float32"))).all()


def test_a_saved_model_gives_the_same_scores_to_the_last_bit(tmp_path):
    encoder = InputEncoder(standardiser=Standardiser.fit(X))
    model = model_of(tabular(D, (6,), numeric=[0, 2], bins=BINS, seed=1), encoder=encoder)
    model.save(tmp_path / "model.npz")
    loaded = load_model(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert loaded.network_description == model.network_description


def test_it_learns_bumps_of_a_column_that_a_plain_network_of_its_size_misses():
    rng = np.random.default_rng(5)
    rows = rng.uniform(-2, 2, size=(2000, D)).astype("float32")
    y = (np.cos(5 * rows[:, 0]) > 0).astype(int)
    options = {
        "steps": 400,
        "seed": 0,
        "batch_size": 256,
        "validation": None,
        "optimizer": "adam",
        "schedule": "constant",
    }
    right = [
        np.mean(fit(rows, y, "qmean", network=network, **options).predict(rows) == y)
        for network in (tabular(D, (8,), seed=0), mlp(D, (8,), seed=0))
    ]
    assert right[0] > 0.9 > right[1] + 0.1


def test_fit_takes_it_by_name_and_without_numeric_columns_or_with_dropout():
    rows = X.astype("float32")
    y = (X[:, 0] > 0).astype(int)
    own = [tabular(D, (4,), numeric=(), seed=0), tabular(D, (4,), bins=BINS, dropout=0.3, seed=0)]
    for network in ("tabular", *own):
        model = fit(rows, y, "qmean", network=network, steps=30, batch_size=16, seed=0)
        assert np.isfinite(model.decision_function(rows)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"numeric": [4]}, "a column must be a whole number from 0 to 3, got 4"),
        ({"numeric": [-1]}, "a column must be a whole number from 0 to 3, got -1"),
        ({"numeric": [1.0]}, "a column must be a whole number"),
        ({"numeric": [True]}, "a column must be a whole number"),
        ({"numeric": [1, 1]}, r"each numeric column must be listed once, got \[1, 1\]"),
        ({"bins": [(4, 0, 1)]}, "a column must be a whole number from 0 to 3, got 4"),
        ({"bins": [(0, 1, 0)]}, "finite ends in ascending order"),
        ({"bins": [(0, 0, np.inf)]}, "finite ends in ascending order"),
        ({"bins": [(0, np.nan, 1)]}, "finite ends in ascending order"),
        ({"bins": [(0, "a", 1)]}, "an end of a bin must be a number, got 'a'"),
        ({"bins": [(0, 1)]}, r"a bin must be \(column, low end, high end\)"),
        ({"bins": [3]}, r"a bin must be \(column, low end, high end\), got 3"),
        ({"frequencies": 0}, "frequencies must be a whole number of at least 1"),
        ({"outputs": 0}, "outputs must be a whole number of at least 1"),
        ({"hidden": (0,)}, "a hidden width must be a whole number"),
        ({"activation": "rele"}, "Did you mean 'relu'"),
        ({"dropout": 1.0}, "dropout must lie in"),
        ({"dtype": "float16"}, "dtype must be 'float32' or 'float64'"),
    ],
)
def test_settings_out_of_range_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        tabular(D, **options)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", SHAPES)
def test_onnx_gives_the_scores_and_labels_of_the_model(case, dtype, tmp_path):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    runtime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    encoder = InputEncoder(standardiser=Standardiser.fit(X, clip=1.5) if dtype == "float32" else None)
    model = model_of(tabular(D, (6, 5), dtype=dtype, seed=1, **SHAPES[case]), encoder=encoder)
    model.threshold = float(np.sort(model.decision_function(X))[24:26].mean())
    export_onnx(model, tmp_path / "model.onnx")
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    scores, positive = session.run(["scores", "positive"], {"X": X.astype(dtype)})
    assert scores == pytest.approx(model.decision_function(X), abs=1e-5) and scores.dtype == dtype
    assert np.array_equal(positive, model.predict(X) == 1) and positive.mean() == 0.5
