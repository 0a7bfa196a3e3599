"""The activations of a dense layer, in one table: everything that differs between two activations stands in its entry.

To add one, add an entry to `ACTIVATIONS`: layers through C++, NumPy and JAX, `mlp` and `export_onnx` read the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

# (xp, z) -> array, where xp is numpy or jax.numpy.
Function = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Activation:
    """An activation a = value(z) whose derivative is a function of its output.

    Parameters
    ----------
    value : callable
        (xp, z) -> a, where xp is numpy or jax.numpy and z an array of it.
    slope : callable
        (xp, a) -> da/dz, in terms of the output.
    c_value : str
        C expression of a in terms of `z`, both of the float type `number`; see also cpp/elementary.h.
    c_slope : str
        C expression of da/dz in terms of `a`.
    onnx : tuple (str, dict)
        ONNX operator (of opset 13) and its attributes.
    initialisation : {"he", "glorot"}
        Distribution of the weights of a layer with this activation: He et al. 2015 or Glorot and Bengio 2010.
    """

    value: Function
    slope: Function
    c_value: str
    c_slope: str
    onnx: tuple[str, dict[str, float]]
    initialisation: str


def sigmoid(xp, z):
    """Compute 1 / (1 + exp(-z)) without overflow.

    Parameters
    ----------
    xp : module
        NumPy or jax.numpy.
    z : array
        Any shape.

    Returns
    -------
    array
        In [0, 1], of the type of `z`.
    """
    small = xp.exp(-xp.abs(z))
    return xp.where(z > 0, 1.0, small) / (1.0 + small)


def softplus(xp, z):
    """Compute log(1 + exp(z)) without overflow.

    Parameters
    ----------
    xp : module
        NumPy or jax.numpy.
    z : array
        Any shape.

    Returns
    -------
    array
        At least 0, of the type of `z`.
    """
    return xp.log1p(xp.exp(-xp.abs(z))) + xp.maximum(z, 0)


ACTIVATIONS = {
    # The first: its gradient is passed on as it is, see cpp/dense.h.
    "identity": Activation(
        value=lambda xp, z: z,
        slope=lambda xp, a: xp.ones_like(a),
        c_value="z",
        c_slope="1",
        onnx=("Identity", {}),
        initialisation="glorot",
    ),
    "relu": Activation(
        value=lambda xp, z: xp.maximum(z, 0),
        slope=lambda xp, a: (a > 0).astype(a.dtype),
        c_value="z < 0 ? 0 : z",
        c_slope="a > 0",
        onnx=("Relu", {}),
        initialisation="he",
    ),
    "leaky_relu": Activation(
        value=lambda xp, z: xp.where(z > 0, z, z * 0.01),
        slope=lambda xp, a: xp.where(a > 0, 1.0, 0.01),
        c_value="z > 0 ? z : z * (number) 0.01",
        c_slope="a > 0 ? 1 : (number) 0.01",
        onnx=("LeakyRelu", {"alpha": 0.01}),
        initialisation="he",
    ),
    "elu": Activation(
        value=lambda xp, z: xp.where(z > 0, z, xp.expm1(xp.minimum(z, 0))),
        slope=lambda xp, a: xp.where(a > 0, 1.0, a + 1.0),
        c_value="z > 0 ? z : (number) expm1(z)",
        c_slope="a > 0 ? 1 : a + 1",
        onnx=("Elu", {"alpha": 1.0}),
        initialisation="he",
    ),
    "tanh": Activation(
        value=lambda xp, z: xp.tanh(z),
        slope=lambda xp, a: 1.0 - a * a,
        c_value="hyperbolic_tangent(z)",
        c_slope="1 - a * a",
        onnx=("Tanh", {}),
        initialisation="glorot",
    ),
    "sigmoid": Activation(
        value=sigmoid,
        slope=lambda xp, a: a * (1.0 - a),
        c_value="logistic(z)",
        c_slope="a * (1 - a)",
        onnx=("Sigmoid", {}),
        initialisation="glorot",
    ),
    "softplus": Activation(
        value=softplus,
        slope=lambda xp, a: -xp.expm1(-a),
        c_value="(number) log1p(exp(z > 0 ? -z : z)) + (z > 0 ? z : 0)",
        c_slope="(number) -expm1(-a)",
        onnx=("Softplus", {}),
        initialisation="glorot",
    ),
}
