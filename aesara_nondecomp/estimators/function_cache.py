"""Compiled functions by network, so that the estimators of a grid search compile once and not each."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, Union

from aesara_nondecomp import networks
from aesara_nondecomp._checks import choose
from aesara_nondecomp.networks import Network
from aesara_nondecomp.ops.optimisers import Optimiser
from aesara_nondecomp.step import TrainFunctions
from aesara_nondecomp.training.parameters import PARAMETERS

NetworkChoice = Union[str, Callable[[int], Network]]
# Options of the networks among the estimator's parameters: given for nothing beside a network that does not take them.
NETWORK_OPTIONS = ("hidden", "activation", "dropout")


class NetworkSpec(NamedTuple):
    """All that the compiled code of an estimator depends on, but for the number of columns.

    Attributes
    ----------
    network : str or callable (size -> Network)
        The estimator's parameter.
    options : tuple of (str, object)
        Options of the network that differ from their defaults, by name.
    dtype : str
        Of weights and scores.
    optimizer : Optimiser
        The update rule.
    backend : str
        "c" or "jax".
    """

    network: NetworkChoice
    options: tuple[tuple[str, Any], ...]
    dtype: str
    optimizer: Optimiser
    backend: str = "c"

    @property
    def takes_text(self) -> bool:
        """Whether the network is one for lists of str."""
        return isinstance(self.network, str) and networks.takes_tokens(self.network)


def network_spec(
    network: NetworkChoice, options: dict[str, Any], dtype: str, optimizer: Any, backend: str
) -> NetworkSpec:
    """The spec of an estimator's parameters.

    Parameters
    ----------
    network : str or callable (size -> Network)
    options : dict
        Values of `NETWORK_OPTIONS` by name, checked.
    dtype, optimizer, backend : object
        Checked parameters of the estimator.

    Returns
    -------
    NetworkSpec

    Raises
    ------
    ValueError
        If the network is unknown, or an option is given that it does not take.
    """
    if not callable(network):
        choose("network", network, networks.BUILDERS)
    taken = () if callable(network) else networks.BUILDERS[network].options
    given = {name: value for name, value in options.items() if value != PARAMETERS[name].default}
    # A sequence of widths is the mlp's; what other networks call `hidden` is one number.
    taken = tuple(name for name in taken if name != "hidden" or network == "mlp")
    foreign = {name: value for name, value in given.items() if name not in taken}
    if foreign:
        raise ValueError(
            f"network={network!r} does not take {', '.join(f'{name}={value!r}' for name, value in foreign.items())}. "
            "Leave it out; for other widths give a function of the number of columns that makes the network."
        )
    return NetworkSpec(network, tuple(given.items()), dtype, optimizer, backend)


# Bounded, as every entry keeps one network's weights, slots and averages in memory. A model keeps its own weights and
# puts them in for the time of one call, so sharing cannot mix models up; `TrainFunctions.lock` keeps threads apart.
@lru_cache(maxsize=16)
def shared_functions(spec: NetworkSpec, size: int) -> TrainFunctions:
    """The compiled functions of all estimators of one network in this process.

    Parameters
    ----------
    spec : NetworkSpec
    size : int
        Number of columns (of texts, of words) after encoding.

    Returns
    -------
    TrainFunctions
        Hold their `lock` while training with them.
    """
    if callable(spec.network):
        network = spec.network(size)
    else:
        network = networks.make(spec.network, size, dtype=spec.dtype, **dict(spec.options))
    return TrainFunctions(network, spec.optimizer, spec.backend)
