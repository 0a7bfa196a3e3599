"""`fit`: train a model on inputs and labels in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aesara_nondecomp import measures
from aesara_nondecomp.data.label_sets import is_indicator_matrix
from aesara_nondecomp.history import Step
from aesara_nondecomp.models.network_model import NetworkModel
from aesara_nondecomp.parallel import Communicator, communicator
from aesara_nondecomp.training.class_labels import is_of_classes
from aesara_nondecomp.training.fit_binary import fit_binary
from aesara_nondecomp.training.former_parameters import fit_parameters
from aesara_nondecomp.training.recipes import Recipe
from aesara_nondecomp.training.streamed_rows import inputs_of

Callback = Callable[[Step], Any]


@fit_parameters
def fit(
    X: Any,
    y: Any = None,
    measure: str | measures.Measure | measures.multiclass.MulticlassMeasure | None = None,
    *,
    target: str | None = None,
    algorithm: str | Recipe = "auto",
    network: Any = "auto",
    steps: int | None = None,
    batch_size: int | None = None,
    optimizer: Any = None,
    learning_rate: float | None = None,
    schedule: Any = None,
    averaging: float | None = None,
    l2: float | None = None,
    sampler: str | float = "natural",
    standardize: bool = True,
    prior: float | None = None,
    positive: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    constraints: Any = None,
    validation: Any = "auto",
    validation_groups: Any = None,
    on_step: Callback | Sequence[Callback] | None = None,
    checkpoint: Any = None,
    progress: bool | None = None,
    comm: Communicator | None = None,
    backend: str | None = None,
    seed: Any = None,
) -> Any:
    """Train a network directly on a measure.

    Ctrl-C ends training early, with a warning, and returns the model trained so far: the best weights by the validation
    rows if there are any, otherwise the latest averaged weights.

    Parameters
    ----------
    X : array, memory map, CSR matrix, data frame, list of str, or files
        The n inputs; numbers must be finite. Memory maps are read block by block, and CSR matrices stay sparse. The
        columns of a data frame (pandas, polars) are encoded, missing values and categories included. Texts become
        token ids by a vocabulary that is learned from them (extra ``text``). Must not be modified during training:
        rows are prefetched. With `target`, also files of a table (extra ``files``), which are streamed if they are
        large: see docs/guide/large_data.md.
    y : array-like, shape (n,) or (n, L), optional
        Labels of two classes in any coding; or of more, whole numbers or text, see docs/multiclass.md. A matrix of 0
        and 1 has a column for each of several labels, see docs/multilabel.md. Needed unless there is a `target`.
    measure : str, Measure, MulticlassMeasure or Averaged, optional
        What to train for, such as "f1", "min", "qmean" or "kld"; `measures.names` lists them. Of more than two classes,
        such as "min_recall", "macro_f1" or "qwk"; `measures.multiclass.names` lists those. Of several labels the mean
        of a measure of two classes, or "micro_f1" and its like. Default: that of a model that is trained further, and
        otherwise "f1".
    target : str, optional
        Column of the labels, if `X` is a table in files: a path, a folder or a pattern such as ``data/*.parquet`` of
        Parquet files or delimited text, a list of such files, a data set or a table of pyarrow, or `data.TableFiles`
        with further options.
    algorithm : str or Recipe, default "auto"
        "auto", which is recommended, or another name in `recipes.ALGORITHMS`, of more than two classes in
        `class_recipes.CLASS_BUILDERS`; see there. Or a recipe of your own, whose drivers are copied and have their own
        prior.
    network : str, sequence of int, Network, TrainFunctions, Model or callable, default "auto"
        What to train. "auto" is "tabular" for rows with numeric columns, which are scaled by median and quartiles;
        "mlp" for binary, sparse or distributed rows; "attention" for texts; each with hidden layers of 64 ("tabular" of
        128 for at least six classes or labels and at least 500 rows), and of more than two classes with a score for
        each. Or

        - a name: "mlp", "tabular", "linear", or for texts "attention" or "lstm";
        - the widths of the hidden layers of an mlp;
        - a Network of your own;
        - TrainFunctions of two classes, whose compiled steps are used again;
        - a Model, ClassModel or MultilabelModel, to train further from its weights, with its encoder;
        - a function that returns a Network or TrainFunctions for a number of columns (for texts, of words).
    steps : int, optional
        Gradient steps of each network, at least 1; where rows are held out, an upper limit, as those choose the best
        step. Default: a tenth of the number of training rows, from 300 to 6,000; as a limit at least one step for each
        row, up to 1,600.
    batch_size : int, optional
        Rows per step, at least 1. If there are fewer rows, each step takes all of them, with a warning. Default: 512,
        or 256 for a table that gives each network fewer than 40,000 training rows, unless `sampler` is
        "cell_balanced"; or all rows.
    optimizer : str or Optimiser, optional
        See `optimisers.get`. Default: "adamw".
    learning_rate : float, optional
        Step size, above 0. Default: the recipe's.
    schedule : str or callable, optional
        See `schedules.get`. Default: the recipe's; the recommended ones lower the rate along a cosine.
    averaging : float, optional
        Decay in [0, 1) of the running average of the weights. Default: the recipe's.
    l2 : float, optional
        Weight decay of the weight matrices, at least 0. Default: the recipe's with "adamw", 0 with other optimisers.
    sampler : {"natural", "stratified", "balanced", "cell_balanced"} or float, default "natural"
        How batches are drawn, or the fraction of positives in each. See `data.MiniBatches`.
    standardize : bool, default True
        Centre and scale dense columns on the training rows: to mean 0 and deviation 1, clipped at 10 deviations, or for
        "tabular" by median and quartiles. This is done in float64, before conversion to the network's dtype, and kept
        in the model's encoder.
    prior : float, optional
        Share of positives to train for, in (0, 1). Rows held out are weighted to have it, so constraints, threshold,
        calibration and confusion matrix are for it too. Default: that of `y`, by weight. A value far from it gives a
        warning. "struct_ann" and "direct_loss", which count the rows of batches, take none.
    positive : scalar, optional
        The positive label. Default: the larger one.
    sample_weight : array-like, shape (n,), optional
        Weight of each row in all class means, at least 0; rows of weight 0 are left out. Default: equal weights.
        Validation rows of your own have none.
    groups : array-like of shape (n,) or table, optional
        The group of each row, such as a sex; of several columns, their combinations. For the measures "worst_cell",
        "worst_group_balanced" and "worst_group_accuracy", for gaps in `constraints`, and for the algorithms "group_dro"
        and "cell_weighted". Missing values are allowed. Never needed to predict, and not kept in the model.
    constraints : sequence of Constraint, optional
        What predictions must meet, such as ``gap("tpr", at_most=0.02)`` or ``at_least("precision", 0.9)``; of more than
        two classes each names one, as in ``at_least("recall", 0.5, label="rare")``. See `measures.constraints`. The
        model is the best by the measure among those that meet them on the rows held out. Default: those of a model that
        is trained further, and otherwise none.
    validation : str, float, int, splitter, tuple (X, y), EarlyStopping or None, default "auto"
        Which rows are held out. They choose the best step and the threshold, and give calibration and error rates; so
        none of these come from rows that were trained on.

        - "auto": from 20,000 rows on, with 9,000 of each class (from 200,000 rows on, or of several classes, with 500),
          and for texts, a stratified fifth; below that five folds: each of five networks is trained without one fold,
          and their mean score is the model's, so that all rows are trained on;
        - a share of the rows in (0, 1), stratified; "last", the last fifth, for rows in the order of time;
        - a number of stratified folds, or a splitter of scikit-learn that holds no row out twice;
        - rows of your own, (X, y); sample weights are not used there; (X, y, groups) if there are `groups`;
        - EarlyStopping, for further options: when to stop, how to choose the threshold, whether to train once more on
          all rows;
        - None: no rows. The averaged weights after the last step are returned, at the recipe's threshold.
    validation_groups : array-like, shape (n,), optional
        Rows of equal value, such as those of a patient, are held out together.
    on_step : callable or sequence of callable, optional
        Called with each Step; returning True stops training after that step.
    checkpoint : path or Checkpoint, optional
        File that holds the state of the run, from which it can be resumed.
    progress : bool, optional
        Show progress on stderr: a bar on a terminal (extra ``progress``), otherwise a line now and then. Default: only
        if stderr is a terminal.
    comm : communicator, optional
        Of mpi4py: train on the rows of all its processes. `X` (rows or files), `y`, `sample_weight` and validation rows
        are those of this process, and all other arguments are equal in all processes. Each process returns the same
        model, equal up to rounding to that of one process with all rows in the order of the ranks; except that
        network="auto" is an mlp with several processes. The first process calls `on_step`, writes
        checkpoints and shows progress. See `parallel`.
    backend : {"c", "jax"}, optional
        See `TrainFunctions`; with "jax", dense rows stay on JAX's device. Default: "c".
    seed : int, numpy Generator or None, optional
        Equal seeds give equal models, to the last bit.

    Returns
    -------
    Model, ClassModel or MultilabelModel
        The trained model, with its encoder, threshold and history; calibrated if there are validation rows. With labels
        of more than two classes, or a measure of those, a ClassModel; with a matrix of labels, a MultilabelModel. With
        several networks, `history` holds the steps of one after another, and `evaluations` and `best_step` count the
        steps of each.

    Warns
    -----
    UserWarning
        If, on the rows held out, no threshold is better than to predict one class only: the model does so, and
        `Model.collapsed` is True. Also if the model is worse than that at a threshold that belongs to the algorithm; if
        a constraint is not reached; or if a group has few rows of a class.

    Raises
    ------
    ValueError
        If inputs, labels or parameters are unusable, before anything is compiled; or if the checkpoint belongs to
        another run. Also if training diverges, so that weights are not finite; a checkpoint keeps the last that were.
    RuntimeError
        If called from a callback of a training of the same functions.
    TypeError
        If a parameter is unknown; the nearest name is suggested.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = fit(X, X[:, 0] > 1, "f1", seed=0)
    >>> model.predict([[3.0, 0.0], [-3.0, 0.0]])
    array([ True, False])
    >>> bool(model.value(X, X[:, 0] > 1) > 0.9)
    True
    """
    comm = communicator(comm)
    further = network if isinstance(network, NetworkModel) else None
    if measure is None:
        measure = getattr(further, "measure", "f1")
    if constraints is None:
        constraints = getattr(further, "constrained_by", ())
    alone = {
        "sample_weight": sample_weight, "groups": groups, "constraints": constraints or None,
        "validation_groups": validation_groups, "sampler": None if sampler == "natural" else sampler,
        "refit": getattr(validation, "refit", None) or None,
    }  # fmt: skip
    X, y = inputs_of(X, y, target, alone, comm)
    options = {
        "steps": steps, "batch_size": batch_size, "learning_rate": learning_rate, "schedule": schedule,
        "averaging": averaging, "l2": l2, "sampler": sampler, "standardize": standardize, "validation": validation,
        "on_step": on_step, "checkpoint": checkpoint, "progress": progress,
    }  # fmt: skip
    shared: dict[str, Any] = {
        "algorithm": algorithm, "network": network, "optimizer": optimizer, "sample_weight": sample_weight,
        "validation_groups": validation_groups, "seed": seed, "comm": comm, "backend": backend,
    }  # fmt: skip
    if any(comm.allgather(is_indicator_matrix(y))):  # a process without rows may have no matrix
        from aesara_nondecomp.training.fit_labels import fit_labels  # takes long to load

        unavailable = {"positive": positive, "prior": prior, "groups": groups, "constraints": constraints or None}
        return fit_labels(X, y, measure, unavailable=unavailable, options=options, **shared)
    options["constraints"] = constraints
    if is_of_classes(y, measure, comm):
        from aesara_nondecomp.training.fit_classes import fit_classes  # takes long to load

        unavailable = {"positive": positive, "prior": prior}
        return fit_classes(X, y, measure, groups=groups, unavailable=unavailable, options=options, **shared)
    options["prior"] = prior
    return fit_binary(X, y, measure, positive=positive, groups=groups, options=options, **shared)
