"""Prepare inputs and labels for training: one path for `fit` and for the estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.data import InputEncoder, check_lengths, prepare_rows, select_rows
from aesara_nondecomp.data.categories import UnknownCategories
from aesara_nondecomp.data.features import rows_among_all
from aesara_nondecomp.data.groups import Groups, read_groups
from aesara_nondecomp.data.inputs import count_rows
from aesara_nondecomp.data.label_sets import signs_of_sets
from aesara_nondecomp.data.streamed_tables import StreamedTable
from aesara_nondecomp.data.table_columns import TableColumns
from aesara_nondecomp.networks import Network
from aesara_nondecomp.parallel import (
    LOCAL,
    Communicator,
    all_succeed,
    distribute_rows,
    gather_vectors,
    rows_digest,
)
from aesara_nondecomp.step import TrainFunctions
from aesara_nondecomp.training.folds import Fold, is_pair
from aesara_nondecomp.training.network_inputs import (
    check_fit,
    encoded_inputs,
    joined_tables,
    network_of,
    read_inputs,
    size_for,
)
from aesara_nondecomp.training.repeated_rows import warn_of_repeated_rows
from aesara_nondecomp.training.row_labels import (
    cells_of_rows,
    count_cells,
    own_groups_of,
    own_labels,
    weight_at_prior,
)
from aesara_nondecomp.training.row_split import Split, row_split
from aesara_nondecomp.training.run import TrainingRows
from aesara_nondecomp.training.streamed_rows import stream_rows
from aesara_nondecomp.training.table_network import TableNetwork, scaling_for

if TYPE_CHECKING:  # their modules take long to load, and most runs are of two classes
    from aesara_nondecomp.step.class_functions import ClassFunctions


class TrainingData(NamedTuple):
    """Everything that training needs.

    Attributes
    ----------
    rows : TrainingRows
        Rows as the network takes them, with labels and weights.
    held : TrainingRows or None
        Validation rows, likewise; those of the caller's own have no weights.
    encoder : InputEncoder
        The model's input pipeline, learned from the training rows.
    classes : tuple (negative, positive)
        The two labels; or those of all classes.
    prior : float
        Share of positives among the training rows, by weight; of several classes, of all but the first.
    network : Network, TrainFunctions or ClassFunctions
        What is trained; made for these rows if it was not given.
    folds : tuple of Fold
        Divisions of the rows, if several networks are trained.
    cells : Cells, GroupedCells or None
        Of the training rows, where they play a part.
    weight_when_held : array, shape (n,), or None
        Weights that rows have in the folds where they are held out; None for those that they have in training.
    digests : tuple of str
        Of the features of the rows, and of those held out, before they were scaled; empty if nobody asked for them.
    """

    rows: TrainingRows
    held: TrainingRows | None
    encoder: InputEncoder
    classes: tuple[Any, ...]
    prior: float
    network: Network | TrainFunctions | ClassFunctions
    folds: tuple[Fold, ...] = ()
    cells: Any = None
    weight_when_held: NDArray[Any] | None = None
    digests: tuple[str, ...] = ()

    def with_prior(self, prior: float) -> TrainingData:
        """The same data for another share of positives: of the rows held out, by weights, and in the shares of cells.

        The rows to train on are as they were: drivers weight their classes.

        Parameters
        ----------
        prior : float
            That share, in (0, 1).

        Returns
        -------
        TrainingData
        """
        data = self if self.cells is None else self._replace(cells=self.cells.at_prior(prior))
        if data.folds:
            return data._replace(weight_when_held=weight_at_prior(data.rows.signs, data.rows.weight, prior))
        if data.held is None:
            return data
        return data._replace(held=data.held._replace(weight=weight_at_prior(data.held.signs, data.held.weight, prior)))

    def held_cells(self) -> list[NDArray[Any]]:
        """Cells of the rows held out from each network, where cells play a part.

        Returns
        -------
        list of int array
        """
        if self.folds and self.rows.cell is not None:
            return [self.rows.cell[fold.held] for fold in self.folds]
        return [] if self.held is None or self.held.cell is None else [self.held.cell]

    def part(self, index: int) -> tuple[TrainingRows, TrainingRows | None]:
        """The rows that a network is trained on, and those held out from it.

        Parameters
        ----------
        index : int
            Of the network.

        Returns
        -------
        rows : TrainingRows
        held : TrainingRows or None
        """
        if not self.folds:
            return self.rows, self.held
        return self.rows.part(self.folds[index].train), self.held_part(index)

    def held_part(self, index: int) -> TrainingRows:
        """The rows of a fold, which are held out from one network.

        Parameters
        ----------
        index : int
            Of the fold.

        Returns
        -------
        TrainingRows
        """
        held = self.folds[index].held
        part = self.rows.part(held)
        return part if self.weight_when_held is None else part._replace(weight=self.weight_when_held[held])


def prepare(
    X: Any,
    y: Any,
    *,
    network: Network | TrainFunctions | ClassFunctions | Callable[[int], Network | TrainFunctions | ClassFunctions],
    validation_groups: Any = None,
    encoder: InputEncoder | None = None,
    positive: Any = None,
    sample_weight: Any = None,
    validation: Any = None,
    refit: bool = False,
    standardize: bool = True,
    seed: Any = None,
    comm: Communicator = LOCAL,
    uses_cells: bool = False,
    groups: Any = None,
    multiclass: bool = False,
    sets: NDArray[Any] | None = None,
    digests: bool = False,
) -> TrainingData:
    """Encode labels and inputs, hold out validation rows, and learn the encoder from the training rows alone.

    Parameters
    ----------
    X : matrix, shape (n, d), table, StreamedTable or list of str
        Inputs; with several processes, those of this process. Memory maps are read slice by slice, and sparse matrices
        stay sparse and unscaled.
    y : array-like, shape (n,)
        Labels of two classes in any coding; not read of a StreamedTable, which has its own.
    network : Network, TrainFunctions, ClassFunctions or callable
        What is trained, or a function that makes it for a number of columns (for texts, of words).
    validation_groups : array-like, shape (n,), optional
        Rows of equal value are held out together.
    encoder : InputEncoder, optional
        That of a model to train further. Default: learned from the training rows; with several networks, from all rows,
        whose labels it does not see.
    positive : scalar, optional
        The positive label. Default: the larger one.
    sample_weight : array-like, shape (n,), optional
        Weights of at least 0; rows of weight 0 are left out. Default: equal weights.
    validation : object, optional
        See `fit`. Default: no validation rows.
    refit : bool, default False
        Keep rows that are held out among those to train on, for a last network, also where a single part is held out.
    standardize : bool, default True
        Centre and scale dense columns.
    seed : int or numpy Generator, optional
        Of the split.
    comm : communicator, default LOCAL
        Of the processes that train together.
    uses_cells : bool, default False
        Whether the cells of the rows play a part; then in a single process.
    groups : array-like of shape (n,) or table, optional
        Groups of the rows, for their cells. Default: none, so that the cells are the classes.
    multiclass : bool, default False
        Whether labels are of any number of classes, which the cells then are unless `uses_cells` is true.
    sets : bool array, shape (m, L), optional
        Sets of labels, of which `y` then has the number of each row's, and which the cells then are; so it is in
        validation rows of the caller's own. Default: a row has one label.
    digests : bool, default False
        Compute digests of the features, by which a checkpoint knows them again.

    Returns
    -------
    TrainingData

    Raises
    ------
    ValueError
        If inputs, labels, weights or validation rows are unusable.
    """
    known = network_of(network)
    if isinstance(X, StreamedTable):
        parts = _streamed(X, known, encoder, positive, validation, seed, multiclass, comm)
    else:
        parts = _in_memory(
            X, y, known, validation_groups, encoder, positive, sample_weight, validation, refit, seed, comm,
            uses_cells, groups, multiclass, sets,
        )  # fmt: skip
    split, learned, train, held = parts
    del parts  # what is prepared below takes the place of the raw rows
    if validation_groups is None and (split.folds or split.held is not None):
        warn_of_repeated_rows(train, split.labels)
    scales = standardize and encoder is None
    of_columns = None
    if isinstance(network, TableNetwork) and scales:
        of_columns = network.of_rows(train, split.labels, split.weight)
    if of_columns:
        chosen, learned = of_columns[0], replace(learned, standardiser=of_columns[1])
    else:
        chosen = network if known else network(size_for(train, learned))  # type: ignore[operator]  # a callable
    takes = network_of(chosen)
    check_fit(chosen, train, learned)
    if scales and not of_columns and not takes.takes_tokens:
        ready = None if isinstance(network, TableNetwork) else scaling_for(takes, train, split.labels, split.weight)
        with rows_among_all(split.train):
            learned = replace(learned, standardiser=ready) if ready else learned.measured(train, split.weight)

    def prepared(part: Any, rows: NDArray[Any] | None) -> Any:
        with rows_among_all(rows):
            return part if takes.takes_tokens else prepare_rows(part, takes.dtype, learned.standardiser)

    marks = _digests(train, held, learned) if digests else ()
    rows_to_train = TrainingRows(prepared(train, split.train), split.signs, split.weight, split.cell)
    counted = None if split.groups is None else _count(split, split.groups, multiclass)
    to_validate = None if held is None else held._replace(X=prepared(held.X, split.held))
    return TrainingData(
        rows_to_train, to_validate, learned, split.classes, split.prior, chosen, split.folds, counted, digests=marks
    )


def _digests(train: Any, held: TrainingRows | None, encoder: InputEncoder) -> tuple[str, ...]:
    """Of rows that are not scaled yet: the last digits of scaled ones depend on the number of processes."""
    scaled = " standardised" if encoder.standardiser else ""
    return tuple(rows_digest(part) + scaled for part in (train, held and held.X) if part is not None)


def _count(split: Split, groups: Groups, multiclass: bool) -> Any:
    assert split.cell is not None
    return count_cells(split.cell, groups.names, split.classes, split.weight, multiclass)


class _Parts(NamedTuple):
    """Encoded rows, not yet prepared for a network."""

    split: Split
    encoder: InputEncoder
    train: Any
    held: TrainingRows | None


def _in_memory(
    X: Any, y: Any, known: Network | None, validation_groups: Any, encoder: InputEncoder | None, positive: Any,
    sample_weight: Any, validation: Any, refit: bool, seed: Any, comm: Communicator, uses_cells: bool, groups: Any,
    multiclass: bool, sets: NDArray[Any] | None,
) -> _Parts:  # fmt: skip
    """Inputs that are given, not streamed, as the rows to train on and those held out."""
    inputs = all_succeed(comm, lambda: read_inputs(X, known, encoder, comm))
    y, sample_weight, together = gather_vectors(comm, count_rows(inputs), y, sample_weight, validation_groups)
    found = read_groups(groups, count_rows(inputs)) if uses_cells else None
    slow = isinstance(inputs, list) or known is not None and known.takes_tokens
    split: Split = all_succeed(  # from the labels of all processes, so that they fail together or not at all
        comm,
        lambda: row_split(
            y,
            positive,
            sample_weight,
            validation,
            together,
            seed,
            found,
            one_part=slow,
            refit=refit,
            multiclass=multiclass,
            sets=sets,
        ),
    )
    if comm.size == 1:
        check_lengths(inputs, y)
    learned = encoder or InputEncoder.learn(joined_tables(inputs, comm), rows=split.train, add_indicator=True)
    unknown = UnknownCategories()
    rows = distribute_rows(comm, count_rows(inputs), lambda: encoded_inputs(inputs, learned, known, unknown))
    train = rows if split.train is None else select_rows(rows, split.train)
    held = _held_rows(rows, split, validation, learned, known, comm, multiclass, sets)
    return _Parts(split, learned, train, held)


def _streamed(
    X: StreamedTable, known: Network | None, encoder: InputEncoder | None, positive: Any, validation: Any, seed: Any,
    multiclass: bool, comm: Communicator,
) -> _Parts:  # fmt: skip
    """The rows of a table on a disk, to train on and held out."""
    learned = encoder or InputEncoder(table=X.encoder)
    classes, train, held = stream_rows(
        X, learned, positive=positive, validation=validation, seed=seed, multiclass=multiclass, comm=comm
    )
    split = Split(classes, train.signs, None, cell=train.cell)
    if held is None:
        held = _held_rows(train.X, split, validation, learned, known, comm, multiclass)
    return _Parts(split, learned, train.X, held)


def _held_rows(
    rows: Any, split: Split, validation: Any, encoder: InputEncoder, network: Network | None, comm: Communicator,
    multiclass: bool = False, sets: NDArray[Any] | None = None,
) -> TrainingRows | None:  # fmt: skip
    if split.held is not None and split.held_signs is not None:
        return TrainingRows(select_rows(rows, split.held), split.held_signs, split.held_weight, split.held_cell)
    if validation is None or not is_pair(validation):
        return None
    X, y, *own_groups = validation
    inputs = all_succeed(comm, lambda: read_inputs(X, network, encoder, comm))
    (y,) = gather_vectors(comm, count_rows(inputs), y)
    tokens = rows.dtype == np.int32 and (encoder.vocabulary is not None or network is not None and network.takes_tokens)
    columns = None if tokens or isinstance(inputs, TableColumns) else rows.shape[1]
    held = distribute_rows(comm, count_rows(inputs), lambda: encoded_inputs(inputs, encoder, network, columns=columns))
    if sets is not None:
        check_lengths(held, y)
        return TrainingRows(held, signs_of_sets(sets, y), None, y)
    labels, codes = own_labels(held, y, split.classes, multiclass)
    groups, of_groups = split.groups, own_groups_of(split.groups, own_groups, len(labels.signs))
    cell = codes if groups is None or of_groups is None else cells_of_rows(labels, codes, of_groups, groups.names)
    return TrainingRows(held, labels.signs, None, cell)
