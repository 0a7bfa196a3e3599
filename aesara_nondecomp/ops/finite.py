"""Whether rows are finite, determined while they are scored: they are read from memory once, and still in the cache."""

from __future__ import annotations

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, aesara, at
from aesara_nondecomp.ops.dense import CheckedDense, Dense
from aesara_nondecomp.ops.fused import FusedOp, c_number


class AllFinite(FusedOp):
    """Whether all entries of a matrix are finite.

    Notes
    -----
    Input: x (b, d) of float32 or float64. Output: a boolean ().
    """

    __props__ = ()
    header, function = "finite.h", "check_rows<number>"

    def make_node(self, x):
        x = at.as_tensor_variable(x)
        if x.ndim != 2 or x.dtype not in ("float32", "float64"):
            raise TypeError(f"rows (b, d) of float32 or float64 are needed, got {x.ndim} dimensions of {x.dtype}")
        return Apply(self, [x], [at.TensorType("bool", shape=())()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = np.asarray(np.isfinite(inputs[0]).all())

    def c_types(self, node) -> dict[str, str]:
        return {"number": c_number(node.inputs[0].dtype)}


def checked(output, rows):
    """Add to an output whether the rows it is computed from are finite.

    The dense layer that takes the rows, if there is one, checks them on the way.

    Parameters
    ----------
    output : symbolic variable
        Computed from the rows.
    rows : symbolic array
        What to check. Token ids are always finite.

    Returns
    -------
    output : symbolic variable
        The same variable, or one of the same value.
    finite : symbolic boolean
        Of shape ().
    """
    if not rows.dtype.startswith("float"):
        return output, at.constant(True)
    if rows.ndim != 2 or rows.dtype not in ("float32", "float64"):  # rows of a network of the user's own
        return output, at.all(~(at.isnan(rows) | at.isinf(rows)))
    nodes = aesara.graph.basic.io_toposort([rows], [output])
    layers = [node for node in nodes if type(node.op) is Dense and node.inputs[0] is rows]
    if not layers:
        return output, AllFinite()(rows)
    layer, finite = CheckedDense.of(layers[0].op)(*layers[0].inputs)
    return aesara.clone_replace(output, {layers[0].outputs[0]: layer}), finite
