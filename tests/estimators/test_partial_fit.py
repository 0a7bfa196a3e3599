"""What `partial_fit` carries from call to call, and what may not change between two of them."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the estimators need the extra `sklearn`")

from aesara_nondecomp import MeasureClassifier, measures  # noqa: E402

RNG = np.random.default_rng(0)
X, NEW = RNG.standard_normal((240, 3)), np.random.default_rng(1).standard_normal((2000, 3))
Y, Y_NEW = (X[:, 0] > 0.7).astype(int), (NEW[:, 0] > 0.7).astype(int)


def tiny(measure="f1", **options):
    common = {"network": "mlp", "hidden": (4,), "batch_size": 64, "validation": None, "random_state": 0}
    return MeasureClassifier(measure, **{**common, **options})


@pytest.fixture(scope="module")
def begun():
    return tiny().partial_fit(X, Y)


def test_weights_of_all_calls_count_on_one_scale_as_repeated_rows_do():
    first, second = np.arange(240) < 100, np.arange(240) >= 100
    weight = np.where(first, 10.0, 1.0)
    parts = tiny().partial_fit(X[first], Y[first], sample_weight=weight[first])
    parts.partial_fit(X[second], Y[second], sample_weight=weight[second])
    assert parts.prior_ == pytest.approx(np.average(Y, weights=weight))
    assert parts.prior_ != pytest.approx(Y.mean(), abs=1e-3)
    repeated = np.repeat(np.flatnonzero(first), 10)
    rows = tiny().partial_fit(X[repeated], Y[repeated]).partial_fit(X[second], Y[second])
    assert rows.prior_ == pytest.approx(parts.prior_)


@pytest.mark.parametrize("weight", [None, np.where(np.arange(240) < 60, 0.0, 2.0)], ids=["equal", "weighted"])
@pytest.mark.parametrize("measure", ["f1", "min_recall"])
def test_the_rows_of_a_fit_before_count_too(measure, weight):
    y, positive = np.arange(240) % 12 // 5, None
    if measure == "f1":  # its positives are first in sorted order
        y, positive = np.where(y == 2, "bad", "ok"), "bad"
    fitted = tiny(measure, steps=2, pos_label=positive).fit(X, y, sample_weight=weight)
    own = None if weight is None else weight[200:]
    fitted.partial_fit(X[200:], y[200:], sample_weight=own)
    both = np.concatenate([y, y[200:]])
    weights = np.ones(280) if weight is None else np.concatenate([weight, own])
    expected = [weights[both == label].sum() / weights.sum() for label in fitted.model_.classes]
    found = fitted.model_.priors if measure == "min_recall" else [1 - fitted.prior_, fitted.prior_]
    np.testing.assert_allclose(found, expected)
    assert fitted._partial.n_rows == np.count_nonzero(weights)


@pytest.mark.parametrize("classes", [2, 3])
def test_rows_of_weight_zero_are_as_if_they_were_not_there(classes):
    y = np.arange(240) % classes
    weight = np.where(np.arange(240) < 60, 0.0, 2.0)
    measure = "f1" if classes == 2 else "min_recall"
    with_zeros = tiny(measure).partial_fit(X, y, sample_weight=weight)
    without = tiny(measure).partial_fit(X[60:], y[60:], sample_weight=weight[60:])
    for one, other in zip(with_zeros.model_.parameters, without.model_.parameters):
        np.testing.assert_array_equal(one, other)


def test_classes_that_are_times_are_those_of_the_first_call():
    y = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[ns]")[Y]
    begun = tiny().partial_fit(X, y, classes=np.unique(y))
    assert begun.partial_fit(X, y, classes=begun.classes_).n_iter_ == 8


@pytest.mark.parametrize("measure", ["f1", "min"])
def test_one_pass_over_the_rows_of_fit_does_not_undo_it(measure):
    fitted = tiny(measure, hidden=(64, 64), steps=300, batch_size=240).fit(X, Y)
    before = fitted.score(NEW, Y_NEW)
    assert before > 0.9
    assert fitted.partial_fit(X, Y).score(NEW, Y_NEW) > before - 0.01


@pytest.mark.filterwarnings(
    "ignore:on the rows held out, no threshold was better",
    "ignore:few rows are held out",
    "ignore:partial_fit goes on from",
)
@pytest.mark.parametrize("validation", [0.3, 3])
def test_a_model_that_collapsed_learns_from_later_rows(validation):
    noise = (np.random.default_rng(2).random(240) < 0.1).astype(int)
    fitted = tiny("accuracy", steps=20, validation=validation, optimizer="adam", learning_rate=0.01).fit(X, noise)
    assert fitted.model_.collapsed and np.isinf(fitted.threshold_)
    for _ in range(100):
        fitted.partial_fit(X, Y)
    assert fitted.threshold_ == 0.0
    assert fitted.score(NEW, Y_NEW) > 0.95


def test_a_positive_label_that_changes_is_refused(begun):
    turned = copy.deepcopy(begun).set_params(pos_label=0)
    with pytest.raises(ValueError, match=r"pos_label must stay as it was.*\(0, 1\), got \(1, 0\)"):
        turned.partial_fit(X, Y)
    assert turned.set_params(pos_label=1).partial_fit(X, Y).n_iter_ == begun.n_iter_ * 2


def test_classes_that_are_not_those_of_the_first_call_are_refused(begun):
    with pytest.raises(ValueError, match=r"classes must stay those of the first call, \[0, 1\], got \['q', 'r'\]"):
        copy.deepcopy(begun).partial_fit(X, Y, classes=["q", "r"])
    assert copy.deepcopy(begun).partial_fit(X, Y, classes=[1, 0]).n_iter_ == begun.n_iter_ * 2


CHANGED = {
    "hidden": (8,), "activation": "tanh", "dropout": 0.5, "optimizer": "sgd", "dtype": "float64", "backend": "jax",
    "network": "tabular",
}  # fmt: skip


@pytest.mark.parametrize("first", ["fit", "partial_fit"])
@pytest.mark.parametrize("classes", [2, 3])
def test_another_network_is_refused_as_copies_would_be_made_of_it(classes, first):
    y = np.arange(240) % classes
    measure = "f1" if classes == 2 else "min_recall"
    begun = getattr(tiny(measure, steps=2), first)(X, y)
    for name, value in CHANGED.items():
        begun.set_params(**{name: value})
        with pytest.raises(ValueError, match=f"the network of the last call: leave {name} unchanged, got {{'{name}'"):
            begun.partial_fit(X, y)
        begun.set_params(**{name: tiny().get_params()[name]})
    begun.partial_fit(X, y)
    again = pickle.loads(pickle.dumps(begun))
    np.testing.assert_array_equal(again.decision_function(NEW), begun.decision_function(NEW))


@pytest.mark.parametrize("classes", [2, 3])
def test_rows_that_were_standardised_stay_so(classes):
    y = np.arange(240) % classes
    begun = tiny("f1" if classes == 2 else "min_recall").partial_fit(X, y)
    with pytest.raises(ValueError, match="this model standardises its rows: leave standardize out, got False"):
        begun.set_params(standardize=False).partial_fit(X, y)


@pytest.mark.parametrize("changed", [{"measure": "min"}, {"measure": "jaccard"}, {"algorithm": "cross_entropy"}])
def test_duals_of_another_measure_or_algorithm_start_anew(changed, begun):
    """The first step has the duals that a new driver takes from the weights it goes on from."""
    going_on = copy.deepcopy(begun).set_params(**changed).partial_fit(X, Y)
    state = begun._partial
    anew = copy.deepcopy(begun).set_params(**changed)
    anew._partial = state._replace(driver=None)
    step, expected = (each.history_[begun.n_iter_] for each in (going_on, anew.partial_fit(X, Y)))
    assert step.duals == expected.duals and step.sums == expected.sums


def test_duals_of_another_measure_of_ones_own_of_the_same_name_start_anew():
    first, second = (measures.pseudolinear("own", (0, 2, 0), (1 + weight, 1, -weight)) for weight in (0.5, 3.0))
    begun = tiny(first).partial_fit(X, Y)
    going_on, anew = (copy.deepcopy(begun).set_params(measure=second) for _ in range(2))
    anew._partial = begun._partial._replace(driver=None)
    step, expected = (each.partial_fit(X, Y).history_[begun.n_iter_] for each in (going_on, anew))
    assert step.duals == expected.duals and step.sums == expected.sums


def test_duals_of_the_same_measure_are_carried_on(begun):
    anew = copy.deepcopy(begun)
    anew._partial = begun._partial._replace(driver=None)
    ends = [each.partial_fit(X, Y).history_[-1].duals for each in (copy.deepcopy(begun), anew)]
    assert ends[0] != ends[1]
