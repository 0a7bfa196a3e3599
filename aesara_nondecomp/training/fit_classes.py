"""`fit` for labels of several classes: the same run with gains in place of weights, and a rule in place of a threshold.

Source: docs/multiclass.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aesara_nondecomp._checks import require
from aesara_nondecomp.data import encode_classes, is_text
from aesara_nondecomp.drivers.multiclass import CellDriver as ClassDriver
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.measures.multiclass import Cells, MulticlassMeasure
from aesara_nondecomp.models.class_model import ClassModel
from aesara_nondecomp.networks import Network
from aesara_nondecomp.networks.classes import class_mlp
from aesara_nondecomp.parallel import Communicator
from aesara_nondecomp.step.class_functions import ClassFunctions
from aesara_nondecomp.training.checkpoints import CheckpointFile, fingerprint
from aesara_nondecomp.training.class_held_out import class_monitor_of, judged_classes
from aesara_nondecomp.training.class_recipes import class_recipe
from aesara_nondecomp.training.cross_fitting import CrossFit
from aesara_nondecomp.training.early_stopping import EarlyStopping
from aesara_nondecomp.training.parameters import PARAMETERS, check_parameters
from aesara_nondecomp.training.recipes import Recipe
from aesara_nondecomp.training.run_settings import generator_of, settings_of, value_or
from aesara_nondecomp.training.trainer import complete_training
from aesara_nondecomp.training.training_data import TrainingData, prepare

MOST_CLASSES = 200  # more of them are ids or counts, and the search for a rule would take hours
SAMPLERS = {"natural": "natural", "balanced": "cell_balanced"}  # the cells are the classes
NETWORKS = {"auto": (64, 64), "mlp": (64, 64), "linear": ()}


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
    unavailable: Mapping[str, Any],
    options: Mapping[str, Any],
) -> ClassModel:
    """Train a network of several classes: `fit` for such labels or such a measure.

    Parameters
    ----------
    X : array, memory map, CSR matrix or data frame
        As for `fit`.
    y : array-like, shape (n,)
        Labels of at least two classes.
    measure : str or measures.multiclass.MulticlassMeasure
        What to train for.
    algorithm : str or Recipe
        A name in `class_recipes.CLASS_BUILDERS`, or a recipe with drivers of `drivers.multiclass`.
    network : str, sequence of int, Network, ClassModel or callable
        "auto", "mlp" or "linear"; widths; a Network with a score for each class, or a function that makes one for a
        number of columns; a ClassModel, to train further.
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
    given, measure, classes = _checked(X, y, measure, algorithm, network, optimizer, comm, unavailable, options)
    stopping: EarlyStopping | None = given["validation"]
    stored = None if given["checkpoint"] is None else CheckpointFile(given["checkpoint"], comm)
    rng = generator_of(seed, stored, comm)
    start = dict(rng.bit_generator.state)
    stopping = EarlyStopping() if stopping is None and _needs_rows(algorithm) else stopping
    refits = stopping is not None and stopping.refit
    further = network if isinstance(network, ClassModel) else None
    data = prepare(
        X, y, network=class_network(network, len(classes)), encoder=further.encoder if further else None,
        sample_weight=sample_weight, validation=stopping and stopping.validation, validation_groups=validation_groups,
        refit=refits, standardize=given["standardize"], seed=rng, several=True,
    )  # fmt: skip
    cells = Cells(_priors(data), None, len(classes))
    recipe = class_recipe(algorithm, measure, cells, eps=0.5 / len(data.rows.signs))
    functions = _functions(data, cells, optimizer)
    settings = settings_of(recipe, given, functions, data)
    settings = settings._replace(sampler=SAMPLERS[given["sampler"]])
    initial = [further.parameters, *further.voters] if further else []
    with functions.lock.training():
        monitor = class_monitor_of(stopping, measure, recipe, settings, len(classes))
        fitting = CrossFit(functions, data, recipe.phases, settings, monitor, rng, initial)
        if stored:
            stored.begin(start, fingerprint(fitting, measure=str(measure), initial=initial), fitting)
        choice, parameters, interrupted = complete_training(
            fitting, stored, given["on_step"], given["progress"], refits
        )
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
    X: Any, y: Any, measure: Any, algorithm: Any, network: Any, optimizer: Any, comm: Communicator,
    unavailable: Mapping[str, Any], options: Mapping[str, Any],
) -> tuple[dict[str, Any], MulticlassMeasure, tuple[Any, ...]]:  # fmt: skip
    """The parameters and the measure as they are used, and the classes."""
    for name, value in unavailable.items():
        require(value is None, f"{name} is for labels of two classes: of several, leave it out", value)
    require(comm.size == 1, "several classes are trained in one process: leave comm out", f"{comm.size} processes")
    require(not is_text(X), "networks of several classes take numbers so far, not texts: encode them first", "texts")
    given = check_parameters(**options)
    if optimizer is not None:
        check_parameters(optimizer=optimizer)
    names = " or ".join(repr(name) for name in SAMPLERS)
    require(given["sampler"] in SAMPLERS, f"sampler must be {names} for several classes", given["sampler"])
    chosen = multiclass.get(measure)
    if isinstance(algorithm, Recipe):
        own = all(isinstance(phase.driver, ClassDriver) for phase in algorithm.phases)
        require(own, "a recipe of several classes needs drivers of drivers.multiclass", algorithm)
    classes = encode_classes(y).classes
    few = f"labels must be of at most {MOST_CLASSES} classes; merge rare ones, or if y holds numbers, divide them"
    require(len(classes) <= MOST_CLASSES, few, len(classes))
    class_recipe(algorithm, chosen, Cells(np.full(len(classes), 1 / len(classes))), eps=0.5)  # refuses before any work
    if isinstance(network, ClassModel):
        same = network.classes == classes
        require(same, f"a model to train further must have the classes {classes}", network.classes)
    return given, chosen, classes


def _needs_rows(algorithm: str | Recipe) -> bool:
    """Whether the rule is chosen on held-out rows, which then there must be."""
    if isinstance(algorithm, Recipe):
        return algorithm.plug_in is not None
    return algorithm in ("plug_in", "plug_in_linear")


def class_network(network: Any, n_classes: int) -> Any:
    """What is trained, or a function that makes it for a number of columns.

    Parameters
    ----------
    network : str, sequence of int, Network, ClassModel, callable or None
        As for `fit_classes`; None for "auto".
    n_classes : int
        Number of scores.

    Returns
    -------
    Network or callable
    """
    if isinstance(network, ClassModel):
        return network.functions.network
    if isinstance(network, Network) or callable(network):
        return network
    hidden: Any = NETWORKS.get(network) if isinstance(network, str) else network
    if network is None:
        hidden = NETWORKS["auto"]
    listed = isinstance(hidden, (Sequence, np.ndarray))
    names = ", ".join(repr(name) for name in NETWORKS)
    needed = f"network must be {names}, widths, a Network with a score for each class, a ClassModel or a callable"
    require(listed, f"{needed}, where labels are of several classes", network)
    widths = PARAMETERS["hidden"].check("network", hidden)
    return lambda size: class_mlp(size, n_classes, widths)


def _functions(data: TrainingData, cells: Cells, optimizer: Any) -> ClassFunctions:
    """The functions of a network with a score for each class."""
    n_classes, network = cells.n_classes, data.network
    needed = f"labels of {n_classes} classes need a Network with as many scores, such as networks.classes.class_mlp"
    require(isinstance(network, Network) and network.scores.ndim == 2, needed, network)
    functions = ClassFunctions(network, cells, value_or(optimizer, "adamw"))  # type: ignore[arg-type]  # just checked
    found = functions.scores(data.rows.X[:1]).shape[1]
    require(found == n_classes, needed, f"{found} scores")
    return functions


def _priors(data: TrainingData) -> Any:
    """Share of each class in the weight of the training rows."""
    assert data.rows.cell is not None
    counts = np.bincount(data.rows.cell, data.rows.weight)
    return counts / counts.sum()
