"""Matrices of labels in `MeasureClassifier`: its training and the methods that differ from those of one label a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp.data import check_lengths
from aesara_nondecomp.data.label_sets import Indicators, read_indicators
from aesara_nondecomp.estimators.fit_arguments import PASSED_ON, FitArguments
from aesara_nondecomp.estimators.input_checks import check_rows, rows_that_count, seed_of
from aesara_nondecomp.estimators.scoring import warn_of_unlike_scores
from aesara_nondecomp.measures import Averaged
from aesara_nondecomp.metrics.checks import checked_weights
from aesara_nondecomp.metrics.constraint_report import ConstraintReport
from aesara_nondecomp.metrics.group_report import GroupReport
from aesara_nondecomp.metrics.label_confusion import label_confusions
from aesara_nondecomp.metrics.threshold import relative_scores
from aesara_nondecomp.parallel import Communicator, all_succeed, communicator
from aesara_nondecomp.training.fit import fit
from aesara_nondecomp.training.param_checks import refuse_unavailable
from aesara_nondecomp.training.parameters import check_parameters
from aesara_nondecomp.training.table_network import network_maker

if TYPE_CHECKING:
    from aesara_nondecomp.metrics.class_group_report import ClassGroupReport

Array = NDArray[Any]


class LabelsMixin(FitArguments):
    """Methods of an estimator that takes matrices of labels besides vectors."""

    def decision_function(self, X: Any) -> Array:
        if not self._of_labels():
            return super().decision_function(X)
        scores, thresholds = self.model_.decision_function(self._rows(X)), self.model_.thresholds
        return np.stack([relative_scores(own, cut) for own, cut in zip(scores.T, thresholds)], axis=1)

    def predict(self, X: Any) -> Array:
        return self.model_.predict(self._rows(X)) if self._of_labels() else super().predict(X)

    def predict_proba(self, X: Any) -> Array:
        return self.model_.predict_proba(self._rows(X)) if self._of_labels() else super().predict_proba(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> float:
        if not self._of_labels():
            return super().score(X, y, sample_weight, groups)
        warn_of_unlike_scores()
        require(groups is None, "a matrix of labels has a measure without groups: leave groups out", "groups")
        model, predicted = self.model_, self.predict(X)
        matrix = read_indicators(y, model.labels).matrix
        check_lengths(predicted, matrix)
        weight = None if sample_weight is None else checked_weights(sample_weight, len(matrix))
        value = model.measure.from_confusions(label_confusions(matrix, predicted, weight))
        return float(model.measure.oriented(value))

    def predict_prevalence(self, X: Any, method: str = "cc") -> Any:
        self._require_one_label("predict_prevalence")
        return super().predict_prevalence(X, method)

    def by_group(self, X: Any, y: Any, groups: Any) -> GroupReport | ClassGroupReport:
        self._require_one_label("by_group")
        return super().by_group(X, y, groups)

    def constraint_report(self, X: Any, y: Any, groups: Any = None, asked: Any = None) -> ConstraintReport:
        self._require_one_label("constraint_report")
        return super().constraint_report(X, y, groups, asked)

    def report(
        self, X: Any, y: Any, path: Any, *, groups: Any = None, n_resamples: int = 1000, seed: Any = 0
    ) -> dict[str, Any]:
        if not self._of_labels():
            return super().report(X, y, path, groups=groups, n_resamples=n_resamples, seed=seed)
        if groups is not None:
            self._require_one_label("groups")
        found: dict[str, Any] = self.model_.report(self._rows(X), y, path, n_resamples=n_resamples, seed=seed)
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of scikit-learn's base
        tags.classifier_tags.multi_label = self._takes_matrices()
        return tags

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn before 1.6
        return {"multilabel": self._takes_matrices()}

    # -- parts ---------------------------------------------------------------------------------------------------

    def _fit_labels(self, X: Any, y: Any, sample_weight: Any, validation: Any, **groups: Any) -> None:
        """Train on a matrix of labels."""
        check_parameters(warm_start=self.warm_start, resume=self.resume)
        refuse_unavailable({"pos_label": self.pos_label}, "a matrix of labels")
        spec = self._spec(X)
        comm = communicator(self.comm)
        X = all_succeed(comm, lambda: self._rows_of_labels(X, y, spec.takes_text, comm))
        n_labels = max(comm.allgather(_n_labels(y)))
        if validation is not None:
            held, y_held = validation
            validation = all_succeed(comm, lambda: check_rows(self, held, texts=spec.takes_text)), y_held
        further, of_labels = self.warm_start and hasattr(self, "model_"), spec._replace(n_scores=n_labels)
        if further:
            self._require_as_asked(spec, of_labels=True)
        self.model_ = fit(
            X,
            y,
            self.measure,
            network=self.model_ if further else network_maker(spec.network, of_labels.new_network, n_labels),
            optimizer=spec.optimizer,
            sample_weight=sample_weight,
            validation=self._early_stopping(validation),
            checkpoint=self._checkpoint(),
            progress=bool(self.verbose),
            backend=spec.backend,
            seed=comm.bcast(seed_of(self.random_state)),
            **{name: getattr(self, name) for name in PASSED_ON},
            **groups,
        )
        self.classes_, self._asked_for = np.asarray(self.model_.labels), spec
        if not self.model_.calibrations:
            self._calibrate_labels(X, y, sample_weight, comm)

    def _rows_of_labels(self, X: Any, y: Any, texts: bool, comm: Communicator) -> Any:
        """Checked rows of this process, of which there may be none where there are several."""
        X = check_rows(self, X, texts=texts, reset=True, min_rows=2 if comm.size == 1 else 0)
        if comm.size == 1:
            check_lengths(X, read_indicators(y).matrix)
        return X

    def _calibrate_labels(self, X: Any, y: Any, weight: Any, comm: Communicator) -> None:
        """Calibrate the model on the rows of all processes together."""
        labels = self.model_.labels
        scores, matrix = np.zeros((0, len(labels))), np.zeros((0, len(labels)), dtype=bool)
        X, kept = rows_that_count(X, None if weight is None else np.ravel(weight))
        if _n_labels(y) and X.shape[0]:
            scores = np.concatenate(list(self.model_.score_blocks([X])))
            matrix = read_indicators(y, labels).matrix[kept]
        scores, matrix = (np.concatenate(comm.allgather(own)) for own in (scores, matrix))
        if weight is not None:
            weight = checked_weights(np.concatenate(comm.allgather(np.ravel(weight)[kept])), len(matrix))
        self.model_.calibrate_scores(scores, matrix, weight)

    def _require_one_label(self, name: str) -> None:
        require(not self._of_labels(), f"{name} is for one label a row: `model_.by_label` reports on several", name)

    def _takes_matrices(self) -> bool:
        try:
            Averaged.get(self.measure)
        except (ValueError, TypeError):
            return False
        return True


def _n_labels(y: Any) -> int:
    """The number of labels; 0 of a process without rows."""
    shape = np.shape(y.matrix if isinstance(y, Indicators) else y) if not hasattr(y, "shape") else y.shape
    return int(shape[1]) if len(shape) == 2 and shape[0] else 0
