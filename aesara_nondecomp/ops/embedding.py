"""Rows of an embedding table, looked up by token ids."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, DisconnectedType, at
from aesara_nondecomp.ops.fused import FusedOp


class Lookup(NamedTuple):
    """A table and where a graph reads it, so that an optimiser can update the rows of a batch alone.

    Attributes
    ----------
    table : shared matrix, shape (V, d)
        The embeddings.
    ids : symbolic int32 matrix, shape (b, T)
        Row indices; 0 is padding, whose row is never updated.
    rows : symbolic matrix, shape (T b, d)
        Row t * b + r is that of ids[r, t].
    """

    table: Any
    ids: Any
    rows: Any


class Rows(FusedOp):
    """The rows of a table, by their indices.

    Notes
    -----
    Inputs: table (V, d), ids (b, T) int32 in [0, V). Output: the rows (T b, d) in time-major order.
    """

    __props__ = ()
    header, function = "embedding.h", "look_up<number>"
    connected = ((True,), (False,))

    def make_node(self, table, ids):
        table, ids = at.as_tensor_variable(table), at.as_tensor_variable(ids)
        if (table.ndim, ids.ndim, ids.dtype) != (2, 2, "int32"):
            raise TypeError(
                f"a lookup needs a table (V, d) and int32 ids (b, T), got {table.ndim} dimensions, and {ids.ndim} of "
                f"{ids.dtype}"
            )
        return Apply(self, [table, ids], [at.TensorType(table.dtype, shape=(None, table.type.shape[1]))()])

    def grad(self, inputs, output_gradients):
        # Dense, and so off the training path: `RowUpdate` takes the gradient of the rows instead.
        table, ids = inputs
        picked = at.zeros_like(table)[ids.T.flatten()]
        return [at.inc_subtensor(picked, output_gradients[0]), DisconnectedType()()]

    def perform(self, node, inputs, outputs):
        table, ids = inputs
        if ids.size and not (0 <= ids.min() and ids.max() < len(table)):
            raise IndexError(
                "token ids must be row indices of the embedding table. Encode text with the network's own vocabulary."
            )
        outputs[0][0] = table[ids.T.ravel()]


_OP = Rows()


def lookup(table, ids) -> Lookup:
    """Look up token ids in an embedding table.

    Parameters
    ----------
    table : shared matrix, shape (V, d)
        The embeddings, of float32 or float64.
    ids : symbolic int32 matrix, shape (b, T)
        In [0, V); 0 is padding.

    Returns
    -------
    Lookup
        Its `rows` are the input of a layer; a network that is given the whole updates only the rows of a batch.

    Raises
    ------
    TypeError
        If dimensions or types differ from these.
    IndexError
        At run time, if an id is outside the table.
    """
    return Lookup(table, ids, _OP(table, ids))


def summed_rows(ids: np.ndarray, gradients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sum the gradients of each row that was looked up, without padding.

    Parameters
    ----------
    ids : int32 array, shape (b, T)
        Row indices; 0 is padding.
    gradients : array, shape (T b, d)
        Of the rows, in time-major order.

    Returns
    -------
    distinct : int32 array, shape (k,)
        The row indices other than 0, each once, ascending.
    sums : array, shape (k, d)
        Of their gradients.
    """
    distinct, where = np.unique(ids.T.ravel(), return_inverse=True)
    sums = np.zeros((len(distinct), gradients.shape[1]), gradients.dtype)
    np.add.at(sums, where.reshape(-1), gradients)
    kept = distinct != 0
    return distinct[kept], sums[kept]
