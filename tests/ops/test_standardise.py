"""Standardising rows: C, NumPy and `data.Standardiser` give the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from op_oracles import DTYPES, by_c, by_perform

from aesara_nondecomp import data
from aesara_nondecomp._aesara.imports import at
from aesara_nondecomp.ops.scaling import Standardise


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("clip", [0.5, 10.0, np.inf])
def test_rows_are_standardised_as_in_training_to_the_last_bit(dtype, clip):
    rng = np.random.default_rng(3)
    X = (1e4 + 300 * rng.normal(size=(203, 7))).astype(dtype)
    X[:3] = [[np.finfo(dtype).max], [-np.finfo(dtype).max], [0]]
    scaling = data.Standardiser.fit(X[3:], clip=clip)
    given = (X, scaling.mean_, scaling.scale_, np.asarray(scaling.clip))
    found, _ = by_c(Standardise(), *given)
    np.testing.assert_array_equal(found, scaling.transform(X))
    np.testing.assert_array_equal(found, by_perform(Standardise(), *given)[0])


def test_standardising_refuses_other_columns_and_types():
    with pytest.raises(ValueError, match="a mean and a scale for each column"):
        by_c(Standardise(), np.zeros((3, 2)), np.zeros(3), np.ones(3), np.asarray(1.0))
    with pytest.raises(TypeError, match="float64 means"):
        Standardise()(at.fmatrix(), at.fvector(), at.fvector(), at.fscalar())
