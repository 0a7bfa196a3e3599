"""From inputs and labels to a trained model, in one call."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aesara_nondecomp import measures, metrics
from aesara_nondecomp._checks import require
from aesara_nondecomp.history import Step
from aesara_nondecomp.metrics import Quantifier
from aesara_nondecomp.models import Model
from aesara_nondecomp.networks import Network
from aesara_nondecomp.parallel import Communicator, communicator, distributed
from aesara_nondecomp.step import TrainFunctions
from aesara_nondecomp.training import schedules
from aesara_nondecomp.training.checkpoints import CheckpointFile, fingerprint
from aesara_nondecomp.training.early_stopping import EarlyStopping, ValidationMonitor
from aesara_nondecomp.training.former_parameters import fit_parameters
from aesara_nondecomp.training.param_checks import check_network, check_prior, check_recipe, on_first_process
from aesara_nondecomp.training.parameters import PARAMETERS, check_parameters
from aesara_nondecomp.training.recipes import Problem, Recipe, recipe_for
from aesara_nondecomp.training.run import Settings, TrainingRows, TrainingRun
from aesara_nondecomp.training.trainer import final_parameters, run_training
from aesara_nondecomp.training.training_data import TrainingData, prepare

Callback = Callable[[Step], Any]
TUNING_SHARE = 0.2  # of the rows, for a recipe that chooses its threshold, where no validation rows are given


@fit_parameters
def fit(
    X: Any,
    y: Any,
    measure: str | measures.Measure = "f1",
    *,
    algorithm: str | Recipe = "auto",
    network: Any = None,
    steps: int = 2000,
    batch_size: int = 512,
    optimizer: Any = None,
    learning_rate: float | None = None,
    schedule: Any = "constant",
    averaging: float | None = None,
    l2: float = 0.0,
    sampler: str | float = "natural",
    standardize: bool = True,
    prior: float | None = None,
    positive: Any = None,
    sample_weight: Any = None,
    validation: Any = None,
    on_step: Callback | Sequence[Callback] | None = None,
    checkpoint: Any = None,
    progress: bool | None = None,
    comm: Communicator | None = None,
    backend: str | None = None,
    seed: Any = None,
) -> Model:
    """Train a network directly on a measure.

    Ctrl-C ends training early and returns the best model so far (by the validation rows, else the latest averaged
    weights), with a warning.

    Parameters
    ----------
    X : array, memory map, CSR matrix, data frame, or list of str
        Shape (n, d), finite numbers. A memory map is read block by block; a CSR matrix is never made dense as a whole.
        The columns of a data frame (pandas, polars) are encoded, missing values and categories included. Of texts a
        vocabulary is learned (extra ``text``). `X` must not be modified during training: rows are prefetched.
    y : array-like, shape (n,)
        Labels of two classes in any coding.
    measure : str or Measure, default "f1"
        What to train for.
    algorithm : str or Recipe, default "auto"
        One of `recipes.ALGORITHMS`, see `recipes.recipe_for`: "auto" is the recommended one. Or a recipe of your own,
        whose drivers have a prior of their own; they are copied.
    network : str, sequence of int, Network, TrainFunctions, Model or callable, optional
        A name ("mlp", "linear", "attention", "lstm"); the widths of an mlp; a network of your own; compiled functions,
        of which no step is compiled again; a model, from whose weights training starts, with its encoder; or a
        function of the number of columns (of texts, of words) that returns a Network or TrainFunctions. Default: an
        mlp of widths (64, 64), for texts "attention".
    steps : int, default 2000
        Gradient steps, at least 1.
    batch_size : int, default 512
        Rows per step, at least 1; all rows where there are fewer, with a warning unless it is the default.
    optimizer : str or Optimiser, optional
        See `optimisers.get`. Default: "adam".
    learning_rate : float, optional
        Above 0. Default: the recipe's.
    schedule : str or callable, default "constant"
        See `schedules.get`.
    averaging : float, optional
        Decay in [0, 1) of the running average of the weights. Default: the recipe's.
    l2 : float, default 0.0
        Weight decay of the weight matrices, at least 0.
    sampler : {"natural", "stratified", "balanced"} or float, default "natural"
        How batches are drawn, or the share of positives in each. See `data.MiniBatches`.
    standardize : bool, default True
        Centre and scale dense columns to mean 0 and deviation 1 of the training rows, clipped at 10; in float64,
        before rows become the network's dtype. The model remembers how.
    prior : float, optional
        Share of positives to train for, in (0, 1). Default: that of `y`, by weight; one far from it is warned of.
    positive : scalar, optional
        The positive label. Default: the larger one.
    sample_weight : array-like, shape (n,), optional
        Weights of at least 0 of the rows in all class means; rows of weight 0 are left out. Validation counts rows.
    validation : float, tuple (X, y) or EarlyStopping, optional
        Rows on which the averaged weights are evaluated while training; the best weights are returned, and the model
        is calibrated on these rows. A share of the rows is held out, stratified. The algorithm "plug_in" chooses its
        threshold on them; without any, on a fifth of the rows.
    on_step : callable or sequence of callable, optional
        Called with each Step; returning True stops training after that step.
    checkpoint : path or Checkpoint, optional
        A file that holds the state of the run, from which it can be resumed.
    progress : bool, optional
        A bar on stderr (extra ``progress``). Default: if that is a terminal.
    comm : communicator, optional
        mpi4py's: train on the rows of all its processes. `X`, `y`, `sample_weight` and validation rows are this
        process's part; all else is equal in all. Each process returns the same model, that of all rows in the order
        of the ranks, up to rounding. `on_step` is called in the first process, which also writes checkpoints and
        shows progress. See `parallel`.
    backend : {"c", "jax"}, optional
        See `TrainFunctions`; with "jax", dense rows are kept on JAX's device. Default: "c".
    seed : int, numpy Generator or None, optional
        Equal seeds give equal models, to the last bit.

    Returns
    -------
    Model

    Raises
    ------
    ValueError
        For unusable inputs, labels or parameters, before anything is compiled; or a checkpoint of another run.
    TypeError
        For an unknown parameter; the nearest is suggested.
    """
    comm = communicator(comm)
    given = check_parameters(
        algorithm=algorithm, steps=steps, batch_size=batch_size, learning_rate=learning_rate, schedule=schedule,
        averaging=averaging, l2=l2, sampler=sampler, standardize=standardize, prior=prior, validation=validation,
        on_step=on_step, checkpoint=checkpoint, progress=progress,
    )  # fmt: skip
    measure, stopping = measures.get(measure), given["validation"]
    require(
        prior is None or not isinstance(algorithm, Recipe), "a recipe has a prior of its own: leave prior out", prior
    )
    trained = check_network(X, network, optimizer, backend)
    callbacks = on_first_process(given["on_step"], comm)
    stored = None if given["checkpoint"] is None else CheckpointFile(given["checkpoint"], comm)
    rng = _generator(seed, stored, comm)
    start = dict(rng.bit_generator.state)
    data = prepare(
        X, y, network=trained, encoder=network.encoder if isinstance(network, Model) else None, positive=positive,
        sample_weight=sample_weight, validation=_held_out(stopping, algorithm), standardize=standardize, seed=rng,
        comm=comm,
    )  # fmt: skip
    prior = check_prior(given["prior"], data.prior)
    recipe = _recipe(measure, algorithm, data, prior)
    functions = _functions(data.network, optimizer, backend)
    check_recipe(recipe, functions.network, data.rows.weight)
    settings = _settings(recipe, given, len(data.rows.signs))
    monitor = _monitor(stopping, data, measure, recipe, settings.steps)
    initial = network.parameters if isinstance(network, Model) else None
    with functions.lock:
        training = distributed(functions, comm)
        training.initialise(rng, initial)
        run = TrainingRun(training, recipe.phases, _placed(data.rows, functions.backend), settings, rng)
        if stored:
            stored.begin(
                start, fingerprint(run, monitor, measure=str(measure), prior=prior, initial=initial), run, monitor
            )
        run_training(run, monitor, stored, callbacks, progress)
        parameters = final_parameters(run, monitor)
        calibrated = _calibrated(recipe, stopping, measure, training, data.held)
    return Model(
        functions,
        parameters,
        measure,
        data.classes,
        prior,
        data.encoder,
        history=run.history,
        evaluations=monitor.evaluations if monitor else [],
        best_step=monitor.best.step if monitor and monitor.best else None,
        **calibrated,
    )


def _generator(seed: Any, stored: CheckpointFile | None, comm: Communicator) -> np.random.Generator:
    """A generator of our own, of a kind whose state is plain numbers; unseeded, it starts as in the stored run."""
    if isinstance(seed, (np.random.Generator, np.random.BitGenerator)):
        seed = int(np.random.default_rng(seed).integers(2**63))
    try:
        rng = np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ValueError(f"seed must be a non-negative integer, a numpy Generator or None, got {seed!r}") from None
    if seed is None and stored and stored.start:
        rng.bit_generator.state = stored.start
    rng.bit_generator.state = comm.bcast(rng.bit_generator.state)
    return rng


def _held_out(stopping: EarlyStopping | None, algorithm: str | Recipe) -> Any:
    """Validation rows; without any, a share of the rows where the recipe chooses its threshold on some."""
    if stopping is not None:
        return stopping.validation
    tunes = algorithm.threshold is None if isinstance(algorithm, Recipe) else algorithm == "plug_in"
    return TUNING_SHARE if tunes else None


def _recipe(measure: measures.Measure, algorithm: str | Recipe, data: TrainingData, prior: float) -> Recipe:
    if isinstance(algorithm, Recipe):
        return algorithm
    problem = Problem(prior, eps=0.5 / len(data.rows.signs), text=data.rows.X.dtype == np.int32)
    return recipe_for(measure, problem, algorithm)


def _functions(trained: Network | TrainFunctions, optimizer: Any, backend: str | None) -> TrainFunctions:
    if isinstance(trained, TrainFunctions):
        return trained
    return TrainFunctions(trained, _or(optimizer, "adam"), _or(backend, "c"))


def _settings(recipe: Recipe, given: dict[str, Any], n_rows: int) -> Settings:
    """What all phases share, with the recipe's values where none is given."""
    return Settings(
        steps=given["steps"],
        learning_rate=_or(given["learning_rate"], recipe.learning_rate),
        schedule=schedules.get(given["schedule"], given["steps"]),
        averaging=_or(given["averaging"], recipe.averaging),
        l2=given["l2"],
        temperature=recipe.temperature,
        batch_size=_batch_size(given["batch_size"], n_rows),
        sampler=given["sampler"],
        normalize=recipe.normalize,
    )


def _batch_size(batch_size: int, n_rows: int) -> int:
    """The batch size; the default one is quietly cut to the number of rows."""
    return min(batch_size, n_rows) if batch_size == PARAMETERS["batch_size"].default else batch_size


def _monitor(
    stopping: EarlyStopping | None, data: TrainingData, measure: measures.Measure, recipe: Recipe, steps: int
) -> ValidationMonitor | None:
    """Evaluations of a run on the caller's validation rows; rows held out for the threshold alone are not watched."""
    if stopping is None or data.held is None:
        return None
    every = _or(stopping.every, max(10, math.ceil(steps / 20)))
    return ValidationMonitor(*data.held, measure, every, stopping.patience, recipe.threshold)


def _placed(rows: TrainingRows, backend: str) -> TrainingRows:
    """Dense rows on JAX's device, for its backend; all others, and for C++, where they are."""
    if backend != "jax" or not isinstance(rows.X, np.ndarray) or rows.X.dtype.kind != "f":
        return rows
    from aesara_nondecomp.step.device_rows import DeviceRows

    return rows._replace(X=DeviceRows(rows.X))


def _calibrated(
    recipe: Recipe, stopping: EarlyStopping | None, measure: measures.Measure, functions: Any, held: Any
) -> dict[str, Any]:
    """Fields of a Model: the threshold and, of held-out rows, calibration and confusion matrix."""
    if held is None:
        return {"threshold": recipe.threshold}
    scores, signs, threshold = functions.scores(held[0]), held[1], recipe.threshold
    if threshold is None or stopping is not None and stopping.tune_threshold:
        threshold, _ = metrics.best_threshold(measure, scores, signs)
    return {
        "threshold": threshold,
        "quantifier": Quantifier.fit(scores, signs, threshold),
        "validation_matrix": metrics.confusion_at_threshold(scores, signs, threshold),
    }


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value
