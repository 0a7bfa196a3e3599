"""What held-out rows say of a vote: shares, rates and prevalences of new rows, on which all networks vote."""

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp.training.vote_scores import vote_scores

NETWORKS, N = 5, 40_000


def noisy(rng, signal, k=NETWORKS, noise=1.0):
    """Scores of networks that agree on a signal, each with noise of its own."""
    return signal + noise * rng.standard_normal((k, len(signal)))


def drawn(seed=0, memory=0.0):
    """Scores of rare positives, which networks raise, and those of negatives lower, by what they remember of a row."""
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(N) < 0.05, 1, -1)
    signal = rng.standard_normal(N) + 2.0 * (truth > 0)
    outside = np.arange(N) % NETWORKS
    unseen = np.arange(NETWORKS)[:, None] == outside
    return noisy(rng, signal) + memory * truth * ~unseen, outside, truth, noisy(rng, signal)


@pytest.mark.parametrize("memory", [0.0, 1.0, 3.0])
def test_the_share_above_a_threshold_is_that_of_votes_on_new_rows(memory):
    scores, outside, truth, new = drawn(memory=memory)
    found, single = vote_scores(scores, outside, truth), scores[outside, np.arange(N)]
    for threshold in (-1.0, 0.5, 2.0):
        share = np.mean(new.mean(axis=0) > threshold)
        assert np.mean(found > threshold) == pytest.approx(share, rel=0.06)
    assert np.mean(single > 2.0) > 1.4 * np.mean(new.mean(axis=0) > 2.0)  # what single scores would have said


def test_rows_keep_the_order_that_networks_gave_them_which_were_not_trained_on_them():
    scores, outside, truth, _ = drawn(memory=2.0)
    found, single = vote_scores(scores, outside, truth), scores[outside, np.arange(N)]
    assert np.array_equal(np.argsort(found, kind="stable"), np.argsort(single, kind="stable"))


def test_networks_that_agree_leave_scores_as_they_are():
    scores, outside, truth, _ = drawn()
    alike = np.tile(scores[0], (NETWORKS, 1))
    moved = np.abs(vote_scores(alike, outside, truth) - scores[0])
    assert moved.mean() < 0.05 and moved.max() < 0.3  # folds differ a little


def test_equal_scores_stay_equal_and_the_type_is_kept():
    scores = np.float32([[1, 1, 0, 2], [0, 3, 3, 1]])
    found = vote_scores(scores, np.array([0, 0, 1, 1]), np.array([1, -1, 1, -1]))
    assert found.dtype == np.float32 and found[0] == found[1] == found[3] < found[2]


def test_labels_are_mapped_one_by_one():
    scores, outside, truth, _ = drawn()
    both = np.stack([scores, -2.0 * scores], axis=2)
    found = vote_scores(both, outside, np.stack([truth, -truth], axis=1))
    assert found[:, 0] == pytest.approx(vote_scores(scores, outside, truth))
    assert found[:, 1] == pytest.approx(-2.0 * found[:, 0], abs=1e-9)


def test_a_class_of_one_row_and_rows_without_a_class_are_no_obstacle():
    scores = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0]])
    assert np.isfinite(vote_scores(scores, np.array([0, 1, 1]), np.array([1, -1, -1]))).all()


# -- trained networks --------------------------------------------------------------------------------------------------


def rare(n, seed, classes=2):
    """Columns that tell rare classes from the first one, not well."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n, p=[1 - 0.04 * (classes - 1), *[0.04] * (classes - 1)])
    centres = np.random.default_rng(7).standard_normal((classes, 8)) * (np.arange(classes) > 0)[:, None]
    return (rng.standard_normal((n, 8)) + 0.7 * centres[y]).astype("float32"), y


def test_a_vote_predicts_as_many_positives_as_its_held_out_rows_say():
    X, y = rare(6_000, 0)
    model = an.fit(X, y, "min", seed=0)
    new, truth = rare(40_000, 1)
    assert len(model.voters) == 4
    share = model.confusion_matrix(new, truth).predicted_prevalence
    assert model.validation_matrix.predicted_prevalence == pytest.approx(share, rel=0.06)
    assert model.predict_prevalence(new, "acc") == pytest.approx(np.mean(truth), rel=0.35)
