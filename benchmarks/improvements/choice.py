"""Choices on the validation part, and the one look at the test part for what was chosen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from aesara_nondecomp import metrics
from benchmarks.improvements.methods import Method
from benchmarks.improvements.protocol import Cell, Run, problem_of, refit, score
from benchmarks.improvements.variants import VARIANTS


class Member(NamedTuple):
    """A run at a checkpoint with a threshold."""

    run: Run
    checkpoint: int
    threshold: float
    held_value: float


def choose(cell: Cell, runs: Sequence[Run], measure: str, method: Method) -> list[Member]:
    """The method's best runs by validation, each at its best checkpoint and cut."""
    mine = [run for run in runs if run.variant in method.variants]
    best = [max(_members(cell, run, measure, method.cuts), key=lambda m: m.held_value) for run in mine]
    return sorted(best, key=lambda member: -member.held_value)[: method.members]


def _members(cell: Cell, run: Run, measure: str, cuts: Sequence[str]) -> Iterator[Member]:
    for checkpoint, scores in enumerate(run.held_scores):
        for cut in cuts:
            threshold = CUTS[cut](cell, measure, scores)
            yield Member(run, checkpoint, threshold, value(measure, scores - threshold, cell.held.signs))


def _tuned(cell: Cell, measure: str, scores: np.ndarray) -> float:
    threshold, _ = metrics.best_threshold(measure, scores, cell.held.signs)
    return min(max(threshold, -1e6), 1e6)  # "all of one class" must stay a number that can be averaged


def _prior(cell: Cell, measure: str, scores: np.ndarray) -> float:
    prior = problem_of(cell.train).prior
    return math.log(prior / (1 - prior))


CUTS: dict[str, Callable[[Cell, str, np.ndarray], float]] = {
    "zero": lambda cell, measure, scores: 0.0,
    "prior": _prior,
    "tuned": _tuned,
}


def value(measure: str, scores: np.ndarray, signs: np.ndarray) -> float:
    """Count value of the labels "score > 0"."""
    return metrics.score(measure, metrics.table_at_threshold(scores, signs))


class ScoredTest:
    """Scores of the test part, computed once for each set of weights that is asked for."""

    def __init__(self, cell: Cell, folder: str):
        self.cell, self.folder = cell, folder
        self.known: dict[tuple, np.ndarray] = {}

    def value(self, measure: str, members: Sequence[Member], refitted: bool) -> float:
        """Test value of the members' vote."""
        margins = [self._of(member, refitted) - member.threshold for member in members]
        return value(measure, np.mean([np.tanh(margin / 2) for margin in margins], axis=0), self.cell.test.signs)

    def _of(self, member: Member, refitted: bool) -> np.ndarray:
        run, checkpoint = member.run, member.checkpoint
        key = (run.variant, run.rate, checkpoint, refitted)
        if key not in self.known:
            weights = refit(self.cell, run, checkpoint, self.folder) if refitted else run.weights[checkpoint]
            self.known[key] = score(self.cell, VARIANTS[run.variant], weights, self.cell.test.X)
        return self.known[key]
