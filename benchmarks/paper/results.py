"""From the lines of the runs to the values at the rate and checkpoint that validation chose, and to curves."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from aesara_nondecomp import measures
from benchmarks.paper.grid import Grid, Panel, Run, run_for
from benchmarks.paper.methods import METHODS, TRAININGS, larger_is_better, serving, threshold_for
from benchmarks.paper.runner import lines_path
from benchmarks.paper.training import split

Lines = list[dict[str, Any]]


class Choice(NamedTuple):
    """The learning rate and the checkpoint that are best on the validation rows of one seed."""

    seed: int
    rate: float
    line: dict[str, Any]
    """The line of the chosen checkpoint."""
    lines: Lines
    """All lines of the run at the chosen rate."""


class Results:
    """The finished runs of a grid."""

    def __init__(self, grid: Grid, out: Path):
        self.grid, self.out = grid, out
        self._choices: dict[tuple[Panel, str], list[Choice]] = {}

    def choices(self, panel: Panel, method: str) -> list[Choice]:
        """The choice of each seed that has a finished run."""
        key = panel, method
        if key not in self._choices:
            found = (self._choice(panel, method, seed) for seed in self.grid.seeds)
            self._choices[key] = [choice for choice in found if choice]
        return self._choices[key]

    def methods(self, panel: Panel) -> list[str]:
        """The methods that have results on a panel."""
        return [method for method in serving(self.grid.methods, panel.measure) if self.choices(panel, method)]

    def values(self, panel: Panel, method: str, measure: str | None = None) -> list[float]:
        """Test values at the chosen checkpoint, one per seed."""
        return [value(choice.line, "test", panel, method, measure) for choice in self.choices(panel, method)]

    def median(self, panel: Panel, method: str) -> float:
        """Median of the test values over seeds; NaN without results."""
        found = self.values(panel, method)
        return float(np.median(found)) if found else math.nan

    def curve(self, panel: Panel, method: str, axis: str) -> tuple[np.ndarray, np.ndarray]:
        """The test curves of a method.

        Parameters
        ----------
        panel : Panel
            The panel.
        method : str
            Name of the method.
        axis : {"step", "samples", "seconds"}
            What the curves run along.

        Returns
        -------
        along : array, shape (n_checkpoints,)
            Axis values, medians over the seeds.
        values : array, shape (n_seeds, n_checkpoints)
            Test values.
        """
        runs = [choice.lines for choice in self.choices(panel, method)]
        along = np.median([[line[axis] for line in lines] for lines in runs], axis=0)
        return along, np.array([[value(line, "test", panel, method) for line in lines] for lines in runs])

    def first(self, panel: Panel, method: str, goal: float, axis: str = "step") -> float:
        """Median over seeds of the axis value at which the test curve first reaches `goal`; infinite for never."""
        reached = [self._first_of(choice.lines, panel, method, goal, axis) for choice in self.choices(panel, method)]
        return float(np.median(reached)) if reached else math.nan

    def _first_of(self, lines: Lines, panel: Panel, method: str, goal: float, axis: str) -> float:
        sign = 1 if larger_is_better(panel.measure) else -1
        for line in lines:
            if sign * value(line, "test", panel, method) >= sign * goal:
                return float(line[axis])
        return math.inf

    def _choice(self, panel: Panel, method: str, seed: int) -> Choice | None:
        best = None
        for rate in TRAININGS[METHODS[method].training].rates:
            lines = read_lines(self.out, run_for(self.grid, panel, method, seed, rate))
            if lines:
                line = max(_candidates(lines, panel), key=lambda line: _score(line, panel, method))
                if best is None or _score(line, panel, method) > _score(best.line, panel, method):
                    best = Choice(seed, rate, line, lines)
        return best


def read_lines(out: Path, run: Run) -> Lines:
    """The lines of a finished run; none if it is not finished."""
    path = lines_path(out, run)
    return [json.loads(text) for text in path.read_text("utf-8").splitlines()] if path.is_file() else []


def value(line: dict[str, Any], rows: str, panel: Panel, method: str, measure: str | None = None) -> float:
    """Value of the panel's measure (or of another) in a line, under the method's decision rule; NaN if undefined."""
    found = line[rows][threshold_for(method, panel.measure)].get(measure or panel.measure)
    return math.nan if found is None else float(found)


def _candidates(lines: Lines, panel: Panel) -> Lines:
    """The checkpoints to choose from: for KLD only the last, because any network passes KLD = 0 by chance."""
    return lines[-1:] if panel.measure == "kld" else lines


def _score(line: dict[str, Any], panel: Panel, method: str) -> float:
    found = value(line, "validation", panel, method)
    return -math.inf if math.isnan(found) else found if larger_is_better(panel.measure) else -found


class Trivial(NamedTuple):
    """Test values that need no training."""

    value: float
    """The better of all-positive and all-negative."""
    training_prior: float | None
    """For KLD, the value of the training prior as the estimate."""


def trivial(panel: Panel, grid: Grid) -> Trivial:
    """The trivial values of a panel."""
    part = split(panel.used, grid.data_dir, grid.seeds[0])
    test, train = part.train.test_prior, part.problem.prior
    eps = 0.5 / len(part.train.signs_test)
    divergence = None
    if panel.measure == "kld":
        divergence = test * math.log(test / train) + (1 - test) * math.log((1 - test) / (1 - train))
    return Trivial(float(measures.get(panel.measure).trivial(test, eps)), divergence)


def failures(out: Path, grid_names: set[str]) -> list[dict[str, Any]]:
    """The errors of the failed runs of a grid."""
    folder = out / "errors"
    found = [path for path in sorted(folder.glob("*.json")) if path.stem in grid_names] if folder.is_dir() else []
    return [json.loads(path.read_text("utf-8")) for path in found]
