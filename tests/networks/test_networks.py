"""Networks: initial values, forward pass against NumPy, dropout, the head, and what the constructor refuses."""

from __future__ import annotations

import numpy as np
import pytest

from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.networks import BUILDERS, Network, build, linear, lstm, make, mlp, parameter_shapes, takes_tokens
from aesara_nondecomp.step import TrainFunctions

# Aesara's Python implementations: nothing here is about compiled code.
IN_PYTHON = aesara.compile.mode.Mode(linker="py", optimizer=None)


def compiled(network, output):
    return aesara.function([network.inputs], output, mode=IN_PYTHON)


def values_of(network) -> list[np.ndarray]:
    return [p.get_value() for p in network.parameters]


def assert_equal_values(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        np.testing.assert_array_equal(one, other)


# -- builders ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hidden", [(), (4,), (5, 3)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_scores_of_an_mlp_equal_a_numpy_forward_pass_in_its_type(hidden, dtype):
    network = mlp(3, hidden, activation="tanh", dtype=dtype, seed=1)
    rng = np.random.default_rng(0)
    parameters = [rng.normal(size=p.shape).astype(dtype) for p in values_of(network)]
    for p, value in zip(network.parameters, parameters):
        p.set_value(value)
    layer = X = rng.normal(size=(6, 3)).astype(dtype)
    for W, b in zip(parameters[:-2:2], parameters[1:-2:2]):
        layer = np.tanh(layer @ W + b)
    scores = compiled(network, network.scores)(X)
    assert (scores.dtype, scores.shape, network.dtype) == (dtype, (6, 1), dtype)
    np.testing.assert_allclose(scores, layer @ parameters[-2] + parameters[-1], rtol=1e-4, atol=1e-5)


def test_a_linear_model_starts_at_zero_and_has_no_hidden_layer():
    network = linear(4)
    assert [p.shape for p in values_of(network)] == [(4, 1), (1,)]
    assert not any(p.any() for p in values_of(network))
    assert network.features is None
    assert network.n_columns == 4


def test_equal_seeds_give_equal_networks_and_others_do_not():
    first, second, other = (values_of(mlp(5, (6, 4), seed=seed)) for seed in (3, 3, 4))
    assert_equal_values(first, second)
    assert all(np.any(a != b) for a, b in zip(first[::2], other[::2]))


def test_initialise_draws_what_building_with_that_seed_draws():
    network = mlp(5, (6,), seed=0)
    network.initialise(7)
    assert_equal_values(values_of(network), values_of(mlp(5, (6,), seed=7)))


@pytest.mark.parametrize(
    ("options", "scheme"),
    [
        ({"activation": "relu"}, "he"),
        ({"activation": "leaky_relu"}, "he"),
        ({"activation": "elu"}, "he"),
        ({"activation": "tanh"}, "glorot"),
        ({"activation": "sigmoid"}, "glorot"),
        ({"activation": "relu", "initialisation": "glorot"}, "glorot"),
        ({"activation": "tanh", "initialisation": "he"}, "he"),
    ],
)
def test_initial_weights_have_the_variance_and_shape_of_their_scheme(options, scheme):
    W, b, *_ = values_of(mlp(200, (300,), seed=2, **options))
    variance = {"he": 2 / 200, "glorot": 2 / (200 + 300)}[scheme]
    kurtosis = {"he": 3.0, "glorot": 9 / 5}[scheme]  # of the normal, and of the uniform distribution
    # 60000 draws: the relative deviation of the variance is below 0.006.
    assert np.var(W) == pytest.approx(variance, rel=0.03)
    assert abs(np.mean(W)) < 5 * np.sqrt(variance / W.size)
    assert np.mean(W**4) / np.var(W) ** 2 == pytest.approx(kurtosis, rel=0.05)
    assert not b.any()


def test_the_output_layer_is_glorot_under_every_scheme_but_zero():
    limit = np.sqrt(6 / (4000 + 1))
    for scheme in ("he", "glorot"):
        W = values_of(mlp(1, (4000,), initialisation=scheme, seed=2))[2]
        assert np.abs(W).max() <= limit
        assert np.var(W) == pytest.approx(limit**2 / 3, rel=0.1)
    assert not any(p.any() for p in values_of(mlp(3, (4,), initialisation="zero", seed=2)))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: mlp(0), "n_features must be a whole number of at least 1, got 0"),
        (lambda: mlp(2, (4, 0)), "a hidden width must be a whole number of at least 1, got 0"),
        (lambda: mlp(2, activation="rele"), "unknown activation 'rele'. Did you mean 'relu'"),
        (lambda: mlp(2, initialisation="glorrot"), "Did you mean 'glorot'"),
        (lambda: mlp(2, dropout=1.0), r"dropout must lie in \[0, 1\), got 1.0"),
        (lambda: mlp(2, dtype="float16"), "dtype must be 'float32' or 'float64', got 'float16'"),
    ],
)
def test_settings_out_of_range_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


# -- dropout -----------------------------------------------------------------------------------------------------


def one_unit_with_dropout(dropout: float, seed=0):
    """A network whose training score is the kept and scaled hidden unit itself, here 3."""
    network = mlp(1, (1,), activation="identity", dropout=dropout, dtype="float64", seed=seed)
    for p, value in zip(network.parameters, ([[1.0]], [0.0], [[1.0]], [0.0])):
        p.set_value(np.array(value))
    return network


def test_dropout_zeroes_units_at_its_rate_and_scales_the_others_up():
    network, rows = one_unit_with_dropout(0.25), 20000
    scores = compiled(network, network.training_scores)(np.full((rows, 1), 3.0)).ravel()
    assert {*np.unique(scores.round(6))} == {0.0, 4.0}
    # Six standard deviations of a share of 20000 draws.
    assert np.mean(scores == 0) == pytest.approx(0.25, abs=6 * np.sqrt(0.25 * 0.75 / rows))


def test_dropout_leaves_scores_alone_and_is_unbiased_around_them():
    network = mlp(3, (8,), dropout=0.5, dtype="float64", seed=1)
    row = np.array([[0.5, -1.0, 2.0]])
    score = compiled(network, network.scores)(row).item()
    assert score == compiled(network, network.scores)(row).item()
    draws = compiled(network, network.training_scores)(np.tile(row, (20000, 1))).ravel()
    assert draws.std() > 0.1
    assert draws.mean() == pytest.approx(score, abs=6 * draws.std() / np.sqrt(len(draws)))


def test_masks_differ_from_call_to_call_and_between_layers():
    network = mlp(1, (64, 64), activation="identity", dropout=0.5, dtype="float64", seed=1)
    assert len(network.generators) == 2
    training_scores = compiled(network, network.training_scores)
    row = np.ones((1, 1))
    assert training_scores(row) != training_scores(row)
    states = [g.get_value().bit_generator.state for g in network.generators]
    assert states[0] != states[1]


def test_initialise_with_the_same_seed_repeats_the_masks():
    network = mlp(3, (8, 8), dropout=0.5, dtype="float64", seed=5)
    training_scores = compiled(network, network.training_scores)
    X = np.random.default_rng(0).normal(size=(4, 3))
    first = [training_scores(X) for _ in range(3)]
    network.initialise(5)
    assert_equal_values([training_scores(X) for _ in range(3)], first)
    network.initialise(6)
    assert np.any(training_scores(X) != first[0])


def test_without_dropout_there_is_nothing_random():
    network = mlp(3, (4,))
    assert network.training_scores is network.scores
    assert network.generators == []


# -- the head ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_the_head_gives_the_same_scores_from_the_features(dropout):
    network = mlp(3, (5, 4), dropout=dropout, dtype="float64", seed=1)
    head = network.head_network()
    X = np.random.default_rng(0).normal(size=(6, 3))
    features = compiled(network, network.features)(X)
    assert features.shape == (6, 4)
    np.testing.assert_array_equal(compiled(head, head.scores)(features), compiled(network, network.scores)(X))
    assert head.training_scores is head.scores and head.generators == []


def test_the_head_shares_its_parameters_and_their_decay():
    network = mlp(3, (5, 4), seed=1)
    head = network.head_network()
    assert all(mine is theirs for mine, theirs in zip(head.parameters, network.parameters[-2:]))
    assert head.decayed == [network.parameters[-2]]


def test_a_network_without_a_hidden_layer_has_no_head():
    with pytest.raises(ValueError, match="no split into lower part and head"):
        linear(3).head_network()


# -- networks of one's own ---------------------------------------------------------------------------------------


class Parts:
    """A tanh network in plain Aesara operations, to build on or to spoil."""

    def __init__(self, order="C"):
        rng = np.random.default_rng(3)
        self.X = at.dmatrix("X")
        self.W = aesara.shared(np.array(rng.normal(size=(3, 4)), order=order), name="W")
        self.v = aesara.shared(rng.normal(size=4), name="v")
        self.features = at.tanh(at.dot(self.X, self.W))
        self.scores = at.dot(self.features, self.v)


def test_any_graph_with_a_score_per_row_is_a_network():
    parts = Parts()
    network = Network(parts.X, parts.scores, [parts.W, parts.v], features=parts.features, head=[parts.v])
    assert (network.dtype, network.n_columns, network.description) == ("float64", None, {})
    assert network.decayed == [parts.W]
    X = np.random.default_rng(0).normal(size=(6, 3))
    expected = np.tanh(X @ parts.W.get_value()) @ parts.v.get_value()
    np.testing.assert_allclose(compiled(network, network.scores)(X), expected)
    head = network.head_network()
    np.testing.assert_allclose(compiled(head, head.scores)(np.tanh(X @ parts.W.get_value())), expected)


def test_initialise_puts_back_the_first_values_where_nothing_draws_new_ones():
    parts = Parts()
    network = Network(parts.X, parts.scores, [parts.W, parts.v])
    first = values_of(network)
    for p in network.parameters:
        p.set_value(p.get_value() + 1)
    network.initialise(1)
    assert_equal_values(values_of(network), first)


def test_drawn_values_take_the_type_of_the_parameters_and_c_order():
    """Updates work in place over contiguous memory, so that a transposed initial value would stop training."""
    parts = Parts(order="F")

    def draw(rng):
        return [rng.normal(size=(4, 3)).astype("float32").T, [1, 2, 3, 4]]

    network = Network(parts.X, parts.scores, [parts.W, parts.v], draw=draw)
    assert parts.W.get_value(borrow=True).flags.c_contiguous
    network.initialise(0)
    assert parts.W.get_value(borrow=True).flags.c_contiguous
    assert [p.dtype for p in values_of(network)] == ["float64", "float64"]
    assert_equal_values([parts.v.get_value()], [[1.0, 2.0, 3.0, 4.0]])


SPOILED = {
    "two columns of scores, for two classes": (
        lambda n: TrainFunctions(Network(n.X, at.specify_shape(n.features[:, :2], (None, 2)), [n.W])),
        ValueError,
        r"scores of shape \(b,\) or \(b, 1\)",
    ),
    "a single number": (lambda n: Network(n.X, n.scores.sum(), [n.W, n.v]), ValueError, "scores of shape"),
    "whole-number scores": (lambda n: Network(n.X, at.cast(n.scores, "int64"), [n.W]), TypeError, "float scores"),
    "another input": (lambda n: Network(at.dmatrix(), n.scores, [n.W, n.v]), ValueError, "do not depend on `inputs`"),
    "an unused parameter": (
        lambda n: Network(n.X, n.scores, [n.W, n.v, aesara.shared(np.zeros(2), name="spare")]),
        ValueError,
        r"do not depend on the parameters \['spare'\]",
    ),
    "no parameter": (lambda n: Network(n.X, n.scores, []), TypeError, "at least one parameter"),
    "a constant": (lambda n: Network(n.X, n.scores, [at.constant(1.0)]), TypeError, r"made by aesara.shared\(...\)"),
    "a parameter twice": (lambda n: Network(n.X, n.scores, [n.W, n.v, n.W]), ValueError, "listed twice"),
    "another type": (
        lambda n: Network(n.X, at.cast(n.scores, "float32"), [n.W, n.v]),
        TypeError,
        r"the dtype of the scores, float32, got W \(float64\)",
    ),
    "members of an unknown number": (
        lambda n: Network(n.X, n.scores, [n.W, n.v], member_scores=at.dmatrix()),
        ValueError,
        "member_scores must be a matrix .b, k. of a known number k of members",
    ),
    "features alone": (
        lambda n: Network(n.X, n.scores, [n.W, n.v], features=n.features),
        ValueError,
        "give `features` and `head` together",
    ),
}


@pytest.mark.parametrize("case", SPOILED)
def test_what_is_no_network_is_refused(case):
    build, error, message = SPOILED[case]
    with pytest.raises(error, match=message):
        build(Parts())


# -- the table of networks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BUILDERS)
def test_a_network_of_the_table_takes_the_rows_that_its_row_says_and_is_built_again_by_its_description(name, dtype):
    network = make(name, 7, dtype, seed=3)
    again = build(network.description)
    again.initialise(3)
    assert network.takes_tokens == takes_tokens(name)
    assert network.dtype == dtype == again.dtype
    assert (network.n_words == 7) if network.takes_tokens else (network.n_columns == 7)
    assert_equal_values(values_of(again), values_of(network))
    assert parameter_shapes(network.description) == [value.shape for value in values_of(network)]


DESCRIBED = [
    lambda: mlp(3, ()),
    lambda: mlp(3, (5, 2)),
    lambda: make("tabular", 4, hidden=(), numeric=(0, 2), bins=((1, 0.0, 1.0),), frequencies=3, outputs=2),
    lambda: make("tabular", 2, hidden=(3,), numeric=()),
    lambda: make("tabular", 3, hidden=(3, 2), numeric=(1,), members=4),
    lambda: lstm(9, 2, 3),
    lambda: make("attention", 9, embedding=2, hidden=3, alignment=4, decoder=5),
]


@pytest.mark.parametrize("made", DESCRIBED)
def test_the_shapes_of_the_parameters_follow_from_the_description(made):
    network = made()
    assert parameter_shapes(network.description) == [value.shape for value in values_of(network)]


def test_the_shapes_of_a_vast_network_are_known_without_building_it(monkeypatch):
    monkeypatch.setattr(np.random, "default_rng", lambda seed: pytest.fail("built"))
    assert parameter_shapes({"builder": "mlp", "n_features": 10**9, "hidden": [10**9]})[0] == (10**9, 10**9)


def test_make_hands_options_to_the_builder():
    network = make("lstm", 9, hidden=3, embedding=2, dropout=0.5, seed=1)
    assert_equal_values(values_of(network), values_of(lstm(9, 2, 3, dropout=0.5, seed=1)))
    assert network.streams is not None


def test_the_options_of_a_network_are_those_of_its_builder():
    assert BUILDERS["linear"].options == ()
    assert BUILDERS["mlp"].options == ("hidden", "activation", "initialisation", "dropout")
    assert BUILDERS["lstm"].options == ("embedding", "hidden", "dropout")


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("linear", 4), {"hidden": (3,)}, "network='linear' takes no options, got 'hidden'"),
        (("lstm", 4), {"activation": "relu"}, "network='lstm' takes embedding, hidden, dropout, got 'activation'"),
        (("lstn", 4), {}, "unknown network 'lstn'. Did you mean 'lstm'"),
        (("mlp", 0), {}, "n_features must be a whole number of at least 1, got 0"),
        (("mlp", 4, "float16"), {}, "dtype must be 'float32' or 'float64'"),
    ],
)
def test_make_refuses_what_a_network_does_not_take(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        make(*arguments, **options)


def test_takes_tokens_suggests_the_nearest_name():
    with pytest.raises(ValueError, match="Did you mean 'attention'"):
        takes_tokens("atention")
