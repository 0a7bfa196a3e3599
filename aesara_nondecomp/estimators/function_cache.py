"""A cache of compiled functions by network, so that the estimators of a grid search compile only once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np

from aesara_nondecomp import networks
from aesara_nondecomp._checks import require
from aesara_nondecomp.networks import Network
from aesara_nondecomp.ops.optimisers import Optimiser
from aesara_nondecomp.step import TrainFunctions
from aesara_nondecomp.training.param_checks import AUTO, changed_options

if TYPE_CHECKING:  # slow, and most labels are of two classes
    from aesara_nondecomp.step.class_functions import ClassFunctions

NetworkChoice = Union[str, Callable[[int], Network]]


class NetworkSpec(NamedTuple):
    """Everything that the compiled code of an estimator depends on, except the number of columns.

    Attributes
    ----------
    network : str or callable (size -> Network)
        As given to the estimator.
    options : tuple of (str, object)
        Options of the network that differ from their defaults, by name.
    dtype : str
        Dtype of weights and scores.
    optimizer : Optimiser
        The update rule.
    backend : str
        "c" or "jax".
    n_scores : int
        1 for two classes; of several classes their number.
    """

    network: NetworkChoice
    options: tuple[tuple[str, Any], ...]
    dtype: str
    optimizer: Optimiser
    backend: str = "c"
    n_scores: int = 1

    @property
    def takes_text(self) -> bool:
        """Whether the network takes lists of str."""
        return isinstance(self.network, str) and self.network != AUTO and networks.takes_tokens(self.network)

    @property
    def kind_of_labels(self) -> str:
        """What the scores are of, in words."""
        return "two classes and one score" if self.n_scores == 1 else f"{self.n_scores} classes with a score each"

    def parameters_unlike(self, other: NetworkSpec) -> list[str]:
        """Names of the estimator's parameters in which two specs differ.

        Parameters
        ----------
        other : NetworkSpec
            The spec to compare with.

        Returns
        -------
        list of str
        """
        own, others = self._parameters(), other._parameters()
        return [name for name in {**own, **others} if own.get(name) != others.get(name)]

    def resolved(self, description: Mapping[str, Any]) -> NetworkSpec:
        """The spec of the network that the rows have chosen, from which it is made again.

        Parameters
        ----------
        description : mapping
            Of the network; see `Network.description`.

        Returns
        -------
        NetworkSpec
        """
        if self.network not in (AUTO, "tabular"):
            return self
        options = {}
        if description["builder"] == "tabular":
            options = {name: tuple(description[name]) for name in ("hidden", "numeric")}
            options["bins"] = tuple(map(tuple, description["bins"]))
        return self._chosen(description["builder"], options)

    def functions(self, name: str, size: int, options: dict[str, Any]) -> TrainFunctions | ClassFunctions:
        """The shared functions of a network that the rows have chosen.

        Parameters
        ----------
        name : str
            The network.
        size : int
            Number of columns.
        options : dict
            What follows from the rows.

        Returns
        -------
        TrainFunctions or ClassFunctions
        """
        return shared_functions(self._chosen(name, options), size)

    def new_network(self, name: str, size: int, options: dict[str, Any]) -> Network:
        """A network that the rows have chosen, not compiled.

        Parameters
        ----------
        name : str
            The network.
        size : int
            Number of columns.
        options : dict
            What follows from the rows.

        Returns
        -------
        Network
        """
        return make_network(self._chosen(name, options), size)

    def _parameters(self) -> dict[str, Any]:
        """Values of the estimator's parameters; without options of the network that have their defaults."""
        values = {**self._asdict(), **dict(self.options)}
        del values["options"], values["n_scores"]  # the latter follows from labels and measure
        return values

    def _chosen(self, name: str, options: dict[str, Any]) -> NetworkSpec:
        """Options of the rows, and of the estimator, which count more."""
        return self._replace(network=name, options=tuple({**options, **dict(self.options)}.items()))


def make_network(spec: NetworkSpec, size: int) -> Network:
    """Make the network of a spec, which is not one that the rows choose.

    Parameters
    ----------
    spec : NetworkSpec
        What is made.
    size : int
        Number of columns after encoding; for texts, number of words.

    Returns
    -------
    Network

    Raises
    ------
    ValueError
        If a function returns something else.
    """
    if callable(spec.network):
        made = spec.network(size)
        require(isinstance(made, Network), "the network function must return a Network", made)
        return made
    return networks.make(spec.network, size, dtype=spec.dtype, n_scores=spec.n_scores, **dict(spec.options))


def network_spec(
    network: NetworkChoice, options: dict[str, Any], dtype: str, optimizer: Any, backend: str
) -> NetworkSpec:
    """Make the spec of an estimator's network.

    Parameters
    ----------
    network : str or callable (size -> Network)
        As given to the estimator.
    options : dict
        Checked values of `NETWORK_OPTIONS`, by name.
    dtype : {"float32", "float64"}
        Dtype of weights and scores.
    optimizer : Optimiser
        The update rule.
    backend : {"c", "jax"}
        What compiles.

    Returns
    -------
    NetworkSpec

    Raises
    ------
    ValueError
        If the network is unknown, or does not take one of the options.
    """
    changed = changed_options(network, options)
    return NetworkSpec(network, tuple(changed.items()), dtype, optimizer, backend)


# Bounded, as every entry keeps one network's weights, slots and averages in memory. A model keeps its own weights and
# scores with them, so sharing cannot mix models up; one training waits for another (`TrainFunctions.lock`).
@lru_cache(maxsize=16)
def shared_functions(spec: NetworkSpec, size: int) -> TrainFunctions | ClassFunctions:
    """Return the compiled functions shared by all estimators of one network in this process.

    Parameters
    ----------
    spec : NetworkSpec
        What is compiled.
    size : int
        Number of columns after encoding; for texts, number of words.

    Returns
    -------
    TrainFunctions or ClassFunctions
        Hold their `lock` while training with them.
    """
    network = make_network(spec, size)
    if spec.n_scores == 1:
        return TrainFunctions(network, spec.optimizer, spec.backend)
    from aesara_nondecomp.measures.multiclass import Cells
    from aesara_nondecomp.step.class_functions import ClassFunctions

    even = Cells(np.full(spec.n_scores, 1 / spec.n_scores))  # each training says what the shares of its rows are
    return ClassFunctions(network, even, spec.optimizer, spec.backend)
