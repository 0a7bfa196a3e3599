"""Attention over a sequence: a masked softmax of energies, and the weighted mean of the states, as one Op."""

from __future__ import annotations

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, DisconnectedType, at
from aesara_nondecomp.ops.fused import FusedOp


class AttentionPool(FusedOp):
    """Weighted mean of the states of a sequence, by the softmax of their energies over the valid tokens.

    Notes
    -----
    Inputs: energies (T b, 1), states (T b, h), mask (b, T) int32; time-major as in `ops.lstm`.

    Outputs: context (b, h) = sum_t a_t h_t and the weights a (b, T); both are 0 for a row without a valid token. The
    weights are for reading: only the context has a gradient.
    """

    __props__ = ()
    header, function = "attention.h", "attention_pool<number>"
    connected = ((True, False), (True, False), (False, False))

    def make_node(self, energies, states, mask):
        energies, states, mask = (at.as_tensor_variable(v) for v in (energies, states, mask))
        if (energies.ndim, states.ndim, mask.ndim, mask.dtype) != (2, 2, 2, "int32") or energies.dtype != states.dtype:
            raise TypeError(
                "attention needs energies (T b, 1), states (T b, h) of one float type and an int32 mask (b, T), got "
                + ", ".join(f"{v.ndim} dimensions of {v.dtype}" for v in (energies, states, mask))
            )
        context = at.TensorType(states.dtype, shape=(None, states.type.shape[1]))()
        return Apply(self, [energies, states, mask], [context, at.TensorType(states.dtype, shape=(None, None))()])

    def grad(self, inputs, output_gradients):
        weights = self(*inputs)[1]
        denergies, dstates = AttentionGradient()(output_gradients[0], weights, inputs[1])
        return [denergies, dstates, DisconnectedType()()]

    def perform(self, node, inputs, outputs):
        energies, states, mask = inputs
        (b, T), h = mask.shape, states.shape[1]
        valid = mask != 0
        e = energies.reshape(T, b).T
        largest = np.max(e, axis=1, keepdims=True, where=valid, initial=-np.inf)
        weights = np.where(valid, np.exp(np.where(valid, e, 0) - np.where(valid, largest, 0)), 0)
        total = weights.sum(axis=1, keepdims=True)
        weights = (weights / np.where(total > 0, total, 1)).astype(states.dtype)
        outputs[0][0] = np.einsum("bt,tbh->bh", weights, states.reshape(T, b, h))
        outputs[1][0] = weights


class AttentionGradient(FusedOp):
    """The gradients of energies and states.

    Notes
    -----
    Inputs: the gradient of the context (b, h), the weights (b, T) and the states (T b, h). Outputs (T b, 1), (T b, h).
    """

    __props__ = ()
    header, function = "attention.h", "attention_gradient<number>"

    def make_node(self, upstream, weights, states):
        inputs = [at.as_tensor_variable(v) for v in (upstream, weights, states)]
        return Apply(self, inputs, [at.TensorType(inputs[2].dtype, shape=(None, 1))(), inputs[2].type()])

    def perform(self, node, inputs, outputs):
        upstream, weights, states = inputs
        (b, T), h = weights.shape, states.shape[1]
        dweights = np.einsum("bh,tbh->bt", upstream, states.reshape(T, b, h))
        mean = (weights * dweights).sum(axis=1, keepdims=True)
        outputs[0][0] = np.ascontiguousarray((weights * (dweights - mean)).T.reshape(-1, 1))
        outputs[1][0] = (weights.T[:, :, None] * upstream).reshape(-1, h)


_OP = AttentionPool()


def attention_pool(energies, states, mask):
    """Pool the states of each row by attention over its valid tokens.

    Parameters
    ----------
    energies : symbolic matrix, shape (T b, 1)
        Alignment of each token, token t of row r in row t * b + r.
    states : symbolic matrix, shape (T b, h)
        In the same order, of the type of `energies`.
    mask : symbolic int32 matrix, shape (b, T)
        0 at padding.

    Returns
    -------
    context : symbolic matrix, shape (b, h)
        Weighted mean of the states; 0 for a row without a valid token.
    weights : symbolic matrix, shape (b, T)
        At least 0, of sum 1 per row; 0 at padding.

    Raises
    ------
    TypeError
        If dimensions or types differ from these.
    """
    return _OP(energies, states, mask)
