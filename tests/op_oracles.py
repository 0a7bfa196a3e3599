"""Ops run by their C code, by the library of compiled Ops and by NumPy, and what the tests hold them against."""

from __future__ import annotations

import numpy as np
import pytest

from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.ops import library

DTYPES = ("float32", "float64")
TOLERANCE = {"float32": 1e-6, "float64": 1e-12}
IN_C = aesara.compile.mode.Mode(linker="cvm", optimizer=None)
WITHOUT_COMPILER = aesara.compile.mode.Mode(linker="vm", optimizer=None)


def symbolic_like(*arrays):
    return [at.TensorType(str(a.dtype), shape=(None,) * a.ndim)() for a in arrays]


def by_c(build, *arrays):
    """Values of the outputs that `build` makes of symbolic inputs, every node of the graph running its C code.

    The library of compiled Ops must give the same values, and raise the same errors.
    """
    inputs = symbolic_like(*arrays)
    outputs = build(*inputs)
    function = aesara.function(inputs, outputs, mode=IN_C, on_unused_input="ignore")
    assert all(hasattr(thunk, "cthunk") for thunk in function.vm.thunks)
    with aesara.config.change_flags(cxx=""):
        without_compiler = aesara.function(inputs, outputs, mode=WITHOUT_COMPILER, on_unused_input="ignore")
    try:
        values = function(*arrays)
    except Exception as error:
        with pytest.raises(type(error)):
            without_compiler(*arrays)
        raise
    pairs = [values, without_compiler(*arrays)]
    assert_same(*(pair if isinstance(pair, list) else [pair] for pair in pairs), narrowest(arrays))
    return values


def narrowest(arrays):
    """The float type that bounds the precision of what is computed from some arrays."""
    return "float32" if any(array.dtype == "float32" for array in arrays) else "float64"


def by_library(op, *arrays):
    """Outputs of one Op by its function in the library of compiled Ops."""
    node = op.make_node(*symbolic_like(*arrays))
    storage = [[None] for _ in node.outputs]
    library.bind(op, node)([[array] for array in arrays], storage)
    return [cell[0] for cell in storage]


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
        scale = max(1.0, float(np.max(np.abs(other), initial=0.0, where=np.isfinite(other))))
        np.testing.assert_allclose(one, other, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype] * scale)


def layer_values(dtype: str, rows: int = 7):
    """x (rows, 5), W (5, 4) and b (4,) of a dense layer."""
    rng = np.random.default_rng(11)
    x, W, b = rng.normal(size=(rows, 5)), rng.normal(size=(5, 4)), rng.normal(size=4)
    return x.astype(dtype), W.astype(dtype), b.astype(dtype)
