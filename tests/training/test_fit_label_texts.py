"""`fit` for texts of several labels: attention and LSTM networks with a score for each label."""

import pickle

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp.drivers.multiclass import label_cells
from aesara_nondecomp.measures import Averaged
from aesara_nondecomp.models import MultilabelModel
from aesara_nondecomp.training.label_recipes import label_recipe
from aesara_nondecomp.training.recipes import Problem, recipe_for

pytest.importorskip("nltk", reason="needs the extra text")

WORDS = {"mood": ["great", "happy", "love"], "sport": ["ball", "goal", "run"], "money": ["bank", "stock", "price"]}


def texts(n, seed):
    """Short texts of three labels, each told by one of three words among others that are noise."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, 3)) < [0.4, 0.3, 0.15]).astype(int)
    rows = []
    for having in Y:
        told = [rng.choice(words) for words, has in zip(WORDS.values(), having) if has]
        noise = [f"w{k}" for k in rng.integers(0, 20, rng.integers(1, 5))]
        rows.append(" ".join(rng.permutation([*told, *noise])))
    return rows, Y


def small(name):
    widths = {"attention": {"alignment": 4, "decoder": 8}, "lstm": {}}[name]
    return lambda size: an.networks.make(name, size, n_scores=3, embedding=8, hidden=8, **widths)


@pytest.fixture(scope="module", params=["attention", "lstm"])
def model(request):
    options = {"network": small(request.param), "steps": 150, "batch_size": 64, "learning_rate": 0.02, "seed": 0}
    return an.fit(*texts(600, 0), "f1", **options)


def test_texts_of_several_labels_are_learned(model):
    assert isinstance(model, MultilabelModel) and model.voters == []  # a single part of texts is held out
    X, Y = texts(300, 1)
    assert model.value(X, Y) > 0.9
    probabilities = model.predict_proba(["great ball w1", "w1 w2", "stock goal"])
    np.testing.assert_array_equal(probabilities > 0.5, [[1, 1, 0], [0, 0, 0], [0, 1, 1]])


def test_a_model_of_texts_is_saved_pickled_and_trained_further(tmp_path, model):
    X, Y = texts(60, 2)
    model.save(tmp_path / "texts.model")
    for other in (an.load_model(tmp_path / "texts.model"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    further = an.fit(X, Y, network=model, steps=1, learning_rate=1e-9, validation=None, seed=0)
    np.testing.assert_allclose(further.decision_function(X), model.decision_function(X), atol=1e-4)


@pytest.mark.filterwarnings("ignore:on the rows held out")
@pytest.mark.filterwarnings("ignore:few rows are held out")
def test_a_plain_call_on_texts_trains_attention_also_in_the_classifier():
    X, Y = texts(60, 3)
    model = an.fit(X, Y, steps=2, validation=None, seed=0)
    described = model.network_description
    assert (described["builder"], described["hidden"], described["n_scores"]) == ("attention", 64, 3)
    classifier = pytest.importorskip("aesara_nondecomp.estimators").MeasureClassifier
    found = classifier(steps=2, validation=None, random_state=0).fit(X, Y)
    np.testing.assert_allclose(found.model_.decision_function(X), model.decision_function(X), atol=1e-6)
    assert found.predict(X).shape == Y.shape
    own_rows = classifier(steps=2, random_state=0).fit(X, Y, validation=texts(40, 4))
    assert len(own_rows.model_.evaluations) > 0


def test_texts_have_the_driver_of_texts_for_each_label():
    priors = np.array([0.4, 0.3, 0.2])
    found = label_recipe("auto", Averaged("kld"), label_cells(priors), eps=0.01, text=True)
    for prior, driver in zip(priors, found.recipe.phases[0].driver.drivers):
        own = recipe_for("kld", Problem(prior, 0.01, text=True)).phases[0].driver
        assert np.allclose(driver.weights(), own.weights())
        without = recipe_for("kld", Problem(prior, 0.01)).phases[0].driver
        assert not np.allclose(driver.weights(), without.weights())
