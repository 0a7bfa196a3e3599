"""A trained model: predicts, scores, and moves its threshold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aesara_nondecomp import measures, metrics
from aesara_nondecomp.compiled import TrainFunctions
from aesara_nondecomp.data import Standardiser, check_features, check_lengths, decode, encode_as
from aesara_nondecomp.training import Step


@dataclass
class Model:
    """A trained network: weights as plain arrays, and the compiled functions to score with.

    Attributes
    ----------
    measure : measures.Measure. What it was trained for.
    classes : tuple (negative, positive), in the coding of the training labels.
    prior : float. Share of positives trained for.
    threshold : float. A row is predicted positive iff its score exceeds it; 0 after training.
    history : list of Step
    """

    functions: TrainFunctions
    parameters: list[np.ndarray]
    measure: measures.Measure
    classes: tuple[Any, Any]
    prior: float
    scaling: Standardiser | None = None
    threshold: float = 0.0
    history: list[Step] = field(default_factory=list, repr=False)

    def decision_function(self, X) -> np.ndarray:
        """Scores (n,); a row above `threshold` is predicted positive.

        Raises
        ------
        ValueError
            If X is not a finite matrix with the columns of the training data.
        """
        network = self.functions.network
        X = check_features(X, columns=network.n_columns, dtype=network.dtype)
        X = self.scaling.transform(X) if self.scaling else X
        with self.functions.using(self.parameters):
            return self.functions.scores(X)

    def predict(self, X) -> np.ndarray:
        """Labels (n,), in the coding of the training labels."""
        return decode(np.where(self.decision_function(X) > self.threshold, 1, -1), self.classes)

    def table(self, X, y) -> metrics.ConfusionTable:
        """Confusion table of the predictions against the labels `y`, in the coding of the training labels."""
        signs = encode_as(y, self.classes)
        check_lengths(X, signs)
        return metrics.table_at_threshold(self.decision_function(X), signs, self.threshold)

    def value(self, X, y, measure=None) -> float:
        """Count value of the trained measure (or another one) on labelled rows, in the measure's own orientation."""
        return metrics.score(self.measure if measure is None else measures.get(measure), self.table(X, y))

    def score(self, X, y) -> float:
        """Count value of the trained measure, turned so that larger is better."""
        return float(self.measure.oriented(self.value(X, y)))

    def tune_threshold(self, X, y, measure=None) -> Model:
        """Move the threshold to the best one for a measure on these rows (plug-in, spec 3.8); returns itself.

        Use rows that were not trained on.
        """
        signs = encode_as(y, self.classes)
        check_lengths(X, signs)
        measure = self.measure if measure is None else measures.get(measure)
        self.threshold, _ = metrics.best_threshold(measure, self.decision_function(X), signs)
        return self
