"""Several models as one: soft voting, for example of the best models of a hyper-parameter search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import measures, metrics
from aesara_nondecomp._checks import require
from aesara_nondecomp._names import lazy
from aesara_nondecomp.data import check_lengths, decode, encode_as
from aesara_nondecomp.models.model import Model


class SoftVote:
    """The mean soft label of several models, each relative to its own threshold.

    The soft label that a model gives a row is tanh((score - threshold) / 2): between -1 and 1, and 0 at the threshold,
    so that no model outvotes the others by the scale of its scores.

    Parameters
    ----------
    models : sequence of Model
        At least one, trained on the same labels and for the same measure, such as the three best models of a search
        by their value on validation rows.

    Attributes
    ----------
    models : list of Model
        The given models.
    classes : tuple
        (negative, positive), in the coding of the training labels.
    measure : measures.Measure
        The measure that the models were trained for.

    Raises
    ------
    ValueError
        If there is no model, or if the models differ in their classes or measures.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        self.models = list(models)
        require(len(self.models) > 0, "a vote needs at least one model", models)
        for what in ("classes", "measure"):
            found = {str(getattr(model, what)) for model in self.models}
            require(len(found) == 1, f"the models of a vote must agree on their {what}", ", ".join(sorted(found)))
        self.classes, self.measure = self.models[0].classes, self.models[0].measure

    def decision_function(self, X: Any) -> NDArray[np.floating[Any]]:
        """Compute the mean soft label of each row.

        Parameters
        ----------
        X : array-like, shape (n, d), or sequence of str
            Rows as the models take them.

        Returns
        -------
        array, shape (n,)
            In [-1, 1]; a row above 0 is predicted positive.

        Raises
        ------
        ValueError
            If a model cannot use `X`.
        """
        margins = (model.decision_function(X) - model.threshold for model in self.models)
        return np.asarray(np.mean([np.tanh(margin / 2) for margin in margins], axis=0))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of each row.

        Parameters
        ----------
        X : array-like, shape (n, d), or sequence of str
            Rows as the models take them.

        Returns
        -------
        array, shape (n,)
            Labels, in the coding of the training labels.

        Raises
        ------
        ValueError
            If a model cannot use `X`.
        """
        return decode(np.where(self.decision_function(X) > 0, 1, -1), self.classes)

    def value(self, X: Any, y: Any, measure: measures.Measure | str | None = None) -> float:
        """Compute a measure on hard predictions.

        Parameters
        ----------
        X : array-like, shape (n, d), or sequence of str
            Rows as the models take them.
        y : array-like, shape (n,)
            Their labels, in the coding of the training labels.
        measure : measures.Measure or str, optional
            Another measure than the one trained for.

        Returns
        -------
        float
            In the measure's own orientation.

        Raises
        ------
        ValueError
            If a model cannot use `X`, or if `y` has another length or an unknown label.
        """
        signs = encode_as(y, self.classes)
        check_lengths(X, signs)
        confusion = metrics.confusion_at_threshold(self.decision_function(X), signs)
        return metrics.score(self.measure if measure is None else measures.get(measure), confusion)


__getattr__, __dir__ = lazy(__name__, {}, former={"Vote": "SoftVote"})
