"""What must not matter to a trained model: the type of the seed, the scale of weights, the layout of rows in memory."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from aesara_nondecomp import data, fit, measures, metrics, networks
from aesara_nondecomp.metrics.bootstrap import bootstrap
from aesara_nondecomp.metrics.prevalence_shift import artificial_prevalences
from aesara_nondecomp.step import TrainFunctions

RNG = np.random.default_rng(0)
N = 240
X = RNG.normal(size=(N, 3)).astype("float32")
Y = X[:, 0] + RNG.normal(size=N) > 0.7
SIGNS = np.where(Y, 1, -1)
QUICK = {"validation": None, "steps": 20, "batch_size": 32, "seed": 3}


@pytest.fixture(scope="module")
def functions():
    return TrainFunctions(networks.mlp(3, (4,)), "adamw")


@pytest.fixture(scope="module")
def trained(functions):
    return fit(X, Y, network=functions, **QUICK)


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one.parameters, other.parameters))


# -- seeds -------------------------------------------------------------------------------------------------------------


class Three:
    """An integer of another package."""

    def __index__(self):
        return 3


SEEDS = [np.int64(3), np.uint8(3), np.int32(3), np.array(3), np.array(3, "u2")]


@pytest.mark.parametrize(
    "seed", [*SEEDS, Three()], ids=lambda seed: type(seed).__name__ + str(getattr(seed, "dtype", ""))
)
def test_a_seed_of_any_integer_type_gives_the_model_of_the_int(seed, functions, trained):
    assert same(fit(X, Y, network=functions, **{**QUICK, "seed": seed}), trained)


@pytest.mark.parametrize(
    "seed", [*SEEDS, Three()], ids=lambda seed: type(seed).__name__ + str(getattr(seed, "dtype", ""))
)
@pytest.mark.parametrize("draw", [
    lambda seed: data.stratified_split(SIGNS, 0.3, seed)[0].tolist(),
    lambda seed: data.stratified_folds(SIGNS, 3, seed).tolist(),
    lambda seed: next(data.MiniBatches(X, SIGNS, 8, seed)).X.tolist(),
    lambda seed: networks.mlp(3, (4,), seed=seed).parameters[0].get_value().tolist(),
    lambda seed: networks.lstm(9, seed=seed).parameters[0].get_value().tolist(),
    lambda seed: bootstrap(metrics.ConfusionMatrix(20, 10, 15, 30), ["f1"], seed=seed),
    lambda seed: metrics.steady_threshold("f1", X[:, 0], SIGNS, seed=seed),
    lambda seed: next(artificial_prevalences(SIGNS, 9, seed=seed)).rows.tolist(),
], ids=["split", "folds", "batches", "mlp", "lstm", "bootstrap", "threshold", "prevalences"])  # fmt: skip
def test_whatever_draws_takes_integers_of_any_type(draw, seed):
    assert draw(seed) == draw(3)


@pytest.mark.parametrize("seed", [-1, 1.5, "3", [0.5], {}, float("nan"), -(10**400)])
def test_what_is_no_seed_is_refused_by_name(seed):
    for call in (lambda: fit(X, Y, **{**QUICK, "seed": seed}), lambda: data.stratified_split(SIGNS, 0.3, seed)):
        with pytest.raises(ValueError, match="seed must be a non-negative integer"):
            call()


def test_a_random_state_of_any_integer_type_gives_the_estimator_of_the_int():
    pytest.importorskip("sklearn")
    from aesara_nondecomp import MeasureClassifier

    def scores(seed, method):
        estimator = MeasureClassifier(network="linear", validation=None, steps=20, random_state=seed)
        return getattr(estimator, method)(X, Y).decision_function(X)

    for method in ("fit", "partial_fit"):
        expected = scores(3, method)
        assert not np.array_equal(scores(4, method), expected)
        for seed in (np.int64(3), np.uint8(3)):
            assert np.array_equal(scores(seed, method), expected)


# -- weights -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [
    {}, {"measure": "kld"}, {"sampler": "balanced"}, {"algorithm": "paper"}, {"validation": 0.3},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("scale", [1e-12, 1 / N, 1e12])
def test_the_scale_of_weights_does_not_change_what_is_trained(options, scale, functions):
    weight = np.random.default_rng(1).lognormal(size=N)
    one, other = (
        fit(X, Y, network=functions, sample_weight=w, **{**QUICK, **options}) for w in (weight, weight * scale)
    )
    assert other.decision_function(X) == pytest.approx(one.decision_function(X), rel=1e-3, abs=1e-4)
    assert other.threshold == pytest.approx(one.threshold, abs=1e-4) and other.prior == pytest.approx(one.prior)
    if one.quantifier:
        assert other.quantifier[2:] == pytest.approx(one.quantifier[2:], abs=1e-4)


@pytest.mark.parametrize("scale", [1.0, 1e-12, 1 / N])
def test_equal_weights_are_none_to_the_last_bit(scale, functions, trained):
    assert same(fit(X, Y, network=functions, sample_weight=np.full(N, scale), **QUICK), trained)
    struct = {**QUICK, "algorithm": "struct_ann", "batch_size": 8}
    one, other = (fit(X, Y, network="linear", sample_weight=w, **struct) for w in (None, np.full(N, scale)))
    assert same(one, other)  # a driver that counts rows


def test_partial_fit_does_not_depend_on_the_scale_of_weights():
    pytest.importorskip("sklearn")
    from aesara_nondecomp import MeasureClassifier

    weight = np.random.default_rng(1).lognormal(size=N)
    for measure in ("f1", "kld"):
        models = [MeasureClassifier(measure, network="linear", random_state=0) for _ in range(2)]
        for model, scale in zip(models, (1, 1 / N)):
            for _ in range(2):
                model.partial_fit(X, Y, sample_weight=weight * scale)
        one, other = (model.model_ for model in models)
        assert other.decision_function(X) == pytest.approx(one.decision_function(X), rel=1e-3, abs=1e-4)
        assert other.predict_proba(X) == pytest.approx(one.predict_proba(X), abs=1e-4)


# -- rows in memory ----------------------------------------------------------------------------------------------------


def unaligned(array):
    moved = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


@pytest.mark.parametrize("layout", [unaligned, lambda array: array.astype(">f4")], ids=["unaligned", "swapped"])
@pytest.mark.parametrize("standardize", [True, False])
def test_rows_of_every_layout_are_trained_on_and_predicted_alike(layout, standardize, functions):
    expected = fit(X, Y, network=functions, standardize=standardize, **QUICK)
    model = fit(layout(X), Y, network=functions, standardize=standardize, **QUICK)
    assert same(model, expected)
    assert np.array_equal(model.decision_function(layout(X)), expected.decision_function(X))
    assert np.array_equal(functions.scores(layout(X)), functions.scores(X))


@pytest.mark.parametrize("argument", ["X", "y", "sample_weight"])
def test_masked_rows_are_refused_by_fit_and_by_the_estimator(argument):
    pytest.importorskip("sklearn")
    from aesara_nondecomp import MeasureClassifier

    given = {"X": X, "y": Y, "sample_weight": np.ones(N)}
    masked = np.ma.array(given[argument], mask=np.zeros(given[argument].shape, bool))
    masked[5] = np.ma.masked
    for train in (lambda **rows: fit(**rows, **QUICK), lambda **rows: MeasureClassifier().fit(**rows)):
        with pytest.raises(ValueError, match="must not be masked"):
            train(**{**given, argument: masked})


# -- no better than one label ------------------------------------------------------------------------------------------


def noise(seed, n=600, prior=0.1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)).astype("float32"), rng.random(n) < prior


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("measure", ["f1", "accuracy"])
@pytest.mark.parametrize("validation", ["auto", 0.3])
def test_a_model_of_pure_noise_is_never_worse_than_one_label_on_the_rows_held_out(measure, seed, validation, functions):
    """F1 of pure noise was .074 to .104, where all rows positive have .182, and nothing said so."""
    rows, labels = noise(seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fit(rows, labels, measure, network=functions, steps=40, validation=validation, seed=seed)
    value = metrics.score(measure, model.validation_matrix)
    trivial = measures.get(measure).trivial(model.validation_matrix.prevalence)
    assert value >= trivial - 1e-12
    assert model.collapsed == any("no threshold was better" in str(w.message) for w in caught)


def test_a_model_that_is_worse_than_one_label_at_its_algorithms_threshold_says_so(functions):
    rows, labels = noise(0)
    with pytest.warns(UserWarning, match=r"accuracy is 0\.\d+ at the algorithm's threshold of 0, worse than the 0\.8"):
        fit(rows, labels, "accuracy", algorithm="class_weighted", network=functions, steps=60, validation=0.3, seed=0)
