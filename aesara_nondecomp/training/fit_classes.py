"""`fit` for labels of several classes: the same run with gains in place of weights, and a rule in place of a threshold.

Source: docs/multiclass.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from aesara_nondecomp._checks import require
from aesara_nondecomp.data import encode_classes
from aesara_nondecomp.data.class_order import check_class_order
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.measures.identity import identity
from aesara_nondecomp.measures.multiclass import Cells, GroupedCells, GroupMeasure, MulticlassMeasure
from aesara_nondecomp.metrics.class_goal import ClassGoal
from aesara_nondecomp.models import Model
from aesara_nondecomp.models.class_model import ClassModel
from aesara_nondecomp.parallel import Communicator, all_succeed
from aesara_nondecomp.step import TrainFunctions
from aesara_nondecomp.step.class_functions import ClassFunctions
from aesara_nondecomp.training.agreement import agree_on_arguments
from aesara_nondecomp.training.class_held_out import class_model_fields, class_monitor_factory
from aesara_nondecomp.training.class_labels import labels_of_all
from aesara_nondecomp.training.class_recipes import class_recipe
from aesara_nondecomp.training.early_stopping import EarlyStopping, warn_of_rows_seen
from aesara_nondecomp.training.groups import check_group_arguments, check_held_cells
from aesara_nondecomp.training.held_out import warn_of_few_rows
from aesara_nondecomp.training.param_checks import (
    check_compilation,
    check_further,
    check_network,
    functions_of_scores,
    refuse_unavailable,
)
from aesara_nondecomp.training.parameters import check_parameters
from aesara_nondecomp.training.recipes import Recipe
from aesara_nondecomp.training.run_settings import settings_of, value_or
from aesara_nondecomp.training.trainer import Trainer
from aesara_nondecomp.training.training_data import TrainingData, prepare

MOST_CLASSES = 200  # more of them are ids or counts, and the search for a rule would take hours
SAMPLERS = {"natural": "natural", "balanced": "cell_balanced"}  # the cells are the classes
WITH_GROUPS = {"natural": "natural", "cell_balanced": "cell_balanced"}


def class_sampler(sampler: Any, grouped: bool = False) -> str:
    """Translate a sampler of classes into the sampler of cells that draws the same batches.

    Parameters
    ----------
    sampler : object
        As given to `fit`.
    grouped : bool, default False
        Whether there are groups, whose cells are then balanced in place of the classes.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If it is unknown, or a sampler for two classes only.
    """
    known = WITH_GROUPS if grouped else SAMPLERS
    names, what = " or ".join(repr(name) for name in known), "in groups" if grouped else "without groups"
    require(sampler in known, f"sampler must be {names} for several classes {what}", sampler)
    return known[sampler]


def fit_classes(
    X: Any,
    y: Any,
    measure: Any,
    *,
    algorithm: str | Recipe,
    network: Any,
    optimizer: Any,
    sample_weight: Any,
    groups: Any,
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
    groups : array-like of shape (n,), table or None
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
        Arguments of `fit` that several classes do not take: None if not given.
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
    if not isinstance(network, ClassModel) or str(network.measure) != str(measure):
        all_succeed(comm, lambda: check_class_order(y, classes, measure))
    constraints = given["constraints"]
    uses_cells = all_succeed(comm, lambda: _check_groups(groups, measure, given, algorithm, comm))
    trained = all_succeed(comm, lambda: _network(X, network, given["standardize"], classes))
    agree_on_arguments(
        comm, given, measure=measure, network=network, optimizer=optimizer, backend=backend, algorithm=algorithm,
        seed=seed,
    )  # fmt: skip
    trainer = Trainer(given, seed, comm)
    stopping: EarlyStopping | None = given["validation"]
    stopping = EarlyStopping() if stopping is None and _needs_rows(algorithm) else stopping
    refits = stopping is not None and stopping.refit
    further = network if isinstance(network, ClassModel) else None
    if further is not None:
        warn_of_rows_seen(stopping)
    data = prepare(
        X, y, network=trained, encoder=further.encoder if further else None,
        sample_weight=sample_weight, validation=stopping and stopping.validation, validation_groups=validation_groups,
        refit=refits, standardize=given["standardize"], seed=trainer.rng, comm=comm, multiclass=True,
        uses_cells=uses_cells, groups=groups, digests=given["checkpoint"] is not None,
    )  # fmt: skip
    cells = Cells(_priors(data), None, len(classes)) if data.cells is None else data.cells
    assert isinstance(cells, Cells)
    held_out = bool(data.folds) or data.held is not None
    tuned = held_out and stopping is not None and stopping.tune_threshold is not False
    goal = ClassGoal(measure, constraints, cells, tuned) if isinstance(cells, GroupedCells) else None
    functions = _functions(data, cells, optimizer, value_or(backend, "c"))
    eps, by_offsets = 0.5 / len(data.rows.signs), goal is not None and goal.by_offsets
    recipe = class_recipe(algorithm, measure, cells, eps, held_out, functions.network, constraints, by_offsets)
    if goal is not None:
        moves = any(phase.driver.moves for phase in recipe.phases)
        check_held_cells(cells, data.held_cells(), measure, constraints, moves)
    settings = settings_of(recipe, given, functions, data)
    settings = settings._replace(sampler=class_sampler(given["sampler"], groups is not None))
    monitor = class_monitor_factory(stopping, measure, recipe, settings, len(classes), goal)
    choice, history, interrupted = trainer.train(
        functions, data, recipe.phases, settings, monitor, lambda choice: [choice.cell],
        further=further, refits=refits, measure=identity(measure, constraints),
    )  # fmt: skip
    if choice.cell is not None:
        n_classes = len(data.classes)
        warn_of_few_rows(map(repr, data.classes), np.bincount(choice.cell % n_classes, minlength=n_classes))
    return ClassModel(
        functions,
        choice.parameters[0],
        measure,
        data.classes,
        cells.priors,
        data.encoder,
        history=history,
        evaluations=list[Any](choice.evaluations),
        best_step=choice.step,
        voters=choice.parameters[1:],
        constrained_by=constraints,
        interrupted=interrupted,
        **class_model_fields(recipe, stopping, measure, choice, goal),
    )


def _checked(
    y: Any, measure: Any, algorithm: Any, network: Any, optimizer: Any, backend: Any,
    unavailable: Mapping[str, Any], options: Mapping[str, Any],
) -> tuple[dict[str, Any], MulticlassMeasure, tuple[Any, ...]]:  # fmt: skip
    """The parameters and the measure as they are used, and the classes."""
    refuse_unavailable(unavailable, "several classes")
    given = check_parameters(**options)
    check_compilation(isinstance(network, (ClassModel, ClassFunctions)), optimizer, backend)
    chosen = multiclass.get(measure)
    classes = encode_classes(y).classes
    few = f"labels must be of at most {MOST_CLASSES} classes; merge rare ones, or if y holds numbers, divide them"
    require(len(classes) <= MOST_CLASSES, few, len(classes))
    of_classes = Cells(np.full(len(classes), 1 / len(classes)))
    of_groups = isinstance(chosen, GroupMeasure)
    cells = GroupedCells.of(np.arange(len(classes)), ("all",), classes) if of_groups else of_classes
    chosen.value(cells.own, cells)  # refuses, before any work, a measure that does not fit the number of classes
    class_recipe(algorithm, chosen, of_classes if isinstance(algorithm, Recipe) else cells, eps=0.5)  # or an algorithm
    one_each = GroupedCells.of(np.arange(len(classes)), (), classes)
    for constraint in given["constraints"]:
        one_each.against_rest(constraint)  # refuses one of no class
    return given, chosen, classes


def _check_groups(groups: Any, measure: MulticlassMeasure, given: dict[str, Any], algorithm: Any, comm: Any) -> bool:
    """Whether groups or constraints play a part; refuses what does not go with them."""
    needed = check_group_arguments(groups, measure, given["constraints"], algorithm, given["sampler"], comm)
    class_sampler(given["sampler"], groups is not None)
    tuned = given["validation"] is not None and given["validation"].tune_threshold is True
    if needed and (tuned or _needs_rows(algorithm)):
        asked = "tune_threshold=True" if tuned else f"algorithm={algorithm!r}"
        raise ValueError(
            f"a plug-in rule of several classes is chosen without groups and constraints, got {asked}. Drop that "
            "option, or drop groups and constraints."
        )
    return needed


def _needs_rows(algorithm: str | Recipe) -> bool:
    """Whether the algorithm chooses its rule on held-out rows, and so requires some."""
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
    if isinstance(data.network, ClassFunctions):
        data.network.divide(cells)
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
