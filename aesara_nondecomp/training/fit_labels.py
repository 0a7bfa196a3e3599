"""`fit` for a matrix of labels: one network with a score for each label, whose thresholds are chosen one by one.

Source: docs/multilabel.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp.data.label_sets import Indicators, LabelSets, read_indicators
from aesara_nondecomp.data.sample_weights import check_row_weight
from aesara_nondecomp.drivers.multiclass.labels import label_cells
from aesara_nondecomp.measures import Averaged
from aesara_nondecomp.measures.identity import identity
from aesara_nondecomp.measures.multiclass import MulticlassMeasure
from aesara_nondecomp.models.label_model import MultilabelModel
from aesara_nondecomp.parallel import Communicator, all_succeed
from aesara_nondecomp.step.label_functions import LabelFunctions
from aesara_nondecomp.training.agreement import agree_on_arguments
from aesara_nondecomp.training.early_stopping import EarlyStopping, warn_of_rows_seen
from aesara_nondecomp.training.folds import is_pair
from aesara_nondecomp.training.held_out import warn_of_few_rows
from aesara_nondecomp.training.label_held_out import label_model_fields, label_monitor_factory
from aesara_nondecomp.training.label_recipes import label_recipe
from aesara_nondecomp.training.param_checks import (
    check_compilation,
    check_further,
    check_network,
    functions_of_scores,
    refuse_unavailable,
)
from aesara_nondecomp.training.parameters import check_parameters
from aesara_nondecomp.training.run_settings import settings_of, value_or
from aesara_nondecomp.training.trainer import Trainer
from aesara_nondecomp.training.training_data import TrainingData, prepare


def fit_labels(
    X: Any,
    y: Any,
    measure: Any,
    *,
    algorithm: Any,
    network: Any,
    optimizer: Any,
    sample_weight: Any,
    validation_groups: Any,
    seed: Any,
    comm: Communicator,
    backend: str | None,
    unavailable: Mapping[str, Any],
    options: Mapping[str, Any],
) -> MultilabelModel:
    """Train a network with a score for each label: `fit` for a matrix of labels.

    Parameters
    ----------
    X : array, memory map, CSR matrix, data frame or list of str
        As for `fit`.
    y : array-like, sparse matrix or data frame, shape (n, L)
        0 and 1, or booleans.
    measure : str, Measure or Averaged
        What to train for.
    algorithm : str
        A name in `label_recipes.LABEL_ALGORITHMS`.
    network : str, sequence of int, Network, MultilabelModel or callable
        As for `fit_classes`, with a score for each label.
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
        Arguments of `fit` that a matrix of labels does not take: None if not given.
    options : mapping of str to object
        The other arguments of `fit`, not yet checked.

    Returns
    -------
    MultilabelModel

    Raises
    ------
    ValueError
        If an argument is unusable.
    """
    further = network if isinstance(network, MultilabelModel) else None
    given, measure = all_succeed(comm, lambda: _checked(measure, optimizer, backend, unavailable, options))
    stopping: EarlyStopping | None = given["validation"]
    stopping = EarlyStopping() if stopping is None and algorithm == "plug_in" else stopping
    found = _read(y, further.labels if further else None, comm)
    weight = all_succeed(comm, lambda: _weight(sample_weight, len(found.matrix)))
    all_succeed(comm, lambda: found.check_both(weight, comm=comm))
    sets, codes, rows_held_out = _sets(found, stopping and stopping.validation, comm)
    trained = all_succeed(comm, lambda: _network(X, network, given["standardize"], len(found.labels)))
    whole = label_cells(np.full(len(found.labels), 0.5))
    all_succeed(comm, lambda: label_recipe(algorithm, measure, whole, eps=0.5))  # refuses before any work
    agree_on_arguments(
        comm, given, measure=measure, network=network, optimizer=optimizer, backend=backend, algorithm=algorithm,
        seed=seed, labels=found.labels,
    )  # fmt: skip
    trainer = Trainer(given, seed, comm)
    refits = stopping is not None and stopping.refit
    if further is not None:
        warn_of_rows_seen(stopping)
    data = prepare(
        X, codes, network=trained, encoder=further.encoder if further else None, sample_weight=sample_weight,
        validation=rows_held_out, validation_groups=validation_groups, refit=refits, standardize=given["standardize"],
        seed=trainer.rng, comm=comm, sets=sets, digests=given["checkpoint"] is not None,
    )  # fmt: skip
    priors = _priors(data, sets)
    functions = _functions(data, priors, sets, optimizer, value_or(backend, "c"))
    text = data.rows.X.dtype == np.int32
    how = label_recipe(algorithm, measure, functions.cells, eps=0.5 / len(data.rows.signs), text=text)
    settings = settings_of(how.recipe, given, functions, data)
    monitor = label_monitor_factory(stopping, measure, how, settings, sets)
    choice, history, interrupted = trainer.train(
        functions, data, how.recipe.phases, settings, monitor,
        lambda choice: [None if choice.cell is None else sets[choice.cell]],
        further=further, refits=refits, measure=identity(measure), sets=[sets],
    )  # fmt: skip
    if choice.cell is not None:
        having = sets[choice.cell].sum(axis=0)
        names = [f"{which}{label!r}" for which in ("", "rows without ") for label in found.labels]
        warn_of_few_rows(names, np.concatenate([having, len(choice.cell) - having]))
    return MultilabelModel(
        functions,
        choice.parameters[0],
        measure,
        found.labels,
        priors,
        encoder=data.encoder,
        history=history,
        evaluations=list[Any](choice.evaluations),
        best_step=choice.step,
        voters=choice.parameters[1:],
        interrupted=interrupted,
        **label_model_fields(how, stopping, measure, choice, sets, found.labels),
    )


def _checked(
    measure: Any, optimizer: Any, backend: Any, unavailable: Mapping[str, Any], options: Mapping[str, Any]
) -> tuple[dict[str, Any], Averaged]:
    """The parameters and the measure as they are used."""
    refuse_unavailable(unavailable, "a matrix of labels")
    of_classes = isinstance(measure, MulticlassMeasure)
    require(not of_classes, "a matrix of labels needs a two-class measure, which is averaged over the labels", measure)
    given = check_parameters(**options)
    check_compilation(False, optimizer, backend)
    require(given["sampler"] == "natural", "sampler must be 'natural' for a matrix of labels", given["sampler"])
    return given, Averaged.get(measure)


def _read(y: Any, labels: tuple[Any, ...] | None, comm: Communicator, what: str = "labels") -> Indicators:
    """Which labels this process's rows have; a process of several may have no rows."""
    found = all_succeed(comm, lambda: None if comm.size > 1 and _is_empty(y) else read_indicators(y, labels))
    known = [own for own in comm.allgather(found and found.labels) if own]

    def of_all() -> Indicators:
        require(bool(known), f"{what} must have rows and columns", "none in any process")
        require(all(own == known[0] for own in known), "all processes need the same columns of labels", known[:3])
        return found or Indicators(np.zeros((0, len(known[0])), dtype=bool), known[0])

    return all_succeed(comm, of_all)


def _is_empty(y: Any) -> bool:
    rows = y.matrix if isinstance(y, Indicators) else y
    return bool(rows.shape[0] == 0 if hasattr(rows, "shape") else len(rows) == 0)


def _weight(sample_weight: Any, n_rows: int) -> NDArray[Any] | None:
    if sample_weight is None or not n_rows:  # a process of several may have no rows
        return None
    return check_row_weight(sample_weight, n_rows)


def _sets(found: Indicators, validation: Any, comm: Communicator) -> tuple[NDArray[Any], NDArray[Any], Any]:
    """The sets of labels, that of each row, and which rows are held out: rows of the caller's own with their sets."""
    if validation is None or not is_pair(validation):
        return *_sets_of_all(found.matrix, comm), validation
    needed = "validation needs no groups here: give (X, y)"
    all_succeed(comm, lambda: require(len(validation) == 2, needed, "three values"))
    held = _read(validation[1], found.labels, comm, "validation rows")
    all_succeed(comm, lambda: held.check_both(what="validation rows", comm=comm))
    sets, codes = _sets_of_all(np.concatenate([found.matrix, held.matrix]), comm)
    n = len(found.matrix)
    return sets, codes[:n], (validation[0], codes[n:])


def _sets_of_all(matrix: NDArray[Any], comm: Communicator) -> tuple[NDArray[Any], NDArray[Any]]:
    """The sets of labels that rows of any process have, and those of this process's rows."""
    own = LabelSets.of(matrix)
    parts = comm.allgather(own.sets)
    whole = LabelSets.of(np.concatenate(parts))
    first = sum(map(len, parts[: comm.rank]))
    return whole.sets, whole.codes[first : first + len(own.sets)][own.codes]


def _network(X: Any, network: Any, standardize: bool, n_labels: int) -> Any:
    """What is trained, or a function that makes it for a number of columns or of words."""
    if not isinstance(network, MultilabelModel):
        return check_network(X, network, None, None, standardize, n_labels)
    check_further(network, standardize)
    return network.functions.network


def _functions(
    data: TrainingData, priors: NDArray[Any], sets: NDArray[Any], optimizer: Any, backend: str
) -> LabelFunctions:
    """The functions of a network with a score for each label."""
    needed = f"{len(priors)} labels need a Network with as many scores, such as networks.mlp(n_scores=)"
    found: LabelFunctions = functions_of_scores(
        data.network,
        lambda network: LabelFunctions(network, priors, sets, value_or(optimizer, "adamw"), backend),
        data.rows.X,
        len(priors),
        needed,
    )
    return found


def _priors(data: TrainingData, sets: NDArray[Any]) -> NDArray[Any]:
    """Share of each label in the weight of the training rows."""
    assert data.rows.cell is not None
    counts = np.bincount(data.rows.cell, data.rows.weight, minlength=len(sets))
    return np.asarray(counts @ sets / counts.sum())
