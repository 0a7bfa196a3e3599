"""Cell sums against the class sums of the rows of each cell, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

from aesara_nondecomp.metrics.cell_rates import cell_sums
from aesara_nondecomp.metrics.class_rates import class_sums

RNG = np.random.default_rng(12)
SCORES = 2 * RNG.normal(size=40)
SIGNED = np.where(RNG.random(40) < 0.4, 1.0, -1.0) * RNG.uniform(0.5, 2.0, 40)
SIGNED[-3:] = 0.0
CELL = 2 * RNG.integers(0, 3, 40) + (SIGNED > 0)


@pytest.mark.parametrize("temperature", [1.0, 0.25])
def test_the_sums_of_a_cell_are_the_class_sums_of_its_rows(temperature):
    of_cells = np.stack(cell_sums(SCORES, SIGNED, CELL, 6, temperature))
    for c in range(6):
        sums = class_sums(SCORES[CELL == c], SIGNED[CELL == c], temperature)
        np.testing.assert_allclose(of_cells[:, c], sums[1 - c % 2 :: 2], rtol=1e-13)


def test_cell_sums_refuse_what_is_no_cell():
    with pytest.raises(ValueError, match=r"0 \.\. 3"):
        cell_sums([0.1, 0.2], [1, -1], [0, 4], 4)
    with pytest.raises(ValueError, match="one shape"):
        cell_sums([0.1, 0.2], [1, -1], [0], 4)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_scores_and_labels_that_are_not_finite_are_refused(value):
    broken = SCORES.copy()
    broken[7] = value
    with pytest.raises(ValueError, match=f"scores must be finite, got {value} in row 7"):
        cell_sums(broken, SIGNED, CELL, 6)
    with pytest.raises(ValueError, match=f"labels must be finite, got {value} in row 7"):
        cell_sums(SCORES, broken, CELL, 6)


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan])
def test_a_temperature_that_is_not_positive_is_refused(temperature):
    with pytest.raises(ValueError, match="temperature must be a positive"):
        cell_sums(SCORES, SIGNED, CELL, 6, temperature)
