"""`MeasureClassifier`: a network trained directly on a measure, as a scikit-learn classifier."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aesara_nondecomp import metrics
from aesara_nondecomp._checks import positive_int, require
from aesara_nondecomp.data import Vocabulary, encode_as, encode_labels, stratified_split
from aesara_nondecomp.estimators import sklearn_compat as compat
from aesara_nondecomp.estimators.fitted import FittedMixin
from aesara_nondecomp.estimators.function_cache import NetworkChoice, NetworkSpec, shared_functions
from aesara_nondecomp.estimators.input_checks import check_labels, check_rows
from aesara_nondecomp.estimators.partial_fit import PartialFitState, advance
from aesara_nondecomp.estimators.texts import as_ids, takes_text, vocabulary_for
from aesara_nondecomp.history import Step
from aesara_nondecomp.metrics.quantification import Quantifier
from aesara_nondecomp.ops import optimisers
from aesara_nondecomp.parallel import all_succeed, allgather, local_indices
from aesara_nondecomp.training.fit import fit


class MeasureClassifier(FittedMixin, compat.ClassifierMixin, compat.BaseEstimator):
    """A binary classifier trained directly on the measure it is judged by.

    Dense arrays, data frames (pandas, polars), CSR and CSC matrices and memory maps are taken; two classes in any
    coding.  For more classes or several labels wrap it: ``OneVsRestClassifier(MeasureClassifier())``, and judge by
    `multiclass.averaged_value`.

    Parameters
    ----------
    measure : str or measures.Measure
        What to train for and what `score` reports: "f1", "min", "qmean", "kld", ...
    algorithm, preset : str. See `recipes.recipe_for`.
    network : {"mlp", "linear"} or callable (number of features -> Network). Give a function, not a fresh lambda.
        Or "attention" or "lstm", for lists of str instead of matrices (extra `text`; see `fitting.fit`).
    hidden : sequence of int; activation : str; dropout : float in [0, 1)
        Of the "mlp", see `networks.mlp`; refused beside any other network.
    steps, batch_size : int >= 1. Gradient steps, and rows in each (all rows where there are fewer).
    optimizer, schedule, learning_rate, averaging, l2, sampler, standardize, prior : see `fitting.fit`.
    validation : float in (0, 1), optional
        Share of the rows held out: the weights of the best count value on them are kept, and calibration, threshold
        and error rates are measured on them. `fit` takes rows of your own instead. Without either, the last weights
        are kept, and calibration and rates come from the training rows, which flatter a network that overfits.
    patience : int, optional. Evaluations on the validation rows without improvement before training stops.
    tune_threshold : bool
        Move the threshold to the best one for the measure on the validation rows, which are then needed.
    pos_label : optional. The positive label; default the larger one.
    dtype : {"float32", "float64"}. Of weights and scores.
    warm_start : bool. `fit` starts from the weights of the last `fit`; for texts, with its vocabulary.
    checkpoint : path, optional; resume : bool. See `fitting.fit`.
    backend : {"c", "jax"}. See `fitting.fit`.
    comm : mpi4py communicator, optional
        Train on the rows of all its processes, each of which gives `fit` its own and gets the same model. Not for
        texts. Only `fit` works together: all other methods are each process's own. Pickles leave it behind.
    on_step : callable, optional. Called with each `training.Step`; a true answer stops training.
    verbose : int. Above 0: a progress bar (extra `progress`).
    random_state : int, RandomState or None. Equal numbers give equal models, to the last bit.

    Attributes
    ----------
    classes_ : array, shape (2,). The labels in sorted order, whichever is the positive one.
    model_ : Model. Has `save` and much more; its scores are of the positive class.
    prior_ : float. Share of positives trained for.
    threshold_ : float. On the scores of `model_`; 0 unless tuned.
    history_ : list of Step; n_iter_ : int. Steps made.
    quantifier_ : Quantifier. Calibration and error rates.
    n_features_in_ : int; feature_names_in_ : array, where the features have names.

    Notes
    -----
    `predict` follows the measure, `predict_proba` estimates probabilities: where the best decision for the measure is
    to call a row with probability 0.3 positive, the two disagree, and rightly so.

    In float32 the last digits of a score depend on how many rows are scored together; float64 hides it.

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

    _progress: PartialFitState | None
    _trained: NetworkSpec

    def __init__(
        self,
        measure: Any = "f1",
        *,
        algorithm: str = "auto",
        preset: str = "default",
        network: NetworkChoice = "mlp",
        hidden: Sequence[int] = (64, 64),
        activation: str = "relu",
        dropout: float = 0.0,
        steps: int = 2000,
        batch_size: int = 512,
        optimizer: Any = "adam",
        learning_rate: float | None = None,
        schedule: Any = "constant",
        averaging: float | None = None,
        l2: float = 0.0,
        sampler: Any = "natural",
        standardize: bool = True,
        prior: float | None = None,
        validation: float | None = None,
        patience: int | None = None,
        tune_threshold: bool = False,
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
        self.preset = preset
        self.network = network
        self.hidden = hidden
        self.activation = activation
        self.dropout = dropout
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
        self.validation = validation
        self.patience = patience
        self.tune_threshold = tune_threshold
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, validation: Any = None) -> MeasureClassifier:
        """Train anew (with `warm_start`: from the last weights).

        Parameters
        ----------
        X : matrix, shape (n, d), finite numbers; or list of n str, for a text network
        y : array-like, shape (n,). Two classes.
        sample_weight : array-like, shape (n,), optional. Non-negative.
        validation : (X, y), optional. Labelled rows to hold out, instead of a share of the training rows.

        Raises
        ------
        ValueError
            For unusable data or parameters, before anything is compiled.
        """
        X, y, weight, classes = self._checked(X, y, sample_weight)
        before = self.model_ if self.warm_start and hasattr(self, "model_") else None
        random = compat.check_random_state(self.random_state)
        seed = self.random_state if isinstance(self.random_state, int) else int(random.randint(2**31 - 1))
        seed = seed if self.comm is None else self.comm.bcast(seed)
        weight, held_out = self._split(X, y, weight, validation, seed)
        vocabulary = vocabulary_for(X, weight, before) if takes_text(self) else None
        X, held_out = as_ids(X, vocabulary), held_out and (as_ids(held_out[0], vocabulary), held_out[1])
        shape = self._shape(vocabulary)
        functions = shared_functions(shape)
        with functions.lock:
            self.model_ = fit(
                X,
                y,
                self.measure,
                algorithm=self.algorithm,
                preset=self.preset,
                functions=functions,
                initial=None if before is None else before.parameters,
                steps=self.steps,
                batch_size=self._batch_size(self._count(y, weight)),
                learning_rate=self.learning_rate,
                schedule=self.schedule,
                averaging=self.averaging,
                l2=self.l2,
                sampler=self.sampler,
                standardize=self.standardize,
                prior=self.prior,
                positive=self.pos_label,
                seed=seed,
                sample_weight=weight,
                validation=held_out,
                patience=self.patience,
                on_step=self.on_step,
                checkpoint=self.checkpoint,
                resume=self.resume,
                comm=self.comm,
                progress=bool(self.verbose),
                feature_names=self._names(),
            )
        self._keep(classes, shape, vocabulary)
        if self.tune_threshold:
            self.model_.threshold, _ = metrics.best_threshold(self.model_.measure, *self._scored(*held_out))
        X, y, weight = (X, y, weight) if held_out is None else (*held_out, None)
        self._measure_rates(X, y, weight)
        self._progress = None
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> MeasureClassifier:
        """One pass over the given rows, going on from the weights, duals and optimiser state of the last call.

        The first call fixes the classes, the scaling of the columns and, of texts, the vocabulary: later words are
        unknown ones. Every call needs rows of both classes.
        The prior is that of all rows given so far. Calibration and rates are measured on the last rows given. What
        belongs to a whole run has no say here: steps, schedule, validation, patience, checkpoints, callbacks.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : array-like of 2 labels, optional. Checked against the labels, for scikit-learn's sake.

        Raises
        ------
        ValueError
            As `fit`; or if `classes` does not hold the two labels, the recipe trains in several phases (the "paper"
            preset of DAME), which a stream of rows cannot tell apart, or the threshold is to be tuned, for which no
            rows are held out.
        """
        require(self.comm is None, "partial_fit works in one process: leave comm out, or use fit", self.comm)
        require(not self.tune_threshold, "partial_fit holds no rows out to tune the threshold on: use fit", True)
        first = not hasattr(self, "model_")
        X, y, weight, classes = self._checked(X, y, sample_weight, first, classes if first else self.classes_)
        labels = encode_labels(y, self.pos_label)
        before = None if first else self.model_
        progress = getattr(self, "_progress", None) or PartialFitState.start(before, self.random_state)
        vocabulary = vocabulary_for(X, weight, before) if takes_text(self) else None
        X = as_ids(X, vocabulary)
        shape = self._shape(vocabulary)
        functions = shared_functions(shape)
        with functions.lock:
            self.model_, self._progress = advance(
                progress,
                functions,
                X,
                labels,
                weight,
                measure=self.measure,
                algorithm=self.algorithm,
                preset=self.preset,
                batch_size=self._batch_size(len(y) if weight is None else np.count_nonzero(weight)),
                learning_rate=self.learning_rate,
                averaging=self.averaging,
                l2=self.l2,
                sampler=self.sampler,
                standardize=self.standardize,
                prior=self.prior,
                feature_names=self._names(),
            )
        self._keep(classes, shape, vocabulary)
        self._measure_rates(X, y, weight)
        return self

    # -- scikit-learn's own --------------------------------------------------------------------------------------

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    def _more_tags(self):  # what scikit-learn before 1.6 asks for
        return {"binary_only": True}

    def __getstate__(self):
        """Without compiled functions, which `__setstate__` builds again."""
        state = dict(super().__getstate__())
        if "model_" in state:
            state["model_"] = copy.copy(state["model_"])
            state["model_"].functions = None
            state["_progress"] = self._progress and self._progress._replace(model=state["model_"])
        return {**state, "comm": None}

    def __setstate__(self, state):
        super().__setstate__(state)
        if hasattr(self, "model_"):  # of the network it was trained with, whatever its parameters say by now
            self.model_.functions = shared_functions(self._trained)

    # -- parts ---------------------------------------------------------------------------------------------------

    def _checked(self, X, y, sample_weight, reset=True, known=None):
        """Features, labels, weights (None if there are none), and the classes: those of the labels, or `known` ones."""
        X, y, weight = all_succeed(self.comm, lambda: self._own_rows(X, y, sample_weight, reset))
        return X, y, weight, check_labels(allgather(self.comm, y), known)

    def _own_rows(self, X, y, sample_weight, reset):
        require(self.dtype in ("float32", "float64"), "dtype must be 'float32' or 'float64'", self.dtype)
        together = self.comm is not None and takes_text(self)
        require(not together, "comm needs rows of numbers: each process knows the words of its own texts only", "texts")
        X = check_rows(self, X, self.dtype, reset=reset, min_rows=2)
        y = compat.column_or_1d(y, warn=True)
        compat.check_consistent_length(X, y)
        weight = None if sample_weight is None else compat.check_sample_weight(sample_weight, X, dtype=np.float64)
        return X, y, weight

    def _split(self, X, y, weight, validation, seed):
        """Weights of the training rows, and the rows to hold out, (X, y) or None.

        Rows held out of X are not cut from it, which would copy it, but get the weight 0.
        """
        if validation is not None:
            X_held, y_held = validation
            return weight, (check_rows(self, X_held, self.dtype), compat.column_or_1d(y_held))
        if self.validation is not None:
            signs = encode_labels(allgather(self.comm, y), self.pos_label).signs
            _, held = stratified_split(signs, self.validation, seed)
            held = local_indices(self.comm, held, len(y))
            weight = np.ones(len(y)) if weight is None else weight.copy()
            weight[held] = 0
            return weight, (X[held], y[held])
        if self.tune_threshold:
            raise ValueError(
                "tune_threshold needs held-out rows, as a threshold chosen on the training rows fits their noise: "
                "set validation to a share such as 0.2, or give fit(..., validation=(X, y))"
            )
        return weight, None

    def _shape(self, vocabulary: Vocabulary | None) -> NetworkSpec:
        require(
            isinstance(self.hidden, Sequence) and not isinstance(self.hidden, str),
            "hidden must be a sequence of widths, such as (64, 64)",
            self.hidden,
        )
        return NetworkSpec(
            self.network, self.n_features_in_ if vocabulary is None else len(vocabulary), tuple(self.hidden),
            self.activation, self.dropout, self.dtype, optimisers.get(self.optimizer), self.backend,
        )  # fmt: skip

    def _keep(self, classes: np.ndarray, shape: NetworkSpec, vocabulary: Vocabulary | None) -> None:
        """Note what `model_`, trained on token ids where there is a vocabulary, does not know itself."""
        self.classes_, self._trained = classes, shape
        if vocabulary is not None:
            self.model_.extra["vocabulary"] = vocabulary.to_dict()

    def _measure_rates(self, X, y, weight) -> None:
        scores, signs = self._scored(X, y)
        weight = None if weight is None else allgather(self.comm, weight)
        self.quantifier_ = Quantifier.fit(scores, signs, self.threshold_, weight)

    def _scored(self, X, y) -> tuple[np.ndarray, np.ndarray]:
        """Scores and signs of labelled rows, of all processes together."""
        scores, signs = np.zeros(0), np.zeros(0, "int8")
        if len(y):  # a process may have none of the rows held out
            scores, signs = self.model_.decision_function(X), encode_as(y, self.model_.classes)
        return allgather(self.comm, scores), allgather(self.comm, signs)

    def _count(self, y, weight) -> int:
        """Training rows of all processes."""
        return np.count_nonzero(allgather(self.comm, np.ones(len(y)) if weight is None else weight))

    def _batch_size(self, rows: int) -> int:
        return min(positive_int("batch_size", self.batch_size), max(int(rows), 1))

    def _names(self) -> list[str] | None:
        names = None if takes_text(self) else getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]
