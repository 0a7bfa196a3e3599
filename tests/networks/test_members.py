"""Members that share layers: scores and steps against NumPy, member by member, and the way to disk and ONNX."""

from __future__ import annotations

import json

import numpy as np
import pytest
from op_oracles import central_differences

from aesara_nondecomp import Model, TrainFunctions, fit, load_model, measures
from aesara_nondecomp.data import InputEncoder, Standardiser
from aesara_nondecomp.metrics.cell_rates import cell_sums
from aesara_nondecomp.metrics.class_rates import class_sums
from aesara_nondecomp.models.onnx import export_onnx
from aesara_nondecomp.networks import build, tabular
from aesara_nondecomp.networks.build import parameter_shapes
from aesara_nondecomp.ops.rewards import cell_reward_sums_numpy, reward_sums_numpy

D, K = 3, 4
BINS = ((1, -1.0, 0.5),)
RNG = np.random.default_rng(8)
X = RNG.normal(size=(30, D))
Y = np.where(RNG.random(30) < 0.4, 1.0, -1.0) * RNG.uniform(0.5, 2.0, 30)
Y[-2:] = 0.0
CELL = 2 * RNG.integers(0, 2, 30).astype("int32") + (Y > 0)
WEIGHTS, CELL_WEIGHTS = np.array([1.0, 0.5, 0.25, 2.0]), np.arange(8.0).reshape(4, 2)


def network_of(hidden=(5, 4), dtype="float64", members=K, **options):
    options = {"frequencies": 3, "outputs": 2, "bins": BINS, "activation": "tanh", "seed": 1, **options}
    return tabular(D, hidden, members=members, dtype=dtype, **options)


def member_scores(parameters, rows):
    """Of each member, one after another: the block's columns times its factors, the shared layers, its own unit."""
    W, c, V, b, R, *layers = (np.asarray(value, "float64") for value in parameters)
    own = rows / np.sqrt(1 + (rows / 3) ** 2)
    waves = np.cos(2 * np.pi * own[:, :, None] * W + c)
    bins = np.clip((rows[:, [1]] + 1.0) / 1.5, 0, 1)
    below = np.column_stack([own, ((waves[:, :, :, None] * V).sum(axis=2) + b).reshape(len(rows), -1), bins])
    scores = []
    for j, factors in enumerate(R):
        layer = below * factors
        for W_k, b_k in zip(layers[:-2:2], layers[1:-2:2]):
            layer = np.tanh(layer @ W_k + b_k)
        scores.append(layer @ layers[-2][:, j] + layers[-1][j])
    return np.column_stack(scores)


def model_of(network, **options):
    functions = TrainFunctions(network)
    return Model(functions, functions.parameters(), measures.get("f1"), (0, 1), 0.3, **options)


@pytest.fixture(scope="module")
def functions():
    functions = TrainFunctions(network_of(), "sgd")
    functions.set_objective(WEIGHTS, 0.05)
    functions.set_cell_objective(CELL_WEIGHTS, 0.05)
    return functions


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-12)])
@pytest.mark.parametrize("hidden", [(5,), (5, 4), (5, 4, 2)])
def test_the_score_is_the_mean_of_the_members_each_computed_alone(hidden, dtype, tolerance):
    network = network_of(hidden, dtype)
    found = TrainFunctions(network).scores(X.astype(dtype))
    expected = member_scores([p.get_value() for p in network.parameters], X)
    assert expected.std(axis=1).min() > 1e-3
    np.testing.assert_allclose(found, expected.mean(axis=1), atol=tolerance)


def test_each_member_climbs_its_own_rewards_and_class_sums_are_those_of_the_mean(functions):
    functions.network.initialise(2)
    start = functions.parameters()
    sums, gradients = functions.gradients(X, Y)

    def objective(flat):
        ends = np.cumsum([value.size for value in start])[:-1]
        parameters = [part.reshape(value.shape) for part, value in zip(np.split(flat, ends), start)]
        return np.mean([reward_sums_numpy(f, Y, WEIGHTS)[0] for f in member_scores(parameters, X).T])

    slopes = central_differences(objective, np.concatenate([value.ravel() for value in start]))
    np.testing.assert_allclose(np.concatenate([g.ravel() for g in gradients]), slopes, atol=1e-8)
    np.testing.assert_allclose(sums, class_sums(member_scores(start, X).mean(axis=1), Y), rtol=1e-10)


def test_so_do_members_whose_rows_are_weighted_by_cells(functions):
    functions.network.initialise(2)
    start = functions.parameters()
    sums, of_cells, norm = functions.ascend_cells(X, Y, CELL)
    moved = functions.parameters()
    mean = member_scores(start, X).mean(axis=1)
    np.testing.assert_allclose(sums, class_sums(mean, Y), rtol=1e-10)
    np.testing.assert_allclose(of_cells, cell_sums(mean, Y, CELL, 4), rtol=1e-10)

    def objective(parameters):
        scores = member_scores(parameters, X)
        return np.mean([cell_reward_sums_numpy(f, Y, CELL, CELL_WEIGHTS)[0] for f in scores.T])

    # A step of plain ascent is the rate times the gradient, whose norm is returned.
    step = np.sqrt(sum(np.sum((new - old) ** 2) for new, old in zip(moved, start)))
    assert step == pytest.approx(0.05 * norm, rel=1e-9)
    ahead, behind = ([old + sign * 1e-4 * (new - old) for new, old in zip(moved, start)] for sign in (1, -1))
    assert objective(ahead) - objective(behind) == pytest.approx(2e-4 * 0.05 * norm**2, rel=1e-6)


def test_drivers_of_rows_move_the_mean_score(functions):
    functions.network.initialise(2)
    features = functions.features(X)
    *_, of_weights, of_biases = functions.row_gradients(X, Y)
    of_members = np.einsum("b,bkh->hk", Y, features.reshape(len(Y), K, -1)) / K
    np.testing.assert_allclose(of_weights, of_members, rtol=1e-9)
    np.testing.assert_allclose(of_biases, np.full(K, Y.sum() / K))


def test_one_member_is_the_network_without_members_to_the_last_bit():
    one = network_of(members=1)
    options = {"frequencies": 3, "outputs": 2, "bins": BINS, "activation": "tanh", "dtype": "float64", "seed": 1}
    plain = tabular(D, (5, 4), **options)
    assert one.member_scores is None and one.description == plain.description
    for first, second in zip(one.parameters, plain.parameters):
        np.testing.assert_array_equal(first.get_value(), second.get_value())


def test_factors_start_as_random_signs_that_do_not_decay():
    network = tabular(40, (6,), members=8, seed=3)
    names = [p.name for p in network.parameters]
    assert names == ["W", "c", "V", "b", "R", "W0", "b0", "W1", "b1"]
    signs = network.parameters[4].get_value()
    assert signs.shape == (8, 160) and set(signs.ravel()) == {-1.0, 1.0} and abs(signs.mean()) < 0.1
    assert [p.name for p in network.decayed] == ["V", "W0", "W1"]
    assert parameter_shapes(network.description) == [p.get_value().shape for p in network.parameters]
    assert network.parameters[7].get_value().shape == (6, 8)


def test_the_head_alone_is_trained_member_by_member():
    network = network_of()
    head = network.head_network()
    functions, whole = TrainFunctions(head, "sgd"), TrainFunctions(network, "sgd")
    features = whole.features(X)
    assert features.shape == (30, K * 4)
    np.testing.assert_allclose(functions.scores(features), whole.scores(X), rtol=1e-12)
    for each in (functions, whole):
        each.set_objective(WEIGHTS, 0.05)
    of_head, of_whole = functions.gradients(features, Y)[1], whole.gradients(X, Y)[1]
    for found, expected in zip(of_head, of_whole[-2:]):
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_dropout_drops_units_of_the_members_in_training_only():
    network = network_of(dropout=0.4, dtype="float32")
    functions = TrainFunctions(network, "sgd")
    functions.set_objective(WEIGHTS, 0.0)
    rows, signs = X.astype("float32"), Y.astype("float32")
    first, second = functions.ascend(rows, signs)[0], functions.ascend(rows, signs)[0]
    assert first != second
    expected = member_scores(functions.parameters(), X).mean(axis=1)
    np.testing.assert_allclose(functions.scores(rows), expected, atol=1e-5)


def test_a_saved_model_of_members_gives_the_same_scores_to_the_last_bit(tmp_path):
    model = model_of(network_of(dtype="float32"), encoder=InputEncoder(standardiser=Standardiser.fit(X)))
    model.save(tmp_path / "model.npz")
    loaded = load_model(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    again = build(json.loads(json.dumps(loaded.network_description)))
    assert again.description == model.network_description and again.description["members"] == K


@pytest.mark.parametrize("hidden", [(5,), (5, 4)])
def test_onnx_gives_the_mean_score_of_the_members(hidden, tmp_path):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    runtime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    model = model_of(network_of(hidden, "float32"), encoder=InputEncoder(standardiser=Standardiser.fit(X)))
    model.voters = [[value * 1.1 for value in model.parameters]]
    export_onnx(model, tmp_path / "model.onnx")
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    (scores,) = session.run(["scores"], {"X": X.astype("float32")})
    assert scores == pytest.approx(model.decision_function(X), abs=1e-5)


def test_fit_trains_members_of_a_network_of_ones_own():
    y = (X[:, 0] > 0).astype(int)
    model = fit(X, y, "qmean", network=network_of(dtype="float32"), steps=60, batch_size=16, seed=0)
    assert model.value(X, y) > 0.8
    assert model.network_description["members"] == K


def test_the_estimator_makes_members_of_the_network_that_follows_from_the_rows():
    pytest.importorskip("sklearn")
    from aesara_nondecomp import MeasureClassifier

    y = (X[:, 0] > 0).astype(int)
    options = {"members": 3, "hidden": (4,), "steps": 5, "validation": None, "random_state": 0}
    description = MeasureClassifier(**options).fit(X, y).model_.network_description
    assert (description["builder"], description["members"], description["numeric"]) == ("tabular", 3, [0, 1, 2])
    for network, rows in (("mlp", X), ("linear", X), ("auto", (X > 0).astype(int))):
        with pytest.raises(ValueError, match="members"):
            MeasureClassifier(network=network, **options).fit(rows, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"members": 0}, "members must be a whole number of at least 1, got 0"),
        ({"members": 2.5}, "members must be a whole number of at least 1, got 2.5"),
        ({"members": 2, "hidden": ()}, "members share hidden layers: give widths, or leave members out, got 2"),
    ],
)
def test_members_that_cannot_be_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        tabular(D, **options)
