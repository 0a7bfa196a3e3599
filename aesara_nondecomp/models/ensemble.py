"""Several models as one: the vote of a few networks from a search over rates and samplers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aesara_nondecomp import measures, metrics
from aesara_nondecomp._checks import require
from aesara_nondecomp.data import check_lengths, decode, encode_as
from aesara_nondecomp.models.model import Model


class SoftVote:
    """The mean soft label of several models, each around its own threshold.

    A model's soft label of a row is tanh((score - threshold) / 2): between -1 and 1, 0 at its threshold, so that no
    model outvotes the others by the scale of its scores.

    Parameters
    ----------
    models : sequence of Model
        Trained on the same labels for the same measure, such as the three best of a search by their value on
        validation rows.

    Raises
    ------
    ValueError
        If there is no model, or if they differ in their classes or measures.
    """

    def __init__(self, models: Sequence[Model]):
        self.models = list(models)
        require(len(self.models) > 0, "a vote needs at least one model", models)
        for what in ("classes", "measure"):
            found = {str(getattr(model, what)) for model in self.models}
            require(len(found) == 1, f"the models of a vote must agree on their {what}", ", ".join(sorted(found)))
        self.classes, self.measure = self.models[0].classes, self.models[0].measure

    def decision_function(self, X) -> np.ndarray:
        """Mean soft labels (n,) in [-1, 1]; a row above 0 is predicted positive."""
        margins = (model.decision_function(X) - model.threshold for model in self.models)
        return np.mean([np.tanh(margin / 2) for margin in margins], axis=0)

    def predict(self, X) -> np.ndarray:
        """Labels (n,), in the coding of the training labels."""
        return decode(np.where(self.decision_function(X) > 0, 1, -1), self.classes)

    def value(self, X, y, measure=None) -> float:
        """Count value of the trained measure (or another one) on labelled rows, in the measure's own orientation."""
        signs = encode_as(y, self.classes)
        check_lengths(X, signs)
        table = metrics.confusion_at_threshold(self.decision_function(X), signs)
        return metrics.score(self.measure if measure is None else measures.get(measure), table)
