"""A dense layer as fused Ops: product, bias and activation forward; slope, mask and bias gradient back."""

from __future__ import annotations

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, ParamsType, at, int32
from aesara_nondecomp._checks import choose
from aesara_nondecomp.ops.activations import ACTIVATIONS, Activation
from aesara_nondecomp.ops.blas import BlasOp, gemm_name
from aesara_nondecomp.ops.dense_c import support
from aesara_nondecomp.ops.fused import c_number


class _LayerOp(BlasOp):
    """Base of a layer's Ops. The activation is a run-time parameter: layers that differ in it share one module."""

    __props__ = ("activation",)
    params_type = ParamsType(activation=int32)

    def __init__(self, activation: str):
        self.activation = list(ACTIVATIONS).index(activation)

    @property
    def _name(self) -> str:
        return list(ACTIVATIONS)[self.activation]

    @property
    def functions(self) -> Activation:
        """The activation's entry in the table."""
        return ACTIVATIONS[self._name]

    def c_support_code(self, **kwargs):
        expressions = [(activation.c_value, activation.c_slope) for activation in ACTIVATIONS.values()]
        return super().c_support_code(**kwargs) + support(expressions)


class Dense(_LayerOp):
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
        # Two Ops, so that a graph which does not ask for the gradient of x, as at the first layer, does without it.
        # Both find the slopes: that costs less than to store them, as it is done while they are in the cache.
        x, W, b = inputs
        name, given = self._name, (self(x, W, b), output_gradients[0].astype(x.dtype))
        return [InputGradient(name)(*given, W), *WeightGradient(name)(*given, x)]

    def perform(self, node, inputs, outputs, params=None):
        x, W, b = inputs
        outputs[0][0] = np.asarray(self.functions.value(np, x @ W + b), dtype=x.dtype)

    def c_body(self, node, name, inputs, outputs, sub):
        return self._c_layer(node, inputs, outputs[0], sub, finite="NULL")

    def _c_layer(self, node, inputs, out, sub, finite: str) -> str:
        x, W, b = inputs
        dtype, fail = node.inputs[0].dtype, sub["fail"]
        return f"""
        typedef {c_number(dtype)} number;
        Contiguous x({x}), W({W}), bias({b});
        if (!(x && W && bias)) {{ {fail} }}
        const npy_intp b = x.dim(0), d = W.dim(0), h = W.dim(1);
        if (x.dim(1) != d || bias.dim(0) != h) {{
            PyErr_Format(PyExc_ValueError, "dense needs %zd columns (the rows of its weights) and %zd biases, "
                         "got %zd and %zd", (Py_ssize_t) d, (Py_ssize_t) h, (Py_ssize_t) x.dim(1),
                         (Py_ssize_t) bias.dim(0));
            {fail}
        }}
        if (!fits(&{out}, b, h, x.type())) {{ {fail} }}
        layer<number>({gemm_name(dtype)}, {sub["params"]}->activation, b, d, h, x.data<number>(), W.data<number>(),
                      bias.data<number>(), (number*) PyArray_DATA({out}), {finite});
        """

    def c_code_cache_version(self):
        return (16,)


class CheckedDense(Dense):
    """A dense layer as scores are computed, without a gradient; a second output () says whether all of x is finite."""

    def make_node(self, x, W, b):
        node = super().make_node(x, W, b)
        return Apply(self, node.inputs, [*(out.type() for out in node.outputs), at.TensorType("bool", shape=())()])

    @classmethod
    def of(cls, layer: Dense) -> CheckedDense:
        """The same layer, checked."""
        return cls(layer._name)

    def grad(self, inputs, output_gradients):
        raise NotImplementedError("differentiate a layer of `dense`")

    def perform(self, node, inputs, outputs, params=None):
        with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is for the caller to refuse
            super().perform(node, inputs, outputs, params)
        outputs[1][0] = np.asarray(np.isfinite(inputs[0]).all())

    def c_body(self, node, name, inputs, outputs, sub):
        out, answer = outputs
        return f"""
        bool finite;
        {self._c_layer(node, inputs, out, sub, finite="&finite")}
        if (!put_answer(&{answer}, finite)) {{ {sub["fail"]} }}
        """


class InputGradient(_LayerOp):
    """Inputs: a layer's output and its gradient (b, h), and W (d, h). Output: the gradient of x (b, d)."""

    def make_node(self, out, upstream, W):
        out, upstream, W = (at.as_tensor_variable(v) for v in (out, upstream, W))
        gradient = at.TensorType(out.dtype, shape=(out.type.shape[0], W.type.shape[0]))()
        return Apply(self, [out, upstream, W], [gradient])

    def perform(self, node, inputs, outputs, params=None):
        out, upstream, W = inputs
        outputs[0][0] = _before_activation(self.functions, out, upstream) @ W.T

    def c_body(self, node, name, inputs, outputs, sub):
        out, upstream, W = inputs
        (gradient,) = outputs
        dtype, fail = node.inputs[0].dtype, sub["fail"]
        return f"""
        typedef {c_number(dtype)} number;
        Contiguous out({out}), upstream({upstream}), W({W});
        if (!(out && upstream && W)) {{ {fail} }}
        const npy_intp b = out.dim(0), d = W.dim(0), h = out.dim(1);
        {_same_shape(fail)}
        if (W.dim(1) != h || !fits(&{gradient}, b, d, out.type())) {{
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "a dense layer's W must be as wide as its output");
            {fail}
        }}
        if (!input_gradient<number>({gemm_name(dtype)}, {sub["params"]}->activation, b, d, h, out.data<number>(),
                                    upstream.data<number>(), W.data<number>(), (number*) PyArray_DATA({gradient}))) {{
            PyErr_NoMemory();
            {fail}
        }}
        """

    def c_code_cache_version(self):
        return (16,)


class WeightGradient(_LayerOp):
    """Inputs: a layer's output and its gradient (b, h), and x (b, d). Outputs: the gradients of W (d, h) and b (h,)."""

    def make_node(self, out, upstream, x):
        out, upstream, x = (at.as_tensor_variable(v) for v in (out, upstream, x))
        d, h = x.type.shape[1], out.type.shape[1]
        return Apply(self, [out, upstream, x], [at.TensorType(out.dtype, shape=shape)() for shape in ((d, h), (h,))])

    def perform(self, node, inputs, outputs, params=None):
        out, upstream, x = inputs
        dz = _before_activation(self.functions, out, upstream)
        outputs[0][0] = x.T @ dz
        outputs[1][0] = dz.sum(axis=0, dtype="float64").astype(out.dtype)

    def c_body(self, node, name, inputs, outputs, sub):
        out, upstream, x = inputs
        dW, db = outputs
        dtype, fail = node.inputs[0].dtype, sub["fail"]
        return f"""
        typedef {c_number(dtype)} number;
        Contiguous out({out}), upstream({upstream}), x({x});
        if (!(out && upstream && x)) {{ {fail} }}
        const npy_intp b = out.dim(0), d = x.dim(1), h = out.dim(1);
        {_same_shape(fail)}
        if (x.dim(0) != b) {{
            PyErr_SetString(PyExc_ValueError, "a dense layer's x must have as many rows as its output");
            {fail}
        }}
        Py_XDECREF({db});
        {db} = (PyArrayObject*) PyArray_EMPTY(1, &h, out.type(), 0);
        if (!{db} || !fits(&{dW}, d, h, out.type())) {{ {fail} }}
        if (!weight_gradient<number>({gemm_name(dtype)}, {sub["params"]}->activation, b, d, h, out.data<number>(),
                                     upstream.data<number>(), x.data<number>(), (number*) PyArray_DATA({dW}),
                                     (number*) PyArray_DATA({db}))) {{
            PyErr_NoMemory();
            {fail}
        }}
        """

    def c_code_cache_version(self):
        return (16,)


def _before_activation(functions: Activation, out, upstream):
    """Gradient of x W + b (b, h)."""
    return np.asarray(upstream * functions.slope(np, out), dtype=out.dtype)


def _same_shape(fail: str) -> str:
    return f"""
        if (upstream.dim(0) != b || upstream.dim(1) != h) {{
            PyErr_SetString(PyExc_ValueError, "the gradient of a dense layer must have the shape of its output");
            {fail}
        }}
    """


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
