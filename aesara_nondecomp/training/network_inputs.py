"""Inputs as rows that a network takes: checked, joined, encoded, and held against the network."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara_nondecomp._checks import require
from aesara_nondecomp.data import InputEncoder, check_tokens, is_text, raw_rows
from aesara_nondecomp.data.categories import UnknownCategories
from aesara_nondecomp.data.inputs import is_input_table
from aesara_nondecomp.data.table_columns import TableColumns, join_tables, read_table
from aesara_nondecomp.data.text import check_texts
from aesara_nondecomp.networks import Network
from aesara_nondecomp.parallel import Communicator, common_error
from aesara_nondecomp.step import TrainFunctions


def read_inputs(X: Any, network: Network | None, encoder: InputEncoder | None, comm: Communicator) -> Any:
    """Check inputs as far as they can be without an encoder.

    Parameters
    ----------
    X : matrix, shape (n, d), table or list of str
        The inputs.
    network : Network or None
        The network; None if it is still to be made.
    encoder : InputEncoder or None
        That of a model to train further.
    comm : communicator
        Of the processes that train together.

    Returns
    -------
    matrix, TableColumns, list of str, or None
        None for a process without rows.

    Raises
    ------
    ValueError
        If the inputs are unusable.
    """
    if is_input_table(X):
        return read_table(X)
    if comm.size > 1 and np.shape(X)[:1] == (0,):
        return None
    if is_text(X):
        require(comm.size == 1, "comm needs token ids: Vocabulary.transform makes them", "texts")
        return check_texts(X)
    if network is not None and network.takes_tokens:
        return check_tokens(X, network.n_words)
    of_table = encoder is not None and encoder.table is not None  # then it is the encoder that knows the columns
    return raw_rows(X, None if network is None or of_table else network.n_columns)


def joined_tables(inputs: Any, comm: Communicator) -> Any:
    """Join the tables of all processes.

    Parameters
    ----------
    inputs : object
        Those of this process, as `read_inputs` returns them.
    comm : communicator
        Of the processes that train together.

    Returns
    -------
    TableColumns, or as given
        `inputs` if there is no table.

    Raises
    ------
    ValueError
        In all processes, if their tables have other columns.
    """
    if comm.size == 1:
        return inputs
    parts = comm.allgather(inputs if isinstance(inputs, TableColumns) else None)
    tables = [part for part in parts if part is not None]
    if not tables:
        return inputs
    columns = [sorted(part.cells) if part else None for part in parts]
    if any(names != columns[0] for names in columns):
        needed = "all processes need a table of the same columns; without rows, an empty one"
        raise common_error(comm, f"{needed}, got {columns!r}")
    return join_tables(tables)


def encoded_inputs(
    inputs: Any,
    encoder: InputEncoder,
    network: Network | None,
    unknown: UnknownCategories | None = None,
    columns: int | None = None,
) -> Any:
    """Encode inputs, and check them against the network if it is known.

    Parameters
    ----------
    inputs : object
        As `read_inputs` returns them.
    encoder : InputEncoder
        Encodes them.
    network : Network or None
        The network; None if it is still to be made.
    unknown : UnknownCategories, optional
        Counts categories that the encoder does not know, for rows held out. Default: they are warned of at once.
    columns : int, optional
        Number of columns that a matrix needs. Default: any.

    Returns
    -------
    matrix or LazyRows, shape (n, d)

    Raises
    ------
    ValueError
        If the inputs are not those of the encoder, or the network takes others.
    """
    takes_tokens = network is not None and network.takes_tokens
    if takes_tokens and encoder.vocabulary is None:
        return check_tokens(inputs, network.n_words)  # type: ignore[union-attr]  # not None
    rows = encoder.encode(inputs, columns, unknown=unknown)
    if encoder.vocabulary is not None:
        return check_tokens(rows, len(encoder.vocabulary))
    return raw_rows(rows, None if network is None else network.n_columns)


def network_of(network: Any) -> Any:
    """The network of what is trained.

    Parameters
    ----------
    network : object
        As `training_data.prepare` takes it.

    Returns
    -------
    Network or None
        None if it is still to be made.
    """
    if isinstance(network, TrainFunctions) or getattr(network, "several_classes", False):
        return network.network
    return network if isinstance(network, Network) else None


def size_for(rows: Any, encoder: InputEncoder) -> int:
    """The size that a network is made for.

    Parameters
    ----------
    rows : array-like, shape (n, d)
        Encoded rows.
    encoder : InputEncoder
        What encoded them.

    Returns
    -------
    int
        The number of columns, or of words.
    """
    return rows.shape[1] if encoder.vocabulary is None else len(encoder.vocabulary)


def check_fit(chosen: Any, rows: Any, encoder: InputEncoder) -> None:
    """Refuse a network, made for the rows, that cannot take them.

    Parameters
    ----------
    chosen : object
        What is trained, or what a function returned in its place.
    rows : array-like, shape (n, d)
        Encoded rows.
    encoder : InputEncoder
        What encoded them.

    Raises
    ------
    ValueError
        If it is no network, or takes other rows.
    """
    network = network_of(chosen)
    require(network is not None, "the network function must return a Network or TrainFunctions", chosen)
    tokens = rows.dtype == np.int32
    if network.takes_tokens and not tokens:
        raise ValueError("this network takes token ids, and the rows are numbers. Give texts, or a network of numbers.")
    if encoder.vocabulary is not None and not network.takes_tokens:
        raise ValueError("this network takes numbers, and the rows are texts. Use attention or lstm.")
    width = None if network.takes_tokens else network.n_columns
    require(width in (None, rows.shape[1]), f"the network must take {rows.shape[1]} columns", width)
