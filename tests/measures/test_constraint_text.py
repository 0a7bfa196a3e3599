"""Constraints as text: what `str` writes is read back, and anything else is refused with an example."""

import numpy as np
import pytest

from aesara_nondecomp.measures import Constraint, at_least, at_most, gap, share
from aesara_nondecomp.measures.constraints import RATES, check_constraints, parse_constraint

BOUNDS = [0, 1, 0.02, 0.9, 1 / 3, 1e-9, np.float32(0.1), 0.123456789]


@pytest.mark.parametrize("bound", BOUNDS)
def test_the_text_of_a_constraint_is_read_as_the_constraint(bound):
    for rate in RATES:
        made = [at_least(rate, bound), at_most(rate, bound)]
        made += [gap(rate, bound)] if rate not in ("precision", "npv", "f1") else []
        assert [parse_constraint(str(each)) for each in made] == made


@pytest.mark.parametrize(
    "text, expected",
    [
        ("tpr gap <= 0.02", gap("tpr", at_most=0.02)),
        ("  tpr  gap<=.02 ", gap("tpr", at_most=0.02)),
        ("precision>=0.9", at_least("precision", 0.9)),
        ("selection <= 2e-1", share(at_most=0.2)),
    ],
)
def test_spaces_and_spellings_of_the_bound_are_free(text, expected):
    assert parse_constraint(text) == expected


@pytest.mark.parametrize(
    "text, reason",
    [
        ("tpr gap", "must be written as 'tpr gap <= 0.02' or 'precision >= 0.9', got 'tpr gap'"),
        ("tpr gp <= 0.02", "must be written as"),
        ("tpr gap < 0.02", "must be written as"),
        ("tpr gap <= two", "must be written as"),
        ("", "must be written as"),
        (5, "must be written as"),
        ("tpr gap >= 0.02", "a gap between groups has an upper bound"),
        ("tprr gap <= 0.02", "unknown rate 'tprr'. Did you mean 'tpr'"),
        ("precision >= 1.5", r"the bound on precision must lie in \[0, 1\], got 1.5"),
        ("precision >= nan", "the bound on precision must lie in"),
        ("precision gap <= 0.1", "its gap is not linear"),
    ],
)
def test_a_text_that_is_no_constraint_is_refused_with_the_reason(text, reason):
    with pytest.raises(ValueError, match=reason):
        parse_constraint(text)


@pytest.mark.parametrize("given", ["tpr gap <= 0.02", 0.02, [gap("tpr", 0.1), "f1"], {gap("tpr", 0.1): 1}])
def test_an_argument_that_is_no_constraint_is_refused(given):
    with pytest.raises(ValueError, match="asked must be Constraints, such as gap"):
        check_constraints("asked", given)


def test_none_is_no_constraints():
    assert check_constraints("asked", None) == ()


def test_one_constraint_needs_no_list():
    assert check_constraints("asked", gap("tpr", 0.1)) == (Constraint("tpr", 0.1, "gap"),)
