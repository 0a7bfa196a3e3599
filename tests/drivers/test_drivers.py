"""Drivers, in loops of plain NumPy: their relatives, their invariants, their state."""

import json
import subprocess
import sys

import numpy as np
import pytest
from oracles import LinearProblem, numpy_training, separated_problem

from aesara_nondecomp import measures
from aesara_nondecomp.drivers import (
    DAME,
    DENIM,
    DUPLE,
    AdaptiveDriver,
    ClassWeighted,
    CrossEntropy,
    FixedWeights,
    Mix,
    RewardWeights,
    WarmStart,
)
from aesara_nondecomp.metrics.class_rates import ClassSums, class_sums

PROBLEM = separated_problem(np.random.default_rng(11), 60, 15, (0.1, -0.2, 0.3))
P = PROBLEM.prior
EPS = 1 / 120
LITERAL = {"forgetting": 1.0, "evaluate": "new"}


def random_batches(n_steps: int, size: int, seed: int = 0) -> list[LinearProblem]:
    rng = np.random.default_rng(seed)
    return [PROBLEM.part(rng.choice(len(PROBLEM.y), size, replace=False)) for _ in range(n_steps)]


FULL_BATCH = [PROBLEM] * 40
MINI_BATCHES = random_batches(40, 4)  # some lack positives


def weights_of(driver, batches, rate=0.7) -> np.ndarray:
    """The sequence of w, shape (steps, d)."""
    return np.array(list(numpy_training(driver, batches, PROBLEM, rate)))


def both(pos: float, neg: float, n_pos: float = 1.0, n_neg: float = 1.0) -> ClassSums:
    """Class sums that are alike for all three rewards."""
    return ClassSums(pos, neg, pos, neg, pos, neg, n_pos, n_neg)


# -- DENIM -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("batches", [FULL_BATCH, MINI_BATCHES], ids=["full", "mini"])
@pytest.mark.parametrize("name", ["kld", "bakld"])
def test_denim_with_a_linear_outer_function_visits_the_weights_of_duple(name, batches, counts):
    options = {"counts": counts, "eps": EPS, **LITERAL}
    denim, duple = (driver(measures.get(name), P, **options) for driver in (DENIM, DUPLE))
    path = weights_of(denim, batches)
    assert np.abs(path - PROBLEM.w).max() > 1e-3  # not equal because nothing moved
    assert path == pytest.approx(weights_of(duple, batches), abs=1e-12)


@pytest.mark.parametrize("name", ["kld", "bakld", "qmeasure", "qmeasure_raw", "qmeasure_barranquero"])
def test_denims_q_stays_above_the_components_at_the_averages(name):
    measure = measures.get(name)
    driver = DENIM(measure, P, eps=EPS, **LITERAL)
    for _ in numpy_training(driver, FULL_BATCH, PROBLEM, 0.7):
        zeta = measure.components(*driver.rates.rates(), P, EPS)
        assert all(q >= value - 1e-12 for q, value in zip(driver.q, zeta))
        assert min(driver.gamma) >= 0
        assert driver.gamma == measure.outer_gradient(*driver.q, P, EPS)
        assert (driver.alpha, driver.beta) == measure.component_gradients(*driver.rates.rates(), P, EPS)


def test_denim_on_kld_leaves_the_true_prevalence_direction_alone():
    driver = DENIM(measures.get("kld"), P, **LITERAL)
    for _ in numpy_training(driver, FULL_BATCH, PROBLEM, 0.7):
        pos, neg = driver.weights()[:2]
        assert (1 - P) * pos + P * neg == pytest.approx(0, abs=1e-12)


def test_denim_forgets_old_linearised_components_as_it_forgets_old_rates():
    driver = DENIM(measures.get("qmeasure"), P, forgetting=0.5)
    driver.refresh(both(0.5, 0.5))
    start = driver.q
    driver.observe(both(0.9, 0.7))
    # Weight 1 for the new value and 1/2 for the old one: q = (q0 / 2 + lin) / 1.5 with BA linear.
    assert driver.q[0] == pytest.approx((0.5 * start[0] + 0.8) / 1.5)


# -- Dual steps ------------------------------------------------------------------------------------------------------


def test_the_dual_step_of_min_is_a_step_on_the_log_odds():
    driver = DUPLE(measures.get("min"), P, dual="step", dual_rate=0.3, forgetting=1.0)
    driver.refresh(both(0.2, 0.6))
    assert (driver.alpha, driver.beta) == (0.5, 0.5)
    driver.observe(both(0.2, 0.6))
    assert driver.alpha / driver.beta == pytest.approx(np.exp(0.3 * (0.6 - 0.2)))
    assert driver.alpha + driver.beta == 1


def test_the_dual_step_of_min_survives_any_number_of_steps_one_way():
    driver = DUPLE(measures.get("min"), P, dual="step", dual_rate=5.0)
    driver.refresh(both(0.0, 1.0))
    for _ in range(1000):
        driver.observe(both(0.0, 1.0))
    assert driver.alpha == pytest.approx(1) and np.isfinite(driver.alpha)
    for _ in range(50):
        driver.observe(both(1.0, 0.0))
    assert driver.alpha < 0.5


def test_the_dual_step_of_a_smooth_measure_goes_its_share_of_the_way():
    measure = measures.get("qmean")
    driver = DUPLE(measure, P, dual="step", dual_rate=0.25, forgetting=1.0)
    driver.refresh(both(0.5, 0.5))
    old, target = np.array([driver.alpha, driver.beta]), measure.supergradient(0.5, 0.7, P)
    driver.observe(both(0.5, 0.9))
    assert (driver.alpha, driver.beta) == pytest.approx(tuple(0.75 * old + 0.25 * np.array(target)))


def test_the_cap_scales_the_weights_and_keeps_their_ratio():
    measure = measures.get("gmean")
    free, capped = (DUPLE(measure, P, cap=cap) for cap in (None, 2.0))
    for driver in (free, capped):
        driver.refresh(both(0.001, 0.9))
    large, small = np.array(free.weights()[:2]), np.array(capped.weights()[:2])
    assert np.abs(large).sum() > 2
    assert np.abs(small).sum() == pytest.approx(2)
    assert small[0] / small[1] == pytest.approx(large[0] / large[1])


# -- A class that a batch lacks --------------------------------------------------------------------------------------

ADAPTIVE = {
    "duple": lambda counts: DUPLE(measures.get("qmean"), P, counts=counts, forgetting=0.9),
    "denim": lambda counts: DENIM(measures.get("qmeasure"), P, counts=counts),
    "dame": lambda counts: DAME(measures.get("f1"), P, counts=counts),
}


REFUSING = {
    **{kind: lambda kind=kind: ADAPTIVE[kind](False) for kind in ADAPTIVE},
    "duple, step": lambda: DUPLE("min", P, dual="step"),
    "dame, rounds": lambda: DAME("f1", P, inner_steps=2),
    "mix": lambda: Mix(DUPLE("qmean", P), CrossEntropy(P)),
    "warm start": lambda: WarmStart(CrossEntropy(P), 1, DUPLE("qmean", P)),
    "long warm start": lambda: WarmStart(CrossEntropy(P), 5, DUPLE("qmean", P)),
}


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("kind", REFUSING)
@pytest.mark.parametrize("calls", range(4))
def test_sums_that_are_not_finite_are_refused_and_change_nothing(calls, kind, value):
    driver, broken = REFUSING[kind](), both(0.4, 0.6)._replace(sigmoid_pos=value)
    for _ in range(calls):
        (driver.refresh if driver.needs_refresh() else driver.observe)(both(0.3, 0.7, 1.0, 1.0))
    before, weights = json.dumps(driver.state()), driver.weights()
    for call in (driver.observe, *([driver.refresh] if driver.needs_refresh() else [])):
        with pytest.raises(ValueError, match="class sums must be finite"):
            call(broken)
        assert (json.dumps(driver.state()), driver.weights()) == (before, weights)


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("kind", ADAPTIVE)
@pytest.mark.parametrize("missing", [0, 1])
def test_a_missing_class_leaves_its_running_sum_as_it_was(missing, kind, counts):
    driver = ADAPTIVE[kind](counts)
    driver.refresh(both(0.4, 0.6))
    before = driver.rates.state()
    present = 1 - missing
    driver.observe(class_sums([0.3, 1.5], [1.0, 1.0] if present == 0 else [-1.0, -1.0]))
    after = driver.rates.state()
    for kept in ("sums", "counts"):
        assert after[kept][missing] == before[kept][missing]
    assert after["counts"][present] != before["counts"][present]
    assert all(np.isfinite(value) for value in driver.duals().values())


@pytest.mark.parametrize("missing", [0, 1])
def test_denim_takes_the_running_average_for_a_missing_class(missing):
    measure = measures.get("qmeasure")
    with_class, without = (DENIM(measure, P, forgetting=1.0) for _ in range(2))
    for driver in (with_class, without):
        driver.refresh(both(0.4, 0.6))
    rates, seen = [0.8, 0.8], [1.0, 1.0]
    rates[missing] = (0.4, 0.6)[missing]
    with_class.observe(both(*rates))
    rates[missing], seen[missing] = 0.0, 0.0
    without.observe(both(*rates, *seen))
    assert without.q == pytest.approx(with_class.q)


NO_SMOOTHING = [
    (DUPLE, "qmean"), (DUPLE, "gmean"), (DUPLE, "nas"), (DUPLE, "rae"), (DENIM, "qmeasure"),
    (DENIM, "qmeasure_barranquero"), (DAME, "f1"), (DAME, "cqreward"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name"), NO_SMOOTHING)
@pytest.mark.parametrize("rates", [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (1.0, 1.0)])
def test_measures_that_are_finite_everywhere_take_counts_of_one_class_without_smoothing(kind, name, rates):
    driver = kind(name, P, counts=True)
    driver.refresh(both(*rates))
    for _ in range(3):
        driver.observe(both(*rates))
    assert np.isfinite(driver.weights()).all()


# -- Fixed weights, mixtures, warm starts ----------------------------------------------------------------------------


def test_mix_weighs_the_inner_driver_and_the_anchor():
    inner, anchor = FixedWeights(RewardWeights(0.8, 0.4, 0.0, 0.2)), CrossEntropy(0.3)
    assert Mix(inner, anchor, 0.25).weights() == pytest.approx((0.6, 0.3, 0.075, 0.75 * 0.2 + 0.25 * 0.7))
    assert Mix(inner, anchor, 0).weights() == inner.weights()
    assert Mix(inner, anchor, 1).weights() == anchor.weights()


def test_mix_passes_rounds_and_observations_on():
    mixed, alone = (DUPLE(measures.get("qmean"), P, evaluate="new") for _ in range(2))
    mix = Mix(mixed, CrossEntropy(P))
    assert mix.evaluate == "new" and mix.needs_refresh()
    for driver in (mix, alone):
        driver.refresh(both(0.3, 0.8))
        driver.observe(both(0.4, 0.7))
    assert not mix.needs_refresh()
    assert mix.duals() == alone.duals() and mix.state() == {"inner": alone.state()}


def test_a_warm_start_hands_over_at_the_first_batch_with_both_classes_after_its_steps():
    inner = DUPLE(measures.get("qmean"), P)
    driver = WarmStart(CrossEntropy(P), 3, inner)
    full, no_positives, no_negatives = both(0.4, 0.6), both(0.0, 0.6, 0.0, 1.0), both(0.4, 0.0, 1.0, 0.0)
    for sums in (full, full, no_positives, no_negatives):
        assert driver.weights() == CrossEntropy(P).weights() and not driver.needs_refresh()
        driver.observe(sums)
    driver.observe(full)
    assert inner.started and inner.rates.rates() == (0.4, 0.6) and not driver.needs_refresh()
    assert driver.weights() == inner.weights() != CrossEntropy(P).weights()
    driver.observe(both(0.8, 0.8))
    assert inner.rates.rates()[0] > 0.4


def test_a_warm_start_lets_dame_begin_its_later_rounds():
    driver = WarmStart(CrossEntropy(P), 1, DAME(measures.get("f1"), P, inner_steps=2))
    driver.observe(both(0.4, 0.6))
    driver.observe(both(0.5, 0.6))
    assert not driver.needs_refresh()
    driver.observe(both(0.5, 0.6))
    assert driver.needs_refresh()


# -- The names of 0.1 ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrap", [lambda driver: driver, lambda driver: Mix(driver, CrossEntropy(P))])
def test_a_loop_with_the_method_names_of_0_1_goes_on_working_with_a_warning(wrap):
    driver, twin = (wrap(DUPLE("qmean", P)) for _ in range(2))
    with pytest.warns(DeprecationWarning, match="wants_round is now spelled needs_refresh") as caught:
        assert driver.wants_round()
    assert caught[0].filename == __file__
    with pytest.warns(DeprecationWarning, match="begin_round is now spelled refresh"):
        driver.begin_round(both(0.3, 0.8))
    twin.refresh(both(0.3, 0.8))
    assert driver.state() == twin.state() and not driver.needs_refresh()


# -- A driver of one's own -------------------------------------------------------------------------------------------


class OneMinusRates(AdaptiveDriver):
    """Weights each class by its error rate, for the measures that DUPLE serves."""

    algorithm = "duple"

    def __init__(self, measure, prior):
        options = {"reward": "sigmoid", "counts": False, "forgetting": 1.0, "evaluate": "old", "eps": 0.0}
        super().__init__(measure, prior, **options)

    def weights(self):
        P_hat, N_hat = self.rates.rates()
        return RewardWeights.on(self.reward, 1 - P_hat, 1 - N_hat)

    def observe(self, sums):
        self.rates.add(sums)


def test_an_adaptive_driver_of_ones_own_gets_checks_and_running_rates_from_its_base():
    driver = OneMinusRates("qmean", P)
    driver.observe(both(0.25, 0.5))
    assert driver.weights() == RewardWeights(0.75, 0.5) and driver.measure == measures.get("qmean")
    with pytest.raises(ValueError, match="'duple' cannot train for f1"):
        OneMinusRates("f1", P)
    with pytest.raises(ValueError, match="prior must lie strictly between 0 and 1"):
        OneMinusRates("qmean", 1.0)


# -- State -----------------------------------------------------------------------------------------------------------

DRIVERS = {
    "duple": lambda: DUPLE(measures.get("qmean"), P),
    "duple_ns": lambda: DUPLE(measures.get("kld"), P, counts=True, eps=EPS),
    "duple_step": lambda: DUPLE(measures.get("min"), P, dual="step"),
    "denim": lambda: DENIM(measures.get("qmeasure"), P, evaluate="new"),
    "denim_ns": lambda: DENIM(measures.get("bakld"), P, counts=True, eps=EPS),
    "dame": lambda: DAME(measures.get("f1"), P, reward="logistic"),
    "dame_rounds": lambda: DAME(measures.get("cqreward"), P, inner_steps=7),
    "dame_ns": lambda: DAME(measures.get("bkreward"), P, counts=True, eps=EPS),
    "cross_entropy": lambda: CrossEntropy(P),
    "class_weighted": lambda: ClassWeighted(P),
    "mix": lambda: Mix(DENIM(measures.get("bakld"), P, eps=EPS), CrossEntropy(P)),
    "warm": lambda: WarmStart(CrossEntropy(P), 30, Mix(DUPLE(measures.get("qmean"), P), CrossEntropy(P))),
    "warmed": lambda: WarmStart(CrossEntropy(P), 5, DAME(measures.get("f1"), P, inner_steps=4)),
}


@pytest.mark.parametrize("kind", DRIVERS)
def test_a_driver_restored_from_json_goes_on_exactly(kind):
    original, restored = DRIVERS[kind](), DRIVERS[kind]()
    start = weights_of(original, MINI_BATCHES[:20])[-1]
    stored = json.dumps(original.state(), allow_nan=False)
    restored.restore(json.loads(stored))
    after = LinearProblem(PROBLEM.X, PROBLEM.y, start)
    first, second = (list(numpy_training(d, MINI_BATCHES[20:], after, 0.7)) for d in (original, restored))
    assert np.array_equal(first, second)
    assert original.state() == restored.state() and original.duals() == restored.duals()


@pytest.mark.parametrize("kind", DRIVERS)
def test_a_stored_state_does_not_change_with_its_driver(kind):
    driver = DRIVERS[kind]()
    weights_of(driver, MINI_BATCHES[:20])
    state = driver.state()
    stored = json.dumps(state)
    weights_of(driver, MINI_BATCHES[20:])
    assert json.dumps(state) == stored


@pytest.mark.parametrize("kind", DRIVERS)
def test_everything_a_driver_says_is_plain_floats(kind):
    driver = DRIVERS[kind]()
    weights_of(driver, MINI_BATCHES)
    assert all(type(value) is float for value in (*driver.weights(), *driver.duals().values()))


@pytest.mark.parametrize("kind", [lambda p: DUPLE("accuracy", p), lambda p: DENIM("kld", p), lambda p: DAME("f1", p)])
def test_a_prior_in_float32_as_tensors_have_it_is_taken_as_a_number(kind):
    weights = []
    for prior in (0.25, np.float32(0.25)):
        driver = kind(prior)
        driver.refresh(both(0.4, 0.6))
        weights.append(driver.weights())
    assert weights[0] == weights[1]
    assert all(type(value) is float for value in weights[1])


# -- Without Aesara --------------------------------------------------------------------------------------------------

WITHOUT_AESARA = """
import sys
from aesara_nondecomp.training import recipes
from aesara_nondecomp.drivers import DAME, DENIM, DUPLE
from aesara_nondecomp.metrics.class_rates import class_sums
driver = DENIM("qmeasure", 0.3)
driver.refresh(class_sums([0.5, -0.2], [1, -1]))
driver.observe(class_sums([0.5, -0.2], [1, -1]))
recipes.recipe_for("min", recipes.Problem(0.3, 0.01))
assert sum(driver.weights()) > 0
assert not [name for name in sys.modules if name.split(".")[0] == "aesara"]
"""


def test_drivers_and_recipes_work_without_aesara_being_imported():
    done = subprocess.run([sys.executable, "-c", WITHOUT_AESARA], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_round_whose_end_nobody_asked_for_is_over_all_the_same():
    driver = DAME("f1", P, inner_steps=2)
    sums = class_sums([1.0, -1.0, 2.0, -2.0], [1, -1, 1, -1])
    driver.observe(sums)
    assert driver.needs_refresh()  # not one has begun
    driver.refresh(sums)
    assert not driver.needs_refresh()
    for _ in range(5):
        driver.observe(sums)
    assert driver.needs_refresh()
