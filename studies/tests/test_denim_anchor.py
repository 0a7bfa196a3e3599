"""The half-way anchor lies between cross-entropy and equal weights."""

import numpy as np
import pytest

from studies.denim_anchor import halfway


def test_the_halfway_anchor_has_half_the_log_odds_of_the_prior():
    weight = halfway(0.9)
    assert np.log(weight / (1 - weight)) == pytest.approx(np.log(0.9 / 0.1) / 2)
