"""Theorems 1 and 2 (docs/algorithms.md 4): their inequalities hold at every step of the drivers, in a NumPy loop."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest
from oracles import LinearProblem, separated_problem

from aesara_nondecomp import measures
from aesara_nondecomp.drivers import DAME, DUPLE
from aesara_nondecomp.metrics.class_rates import class_sums

SLACK = 1e-10
# In batch mode the concave valuation of a pseudo-concave measure is linearised at the current rates
# (docs/algorithms.md 3.5); running rates that forget all but 1e-12 of the past are the current ones.
CURRENT = 1e-12


class Moved(NamedTuple):
    """One step: where it started, the dual weights, the gradient, and z = (P, N) before and after it."""

    start: np.ndarray
    weights: np.ndarray
    gradient: np.ndarray
    before: np.ndarray
    after: np.ndarray


def full_batch_steps(driver, problem: LinearProblem, rate: float) -> Iterator[Moved]:
    """Gradient ascent of a driver's objective on the whole set, without Aesara."""
    w, sums = problem.w, class_sums(problem.X @ problem.w, problem.y)
    while True:
        if driver.needs_refresh():
            driver.refresh(sums)
        weights, before = np.array(driver.weights()[:2]), sums
        gradient = weights @ problem.rate_gradients(w)
        start, w = w, w + rate * gradient
        sums = class_sums(problem.X @ w, problem.y)
        yield Moved(start, weights, gradient, *(np.array(s.rates("sigmoid")) for s in (before, sums)))
        driver.observe(sums)


# -- Theorem 1: DUPLE ------------------------------------------------------------------------------------------------

PROBLEM_1 = separated_problem(np.random.default_rng(3), 60, 12, (-0.5, 0.3, 0.2))
L_P, L_N = PROBLEM_1.smoothness()
ROUNDING = 0.05


def smooth_qmean():
    """Q-mean with its apex rounded off: concave and 10-smooth."""

    def distance(P, N):
        return math.sqrt(((1 - P) ** 2 + (1 - N) ** 2) / 2 + ROUNDING**2)

    return measures.concave(
        "smooth_qmean",
        lambda P, N, prior: 1 - distance(P, N),
        lambda P, N, prior: ((1 - P) / (2 * distance(P, N)), (1 - N) / (2 * distance(P, N))),
    )


CASES_1 = {  # measure, its smoothness L', smoothness L of the objective, min |G|^2 at t = 10, 100, 1000, 3000
    "nss_raw": (measures.get("nss_raw"), 1.36, 2 * 0.8 * (0.2 * L_P + 0.8 * L_N), (3.6e-5, 1.5e-7, 2.1e-11, 4.1e-15)),
    "smooth_qmean": (smooth_qmean(), 10.0, math.sqrt((L_P**2 + L_N**2) / 2), (6.4e-4, 2.1e-5, 1.0e-6, 3.5e-7)),
}


class Run1(NamedTuple):
    """A DUPLE run: per step the squared gradient norm, the terms of (i) and of (ii) and F after it; F at first."""

    gradients: np.ndarray
    rises: np.ndarray
    dual_drops: np.ndarray
    dual_bounds: np.ndarray
    first: float
    last: np.ndarray


def duple_run(measure, psi_smoothness: float, rate: float, T: int) -> Run1:
    """T steps, with F(w, alpha^t) = Psi(avg_t) + alpha^t . (z(w) - avg_t), alpha^t the driver's."""
    driver = DUPLE(measure, 0.2, forgetting=1.0, evaluate="new")
    rows, previous = [], None
    for t, step in zip(range(1, T + 1), full_batch_steps(driver, PROBLEM_1, rate)):
        averages, z = np.array(driver.rates.rates()), step.before
        level = measure.value(*averages, 0.2) - step.weights @ averages
        before, after = level + step.weights @ z, level + step.weights @ step.after
        drop = bound = 0.0
        if previous is not None:
            old_level, old_weights, old_averages = previous
            drop = old_level + old_weights @ z - before
            bound = psi_smoothness * np.sum((z - old_averages) ** 2) / t
        rows.append((np.sum(step.gradient**2), after - before, drop, bound, after))
        previous = level, step.weights, averages
    gradients, rises, drops, bounds, last = np.array(rows).T
    return Run1(gradients, rises, drops, bounds, last[0] - rises[0], last)


@pytest.fixture(scope="module", params=CASES_1)
def theorem_1(request):
    measure, psi_smoothness, smoothness, minima = CASES_1[request.param]
    rate = 0.9 * 2 / smoothness
    gain = rate * (1 - rate * smoothness / 2)
    return duple_run(measure, psi_smoothness, rate, 3000), gain, psi_smoothness, minima


def test_the_smoothness_constants_are_those_of_the_reference():
    assert (L_P, L_N) == pytest.approx((0.4127757686, 0.2657291172), abs=1e-9)


def test_theorem_1_i_each_primal_step_gains_its_squared_gradient(theorem_1):
    run, gain, *_ = theorem_1
    assert np.all(run.rises >= gain * run.gradients - SLACK)


def test_theorem_1_ii_each_dual_step_costs_at_most_its_bound(theorem_1):
    run, *_ = theorem_1
    assert np.all(run.dual_drops >= -SLACK)
    assert np.all(run.dual_drops <= run.dual_bounds + SLACK)


def test_theorem_1_iii_squared_gradients_add_up_to_at_most_the_total_gain(theorem_1):
    run, gain, *_ = theorem_1
    bound = (run.last - run.first + np.cumsum(run.dual_bounds)) / gain
    assert np.all(np.cumsum(run.gradients) <= bound + SLACK)


def test_theorem_1_iv_the_smallest_gradient_falls_as_log_T_over_T(theorem_1):
    run, gain, psi_smoothness, _ = theorem_1
    t = np.arange(1, len(run.last) + 1)
    harmonic = np.cumsum(1 / t) - 1
    bound = (run.last - run.first + 2 * psi_smoothness * harmonic) / (gain * t)
    assert np.all(np.minimum.accumulate(run.gradients) <= bound + SLACK)


def test_theorem_1_gradients_are_as_small_as_the_reference_found(theorem_1):
    run, *_, minima = theorem_1
    found = np.minimum.accumulate(run.gradients)[[9, 99, 999, 2999]]
    assert found == pytest.approx(minima, rel=0.05, abs=1e-14)


# -- Theorem 2: DAME -------------------------------------------------------------------------------------------------

SETTINGS_2 = {0.2: (40, 1.0), 0.05: (10, 1.5)}  # prior: positives of 200, separation


def problem_2(prior: float) -> LinearProblem:
    n_positive, separation = SETTINGS_2[prior]
    return separated_problem(np.random.default_rng(5), 200, n_positive, (-0.3, 0.4, -0.2), separation)


class Run2(NamedTuple):
    """A DAME run: per inner step the rise of the valuation and its squared gradient; per round the level v and
    the squared gradient of the measure itself at the first weights."""

    valuation_rises: np.ndarray
    gradients: np.ndarray
    levels: np.ndarray
    measure_gradients: np.ndarray


def dame_run(measure, problem: LinearProblem, rate: float, inner: int, rounds: int) -> Run2:
    prior = problem.prior
    driver = DAME(measure, prior, inner_steps=inner, forgetting=CURRENT, evaluate="new")

    rises, gradients, levels, of_measure = [], [], [], []
    for k, step in zip(range(inner * rounds), full_batch_steps(driver, problem, rate)):
        if k % inner == 0:
            levels.append(driver.v)
            of_measure.append(np.sum(gradient_by_differences(measure, problem, step.start) ** 2))
        before, after = (valuation(measure.name, *z, driver.v, prior) for z in (step.before, step.after))
        rises.append(after - before)
        gradients.append(np.sum(step.gradient**2))
    levels.append(measure.value(*step.after, prior))
    per_step = np.reshape(rises, (rounds, inner)), np.reshape(gradients, (rounds, inner))
    return Run2(*per_step, np.array(levels), np.array(of_measure))


def valuation(name: str, P: float, N: float, v: float, p: float) -> float:
    """Pa - v Pb of F1, or BA - v (2 - NSS) of the CQ-reward."""
    theta = (1 - p) / p
    if name == "f1":
        return 2 * P - v * (1 + theta + P - theta * N)
    return (P + N) / 2 - v * (1 + ((p * (1 - P) - (1 - p) * (1 - N)) / max(p, 1 - p)) ** 2)


def gradient_by_differences(measure, problem: LinearProblem, w: np.ndarray, h: float = 1e-5) -> np.ndarray:
    """Gradient in w of the measure, by central differences."""
    moved = [[problem.rates(w + sign * h * e) for e in np.eye(len(w))] for sign in (1, -1)]
    up, down = (measure.value(*np.transpose(rates), problem.prior) for rates in moved)
    return (up - down) / (2 * h)


def constants(measure, problem: LinearProblem) -> tuple[float, float]:
    """(L_V, Dmax): smoothness of the valuation, largest denominator (docs/algorithms.md 4.2)."""
    p, smooth_P, smooth_N = problem.prior, *problem.smoothness()
    theta = (1 - p) / p
    if measure.name == "f1":
        return 3 * max(2 * smooth_P, smooth_P + theta * smooth_N), 2 + theta
    norms = np.linalg.norm(problem.X, axis=1) / 4
    slope = p * norms[problem.y > 0].mean() + (1 - p) * norms[problem.y < 0].mean()
    k = max(p, 1 - p)
    bend = 2 / k * (p * smooth_P + (1 - p) * smooth_N) + 2 / k**2 * slope**2
    return (smooth_P + smooth_N) / 2 + bend, 2.0


CASES_2 = [  # measure, prior, T', rounds, measure at the start and at the end
    *(("f1", 0.2, inner, 400, 0.2270, end) for inner, end in zip((1, 5, 50), (0.6843, 0.7089, 0.7248))),
    *(("f1", 0.05, inner, 400, 0.0602, end) for inner, end in zip((1, 5, 50), (0.7634, 0.8246, 0.8714))),
    *(("cqreward", 0.2, inner, 300, 0.3836, end) for inner, end in zip((1, 5, 50), (0.8076, 0.8267, 0.8388))),
    *(("cqreward", 0.05, inner, 300, 0.3135, end) for inner, end in zip((1, 5, 50), (0.9233, 0.9269, 0.9430))),
]


@pytest.fixture(scope="module", params=CASES_2, ids=lambda case: "-".join(map(str, case[:3])))
def theorem_2(request):
    name, prior, inner, rounds, *ends = request.param
    measure, problem = measures.get(name), problem_2(prior)
    smoothness, largest = constants(measure, problem)
    rate = 0.9 * 2 / smoothness
    gain = rate * (1 - rate * smoothness / 2)
    return dame_run(measure, problem, rate, inner, rounds), gain, largest, ends


def test_theorem_2_a_each_inner_step_gains_its_squared_gradient(theorem_2):
    run, gain, *_ = theorem_2
    assert np.all(run.valuation_rises >= gain * run.gradients - SLACK)


def test_theorem_2_b_the_measure_rises_by_the_gradients_of_each_round(theorem_2):
    run, gain, largest, *_ = theorem_2
    assert np.all(np.diff(run.levels) >= gain / largest * run.gradients.sum(axis=1) - SLACK)


def test_theorem_2_c_all_squared_gradients_add_up_to_at_most_the_rise(theorem_2):
    run, gain, largest, *_ = theorem_2
    assert run.gradients.sum() <= largest * (run.levels[-1] - run.levels[0]) / gain + SLACK


def test_theorem_2_reaches_the_levels_that_the_reference_found(theorem_2):
    run, *_, ends = theorem_2
    assert (run.levels[0], run.levels[-1]) == pytest.approx(ends, abs=1e-4)


def test_theorem_2_d_some_round_starts_near_a_stationary_point_of_the_measure(theorem_2):
    run, gain, largest, _ = theorem_2
    # Both denominators are at least m = 1; the differences are good to about 1e-9.
    bound = largest * (run.levels[-1] - run.levels[0]) / (gain * len(run.levels[1:]))
    assert run.measure_gradients.min() <= bound + 1e-8
    assert np.all(run.measure_gradients <= run.gradients[:, 0] + 1e-8)
