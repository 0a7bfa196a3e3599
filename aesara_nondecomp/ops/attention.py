"""Attention over a sequence: a masked softmax of energies, and the weighted mean of the states, as one Op."""

from __future__ import annotations

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, DisconnectedType, at
from aesara_nondecomp.ops.fused import FusedOp, c_number


class AttentionPool(FusedOp):
    """Inputs: energies (T b, 1), states (T b, h), mask (b, T) int32; time-major as in `ops.lstm`.

    Outputs: context (b, h) = sum_t a_t h_t and the weights a (b, T), softmax of the energies over the valid tokens
    of a row; both are 0 for a row without a valid token. The weights are for reading: only the context has a gradient.
    """

    __props__ = ()

    def make_node(self, energies, states, mask):
        energies, states, mask = (at.as_tensor_variable(v) for v in (energies, states, mask))
        if (energies.ndim, states.ndim, mask.ndim, mask.dtype) != (2, 2, 2, "int32") or energies.dtype != states.dtype:
            raise TypeError(
                "attention needs energies (T b, 1), states (T b, h) of one float type and an int32 mask (b, T), got "
                + ", ".join(f"{v.ndim} dimensions of {v.dtype}" for v in (energies, states, mask))
            )
        context = at.TensorType(states.dtype, shape=(None, states.type.shape[1]))()
        return Apply(self, [energies, states, mask], [context, at.TensorType(states.dtype, shape=(None, None))()])

    def connection_pattern(self, node):
        """Which outputs can be differentiated in which inputs, as Aesara asks."""
        return [[True, False], [True, False], [False, False]]

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

    def c_support_code(self, **kwargs):
        return super().c_support_code(**kwargs) + _SOFTMAX

    def c_body(self, node, name, inputs, outputs, sub):
        energies, states, mask = inputs
        context, weights = outputs
        return f"""
        {{
        typedef {c_number(node.inputs[1].dtype)} number;
        Contiguous energies({energies}), states({states}), mask({mask});
        if (!(energies && states && mask)) {{ {sub["fail"]} }}
        const npy_intp b = mask.dim(0), T = mask.dim(1), h = states.dim(1);
        if (energies.dim(0) != T * b || energies.dim(1) != 1 || states.dim(0) != T * b) {{
            PyErr_SetString(PyExc_ValueError, "attention needs one energy and one state per token of the mask");
            {sub["fail"]}
        }}
        if (!fits(&{context}, b, h, states.type()) || !fits(&{weights}, b, T, states.type())) {{ {sub["fail"]} }}
        number *c = (number*) PyArray_DATA({context}), *a = (number*) PyArray_DATA({weights});
        memset(c, 0, sizeof(number) * b * h);
        for (npy_intp r = 0; r < b; r++, a += T, c += h) {{
            masked_softmax(T, b, energies.data<number>() + r, mask.data<npy_int>() + r * T, a);
            for (npy_intp t = 0; t < T; t++) {{
                const number *s = states.data<number>() + (t * b + r) * h;
                if (a[t] != 0) for (npy_intp j = 0; j < h; j++) c[j] += a[t] * s[j];
            }}
        }}
        }}
        """

    def c_code_cache_version(self):
        return (2,)


class AttentionGradient(FusedOp):
    """From the gradient of the context (b, h), the weights (b, T) and the states: those of energies and states."""

    __props__ = ()

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

    def c_body(self, node, name, inputs, outputs, sub):
        upstream, weights, states = inputs
        denergies, dstates = outputs
        return f"""
        {{
        typedef {c_number(node.inputs[2].dtype)} number;
        Contiguous upstream({upstream}), weights({weights}), states({states});
        if (!(upstream && weights && states)) {{ {sub["fail"]} }}
        const npy_intp b = weights.dim(0), T = weights.dim(1), h = states.dim(1);
        if (upstream.dim(0) != b || upstream.dim(1) != h || states.dim(0) != T * b) {{
            PyErr_SetString(PyExc_ValueError, "the gradient of attention must have the shape of its context");
            {sub["fail"]}
        }}
        if (!fits(&{denergies}, T * b, 1, states.type()) || !fits(&{dstates}, T * b, h, states.type())) {{
            {sub["fail"]}
        }}
        number *de = (number*) PyArray_DATA({denergies});
        for (npy_intp r = 0; r < b; r++) {{
            const number *u = upstream.data<number>() + r * h, *a = weights.data<number>() + r * T;
            double mean = 0;
            for (npy_intp t = 0; t < T; t++) {{
                const npy_intp row = t * b + r;
                const number *s = states.data<number>() + row * h;
                number *ds = (number*) PyArray_DATA({dstates}) + row * h, slope = 0;
                for (npy_intp j = 0; j < h; j++) {{ ds[j] = a[t] * u[j]; slope += u[j] * s[j]; }}
                de[row] = slope;
                mean += (double) a[t] * slope;
            }}
            for (npy_intp t = 0; t < T; t++) de[t * b + r] = a[t] * (de[t * b + r] - (number) mean);
        }}
        }}
        """

    def c_code_cache_version(self):
        return (2,)


_SOFTMAX = """
/* Softmax of one row's energies (`stride` apart) over its valid tokens. */
template <typename number>
static void masked_softmax(npy_intp T, npy_intp stride, const number *e, const npy_int *mask, number *a) {
    number largest = -INFINITY, total = 0;
    for (npy_intp t = 0; t < T; t++) if (mask[t] && e[t * stride] > largest) largest = e[t * stride];
    for (npy_intp t = 0; t < T; t++) {
        a[t] = mask[t] ? (number) exp(e[t * stride] - largest) : 0;
        total += a[t];
    }
    for (npy_intp t = 0; t < T; t++) if (total > 0) a[t] /= total;
}
"""

_OP = AttentionPool()


def attention_pool(energies, states, mask):
    """Context and weights of attention over the valid tokens of each row.

    Parameters
    ----------
    energies : symbolic matrix, shape (T b, 1). Alignment of each token, token t of row r in row t * b + r.
    states : symbolic matrix, shape (T b, h)
    mask : symbolic int32 matrix, shape (b, T). 0 at padding.

    Returns
    -------
    context : symbolic matrix, shape (b, h). Weighted mean of the states; 0 for a row without a valid token.
    weights : symbolic matrix, shape (b, T). At least 0, of sum 1 per row; 0 at padding.

    Raises
    ------
    TypeError
        If dimensions or types differ from these.
    """
    return _OP(energies, states, mask)
