"""`fit` for labels of several classes: the same run with gains in place of weights, and a rule in place of a threshold.

Source: docs/multiclass.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from aesara_nondecomp._checks import require
from aesara_nondecomp.data import encode_classes
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.measures.multiclass import Cells, MulticlassMeasure
from aesara_nondecomp.models import Model
from aesara_nondecomp.models.class_model import ClassModel
from aesara_nondecomp.parallel import Communicator, agree, all_succeed, distributed
from aesara_nondecomp.step import TrainFunctions
from aesara_nondecomp.step.class_functions import ClassFunctions
from aesara_nondecomp.training.agreement import stated
from aesara_nondecomp.training.checkpoints import CheckpointFile, fingerprint
from aesara_nondecomp.training.class_held_out import class_monitor_of, judged_classes
from aesara_nondecomp.training.class_labels import labels_of_all
from aesara_nondecomp.training.class_recipes import class_recipe
from aesara_nondecomp.training.cross_fitting import CrossFit
from aesara_nondecomp.training.early_stopping import EarlyStopping
from aesara_nondecomp.training.param_checks import (
    check_further,
    check_network,
    functions_of_scores,
    on_first_process,
)
from aesara_nondecomp.training.parameters import check_parameters
from aesara_nondecomp.training.recipes import Recipe
from aesara_nondecomp.training.run_settings import generator_of, placement_of, settings_of, value_or
from aesara_nondecomp.training.trainer import complete_training
from aesara_nondecomp.training.training_data import TrainingData, prepare

MOST_CLASSES = 200  # more of them are ids or counts, and the search for a rule would take hours
SAMPLERS = {"natural": "natural", "balanced": "cell_balanced"}  # the cells are the classes


def class_sampler(sampler: Any) -> str:
    """The sampler of cells that a sampler of classes is.

    Parameters
    ----------
    sampler : object
        As given to `fit`.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If it is one of two classes alone.
    """
    names = " or ".join(repr(name) for name in SAMPLERS)
    require(sampler in SAMPLERS, f"sampler must be {names} for several classes", sampler)
    return SAMPLERS[sampler]


def fit_classes(
    X: Any,
    y: Any,
    measure: Any,
    *,
    algorithm: str | Recipe,
    network: Any,
    optimizer: Any,
    sample_weight: Any,
    validation_groups: Any,
    seed: Any,
    comm: Communicator,
    backend: str | None,
    unavailable: Mapping[str, Any],
    options: Mapping[str, Any],
) -> ClassModel:
    """Train a network of several classes: `fit` for such labels or such a measure.

    Parameters
    ----------
    X : array, memory map, CSR matrix, data frame, or list of str
        As for `fit`.
    y : array-like, shape (n,)
        Labels of at least two classes.
    measure : str or measures.multiclass.MulticlassMeasure
        What to train for.
    algorithm : str or Recipe
        A name in `class_recipes.CLASS_BUILDERS`, or a recipe with drivers of `drivers.multiclass`.
    network : str, sequence of int, Network, ClassModel or callable
        A name or widths, as for `fit`; a Network with a score for each class or ClassFunctions of it, or a function
        that makes one for a number of columns (for texts, of words); a ClassModel, to train further by its functions.
    optimizer : str, Optimiser or None
        As for `fit`.
    sample_weight : array-like, shape (n,), or None
        As for `fit`.
    validation_groups : array-like, shape (n,), or None
        As for `fit`.
    seed : int, numpy Generator or None
        As for `fit`.
    comm : communicator
        As for `fit`.
    backend : {"c", "jax"} or None
        As for `fit`.
    unavailable : mapping of str to object
        Arguments of `fit` that only two classes take: None if not given.
    options : mapping of str to object
        The other arguments of `fit`, not yet checked.

    Returns
    -------
    ClassModel

    Raises
    ------
    ValueError
        If an argument is unusable.
    """
    labels = y if comm.size == 1 else labels_of_all(y, comm)
    given, measure, classes = all_succeed(comm, lambda: _checked(
        labels, measure, algorithm, network, optimizer, backend, unavailable, options
    ))  # fmt: skip
    trained = all_succeed(comm, lambda: _network(X, network, given["standardize"], classes))
    if comm.size > 1:
        chosen = {"optimizer": optimizer, "backend": backend, "seed": seed, "algorithm": algorithm}
        agree(comm, stated({**given, **chosen, "measure": measure, "network": network}))
    stopping: EarlyStopping | None = given["validation"]
    callbacks = on_first_process(given["on_step"], comm)
    stored = None if given["checkpoint"] is None else CheckpointFile(given["checkpoint"], comm)
    rng = generator_of(seed, stored, comm)
    start = dict(rng.bit_generator.state)
    stopping = EarlyStopping() if stopping is None and _needs_rows(algorithm) else stopping
    refits = stopping is not None and stopping.refit
    further = network if isinstance(network, ClassModel) else None
    data = prepare(
        X, y, network=trained, encoder=further.encoder if further else None,
        sample_weight=sample_weight, validation=stopping and stopping.validation, validation_groups=validation_groups,
        refit=refits, standardize=given["standardize"], seed=rng, comm=comm, several=True,
    )  # fmt: skip
    cells = Cells(_priors(data), None, len(classes))
    functions = _functions(data, cells, optimizer, value_or(backend, "c"))
    held_out = bool(data.folds) or data.held is not None
    recipe = class_recipe(algorithm, measure, cells, 0.5 / len(data.rows.signs), held_out, functions.network)
    settings = settings_of(recipe, given, functions, data)
    settings = settings._replace(sampler=class_sampler(given["sampler"]))
    initial = [further.parameters, *further.voters] if further else []
    with functions.lock.training():
        monitor = class_monitor_of(stopping, measure, recipe, settings, len(classes))
        placed = placement_of(functions.backend)
        spread = distributed(functions, comm)
        fitting = CrossFit(spread, data, recipe.phases, settings, monitor, rng, initial, placed)
        if stored or comm.size > 1:
            mark = fingerprint(fitting, measure=str(measure), initial=initial)
            agree(comm, mark)
        if stored:
            all_succeed(comm, lambda: stored.begin(start, mark, fitting))
        choice, parameters, interrupted = complete_training(fitting, stored, callbacks, given["progress"], refits)
    return ClassModel(
        functions,
        parameters[0],
        measure,
        data.classes,
        cells.priors,
        data.encoder,
        history=list[Any](fitting.history),
        evaluations=list[Any](choice.evaluations),
        best_step=choice.step,
        voters=parameters[1:],
        interrupted=interrupted,
        **judged_classes(recipe, stopping, measure, choice),
    )


def _checked(
    y: Any, measure: Any, algorithm: Any, network: Any, optimizer: Any, backend: Any,
    unavailable: Mapping[str, Any], options: Mapping[str, Any],
) -> tuple[dict[str, Any], MulticlassMeasure, tuple[Any, ...]]:  # fmt: skip
    """The parameters and the measure as they are used, and the classes."""
    for name, value in unavailable.items():
        require(value is None, f"{name} is for labels of two classes: of several, leave it out", value)
    given = check_parameters(**options)
    chosen_here = {"optimizer": optimizer, "backend": backend}
    check_parameters(**{name: value for name, value in chosen_here.items() if value is not None})
    class_sampler(given["sampler"])
    chosen = multiclass.get(measure)
    classes = encode_classes(y).classes
    few = f"labels must be of at most {MOST_CLASSES} classes; merge rare ones, or if y holds numbers, divide them"
    require(len(classes) <= MOST_CLASSES, few, len(classes))
    cells = Cells(np.full(len(classes), 1 / len(classes)))
    chosen.value(cells.own, cells)  # refuses, before any work, a measure that does not fit the number of classes
    class_recipe(algorithm, chosen, cells, eps=0.5)  # likewise an algorithm
    if isinstance(network, (ClassModel, ClassFunctions)):
        require(optimizer is None, "compiled functions have their own optimizer: leave optimizer out", optimizer)
    return given, chosen, classes


def _needs_rows(algorithm: str | Recipe) -> bool:
    """Whether the rule is chosen on held-out rows, which then there must be."""
    if isinstance(algorithm, Recipe):
        return algorithm.plug_in is not None
    return algorithm in ("plug_in", "plug_in_linear")


def _network(X: Any, network: Any, standardize: bool, classes: tuple[Any, ...]) -> Any:
    """What is trained, or a function that makes it for a number of columns."""
    require(not isinstance(network, (Model, TrainFunctions)), _needed(len(classes)), network)
    if isinstance(network, ClassFunctions):
        return network
    if not isinstance(network, ClassModel):
        return check_network(X, network, None, None, standardize, len(classes))
    same = network.classes == classes
    require(same, f"a model to train further must have the classes {classes}", network.classes)
    check_further(network, standardize)
    return network.functions


def _needed(n_classes: int) -> str:
    return f"labels of {n_classes} classes need a Network with as many scores, such as networks.mlp(n_scores=)"


def _functions(data: TrainingData, cells: Cells, optimizer: Any, backend: str) -> ClassFunctions:
    """The functions of a network with a score for each class."""
    found: ClassFunctions = functions_of_scores(
        data.network,
        lambda network: ClassFunctions(network, cells, value_or(optimizer, "adamw"), backend),
        data.rows.X,
        cells.n_classes,
        _needed(cells.n_classes),
        ClassFunctions,
    )
    return found


def _priors(data: TrainingData) -> Any:
    """Share of each class in the weight of the training rows."""
    assert data.rows.cell is not None
    counts = np.bincount(data.rows.cell, data.rows.weight)
    return counts / counts.sum()
