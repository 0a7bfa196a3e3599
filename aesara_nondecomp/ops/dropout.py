"""Dropout as a fused Op: without a compiler, Aesara would multiply three arrays and convert a mask entry by entry."""

from __future__ import annotations

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, DisconnectedType, at
from aesara_nondecomp.ops.fused import FusedOp


class Dropout(FusedOp):
    """x * kept * scale, entry by entry, of which kept is 0 or 1; its gradient in x is the same of another x.

    Notes
    -----
    Inputs: x (b, h) of float32 or float64, kept (b, h) int64, scale () float64. Output (b, h).
    """

    __props__ = ()
    header, function = "dropout.h", "drop_units<number>"
    connected = ((True,), (False,), (False,))

    def make_node(self, x, kept, scale):
        x, kept, scale = (at.as_tensor_variable(v) for v in (x, kept, scale))
        types = [v.dtype for v in (kept, scale)]
        if [v.ndim for v in (x, kept, scale)] != [2, 2, 0] or types != ["int64", "float64"]:
            raise TypeError(
                "dropout needs a layer (b, h), an int64 mask (b, h) and a float64 scale, got "
                + ", ".join(f"{v.ndim} dimensions of {v.dtype}" for v in (x, kept, scale))
            )
        return Apply(self, [x, kept, scale], [x.type()])

    def grad(self, inputs, output_gradients):
        x, kept, scale = inputs
        return [self(output_gradients[0].astype(x.dtype), kept, scale), DisconnectedType()(), DisconnectedType()()]

    def perform(self, node, inputs, outputs):
        x, kept, scale = inputs
        if x.shape != kept.shape:
            raise ValueError(f"dropout needs one entry of the mask for each unit of each row, got {kept.shape}")
        outputs[0][0] = x * kept.astype(x.dtype) * scale.astype(x.dtype)


_OP = Dropout()


def dropout(layer, streams, rate: float):
    """Drop units of a layer at random, and scale up what is left.

    Parameters
    ----------
    layer : symbolic matrix, shape (b, h)
        Of float32 or float64.
    streams : aesara.tensor.random.utils.RandomStream
        Draws the mask.
    rate : float
        Share of the units that are dropped, in [0, 1).

    Returns
    -------
    symbolic matrix, shape (b, h)
        Differentiable in `layer`.
    """
    kept = streams.bernoulli(1 - rate, size=layer.shape)
    return _OP(layer, kept, np.asarray(1 / (1 - rate)))
