"""A dense layer as fused Ops: product, bias and activation forward; slope, mask and bias gradient back."""

from __future__ import annotations

from typing import Callable, NamedTuple

import numpy as np

from aesara_nondecomp._aesara import Apply, ParamsType, at, int32
from aesara_nondecomp._checks import choose
from aesara_nondecomp.ops.blas import BlasOp, gemm_name
from aesara_nondecomp.ops.fused import c_number


class Activation(NamedTuple):
    """An activation whose derivative is a function of its output (spec: none; standard definitions).

    `c_value` is in terms of z, `c_slope` in terms of the output `a`; both are C expressions of type `number`.
    """

    value: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[np.ndarray], np.ndarray]
    c_value: str
    c_slope: str


def _sigmoid(z):
    small = np.exp(-np.abs(z))
    return np.where(z > 0, 1.0, small) / (1.0 + small)


ACTIVATIONS = {
    "identity": Activation(lambda z: z, np.ones_like, "z", "1"),
    "relu": Activation(lambda z: np.maximum(z, 0), lambda a: (a > 0).astype(a.dtype), "z < 0 ? 0 : z", "a > 0"),
    "leaky_relu": Activation(
        lambda z: np.where(z > 0, z, z * 0.01),
        lambda a: np.where(a > 0, 1.0, 0.01),
        "z > 0 ? z : z * (number) 0.01",
        "a > 0 ? 1 : (number) 0.01",
    ),
    "elu": Activation(
        lambda z: np.where(z > 0, z, np.expm1(np.minimum(z, 0))),
        lambda a: np.where(a > 0, 1.0, a + 1.0),
        "z > 0 ? z : (number) expm1(z)",
        "a > 0 ? 1 : a + 1",
    ),
    "tanh": Activation(np.tanh, lambda a: 1.0 - a * a, "(number) tanh(z)", "1 - a * a"),
    "sigmoid": Activation(_sigmoid, lambda a: a * (1.0 - a), "1 / (1 + (number) exp(-z))", "a * (1 - a)"),
    "softplus": Activation(
        lambda z: np.log1p(np.exp(-np.abs(z))) + np.maximum(z, 0),
        lambda a: -np.expm1(-a),
        "(number) log1p(exp(z > 0 ? -z : z)) + (z > 0 ? z : 0)",
        "(number) -expm1(-a)",
    ),
}
_NAMES = tuple(ACTIVATIONS)


def _cases(statement: str, of: str) -> str:
    """One C switch case per activation, so that all of them share one compiled module."""
    return "\n".join(
        f"case {code}: {statement.replace('EXPRESSION', getattr(activation, of))} break;"
        for code, activation in enumerate(ACTIVATIONS.values())
    )


class _ActivationOp(BlasOp):
    """The activation is a run-time parameter: layers that differ in it alone share one module."""

    __props__ = ("activation",)
    params_type = ParamsType(activation=int32)

    def __init__(self, activation: str):
        self.activation = _NAMES.index(activation)

    @property
    def _functions(self) -> Activation:
        return ACTIVATIONS[_NAMES[self.activation]]


class Dense(_ActivationOp):
    """activation(x W + b). Inputs x (b, d), W (d, h), b (h,); output (b, h)."""

    def make_node(self, x, W, b):
        x, W, b = (at.as_tensor_variable(v) for v in (x, W, b))
        if (x.ndim, W.ndim, b.ndim) != (2, 2, 1) or not x.dtype == W.dtype == b.dtype:
            raise TypeError(
                "dense needs x (b, d), W (d, h) and b (h,) of one float type, got "
                + ", ".join(f"{v.ndim} dimensions of {v.dtype}" for v in (x, W, b))
            )
        out = at.TensorType(x.dtype, shape=(x.type.shape[0], W.type.shape[1]))()
        return Apply(self, [x, W, b], [out])

    def grad(self, inputs, output_gradients):
        x, W, b = inputs
        out = self(x, W, b)
        dz, db = ActivationGradient(_NAMES[self.activation])(out, output_gradients[0])
        return [Product(False, True)(dz, W), Product(True, False)(x, dz), db]

    def perform(self, node, inputs, outputs, params=None):
        x, W, b = inputs
        outputs[0][0] = np.asarray(self._functions.value(x @ W + b), dtype=x.dtype)

    def c_body(self, node, name, inputs, outputs, sub):
        x, W, b = inputs
        (out,) = outputs
        dtype, fail = node.inputs[0].dtype, sub["fail"]
        cases = _cases("FOR_EACH(EXPRESSION)", "c_value")
        return f"""
        {{
        typedef {c_number(dtype)} number;
        PyArrayObject *x = PyArray_GETCONTIGUOUS({x}), *W = PyArray_GETCONTIGUOUS({W}),
                      *bias = PyArray_GETCONTIGUOUS({b});
        if (!x || !W || !bias) {{ Py_XDECREF(x); Py_XDECREF(W); Py_XDECREF(bias); {fail} }}
        npy_intp dims[2] = {{PyArray_DIM(x, 0), PyArray_DIM(W, 1)}};
        if (PyArray_DIM(x, 1) != PyArray_DIM(W, 0) || PyArray_DIM(bias, 0) != dims[1]) {{
            PyErr_Format(PyExc_ValueError, "dense needs %zd columns (the rows of its weights) and %zd biases, "
                         "got %zd and %zd", (Py_ssize_t) PyArray_DIM(W, 0), (Py_ssize_t) dims[1],
                         (Py_ssize_t) PyArray_DIM(x, 1), (Py_ssize_t) PyArray_DIM(bias, 0));
            Py_DECREF(x); Py_DECREF(W); Py_DECREF(bias); {fail}
        }}
        if (!{out} || PyArray_DIM({out}, 0) != dims[0] || PyArray_DIM({out}, 1) != dims[1]
            || !PyArray_IS_C_CONTIGUOUS({out})) {{
            Py_XDECREF({out});
            {out} = (PyArrayObject*) PyArray_EMPTY(2, dims, PyArray_TYPE(x), 0);
        }}
        if (!{out}) {{ Py_DECREF(x); Py_DECREF(W); Py_DECREF(bias); {fail} }}
        number *o = (number*) PyArray_DATA({out});
        const number *add = (const number*) PyArray_DATA(bias);
        row_major_product({gemm_name(dtype)}, 0, 0, (int) dims[0], (int) dims[1], (int) PyArray_DIM(x, 1),
                          (const number*) PyArray_DATA(x), (const number*) PyArray_DATA(W), o);
        #define FOR_EACH(expression) \\
            for (npy_intp i = 0; i < dims[0]; i++, o += dims[1]) \\
                for (npy_intp j = 0; j < dims[1]; j++) {{ \\
                    const number z = o[j] + add[j]; o[j] = expression; \\
                }}
        switch ({sub["params"]}->activation) {{
        {cases}
        }}
        #undef FOR_EACH
        Py_DECREF(x); Py_DECREF(W); Py_DECREF(bias);
        }}
        """

    def c_code_cache_version(self):
        return (5,)


class ActivationGradient(_ActivationOp):
    """From the layer's output and its gradient (b, h): the gradient before the activation, and its column sums."""

    def make_node(self, out, upstream):
        out, upstream = at.as_tensor_variable(out), at.as_tensor_variable(upstream)
        upstream = upstream if upstream.dtype == out.dtype else upstream.astype(out.dtype)
        columns = at.TensorType(out.dtype, shape=(out.type.shape[1],))()
        return Apply(self, [out, upstream], [out.type(), columns])

    def perform(self, node, inputs, outputs, params=None):
        out, upstream = inputs
        dz = np.asarray(upstream * self._functions.slope(out), dtype=out.dtype)
        outputs[0][0] = dz
        outputs[1][0] = dz.sum(axis=0, dtype="float64").astype(out.dtype)

    def c_body(self, node, name, inputs, outputs, sub):
        out, upstream = inputs
        dz, db = outputs
        fail = sub["fail"]
        cases = _cases("FOR_EACH(EXPRESSION)", "c_slope")
        return f"""
        {{
        typedef {c_number(node.inputs[0].dtype)} number;
        PyArrayObject *out = PyArray_GETCONTIGUOUS({out}), *up = PyArray_GETCONTIGUOUS({upstream});
        if (!out || !up) {{ Py_XDECREF(out); Py_XDECREF(up); {fail} }}
        npy_intp dims[2] = {{PyArray_DIM(out, 0), PyArray_DIM(out, 1)}};
        if (PyArray_DIM(up, 0) != dims[0] || PyArray_DIM(up, 1) != dims[1]) {{
            PyErr_SetString(PyExc_ValueError, "the gradient of a dense layer must have the shape of its output");
            Py_DECREF(out); Py_DECREF(up); {fail}
        }}
        if (!{dz} || PyArray_DIM({dz}, 0) != dims[0] || PyArray_DIM({dz}, 1) != dims[1]
            || !PyArray_IS_C_CONTIGUOUS({dz})) {{
            Py_XDECREF({dz});
            {dz} = (PyArrayObject*) PyArray_EMPTY(2, dims, PyArray_TYPE(out), 0);
        }}
        Py_XDECREF({db});
        {db} = (PyArrayObject*) PyArray_EMPTY(1, dims + 1, PyArray_TYPE(out), 0);
        double *total = (double*) calloc(dims[1] ? dims[1] : 1, sizeof(double));
        if (!{dz} || !{db} || !total) {{ free(total); Py_DECREF(out); Py_DECREF(up); {fail} }}
        const number *o = (const number*) PyArray_DATA(out), *u = (const number*) PyArray_DATA(up);
        number *d = (number*) PyArray_DATA({dz}), *column = (number*) PyArray_DATA({db});
        /* Column sums: short runs in the array's own type (fast), the runs in double (exact enough for any batch). */
        const npy_intp run = 64;
        #define FOR_EACH(slope) \\
            for (npy_intp start = 0; start < dims[0]; start += run) {{ \\
                const npy_intp stop = start + run < dims[0] ? start + run : dims[0]; \\
                for (npy_intp j = 0; j < dims[1]; j++) column[j] = 0; \\
                for (npy_intp i = start; i < stop; i++, o += dims[1], u += dims[1], d += dims[1]) \\
                    for (npy_intp j = 0; j < dims[1]; j++) {{ \\
                        const number a = o[j]; (void) a; d[j] = u[j] * (slope); column[j] += d[j]; \\
                    }} \\
                for (npy_intp j = 0; j < dims[1]; j++) total[j] += column[j]; \\
            }}
        switch ({sub["params"]}->activation) {{
        {cases}
        }}
        #undef FOR_EACH
        for (npy_intp j = 0; j < dims[1]; j++) column[j] = (number) total[j];
        free(total); Py_DECREF(out); Py_DECREF(up);
        }}
        """

    def c_code_cache_version(self):
        return (2,)


class Product(BlasOp):
    """op(A) op(B) where op transposes on request; the two transposes are run-time parameters of one module."""

    __props__ = ("trans_a", "trans_b")
    params_type = ParamsType(trans_a=int32, trans_b=int32)

    def __init__(self, trans_a: bool, trans_b: bool):
        self.trans_a, self.trans_b = int(trans_a), int(trans_b)

    def make_node(self, a, b):
        a, b = at.as_tensor_variable(a), at.as_tensor_variable(b)
        shape = (a.type.shape[1 if self.trans_a else 0], b.type.shape[0 if self.trans_b else 1])
        return Apply(self, [a, b], [at.TensorType(a.dtype, shape=shape)()])

    def perform(self, node, inputs, outputs, params=None):
        a, b = inputs
        outputs[0][0] = (a.T if self.trans_a else a) @ (b.T if self.trans_b else b)

    def c_body(self, node, name, inputs, outputs, sub):
        a, b = inputs
        (out,) = outputs
        dtype, fail, params = node.inputs[0].dtype, sub["fail"], sub["params"]
        return f"""
        {{
        typedef {c_number(dtype)} number;
        PyArrayObject *a = PyArray_GETCONTIGUOUS({a}), *b = PyArray_GETCONTIGUOUS({b});
        if (!a || !b) {{ Py_XDECREF(a); Py_XDECREF(b); {fail} }}
        const int ta = {params}->trans_a, tb = {params}->trans_b;
        npy_intp dims[2] = {{PyArray_DIM(a, ta ? 1 : 0), PyArray_DIM(b, tb ? 0 : 1)}};
        const npy_intp inner = PyArray_DIM(a, ta ? 0 : 1);
        if (inner != PyArray_DIM(b, tb ? 1 : 0)) {{
            PyErr_SetString(PyExc_ValueError, "matrix product: the inner sizes differ");
            Py_DECREF(a); Py_DECREF(b); {fail}
        }}
        if (!{out} || PyArray_DIM({out}, 0) != dims[0] || PyArray_DIM({out}, 1) != dims[1]
            || !PyArray_IS_C_CONTIGUOUS({out})) {{
            Py_XDECREF({out});
            {out} = (PyArrayObject*) PyArray_EMPTY(2, dims, PyArray_TYPE(a), 0);
        }}
        if (!{out}) {{ Py_DECREF(a); Py_DECREF(b); {fail} }}
        row_major_product({gemm_name(dtype)}, ta, tb, (int) dims[0], (int) dims[1], (int) inner,
                          (const number*) PyArray_DATA(a), (const number*) PyArray_DATA(b),
                          (number*) PyArray_DATA({out}));
        Py_DECREF(a); Py_DECREF(b);
        }}
        """

    def c_code_cache_version(self):
        return (4,)


def dense(x, W, b, activation: str = "identity"):
    """activation(x W + b), fused.

    Parameters
    ----------
    x : symbolic matrix, shape (b, d).
    W : symbolic matrix, shape (d, h), of x's dtype.
    b : symbolic vector, shape (h,), of x's dtype.
    activation : str. A name in `ACTIVATIONS`.

    Returns
    -------
    symbolic matrix, shape (b, h), differentiable in all three.

    Raises
    ------
    TypeError
        If the numbers of dimensions or the dtypes do not fit.
    ValueError
        If the activation is unknown (the nearest is suggested); at run time, if x does not have as many
        columns as W has rows, or b as many entries as W has columns.
    """
    choose("activation", activation, ACTIVATIONS)
    return Dense(activation)(x, W, b)
