"""Networks of several classes: one linear output unit for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import positive_int, require
from aesara_nondecomp.networks.feedforward import (
    Shapes,
    _check_layers,
    _dense_shapes,
    _initial_values,
    _layer_sizes,
    _layered,
    _scheme,
)
from aesara_nondecomp.networks.network import Network


def class_mlp(
    n_features: int,
    n_classes: int,
    hidden: Sequence[int] = (64, 64),
    *,
    activation: str = "relu",
    dropout: float = 0.0,
    dtype: str = "float32",
    seed: Any = None,
) -> Network:
    """Make a multi-layer perceptron with one linear output unit for each class.

    `fit` trains it where labels are of several classes.

    Parameters
    ----------
    n_features : int
        Number of columns d, at least 1.
    n_classes : int
        Number K of classes, at least 2.
    hidden : sequence of int, default (64, 64)
        Widths of the hidden layers, each at least 1, from input to output; () is a linear model.
    activation : {"relu", "leaky_relu", "elu", "tanh", "sigmoid", "softplus", "identity"}, default "relu"
        Activation of every hidden layer.
    dropout : float, default 0.0
        Probability in [0, 1) of dropping a hidden unit in training, as for `mlp`.
    dtype : {"float32", "float64"}, default "float32"
        Dtype of parameters and scores.
    seed : int, numpy Generator or None, optional
        Seed of the initial weights, which are those of `mlp`, and of the dropout masks.

    Returns
    -------
    Network
        Its scores have shape (b, K).

    Raises
    ------
    ValueError
        If a width is below 1 or there are fewer than 2 classes, the activation is unknown (the nearest is suggested),
        dropout lies outside [0, 1), or the dtype is neither of the two.
    """
    sizes = _class_sizes(n_features, n_classes, hidden)
    _check_layers(activation, dropout, dtype)

    def draw(generator: np.random.Generator) -> list[NDArray[Any]]:
        return _initial_values(sizes, _scheme("auto", activation), dtype, generator)

    description = {
        "builder": "class_mlp",
        "n_features": sizes[0],
        "n_classes": sizes[-1],
        "hidden": sizes[1:-1],
        "activation": activation,
        "dropout": dropout,
        "dtype": dtype,
    }
    return _layered(sizes[0], draw, description, seed)


def class_mlp_shapes(n_features: int, n_classes: int, hidden: Sequence[int] = (64, 64), **_: Any) -> Shapes:
    """The shapes of the parameters of a `class_mlp`.

    Parameters
    ----------
    n_features : int
        As for `class_mlp`.
    n_classes : int
        As for `class_mlp`.
    hidden : sequence of int, default (64, 64)
        As for `class_mlp`.
    **_ : object
        All else has no effect on them.

    Returns
    -------
    list of tuple of int

    Raises
    ------
    ValueError
        If a width is below 1, or there are fewer than 2 classes.
    """
    return _dense_shapes(_class_sizes(n_features, n_classes, hidden))


def _class_sizes(n_features: int, n_classes: int, hidden: Sequence[int]) -> list[int]:
    require(positive_int("n_classes", n_classes) >= 2, "n_classes must be at least 2", n_classes)
    return [*_layer_sizes(n_features, hidden)[:-1], int(n_classes)]
