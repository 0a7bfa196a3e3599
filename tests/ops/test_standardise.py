"""Standardising rows: C, NumPy and `data.Standardiser` give the same bits, in every combination of types."""

from __future__ import annotations

import numpy as np
import pytest
from op_oracles import DTYPES, by_c, by_perform

from aesara_nondecomp import data
from aesara_nondecomp._aesara.imports import at
from aesara_nondecomp.ops import standardise
from aesara_nondecomp.ops.scaling import Standardise

RNG = np.random.default_rng(3)


def rows_with_extremes(dtype):
    X = (1e4 + 300 * RNG.normal(size=(203, 7))).astype(dtype)
    X[:3] = [[np.finfo(dtype).max], [-np.finfo(dtype).max], [0]]
    return X


def inputs(X, scaling):
    return X, scaling.mean_, scaling.scale_, np.asarray(scaling.clip)


@pytest.mark.parametrize("result", DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("clip", [0.5, 10.0, np.inf])
def test_the_division_is_in_float64_then_rounded_then_clipped(clip, dtype, result):
    X = rows_with_extremes(dtype)
    scaling = data.Standardiser.fit(X[3:], clip=clip)
    with np.errstate(over="ignore"):
        ratio = ((X.astype("float64") - scaling.mean_) / scaling.scale_).astype(result)
    found, finite = by_c(lambda *v: standardise(*v, dtype=result), *inputs(X, scaling))
    assert found.dtype == result and finite
    np.testing.assert_array_equal(found, np.clip(ratio, -clip, clip))
    np.testing.assert_array_equal(found, by_perform(Standardise(result), *inputs(X, scaling))[0])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("clip", [0.5, 10.0, np.inf])
def test_rows_are_standardised_as_in_training_to_the_last_bit(dtype, clip):
    X = rows_with_extremes(dtype)
    scaling = data.Standardiser.fit(X[3:], clip=clip)
    found, _ = by_c(standardise, *inputs(X, scaling))
    np.testing.assert_array_equal(found, scaling.transform(X))


def test_wide_rows_far_from_zero_keep_the_digits_that_differ():
    small = RNG.normal(size=(500, 3))
    X = 1e9 + small
    given = inputs(X, data.Standardiser(np.full(3, 1e9), np.ones(3)))
    found, _ = by_c(lambda *v: standardise(*v, dtype="float32"), *given)
    np.testing.assert_allclose(found, small, atol=1e-6)
    rounded, _ = by_c(standardise, X.astype("float32"), *given[1:])
    assert np.abs(rounded - small).max() > 1  # in float32 the rows themselves have lost these digits


def test_rows_that_are_finite_are_called_so_even_where_the_result_cannot_hold_them():
    given = np.array([[1e300, -1e300]]), np.zeros(2), np.ones(2), np.asarray(np.inf)
    for found, finite in (by_c(lambda *v: standardise(*v, dtype="float32"), *given),
                          by_perform(Standardise("float32"), *given)):  # fmt: skip
        np.testing.assert_array_equal(found, [[np.inf, -np.inf]])
        assert finite


def test_standardising_refuses_other_columns_and_types():
    with pytest.raises(ValueError, match="a mean and a scale for each column"):
        by_c(standardise, np.zeros((3, 2)), np.zeros(3), np.ones(3), np.asarray(1.0))
    with pytest.raises(TypeError, match="float64 means"):
        standardise(at.fmatrix(), at.fvector(), at.fvector(), at.fscalar())
    with pytest.raises(TypeError, match="rows of float32 or float64, got int32"):
        standardise(at.imatrix(), at.dvector(), at.dvector(), at.dscalar())
    with pytest.raises(ValueError, match="dtype must be 'float32' or 'float64', got 'float16'"):
        standardise(at.fmatrix(), at.dvector(), at.dvector(), at.dscalar(), dtype="float16")
