"""Groups and constraints through scikit-learn's interface."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn import config_context  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_validate  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

import aesara_nondecomp as an  # noqa: E402
from aesara_nondecomp import MeasureClassifier, at_least, gap  # noqa: E402

RNG = np.random.default_rng(0)
N = 600
X = RNG.normal(size=(N, 2)).astype("float32")
SEX = np.where(RNG.random(N) < 0.4, "F", "M")
Y = np.where(X[:, 0] + np.where(SEX == "F", -0.4, 0.4) * X[:, 1] + 0.7 * RNG.normal(size=N) > 0.4, "yes", "no")
OPTIONS = {"network": "linear", "steps": 40, "validation": 0.3, "random_state": 0}


def worst_cell(predicted, rows=slice(None), weight=None):
    weight = np.ones(N) if weight is None else weight
    cells = [(SEX == sex) & (label == Y) for sex in ("F", "M") for label in ("no", "yes")]
    return min(np.average((predicted == Y)[cell], weights=weight[cell]) for cell in cells)


@pytest.fixture(scope="module")
def fitted():
    return MeasureClassifier("worst_cell", **OPTIONS).fit(X, Y, groups=SEX)


def test_the_estimator_trains_what_fit_trains(fitted):
    network = an.linear(2)
    model = an.fit(X, Y, "worst_cell", groups=SEX, network=network, steps=40, validation=0.3, seed=0)
    assert np.array_equal(model.decision_function(X), fitted.model_.decision_function(X))


def test_score_and_report_are_those_of_counted_rows(fitted):
    predicted = fitted.predict(X)
    assert fitted.score(X, Y, groups=SEX) == pytest.approx(worst_cell(predicted))
    weight = RNG.integers(1, 4, N).astype(float)
    assert fitted.score(X, Y, weight, groups=SEX) == pytest.approx(worst_cell(predicted, weight=weight))
    report = fitted.by_group(X, Y, SEX)
    assert report.worst_cell.rate == pytest.approx(worst_cell(predicted))
    assert {cell.name for cell in report.cells} == {"no of F", "yes of F", "no of M", "yes of M"}


def test_constraints_are_a_parameter_that_is_cloned_and_judged():
    asked = [gap("tpr", at_most=0.3), at_least("precision", 0.6)]
    classifier = MeasureClassifier("likelihood", constraints=asked, **OPTIONS)
    assert clone(classifier).get_params()["constraints"] == asked
    classifier.fit(X, Y, groups=SEX)
    assert classifier.model_.constrained_by == tuple(asked)
    predicted, positive = classifier.predict(X) == "yes", Y == "yes"
    rates = [predicted[positive & (SEX == sex)].mean() for sex in ("F", "M")]
    of_gap, of_precision = classifier.constraint_report(X, Y, SEX).verdicts
    assert of_gap.value == pytest.approx(abs(rates[0] - rates[1]))
    assert of_precision.value == pytest.approx(positive[predicted].mean())
    assert classifier.constraint_report(X, Y, asked=asked[1]).verdicts == (of_precision,)


def test_rows_of_ones_own_bring_their_groups():
    held = (X[:200], Y[:200], SEX[:200])
    classifier = MeasureClassifier("worst_cell", **{**OPTIONS, "validation": None})
    classifier.fit(X[200:], Y[200:], validation=held, groups=SEX[200:])
    assert classifier.model_.validation_matrix.n == 200


@pytest.mark.parametrize(
    "call, reason",
    [
        (lambda c: c.score(X, Y), "worst_cell needs groups=, a value per row"),
        (lambda c: c.constraint_report(X, Y, SEX), "constraints needs asked="),
        (lambda c: c.by_group(X, Y, SEX[:5]), "one value per row"),
        (lambda c: clone(c).fit(X, Y), "worst_cell needs groups="),
        (lambda c: clone(c).fit(X, Y, groups=SEX, validation=(X, Y)), "validation rows of your own need theirs"),
        (lambda c: clone(c).set_params(measure="f1").fit(X, Y, groups=SEX), "groups have no effect on f1"),
        (lambda c: clone(c).set_params(constraints="tpr gap <= 0.1").fit(X, Y, groups=SEX), "constraints must be"),
        (lambda c: clone(c).partial_fit(X, Y), "needs groups, got none"),
        (
            lambda c: clone(c).set_params(measure="f1", constraints=gap("tpr", 0.1)).partial_fit(X, Y),
            "partial_fit holds no rows out by which to meet constraints: use fit",
        ),
    ],
)
def test_what_lacks_its_groups_or_cannot_hold_constraints_is_refused(call, reason, fitted):
    with pytest.raises(ValueError, match=reason):
        call(fitted)


@pytest.mark.filterwarnings("ignore:fewer than 30 rows are held out:UserWarning")
def test_groups_reach_the_estimator_by_metadata_routing():
    with config_context(enable_metadata_routing=True):
        classifier = MeasureClassifier("worst_cell", **OPTIONS).set_fit_request(groups=True)
        classifier.set_score_request(groups=True)
        found = cross_validate(
            classifier, X, Y, params={"groups": SEX}, cv=2, return_estimator=True, error_score="raise"
        )
        for estimator, score in zip(found["estimator"], found["test_score"]):
            assert estimator.model_.measure.name == "worst_cell" and 0 < score < 1
        search = GridSearchCV(classifier, {"steps": [20, 40]}, cv=2, error_score="raise").fit(X, Y, groups=SEX)
        assert search.best_estimator_.score(X, Y, groups=SEX) > 0.4


def test_groups_reach_the_estimator_in_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), MeasureClassifier("worst_cell", **OPTIONS))
    pipeline.fit(X, Y, measureclassifier__groups=SEX)
    assert worst_cell(pipeline.predict(X)) > 0.4


def test_a_scorer_of_predicted_labels_refuses_a_measure_of_groups_when_it_is_made():
    with pytest.raises(
        ValueError, match="measure_scorer takes measures of labels alone, got worst_cell, which needs groups"
    ):
        an.measure_scorer("worst_cell")
