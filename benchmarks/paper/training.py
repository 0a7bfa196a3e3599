"""One training run, with an evaluation at each checkpoint."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import data, measures, metrics
from aesara_nondecomp.metrics import prevalence_shift
from aesara_nondecomp.metrics.class_rates import ClassSums
from aesara_nondecomp.metrics.quantification import Quantifier
from aesara_nondecomp.training.recipes import Problem, Recipe
from benchmarks.experiment import Prepared
from benchmarks.paper.datasets import prepare
from benchmarks.paper.grid import Run, checkpoints
from benchmarks.paper.methods import MEASURES, SHIFT_TRAININGS, TRAININGS, Training
from benchmarks.paper.released import LOG_ODDS_NINE

VALIDATION_SHARE = 0.2
SHIFT = {"sample_size": 500, "grid": 11, "repeats": 10, "seed": 0}
"""Test sets of the quantification table: rows of a set, prevalences from 0 to 1, and sets for each."""
CATALOGUE = measures.defaults()
DIGITS = 10  # significant digits of the numbers in a line


class Split(NamedTuple):
    """A data set whose training rows are split for one seed."""

    train: Prepared
    held: np.ndarray
    held_signs: np.ndarray

    @property
    def problem(self) -> Problem:
        """What a recipe must know of the training rows."""
        return Problem(float(np.mean(self.train.signs > 0)), 0.5 / len(self.train.signs))


@lru_cache(maxsize=4)
def split(name: str, data_dir: str | None, seed: int) -> Split:
    """80 % of the training rows to train on, and 20 % to choose rates, checkpoints and thresholds on."""
    whole = prepare(name, data_dir)
    kept, held = data.stratified_split(whole.signs, VALIDATION_SHARE, seed, whole.groups)
    return Split(whole.part(kept), whole.X[held], whole.signs[held])


def lines_of(run: Run, data_dir: str | None) -> list[dict[str, Any]]:
    """The lines of a run, one per evaluation."""
    training, part = _training(run.training), split(run.dataset, data_dir, run.seed)
    lines = _baseline_line(run, training, part) if training.baseline else _network_lines(run, training, part, data_dir)
    return [_writable({**run._asdict(), **line}) for line in lines]


# -- networks --------------------------------------------------------------------------------------------------------


class _Compiled(NamedTuple):
    functions: an.TrainFunctions
    seconds: float
    """To compile everything that the training calls, or to load it from Aesara's cache."""


def _network_lines(run: Run, training: Training, part: Split, data_dir: str | None) -> list[dict[str, Any]]:
    functions, compile_seconds = _compiled(run.dataset, data_dir, run.training)
    recipe = _recipe(training, run.measure, part)
    steps = [run.steps] if training.shift else checkpoints(run.steps)
    reader = _Reader(functions, part, steps, recipe.averaging > 0, compile_seconds)
    _fit(functions, training, recipe, run, part, reader)
    return [{**line, "shift": _shift(part, *reader.last)} for line in reader.lines] if training.shift else reader.lines


def _training(name: str) -> Training:
    return TRAININGS[name] if name in TRAININGS else SHIFT_TRAININGS[name]


@cache
def _compiled(dataset: str, data_dir: str | None, name: str) -> _Compiled:
    """The functions of a training, each called once, so that compilation is excluded from the times of a run."""
    training, part = _training(name), split(dataset, data_dir, 0)
    build, common = training.network, 0.0
    functions = an.TrainFunctions(build(part.train.X.shape[1])) if build else part.train.functions
    if not build and name != "cross_entropy":
        common = _compiled(dataset, data_dir, "cross_entropy").seconds
    rehearsal = Run(dataset, name, training.serves[0], seed=0, rate=1e-3, steps=2)
    begun = time.perf_counter()
    _fit(functions, training, _recipe(training, rehearsal.measure, part), rehearsal, part, lambda step: None)
    functions.scores(part.held[:1])
    return _Compiled(functions, common + time.perf_counter() - begun)


def _recipe(training: Training, measure: str, part: Split) -> Recipe:
    assert training.recipe is not None
    return training.recipe(training.serves[0] if measure == "any" else measure, part.problem)


def _fit(
    functions: an.TrainFunctions,
    training: Training,
    recipe: Recipe,
    run: Run,
    part: Split,
    on_step: Callable[[Any], None],
) -> None:
    an.fit(
        part.train.X,
        part.train.signs,
        algorithm=recipe,
        network=functions,
        learning_rate=run.rate,
        steps=run.steps,
        batch_size=min(training.batch_size, len(part.train.signs)),
        schedule=training.schedule,
        validation=None,
        standardize=False,
        seed=run.seed,
        on_step=on_step,
    )


class _Reader:
    """Collects a line at each checkpoint; its own time is not counted as training time."""

    def __init__(
        self, functions: an.TrainFunctions, part: Split, steps: Sequence[int], averaged: bool, compile_seconds: float
    ):
        self.functions, self.part, self.steps = functions, part, set(steps)
        self.averaged, self.compile_seconds = averaged, compile_seconds
        self.sums: list[ClassSums] = []
        self.lines: list[dict[str, Any]] = []
        self.last: tuple[np.ndarray, np.ndarray] = np.zeros(0), np.zeros(0)

    def __call__(self, step: Any) -> None:
        self.sums.append(step.sums)
        if step.step not in self.steps:
            return
        # Without averaging the last weights are evaluated: the averages of the whole network may be stale, because a
        # phase that trains the head only does not update them.
        weights = self.functions.averaged_parameters() if self.averaged else self.functions.parameters()
        with self.functions.using(weights):
            scores = self.functions.scores(self.part.train.X_test)
            held_scores = self.functions.scores(self.part.held)
        self.last = held_scores, scores
        since = ClassSums(*(sum(column) for column in zip(*self.sums)))
        self.sums.clear()
        self.lines.append(
            {
                "step": step.step,
                "samples": step.samples,
                "seconds": step.seconds,
                "seconds_with_compilation": step.seconds + self.compile_seconds,
                "train_rates_soft": since.rates("sigmoid"),
                "train_rates_hard": since.rates("count"),
                "duals": step.duals,
                **evaluation(self.part, held_scores, scores),
            }
        )


def _shift(part: Split, held_scores: np.ndarray, scores: np.ndarray) -> dict[str, dict[str, float]]:
    """Mean errors of each estimator of the prevalence, on test sets of shifted prevalences."""
    quantifier = Quantifier.fit(held_scores, part.held_signs, 0.0)
    threshold, _ = metrics.best_threshold("kld", held_scores, part.held_signs)
    estimators = {
        **prevalence_shift.estimators(quantifier, part.problem.prior),
        "tuned": lambda sample: float(np.mean(sample > threshold)),
    }
    return prevalence_shift.prevalence_shift(scores, part.train.signs_test, estimators, **SHIFT).errors()


# -- baselines -------------------------------------------------------------------------------------------------------


def _baseline_line(run: Run, training: Training, part: Split) -> Iterable[dict[str, Any]]:
    assert training.baseline is not None
    train = part.train
    begun = time.perf_counter()
    scorer = training.baseline(train.X, train.signs, run.rate, run.seed)
    seconds = time.perf_counter() - begun
    times = {"seconds": seconds, "seconds_with_compilation": seconds}
    yield {"step": 0, "samples": len(train.signs), **times, **evaluation(part, scorer(part.held), scorer(train.X_test))}


# -- values ----------------------------------------------------------------------------------------------------------


def evaluation(part: Split, held_scores: np.ndarray, scores: np.ndarray) -> dict[str, Any]:
    """Values of the predictions on the validation and test rows, for each decision rule.

    Parameters
    ----------
    part : Split
        The data, with validation and test labels.
    held_scores : array, shape (n_held,)
        Scores of the validation rows.
    scores : array, shape (n_test,)
        Scores of the test rows.

    Returns
    -------
    dict
        "validation" and "test", each {rule: {measure: value}}: the whole catalogue at threshold 0, the paper's measures
        at the other rules. "tuned" is the best threshold of each measure on the validation rows; "thresholds" has them.
    """
    prior = part.problem.prior
    fixed = {"zero": 0.0, "prior": math.log(prior / (1 - prior)), "nine": LOG_ODDS_NINE}
    tuned = {measure: metrics.best_threshold(measure, held_scores, part.held_signs) for measure in MEASURES}
    values: dict[str, Any] = {}
    for rows, s, signs in (("validation", held_scores, part.held_signs), ("test", scores, part.train.signs_test)):
        confusions = {rule: metrics.confusion_at_threshold(s, signs, at) for rule, at in fixed.items()}
        values[rows] = {
            rule: metrics.report(confusion, CATALOGUE if rule == "zero" else MEASURES)
            for rule, confusion in confusions.items()
        }
        values[rows]["tuned"] = {
            measure: metrics.score(measure, metrics.confusion_at_threshold(s, signs, at))
            for measure, (at, _) in tuned.items()
        }
        values[rows]["counts"] = confusions["zero"]._asdict()
    return {**values, "thresholds": {measure: at for measure, (at, _) in tuned.items()}}


def _writable(value: Any) -> Any:
    """The same with None for NaN and infinity, which JSON lacks, and rounded to `DIGITS`."""
    if isinstance(value, dict):
        return {name: _writable(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_writable(part) for part in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value
