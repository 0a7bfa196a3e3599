"""Choices on the validation rows, and the test values of what was chosen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from aesara_nondecomp import metrics
from benchmarks.baselines import hist_gradient_boosting
from studies.improvements.methods import Method
from studies.improvements.protocol import Cell, Run, problem_of, refit, score
from studies.improvements.variants import VARIANTS


class Member(NamedTuple):
    """A run at a checkpoint with a threshold."""

    run: Run
    checkpoint: int
    threshold: float
    held_value: float


def choose(cell: Cell, runs: Sequence[Run], measure: str, method: Method) -> list[Member]:
    """The method's best runs on the validation rows, each at its best checkpoint and threshold."""
    mine = [run for run in runs if run.variant in method.variants]
    best = [max(_members(cell, run, measure, method.thresholds), key=lambda m: m.held_value) for run in mine]
    return sorted(best, key=lambda member: -member.held_value)[: method.members]


def _members(cell: Cell, run: Run, measure: str, rules: Sequence[str]) -> Iterator[Member]:
    for checkpoint, scores in enumerate(run.held_scores):
        for rule in rules:
            threshold = THRESHOLDS[rule](cell, measure, VARIANTS[run.variant].own_threshold, scores)
            yield Member(run, checkpoint, threshold, value(measure, scores - threshold, cell.held.signs))


def _tuned(cell: Cell, measure: str, own: str, scores: np.ndarray) -> float:
    threshold, _ = metrics.best_threshold(measure, scores, cell.held.signs)
    return min(max(threshold, -1e6), 1e6)  # infinity, for "all of one class", cannot be averaged


def _log_odds_of_prior(cell: Cell) -> float:
    prior = problem_of(cell.train).prior
    return math.log(prior / (1 - prior))


def _halfway(cell: Cell, measure: str, own: str, scores: np.ndarray) -> float:
    """Half-way between the tuned threshold and that of the training loss, as validation positives may be few."""
    of_loss = {"zero": 0.0, "prior": _log_odds_of_prior(cell), "b20": math.log(0.2 / 0.8)}[own]
    return (of_loss + _tuned(cell, measure, own, scores)) / 2


THRESHOLDS: dict[str, Callable[[Cell, str, str, np.ndarray], float]] = {
    "zero": lambda cell, measure, own, scores: 0.0,
    "prior": lambda cell, measure, own, scores: _log_odds_of_prior(cell),
    "tuned": _tuned,
    "halfway": _halfway,
}


def value(measure: str, scores: np.ndarray, signs: np.ndarray) -> float:
    """Value of the predictions "score > 0"."""
    return metrics.score(measure, metrics.confusion_at_threshold(scores, signs, 0.0))


def tree_values(cell: Cell, measures: Sequence[str]) -> dict[str, float]:
    """Test values of boosted trees, trained on the same rows, at the best threshold of the validation rows."""
    scorer = hist_gradient_boosting(cell.train.X, cell.train.signs, seed=cell.seed)
    held, test = scorer(cell.held.X), scorer(cell.test.X)
    return {m: value(m, test - _tuned(cell, m, "zero", held), cell.test.signs) for m in measures}


class ScoredTest:
    """Scores of the test rows, computed once for each set of weights."""

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
