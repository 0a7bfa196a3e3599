"""From arrays to a trained model, in one call."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from aesara_nondecomp import measures, networks, optimisers, schedules
from aesara_nondecomp._checks import positive_int, positive_number, require
from aesara_nondecomp.compiled import TrainFunctions
from aesara_nondecomp.data import MiniBatches, Standardiser, check_features, check_lengths, encode_labels
from aesara_nondecomp.model import Model
from aesara_nondecomp.networks import Network
from aesara_nondecomp.recipes import Phase, Problem, Recipe, recipe_for
from aesara_nondecomp.training import Step, check_normalise, train


def fit(
    X,
    y,
    measure="f1",
    *,
    algorithm: str = "auto",
    preset: str = "default",
    recipe: Recipe | None = None,
    network: Network | None = None,
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
    seed=None,
    on_step: Callable[[Step], Any] | None = None,
) -> Model:
    """Train a network directly on a measure.

    Parameters
    ----------
    X : array or CSR matrix, shape (n, d), finite numbers.
    y : array-like, shape (n,). Labels in any two-valued coding.
    measure : str or measures.Measure
    algorithm, preset : str
        See `recipes.recipe_for`; "auto" and "default" are the recommended ones.
    recipe : Recipe, optional. Your own drivers, instead of `algorithm` and `preset`.
    network : Network, optional. Default: an `mlp` of widths `hidden`.
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
        Share of positives to train for. Default: that of `y`; one far from it is warned of.
    positive : optional. The positive label; default the larger one.
    seed : int, numpy Generator or None. Equal seeds give equal models, to the last bit.
    on_step : callable, optional. Called with each Step.

    Returns
    -------
    Model

    Raises
    ------
    ValueError
        For unusable data, labels or options, before anything is compiled.
    """
    measure, labels = measures.get(measure), encode_labels(y, positive)
    check_lengths(X, labels.signs)
    problem = Problem(_checked_prior(prior, labels.prior), eps=0.5 / len(labels.signs))
    recipe = recipe or recipe_for(measure, problem, algorithm, preset)
    settings = _Settings(
        learning_rate=positive_number("learning_rate", _or(learning_rate, recipe.learning_rate)),
        schedule=schedules.get(schedule, positive_int("steps", steps)),
        averaging=_or(averaging, recipe.averaging),
        l2=l2,
        temperature=temperature,
        batch_size=batch_size,
        sampler=sampler,
        normalise=check_normalise(normalise),
    )
    rng = np.random.default_rng(seed)
    X, scaling = _prepared(X, functions.network if functions else network, standardise)
    functions = functions or TrainFunctions(network or networks.mlp(X.shape[1], hidden), optimisers.get(optimiser))
    functions.initialise(rng, initial)
    history: list[Step] = []
    for phase, n_steps in zip(recipe.phases, _steps_of_phases(recipe.phases, steps)):
        run = _run_phase(functions, phase, X, labels.signs, settings, rng, history[-1] if history else None)
        for step in islice(run, n_steps):
            history.append(step)
            if on_step:
                on_step(step)
        run.close()
    return Model(functions, functions.parameters(), measure, labels.classes, problem.prior, scaling, history=history)


class _Settings(NamedTuple):
    """What all phases of a run share."""

    learning_rate: float
    schedule: Callable[[int], float]
    averaging: float
    l2: float
    temperature: float
    batch_size: int
    sampler: str | float
    normalise: str


def _run_phase(
    functions, phase: Phase, X, signs, settings: _Settings, rng, after: Step | None
) -> Generator[Step, None, None]:
    """Endless steps of one phase; when closed, the parameters become their running average."""
    if phase.head_only:
        X, functions = functions.features(X), functions.head
    functions.configure(l2=settings.l2, averaging=settings.averaging, temperature=settings.temperature)
    batches = MiniBatches(X, signs, settings.batch_size, rng, settings.sampler)
    functions.restart()
    try:
        yield from train(
            functions,
            phase.driver,
            batches,
            learning_rate=settings.learning_rate,
            schedule=settings.schedule,
            round_data=_round_data(X, signs, phase.driver.round_rows, rng),
            normalise=settings.normalise,
            after=after,
        )
    finally:
        functions.load(functions.averaged_parameters())


def _round_data(X, signs, rows: int | None, rng):
    """The rows that a driver's rounds are evaluated on: a fixed sample, or None for a batch each time."""
    if rows is None:
        return None
    chosen = np.sort(rng.permutation(len(signs))[:rows])
    sample = X[chosen].toarray() if scipy.sparse.issparse(X) else X[chosen]
    return sample, signs[chosen].astype(sample.dtype)


def _steps_of_phases(phases: Sequence[Phase], steps: int) -> list[int]:
    """`steps` divided among the phases by their shares, each at least 1; the last one takes the rest."""
    total = sum(phase.share for phase in phases)
    first = [max(1, round(steps * phase.share / total)) for phase in phases[:-1]]
    return [*first, max(1, steps - sum(first))]


def _prepared(X, network: Network | None, standardise: bool):
    """Checked features in the network's dtype, and the scaling applied to them (None if none was)."""
    X = check_features(X, columns=network.n_columns if network else None, dtype=network.dtype if network else "float32")
    if not standardise or scipy.sparse.issparse(X):
        return X, None
    scaling = Standardiser.fit(X)
    return scaling.transform(X), scaling


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
