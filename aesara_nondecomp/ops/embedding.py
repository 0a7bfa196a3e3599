"""Rows of an embedding table, looked up by token ids."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, DisconnectedType, at
from aesara_nondecomp.ops.fused import FusedOp, c_number


class Lookup(NamedTuple):
    """A table and where a graph reads it, so that an optimiser can move the rows of a batch alone."""

    table: Any
    """Shared matrix (V, d)."""
    ids: Any
    """Symbolic int32 matrix (b, T) of row numbers; 0 is padding, whose row never moves."""
    rows: Any
    """Symbolic matrix (T b, d): the rows, row t * b + r being that of ids[r, t]."""


class Rows(FusedOp):
    """Inputs: table (V, d), ids (b, T) int32 in [0, V). Output: the rows (T b, d) in time-major order."""

    __props__ = ()

    def make_node(self, table, ids):
        table, ids = at.as_tensor_variable(table), at.as_tensor_variable(ids)
        if (table.ndim, ids.ndim, ids.dtype) != (2, 2, "int32"):
            raise TypeError(
                f"a lookup needs a table (V, d) and int32 ids (b, T), got {table.ndim} dimensions, and {ids.ndim} of "
                f"{ids.dtype}"
            )
        return Apply(self, [table, ids], [at.TensorType(table.dtype, shape=(None, table.type.shape[1]))()])

    def connection_pattern(self, node):
        """Which outputs can be differentiated in which inputs, as Aesara asks."""
        return [[True], [False]]

    def grad(self, inputs, output_gradients):
        # Dense, and so off the training path: `RowUpdate` takes the gradient of the rows instead.
        table, ids = inputs
        picked = at.zeros_like(table)[ids.T.flatten()]
        return [at.inc_subtensor(picked, output_gradients[0]), DisconnectedType()()]

    def perform(self, node, inputs, outputs):
        table, ids = inputs
        if ids.size and not (0 <= ids.min() and ids.max() < len(table)):
            raise IndexError(_OUT_OF_RANGE)
        outputs[0][0] = table[ids.T.ravel()]

    def c_body(self, node, name, inputs, outputs, sub):
        table, ids = inputs
        (out,) = outputs
        return f"""
        {{
        typedef {c_number(node.inputs[0].dtype)} number;
        Contiguous table({table}), ids({ids});
        if (!(table && ids)) {{ {sub["fail"]} }}
        const npy_intp V = table.dim(0), d = table.dim(1), b = ids.dim(0), T = ids.dim(1);
        if (!fits(&{out}, T * b, d, table.type())) {{ {sub["fail"]} }}
        number *to = (number*) PyArray_DATA({out});
        const npy_int *id = ids.data<npy_int>();
        for (npy_intp t = 0; t < T; t++)
            for (npy_intp r = 0; r < b; r++, to += d) {{
                const npy_intp row = id[r * T + t];
                if (row < 0 || row >= V) {{
                    PyErr_SetString(PyExc_IndexError, "{_OUT_OF_RANGE}");
                    {sub["fail"]}
                }}
                memcpy(to, table.data<number>() + row * d, sizeof(number) * d);
            }}
        }}
        """

    def c_code_cache_version(self):
        return (2,)


_OUT_OF_RANGE = "token ids must be row numbers of the embedding table. Encode text with the network's own vocabulary."
_OP = Rows()


def lookup(table, ids) -> Lookup:
    """Look up token ids in an embedding table.

    Parameters
    ----------
    table : shared matrix, shape (V, d)
    ids : symbolic int32 matrix, shape (b, T), in [0, V). 0 is padding.

    Returns
    -------
    Lookup
        Its `rows` are the input of a layer; a network that is given the whole moves only the rows of a batch.

    Raises
    ------
    TypeError
        If dimensions or types differ from these.
    """
    return Lookup(table, ids, _OP(table, ids))


def summed_rows(ids: np.ndarray, gradients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct ids other than 0, and the sums (k, d) of the gradients (T b, d) of their rows."""
    distinct, where = np.unique(ids.T.ravel(), return_inverse=True)
    sums = np.zeros((len(distinct), gradients.shape[1]), gradients.dtype)
    np.add.at(sums, where.reshape(-1), gradients)
    kept = distinct != 0
    return distinct[kept], sums[kept]
