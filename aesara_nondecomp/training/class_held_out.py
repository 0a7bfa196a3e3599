"""What rows held out decide of a model of several classes: its weights, its rule and its calibration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import metrics
from aesara_nondecomp._checks import warn_caller
from aesara_nondecomp.data.splits import fold_rows
from aesara_nondecomp.history import ClassEvaluation
from aesara_nondecomp.measures.multiclass import MulticlassMeasure
from aesara_nondecomp.metrics.class_bootstrap import trivial_class_value
from aesara_nondecomp.metrics.class_goal import ClassGoal
from aesara_nondecomp.metrics.class_quantification import ClassQuantifier, calibrated
from aesara_nondecomp.metrics.class_scores import (
    class_confusion,
    decision_scores,
    log_likelihood,
    sober_log_likelihood,
)
from aesara_nondecomp.metrics.confusion_sums import softmax
from aesara_nondecomp.training.cross_fitting import Choice
from aesara_nondecomp.training.early_stopping import EarlyStopping, Interval
from aesara_nondecomp.training.groups import warn_of_unreached
from aesara_nondecomp.training.recipes import Recipe
from aesara_nondecomp.training.run import Settings, TrainingRows
from aesara_nondecomp.training.validation_monitor import ValidationMonitor

CANDIDATES = 20  # for an offset at a time, where offsets are chosen to compare weights
PARTS, RESAMPLES = 2, 100  # by which offsets are compared with none


class ClassMonitor(ValidationMonitor):
    """Evaluations of several classes: of the class with the largest score, by the measure.

    Where a plug-in rule is chosen at the end, weights are compared by the likelihood of the held-out rows instead: the
    rule is on probabilities, and should find good ones. For a rule by linearisation, a network does not lose by being
    too certain, as most are after a few steps: its probabilities are calibrated later. For offsets it does: they follow
    the rarest class, of which a vote of networks that fit their rows closely predicts too few.

    Parameters
    ----------
    held : TrainingRows
        The held-out rows; their cells are the classes, or with a goal those of the goal.
    measure : measures.multiclass.MulticlassMeasure
        Of the evaluations.
    interval : Interval
        As for `ValidationMonitor`.
    patience : int or None
        As for `ValidationMonitor`.
    keep_all : bool
        As for `ValidationMonitor`.
    n_classes : int
        Number K of classes.
    plug_in : {"offsets", "linearised"} or None
        The rule that is chosen at the end. With one, weights are compared by likelihood.
    class_goal : ClassGoal, optional
        What is judged in place of the measure alone: the worst of the groups, or constraints.
    """

    measure: Any

    def __init__(
        self,
        held: TrainingRows,
        measure: MulticlassMeasure,
        interval: Interval,
        patience: int | None,
        keep_all: bool,
        n_classes: int,
        plug_in: str | None,
        class_goal: ClassGoal | None = None,
    ) -> None:
        X, signs, weight, cell = held
        own: Any = measure
        super().__init__(X, signs, weight, own, interval, patience, None, keep_all, cell)
        self.n_classes, self.plug_in, self.class_goal = n_classes, plug_in, class_goal

    @property
    def score_shape(self) -> tuple[int, ...]:
        return len(self.signs), self.n_classes

    def merits(self, evaluations: Sequence[Any]) -> NDArray[np.float64]:
        if self.plug_in is None:
            return super().merits(evaluations)
        return np.array([evaluation.log_likelihood for evaluation in evaluations], dtype=np.float64)

    def should_stop(self, since: int = 0) -> bool:
        """Whether patience is exhausted by the measure and by the mean recall, which follows single rows less.

        Parameters
        ----------
        since : int, default 0
            Evaluations up to this step do not count.

        Returns
        -------
        bool
        """
        recalls = [_mean_recall(evaluation) for evaluation in self.evaluations]
        return super().should_stop(max(since, self.evaluations[int(np.argmax(recalls))].step) if recalls else since)

    def evaluation_of(self, values: Sequence[Any]) -> ClassEvaluation:
        return ClassEvaluation(*values)

    def evaluated(
        self, scores: NDArray[Any], signs: NDArray[Any], weight: NDArray[Any] | None, cell: Any, step: int
    ) -> Any:
        codes, predicted = cell % self.n_classes, scores.argmax(axis=1)
        of_scores = sober_log_likelihood if self.plug_in == "linearised" else log_likelihood
        likelihood = of_scores(scores, codes, weight)
        if self.class_goal is None:
            confusion = class_confusion(codes, predicted, self.n_classes, weight)
            return ClassEvaluation(step, self.measure.from_confusion(confusion), confusion.tolist(), likelihood)
        rule = self.class_goal.rule(scores, cell, weight, CANDIDATES)
        predicted = decision_scores(scores, rule).argmax(axis=1)
        value, excess, confusion = self.class_goal.at(predicted, cell, weight)
        return ClassEvaluation(step, value, confusion.tolist(), likelihood, excess)


def _mean_recall(evaluation: Any) -> float:
    confusion = np.asarray(evaluation.confusion, dtype=float)  # of several labels, one of two classes for each
    return float(np.mean(np.diagonal(confusion, axis1=-2, axis2=-1) / confusion.sum(axis=-1)))


def class_monitor_factory(
    stopping: EarlyStopping | None,
    measure: MulticlassMeasure,
    recipe: Recipe,
    settings: Settings,
    n_classes: int,
    goal: ClassGoal | None = None,
) -> Callable[[TrainingRows, bool], ValidationMonitor] | None:
    """Return a factory that builds the monitor for one network's held-out rows.

    Parameters
    ----------
    stopping : EarlyStopping or None
        How rows are held out; None for none.
    measure : measures.multiclass.MulticlassMeasure
        By which evaluations are compared.
    recipe : Recipe
        Whose rule may be a plug-in.
    settings : Settings
        Of the run.
    n_classes : int
        Number K of classes.
    goal : ClassGoal, optional
        What is judged in place of the measure, where groups or constraints play a part.

    Returns
    -------
    callable (held, keep_all) -> ValidationMonitor, or None
    """
    if stopping is None:
        return None
    interval = stopping.interval(settings)

    def monitor(held: TrainingRows, keep_all: bool) -> ValidationMonitor:
        patience = stopping.patience_of(several=keep_all)
        return ClassMonitor(held, measure, interval, patience, keep_all, n_classes, recipe.plug_in, goal)

    return monitor


def class_model_fields(
    recipe: Recipe,
    stopping: EarlyStopping | None,
    measure: MulticlassMeasure,
    choice: Choice,
    goal: ClassGoal | None = None,
) -> dict[str, Any]:
    """What the held-out rows say of a model.

    Parameters
    ----------
    recipe : Recipe
        Whose rule may be a plug-in.
    stopping : EarlyStopping or None
        How rows are held out, and whether offsets may be chosen on them.
    measure : measures.multiclass.MulticlassMeasure
        What was trained for.
    choice : Choice
        Of the weights, with the scores of the rows held out.
    goal : ClassGoal, optional
        What is judged in place of the measure, where groups or constraints play a part.

    Returns
    -------
    dict
        Fields of a ClassModel: rule, calibration, quantifier, confusion matrix; empty without such rows.

    Warns
    -----
    UserWarning
        If the model predicts one class only, or is worse than that.
    """
    scores, cell, weight = choice.scores_of_model, choice.cell, choice.weight
    if stopping is None or scores is None or cell is None:
        return {}
    codes = cell % scores.shape[1]
    tune = stopping.tune_threshold
    rule = goal.rule(scores, cell, weight) if goal else _rule(recipe, tune, measure, scores, codes, weight)
    predicted = decision_scores(scores, rule).argmax(axis=1)
    confusion = class_confusion(codes, predicted, scores.shape[1], weight)
    _warn_of_trivial(measure, confusion, goal is not None)
    if goal:
        R, cells, _ = goal.rates(predicted, cell, weight)  # noqa: N806
        warn_of_unreached(goal.constraints, R, cells)
    calibration, quantifier = calibrated(scores, predicted, codes, weight)
    if choice.votes is not None and choice.scores is not None:
        quantifier = _of_networks(choice.scores, rule, codes, weight)
    return {
        "rule": rule,
        "calibration": calibration,
        "quantifier": replace(quantifier, networks=len(choice.parameters)),
        "validation_matrix": confusion,
    }


def _of_networks(
    scores: NDArray[Any], rule: NDArray[Any] | None, codes: NDArray[Any], weight: NDArray[Any] | None
) -> ClassQuantifier:
    """Rates of the single networks of a vote, by its rule, and their calibration."""
    predicted = decision_scores(scores, rule).argmax(axis=1)
    calibration, quantifier = calibrated(scores, predicted, codes, weight)
    return replace(quantifier, calibration=calibration)


def _warn_of_trivial(measure: MulticlassMeasure, confusion: NDArray[Any], by_goal: bool) -> None:
    """Warn of a model that is no better than one class for all rows; of groups or constraints, if it is that."""
    if np.count_nonzero(confusion.sum(axis=0)) == 1:
        why = f"the model trained for {measure} predicts one class only"
    elif by_goal:
        return
    else:
        value = measure.oriented(measure.from_confusion(confusion))
        if not value < measure.merit(trivial_class_value(measure, confusion)) - 1e-9:  # nor where undefined
            return
        why = f"{measure} is {measure.oriented(value):.4g}, worse than one class for all rows"
    warn_caller(f"on the rows held out, {why}. The features may not tell the classes apart, or there are too few rows.")


def _rule(
    recipe: Recipe, tune: bool | str, measure: MulticlassMeasure, scores: Any, cell: Any, weight: Any
) -> NDArray[Any] | None:
    """The rule of the recipe, or offsets where they are asked for, or help for certain."""
    probabilities = softmax(scores.astype(np.float64))
    if recipe.plug_in is not None:
        return metrics.plug_in(measure, probabilities, cell, weight, method=recipe.plug_in).matrix
    asked = tune is True
    if asked or tune == "auto" and not recipe.fixed_threshold and _offsets_help(measure, probabilities, cell, weight):
        return _offsets(measure, probabilities, cell, weight)
    return None


def _offsets(measure: MulticlassMeasure, probabilities: Any, cell: Any, weight: Any) -> NDArray[Any]:
    """Offsets of which none alone can be improved, from those that the network was trained for."""
    return metrics.plug_in(measure, probabilities, cell, weight, method="offsets", starts=1).matrix


def _offsets_help(measure: MulticlassMeasure, probabilities: Any, cell: Any, weight: Any) -> bool:
    """Whether offsets chosen on one half of the rows are better on the other one, by more than its noise."""
    counts = np.bincount(cell)
    if counts.min() < 2 * PARTS:
        return False
    n_classes, rng = probabilities.shape[1], np.random.default_rng(0)
    fold = fold_rows(cell, PARTS, rng)
    moved = np.empty(len(cell), dtype=np.intp)
    for k in range(PARTS):
        others = fold != k
        rule = _offsets(measure, probabilities[others], cell[others], None if weight is None else weight[others])
        moved[~others] = (probabilities[~others] @ rule).argmax(axis=1)
    plain = probabilities.argmax(axis=1)
    gains = []
    members = [np.flatnonzero(cell == k) for k in range(n_classes)]
    for resample in range(RESAMPLES + 1):
        rows = np.arange(len(cell))
        if resample:
            rows = np.concatenate([rng.choice(own, len(own)) for own in members])
        own_weight = None if weight is None else weight[rows]
        values = [
            measure.merit(measure.from_confusion(class_confusion(cell[rows], predicted[rows], n_classes, own_weight)))
            for predicted in (moved, plain)
        ]
        gains.append(values[0] - values[1])
    return bool(gains[0] > np.std(gains[1:]))
