"""Standardising rows as one Op, for models that score rows as they come."""

from __future__ import annotations

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, at
from aesara_nondecomp.ops.blas import BlasOp


class Standardise(BlasOp):
    """Rows standardised and clipped, and whether the rows are finite.

    As `data.Standardiser`, to the last bit: subtraction and division in float64, then rounded to the type of the rows,
    then clipped.

    Notes
    -----
    Inputs: rows (b, d); means (d,), scales (d,) and clip (), of float64. Outputs: (b, d), and a boolean () about the
    rows, not about the result.
    """

    __props__ = ()
    header, function = "scaling.h", "standardise_rows<number, number>"

    def make_node(self, x, mean, scale, clip):
        x, *numbers = (at.as_tensor_variable(v) for v in (x, mean, scale, clip))
        if [v.ndim for v in (x, *numbers)] != [2, 1, 1, 0] or {v.dtype for v in numbers} != {"float64"}:
            raise TypeError("standardising needs rows (b, d), and float64 means (d,), scales (d,) and clip ()")
        return Apply(self, [x, *numbers], [x.type(), at.TensorType("bool", shape=())()])

    def perform(self, node, inputs, outputs):
        x, mean, scale, clip = inputs
        with np.errstate(over="ignore", invalid="ignore"):
            ratio = ((x - mean) / scale).astype(x.dtype)
        outputs[0][0] = np.clip(ratio, -clip.astype(x.dtype), clip.astype(x.dtype))
        outputs[1][0] = np.asarray(np.isfinite(x).all())


standardise = Standardise()
