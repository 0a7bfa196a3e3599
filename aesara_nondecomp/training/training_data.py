"""Prepare inputs and labels for training: one path for `fit` and for the estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp.data import (
    InputEncoder,
    check_lengths,
    check_sample_weight,
    check_tokens,
    encode_as,
    encode_labels,
    is_text,
    prepare_rows,
    raw_rows,
    select_rows,
    stratified_split,
)
from aesara_nondecomp.data.inputs import count_rows, is_input_table, select_inputs
from aesara_nondecomp.data.tabular import TableColumns, read_table
from aesara_nondecomp.data.text import check_texts
from aesara_nondecomp.networks import Network
from aesara_nondecomp.parallel import LOCAL, Communicator, all_succeed, distribute_rows, gather_vectors
from aesara_nondecomp.step import TrainFunctions
from aesara_nondecomp.training.early_stopping import is_share
from aesara_nondecomp.training.run import TrainingRows

Held = tuple[Any, NDArray[Any]]


class Split(NamedTuple):
    """Labels, and the split into training and validation rows.

    Attributes
    ----------
    classes : tuple (negative, positive)
        The two labels.
    signs : int8 array, shape (m,), in {-1, +1}
        Labels of the training rows.
    weight : float64 array, shape (m,), or None
        Positive weights of the training rows; None for equal ones.
    train : int array, shape (m,), or None
        Indices of the training rows; None for all rows.
    held : int array, shape (k,), or None
        Indices of the rows held out for validation; None if none are.
    held_signs : int8 array, shape (k,), in {-1, +1}, or None
        Labels of the rows held out.
    """

    classes: tuple[Any, Any]
    signs: NDArray[Any]
    weight: NDArray[Any] | None
    train: NDArray[Any] | None = None
    held: NDArray[Any] | None = None
    held_signs: NDArray[Any] | None = None

    @property
    def prior(self) -> float:
        """Share of positives among the training rows, by weight."""
        return float(np.average(self.signs > 0, weights=self.weight))


class TrainingData(NamedTuple):
    """Everything that training needs.

    Attributes
    ----------
    rows : TrainingRows
        Rows as the network takes them, with labels and weights.
    held : tuple (rows, signs) or None
        Validation rows, likewise.
    encoder : InputEncoder
        The model's input pipeline, learned from the training rows.
    classes : tuple (negative, positive)
        The two labels.
    prior : float
        Share of positives among the training rows, by weight.
    network : Network or TrainFunctions
        What is trained; made for these rows if it was not given.
    """

    rows: TrainingRows
    held: Held | None
    encoder: InputEncoder
    classes: tuple[Any, Any]
    prior: float
    network: Network | TrainFunctions


def prepare(
    X: Any,
    y: Any,
    *,
    network: Network | TrainFunctions | Callable[[int], Network | TrainFunctions],
    encoder: InputEncoder | None = None,
    positive: Any = None,
    sample_weight: Any = None,
    validation: Any = None,
    standardize: bool = True,
    seed: Any = None,
    comm: Communicator = LOCAL,
) -> TrainingData:
    """Encode labels and inputs, hold out validation rows, and learn the encoder from the training rows alone.

    Parameters
    ----------
    X : matrix, shape (n, d), table or list of str
        Inputs; with several processes, those of this process. Memory maps are read slice by slice, and sparse matrices
        stay sparse and unscaled.
    y : array-like, shape (n,)
        Labels of two classes in any coding.
    network : Network, TrainFunctions or callable
        What is trained, or a function that makes it for a number of columns (for texts, of words).
    encoder : InputEncoder, optional
        That of a model to train further. Default: learned from the training rows.
    positive : scalar, optional
        The positive label. Default: the larger one.
    sample_weight : array-like, shape (n,), optional
        Weights of at least 0; rows of weight 0 are left out. Default: equal weights.
    validation : float or tuple (X, y), optional
        Share of the rows to hold out, stratified, in (0, 1); or separate rows. Default: no validation rows.
    standardize : bool, default True
        Centre and scale dense columns.
    seed : int or numpy Generator, optional
        Of the split.
    comm : communicator, default LOCAL
        Of the processes that train together.

    Returns
    -------
    TrainingData

    Raises
    ------
    ValueError
        If inputs, labels, weights or validation rows are unusable.
    """
    known = _network_of(network)
    inputs = all_succeed(comm, lambda: _read(X, known, comm))
    y, sample_weight = gather_vectors(comm, count_rows(inputs), y, sample_weight)
    split = _split(y, positive, sample_weight, validation, seed)
    if comm.size == 1:
        check_lengths(inputs, y)
    learned = encoder or InputEncoder.learn(_training_inputs(inputs, split, comm))
    rows = distribute_rows(comm, count_rows(inputs), lambda: _encoded(inputs, learned, known))
    train = rows if split.train is None else select_rows(rows, split.train)
    held = _held_rows(rows, split, validation, learned, known, comm)
    chosen: Any = network if known else network(_size(rows, learned))  # type: ignore[operator]  # a callable
    takes = _network_of(chosen)
    _check_fit(takes, rows, learned)
    if standardize and encoder is None and not takes.takes_tokens:
        learned = learned.measured(train, split.weight)

    def prepared(part: Any) -> Any:
        return part if takes.takes_tokens else prepare_rows(part, takes.dtype, learned.standardiser)

    rows_to_train = TrainingRows(prepared(train), split.signs, split.weight)
    to_validate = held and (prepared(held[0]), held[1])
    return TrainingData(rows_to_train, to_validate, learned, split.classes, split.prior, chosen)


def _network_of(network: Any) -> Any:
    """The Network of what is trained; None if it is still to be made."""
    if isinstance(network, TrainFunctions):
        return network.network
    return network if isinstance(network, Network) else None


def _check_fit(network: Any, rows: Any, encoder: InputEncoder) -> None:
    """Refuse a network, made for the rows, that cannot take them."""
    require(isinstance(network, Network), "network must make a Network or TrainFunctions of a number", network)
    tokens = rows.dtype == np.int32
    if network.takes_tokens and not tokens:
        raise ValueError("this network takes token ids, and the rows are numbers. Give texts, or a network of numbers.")
    if encoder.vocabulary is not None and not network.takes_tokens:
        raise ValueError("this network takes numbers, and the rows are texts. Use attention or lstm.")
    width = None if network.takes_tokens else network.n_columns
    require(width in (None, rows.shape[1]), f"the network must take {rows.shape[1]} columns", width)


def _size(rows: Any, encoder: InputEncoder) -> int:
    """The size that a network is made for: the number of columns, or of words."""
    return rows.shape[1] if encoder.vocabulary is None else len(encoder.vocabulary)


def _read(X: Any, network: Network | None, comm: Communicator) -> Any:
    """Inputs, checked as far as they can be without an encoder; None for a process without rows."""
    if is_input_table(X):
        return read_table(X)
    if comm.size > 1 and np.shape(X)[:1] == (0,):
        return None
    if is_text(X):
        require(comm.size == 1, "comm needs token ids: Vocabulary.transform makes them", "texts")
        return check_texts(X)
    if network is not None and network.takes_tokens:
        return check_tokens(X, network.n_words)
    return raw_rows(X, None if network is None else network.n_columns)


def _split(y: Any, positive: Any, sample_weight: Any, validation: Any, seed: Any) -> Split:
    """Encode the labels, drop rows of weight 0, and hold out the validation share, if there is one."""
    labels = encode_labels(y, positive)
    weight = None if sample_weight is None else check_sample_weight(_numbers(sample_weight), labels.signs)
    if weight is None and not _holds_out(validation):  # spares the memory of the indices of all rows
        return Split(labels.classes, labels.signs, None)
    kept = np.arange(len(labels.signs)) if weight is None else np.flatnonzero(weight)
    train, held = kept, None
    if _holds_out(validation):
        parts = stratified_split(labels.signs[kept], float(validation), seed)
        train, held = (kept[part] for part in parts)
    return Split(
        labels.classes,
        labels.signs[train],
        None if weight is None else weight[train],
        None if len(train) == len(labels.signs) else train,
        held,
        None if held is None else labels.signs[held],
    )


def _holds_out(validation: Any) -> bool:
    return validation is not None and is_share(validation)


def _numbers(sample_weight: Any) -> NDArray[Any]:
    try:
        return np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        got = f"{type(sample_weight).__name__} {str(sample_weight)[:40]}"
        raise ValueError(f"sample_weight must be numbers, one per row, got {got!r}") from None


def _training_inputs(inputs: Any, split: Split, comm: Communicator) -> Any:
    """The inputs an encoder is learned from: training rows of texts, or of a table in all processes; any matrix."""
    if comm.size > 1:
        inputs = _joined_tables(inputs, comm)
    is_matrix = not isinstance(inputs, (TableColumns, list))
    return inputs if is_matrix or split.train is None else select_inputs(inputs, split.train)


def _joined_tables(inputs: Any, comm: Communicator) -> Any:
    """The table of all processes, or what this process has if there is none."""
    parts = comm.allgather(inputs if isinstance(inputs, TableColumns) else None)
    tables = [part for part in parts if part is not None]
    if not tables:
        return inputs
    columns = [sorted(part.cells) if part else None for part in parts]
    needed = "all processes need a table of the same columns; without rows, an empty one"
    require(all(names == columns[0] for names in columns), needed, columns)
    cells = {name: np.concatenate([part.cells[name] for part in tables]) for name in tables[0].cells}
    return TableColumns(cells, frozenset[str]().union(*(part.texts for part in tables)))


def _encoded(inputs: Any, encoder: InputEncoder, network: Network | None, columns: int | None = None) -> Any:
    """Encoded rows, checked against the network if it is known."""
    takes_tokens = network is not None and network.takes_tokens
    if takes_tokens and encoder.vocabulary is None:
        return check_tokens(inputs, network.n_words)  # type: ignore[union-attr]  # not None
    rows = encoder.encode(inputs, columns)
    if encoder.vocabulary is not None:
        return check_tokens(rows, len(encoder.vocabulary))
    return raw_rows(rows, None if network is None else network.n_columns)


def _held_rows(
    rows: Any, split: Split, validation: Any, encoder: InputEncoder, network: Network | None, comm: Communicator
) -> Held | None:
    if split.held is not None and split.held_signs is not None:
        return select_rows(rows, split.held), split.held_signs
    if validation is None:
        return None
    X, y = validation
    inputs = all_succeed(comm, lambda: _read(X, network, comm))
    (y,) = gather_vectors(comm, count_rows(inputs), y)
    tokens = rows.dtype == np.int32 and (encoder.vocabulary is not None or network is not None and network.takes_tokens)
    columns = None if tokens or isinstance(inputs, TableColumns) else rows.shape[1]
    held = distribute_rows(comm, count_rows(inputs), lambda: _encoded(inputs, encoder, network, columns))
    signs = encode_as(y, split.classes)
    check_lengths(held, signs)
    found = np.unique(signs).tolist()
    require(len(found) == 2, "validation needs rows of both classes", f"only {split.classes[found[0] > 0]!r}")
    return held, signs
