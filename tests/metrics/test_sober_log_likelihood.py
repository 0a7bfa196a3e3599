"""The likelihood by which networks of several classes are compared: against a search over all slopes."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from aesara_nondecomp.metrics.class_scores import sober_log_likelihood


def rows(size, noise, n_classes=4, n=300):
    rng = np.random.default_rng(int(100 * size + 10 * noise))
    codes = rng.choice(n_classes, n, p=[0.6, 0.2, 0.1, 0.1])
    return size * (np.eye(n_classes)[codes] + noise * rng.normal(size=(n, n_classes))), codes, rng.integers(1, 5, n)


def likelihood_at(slope, scores, codes, weight):
    return np.average(log_softmax(slope * scores, axis=1)[np.arange(len(codes)), codes], weights=weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("noise", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("size", [0.1, 1.0, 10.0, 1e3, 1e6])
def test_it_is_the_largest_over_slopes_up_to_one(size, noise, weighted):
    scores, codes, weight = rows(size, noise)
    weight = weight if weighted else None
    found = minimize_scalar(
        lambda log_slope: -likelihood_at(np.exp(log_slope), scores, codes, weight), bounds=(-20, 0), method="bounded",
        options={"xatol": 1e-9},
    )  # fmt: skip
    best = max(-found.fun, likelihood_at(1.0, scores, codes, weight))
    assert sober_log_likelihood(scores, codes, weight) == pytest.approx(best, abs=1e-5)


def test_networks_that_are_too_certain_are_compared_by_how_well_they_rank():
    scores, codes, _ = rows(10.0, 1.0)
    once = sober_log_likelihood(scores, codes)
    assert sober_log_likelihood(1e4 * scores, codes) == pytest.approx(once, abs=1e-5)
    assert sober_log_likelihood(rows(1e4, 1.2)[0], rows(1e4, 1.2)[1]) < once


@pytest.mark.parametrize("sign", [0.0, -1.0])
def test_of_scores_that_tell_nothing_or_mislead_it_is_that_of_equal_classes(sign):
    scores, codes, _ = rows(10.0, 0.5)
    assert sober_log_likelihood(sign * scores, codes) == pytest.approx(-np.log(4), abs=1e-5)


def test_of_scores_that_separate_the_classes_it_is_that_of_the_scores_as_they_are():
    scores, codes, _ = rows(3.0, 0.0)
    assert sober_log_likelihood(scores, codes) == pytest.approx(likelihood_at(1.0, scores, codes, None), rel=1e-12)
