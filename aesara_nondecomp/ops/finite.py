"""Whether rows are finite, found out while they are scored: they come from memory once, and are still in the cache."""

from __future__ import annotations

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, aesara, at
from aesara_nondecomp.ops.dense import CheckedDense, Dense
from aesara_nondecomp.ops.fused import ALL_FINITE, FusedOp, c_number


class AllFinite(FusedOp):
    """Input: rows x (b, d) of a float type. Output: whether all entries are finite ()."""

    __props__ = ()

    def make_node(self, x):
        x = at.as_tensor_variable(x)
        if x.ndim != 2 or x.dtype not in ("float32", "float64"):
            raise TypeError(f"rows (b, d) of float32 or float64 are needed, got {x.ndim} dimensions of {x.dtype}")
        return Apply(self, [x], [at.TensorType("bool", shape=())()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = np.asarray(np.isfinite(inputs[0]).all())

    def c_support_code(self, **kwargs):
        return super().c_support_code(**kwargs) + ALL_FINITE

    def c_body(self, node, name, inputs, outputs, sub):
        number = c_number(node.inputs[0].dtype)
        return f"""
        Contiguous x({inputs[0]});
        if (!x || !put_answer(&{outputs[0]}, all_finite(x.dim(0) * x.dim(1), x.data<{number}>()))) {{ {sub["fail"]} }}
        """

    def c_code_cache_version(self):
        return (3,)


def checked(output, rows):
    """What is computed of rows, and whether these are finite: found by the dense layer that takes them, if one does.

    Parameters
    ----------
    output : symbolic variable
    rows : symbolic array that `output` depends on; or token ids, which are always finite.

    Returns
    -------
    output : the same variable, or one of the same value
    finite : symbolic boolean ()
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
