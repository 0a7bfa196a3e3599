"""What rows held out decide: the monitor of a run, then the threshold and the calibration of its model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import measures, metrics
from aesara_nondecomp._checks import warn_caller
from aesara_nondecomp.metrics import Quantifier
from aesara_nondecomp.metrics.bootstrap import FEW_ROWS
from aesara_nondecomp.metrics.cell_threshold import CellGoal
from aesara_nondecomp.metrics.confusion import trivial_score
from aesara_nondecomp.training.cross_fitting import Choice
from aesara_nondecomp.training.early_stopping import EarlyStopping
from aesara_nondecomp.training.folds import AUTO
from aesara_nondecomp.training.groups import warn_of_unreached
from aesara_nondecomp.training.recipes import Recipe
from aesara_nondecomp.training.run import Settings, TrainingRows
from aesara_nondecomp.training.validation_monitor import ValidationMonitor


def monitor_factory(
    stopping: EarlyStopping | None,
    measure: measures.Measure,
    recipe: Recipe,
    settings: Settings,
    goal: CellGoal | None = None,
) -> Callable[[TrainingRows, bool], ValidationMonitor] | None:
    """Return a factory that builds the monitor for one network's held-out rows.

    Parameters
    ----------
    stopping : EarlyStopping or None
        How rows are held out; None for none.
    measure : measures.Measure
        By which evaluations are compared.
    recipe : Recipe
        Whose threshold may be fixed.
    settings : Settings
        Of the run.
    goal : CellGoal, optional
        What is judged in place of the measure, where cells play a part.

    Returns
    -------
    callable (held, keep_all) -> ValidationMonitor, or None
    """
    if stopping is None:
        return None
    # Where the model gets another threshold at the end, evaluations are compared at the best one of each.
    threshold = None if tunes(recipe, stopping) else recipe.threshold
    interval = stopping.interval(settings)
    patient_until = settings.steps // 2 if goal is None and stopping.patience == AUTO else 0

    def monitor(held: TrainingRows, keep_all: bool) -> ValidationMonitor:
        patience = stopping.patience_of(several=keep_all)
        X, signs, weight, cell = held
        return ValidationMonitor(
            X, signs, weight, measure, interval, patience, threshold, keep_all, cell, goal, patient_until
        )

    return monitor


def tunes(recipe: Recipe, stopping: EarlyStopping) -> bool:
    """Whether the threshold is chosen on the rows held out.

    Parameters
    ----------
    recipe : Recipe
        To which it may belong.
    stopping : EarlyStopping
        What was asked for.

    Returns
    -------
    bool
    """
    if recipe.threshold is None or stopping.tune_threshold is True:
        return True
    return stopping.tune_threshold == "auto" and not recipe.fixed_threshold


def model_fields(
    recipe: Recipe,
    stopping: EarlyStopping | None,
    measure: measures.Measure,
    choice: Choice,
    goal: CellGoal | None = None,
) -> tuple[float, dict[str, Any]]:
    """The threshold and, if rows were held out, what they say of the model.

    Parameters
    ----------
    recipe : Recipe
        Whose threshold may be fixed.
    stopping : EarlyStopping or None
        How rows are held out; None for none.
    measure : measures.Measure
        What was trained for.
    choice : Choice
        Of the weights, with the scores of the rows held out.
    goal : CellGoal, optional
        What is judged in place of the measure, where cells play a part.

    Returns
    -------
    threshold : float
        Scores above it are positive.
    fields : dict
        Fields of a Model: calibration, confusion matrix, collapse; empty without such rows.

    Warns
    -----
    UserWarning
        If the model predicts one class only, is worse than that, or breaks a constraint.
    """
    scores, signs, weight, threshold = choice.scores_of_model, choice.signs, choice.weight, recipe.threshold
    if stopping is None or scores is None or signs is None:
        return recipe.threshold or 0.0, {}
    tuned = tunes(recipe, stopping)
    if tuned:
        exact = stopping.tune_threshold is True or recipe.threshold is None  # as the plug-in baseline has it
        if goal is not None and choice.cell is not None:
            choose = goal.best_threshold if exact else goal.steady_threshold
            threshold = choose(scores, choice.cell, weight)
        else:
            tune = metrics.best_threshold if exact else metrics.steady_threshold
            threshold, _ = tune(measure, scores, signs, weight)
    assert threshold is not None
    confusion = metrics.confusion_at_threshold(scores, signs, threshold, weight)
    collapsed = confusion.predicted_prevalence in (0.0, 1.0)
    if goal is not None and choice.cell is not None:
        warn_of_unreached(goal.constraints, *goal.recalls(threshold, scores, choice.cell, weight))
    if goal is None or collapsed:
        _warn_of_trivial(measure, confusion, threshold, tuned=tuned)
    return threshold, {
        "quantifier": _quantifier(choice, signs, threshold, tuned=tuned),
        "validation_matrix": confusion,
        "collapsed": collapsed,
    }


def warn_of_few_rows(names: Iterable[str], counts: NDArray[Any]) -> None:
    """Warn of classes or labels of which few rows were held out, whatever the model is like.

    Parameters
    ----------
    names : iterable of K str
        What the rows are of.
    counts : int array, shape (K,)
        Rows of each that were held out.

    Warns
    -----
    UserWarning
        If there are fewer than 10 rows of one.
    """
    few = [f"{count} of {name}" for name, count in zip(names, counts.tolist()) if count < FEW_ROWS]
    if few:
        listed = ", ".join(few[:5]) + (f" and {len(few) - 5} more" if len(few) > 5 else "")
        warn_caller(
            f"few rows are held out ({listed}): threshold or rule, probabilities and error rates follow these rows, "
            "and may be far off on others. Give more of them."
        )


def _quantifier(choice: Choice, signs: NDArray[Any], threshold: float, *, tuned: bool) -> Quantifier:
    """What the held-out rows say of the model, and of the single networks of a vote.

    These are measured at the vote's threshold, or where that was tuned, at one that as many of their scores exceed.
    """
    found = Quantifier.fit(choice.scores_of_model, signs, threshold, choice.weight)
    if choice.votes is None or choice.scores is None:
        return found
    if tuned and np.isfinite(threshold):
        threshold = float(np.quantile(choice.scores, 1 - np.mean(choice.votes > threshold)))
    return found._replace(of_networks=Quantifier.fit(choice.scores, signs, threshold, choice.weight))


def _warn_of_trivial(
    measure: measures.Measure, confusion: metrics.ConfusionMatrix, threshold: float, *, tuned: bool
) -> None:
    """Warn of a model that is no better than one label for all rows."""
    one_class = confusion.predicted_prevalence in (0.0, 1.0)
    value, trivial = (0.0, 0.0) if one_class else (metrics.score(measure, confusion), trivial_score(measure, confusion))
    if one_class:
        why = (
            f"no threshold was better for {measure} than to predict one class only, and the model does so"
            if tuned
            else f"the model predicts one class only at the algorithm's threshold of {threshold:g}"
        )
    elif measure.merit(value) < measure.merit(trivial):
        why = (
            f"{measure} is {value:.4g} at the algorithm's threshold of {threshold:g}, worse than the {trivial:.4g} of "
            "one label for all rows"
        )
    else:
        return
    warn_caller(f"on the rows held out, {why}. The features may not tell the classes apart, or there are too few rows.")
