"""A trained model: predicts, scores, moves its threshold, and goes to disk and back."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from aesara_nondecomp import measures, metrics, networks
from aesara_nondecomp._checks import choose, require
from aesara_nondecomp.data import (
    Standardiser,
    Vocabulary,
    check_lengths,
    check_tokens,
    decode,
    encode_as,
    feature_rows,
)
from aesara_nondecomp.history import Evaluation, Step
from aesara_nondecomp.models.archive import describe_measure, read_archive, restore_measure, write_archive
from aesara_nondecomp.step.train_functions import TrainFunctions


@dataclass(eq=False)  # arrays have no one answer to ==
class Model:
    """A trained network: weights as plain arrays, and the compiled functions to score with.

    Models can be copied, and pickled if their network has a description. Copies share the compiled functions, each with
    weights of its own; a pickle leaves them out, and they are compiled again when first used.

    Attributes
    ----------
    measure : measures.Measure. What it was trained for.
    classes : tuple (negative, positive), in the coding of the training labels.
    prior : float
        Share of positives trained for; of a recipe of your own, whose drivers have theirs, that of the training rows.
    threshold : float. A row is predicted positive iff its score exceeds it; 0 but for the algorithms "plug_in" and
        "logit_adjusted".
    history : list of Step. Empty after `load_model`, as are `evaluations`.
    evaluations : list of Evaluation. On the validation rows, if there were any.
    best_step : int or None. The step whose weights these are, by validation.
    feature_names : list of str or None
    extra : dict
        Whatever else belongs to the model and JSON can hold, such as how its features are made from a table.
    """

    functions: TrainFunctions = field(repr=False)
    parameters: list[np.ndarray] = field(repr=False)
    measure: measures.Measure
    classes: tuple[Any, Any]
    prior: float
    scaling: Standardiser | None = field(default=None, repr=False)
    threshold: float = 0.0
    history: list[Step] = field(default_factory=list, repr=False)
    evaluations: list[Evaluation] = field(default_factory=list, repr=False)
    best_step: int | None = None
    feature_names: list[str] | None = None
    extra: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def network_description(self) -> dict[str, Any]:
        """What `networks.build` makes the network from; empty for a network of your own graph."""
        return self.functions.network.description

    def decision_function(self, X) -> np.ndarray:
        """Scores (n,); a row above `threshold` is predicted positive. Memory maps are read chunk by chunk.

        Raises
        ------
        ValueError
            If X is not a finite matrix with the columns of the training data, or, for text, no list of str.
        """
        X = self._rows(X)
        with self.functions.using(self.parameters):
            return self.functions.scores(X, self.scaling)

    def read_out(self, name: str, X) -> np.ndarray:
        """One of the network's extras for each row, such as "attention_weights" (n, T) of `networks.attention`.

        Raises
        ------
        ValueError
            If the network has no such extra, or X is unusable.
        """
        known = self.functions.network.extras
        require(bool(known), "read_out needs a network with extras, such as networks.attention", name)
        choose("extra", name, known)
        X = self._rows(X)
        with self.functions.using(self.parameters):
            return self.functions.extra(name, X, self.scaling)

    @cached_property
    def vocabulary(self) -> Vocabulary | None:
        """Of the training texts; None for a model of numbers."""
        return Vocabulary.from_dict(self.extra["vocabulary"]) if "vocabulary" in self.extra else None

    def _rows(self, X):
        """Rows as the network takes them, but for their scaling; they are checked chunk by chunk, as they are read."""
        network = self.functions.network
        if not network.takes_tokens:
            return feature_rows(X, columns=network.n_columns, dtype=network.dtype, unchecked=True)
        if self.vocabulary is not None and np.ndim(X) < 2:
            return self.vocabulary.transform(X)
        return check_tokens(X, network.n_words)

    def __copy__(self) -> Model:
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        memo[id(self.functions)] = self.functions
        return replace(self, **{f.name: copy.deepcopy(getattr(self, f.name), memo) for f in fields(self)})

    def __getstate__(self) -> dict[str, Any]:
        """All fields, with what the functions are built from in their place."""
        state = {f.name: getattr(self, f.name) for f in fields(self)}
        if self.functions is not None:  # whoever takes them out sees to it that they come back
            _require_description(self, "pickled")
            state["functions"] = (self.network_description, self.functions.optimizer, self.functions.backend)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state["functions"] is not None:
            description, *options = state["functions"]
            state = {**state, "functions": TrainFunctions(networks.build(description), *options)}
        self.__dict__.update(state)

    def predict(self, X) -> np.ndarray:
        """Labels (n,), in the coding of the training labels."""
        return decode(np.where(self.decision_function(X) > self.threshold, 1, -1), self.classes)

    def table(self, X, y) -> metrics.ConfusionMatrix:
        """Confusion table of the predictions against the labels `y`, in the coding of the training labels."""
        signs = encode_as(y, self.classes)
        check_lengths(X, signs)
        return metrics.confusion_at_threshold(self.decision_function(X), signs, self.threshold)

    def value(self, X, y, measure=None) -> float:
        """Count value of the trained measure (or another one) on labelled rows, in the measure's own orientation."""
        return metrics.score(self.measure if measure is None else measures.get(measure), self.table(X, y))

    def score(self, X, y) -> float:
        """Count value of the trained measure, turned so that larger is better."""
        return float(self.measure.oriented(self.value(X, y)))

    def tune_threshold(self, X, y, measure=None) -> Model:
        """Move the threshold to the best one for a measure on these rows (plug-in, spec 3.8); returns itself.

        Use rows that were not trained on.
        """
        signs = encode_as(y, self.classes)
        check_lengths(X, signs)
        measure = self.measure if measure is None else measures.get(measure)
        self.threshold, _ = metrics.best_threshold(measure, self.decision_function(X), signs)
        return self

    def save(self, path) -> None:
        """Write the model to one .npz file, whole or not at all: arrays and a JSON header, no pickle.

        `history` and `evaluations` are not kept.

        Parameters
        ----------
        path : str or Path. Taken as it is; an existing file is replaced.

        Raises
        ------
        ValueError
            If the network has no description, or the labels are not booleans, numbers or text.
        """
        write_archive(path, "model", *to_archive(self))


def load_model(path, *, dtype: str | None = None, measure=None) -> Model:
    """Read a model that `Model.save` wrote; nothing is compiled before its first use.

    Parameters
    ----------
    path : str or Path
    dtype : {"float32", "float64"}, optional. Default: as it was saved.
    measure : measures.Measure, optional. Needed for a measure of your own, of which the file keeps the name only.

    Returns
    -------
    Model

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is truncated, altered, foreign or of a newer version, needs a `measure`, or `dtype` is another one.
    """
    if dtype is not None:
        choose("dtype", dtype, dict.fromkeys(("float32", "float64")))
    return from_archive(*read_archive(path, "model"), dtype=dtype, measure=measure)


def to_archive(model: Model) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header (values that JSON can hold) and arrays of a model, for `from_archive`; see `Model.save`."""
    _require_description(model, "saved")
    header = {
        "measure": describe_measure(model.measure),
        "prior": model.prior,
        "classes": [_plain_label(label) for label in model.classes],
        "threshold": model.threshold,
        "feature_names": model.feature_names,
        "network": model.network_description,
        "dtype": model.functions.network.dtype,
        "best_step": model.best_step,
        "clip": model.scaling.clip if model.scaling else None,
        "extra": model.extra,
    }
    arrays = {f"parameters.{k}": value for k, value in enumerate(model.parameters)}
    if model.scaling:
        arrays.update(mean=model.scaling.mean_, scale=model.scaling.scale_)
    return header, arrays


def from_archive(
    header: dict[str, Any], arrays: dict[str, np.ndarray], *, dtype: str | None = None, measure=None
) -> Model:
    """The model that `to_archive` took apart; see `load_model`."""
    network = networks.build(header["network"], dtype=dtype)
    parameters = [arrays[f"parameters.{k}"].astype(network.dtype) for k in range(len(network.parameters))]
    scaling = Standardiser(arrays["mean"], arrays["scale"], header["clip"]) if header["clip"] is not None else None
    return Model(
        TrainFunctions(network),
        parameters,
        restore_measure(header["measure"], measure),
        tuple(header["classes"]),
        header["prior"],
        scaling,
        header["threshold"],
        best_step=header["best_step"],
        feature_names=header["feature_names"],
        extra=header["extra"],
    )


def _require_description(model: Model, done: str) -> None:
    if not model.network_description:
        raise ValueError(
            f"this model cannot be {done}: its network is a graph of your own, which has no description to build it "
            f"from again. Networks made by `mlp` and `linear`, `lstm` and `attention` can be {done}; or keep "
            "`parameters` yourself."
        )


def _plain_label(label: Any) -> Any:
    label = label.item() if isinstance(label, np.generic) else label
    saved = isinstance(label, (bool, int, float, str))
    require(saved, "only labels that are booleans, numbers or text can be saved", label)
    return label
