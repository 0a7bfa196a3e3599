"""`fit` for a matrix of labels: one network with a score for each label, whose thresholds are chosen one by one.

Source: docs/multilabel.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_vector
from aesara_nondecomp._checks import require
from aesara_nondecomp.data.label_sets import Indicators, LabelSets, read_indicators
from aesara_nondecomp.drivers.multiclass.labels import label_cells
from aesara_nondecomp.measures import Averaged
from aesara_nondecomp.measures.multiclass import MulticlassMeasure
from aesara_nondecomp.models.label_model import MultilabelModel
from aesara_nondecomp.parallel import Communicator
from aesara_nondecomp.step.label_functions import LabelFunctions
from aesara_nondecomp.training.checkpoints import CheckpointFile, fingerprint
from aesara_nondecomp.training.cross_fitting import CrossFit
from aesara_nondecomp.training.early_stopping import EarlyStopping
from aesara_nondecomp.training.holdout import is_pair
from aesara_nondecomp.training.label_held_out import judged_labels, label_monitor_of
from aesara_nondecomp.training.label_recipes import label_recipe
from aesara_nondecomp.training.param_checks import check_further, check_network, functions_of_scores
from aesara_nondecomp.training.parameters import check_parameters
from aesara_nondecomp.training.run_settings import generator_of, placement_of, settings_of, value_or
from aesara_nondecomp.training.trainer import complete_training
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
        Of a single process.
    backend : {"c", "jax"} or None
        As for `fit`.
    unavailable : mapping of str to object
        Arguments of `fit` that only two classes take: None if not given.
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
    given, measure = _checked(measure, optimizer, backend, comm, unavailable, options)
    found = read_indicators(y, further.labels if further else None)
    found.check_both(_weight(sample_weight, len(found.matrix)))
    stopping: EarlyStopping | None = given["validation"]
    stopping = EarlyStopping() if stopping is None and algorithm == "plug_in" else stopping
    sets, codes, rows_held_out = _sets(found, stopping and stopping.validation)
    label_recipe(algorithm, measure, label_cells(found.matrix.mean(axis=0)), eps=0.5)  # refuses before any work
    stored = None if given["checkpoint"] is None else CheckpointFile(given["checkpoint"], comm)
    rng = generator_of(seed, stored, comm)
    start = dict(rng.bit_generator.state)
    refits = stopping is not None and stopping.refit
    trained = _network(X, network, given["standardize"], len(found.labels))
    data = prepare(
        X, codes, network=trained,
        encoder=further.encoder if further else None, sample_weight=sample_weight, validation=rows_held_out,
        validation_groups=validation_groups, refit=refits, standardize=given["standardize"], seed=rng, sets=sets,
    )  # fmt: skip
    priors = _priors(data, sets)
    functions = _functions(data, priors, sets, optimizer, value_or(backend, "c"))
    text = data.rows.X.dtype == np.int32
    how = label_recipe(algorithm, measure, functions.cells, eps=0.5 / len(data.rows.signs), text=text)
    settings = settings_of(how.recipe, given, functions, data)
    initial = [further.parameters, *further.voters] if further else []
    with functions.lock.training():
        monitor = label_monitor_of(stopping, measure, how, settings, sets)
        placed = placement_of(functions.backend)
        fitting = CrossFit(functions, data, how.recipe.phases, settings, monitor, rng, initial, placed)
        if stored:
            mark = fingerprint(fitting, measure=str(measure), initial=initial, sets=[sets])
            stored.begin(start, mark, fitting)
        choice, parameters, interrupted = complete_training(
            fitting, stored, given["on_step"], given["progress"], refits
        )
    return MultilabelModel(
        functions,
        parameters[0],
        measure,
        found.labels,
        priors,
        encoder=data.encoder,
        history=list[Any](fitting.history),
        evaluations=list[Any](choice.evaluations),
        best_step=choice.step,
        voters=parameters[1:],
        interrupted=interrupted,
        **judged_labels(how, stopping, measure, choice, sets, found.labels),
    )


def _checked(
    measure: Any, optimizer: Any, backend: Any, comm: Communicator, unavailable: Mapping[str, Any],
    options: Mapping[str, Any],
) -> tuple[dict[str, Any], Averaged]:  # fmt: skip
    """The parameters and the measure as they are used."""
    for name, value in unavailable.items():
        require(value is None, f"{name} is for labels of two classes: of a matrix of labels, leave it out", value)
    require(comm.size == 1, "a matrix of labels is trained in one process: leave comm out", f"{comm.size} processes")
    of_classes = isinstance(measure, MulticlassMeasure)
    require(not of_classes, "a matrix of labels needs a measure of two classes, of which it takes the mean", measure)
    given = check_parameters(**options)
    chosen_here = {"optimizer": optimizer, "backend": backend}
    check_parameters(**{name: value for name, value in chosen_here.items() if value is not None})
    require(given["sampler"] == "natural", "sampler must be 'natural' for a matrix of labels", given["sampler"])
    return given, Averaged.get(measure)


def _weight(sample_weight: Any, n_rows: int) -> NDArray[Any] | None:
    if sample_weight is None:
        return None
    weight = as_vector(sample_weight, "sample_weight")
    require(len(weight) == n_rows, f"sample_weight must hold one weight for each of the {n_rows} rows", len(weight))
    return weight


def _sets(found: Indicators, validation: Any) -> tuple[NDArray[Any], NDArray[Any], Any]:
    """The sets of labels, that of each row, and which rows are held out: rows of the caller's own with their sets."""
    if validation is None or not is_pair(validation):
        rows = LabelSets.of(found.matrix)
        return rows.sets, rows.codes, validation
    require(len(validation) == 2, "validation needs no groups here: give (X, y)", "three values")
    held = read_indicators(validation[1], found.labels)
    held.check_both(what="validation rows")
    both = LabelSets.of(np.concatenate([found.matrix, held.matrix]))
    n = len(found.matrix)
    return both.sets, both.codes[:n], (validation[0], both.codes[n:])


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
