"""What held-out rows say of a vote: shares, rates and prevalences of new rows, on which all networks vote."""

from dataclasses import replace

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp._numeric import vote
from aesara_nondecomp.training import cross_fitting
from aesara_nondecomp.training.cross_fitting import Choice
from aesara_nondecomp.training.held_out import _quantifier
from aesara_nondecomp.training.vote_scores import vote_scores, with_one_value_for_ties

NETWORKS, N = 5, 40_000


def noisy(rng, signal, k=NETWORKS, noise=1.0):
    """Scores of networks that agree on a signal, each with noise of its own."""
    return signal + noise * rng.standard_normal((k, *signal.shape))


def drawn(seed=0, memory=0.0):
    """Scores of rare positives, which networks raise, and those of negatives lower, by what they remember of a row.

    What is remembered differs by row and network, so that the order of the rows changes too.
    """
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(N) < 0.05, 1, -1)
    signal = rng.standard_normal(N) + 2.0 * (truth > 0)
    outside = np.arange(N) % NETWORKS
    unseen = np.arange(NETWORKS)[:, None] == outside
    remembered = memory * truth * rng.exponential(size=(NETWORKS, N)) * ~unseen
    return noisy(rng, signal) + remembered, outside, truth, noisy(rng, signal)


@pytest.mark.parametrize("memory", [0.0, 0.3, 1.0])
def test_the_share_above_a_threshold_is_that_of_votes_on_new_rows(memory):
    scores, outside, truth, new = drawn(memory=memory)
    found, single = vote_scores(scores, outside, truth), scores[outside, np.arange(N)]
    for threshold in (-1.0, 0.5, 2.0):
        share = np.mean(new.mean(axis=0) > threshold)
        assert np.mean(found > threshold) == pytest.approx(share, rel=0.06 if memory < 1 else 0.2)
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


def test_rows_that_occur_often_get_the_vote_itself():
    """All 60 rows of a kind lie on one side of a threshold, as the vote of such a row does."""
    rng = np.random.default_rng(0)
    of_kind = rng.standard_normal((NETWORKS, 3))  # what each network says of three kinds of row
    kind, outside = np.arange(180) % 3, np.arange(180) // 3 % NETWORKS
    rare_rows = rng.standard_normal((NETWORKS, 20))
    scores = np.concatenate([of_kind[:, kind], rare_rows], axis=1)
    truth = np.where(rng.random(200) < 0.5, 1, -1)
    found = vote_scores(scores, np.concatenate([outside, np.arange(20) % NETWORKS]), truth)
    assert found[:180] == pytest.approx(of_kind.mean(axis=0)[kind])
    assert not np.isclose(found[180:], rare_rows.mean(axis=0)).any()


def test_equal_rows_whose_scores_differ_in_last_digits_get_one_vote():
    rng = np.random.default_rng(0)
    of_kind = np.float32([-0.7, 0.5, 3.0]) + rng.normal(size=(NETWORKS, 3)).astype("f")
    scores = of_kind[:, np.arange(180) % 3] * (1 + np.float32(1e-7) * rng.integers(-1, 2, (NETWORKS, 180)).astype("f"))
    assert len(np.unique(scores.mean(axis=0))) > 3
    found = vote_scores(scores, np.arange(180) // 3 % NETWORKS, np.where(rng.random(180) < 0.5, 1, -1))
    assert len(np.unique(found)) == 3
    assert found == pytest.approx(scores.mean(axis=0), rel=1e-6)


def test_ties_of_one_network_get_one_value_and_other_scores_stay_as_they_are():
    rng = np.random.default_rng(0)
    tied = np.float32(0.3) * (1 + np.float32(1e-7) * rng.integers(-1, 2, 40).astype("f"))
    few = np.float32([0.7, np.nextafter(np.float32(0.7), np.float32(1))])
    scores = np.concatenate([tied, few, rng.normal(size=1000).astype("f")])
    found = with_one_value_for_ties(scores)
    assert len(np.unique(tied)) > 1 == len(np.unique(found[:40])) and found.dtype == np.float32
    assert np.array_equal(found[40:], scores[40:])
    columns = with_one_value_for_ties(np.stack([scores, -scores], axis=1))
    assert np.array_equal(columns[:, 0], found) and len(np.unique(columns[:40, 1])) == 1


def test_different_scores_that_follow_each_other_closely_are_no_tie():
    close = np.float32(1) + np.arange(400, dtype=np.float32) * np.float32(2**-21)
    assert np.array_equal(with_one_value_for_ties(close), close)


def test_equal_rows_get_their_vote_among_many_others_and_beside_an_outlier():
    rng = np.random.default_rng(0)
    kinds = np.repeat(rng.normal(size=(NETWORKS, 10)), 60, axis=1)
    scores = np.concatenate([kinds, rng.normal(size=(NETWORKS, 20_000))], axis=1).astype("float32")
    scores[:, -1] = 500.0
    found = vote_scores(scores, np.arange(20_600) % NETWORKS, np.where(rng.random(20_600) < 0.5, 1, -1))
    assert found[:600] == pytest.approx(kinds.mean(axis=0), abs=1e-5)


def test_the_threshold_of_one_network_is_chosen_on_one_value_for_each_tie(monkeypatch):
    monkeypatch.setattr(cross_fitting, "with_one_value_for_ties", lambda scores: scores + np.float32(100))
    X, y = rare(3_000, 0)
    model = an.fit(X, y, "min", seed=0, steps=50, network=(4,), validation=0.2)
    assert not model.voters and model.threshold == pytest.approx(100.0, abs=20.0)


def test_a_table_of_few_categories_is_cut_where_its_votes_are():
    """As on the passengers of the Titanic, whose class, age and sex have 14 combinations: min was .34, and not .58."""
    rng = np.random.default_rng(6)
    for _ in range(4):
        rows = np.stack([rng.choice(4, 1500, p=[0.15, 0.13, 0.32, 0.4]), rng.random(1500) < 0.79], axis=1).astype(float)
        y = rng.random(1500) < np.clip(0.85 - 0.18 * rows[:, 0] - 0.35 * rows[:, 1], 0.05, 0.95)
        model = an.fit(rows, y, "min", seed=0, steps=60)
        _, best = an.metrics.best_threshold("min", model.decision_function(rows), np.where(y, 1, -1))
        assert model.value(rows, y) > best - 0.02


def test_repeated_rows_count_as_often_as_their_weight_says():
    scores, outside, truth, _ = drawn()
    few = np.arange(400)
    weight = np.where(truth[few] > 0, 3, 1)
    weighted = vote_scores(scores[:, few], outside[few], truth[few], weight)
    rows = np.repeat(few, weight)
    assert np.repeat(weighted, weight) == pytest.approx(vote_scores(scores[:, rows], outside[rows], truth[rows]))


def test_each_group_is_shrunk_by_what_its_own_scores_vary():
    scores, outside, truth, new = drawn()
    group = np.arange(N) // (N // 2)
    calm = np.where(group == 0, new.mean(axis=0) + 0.0 * scores, scores)  # here all networks agree
    found = vote_scores(calm, outside, truth, group=group)
    assert found[group == 0] == pytest.approx(calm[0, group == 0], abs=0.3)
    assert np.std(found[group == 1]) < 0.9 * np.std(scores[0, group == 1])


def test_labels_are_mapped_one_by_one():
    scores, outside, truth, _ = drawn()
    both = np.stack([scores, -2.0 * scores], axis=2)
    found = vote_scores(both, outside, np.stack([truth, -truth], axis=1))
    assert found[:, 0] == pytest.approx(vote_scores(scores, outside, truth))
    assert found[:, 1] == pytest.approx(-2.0 * found[:, 0], abs=1e-9)


def drawn_of_classes(seed=0, memory=0.0, k=3):
    """The same of k classes, of which the last ones are rare; networks also add what all classes have in common."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(k, N, p=[1 - 0.05 * (k - 1), *[0.05] * (k - 1)])
    signal = rng.standard_normal((N, k)) + 2.0 * np.eye(k)[truth] + 1.5 * np.eye(k)[0]
    outside = np.arange(N) % NETWORKS
    unseen = np.arange(NETWORKS)[:, None] == outside
    remembered = memory * np.eye(k)[truth] * (rng.exponential(size=(NETWORKS, N)) * ~unseen)[:, :, None]
    scores = noisy(rng, signal) + remembered + rng.standard_normal((NETWORKS, 1, 1))
    return scores, outside, truth, noisy(rng, signal)


@pytest.mark.parametrize("memory", [0.0, 0.3, 1.0])
def test_rare_classes_are_predicted_more_nearly_as_often_as_by_votes_on_new_rows(memory):
    scores, outside, truth, new = drawn_of_classes(memory=memory)
    shares = [
        np.bincount(found.argmax(axis=1), minlength=3) / N
        for found in (vote_scores(scores, outside, truth), scores[outside, np.arange(N)], new.mean(axis=0))
    ]
    of_votes, of_single, of_new = (each[1:] for each in shares)
    assert (of_single > 1.2 * of_new).all()  # what single scores would have said
    assert (abs(of_votes - of_new) < 0.5 * abs(of_single - of_new)).all()


def test_scores_of_two_classes_shrink_to_between_single_ones_and_votes():
    scores, outside, truth, _ = drawn()
    pair = np.stack([-scores / 2, scores / 2], axis=2)
    found = vote_scores(pair, outside, (truth > 0).astype(int))
    assert found[:, 0] == pytest.approx(-found[:, 1])
    margin, single, vote = found[:, 1] - found[:, 0], scores[outside, np.arange(N)], scores.mean(axis=0)
    assert margin == pytest.approx((single + vote) / 2, abs=0.3)


def test_rows_of_classes_that_occur_often_get_the_vote_itself():
    rng = np.random.default_rng(0)
    of_kind = rng.standard_normal((NETWORKS, 4, 3))
    kind, outside = np.arange(200) % 4, np.arange(200) // 4 % NETWORKS
    found = vote_scores(of_kind[:, kind], outside, rng.choice(3, 200))
    votes = of_kind.mean(axis=0)
    assert found == pytest.approx((votes - votes.mean(axis=1, keepdims=True))[kind])
    far = (100 + of_kind[:, kind]) * (1 + 1e-7 * rng.integers(-1, 2, (NETWORKS, 200, 1)))  # last digits of float32
    assert len(np.unique(vote_scores(far.astype("f"), outside, rng.choice(3, 200))[:, 0])) == 4


def test_a_class_of_one_row_and_rows_without_a_class_are_no_obstacle():
    scores = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0]])
    assert np.isfinite(vote_scores(scores, np.array([0, 1, 1]), np.array([1, -1, -1]))).all()


# -- what is measured on them ------------------------------------------------------------------------------------------


def measured(threshold, *, tuned=True):
    scores, outside, truth, _ = drawn()
    single, votes = scores[outside, np.arange(N)], vote_scores(scores, outside, truth)
    return (
        _quantifier(Choice([], single, truth, None, [], 1, votes=votes), truth, threshold, tuned=tuned),
        single,
        votes,
    )


def test_a_shift_of_the_share_is_followed_by_the_rates_of_each_network():
    quantifier, *_ = measured(1.5)
    rng = np.random.default_rng(5)
    half = rng.random(N) < 0.5
    of_each = noisy(rng, rng.standard_normal(N) + 2.0 * half).T
    for method in ("acc", "pacc", "sld"):
        error = abs(quantifier.prevalence(of_each, method) - np.mean(half))
        assert error < 0.02
        assert error < 0.5 * abs(quantifier.prevalence(of_each.mean(axis=1), method) - np.mean(half))


def test_single_networks_are_measured_at_a_threshold_that_as_many_exceed():
    quantifier, single, votes = measured(1.5)
    of_networks = quantifier.of_networks
    assert np.mean(single > of_networks.threshold) == pytest.approx(np.mean(votes > 1.5), abs=2 / N)
    assert of_networks.threshold > 1.6 and quantifier.threshold == 1.5


@pytest.mark.parametrize("threshold, tuned", [(0.3, False), (np.inf, True), (-np.inf, True)])
def test_a_threshold_of_the_algorithm_or_of_one_class_is_that_of_single_networks_too(threshold, tuned):
    quantifier, *_ = measured(threshold, tuned=tuned)
    assert quantifier.of_networks.threshold == quantifier.threshold == threshold


# -- trained networks --------------------------------------------------------------------------------------------------


def rare(n, seed, classes=2):
    """Columns that tell rare classes from the first one, not well."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n, p=[1 - 0.04 * (classes - 1), *[0.04] * (classes - 1)])
    centres = np.random.default_rng(7).standard_normal((classes, 8)) * (np.arange(classes) > 0)[:, None]
    return (rng.standard_normal((n, 8)) + 0.7 * centres[y]).astype("float32"), y


def test_a_vote_predicts_as_many_positives_as_its_held_out_rows_say(tmp_path):
    model = an.fit(*rare(6_000, 0), "min", seed=0)
    new, truth = rare(40_000, 1)
    assert len(model.voters) == 4
    share = model.confusion_matrix(new, truth).predicted_prevalence
    assert model.validation_matrix.predicted_prevalence == pytest.approx(share, rel=0.06)
    of_each, of_networks = model.network_scores(new), model.quantifier.of_networks
    assert model.decision_function(new) == pytest.approx(of_each.mean(axis=1), abs=1e-5)
    assert np.array_equal(model.decision_function(new), vote(of_each))  # to the last bit: reports predict by it
    for method in ("acc", "pacc", "sld"):
        found = model.predict_prevalence(new, method)
        assert found == of_networks.prevalence(of_each.ravel(), method)
    assert model.predict_prevalence(new) == np.mean(model.predict(new) == 1)  # counts are of the vote
    model.save(tmp_path / "model.npz")
    assert an.load_model(tmp_path / "model.npz").quantifier == model.quantifier


def test_rule_counts_and_calibration_of_classes_are_those_of_votes_and_rates_those_of_single_networks(monkeypatch):
    X, y = rare(3_000, 0, classes=3)
    monkeypatch.setattr(cross_fitting, "vote_scores", lambda scores, outside, truth, *given: 10.0 * np.eye(3)[truth])
    model = an.fit(X, y, "min_recall", seed=0, steps=50, network=(4,))
    assert len(model.voters) == 4
    assert np.array_equal(model.validation_matrix, np.diag(np.bincount(y)))
    quantifier = model.quantifier
    assert quantifier.networks == 5 and (quantifier.rates.diagonal() < 0.9).all()
    assert quantifier.calibration.slope < 0.5 * model.calibration.slope  # these 50 steps have told little
    as_networks_say = replace(model, quantifier=replace(quantifier, calibration=None))
    shares = [each.predict_prevalence(X[y > 0], "sld") for each in (model, as_networks_say)]
    assert not np.allclose(*shares)


def test_thresholds_and_counts_of_labels_are_those_of_votes(monkeypatch):
    (X, one), (_, other) = rare(3_000, 0), rare(3_000, 0, classes=3)
    monkeypatch.setattr(cross_fitting, "vote_scores", lambda *given: vote_scores(*given) + np.float32([100.0, 200.0]))
    model = an.fit(X, np.stack([one, other == 2], axis=1), "min", seed=0, steps=50, network=(4,))
    assert len(model.voters) == 4 and model.thresholds == pytest.approx([100.0, 200.0], abs=20.0)
    assert (model.validation_confusions[:, [0, 3]] > 0).all()


def test_weights_and_groups_of_the_held_out_rows_reach_the_mapping(monkeypatch):
    X, y = rare(8_000, 0)
    group, weight, seen = np.arange(len(X)) % 2, np.where(y > 0, 3.0, 1.0), []

    def spy(scores, outside, truth, *given):
        seen.append((truth, *given))
        return vote_scores(scores, outside, truth, *given)

    monkeypatch.setattr(cross_fitting, "vote_scores", spy)
    options = {"steps": 50, "network": (4,), "seed": 0}
    an.fit(X, y, "qmean", groups=group, constraints=[an.gap("fpr", at_most=0.5)], **options)
    an.fit(X, y, "min", sample_weight=weight, **options)
    (_, without, of_groups), (truth, of_rows, no_groups) = seen
    assert without is None and no_groups is None
    assert np.bincount(of_groups).tolist() == [4_000, 4_000]
    assert np.array_equal(of_rows, np.where(truth > 0, 3.0, 1.0))


def test_ctrl_c_while_all_networks_score_leaves_the_model_of_single_scores(monkeypatch):
    X, y = rare(3_000, 0)

    def press(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(cross_fitting, "vote_scores", press)
    with pytest.warns(UserWarning, match="scoring the held-out rows with all networks was interrupted"):
        model = an.fit(X, y, "min", seed=0, steps=50, network=(4,))
    assert len(model.voters) == 4 and model.quantifier.of_networks is None


def test_adjusted_prevalences_of_several_classes_are_of_each_networks_predictions():
    errors, errors_by_vote = [], []
    for seed in (1, 2, 3):
        model = an.fit(*rare(6_000, seed, classes=3), "min_recall", seed=seed)
        assert len(model.voters) == 4 and model.quantifier.networks == 5
        new, truth = rare(40_000, 100 + seed, classes=3)
        shares = np.bincount(truth) / len(truth)
        by_vote = replace(model, quantifier=replace(model.quantifier, networks=1))
        for each, found in ((model, errors), (by_vote, errors_by_vote)):
            found.append([np.abs(each.predict_prevalence(new, m) - shares).sum() / 2 for m in ("acc", "pacc", "sld")])
    assert (np.mean(errors, axis=0) < 0.8 * np.mean(errors_by_vote, axis=0)).all()


def test_counts_and_a_calibration_on_other_rows_are_of_the_vote(tmp_path):
    model, (new, truth) = an.fit(*rare(6_000, 0, classes=3), "min_recall", seed=0), rare(4_000, 1, classes=3)
    assert model.predict_prevalence(new)[2] == np.mean(model.predict(new) == 2)
    assert model.predict_prevalence(new, "pcc") == pytest.approx(model.predict_proba(new).mean(axis=0))
    model.save(tmp_path / "model.npz")
    loaded = an.load_model(tmp_path / "model.npz")
    assert loaded.quantifier.networks == 5 and loaded.quantifier.calibration is not None
    for method in ("acc", "pacc", "sld"):
        assert np.array_equal(loaded.predict_prevalence(new, method), model.predict_prevalence(new, method))
    replace(model, voters=[]).save(tmp_path / "one.npz")
    assert an.load_model(tmp_path / "one.npz").quantifier.networks == 5
    model.calibrate(new, truth)
    assert model.quantifier.networks == 1
    assert model.predict_prevalence(new, "acc") == pytest.approx(np.bincount(truth) / len(truth), abs=1e-3)
