"""Compiled functions by network shape, so that the estimators of a grid search compile once and not each."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, Union

from aesara_nondecomp import networks, optimisers
from aesara_nondecomp._checks import choose, require
from aesara_nondecomp.compiled import TrainFunctions
from aesara_nondecomp.fitting import TEXT_NETWORKS
from aesara_nondecomp.networks import Network

NetworkChoice = Union[str, Callable[[int], Network]]


class Shape(NamedTuple):
    """All that the compiled code of an estimator depends on."""

    network: NetworkChoice
    n_features: int
    """Columns of a matrix, or words of a vocabulary."""
    hidden: tuple[int, ...]
    activation: str
    dropout: float
    dtype: str
    optimiser: optimisers.Optimiser
    backend: str = "c"


# Bounded, as every entry keeps one network's weights, slots and averages in memory. A model keeps its own weights and
# puts them in for the time of one call, so sharing cannot mix models up; `TrainFunctions.lock` keeps threads apart.
@lru_cache(maxsize=16)
def shared_functions(shape: Shape) -> TrainFunctions:
    """The compiled functions of all estimators of one shape in this process.

    Hold their `lock` while training with them.

    Raises
    ------
    ValueError
        If the network is unknown, or a width, the activation, the dropout or the dtype is out of range.
    """
    return TrainFunctions(_network(shape), shape.optimiser, shape.backend)


def _network(shape: Shape) -> Network:
    require(shape.dtype in ("float32", "float64"), "dtype must be 'float32' or 'float64'", shape.dtype)
    if callable(shape.network):
        return shape.network(shape.n_features)
    choose("network", shape.network, dict.fromkeys(("mlp", "linear", *TEXT_NETWORKS)))
    if shape.network in TEXT_NETWORKS:
        return TEXT_NETWORKS[shape.network](shape.n_features)
    if shape.network == "linear":
        return networks.linear(shape.n_features, dtype=shape.dtype)
    return networks.mlp(
        shape.n_features, shape.hidden, activation=shape.activation, dropout=shape.dropout, dtype=shape.dtype
    )
