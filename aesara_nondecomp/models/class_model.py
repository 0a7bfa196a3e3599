"""A trained model of several classes: predicts, evaluates and calibrates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.data import InputEncoder, check_lengths, encode_classes_as
from aesara_nondecomp.history import ClassEvaluation, ClassStep
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.measures.multiclass import Cells, MulticlassMeasure
from aesara_nondecomp.metrics.class_scores import ClassCalibration, class_confusion, decision_scores
from aesara_nondecomp.models.network_model import NetworkModel
from aesara_nondecomp.networks import Network
from aesara_nondecomp.step.class_functions import ClassFunctions


@dataclass(eq=False)  # == of arrays is ambiguous
class ClassModel(NetworkModel):
    """A trained network of several classes with its encoder, weights, rule and calibration.

    It is made by `fit`, and copied and pickled as a `Model` is.

    Parameters
    ----------
    functions : ClassFunctions
        The compiled functions to score with.
    parameters : list of array
        The weights, if there are several networks of the first one.
    measure : measures.multiclass.MulticlassMeasure
        The measure trained for.
    classes : tuple
        The K labels in sorted order, in the coding of the training labels.
    priors : float64 array, shape (K,)
        Share of each class in the weight of the training rows.
    encoder : InputEncoder, optional
        Turns inputs into rows of the network. Default: inputs are taken as they are.
    rule : float64 array, shape (K, K), optional
        The plug-in chosen on the rows held out; see `metrics.plug_in`. Default: the class with the largest score is
        predicted.
    history : list of ClassStep, optional
        Record of every training step.
    evaluations : list of ClassEvaluation, optional
        Evaluations on the validation rows.
    best_step : int, optional
        Step of these weights, if validation chose them.
    calibration : ClassCalibration, optional
        For probabilities; see `calibrate`.
    validation_matrix : array, shape (K, K), optional
        Confusion matrix of the validation rows.
    voters : list of list of array, optional
        The weights of further networks, as many as were trained on other folds. The scores of a row are the mean of all
        networks' scores.
    interrupted : bool, default False
        Whether a callback or Ctrl-C ended training before its time.
    """

    functions: ClassFunctions = field(repr=False)
    parameters: list[NDArray[Any]] = field(repr=False)
    measure: MulticlassMeasure
    classes: tuple[Any, ...]
    priors: NDArray[Any]
    encoder: InputEncoder = field(default_factory=InputEncoder, repr=False)
    rule: NDArray[Any] | None = field(default=None, repr=False)
    history: list[ClassStep] = field(default_factory=list, repr=False)
    evaluations: list[ClassEvaluation] = field(default_factory=list, repr=False)
    best_step: int | None = None
    calibration: ClassCalibration | None = field(default=None, repr=False)
    validation_matrix: NDArray[Any] | None = field(default=None, repr=False)
    voters: list[list[NDArray[Any]]] = field(default_factory=list, repr=False)
    interrupted: bool = False

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels as an array, by scikit-learn's name.

        Returns
        -------
        array, shape (K,)
        """
        return np.asarray(self.classes)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Compute scores of the classes, the largest of which is predicted; memory maps are read chunk by chunk.

        Parameters
        ----------
        X : matrix, shape (n, d) or table
            As raw as the training rows; the columns of a table are matched by name.

        Returns
        -------
        array, shape (n, K)
            The network's scores, plus the offsets of a rule; of a rule by linearisation, what each prediction is worth.

        Raises
        ------
        ValueError
            If X is unusable, or of a different kind than the training rows.
        """
        return decision_scores(self._scores(self._rows(X)), self.rule)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels, in the coding of the training labels.

        Parameters
        ----------
        X : matrix, shape (n, d) or table
            As in `decision_function`.

        Returns
        -------
        array, shape (n,)
        """
        return np.asarray(self.classes_[self.decision_function(X).argmax(axis=1)])

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Estimate the probabilities of the classes by calibrating the scores.

        Predictions need not be the most probable classes: that is what the measure asks for.

        Parameters
        ----------
        X : matrix, shape (n, d) or table
            As in `decision_function`.

        Returns
        -------
        array, shape (n, K)
            In the order of `classes`; rows sum to 1.

        Raises
        ------
        ValueError
            If the model is not calibrated, or X is unusable.
        """
        if self.calibration is None:
            raise ValueError(
                "this model is not calibrated. Train it with validation rows, or call model.calibrate(X, y) with "
                "labelled rows that were not trained on."
            )
        return self.calibration.probabilities(self._scores(self._rows(X)))

    def calibrate(self, X: Any, y: Any) -> ClassModel:
        """Fit the calibration that `predict_proba` needs; `fit` does this on its validation rows, if there are any.

        Parameters
        ----------
        X : matrix, shape (n, d) or table
            Rows that were not trained on.
        y : array-like, shape (n,)
            True labels.

        Returns
        -------
        ClassModel
            Itself.
        """
        rows, codes = self._labelled(X, y)
        self.calibration = ClassCalibration.fit(self._scores(rows), codes)
        return self

    def confusion_matrix(self, X: Any, y: Any) -> NDArray[Any]:
        """Compute the confusion matrix of the predictions.

        Parameters
        ----------
        X : matrix, shape (n, d) or table
            As in `decision_function`.
        y : array-like, shape (n,)
            True labels, in the coding of the training labels.

        Returns
        -------
        int array, shape (K, K)
            True classes by predicted ones, in the order of `classes`.
        """
        rows, codes = self._labelled(X, y)
        predicted = decision_scores(self._scores(rows), self.rule).argmax(axis=1)
        return class_confusion(codes, predicted, len(self.classes))

    def value(self, X: Any, y: Any, measure: str | MulticlassMeasure | None = None) -> float:
        """Evaluate a measure on predictions, in its own orientation.

        Parameters
        ----------
        X : matrix, shape (n, d) or table
            As in `decision_function`.
        y : array-like, shape (n,)
            True labels.
        measure : str or measures.multiclass.MulticlassMeasure, optional
            Default: the one trained for.

        Returns
        -------
        float
            NaN where it is undefined, as for the recall of a class without rows.
        """
        chosen = self.measure if measure is None else multiclass.get(measure)
        return chosen.from_confusion(self.confusion_matrix(X, y))

    def score(self, X: Any, y: Any) -> float:
        """Evaluate the trained measure on predictions, oriented so that larger is better.

        Parameters
        ----------
        X : matrix, shape (n, d) or table
            As in `decision_function`.
        y : array-like, shape (n,)
            True labels.

        Returns
        -------
        float
        """
        return float(self.measure.oriented(self.value(X, y)))

    def _labelled(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Encoded rows, and their classes as numbers."""
        codes, rows = encode_classes_as(y, self.classes), self._rows(X)
        check_lengths(rows, codes)
        return rows, codes

    def _build(self, network: Network, *options: Any) -> ClassFunctions:
        return ClassFunctions(network, Cells(self.priors), *options)
