"""From arrays to a trained model, in one call."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aesara_nondecomp import measures, metrics, networks
from aesara_nondecomp._checks import number, positive_int, positive_number, require
from aesara_nondecomp.data import is_text
from aesara_nondecomp.history import Step
from aesara_nondecomp.models.model import Model
from aesara_nondecomp.networks import Network
from aesara_nondecomp.parallel import DistributedFunctions, share
from aesara_nondecomp.step.train_functions import TrainFunctions
from aesara_nondecomp.training import schedules
from aesara_nondecomp.training.checkpoints import Checkpoint, fingerprint
from aesara_nondecomp.training.early_stopping import ValidationMonitor
from aesara_nondecomp.training.loop import check_normalize
from aesara_nondecomp.training.param_checks import (
    TEXT_NETWORKS,
    check_drivers,
    check_kinds,
    check_network,
    check_split,
    check_unweighted,
    checked_callbacks,
    checked_names,
    checked_prior,
)
from aesara_nondecomp.training.recipes import Problem, Recipe, recipe_for
from aesara_nondecomp.training.run import Settings, TrainingRows, TrainingRun
from aesara_nondecomp.training.trainer import final_parameters, run_training
from aesara_nondecomp.training.training_data import PreparedRows, label_rows, prepare_rows

Callback = Callable[[Step], Any]
TUNING_SHARE = 0.2  # of the rows, for a recipe that chooses its threshold, where no validation rows are given


def fit(
    X,
    y,
    measure="f1",
    *,
    algorithm: str | None = None,
    preset: str | None = None,
    recipe: Recipe | None = None,
    network: Network | str | None = None,
    functions: TrainFunctions | None = None,
    hidden: Sequence[int] | None = None,
    initial: Sequence[np.ndarray] | None = None,
    steps: int = 2000,
    batch_size: int = 512,
    optimizer=None,
    learning_rate: float | None = None,
    schedule="constant",
    averaging: float | None = None,
    l2: float = 0.0,
    temperature: float = 1.0,
    sampler="natural",
    normalize: str = "prior",
    standardize: bool = True,
    prior: float | None = None,
    positive=None,
    feature_names: Sequence[str] | None = None,
    sample_weight=None,
    validation=None,
    evaluate_every: int | None = None,
    patience: int | None = None,
    on_step: Callback | Sequence[Callback] | None = None,
    checkpoint=None,
    checkpoint_every: int | None = None,
    resume: bool = False,
    progress: bool | None = None,
    comm=None,
    backend: str | None = None,
    seed=None,
) -> Model:
    """Train a network directly on a measure.

    An argument that another one leaves without effect is refused, and not passed over.

    Ctrl-C ends training early: the best model so far (by `validation`; else the latest averaged one) is returned,
    with a warning.

    Parameters
    ----------
    X : array, memory map or CSR matrix, shape (n, d), finite numbers; or a list of n str.
        A memory map is read block by block, whatever its dtype; a CSR matrix is never made dense as a whole. Of texts
        a `data.Vocabulary` is learned (extra ``text``), which the model keeps; to choose its options, or for a network
        of your own, pass token ids (n, T) that it made. It must not change meanwhile: rows are read ahead.
    y : array-like, shape (n,). Labels in any two-valued coding.
    measure : str or measures.Measure
    algorithm, preset : str, optional
        See `recipes.recipe_for`. Default: "auto" and "default", the recommended ones.
    recipe : Recipe, optional
        Your own drivers, instead of `algorithm` and `preset`, and with a prior of their own; they are copied.
    network : Network or {"attention", "lstm"}, optional
        Default: an `mlp` of widths `hidden`; for texts "attention", see `networks.attention`.
    functions : TrainFunctions, optional
        Compiled before, with their own network, optimiser and backend: no step is compiled again. The returned model
        keeps copies of the weights, so a later fit with the same functions does it no harm.
    hidden : sequence of int, optional. Widths of the default network of numbers. Default: (64, 64).
    initial : list of arrays, optional
        Parameters to start from, such as another model's. Default: drawn from `seed`.
    steps, batch_size : int >= 1. More than n rows per batch means all rows, with a warning.
    optimizer : str or optimisers.Optimiser, optional. See `optimisers.get`. Default: "adam".
    schedule : see `schedules.get`.
    learning_rate, averaging : float, optional. Default: the recipe's.
    l2 : float >= 0. See `TrainFunctions.configure`.
    temperature : float > 0
        Of the sigmoid reward, wherever a driver uses it: cross-entropy, counts and row drivers have no sigmoid.
    sampler : "natural", "stratified", "balanced" or share of positives per batch. See `data.MiniBatches`.
    normalize : {"prior", "batch"}. Of class sums, see `training.train`; row drivers have none.
    standardize : bool
        Scale dense columns to mean 0 and deviation 1 of the training rows, clipped at 10; the model remembers how.
    prior : float in (0, 1), optional
        Share of positives to train for. Default: that of `y`, by weight; one far from it is warned of. The drivers of a
        `recipe` have theirs already.
    positive : optional. The positive label; default the larger one.
    feature_names : sequence of d str, optional. Of feature columns; kept with the model.
    sample_weight : array, shape (n,), optional
        Weights >= 0 of the rows in all class means; rows of weight 0 are left out. Validation counts rows, unweighted.
    validation : float in (0, 1) or (X, y), optional
        Labelled rows to score the averaged weights on while training, by counts: a stratified share of the training
        rows, which then are not trained on, or rows of their own. The best weights are returned. The algorithm
        "plug_in" chooses its threshold on them; without any, on a fifth of the training rows.
    evaluate_every : int >= 1, optional
        Steps between evaluations; the last step is evaluated too. Default: 20 evaluations, at least 10 steps apart.
    patience : int >= 1, optional
        Stop after so many evaluations in a row without a better one. Earlier phases of a recipe are never cut short.
    on_step : callable or sequence of callables, optional
        Called with each Step; a true answer stops training after that step.
    checkpoint : path, optional
        An .npz file, replaced every `checkpoint_every` steps and at the end.
    checkpoint_every : int >= 1, optional. Default: 500.
    resume : bool
        Go on from the checkpoint, if there is one: to the same weights, to the last bit, as without the interruption.
        Data and settings must be those it was written with.
    progress : bool, optional. A bar on stderr (extra ``progress``). Default: if that is a terminal.
    comm : mpi4py communicator, optional
        Train on the rows of all its processes: X, y, `sample_weight` and validation rows are this process's part, and
        all else is alike in all. Each process returns the same model, that of all rows in the order of the ranks, up
        to rounding. `on_step` is called in the first process, which also writes checkpoints and shows progress; a run
        can be resumed by another number of processes. See `parallel`.
    backend : {"c", "jax"}, optional
        See `TrainFunctions`; with "jax", dense rows are kept on JAX's device. Default: "c".
    seed : int, numpy Generator or None. Equal seeds give equal models, to the last bit.

    Returns
    -------
    Model

    Raises
    ------
    ValueError
        For unusable data, labels or options, options that exclude each other, before anything is compiled; or a
        checkpoint of another run.
    """
    check_kinds(
        recipe=recipe, functions=functions, comm=comm, initial=initial, standardize=standardize, checkpoint=checkpoint,
        resume=resume, progress=progress,
    )  # fmt: skip
    check_drivers(recipe, algorithm=algorithm, preset=preset, prior=prior)
    check_network(X, functions, comm, network=network, hidden=hidden, optimizer=optimizer, backend=backend)
    callbacks = checked_callbacks(on_step, comm)
    X, y, sample_weight, validation = _shared(comm, X, y, sample_weight, validation)
    stored = _checkpoint(checkpoint, checkpoint_every, resume, comm)
    rng = _generator(seed, stored, comm)
    start = dict(rng.bit_generator.state)
    measure, held_out = measures.get(measure), _held_out(validation, algorithm, recipe)
    labelled = label_rows(y, positive, sample_weight, held_out, rng)
    prior = checked_prior(prior, labelled.prior)
    given = functions.network if functions else network if isinstance(network, Network) else None
    text = given.takes_tokens if given else is_text(X)
    problem = Problem(prior, eps=0.5 / len(labelled.signs), text=text)
    recipe = recipe or recipe_for(measure, problem, _or(algorithm, "auto"), _or(preset, "default"))
    check_unweighted(recipe, labelled.weight)
    settings = _settings(
        recipe, steps=steps, learning_rate=learning_rate, schedule=schedule, averaging=averaging, l2=l2,
        temperature=temperature, batch_size=batch_size, sampler=sampler, normalize=normalize,
    )  # fmt: skip
    prepared = prepare_rows(X, labelled, held_out, network=given, standardize=standardize)
    names = checked_names(feature_names, prepared.rows.X)
    watch = _watch(validation, prepared, measure, recipe, settings, evaluate_every, patience)
    functions = functions or _functions(prepared, network, hidden, optimizer, backend)
    check_split(recipe, functions.network)
    training: Any = functions if comm is None else DistributedFunctions(functions, comm)
    training.initialise(rng, initial)
    run = TrainingRun(training, recipe.phases, _placed(prepared.rows, functions.backend), settings, rng)
    if stored:
        marks = fingerprint(run, watch, measure=str(measure), prior=prior, initial=initial)
        stored.begin(start, marks, run, watch)
    run_training(run, watch, stored, callbacks, progress)
    parameters = final_parameters(run, watch)
    return Model(
        functions,
        parameters,
        measure,
        labelled.classes,
        prior,
        prepared.scaling,
        threshold=_threshold(recipe, measure, training, prepared.held),
        history=run.history,
        evaluations=watch.evaluations if watch else [],
        best_step=watch.best.step if watch and watch.best else None,
        feature_names=names,
        extra={} if prepared.vocabulary is None else {"vocabulary": prepared.vocabulary.to_dict()},
    )


def _shared(comm, X, y, sample_weight, validation):
    """This process's data as part of those of all: labels and weights of all rows, features where they are."""
    if comm is None:
        return X, y, sample_weight, validation
    X, y, sample_weight = share(comm, X, y, sample_weight)
    if isinstance(validation, (tuple, list)) and len(validation) == 2:
        validation = share(comm, *validation)
    return X, y, sample_weight, validation


def _checkpoint(path, every: int | None, resume: bool, comm) -> Checkpoint | None:
    if path is None:
        require(not resume, "resume needs a checkpoint to go on from: give its path as `checkpoint`", path)
        require(every is None, "checkpoint_every needs a `checkpoint`: the path of a file", every)
        return None
    return Checkpoint(path, _or(every, 500), resume, comm)


def _generator(seed, stored: Checkpoint | None, comm) -> np.random.Generator:
    """A generator of our own, of a kind whose state is plain numbers; unseeded, it starts as in the stored run."""
    if isinstance(seed, (np.random.Generator, np.random.BitGenerator)):
        seed = int(np.random.default_rng(seed).integers(2**63))
    try:
        rng = np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ValueError(f"seed must be a non-negative integer, a numpy Generator or None, got {seed!r}") from None
    if seed is None and stored and stored.start:
        rng.bit_generator.state = stored.start
    if comm is not None:
        rng.bit_generator.state = comm.bcast(rng.bit_generator.state)
    return rng


def _held_out(validation, algorithm: str | None, recipe: Recipe | None):
    """`validation`; without it, a share of the rows where the recipe chooses its threshold on some."""
    tunes = recipe.threshold is None if recipe else isinstance(algorithm, str) and algorithm == "plug_in"
    return TUNING_SHARE if tunes and validation is None else validation


def _settings(recipe: Recipe, *, steps, learning_rate, schedule, averaging, l2, normalize, **others) -> Settings:
    """What all phases share, with the recipe's rate and averaging where none is given."""
    steps = positive_int("steps", steps)
    schedule = schedules.get(schedule, steps)
    number("schedule", schedule(0), "a function from the step to a number")
    return Settings(
        steps=steps,
        learning_rate=positive_number("learning_rate", _or(learning_rate, recipe.learning_rate)),
        schedule=schedule,
        averaging=number("averaging", _or(averaging, recipe.averaging)),
        l2=number("l2", l2),
        normalize=check_normalize(normalize),
        **others,
    )


def _watch(
    validation, prepared: PreparedRows, measure, recipe: Recipe, settings: Settings, every, patience
) -> ValidationMonitor | None:
    """The validation of a run, on the caller's rows or share; rows held out for the threshold alone are not watched."""
    if validation is None or prepared.held is None:
        for name, value in (("evaluate_every", every), ("patience", patience)):
            require(value is None, f"{name} needs `validation`: a share of the rows or (X, y)", value)
        return None
    every = positive_int("evaluate_every", _or(every, max(10, math.ceil(settings.steps / 20))))
    patience = None if patience is None else positive_int("patience", patience)
    return ValidationMonitor(*prepared.held, measure, every, patience, recipe.threshold)


def _functions(prepared: PreparedRows, network, hidden, optimizer, backend) -> TrainFunctions:
    """Functions of the given network, or of the default one for the rows."""
    if not isinstance(network, Network):
        if prepared.vocabulary is not None:
            network = TEXT_NETWORKS[_or(network, "attention")](len(prepared.vocabulary))
        else:
            network = networks.mlp(prepared.rows.X.shape[1], _or(hidden, (64, 64)))
    return TrainFunctions(network, _or(optimizer, "adam"), _or(backend, "c"))


def _placed(rows: TrainingRows, backend: str) -> TrainingRows:
    """Dense rows on JAX's device, for its backend; all others, and for C++, where they are."""
    if backend != "jax" or not isinstance(rows.X, np.ndarray) or rows.X.dtype.kind != "f":
        return rows
    from aesara_nondecomp.step.device_rows import DeviceRows

    return rows._replace(X=DeviceRows(rows.X))


def _threshold(recipe: Recipe, measure, functions: TrainFunctions, held) -> float:
    """The recipe's, or the best one on the held-out rows for the functions' present parameters."""
    if recipe.threshold is not None:
        return recipe.threshold
    X, signs = held
    return metrics.best_threshold(measure, functions.scores(X), signs)[0]


def _or(value, default):
    return default if value is None else value
