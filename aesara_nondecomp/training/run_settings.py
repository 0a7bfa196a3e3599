"""The settings of a run, from the parameters of `fit` and the recipe; and its random numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara_nondecomp._checks import random_generator
from aesara_nondecomp.data.batches import usable_batch_size
from aesara_nondecomp.ops.optimisers import AdamW, Optimiser
from aesara_nondecomp.parallel import Communicator
from aesara_nondecomp.step import TrainFunctions
from aesara_nondecomp.training import schedules
from aesara_nondecomp.training.checkpoints import CheckpointFile
from aesara_nondecomp.training.recipes import Recipe
from aesara_nondecomp.training.run import Settings, TrainingRows
from aesara_nondecomp.training.training_data import TrainingData

if TYPE_CHECKING:  # their modules take long to load, and most runs are of two classes
    from aesara_nondecomp.step.class_functions import ClassFunctions


STEPS_WORTH_TRYING = 1_600  # of a small table, where rows held out stop training
BATCH_SIZE, LARGE_TABLE = 512, 40_000


def default_steps(n_rows: int, stops_early: bool) -> int:
    """The steps of a network, by default.

    Parameters
    ----------
    n_rows : int
        Number of its training rows.
    stops_early : bool
        Whether rows held out choose the best step, so that these steps are an upper limit. Small tables differ in how
        many they need, from 20 to more than 1,000.

    Returns
    -------
    int
    """
    tenth = int(np.clip(n_rows // 10, 300, 6000))
    return max(tenth, min(n_rows, STEPS_WORTH_TRYING)) if stops_early else tenth


def generator_of(seed: Any, stored: CheckpointFile | None, comm: Communicator) -> np.random.Generator:
    """A generator of our own whose state is plain numbers; without a seed it starts like that of the stored run.

    Parameters
    ----------
    seed : int, numpy Generator or None
        As given to `fit`.
    stored : CheckpointFile or None
        Of a run to resume.
    comm : communicator
        Of the processes, which get the same one.

    Returns
    -------
    numpy Generator
    """
    if isinstance(seed, (np.random.Generator, np.random.BitGenerator)):
        seed = int(np.random.default_rng(seed).integers(2**63))
    rng = random_generator(seed)
    if seed is None and stored and stored.start:
        rng.bit_generator.state = stored.start
    rng.bit_generator.state = comm.bcast(rng.bit_generator.state)
    return rng


def settings_of(
    recipe: Recipe, given: dict[str, Any], functions: TrainFunctions | ClassFunctions, data: TrainingData
) -> Settings:
    """Settings of all phases; the recipe's values are the defaults.

    Parameters
    ----------
    recipe : Recipe
        How to train.
    given : dict of str to object
        Checked parameters of `fit`.
    functions : TrainFunctions or ClassFunctions
        Whose optimiser says whether weights decay.
    data : TrainingData
        The rows.

    Returns
    -------
    Settings
    """
    n_rows = min((len(fold.train) for fold in data.folds), default=len(data.rows.signs))
    stops_early = bool(data.folds) or data.held is not None
    default = default_batch_size(n_rows, data.rows.X.dtype == np.int32, given["sampler"])
    steps = value_or(given["steps"], default_steps(n_rows, stops_early))
    return Settings(
        steps=steps,
        learning_rate=value_or(given["learning_rate"], recipe.learning_rate),
        schedule=schedules.get(value_or(given["schedule"], recipe.schedule), steps),
        averaging=value_or(given["averaging"], recipe.averaging),
        l2=weight_decay(given["l2"], recipe, functions.optimizer),
        temperature=recipe.temperature,
        batch_size=usable_batch_size(value_or(given["batch_size"], default), n_rows),
        sampler=given["sampler"],
        normalize=recipe.normalize,
        first_evaluation=math.ceil(default_steps(n_rows, stops_early=False) / 20),
    )


def default_batch_size(n_rows: int, text: bool, sampler: Any = "natural") -> int:
    """The rows of a step, by default.

    Small tables train as well with half as many as others, in less time. Large tables and texts need them, and so do
    batches of equally many rows from each cell, of which there may be hundreds.

    Parameters
    ----------
    n_rows : int
        Number of a network's training rows.
    text : bool
        Whether they are token ids.
    sampler : str or float, default "natural"
        How batches are drawn.

    Returns
    -------
    int
        At most `n_rows`.
    """
    halved = n_rows < LARGE_TABLE and not text and sampler != "cell_balanced"
    return min(n_rows, BATCH_SIZE // 2 if halved else BATCH_SIZE)


def weight_decay(l2: float | None, recipe: Recipe, optimizer: Optimiser) -> float:
    """The weight decay of a run.

    Parameters
    ----------
    l2 : float or None
        As given to `fit`.
    recipe : Recipe
        Its decay is meant for AdamW.
    optimizer : Optimiser
        The update rule.

    Returns
    -------
    float
        `l2`, or if it is None, that of the recipe with AdamW and 0 with others.
    """
    if l2 is not None:
        return l2
    return recipe.weight_decay if isinstance(optimizer, AdamW) else 0.0


def value_or(value: Any, default: Any) -> Any:
    """A parameter that may be left out.

    Parameters
    ----------
    value : object or None
        As given.
    default : object
        In place of None.

    Returns
    -------
    object
    """
    return default if value is None else value


def placement_of(backend: str) -> Callable[[TrainingRows], TrainingRows]:
    """Make the function that puts training rows where a backend takes them from.

    Parameters
    ----------
    backend : {"c", "jax"}
        With "jax", dense rows are placed on its device; all other rows stay where they are.

    Returns
    -------
    callable (TrainingRows) -> TrainingRows
    """

    def placed(rows: TrainingRows) -> TrainingRows:
        if backend != "jax" or not isinstance(rows.X, np.ndarray) or rows.X.dtype.kind != "f":
            return rows
        from aesara_nondecomp.step.device_rows import DeviceRows

        return rows._replace(X=DeviceRows(rows.X))

    return placed
