"""Updates of the rows that a batch looked up: C against NumPy, and both against the update of the whole table."""

from __future__ import annotations

import numpy as np
import pytest
from op_oracles import IN_C, by_perform

from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.ops.optimisers import SGD, Adam
from aesara_nondecomp.ops.row_update import RowUpdate, caught_up
from aesara_nondecomp.ops.update import FusedUpdate

V, WIDTH = 7, 3


class Moved:
    """A table under `RowUpdate` (in C or NumPy) or `FusedUpdate`, given the ids and gradients of a batch."""

    def __init__(self, rule, averaging, kind):
        self.table = np.random.default_rng(0).normal(size=(V, WIDTH))
        self.average, self.touched = self.table.copy(), np.zeros(V)
        self.slots, self.t = [np.zeros((V, WIDTH)) for _ in rule.slots], 0
        self.rule, self.averaging, self.kind, self.norm = rule, averaging, kind, None
        self.in_c = _row_function(rule) if kind == "c" else None

    def step(self, ids, gradients):
        scalars = [np.asarray(v, "float64") for v in (0.1, self.averaging, self.t)]
        moved = [self.table, self.average, self.touched, *self.slots]
        if self.kind == "dense":
            dense = np.zeros((V, WIDTH))
            np.add.at(dense, ids.T.ravel(), gradients)
            dense[0] = 0
            given = (*scalars, np.zeros(1), self.table, dense, *self.slots, self.average)
            *_, self.norm = by_perform(FusedUpdate(self.rule, 0), *given)
        elif self.kind == "numpy":
            *_, self.norm = by_perform(RowUpdate(self.rule, 0), *scalars, np.zeros(1), ids, gradients, *moved)
        else:
            *new, self.norm = self.in_c(*scalars, np.zeros(1), ids, gradients, *moved)
            for old, value in zip(moved, new):
                old[...] = value
        self.t += 1

    def averages(self):
        return (
            self.average
            if self.kind == "dense"
            else caught_up(self.average, self.table, self.touched, self.t, self.averaging)
        )


def _row_function(rule):
    scalars, matrices = [at.dscalar() for _ in range(3)], [at.dmatrix() for _ in range(2 + len(rule.slots))]
    decay, ids, gradients, touched = at.dvector(), at.matrix(dtype="int32"), at.dmatrix(), at.dvector()
    inputs = [*scalars, decay, ids, gradients, *matrices[:2], touched, *matrices[2:]]
    mutable = [aesara.In(v, mutable=True) if v in (*matrices, touched) else v for v in inputs]
    return aesara.function(mutable, RowUpdate(rule, 0)(*inputs), mode=IN_C, accept_inplace=True)


def batches(steps, seed=1, every_row=False):
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        ids = rng.integers(0, V, size=(2, 3)).astype("int32")
        ids = np.array([[1, 2, 3], [4, 5, 6]], "int32") if every_row else ids
        yield ids, rng.normal(size=(6, WIDTH))


@pytest.mark.parametrize("averaging", [0.0, 0.9])
@pytest.mark.parametrize("kind", ["numpy", "c"])
def test_without_memory_a_row_update_and_its_lazy_average_are_those_of_the_whole_table(kind, averaging):
    rows, whole = Moved(SGD(), averaging, kind), Moved(SGD(), averaging, "dense")
    for ids, gradients in batches(12):
        for each in (rows, whole):
            each.step(ids, gradients)
        np.testing.assert_allclose(rows.table, whole.table, rtol=1e-12)
        np.testing.assert_allclose(rows.averages(), whole.averages(), rtol=1e-10)
        assert float(rows.norm) == pytest.approx(float(whole.norm), rel=1e-12)


def test_adam_on_rows_is_adam_on_the_table_where_every_step_looks_up_every_row():
    rows, whole = Moved(Adam(), 0.9, "c"), Moved(Adam(), 0.9, "dense")
    for ids, gradients in batches(5, every_row=True):
        for each in (rows, whole):
            each.step(ids, gradients)
    np.testing.assert_allclose(rows.table, whole.table, rtol=1e-12)
    np.testing.assert_allclose(rows.averages(), whole.averages(), rtol=1e-12)


def test_rows_not_looked_up_and_padding_stay_as_they_are_moments_included():
    for kind in ("numpy", "c"):
        moved = Moved(Adam(), 0.9, kind)
        before = moved.table.copy()
        moved.step(np.array([[2, 0], [2, 0]], dtype="int32"), np.ones((4, WIDTH)))
        others = [0, 1, 3, 4, 5, 6]
        np.testing.assert_array_equal(moved.table[others], before[others])
        assert all((slot[others] == 0).all() and (slot[2] != 0).all() for slot in moved.slots)
        assert float(moved.norm) == pytest.approx(2 * np.sqrt(WIDTH))


def test_adam_on_rows_in_c_is_the_numpy_oracle():
    in_c, oracle = Moved(Adam(), 0.9, "c"), Moved(Adam(), 0.9, "numpy")
    for ids, gradients in batches(8):
        for each in (in_c, oracle):
            each.step(ids, gradients)
    for one, other in zip((in_c.table, in_c.average, *in_c.slots), (oracle.table, oracle.average, *oracle.slots)):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
