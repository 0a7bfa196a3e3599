"""What a driver of K classes does beside a step: the plain formulas, on sums of its own, in few calls."""

import copy
import sys

import numpy as np
import pytest

from aesara_nondecomp.drivers.multiclass import DAME, DENIM, DUPLE
from aesara_nondecomp.measures.multiclass import Cells
from aesara_nondecomp.metrics import ConfusionSums
from aesara_nondecomp.networks import mlp
from aesara_nondecomp.step.class_functions import ClassFunctions

SEVEN = Cells(np.array([0.3, 0.25, 0.15, 0.1, 0.1, 0.06, 0.04]))
GROUPS = Cells([0.4, 0.2, 0.3, 0.1], [0, 0, 1, 1])
EPS = 0.001


def batches(cells, n=8):
    """Confusion sums of random batches; each third one lacks the first cell."""
    rng = np.random.default_rng(0)
    for k in range(n):
        weight = rng.integers(1, 9, cells.n_cells).astype(float)
        weight[0] *= k % 3 != 2
        soft, hard = (rng.dirichlet(np.ones(cells.n_classes), cells.n_cells) * weight[:, None] for _ in range(2))
        yield ConfusionSums(np.column_stack([soft, hard, -weight, weight]))


def take(driver, sums):
    (driver.refresh if driver.needs_refresh() else driver.observe)(sums)


DRIVERS = {
    "min_recall": lambda cells: DUPLE("min_recall", cells),
    "qmean": lambda cells: DUPLE("qmean", cells),
    "gmean": lambda cells: DUPLE("gmean", cells),
    "hmean": lambda cells: DUPLE("hmean", cells),
    "kld": lambda cells: DUPLE("kld", cells, eps=EPS),
    "kappa": lambda cells: DAME("kappa", cells),
    "qwk": lambda cells: DAME("qwk", cells),
    "macro_f1": lambda cells: DAME("macro_f1", cells),
    "bakld": lambda cells: DENIM("bakld", cells, eps=EPS),
}


@pytest.mark.parametrize("cells", [SEVEN, GROUPS], ids=["classes", "groups"])
@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize("name", ["qmean", "hmean", "gmean", "kld", "ae", "emd", "macro_mae", "bakld"])
def test_the_duals_are_the_measures_gains_at_rates_that_are_summed_one_by_one(name, counts, cells):
    driver = DUPLE(name, cells, counts=counts, forgetting=0.7, eps=EPS)
    counted, weights = np.zeros((cells.n_cells, cells.n_classes)), np.zeros(cells.n_cells)
    for sums in batches(cells):
        take(driver, sums)
        for c in range(cells.n_cells):
            if sums.weight[c] > 0:
                counted[c] = 0.7 * counted[c] + (sums.hard if counts else sums.soft)[c]
                weights[c] = 0.7 * weights[c] + sums.weight[c]
        R = counted / weights[:, None]
        np.testing.assert_allclose(driver.rates.rates(), R, rtol=1e-13)
        np.testing.assert_allclose(driver.dual_gains(), driver.measure.gains(R, cells, EPS), rtol=1e-10)


@pytest.mark.parametrize("name", DRIVERS)
def test_a_driver_keeps_no_array_of_the_sums_that_it_is_given_and_changes_none(name):
    driver = DRIVERS[name](SEVEN)
    for sums in batches(SEVEN):
        before = sums.table.copy()
        take(driver, sums)
        np.testing.assert_array_equal(sums.table, before)
        state = copy.deepcopy(driver.state())
        sums.table[...] = np.nan  # as a caller might who fills one buffer again and again
        assert driver.state() == state


@pytest.mark.parametrize("name", DRIVERS)
def test_the_copy_of_a_driver_goes_its_own_way(name):
    driver, *sums = DRIVERS[name](SEVEN), *batches(SEVEN)
    for each in sums[:4]:
        take(driver, each)
    twin, state = copy.deepcopy(driver), copy.deepcopy(driver.state())
    twin.observe(sums[4])
    assert driver.state() == state
    driver.observe(sums[4])
    assert driver.state() == twin.state()


def test_sums_whose_squares_overflow_are_finite_sums():
    driver = DUPLE("qmean", SEVEN)
    large = next(batches(SEVEN)).table * 1e200
    driver.refresh(ConfusionSums(large))
    np.testing.assert_allclose(driver.rates.rates(), large[:, 7:14] / large[:, -1:])
    large[2, 3] = -np.inf
    with pytest.raises(ValueError, match="must be finite"):
        driver.observe(ConfusionSums(large))


def calls_of(run):
    """How many functions a call of `run` calls, in Python and in C."""
    count, before = [0], sys.getprofile()

    def note(frame, event, argument):
        count[0] += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count[0]


@pytest.fixture(scope="module")
def functions():
    return ClassFunctions(mlp(3, (), n_scores=7, seed=0), SEVEN)


@pytest.mark.parametrize("name", ["min_recall", "qmean", "gmean", "hmean", "kld", "kappa", "qwk", "macro_f1"])
def test_beside_a_step_a_driver_calls_few_functions(name, functions):
    """Each call takes up to two microseconds of a step of 300: the checks of public calls would take a third of it."""
    driver, all_sums = DRIVERS[name](SEVEN), list(batches(SEVEN))
    for sums in all_sums[:4]:
        take(driver, sums)

    def part():
        functions.steer(driver.gains(), 0.01)
        driver.observe(all_sums[4])

    assert calls_of(part) <= 55
