"""Networks of several classes: one linear output unit for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import positive_int, require
from aesara_nondecomp.networks.feedforward import (
    _check_layers,
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

    `step.class_functions` trains it; `fit` takes networks of two classes alone, which have one output unit.

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
    require(positive_int("n_classes", n_classes) >= 2, "n_classes must be at least 2", n_classes)
    sizes = [*_layer_sizes(n_features, hidden)[:-1], int(n_classes)]
    _check_layers(activation, dropout, dtype)

    def draw(generator: np.random.Generator) -> list[NDArray[Any]]:
        return _initial_values(sizes, _scheme("auto", activation), dtype, generator)

    return _layered(sizes[0], draw, {"activation": activation, "dropout": dropout, "dtype": dtype}, seed)
