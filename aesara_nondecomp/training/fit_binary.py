"""`fit` for labels of two classes: class weights from duals, and a threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara_nondecomp import measures
from aesara_nondecomp._checks import require, warn_caller
from aesara_nondecomp.data import encode_as
from aesara_nondecomp.drivers import CellDriver
from aesara_nondecomp.measures.identity import identity
from aesara_nondecomp.metrics.cell_threshold import CellGoal
from aesara_nondecomp.models import Model
from aesara_nondecomp.networks import Network
from aesara_nondecomp.parallel import Communicator, all_succeed
from aesara_nondecomp.step import TrainFunctions
from aesara_nondecomp.training.agreement import agree_on_arguments
from aesara_nondecomp.training.early_stopping import EarlyStopping, warn_of_rows_seen
from aesara_nondecomp.training.groups import check_group_arguments, check_held_cells
from aesara_nondecomp.training.held_out import model_fields, monitor_factory, warn_of_few_rows
from aesara_nondecomp.training.network_probe import check_scores
from aesara_nondecomp.training.param_checks import check_algorithm, check_network, check_prior, check_recipe
from aesara_nondecomp.training.parameters import check_parameters
from aesara_nondecomp.training.recipes import Problem, Recipe, constrained, resolve_recipe
from aesara_nondecomp.training.run_settings import settings_of, value_or
from aesara_nondecomp.training.trainer import Trainer
from aesara_nondecomp.training.training_data import TrainingData, prepare

if TYPE_CHECKING:  # their modules take long to load, and most runs are of two classes
    from aesara_nondecomp.step.class_functions import ClassFunctions


def fit_binary(
    X: Any,
    y: Any,
    measure: Any,
    *,
    algorithm: str | Recipe,
    network: Any,
    optimizer: Any,
    positive: Any,
    sample_weight: Any,
    groups: Any,
    validation_groups: Any,
    seed: Any,
    comm: Communicator,
    backend: str | None,
    options: Mapping[str, Any],
) -> Model:
    """Train a network of two classes: `fit` for such labels and such a measure.

    Parameters
    ----------
    X : array, memory map, CSR matrix, data frame, or list of str
        As for `fit`.
    y : array-like, shape (n,)
        Labels of two classes.
    measure : str or Measure
        What to train for.
    algorithm : str or Recipe
        As for `fit`.
    network : str, sequence of int, Network, TrainFunctions, Model or callable
        As for `fit`.
    optimizer : str, Optimiser or None
        As for `fit`.
    positive : label or None
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
    options : mapping of str to object
        The other arguments of `fit`, not yet checked.

    Returns
    -------
    Model

    Raises
    ------
    ValueError
        If an argument is unusable.
    """
    given, measure, trained = all_succeed(
        comm, lambda: _checked(X, measure, network, optimizer, backend, {**options, "algorithm": algorithm})
    )
    constraints = given["constraints"]
    uses_cells = all_succeed(
        comm, lambda: check_group_arguments(groups, measure, constraints, algorithm, given["sampler"], comm)
    )
    agree_on_arguments(
        comm, given, measure=measure, network=network, optimizer=optimizer, backend=backend, positive=positive,
        seed=seed,
    )  # fmt: skip
    trainer, further = Trainer(given, seed, comm), network if isinstance(network, Model) else None
    stopping = _with_threshold_rows(given["validation"], algorithm)
    refits = stopping is not None and stopping.refit
    if further is not None:
        positive = all_succeed(comm, lambda: _positive_of(further, y, positive))
        warn_of_rows_seen(stopping)
    data = prepare(
        X, y, network=trained, encoder=further.encoder if further else None, positive=positive,
        sample_weight=sample_weight, validation=stopping and stopping.validation, validation_groups=validation_groups,
        refit=refits, standardize=given["standardize"], seed=trainer.rng, comm=comm,
        uses_cells=uses_cells, groups=groups, digests=given["checkpoint"] is not None,
    )  # fmt: skip
    if positive is None and further is None and comm.rank == 0:
        _warn_of_frequent_positives(data, measure, constraints)
    goal = None if data.cells is None else CellGoal(measure, constraints, data.cells.groups)
    prior = check_prior(given["prior"], data.prior)
    if given["prior"] is not None:  # constraints, and what is chosen on the rows held out, are for that prior too
        data = data.with_prior(prior)
    functions = _functions(data.network, optimizer, backend)
    needed = "labels of two classes need a network with one score for a row, of shape (b,) or (b, 1)"
    all_succeed(comm, lambda: check_scores(functions, data.rows.X, 1, needed))
    recipe = all_succeed(comm, lambda: _recipe(given, measure, prior, functions.network, data))
    settings = settings_of(recipe, given, functions, data)
    monitor = monitor_factory(stopping, measure, recipe, settings, goal)
    choice, history, interrupted = trainer.train(
        functions, data, recipe.phases, settings, monitor,
        lambda choice: (choice.signs, None if choice.cell is None else choice.cell // 2),
        further=further, refits=refits, measure=identity(measure, constraints), prior=prior,
    )  # fmt: skip
    if choice.signs is not None:
        warn_of_few_rows(map(repr, data.classes), np.bincount(choice.signs > 0, minlength=2))
    threshold, found = model_fields(recipe, stopping, measure, choice, goal)
    return Model(
        functions,
        choice.parameters[0],
        measure,
        data.classes,
        prior,
        data.encoder,
        threshold,
        history=history,
        evaluations=choice.evaluations,
        best_step=choice.step,
        voters=choice.parameters[1:],
        constrained_by=constraints,
        interrupted=interrupted,
        **found,
    )


def _checked(
    X: Any, measure: Any, network: Any, optimizer: Any, backend: str | None, arguments: dict[str, Any]
) -> tuple[dict[str, Any], measures.Measure, Any]:
    """The parameters and the measure as they are used, and what is trained or makes it."""
    given = check_parameters(**arguments)
    check_algorithm(given["algorithm"], given["prior"])
    return given, measures.get(measure), check_network(X, network, optimizer, backend, given["standardize"])


def _positive_of(model: Model, y: Any, positive: Any) -> Any:
    """The positive label of a model to train further, as its scores have that meaning; other labels are refused."""
    own = model.classes[1]
    needed = f"a model to train further keeps its positive label, {own!r}"
    require(positive is None or positive == own, needed, positive)
    if y is not None and len(y):  # labels in files are checked as they are read, and a process may have no rows
        encode_as(y, model.classes)
    return own


def _recipe(
    given: Mapping[str, Any], measure: measures.Measure, prior: float, network: Network, data: TrainingData
) -> Recipe:
    constraints = given["constraints"]
    problem = Problem(prior, eps=0.5 / len(data.rows.signs), text=data.rows.X.dtype == np.int32, cells=data.cells)
    recipe = resolve_recipe(given["algorithm"], measure, problem)
    if constraints and data.cells is not None:
        recipe = constrained(recipe, constraints, data.cells)
    if data.cells is not None and any(isinstance(phase.driver, CellDriver) for phase in recipe.phases):
        check_held_cells(data.cells, data.held_cells(), measure, constraints)
    check_recipe(recipe, network, data.rows.weight, given["prior"])
    if getattr(data.rows.X, "block_rows", None) is not None and any(phase.head_only for phase in recipe.phases):
        raise ValueError(
            "this recipe trains the head on features of all rows, which have to fit in memory, and a large table in "
            "files is streamed. Use a default algorithm."
        )
    return recipe


def _warn_of_frequent_positives(
    data: TrainingData, measure: measures.Measure, constraints: Sequence[measures.Constraint]
) -> None:
    """Say which text was taken as the positive label, if it is the frequent one and the measure is about positives."""
    negative, positive = data.classes
    if data.prior <= 0.5 or not isinstance(positive, (str, bytes)):
        return
    if constraints or _changes_with_the_labels_swapped(measure, data.prior):
        warn_caller(
            f"{positive!r} is the positive label, as it comes after {negative!r} in sorted order, and {data.prior:.0%} "
            f"of the rows have it. Say which one is meant: positive={negative!r} or positive={positive!r} (pos_label= "
            "of MeasureClassifier, --positive of the command line)."
        )


def _changes_with_the_labels_swapped(measure: measures.Measure, prior: float) -> bool:
    if isinstance(measure, measures.GroupMeasure):  # the worst of both classes
        return False
    P, N = np.array([0.2, 0.9, 0.5]), np.array([0.6, 0.3, 0.8])  # noqa: N806
    return not np.allclose(measure.value(P, N, prior), measure.value(N, P, 1 - prior))


def _with_threshold_rows(stopping: EarlyStopping | None, algorithm: str | Recipe) -> EarlyStopping | None:
    """How rows are held out: also without validation, if the recipe chooses its threshold on them."""
    tunes = algorithm.threshold is None if isinstance(algorithm, Recipe) else algorithm == "plug_in"
    return EarlyStopping() if stopping is None and tunes else stopping


def _functions(
    trained: Network | TrainFunctions | ClassFunctions, optimizer: Any, backend: str | None
) -> TrainFunctions:
    if not isinstance(trained, Network) and trained.several_classes:
        raise ValueError("a measure of two classes needs a Network with one score, got ClassFunctions, of several.")
    if isinstance(trained, TrainFunctions):
        return trained
    return TrainFunctions(trained, value_or(optimizer, "adamw"), value_or(backend, "c"))
