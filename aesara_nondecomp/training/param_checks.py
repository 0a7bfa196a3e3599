"""The parameters of `fit` beside each other and beside the data: each takes effect, or is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import networks
from aesara_nondecomp._checks import choose, require, warn_caller
from aesara_nondecomp.data.text import check_texts, is_text
from aesara_nondecomp.drivers import RowDriver
from aesara_nondecomp.models import Model
from aesara_nondecomp.networks import Network
from aesara_nondecomp.parallel import Communicator, on_root
from aesara_nondecomp.step import TrainFunctions
from aesara_nondecomp.training.parameters import check_parameters
from aesara_nondecomp.training.recipes import Recipe


def check_network(X: Any, network: Any, optimizer: Any, backend: Any) -> Any:
    """What is trained, as `training_data.prepare` takes it.

    Parameters
    ----------
    X : object
        The inputs.
    network : name, sequence of int, Network, TrainFunctions, Model, callable or None
        As given to `fit`.
    optimizer, backend : object or None
        As given to `fit`; compiled functions have their own.

    Returns
    -------
    Network, TrainFunctions or callable (size -> Network or TrainFunctions)

    Raises
    ------
    ValueError
        If the network is of none of these kinds, cannot take X, or leaves another argument without effect.
    """
    if isinstance(network, (Model, TrainFunctions)):
        for name, value in (("optimizer", optimizer), ("backend", backend)):
            require(value is None, f"compiled functions have their own {name}: leave {name} out", value)
        return network.functions if isinstance(network, Model) else network
    if isinstance(network, Network):
        require(not is_text(X), "a network of your own takes token ids: Vocabulary.transform makes them", "texts")
        return network
    if network is None:
        return _maker("attention" if is_text(X) else "mlp")
    if isinstance(network, str):
        choose("network", network, networks.BUILDERS)
        if networks.takes_tokens(network):
            check_texts(X)
        else:
            require(not is_text(X), f"network={network!r} takes numbers: use attention or lstm for text", "texts")
        return _maker(network)
    if callable(network):
        return network
    kinds = "network must be a name, a sequence of widths, a Network, TrainFunctions, a Model or a callable"
    require(isinstance(network, (Sequence, np.ndarray)), kinds, network)
    require(not is_text(X), "widths are of the network of numbers: use attention or lstm for text", network)
    return _maker("mlp", hidden=check_parameters(hidden=network)["hidden"])


def _maker(name: str, **options: Any) -> Callable[[int], Network]:
    return lambda size: networks.make(name, size, **options)


def check_recipe(recipe: Recipe, network: Network, weight: NDArray[Any] | None) -> None:
    """Refuse a recipe that the network or the weights of the rows do not go with.

    Parameters
    ----------
    recipe : Recipe
    network : Network
    weight : array, shape (n,), or None
        Of the training rows.

    Raises
    ------
    ValueError
        If the recipe trains the head of a network without one, or its driver counts rows and these have weights.
    """
    if network.features is None and any(phase.head_only for phase in recipe.phases):
        raise ValueError(
            "this recipe trains the head on frozen features, but the network has no split into lower part and head. "
            "Give it a hidden layer (a Network of your own: `features` and `head`), or use a default algorithm."
        )
    counts = [type(phase.driver).__name__ for phase in recipe.phases if isinstance(phase.driver, RowDriver)]
    if counts and weight is not None and np.any(weight != 1):
        raise ValueError(f"{counts[0]} counts rows and takes no sample_weight. Leave it out, or train by a measure.")


def check_prior(prior: float | None, observed: float) -> float:
    """The share of positives to train for.

    Parameters
    ----------
    prior : float in (0, 1), or None
        As given; one far from the labels' is warned of.
    observed : float in (0, 1)
        That of the labels.

    Returns
    -------
    float
    """
    if prior is None:
        return observed
    odds = prior / (1 - prior) / (observed / (1 - observed))
    if not 0.5 < odds < 2:
        warn_caller(
            f"prior = {prior:g} is far from the {observed:.4g} of the training labels: the measure is trained for the "
            "former. Leave it out to train for the data as they are."
        )
    return prior


def on_first_process(callbacks: Sequence[Callable[[Any], Any]], comm: Communicator) -> list[Callable[[Any], Any]]:
    """Callbacks that the first process alone calls, and whose answer goes to all."""
    return list(callbacks) if comm.size == 1 else [on_root(comm, callback) for callback in callbacks]
