"""Train each variant at each learning rate; store averaged weights and validation scores at each checkpoint.

The test rows are not used here: runs store weights, and `choice` scores the test rows for what was chosen. In
development a fifth of the training rows replaces the test rows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import data
from aesara_nondecomp._files import replacing
from aesara_nondecomp.data import MiniBatches
from aesara_nondecomp.training.recipes import Problem, Recipe
from benchmarks.experiment import BATCH_SIZE, prepare
from studies.improvements.ascents import functions_for
from studies.improvements.held_out import HeldOutDuals
from studies.improvements.variants import CHECKPOINTS, RATES, VARIANTS, Variant

DEVELOPMENT_CUT = 7  # added to the seed, for the rows that replace the test rows in development
HELD_OUT_ROWS = 256


class Rows(NamedTuple):
    """Features and signs of some rows."""

    X: np.ndarray
    signs: np.ndarray


class Cell(NamedTuple):
    """A data set split for one seed, and the functions of each kind of network and step."""

    dataset: str
    seed: int
    train: Rows
    held: Rows
    test: Rows
    compiled: dict[tuple, an.TrainFunctions]

    def functions(self, variant: Variant) -> an.TrainFunctions:
        """The functions that the variant needs, made once for each data set."""
        key = (variant.hidden, variant.margin, variant.radius)
        if key not in self.compiled:
            self.compiled[key] = functions_for(variant, self.train.X.shape[1])
        return self.compiled[key]


def problem_of(rows: Rows) -> Problem:
    """What a recipe must know of the training rows."""
    return Problem(float(np.mean(rows.signs > 0)), 0.5 / len(rows.signs))


class Run(NamedTuple):
    """One training run, stored at its checkpoints."""

    variant: str
    rate: float
    steps: np.ndarray
    weights: np.ndarray
    """Averaged weights, one flat row per checkpoint."""
    held_scores: np.ndarray
    """Scores of the validation rows, one row per checkpoint."""


def cells(dataset: str, seeds: Sequence[int], data_dir: str | None, development: bool) -> Iterator[Cell]:
    """The data set, split into training, validation (20 %) and test rows for each seed."""
    prepared = prepare(dataset, data_dir)
    everything, groups = Rows(prepared.X, prepared.signs), prepared.groups
    compiled: dict[tuple, an.TrainFunctions] = {}
    for seed in seeds:
        if development:
            kept, test, kept_groups = _cut(everything, groups, seed + DEVELOPMENT_CUT)
        else:
            kept, test, kept_groups = everything, Rows(prepared.X_test, prepared.signs_test), groups
        train, held, _ = _cut(kept, kept_groups, seed)
        yield Cell(dataset, seed, train, held, test, compiled)


def _cut(rows: Rows, groups: np.ndarray | None, seed: int) -> tuple[Rows, Rows, np.ndarray | None]:
    kept, held = data.stratified_split(rows.signs, 0.2, seed, groups)
    first, second = (Rows(rows.X[part], rows.signs[part]) for part in (kept, held))
    return first, second, None if groups is None else groups[kept]


def train_all(cell: Cell, variants: Sequence[str], folder: str) -> None:
    """Do the runs that are not stored yet."""
    os.makedirs(folder, exist_ok=True)
    for name in applicable(cell, variants):
        for rate in RATES:
            path = _path(folder, cell, name, rate)
            if not os.path.exists(path):
                _store(path, train_one(cell, VARIANTS[name], rate))


def load_runs(cell: Cell, variants: Sequence[str], folder: str) -> list[Run]:
    """The stored runs of a cell."""
    names = applicable(cell, variants)
    return [_load(_path(folder, cell, name, rate), name, rate) for name in names for rate in RATES]


def applicable(cell: Cell, variants: Sequence[str]) -> list[str]:
    """The variants that make sense here: batches with 20 % positives only where positives are rarer."""
    prior = problem_of(cell.train).prior
    shares = {name: VARIANTS[name].stages[0].sampler for name in variants}
    return [name for name, share in shares.items() if isinstance(share, str) or share > prior]


def train_one(cell: Cell, variant: Variant, rate: float) -> Run:
    """Train through the variant's stages, and keep the averaged weights of the checkpoints."""
    readings = list(_readings(cell, variant, rate, cell.train, CHECKPOINTS))
    weights = np.stack([weights for _, weights in readings])
    held_scores = np.stack([score(cell, variant, row, cell.held.X) for row in weights])
    return Run(variant.name, rate, np.array([step for step, _ in readings]), weights, held_scores)


def refit(cell: Cell, run: Run, checkpoint: int, folder: str) -> np.ndarray:
    """Averaged weights of the same run with the validation rows added, at the same step; stored as well."""
    steps = int(run.steps[checkpoint])
    path = _path(folder, cell, f"{run.variant} refit {steps}", run.rate)
    if not os.path.exists(path):
        rows = Rows(*(np.concatenate(pair) for pair in zip(cell.train, cell.held)))
        ((_, weights),) = _readings(cell, VARIANTS[run.variant], run.rate, rows, (steps,))
        _store(path, Run(run.variant, run.rate, np.array([steps]), weights[None], np.empty((1, 0), "float32")))
    return _load(path, run.variant, run.rate).weights[0]


def _readings(
    cell: Cell, variant: Variant, rate: float, rows: Rows, checkpoints: Sequence[int]
) -> list[tuple[int, np.ndarray]]:
    """Averaged weights at the checkpoints of one run, which ends at the last one."""
    functions, readings = cell.functions(variant), []
    network: Any = functions
    before = 0
    for number, stage in enumerate(variant.stages):
        steps = min(stage.steps, checkpoints[-1] - before)
        if steps <= 0:
            break

        def read(step: Any, before: int = before) -> None:
            if before + step.step in checkpoints:
                readings.append((before + step.step, flat(functions.averaged_parameters())))

        network = an.fit(
            rows.X,
            rows.signs,
            algorithm=_recipe(cell, variant, rows, rate),
            network=network,  # from the second stage on the model, whose weights are gone on with
            steps=steps,
            batch_size=min(BATCH_SIZE, len(rows.signs)),
            sampler=stage.sampler,
            schedule=variant.schedule,
            l2=variant.l2,
            validation=None,
            standardize=False,
            seed=[cell.seed, number],
            on_step=read,
        )
        before += steps
    return readings


def _recipe(cell: Cell, variant: Variant, rows: Rows, rate: float) -> Recipe:
    recipe = variant.build(problem_of(rows))._replace(learning_rate=rate)
    if not variant.held_out_duals:
        return recipe
    size = min(HELD_OUT_ROWS, len(cell.held.signs))
    batches = MiniBatches(cell.held.X, cell.held.signs, size, cell.seed, "balanced")
    functions = cell.functions(variant)
    phases = (p._replace(driver=HeldOutDuals(p.driver, functions, batches)) for p in recipe.phases)
    return recipe._replace(phases=tuple(phases))


def score(cell: Cell, variant: Variant, weights: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Scores of rows by stored weights."""
    functions = cell.functions(variant)
    with functions.using(_shaped(weights, functions.parameters())):
        return functions.scores(X)


def flat(parameters: Sequence[np.ndarray]) -> np.ndarray:
    """All parameters in one vector."""
    return np.concatenate([p.ravel() for p in parameters])


def _shaped(weights: np.ndarray, like: Sequence[np.ndarray]) -> list[np.ndarray]:
    ends = np.cumsum([p.size for p in like])[:-1]
    return [part.reshape(p.shape) for part, p in zip(np.split(weights, ends), like)]


def _path(folder: str, cell: Cell, name: str, rate: float) -> str:
    return os.path.join(folder, f"{cell.dataset}-{cell.seed}-{name.replace(' ', '_')}-{rate:g}.npz")


def _store(path: str, run: Run) -> None:
    with replacing(path) as file:
        np.savez(file, steps=run.steps, weights=run.weights, held_scores=run.held_scores)


def _load(path: str, name: str, rate: float) -> Run:
    with np.load(path) as stored:
        return Run(name, rate, stored["steps"], stored["weights"], stored["held_scores"])
