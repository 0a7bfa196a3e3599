"""What rows held out decide of a model of several labels: its weights, its thresholds and its calibration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import metrics
from aesara_nondecomp._checks import warn_caller
from aesara_nondecomp.history import ClassEvaluation
from aesara_nondecomp.measures import Averaged
from aesara_nondecomp.metrics.label_confusion import label_confusions
from aesara_nondecomp.models.label_model import label_calibrations
from aesara_nondecomp.training.class_held_out import ClassMonitor
from aesara_nondecomp.training.cross_fitting import Choice
from aesara_nondecomp.training.early_stopping import EarlyStopping, Interval
from aesara_nondecomp.training.held_out import tunes
from aesara_nondecomp.training.label_recipes import LabelRecipe
from aesara_nondecomp.training.run import Settings, TrainingRows
from aesara_nondecomp.training.validation_monitor import ValidationMonitor


class LabelMonitor(ClassMonitor):
    """Evaluations of several labels, at the thresholds of the recipe or, where they are chosen later, the best ones.

    Parameters
    ----------
    held : TrainingRows
        The held-out rows; their cells are sets of labels.
    measure : measures.Averaged
        Of the evaluations.
    interval : Interval
        As for `ValidationMonitor`.
    patience : int or None
        As for `ValidationMonitor`.
    keep_all : bool
        As for `ValidationMonitor`.
    sets : bool array, shape (m, L)
        The sets of labels.
    thresholds : float64 array, shape (L,), or None
        Of the labels; None for the best ones of each evaluation.
    """

    def __init__(
        self,
        held: TrainingRows,
        measure: Averaged,
        interval: Interval,
        patience: int | None,
        keep_all: bool,
        sets: NDArray[Any],
        thresholds: NDArray[Any] | None,
    ) -> None:
        own: Any = measure
        super().__init__(held, own, interval, patience, keep_all, sets.shape[1], plug_in=None)
        self.sets, self.thresholds = sets, thresholds

    def evaluated(
        self, scores: NDArray[Any], signs: NDArray[Any], weight: NDArray[Any] | None, cell: Any, step: int
    ) -> Any:
        matrix = self.sets[cell]
        thresholds = self.thresholds
        if thresholds is None:
            thresholds = best_thresholds(self.measure, scores, matrix, weight, steady=False)
        counts = label_confusions(matrix, scores > thresholds, weight)
        TP, FN, FP, TN = counts.T
        pairs = np.stack([np.stack([TN, FP], axis=1), np.stack([FN, TP], axis=1)], axis=1)
        logs = -np.logaddexp(0.0, np.where(matrix, -scores, scores).astype(np.float64)).mean(axis=1)
        likelihood = float(np.average(logs, weights=weight))
        return ClassEvaluation(step, self.measure.from_confusions(counts), pairs.tolist(), likelihood)


def best_thresholds(
    measure: Averaged, scores: NDArray[Any], matrix: NDArray[Any], weight: NDArray[Any] | None, *, steady: bool
) -> NDArray[np.float64]:
    """Thresholds of the labels by the plug-in rule: one for each, or for the micro average one for all.

    Parameters
    ----------
    measure : measures.Averaged
        What they are chosen for.
    scores : array, shape (n, L)
        Of rows that were not trained on.
    matrix : bool array, shape (n, L)
        Which labels the rows have.
    weight : array, shape (n,), or None
        Sample weights.
    steady : bool
        As `metrics.steady_threshold` chooses them, or the exact best ones.

    Returns
    -------
    float64 array, shape (L,)

    Notes
    -----
    Source: Koyejo, Natarajan, Ravikumar and Dhillon (2015).
    """
    tune = metrics.steady_threshold if steady else metrics.best_threshold
    signs = np.where(matrix, np.int8(1), np.int8(-1))
    n_labels = matrix.shape[1]
    if measure.average == "micro":
        pooled = None if weight is None else np.repeat(weight, n_labels)
        return np.full(n_labels, tune(measure.measure, scores.ravel(), signs.ravel(), pooled)[0])
    return np.array([tune(measure.measure, scores[:, k], signs[:, k], weight)[0] for k in range(n_labels)])


def label_monitor_factory(
    stopping: EarlyStopping | None, measure: Averaged, how: LabelRecipe, settings: Settings, sets: NDArray[Any]
) -> Callable[[TrainingRows, bool], ValidationMonitor] | None:
    """Return a factory that builds the monitor for one network's held-out rows.

    Parameters
    ----------
    stopping : EarlyStopping or None
        How rows are held out; None for none.
    measure : measures.Averaged
        By which evaluations are compared.
    how : LabelRecipe
        How the labels are trained.
    settings : Settings
        Of the run.
    sets : bool array, shape (m, L)
        The sets of labels.

    Returns
    -------
    callable (held, keep_all) -> ValidationMonitor, or None
    """
    if stopping is None:
        return None
    interval = stopping.interval(settings)
    thresholds = None if tunes(how.recipe, stopping) else how.thresholds

    def monitor(held: TrainingRows, keep_all: bool) -> ValidationMonitor:
        patience = stopping.patience_of(several=keep_all)
        return LabelMonitor(held, measure, interval, patience, keep_all, sets, thresholds)

    return monitor


def label_model_fields(
    how: LabelRecipe,
    stopping: EarlyStopping | None,
    measure: Averaged,
    choice: Choice,
    sets: NDArray[Any],
    labels: tuple[Any, ...],
) -> dict[str, Any]:
    """Thresholds and, if rows were held out, what they say of the model.

    Parameters
    ----------
    how : LabelRecipe
        Whose thresholds may be fixed.
    stopping : EarlyStopping or None
        How rows are held out; None for none.
    measure : measures.Averaged
        What was trained for.
    choice : Choice
        Of the weights, with the scores of the rows held out.
    sets : bool array, shape (m, L)
        The sets of labels.
    labels : tuple
        Their names.

    Returns
    -------
    dict
        Fields of a MultilabelModel: thresholds, calibrations and confusion matrices.

    Warns
    -----
    UserWarning
        If no threshold of a label is better than to give it to all rows, or to none.
    """
    scores, weight = choice.scores_of_model, choice.weight
    if stopping is None or scores is None or choice.cell is None:
        return {"thresholds": how.thresholds}
    matrix = sets[choice.cell]
    thresholds = how.thresholds
    if tunes(how.recipe, stopping):
        exact = stopping.tune_threshold is True or how.recipe.threshold is None
        thresholds = best_thresholds(measure, scores, matrix, weight, steady=not exact)
    counts = label_confusions(matrix, scores > thresholds, weight)
    constant = [label for label, (TP, FN, FP, TN) in zip(labels, counts.tolist()) if not (TP + FP) * (FN + TN)]
    if constant:
        warn_caller(
            f"on the rows held out, the model gives each of the labels {constant[:10]} to all rows or to none. The "
            "features may not predict these labels, or there are too few rows with or without them."
        )
    calibrations = label_calibrations(scores, matrix, weight)
    return {"thresholds": thresholds, "calibrations": calibrations, "validation_confusions": counts}
