"""A trained model of several labels: predicts, evaluates, calibrates, and is saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import positive_int, random_generator, require
from aesara_nondecomp._files import check_writable
from aesara_nondecomp.data import InputEncoder, check_lengths
from aesara_nondecomp.data.label_sets import read_indicators
from aesara_nondecomp.history import ClassEvaluation, ClassStep
from aesara_nondecomp.measures import Averaged, Measure
from aesara_nondecomp.metrics.calibration import Calibration
from aesara_nondecomp.metrics.checks import checked_weights
from aesara_nondecomp.metrics.label_confusion import LabelReport, label_confusions
from aesara_nondecomp.models.archive import describe_measure, write_archive
from aesara_nondecomp.models.model_checks import check_label_model, stored_networks
from aesara_nondecomp.models.network_model import (
    NOT_CALIBRATED,
    NetworkModel,
    plain_label,
    require_description,
    weights_by_name,
)
from aesara_nondecomp.networks import Network
from aesara_nondecomp.step.label_functions import LabelFunctions


@dataclass(eq=False)  # == of arrays is ambiguous
class MultilabelModel(NetworkModel):
    """A trained network of several labels with its encoder, weights, thresholds and calibrations.

    It is made by `fit`, and copied and pickled as a `Model` is.

    Parameters
    ----------
    functions : LabelFunctions
        The compiled functions to score with.
    parameters : list of array
        The weights, if there are several networks of the first one.
    measure : measures.Averaged
        The measure trained for.
    labels : tuple
        Names of the L labels: of the columns of a data frame, else 0 to L - 1.
    priors : float64 array, shape (L,)
        Share of the training rows that has each label, by weight.
    thresholds : float64 array, shape (L,)
        A label is predicted if and only if its score exceeds its threshold.
    encoder : InputEncoder, optional
        Turns inputs into rows of the network. Default: inputs are taken as they are.
    history : list of ClassStep, optional
        Record of every training step; its classes are the rows without and those with the first label, and so on.
    evaluations : list of ClassEvaluation, optional
        Evaluations on the validation rows, with a confusion matrix (2, 2) for each label.
    best_step : int, optional
        Step of these weights, if validation chose them.
    calibrations : tuple of Calibration, optional
        Of the labels, for probabilities; see `calibrate`. Default: none.
    validation_confusions : array, shape (L, 4), optional
        TP, FN, FP and TN of each label on the validation rows; of several networks at scores shrunk to those of a vote.
    voters : list of list of array, optional
        The weights of further networks, as many as were trained on other folds. The scores of a row are the mean of all
        networks' scores.
    interrupted : bool, default False
        Whether a callback or Ctrl-C ended training before its time.
    extra : dict, optional
        Further values to save with the model, which JSON can hold.
    """

    functions: LabelFunctions = field(repr=False)
    parameters: list[NDArray[Any]] = field(repr=False)
    measure: Averaged
    labels: tuple[Any, ...]
    priors: NDArray[Any]
    thresholds: NDArray[Any]
    encoder: InputEncoder = field(default_factory=InputEncoder, repr=False)
    history: list[ClassStep] = field(default_factory=list, repr=False)
    evaluations: list[ClassEvaluation] = field(default_factory=list, repr=False)
    best_step: int | None = None
    calibrations: tuple[Calibration, ...] = field(default=(), repr=False)
    validation_confusions: NDArray[Any] | None = field(default=None, repr=False)
    voters: list[list[NDArray[Any]]] = field(default_factory=list, repr=False)
    interrupted: bool = False
    extra: dict[str, Any] = field(default_factory=dict, repr=False)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Compute the scores of the labels; memory maps are read chunk by chunk.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As raw as the training rows; the columns of a table are matched by name.

        Returns
        -------
        array, shape (n, L)
            A label is predicted where its score exceeds its entry of `thresholds`.

        Raises
        ------
        ValueError
            If X is unusable, or of a different kind than the training rows.
        """
        return super().decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict which labels rows have.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As in `decision_function`.

        Returns
        -------
        int array, shape (n, L)
            1 for the labels that a row has, 0 for the others.
        """
        return self._predicted(self.decision_function(X)).astype(np.int64)

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Estimate the probabilities of the labels by calibrating the scores of each.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As in `decision_function`.

        Returns
        -------
        array, shape (n, L)
            Of each label by itself, so that rows need not sum to 1.

        Raises
        ------
        ValueError
            If the model is not calibrated, or X is unusable.
        """
        self.require_calibrations()
        return self.probabilities(self.decision_function(X))

    def probabilities(self, scores: NDArray[Any]) -> NDArray[Any]:
        """The probabilities of the labels, of scores.

        Parameters
        ----------
        scores : array, shape (n, L)
            From `decision_function`.

        Returns
        -------
        array, shape (n, L)

        Raises
        ------
        ValueError
            If the model is not calibrated.
        """
        calibrations = self.require_calibrations()
        return np.stack([own.posteriors(scores[:, k]) for k, own in enumerate(calibrations)], axis=1)

    def require_calibrations(self) -> tuple[Calibration, ...]:
        """The model's `calibrations`, if there are any.

        Returns
        -------
        tuple of Calibration

        Raises
        ------
        ValueError
            If the model is not calibrated.
        """
        if not self.calibrations:
            raise ValueError(NOT_CALIBRATED)
        return self.calibrations

    def calibrate(self, X: Any, y: Any, sample_weight: Any = None) -> MultilabelModel:
        """Fit the calibrations that `predict_proba` needs; `fit` does this on its validation rows, if there are any.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            Rows that were not trained on, with and without each label.
        y : array-like, shape (n, L)
            True labels.
        sample_weight : array-like, shape (n,), optional
            Weights of at least 0. Default: equal weights.

        Returns
        -------
        MultilabelModel
            Itself.
        """
        scores, matrix = self._scored(X, y)
        weight = None if sample_weight is None else checked_weights(sample_weight, len(matrix))
        return self.calibrate_scores(scores, matrix, weight)

    def calibrate_scores(
        self, scores: NDArray[Any], matrix: NDArray[Any], weight: NDArray[Any] | None = None
    ) -> MultilabelModel:
        """Fit the calibrations on scores, which several processes may have computed.

        Parameters
        ----------
        scores : array, shape (n, L)
            As from `score_blocks`.
        matrix : bool array, shape (n, L)
            Which labels the rows have.
        weight : array, shape (n,), optional
            Sample weights. Default: equal weights.

        Returns
        -------
        MultilabelModel
            Itself.
        """
        self.calibrations = label_calibrations(scores, matrix, weight)
        return self

    def confusion_matrices(self, X: Any, y: Any) -> NDArray[Any]:
        """Compute the confusion matrix of each label.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As in `decision_function`.
        y : array-like, shape (n, L)
            True labels.

        Returns
        -------
        int array, shape (L, 4)
            TP, FN, FP and TN.
        """
        scores, matrix = self._scored(X, y)
        return label_confusions(matrix, self._predicted(scores))

    def by_label(self, X: Any, y: Any) -> LabelReport:
        """Report how each label is predicted.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As in `decision_function`.
        y : array-like, shape (n, L)
            True labels.

        Returns
        -------
        LabelReport
            Its ``str`` is a table.
        """
        return LabelReport.of(self.measure, self.confusion_matrices(X, y), self.labels, self.thresholds)

    def value(self, X: Any, y: Any, measure: str | Measure | Averaged | None = None) -> float:
        """Evaluate a measure on predictions, in its own orientation.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As in `decision_function`.
        y : array-like, shape (n, L)
            True labels.
        measure : str, Measure or Averaged, optional
            Such as "f1" or "macro_f1" for the mean over the labels, or "micro_f1". Default: the one trained for.

        Returns
        -------
        float
            NaN where it is undefined for a label, as without rows that have it.
        """
        chosen = self.measure if measure is None else Averaged.get(measure)
        return chosen.from_confusions(self.confusion_matrices(X, y))

    def score(self, X: Any, y: Any) -> float:
        """Evaluate the trained measure on predictions, oriented so that larger is better.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As in `decision_function`.
        y : array-like, shape (n, L)
            True labels.

        Returns
        -------
        float
        """
        return self.measure.oriented(self.value(X, y))

    def report(self, X: Any, y: Any, path: Any, *, n_resamples: int = 1000, seed: Any = 0) -> dict[str, Any]:
        """Write a web page that shows how good the predictions are: one file, which needs no network and no script.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As in `decision_function`; rows that were not trained on.
        y : array-like, shape (n, L)
            True labels.
        path : str or path-like
            The file, such as "report.html".
        n_resamples : int, default 1000
            Bootstrap resamples for the intervals, at least 1.
        seed : int, numpy Generator or None, default 0
            Of the bootstrap and of the importance of columns.

        Returns
        -------
        dict of str to object
            The figures of the page, ready for JSON: those of ``aesara-nondecomp evaluate``. Undefined and infinite
            ones are None.

        Raises
        ------
        ValueError
            If X, y, `n_resamples` or `seed` is unusable.
        OSError
            If the file cannot be written.
        """
        from aesara_nondecomp.reports.facts import finite_facts
        from aesara_nondecomp.reports.label_facts import label_evaluation_facts
        from aesara_nondecomp.reports.label_sections import label_evaluation_page
        from aesara_nondecomp.reports.page import write_page

        check_writable(path)
        positive_int("n_resamples", n_resamples)
        random_generator(seed)
        scores, matrix = self._scored(X, y)
        facts = label_evaluation_facts(self, scores, matrix, n_resamples, seed)
        write_page(path, label_evaluation_page(self, X, matrix, scores, facts, seed))
        return finite_facts(facts)  # type: ignore[no-any-return]

    def save(self, path: Any) -> None:
        """Write the model to one .npz file, as `Model.save` does; `load_model` reads it.

        `history`, `evaluations` and `validation_confusions` are not saved.

        Parameters
        ----------
        path : str or path-like
            Used without adding a suffix; an existing file is replaced.

        Raises
        ------
        ValueError
            If the network has no description, or a field holds what `load_model` would refuse, such as a weight that is
            not finite.
        OSError
            If the file cannot be written; a former one is left as it was.
        """
        require_description(self, "saved")
        check_label_model(self)
        header = {
            "measure": describe_measure(self.measure.measure),
            "average": self.measure.average,
            "labels": [plain_label(label) for label in self.labels],
            "label_priors": self.priors.tolist(),
            "thresholds": self.thresholds.tolist(),
            "network": self.network_description,
            "dtype": self.functions.network.dtype,
            "best_step": self.best_step,
            "encoder": self.encoder.as_dict(),
            "calibrations": [list(own) for own in self.calibrations],
            "voters": len(self.voters),
            "extra": self.extra,
        }
        write_archive(path, "model", header, weights_by_name(self))

    def _scored(self, X: Any, y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Scores, and which labels the rows have."""
        matrix, rows = read_indicators(y, self.labels).matrix, self._rows(X)
        check_lengths(rows, matrix)
        return self._scores(rows), matrix

    def _predicted(self, scores: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(scores > self.thresholds)

    def _build(self, network: Network, *options: Any) -> LabelFunctions:
        return LabelFunctions(network, self.priors, None, *options)


def label_model_from(
    header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], dtype: str | None, measure: Any
) -> MultilabelModel:
    """Rebuild a model of several labels from its file; see `load_model`.

    Parameters
    ----------
    header : mapping
        Of the file.
    arrays : mapping of str to array
        Of the file.
    dtype : {"float32", "float64"} or None
        Dtype of the network; None for that of the file.
    measure : Measure
        The two-class measure whose average it was trained for.

    Returns
    -------
    MultilabelModel

    Raises
    ------
    ValueError
        If the file holds what no model holds.
    """
    averaged = Averaged(measure, header["average"])
    network, parameters, voters = stored_networks(header, arrays, dtype)
    labels, priors = tuple(header["labels"]), np.array(header["label_priors"], float)
    require(priors.ndim == 1 and len(priors) == len(labels) >= 2, "labels must have a prior each", priors.shape)
    model = MultilabelModel(
        LabelFunctions(network, priors, None, "adamw"),
        parameters,
        averaged,
        labels,
        priors,
        np.array(header["thresholds"], float),
        InputEncoder.from_dict(header["encoder"]),
        best_step=header["best_step"],
        calibrations=tuple(Calibration(*own) for own in header["calibrations"]),
        voters=voters,
        extra=header.get("extra", {}),
    )
    check_label_model(model)
    return model


def label_calibrations(
    scores: NDArray[Any], matrix: NDArray[Any], weight: NDArray[Any] | None = None
) -> tuple[Calibration, ...]:
    """Calibrate the scores of each label by itself.

    Parameters
    ----------
    scores : array, shape (n, L)
        Of the network.
    matrix : bool array, shape (n, L)
        Which labels the rows have.
    weight : array, shape (n,), optional
        Sample weights. Default: equal weights.

    Returns
    -------
    tuple of Calibration
    """
    signs = np.where(matrix, 1, -1)
    return tuple(Calibration.fit(scores[:, k], signs[:, k], weight) for k in range(scores.shape[1]))
