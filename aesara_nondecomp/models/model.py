"""A trained model: predicts, evaluates, tunes its threshold, and is saved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import measures, metrics
from aesara_nondecomp._checks import positive_int, random_generator, require
from aesara_nondecomp._files import check_writable
from aesara_nondecomp._names import former_attribute
from aesara_nondecomp._numeric import vote
from aesara_nondecomp.data import InputEncoder, check_lengths, decode, encode_as
from aesara_nondecomp.history import Evaluation, Step
from aesara_nondecomp.metrics import ConfusionMatrix, Quantifier
from aesara_nondecomp.metrics.checks import checked_weights
from aesara_nondecomp.metrics.quantification import COUNTED
from aesara_nondecomp.models.archive import describe_measure, write_archive
from aesara_nondecomp.models.by_group import ByGroup, rows_of_measure, value_at_threshold
from aesara_nondecomp.models.model_checks import check_model
from aesara_nondecomp.models.network_model import (
    NOT_CALIBRATED,
    NetworkModel,
    plain_label,
    require_description,
    weights_by_name,
)
from aesara_nondecomp.networks import Network
from aesara_nondecomp.step import TrainFunctions


@dataclass(eq=False)  # == of arrays is ambiguous
class Model(ByGroup, NetworkModel):
    """A trained network with its encoder, weights, threshold and calibration.

    Inputs are as raw as those trained on: a matrix, a table whose columns are matched by name, or texts. Models can be
    copied, and pickled if their network has a description. Copies have their own weights but share the compiled
    functions; a pickle does not contain the functions, which are compiled again when first used.

    Parameters
    ----------
    functions : TrainFunctions
        The compiled functions to score with.
    parameters : list of array
        The weights, if there are several networks of the first one.
    measure : Measure
        The measure trained for.
    classes : tuple (negative, positive)
        The labels, in the coding of the training labels.
    prior : float
        Share of positives trained for; with a recipe of your own, that of the training rows.
    encoder : InputEncoder, optional
        Turns inputs into rows of the network. Default: inputs are taken as they are.
    threshold : float, default 0.0
        A row is predicted positive if and only if its score exceeds it.
    history : list of Step, optional
        Record of every training step; empty after `load_model`.
    evaluations : list of Evaluation, optional
        Evaluations on the validation rows; empty after `load_model`.
    best_step : int, optional
        Step of these weights, if validation chose them.
    quantifier : Quantifier, optional
        Calibration and error rates, for probabilities and prevalences; see `calibrate`.
    validation_matrix : ConfusionMatrix, optional
        Confusion matrix of the validation rows; of several networks at scores shrunk to those of a vote, see
        docs/defaults.md. None after `load_model`, and after `tune_threshold`, whose predictions are others.
    extra : dict, optional
        Further values to save with the model, which JSON can hold.
    voters : list of list of array, optional
        The weights of further networks, as many as were trained on other folds. The score of a row is the mean of all
        networks' scores.
    collapsed : bool, default False
        Whether no threshold on the held-out rows was better than to predict one class only, as the model then does.
    interrupted : bool, default False
        Whether a callback or Ctrl-C ended training before its time; False after `load_model`.
    constrained_by : tuple of Constraint, optional
        The constraints that it was trained under.
    """

    functions: TrainFunctions = field(repr=False)
    parameters: list[NDArray[Any]] = field(repr=False)
    measure: measures.Measure
    classes: tuple[Any, Any]
    prior: float
    encoder: InputEncoder = field(default_factory=InputEncoder, repr=False)
    threshold: float = 0.0
    history: list[Step] = field(default_factory=list, repr=False)
    evaluations: list[Evaluation] = field(default_factory=list, repr=False)
    best_step: int | None = None
    quantifier: Quantifier | None = field(default=None, repr=False)
    validation_matrix: ConfusionMatrix | None = field(default=None, repr=False)
    extra: dict[str, Any] = field(default_factory=dict, repr=False)
    voters: list[list[NDArray[Any]]] = field(default_factory=list, repr=False)
    collapsed: bool = False
    interrupted: bool = False
    constrained_by: tuple[measures.Constraint, ...] = ()

    scaling = former_attribute("scaling", "encoder.standardiser")
    vocabulary = former_attribute("vocabulary", "encoder.vocabulary")
    table = former_attribute("table", "confusion_matrix")

    @property
    def threshold_has_moved(self) -> bool:
        """Whether the model predicts at another threshold than that of its error rates; False if not calibrated."""
        return self.quantifier is not None and self.quantifier.threshold != self.threshold

    # -- predictions ---------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels, in the coding of the training labels.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As in `decision_function`.

        Returns
        -------
        array, shape (n,)
        """
        return decode(np.where(self.decision_function(X) > self.threshold, 1, -1), self.classes)

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Estimate the probabilities of the two classes by calibrating the scores.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As in `decision_function`.

        Returns
        -------
        array, shape (n, 2)
            In the order of `classes`; rows sum to 1.

        Raises
        ------
        ValueError
            If the model is not calibrated, or X is unusable.
        """
        positive = self.require_quantifier().posteriors(self.decision_function(X))
        return np.column_stack([1 - positive, positive])

    def predict_prevalence(self, X: Any, method: str = "cc") -> float:
        """Estimate the prevalence, the share of positives among the rows.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As in `decision_function`.
        method : {"cc", "acc", "pcc", "pacc", "sld"}, default "cc"
            See `metrics.quantification`.

        Returns
        -------
        float
            In [0, 1].

        Raises
        ------
        ValueError
            If the method is unknown, the model is not calibrated, X is unusable, or predictions are counted and
            `threshold` was set to another value than that at which the error rates were measured.
        """
        quantifier = self.require_quantifier()
        counts_at_another = method in COUNTED and self.threshold_has_moved
        needed = f"error rates are those at the threshold {quantifier.threshold:g}: call calibrate, or tune_threshold"
        require(not counts_at_another, needed, self.threshold)
        return quantifier.prevalence(self.network_scores(X), method)

    # -- labelled rows -------------------------------------------------------------------------------------------

    def confusion_matrix(self, X: Any, y: Any) -> ConfusionMatrix:
        """Compute the confusion matrix of the predictions.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As in `decision_function`.
        y : array-like, shape (n,)
            True labels, in the coding of the training labels.

        Returns
        -------
        ConfusionMatrix
        """
        return metrics.confusion_at_threshold(*self._scored(X, y), self.threshold)

    def value(self, X: Any, y: Any, measure: str | measures.Measure | None = None, *, groups: Any = None) -> float:
        """Evaluate a measure on hard predictions, in its own orientation.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As in `decision_function`.
        y : array-like, shape (n,)
            True labels.
        measure : str or Measure, optional
            Default: the one trained for.
        groups : array-like of shape (n,) or table, optional
            The group of each row, which measures such as "worst_cell" need, and no others take.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If X, y or groups are unusable, or groups are needed and missing.
        """
        measure = self._measure(measure)
        rows = rows_of_measure(measure, encode_as(y, self.classes), groups)
        return value_at_threshold(measure, *self._scored(X, y), self.threshold, rows)

    def score(self, X: Any, y: Any, *, groups: Any = None) -> float:
        """Evaluate the trained measure on hard predictions, oriented so that larger is better.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As in `decision_function`.
        y : array-like, shape (n,)
            True labels.
        groups : array-like of shape (n,) or table, optional
            As in `value`.

        Returns
        -------
        float
        """
        return float(self.measure.oriented(self.value(X, y, groups=groups)))

    def tune_threshold(
        self, X: Any, y: Any, measure: str | measures.Measure | None = None, *, groups: Any = None
    ) -> Model:
        """Move the threshold to the best one for a measure (plug-in), and recalibrate a calibrated model.

        `validation_matrix`, which has the predictions at the former threshold, becomes None.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            Rows that were not trained on.
        y : array-like, shape (n,)
            True labels.
        measure : str or Measure, optional
            Default: the one trained for.
        groups : array-like of shape (n,) or table, optional
            The group of each row, for measures such as "worst_cell" and for gaps in `constrained_by`.

        Returns
        -------
        Model
            Itself.

        Raises
        ------
        ValueError
            If X or y is unusable, or the rows are of one class; the model is as it was.

        Warns
        -----
        UserWarning
            If no threshold meets the constraints that the model was trained under.

        Notes
        -----
        Source: docs/algorithms.md 3.8.
        """
        measure = self._measure(measure)
        rows = self._rows_of_goal(measure, encode_as(y, self.classes), groups)
        scores, signs = self._scored(X, y)
        require(np.ptp(signs) > 0, f"tune_threshold needs rows of both classes {self.classes}", "rows of one")
        if rows is None:
            threshold, _ = metrics.best_threshold(measure, scores, signs)
        else:
            threshold = self._best_threshold(measure, scores, rows)
        if self.quantifier is not None:
            self.quantifier = Quantifier.fit(scores, signs, threshold)
        self.threshold, self.collapsed = threshold, bool(np.isinf(threshold))
        self.validation_matrix = None  # counts predictions at the former threshold
        return self

    def calibrate(self, X: Any, y: Any, sample_weight: Any = None) -> Model:
        """Fit calibration and error rates, which `predict_proba` and `predict_prevalence` need.

        `fit` does this on its validation rows, if there are any.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            Rows of both classes. On training rows the result is optimistic if the network overfits.
        y : array-like, shape (n,)
            True labels.
        sample_weight : array-like, shape (n,), optional
            Weights of at least 0. Default: equal weights.

        Returns
        -------
        Model
            Itself.
        """
        weight = None if sample_weight is None else checked_weights(sample_weight, len(encode_as(y, self.classes)))
        self.quantifier = Quantifier.fit(*self._scored(X, y), self.threshold, weight)
        return self

    def require_quantifier(self) -> Quantifier:
        """The model's `quantifier`, if there is one.

        Returns
        -------
        Quantifier

        Raises
        ------
        ValueError
            If the model is not calibrated.
        """
        if self.quantifier is None:
            raise ValueError(NOT_CALIBRATED)
        return self.quantifier

    def report(
        self, X: Any, y: Any, path: Any, *, groups: Any = None, n_resamples: int = 1000, seed: Any = 0
    ) -> dict[str, Any]:
        """Write a web page that shows how good the predictions are: one file, which needs no network and no script.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As in `decision_function`; rows that were not trained on.
        y : array-like, shape (n,)
            True labels.
        path : str or path-like
            The file, such as "report.html".
        groups : array-like of shape (n,) or table, optional
            The group of each row, to report by group too.
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
            If X, y, groups, `n_resamples` or `seed` is unusable.
        OSError
            If the file cannot be written.
        """
        from aesara_nondecomp.reports.facts import by_group_and_constraints, evaluation_facts, finite_facts
        from aesara_nondecomp.reports.page import evaluation_page, write_page

        check_writable(path)
        positive_int("n_resamples", n_resamples)
        random_generator(seed)
        more = by_group_and_constraints(self, X, y, groups)
        rows, signs = self._labelled(X, y)
        scores = self._network_scores(rows)
        facts = evaluation_facts(self, scores, signs, n_resamples, seed, *more)
        write_page(path, evaluation_page(self, X, signs, vote(scores), facts, seed))
        return finite_facts(facts)  # type: ignore[no-any-return]

    # -- on disk -------------------------------------------------------------------------------------------------

    def save(self, path: Any) -> None:
        """Write the model to one .npz file, atomically: arrays and a JSON header, no pickle.

        `history`, `evaluations` and `validation_matrix` are not saved.

        Parameters
        ----------
        path : str or path-like
            Used without adding a suffix; an existing file is replaced, with its mode and owner kept. A link is
            followed; a pipe or a device gets the bytes at once.

        Raises
        ------
        ValueError
            If the network has no description, the labels are not booleans, numbers, text, bytes or dates, or a field
            holds what `load_model` would refuse, such as a weight that is not finite.
        OSError
            If the file cannot be written; a former one is left as it was.
        """
        parts = to_archive(self)
        check_model(self)
        write_archive(path, "model", *parts)

    # -- parts ---------------------------------------------------------------------------------------------------

    def _build(self, network: Network, *options: Any) -> TrainFunctions:
        return TrainFunctions(network, *options)

    def _labelled(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Encoded rows, and labels in {-1, +1}."""
        signs, rows = encode_as(y, self.classes), self._rows(X)
        check_lengths(rows, signs)
        return rows, signs

    def _scored(self, X: Any, y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Scores, and labels in {-1, +1}."""
        rows, signs = self._labelled(X, y)
        return self._scores(rows), signs

    def _measure(self, measure: str | measures.Measure | None) -> measures.Measure:
        return self.measure if measure is None else measures.get(measure)


def to_archive(model: Model) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Take a model apart into a header and arrays, for `from_archive`; see `Model.save`.

    Parameters
    ----------
    model : Model
        A model whose network has a description.

    Returns
    -------
    header : dict
        Values that JSON can hold.
    arrays : dict of str to array
        The weights.

    Raises
    ------
    ValueError
        If the network has no description, or the labels are not booleans, numbers, text, bytes or dates.
    """
    require_description(model, "saved")
    header = {
        "measure": describe_measure(model.measure),
        "prior": model.prior,
        "classes": [plain_label(label) for label in model.classes],
        "threshold": float(model.threshold),
        "network": model.network_description,
        "dtype": model.functions.network.dtype,
        "best_step": model.best_step,
        "encoder": model.encoder.as_dict(),
        "quantifier": model.quantifier and model.quantifier.as_dict(),
        "extra": model.extra,
        "collapsed": model.collapsed,
        "voters": len(model.voters),
        "constrained_by": [constraint.as_dict() for constraint in model.constrained_by],
    }
    return header, weights_by_name(model)
