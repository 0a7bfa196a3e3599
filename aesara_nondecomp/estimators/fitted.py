"""Methods of a fitted `MeasureClassifier`: labels, probabilities, prevalence, score, and a record of its training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.data import check_lengths, encode_as, encode_classes_as
from aesara_nondecomp.estimators import sklearn_compat as compat
from aesara_nondecomp.estimators.input_checks import check_rows
from aesara_nondecomp.estimators.scoring import warn_of_unlike_scores
from aesara_nondecomp.history import Step
from aesara_nondecomp.metrics import Quantifier
from aesara_nondecomp.metrics.checks import checked_weights
from aesara_nondecomp.metrics.class_scores import class_confusion
from aesara_nondecomp.metrics.constraint_report import ConstraintReport
from aesara_nondecomp.metrics.group_report import GroupReport
from aesara_nondecomp.metrics.threshold import relative_scores
from aesara_nondecomp.models import Model
from aesara_nondecomp.models.by_group import rows_of_measure, value_at_threshold

if TYPE_CHECKING:  # slow, and most labels are of two classes
    from aesara_nondecomp.metrics.class_group_report import ClassGroupReport
    from aesara_nondecomp.metrics.class_quantification import ClassQuantifier

Array = NDArray[Any]


class FittedMixin:
    """Methods that need the attributes set by training, but no parameters."""

    model_: Any  # a Model, ClassModel or MultilabelModel
    classes_: Array

    def decision_function(self, X: Any) -> Array:
        """Compute the signed distance of each score from the threshold; of more than two classes, a score of each.

        Parameters
        ----------
        X : matrix, shape (n, d), data frame or list of str
            As raw as the training rows.

        Returns
        -------
        array, shape (n,) or (n, K)
            Of two classes, above 0 for ``classes_[1]``. Of more, the largest one is predicted.
        """
        scores = self._scores(X)
        if self._of_several():
            return scores if scores.shape[1] > 2 else scores[:, 1] - scores[:, 0]
        scores = relative_scores(scores, self.threshold_)
        return scores if self._positive_is_larger() else -scores

    def predict(self, X: Any) -> Array:
        """Predict labels.

        Parameters
        ----------
        X : matrix, shape (n, d), data frame or list of str
            As raw as the training rows.

        Returns
        -------
        array, shape (n,)
        """
        scores = self._scores(X)
        if self._of_several():
            return np.asarray(self.classes_[scores.argmax(axis=1)])
        predicted_positive = scores > self.threshold_
        labels: NDArray[Any] = self.classes_[(predicted_positive == self._positive_is_larger()).astype(int)]
        return labels

    def predict_proba(self, X: Any) -> Array:
        """Estimate the probabilities of the classes by calibration of the scores, of two by Platt's.

        Parameters
        ----------
        X : matrix, shape (n, d), data frame or list of str
            As raw as the training rows.

        Returns
        -------
        array, shape (n, K)
            In the order of `classes_`; rows sum to 1.
        """
        rows = self._rows(X)
        if self._of_several():
            return np.asarray(self.model_.predict_proba(rows))
        scores = self.model_.decision_function(rows)
        of_positives = self.model_.require_quantifier().posteriors(scores)
        pair = [1 - of_positives, of_positives]
        return np.column_stack(pair if self._positive_is_larger() else pair[::-1])

    def predict_prevalence(self, X: Any, method: str = "cc") -> float | Array:
        """Estimate the prevalence of the positive class, its share among the rows; or those of several classes.

        Parameters
        ----------
        X : matrix, shape (n, d), data frame or list of str
            As raw as the training rows.
        method : {"cc", "acc", "pcc", "pacc", "sld"}, default "cc"
            See `metrics.quantification`.

        Returns
        -------
        float or array, shape (K,)
            In [0, 1]. An array, in the order of `classes_`, where the model is of several classes: labels are of more
            than two, or the measure is one of these alone.

        Raises
        ------
        ValueError
            If the method is unknown.
        """
        rows = self._rows(X)
        found: float | Array = self.model_.predict_prevalence(rows, method)
        return found

    def score(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> float:
        """Evaluate the trained measure on hard predictions, oriented so that larger is better.

        Parameters
        ----------
        X : matrix, shape (n, d), data frame or list of str
            As raw as the training rows.
        y : array-like, shape (n,)
            True labels.
        sample_weight : array-like, shape (n,), optional
            Weights of at least 0. Default: equal weights.
        groups : array-like of shape (n,) or table, optional
            The group of each row, which measures such as "worst_cell" need, and no others take.

        Returns
        -------
        float
            Errors such as "kld" are negated.

        Warns
        -----
        UserWarning
            If a search of scikit-learn over `measure` compares these values, which are of different measures.
        """
        warn_of_unlike_scores()
        if self._of_several():
            return self._score_of_several(X, y, sample_weight, groups)
        rows, signs = self._rows(X), encode_as(y, self.model_.classes)
        check_lengths(rows, signs)
        weight = None if sample_weight is None else checked_weights(sample_weight, len(signs))
        measure = self.model_.measure
        grouped = rows_of_measure(measure, signs, groups)
        scores = self.model_.decision_function(rows)
        return float(measure.oriented(value_at_threshold(measure, scores, signs, self.threshold_, grouped, weight)))

    def by_group(self, X: Any, y: Any, groups: Any) -> GroupReport | ClassGroupReport:
        """Report the rate predicted right of each class in each group, with 95 % intervals.

        Parameters
        ----------
        X : matrix, shape (n, d), data frame or list of str
            As raw as the training rows.
        y : array-like, shape (n,)
            True labels.
        groups : array-like of shape (n,) or table
            The group of each row; of several columns, their combinations.

        Returns
        -------
        GroupReport or ClassGroupReport
            Of several classes the latter. Its ``str`` is a table; `plot` draws it.
        """
        rows = self._rows(X)
        return self.model_.by_group(rows, y, groups)  # type: ignore[no-any-return]

    def constraint_report(self, X: Any, y: Any, groups: Any = None, asked: Any = None) -> ConstraintReport:
        """Judge whether constraints hold on labelled rows: "held", "not shown" or "broken", by 95 % intervals.

        Parameters
        ----------
        X : matrix, shape (n, d), data frame or list of str
            As raw as the training rows, which these must not be.
        y : array-like, shape (n,)
            True labels.
        groups : array-like of shape (n,) or table, optional
            The group of each row, for gaps between groups.
        asked : sequence of Constraint, optional
            Default: those that it was trained under.

        Returns
        -------
        ConstraintReport
            Its ``str`` is a table; `plot` draws it.

        Raises
        ------
        ValueError
            If there is no constraint, or one needs groups and there are none.
        """
        rows = self._rows(X)
        return self.model_.constraints(rows, y, groups, asked)  # type: ignore[no-any-return]

    def report(
        self, X: Any, y: Any, path: Any, *, groups: Any = None, n_resamples: int = 1000, seed: Any = 0
    ) -> dict[str, Any]:
        """Write a web page that shows how good the predictions are; see `Model.report`.

        Parameters
        ----------
        X : matrix, shape (n, d), data frame or list of str
            As raw as the training rows, which these must not be.
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
            The figures of the page, ready for JSON.
        """
        rows = self._rows(X)
        found = self.model_.report(rows, y, path, groups=groups, n_resamples=n_resamples, seed=seed)
        return found  # type: ignore[no-any-return]

    @property
    def quantifier_(self) -> Quantifier | ClassQuantifier:
        """Calibration and error rates."""
        return self.model_.require_quantifier()  # type: ignore[no-any-return]

    @property
    def threshold_(self) -> float:
        """Threshold on the scores of `model_`, above which a row is predicted positive; none of several classes."""
        return float(self.model_.threshold)

    @property
    def prior_(self) -> float:
        """Share of positives that was trained for; of several classes `model_` has their `priors`."""
        return float(self.model_.prior)

    @property
    def history_(self) -> list[Step]:
        """Record of every training step."""
        return self.model_.history  # type: ignore[no-any-return]

    @property
    def n_iter_(self) -> int:
        """Number of training steps made."""
        return len(self.model_.history)

    def _scores(self, X: Any) -> Array:
        rows = self._rows(X)
        return np.asarray(self.model_.decision_function(rows))

    def _score_of_several(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> float:
        """The trained measure of several classes."""
        codes, measure = encode_classes_as(y, self.model_.classes), self.model_.measure
        weight = None if sample_weight is None else checked_weights(sample_weight, len(codes))
        from aesara_nondecomp.metrics.class_goal import ClassGoal  # slow, and most labels are of two classes
        from aesara_nondecomp.models.class_by_group import class_rows_of_measure

        grouped = class_rows_of_measure(measure, codes, groups, self.model_.classes)
        scores = self._scores(X)
        check_lengths(scores, codes)
        if grouped is not None:
            goal = ClassGoal(measure, (), grouped.cells)
            return float(measure.oriented(goal.at(scores.argmax(axis=1), grouped.cell, weight).value))
        confusion = class_confusion(codes, scores.argmax(axis=1), len(self.classes_), weight)
        return float(measure.oriented(measure.from_confusion(confusion)))

    def _of_several(self) -> bool:
        """Whether the fitted model is of several classes."""
        compat.check_is_fitted(self, "model_")
        return not isinstance(self.model_, Model)

    def _rows(self, X: Any) -> Any:
        compat.check_is_fitted(self, "model_")
        return check_rows(self, X, texts=self.model_.encoder.vocabulary is not None)

    def _positive_is_larger(self) -> bool:
        return bool(self.classes_[1] == self.model_.classes[1])
