"""The scikit-learn estimator: its own promises; scikit-learn's checks are in test_sklearn_checks.py."""

from __future__ import annotations

import copy
import doctest
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

sklearn = pytest.importorskip("sklearn", reason="the estimators need the extra `sklearn`")

from sklearn.base import clone  # noqa: E402
from sklearn.ensemble import VotingClassifier  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    GroupKFold,
    PredefinedSplit,
    cross_val_predict,
    cross_val_score,
)
from sklearn.multiclass import OneVsRestClassifier  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from aesara_nondecomp import Checkpoint, MeasureClassifier, measure_scorer, mlp  # noqa: E402
from aesara_nondecomp._aesara.imports import aesara  # noqa: E402
from aesara_nondecomp.data import Standardiser, stratified_split  # noqa: E402
from aesara_nondecomp.estimators import classifier as classifier_module  # noqa: E402
from aesara_nondecomp.estimators import scoring  # noqa: E402
from aesara_nondecomp.metrics import multiclass  # noqa: E402
from aesara_nondecomp.metrics.multiclass import averaged_value  # noqa: E402
from aesara_nondecomp.metrics.threshold import best_threshold  # noqa: E402
from aesara_nondecomp.training.recipes import Problem, recipe_for  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.standard_normal((240, 3))
Y = (X[:, 0] + 0.5 * RNG.standard_normal(240) > 0.8).astype(int)


def tiny(measure="f1", **options):
    """One network of one shape, trained on all rows, for nearly all tests, so that it is compiled once."""
    common = {"network": "mlp", "hidden": (4,), "steps": 40, "batch_size": 64, "validation": None, "random_state": 0}
    return MeasureClassifier(measure, **{**common, **options})


def by_default(**options):
    """As it is without any parameter, but smaller: five networks of the rows' columns, which vote."""
    return MeasureClassifier(**{"hidden": (4,), "steps": 40, "batch_size": 64, "random_state": 0, **options})


@pytest.fixture(scope="module")
def fitted():
    return tiny().fit(X, Y)


@pytest.fixture(scope="module")
def voted():
    return by_default().fit(X, Y)


def parameters(estimator):
    return np.concatenate([p.ravel() for p in estimator.model_.parameters])


def all_parameters(estimator):
    """Of the network and of its voters."""
    return np.concatenate([parameters(estimator), *(p.ravel() for voter in estimator.model_.voters for p in voter)])


# -- what is learned -------------------------------------------------------------------------------------------------


def test_equal_seeds_give_equal_weights_and_others_others(fitted):
    assert np.array_equal(parameters(fitted), parameters(tiny().fit(X, Y)))
    assert not np.array_equal(parameters(fitted), parameters(tiny(random_state=1).fit(X, Y)))
    first, second = (tiny(random_state=np.random.RandomState(5)).fit(X, Y) for _ in range(2))
    assert np.array_equal(parameters(first), parameters(second))


CODINGS = [(-1, 1), (False, True), ("no", "yes"), (3.0, 7.0), (np.uint8(1), np.uint8(2))]


@pytest.mark.parametrize("negative, positive", CODINGS)
def test_five_codings_of_the_labels_give_the_same_weights_and_come_back(fitted, negative, positive):
    y = np.array([negative, positive])[Y]
    other = tiny().fit(X, y)
    assert np.array_equal(parameters(fitted), parameters(other))
    assert np.array_equal(other.predict(X) == np.array(positive), fitted.predict(X) == 1)
    assert other.predict(X).dtype == y.dtype


def test_a_smaller_positive_label_turns_scores_and_probabilities_round(fitted):
    turned = tiny(pos_label=0).fit(X, 1 - Y)
    assert np.array_equal(parameters(fitted), parameters(turned))
    assert turned.classes_.tolist() == [0, 1]
    np.testing.assert_array_equal(turned.decision_function(X), -fitted.decision_function(X))
    np.testing.assert_array_equal(turned.predict_proba(X), fitted.predict_proba(X)[:, ::-1])
    assert turned.score(X, 1 - Y) == fitted.score(X, Y)
    assert np.array_equal(turned.predict(X), 1 - fitted.predict(X))


def test_without_rows_held_out_probabilities_are_calibrated_on_the_training_rows(fitted):
    probabilities = fitted.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert probabilities[:, 1].mean() == pytest.approx(Y.mean(), abs=0.01)


def test_a_score_is_larger_when_better_for_an_error_too():
    estimator = tiny("kld").fit(X, Y)
    assert estimator.score(X, Y) == -estimator.model_.value(X, Y) <= 0


def test_a_weight_in_score_counts_as_repeated_rows(fitted):
    weight = np.arange(len(Y)) % 3
    repeated = fitted.score(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    assert fitted.score(X, Y, sample_weight=weight) == pytest.approx(repeated)


def test_the_facts_of_a_fit_are_those_of_its_model(fitted):
    assert (fitted.n_iter_, len(fitted.history_), fitted.n_features_in_) == (40, 40, 3)
    assert (fitted.prior_, fitted.threshold_) == (pytest.approx(Y.mean()), 0.0)
    assert np.array_equal(fitted.predict(X), fitted.model_.predict(X))


def test_scaling_counts_a_weight_as_repeated_rows():
    weight = 1 + np.arange(len(X)) % 3
    weighted, repeated = Standardiser.fit(X, sample_weight=weight), Standardiser.fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.mean_, repeated.mean_)
    np.testing.assert_allclose(weighted.scale_, repeated.scale_)


# -- held-out rows ---------------------------------------------------------------------------------------------------


def test_a_share_held_out_is_not_trained_on():
    train, held = stratified_split(np.where(Y == 1, 1, -1), 0.25, 0)
    spoilt = np.where(np.isin(np.arange(len(X)), held)[:, None], 3 * X, X)
    by_share, of_spoilt = (tiny(validation=0.25, steps=9).fit(rows, Y) for rows in (X, spoilt))
    assert np.array_equal(parameters(by_share), parameters(of_spoilt))
    assert by_share.quantifier_ != of_spoilt.quantifier_
    assert by_share.prior_ == pytest.approx(Y[train].mean())


def test_a_tuned_threshold_is_the_best_on_the_held_out_rows():
    _, held = stratified_split(np.where(Y == 1, 1, -1), 0.25, 0)
    tuned = tiny(validation=0.25, tune_threshold=True).fit(X, Y)
    scores, signs = tuned.model_.decision_function(X[held]), np.where(Y[held] == 1, 1, -1)
    assert tuned.threshold_ == best_threshold("f1", scores, signs)[0]
    assert np.array_equal(tuned.predict(X), (tuned.decision_function(X) > 0).astype(int))
    assert tuned.quantifier_.tpr == np.mean(scores[signs > 0] > tuned.threshold_)


def test_by_default_five_networks_vote_and_each_row_is_judged_by_one_that_was_not_trained_on_it(voted):
    assert len(voted.model_.voters) == 4 and voted.model_.network_description["builder"] == "tabular"
    assert sum(voted.model_.validation_matrix) == len(X)
    assert voted.n_iter_ == len(voted.history_) <= 5 * 40 and voted.model_.best_step <= 40
    assert voted.score(X, Y) > 0.6


def test_probabilities_of_labels_that_are_noise_stay_near_their_share():
    """They are calibrated on rows that were not trained on, however well a network memorises those it was."""
    rng = np.random.default_rng(3)
    rows, noise = rng.standard_normal((150, 20)), (rng.random(150) < 0.3).astype(int)
    options = {"network": "mlp", "hidden": (64,), "steps": 200, "learning_rate": 0.02, "tune_threshold": False}
    of_training_rows = tiny(**options).fit(rows, noise).predict_proba(rows)[:, 1]
    with pytest.warns(UserWarning, match="worse than the 0.4772 of one label for all rows"):
        of_other_rows = by_default(**options).fit(rows, noise).predict_proba(rows)[:, 1]
    assert of_training_rows[noise == 1].min() > 0.5 > of_training_rows[noise == 0].max()
    assert np.abs(of_other_rows - noise.mean()).max() < 0.12


def test_rows_of_a_group_are_held_out_together():
    groups, fold = np.arange(len(X)) % 7, np.zeros(len(X))
    fold[next(GroupKFold(2).split(X, Y, groups))[0]] = 1  # those that its first division trains on
    by_group = by_default(validation=GroupKFold(2)).fit(X, Y, validation_groups=groups)
    by_fold = by_default(validation=PredefinedSplit(fold)).fit(X, Y)
    assert np.array_equal(all_parameters(by_group), all_parameters(by_fold))
    with pytest.raises(ValueError, match=r"one value per row, shape \(240,\)"):
        by_default().fit(X, Y, validation_groups=groups[:9])


def test_a_refit_is_one_network_of_all_rows(voted):
    again = by_default(refit=True).fit(X, Y)
    assert again.model_.voters == [] and again.model_.best_step == voted.model_.best_step
    assert again.n_iter_ == voted.n_iter_ + voted.model_.best_step
    of_single = voted.quantifier_.of_networks  # at a threshold that as many exceed as the vote's
    assert again.quantifier_.of_networks is None and again.quantifier_.calibration == of_single.calibration


def test_an_infinite_threshold_leaves_finite_scores(fitted):
    always = copy.deepcopy(fitted)
    always.model_.threshold = -np.inf
    assert np.all(np.isfinite(always.decision_function(X))) and np.all(always.predict(X) == 1)


def by_voting(classifier, X, y):
    VotingClassifier([("a", classifier), ("b", classifier)]).fit(X, y)


def by_decisions(classifier, X, y):
    cross_val_predict(classifier, X, y, method="decision_function", cv=2)


@pytest.mark.parametrize("fitted_by", [by_voting, by_decisions])
def test_where_labels_are_numbered_the_positive_one_is_named_by_its_place(fitted_by):
    texts = np.array(["bad", "ok"])[Y]
    with pytest.raises(ValueError, match="pos_label must be one of the two labels, got 'bad'.*Voting.*0 or 1"):
        fitted_by(tiny(pos_label="bad"), X, texts)
    fitted_by(tiny(pos_label=0), X, texts)
    with pytest.raises(ValueError, match="got 'bda'. Did you mean 'bad'. Known: bad, ok.$"):
        tiny(pos_label="bda").fit(X, texts)


# -- going on --------------------------------------------------------------------------------------------------------


def test_warm_start_begins_at_the_last_weights():
    warm = tiny(warm_start=True).fit(X, Y)
    before = parameters(warm)
    warm.set_params(learning_rate=1e-12, steps=1).fit(X, Y)
    np.testing.assert_allclose(parameters(warm), before, atol=1e-6)


@pytest.mark.parametrize(("changed", "message"), [
    ({"hidden": (8,)}, r"leave hidden unchanged, got {'hidden': \(8,\)}"),
    ({"hidden": None, "activation": "tanh"}, "leave activation and hidden unchanged"),
    ({"measure": "min_recall"}, "two classes and one score, as in the last fit.*got '2 classes with a score each"),
    ({"network": "attention", "hidden": None}, "which takes numbers, got 'texts'"),
])  # fmt: skip
def test_warm_start_names_what_has_changed(changed, message):
    warm = tiny(warm_start=True).fit(X, Y).set_params(**changed)
    with pytest.raises(ValueError, match=message):
        warm.fit(["a b", "c d"] * 120 if "texts" in message else X, Y)


@pytest.mark.filterwarnings("ignore:the model to train further may have been")
def test_warm_start_begins_at_the_last_weights_of_each_network_that_votes():
    warm = by_default(warm_start=True).fit(X, Y)
    before = all_parameters(warm)
    warm.set_params(learning_rate=1e-12, steps=1).fit(X, Y)
    np.testing.assert_allclose(all_parameters(warm), before, atol=1e-6)


def test_partial_fit_on_the_same_rows_is_fit():
    """A linear network starts at zero, and batches of all rows leave nothing to chance."""
    options = {"network": "linear", "hidden": None, "dtype": "float64", "batch_size": 240, "steps": 5}
    options |= {"schedule": "constant"}  # a stream has no end
    whole = tiny("min", **options).fit(X, Y)
    parts = tiny("min", **options)
    for _ in range(5):
        parts.partial_fit(X, Y, classes=[0, 1])
    np.testing.assert_allclose(parameters(parts), parameters(whole), rtol=1e-9)
    assert parts.n_iter_ == 5


def test_partial_fit_passes_once_over_its_rows_and_learns_from_all():
    estimator = tiny()
    for start in range(3):
        estimator.partial_fit(X[start::3], Y[start::3])
    assert estimator.n_iter_ == 3 * 2  # 80 rows in batches of 64
    assert estimator.prior_ == pytest.approx(Y.mean())
    for _ in range(20):
        estimator.partial_fit(X, Y)
    assert estimator.score(X, Y) > 0.7


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.filterwarnings("ignore:prior = 0.02 is far")
def test_probabilities_on_training_rows_are_for_the_prior_asked_for(method):
    plain, rare = (getattr(tiny(prior=prior, validation=None), method)(X, Y) for prior in (None, 0.02))
    means = [classifier.predict_proba(X)[:, 1].mean() for classifier in (plain, rare)]
    assert means[0] == pytest.approx(Y.mean(), abs=0.02) and means[1] < means[0] / 2


def test_partial_fit_goes_on_from_fit(fitted):
    further = copy.deepcopy(fitted).set_params(learning_rate=1e-12).partial_fit(X, Y)
    np.testing.assert_allclose(parameters(further), parameters(fitted), atol=1e-6)
    assert further.n_iter_ == 44


def test_a_fit_that_fails_leaves_the_labels_of_the_last_one():
    estimator = tiny().fit(X, Y)
    before = estimator.predict(X)
    with pytest.raises(ValueError, match="steps must be"):
        estimator.set_params(steps=0).fit(X, np.where(Y == 1, "a", "b"))
    assert np.array_equal(estimator.predict(X), before)


def test_partial_fit_takes_a_recipe_and_leaves_it_as_it_was():
    recipe = recipe_for("f1", Problem(Y.mean(), eps=0.5 / len(Y)))
    before = recipe.phases[0].driver.state()
    by_recipe = tiny(measure="f1", algorithm=recipe).partial_fit(X, Y)
    assert np.array_equal(parameters(by_recipe), parameters(tiny(measure="f1").partial_fit(X, Y)))
    assert recipe.phases[0].driver.state() == before


def test_partial_fit_cuts_where_the_recipe_says():
    estimator = tiny(algorithm="logit_adjusted").partial_fit(X, Y)
    assert estimator.threshold_ == pytest.approx(np.log(Y.mean() / (1 - Y.mean())))


@pytest.mark.parametrize("options", [{"algorithm": "plug_in"}, {"tune_threshold": True, "validation": 0.2}])
def test_partial_fit_refuses_to_choose_a_threshold_without_held_out_rows(options):
    with pytest.raises(ValueError, match="partial_fit .* threshold"):
        tiny(**options).partial_fit(X, Y)


def test_a_checkpoint_is_gone_on_from(tmp_path, fitted):
    stopped = tiny(checkpoint=tmp_path / "c.npz", on_step=lambda step: step.step == 15).fit(X, Y)
    assert stopped.n_iter_ == 15
    resumed = tiny(checkpoint=tmp_path / "c.npz", resume=True).fit(X, Y)
    assert np.array_equal(parameters(resumed), parameters(fitted))


@pytest.mark.parametrize("either", [{"resume": True}, {}])
def test_a_checkpoint_says_itself_how_often_it_is_written_and_whether_a_run_goes_on(either, tmp_path, fitted):
    path, dates = tmp_path / "c.npz", []

    def look(step):
        dates.append(path.exists() and path.stat().st_mtime_ns)
        return step.step == 15

    tiny(checkpoint=Checkpoint(path, every=4), on_step=look).fit(X, Y)
    assert len(set(dates)) == 4  # none, after 4, 8 and 12 steps
    resumed = clone(tiny(checkpoint=Checkpoint(path, resume=not either), **either)).fit(X, Y)
    assert np.array_equal(parameters(resumed), parameters(fitted))


# -- copies, threads, processes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda e: pickle.loads(pickle.dumps(e))])
def test_a_copy_predicts_the_same_and_goes_on_the_same(copied):
    original = tiny().partial_fit(X, Y)
    twin = copied(original)
    assert twin.model_ is not original.model_
    assert np.array_equal(twin.model_.decision_function(X), original.model_.decision_function(X))
    assert np.array_equal(twin.decision_function(X), original.decision_function(X))
    assert np.array_equal(parameters(twin.partial_fit(X, Y)), parameters(original.partial_fit(X, Y)))


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda e: pickle.loads(pickle.dumps(e))])
def test_a_copy_has_the_network_of_the_columns_and_all_that_vote(copied):
    spiky = np.column_stack([X[:, :2], np.maximum(X[:, 2], 0)])  # half of its values are 0: it gets bins
    original = by_default(steps=20).fit(spiky, Y)
    twin = copied(original)
    assert twin.model_.network_description == original.model_.network_description
    assert {column for column, *_ in twin.model_.network_description["bins"]} == {2} and len(twin.model_.voters) == 4
    assert np.array_equal(twin.predict_proba(spiky), original.predict_proba(spiky))
    assert np.array_equal(all_parameters(twin.fit(spiky, Y)), all_parameters(original))


def test_a_clone_is_as_before_fit_and_trains_the_same(voted):
    twin = clone(voted)
    assert not hasattr(twin, "model_") and twin.get_params() == voted.get_params()
    assert np.array_equal(all_parameters(twin.fit(X, Y)), all_parameters(voted))


def test_a_copy_is_of_the_network_that_was_trained_whatever_the_parameters_say_by_now():
    original = tiny().fit(X, Y)
    expected = original.decision_function(X)
    twin = pickle.loads(pickle.dumps(original.set_params(activation="tanh")))
    assert np.array_equal(twin.decision_function(X), expected)


def test_a_second_estimator_of_the_shape_compiles_nothing(fitted, monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("something was compiled again")

    monkeypatch.setattr(aesara, "function", refuse)
    other = tiny("qmean", learning_rate=0.1, l2=0.1, random_state=7).fit(X, Y)
    assert other.model_.functions is fitted.model_.functions
    assert not np.array_equal(other.predict_proba(X), fitted.predict_proba(X))


def test_estimators_that_share_functions_keep_their_own_weights(fitted):
    before = fitted.decision_function(X)
    tiny("min", random_state=3).fit(X, Y)
    assert np.array_equal(fitted.decision_function(X), before)


def test_threads_that_share_functions_do_not_disturb_each_other():
    alone = [tiny(random_state=seed).fit(X, Y).decision_function(X) for seed in range(4)]
    together: list = [None] * 4

    def work(seed):
        together[seed] = tiny(random_state=seed).fit(X, Y).decision_function(X)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(a, b) for a, b in zip(alone, together))


def test_a_grid_search_in_two_processes_finds_what_one_finds():
    grid = {"measure": ["f1", "min"], "learning_rate": [0.01, 0.1]}
    searches = [
        GridSearchCV(tiny(steps=20), grid, cv=2, n_jobs=jobs, scoring=measure_scorer("f1")).fit(X, Y)
        for jobs in (None, 2)
    ]
    assert searches[0].best_params_ == searches[1].best_params_
    np.testing.assert_array_equal(
        searches[0].cv_results_["mean_test_score"], searches[1].cv_results_["mean_test_score"]
    )


def test_a_search_over_widths_works_with_the_default_network():
    search = GridSearchCV(by_default(), {"hidden": [(4,), (6,)]}, cv=2).fit(X, Y)
    best = search.best_estimator_.model_
    assert best.network_description["hidden"] == list(search.best_params_["hidden"]) and len(best.voters) == 4
    assert min(search.cv_results_["mean_test_score"]) > 0.4


# -- in scikit-learn's company ---------------------------------------------------------------------------------------


def test_it_works_in_a_pipeline_under_cross_validation_by_its_own_score():
    pipeline = make_pipeline(StandardScaler(), tiny(standardize=False, steps=100))
    by_default = cross_val_score(pipeline, X, Y, cv=3)
    by_scorer = cross_val_score(clone(pipeline), X, Y, cv=3, scoring=measure_scorer("f1"))
    assert np.array_equal(by_default, by_scorer)
    assert by_default.mean() > 0.6


def test_a_threshold_search_maximises_the_measure(fitted):
    selection = pytest.importorskip("sklearn.model_selection", reason="of scikit-learn 1.5 and later")
    if not hasattr(selection, "TunedThresholdClassifierCV"):
        pytest.skip("TunedThresholdClassifierCV came with scikit-learn 1.5")
    tuned = selection.TunedThresholdClassifierCV(
        fitted, scoring=measure_scorer("min"), cv="prefit", refit=False, response_method="decision_function"
    ).fit(X, Y)
    scorer = measure_scorer("min")
    assert scorer(tuned, X, Y) >= scorer(fitted, X, Y)
    assert scorer(tuned, X, Y) == pytest.approx(tuned.best_score_)


def test_the_scorer_turns_errors_round_and_takes_the_positive_label(fitted):
    assert measure_scorer("kld")(fitted, X, Y) == -fitted.model_.value(X, Y, "kld")
    predicted = fitted.predict(X)
    f1_of_zeros = 2 * np.sum((predicted == 0) & (Y == 0)) / (np.sum(predicted == 0) + np.sum(Y == 0))
    assert measure_scorer("f1", pos_label=0)(fitted, X, Y) == pytest.approx(f1_of_zeros)


def test_more_classes_and_labels_go_through_one_vs_rest():
    y = np.array(["a", "b", "c"])[np.argmax(X + 0.3, axis=1)]
    estimator = OneVsRestClassifier(tiny(steps=150)).fit(X, y)
    assert averaged_value("f1", y, estimator.predict(X), "macro") > 0.7
    several = (X > 0.5).astype(int)
    estimator = OneVsRestClassifier(tiny(steps=150)).fit(X, several)
    assert averaged_value("f1", several, estimator.predict(X), "micro") > 0.7


# -- inputs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("build", ["csr_matrix", "csc_matrix", "csr_array"])
def test_sparse_features_give_what_dense_ones_give(build):
    thin = np.where(np.abs(X) > 0.5, X, 0)
    dense = tiny(standardize=False).fit(thin, Y)
    matrix = getattr(scipy.sparse, build)(thin)
    sparse = tiny().fit(matrix, Y)
    assert np.array_equal(parameters(dense), parameters(sparse))
    np.testing.assert_array_equal(dense.predict(thin), sparse.predict(matrix))


@pytest.mark.parametrize("options", [{}, {"validation": 0.25}])
def test_a_memory_map_is_trained_on_as_an_array_is(tmp_path, options):
    np.save(tmp_path / "X.npy", X.astype("float32"))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    array = tiny(**options).fit(X.astype("float32"), Y)
    estimator = tiny(**options).fit(mapped, Y)
    np.testing.assert_allclose(parameters(estimator), parameters(array), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(estimator.predict(mapped), estimator.predict(X.astype("float32")))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_names_of_a_frames_columns_are_kept_and_checked(library):
    frames = pytest.importorskip(library, reason="frames of that library")
    frame = frames.DataFrame({name: X[:, k] for k, name in enumerate("abc")})
    estimator = tiny().fit(frame, Y)
    assert estimator.feature_names_in_.tolist() == estimator.model_.feature_names == ["a", "b", "c"]
    assert np.array_equal(estimator.predict(frame), tiny().fit(X, Y).predict(X))
    assert np.array_equal(estimator.predict(frame[["b", "a", "c"]]), estimator.predict(frame))
    with pytest.raises(ValueError, match=r"lacks the columns \['b'\]"):
        estimator.predict(frame[["a", "c"]])


def test_a_pipeline_that_puts_out_frames_is_taken():
    pytest.importorskip("pandas", reason="set_output makes pandas frames")
    pipeline = make_pipeline(StandardScaler(), tiny()).set_output(transform="pandas").fit(X, Y)
    assert pipeline[-1].feature_names_in_.tolist() == ["x0", "x1", "x2"]


def two_layers(n_features):
    return mlp(n_features, (3, 2), activation="tanh")


def test_a_function_that_builds_a_network_is_taken():
    estimator = tiny(network=two_layers, hidden=None).fit(X, Y)
    assert [p.shape for p in estimator.model_.parameters] == [(3, 3), (3,), (3, 2), (2,), (2, 1), (1,)]
    assert np.array_equal(pickle.loads(pickle.dumps(estimator)).predict(X), estimator.predict(X))


# -- quantification --------------------------------------------------------------------------------------------------


def test_the_prevalence_follows_a_shift_that_the_plain_count_misses():
    rng = np.random.default_rng(1)
    y = (rng.random(6000) < 0.3).astype(int)
    shifted = (rng.random(6000) < 0.8).astype(int)
    features, new = (labels[:, None] + rng.standard_normal((len(labels), 3)) for labels in (y, shifted))
    estimator = tiny("accuracy", steps=150, validation=0.5).fit(features, y)
    errors = {m: abs(estimator.predict_prevalence(new, m) - shifted.mean()) for m in ("cc", "acc", "pacc", "sld")}
    assert max(errors["acc"], errors["pacc"], errors["sld"]) < 0.06 < errors["cc"]


def test_it_is_the_learner_inside_quapys_quantifiers():
    pytest.importorskip("quapy", reason="a peer library with many dependencies")
    from quapy.method.aggregative import ACC, CC, EMQ, PACC

    rng = np.random.default_rng(2)
    y = (rng.random(1500) < 0.4).astype(int)
    features = 1.5 * y[:, None] + rng.standard_normal((1500, 3))
    few = features[np.r_[np.flatnonzero(y == 1)[:50], np.flatnonzero(y == 0)[:450]]]
    alone = tiny("min", steps=100).fit(features, y)
    found = {method: method(tiny("min", steps=100)).fit(features, y).predict(few)[1] for method in (CC, ACC, PACC, EMQ)}
    assert found[CC] == pytest.approx(alone.predict_prevalence(few, "cc"))
    assert [found[ACC], found[PACC], found[EMQ]] == pytest.approx([0.1] * 3, abs=0.06)


# -- documentation ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", [classifier_module, scoring, multiclass])
def test_the_examples_in_the_docstrings_run(module):
    failed, tried = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert tried > 0 and failed == 0


def test_without_scikit_learn_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import aesara_nondecomp\n"
        "try: aesara_nondecomp.MeasureClassifier\n"
        "except ImportError as error: sys.exit('aesara-nondecomp[sklearn]' not in str(error))\n"
        "sys.exit(2)"
    )
    root = Path(__file__).parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root).returncode == 0


def test_a_classifier_that_predicts_one_class_still_ranks_the_rows():
    X = np.random.default_rng(0).standard_normal((120, 2))
    y = X[:, 0] > 0
    fitted = tiny(steps=40).fit(X, y)
    scores = fitted.decision_function(X)
    for threshold, label in ((np.inf, False), (-np.inf, True)):
        fitted.model_.threshold = threshold
        constant = fitted.decision_function(X)
        assert ((constant > 0) == label).all() and (fitted.predict(X) == label).all()
        assert (np.argsort(constant, kind="stable") == np.argsort(scores, kind="stable")).all()


def test_partial_fit_goes_on_from_one_network_and_its_threshold_only():
    X = np.random.default_rng(0).standard_normal((120, 2))
    y = X[:, 0] > 0
    voting = tiny(validation=3, steps=80).fit(X, y)
    with pytest.warns(UserWarning, match="partial_fit goes on from the first of the 3 networks"):
        assert not voting.partial_fit(X, y).model_.voters
    single = tiny(validation=0.3, steps=80).fit(X, y)
    threshold = single.threshold_
    assert threshold != 0 and single.partial_fit(X, y).threshold_ == threshold


@pytest.mark.parametrize("tuned", ["auto", False])
def test_partial_fit_after_a_vote_cuts_one_network_where_single_ones_were_measured(tuned):
    voting = tiny(validation=3, steps=80, patience=None, tune_threshold=tuned).fit(X, Y)
    moved, of_networks = copy.deepcopy(voting), voting.quantifier_.of_networks
    moved.model_.threshold = 9.0
    for estimator, expected in ((voting, of_networks.threshold), (moved, 9.0)):
        with pytest.warns(UserWarning, match="goes on from the first of the 3 networks"):
            estimator.partial_fit(X, Y)
        assert estimator.threshold_ == expected
    assert of_networks.threshold != 0.0 if tuned else of_networks.threshold == 0.0
