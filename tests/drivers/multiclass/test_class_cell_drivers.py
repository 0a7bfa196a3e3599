"""Drivers of cells of K classes: against those of two classes, and by hand."""

import json

import numpy as np
import pytest

from aesara_nondecomp import drivers, measures
from aesara_nondecomp.drivers.multiclass import CellWeighted, FixedGains, OfClasses, WorstGroup
from aesara_nondecomp.drivers.multiclass.cells import held_rates
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.measures.groups import cell_of_classes
from aesara_nondecomp.measures.multiclass import Cells, GroupedCells
from aesara_nondecomp.metrics.cell_rates import CellSums, cell_sums
from aesara_nondecomp.metrics.confusion_sums import ConfusionSums, confusion_sums

RNG = np.random.default_rng(1)
N, GROUPS = 400, ("f", "m")
CODES = RNG.choice([-1, 0, 1], N, p=[0.1, 0.4, 0.5])
NAMES = ("worst_cell", "worst_group_balanced", "worst_group_accuracy")


def cells_of(K, codes=CODES):
    y = RNG.integers(0, K, N)
    cell = cell_of_classes(y, codes, 2, K)
    return cell, GroupedCells.of(cell, GROUPS, tuple(range(K)))


def batch(cell, cells):
    rows = RNG.integers(0, N, 60)
    return confusion_sums(RNG.normal(size=(60, cells.n_classes)), cell[rows], cells.target)


@pytest.mark.parametrize("signal", ["count", "logistic"])
@pytest.mark.parametrize("name", NAMES)
def test_of_two_classes_the_worst_group_moves_as_that_of_two_rates(name, signal):
    cell, cells = cells_of(2)
    several = WorstGroup(name, cells, signal=signal)
    two = drivers.WorstGroup(measures.get(name), measures.Cells.of(cell, GROUPS), signal=signal)
    for step in range(6):
        rows = RNG.integers(0, N, 80)
        scores = RNG.normal(size=80)
        held = None if step % 2 else np.array(RNG.integers(10, 60, (6, 2)), float)
        several.observe(confusion_sums(np.column_stack([0 * scores, scores]), cell[rows], cells.target))
        two.observe_cells(cell_sums(scores, np.where(cell[rows] % 2, 1.0, -1.0), cell[rows], 6))
        several.move(held)
        right = None if held is None else held[np.arange(6), cells.target]
        two.move(None if held is None else CellSums(right, right, right, held.sum(axis=1)))
        G, logs, shift = several.gains()
        np.testing.assert_allclose(logs, two.cell_weights()[:, 1], rtol=1e-12)
        assert not G.any() and not shift.any()
        np.testing.assert_allclose(list(several.duals().values()), list(two.duals().values()))


def test_the_worst_cell_gets_most_weight_and_rows_without_a_group_none():
    cell, cells = cells_of(3)
    driver = WorstGroup("worst_cell", cells, dual_rate=1.0)
    held = np.full((9, 3), 10.0)
    held[np.arange(9), cells.target] = [80, 80, 80, 80, 20, 80, 1, 1, 1]
    driver.move(held)
    assert max(driver.duals(), key=driver.duals().get) == "alpha[1 of m]"
    assert driver.gains().logs[6:].tolist() == [0, 0, 0] and driver.gains().logs.sum() == pytest.approx(1)


def test_duals_move_by_held_out_rows_where_a_cell_has_thirty():
    held, running = np.array([[30.0, 0], [29.0, 0]]), np.array([[0.5, 0.5], [0.25, 0.75]])
    np.testing.assert_array_equal(held_rates(held, running), [[1, 0], [0.25, 0.75]])
    assert held_rates(None, running) is running


def test_rewards_of_the_worst_group_put_the_same_weight_on_the_rows():
    """Cross-entropy on shifted scores has at small weights the slope of class weights: alpha over the class's share."""
    cell, cells = cells_of(3)
    logistic, adjusted = (WorstGroup("worst_cell", cells, reward=reward) for reward in ("logistic", "adjusted"))
    held = np.array(RNG.integers(30, 60, (9, 3)), float)
    for driver in (logistic, adjusted):
        driver.move(held)
    worth = adjusted.gains().logs * np.exp(-adjusted.gains().shift)[cells.target]
    np.testing.assert_allclose(worth / worth.sum(), logistic.gains().logs, rtol=1e-9)
    probability = WorstGroup("worst_cell", cells, reward="probability").gains()
    assert probability.gains.sum() == pytest.approx(0.5) and probability.logs.sum() == pytest.approx(0.5)


def test_cell_weights_are_equal_for_all_cells_that_have_rows():
    cell, cells = cells_of(3, np.where(CODES < 0, 0, CODES))
    assert CellWeighted(cells).gains().logs.tolist() == [1 / 6] * 6 + [0] * 3


@pytest.mark.parametrize("kind", ["cross_entropy", "class_weighted", "logit_adjusted"])
def test_a_driver_of_classes_weights_the_rows_alike_on_their_cells(kind):
    cell, cells = cells_of(3)
    classes = Cells(cells.priors)
    plain, divided = FixedGains(classes, kind).gains(), OfClasses(FixedGains(classes, kind), cells).gains()
    np.testing.assert_allclose(divided.logs / cells.shares, (plain.logs / classes.shares)[cells.target])
    np.testing.assert_array_equal(divided.shift, plain.shift)
    np.testing.assert_allclose(divided.logs, FixedGains(cells, kind).gains().logs)


def test_a_driver_of_classes_sees_the_sums_of_the_classes():
    cell, cells = cells_of(3)
    inner = drivers.multiclass.DUPLE("qmean", Cells(cells.priors))
    seen, alone = OfClasses(inner, cells), drivers.multiclass.DUPLE("qmean", Cells(cells.priors))
    for driver in (seen, alone):
        assert driver.needs_refresh()
    sums = batch(cell, cells)
    pooled = ConfusionSums(sums.table.reshape(3, 3, -1).sum(axis=0))
    seen.refresh(sums), alone.refresh(pooled)
    seen.observe(sums), alone.observe(pooled)
    np.testing.assert_allclose(seen.duals()["alpha"], alone.duals()["alpha"])
    assert not seen.needs_refresh()
    with pytest.raises(ValueError, match="must be the 3 classes, got 9"):
        OfClasses(FixedGains(cells, "cross_entropy"), cells)


def test_a_restored_driver_goes_on_as_before():
    cell, cells = cells_of(3)
    for signal in ("count", "logistic"):
        driver, other = (WorstGroup("worst_group_balanced", cells, signal=signal) for _ in range(2))
        driver.observe(batch(cell, cells))
        driver.move()
        other.restore(json.loads(json.dumps(driver.state())))
        sums = batch(cell, cells)
        for each in (driver, other):
            each.observe(sums)
            each.move()
        assert driver.duals() == other.duals() and len(set(driver.duals().values())) == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda cells: WorstGroup("min_recall", cells), "'worst_group' cannot train for min_recall"),
        (lambda cells: WorstGroup("worst_cell", Cells([0.5, 0.5])), "worst_cell needs the groups"),
        (lambda cells: WorstGroup("worst_cell", cells, signal="soft"), "signal"),
        (lambda cells: WorstGroup("worst_cell", cells, signal="logistic", reward="adjusted"), "does not shift"),
        (lambda cells: drivers.multiclass.DUPLE("worst_cell", cells), "Use 'worst_group' or 'group_dro'"),
        (lambda cells: WorstGroup("worst_cell", GroupedCells.of([0, 1, 2, 3, 4], GROUPS, "abc")), "must have rows"),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make(cells_of(3)[1])
    assert multiclass.get("worst_cell").drivers() == ("worst_group", "group_dro")
