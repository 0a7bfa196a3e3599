"""Compiled functions by network shape, so that the estimators of a grid search compile once and not each."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, Union

from aesara_nondecomp import networks
from aesara_nondecomp._checks import choose, require
from aesara_nondecomp.networks import Network
from aesara_nondecomp.ops import optimisers
from aesara_nondecomp.step.train_functions import TrainFunctions
from aesara_nondecomp.training.param_checks import TEXT_NETWORKS

# What the "mlp" alone reads, with the estimator's defaults: anything else beside another network was given for nothing.
MLP_OPTIONS = {"hidden": (64, 64), "activation": "relu", "dropout": 0.0}
NetworkChoice = Union[str, Callable[[int], Network]]


class NetworkSpec(NamedTuple):
    """All that the compiled code of an estimator depends on."""

    network: NetworkChoice
    n_features: int
    """Columns of a matrix, or words of a vocabulary."""
    hidden: tuple[int, ...]
    activation: str
    dropout: float
    dtype: str
    optimizer: optimisers.Optimiser
    backend: str = "c"


# Bounded, as every entry keeps one network's weights, slots and averages in memory. A model keeps its own weights and
# puts them in for the time of one call, so sharing cannot mix models up; `TrainFunctions.lock` keeps threads apart.
@lru_cache(maxsize=16)
def shared_functions(shape: NetworkSpec) -> TrainFunctions:
    """The compiled functions of all estimators of one shape in this process.

    Hold their `lock` while training with them.

    Raises
    ------
    ValueError
        If the network is unknown, or a width, the activation, the dropout or the dtype is out of range; or one of
        the first three is given for another network than the "mlp".
    """
    return TrainFunctions(_network(shape), shape.optimizer, shape.backend)


def _network(shape: NetworkSpec) -> Network:
    require(shape.dtype in ("float32", "float64"), "dtype must be 'float32' or 'float64'", shape.dtype)
    if not callable(shape.network):
        choose("network", shape.network, dict.fromkeys(("mlp", "linear", *TEXT_NETWORKS)))
    if shape.network != "mlp":
        _check_unused(shape)
    if callable(shape.network):
        return shape.network(shape.n_features)
    if shape.network in TEXT_NETWORKS:
        return TEXT_NETWORKS[shape.network](shape.n_features, dtype=shape.dtype)
    if shape.network == "linear":
        return networks.linear(shape.n_features, dtype=shape.dtype)
    return networks.mlp(
        shape.n_features, shape.hidden, activation=shape.activation, dropout=shape.dropout, dtype=shape.dtype
    )


def _check_unused(shape: NetworkSpec) -> None:
    values = {name: getattr(shape, name) for name in MLP_OPTIONS}
    given = [f"{name}={value!r}" for name, value in values.items() if value != MLP_OPTIONS[name]]
    if given:
        raise ValueError(
            f"network={shape.network!r} takes none of {', '.join(MLP_OPTIONS)}, which are of the 'mlp', got "
            f"{', '.join(given)}. Leave them out; for a network of other widths or with dropout give `fit` one of "
            "your own (for text, one that takes token ids)."
        )
