"""The networks of `fit` for labels of several classes: by the columns of a table, and of texts."""

import pickle

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp.data import Standardiser
from aesara_nondecomp.models import ClassModel

RNG = np.random.default_rng(0)
N_ROWS = 900
BINARY = (RNG.random((N_ROWS, 2)) < 0.4).astype(float)
ANGLE = RNG.uniform(-2, 2, N_ROWS)
TABLE = np.column_stack([BINARY, ANGLE, np.exp(RNG.normal(8, 1, N_ROWS))])
WAVE = np.digitize(np.cos(5 * ANGLE), [-0.5, 0.5])
QUICK = {"steps": 5, "validation": None, "seed": 0}


@pytest.mark.parametrize(("X", "given", "name", "scaled_by"), [
    (TABLE, {}, "tabular", "median"),
    (TABLE, {"network": None}, "tabular", "median"),
    (TABLE, {"network": "tabular"}, "tabular", "median"),
    (TABLE, {"network": "tabular", "standardize": False}, "tabular", None),
    (TABLE, {"network": "mlp"}, "mlp", "mean"),
    (TABLE, {"network": "linear"}, "mlp", "mean"),
    (TABLE, {"network": (4,)}, "mlp", "mean"),
    (BINARY, {}, "mlp", "mean"),
])  # fmt: skip
def test_the_network_of_a_table_follows_from_its_columns_as_for_two_classes(X, given, name, scaled_by):
    model = an.fit(X, WAVE, "min_recall", **QUICK, **given)
    two = an.fit(X, WAVE > 0, "min", **QUICK, **given)
    assert model.network_description == {**two.network_description, "n_scores": 3}
    assert model.network_description["builder"] == name
    expected = {"median": lambda: Standardiser.robust(X, [2, 3]), "mean": lambda: Standardiser.fit(X)}
    found = model.encoder.standardiser
    assert found is None if scaled_by is None else found.as_dict() == expected[scaled_by]().as_dict()


def test_waves_of_a_column_are_learned_that_a_plain_network_misses():
    options = {"algorithm": "cross_entropy", "steps": 300, "validation": None, "seed": 0}
    waved, plain = (an.fit(TABLE, WAVE, "min_recall", network=name, **options) for name in ("auto", "mlp"))
    assert waved.value(TABLE, WAVE) > 0.9 > plain.value(TABLE, WAVE) + 0.1


def test_a_model_of_a_table_is_saved_pickled_and_trained_further(tmp_path):
    model = an.fit(TABLE, WAVE, "macro_f1", **{**QUICK, "validation": 0.2})
    model.save(tmp_path / "table.model")
    for other in (an.load_model(tmp_path / "table.model"), pickle.loads(pickle.dumps(model))):
        assert other.network_description == model.network_description
        np.testing.assert_array_equal(other.decision_function(TABLE), model.decision_function(TABLE))
    further = an.fit(TABLE, WAVE, "macro_f1", network=model, learning_rate=1e-9, **QUICK)
    np.testing.assert_allclose(further._scores(further._rows(TABLE)), model._scores(model._rows(TABLE)), atol=1e-4)


# -- texts -----------------------------------------------------------------------------------------------------------

WORDS = {"good": ["great", "happy", "love"], "bad": ["awful", "sad", "hate"], "none": ["table", "day", "house"]}


def texts(n, seed):
    """Short texts of three classes, in which two words tell the class, and others are noise."""
    rng = np.random.default_rng(seed)
    y = rng.choice(list(WORDS), n, p=[0.3, 0.2, 0.5])
    noise = [f"w{k}" for k in range(20)]
    rows = [rng.permutation([*rng.choice(WORDS[label], 2), *rng.choice(noise, rng.integers(1, 5))]) for label in y]
    return [" ".join(row) for row in rows], y


def small(name):
    """Such a network, as small as these texts need."""
    widths = {"attention": {"alignment": 4, "decoder": 8}, "lstm": {}}[name]
    return lambda size: an.networks.make(name, size, n_scores=3, embedding=8, hidden=8, **widths)


@pytest.fixture(scope="module", params=["attention", "lstm"])
def text_model(request):
    pytest.importorskip("nltk", reason="needs the extra text")
    options = {"network": small(request.param), "steps": 120, "batch_size": 64, "learning_rate": 0.02, "seed": 0}
    return an.fit(*texts(600, 0), "min_recall", **options)


def test_texts_of_several_classes_are_learned(text_model):
    assert isinstance(text_model, ClassModel) and text_model.classes == ("bad", "good", "none")
    assert text_model.voters == [] and text_model.best_step  # a single part of texts is held out
    X, y = texts(300, 1)
    assert text_model.value(X, y) > 0.95
    probabilities = text_model.predict_proba(["great love", "sad hate", "table day"])
    np.testing.assert_array_equal(probabilities.argmax(axis=1), [1, 0, 2])


def test_a_model_of_texts_is_saved_pickled_and_trained_further(tmp_path, text_model):
    X, y = texts(60, 2)
    text_model.save(tmp_path / "texts.model")
    for other in (an.load_model(tmp_path / "texts.model"), pickle.loads(pickle.dumps(text_model))):
        np.testing.assert_array_equal(other.decision_function(X), text_model.decision_function(X))
        np.testing.assert_array_equal(other.predict_proba(X), text_model.predict_proba(X))
    further = an.fit(X, y, "min_recall", network=text_model, steps=1, learning_rate=1e-9, validation=None, seed=0)
    np.testing.assert_allclose(further._scores(further._rows(X)), text_model._scores(text_model._rows(X)), atol=1e-4)
    with pytest.raises(ValueError, match=r"must have the classes \('bad', 'none'\), got \('bad', 'good', 'none'\)"):
        an.fit(*(np.array(part)[y != "good"] for part in (X, y)), "min_recall", network=text_model)


def test_attention_weights_are_read_out_and_others_refused(text_model):
    if text_model.network_description["builder"] != "attention":
        with pytest.raises(ValueError, match="read_out needs a network with extras"):
            text_model.read_out("attention_weights", ["great day"])
        return
    weights = text_model.read_out("attention_weights", ["great love w1 w2", "hate"])
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-5)
    assert weights.shape == (2, 4) and weights[1, 1:].max() == 0


def test_a_plain_call_on_texts_trains_attention_with_a_score_for_each_class():
    pytest.importorskip("nltk", reason="needs the extra text")
    model = an.fit(*texts(60, 3), "mean_recall", **QUICK)
    described = model.network_description
    assert (described["builder"], described["hidden"], described["n_scores"]) == ("attention", 64, 3)


FURTHER = {
    "of two classes": lambda: an.fit(TABLE, WAVE > 0, "min", network=(), **QUICK),
    "unscaled rows": lambda: an.fit(TABLE, WAVE, "min_recall", network=(), **QUICK),
    "other weights": lambda: spoiled(an.fit(TABLE, WAVE, "min_recall", network=(), **QUICK)),
}


def spoiled(model):
    model.parameters = [value * np.nan for value in model.parameters]
    return model


@pytest.mark.parametrize(("case", "options", "message"), [
    ("of two classes", {}, "labels of 3 classes need a Network with as many scores"),
    ("unscaled rows", {"standardize": False}, "this model standardises its rows: leave standardize out"),
    ("other weights", {}, "must be finite arrays"),
])  # fmt: skip
def test_a_model_that_cannot_be_trained_further_is_refused(case, options, message):
    model = FURTHER[case]()
    with pytest.raises(ValueError, match=message):
        an.fit(TABLE, WAVE, "min_recall", network=model, on_step=lambda step: pytest.fail("trained"), **options)
