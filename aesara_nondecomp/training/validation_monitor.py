"""Evaluations on held-out rows while training: which weights were best, and whether to stop."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import measures, metrics
from aesara_nondecomp.history import Evaluation
from aesara_nondecomp.metrics.cell_threshold import REACHED, CellGoal
from aesara_nondecomp.parallel import Functions, common_error
from aesara_nondecomp.training.early_stopping import Interval

if TYPE_CHECKING:  # their modules take long to load, and most runs are of two classes
    from aesara_nondecomp.step.class_functions import ClassFunctions


NEAR_CHANCE = 0.1  # of the way from random predictions to perfect ones


class Snapshot(NamedTuple):
    """A network at one evaluation.

    Attributes
    ----------
    parameters : list of arrays
        Its averaged weights.
    scores : array, shape (n,)
        Of the held-out rows.
    """

    parameters: list[NDArray[Any]]
    scores: NDArray[Any]


class ValidationMonitor:
    """Evaluations of a run on held-out rows, and the weights that were best so far.

    Parameters
    ----------
    X : array, LazyRows, CSR matrix or DistributedRows, shape (n, d)
        Prepared as for training.
    signs : array, shape (n,)
        Labels in {-1, +1}.
    weight : array, shape (n,), or None
        Sample weights; None for equal ones.
    measure : measures.Measure
        By which evaluations are compared.
    interval : Interval
        Steps between two evaluations.
    patience : int or None
        `should_stop` after so many evaluations in a row without a better one, at least 1; None for never.
    threshold : float or None, default 0
        Scores above it are positive; None for the best threshold of each evaluation, if the model gets one later.
    keep_all : bool, default False
        Keep the weights of all evaluations, not only the best ones.
    cell : int array, shape (n,), optional
        Cell of each row, where cells play a part.
    goal : CellGoal, optional
        What is judged there in place of the measure alone: constraints, or the worst of the groups.
    patient_until : int, default 0
        Up to this step patience does not end a run that is hardly better than chance: with codes or dates among the
        columns, a network may learn nothing for hundreds of steps, and then most of it.

    Attributes
    ----------
    evaluations : list of Evaluation
        So far.
    snapshots : dict of int to Snapshot
        By the index of their evaluation.
    most_evaluations : int or None
        `should_stop` after so many, whatever the patience; None for no limit.
    fold : int
        Whose rows these are, if there are several networks.
    """

    def __init__(
        self,
        X: Any,
        signs: NDArray[Any],
        weight: NDArray[Any] | None,
        measure: measures.Measure,
        interval: Interval,
        patience: int | None,
        threshold: float | None = 0.0,
        keep_all: bool = False,
        cell: NDArray[Any] | None = None,
        goal: CellGoal | None = None,
        patient_until: int = 0,
    ):
        self.patient_until = patient_until
        self.X, self.signs, self.weight, self.cell, self.goal = X, signs, weight, cell, goal
        self.measure, self.interval, self.patience = measure, interval, patience
        self.threshold, self.keep_all = threshold, keep_all
        self.evaluations: list[Evaluation] = []
        self.snapshots: dict[int, Snapshot] = {}
        self.most_evaluations: int | None = None
        self.fold = 0

    @property
    def score_shape(self) -> tuple[int, ...]:
        """Shape of the scores of the held-out rows."""
        return (len(self.signs),)

    @property
    def best(self) -> int | None:
        """Index of the best evaluation, the first one among equals."""
        return self.best_of(self.evaluations) if self.evaluations else None

    def best_of(self, evaluations: Sequence[Any], *, steadily: bool = False) -> int:
        """Index of the best of some evaluations, the first among equals: of those that break constraints least.

        Parameters
        ----------
        evaluations : sequence of Evaluation
            At least one.
        steadily : bool, default False
            Compare the mean of each with those before and after it, which follows the noise of few rows less.

        Returns
        -------
        int
        """
        merits = self.merits(evaluations)
        return int(np.argmax(with_neighbours(merits) if steadily else merits))

    def merits(self, evaluations: Sequence[Any]) -> NDArray[np.float64]:
        """By what evaluations are compared.

        Parameters
        ----------
        evaluations : sequence of Evaluation
            At least one.

        Returns
        -------
        float64 array
            The largest is the best; -inf for those that break constraints more than the others.
        """
        least = min(evaluation.excess for evaluation in evaluations) + REACHED
        merits = [self.measure.merit(each.value) if each.excess <= least else -np.inf for each in evaluations]
        return np.array(merits, dtype=np.float64)

    def evaluation_of(self, values: Sequence[Any]) -> Any:
        """An evaluation from its stored fields.

        Parameters
        ----------
        values : sequence
            As `state` has them.

        Returns
        -------
        Evaluation
        """
        return Evaluation(*values)

    def evaluate(self, functions: Functions | ClassFunctions, parameters: list[NDArray[Any]], step: int) -> Evaluation:
        """Evaluate parameters and keep them if they are the best so far.

        Parameters
        ----------
        functions : Functions or ClassFunctions, possibly distributed
            Compute the scores.
        parameters : list of arrays
            Such as the averaged ones.
        step : int
            Number of the step after which they are evaluated.

        Returns
        -------
        Evaluation
            Is in `evaluations` too.

        Raises
        ------
        ValueError
            If a score is not finite.
        """
        with functions.using(parameters):
            scores = functions.scores(self.X)
        if not np.isfinite(scores).all():
            raise common_error(
                functions.comm,
                f"training diverged in step {step}: the scores of the rows held out are not finite. "
                "Lower learning_rate or l2, or rescale the rows.",
            )
        evaluation = self.evaluated(scores, self.signs, self.weight, self.cell, step)
        # Ctrl-C may come after any of these lines: each evaluation has its snapshot until a better one is recorded.
        self.snapshots[len(self.evaluations)] = Snapshot(parameters, scores)
        self.evaluations.append(evaluation)
        if not self.keep_all:
            best = self.best_of(self.evaluations)
            self.snapshots = {best: self.snapshots[best]}
        return evaluation

    def evaluated(
        self, scores: NDArray[Any], signs: NDArray[Any], weight: NDArray[Any] | None, cell: Any, step: int
    ) -> Evaluation:
        """Evaluate hard predictions, and keep nothing.

        Parameters
        ----------
        scores : array, shape (n,)
            Of any rows.
        signs : array, shape (n,)
            Their labels in {-1, +1}.
        weight : array, shape (n,), or None
            Their sample weights.
        cell : int array, shape (n,), or None
            Their cells.
        step : int
            Number of the step.

        Returns
        -------
        Evaluation
        """
        if self.goal is None:
            return evaluated(self.measure, scores, signs, weight, step, self.threshold)
        threshold = self.threshold
        if threshold is None:
            threshold = self.goal.best_threshold(scores, cell, weight)
        value, excess, confusion = self.goal.at(threshold, scores, cell, weight)
        return Evaluation(step, value, *confusion, confusion.predicted_prevalence in (0.0, 1.0), excess)

    def is_due(self, made: int, since: int = 0) -> bool:
        """Whether to evaluate the network.

        Parameters
        ----------
        made : int
            Steps made.
        since : int, default 0
            Steps before the current phase.

        Returns
        -------
        bool
        """
        return self.interval.is_over(made, self.evaluations[-1].step if self.evaluations else 0, since)

    def should_stop(self, since: int = 0) -> bool:
        """Whether patience is exhausted, or there are as many evaluations as are needed.

        Parameters
        ----------
        since : int, default 0
            Evaluations up to this step do not count.

        Returns
        -------
        bool
            True after `patience` evaluations that are later than the best one.
        """
        if self.most_evaluations is not None and len(self.evaluations) >= self.most_evaluations:
            return True
        if self.patience is None or self.best is None:
            return False
        if self.evaluations[-1].step < self.patient_until and self._is_near_chance(self.evaluations[self.best]):
            return False
        start = max(since, self.evaluations[self.best].step)
        return sum(evaluation.step > start for evaluation in self.evaluations) >= self.patience

    def _is_near_chance(self, evaluation: Evaluation) -> bool:
        """Whether a value is little more than the best that random predictions would have on the same rows."""
        rates, prior = np.linspace(0, 1, 101), evaluation.confusion_matrix.prevalence
        random = np.nanmax(self.measure.oriented(self.measure.value(rates, 1 - rates, prior)))
        perfect = self.measure.oriented(self.measure.value(1.0, 1.0, prior))
        return bool(self.measure.merit(evaluation.value) < random + NEAR_CHANCE * (perfect - random))

    def keep_first(self, count: int) -> None:
        """Forget all evaluations but the first.

        Parameters
        ----------
        count : int
            How many are kept, at least 1.
        """
        self.evaluations = self.evaluations[:count]
        self.snapshots = {index: snapshot for index, snapshot in self.snapshots.items() if index < count}

    def of_fold(
        self, fold: int, signs: NDArray[Any], weight: NDArray[Any] | None, cell: NDArray[Any] | None
    ) -> ValidationMonitor:
        """A monitor with these settings and no evaluations, of another fold's rows, whose features it lacks.

        Parameters
        ----------
        fold : int
            As for the class.
        signs : array, shape (n,)
            As for the class.
        weight : array, shape (n,), or None
            As for the class.
        cell : int array, shape (n,), or None
            As for the class.

        Returns
        -------
        ValidationMonitor
            Of the same class.
        """
        other = copy.copy(self)
        other.fold, other.X, other.signs, other.weight, other.cell = fold, None, signs, weight, cell
        other.evaluations, other.snapshots = [], {}
        return other

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Complete state.

        Returns
        -------
        values : dict
            Values that JSON can hold.
        arrays : dict of str to array
            The snapshots.
        """
        values = {"evaluations": [list(e) for e in self.evaluations]}
        arrays = {}
        for index, snapshot in self.snapshots.items():
            arrays[f"{index}.scores"] = snapshot.scores
            arrays.update({f"{index}.{k}": value for k, value in enumerate(snapshot.parameters)})
        return {**values, "kept": sorted(self.snapshots)}, arrays

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore a state returned by `state`.

        Parameters
        ----------
        values : mapping
            As from `state`.
        arrays : mapping of str to array
            As from `state`.
        """
        self.evaluations = [self.evaluation_of(e) for e in values["evaluations"]]
        for index in values["kept"]:
            count = sum(name.startswith(f"{index}.") for name in arrays) - 1
            self.snapshots[index] = Snapshot([arrays[f"{index}.{k}"] for k in range(count)], arrays[f"{index}.scores"])


def evaluated(
    measure: measures.Measure,
    scores: NDArray[Any],
    signs: NDArray[Any],
    weight: NDArray[Any] | None,
    step: int,
    threshold: float | None,
) -> Evaluation:
    """Evaluate a measure on hard predictions.

    Parameters
    ----------
    measure : measures.Measure
        Of the record.
    scores : array, shape (n,)
        Of the rows.
    signs : array, shape (n,)
        Labels in {-1, +1}.
    weight : array, shape (n,), or None
        Sample weights.
    step : int
        Number of the step.
    threshold : float or None
        Scores above it are positive; None for the best one.

    Returns
    -------
    Evaluation
    """
    if threshold is None:
        threshold, _ = metrics.best_threshold(measure, scores, signs, weight)
    confusion = metrics.confusion_at_threshold(scores, signs, threshold, weight)
    value = metrics.score(measure, confusion)
    return Evaluation(step, value, *confusion, one_class=confusion.predicted_prevalence in (0.0, 1.0))


def with_neighbours(merits: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of each number with the one before and the one after it, as far as these are there and finite.

    Parameters
    ----------
    merits : float64 array, shape (n,)
        Numbers in the order of training.

    Returns
    -------
    float64 array, shape (n,)
        What is not finite stays.
    """
    beside = np.concatenate([[-np.inf], merits, [-np.inf]])
    windows = np.lib.stride_tricks.sliding_window_view(beside, 3)
    finite = np.isfinite(windows)
    means = np.where(finite, windows, 0.0).sum(axis=1) / np.maximum(finite.sum(axis=1), 1)
    return np.where(np.isfinite(merits), means, merits)
