"""Drivers of cells of K classes: against those of two classes, and by hand."""

import json

import numpy as np
import pytest

from aesara_nondecomp import drivers, measures
from aesara_nondecomp.drivers.duals import Multipliers
from aesara_nondecomp.drivers.multiclass import CellWeighted, Constrained, FixedGains, OfClasses, WorstGroup
from aesara_nondecomp.drivers.multiclass.cells import held_rates
from aesara_nondecomp.measures import Constraint, at_least, gap, multiclass, share
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
    almost = 30.0 - 1e-9  # as weights may sum to 30
    held, running = np.array([[almost, 0], [29.0, 0]]), np.array([[0.5, 0.5], [0.25, 0.75]])
    np.testing.assert_allclose(held_rates(held, running), [[1, 0], [0.25, 0.75]])
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


# -- constraints -----------------------------------------------------------------------------------------------------

BOUNDS = [at_least("recall", 0.6, label="1"), gap("selection", 0.05, label="0"), at_least("accuracy", 0.7)]


def test_of_two_classes_the_multipliers_move_as_those_of_two_rates():
    cell, cells = cells_of(2)
    asked = [at_least("precision", 0.6), gap("tpr", 0.02), share(at_most=0.3)]
    of_classes = [Constraint(each.rate, each.bound, each.kind, "1") for each in asked]
    two = drivers.Constrained(drivers.CrossEntropy(cells.priors[1]), asked, measures.Cells.of(cell, GROUPS))
    several = Constrained(FixedGains(cells, "cross_entropy"), of_classes, cells)
    for _ in range(6):
        held = np.array(RNG.integers(20, 60, (6, 2)), float)
        right = held[np.arange(6), cells.target]
        several.move(held)
        two.move(CellSums(right, right, right, held.sum(axis=1)))
        np.testing.assert_allclose(list(several.duals().values()), list(two.duals().values()))
        G = several.gains().gains
        np.testing.assert_allclose(
            (G[np.arange(6), cells.target] - G[np.arange(6), 1 - cells.target]), two.cell_weights()[:, 0], atol=1e-12
        )


def test_multipliers_add_the_slopes_of_what_is_broken_to_the_gains():
    cell, cells = cells_of(3)
    driver = Constrained(FixedGains(cells, "cross_entropy"), BOUNDS, cells, dual_rate=2.0)
    held = np.full((9, 3), 20.0)  # each class is predicted alike, whatever the rows are
    driver.move(held)
    duals = driver.duals()
    assert duals["lambda[recall(1) >= 0.6]"] == pytest.approx(2 * (0.6 - 1 / 3))
    assert duals["lambda[selection(0) gap <= 0.05]"] == 0.0
    assert duals["lambda[accuracy >= 0.7]"] == pytest.approx(2 * (0.7 - 1 / 3))
    within = np.where(cells.target == 1, cells.shares / cells.priors[1], 0.0)[:, None] * (np.arange(3) == 1)
    expected = duals["lambda[recall(1) >= 0.6]"] * within
    expected += duals["lambda[accuracy >= 0.7]"] * cells.shares[:, None] * cells.own
    np.testing.assert_allclose(driver.gains().gains, expected, atol=1e-14)


def test_a_constraint_that_holds_leaves_the_gains_as_they_are():
    cell = RNG.integers(0, 3, N)
    cells = GroupedCells.of(cell, (), tuple(range(3)))
    inner = drivers.multiclass.DUPLE("min_recall", cells)
    driver = Constrained(inner, [at_least("recall", 0.1, label=0)], cells)
    alone = drivers.multiclass.DUPLE("min_recall", Cells(cells.priors))
    for _ in range(4):
        sums = batch(cell, cells)
        for each in (driver, alone):
            if each.needs_refresh():
                each.refresh(sums)
            each.observe(sums)
        driver.move(np.full((3, 3), 20.0))
        for found, expected in zip(driver.gains(), alone.gains()):
            np.testing.assert_array_equal(found, expected)


def test_the_gains_of_several_labels_are_the_sum_of_those_of_each():
    cell, cells = cells_of(3)
    held = np.array(RNG.integers(20, 60, (9, 3)), float)
    inner = FixedGains(cells, "cross_entropy")
    whole, parts = Multipliers(BOUNDS, cells, 1.0, 20.0), [Multipliers([each], cells, 1.0, 20.0) for each in BOUNDS]
    for each in (whole, *parts):
        each.move(held / held.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(whole.slopes(), sum(each.slopes() for each in parts), atol=1e-14)
    assert whole.duals() == {name: value for each in parts for name, value in each.duals().items()}
    with pytest.raises(ValueError, match="at least one constraint"):
        Constrained(inner, [], cells)


def test_a_restored_driver_under_constraints_goes_on_as_before():
    cell, cells = cells_of(3)
    driver, other = (Constrained(WorstGroup("worst_cell", cells), BOUNDS, cells) for _ in range(2))
    driver.observe(batch(cell, cells))
    driver.move()
    other.restore(json.loads(json.dumps(driver.state())))
    for each in (driver, other):
        each.move(np.full((9, 3), 15.0))
    assert driver.duals() == other.duals()
    np.testing.assert_array_equal(driver.gains().gains, other.gains().gains)
