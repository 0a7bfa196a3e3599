"""A dense layer as fused Ops: product, bias and activation forward; slope, mask and bias gradient backward."""

from __future__ import annotations

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, ParamsType, at, int32
from aesara_nondecomp._checks import choose
from aesara_nondecomp.ops.activations import ACTIVATIONS, Activation
from aesara_nondecomp.ops.blas import BlasOp

_IN_LIBRARY = len(ACTIVATIONS)  # entries of the table that the library of compiled Ops has, before a user adds others


class _LayerOp(BlasOp):
    """Base of a layer's Ops. The activation is a run-time parameter: layers that differ in it share one module."""

    __props__ = ("activation",)
    params_type = ParamsType(activation=int32)
    header = "dense.h"

    def __init__(self, activation: str):
        self.activation = list(ACTIVATIONS).index(activation)

    @property
    def _name(self) -> str:
        return list(ACTIVATIONS)[self.activation]

    @property
    def functions(self) -> Activation:
        """The activation's entry in the table."""
        return ACTIVATIONS[self._name]

    def c_macros(self) -> str:
        return _cases(len(ACTIVATIONS))

    def library_macros(self) -> str:
        return _cases(_IN_LIBRARY) if self.activation < _IN_LIBRARY else self.c_macros()

    def gradient_before(self, out, upstream):
        """Compute the gradient of x W + b, shape (b, h), from the layer's output and its gradient."""
        return np.asarray(upstream * self.functions.slope(np, out), dtype=out.dtype)


def _cases(count: int) -> str:
    """The macro that dense.h needs, of the first entries of the table."""
    entries = list(ACTIVATIONS.values())[:count]
    cases = (f"CASE({code}, ({a.c_value}), ({a.c_slope}))" for code, a in enumerate(entries))
    return f"#define FOR_EACH_ACTIVATION(CASE) {' '.join(cases)}\n"


class Dense(_LayerOp):
    """activation(x W + b).

    Parameters
    ----------
    activation : str
        A name in `ACTIVATIONS`.

    Notes
    -----
    Inputs: x (b, d), W (d, h), b (h,). Output (b, h).
    """

    function = "dense_layer<number>"

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
        # Two Ops, so that a graph without the gradient of x, as at the first layer, does not compute it. Both compute
        # the slopes: that costs less than to store them, as it is done while the outputs are in the cache.
        x, W, b = inputs
        name, given = self._name, (self(x, W, b), output_gradients[0].astype(x.dtype))
        return [InputGradient(name)(*given, W), *WeightGradient(name)(*given, x)]

    def perform(self, node, inputs, outputs, params=None):
        x, W, b = inputs
        outputs[0][0] = np.asarray(self.functions.value(np, x @ W + b), dtype=x.dtype)


class CheckedDense(Dense):
    """A dense layer for scoring, which also says whether all of x is finite; it has no gradient.

    Parameters
    ----------
    activation : str
        A name in `ACTIVATIONS`.

    Notes
    -----
    Inputs: x (b, d), W (d, h), b (h,). Outputs (b, h), and a boolean ().
    """

    function = "checked_dense_layer<number>"

    def make_node(self, x, W, b):
        node = super().make_node(x, W, b)
        return Apply(self, node.inputs, [*(out.type() for out in node.outputs), at.TensorType("bool", shape=())()])

    @classmethod
    def of(cls, layer: Dense) -> CheckedDense:
        """Make the checked Op of a layer.

        Parameters
        ----------
        layer : Dense
            Its activation is kept.

        Returns
        -------
        CheckedDense
            With the same first output.
        """
        return cls(layer._name)

    def grad(self, inputs, output_gradients):
        raise NotImplementedError("a checked layer has no gradient: differentiate a layer of `dense`")

    def perform(self, node, inputs, outputs, params=None):
        with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is for the caller to refuse
            super().perform(node, inputs, outputs, params)
        outputs[1][0] = np.asarray(np.isfinite(inputs[0]).all())


class InputGradient(_LayerOp):
    """The gradient of a layer's x.

    Parameters
    ----------
    activation : str
        A name in `ACTIVATIONS`.

    Notes
    -----
    Inputs: the layer's output and its gradient (b, h), and W (d, h). Output (b, d).
    """

    function = "dense_input_gradient<number>"

    def make_node(self, out, upstream, W):
        out, upstream, W = (at.as_tensor_variable(v) for v in (out, upstream, W))
        gradient = at.TensorType(out.dtype, shape=(out.type.shape[0], W.type.shape[0]))()
        return Apply(self, [out, upstream, W], [gradient])

    def perform(self, node, inputs, outputs, params=None):
        out, upstream, W = inputs
        outputs[0][0] = self.gradient_before(out, upstream) @ W.T


class WeightGradient(_LayerOp):
    """The gradients of a layer's W and b.

    Parameters
    ----------
    activation : str
        A name in `ACTIVATIONS`.

    Notes
    -----
    Inputs: the layer's output and its gradient (b, h), and x (b, d). Outputs (d, h) and (h,).
    """

    function = "dense_weight_gradient<number>"

    def make_node(self, out, upstream, x):
        out, upstream, x = (at.as_tensor_variable(v) for v in (out, upstream, x))
        d, h = x.type.shape[1], out.type.shape[1]
        return Apply(self, [out, upstream, x], [at.TensorType(out.dtype, shape=shape)() for shape in ((d, h), (h,))])

    def perform(self, node, inputs, outputs, params=None):
        out, upstream, x = inputs
        dz = self.gradient_before(out, upstream)
        outputs[0][0] = x.T @ dz
        outputs[1][0] = dz.sum(axis=0, dtype="float64").astype(out.dtype)


def dense(x, W, b, activation: str = "identity"):
    """Apply a dense layer, activation(x W + b), fused.

    Parameters
    ----------
    x : symbolic matrix, shape (b, d)
        Of float32 or float64.
    W : symbolic matrix, shape (d, h)
        Of the type of `x`.
    b : symbolic vector, shape (h,)
        Of the type of `x`.
    activation : str, default "identity"
        A name in `ACTIVATIONS`.

    Returns
    -------
    symbolic matrix, shape (b, h)
        Differentiable in `x`, `W` and `b`.

    Raises
    ------
    TypeError
        If the numbers of dimensions or the dtypes do not fit.
    ValueError
        If the activation is unknown (the nearest is suggested); at run time, if x does not have as many columns as W
        has rows, or b as many entries as W has columns.
    """
    choose("activation", activation, ACTIVATIONS)
    return Dense(activation)(x, W, b)
