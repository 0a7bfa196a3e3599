"""From the caller's arrays to prepared rows: labels, weights, the validation part, scaling."""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from aesara_nondecomp._checks import require
from aesara_nondecomp.data import (
    Standardiser,
    Vocabulary,
    check_lengths,
    check_sample_weight,
    check_tokens,
    encode_as,
    encode_labels,
    feature_rows,
    is_text,
    scale_rows,
    select_rows,
    stratified_split,
)
from aesara_nondecomp.data.text import check_texts
from aesara_nondecomp.networks import Network
from aesara_nondecomp.parallel import DistributedRows
from aesara_nondecomp.training.run import TrainingRows


class LabelledRows(NamedTuple):
    """Labels, and which rows are for what."""

    classes: tuple[Any, Any]
    signs: np.ndarray
    """Of the training rows."""
    weight: np.ndarray | None
    """Of the training rows, positive; None for equal ones."""
    n_rows: int
    """Rows that the caller gave."""
    train: np.ndarray | None
    """Their numbers; None for all."""
    held: np.ndarray | None
    """Numbers of the rows held out for validation, if any."""
    held_signs: np.ndarray | None

    @property
    def prior(self) -> float:
        """Share of positives of the training rows, by weight."""
        return float(np.average(self.signs > 0, weights=self.weight))


class PreparedRows(NamedTuple):
    """What training needs, in the dtype of the network, scaled."""

    rows: TrainingRows
    held: tuple[Any, np.ndarray] | None
    """Features and labels in {-1, +1} to validate on."""
    scaling: Standardiser | None
    vocabulary: Vocabulary | None
    """Learned from training text; None where rows were given as numbers."""


def label_rows(y, positive, sample_weight, validation, rng: np.random.Generator) -> LabelledRows:
    """Encode the labels, drop rows of weight 0, and hold out the validation share, if one is asked for.

    Raises
    ------
    ValueError
        For unusable labels, weights or a share outside (0, 1).
    """
    labels = encode_labels(y, positive)
    weight = None if sample_weight is None else check_sample_weight(_numbers(sample_weight), labels.signs)
    if weight is None and not _is_share(validation):  # all rows, whose numbers would be a column of their own
        return LabelledRows(labels.classes, labels.signs, None, len(labels.signs), None, None, None)
    kept = np.arange(len(labels.signs)) if weight is None else np.flatnonzero(weight)
    train, held = kept, None
    if _is_share(validation):
        parts = stratified_split(labels.signs[kept], float(validation), rng)
        train, held = (kept[part] for part in parts)
    return LabelledRows(
        labels.classes,
        labels.signs[train],
        None if weight is None else weight[train],
        len(labels.signs),
        None if len(train) == len(labels.signs) else train,
        held,
        None if held is None else labels.signs[held],
    )


def prepare_rows(X, labelled: LabelledRows, validation, *, network: Network | None, standardize: bool) -> PreparedRows:
    """Check the features (against the network, if there is one), part them as `labelled` says, and scale them.

    Memory maps are not read as a whole, nor sparse matrices scaled or made dense.

    Raises
    ------
    ValueError
        For unusable features, or validation rows that do not fit them.
    """
    vocabulary = None
    if is_text(X):
        require(network is None, "a network of your own takes token ids: Vocabulary.transform makes them", "texts")
        vocabulary = _learned(X, labelled)
        X, validation = vocabulary.transform(X), _as_ids(validation, vocabulary)
    X = _checked_rows(X, network, vocabulary)
    check_lengths(X, np.empty(labelled.n_rows))
    train = X if labelled.train is None else select_rows(X, labelled.train)
    held = None
    if labelled.held is not None and labelled.held_signs is not None:
        held = select_rows(X, labelled.held), labelled.held_signs
    elif validation is not None:
        held = _given_rows(validation, labelled.classes, X, network, vocabulary)
    scaling = _measured(train, labelled.weight) if standardize and X.dtype.kind == "f" else None
    return PreparedRows(
        TrainingRows(scale_rows(train, scaling), labelled.signs, labelled.weight),
        held and (scale_rows(held[0], scaling), held[1]),
        scaling,
        vocabulary,
    )


def _numbers(sample_weight) -> np.ndarray:
    try:
        return np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        got = f"{type(sample_weight).__name__} {str(sample_weight)[:40]}"
        raise ValueError(f"sample_weight must be numbers, one per row, got {got!r}") from None


def _learned(texts, labelled: LabelledRows) -> Vocabulary:
    """The vocabulary of the training texts alone."""
    texts = check_texts(texts)
    check_lengths(np.empty((len(texts), 1)), np.empty(labelled.n_rows))
    return Vocabulary.learn(texts if labelled.train is None else [texts[row] for row in labelled.train])


def _as_ids(validation, vocabulary: Vocabulary):
    """Given validation rows with their texts as token ids; anything else as it is."""
    if validation is None or _is_share(validation):
        return validation
    texts, y = validation
    return vocabulary.transform(texts), y


def _checked_rows(X, network: Network | None, vocabulary: Vocabulary | None, columns: int | None = None):
    if isinstance(X, DistributedRows):
        return X.checked(lambda own: _checked_rows(own, network, vocabulary, columns))
    if vocabulary is not None:
        return check_tokens(X, len(vocabulary))
    if network and network.takes_tokens:
        return check_tokens(X, network.n_words)
    columns, dtype = (network.n_columns, network.dtype) if network else (columns, "float32")
    return feature_rows(X, columns=columns, dtype=dtype)


def _measured(X, weight) -> Standardiser | None:
    """Means and deviations of the columns; None for sparse ones."""
    if isinstance(X, DistributedRows):
        return None if X.sparse else X.standardiser(weight)
    return None if scipy.sparse.issparse(X) else Standardiser.fit(X, sample_weight=weight)


def _is_share(validation) -> bool:
    if validation is None or isinstance(validation, (tuple, list)) and len(validation) == 2:
        return False
    is_number = isinstance(validation, numbers.Real) and not isinstance(validation, bool)
    usable = is_number and 0 < validation < 1
    require(usable, "validation must be a share of the rows strictly between 0 and 1, or a pair (X, y)", validation)
    return True


def _given_rows(validation, classes, train, network, vocabulary) -> tuple[Any, np.ndarray]:
    X, y = validation
    X, signs = _checked_rows(X, network, vocabulary, train.shape[1]), encode_as(y, classes)
    check_lengths(X, signs)
    found = np.unique(signs).tolist()
    require(len(found) == 2, "validation needs rows of both classes", f"only {classes[found[0] > 0]!r}")
    return X, signs
