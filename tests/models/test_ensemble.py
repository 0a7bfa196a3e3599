"""A vote of classifiers: soft labels around each one's own threshold."""

import dataclasses
import pickle

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp import SoftVote, measures, metrics

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3)).astype("float32")
Y = np.where(X[:, 0] + 0.5 * RNG.normal(size=300) > 0.8, "yes", "no")


def trained(measure="f1", **options):
    """One linear network, trained on all rows."""
    return an.fit(X, Y, measure, **{"network": (), "steps": 20, "batch_size": 64, "validation": None, **options})


@pytest.fixture(scope="module")
def models():
    first = trained(seed=0)
    return [first, *(trained(network=first.functions, seed=s) for s in (1, 2))]


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
    other = trained("min", network=models[0].functions, steps=1, seed=0)
    with pytest.raises(ValueError, match="agree on their measure"):
        SoftVote([models[0], other])
    costs = [measures.pseudolinear("cost", (0, weight, 1), (2, 0, 0)) for weight in (1, 1, 5)]
    first, same, unlike = (dataclasses.replace(models[0], measure=each) for each in costs)
    assert SoftVote([first, same]).measure == costs[0]
    with pytest.raises(ValueError, match=r"agree on their measure, .* got 'cost \[.*\], cost \["):
        SoftVote([first, unlike])
    turned = trained(network=models[0].functions, positive="no", steps=1, seed=0)
    with pytest.raises(ValueError, match="agree on their classes"):
        SoftVote([models[0], turned])
    with pytest.raises(ValueError, match="at least one model"):
        SoftVote([])


def test_a_model_of_several_networks_has_one_vote(models):
    several = trained(network=models[0].functions, validation=3, steps=100, seed=0)
    assert len(several.voters) == 2
    expected = np.tanh((several.decision_function(X) - several.threshold) / 2)
    np.testing.assert_allclose(SoftVote([several]).decision_function(X), expected, atol=1e-6)


# -- classifiers of other libraries ----------------------------------------------------------------------------------


class Fixed:
    """A fitted classifier that gives each row the probability in its first column, or a decision value."""

    def __init__(self, *classes):
        self.classes_ = np.array(classes)


class Probable(Fixed):
    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


class Decided(Fixed):
    def decision_function(self, X):
        return X[:, 0]


P = np.array([[0.1], [0.5], [0.8]])


def test_a_probability_votes_by_its_log_odds_relative_to_the_threshold():
    log_odds = np.log(P[:, 0] / (1 - P[:, 0]))
    vote = SoftVote([Probable("no", "yes"), (Probable("no", "yes"), 0.2)], "f1")
    by_hand = (np.tanh(log_odds / 2) + np.tanh((log_odds - np.log(0.2 / 0.8)) / 2)) / 2
    np.testing.assert_allclose(vote.decision_function(P), by_hand, atol=1e-12)
    np.testing.assert_array_equal(vote.predict(P), ["no", "yes", "yes"])
    assert vote.value(P, ["no", "no", "yes"]) == pytest.approx(2 / 3)  # TP 1, FP 1, FN 0
    assert vote.value(P, ["no", "no", "yes"], "min") == 0.5


def test_certain_probabilities_vote_with_their_whole_weight():
    vote = SoftVote([(Probable(0, 1), 0.3)], "min")
    np.testing.assert_array_equal(vote.decision_function(np.array([[0.0], [0.3], [1.0]])), [-1.0, 0.0, 1.0])


def test_decision_values_vote_where_there_are_no_probabilities():
    rows = np.array([[-2.0], [0.5], [3.0]])
    vote = SoftVote([Decided(0, 1), (Decided(0, 1), 1.0)], "f1")
    np.testing.assert_allclose(
        vote.decision_function(rows), (np.tanh(rows[:, 0] / 2) + np.tanh((rows[:, 0] - 1) / 2)) / 2
    )


@pytest.mark.parametrize("classifier", [Probable("no", "yes"), Decided("no", "yes")], ids=["probable", "decided"])
def test_the_positive_label_may_be_the_first_of_the_classes(classifier):
    vote, turned = SoftVote([classifier], "f1"), SoftVote([classifier], "f1", positive="no")
    assert (vote.classes, turned.classes) == (("no", "yes"), ("yes", "no"))
    np.testing.assert_allclose(turned.decision_function(P), -vote.decision_function(P), atol=1e-15)
    by_decision = SoftVote([(classifier, 0.2)], "f1", positive="no").predict(P).tolist()
    assert by_decision == (["no", "no", "yes"] if isinstance(classifier, Probable) else ["yes", "yes", "yes"])


def test_a_model_votes_beside_other_classifiers_and_gives_them_its_measure(models):
    model = models[0]
    model.threshold = 0.3
    other = Probable("no", "yes")
    probable = np.column_stack([np.linspace(0, 1, 300), X[:, 1:]]).astype("float32")
    vote = SoftVote([model, other])
    by_hand = (np.tanh((model.decision_function(probable) - 0.3) / 2) + 2 * probable[:, 0] - 1) / 2
    np.testing.assert_allclose(vote.decision_function(probable), by_hand, atol=1e-6)
    assert vote.measure == model.measure
    assert SoftVote([model, other], "min").value(probable, Y) == vote.value(probable, Y, "min")
    moved = SoftVote([(model, -0.4)]).decision_function(X)
    np.testing.assert_allclose(moved, np.tanh((model.decision_function(X) + 0.4) / 2), atol=1e-6)


def test_models_for_several_measures_vote_where_one_measure_is_named(models):
    other = trained("min", network=models[0].functions, steps=1, seed=0)
    assert str(SoftVote([models[0], other], "qmean").measure) == "qmean"


def test_classifiers_of_scikit_learn_and_the_estimator_vote():
    linear = pytest.importorskip("sklearn.linear_model").LogisticRegression().fit(X, Y)
    options = {"network": "linear", "steps": 20, "validation": None, "pos_label": "no", "random_state": 0}
    ours = an.MeasureClassifier("f1", **options).fit(X, Y)
    vote = SoftVote([ours, linear])
    assert vote.classes == ("yes", "no")
    # Both oriented to "yes" by scikit-learn's convention; the vote's positives are "no".
    by_hand = -(np.tanh(ours.decision_function(X) / 2) + np.tanh(linear.decision_function(X) / 2)) / 2
    np.testing.assert_allclose(vote.decision_function(X), by_hand, atol=1e-5)
    np.testing.assert_array_equal(SoftVote([linear], "f1").predict(X), linear.predict(X))


def test_a_model_with_a_score_for_each_of_two_labels_votes_as_it_predicts():
    pytest.importorskip("sklearn")
    ours = an.MeasureClassifier("min_recall", network="linear", steps=200, validation=0.3, random_state=0).fit(X, Y)
    vote, scores = SoftVote([ours], "min"), ours.model_.decision_function(X)
    margin = scores[:, 1] - scores[:, 0]
    np.testing.assert_allclose(vote.decision_function(X), np.tanh(margin / 2), atol=1e-6)
    np.testing.assert_array_equal(vote.predict(X), ours.predict(X))
    assert vote.value(X, Y) == ours.score(X, Y)
    assert (vote.predict(X) == "yes").sum() > (ours.predict_proba(X)[:, 1] > 0.5).sum() + 10
    np.testing.assert_array_equal(SoftVote([ours.model_], "min").decision_function(X), vote.decision_function(X))
    turned = SoftVote([(ours, 0.3)], "min", positive="no").decision_function(X)
    np.testing.assert_allclose(turned, np.tanh((-margin - 0.3) / 2), atol=1e-6)


def test_what_cannot_vote_is_refused_with_the_reason(models):
    class Unfitted:
        pass

    for given, reason in (
        ([Unfitted()], "call fit first"),
        ([Probable(0, 1, 2)], "of two classes"),
        ([Fixed(0, 1)], "predict_proba or decision_function"),
        ([Probable(0, 1), Decided(1, 2)], "agree on their classes"),
        ([models[0], Probable(0, 1)], "agree on their classes"),
        ([(Probable(0, 1), 1.0)], r"in \(0, 1\)"),
        ([(Decided(0, 1), float("nan"))], "others be numbers"),
        ([(Probable(0, 1), 0.5, 0.5)], "pairs"),
    ):
        with pytest.raises(ValueError, match=reason):
            SoftVote(given, "f1")
    with pytest.raises(ValueError, match="needs measure="):
        SoftVote([Probable(0, 1)])
    with pytest.raises(ValueError, match="leave positive out"):
        SoftVote(models, positive="no")
    with pytest.raises(ValueError, match="one of the labels"):
        SoftVote([Probable(0, 1)], "f1", positive=2)


class Answering:
    """A fitted classifier that answers as it is told."""

    classes_ = np.array([0, 1])

    def __init__(self, **answers):
        for method, answer in answers.items():
            setattr(self, method, lambda X, answer=answer: answer)


HALF = np.full((3, 2), 0.5)
WRONG = {
    "NaN": (Answering(predict_proba=HALF * np.nan), "predict_proba of Answering must be numbers"),
    "percentages": (Answering(predict_proba=HALF * 100), r"must lie in \[0, 1\]"),
    "log-probabilities": (Answering(predict_proba=np.log(HALF)), r"must lie in \[0, 1\]"),
    "one column": (Answering(predict_proba=HALF[:, :1]), r"must have shape \(n, 2\), got \(3, 1\)"),
    "a vector": (Answering(predict_proba=HALF[:, 0]), r"must have shape \(n, 2\), got \(3,\)"),
    "a matrix": (Answering(decision_function=HALF), r"must have shape \(n,\), got \(3, 2\)"),
    "other rows": (Answering(decision_function=np.ones(2)), r"must answer for the same rows, got \[3, 2\]"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_answer_of_a_classifier_is_refused_and_not_counted_as_negative(case):
    classifier, message = WRONG[case]
    vote = SoftVote([Answering(predict_proba=HALF), classifier], "f1")
    with pytest.raises(ValueError, match=message):
        vote.predict(np.zeros((3, 1)))


def test_sure_answers_are_counted_and_those_off_by_rounding_stay_within_the_range():
    sure = Answering(decision_function=np.array([np.inf, 0.0, -np.inf]))
    np.testing.assert_array_equal(SoftVote([sure], "f1").decision_function(np.zeros((3, 1))), [1, 0, -1])
    rounded = Answering(predict_proba=np.array([[1 + 1e-7, -1e-7]]))
    assert SoftVote([(rounded, 1e-7)], "f1").decision_function(np.zeros((1, 1))) == -1


def test_a_single_classifier_is_no_list_of_them():
    with pytest.raises(ValueError, match="a vote needs a list of classifiers"):
        SoftVote(Answering(predict_proba=HALF))
