"""Columns centred and scaled: by slices as by the formula, far from zero, and without a trace in the caller's rows."""

import warnings

import numpy as np
import pytest
import scipy.sparse

from aesara_nondecomp.data import Standardiser, scaling

RNG = np.random.default_rng(5)


def test_standardised_training_columns_have_mean_0_and_spread_1_also_far_from_zero():
    X = (1e4 + np.random.default_rng(0).random((500, 3))).astype(np.float32)
    scaled = Standardiser.fit(X).transform(X)
    assert scaled.dtype == np.float32
    np.testing.assert_allclose(scaled.mean(axis=0, dtype=float), 0.0, atol=1e-6)
    np.testing.assert_allclose(scaled.std(axis=0, dtype=float), 1.0, atol=1e-5)


def test_outliers_beyond_float32_are_clipped_without_a_warning():
    clipping = Standardiser(np.zeros(1), np.full(1, 1e-30))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert clipping.transform(np.array([[1e20], [-1e20]], dtype=np.float32)).ravel().tolist() == [10.0, -10.0]


def test_constant_columns_are_not_moved_and_outliers_are_clipped():
    X = np.array([[0.1, 0.0], [0.1, 1.0], [0.1, 2.0]], dtype=np.float32)
    scaler = Standardiser.fit(X, clip=3.0)
    assert scaler.mean_[0] == 0.0 and scaler.scale_[0] == 1.0
    far = scaler.transform(np.array([[0.1, 1e6], [0.1, -1e6]], dtype=np.float32))
    np.testing.assert_array_equal(far, np.array([[0.1, 3.0], [0.1, -3.0]], dtype=np.float32))


@pytest.mark.parametrize(
    "act, message",
    [
        (lambda: Standardiser.fit(scipy.sparse.eye(3, format="csr")), "dense"),
        (lambda: Standardiser.fit(np.ones(3)), "two-dimensional"),
        (lambda: Standardiser.fit(np.eye(3), clip=0.0), "clip must be positive"),
        (lambda: Standardiser.fit(np.eye(3)).transform(np.eye(2)), "the 3 columns seen in training, got 2"),
    ],
)
def test_standardising_unusable_input_is_refused(act, message):
    with pytest.raises(ValueError, match=message):
        act()


def test_standardising_leaves_the_callers_rows_alone():
    X = RNG.normal(size=(50, 3))
    before = X.copy()
    scaled = Standardiser.fit(X).transform(X)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
@pytest.mark.parametrize("clip", [0.1, 10.0, np.inf])
def test_standardising_by_slices_is_the_formula_in_float64_to_the_last_bit(monkeypatch, dtype, clip):
    X = (1000 + 300 * RNG.normal(size=(23, 3))).astype(dtype)
    fitted = Standardiser.fit(X, clip=clip)
    expected = np.clip((X.astype("float64") - fitted.mean_) / fitted.scale_, -clip, clip)
    expected = expected.astype("float64" if dtype == "float64" else "float32")
    for entries in (1, 15, 2**15):
        monkeypatch.setattr(scaling, "_CACHED_ENTRIES", entries)
        np.testing.assert_array_equal(fitted.transform(X), expected)
