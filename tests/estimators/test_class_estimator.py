"""The estimator on labels of several classes: against its model, scikit-learn's tools, and what it refuses."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the estimators need the extra `sklearn`")

from sklearn.base import clone  # noqa: E402
from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.dummy import DummyClassifier  # noqa: E402
from sklearn.exceptions import UndefinedMetricWarning  # noqa: E402
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, f1_score, recall_score  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from aesara_nondecomp import MeasureClassifier, fit, load_model, measure_scorer  # noqa: E402
from aesara_nondecomp._aesara.imports import aesara  # noqa: E402
from aesara_nondecomp.drivers import CrossEntropy  # noqa: E402
from aesara_nondecomp.drivers.multiclass import FixedGains  # noqa: E402
from aesara_nondecomp.estimators.scoring import oriented_value  # noqa: E402
from aesara_nondecomp.measures import at_least, multiclass, share  # noqa: E402
from aesara_nondecomp.measures.multiclass import Cells  # noqa: E402
from aesara_nondecomp.models import ClassModel, Model  # noqa: E402
from aesara_nondecomp.networks import mlp  # noqa: E402
from aesara_nondecomp.training import Phase, Recipe  # noqa: E402

PRIORS, CENTRES = [0.7, 0.2, 0.1], np.array([[0, 0], [2.5, 0], [0, 2.5]])
LABELS = np.array(["common", "fair", "rare"])


def blobs(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=PRIORS)
    return rng.normal(size=(n, 2)) + CENTRES[y], LABELS[y]


X, Y = blobs(600, 0)
NEW, Y_NEW = blobs(2000, 1)


def tiny(measure="min_recall", **options):
    """One network of one shape, for nearly all tests, so that it is compiled once."""
    common = {"network": "mlp", "hidden": (4,), "steps": 80, "batch_size": 64, "validation": 0.3, "random_state": 0}
    return MeasureClassifier(measure, **{**common, **options})


@pytest.fixture(scope="module")
def fitted():
    return tiny().fit(X, Y)


def parameters(estimator):
    return np.concatenate([p.ravel() for p in estimator.model_.parameters])


# -- what is learned -------------------------------------------------------------------------------------------------


def test_it_is_fit_of_the_same_arguments(fitted):
    given = {"network": lambda d: mlp(d, (4,), n_scores=3), "steps": 80, "batch_size": 64, "validation": 0.3, "seed": 0}
    model = fit(X, Y, "min_recall", **given)
    np.testing.assert_array_equal(fitted.decision_function(NEW), model.decision_function(NEW))
    np.testing.assert_array_equal(fitted.predict_proba(NEW), model.predict_proba(NEW))
    assert isinstance(fitted.model_, ClassModel) and fitted.n_iter_ == len(model.history)


def test_methods_have_the_shapes_and_order_of_scikit_learn(fitted):
    assert fitted.classes_.tolist() == LABELS.tolist() and fitted.n_features_in_ == 2
    scores, probabilities = fitted.decision_function(NEW), fitted.predict_proba(NEW)
    assert scores.shape == probabilities.shape == (2000, 3)
    np.testing.assert_array_equal(fitted.predict(NEW), LABELS[scores.argmax(axis=1)])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert fitted.score(NEW, Y_NEW) == pytest.approx(recall_score(Y_NEW, fitted.predict(NEW), average=None).min())
    assert fitted.score(NEW, Y_NEW) > 0.5
    prevalences = fitted.predict_prevalence(NEW, "acc")
    assert prevalences == pytest.approx([np.mean(Y_NEW == label) for label in LABELS], abs=0.06)
    assert not hasattr(fitted, "threshold_") and not hasattr(fitted, "prior_")


def test_two_labels_get_one_score_and_a_model_of_several_classes_for_such_a_measure():
    two = tiny().fit(X, Y == "rare")
    scores = two.decision_function(NEW)
    assert isinstance(two.model_, ClassModel) and scores.shape == (2000,)
    np.testing.assert_array_equal(two.predict(NEW), scores > 0)
    assert two.predict_proba(NEW).shape == (2000, 2) and two.predict_prevalence(NEW).shape == (2,)
    assert isinstance(tiny("gmean").fit(X, Y == "rare").model_, Model)


def test_a_weight_in_score_and_calibration_counts_as_repeated_rows(fitted):
    weight = 1 + np.arange(len(Y_NEW)) % 3
    twice = np.repeat(np.arange(len(Y_NEW)), weight)
    assert fitted.score(NEW, Y_NEW, sample_weight=weight) == pytest.approx(fitted.score(NEW[twice], Y_NEW[twice]))
    rows = np.arange(120)
    options = {"validation": None, "batch_size": None, "standardize": False, "dtype": "float64", "network": "linear"}
    weighted = tiny(**{**options, "hidden": None}).fit(X[rows], Y[rows], sample_weight=weight[rows])
    repeats = np.repeat(rows, weight[rows])
    repeated = tiny(**{**options, "hidden": None}).fit(X[repeats], Y[repeats])
    np.testing.assert_allclose(weighted.predict_proba(NEW[:50]), repeated.predict_proba(NEW[:50]), atol=1e-6)


def test_without_rows_held_out_the_measure_itself_is_trained_for():
    """There are none to choose a rule on, and cross-entropy alone would miss the rare class."""
    direct = tiny(validation=None, steps=200).fit(X, Y)
    usual = tiny(validation=None, steps=200, algorithm="cross_entropy").fit(X, Y)
    assert direct.model_.rule is None and "alpha_0" in direct.history_[0].duals
    assert direct.score(NEW, Y_NEW) > usual.score(NEW, Y_NEW) + 0.1


def test_probabilities_of_separate_classes_stay_short_of_0_and_1():
    """Without smoothed targets the slope would grow with the rounds of the search."""
    y = np.arange(90) % 3
    apart = 20.0 * np.eye(3)[y]
    apart += np.random.default_rng(0).normal(size=apart.shape)
    likely = tiny(validation=None).fit(apart, y).predict_proba(apart).max(axis=1)
    assert likely.mean() > 0.9 and likely.max() < 0.9999


# -- going on, copies, pickles ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda e: pickle.loads(pickle.dumps(e))])
def test_a_copy_predicts_the_same_and_goes_on_the_same(copied, fitted):
    original = copy.deepcopy(fitted).partial_fit(X, Y)
    twin = copied(original)
    assert twin.model_ is not original.model_
    for method in ("decision_function", "predict_proba", "predict_prevalence"):
        np.testing.assert_array_equal(getattr(twin, method)(NEW), getattr(original, method)(NEW))
    np.testing.assert_array_equal(parameters(twin.partial_fit(X, Y)), parameters(original.partial_fit(X, Y)))


def test_its_model_is_saved_and_loaded(fitted, tmp_path):
    fitted.model_.save(tmp_path / "classes.model")
    loaded = load_model(tmp_path / "classes.model")
    np.testing.assert_array_equal(loaded.predict(NEW), fitted.predict(NEW))


def test_a_clone_trains_the_same(fitted):
    twin = clone(fitted)
    assert not hasattr(twin, "model_")
    np.testing.assert_array_equal(parameters(twin.fit(X, Y)), parameters(fitted))


@pytest.mark.filterwarnings("ignore:the model to train further may have been")
def test_a_second_estimator_a_warm_start_and_partial_fit_compile_nothing(fitted, monkeypatch):
    monkeypatch.setattr(aesara, "function", lambda *a, **k: pytest.fail("something was compiled again"))
    other = tiny("macro_f1", learning_rate=0.1, l2=0.1, random_state=7).fit(X, Y)
    assert other.model_.functions is fitted.model_.functions
    other.set_params(warm_start=True).fit(X, Y)
    assert other.partial_fit(X, Y).model_.functions is fitted.model_.functions


@pytest.mark.filterwarnings("ignore:the model to train further may have been")
def test_warm_start_begins_at_the_last_weights(fitted):
    warm = copy.deepcopy(fitted).set_params(warm_start=True, learning_rate=1e-12, steps=1).fit(X, Y)
    np.testing.assert_allclose(parameters(warm), parameters(fitted), atol=1e-6)


def test_partial_fit_learns_a_measure_from_a_stream():
    estimator = tiny(validation=None)
    for _ in range(12):
        for start in range(2):
            estimator.partial_fit(X[start::2], Y[start::2], classes=LABELS)
    assert estimator.n_iter_ == 24 * 5  # 300 rows in batches of 64
    assert estimator.model_.priors == pytest.approx([np.mean(Y == label) for label in LABELS])
    assert estimator.score(NEW, Y_NEW) > 0.7 and estimator.model_.rule is None
    assert estimator.predict_proba(NEW).mean(axis=0) == pytest.approx(PRIORS, abs=0.06)


def test_partial_fit_after_fit_keeps_its_rule_and_training(fitted):
    further = copy.deepcopy(fitted).partial_fit(X, Y)
    np.testing.assert_array_equal(further.model_.rule, fitted.model_.rule)
    assert further.history_[-1].duals == {} and further.n_iter_ == fitted.n_iter_ + 10


def test_full_batches_of_a_stream_are_the_steps_of_fit():
    options = {"validation": None, "batch_size": 600, "steps": 4, "schedule": "constant", "algorithm": "class_weighted"}
    whole = tiny(**options).fit(X, Y)
    parts = tiny(**options).partial_fit(X, Y)
    started = parts.model_
    assert len(whole.history_) == 4 and parts.n_iter_ == 1 and isinstance(started, ClassModel)
    assert [s.sums[3:] for s in parts.history_] == [pytest.approx(whole.history_[0].sums[3:])]  # weights of the classes


# -- in scikit-learn's company ---------------------------------------------------------------------------------------


def test_searches_cross_validation_and_pipelines_take_it():
    search = GridSearchCV(tiny(steps=20), {"learning_rate": [1e-6, 0.05]}, cv=2, scoring=measure_scorer("min_recall"))
    assert search.fit(X, Y).best_params_ == {"learning_rate": 0.05}
    pipeline = make_pipeline(StandardScaler(), tiny("mean_recall", standardize=False))
    own, peer = (cross_val_score(pipeline, X, Y, cv=2, scoring=scoring) for scoring in (None, "balanced_accuracy"))
    assert own == pytest.approx(peer) and own.min() > 0.5
    probabilities = cross_val_predict(tiny(), X, Y, cv=2, method="predict_proba")
    assert probabilities.shape == (600, 3) and probabilities.mean(axis=0) == pytest.approx(PRIORS, abs=0.06)
    calibrated = CalibratedClassifierCV(tiny(), cv=2).fit(X, Y)
    assert balanced_accuracy_score(Y_NEW, calibrated.predict(NEW)) > 0.5


def test_the_names_of_a_frames_columns_are_kept():
    frames = pytest.importorskip("pandas", reason="frames of that library")
    frame = frames.DataFrame(X, columns=["a", "b"])
    estimator = tiny().fit(frame, frames.Series(Y))
    assert estimator.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(estimator.predict(frame[["b", "a"]]), tiny().fit(X, Y).predict(X))


@pytest.mark.parametrize(("measure", "several"), [
    ("f1", False), ("nas", False), ("min", True), ("gmean", True), ("min_recall", True),
    (multiclass.get("micro_f1", negative=0), True),
])  # fmt: skip
def test_the_tag_says_whether_the_measure_takes_several_classes(measure, several):
    assert MeasureClassifier(measure)._more_tags() == {"binary_only": not several}
    if hasattr(MeasureClassifier, "__sklearn_tags__") and hasattr(DummyClassifier, "__sklearn_tags__"):
        assert MeasureClassifier(measure).__sklearn_tags__().classifier_tags.multi_class is several


def test_the_report_of_several_classes_is_that_of_its_model(fitted, tmp_path):
    if not hasattr(ClassModel, "report"):
        pytest.skip("models of several classes have no report")
    figures = fitted.report(NEW, Y_NEW, tmp_path / "report.html", n_resamples=10)
    assert (tmp_path / "report.html").exists() and figures


# -- scorers ---------------------------------------------------------------------------------------------------------


def always(label):
    return DummyClassifier(strategy="constant", constant=label).fit(np.zeros((3, 1)), LABELS)


PEERS = {
    "mean_recall": balanced_accuracy_score,
    "macro_f1": lambda y, p: f1_score(y, p, average="macro"),
    "kappa": cohen_kappa_score,
    "qwk": lambda y, p: cohen_kappa_score(y, p, weights="quadratic"),
}


@pytest.mark.parametrize("name", PEERS)
def test_a_scorer_of_several_classes_is_that_of_scikit_learn(fitted, name):
    assert measure_scorer(name, labels=LABELS)(fitted, NEW, Y_NEW) == pytest.approx(
        PEERS[name](Y_NEW, fitted.predict(NEW))
    )


def test_a_name_of_two_classes_and_of_several_is_scored_by_the_labels(fitted):
    two = tiny("gmean").fit(X, Y == "rare")
    recalls = recall_score(Y_NEW == "rare", two.predict(NEW), average=None)
    assert measure_scorer("gmean")(two, NEW, Y_NEW == "rare") == pytest.approx(np.sqrt(recalls.prod()))
    recalls = recall_score(Y_NEW, fitted.predict(NEW), average=None)
    assert measure_scorer("gmean")(fitted, NEW, Y_NEW) == pytest.approx(recalls.prod() ** (1 / 3))


def test_labels_keep_the_distances_of_ordered_classes_that_a_fold_lacks():
    y, rows = np.array(["common", "common", "rare"]), np.zeros((3, 1))
    mean_distance = measure_scorer("macro_mae", labels=LABELS, zero_division=9.0)(always("rare"), rows, y)
    assert mean_distance == -9.0  # the class in the middle has no rows
    both = np.array(["common", "fair", "rare"])
    assert measure_scorer("macro_mae", labels=LABELS)(always("rare"), rows, both) == pytest.approx(-1.0)
    y, predicted = ["a", "c", "c", "d"], ["c", "a", "c", "d"]
    lacking = cohen_kappa_score(y, predicted, weights="quadratic", labels=list("abcd"))
    assert oriented_value(y, predicted, "qwk", labels=list("abcd")) == pytest.approx(lacking)
    with pytest.warns(UserWarning, match="text is taken in sorted order"):
        assert oriented_value(y, predicted, "qwk") != pytest.approx(lacking)


def test_the_order_of_labels_is_that_of_the_classes():
    levels = ["low", "mid", "high"]
    y, predicted = np.random.default_rng(0).choice(levels, 60), np.array(levels * 20)
    peer = cohen_kappa_score(y, predicted, weights="quadratic", labels=levels)
    assert oriented_value(y, predicted, "qwk", labels=levels) == pytest.approx(peer)
    assert oriented_value(y, predicted, "qwk", labels=sorted(levels)) != pytest.approx(peer)
    with pytest.raises(ValueError, match="labels must name each class once"):
        oriented_value(y, predicted, "qwk", labels=[*levels, "low"])


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_the_estimator_knows_the_order_of_categories(method):
    pandas = pytest.importorskip("pandas", reason="categories of that library")
    order = {"rare": 0, "fair": 1, "common": 2}  # sorted, and reversed
    right = pandas.Series(pandas.Categorical(Y, categories=list(order), ordered=True))
    wrong = pandas.Series(pandas.Categorical(Y, categories=["fair", "rare", "common"], ordered=True))
    assert getattr(tiny("qwk"), method)(X, right).classes_.tolist() == sorted(order)
    with pytest.raises(ValueError, match=r"categories in the order \['fair', 'rare', 'common'\]"):
        getattr(tiny("qwk"), method)(X, wrong)


def test_a_model_of_texts_says_which_order_another_measure_takes(fitted):
    with pytest.warns(UserWarning, match="qwk compares classes by their order"):
        fitted.model_.value(NEW, Y_NEW, "qwk")


def test_a_fold_without_a_class_counts_as_undefined():
    with pytest.warns(UndefinedMetricWarning, match="min_recall is undefined on these rows"):
        assert measure_scorer("min_recall")(always("rare"), np.zeros((2, 1)), ["common", "fair"]) == 0.0


@pytest.mark.parametrize(("options", "message"), [
    ({"measure": "f1"}, "'f1' is of two classes: of more give 'macro_f1', 'min_recall'.*got '3 labels'"),
    ({"measure": "gmean", "pos_label": "rare"}, "pos_label is for labels of two classes"),
    ({"measure": "gmean", "labels": ["common", "fair", "new"]}, "labels must be among"),
])  # fmt: skip
def test_what_no_scorer_of_several_classes_takes_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        measure_scorer(**options)(always("rare"), np.zeros((3, 1)), LABELS)


# -- what is refused -------------------------------------------------------------------------------------------------


def class_recipe_of_ones_own():
    return Recipe((Phase(FixedGains(Cells(PRIORS), "class_weighted")),))


REFUSED = {
    "default measure": ({"measure": "f1"}, "Only binary.*the measure 'f1'.*multiclass.*'macro_f1', 'micro_f1'"),
    "measure of two": ({"measure": "nas"}, "Only binary classification is supported by the measure 'nas'"),
    "parameter missing": ({"measure": "micro_f1"}, "negative"),
    "more worst than classes": ({"measure": multiclass.get("mean_of_worst", h=4)}, "needs at least 4 classes, got 3"),
    "pos_label": ({"pos_label": "rare"}, "pos_label is not available for several classes"),
    "prior": ({"prior": 0.3}, "prior is not available for several classes"),
    "sampler": ({"sampler": 0.3}, "sampler must be 'natural' or 'balanced'"),
    "algorithm": ({"algorithm": "struct_ann"}, "unknown algorithm 'struct_ann'"),
    "recipe of two": ({"algorithm": Recipe((Phase(CrossEntropy(0.5)),))}, "needs drivers of drivers.multiclass"),
}


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.usefixtures("nothing_may_be_compiled")
def test_what_several_classes_do_not_take_is_refused_before_anything_is_compiled(case, method):
    options, message = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(MeasureClassifier(**{"measure": "min_recall", **options}), method)(X, Y)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.usefixtures("nothing_may_be_compiled")
def test_a_recipe_of_several_classes_is_refused_for_two(method):
    with pytest.raises(ValueError, match="without drivers of drivers.multiclass"):
        getattr(tiny("f1", algorithm=class_recipe_of_ones_own()), method)(X, Y == "rare")


@pytest.mark.parametrize(("given", "message"), [
    ({"classes": LABELS[:2]}, r"two known classes, got \['rare'\]"),
    ({"classes": [*LABELS, "unseen"]}, r"partial_fit needs rows of each class, got .none of \['unseen'\]"),
    ({"algorithm": "plug_in"}, "needs a recipe with a rule"),
    ({"constraints": [share(at_most=0.5)]}, "constraints"),
])  # fmt: skip
def test_what_a_stream_of_several_classes_does_not_take_is_refused(given, message):
    classes = given.pop("classes", None)
    with pytest.raises(ValueError, match=message):
        tiny(validation=None, **given).partial_fit(X, Y, classes=classes)


def test_models_of_two_and_of_several_classes_are_not_gone_on_with_as_the_other(fitted):
    with pytest.raises(ValueError, match="give a measure of as many classes"):
        tiny("gmean").fit(X, Y == "rare").set_params(measure="min_recall").partial_fit(X, Y == "rare")
    with pytest.raises(ValueError, match="warm_start goes on with 3 classes with a score each.*got '2 classes with"):
        copy.deepcopy(fitted).set_params(warm_start=True).fit(X, Y == "rare")


@pytest.mark.parametrize(("call", "message"), [
    (lambda c: c.constraint_report(NEW, Y_NEW), "constraints needs asked="),
    (lambda c: c.score(NEW, Y_NEW, groups=Y_NEW), "groups have no effect on min_recall"),
    (lambda c: c.report(NEW, Y_NEW, "page.html", groups=Y_NEW[1:]), "one value per row"),
    (lambda c: c.score(NEW, Y_NEW[:9]), "2000 rows of features and 9 labels"),
    (lambda c: c.score(NEW, np.where(Y_NEW == "rare", "new", Y_NEW)), "labels must be among"),
    (lambda c: c.fit(X, Y, groups=Y), "groups have no effect on min_recall"),
    (lambda c: c.predict_prevalence(NEW, "plain"), "unknown method 'plain'"),
])  # fmt: skip
def test_what_a_model_of_several_classes_has_not_is_said(fitted, call, message):
    with pytest.raises(ValueError, match=message):
        call(fitted)


@pytest.mark.filterwarnings("ignore:rates of few rows", "ignore:fewer than 30 rows", "ignore:constraint not reached")
def test_groups_and_constraints_of_several_classes_train_and_are_judged():
    sex, other = (np.where(np.arange(len(rows)) % 3 == 0, "f", "m") for rows in (X, NEW))
    asked = at_least("recall", 0.2, label="rare")
    found = tiny("worst_cell", constraints=[asked], validation=0.3).fit(X, Y, groups=sex)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(NEW))
    right = found.predict(NEW) == Y_NEW
    by_hand = [
        np.average(right[(Y_NEW == k) & (other == g)], weights=weight[(Y_NEW == k) & (other == g)])
        for k in LABELS for g in "fm"
    ]  # fmt: skip
    assert found.score(NEW, Y_NEW, weight, groups=other) == pytest.approx(min(by_hand), abs=1e-12)
    assert len(found.by_group(NEW, Y_NEW, other).cells) == 6
    assert [each.constraint for each in found.constraint_report(NEW, Y_NEW).verdicts] == ["recall(rare) >= 0.2"]
    with pytest.raises(ValueError, match="worst_cell needs groups="):
        found.score(NEW, Y_NEW)
