"""Checks of `fit`'s parameters against each other and the data: one that would have no effect is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import networks
from aesara_nondecomp._arrays import as_floats
from aesara_nondecomp._checks import choose, require, shown, warn_caller
from aesara_nondecomp.data.text import check_texts, is_text
from aesara_nondecomp.drivers import RowDriver
from aesara_nondecomp.models import Model
from aesara_nondecomp.models.network_model import NetworkModel
from aesara_nondecomp.networks import Network
from aesara_nondecomp.step import TrainFunctions
from aesara_nondecomp.training.network_probe import check_scores
from aesara_nondecomp.training.parameters import PARAMETERS, check_parameters
from aesara_nondecomp.training.recipes import Recipe
from aesara_nondecomp.training.table_network import network_maker

AUTO = "auto"
# Options of a network; a network that does not take one refuses it.
NETWORK_OPTIONS = ("hidden", "activation", "dropout", "members")


def changed_options(network: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a network that differ from their defaults.

    Parameters
    ----------
    network : str or callable
        What is trained; a function that makes a network takes no options.
    options : mapping of str to object
        Checked values of `NETWORK_OPTIONS`, by name.

    Returns
    -------
    dict of str to object

    Raises
    ------
    ValueError
        If the network is unknown, or does not take one of them.
    """
    if isinstance(network, (Network, TrainFunctions)):  # a clone of an estimator could not copy it
        raise ValueError(
            "network must be a name, or a function that makes a new Network for a number of columns: give "
            f"network=lambda columns: ..., got {shown(network)}"
        )
    known = {AUTO: networks.BUILDERS["tabular"], **networks.BUILDERS}  # all that "auto" may choose take these options
    taken = () if callable(network) else choose("network", network, known).options
    # Networks of numbers take a sequence of widths; in others `hidden` is one number.
    taken = tuple(name for name in taken if name != "hidden" or known[network].takes == "numbers")
    changed = {name: value for name, value in options.items() if value != PARAMETERS[name].default}
    foreign = {name: value for name, value in changed.items() if name not in taken}
    if foreign:
        raise ValueError(
            f"network={network!r} does not take {', '.join(f'{name}={value!r}' for name, value in foreign.items())}. "
            "Leave it out; for other widths give a function of the number of columns that makes the network."
        )
    return changed


def check_network(X: Any, network: Any, optimizer: Any, backend: Any, standardize: bool, n_scores: int = 1) -> Any:
    """Resolve the argument `network` of `fit` to what `training_data.prepare` takes.

    Parameters
    ----------
    X : object
        The inputs.
    network : str, sequence of int, Network, TrainFunctions, Model, callable or None
        As given to `fit`.
    optimizer : str, Optimiser or None
        As given to `fit`; compiled functions have their own.
    backend : str or None
        As given to `fit`; compiled functions have their own.
    standardize : bool
        As given to `fit`; a model that standardises goes on doing so.
    n_scores : int, default 1
        Number of scores of a row, of a network that is made here.

    Returns
    -------
    Network, TrainFunctions or callable (size -> Network or TrainFunctions)

    Raises
    ------
    ValueError
        If the network is of no known kind, cannot take X, or leaves another argument without effect.
    """
    check_compilation(isinstance(network, (Model, TrainFunctions)), optimizer, backend)
    if isinstance(network, Model):
        check_further(network, standardize)
        return network.functions

    def make(name: str, size: int, options: dict[str, Any]) -> Network:
        return networks.make(name, size, n_scores=n_scores, **options)

    if isinstance(network, (Network, TrainFunctions)):
        require(not is_text(X), "a network of your own takes token ids: Vocabulary.transform makes them", "texts")
        return network
    if network is None or isinstance(network, str) and network in (AUTO, "tabular"):
        require(
            network != "tabular" or not is_text(X), "network='tabular' takes numbers: use attention or lstm", "texts"
        )
        return network_maker("attention" if is_text(X) else network, make, n_scores)
    if isinstance(network, str):
        check_parameters(network=network)
        if networks.takes_tokens(network):
            shape = getattr(X, "shape", (0,))
            require(len(shape) == 1, f"texts must be a list of str for network={network!r}", f"shape {shape}")
            check_texts(X)
        else:
            require(not is_text(X), f"network={network!r} takes numbers: use attention or lstm for text", "texts")
        return network_maker(network, make, n_scores)
    if callable(network):
        return network
    own = "TrainFunctions, a Model" if n_scores == 1 else "a ClassModel"
    kinds = f"network must be a name, a sequence of widths, a Network, {own} or a callable"
    require(isinstance(network, (Sequence, np.ndarray)), kinds, network)
    require(not is_text(X), "widths build an mlp, which takes numbers: use attention or lstm for text", network)
    hidden = PARAMETERS["hidden"].check("network", network)
    return lambda size: make("mlp", size, {"hidden": hidden})


def refuse_unavailable(given: Mapping[str, Any], kind: str) -> None:
    """Refuse arguments of `fit` that do not go with the labels or the table.

    Parameters
    ----------
    given : mapping of str to object
        By name, None for those that are not given.
    kind : str
        What they do not go with, such as "several classes".

    Raises
    ------
    ValueError
        If one is given.
    """
    for name, value in given.items():
        require(value is None, f"{name} is not available for {kind}: leave it out", value)


def check_compilation(compiled: bool, optimizer: Any, backend: Any) -> None:
    """Check how a network is to be compiled, which compiled functions have decided.

    Parameters
    ----------
    compiled : bool
        Whether `network` is compiled functions, or a model, which has some.
    optimizer : str, Optimiser or None
        As given to `fit`.
    backend : str or None
        As given to `fit`.

    Raises
    ------
    ValueError
        If one is unknown, or given beside compiled functions.
    """
    for name, value in (("optimizer", optimizer), ("backend", backend)):
        if value is not None:
            require(not compiled, f"compiled functions have their own {name}: leave {name} out", value)
            check_parameters(**{name: value})


def check_further(model: NetworkModel, standardize: bool) -> None:
    """Check a model that is to be trained further.

    Parameters
    ----------
    model : Model, ClassModel or MultilabelModel
        As given to `fit`.
    standardize : bool
        As given to `fit`; a model that standardises goes on doing so.

    Raises
    ------
    ValueError
        If its weights are not those of its network, or `standardize` would be without effect.
    """
    scales = model.encoder.standardiser is not None
    require(standardize or not scales, "this model standardises its rows: leave standardize out", standardize)
    shapes = [p.get_value(borrow=True).shape for p in model.functions.network.parameters]
    for parameters in (model.parameters, *model.voters):
        needed = f"the parameters of a model to train further must be finite arrays of the shapes {shapes}"
        require(isinstance(parameters, (list, tuple)), needed, parameters)
        arrays = [as_floats(value, "the parameters of a model to train further") for value in parameters]
        found = [array.shape for array in arrays]
        require(found == shapes, needed, found)
        require(all(np.isfinite(array).all() for array in arrays), needed, "NaN or infinity")


def functions_of_scores(
    trained: Any, make: Callable[[Network], Any], rows: Any, n_scores: int, needed: str, ready: Any = ()
) -> Any:
    """The compiled functions of a network with a score for each class or label.

    Parameters
    ----------
    trained : object
        What `prepare` has chosen: a network, or functions.
    make : callable (Network) -> ClassFunctions
        Makes them of a network.
    rows : array, LazyRows, CSR matrix or DistributedRows, shape (n, d)
        Rows to train on.
    n_scores : int
        Number of classes or labels.
    needed : str
        What is needed, for the message.
    ready : type, optional
        Of compiled functions that are taken as they are. Default: none are.

    Returns
    -------
    ClassFunctions

    Raises
    ------
    ValueError
        If it is no network of so many scores, or `network_probe.check_scores` refuses it.
    """
    functions = trained
    if not isinstance(trained, ready):
        require(isinstance(trained, Network) and trained.scores.ndim == 2, needed, trained)
        functions = make(trained)
    check_scores(functions, rows, n_scores, needed)
    return functions


def check_recipe(recipe: Recipe, network: Network, weight: NDArray[Any] | None, prior: float | None) -> None:
    """Refuse a recipe that is incompatible with the network, with sample weights or with a prior.

    Parameters
    ----------
    recipe : Recipe
        How to train.
    network : Network
        What is trained.
    weight : array, shape (n,), or None
        Weights of the training rows.
    prior : float or None
        As given to `fit`.

    Raises
    ------
    ValueError
        If the recipe is of several classes, trains the head of a network without one, or its driver counts rows and
        they have weights, or are to count for another prior.
    """
    several = [type(phase.driver).__name__ for phase in recipe.phases if phase.driver.several_classes]
    require(not several, "labels of two classes need a recipe without drivers of drivers.multiclass", several)
    if network.features is None and any(phase.head_only for phase in recipe.phases):
        raise ValueError(
            "this recipe trains the head on frozen features, but the network has no split into lower part and head. "
            "Give it a hidden layer (a Network of your own: `features` and `head`), or use a default algorithm."
        )
    counts = [type(phase.driver).__name__ for phase in recipe.phases if isinstance(phase.driver, RowDriver)]
    if counts and weight is not None and np.any(weight != 1):
        raise ValueError(f"{counts[0]} counts rows and takes no sample_weight. Leave it out, or train by a measure.")
    if counts and prior is not None:
        raise ValueError(f"{counts[0]} counts rows and takes no prior, got {prior:g}. Leave it out, or use 'auto'.")


def check_algorithm(algorithm: str | Recipe, prior: float | None) -> None:
    """Refuse a prior beside a recipe, whose drivers have their own.

    Parameters
    ----------
    algorithm : str or Recipe
        As given to `fit`.
    prior : float or None
        As given to `fit`.

    Raises
    ------
    ValueError
        If both are given.
    """
    require(
        prior is None or not isinstance(algorithm, Recipe), "a recipe has a prior of its own: leave prior out", prior
    )


def check_prior(prior: float | None, observed: float) -> float:
    """Choose the prior to train for, with a warning if it is far from that of the labels.

    Parameters
    ----------
    prior : float or None
        As given to `fit`, in (0, 1).
    observed : float
        Share of positives of the labels, in (0, 1).

    Returns
    -------
    float
        `prior`, or `observed` if it is None.
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
