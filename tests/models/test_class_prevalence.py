"""Prevalences that a model of several classes estimates: from rows held out, kept in files and pickles."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp.metrics.class_quantification import ClassQuantifier
from aesara_nondecomp.metrics.quantification import METHODS, Quantifier
from aesara_nondecomp.models import class_model

PRIORS, SHIFTED = np.array([0.6, 0.3, 0.1]), np.array([0.1, 0.3, 0.6])
CENTRES = np.array([[0, 0], [2, 0], [0, 2]])


def blobs(n, priors, seed):
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=priors)
    return (rng.normal(size=(n, 2)) + CENTRES[y]).astype("float32"), np.array(["a", "b", "c"])[y]


X, Y = blobs(4000, PRIORS, 0)
NEW, Y_NEW = blobs(6000, SHIFTED, 1)


@pytest.fixture(scope="module")
def model():
    return an.fit(X, Y, "min_recall", network=(8,), steps=150, batch_size=256, validation=0.4, seed=0)


def test_rates_are_those_of_the_rows_held_out(model):
    matrix = model.validation_matrix
    np.testing.assert_allclose(model.quantifier.rates, matrix / matrix.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(model.quantifier.priors, matrix.sum(axis=1) / matrix.sum())


@pytest.mark.parametrize("method", ["acc", "pacc", "sld"])
def test_prevalences_follow_a_shift(model, method):
    """Plain counts are far off, as the posteriors are: they were learned on the other shares."""
    found = model.predict_prevalence(NEW, method)
    assert np.abs(found - SHIFTED).max() < 0.05
    assert np.abs(model.predict_prevalence(NEW, "pcc") - SHIFTED).max() > 0.1


def test_the_plain_count_is_that_of_predict(model):
    shares = [np.mean(model.predict(NEW) == label) for label in model.classes]
    assert model.predict_prevalence(NEW) == pytest.approx(shares)


def test_calibration_on_other_rows_moves_both_of_its_parts(model):
    other = replace(model).calibrate(NEW, Y_NEW)
    assert other.quantifier.priors == pytest.approx([np.mean(Y_NEW == label) for label in "abc"])
    assert other.predict_proba(NEW).mean(axis=0) == pytest.approx(SHIFTED, abs=0.02)
    weight = 1 + np.arange(len(Y_NEW)) % 2
    twice = np.repeat(np.arange(len(Y_NEW)), weight)
    weighted, repeated = (
        replace(model).calibrate(NEW, Y_NEW, weight),
        replace(model).calibrate(NEW[twice], Y_NEW[twice]),
    )
    np.testing.assert_allclose(weighted.quantifier.rates, repeated.quantifier.rates)
    np.testing.assert_allclose(weighted.predict_proba(NEW[:20]), repeated.predict_proba(NEW[:20]), atol=1e-3)


def test_rates_measured_on_other_rows_are_those_of_the_rule(model):
    everything_is_c = replace(model, rule=np.diag([1e-9, 1e-9, 1.0]))
    rates = everything_is_c.calibrate(NEW, Y_NEW).quantifier.rates
    np.testing.assert_array_equal(rates, np.tile([0.0, 0.0, 1.0], (3, 1)))
    assert everything_is_c.predict_prevalence(NEW).tolist() == [0, 0, 1]


def test_files_and_pickles_keep_the_quantifier(tmp_path, model):
    path = tmp_path / "classes.model"
    model.save(path)
    for other in (an.load_model(path), pickle.loads(pickle.dumps(model))):
        for method in METHODS:
            np.testing.assert_array_equal(
                other.predict_prevalence(NEW[:300], method), model.predict_prevalence(NEW[:300], method)
            )


ALTERED = {
    "shape": {"rates": np.eye(2)},
    "no shares": {"soft_rates": np.ones((3, 3))},
    "not finite": {"rates": np.full((3, 3), np.nan)},
    "priors": {"priors": np.array([1.0, 0.0, 0.0])},
    "scalar": {"priors": np.array(1.0)},
}


@pytest.mark.parametrize("case", ALTERED)
def test_a_quantifier_that_no_model_holds_is_neither_saved_nor_loaded(tmp_path, monkeypatch, model, case):
    path = tmp_path / "altered.model"
    altered = replace(model, quantifier=replace(model.quantifier, **ALTERED[case]))
    with pytest.raises(ValueError, match="quantifier"):
        altered.save(path)
    assert not path.exists()
    with monkeypatch.context() as without:
        without.setattr(class_model, "check_class_model", lambda model: None)
        altered.save(path)
    with pytest.raises(ValueError, match="holds what no model holds"):
        an.load_model(path)


def test_what_is_missing_is_said(model):
    with pytest.raises(ValueError, match=r"not calibrated.*call model.calibrate\(X, y\)"):
        replace(model, calibration=None, quantifier=None).predict_prevalence(NEW)
    with pytest.raises(ValueError, match="labelled rows of each class"):
        replace(model).calibrate(NEW[Y_NEW != "b"], Y_NEW[Y_NEW != "b"])
    with pytest.raises(ValueError, match="unknown method"):
        model.predict_prevalence(NEW, "acct")


def test_descriptions_of_former_files_are_of_one_network_or_a_vote():
    of_classes = ClassQuantifier(np.array([0.5, 0.5]), np.eye(2), np.eye(2), networks=5)
    former = {name: value for name, value in of_classes.as_dict().items() if name != "networks"}
    assert ClassQuantifier.from_dict(of_classes.as_dict()).networks == 5
    assert ClassQuantifier.from_dict(former).networks == 1
    of_two = Quantifier.fit([-1.0, 1.0, 2.0, 0.5], [-1, 1, 1, -1], 0.0)
    of_vote = of_two._replace(of_networks=of_two)
    former = {name: value for name, value in of_two.as_dict().items() if name != "of_networks"}
    assert Quantifier.from_dict(of_vote.as_dict()) == of_vote and Quantifier.from_dict(former) == of_two
