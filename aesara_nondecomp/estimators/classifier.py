"""`MeasureClassifier`: a network trained directly on a measure, as a scikit-learn classifier."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_array
from aesara_nondecomp._checks import require, warn_caller
from aesara_nondecomp._names import warn_renamed
from aesara_nondecomp.data import encode_as, encode_classes_as
from aesara_nondecomp.data.class_order import check_class_order, is_ordered
from aesara_nondecomp.data.label_sets import is_indicator_matrix
from aesara_nondecomp.data.labels import distinct_labels
from aesara_nondecomp.estimators import sklearn_compat as compat
from aesara_nondecomp.estimators.fit_arguments import PASSED_ON
from aesara_nondecomp.estimators.function_cache import (
    NetworkChoice,
    NetworkSpec,
    shared_functions,
)
from aesara_nondecomp.estimators.input_checks import check_labels, check_rows, check_vectors, rows_that_count, seed_of
from aesara_nondecomp.estimators.partial_fit import PartialFitState, advance, count_rows
from aesara_nondecomp.estimators.several_labels import LabelsMixin
from aesara_nondecomp.history import Step
from aesara_nondecomp.metrics import Quantifier
from aesara_nondecomp.parallel import all_succeed, allgather, communicator
from aesara_nondecomp.training.class_labels import takes_classes
from aesara_nondecomp.training.fit import fit
from aesara_nondecomp.training.folds import is_pair
from aesara_nondecomp.training.former_parameters import SPELLINGS, classifier_parameters, method_fit_parameters
from aesara_nondecomp.training.parameters import check_parameters
from aesara_nondecomp.training.row_labels import weight_at_prior


class MeasureClassifier(LabelsMixin, compat.ClassifierMixin, compat.BaseEstimator):  # type: ignore[misc]  # untyped
    """A classifier trained directly on the measure it is judged by.

    Accepts dense arrays, data frames (pandas, polars; missing values and categories included), sparse matrices, memory
    maps and lists of str. Classes are two in any coding, or as many as the measure is of; for several labels of a row
    there is a matrix of 0 and 1.

    Parameters
    ----------
    measure : str, Measure or MulticlassMeasure, default "f1"
        What to train for and what `score` reports: "f1", "min", "qmean", "kld", ... For more than two classes one of
        `measures.multiclass.names`: "min_recall", "gmean", "macro_f1", ...; see Notes.
    algorithm : str, default "auto"
        Name of an algorithm, or a Recipe; see `recipes.recipe_for`. "auto" is the recommended one.
    network : {"auto", "mlp", "tabular", "linear", "attention", "lstm"} or callable, default "auto"
        "auto" is "tabular" for rows with numeric columns, "mlp" for binary or sparse ones, and "attention" for texts.
        "attention" and "lstm" take lists of str (extra ``text``). A callable returns a Network for a number of columns;
        pass a named function rather than a new lambda each time, so that its compiled code is reused.
    hidden : sequence of int, optional
        Widths of the hidden layers of mlp or tabular. Any other network refuses it. Default: (64, 64), or (128, 128)
        for scaled tables with a numeric column, at least six classes or labels and at least 500 rows.
    activation : str, default "relu"
        Activation of the hidden layers of mlp or tabular.
    dropout : float, default 0.0
        Probability in [0, 1) of dropping a hidden unit while training.
    members : int, default 1
        Number of members of tabular, at least 1, which share its layers and vote with their mean score; see
        `networks.tabular`. Any other network refuses it.
    steps : int, optional
        Gradient steps of a network, at least 1; an upper limit if rows are held out, as those choose the best step.
        Default: a tenth of its number of rows, from 300 to 6,000; as a limit at least one step for each row, up to
        1,600.
    batch_size : int, optional
        Rows per step, at least 1; all rows, with a warning, if there are fewer. Default: 512, or in `fit` 256 for a
        table that gives each network fewer than 40,000 training rows, unless `sampler` is "cell_balanced".
    optimizer : str or Optimiser, default "adamw"
        See `optimisers.get`.
    learning_rate : float, optional
        Step size, above 0. Default: the algorithm's.
    schedule : str or callable, optional
        See `schedules.get`. Default: the algorithm's.
    averaging : float, optional
        Decay in [0, 1) of the running average of the weights. Default: the algorithm's.
    l2 : float, optional
        Weight decay of the weight matrices, at least 0. Default: the algorithm's with adamw, 0 with others.
    sampler : {"natural", "stratified", "balanced", "cell_balanced"} or float, default "natural"
        How batches are drawn, or the fraction of positives in each; "cell_balanced" needs groups.
    standardize : bool, default True
        Centre and scale dense columns on the training rows: to mean 0 and deviation 1, or for tabular by median and
        quartiles.
    prior : float, optional
        Share of positives to train for, in (0, 1). Default: that of the labels.
    constraints : sequence of Constraint, default ()
        What predictions must meet, such as ``gap("tpr", at_most=0.02)`` or ``at_least("precision", 0.9)``, of more than
        two classes with ``label=``; see `fit` of this package. Gaps need the groups of the rows in the method `fit`.
    validation : "auto", "last", float, int or splitter, default "auto"
        Which rows are held out to choose weights and threshold and to calibrate; see `fit` of this package. A method
        `fit` takes your own validation rows instead. None holds no rows out: the last weights are kept, and the
        training rows are used for calibration, which is optimistic if the network overfits.
    patience : int, None or "auto", default "auto"
        Stop after this many evaluations on the validation rows without improvement, at least 1; None never stops early.
        "auto" is 3, or 5 for several networks.
    tune_threshold : bool or "auto", default "auto"
        Move the threshold to the best one for the measure on the validation rows; "auto" to a steadier one, see
        `metrics.steady_threshold`.
    refit : bool, default False
        Train once more on all rows, for as many steps as turned out best.
    pos_label : scalar, optional
        The positive label. Default: the larger one.
    dtype : {"float32", "float64"}, default "float32"
        Dtype of weights and scores.
    warm_start : bool, default False
        Start each `fit` from the weights and the encoder of the last one.
    checkpoint : path or Checkpoint, optional
        File from which an interrupted run can be resumed. Default: no file is written.
    resume : bool, default False
        Resume from the checkpoint, if there is one; so does `Checkpoint(path, resume=True)`.
    backend : {"c", "jax"}, default "c"
        Compile to C++ or through JAX.
    comm : communicator, optional
        Of mpi4py: train on the rows of all its processes. Each process passes its own rows to `fit` and gets the same
        model. Not for texts. All other methods run in each process separately. Pickles do not contain it.
    on_step : callable, optional
        Called with each `Step`; returning True stops training.
    verbose : int, default 0
        Show progress if above 0: a bar on a terminal (extra ``progress``), otherwise a line now and then.
    random_state : int, RandomState or None, optional
        Equal integers give equal models, to the last bit.

    Attributes
    ----------
    classes_ : array, shape (K,)
        The labels in sorted order, of two classes whichever of them is positive.
    model_ : Model, ClassModel or MultilabelModel
        The trained model, with `save` and more methods; of two classes its scores are those of the positive one.
    n_features_in_ : int
        Number of columns of the inputs.
    feature_names_in_ : array of str
        Column names of the inputs, if they have any.

    Notes
    -----
    `predict` follows the measure, and `predict_proba` estimates probabilities. The two disagree on purpose where the
    measure gains by predicting a row of probability 0.3 as positive.

    Measures of two classes alone, such as the default "f1", are refused for more, as scikit-learn's `f1_score` does:
    of which average they were to be, "macro_f1" or "micro_f1", would be a guess. Measures that both kinds of problems
    have under one name, such as "min", "gmean" or "kld", take any number of classes, and the estimator's tag
    `multi_class` says whether the measure does. A measure of several classes alone, such as "min_recall", makes a model
    with a score for each class, also of two. The parameters pos_label and prior are of two classes.

    In float32 the last digits of a score depend on how many rows are scored together; in float64 this is negligible.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> y = np.where(X[:, 0] > 1, "rare", "common")
    >>> classifier = MeasureClassifier("f1", hidden=(8,), steps=200, pos_label="rare", random_state=0).fit(X, y)
    >>> [str(label) for label in classifier.predict([[3.0, 0.0], [-3.0, 0.0]])]
    ['rare', 'common']
    >>> classifier.score(X, y) > 0.9
    True
    >>> abs(classifier.predict_prevalence(X) - 0.16) < 0.05
    True
    """

    _partial: PartialFitState | None
    _rows_of_fit: tuple[tuple[float, ...], int]
    _trained: tuple[NetworkSpec, int]
    _asked_for: NetworkSpec

    @classifier_parameters
    def __init__(
        self,
        measure: Any = "f1",
        *,
        algorithm: str = "auto",
        network: NetworkChoice = "auto",
        hidden: Sequence[int] | None = None,
        activation: str = "relu",
        dropout: float = 0.0,
        members: int = 1,
        steps: int | None = None,
        batch_size: int | None = None,
        optimizer: Any = "adamw",
        learning_rate: float | None = None,
        schedule: Any = None,
        averaging: float | None = None,
        l2: float | None = None,
        sampler: Any = "natural",
        standardize: bool = True,
        prior: float | None = None,
        constraints: Any = (),
        validation: Any = "auto",
        patience: int | None | str = "auto",
        tune_threshold: bool | str = "auto",
        refit: bool = False,
        pos_label: Any = None,
        dtype: str = "float32",
        warm_start: bool = False,
        checkpoint: Any = None,
        resume: bool = False,
        backend: str = "c",
        comm: Any = None,
        on_step: Callable[[Step], Any] | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.measure = measure
        self.algorithm = algorithm
        self.network = network
        self.hidden = hidden
        self.activation = activation
        self.dropout = dropout
        self.members = members
        self.steps = steps
        self.batch_size = batch_size
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.averaging = averaging
        self.l2 = l2
        self.sampler = sampler
        self.standardize = standardize
        self.prior = prior
        self.constraints = constraints
        self.validation = validation
        self.patience = patience
        self.tune_threshold = tune_threshold
        self.refit = refit
        self.pos_label = pos_label
        self.dtype = dtype
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.resume = resume
        self.backend = backend
        self.comm = comm
        self.on_step = on_step
        self.verbose = verbose
        self.random_state = random_state

    # -- training ------------------------------------------------------------------------------------------------

    @method_fit_parameters
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        validation: Any = None,
        validation_groups: Any = None,
        groups: Any = None,
    ) -> MeasureClassifier:
        """Train from scratch, or with `warm_start` from the weights of the last `fit`.

        Parameters
        ----------
        X : matrix, shape (n, d), data frame or list of str
            Finite numbers; a data frame may hold categories and missing values.
        y : array-like, shape (n,) or (n, L)
            Labels of two classes, or of as many as the measure takes; or 0 and 1 of each of several labels, see
            docs/multilabel.md.
        sample_weight : array-like, shape (n,), optional
            Weights of at least 0. Default: equal weights.
        validation : tuple (X, y), optional
            Your own validation rows, instead of training rows that are held out; (X, y, groups) if there are `groups`.
        validation_groups : array-like, shape (n,), optional
            Rows of equal value, such as those of a patient, are held out together.
        groups : array-like of shape (n,) or table, optional
            The group of each row, such as a sex, for measures such as "worst_cell" and for gaps in `constraints`; never
            needed to predict. Through a search or a pipeline it comes by scikit-learn's metadata routing.

        Returns
        -------
        MeasureClassifier
            Itself.

        Raises
        ------
        ValueError
            If data or parameters are unusable; raised before anything is compiled.
        """
        if any(communicator(self.comm).allgather(is_indicator_matrix(y))):
            self._fit_labels(X, y, sample_weight, validation, validation_groups=validation_groups, groups=groups)
            return self
        comm = communicator(self.comm)
        spec = all_succeed(comm, lambda: self._spec_to_fit(X))
        given = y
        X, y, weight, classes = self._checked(X, y, sample_weight, spec)
        if validation is not None:
            validation = all_succeed(comm, lambda: self._validation_rows(validation, spec, groups))
        seed = seed_of(self.random_state)
        measure, spec = self._of_classes(spec, classes)
        self.model_ = fit(
            X,
            given if is_ordered(given) else y,
            measure,
            network=self._network(spec),
            positive=self.pos_label,
            sample_weight=weight,
            groups=groups,
            validation=self._early_stopping(validation),
            validation_groups=validation_groups,
            checkpoint=self._checkpoint(),
            progress=bool(self.verbose),
            seed=comm.bcast(seed),
            **{name: getattr(self, name) for name in PASSED_ON},
        )
        self._keep(classes, spec)
        if self.model_.quantifier is None:
            self._calibrate(X, y, weight)
        codes = encode_classes_as(allgather(comm, y), self.model_.classes)
        weight = None if weight is None else allgather(comm, weight)
        self._partial, self._rows_of_fit = None, count_rows(codes, len(classes), weight)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> MeasureClassifier:
        """Make one pass over the given rows, from the weights, duals and optimiser state of the last call.

        The first call fixes the classes, the network and the encoder: scaling, categories, words. After a `fit` duals
        and optimiser start anew, and the learning rate rises over 100 steps; if its networks vote, training goes on
        from the first of them, with a warning. The duals of another measure or algorithm start anew too. Every call
        needs rows of each class. The prior is that of all rows seen so far, those of a `fit` before included;
        calibration and error rates are measured on the latest rows.
        Parameters of a whole run are not used: steps, schedule, validation, patience, checkpoint, on_step.
        Of several classes, where "auto" is a plug-in, it is the measure's own algorithm, as no rows are held out to
        choose a rule on; after a `fit` that chose one, it is cross-entropy, and the rule stays.

        Parameters
        ----------
        X : matrix, shape (n, d), data frame or list of str
            As in `fit`.
        y : array-like, shape (n,)
            Labels of two classes, or of as many as the measure takes.
        classes : array-like of labels, optional
            Checked against the labels, and in later calls against those of the first one; part of scikit-learn's
            interface.
        sample_weight : array-like, shape (n,), optional
            Weights of at least 0. Default: equal weights.

        Returns
        -------
        MeasureClassifier
            Itself.

        Raises
        ------
        ValueError
            As in `fit`; or if `classes` does not hold the labels, the recipe trains in several phases (DAME by the
            paper's listing), or the threshold is to be tuned, which needs validation rows.
        """
        require(self.comm is None, "partial_fit works in one process: leave comm out, or use fit", self.comm)
        tunes = self.tune_threshold is True
        require(not tunes, "partial_fit holds no rows out to tune the threshold on: use fit", self.tune_threshold)
        asked = check_parameters(constraints=self.constraints)["constraints"]
        require(not asked, "partial_fit holds no rows out by which to meet constraints: use fit", self.constraints)
        first, spec = not hasattr(self, "model_"), self._spec(X)
        of_one = not is_indicator_matrix(y) and (first or not self._of_labels())
        require(of_one, "partial_fit takes one label a row: use fit", "a matrix of labels")
        if not first and self.model_.voters:
            count = 1 + len(self.model_.voters)
            warn_caller(
                f"partial_fit goes on from the first of the {count} networks that vote, and leaves the others: fit "
                "with refit=True or validation=None before"
            )
        if not first and classes is not None:
            known = distinct_labels(self.classes_)
            require(distinct_labels(classes) == known, f"classes must stay those of the first call, {known}", classes)
        given_labels = y
        X, y, weight, classes = self._checked(X, y, sample_weight, spec, first, classes if first else self.classes_)
        measure, spec = self._of_classes(spec, classes)
        if not first:
            self._require_network(spec, "partial_fit goes on with the network of the last call")
        if spec.n_scores > 1 and (first or str(self.model_.measure) != str(measure)):
            check_class_order(given_labels, classes.tolist(), measure)
        missing = [] if spec.n_scores == 1 else np.setdiff1d(classes, y).tolist()
        require(not missing, "every call of partial_fit needs rows of each class", f"none of {missing}")
        state = getattr(self, "_partial", None)
        if state is None:
            rows = () if first else getattr(self, "_rows_of_fit", ())  # former pickles lack it
            state = PartialFitState.start(None if first else self.model_, self.random_state, *rows)
        given = {name: getattr(self, name) for name in (
            "algorithm", "batch_size", "learning_rate", "averaging", "l2", "sampler", "standardize", "prior",
        )}  # fmt: skip
        self.model_, self._partial = advance(
            state, self._new_network(spec), X, y, weight,
            positive=self.pos_label, measure=measure, given=check_parameters(**given),
        )  # fmt: skip
        self._keep(classes, spec)
        self._calibrate(X, y, weight)
        return self

    # -- scikit-learn's own --------------------------------------------------------------------------------------

    def set_params(self, **params: Any) -> MeasureClassifier:
        """Set parameters by name, as scikit-learn's searches do.

        Parameters
        ----------
        **params : object
            Values by name; former spellings are accepted with a DeprecationWarning.

        Returns
        -------
        MeasureClassifier
            Itself.
        """
        for old in SPELLINGS.keys() & params.keys():
            warn_renamed(f"the parameter {old!r} of MeasureClassifier", repr(SPELLINGS[old]))
            params[SPELLINGS[old]] = params.pop(old)
        return super().set_params(**params)  # type: ignore[no-any-return]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = takes_classes(self.measure)
        tags.input_tags.sparse = True
        return tags

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn before 1.6
        return {"binary_only": not takes_classes(self.measure)}

    def __getstate__(self) -> dict[str, Any]:
        """State without compiled functions, which `__setstate__` restores, and without the communicator."""
        state = dict(super().__getstate__())
        if "model_" in state and not self._of_labels():
            state["model_"] = copy.copy(state["model_"])
            state["model_"].functions = None
            state["_partial"] = self._partial and self._partial._replace(model=state["model_"])
        return {**state, "comm": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "model_") and not self._of_labels():  # parameters may have changed since training
            self.model_.functions = shared_functions(*self._trained)

    # -- parts ---------------------------------------------------------------------------------------------------

    def _checked(
        self, X: Any, y: Any, sample_weight: Any, spec: NetworkSpec, reset: bool = True, known: Any = None
    ) -> tuple[Any, Any, Any, Any]:
        """Checked inputs, labels, weights or None, and the classes: those of the labels, or the `known` ones."""
        comm = communicator(self.comm)
        together = comm.size > 1 and spec.takes_text
        require(not together, "comm needs rows of numbers: each process knows the words of its own texts only", "texts")
        X, y, weight = all_succeed(comm, lambda: self._own_rows(X, y, sample_weight, spec, reset))
        return X, y, weight, check_labels(allgather(comm, y), known, self.measure)

    def _own_rows(self, X: Any, y: Any, sample_weight: Any, spec: NetworkSpec, reset: bool) -> tuple[Any, Any, Any]:
        min_rows = 2 if communicator(self.comm).size == 1 else 0  # a process may have no rows
        X = check_rows(self, X, texts=spec.takes_text, reset=reset, min_rows=min_rows)
        return X, *check_vectors(X, y, sample_weight)

    def _validation_rows(self, validation: Any, spec: NetworkSpec, groups: Any) -> tuple[Any, ...]:
        needed = "fit takes validation rows as a pair (X, y); a share is a parameter: MeasureClassifier(validation=0.2)"
        usable = is_pair(validation) and (len(validation) == 2 or groups is not None)
        require(usable, needed, validation)
        X, y, *own_groups = validation
        return check_rows(self, X, texts=spec.takes_text), compat.column_or_1d(as_array(y, "labels")), *own_groups

    def _keep(self, classes: NDArray[Any], spec: NetworkSpec) -> None:
        encoder, network = self.model_.encoder, self.model_.functions.network
        columns = getattr(self, "n_features_in_", 0) if encoder.table is None else len(encoder.table.feature_names)
        size = columns if encoder.vocabulary is None else len(encoder.vocabulary)
        self.classes_, self._asked_for = classes, spec
        self._trained = spec.resolved(network.description), size

    def _calibrate(self, X: Any, y: Any, weight: Any) -> None:
        """Calibrate the model on labelled rows of all processes together."""
        comm, several = communicator(self.comm), self._of_several()
        scores: NDArray[Any] = np.zeros((0, len(self.classes_)) if several else 0)
        labels: NDArray[Any] = np.zeros(0, "int32" if several else "int8")
        X, kept = rows_that_count(X, weight)
        y, weight = y[kept], None if weight is None else weight[kept]
        if len(y):  # a process may have no rows
            scores = np.concatenate(list(self.model_.score_blocks([X])))
            labels = (encode_classes_as if several else encode_as)(y, self.model_.classes)
        weight = None if weight is None else allgather(comm, weight)
        scores, labels = allgather(comm, scores), allgather(comm, labels)
        if several:
            self.model_.calibrate_scores(scores, labels, weight)
            return
        if self.prior is not None:
            weight = weight_at_prior(labels, weight, self.prior)
        self.model_.quantifier = Quantifier.fit(scores, labels, self.threshold_, weight)
