"""Constraints: their values against counts of rows, their inequalities against their values."""

import itertools

import numpy as np
import pytest
from test_groups import CELLS, CODES, PREDICTED, SIGNS, recalls

from aesara_nondecomp import measures
from aesara_nondecomp.measures import Cells, Constraint, at_least, at_most, gap, share
from aesara_nondecomp.measures.constraints import RATES

TRUE, GUESS = SIGNS > 0, PREDICTED > 0
BY_COUNTS = {
    "tpr": lambda t, g: np.mean(g[t]),
    "recall": lambda t, g: np.mean(g[t]),
    "fnr": lambda t, g: np.mean(~g[t]),
    "tnr": lambda t, g: np.mean(~g[~t]),
    "fpr": lambda t, g: np.mean(g[~t]),
    "selection": lambda t, g: np.mean(g),
    "accuracy": lambda t, g: np.mean(g == t),
    "precision": lambda t, g: np.mean(t[g]),
    "npv": lambda t, g: np.mean(~t[~g]),
    "f1": lambda t, g: 2 * np.sum(t & g) / (np.sum(t) + np.sum(g)),
}
GAPS = [rate for rate in RATES if rate not in ("precision", "npv", "f1")]


def test_every_rate_has_an_expected_value():
    assert BY_COUNTS.keys() == RATES.keys()


@pytest.mark.parametrize("rate", RATES)
def test_a_rate_of_all_rows_is_that_of_their_counts(rate):
    value = at_least(rate, 0.5).value(recalls(), CELLS)
    assert value == pytest.approx(BY_COUNTS[rate](TRUE, GUESS), abs=1e-14)


@pytest.mark.parametrize("constraint", [*map(lambda r: at_least(r, 0.5), RATES), *map(lambda r: gap(r, 0.1), GAPS)])
def test_rates_of_counts_are_those_of_recalls(constraint):
    right = recalls() * CELLS.rows
    of_counts = constraint.rates_of_counts(right, CELLS.rows - right, CELLS)
    assert of_counts == pytest.approx(constraint.rates(recalls(), CELLS), abs=1e-14)


@pytest.mark.parametrize("rate", GAPS)
def test_a_gap_is_the_largest_difference_between_two_groups(rate):
    of_groups = [BY_COUNTS[rate](TRUE[CODES == g], GUESS[CODES == g]) for g in range(3)]
    expected = max(abs(a - b) for a, b in itertools.combinations(of_groups, 2))
    assert gap(rate, at_most=0.1).value(recalls(), CELLS) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize(
    "constraint", [*map(lambda r: at_least(r, 0.6), RATES), *map(lambda r: at_most(r, 0.4), RATES)]
)
def test_the_inequality_holds_exactly_where_the_bound_is_met(constraint):
    B, b = constraint.inequalities(CELLS)
    for drawn in np.random.default_rng(1).random((200, 8)):
        met = constraint.excess(constraint.value(drawn, CELLS)) == 0
        assert bool(np.all(B @ drawn + b >= 0)) == bool(met), drawn


@pytest.mark.parametrize("rate", GAPS)
def test_the_inequalities_of_a_gap_hold_exactly_where_it_is_small_enough(rate):
    constraint = gap(rate, at_most=0.2)
    B, b = constraint.inequalities(CELLS)
    assert len(b) == 6
    for drawn in np.random.default_rng(1).random((200, 8)):
        slack = np.min(B @ drawn + b)
        assert slack == pytest.approx(0.2 - constraint.value(drawn, CELLS), abs=1e-12)


def test_a_precision_of_no_predictions_breaks_a_lower_bound_and_no_upper_one():
    nothing = np.where(CELLS.positive, 0.0, 1.0)
    for constraint, excess in ((at_least("precision", 0.9), 0.9), (at_most("precision", 0.9), 0.0)):
        value = constraint.value(nothing, CELLS)
        assert np.isnan(value) and constraint.excess(value) == excess


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gap("precision", at_most=0.1), "not linear"),
        (lambda: gap("tprr", at_most=0.1), "tpr"),
        (lambda: gap("tpr", at_most=1.2), r"\[0, 1\]"),
        (lambda: at_least("precision", float("nan")), r"\[0, 1\]"),
        (lambda: share(), "one of at_least and at_most"),
        (lambda: share(at_least=0.1, at_most=0.2), "one of at_least and at_most"),
        (lambda: Constraint("tpr", 0.5, "about"), "at_least"),
    ],
)
def test_an_impossible_constraint_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_gap_needs_two_groups():
    with pytest.raises(ValueError, match="two groups"):
        gap("tpr", at_most=0.1).inequalities(Cells.of(np.array([0, 1, 1]), ["all"]))


def test_the_text_of_a_constraint_says_what_it_asks():
    texts = [str(c) for c in (gap("tpr", at_most=0.02), at_least("precision", 0.9), share(at_most=0.1))]
    assert texts == ["tpr gap <= 0.02", "precision >= 0.9", "selection <= 0.1"]
    assert measures.gap is gap


@pytest.mark.parametrize("rate", RATES)
def test_the_standard_error_of_a_rate_is_the_spread_of_it_over_drawn_rows(rate):
    rng, constraint = np.random.default_rng(2), at_least(rate, 0.5)
    rows = np.array([900, 400, 600, 300, 500, 200, 300, 100])
    cells = Cells(("a", "b", "c"), rows, rows / rows.sum())
    recalls_ = np.array([0.9, 0.6, 0.8, 0.7, 0.9, 0.5, 0.7, 0.8])
    drawn = rng.binomial(rows, recalls_, size=(4000, 8)) / rows
    spread = np.std(constraint.value(drawn, cells))
    assert constraint.standard_error(recalls_, cells) == pytest.approx(spread, rel=0.08)


def test_a_perfect_rate_of_few_rows_has_an_error_all_the_same():
    cells = Cells((), np.array([20, 5]), np.array([0.8, 0.2]))
    assert at_least("precision", 0.9).standard_error(np.array([1.0, 1.0]), cells) > 0.05
