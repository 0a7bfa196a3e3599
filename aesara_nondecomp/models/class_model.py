"""A trained model of several classes: predicts, evaluates, calibrates, and is saved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import positive_int, random_generator, require
from aesara_nondecomp._files import check_writable
from aesara_nondecomp.data import InputEncoder, check_lengths, encode_classes_as
from aesara_nondecomp.data.class_order import check_class_order
from aesara_nondecomp.history import ClassEvaluation, ClassStep
from aesara_nondecomp.measures import Constraint, multiclass
from aesara_nondecomp.measures.multiclass import Cells, MulticlassMeasure
from aesara_nondecomp.metrics.class_goal import ClassGoal
from aesara_nondecomp.metrics.class_quantification import ClassQuantifier
from aesara_nondecomp.metrics.class_scores import ClassCalibration, class_confusion, decision_scores
from aesara_nondecomp.models.archive import describe_measure, stored_constraints, write_archive
from aesara_nondecomp.models.class_by_group import ClassByGroup, class_rows_of_measure
from aesara_nondecomp.models.class_calibration import CalibratedClasses
from aesara_nondecomp.models.model_checks import check_class_model, stored_networks
from aesara_nondecomp.models.network_model import (
    label_from,
    plain_label,
    require_description,
    weights_by_name,
)
from aesara_nondecomp.networks import Network
from aesara_nondecomp.step.class_functions import ClassFunctions


@dataclass(eq=False)  # == of arrays is ambiguous
class ClassModel(CalibratedClasses, ClassByGroup):
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
    quantifier : ClassQuantifier, optional
        Rates, for prevalences; see `calibrate`.
    validation_matrix : array, shape (K, K), optional
        Confusion matrix of the validation rows; of several networks at scores shrunk towards those of a vote.
    voters : list of list of array, optional
        The weights of further networks, as many as were trained on other folds. The scores of a row are the mean of all
        networks' scores.
    constrained_by : tuple of Constraint, default ()
        What it was trained to meet; see `constraints`.
    interrupted : bool, default False
        Whether a callback or Ctrl-C ended training before its time.
    extra : dict, optional
        Further values to save with the model, which JSON can hold.
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
    quantifier: ClassQuantifier | None = field(default=None, repr=False)
    validation_matrix: NDArray[Any] | None = field(default=None, repr=False)
    voters: list[list[NDArray[Any]]] = field(default_factory=list, repr=False)
    constrained_by: tuple[Constraint, ...] = ()
    interrupted: bool = False
    extra: dict[str, Any] = field(default_factory=dict, repr=False)

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
        X : matrix, shape (n, d), table or list of str
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

    def decision_blocks(self, blocks: Iterable[Any]) -> Iterator[NDArray[Any]]:
        """Compute the scores of one block of rows after another, as `decision_function` does.

        Parameters
        ----------
        blocks : iterable of matrix or table
            As for `Model.decision_blocks`.

        Yields
        ------
        array, shape (n, K)
            The scores of a block.
        """
        for scores in self.score_blocks(blocks):
            yield decision_scores(scores, self.rule)

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
        return np.asarray(self.classes_[self._predicted(self._scores(self._rows(X)))])

    def confusion_matrix(self, X: Any, y: Any) -> NDArray[Any]:
        """Compute the confusion matrix of the predictions.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As in `decision_function`.
        y : array-like, shape (n,)
            True labels, in the coding of the training labels.

        Returns
        -------
        int array, shape (K, K)
            True classes by predicted ones, in the order of `classes`.
        """
        rows, codes = self._labelled(X, y)
        return class_confusion(codes, self._predicted(self._scores(rows)), len(self.classes))

    def value(self, X: Any, y: Any, measure: str | MulticlassMeasure | None = None, groups: Any = None) -> float:
        """Evaluate a measure on predictions, in its own orientation.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As in `decision_function`.
        y : array-like, shape (n,)
            True labels.
        measure : str or measures.multiclass.MulticlassMeasure, optional
            Default: the one trained for.
        groups : array-like of shape (n,) or table, optional
            The group of each row, which measures such as "worst_cell" need.

        Returns
        -------
        float
            NaN where it is undefined, as for the recall of a class without rows.

        Raises
        ------
        ValueError
            If X or y is unusable, or groups are needed and missing, or given and without effect.
        """
        chosen = self.measure if measure is None else multiclass.get(measure)
        if str(chosen) != str(self.measure):
            check_class_order(y, self.classes, chosen)
        grouped = class_rows_of_measure(chosen, encode_classes_as(y, self.classes), groups, self.classes)
        if grouped is None:
            return chosen.from_confusion(self.confusion_matrix(X, y))
        predicted = self._predicted(self._scores(self._labelled(X, y)[0]))
        return ClassGoal(chosen, (), grouped.cells).at(predicted, grouped.cell).value

    def score(self, X: Any, y: Any, groups: Any = None) -> float:
        """Evaluate the trained measure on predictions, oriented so that larger is better.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As in `decision_function`.
        y : array-like, shape (n,)
            True labels.
        groups : array-like of shape (n,) or table, optional
            As for `value`.

        Returns
        -------
        float
        """
        return float(self.measure.oriented(self.value(X, y, groups=groups)))

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
        from aesara_nondecomp.reports.class_facts import class_evaluation_facts
        from aesara_nondecomp.reports.class_sections import class_evaluation_page
        from aesara_nondecomp.reports.facts import by_group_and_constraints, finite_facts
        from aesara_nondecomp.reports.page import write_page

        check_writable(path)
        positive_int("n_resamples", n_resamples)
        random_generator(seed)
        rows, codes = self._labelled(X, y)
        by_group, verdicts = by_group_and_constraints(self, X, y, groups)
        scores = self._scores(rows)
        facts = class_evaluation_facts(self, scores, codes, n_resamples, seed, (), by_group, verdicts)
        write_page(path, class_evaluation_page(self, X, codes, scores, facts, seed))
        return finite_facts(facts)  # type: ignore[no-any-return]

    def save(self, path: Any) -> None:
        """Write the model to one .npz file, as `Model.save` does; `load_model` reads it.

        `history`, `evaluations` and `validation_matrix` are not saved.

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
        check_class_model(self)
        calibration = self.calibration
        header = {
            "measure": describe_measure(self.measure),
            "classes": [plain_label(label) for label in self.classes],
            "priors": self.priors.tolist(),
            "network": self.network_description,
            "dtype": self.functions.network.dtype,
            "best_step": self.best_step,
            "encoder": self.encoder.as_dict(),
            "rule": None if self.rule is None else self.rule.tolist(),
            "calibration": calibration and calibration.as_list(),
            "quantifier": self.quantifier and self.quantifier.as_dict(),
            "voters": len(self.voters),
            "constrained_by": [constraint.as_dict() for constraint in self.constrained_by],
            "extra": self.extra,
        }
        write_archive(path, "model", header, weights_by_name(self))

    def _labelled(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Encoded rows, and their classes as numbers."""
        codes, rows = encode_classes_as(y, self.classes), self._rows(X)
        check_lengths(rows, codes)
        return rows, codes

    def _predicted(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Classes of scores, as numbers."""
        return np.asarray(decision_scores(scores, self.rule).argmax(axis=1))

    def _build(self, network: Network, *options: Any) -> ClassFunctions:
        return ClassFunctions(network, Cells(self.priors), *options)


def class_model_from(
    header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], dtype: str | None, measure: MulticlassMeasure
) -> ClassModel:
    """Rebuild a model of several classes from its file; see `load_model`.

    Parameters
    ----------
    header : mapping
        Of the file.
    arrays : mapping of str to array
        Of the file.
    dtype : {"float32", "float64"} or None
        Dtype of the network; None for that of the file.
    measure : measures.multiclass.MulticlassMeasure
        What it was trained for.

    Returns
    -------
    ClassModel

    Raises
    ------
    ValueError
        If the file holds what no model holds.
    """
    require(isinstance(measure, MulticlassMeasure), "a measure of several classes is needed", measure)
    network, parameters, voters = stored_networks(header, arrays, dtype)
    priors, rule, calibration = np.array(header["priors"], float), header["rule"], header["calibration"]
    model = ClassModel(
        ClassFunctions(network, Cells(priors), "adamw"),  # which a model that is trained further goes on with
        parameters,
        measure,
        tuple(map(label_from, header["classes"])),
        priors,
        InputEncoder.from_dict(header["encoder"]),
        None if rule is None else np.array(rule, float),
        best_step=header["best_step"],
        calibration=calibration and ClassCalibration.from_list(calibration),
        quantifier=header["quantifier"] and ClassQuantifier.from_dict(header["quantifier"]),
        voters=voters,
        constrained_by=stored_constraints(header),
        extra=header.get("extra", {}),
    )
    check_class_model(model)
    return model
