"""Rows of a large matrix, copied by a thread while Python and the steps go on."""

from __future__ import annotations

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, at
from aesara_nondecomp.ops.blas import BlasOp


class PrefetchRows(BlasOp):
    """Ends the copying that the call before began, then begins to copy rows into a buffer.

    The buffer is whole after the next call, which may have no indices: it then begins nothing. Until then the three
    arrays are kept alive. They must be contiguous. A call with `wanted` 0 only gives up what was begun for this buffer:
    none of it is read after that.

    The buffer changes after the call, which the rest of a graph could not know: this Op is for functions of its own. A
    thread is started if the private OpenBLAS may use several; without one the next call does all the copying.

    Notes
    -----
    Inputs: rows x (n, d), row indices (m,) int64, buffer (m, d), wanted () int8. The buffer gets x[indices], zeros
    where an index is -1. Output: a boolean (), whether anything was begun.
    """

    __props__ = ()
    header, function = "prefetch.h", "prefetch_rows"

    def make_node(self, x, indices, buffer, wanted):
        inputs = [at.as_tensor_variable(v) for v in (x, indices, buffer, wanted)]
        types = [x.dtype, "int64", x.dtype, "int8"]
        if [v.ndim for v in inputs] != [2, 1, 2, 0] or [v.dtype for v in inputs] != types:
            raise TypeError("prefetching needs rows (n, d), int64 indices (m,), a buffer of the rows' type, int8 ()")
        return Apply(self, inputs, [at.TensorType("bool", shape=())()])

    def perform(self, node, inputs, outputs):
        x, indices, buffer, wanted = inputs
        begun = bool(wanted) and len(indices) > 0
        if begun:
            buffer[:] = np.where(indices[:, None] < 0, 0, x[indices])
        outputs[0][0] = np.asarray(begun)

    def c_types(self, node) -> dict[str, str]:
        return {}


prefetch_rows = PrefetchRows()
