"""Networks of members that share dense layers: TabM-mini (Gorishniy, Kotelnikov and Babenko 2025).

Each of k members scales the columns by factors of its own below the shared layers, and has an output unit of its own
above them. The rows of all members lie side by side, those of a row of X in one run: a hidden layer of width h has
shape (b, k h) and, as the rows of the next layer, (b k, h).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara_nondecomp._aesara.imports import at
from aesara_nondecomp.ops import dense
from aesara_nondecomp.ops import dropout as dropped


def member_layers(
    below: tuple[Any, Any], parameters: Sequence[Any], activation: str, dropout: float = 0.0, streams: Any = None
) -> tuple[Any, Any]:
    """The scores of k members, and their last hidden layer.

    Parameters
    ----------
    below : tuple of symbolic matrices, shapes (b, d) and (k, d)
        What the members share, and their factors.
    parameters : sequence of shared variables
        Weights and biases of one or more hidden layers, and of k output units.
    activation : str
        Of the hidden layers.
    dropout : float, default 0.0
        Probability of dropping a hidden unit.
    streams : RandomStream, optional
        Of the dropout masks.

    Returns
    -------
    scores : symbolic matrix, shape (b, k)
    features : symbolic matrix, shape (b, k h)
    """
    X, factors, *shared = *below, *parameters
    # Of known shapes, so that the graph needs no check of what is multiplied.
    (k, _), *shapes = (p.get_value(borrow=True).shape for p in (factors, *shared))
    factors, *shared = (at.specify_shape(p, p.get_value(borrow=True).shape) for p in (factors, *shared))
    width = [shape[0] for shape in shapes[1::2]]
    first, *others, output = zip(shared[::2], shared[1::2])
    # The factors belong to the weights as well as to the columns, and there are fewer weights.
    W = (first[0][:, None, :] * factors.T[:, :, None]).reshape((-1, k * width[0]))
    ones, zeros = np.ones((k, 1), factors.dtype), np.zeros(width[0], factors.dtype)
    repeated = dense(ones, first[1][None, :], zeros).reshape((-1,))
    layer = features = dense(X, W, repeated, activation)
    layer = dropped(layer, streams, dropout) if dropout else layer
    for below_width, above_width, (W, b) in zip(width, width[1:], others):
        features = dense(layer.reshape((-1, below_width)), W, b, activation).reshape((-1, k * above_width))
        layer = dropped(features, streams, dropout) if dropout else features
    W, b = output
    own = np.eye(k, dtype=factors.dtype)[:, None, :]  # each output unit sees the units of its member alone
    return dense(layer, (W * own).reshape((-1, k)), b), features


def mean_of_members(scores: Any) -> Any:
    """The mean score of members, as a dense layer: an Op that is compiled already.

    Parameters
    ----------
    scores : symbolic matrix, shape (b, k)
        Of the members, k known.

    Returns
    -------
    symbolic matrix, shape (b, 1)
    """
    k = scores.type.shape[1]
    return dense(scores, np.full((k, 1), 1 / k, scores.dtype), np.zeros(1, scores.dtype))
