"""`MeasureClassifier` on matrices of labels: scikit-learn's own checks, searches, copies, and what is refused."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.base import clone  # noqa: E402
from sklearn.metrics import f1_score  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.utils import estimator_checks, get_tags  # noqa: E402

import aesara_nondecomp as an  # noqa: E402
from aesara_nondecomp import MeasureClassifier  # noqa: E402
from aesara_nondecomp.models.label_model import label_calibrations  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 4))
Y = (X[:, :3] + 0.5 * RNG.normal(size=(600, 3)) > [0.5, 0.7, 0.9]).astype(int)
QUICK = {"network": "linear", "steps": 60, "averaging": 0.0, "dtype": "float64", "random_state": 0}


@pytest.fixture(scope="module")
def classifier():
    return MeasureClassifier("f1", validation=0.3, **QUICK).fit(X, Y)


@pytest.mark.parametrize("name", [
    "representation_invariance", "output_format_predict", "output_format_predict_proba",
    "output_format_decision_function",
])  # fmt: skip
def test_scikit_learns_checks_of_several_labels(name):
    check = getattr(estimator_checks, f"check_classifiers_multilabel_{name}")
    check("MeasureClassifier", MeasureClassifier("f1", validation=None, **QUICK))


def test_predictions_are_those_of_fit(classifier):
    model = an.fit(X, Y, network="linear", steps=60, averaging=0.0, validation=0.3, seed=0)
    predicted = classifier.predict(X)
    assert np.mean(predicted == model.predict(X)) > 0.99  # of another dtype
    np.testing.assert_array_equal(predicted, classifier.decision_function(X) > 0)
    assert classifier.score(X, Y) == pytest.approx(f1_score(Y, predicted, average="macro"))
    weight = RNG.integers(1, 4, 600)
    weighted = f1_score(Y, predicted, average="macro", sample_weight=weight)
    assert classifier.score(X, Y, weight) == pytest.approx(weighted)
    probabilities = classifier.predict_proba(X)
    assert probabilities.shape == Y.shape and 0 <= probabilities.min() <= probabilities.max() <= 1
    np.testing.assert_array_equal(classifier.classes_, [0, 1, 2])


def test_a_checkpoint_is_taken_as_by_fit(tmp_path):
    classifier = MeasureClassifier("f1", validation=None, **QUICK)
    whole = clone(classifier).fit(X, Y)
    path = tmp_path / "c.npz"
    stop = {"checkpoint": an.Checkpoint(path), "on_step": lambda step: step.step == 15}
    clone(classifier).set_params(**stop).fit(X, Y)
    resumed = clone(classifier).set_params(checkpoint=an.Checkpoint(path, resume=True)).fit(X, Y)
    np.testing.assert_array_equal(resumed.decision_function(X), whole.decision_function(X))
    assert resumed.n_iter_ == 60


def test_its_report_is_that_of_its_model(classifier, tmp_path):
    facts = classifier.report(X, Y, tmp_path / "a.html", n_resamples=5)
    assert facts == classifier.model_.report(X, Y, tmp_path / "b.html", n_resamples=5)
    assert (tmp_path / "a.html").read_text() == (tmp_path / "b.html").read_text()


def test_it_is_cloned_pickled_and_searched(classifier):
    again = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(again.decision_function(X), classifier.decision_function(X))
    assert clone(classifier).get_params() == classifier.get_params()
    search = GridSearchCV(MeasureClassifier(validation=None, **QUICK), {"l2": [0.0, 0.1]}, cv=2)
    assert search.fit(X, Y).predict(X).shape == Y.shape


def test_a_label_that_no_row_is_given_still_ranks(classifier):
    thresholds = classifier.model_.thresholds.copy()
    try:
        classifier.model_.thresholds[0] = np.inf
        scores = classifier.decision_function(X)[:, 0]
        assert (scores < 0).all() and np.isfinite(scores).all()
        order = np.argsort(classifier.model_.decision_function(X)[:, 0])
        assert (np.diff(scores[order]) >= 0).all()
    finally:
        classifier.model_.thresholds[:] = thresholds


def test_a_vector_of_labels_makes_it_a_classifier_of_two_classes_again(classifier):
    again = pickle.loads(pickle.dumps(classifier)).fit(X, Y[:, 0])
    assert again.predict(X).shape == (600,) and again.classes_.tolist() == [0, 1]
    pickle.loads(pickle.dumps(again)).predict(X)


def test_calibration_on_training_rows_follows_the_weights(classifier):
    weight = np.where(Y[:, 0] == 1, 5.0, 1.0)
    weighted = MeasureClassifier("f1", validation=None, **QUICK).fit(X, Y, sample_weight=weight)
    repeated = np.repeat(np.arange(600), weight.astype(int))
    scores = weighted.model_.decision_function(X)
    expected = label_calibrations(scores[repeated], Y[repeated].astype(bool))
    for found, each in zip(weighted.model_.calibrations, expected):
        np.testing.assert_allclose(found, each, rtol=1e-6)
    again = pickle.loads(pickle.dumps(weighted)).model_.calibrate(X, Y, sample_weight=weight)
    np.testing.assert_allclose(again.calibrations, weighted.model_.calibrations)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_a_score_of_weights_that_are_none_is_refused(classifier, bad):
    with pytest.raises(ValueError, match="sample_weight must be finite and at least 0"):
        classifier.score(X, Y, np.where(np.arange(600) == 3, bad, 1.0))


def test_a_warm_start_goes_on_with_labels_of_the_same_kind_and_the_same_network(classifier):
    warm = pickle.loads(pickle.dumps(classifier)).set_params(warm_start=True)
    with pytest.raises(ValueError, match="warm_start goes on with a matrix of labels, as in the last fit"):
        warm.fit(X, Y[:, 0])
    with pytest.raises(
        ValueError, match="the network of the last fit: leave network unchanged, got {'network': 'mlp'}"
    ):
        warm.set_params(network="mlp").fit(X, Y)
    vector = MeasureClassifier("f1", validation=None, **QUICK).fit(X, Y[:, 0]).set_params(warm_start=True)
    with pytest.raises(ValueError, match="warm_start goes on with one label a row, as in the last fit"):
        vector.fit(X, Y)


@pytest.mark.parametrize(("measure", "expected"), [("f1", True), ("micro_f1", True), ("min_recall", False)])
def test_the_tag_says_whether_the_measure_takes_matrices(measure, expected):
    assert get_tags(MeasureClassifier(measure)).classifier_tags.multi_label is expected


WRONG = {
    "values": ({}, {"y": 2 * Y}, "must hold 0 and 1 only"),
    "rows": ({}, {"y": Y[1:]}, "600.*599|599.*600"),
    "pos_label": ({"pos_label": 1}, {}, "pos_label is not available for a matrix of labels"),
    "prior": ({"prior": 0.3}, {}, "prior is not available for a matrix of labels"),
    "groups": ({}, {"groups": Y[:, 0]}, "groups is not available for a matrix of labels"),
    "numbers for texts": ({"network": "lstm"}, {}, "texts must be"),
    "backend": ({"backend": "fortran"}, {}, "backend"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_are_refused(case):
    changed, given, message = WRONG[case]
    with pytest.raises(ValueError, match=message):
        MeasureClassifier(**{**QUICK, "on_step": lambda step: pytest.fail("trained"), **changed}).fit(
            X, **{"y": Y, **given}
        )


def test_what_takes_one_label_a_row_says_so(classifier):
    with pytest.raises(ValueError, match="predict_prevalence is for one label a row"):
        classifier.predict_prevalence(X)
    with pytest.raises(ValueError, match="by_group is for one label a row"):
        classifier.by_group(X, Y, Y[:, 0])
    with pytest.raises(ValueError, match="groups is for one label a row"):
        classifier.report(X, Y, "report.html", groups=Y[:, 0])
    two = pickle.loads(pickle.dumps(classifier))
    two.classes_ = two.classes_[:2]  # as of two labels, which are no two classes
    with pytest.raises(ValueError, match="one label a row"):
        an.SoftVote([two], measure="f1")
    with pytest.raises(ValueError, match="partial_fit takes one label a row"):
        classifier.partial_fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="partial_fit takes one label a row"):
        an.MeasureClassifier().partial_fit(X, Y)
