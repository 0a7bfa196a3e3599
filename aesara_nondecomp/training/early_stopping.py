"""Evaluations on held-out rows while training: which weights were best, and when to stop."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from aesara_nondecomp import measures, metrics
from aesara_nondecomp._checks import positive_int, require
from aesara_nondecomp.history import Evaluation
from aesara_nondecomp.parallel import Functions


@dataclass(frozen=True, eq=False)
class EarlyStopping:
    """Evaluate the averaged weights on held-out rows while training, and return the best ones.

    Parameters
    ----------
    validation : float or (X, y), default 0.2
        A share in (0, 1) of the training rows, held out by a stratified split and not trained on; or labelled rows of
        their own.
    every : int, optional
        Steps between two evaluations, at least 1; the last step is evaluated too. Default: 20 evaluations, at least 10
        steps apart.
    patience : int, optional
        Stop after so many evaluations in a row without a better one, at least 1. Earlier phases of a recipe are never
        cut short. Default: never stop early.
    tune_threshold : bool, default False
        Move the threshold to the best one for the measure on these rows, once training has ended.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """

    validation: Any = 0.2
    every: int | None = None
    patience: int | None = None
    tune_threshold: bool = False

    def __post_init__(self) -> None:
        is_share(self.validation)
        for name in ("every", "patience"):
            value = getattr(self, name)
            if value is not None:
                positive_int(name, value)
        require(isinstance(self.tune_threshold, bool), "tune_threshold must be True or False", self.tune_threshold)


def is_share(validation: Any) -> bool:
    """Whether validation rows are given as a share of the training rows, and not as rows of their own.

    Parameters
    ----------
    validation : float or (X, y)
        See `EarlyStopping`.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If it is neither a number in (0, 1) nor a pair.
    """
    if isinstance(validation, (tuple, list)) and len(validation) == 2:
        return False
    is_number = isinstance(validation, numbers.Real) and not isinstance(validation, bool)
    usable = is_number and 0 < validation < 1
    require(usable, "validation must be a share of the rows strictly between 0 and 1, or a pair (X, y)", validation)
    return True


class ValidationMonitor:
    """Evaluations of a run on held-out rows, and the best weights so far.

    Parameters
    ----------
    X : array, LazyRows, CSR matrix or DistributedRows, shape (n, d)
        Prepared as for training.
    signs : array, shape (n,)
        Labels in {-1, +1}.
    measure : measures.Measure
        By which evaluations are compared.
    every : int
        Steps between two evaluations, at least 1.
    patience : int or None
        `should_stop` after so many evaluations in a row without a better one, at least 1; None for never.
    threshold : float or None, default 0
        Scores above it are positive; None for the best threshold of each evaluation, if the model gets one later.

    Attributes
    ----------
    evaluations : list of Evaluation
        So far.
    best_parameters : list of arrays or None
        Parameters of the best evaluation, the first one among equals.
    """

    def __init__(
        self,
        X: Any,
        signs: NDArray[Any],
        measure: measures.Measure,
        every: int,
        patience: int | None,
        threshold: float | None = 0.0,
    ):
        self.X, self.signs, self.measure, self.every, self.patience = X, signs, measure, every, patience
        self.threshold = threshold
        self.evaluations: list[Evaluation] = []
        self.best_parameters: list[NDArray[Any]] | None = None

    @property
    def best(self) -> Evaluation | None:
        """The first of the best evaluations."""
        return max(self.evaluations, key=lambda e: self.measure.merit(e.value)) if self.evaluations else None

    def evaluate(self, functions: Functions, parameters: list[NDArray[Any]], step: int) -> Evaluation:
        """Evaluate parameters and keep them if they are the best so far.

        Parameters
        ----------
        functions : TrainFunctions or DistributedFunctions
            Compute the scores.
        parameters : list of arrays
            Such as the averaged ones.
        step : int
            Number of the step after which they are evaluated.

        Returns
        -------
        Evaluation
            Is in `evaluations` too.
        """
        with functions.using(parameters):
            scores = functions.scores(self.X)
        threshold = self.threshold
        if threshold is None:
            threshold, _ = metrics.best_threshold(self.measure, scores, self.signs)
        table = metrics.confusion_at_threshold(scores, self.signs, threshold)
        value = metrics.score(self.measure, table)
        evaluation = Evaluation(step, value, *table, one_class=table.predicted_prevalence in (0.0, 1.0))
        if self.best is None or self.measure.merit(value) > self.measure.merit(self.best.value):
            self.best_parameters = parameters
        self.evaluations.append(evaluation)
        return evaluation

    def should_stop(self, since: int = 0) -> bool:
        """Whether patience is exhausted.

        Parameters
        ----------
        since : int, default 0
            Evaluations up to this step do not count.

        Returns
        -------
        bool
            True after `patience` evaluations that are later than the best one.
        """
        if self.patience is None or self.best is None:
            return False
        return sum(e.step > max(since, self.best.step) for e in self.evaluations) >= self.patience

    def state(self) -> dict[str, Any]:
        """The evaluations, as values that JSON can hold, without `best_parameters`."""
        return {"evaluations": [list(e) for e in self.evaluations]}

    def restore(self, state: dict[str, Any], best_parameters: list[NDArray[Any]] | None) -> None:
        """Restore a state returned by `state`.

        Parameters
        ----------
        state : dict
            The evaluations.
        best_parameters : list of arrays or None
            Parameters of the best evaluation.
        """
        self.evaluations = [Evaluation(*values) for values in state["evaluations"]]
        self.best_parameters = best_parameters
