"""Constraints on rates of several classes: brute force over rows, differences, and those of two classes."""

import numpy as np
import pytest

from aesara_nondecomp import measures
from aesara_nondecomp.measures import Constraint, at_least, at_most, gap, share
from aesara_nondecomp.measures.constraints import parse_constraint
from aesara_nondecomp.measures.groups import cell_of_classes
from aesara_nondecomp.measures.multiclass import GroupedCells

RNG = np.random.default_rng(0)
N, K, GROUPS, LABELS = 800, 3, ("f", "m"), ("common", "fair", "rare")
Y, Z = RNG.choice(K, N, p=[0.6, 0.3, 0.1]), RNG.choice(K, N, p=[0.4, 0.4, 0.2])
CODES = RNG.choice([-1, 0, 1], N, p=[0.1, 0.3, 0.6])
WEIGHT = RNG.uniform(0.5, 2.0, N)
CELL = cell_of_classes(Y, CODES, 2, K)
CELLS = GroupedCells.of(CELL, GROUPS, LABELS, WEIGHT)
RATES = ("tpr", "fnr", "tnr", "fpr", "recall", "selection", "precision", "npv", "f1")
BETWEEN_GROUPS = ("tpr", "fnr", "tnr", "fpr", "recall", "selection")


def conditional(predicted=Z):
    C = np.zeros((CELLS.n_cells, K))
    np.add.at(C, (CELL, predicted), WEIGHT)
    return C / C.sum(axis=1, keepdims=True)


def by_hand(rate, k, rows=slice(None), predicted=Z):
    """From the rows, with their weights; k is None for the accuracy."""
    y, z, w = Y[rows], predicted[rows], WEIGHT[rows]
    if k is None:
        return np.average(y == z, weights=w)
    mean = lambda what, among: np.average(what[among], weights=w[among])  # noqa: E731 -- five uses below
    own, chosen = y == k, z == k
    precision, recall = mean(own, chosen), mean(chosen, own)
    return {
        "tpr": recall,
        "recall": recall,
        "fnr": 1 - recall,
        "fpr": mean(chosen, ~own),
        "tnr": 1 - mean(chosen, ~own),
        "selection": np.average(chosen, weights=w),
        "precision": precision,
        "npv": mean(~own, ~chosen),
        "f1": 2 * precision * recall / (precision + recall),
    }[rate]


@pytest.mark.parametrize("rate", RATES)
def test_a_rate_of_a_class_is_counted_against_all_others(rate):
    for k, label in enumerate(LABELS):
        found = at_least(rate, 0.5, label=label).value(conditional(), CELLS)
        assert found == pytest.approx(by_hand(rate, k), abs=1e-12)


def test_the_accuracy_is_of_all_classes():
    assert at_least("accuracy", 0.5).value(conditional(), CELLS) == pytest.approx(by_hand("accuracy", None))
    in_groups = [by_hand("accuracy", None, CODES == g) for g in (0, 1)]
    assert gap("accuracy", 0.1).value(conditional(), CELLS) == pytest.approx(abs(in_groups[0] - in_groups[1]))


@pytest.mark.parametrize("rate", BETWEEN_GROUPS)
def test_a_gap_is_between_the_groups(rate):
    for k, label in enumerate(LABELS):
        f, m = (by_hand(rate, k, CODES == g) for g in (0, 1))
        assert gap(rate, 0.1, label=label).value(conditional(), CELLS) == pytest.approx(abs(f - m), abs=1e-12)


def every_constraint():
    for label in LABELS:
        yield from (kind(rate, 0.3, label=label) for rate in RATES for kind in (at_least, at_most))
        yield from (gap(rate, 0.05, label=label) for rate in BETWEEN_GROUPS)
    yield from (at_least("accuracy", 0.7), at_most("accuracy", 0.2), gap("accuracy", 0.05))


@pytest.mark.parametrize("constraint", list(every_constraint()), ids=str)
def test_inequalities_hold_where_the_bound_does_and_their_slopes_are_differences(constraint):
    view = CELLS.against_rest(constraint)
    B, b = constraint.inequalities(view.cells)

    def slack(R):
        return B @ view.recalls(R) + b

    for _ in range(30):
        R = RNG.dirichlet(RNG.choice([0.3, 1.0, 5.0], K), CELLS.n_cells)
        holds = constraint.excess(constraint.value(R, CELLS)) <= 1e-12
        assert (slack(R).min() >= -1e-12) == holds
    for row in range(len(b)):
        G = view.spread(B[row])
        D = RNG.normal(size=R.shape)
        D -= D.mean(axis=1, keepdims=True)
        difference = (slack(R + 1e-4 * D) - slack(R - 1e-4 * D))[row] / 2e-4
        assert np.vdot(G, D) == pytest.approx(difference, abs=1e-9)


@pytest.mark.parametrize("rate", RATES)
def test_with_two_classes_it_is_the_constraint_of_two_rates(rate):
    y, z = Y > 0, Z > 0
    cell = cell_of_classes(y, CODES, 2, 2)
    several = GroupedCells.of(cell, GROUPS, ("no", "yes"), WEIGHT)
    two = measures.Cells.of(cell, GROUPS, WEIGHT)
    R = np.zeros((6, 2))
    np.add.at(R, (cell, z.astype(int)), WEIGHT)
    R /= R.sum(axis=1, keepdims=True)
    recalls = several.recalls(R)
    kinds = [at_least(rate, 0.4, label="yes"), at_most(rate, 0.3, label="yes")]
    kinds += [gap(rate, 0.1, label="yes")] if rate in BETWEEN_GROUPS else []
    for constraint in kinds:
        plain = constraint.of_two_classes
        assert constraint.value(R, several) == pytest.approx(plain.value(recalls, two), abs=1e-14)
        assert constraint.standard_error(R, several) == pytest.approx(plain.standard_error(recalls, two), abs=1e-14)
        view = several.against_rest(constraint)
        for found, expected in zip(constraint.inequalities(view.cells), plain.inequalities(two)):
            np.testing.assert_allclose(found, expected, atol=1e-14)


def test_the_standard_error_is_the_spread_over_drawn_rows():
    rows, true = np.array([400, 300, 100]), np.array([[0.8, 0.15, 0.05], [0.2, 0.7, 0.1], [0.3, 0.2, 0.5]])
    cells = GroupedCells.of(np.repeat(np.arange(3), rows), (), LABELS)
    drawn = np.stack([RNG.multinomial(n, p, 4000) / n for n, p in zip(rows, true)], axis=1)
    for rate in ("recall", "precision", "selection", "f1"):
        constraint = at_least(rate, 0.5, label="rare")
        values = [constraint.value(R, cells) for R in drawn]
        assert constraint.standard_error(true, cells) == pytest.approx(np.std(values), rel=0.08)


@pytest.mark.parametrize(
    ("constraint", "text"),
    [
        (at_least("recall", 0.5, label="rare"), "recall(rare) >= 0.5"),
        (gap("selection", 0.02, label=3), "selection(3) gap <= 0.02"),
        (share("a (b)", at_most=0.1), "selection(a (b)) <= 0.1"),
        (at_most("fpr", 0.2, label=np.float64(2.0)), "fpr(2) <= 0.2"),
    ],
)
def test_a_constraint_is_read_as_it_is_written(constraint, text):
    assert str(constraint) == text and parse_constraint(text) == constraint
    assert Constraint(**constraint.as_dict()) == constraint


def test_classes_are_named_by_their_text():
    numbered = GroupedCells.of(Y, (), (1, 2, 3))
    assert [numbered.place(label) for label in (1, "2", np.int64(3))] == [0, 1, 2]
    assert at_least("recall", 0.5, label=2) == at_least("recall", 0.5, label="2")


@pytest.mark.parametrize("kind", [float, np.float32, np.int64, str])
def test_a_class_is_named_as_it_is_stored_and_as_a_whole_number(kind):
    cells = GroupedCells.of(np.arange(6) % 3, ("a",), [kind(label) for label in (0, 1, 2)])
    for label in (kind(2), 2, np.float64(2.0), str(kind(2))):
        assert cells.place(at_least("recall", 0.5, label=label).label) == 2
    assert cells.names[:3] == ["0 of a", "1 of a", "2 of a"]
    with pytest.raises(ValueError, match=r"label must be one of the classes 0, 1, 2, got '2.5'"):
        cells.place(at_least("recall", 0.5, label=2.5).label)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: at_least("recall", 0.5).value(conditional(), CELLS), "recall >= 0.5 needs label=, one of .*common"),
        (lambda: at_least("recall", 0.5, label="odd").value(conditional(), CELLS), "one of the classes common, fair"),
        (lambda: at_least("accuracy", 0.5, label="rare"), "accuracy is of all classes"),
        (lambda: gap("precision", 0.1, label="rare"), "not linear in the recalls"),
        (
            lambda: at_least("recall", 0.5, label="rare").value(np.ones(2), measures.Cells.of(np.arange(2), ())),
            r"two classes here: recall\(rare\) >= 0.5 must be given without label=",
        ),
    ],
)
def test_wrong_labels_are_refused(use, message):
    with pytest.raises(ValueError, match=message):
        use()
