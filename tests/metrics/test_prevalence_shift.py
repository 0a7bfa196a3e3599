"""Prevalence shift: errors, sampling and estimates, against measures of counts, closed forms, and QuaPy."""

import math

import numpy as np
import pytest

from aesara_nondecomp import measures
from aesara_nondecomp.metrics import quantification
from aesara_nondecomp.metrics.prevalence_shift import (
    artificial_prevalences,
    estimators,
    prevalence_errors,
    prevalence_shift,
)
from aesara_nondecomp.metrics.quantification import Quantifier


def gaussian_rows(rng, n, prior):
    """Scores that are the true log-odds of the class, for two unit normals at -1 and +1, and the classes."""
    signs = np.where(rng.random(n) < prior, 1, -1)
    x = rng.standard_normal(n) + signs
    return 2.0 * x + math.log(prior / (1 - prior)), signs


# -- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ae", "rae", "kld"])
@pytest.mark.parametrize("counts", [(30, 10, 25, 35), (3, 17, 0, 80), (0, 5, 95, 0), (0, 0, 30, 70), (20, 80, 0, 0)])
def test_an_error_of_prevalences_is_the_measure_of_the_counts(name, counts):
    TP, FN, FP, TN = counts
    found = prevalence_errors((TP + FN) / 100, (TP + FP) / 100, 1 / 200)[name]
    assert found == pytest.approx(measures.get(name).from_counts(*counts), abs=1e-12)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((0.5, 1.2, 0.01), r"estimate must lie in \[0, 1\], got"),
        ((math.nan, 0.5, 0.01), r"true must lie in \[0, 1\]"),
        ((0.5, 0.5, 0.0), r"eps must be a positive number, 1 / \(2n\).*got 0.0"),
    ],
)
def test_errors_of_what_is_no_share_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        prevalence_errors(*arguments)


# -- the protocol ----------------------------------------------------------------------------------------------------


def test_each_sample_has_the_prevalence_asked_for():
    signs = np.where(np.arange(200) < 30, 1, -1)
    samples = list(artificial_prevalences(signs, 40, grid=5, repeats=3, seed=0))
    assert [sample.prevalence for sample in samples] == pytest.approx(np.repeat([0, 0.25, 0.5, 0.75, 1], 3))
    for sample in samples:
        assert len(sample.rows) == 40 and np.mean(signs[sample.rows] > 0) == sample.prevalence


def test_samples_are_seeded_and_use_every_row():
    signs = np.where(np.arange(60) < 30, 1, -1)
    first, again, other = (list(artificial_prevalences(signs, 50, seed=seed)) for seed in (1, 1, 2))
    assert all((a.rows == b.rows).all() for a, b in zip(first, again))
    assert any((a.rows != b.rows).any() for a, b in zip(first, other))
    assert set(np.concatenate([sample.rows for sample in first])) == set(range(60))


@pytest.mark.parametrize("signs, message", [
    (np.ones(5), "signs must hold both -1 and [+]1"),
    ([0, 1, 1], "signs must hold -1 and [+]1 only, got 0, 1"),
    ([[-1, 1]], r"signs must have shape \(n,\)"),
    ([], "signs must hold at least one point"),
])  # fmt: skip
def test_a_protocol_needs_signs_of_both_classes(signs, message):
    with pytest.raises(ValueError, match=message):
        artificial_prevalences(signs, 10)


@pytest.mark.parametrize("wrong", [{"grid": 1}, {"repeats": 0}, {"sample_size": 0}])
def test_a_protocol_without_samples_is_refused(wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=name):
        artificial_prevalences([-1, 1], **{"sample_size": 10, **wrong})


def test_under_shift_the_adjusted_estimators_beat_the_plain_ones_and_the_training_prior():
    rng = np.random.default_rng(5)
    held, test = gaussian_rows(rng, 4000, 0.3), gaussian_rows(rng, 4000, 0.3)
    named = estimators(Quantifier.fit(*held), 0.3)
    errors = prevalence_shift(*test, named, sample_size=400, grid=11, repeats=3).errors()
    for error in ("ae", "kld"):
        found = {name: values[error] for name, values in errors.items()}
        assert max(found["acc"], found["pacc"], found["sld"]) < min(found["cc"], found["pcc"])
        assert max(found["cc"], found["pcc"]) < found["training_prior"]
    assert errors["sld"]["ae"] < 0.03 < errors["cc"]["ae"]


def test_classify_and_count_has_the_error_of_the_samples_own_tables():
    rng = np.random.default_rng(1)
    scores, signs = gaussian_rows(rng, 500, 0.3)
    shift = prevalence_shift(
        scores, signs, {"cc": lambda s: float(np.mean(s > 0))}, sample_size=60, grid=6, repeats=2, seed=3
    )
    tables = []
    for sample in artificial_prevalences(signs, 60, grid=6, repeats=2, seed=3):
        hits, truth = scores[sample.rows] > 0, signs[sample.rows] > 0
        tables.append([np.sum(hits & truth), np.sum(~hits & truth), np.sum(hits & ~truth), np.sum(~hits & ~truth)])
    for name, found in shift.errors()["cc"].items():
        assert found == pytest.approx(np.mean(measures.get(name).from_counts(*np.array(tables).T)))


def test_the_training_prior_has_the_error_of_the_grid():
    named = {"p": estimators(Quantifier.fit([-1.0, 1.0], [-1, 1]), 0.3)["training_prior"]}
    shift = prevalence_shift([0.0, 1.0], [-1, 1], named, sample_size=10, grid=11, repeats=1)
    assert shift.errors()["p"]["ae"] == pytest.approx(np.mean(np.abs(np.linspace(0, 1, 11) - 0.3)))


def test_scores_and_signs_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="scores and signs must be equally long, got 3 and 2"):
        prevalence_shift([0.0, 1.0, 2.0], [-1, 1], {})


# -- QuaPy -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quapy():
    return pytest.importorskip("quapy", reason="QuaPy, a peer to compare with, is not installed")


@pytest.mark.parametrize("name", ["ae", "rae", "kld"])
def test_the_errors_are_quapys(name, quapy):
    rng = np.random.default_rng(0)
    options = {} if name == "ae" else {"eps": 1 / 200}
    for true, estimate in [*rng.random((20, 2)), (0.0, 0.3), (1.0, 1.0), (0.4, 0.0)]:
        pairs = (np.array([1 - share, share]) for share in (true, estimate))
        expected = getattr(quapy.error, name)(*pairs, **options)
        assert prevalence_errors(true, estimate, 1 / 200)[name] == pytest.approx(expected, abs=1e-12)


def test_prevalences_and_sizes_are_those_of_quapys_protocol(quapy):
    signs = np.where(np.arange(300) < 90, 1, -1)
    collection = quapy.data.LabelledCollection(np.arange(300)[:, None], signs)
    app = quapy.protocol.APP(collection, sample_size=100, n_prevalences=21, repeats=2)
    theirs = [(len(rows), float(prevalence[1])) for rows, prevalence in app()]
    ours = [(len(s.rows), s.prevalence) for s in artificial_prevalences(signs, 100, repeats=2, seed=0)]
    assert np.array(sorted(theirs)) == pytest.approx(np.array(ours))


def test_the_mean_errors_of_one_classifier_are_near_quapys_own_evaluation(quapy, monkeypatch):
    """Two seeded draws of the same protocol: 210 sets of 200 rows each, so the means differ by sampling only."""
    scores, signs = gaussian_rows(np.random.default_rng(1), 3000, 0.4)

    class Sign(quapy.method.base.BaseQuantifier):
        def fit(self, X, y):
            return self

        def predict(self, X):
            share = float(np.mean(X[:, 0] > 0))
            return np.array([1 - share, share])

    collection = quapy.data.LabelledCollection(scores[:, None], signs)
    app = quapy.protocol.APP(collection, sample_size=200, n_prevalences=21, repeats=10, random_state=0)
    monkeypatch.setitem(quapy.environ, "SAMPLE_SIZE", 200)  # it sets the smoothing
    theirs = quapy.evaluation.evaluation_report(Sign(), app, error_metrics=["ae", "rae", "kld"])
    ours = prevalence_shift(scores, signs, {"cc": lambda s: float(np.mean(s > 0))}, sample_size=200).errors()["cc"]
    for name, found in ours.items():
        assert found == pytest.approx(float(theirs[name].mean()), rel=0.05)


def test_estimates_are_quapys_on_the_same_posteriors_and_rates(quapy):
    scores, signs = gaussian_rows(np.random.default_rng(1), 600, 0.4)
    posteriors = 1 / (1 + np.exp(-scores))
    both = np.stack([1 - posteriors, posteriors], axis=1)
    theirs, _ = quapy.method.aggregative.EMQ.EM(np.array([0.6, 0.4]), both, epsilon=1e-9)
    found = quantification.expectation_maximisation(posteriors, 0.4, tolerance=1e-9)
    assert found == pytest.approx(theirs[1], abs=1e-6)
    tpr, fpr = (float(np.mean(scores[signs == sign] > 0)) for sign in (1, -1))
    share = float(np.mean(scores[:100] > 0))
    solved = quapy.functional.solve_adjustment_binary(share, tpr, fpr)
    assert quantification.adjusted_count(share, tpr, fpr) == pytest.approx(solved, abs=1e-9)
