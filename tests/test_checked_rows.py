"""Rows that are checked while they are scored: what is not finite is found, and what is computed stays the same."""

from __future__ import annotations

import numpy as np
import pytest
from test_dense import layer_values
from test_ops import DTYPES, IN_C, by_c, by_perform

from aesara_nondecomp._aesara import aesara, at
from aesara_nondecomp.ops import checked, dense
from aesara_nondecomp.ops.dense import CheckedDense
from aesara_nondecomp.ops.finite import AllFinite
from aesara_nondecomp.ops.scaling import Standardise


def two_layers(x, W, b):
    return dense(dense(x, W, b, "tanh"), W.T, at.zeros_like(W[:, 0]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_one_entry_that_is_not_finite_is_found_wherever_it_is(dtype, strange):
    X = np.full((5000, 41), np.finfo(dtype).max, dtype)  # rows enough for several threads
    X[0, 0] = 5e-324  # a denormal number, or 0
    W, b = np.zeros((41, 64), dtype), np.zeros(64, dtype)
    numbers = np.zeros(41), np.ones(41), np.asarray(10.0)
    finders = {
        "alone": lambda x: AllFinite()(x),
        "by a layer": lambda x: CheckedDense("relu")(x, W, b)[1],
        "by standardising": lambda x: Standardise()(x, *numbers)[1],
    }
    x = at.TensorType(dtype, shape=(None, None))()
    find = aesara.function([x], [build(x) for build in finders.values()], mode=IN_C)
    for whole in (X, X[:0], X[:, ::-1], np.asfortranarray(X)):
        assert find(whole) == [True] * 3
    for place in [(0, 0), (2499, 40), (2500, 0), (4999, 40)]:
        broken = X.copy()
        broken[place] = strange
        assert find(broken) == find(np.asfortranarray(broken)) == [False] * 3
        assert not by_perform(AllFinite(), broken)[0] and not by_perform(CheckedDense("relu"), broken, W, b)[1]
        assert not by_perform(Standardise(), broken, *numbers)[1]


def test_a_checked_output_is_the_output():
    x, W, b = layer_values("float32")
    plain, both = (by_c(build, x, W, b) for build in (two_layers, lambda *v: checked(two_layers(*v), v[0])))
    np.testing.assert_array_equal(both[0], plain)
    assert both[1]


def test_rows_that_no_layer_takes_and_token_ids_are_checked_too():
    rows, ids = at.dmatrix(), at.imatrix()
    (output, of_rows), (_, of_ids) = checked(rows + 1, rows), checked(ids, ids)
    assert of_rows.owner.op == AllFinite() and of_ids.data
    assert output.owner.inputs[0] is rows
    with pytest.raises(TypeError, match="float32 or float64 are needed, got 2 dimensions of int32"):
        AllFinite()(ids)
