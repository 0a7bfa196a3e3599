"""Dropout: C and NumPy against the plain graph, its gradient, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from op_oracles import DTYPES, assert_same, by_c, by_perform

from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.ops.dropout import Dropout, dropout

SCALE = np.asarray(1 / 0.7)


def values(dtype):
    rng = np.random.default_rng(2)
    return rng.normal(size=(7, 5)).astype(dtype), rng.integers(0, 2, size=(7, 5))


@pytest.mark.parametrize("dtype", DTYPES)
def test_units_are_dropped_and_the_others_scaled_in_c_and_numpy(dtype):
    x, kept = values(dtype)
    expected = [x * kept.astype(dtype) * SCALE.astype(dtype)]
    assert_same([by_c(Dropout(), x, kept, SCALE)], expected, dtype)
    assert_same(by_perform(Dropout(), x, kept, SCALE), expected, dtype)
    assert_same([by_c(Dropout(), x[:, ::-1], kept[:, ::-1], SCALE)], [expected[0][:, ::-1]], dtype)


def test_the_gradient_is_dropped_and_scaled_alike():
    x, kept = values("float64")
    weights = np.arange(35.0).reshape(7, 5)

    def gradient(x, kept, scale):
        return aesara.grad((Dropout()(x, kept, scale) * weights).sum(), x)

    assert_same([by_c(gradient, x, kept, SCALE)], [weights * kept * SCALE], "float64")


def test_masks_follow_from_the_stream():
    x = np.ones((50, 40))
    masks = [dropout(at.as_tensor_variable(x), at.random.utils.RandomStream(5), 0.2).eval() for _ in range(2)]
    np.testing.assert_array_equal(*masks)
    assert set(np.unique(masks[0])) == {0.0, 1 / (1 - 0.2)}
    assert abs(np.mean(masks[0] == 0) - 0.2) < 0.04


def test_a_mask_of_another_shape_or_type_is_refused():
    x, kept = values("float64")
    for run in (by_c, by_perform):
        with pytest.raises(ValueError, match="one entry of the mask"):
            run(Dropout(), x, kept[:3], SCALE)
    with pytest.raises(TypeError, match="int64 mask"):
        Dropout()(x, x, SCALE)
