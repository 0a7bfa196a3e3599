"""A vote of models: soft labels around each model's own threshold."""

import pickle

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp import SoftVote, metrics

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3)).astype("float32")
Y = np.where(X[:, 0] + 0.5 * RNG.normal(size=300) > 0.8, "yes", "no")


@pytest.fixture(scope="module")
def models():
    first = an.fit(X, Y, "f1", network=(), steps=20, batch_size=64, seed=0)
    others = [an.fit(X, Y, "f1", network=first.functions, steps=20, batch_size=64, seed=s) for s in (1, 2)]
    return [first, *others]


def test_a_vote_of_one_model_predicts_as_the_model_does(models):
    models[0].threshold = 0.3
    np.testing.assert_array_equal(SoftVote(models[:1]).predict(X), models[0].predict(X))
    assert SoftVote(models[:1]).value(X, Y) == models[0].value(X, Y)
    assert SoftVote(models[:1]).value(X, Y, "min") == models[0].value(X, Y, "min")


def test_a_vote_is_the_mean_of_soft_labels_around_each_threshold(models):
    for model, threshold in zip(models, (0.5, -0.2, 0.0)):
        model.threshold = threshold
    probabilities = [1 / (1 + np.exp(-(m.decision_function(X).astype(float) - m.threshold))) for m in models]
    expected = 2 * np.mean(probabilities, axis=0) - 1
    vote = SoftVote(models)
    np.testing.assert_allclose(vote.decision_function(X), expected, atol=1e-6)
    signs = np.where(Y == "yes", 1, -1)
    assert vote.value(X, Y) == metrics.score("f1", metrics.confusion_at_threshold(expected, signs))
    np.testing.assert_array_equal(vote.predict(X), np.where(expected > 0, "yes", "no"))


def test_a_vote_that_0_1_pickled_is_found_under_its_former_names(models):
    rows, vote = X[:9], SoftVote(models)
    former = pickle.dumps(vote, protocol=0).replace(
        b"aesara_nondecomp.models.ensemble\nSoftVote", b"aesara_nondecomp.voting\nVote"
    )
    assert b"voting" in former
    with pytest.warns(DeprecationWarning, match="Vote is now spelled SoftVote"):
        again = pickle.loads(former)
    np.testing.assert_array_equal(again.decision_function(rows), vote.decision_function(rows))


def test_models_of_a_vote_must_agree(models):
    other = an.fit(X, Y, "min", network=models[0].functions, steps=1, batch_size=64, seed=0)
    with pytest.raises(ValueError, match="agree on their measure"):
        SoftVote([models[0], other])
    turned = an.fit(X, Y, "f1", network=models[0].functions, positive="no", steps=1, batch_size=64, seed=0)
    with pytest.raises(ValueError, match="agree on their classes"):
        SoftVote([models[0], turned])
    with pytest.raises(ValueError, match="at least one model"):
        SoftVote([])
