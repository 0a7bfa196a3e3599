"""What the parts of the study pass to each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from aesara_nondecomp import TrainFunctions, data


class Plan(NamedTuple):
    """How much is run."""

    seeds: tuple[int, ...]
    steps: int
    checkpoints: tuple[int, ...]
    repeats: int
    """Resampled test sets for each prevalence of the drift grid; ten times as many at the test set's own."""


class EvaluationSet(NamedTuple):
    """A test set, raw and encoded."""

    texts: list[str]
    ids: np.ndarray
    signs: np.ndarray


class Tweets(NamedTuple):
    """Encoded tweets, and the functions that train each network."""

    name: str
    vocabulary: data.Vocabulary
    X: np.ndarray
    signs: np.ndarray
    tests: dict[str, EvaluationSet]
    """By name; the first is the main one."""
    functions: dict[str, TrainFunctions]

    @property
    def main_test(self) -> EvaluationSet:
        """The test set of the curves and of the drift grid."""
        return next(iter(self.tests.values()))


class Run(NamedTuple):
    """One trained network."""

    network: str
    objective: str
    seed: int
    curve: list[dict[str, float]]
    """Test errors at each checkpoint."""
    scores: dict[str, np.ndarray]
    """Final scores on each test set."""
    estimators: dict[str, Callable[[np.ndarray], float]]
    """From scores to a prevalence."""
    parameters: list[np.ndarray]


class Attended(NamedTuple):
    """A tweet with the weight of each of its words; the sign of the score is the predicted sentiment."""

    words: list[str]
    weights: list[float]
    score: float
