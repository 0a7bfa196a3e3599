"""What the accuracy benchmarks share: prepared data, one compiled step per data set, runs with checkpoints."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import data, metrics
from aesara_nondecomp._files import replacing
from aesara_nondecomp.training.recipes import Recipe
from benchmarks.data import load

HIDDEN = (64, 64)
BATCH_SIZE = 512


class Prepared(NamedTuple):
    """A data set ready for training: float32 features, signs, and the compiled functions of its network."""

    name: str
    X: np.ndarray
    signs: np.ndarray
    X_test: np.ndarray
    signs_test: np.ndarray
    groups: np.ndarray | None
    functions: an.TrainFunctions

    @property
    def test_prior(self) -> float:
        """Prevalence of the test part."""
        return float(np.mean(self.signs_test > 0))

    def part(self, rows: np.ndarray) -> Prepared:
        """The same with fewer training rows."""
        return self._replace(X=self.X[rows], signs=self.signs[rows])

    def split(self, seed: int) -> tuple[Prepared, np.ndarray, np.ndarray]:
        """80 % of the training rows to train on, and features and signs of the others, for thresholds."""
        kept, held = data.stratified_split(self.signs, 0.2, seed, self.groups)
        return self.part(kept), self.X[held], self.signs[held]


def prepare(name: str, data_dir: str | None = None) -> Prepared:
    """Load a data set by its name in `benchmarks.data`, and prepare it."""
    return prepared_from(load(name, data_dir))._replace(name=name)


def prepared_from(loaded: data.Dataset) -> Prepared:
    """Encode a table, standardise features that are not 0/1, and build (not yet compile) the default network."""
    X, X_test = loaded.X_train, loaded.X_test
    if isinstance(X, dict):
        encoder = data.InputEncoder.fit(X)
        X, X_test = encoder.transform(X), encoder.transform(X_test)
    elif not np.isin(X[:1000], (0, 1)).all():
        scaling = data.Standardiser.fit(X)
        X, X_test = scaling.transform(X), scaling.transform(X_test)
    signs, signs_test = (np.where(y > 0, 1, -1) for y in (loaded.y_train, loaded.y_test))
    functions = an.TrainFunctions(an.mlp(X.shape[1], HIDDEN))
    return Prepared(loaded.name, X, signs, X_test, signs_test, loaded.groups, functions)


class Reading(NamedTuple):
    """Scores of the averaged weights at a checkpoint."""

    step: int
    samples: int
    seconds: float
    scores: np.ndarray
    held_scores: np.ndarray | None


def run(
    prepared: Prepared,
    recipe: Recipe,
    seed: int,
    checkpoints: Sequence[int],
    *,
    sampler: str | float = "natural",
    held: np.ndarray | None = None,
    on_step: Callable[[Any], None] = lambda step: None,
) -> list[Reading]:
    """Train to the last checkpoint and score the test part (and `held` rows) at each."""
    functions, readings = prepared.functions, []

    def read(step) -> None:
        on_step(step)
        if step.step in checkpoints:
            with functions.using(functions.averaged_parameters()):
                held_scores = None if held is None else functions.scores(held)
                scores = functions.scores(prepared.X_test)
            readings.append(Reading(step.step, step.samples, step.seconds, scores, held_scores))

    an.fit(
        prepared.X,
        prepared.signs,
        algorithm=recipe,
        network=functions,
        steps=max(checkpoints),
        schedule="constant",
        validation=None,
        batch_size=min(BATCH_SIZE, len(prepared.signs)),
        sampler=sampler,
        standardize=False,
        seed=seed,
        on_step=read,
    )
    return readings


def value_at_zero(measure, scores: np.ndarray, signs: np.ndarray) -> float:
    """Value of the predictions "score > 0"."""
    return float(metrics.score(measure, metrics.confusion_at_threshold(scores, signs, 0.0)))


def value_tuned(measure, reading: Reading, signs: np.ndarray, held_signs: np.ndarray) -> float:
    """Value of the predictions above the threshold that is best on the held-out rows."""
    threshold, _ = metrics.best_threshold(measure, reading.held_scores, held_signs)
    return float(metrics.score(measure, metrics.confusion_at_threshold(reading.scores, signs, threshold)))


def chosen_seeds(options: argparse.Namespace) -> range:
    """The seeds of --first-seed and --seeds, or a ValueError before any training."""
    for name, value, least in (("--seeds", options.seeds, 1), ("--first-seed", options.first_seed, 0)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    return range(options.first_seed, options.first_seed + options.seeds)


def write_json(path: str, content: Any) -> None:
    """Write JSON whole or not at all, in a folder that is made if it is missing."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with replacing(path, text=True) as file:
        json.dump(content, file, indent=1)
        file.write("\n")
