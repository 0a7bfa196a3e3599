"""Scorers on folds of one class, and searches that compare values of different measures."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.dummy import DummyClassifier  # noqa: E402
from sklearn.exceptions import UndefinedMetricWarning  # noqa: E402
from sklearn.metrics import f1_score, make_scorer  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from aesara_nondecomp import MeasureClassifier, measure_scorer, measures  # noqa: E402
from aesara_nondecomp.estimators.scoring import oriented_value  # noqa: E402

ROWS = np.zeros((3, 1))


def always(label, labels=("bad", "good")):
    return DummyClassifier(strategy="constant", constant=label).fit(np.zeros((2, 1)), list(labels))


@pytest.mark.parametrize("zero_division", [0.0, 1.0, math.nan])
@pytest.mark.parametrize("predicted", ["bad", "good"])
@pytest.mark.parametrize("true", [["good"] * 3, ["bad"] * 3, ["bad", "good", "good"]])
def test_f1_of_any_fold_is_that_of_scikit_learn(true, predicted, zero_division):
    ours = measure_scorer("f1", "bad", zero_division=zero_division)
    theirs = make_scorer(f1_score, pos_label="bad", zero_division=zero_division)
    model = always(predicted)
    assert ours(model, ROWS, true) == pytest.approx(theirs(model, ROWS, true), nan_ok=True)


def test_by_default_an_undefined_value_is_0_with_scikit_learns_warning():
    with pytest.warns(UndefinedMetricWarning, match="f1 is undefined on these rows"):
        assert measure_scorer("f1", "bad")(always("good"), ROWS, ["good"] * 3) == 0.0


def test_an_undefined_error_is_not_the_best_one():
    gap = measures.concave("gap", lambda P, N, p: (P - N) ** 2, lambda P, N, p: (2 * (N - P), 2 * (P - N)), False)
    with pytest.warns(UndefinedMetricWarning):
        assert math.isnan(measure_scorer(gap, "bad")(always("good"), ROWS, ["good"] * 3))


@pytest.mark.parametrize("labels, true, predicted, value", [
    ((0, 1), [1, 1, 1], 1, 1.0), ((0, 1), [1, 1, 1], 0, 0.0), ((-1, 1), [1, 1, 1], 1, 1.0),
    ((False, True), [True] * 3, True, 1.0), (("no", "yes"), ["yes"] * 3, "no", 0.0),
])  # fmt: skip
def test_a_fold_of_one_class_shows_which_label_is_positive(labels, true, predicted, value):
    assert measure_scorer("f1")(always(predicted, labels), ROWS, true) == value


def test_a_fold_that_does_not_show_it_is_refused_with_what_to_give():
    with pytest.raises(ValueError, match="positive .pos_label. says which one"):
        measure_scorer("f1")(always("good"), ROWS, ["good"] * 3)


@pytest.mark.parametrize("positive, message", [
    (["bad"], "must be a single label"),
    ({"bad": 1}, "must be a single label"),
    ((("bad",), 1), "must be a single label"),
    ("worse", "exactly two classes, got 3"),
])  # fmt: skip
def test_what_is_no_positive_label_is_refused(positive, message):
    with pytest.raises(ValueError, match=message):
        oriented_value(["good"] * 3, ["bad", "good", "good"], measures.get("f1"), positive)


def test_folds_of_one_class_are_scored_in_cross_validation():
    X, y = np.arange(20.0)[:, None], np.array(["bad"] * 5 + ["good"] * 15)
    folds = [(np.arange(10), np.arange(10, 20)), (np.r_[0:3, 10:20], np.arange(3, 10))]
    scores = cross_val_score(always("bad"), X, y, cv=folds, scoring=measure_scorer("f1", "bad", zero_division=0.0))
    assert scores.tolist() == pytest.approx([0.0, 2 * 2 / (2 * 2 + 5)])


def test_weights_count_in_the_scorer():
    weight = np.array([3.0, 1.0, 1.0])
    expected = f1_score(["bad", "good", "good"], ["bad"] * 3, pos_label="bad", sample_weight=weight)
    found = measure_scorer("f1", "bad")(always("bad"), ROWS, ["bad", "good", "good"], sample_weight=weight)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("zero_division", ["0", "warned", None, [0]])
def test_zero_division_is_warn_or_a_number(zero_division):
    with pytest.raises(ValueError, match="zero_division must be 'warn' or a number"):
        measure_scorer("f1", zero_division=zero_division)


# -- searches over `measure` -------------------------------------------------------------------------------------------

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 2))
Y = X[:, 0] + RNG.normal(size=120) > 0.5
UNLIKE = "this search over `measure` compares values of different measures"


def quick():
    return MeasureClassifier(network="linear", validation=None, steps=3, random_state=0)


@pytest.mark.parametrize("model, name", [
    (quick(), "measure"), (make_pipeline(StandardScaler(), quick()), "measureclassifier__measure")
])  # fmt: skip
def test_a_search_over_the_measure_by_score_gives_a_warning(model, name):
    with pytest.warns(UserWarning, match=UNLIKE):
        GridSearchCV(model, {name: ["f1", "min"]}, cv=2, refit=False).fit(X, Y)


def test_other_searches_and_scores_are_quiet():
    GridSearchCV(quick(), {"measure": ["f1", "min"]}, cv=2, scoring=measure_scorer("f1"), refit=False).fit(X, Y)
    GridSearchCV(quick(), {"learning_rate": [0.1, 0.01]}, cv=2, refit=False).fit(X, Y)
    cross_val_score(quick(), X, Y, cv=2)
    quick().set_params(measure="min").fit(X, Y).score(X, Y)
