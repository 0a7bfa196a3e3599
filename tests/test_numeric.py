"""Sigmoid, softplus and log-odds against their formulas, and where the formulas overflow."""

import math

import numpy as np
import pytest

from aesara_nondecomp._numeric import decay, log_odds, plain, sigmoid, softplus

MODERATE = np.linspace(-20, 20, 81)


def test_the_functions_of_arrays_are_their_formulas():
    np.testing.assert_allclose(sigmoid(MODERATE), 1 / (1 + np.exp(-MODERATE)), rtol=1e-14)
    np.testing.assert_allclose(softplus(MODERATE), np.log(1 + np.exp(MODERATE)), rtol=1e-7)
    small = decay(MODERATE)
    np.testing.assert_array_equal(sigmoid(MODERATE, small), sigmoid(MODERATE))
    np.testing.assert_array_equal(softplus(MODERATE, small), softplus(MODERATE))


@pytest.mark.parametrize("x", [-1e4, -800.0, -3.0, -0.0, 0.0, 1e-300, 3.0, 800.0, math.inf, -math.inf])
def test_the_sigmoid_of_a_float_is_a_float_and_that_of_an_array(x):
    assert type(sigmoid(x)) is float
    assert sigmoid(x) == pytest.approx(sigmoid(np.array([x]))[0], rel=1e-15)


def test_large_arguments_overflow_nowhere():
    with np.errstate(all="raise", under="ignore"):
        assert sigmoid(np.array([-1e4, 1e4])).tolist() == [0.0, 1.0]
        assert softplus(np.array([-1e4, 1e4])).tolist() == [0.0, 1e4]


@pytest.mark.parametrize("share", [1e-9, 0.2, 0.5, 0.999])
def test_log_odds_are_undone_by_the_sigmoid(share):
    assert sigmoid(log_odds(share)) == pytest.approx(share, rel=1e-12)


def test_log_odds_are_bounded():
    assert log_odds(0.0) == -log_odds(1.0) == pytest.approx(-52 * math.log(2))


def test_a_single_number_is_a_float_and_several_are_an_array():
    assert type(plain(np.array(3))) is float and plain([1, 2]).tolist() == [1.0, 2.0]
