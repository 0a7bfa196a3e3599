"""Linear models and multi-layer perceptrons of fused dense layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp._checks import choose, number, positive_int, random_generator, require
from aesara_nondecomp.networks.members import mean_of_members
from aesara_nondecomp.networks.network import Network
from aesara_nondecomp.ops import ACTIVATIONS, dense
from aesara_nondecomp.ops import dropout as dropped

Shapes = list[tuple[int, ...]]


def linear(n_features: int, *, dtype: str = "float32", n_scores: int = 1, seed: Any = None) -> Network:
    """Make a linear model X W + b; weights and bias start at 0.

    Parameters
    ----------
    n_features : int
        Number of columns d, at least 1.
    dtype : {"float32", "float64"}, default "float32"
        Dtype of parameters and scores.
    n_scores : int, default 1
        Number of output units: of several classes one for each.
    seed : int, numpy Generator or None, optional
        Without effect, since nothing is random; all builders take it.

    Returns
    -------
    Network

    Raises
    ------
    ValueError
        If `n_features` or `n_scores` is below 1, or the dtype is neither of the two.
    """
    return mlp(n_features, (), initialisation="zero", dtype=dtype, n_scores=n_scores, seed=seed)


def mlp(
    n_features: int,
    hidden: Sequence[int] = (64, 64),
    *,
    activation: str = "relu",
    initialisation: str = "auto",
    dropout: float = 0.0,
    dtype: str = "float32",
    n_scores: int = 1,
    seed: Any = None,
) -> Network:
    """Make a multi-layer perceptron with linear output units.

    Parameters
    ----------
    n_features : int
        Number of columns d, at least 1.
    hidden : sequence of int, default (64, 64)
        Widths of the hidden layers, each at least 1, from input to output; () is a linear model.
    activation : {"relu", "leaky_relu", "elu", "tanh", "sigmoid", "softplus", "identity"}, default "relu"
        Activation of every hidden layer.
    initialisation : {"auto", "he", "glorot", "zero"}, default "auto"
        He 2015 (normal, variance 2 / fan-in), Glorot 2010 (uniform, variance 2 / (fan-in + fan-out)), or zeros.
        "auto" is He for relu, leaky_relu and elu, and Glorot for the rest. The output layer is Glorot unless "zero".
    dropout : float, default 0.0
        Probability in [0, 1) of dropping a hidden unit in training. Kept units are scaled up, so scoring is unchanged.
        Without effect while the head is trained alone, see `Network.head_network`.
    dtype : {"float32", "float64"}, default "float32"
        Dtype of parameters and scores.
    n_scores : int, default 1
        Number of output units: of several classes one for each.
    seed : int, numpy Generator or None, optional
        Seed of the initial weights and of the dropout masks.

    Returns
    -------
    Network
        With hidden layers, the last one is its `features`, and the output units are its `head`.

    Raises
    ------
    ValueError
        If a width or `n_scores` is below 1, the activation or initialisation is unknown (the nearest is suggested),
        dropout lies outside [0, 1), or the dtype is neither of the two.
    """
    sizes = _layer_sizes(n_features, hidden, n_scores)
    _check_layers(activation, dropout, dtype)
    choose("initialisation", initialisation, {"auto": 0, "he": 0, "glorot": 0, "zero": 0})

    def draw(generator: np.random.Generator) -> list[NDArray[Any]]:
        return _initial_values(sizes, _scheme(initialisation, activation), dtype, generator)

    description = {
        "builder": "mlp",
        "n_features": sizes[0],
        "hidden": sizes[1:-1],
        "activation": activation,
        "initialisation": initialisation,
        "dropout": dropout,
        "dtype": dtype,
        "n_scores": sizes[-1],
    }
    return _layered(sizes[0], draw, description, seed)


def mlp_shapes(n_features: int, hidden: Sequence[int] = (64, 64), n_scores: int = 1, **_: Any) -> Shapes:
    """The shapes of the parameters of an `mlp`, or without hidden layers of a `linear`.

    Parameters
    ----------
    n_features : int
        As for `mlp`.
    hidden : sequence of int, default (64, 64)
        As for `mlp`.
    n_scores : int, default 1
        As for `mlp`.
    **_ : object
        All else has no effect on them.

    Returns
    -------
    list of tuple of int

    Raises
    ------
    ValueError
        If a width is below 1.
    """
    return _dense_shapes(_layer_sizes(n_features, hidden, n_scores))


def _dense_shapes(sizes: Sequence[int]) -> Shapes:
    return [shape for fan_in, fan_out in zip(sizes, sizes[1:]) for shape in ((fan_in, fan_out), (fan_out,))]


def _layer_sizes(n_features: int, hidden: Sequence[int], n_scores: int) -> list[int]:
    listed = isinstance(hidden, (Sequence, np.ndarray)) and not isinstance(hidden, (str, bytes))
    require(listed, "hidden must be a sequence of widths, such as (64, 64)", hidden)
    widths = (positive_int("a hidden width", h) for h in hidden)
    return [positive_int("n_features", n_features), *widths, positive_int("n_scores", n_scores)]


def _check_layers(activation: str, dropout: float, dtype: str) -> None:
    choose("activation", activation, ACTIVATIONS)
    check_common(dropout, dtype)


def check_common(dropout: Any, dtype: Any) -> None:
    """Check the options that all networks have.

    Parameters
    ----------
    dropout : float
        Must lie in [0, 1).
    dtype : str
        Must be "float32" or "float64".

    Raises
    ------
    ValueError
        If one of them is out of its range.
    """
    require(0 <= number("dropout", dropout) < 1, "dropout must lie in [0, 1)", dropout)
    known = isinstance(dtype, str) and dtype in ("float32", "float64")
    require(known, "dtype must be 'float32' or 'float64'", dtype)


def _layered(
    n_features: int,
    draw: Callable[[np.random.Generator], list[NDArray[Any]]],
    description: dict[str, Any],
    seed: Any,
    *,
    block: Callable[..., Any] | None = None,
    block_names: Sequence[str] = (),
    undecayed: Sequence[str] = (),
    forward: Callable[..., tuple[Any, Any]] | None = None,
) -> Network:
    """Dense layers on the rows, or on what `block` makes of the rows and the first parameters, those of its names.

    With `forward`, which computes the scores of members and the last hidden layer, they are layers of members.
    """
    activation, dropout, dtype = (description[name] for name in ("activation", "dropout", "dtype"))
    rng = random_generator(seed)
    values, n_block = draw(rng), len(block_names)
    layers = range((len(values) - n_block) // 2)
    names = [*block_names, *(f"{kind}{layer}" for layer in layers for kind in ("W", "b"))]
    parameters = [aesara.shared(value, name=name) for value, name in zip(values, names)]
    X = at.TensorType(dtype, shape=(None, n_features))("X")
    below, dense_parameters = block(X, *parameters[:n_block]) if block else X, parameters[n_block:]
    layered = forward or _forward
    outputs, features = layered(below, dense_parameters, activation)
    streams = aesara.tensor.random.utils.RandomStream(int(rng.integers(2**31))) if dropout else None
    training = layered(below, dense_parameters, activation, dropout, streams)[0] if dropout else outputs
    return Network(
        X,
        mean_of_members(outputs) if forward else outputs,
        parameters,
        training_scores=training,
        features=features,
        head=parameters[-2:] if features is not None else None,
        decayed=[p for p in parameters if p.ndim >= 2 and p.name not in undecayed],
        streams=streams,
        draw=draw,
        description=description,
        member_scores=outputs if forward else None,
    )


def _forward(
    X: Any, parameters: Sequence[Any], activation: str, dropout: float = 0.0, streams: Any = None
) -> tuple[Any, Any]:
    """Scores (b, n_scores) and the last hidden layer (None without one)."""
    layer, features = X, None
    *hidden, output = zip(parameters[::2], parameters[1::2])
    for W, b in hidden:
        layer = features = dense(layer, W, b, activation)
        if dropout:
            layer = dropped(layer, streams, dropout)
    return dense(layer, *output), features


def _scheme(initialisation: str, activation: str) -> str:
    return ACTIVATIONS[activation].initialisation if initialisation == "auto" else initialisation


def _initial_values(sizes: Sequence[int], scheme: str, dtype: str, rng: np.random.Generator) -> list[NDArray[Any]]:
    values: list[NDArray[Any]] = []
    for layer, (fan_in, fan_out) in enumerate(zip(sizes, sizes[1:])):
        is_output = layer == len(sizes) - 2
        of_layer = "glorot" if is_output and scheme == "he" else scheme
        values += [_weights(fan_in, fan_out, of_layer, rng).astype(dtype), np.zeros(fan_out, dtype)]
    return values


def _weights(fan_in: int, fan_out: int, scheme: str, rng: np.random.Generator) -> NDArray[np.float64]:
    if scheme == "zero":
        return np.zeros((fan_in, fan_out))
    if scheme == "he":
        return rng.normal(0.0, np.sqrt(2.0 / fan_in), (fan_in, fan_out))
    limit = np.sqrt(6.0 / (fan_in + fan_out))
    return rng.uniform(-limit, limit, (fan_in, fan_out))
