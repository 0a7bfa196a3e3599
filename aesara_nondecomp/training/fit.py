"""`fit`: train a model on inputs and labels in one call."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aesara_nondecomp import measures, metrics
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
from aesara_nondecomp.training.param_checks import (
    check_algorithm,
    check_network,
    check_prior,
    check_recipe,
    on_first_process,
)
from aesara_nondecomp.training.parameters import PARAMETERS, check_parameters
from aesara_nondecomp.training.recipes import Problem, Recipe, resolve_recipe
from aesara_nondecomp.training.run import Settings, TrainingRows, TrainingRun
from aesara_nondecomp.training.trainer import final_parameters, run_training
from aesara_nondecomp.training.training_data import TrainingData, prepare

Callback = Callable[[Step], Any]
TUNING_SHARE = 0.2  # share of rows held out for a recipe that tunes its threshold, if there are no validation rows


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

    Ctrl-C ends training early, with a warning, and returns the model trained so far: the best weights by the validation
    rows if there are any, otherwise the latest averaged weights.

    Parameters
    ----------
    X : array, memory map, CSR matrix, data frame, or list of str
        The n inputs; numbers must be finite. Memory maps are read block by block, and CSR matrices stay sparse. The
        columns of a data frame (pandas, polars) are encoded, missing values and categories included. Texts become
        token ids by a vocabulary that is learned from them (extra ``text``). Must not be modified during training:
        rows are prefetched.
    y : array-like, shape (n,)
        Labels of two classes in any coding.
    measure : str or Measure, default "f1"
        What to train for, such as "f1", "min", "qmean" or "kld"; `measures.names` lists them.
    algorithm : str or Recipe, default "auto"
        "auto", which is recommended, or another name in `recipes.ALGORITHMS`; see `recipes.recipe_for`. Or a recipe of
        your own, whose drivers are copied and have their own prior.
    network : str, sequence of int, Network, TrainFunctions, Model or callable, optional
        What to train. Default: an mlp of widths (64, 64), or "attention" for texts. One of

        - a name: "mlp", "tabular", "linear", or for texts "attention" or "lstm";
        - the widths of the hidden layers of an mlp;
        - a Network of your own;
        - TrainFunctions, whose compiled steps are used again;
        - a Model, to train further from its weights, with its encoder;
        - a function that returns a Network or TrainFunctions for a number of columns (for texts, of words).
    steps : int, default 2000
        Gradient steps, at least 1.
    batch_size : int, default 512
        Rows per step, at least 1. If there are fewer rows, each step takes all of them, with a warning unless the batch
        size is the default.
    optimizer : str or Optimiser, optional
        See `optimisers.get`. Default: "adam".
    learning_rate : float, optional
        Step size, above 0. Default: the recipe's.
    schedule : str or callable, default "constant"
        See `schedules.get`.
    averaging : float, optional
        Decay in [0, 1) of the running average of the weights. Default: the recipe's.
    l2 : float, default 0.0
        Weight decay of the weight matrices, at least 0.
    sampler : {"natural", "stratified", "balanced"} or float, default "natural"
        How batches are drawn, or the fraction of positives in each. See `data.MiniBatches`.
    standardize : bool, default True
        Centre and scale dense columns to mean 0 and deviation 1 on the training rows, clipped at 10 deviations. This is
        done in float64, before conversion to the network's dtype, and kept in the model's encoder.
    prior : float, optional
        Share of positives to train for, in (0, 1). Default: that of `y`, by weight. A value far from it gives a
        warning.
    positive : scalar, optional
        The positive label. Default: the larger one.
    sample_weight : array-like, shape (n,), optional
        Weight of each row in all class means, at least 0; rows of weight 0 are left out. Default: equal weights.
        Validation ignores weights.
    validation : float, tuple (X, y) or EarlyStopping, optional
        Validation rows: a share of the rows in (0, 1) to hold out, stratified, or rows of your own. The averaged
        weights are evaluated on them during training, the best weights are returned, and the model is calibrated on
        them. The algorithm "plug_in" chooses its threshold on them, or on a fifth of the rows if there are none.
    on_step : callable or sequence of callable, optional
        Called with each Step; returning True stops training after that step.
    checkpoint : path or Checkpoint, optional
        File that holds the state of the run, from which it can be resumed.
    progress : bool, optional
        Show a progress bar on stderr (extra ``progress``). Default: only if stderr is a terminal.
    comm : communicator, optional
        Of mpi4py: train on the rows of all its processes. `X`, `y`, `sample_weight` and validation rows are those of
        this process, and all other arguments are equal in all processes. Each process returns the same model, equal up
        to rounding to that of one process with all rows in the order of the ranks. The first process calls `on_step`,
        writes checkpoints and shows progress. See `parallel`.
    backend : {"c", "jax"}, optional
        See `TrainFunctions`; with "jax", dense rows stay on JAX's device. Default: "c".
    seed : int, numpy Generator or None, optional
        Equal seeds give equal models, to the last bit.

    Returns
    -------
    Model
        The trained model, with its encoder, threshold and history; calibrated if there are validation rows.

    Raises
    ------
    ValueError
        If inputs, labels or parameters are unusable, before anything is compiled; or if the checkpoint belongs to
        another run.
    TypeError
        If a parameter is unknown; the nearest name is suggested.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = fit(X, X[:, 0] > 1, "f1", network=(8,), steps=200, seed=0)
    >>> model.predict([[3.0, 0.0], [-3.0, 0.0]])
    array([ True, False])
    >>> bool(model.value(X, X[:, 0] > 1) > 0.9)
    True
    """
    comm = communicator(comm)
    given = check_parameters(
        algorithm=algorithm, steps=steps, batch_size=batch_size, learning_rate=learning_rate, schedule=schedule,
        averaging=averaging, l2=l2, sampler=sampler, standardize=standardize, prior=prior, validation=validation,
        on_step=on_step, checkpoint=checkpoint, progress=progress,
    )  # fmt: skip
    measure, stopping = measures.get(measure), given["validation"]
    check_algorithm(algorithm, prior)
    trained = check_network(X, network, optimizer, backend, given["standardize"])
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
    problem = Problem(prior, eps=0.5 / len(data.rows.signs), text=data.rows.X.dtype == np.int32)
    recipe = resolve_recipe(algorithm, measure, problem)
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
    """A generator of our own whose state is plain numbers; without a seed it starts like that of the stored run."""
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
    """Validation rows; if there are none and the recipe tunes its threshold, a share of the rows."""
    if stopping is not None:
        return stopping.validation
    tunes = algorithm.threshold is None if isinstance(algorithm, Recipe) else algorithm == "plug_in"
    return TUNING_SHARE if tunes else None


def _functions(trained: Network | TrainFunctions, optimizer: Any, backend: str | None) -> TrainFunctions:
    if isinstance(trained, TrainFunctions):
        return trained
    return TrainFunctions(trained, _or(optimizer, "adam"), _or(backend, "c"))


def _settings(recipe: Recipe, given: dict[str, Any], n_rows: int) -> Settings:
    """Settings of all phases; the recipe's values are the defaults."""
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
    """The batch size; the default is reduced to the number of rows without a warning."""
    return min(batch_size, n_rows) if batch_size == PARAMETERS["batch_size"].default else batch_size


def _monitor(
    stopping: EarlyStopping | None, data: TrainingData, measure: measures.Measure, recipe: Recipe, steps: int
) -> ValidationMonitor | None:
    """The monitor of the caller's validation rows; rows held out only for the threshold are not monitored."""
    if stopping is None or data.held is None:
        return None
    every = _or(stopping.every, max(10, math.ceil(steps / 20)))
    return ValidationMonitor(*data.held, measure, every, stopping.patience, recipe.threshold)


def _placed(rows: TrainingRows, backend: str) -> TrainingRows:
    """For the JAX backend, dense rows on its device; all other rows stay where they are."""
    if backend != "jax" or not isinstance(rows.X, np.ndarray) or rows.X.dtype.kind != "f":
        return rows
    from aesara_nondecomp.step.device_rows import DeviceRows

    return rows._replace(X=DeviceRows(rows.X))


def _calibrated(
    recipe: Recipe, stopping: EarlyStopping | None, measure: measures.Measure, functions: Any, held: Any
) -> dict[str, Any]:
    """Fields of a Model: the threshold and, if rows were held out, calibration and confusion matrix."""
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
