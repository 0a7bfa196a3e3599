"""`MeasureClassifier` on lists of str: its vocabulary from call to call, and the options of a text network."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest

pytest.importorskip("nltk")
pytest.importorskip("sklearn")

from aesara_nondecomp import MeasureClassifier, TrainFunctions, networks  # noqa: E402
from aesara_nondecomp.data import MiniBatches, Vocabulary  # noqa: E402
from aesara_nondecomp.training.loop import train  # noqa: E402
from aesara_nondecomp.training.param_checks import NETWORK_OPTIONS  # noqa: E402
from aesara_nondecomp.training.parameters import PARAMETERS  # noqa: E402
from aesara_nondecomp.training.recipes import Problem, recipe_for  # noqa: E402


def texts_and_labels(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.5
    return [" ".join(rng.permutation(["today", "was", "a", "great" if good else "awful", "day"])) for good in y], y


TEXTS, Y = texts_and_labels()


def classifier(measure="kld", **options):
    common = {"network": "lstm", "steps": 60, "batch_size": 50, "validation": None, "random_state": 0}
    return MeasureClassifier(measure, **{**common, **options})


@pytest.fixture(scope="module")
def fitted():
    return classifier(validation=0.2, tune_threshold=False).fit(TEXTS, Y)


def test_the_classifier_predicts_texts_and_shares_and_survives_pickling(fitted):
    assert fitted.score(TEXTS, Y) > -0.01
    assert fitted.predict_prevalence(TEXTS, "acc") == pytest.approx(np.mean(Y), abs=0.02)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(TEXTS), fitted.predict(TEXTS))
    with pytest.raises(ValueError, match="got NoneType 'None' at position 0"):
        fitted.predict([None])


@pytest.mark.filterwarnings("ignore:few rows are held out")
def test_words_of_rows_held_out_or_of_weight_0_are_not_learned():
    texts, weight = [*TEXTS, "unseen unseen", "unseen unseen"], np.r_[np.ones(200), 0, 0]
    weighted = classifier(steps=1).fit(texts, [*Y, True, False], sample_weight=weight)
    assert "unseen" not in weighted.model_.encoder.vocabulary.words
    held = classifier(steps=1).fit(TEXTS, Y, validation=(["unseen unseen", "a day"], [True, False]))
    assert held.model_.encoder.vocabulary == weighted.model_.encoder.vocabulary == Vocabulary.learn(TEXTS)


@pytest.mark.filterwarnings("ignore:the model to train further may have been")
def test_by_default_texts_train_one_attention_network_with_a_fifth_held_out():
    """One only, as networks of texts take long to train; numbers of the same rows would be trained in folds."""
    estimator = MeasureClassifier("kld", steps=20, batch_size=50, random_state=0).fit(TEXTS, Y)
    assert estimator.model_.network_description["builder"] == "attention"
    assert estimator.model_.voters == [] and sum(estimator.model_.validation_matrix) == len(TEXTS) / 5
    again = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(again.predict(TEXTS), estimator.predict(TEXTS))
    assert again.set_params(warm_start=True, steps=1).fit(TEXTS, Y).n_iter_ == 1


# -- going on --------------------------------------------------------------------------------------------------------


def test_a_pass_of_partial_fit_is_the_same_steps_by_hand():
    """Over batches of all rows, so that no pass depends on where the one before it ended in an epoch."""
    estimator = classifier(batch_size=200, optimizer="adam", l2=0.0, dtype="float64")
    for _ in range(3):
        estimator.partial_fit(TEXTS, Y)
    vocabulary, signs = Vocabulary.learn(TEXTS), np.where(Y, 1, -1)
    rng = np.random.default_rng(np.random.RandomState(0).randint(2**31 - 1))
    batches = MiniBatches(vocabulary.transform(TEXTS), signs, 200, rng, dtype="float64")
    functions = TrainFunctions(networks.lstm(len(vocabulary), dtype="float64"), "adam")
    functions.initialise(rng)
    recipe = recipe_for("kld", Problem(float(np.mean(Y)), 0.5 / 200, text=True))
    functions.configure(averaging=recipe.averaging)
    steps = train(functions, recipe.phases[0].driver, batches, learning_rate=recipe.learning_rate)
    for _ in range(3):
        next(steps)
    for found, expected in zip(estimator.model_.parameters, functions.averaged_parameters()):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    assert estimator.n_iter_ == 3


def test_partial_fit_learns_with_the_words_of_its_first_call():
    estimator = classifier("min")
    for part, word in enumerate(("first", "second", "third")):
        texts, y = texts_and_labels(100, seed=part)
        estimator.partial_fit([f"{text} {word}" for text in texts], y)
    assert (
        "first" in estimator.model_.encoder.vocabulary.words
        and "second" not in estimator.model_.encoder.vocabulary.words
    )
    for _ in range(15):
        estimator.partial_fit(TEXTS, Y)
    assert estimator.score(TEXTS, Y) > 0.95
    again = pickle.loads(pickle.dumps(estimator))
    scores = (each.partial_fit(TEXTS, Y).decision_function(TEXTS) for each in (again, estimator))
    np.testing.assert_array_equal(*scores)


def test_partial_fit_goes_on_from_fit_with_its_words(fitted):
    further = pickle.loads(pickle.dumps(fitted)).set_params(learning_rate=1e-12)
    further.partial_fit([f"{text} new" for text in TEXTS], Y)
    assert further.model_.encoder.vocabulary == fitted.model_.encoder.vocabulary
    np.testing.assert_allclose(further.decision_function(TEXTS), fitted.decision_function(TEXTS), atol=1e-5)


@pytest.mark.filterwarnings("ignore:the model to train further may have been")
def test_a_warm_start_begins_at_the_last_weights_with_the_last_words(fitted):
    warm = pickle.loads(pickle.dumps(fitted)).set_params(warm_start=True, learning_rate=1e-12, steps=1)
    warm.fit([f"{text} new" for text in TEXTS], Y)
    assert warm.model_.encoder.vocabulary == fitted.model_.encoder.vocabulary
    np.testing.assert_allclose(warm.decision_function(TEXTS), fitted.decision_function(TEXTS), atol=1e-5)
    cold = warm.set_params(warm_start=False, validation=None).fit([f"{text} new" for text in TEXTS], Y)
    assert "new" in cold.model_.encoder.vocabulary.words


# -- options ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("network", ["lstm", "attention"])
def test_scores_in_float64_are_those_of_float32_to_its_precision(network):
    of_dtype = {dtype: classifier(network=network, steps=5, dtype=dtype) for dtype in ("float32", "float64")}
    single, double = (each.fit(TEXTS, Y) for each in of_dtype.values())
    assert {p.dtype.name for p in double.model_.parameters} == {"float64"}
    np.testing.assert_allclose(double.decision_function(TEXTS), single.decision_function(TEXTS), atol=1e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hidden": (8,)}, r"network='lstm' does not take hidden=\(8,\)"),
        ({"activation": "tanh"}, r"network='lstm' does not take activation='tanh'"),
        ({"backend": "cc"}, "unknown backend 'cc'"),
        ({"dtype": "float16"}, "unknown dtype 'float16'"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_text_network_ignores_no_option(method, options, message):
    with pytest.raises(ValueError, match=message):
        getattr(classifier(**options), method)(TEXTS, Y)


def test_only_options_other_than_the_defaults_are_refused():
    parameters = inspect.signature(MeasureClassifier).parameters
    assert all(parameters[name].default == PARAMETERS[name].default for name in NETWORK_OPTIONS)
    classifier(activation="relu", steps=1).fit(TEXTS, Y)


def test_texts_are_for_one_process():
    with pytest.raises(ValueError, match="comm needs rows of numbers"):
        classifier(comm=OneProcess()).fit(TEXTS, Y)


class OneProcess:
    """All of a communicator that an early error needs."""

    rank, size = 0, 2

    def allgather(self, value):
        return [value]
