"""The one loop: against transcripts of SPADE, NEMSIS and AMP, on one-class batches, and what it records."""

import math
from itertools import count, cycle, islice
from types import SimpleNamespace

import numpy as np
import pytest
from oracles import FixedBatches, LinearProblem, separated_problem

from aesara_nondecomp import TrainFunctions, linear, measures, mlp, train
from aesara_nondecomp._aesara.imports import aesara
from aesara_nondecomp.data import MiniBatches
from aesara_nondecomp.drivers import (
    DAME,
    DENIM,
    DUPLE,
    ClassWeighted,
    CrossEntropy,
    FixedWeights,
    RewardWeights,
    WarmStart,
)
from aesara_nondecomp.training import loop
from aesara_nondecomp.training.recipes import ALGORITHMS, Problem, recipe_for

PROBLEM = separated_problem(np.random.default_rng(21), 60, 15, (0.2, -0.3, 0.1))
P, RATE = PROBLEM.prior, 0.3
TRAINABLE = [measure for measure in measures.defaults() if measure.drivers()] + [
    measures.get("weighted_accuracy", c=0.7),
    measures.get("gower_legendre", sigma=0.5),
    measures.get("gower_legendre", sigma=2),
    measures.get("min", tau=0.1),
    measures.get("fbeta", beta=2),
]


@pytest.fixture(scope="module")
def functions():
    """A linear score in float64, moved by plain gradient ascent."""
    return TrainFunctions(linear(2, dtype="float64"), "sgd")


@pytest.fixture(scope="module")
def network():
    """A small network with a hidden layer, moved by Adam."""
    return TrainFunctions(mlp(3, (4,), seed=0))


def batches_of(size: int, n: int) -> list[LinearProblem]:
    rng = np.random.default_rng(size)
    return [PROBLEM.part(rng.permutation(len(PROBLEM.y))[:size]) for _ in range(n)]


def without_ones(problem: LinearProblem) -> LinearProblem:
    """The network has a bias of its own, in place of the column of ones."""
    return LinearProblem(problem.X[:, :2], problem.y, problem.w)


def start_at(functions, w) -> None:
    functions.initialise(parameters=[np.reshape(w[:2], (2, 1)), w[2:]])
    functions.configure()


def weights_of(functions) -> np.ndarray:
    return np.concatenate([p.ravel() for p in functions.parameters()])


def path_of(functions, driver, batches, **options) -> np.ndarray:
    """w after each step of the loop; rounds are evaluated on the whole set."""
    start_at(functions, PROBLEM.w)
    stub = FixedBatches([without_ones(b) for b in batches], P)
    steps = train(functions, driver, stub, learning_rate=RATE, round_data=(PROBLEM.X[:, :2], PROBLEM.y), **options)
    return np.array([weights_of(functions) for _ in islice(steps, len(batches))])


# -- SPADE, NEMSIS and AMP, one point at a time ----------------------------------------------------------------------


class Transcript:
    """A linear score on points (x, y), each moving w by a weight over the class's prior; class sums by hand."""

    def __init__(self, counts: bool):
        self.counts, self.w = counts, PROBLEM.w.copy()

    def right(self, x, y) -> float:
        """What is averaged: the sigmoid reward, or whether the prediction is right."""
        score = float(x @ self.w)
        return float((score > 0) == (y > 0)) if self.counts else 1 / (1 + math.exp(-y * score))

    def sums(self, batch):
        """{class: [sum, count]} of the batch at the present w."""
        totals = {1: [0.0, 0], -1: [0.0, 0]}
        for x, y in zip(batch.X, batch.y):
            totals[int(y)][0] += self.right(x, y)
            totals[int(y)][1] += 1
        return totals

    def move(self, batch, pos, neg):
        step = np.zeros_like(self.w)
        for x, y in zip(batch.X, batch.y):
            s = 1 / (1 + math.exp(-y * float(x @ self.w)))
            step += (pos / P if y > 0 else neg / (1 - P)) * s * (1 - s) * y * x / len(batch.y)
        self.w = self.w + RATE * step


def merge(totals, more):
    for sign, (value, n) in more.items():
        totals[sign][0] += value
        totals[sign][1] += n


def means(totals) -> list[float]:
    return [total / n for total, n in (totals[1], totals[-1])]


def spade_on_qmean(batches, counts):
    """SPADE with the exact dual: the gradient of Q-mean at the running averages."""
    run = Transcript(counts)
    totals = run.sums(PROBLEM)
    for batch in batches:
        u, v = means(totals)
        root = math.sqrt(((1 - u) ** 2 + (1 - v) ** 2) / 2)
        seen = run.sums(batch)
        run.move(batch, (1 - u) / (2 * root), (1 - v) / (2 * root))
        merge(totals, seen)
        yield run.w


def nemsis_on_qmeasure(batches, counts):
    """NEMSIS with the conjugates written out: those of BA (0) and of NSS, along c = (p, -(1-p))."""
    run, k, c = Transcript(counts), max(P, 1 - P), np.array([P, P - 1])
    totals = run.sums(PROBLEM)
    r = np.array(means(totals))
    q = None
    for t, batch in zip(count(1), batches):
        d = P * (1 - r[0]) - (1 - P) * (1 - r[1])
        if q is None:
            q = np.array([r.mean(), 1 - (d / k) ** 2])
        slope = 2 * d / k**2
        gamma = 2 * q[1] ** 2 / (q.sum() ** 2), 2 * q[0] ** 2 / (q.sum() ** 2)
        weights = gamma[0] * 0.5 + gamma[1] * slope * c
        seen = run.sums(batch)
        z = np.array([total / n if n else old for (total, n), old in zip((seen[1], seen[-1]), r)])
        run.move(batch, *weights)
        conjugate = slope * (2 * P - 1) - 1 - slope**2 * k**2 / 4
        q = q + (np.array([z.mean(), slope * (c @ z) - conjugate]) - q) / (t + 1)
        merge(totals, seen)
        r = np.array(means(totals))
        yield run.w


def amp_on_f1(batches, counts, inner=3):
    """Alternate maximisation: v = F1 of the (soft) counts of the whole set, then `inner` steps on 2 TP - v (...)."""
    run, n_pos, n_neg = Transcript(counts), P * len(PROBLEM.y), (1 - P) * len(PROBLEM.y)
    for k, batch in enumerate(batches):
        if k % inner == 0:
            totals = run.sums(PROBLEM)
            TP, TN = totals[1][0], totals[-1][0]
            v = 2 * TP / (n_pos + TP + n_neg - TN)
        # Over n+: 2 P - v (1 + P + theta (1 - N)).
        run.move(batch, 2 - v, v * n_neg / n_pos)
        yield run.w


RELATIVES = {
    "SPADE": (spade_on_qmean, lambda counts: DUPLE("qmean", P, counts=counts, forgetting=1.0)),
    "NEMSIS": (nemsis_on_qmeasure, lambda counts: DENIM("qmeasure", P, counts=counts, forgetting=1.0, eps=1 / 120)),
    "AMP": (amp_on_f1, lambda counts: DAME("f1", P, counts=counts, inner_steps=3)),
}


@pytest.mark.parametrize("counts", [False, True], ids=["rewards", "counts"])
@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("name", RELATIVES)
def test_on_a_linear_score_the_drivers_are_their_antecedents(name, size, counts, functions):
    transcript, build = RELATIVES[name]
    batches = batches_of(size, 60)
    expected = np.array(list(transcript(batches, counts)))
    assert np.abs(expected[-1] - PROBLEM.w).max() > 0.1
    assert path_of(functions, build(counts), batches) == pytest.approx(expected, abs=1e-10)


def test_duals_by_counts_change_the_trajectory(functions):
    by_rewards, by_counts = (path_of(functions, RELATIVES["SPADE"][1](c), batches_of(4, 20)) for c in (False, True))
    assert np.abs(by_rewards - by_counts).max() > 1e-3


# -- Cross-entropy and normalisation ---------------------------------------------------------------------------------


def slope_by_differences(function, w, h=1e-6):
    return np.array([(function(w + h * e) - function(w - h * e)) / (2 * h) for e in np.eye(len(w))])


def loss(batch, w, sign=None):
    """Mean softplus(-y f), of one class or of all rows."""
    rows = np.ones(len(batch.y), bool) if sign is None else batch.y == sign
    return np.logaddexp(0, -batch.y[rows] * (batch.X[rows] @ w)).mean()


def moved(functions, driver, batch, **options):
    return (path_of(functions, driver, [batch], **options)[0] - PROBLEM.w) / RATE


def test_cross_entropy_descends_the_mean_log_loss(functions):
    expected = -slope_by_differences(lambda w: loss(PROBLEM, w), PROBLEM.w)
    assert moved(functions, CrossEntropy(P), PROBLEM) == pytest.approx(expected, abs=1e-8)


def test_class_weighted_cross_entropy_descends_the_weighted_class_losses(functions):
    expected = -slope_by_differences(lambda w: 0.3 * loss(PROBLEM, w, 1) + 0.7 * loss(PROBLEM, w, -1), PROBLEM.w)
    assert moved(functions, ClassWeighted(P, 0.3), PROBLEM) == pytest.approx(expected, abs=1e-8)


def test_normalising_by_batch_weighs_the_class_means_of_the_batch(functions):
    batch = PROBLEM.part([0, 1, 20, 21, 22, 23, 24])
    expected = slope_by_differences(lambda w: batch.rates(w) @ [0.4, 0.6], PROBLEM.w)
    driver = FixedWeights(RewardWeights(0.4, 0.6))
    assert moved(functions, driver, batch, normalize="batch") == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("normalize", ["prior", "batch"])
def test_a_missing_class_leaves_no_trace_in_the_gradient(normalize, functions):
    negatives = PROBLEM.part(np.flatnonzero(PROBLEM.y < 0)[:5])
    with_weight, without = (FixedWeights(RewardWeights(pos, 0.6, pos, 0.1)) for pos in (0.4, 0.0))
    paths = [path_of(functions, driver, [negatives], normalize=normalize) for driver in (with_weight, without)]
    assert np.array_equal(*paths)


# -- Every measure ---------------------------------------------------------------------------------------------------


def one_class_batches(prior: float) -> FixedBatches:
    """Eight rows a batch; every third has negatives only, every fifth positives only."""
    rng = np.random.default_rng(0)
    batches = []
    for k in range(1, 16):
        y = np.where(np.arange(8) < 3, 1.0, -1.0)
        y = -np.ones(8) if k % 3 == 0 else np.ones(8) if k % 5 == 0 else y
        batches.append(LinearProblem(rng.standard_normal((8, 3)) + 0.5 * y[:, None], y, np.zeros(3)))
    return FixedBatches(batches, prior, "float32")


def recipes_of(measure, problem: Problem):
    """Every algorithm that serves the measure, as recommended and as in the paper."""
    served = {"auto", "paper", *measure.drivers()}
    names = [name for name in ALGORITHMS if name.removeprefix("paper_").removesuffix("_ns") in served]
    return [recipe_for(measure, problem, name) for name in names]


@pytest.mark.parametrize("measure", TRAINABLE, ids=str)
def test_batches_that_lack_a_class_keep_every_driver_finite(measure, network):
    for recipe in recipes_of(measure, Problem(3 / 8, 1 / 240)):
        network.initialise(0)
        network.configure(averaging=recipe.averaging)
        for phase in recipe.phases:
            steps = train(network, phase.driver, one_class_batches(3 / 8), learning_rate=recipe.learning_rate)
            for step in islice(steps, 300):
                assert np.isfinite([step.gradient_norm, *step.duals.values(), *phase.driver.weights()]).all()
        for values in (network.parameters(), network.averaged_parameters()):
            assert all(np.isfinite(value).all() for value in values)


@pytest.mark.parametrize("prior", [0.5, 0.1, 0.006])
@pytest.mark.parametrize("measure", TRAINABLE, ids=str)
def test_the_first_gradient_is_not_negligible(measure, prior, network):
    rng = np.random.default_rng(1)
    y = np.where(np.arange(1000) < 1000 * prior, 1.0, -1.0)
    problem = LinearProblem(rng.standard_normal((1000, 3)) + 0.5 * y[:, None], y, np.zeros(3))
    for recipe in recipes_of(measure, Problem(prior, 1 / 2000)):
        network.initialise(0)
        network.configure()
        stub = FixedBatches([problem], prior, "float32")
        step = next(train(network, recipe.phases[-1].driver, stub, learning_rate=recipe.learning_rate))
        assert step.gradient_norm > 1e-6


# -- The record ------------------------------------------------------------------------------------------------------


def test_a_step_counts_rows_without_padding(network):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(10) < 4, 1, -1)
    batches = MiniBatches(rng.standard_normal((10, 3)).astype("float32"), y, 4, 0)
    network.initialise(0)
    steps = list(islice(train(network, CrossEntropy(0.4), batches, learning_rate=0.01), 6))
    assert [step.samples for step in steps] == [4, 8, 10, 14, 18, 20]
    assert [step.step for step in steps] == [1, 2, 3, 4, 5, 6]
    assert [step.sums.n_pos + step.sums.n_neg for step in steps] == [4, 4, 2, 4, 4, 2]


def test_a_step_tells_soft_from_hard_rates_at_the_weights_before_it(functions):
    start_at(functions, PROBLEM.w)
    step = next(train(functions, CrossEntropy(P), FixedBatches([without_ones(PROBLEM)], P), learning_rate=RATE))
    assert step.soft_rates == pytest.approx(tuple(PROBLEM.rates(PROBLEM.w)))
    assert step.hard_rates == pytest.approx(tuple(PROBLEM.count_rates(PROBLEM.w)))
    assert abs(step.soft_rates[0] - step.hard_rates[0]) > 0.01


def test_the_rates_of_a_missing_class_are_nan(functions):
    positives = without_ones(PROBLEM.part(np.arange(5)))
    step = next(train(functions, CrossEntropy(P), FixedBatches([positives], P), learning_rate=RATE))
    assert np.isfinite(step.soft_rates[0]) and np.isnan(step.soft_rates[1])
    assert np.isfinite(step.hard_rates[0]) and np.isnan(step.hard_rates[1])


def test_the_time_of_a_step_excludes_compilation(monkeypatch):
    clock, real = [0.0], aesara.function

    def slow(*args, **kwargs):
        clock[0] += 100.0
        return real(*args, **kwargs)

    monkeypatch.setattr(aesara, "function", slow)
    monkeypatch.setattr(loop, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    stub = FixedBatches([without_ones(PROBLEM)], P)
    for driver in (DUPLE("qmean", P, evaluate="new"), WarmStart(CrossEntropy(P), 2, DAME("f1", P, inner_steps=1))):
        clock[0] = 0.0
        fresh = TrainFunctions(linear(2, dtype="float64"), "sgd")
        steps = list(islice(train(fresh, driver, stub, learning_rate=RATE), 5))
        assert clock[0] == 200.0 and steps[-1].seconds == 0.0


def test_the_schedule_scales_the_learning_rate_from_step_0(functions):
    stub = FixedBatches([without_ones(PROBLEM)], P)
    steps = train(functions, CrossEntropy(P), stub, learning_rate=0.5, schedule=lambda step: 1 / (1 + step))
    assert [step.learning_rate for step in islice(steps, 3)] == pytest.approx([0.5, 0.25, 0.5 / 3])


@pytest.mark.parametrize("wrong", [-0.2, None, math.nan])
def test_a_factor_that_cannot_scale_the_rate_stops_before_its_step(functions, wrong):
    stub = FixedBatches([without_ones(PROBLEM)], P)
    steps = train(functions, CrossEntropy(P), stub, learning_rate=RATE, schedule=lambda step: [1.0, wrong][step])
    next(steps)
    weights = functions.parameters()
    with pytest.raises(ValueError, match=f"schedule must return .* got {wrong} at step 1"):
        next(steps)
    for before, after in zip(weights, functions.parameters()):
        np.testing.assert_array_equal(before, after)


def test_a_later_phase_continues_the_counts(functions):
    stub = FixedBatches([without_ones(PROBLEM)], P)
    last = list(islice(train(functions, CrossEntropy(P), stub, learning_rate=RATE), 3))[-1]
    following = next(train(functions, ClassWeighted(P), stub, learning_rate=RATE, after=last))
    assert (following.step, following.samples) == (4, 4 * len(PROBLEM.y))
    assert following.seconds >= last.seconds


def test_dame_reads_its_level_from_the_round_data_when_given(functions):
    driver = DAME("f1", P, inner_steps=2)
    levels, batches = [], cycle(batches_of(4, 8))
    start_at(functions, PROBLEM.w)
    stub = FixedBatches([without_ones(next(batches)) for _ in range(8)], P)
    whole = PROBLEM.X[:, :2], PROBLEM.y
    steps = train(functions, driver, stub, learning_rate=RATE, round_data=whole)
    w = PROBLEM.w
    for k, step in enumerate(islice(steps, 8)):
        if k % 2 == 0:
            levels.append(measures.get("f1").value(*PROBLEM.rates(w), P))
        assert step.duals["v"] == pytest.approx(levels[-1], abs=1e-12)
        w = weights_of(functions)
    assert len(set(levels)) == 4
