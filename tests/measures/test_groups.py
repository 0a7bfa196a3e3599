"""Measures of the worst group, by hand and by brute force over the rows."""

import numpy as np
import pytest

from aesara_nondecomp import measures
from aesara_nondecomp.measures import Cells
from aesara_nondecomp.measures.groups import cell_of_rows

RNG = np.random.default_rng(0)
N, GROUPS = 400, ("a", "b", "c")
CODES = RNG.integers(-1, 3, N)
SIGNS = np.where(RNG.random(N) < 0.3 + 0.1 * CODES, 1, -1)
PREDICTED = np.where(RNG.random(N) < 0.4, 1, -1)
CELL = cell_of_rows(SIGNS, CODES, len(GROUPS))
CELLS = Cells.of(CELL, GROUPS)


def recalls(predicted=PREDICTED, signs=SIGNS, cell=CELL, m=8):
    with np.errstate(invalid="ignore"):
        return np.bincount(cell, predicted == signs, m) / np.bincount(cell, minlength=m)


def of_rows(rows):
    """Accuracy on some rows."""
    return np.mean(PREDICTED[rows] == SIGNS[rows])


BY_HAND = {
    "worst_cell": min(of_rows((CODES == g) & (SIGNS == s)) for g in range(3) for s in (-1, 1)),
    "worst_group_accuracy": min(of_rows(CODES == g) for g in range(3)),
    "worst_group_balanced": min(np.mean([of_rows((CODES == g) & (SIGNS == s)) for s in (-1, 1)]) for g in range(3)),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_a_measure_of_the_worst_group_is_the_smallest_over_the_rows_of_each_group(name):
    assert measures.get(name).of_cells(recalls(), CELLS) == pytest.approx(BY_HAND[name], abs=1e-14)


@pytest.mark.parametrize("name", BY_HAND)
def test_the_forms_are_means_and_name_what_they_are_of(name):
    measure = measures.get(name)
    forms = measure.forms(CELLS)
    np.testing.assert_allclose(forms.sum(axis=1), 1)
    assert len(measure.form_names(CELLS)) == len(forms) and (forms[:, -2:] == 0).all()


@pytest.mark.parametrize(
    ("name", "of_two_rates"),
    [("worst_cell", "min"), ("worst_group_accuracy", "accuracy"), ("worst_group_balanced", "balanced_accuracy")],
)
def test_with_a_single_group_the_measure_is_that_of_the_classes(name, of_two_rates):
    cell = cell_of_rows(SIGNS, np.zeros(N, dtype=int), 1)
    found = recalls(cell=cell, m=4)
    value = measures.get(name).of_cells(found, Cells.of(cell, ["all"]))
    prior = np.mean(SIGNS > 0)
    assert value == pytest.approx(measures.get(of_two_rates).value(found[1], found[0], prior), abs=1e-14)


def test_class_rates_are_those_of_all_rows_with_and_without_groups():
    P, N_ = CELLS.class_rates(recalls())  # noqa: N806
    assert pytest.approx(np.mean(PREDICTED[SIGNS > 0] > 0)) == P
    assert pytest.approx(np.mean(PREDICTED[SIGNS < 0] < 0)) == N_


def test_another_prior_scales_the_shares_within_each_class():
    cells = Cells(("a",), np.array([6, 2, 1, 1]), np.array([0.6, 0.2, 0.1, 0.1])).at_prior(0.5)
    np.testing.assert_allclose(cells.shares, [0.3 / 0.7, 0.5 * 2 / 3, 0.5 / 7, 0.5 / 3])
    assert cells.prior == pytest.approx(0.5) and cells.rows.tolist() == [6, 2, 1, 1]


def test_groups_without_rows_of_a_class_do_not_take_part():
    few = (CODES != 2) | (SIGNS < 0)
    cells = Cells.of(CELL[few], GROUPS)
    assert len(measures.get("worst_cell").forms(cells)) == 5
    assert measures.get("worst_group_balanced").form_names(cells) == ["a", "b"]
    assert measures.get("worst_group_accuracy").form_names(cells) == ["a", "b", "c"]


@pytest.mark.parametrize("name", BY_HAND)
def test_a_measure_of_groups_has_no_value_on_two_rates(name):
    with pytest.raises(ValueError, match="give groups"):
        measures.get(name).value(0.5, 0.5, 0.3)
    with pytest.raises(ValueError, match="give groups"):
        measures.get(name).from_counts(1, 2, 3, 4)


def test_measures_for_groups_and_constraints_are_suggested_but_not_listed():
    assert not {*BY_HAND, "likelihood", "recall"} & {*measures.names()}
    with pytest.raises(ValueError, match="worst_cell"):
        measures.get("worst_cel")
