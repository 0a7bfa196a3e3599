"""The preset "as released" against NumPy transcripts of what the authors' code does."""

from __future__ import annotations

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp import data, training
from aesara_nondecomp.metrics.class_rates import class_sums
from aesara_nondecomp.training.recipes import Problem
from benchmarks.paper import released
from benchmarks.paper.methods import MEASURES, METHODS, TRAININGS, threshold_for


def batch(rng, rows, prior):
    """Scores and signs of a mini-batch with both classes."""
    signs = np.where(np.arange(rows) < max(1, round(prior * rows)), 1, -1)
    return 2 * rng.normal(size=rows) + 0.5 * signs, rng.permutation(signs)


def transcribed_duals(batches, p):
    """alpha and beta after each batch: rows of each class whose loss, over the class's share, tells them positive."""
    hits = alarms = 0.0
    for scores, signs in batches:
        y, outputs = (signs > 0).astype(float), 1 / (1 + np.exp(-scores))
        loss = y * (1 - outputs) / p + (1 - y) * outputs / (1 - p)
        hits += np.sum(y * (loss <= 0.5 / p))
        alarms += np.sum((1 - y) * (loss >= 0.5 / (1 - p)))
        alpha = hits / np.sqrt(hits**2 + alarms**2)
        yield alpha, np.sqrt(1 - alpha**2)


def test_the_released_duals_of_qmean_are_those_of_a_transcript():
    rng, prior = np.random.default_rng(0), 0.1
    batches = [batch(rng, 256, prior) for _ in range(50)]
    (phase,) = released.duple("qmean", Problem(prior, 1e-4)).phases
    assert tuple(phase.driver.weights()) == (0.5, 0.5, 0.0, 0.0)
    for (scores, signs), expected in zip(batches, transcribed_duals(batches, prior)):
        phase.driver.observe(class_sums(scores, signs))
        assert tuple(phase.driver.duals().values()) == pytest.approx(expected, abs=1e-12)
        assert tuple(phase.driver.weights()) == pytest.approx((*expected, 0.0, 0.0), abs=1e-12)


def test_the_released_duals_stay_at_one_half_until_a_positive_is_predicted_and_are_restored_exactly():
    driver = released.CountDuals()
    driver.observe(class_sums(np.array([-1.0, -2.0]), np.array([1, -1])))
    assert driver.duals() == {"alpha": 0.5, "beta": 0.5}
    driver.observe(class_sums(np.array([1.0, 2.0, 3.0]), np.array([1, -1, -1])))
    again = released.CountDuals()
    again.restore(driver.state())
    assert again.duals() == driver.duals() == pytest.approx({"alpha": 0.2**0.5, "beta": 0.8**0.5})


def test_min_keeps_equal_weights():
    (phase,) = released.duple("min", Problem(0.1, 1e-4)).phases
    assert tuple(phase.driver.weights()) == (0.5, 0.5, 0.0, 0.0)


def squared_error(scores, y, weights):
    return np.sum(weights * (y - 1 / (1 + np.exp(-scores))) ** 2)


@pytest.mark.parametrize("recipe, of_positives, of_negatives", [("baseline", 1, 1), ("weighted_baseline", 0.9, 0.1)])
def test_the_released_baselines_follow_the_gradient_of_squared_error(recipe, of_positives, of_negatives):
    rng = np.random.default_rng(1)
    scores, signs = batch(rng, 40, 0.1)
    (phase,) = getattr(released, recipe)("any", Problem(0.1, 1e-4)).phases
    y, h = (signs > 0).astype(float), 1e-5
    weights = np.where(y > 0, of_positives, of_negatives)
    slopes = [
        (squared_error(scores + step, y, weights) - squared_error(scores - step, y, weights)) / (2 * h)
        for step in h * np.eye(len(scores))
    ]
    assert phase.driver.coefficients(scores, signs) == pytest.approx(-np.array(slopes), abs=1e-8)


def transcribed_training(weights, batches, p, rate):
    """Adam on the class-weighted squared error of a rectifier network without biases."""
    means, squares = ([np.zeros_like(w) for w in weights] for _ in range(2))
    for t, (X, signs) in enumerate(batches, 1):
        y = (signs > 0).astype(float)[:, None]
        first = np.maximum(X @ weights[0], 0)
        second = np.maximum(first @ weights[1], 0)
        outputs = 1 / (1 + np.exp(-second @ weights[2]))
        slope = -2 * (y * (1 - p) + (1 - y) * p) * (y - outputs) * outputs * (1 - outputs)
        below = (slope @ weights[2].T) * (second > 0)
        gradients = [X.T @ ((below @ weights[1].T) * (first > 0)), first.T @ below, second.T @ slope]
        for k, gradient in enumerate(gradients):
            means[k] = 0.9 * means[k] + 0.1 * gradient
            squares[k] = 0.999 * squares[k] + 0.001 * gradient**2
            moved = means[k] / (1 - 0.9**t) / (np.sqrt(squares[k] / (1 - 0.999**t)) + 1e-8)
            weights[k] = weights[k] - rate * moved
    return weights


def test_training_the_released_baseline_is_what_a_transcript_in_numpy_does():
    rng, steps, p = np.random.default_rng(2), 5, 0.25
    signs = np.where(np.arange(64) < 16, 1, -1)
    X = (rng.normal(size=(64, 6)) + signs[:, None]).astype("float32")
    functions = an.TrainFunctions(released.baseline_network(6))
    # Wider than the released weights: with those, rounding decides which rectifiers are on.
    start = [rng.normal(0, 0.3, value.shape).astype("float32") for value in functions.parameters()]
    functions.initialise(0, start)
    drawn = data.MiniBatches(X, signs.astype("float32"), 32, 0)
    used = [(b.X.astype(float), b.y.copy()) for b, _ in zip(drawn, range(steps))]
    batches = data.MiniBatches(X, signs.astype("float32"), 32, 0)
    driver = released.weighted_baseline("any", Problem(p, 1e-2)).phases[0].driver
    loop = training.train(functions, driver, batches, learning_rate=0.002)
    for _ in range(steps):
        next(loop)
    expected = transcribed_training([w.astype(float) for w in start], used, p, 0.002)
    for mine, theirs in zip(functions.parameters(), expected):
        assert mine == pytest.approx(theirs, abs=1e-5)


def test_both_released_baselines_read_f1_at_nine_to_one_and_all_else_at_even_odds():
    for method in ("baseline_released", "weighted_baseline_released"):
        assert METHODS[method].training in TRAININGS
        assert {measure: threshold_for(method, measure) for measure in MEASURES} == {
            "min": "zero", "qmean": "zero", "f1": "nine", "kld": "zero",
        }  # fmt: skip
