"""Translate `MeasureClassifier` parameters into arguments of `fit`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp.data import is_text
from aesara_nondecomp.data.labels import check_positive, distinct_labels
from aesara_nondecomp.estimators import sklearn_compat as compat
from aesara_nondecomp.estimators.fitted import FittedMixin
from aesara_nondecomp.estimators.function_cache import NetworkSpec, network_spec
from aesara_nondecomp.training.checkpoints import Checkpoint
from aesara_nondecomp.training.class_labels import needs_classes
from aesara_nondecomp.training.early_stopping import EarlyStopping, refuse_without_rows
from aesara_nondecomp.training.param_checks import AUTO, NETWORK_OPTIONS, refuse_unavailable
from aesara_nondecomp.training.parameters import check_parameters
from aesara_nondecomp.training.table_network import network_maker

# Parameters of the estimator that `fit` takes as they are.
PASSED_ON = (
    "algorithm", "steps", "batch_size", "learning_rate", "schedule", "averaging", "l2", "sampler", "standardize",
    "prior", "constraints", "on_step", "comm",
)  # fmt: skip


class FitArguments(FittedMixin):
    """Turns an estimator's parameters into arguments of `fit`, and refuses those that do not go together."""

    measure: Any
    network: Any
    warm_start: Any
    resume: Any
    checkpoint: Any
    validation: Any
    patience: Any
    tune_threshold: Any
    refit: Any
    pos_label: Any
    prior: Any
    comm: Any
    verbose: Any
    random_state: Any
    _asked_for: NetworkSpec

    def _spec_to_fit(self, X: Any) -> NetworkSpec:
        check_parameters(**{name: getattr(self, name) for name in ("tune_threshold", "refit", "warm_start", "resume")})
        return self._spec(X)

    def _spec(self, X: Any) -> NetworkSpec:
        """What the compiled code depends on."""
        require(self.measure is not None, "measure must be given by its name or as a Measure", self.measure)
        network = "attention" if self.network == AUTO and is_text(X) else self.network
        names = (*NETWORK_OPTIONS, "dtype", "optimizer", "backend")
        given = check_parameters(**{name: getattr(self, name) for name in names})
        options = {name: given.pop(name) for name in NETWORK_OPTIONS}
        return network_spec(network, options, **given)

    def _of_classes(self, spec: NetworkSpec, classes: NDArray[Any]) -> tuple[Any, NetworkSpec]:
        """The measure and the network: of several classes, where there are more than two or the measure is of these."""
        if len(classes) <= 2 and not needs_classes(self.measure):
            self._check_pos_label(distinct_labels(classes))
            return self.measure, spec
        refuse_unavailable({"pos_label": self.pos_label, "prior": self.prior}, "several classes")
        from aesara_nondecomp.measures import multiclass  # slow, and most labels are of two classes

        return multiclass.get(self.measure), spec._replace(n_scores=len(classes))

    def _check_pos_label(self, classes: list[Any]) -> None:
        """Refuse a positive label that is none of two."""
        if self.pos_label is None or len(classes) != 2:
            return
        try:
            check_positive(self.pos_label, classes, "pos_label")
        except ValueError as error:
            if classes != [0, 1]:
                raise
            raise ValueError(
                f"{error} VotingClassifier, StackingClassifier and cross_val_predict(method=...) number the labels "
                "before fit: there give pos_label as 0 or 1, its place in sorted order."
            ) from None

    def _network(self, spec: NetworkSpec) -> Any:
        """What `fit` trains: the last model on a warm start, otherwise functions made for the number of columns."""
        if not (self.warm_start and hasattr(self, "model_")):
            return self._new_network(spec)
        self._require_as_asked(spec, of_labels=False)
        return self.model_

    def _require_as_asked(self, spec: NetworkSpec, of_labels: bool) -> None:
        """Refuse to go on with a network that the last fit was not asked for."""
        kinds = {False: "one label a row", True: "a matrix of labels"}
        before = self._of_labels()
        needed = f"warm_start goes on with {kinds[before]}, as in the last fit: set warm_start=False"
        require(before == of_labels, needed, kinds[of_labels])
        classes, now = self._asked_for.kind_of_labels, spec.kind_of_labels
        require(classes == now, f"warm_start goes on with {classes}, as in the last fit: set warm_start=False", now)
        self._require_network(spec, "warm_start goes on with the network of the last fit")

    def _require_network(self, spec: NetworkSpec, goes_on: str) -> None:
        """Refuse parameters and rows that ask for another network than the one trained before."""
        before = self._asked_for
        taken, given = ("texts" if each.takes_text else "numbers" for each in (before, spec))
        require(taken == given, f"{goes_on}, which takes {taken}", given)
        changed = spec.parameters_unlike(before)
        values = {name: getattr(self, name) for name in changed}
        require(not changed, f"{goes_on}: leave {' and '.join(changed)} unchanged", values)

    def _new_network(self, spec: NetworkSpec) -> Any:
        """Makes compiled functions that are shared with other estimators, once the rows are known."""
        return network_maker(spec.network, spec.functions, spec.n_scores)

    def _checkpoint(self) -> Checkpoint | None:
        checkpoint: Checkpoint | None = check_parameters(checkpoint=self.checkpoint)["checkpoint"]
        if checkpoint is not None:
            return replace(checkpoint, resume=self.resume or checkpoint.resume)
        require(not self.resume, "resume needs a checkpoint: give its path as `checkpoint`", self.checkpoint)
        return None

    def _early_stopping(self, validation: Any) -> EarlyStopping | None:
        rows = self.validation if validation is None else validation
        needed = "MeasureClassifier has patience, tune_threshold and refit as parameters of its own: give them there"
        require(not isinstance(rows, EarlyStopping), needed, "an EarlyStopping")
        if rows is not None:
            given = check_parameters(tune_threshold=self.tune_threshold, refit=self.refit)
            return EarlyStopping(rows, patience=self.patience, **given)
        needed = "{} needs rows held out: set validation, for example to 'auto'"
        refuse_without_rows(self.patience, self.refit, needed)
        if self.tune_threshold is True:
            raise ValueError(
                "tune_threshold needs held-out rows, as a threshold chosen on the training rows fits their noise: "
                "set validation to 'auto', or give fit(..., validation=(X, y))"
            )
        return None

    def _of_labels(self) -> bool:
        """Whether it was fitted on a matrix of labels."""
        compat.check_is_fitted(self, "model_")
        return hasattr(self.model_, "labels")
