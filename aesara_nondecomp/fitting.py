"""From arrays to a trained model, in one call."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from aesara_nondecomp import measures, metrics, networks, optimisers, schedules
from aesara_nondecomp._checks import choose, positive_int, positive_number, require
from aesara_nondecomp.checkpoints import Checkpoint, fingerprint
from aesara_nondecomp.compiled import TrainFunctions
from aesara_nondecomp.data.text import check_texts, is_text
from aesara_nondecomp.drivers import RowDriver
from aesara_nondecomp.model import Model
from aesara_nondecomp.networks import Network
from aesara_nondecomp.parallel import SharedFunctions, ending_together, on_root, share
from aesara_nondecomp.preparing import PreparedRows, label_rows, prepare_rows
from aesara_nondecomp.progress import progress_bar
from aesara_nondecomp.recipes import Problem, Recipe, recipe_for
from aesara_nondecomp.runs import Run, Settings, TrainingRows
from aesara_nondecomp.training import Step, check_normalise
from aesara_nondecomp.validation import Validation

TEXT_NETWORKS = {"attention": networks.attention, "lstm": networks.lstm}
Callback = Callable[[Step], Any]
TUNING_SHARE = 0.2  # of the rows, for a recipe that chooses its threshold, where no validation rows are given


def fit(
    X,
    y,
    measure="f1",
    *,
    algorithm: str = "auto",
    preset: str = "default",
    recipe: Recipe | None = None,
    network: Network | str | None = None,
    functions: TrainFunctions | None = None,
    hidden: Sequence[int] = (64, 64),
    initial: Sequence[np.ndarray] | None = None,
    steps: int = 2000,
    batch_size: int = 512,
    optimiser="adam",
    learning_rate: float | None = None,
    schedule="constant",
    averaging: float | None = None,
    l2: float = 0.0,
    temperature: float = 1.0,
    sampler="natural",
    normalise: str = "prior",
    standardise: bool = True,
    prior: float | None = None,
    positive=None,
    feature_names: Sequence[str] | None = None,
    sample_weight=None,
    validation=None,
    evaluate_every: int | None = None,
    patience: int | None = None,
    on_step: Callback | Sequence[Callback] | None = None,
    checkpoint=None,
    checkpoint_every: int = 500,
    resume: bool = False,
    progress: bool | None = None,
    comm=None,
    backend: str = "c",
    seed=None,
) -> Model:
    """Train a network directly on a measure.

    Ctrl-C ends training early: the best model so far (by `validation`; else the latest averaged one) is returned,
    with a warning.

    Parameters
    ----------
    X : array, memory map or CSR matrix, shape (n, d), finite numbers; or a list of n str.
        A memory map is read block by block, whatever its dtype; a CSR matrix is never made dense as a whole. Of texts
        a `data.Vocabulary` is learned (extra ``text``), which the model keeps; to choose its options, or for a network
        of your own, pass token ids (n, T) that it made.
    y : array-like, shape (n,). Labels in any two-valued coding.
    measure : str or measures.Measure
    algorithm, preset : str
        See `recipes.recipe_for`; "auto" and "default" are the recommended ones.
    recipe : Recipe, optional. Your own drivers, instead of `algorithm` and `preset`; they are copied.
    network : Network or {"attention", "lstm"}, optional
        Default: an `mlp` of widths `hidden`; for texts "attention", see `networks.attention`.
    functions : TrainFunctions, optional
        Compiled before, with their own network and optimiser: nothing is compiled again. The returned model keeps
        copies of the weights, so a later fit with the same functions does it no harm.
    hidden : sequence of int. Widths of the default network.
    initial : list of arrays, optional
        Parameters to start from, such as another model's. Default: drawn from `seed`.
    steps, batch_size : int >= 1. More than n rows per batch means all rows, with a warning.
    optimiser, schedule : see `optimisers.get` and `schedules.get`.
    learning_rate, averaging : float, optional. Default: the recipe's.
    l2 : float >= 0; temperature : float > 0. See `TrainFunctions.configure`.
    sampler : "natural", "stratified", "balanced" or share of positives per batch. See `data.MiniBatches`.
    normalise : {"prior", "batch"}. See `training.train`.
    standardise : bool
        Scale dense columns to mean 0 and deviation 1 of the training rows, clipped at 10; the model remembers how.
    prior : float in (0, 1), optional
        Share of positives to train for. Default: that of `y`, by weight; one far from it is warned of.
    positive : optional. The positive label; default the larger one.
    feature_names : sequence of d str, optional. Kept with the model.
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
    checkpoint_every : int >= 1
    resume : bool
        Go on from the checkpoint, if there is one: to the same weights, to the last bit, as without the interruption.
        Data and settings must be those it was written with.
    progress : bool, optional. A bar on stderr (extra ``progress``). Default: if that is a terminal.
    comm : mpi4py communicator, optional
        Train on the rows of all its processes: X, y, `sample_weight` and validation rows are this process's part, and
        all else is alike in all. Each process returns the same model, that of all rows in the order of the ranks, up
        to rounding. `on_step` is called in the first process, which also writes checkpoints and shows progress; a run
        can be resumed by another number of processes. See `parallel`.
    backend : {"c", "jax"}. See `TrainFunctions`; with "jax", dense rows are kept on JAX's device.
    seed : int, numpy Generator or None. Equal seeds give equal models, to the last bit.

    Returns
    -------
    Model

    Raises
    ------
    ValueError
        For unusable data, labels or options, before anything is compiled; or a checkpoint of another run.
    """
    require(functions is None or network is None, "functions have a network of their own: give no other", network)
    require(comm is None or not is_text(X), "comm needs token ids: Vocabulary.transform makes them", "texts")
    if isinstance(network, str):
        choose("network for text", network, TEXT_NETWORKS)
        X = check_texts(X)
    if comm is not None:
        X, y, sample_weight, validation = _shared(comm, X, y, sample_weight, validation)
    stored = _checkpoint(checkpoint, checkpoint_every, resume, comm)
    rng = _generator(seed, stored, comm)
    start = dict(rng.bit_generator.state)
    held_out = _held_out(validation, algorithm, recipe)
    measure, labelled = measures.get(measure), label_rows(y, positive, sample_weight, held_out, rng)
    own = functions.network if functions else network if isinstance(network, Network) else None
    text = own.takes_tokens if own else is_text(X)
    problem = Problem(_checked_prior(prior, labelled.prior), eps=0.5 / len(labelled.signs), text=text)
    recipe = recipe or recipe_for(measure, problem, algorithm, preset)
    _check_unweighted(recipe, labelled.weight)
    settings = Settings(
        steps=positive_int("steps", steps),
        learning_rate=positive_number("learning_rate", _or(learning_rate, recipe.learning_rate)),
        schedule=schedules.get(schedule, steps),
        averaging=_or(averaging, recipe.averaging),
        l2=l2,
        temperature=temperature,
        batch_size=batch_size,
        sampler=sampler,
        normalise=check_normalise(normalise),
    )
    callbacks = _callbacks(on_step, comm)
    text_network = network if isinstance(network, str) else None
    prepared = prepare_rows(X, labelled, held_out, network=own, standardise=standardise)
    watched = None if validation is None else prepared.held
    watch = _validation(watched, measure, recipe.threshold, settings.steps, evaluate_every, patience)
    names = _checked_names(feature_names, prepared.rows.X.shape[1])
    own = own or _default_network(prepared, text_network, hidden)
    _check_split(recipe, own)
    functions = functions or TrainFunctions(own, optimisers.get(optimiser), backend)
    training: Any = functions if comm is None else SharedFunctions(functions, comm)
    training.initialise(rng, initial)
    run = Run(training, recipe.phases, _placed(prepared.rows, functions.backend), settings, rng)
    if stored:
        marks = fingerprint(run, watch, measure=str(measure), prior=problem.prior, initial=initial)
        stored.begin(start, marks, run, watch)
    shown = progress if comm is None or comm.rank == 0 else False
    with progress_bar(run.total, len(run.history), shown) as advance, ending_together(comm):
        _train(run, watch, stored, [*callbacks, advance])
    parameters = _final_parameters(run, watch)
    return Model(
        functions,
        parameters,
        measure,
        labelled.classes,
        problem.prior,
        prepared.scaling,
        threshold=_threshold(recipe, measure, training, prepared.held),
        history=run.history,
        evaluations=watch.evaluations if watch else [],
        best_step=watch.best.step if watch and watch.best else None,
        feature_names=names,
        extra={} if prepared.vocabulary is None else {"vocabulary": prepared.vocabulary.to_dict()},
    )


def _train(run: Run, validation: Validation | None, checkpoint: Checkpoint | None, callbacks) -> None:
    """Make the steps that are left; Ctrl-C ends them early, with a warning."""
    try:
        _make_steps(run, validation, checkpoint, callbacks)
    except KeyboardInterrupt:
        if not run.history or isinstance(run.functions, SharedFunctions):
            raise  # there is no model yet, or other processes wait for the next sums
        warnings.warn(
            f"training was interrupted after {len(run.history)} of {run.total} steps: the model returned is the best "
            "so far. Training can be resumed from the last checkpoint, if any.",
            UserWarning,
            stacklevel=3,
        )


def _make_steps(run: Run, validation: Validation | None, checkpoint: Checkpoint | None, callbacks) -> None:
    if _out_of_patience(run, validation):  # a finished run, resumed
        return
    for step in run.steps():
        last = step.step == run.total
        if validation and (last or step.step % validation.every == 0):
            validation.evaluate(run.functions, run.averaged_parameters(), step.step)
        answers = [callback(step) for callback in callbacks]
        stop = any(answers) or _out_of_patience(run, validation)
        if checkpoint and (stop or last or step.step % checkpoint.every == 0):
            checkpoint.write(run, validation)
        if stop:
            return


def _out_of_patience(run: Run, validation: Validation | None) -> bool:
    begins = run.last_phase_begins
    return validation is not None and begins is not None and validation.exhausted(since=begins)


def _final_parameters(run: Run, validation: Validation | None) -> list[np.ndarray]:
    """The best ones by validation, or the running average; the functions are left with them."""
    best = validation.best_parameters if validation else None
    run.functions.load(best or run.averaged_parameters())
    return run.functions.parameters()


def _held_out(validation, algorithm: str, recipe: Recipe | None):
    """`validation`; without it, a share of the rows where the recipe chooses its threshold on some."""
    tunes = recipe.threshold is None if recipe else algorithm == "plug_in"
    return TUNING_SHARE if tunes and validation is None else validation


def _threshold(recipe: Recipe, measure, functions: TrainFunctions, held) -> float:
    """The recipe's, or the best one on the held-out rows for the functions' present parameters."""
    if recipe.threshold is not None:
        return recipe.threshold
    X, signs = held
    return metrics.best_threshold(measure, functions.scores(X), signs)[0]


def _shared(comm, X, y, sample_weight, validation):
    """This process's data as part of those of all: labels and weights of all rows, features where they are."""
    X, y, sample_weight = share(comm, X, y, sample_weight)
    if isinstance(validation, (tuple, list)) and len(validation) == 2:
        validation = share(comm, *validation)
    return X, y, sample_weight, validation


def _placed(rows: TrainingRows, backend: str) -> TrainingRows:
    """Dense rows on JAX's device, for its backend; all others, and for C++, where they are."""
    if backend != "jax" or not isinstance(rows.X, np.ndarray) or rows.X.dtype.kind != "f":
        return rows
    from aesara_nondecomp.devices import DeviceRows

    return rows._replace(X=DeviceRows(rows.X))


def _checkpoint(path, every: int, resume: bool, comm) -> Checkpoint | None:
    if path is None:
        require(not resume, "resume needs a checkpoint to go on from: give its path as `checkpoint`", path)
        return None
    return Checkpoint(path, every, resume, comm)


def _generator(seed, stored: Checkpoint | None, comm) -> np.random.Generator:
    """A generator of our own, of a kind whose state is plain numbers; unseeded, it starts as in the stored run."""
    if isinstance(seed, (np.random.Generator, np.random.BitGenerator)):
        seed = int(np.random.default_rng(seed).integers(2**63))
    rng = np.random.default_rng(seed)
    if seed is None and stored and stored.start:
        rng.bit_generator.state = stored.start
    if comm is not None:
        rng.bit_generator.state = comm.bcast(rng.bit_generator.state)
    return rng


def _callbacks(on_step, comm) -> list[Callback]:
    callbacks = [] if on_step is None else list(on_step) if isinstance(on_step, Iterable) else [on_step]
    require(all(callable(c) for c in callbacks), "on_step must be a callable or a sequence of callables", on_step)
    return callbacks if comm is None else [on_root(comm, callback) for callback in callbacks]


def _validation(
    held, measure, threshold: float | None, total: int, every: int | None, patience: int | None
) -> Validation | None:
    if held is None:
        for name, value in (("evaluate_every", every), ("patience", patience)):
            require(value is None, f"{name} needs `validation`: a share of the rows or (X, y)", value)
        return None
    every = max(10, math.ceil(total / 20)) if every is None else positive_int("evaluate_every", every)
    X, signs = held
    patience = None if patience is None else positive_int("patience", patience)
    return Validation(X, signs, measure, every, patience, threshold)


def _checked_names(names, columns: int) -> list[str] | None:
    if names is None:
        return None
    names = [str(name) for name in names]
    require(len(names) == columns, f"feature_names must name each of the {columns} columns", f"{len(names)} names")
    return names


def _default_network(prepared: PreparedRows, name: str | None, hidden: Sequence[int]) -> Network:
    if prepared.vocabulary is not None:
        return TEXT_NETWORKS[name or "attention"](len(prepared.vocabulary))
    require(isinstance(hidden, Iterable), "hidden must be a sequence of widths, such as (64, 64)", hidden)
    return networks.mlp(prepared.rows.X.shape[1], hidden)


def _check_split(recipe: Recipe, network: Network) -> None:
    if network.features is None and any(phase.head_only for phase in recipe.phases):
        raise ValueError(
            "this recipe trains the head on frozen features, but the network has no split into lower part and head. "
            "Give it a hidden layer (a Network of your own: `features` and `head`), or use preset='default'."
        )


def _check_unweighted(recipe: Recipe, weight: np.ndarray | None) -> None:
    counts = [type(phase.driver).__name__ for phase in recipe.phases if isinstance(phase.driver, RowDriver)]
    if counts and weight is not None and np.any(weight != 1):
        raise ValueError(f"{counts[0]} counts rows and takes no sample_weight. Leave it out, or train by a measure.")


def _checked_prior(prior: float | None, observed: float) -> float:
    if prior is None:
        return observed
    require(0 < positive_number("prior", prior) < 1, "prior must lie strictly between 0 and 1", prior)
    odds = prior / (1 - prior) / (observed / (1 - observed))
    if not 0.5 < odds < 2:
        warnings.warn(
            f"prior = {prior:g} is far from the {observed:.4g} of the training labels: the measure is trained for the "
            "former. Leave it out to train for the data as they are.",
            UserWarning,
            stacklevel=3,
        )
    return float(prior)


def _or(value, default):
    return default if value is None else value
