"""The arguments of `fit`, alone and beside each other: each is used, or refused before anything is compiled."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from aesara_nondecomp import networks
from aesara_nondecomp._checks import check_kind, choose, positive_number, refuse_beside, require, warn_caller
from aesara_nondecomp.data.text import check_texts, is_text
from aesara_nondecomp.drivers import RowDriver
from aesara_nondecomp.networks import Network
from aesara_nondecomp.parallel import on_root
from aesara_nondecomp.step.train_functions import TrainFunctions
from aesara_nondecomp.training.recipes import Recipe

TEXT_NETWORKS = {"attention": networks.attention, "lstm": networks.lstm}


def check_kinds(*, recipe, functions, comm, initial, standardize, checkpoint, resume, progress) -> None:
    """Refuse values of a kind that no check further on would call by the argument's name."""
    check_kind("recipe", recipe, Recipe, "a Recipe")
    check_kind("functions", functions, TrainFunctions, "TrainFunctions")
    check_kind("initial", initial, (list, tuple), "a list of arrays, such as a model's `parameters`")
    check_kind("checkpoint", checkpoint, (str, os.PathLike), "the path of a file")
    check_kind("progress", progress, (bool, np.bool_), "True, False or None")
    for name, value in (("standardize", standardize), ("resume", resume)):
        require(isinstance(value, (bool, np.bool_)), f"{name} must be True or False", value)
    require(comm is None or hasattr(comm, "allgather"), "comm must be a communicator of mpi4py", comm)


def check_drivers(recipe: Recipe | None, **others: Any) -> None:
    """Refuse what a recipe of one's own leaves without effect."""
    refuse_beside(recipe, "a recipe has drivers of its own", **others)


def check_network(X, functions: TrainFunctions | None, comm, *, network, hidden, optimizer, backend) -> None:
    """Refuse what functions, a network or texts leave without effect, and networks that cannot take X."""
    theirs = {"network": network, "hidden": hidden, "optimizer": optimizer, "backend": backend}
    refuse_beside(functions, "functions have a network, an optimiser and a backend of their own", **theirs)
    refuse_beside(network, "hidden is of the default network, and `network` has widths of its own", hidden=hidden)
    check_kind("network", network, (Network, str), f"a Network or, for text, one of {', '.join(TEXT_NETWORKS)}")
    if isinstance(network, str):
        choose("network for text", network, TEXT_NETWORKS)
        check_texts(X)
    if is_text(X):
        require(comm is None, "comm needs token ids: Vocabulary.transform makes them", "texts")
        require(hidden is None, "hidden is of the default network of numbers: leave it out for texts", hidden)
    listed = isinstance(hidden, (Sequence, np.ndarray)) and not isinstance(hidden, (str, bytes))
    usable = hidden is None or listed and np.ndim(hidden) == 1
    require(usable, "hidden must be a sequence of widths, such as (64, 64)", hidden)


def check_split(recipe: Recipe, network: Network) -> None:
    """Refuse a recipe that trains the head of a network without one."""
    if network.features is None and any(phase.head_only for phase in recipe.phases):
        raise ValueError(
            "this recipe trains the head on frozen features, but the network has no split into lower part and head. "
            "Give it a hidden layer (a Network of your own: `features` and `head`), or use preset='default'."
        )


def check_unweighted(recipe: Recipe, weight: np.ndarray | None) -> None:
    """Refuse weights of rows beside a driver that counts rows."""
    counts = [type(phase.driver).__name__ for phase in recipe.phases if isinstance(phase.driver, RowDriver)]
    if counts and weight is not None and np.any(weight != 1):
        raise ValueError(f"{counts[0]} counts rows and takes no sample_weight. Leave it out, or train by a measure.")


def checked_callbacks(on_step, comm) -> list[Callable[[Any], Any]]:
    """A list of callables, which the first process alone calls."""
    several = isinstance(on_step, Iterable) and not isinstance(on_step, np.ndarray)
    callbacks = [] if on_step is None else list(on_step) if several else [on_step]
    require(all(callable(c) for c in callbacks), "on_step must be a callable or a sequence of callables", on_step)
    return callbacks if comm is None else [on_root(comm, callback) for callback in callbacks]


def checked_names(names, X) -> list[str] | None:
    """One name for each column of X, if there are any."""
    if names is None:
        return None
    require(X.dtype.kind == "f", "feature_names are of feature columns, which texts and token ids have not", names)
    require(not isinstance(names, (str, bytes)) and np.ndim(names) == 1, "feature_names must be a list of str", names)
    names, columns = [str(name) for name in names], X.shape[1]
    require(len(names) == columns, f"feature_names must name each of the {columns} columns", f"{len(names)} names")
    return names


def checked_prior(prior: float | None, observed: float) -> float:
    """The share of positives to train for: that of the labels, or another one, with a warning if it is far off."""
    if prior is None:
        return observed
    require(0 < positive_number("prior", prior) < 1, "prior must lie strictly between 0 and 1", prior)
    odds = prior / (1 - prior) / (observed / (1 - observed))
    if not 0.5 < odds < 2:
        warn_caller(
            f"prior = {prior:g} is far from the {observed:.4g} of the training labels: the measure is trained for the "
            "former. Leave it out to train for the data as they are."
        )
    return float(prior)
