"""Embedding look-ups: C against NumPy, and their gradient."""

from __future__ import annotations

import numpy as np
import pytest
from op_oracles import by_c, by_perform

from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.ops.embedding import Rows, lookup


def test_a_lookup_gathers_rows_in_time_major_order_and_its_gradient_adds_up_duplicates():
    table = np.random.default_rng(0).normal(size=(5, 2))
    ids = np.array([[1, 4, 4], [2, 1, 0]], dtype="int32")
    weights = np.random.default_rng(1).normal(size=(6, 2))

    def build(table, ids):
        rows = lookup(table, ids).rows
        return [rows, aesara.grad((weights * rows).sum(), table)]

    symbols = [at.matrix(dtype="float64"), at.matrix(dtype="int32")]
    rows, slope = aesara.function(symbols, build(*symbols))(table, ids)
    np.testing.assert_array_equal(rows, by_perform(Rows(), table, ids)[0])
    np.testing.assert_array_equal(rows[1 * 2 + 0], table[ids[0, 1]])
    expected = np.zeros_like(table)
    np.add.at(expected, ids.T.ravel(), weights)
    np.testing.assert_allclose(slope, expected, rtol=1e-14)


@pytest.mark.parametrize("ids", [[[1, 5]], [[-1, 0]]])
def test_an_id_beyond_the_table_is_refused(ids):
    table, ids = np.zeros((5, 2)), np.array(ids, dtype="int32")
    with pytest.raises(IndexError, match="row indices of the embedding table"):
        by_c(Rows(), table, ids)
    with pytest.raises(IndexError, match="row indices of the embedding table"):
        by_perform(Rows(), table, ids)
