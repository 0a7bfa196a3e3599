"""Prevalences of K classes: against those of two, brute force on the simplex, and known shifts."""

import json

import numpy as np
import pytest

from aesara_nondecomp.metrics.calibration import Calibration
from aesara_nondecomp.metrics.class_quantification import ClassQuantifier, adjusted_shares
from aesara_nondecomp.metrics.class_scores import ClassCalibration
from aesara_nondecomp.metrics.quantification import METHODS, Quantifier

PRIORS = np.array([0.7, 0.2, 0.1])
SHIFTED = np.array([0.2, 0.3, 0.5])


def rows(n, priors, seed):
    """Classes, and true posteriors under PRIORS, of rows on a line with the centres 0, 2.5 and 5."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=priors)
    x = rng.normal(size=n) + 2.5 * y
    densities = PRIORS * np.exp(-0.5 * (x[:, None] - 2.5 * np.arange(3)) ** 2)
    return y, densities / densities.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def quantifier():
    y, posteriors = rows(20000, PRIORS, 0)
    return ClassQuantifier.fit(posteriors.argmax(axis=1), posteriors, y)


def simplex(step):
    """Points of the simplex of three classes on a grid."""
    a, b = np.meshgrid(np.arange(0, 1 + step / 2, step), np.arange(0, 1 + step / 2, step))
    points = np.stack([a.ravel(), b.ravel(), 1 - a.ravel() - b.ravel()], axis=1)
    return points[points[:, 2] > -1e-9]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("slope", [2.0, -1.0], ids=["useful", "worse than chance"])
def test_with_two_classes_the_estimates_are_those_of_two(method, slope):
    rng = np.random.default_rng(1)
    signs = np.where(rng.random(500) < 0.3, 1, -1)
    scores, new = slope * signs + rng.normal(size=500), slope * rng.choice([-1, 1], 400) + rng.normal(size=400)
    two = Quantifier.fit(scores, signs, 0.4)
    pairs = [np.stack([1 - p, p], axis=1) for p in (two.posteriors(scores), two.posteriors(new))]
    several = ClassQuantifier.fit((scores > 0.4).astype(int), pairs[0], (signs > 0).astype(int))
    found = several.prevalence((new > 0.4).astype(int), pairs[1], method)
    assert found == pytest.approx([1 - two.prevalence(new, method), two.prevalence(new, method)], abs=1e-12)


def test_the_uncorrected_methods_average_labels_and_posteriors(quantifier):
    y, posteriors = rows(300, SHIFTED, 2)
    predicted = posteriors.argmax(axis=1)
    counted = [np.mean(predicted == k) for k in range(3)]
    assert quantifier.prevalence(predicted, posteriors, "cc") == pytest.approx(counted)
    assert quantifier.prevalence(predicted, posteriors, "pcc") == pytest.approx(posteriors.mean(axis=0))


@pytest.mark.parametrize("method", ["acc", "pacc", "sld"])
def test_the_correcting_methods_follow_a_shift_that_the_others_miss(quantifier, method):
    _, posteriors = rows(20000, SHIFTED, 3)
    predicted = posteriors.argmax(axis=1)
    errors = {m: np.abs(quantifier.prevalence(predicted, posteriors, m) - SHIFTED).max() for m in (method, "cc", "pcc")}
    assert errors[method] < 0.02 and min(errors["cc"], errors["pcc"]) > 0.06


def test_the_em_estimate_is_the_most_likely_point_of_the_simplex(quantifier):
    _, posteriors = rows(400, SHIFTED, 4)
    points = simplex(0.005)
    likelihoods = np.log((posteriors / quantifier.priors) @ points.T).sum(axis=0)
    found = quantifier.prevalence(posteriors.argmax(axis=1), posteriors, "sld")
    assert np.abs(found - points[likelihoods.argmax()]).max() < 0.006
    assert found.sum() == pytest.approx(1) and found.min() >= 0


RATES = np.array([[0.8, 0.15, 0.05], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]])


@pytest.mark.parametrize("shares", [[0.5, 0.3, 0.2], [0.9, 0.05, 0.05], [0.02, 0.9, 0.08], [0.0, 0.0, 1.0]])
def test_adjusted_shares_are_the_nearest_of_the_simplex(shares):
    points = simplex(0.002)
    residuals = ((points @ RATES - shares) ** 2).sum(axis=1)
    assert adjusted_shares(shares, RATES) == pytest.approx(points[residuals.argmin()], abs=0.003)


@pytest.mark.parametrize("truth", [PRIORS, SHIFTED, [0.0, 0.0, 1.0]])
def test_adjusted_shares_undo_known_rates(truth):
    assert adjusted_shares(truth @ RATES, RATES) == pytest.approx(truth, abs=1e-6)


def test_where_rates_leave_a_choice_the_nearest_prevalences_are_taken():
    """The last two classes are not told apart: their sum is known, and they differ as the shares do."""
    rates = np.array([[0.9, 0.05, 0.05], [0.2, 0.5, 0.3], [0.2, 0.5, 0.3]])
    shares = np.array([0.55, 0.275, 0.175])
    found = adjusted_shares(shares, rates)
    assert found @ rates == pytest.approx(shares, abs=1e-6)
    assert found[1] - found[2] == pytest.approx(0.1, abs=1e-4)
    assert adjusted_shares(shares, np.tile(shares, (3, 1))) == pytest.approx(shares, abs=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_the_classes_does_not_matter(method):
    y, posteriors = rows(2000, PRIORS, 5)
    _, new = rows(500, SHIFTED, 6)
    order = np.array([2, 0, 1])
    place = np.argsort(order)
    one = ClassQuantifier.fit(posteriors.argmax(axis=1), posteriors, y)
    other = ClassQuantifier.fit(place[posteriors.argmax(axis=1)], posteriors[:, order], place[y])
    expected = one.prevalence(new.argmax(axis=1), new, method)[order]
    assert other.prevalence(place[new.argmax(axis=1)], new[:, order], method) == pytest.approx(expected, abs=1e-4)


def test_a_weight_of_two_counts_as_two_rows():
    y, posteriors = rows(300, PRIORS, 7)
    weight = 1 + np.arange(300) % 2
    weighted = ClassQuantifier.fit(posteriors.argmax(axis=1), posteriors, y, weight)
    twice = np.repeat(np.arange(300), weight)
    repeated = ClassQuantifier.fit(posteriors[twice].argmax(axis=1), posteriors[twice], y[twice])
    for name in ("priors", "rates", "soft_rates"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name))
    of_second = posteriors[twice][y[twice] == 1]
    np.testing.assert_allclose(repeated.soft_rates[1], of_second.mean(axis=0))
    np.testing.assert_allclose(repeated.rates[1], [np.mean(of_second.argmax(axis=1) == k) for k in range(3)])


def test_a_quantifier_of_classes_survives_json(quantifier):
    again = ClassQuantifier.from_dict(json.loads(json.dumps(quantifier.as_dict())))
    for name in ("priors", "rates", "soft_rates"):
        np.testing.assert_array_equal(getattr(again, name), getattr(quantifier, name))


EVEN = np.full((3, 3), 1 / 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda q: ClassQuantifier.fit([0, 1, 1], EVEN, [0, 1, 1]), "labelled rows of each class"),
        (lambda q: ClassQuantifier.fit([0, 1, 3], EVEN, [0, 1, 2]), "predicted must hold one class index from 0 to 2"),
        (lambda q: ClassQuantifier.fit([0, 1, 2], EVEN, [0, 1]), r"codes must hold one class index .* shape \(3,\)"),
        (lambda q: ClassQuantifier.fit([0, 1, 2], 2 * EVEN, [0, 1, 2]), "sum to 1"),
        (lambda q: ClassQuantifier.fit([0, 1, 2], EVEN, [0, 1, 2], [1, 1, 0]), "labelled rows of each class"),
        (lambda q: q.prevalence([0, 1, 2], EVEN, "sldd"), "unknown method 'sldd'. Did you mean 'sld'"),
        (lambda q: q.prevalence([0, 1, 2], np.full((3, 2), 0.5)), "posteriors must be of 3 classes"),
        (lambda q: q.prevalence([], np.zeros((0, 3))), "one column for each class"),
        (lambda q: adjusted_shares([0.5, 0.5], EVEN), "shares must be of 3 classes"),
        (lambda q: adjusted_shares([0.5, 0.5], EVEN[:2]), r"rates must have shape \(K, K\)"),
        (lambda q: adjusted_shares([0.9, 0.9, 0.1], EVEN), "sum to 1"),
    ],
)
def test_unusable_input_of_several_classes_is_refused(quantifier, call, message):
    with pytest.raises(ValueError, match=message):
        call(quantifier)


# -- calibration -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.1, 1.0], ids=["separable", "overlapping"])
def test_calibration_of_two_classes_is_platts_but_for_the_penalty(noise):
    rng = np.random.default_rng(8)
    y = (np.arange(2000) % 4 == 0).astype(int)
    scores = 2.0 * y - 1 + noise * rng.normal(size=2000).clip(-3, 3)
    platts = Calibration.fit(scores, 2 * y - 1).posteriors(scores)
    pair = np.stack([np.zeros(2000), scores], axis=1)
    found = ClassCalibration.fit(pair, y).probabilities(pair)[:, 1]
    np.testing.assert_allclose(found, platts, atol=3e-3)


@pytest.mark.parametrize("scale", [1e-3, 300.0, 1e6])
def test_calibrated_probabilities_do_not_depend_on_the_scale_of_the_scores(scale):
    rng = np.random.default_rng(3)
    scores = 1.5 * rng.normal(size=(300, 3))
    y = np.argmax(scores + rng.gumbel(size=(300, 3)), axis=1)
    found = ClassCalibration.fit(scale * scores, y).probabilities(scale * scores)
    np.testing.assert_allclose(found, ClassCalibration.fit(scores, y).probabilities(scores), atol=1e-6)


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_scores_that_mislead_get_the_shares_of_the_classes_as_probabilities(scale):
    rng = np.random.default_rng(5)
    y = rng.choice(3, 600, p=[0.6, 0.3, 0.1])
    scores = scale * (rng.normal(size=(600, 3)) - 2.0 * np.eye(3)[y])
    found = ClassCalibration.fit(scores, y)
    assert found.slope > 0
    shares = np.bincount(y) / 600
    np.testing.assert_allclose(found.probabilities(scores), np.broadcast_to(shares, (600, 3)), atol=0.01)


@pytest.mark.parametrize("scale", [1.0, 7.0])
def test_a_weight_of_two_is_calibrated_as_two_rows(scale):
    rng = np.random.default_rng(9)
    y = np.arange(60) % 3
    scores, weight = 3.0 * np.eye(3)[y] + rng.normal(size=(60, 3)), 1 + np.arange(60) % 2
    twice = np.repeat(np.arange(60), weight)
    weighted, repeated = ClassCalibration.fit(scores, y, scale * weight), ClassCalibration.fit(scores[twice], y[twice])
    assert weighted.slope == pytest.approx(repeated.slope, rel=1e-6)
    np.testing.assert_allclose(weighted.offsets, repeated.offsets, atol=1e-6)
