"""Worst groups of K classes: brute force, differences, and the special cases that are other measures."""

import numpy as np
import pytest

from aesara_nondecomp import measures
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.measures.groups import cell_of_classes, cell_of_rows
from aesara_nondecomp.measures.multiclass import Cells, GroupedCells

RNG = np.random.default_rng(0)
N, K = 900, 3
LABELS, GROUPS = ("a", "b", "c"), ("f", "m")
Y, Z = RNG.choice(K, N, p=[0.6, 0.3, 0.1]), RNG.choice(K, N)
CODES = RNG.choice([-1, 0, 1], N, p=[0.1, 0.3, 0.6])
WEIGHT = RNG.uniform(0.5, 2.0, N)
CELL = cell_of_classes(Y, CODES, 2, K)
CELLS = GroupedCells.of(CELL, GROUPS, LABELS, WEIGHT)
NAMES = ("worst_cell", "worst_group_balanced", "worst_group_accuracy")


def conditional(predicted, cells, cell=CELL):
    R = np.zeros((cells.n_cells, cells.n_classes))
    np.add.at(R, (cell, predicted), WEIGHT)
    rows = R.sum(axis=1, keepdims=True)
    return np.where(rows > 0, R / np.maximum(rows, 1e-300), cells.own)


def by_hand(name, predicted):
    """From the rows of each group, with their weights."""
    found = []
    for group in (0, 1):
        rows = CODES == group
        recalls = [np.average(predicted[rows & (Y == k)] == k, weights=WEIGHT[rows & (Y == k)]) for k in range(K)]
        found += {
            "worst_cell": recalls,
            "worst_group_balanced": [np.mean(recalls)],
            "worst_group_accuracy": [np.average(predicted[rows] == Y[rows], weights=WEIGHT[rows])],
        }[name]
    return min(found)


@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_the_rows_of_each_group(name):
    measure = multiclass.get(name)
    for predicted in (Z, np.where(RNG.random(N) < 0.7, Y, Z)):
        assert measure.value(conditional(predicted, CELLS), CELLS) == pytest.approx(by_hand(name, predicted))


@pytest.mark.parametrize("name", NAMES)
def test_gains_are_central_differences(name):
    measure, R = multiclass.get(name), RNG.dirichlet(np.ones(K), CELLS.n_cells)
    G = measure.gains(R, CELLS)
    for _ in range(20):  # along directions that keep the rows' sums
        D = RNG.normal(size=R.shape)
        D -= D.mean(axis=1, keepdims=True)
        up, down = (measure.value(R + step * D, CELLS) for step in (1e-6, -1e-6))
        assert np.vdot(G, D) == pytest.approx((up - down) / 2e-6, abs=1e-6)


def test_gains_are_shared_where_groups_tie():
    G = multiclass.get("worst_cell").gains(CELLS.own, CELLS)
    np.testing.assert_allclose(G, CELLS.own * CELLS.in_group[:, None] / 6)


def test_with_one_group_they_are_the_measures_without_groups():
    cells = GroupedCells.of(cell_of_classes(Y, np.zeros(N, int), 1, K), ("all",), LABELS, WEIGHT)
    classes = Cells(cells.shares[:K])
    R = RNG.dirichlet(np.ones(K), 2 * K)
    for name, plain in zip(NAMES, ("min_recall", "mean_recall", "accuracy")):
        grouped, other = multiclass.get(name), multiclass.get(plain)
        assert grouped.value(R, cells) == pytest.approx(other.value(R[:K], classes), abs=1e-14)
        np.testing.assert_allclose(grouped.gains(R, cells)[:K], other.gains(R[:K], classes), atol=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_of_two_classes_they_are_those_of_two_rates(name):
    y = (Y > 0).astype(int)
    cell = cell_of_classes(y, CODES, 2, 2)
    np.testing.assert_array_equal(cell, cell_of_rows(np.where(y, 1, -1), CODES, 2))
    several, two = GroupedCells.of(cell, GROUPS, (0, 1), WEIGHT), measures.Cells.of(cell, GROUPS, WEIGHT)
    R = conditional((Z > 0).astype(int), several, cell)
    expected = measures.get(name).of_cells(several.recalls(R), two)
    assert multiclass.get(name).value(R, several) == expected
    np.testing.assert_array_equal(multiclass.get(name).forms(several), measures.get(name).forms(two))


def test_a_group_without_a_class_takes_no_part_where_it_is_needed():
    kept = ~((CODES == 0) & (Y == 2))
    cells = GroupedCells.of(CELL[kept], GROUPS, LABELS)
    assert multiclass.get("worst_group_balanced").form_names(cells) == ["m"]
    assert multiclass.get("worst_group_accuracy").form_names(cells) == ["f", "m"]
    assert multiclass.get("worst_cell").form_names(cells) == [f"{k} of {g}" for g in "fm" for k in "abc"][:2] + [
        f"{k} of m" for k in "abc"
    ]


def test_cells_have_names_and_those_without_a_group_may_be_empty():
    assert CELLS.names[:4] == ["a of f", "b of f", "c of f", "a of m"] and CELLS.names[-1] == "c without a group"
    assert CELLS.in_group.tolist() == [True] * 6 + [False] * 3
    assert GroupedCells.of(Y, (), LABELS).names == ["a", "b", "c"]


@pytest.mark.parametrize(
    "use",
    [
        lambda measure: measure.value(np.eye(3), [0.5, 0.3, 0.2]),
        lambda measure: measure.from_confusion(np.eye(3)),
        lambda measure: measure.gains(np.eye(3), [0.5, 0.3, 0.2]),
    ],
)
def test_without_groups_they_say_where_to_give_them(use):
    with pytest.raises(ValueError, match=r"worst_cell needs the groups of the rows: .*fit\(..., groups=\)"):
        use(multiclass.get("worst_cell"))


def test_no_group_with_rows_is_said():
    cells = GroupedCells.of(np.full(5, 3), ("f",), LABELS)
    with pytest.raises(ValueError, match=r"needs a group with rows of each class, got none: \['f'\]"):
        multiclass.get("worst_group_balanced").value(cells.own, cells)
