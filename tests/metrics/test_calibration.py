"""Calibration against the true log-odds, a minimiser of scipy, and scores that separate or tie."""

import numpy as np
import pytest
import scipy.optimize

from aesara_nondecomp.metrics import calibration
from aesara_nondecomp.metrics.calibration import Calibration


def rows(n, prior, seed):
    """Scores and signs of two normal classes, whose log-odds are 2 score + logit(prior)."""
    rng = np.random.default_rng(seed)
    signs = np.where(rng.random(n) < prior, 1, -1)
    return signs + rng.standard_normal(n), signs


def test_calibration_recovers_the_true_log_odds():
    found = Calibration.fit(*rows(20_000, 0.3, 0))
    assert found.slope == pytest.approx(2.0, rel=0.05)
    assert found.intercept == pytest.approx(np.log(0.3 / 0.7), abs=0.05)


def test_calibration_maximises_the_likelihood_of_the_smoothed_targets():
    scores, signs = rows(200, 0.3, 3)
    n_pos, n_neg = np.sum(signs > 0), np.sum(signs < 0)
    targets = np.where(signs > 0, (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2))

    def loss(point):
        logits = point[0] * scores + point[1]
        return np.sum(np.logaddexp(0, logits) - targets * logits)

    found = Calibration.fit(scores, signs)
    best = scipy.optimize.minimize(loss, [1.0, 0.0], method="BFGS", options={"gtol": 1e-8}).x
    assert list(found) == pytest.approx(best.tolist(), abs=1e-5)


@pytest.mark.parametrize("scores", [[-2.0, -1.0, 1.0, 2.0], [2.0, 1.0, -1.0, -2.0], [3.0, 3.0, 3.0, 3.0]])
def test_posteriors_are_finite_and_rank_as_the_scores_whatever_these_are(scores):
    """Separable, turned round, and constant scores."""
    posteriors = Calibration.fit(scores, [-1, -1, 1, 1]).posteriors(np.array([-1e6, 0.0, 1e6]))
    assert np.all(np.isfinite(posteriors)) and np.all((posteriors >= 0) & (posteriors <= 1))
    assert np.all(np.diff(posteriors) >= 0)


def test_calibration_by_slices_is_that_of_all_rows_at_once(monkeypatch):
    scores, signs = rows(1000, 0.1, 0)
    whole = Calibration.fit(scores, signs)
    monkeypatch.setattr(calibration, "_SLICE", 7)
    np.testing.assert_allclose(Calibration.fit(scores, signs), whole, rtol=1e-6)


def test_calibration_does_not_halve_its_last_steps_for_the_rounding_of_the_loss(monkeypatch):
    evaluate, calls = calibration._cross_entropy, []
    monkeypatch.setattr(calibration, "_cross_entropy", lambda *given: calls.append(1) or evaluate(*given))
    for seed in range(20):
        Calibration.fit(*rows(3000, 0.1, seed))
    assert len(calls) <= 20 * 10
