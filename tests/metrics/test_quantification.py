"""Prevalence estimates against closed forms, brute force and simulation."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.optimize

from aesara_nondecomp.metrics.quantification import (
    METHODS,
    Quantifier,
    adjusted_count,
    classify_and_count,
    expectation_maximisation,
    probabilistic_count,
)


def rows(n, prior, seed):
    """Scores and signs of two normal classes, whose log-odds are 2 score + logit(prior)."""
    rng = np.random.default_rng(seed)
    signs = np.where(rng.random(n) < prior, 1, -1)
    return signs + rng.standard_normal(n), signs


SCORES, SIGNS = rows(20_000, 0.3, 0)
QUANTIFIER = Quantifier.fit(SCORES, SIGNS)


def test_classify_and_count_is_a_share():
    assert classify_and_count(np.array([True, False, False, True])) == 0.5


@pytest.mark.parametrize("prevalence", [0.0, 0.2, 0.9, 1.0])
def test_adjusted_count_undoes_known_error_rates(prevalence):
    share = prevalence * 0.8 + (1 - prevalence) * 0.1
    assert adjusted_count(share, 0.8, 0.1) == pytest.approx(prevalence)


@pytest.mark.parametrize("share, expected", [(0.05, 0.0), (0.95, 1.0)])
def test_adjusted_count_is_clipped_where_no_prevalence_explains_the_share(share, expected):
    assert adjusted_count(share, 0.8, 0.1) == expected


@pytest.mark.parametrize("tpr, fpr", [(0.4, 0.4), (0.1, 0.9)])
def test_without_a_solution_the_adjusted_count_is_the_count(tpr, fpr):
    assert adjusted_count(0.37, tpr, fpr) == 0.37


def test_expectation_maximisation_finds_the_maximum_of_the_likelihood():
    scores, _ = rows(2_000, 0.7, 1)
    posteriors = 1 / (1 + np.exp(-2 * scores - np.log(0.3 / 0.7)))

    def minus_log_likelihood(p):
        return -np.sum(np.log(posteriors * p / 0.3 + (1 - posteriors) * (1 - p) / 0.7))

    best = scipy.optimize.minimize_scalar(minus_log_likelihood, bounds=(0, 1), method="bounded").x
    assert expectation_maximisation(posteriors, 0.3, tolerance=1e-9) == pytest.approx(best, abs=1e-4)


@pytest.mark.parametrize("gap", [0.1, 0.2, 0.5])
def test_expectation_maximisation_converges_for_near_useless_classifiers(gap):
    """A round moves the estimate by 1e-6 where the maximum is still .3 away."""
    rng = np.random.default_rng(1)
    scores = rng.normal(size=20_000) + gap * (rng.random(20_000) < 0.7)
    posteriors = 1 / (1 + np.exp(-gap * scores + gap**2 / 2 - np.log(0.1 / 0.9)))
    of_each = posteriors / 0.1, (1 - posteriors) / 0.9

    def slope(p):
        return np.mean((of_each[0] - of_each[1]) / (p * of_each[0] + (1 - p) * of_each[1]))

    found = expectation_maximisation(posteriors, 0.1)
    assert found == pytest.approx(scipy.optimize.brentq(slope, 0.01, 0.99), abs=1e-4)


def test_certain_posteriors_are_counted():
    assert expectation_maximisation(np.array([0.0, 1.0, 1.0, 0.0, 1.0]), 0.5) == pytest.approx(0.6)
    assert probabilistic_count(np.array([0.0, 1.0, 1.0, 0.0, 1.0])) == pytest.approx(0.6)


def test_posteriors_that_say_nothing_leave_the_prior():
    assert expectation_maximisation(np.full(10, 0.3), 0.3) == pytest.approx(0.3)


@pytest.mark.parametrize("prevalence", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("method", ["acc", "pacc", "sld"])
def test_the_correcting_methods_follow_a_shift_of_the_prevalence(method, prevalence):
    scores, _ = rows(20_000, prevalence, 2)
    assert QUANTIFIER.prevalence(scores, method) == pytest.approx(prevalence, abs=0.02)


def test_the_uncorrected_methods_are_drawn_to_the_training_prevalence():
    scores, _ = rows(20_000, 0.8, 2)
    assert 0.3 < QUANTIFIER.prevalence(scores, "pcc") < QUANTIFIER.prevalence(scores, "cc") < 0.75


@pytest.mark.parametrize("method", METHODS)
def test_every_estimate_lies_between_0_and_1(method):
    for scores in (np.full(3, -50.0), np.full(3, 50.0), np.array([0.0])):
        assert 0 <= QUANTIFIER.prevalence(scores, method) <= 1


def test_a_weight_of_two_counts_as_two_rows():
    weight = np.where(np.arange(300) % 3 == 0, 2, 1)
    scores, signs = rows(300, 0.4, 4)
    weighted = Quantifier.fit(scores, signs, 0.1, weight)
    repeated = Quantifier.fit(np.repeat(scores, weight), np.repeat(signs, weight), 0.1)
    assert weighted[2:] == pytest.approx(repeated[2:])
    assert weighted.calibration == pytest.approx(repeated.calibration)


def test_a_quantifier_survives_json():
    assert Quantifier.from_dict(json.loads(json.dumps(QUANTIFIER.as_dict()))) == QUANTIFIER


@pytest.mark.parametrize("call, message", [
    (lambda: QUANTIFIER.prevalence(SCORES, "pac"), "unknown method 'pac'. Did you mean 'pacc'"),
    (lambda: Quantifier.fit([1.0, 2.0], [1, 1]), "rows of both classes, got 2 positives and 0 negatives"),
    (lambda: Quantifier.fit([1.0, 2.0], [1, -1], 0.0, [1.0, 0.0]), "rows of both classes"),
    (lambda: Quantifier.fit([1.0, np.nan], [1, -1]), "scores must be finite, got 1 infinite or NaN of 2"),
    (lambda: Quantifier.fit([1.0, 2.0, 3.0], [1, -1]), "scores and signs must be equally long, got 3 and 2"),
    (lambda: QUANTIFIER.prevalence([np.nan]), "scores must be finite"),
    (lambda: classify_and_count([]), "predicted_positive must hold at least one point"),
    (lambda: probabilistic_count([0.5, 1.5]), r"posteriors must lie in \[0, 1\]"),
    (lambda: expectation_maximisation([0.5], 1.0), "prior must lie strictly between 0 and 1"),
])  # fmt: skip
def test_unusable_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
