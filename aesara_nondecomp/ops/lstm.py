"""The masked LSTM as fused Ops: a few products per step, all else in one pass over the rows.

For each valid token t of a row (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000):

    [i f g o] = x_t W + h_{t-1} U + bias       i, f, o through the logistic function, g through tanh
    c_t = f c_{t-1} + i g                      h_t = o tanh(c_t)

At a masked token the state is carried over, h_t = h_{t-1} and c_t = c_{t-1}; both start at 0.  So the last state is
that of the last valid token, wherever the padding is, and 0 for a row without one.

The columns of W, U and bias hold the gates in PyTorch's order, i f g o; PyTorch's `weight_ih_l0` is the transpose of W,
its `weight_hh_l0` that of U, and its two biases add up to ours.

Sequences are matrices in time-major order: row t * b + r holds token t of row r.
"""

from __future__ import annotations

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, DisconnectedType, ParamsType, at, int32
from aesara_nondecomp.ops.activations import sigmoid
from aesara_nondecomp.ops.blas import BlasOp


class LSTM(BlasOp):
    """The masked LSTM, forward.

    Notes
    -----
    Inputs: x (T b, d), mask (b, T) int32, W (d, 4 h), U (h, 4 h), bias (4 h,). A token is valid where its mask is not
    0, so token ids padded with 0 are their own mask.

    Outputs: the last states (b, h), all states (T b, h), and the cells (T b, h) and activated gates (T b, 4 h), which
    only the backward pass needs (gates of masked tokens are undefined).
    """

    __props__ = ()
    header, function = "lstm.h", "lstm_layer<number>"
    connected = tuple((own, own, False, False) for own in (True, False, True, True, True))

    def make_node(self, x, mask, W, U, bias):
        x, mask, W, U, bias = (at.as_tensor_variable(v) for v in (x, mask, W, U, bias))
        if [v.ndim for v in (x, mask, W, U, bias)] != [2, 2, 2, 2, 1] or len({v.dtype for v in (x, W, U, bias)}) > 1:
            raise TypeError(
                "an LSTM needs x (T b, d), mask (b, T), W (d, 4 h), U (h, 4 h) and bias (4 h,), all but the mask of "
                "one float type, got " + ", ".join(f"{v.ndim} dimensions of {v.dtype}" for v in (x, mask, W, U, bias))
            )
        if mask.dtype != "int32":
            raise TypeError(f"an LSTM needs an int32 mask, got {mask.dtype}. Cast it.")
        h = U.type.shape[0]
        widths = (h, h, h, None if h is None else 4 * h)
        outputs = [at.TensorType(x.dtype, shape=(None, width))() for width in widths]
        return Apply(self, [x, mask, W, U, bias], outputs)

    def grad(self, inputs, output_gradients):
        x, mask, W, U, bias = inputs
        kept = self(*inputs)[1:]
        # The backward pass is linear in the output's gradient, so those of the two outputs are added up.
        parts = [
            LSTMGradient(of_last)(upstream, x, mask, W, U, *kept)
            for of_last, upstream in zip((True, False), output_gradients[:2])
            if not isinstance(upstream.type, DisconnectedType)
        ]
        dx, dW, dU, db = parts[0] if len(parts) == 1 else [a + b for a, b in zip(*parts)]
        return [dx, DisconnectedType()(), dW, dU, db]

    def perform(self, node, inputs, outputs):
        x, mask, W, U, bias = inputs
        (b, T), h = mask.shape, U.shape[0]
        cells, states = (np.zeros((T + 1, b, h), x.dtype) for _ in range(2))  # both start at 0, before the first token
        gates = (x @ W + bias).reshape(T, b, 4 * h)
        for t in range(T):
            valid = mask[:, t : t + 1] != 0
            i, f, g, o = activated_gates(np, gates[t] + states[t] @ U)
            gates[t] = np.concatenate([i, f, g, o], axis=1)
            cells[t + 1] = np.where(valid, f * cells[t] + i * g, cells[t])
            states[t + 1] = np.where(valid, o * np.tanh(cells[t + 1]), states[t])
        results = (states[T], states[1:].reshape(-1, h), cells[1:].reshape(-1, h), gates.reshape(-1, 4 * h))
        for out, value in zip(outputs, results):
            out[0] = value.copy()


class LSTMGradient(BlasOp):
    """The masked LSTM, backward.

    Parameters
    ----------
    of_last : bool
        From the gradient of the last states (b, h), else from that of all states (T b, h).

    Notes
    -----
    Inputs: that gradient; x, mask, W, U as for `LSTM`; its states, cells and gates. Outputs: the gradients of x, W, U
    and bias.
    """

    __props__ = ("of_last",)
    params_type = ParamsType(of_last=int32)
    header, function = "lstm.h", "lstm_gradient<number>"

    def __init__(self, of_last: bool):
        self.of_last = int(of_last)

    def make_node(self, upstream, x, mask, W, U, states, cells, gates):
        inputs = [at.as_tensor_variable(v) for v in (upstream, x, mask, W, U, states, cells, gates)]
        outputs = [v.type() for v in (inputs[1], inputs[3], inputs[4])]
        return Apply(self, inputs, [*outputs, at.TensorType(inputs[1].dtype, shape=(inputs[3].type.shape[1],))()])

    def perform(self, node, inputs, outputs, params=None):
        upstream, x, mask, W, U, states, cells, gates = inputs
        (b, T), h = mask.shape, U.shape[0]
        before = np.zeros((b, h), x.dtype)
        states, cells, gates = (v.reshape(T, b, -1) for v in (states, cells, gates))
        dh, dc = (upstream.copy() if self.of_last else before.copy()), before.copy()
        dgates = np.zeros((T, b, 4 * h), x.dtype)
        for t in reversed(range(T)):
            dh = dh if self.of_last else dh + upstream.reshape(T, b, h)[t]
            valid = mask[:, t : t + 1] != 0
            own, dc_before = gate_gradients(np, dh, dc, cells[t - 1] if t else before, cells[t], gates[t])
            dgates[t] = np.where(valid, own, 0)
            dc = np.where(valid, dc_before, dc)
            dh = np.where(valid, 0, dh) + dgates[t] @ U.T
        flat, previous = dgates.reshape(-1, 4 * h), np.concatenate([before[None], states])[:T].reshape(-1, h)
        results = (flat @ W.T, x.T @ flat, previous.T @ flat, flat.sum(axis=0, dtype="float64").astype(x.dtype))
        for out, value in zip(outputs, results):
            out[0] = np.ascontiguousarray(value)


def activated_gates(xp, z):
    """Compute the gates i, f, g and o of a token.

    Parameters
    ----------
    xp : module
        NumPy or JAX's NumPy.
    z : array, shape (b, 4 h)
        Gates before their activations.

    Returns
    -------
    list of 4 arrays, shape (b, h)
    """
    i, f, g, o = xp.split(z, 4, axis=1)
    return [sigmoid(xp, i), sigmoid(xp, f), xp.tanh(g), sigmoid(xp, o)]


def gate_gradients(xp, dh, dc, cells_before, cells, gates):
    """Compute the gradients of a token's gates before their activations, and of the cells before it.

    Parameters
    ----------
    xp : module
        NumPy or JAX's NumPy.
    dh : array, shape (b, h)
        Gradient of the states after the token.
    dc : array, shape (b, h)
        Gradient of the cells after it, but for the part by way of these states.
    cells_before : array, shape (b, h)
        Cells before the token.
    cells : array, shape (b, h)
        Cells after it.
    gates : array, shape (b, 4 h)
        Activated gates.

    Returns
    -------
    of_gates : array, shape (b, 4 h)
    of_cells : array, shape (b, h)
    """
    i, f, g, o = xp.split(gates, 4, axis=1)
    squashed = xp.tanh(cells)
    dc = dc + dh * o * (1 - squashed**2)
    di, df, dg, do = dc * g, dc * cells_before, dc * i, dh * squashed
    own = xp.concatenate([di * i * (1 - i), df * f * (1 - f), dg * (1 - g**2), do * o * (1 - o)], axis=1)
    return own, dc * f


_OP = LSTM()


def lstm(x, mask, W, U, bias):
    """Run a masked LSTM over sequences.

    Parameters
    ----------
    x : symbolic matrix, shape (T b, d)
        Token t of row r in row t * b + r, as `lookup` gives it.
    mask : symbolic int32 matrix, shape (b, T)
        0 at padding; token ids serve as they are.
    W : symbolic matrix, shape (d, 4 h)
        Input weights; columns in the gate order i, f, g, o.
    U : symbolic matrix, shape (h, 4 h)
        State weights, in the same order.
    bias : symbolic vector, shape (4 h,)
        In the same order.

    Returns
    -------
    last : symbolic matrix, shape (b, h)
        State after the last valid token; 0 for a row without one.
    states : symbolic matrix, shape (T b, h)
        State after each token, carried over at masked ones.

    Raises
    ------
    TypeError
        If dimensions or types differ from these.
    """
    last, states, _, _ = _OP(x, mask, W, U, bias)
    return last, states
