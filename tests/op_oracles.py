"""Ops run by their C code and by NumPy, and what the tests of several Ops hold them against."""

from __future__ import annotations

import numpy as np

from aesara_nondecomp._aesara.imports import aesara, at

DTYPES = ("float32", "float64")
TOLERANCE = {"float32": 1e-6, "float64": 1e-12}
IN_C = aesara.compile.mode.Mode(linker="cvm", optimizer=None)


def symbolic_like(*arrays):
    return [at.TensorType(str(a.dtype), shape=(None,) * a.ndim)() for a in arrays]


def by_c(build, *arrays):
    """Values of the outputs that `build` makes of symbolic inputs, every node of the graph running its C code."""
    inputs = symbolic_like(*arrays)
    function = aesara.function(inputs, build(*inputs), mode=IN_C, on_unused_input="ignore")
    assert all(hasattr(thunk, "cthunk") for thunk in function.vm.thunks)
    return function(*arrays)


def by_perform(op, *arrays):
    """Outputs of one Op by its NumPy implementation."""
    node = op.make_node(*symbolic_like(*arrays))
    storage = [[None] for _ in node.outputs]
    op.perform(node, arrays, storage)
    return [cell[0] for cell in storage]


def central_differences(function, x, step=1e-6):
    """Derivatives of a scalar function in every entry of the float64 array `x`."""
    slopes = np.zeros_like(x)
    for index in np.ndindex(*x.shape):
        moved = [x.copy(), x.copy()]
        moved[0][index] += step
        moved[1][index] -= step
        slopes[index] = (function(moved[0]) - function(moved[1])) / (2 * step)
    return slopes


def assert_same(found, expected, dtype):
    """Entries agree relative to the largest one, and types and shapes are the same."""
    for one, other in zip(found, expected):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        scale = max(1.0, float(np.max(np.abs(other), initial=0.0)))
        np.testing.assert_allclose(one, other, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype] * scale)


def layer_values(dtype: str, rows: int = 7):
    """x (rows, 5), W (5, 4) and b (4,) of a dense layer."""
    rng = np.random.default_rng(11)
    x, W, b = rng.normal(size=(rows, 5)), rng.normal(size=(5, 4)), rng.normal(size=4)
    return x.astype(dtype), W.astype(dtype), b.astype(dtype)
