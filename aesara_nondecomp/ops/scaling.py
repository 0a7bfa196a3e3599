"""Standardising rows as one Op, for models that score rows as they come."""

from __future__ import annotations

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, at
from aesara_nondecomp._checks import require
from aesara_nondecomp.ops.blas import BlasOp
from aesara_nondecomp.ops.fused import c_number

_FLOATS = ("float32", "float64")


class Standardise(BlasOp):
    """Rows standardised and clipped, and whether the rows are finite.

    As `data.Standardiser`, to the last bit: subtraction and division in float64, whatever the rows are, so that a
    column far from 0 keeps the digits that differ; then rounded to the type of the result, then clipped.

    Parameters
    ----------
    dtype : {"float32", "float64"}, optional
        Of the result; by default that of the rows.

    Notes
    -----
    Inputs: rows (b, d) of float32 or float64; means (d,), scales (d,) and clip (), of float64. Outputs: (b, d), and a
    boolean () about the rows, not about the result.
    """

    __props__ = ("dtype",)
    header, function = "scaling.h", "standardise_rows<number, result>"

    def __init__(self, dtype: str | None = None):
        require(dtype is None or dtype in _FLOATS, "dtype must be 'float32' or 'float64'", dtype)
        self.dtype = dtype

    def make_node(self, x, mean, scale, clip):
        x, *numbers = (at.as_tensor_variable(v) for v in (x, mean, scale, clip))
        if [v.ndim for v in (x, *numbers)] != [2, 1, 1, 0] or {v.dtype for v in numbers} != {"float64"}:
            raise TypeError("standardising needs rows (b, d), and float64 means (d,), scales (d,) and clip ()")
        if x.dtype not in _FLOATS:
            raise TypeError(f"standardising needs rows of float32 or float64, got {x.dtype}")
        out = at.TensorType(self.dtype or x.dtype, shape=x.type.shape)()
        return Apply(self, [x, *numbers], [out, at.TensorType("bool", shape=())()])

    def perform(self, node, inputs, outputs):
        x, mean, scale, clip = inputs
        dtype = np.dtype(self.dtype or x.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            ratio = ((x - mean) / scale).astype(dtype)
        outputs[0][0] = np.clip(ratio, -clip.astype(dtype), clip.astype(dtype))
        outputs[1][0] = np.asarray(np.isfinite(x).all())

    def c_types(self, node) -> dict[str, str]:
        return {"number": c_number(node.inputs[0].dtype), "result": c_number(node.outputs[0].dtype)}


def standardise(rows, mean, scale, clip, dtype: str | None = None):
    """Standardise and clip rows: (rows - mean) / scale, computed in float64.

    Parameters
    ----------
    rows : symbolic matrix, shape (b, d)
        Of float32 or float64.
    mean : symbolic float64 vector, shape (d,)
        Subtracted from each row.
    scale : symbolic float64 vector, shape (d,)
        Divides each column.
    clip : symbolic float64 scalar
        The result is clipped to [-clip, clip].
    dtype : {"float32", "float64"}, optional
        Of the result; by default that of the rows.

    Returns
    -------
    standardised : symbolic matrix, shape (b, d)
        Equal to the last bit to those of `data.Standardiser` in this type.
    finite : symbolic boolean
        Whether all entries of `rows` are finite, shape ().

    Raises
    ------
    TypeError
        If dimensions or types differ from these.
    ValueError
        If `dtype` is another; at run time, if there is not one mean and one scale for each column.
    """
    return Standardise(dtype)(rows, mean, scale, clip)
