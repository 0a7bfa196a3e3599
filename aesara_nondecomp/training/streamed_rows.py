"""Training rows of a table that does not fit in memory: which are held out, and their encoding on a disk."""

from __future__ import annotations

import numbers
import os
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp._communicator import Communicator
from aesara_nondecomp.data import InputEncoder, LazyRows, check_finite, encode_classes, encode_labels
from aesara_nondecomp.data.arrow_tables import is_arrow
from aesara_nondecomp.data.categories import UnknownCategories
from aesara_nondecomp.data.disk_rows import DiskMatrix, check_disk_space
from aesara_nondecomp.data.streamed_tables import StreamedTable, is_large, learned, read_at_once
from aesara_nondecomp.data.table_files import OpenTable, TableFiles
from aesara_nondecomp.data.table_survey import Survey, misspelt, survey, survey_again
from aesara_nondecomp.parallel import DistributedRows, all_succeed, common_error, gather_vectors
from aesara_nondecomp.training.folds import AUTO, LAST, SHARE, is_pair
from aesara_nondecomp.training.param_checks import refuse_unavailable
from aesara_nondecomp.training.run import TrainingRows

HELD_ROWS = 500_000  # at most, as each evaluation scores them all; a rate among them has a standard error below .001
STREAMED = "a table that does not fit in memory"
_SLICE_ROWS = 2**20


def inputs_of(X: Any, y: Any, target: Any, alone: Mapping[str, Any], comm: Communicator) -> tuple[Any, Any]:
    """The inputs and labels of `fit`, read from files if `target` is given.

    Parameters
    ----------
    X : object
        As given to `fit`.
    y : array-like or None
        As given to `fit`.
    target : str or None
        As given to `fit`.
    alone : mapping of str to object
        Arguments that a streamed table does not take: None where they are not given.
    comm : communicator
        Of the processes, each of which has files of its own.

    Returns
    -------
    X : object
        TableColumns or StreamedTable in place of files.
    y : array-like
        Of a StreamedTable, the distinct labels.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the table is unusable, or an argument does not go with it.
    """
    files = all_succeed(comm, lambda: _files_of(X, y, target))
    if len(set(comm.allgather(files is None))) > 1:
        raise common_error(comm, "either all processes need files and their target, or none does")
    if files is not None:
        return _read(files, target, alone, comm)
    if not isinstance(X, StreamedTable):
        return X, y
    all_succeed(comm, lambda: refuse_unavailable(alone, STREAMED))
    return X, X.classes


def _read(files: TableFiles, target: str, alone: Mapping[str, Any], comm: Communicator) -> tuple[Any, Any]:
    """The inputs and labels of files: at once, or if they are large in any process, streamed in all of them."""
    with ExitStack() as opened:

        def look() -> tuple[OpenTable, list[str], bool]:
            table = opened.enter_context(files.opened())
            features = files.features(table.names, target)
            return table, features, is_large(table, features)

        table, features, large = all_succeed(comm, look)
        if not any(comm.allgather(large)):
            return all_succeed(comm, lambda: read_at_once(files, table, features, target))
        all_succeed(comm, lambda: refuse_unavailable(alone, STREAMED))
        own = all_succeed(comm, lambda: survey(files, table, features, target, comm.rank))
    found = learned_together(own, comm)
    return found, found.classes


def _files_of(X: Any, y: Any, target: Any) -> TableFiles | None:
    """The files of `fit`; None where rows are given."""
    if isinstance(X, StreamedTable):
        return None
    if target is None:
        files = isinstance(X, (os.PathLike, TableFiles)) or isinstance(X, str) and y is None
        require(not files, "files need target=, the name of their column of labels", X)
        require(y is not None, "y must hold a label for each row; files name their column by target=", y)
        return None
    require(isinstance(target, str), "target must be the name of a column", target)
    require(y is None, "target names the labels of files: leave y out", y)
    if isinstance(X, TableFiles):
        return X
    path = isinstance(X, (str, os.PathLike))
    paths = isinstance(X, (list, tuple)) and bool(X) and all(isinstance(part, (str, os.PathLike)) for part in X)
    needed = "target goes with files, a data set or a table of pyarrow, or data.TableFiles: leave it out and give y"
    require(path or paths or is_arrow(X), needed, type(X).__name__)
    return TableFiles(X)


def learned_together(own: Survey, comm: Communicator) -> StreamedTable:
    """Learn one encoder from the files of all processes.

    Parameters
    ----------
    own : Survey
        Of this process's files.
    comm : communicator
        Of the processes.

    Returns
    -------
    StreamedTable
        Of this process's files, with the encoder and the classes of all.

    Raises
    ------
    ValueError
        In all processes, if the files differ in their columns, or cannot be encoded together.
    """
    keys = np.sort(np.concatenate(comm.allgather(own.sample.keys)))[: own.sample.size]
    surveys = comm.allgather(own._replace(codes=own.codes[:0], sample=own.sample.up_to(keys[-1])))
    columns = [sorted(part.sample.columns.cells) for part in surveys]
    if any(names != columns[0] for names in columns):
        raise common_error(comm, f"the files of all processes need the same columns, got {columns!r}")
    surveys[comm.rank] = own
    found = all_succeed(comm, lambda: learned(surveys, comm.rank))
    again = misspelt(found.encoder.categorical, surveys)
    if not again:
        return found
    return learned_together(all_succeed(comm, lambda: survey_again(own, again, comm.rank)), comm)


def stream_rows(
    X: StreamedTable,
    encoder: InputEncoder,
    *,
    positive: Any,
    validation: Any,
    seed: Any,
    multiclass: bool,
    comm: Communicator,
) -> tuple[tuple[Any, ...], TrainingRows, TrainingRows | None]:
    """Encode the rows of a streamed table on a disk, those to train on apart from those held out.

    Parameters
    ----------
    X : StreamedTable
        The table; with several processes, the files of this one.
    encoder : InputEncoder
        That of the table, or of a model to train further.
    positive : scalar or None
        The positive label.
    validation : object
        See `fit`; a share, "auto" or "last" holds at most `HELD_ROWS` rows out.
    seed : numpy Generator
        Of the rows held out.
    multiclass : bool
        Whether labels are of any number of classes.
    comm : communicator
        Of the processes; rows are those of all, in the order of their ranks.

    Returns
    -------
    classes : tuple
        The labels; of two, the positive one last.
    train : TrainingRows
        The rows to train on, encoded but not prepared for a network.
    held : TrainingRows or None
        Those held out, likewise, if any of the table are.

    Raises
    ------
    ValueError
        In all processes, if labels, rows or `validation` are unusable, or a disk is full.
    """
    (all_codes,) = gather_vectors(comm, len(X.codes), X.codes)
    classes, signs, of_several = all_succeed(comm, lambda: _labels(X, positive, multiclass))
    held = all_succeed(comm, lambda: _held(all_codes, len(X.classes), validation, seed))
    before = sum(comm.allgather(len(X.codes))[: comm.rank])
    own_held = None if held is None else held[before : before + len(X.codes)]
    written = all_succeed(comm, lambda: _written(X, encoder, own_held))
    chosen = [slice(None)] if held is None else [~held, held]
    parts = [
        TrainingRows(_of_all(rows, comm), signs[codes], None, None if of_several is None else of_several[codes])
        for rows, codes in zip(written, (all_codes[part] for part in chosen))
    ]
    return classes, parts[0], parts[1] if held is not None else None


def _labels(X: StreamedTable, positive: Any, multiclass: bool) -> tuple[tuple[Any, ...], NDArray[Any], Any]:
    """The classes; of each distinct label the sign, and its class where there are several."""
    if multiclass:
        labels = encode_classes(X.classes)
        return labels.classes, np.where(labels.codes > 0, np.int8(1), np.int8(-1)), labels.codes
    pair = encode_labels(X.classes, positive)
    return pair.classes, pair.signs.astype(np.int8), None


def _of_all(own: LazyRows, comm: Communicator) -> Any:
    """The rows of all processes, in the order of their ranks; in a single process its own."""
    if comm.size == 1:
        return own
    counts, kinds = zip(*comm.allgather((len(own), own.dtype.name)))
    if len(set(kinds)) > 1:
        raise common_error(comm, f"the files of all processes must hold numbers of one type, got {sorted(set(kinds))}")
    before = sum(counts[: comm.rank])
    return DistributedRows(comm, own, np.arange(before, before + len(own)), sum(counts), own.block_rows)


def _written(X: StreamedTable, encoder: InputEncoder, held: NDArray[Any] | None) -> list[LazyRows]:
    """The encoded rows in temporary files: those to train on, and those held out."""
    unknown = UnknownCategories()
    parts: list[DiskMatrix] = []
    for first, rows in X.encoded(encoder, unknown):
        check_finite(rows, first)
        if not parts:
            check_disk_space(len(X.codes), rows.shape[1], rows.dtype)
            parts = [DiskMatrix(rows.shape[1], rows.dtype) for _ in range(1 if held is None else 2)]
        if held is None:
            parts[0].append(rows)
            continue
        out = held[first : first + len(rows)]
        parts[0].append(rows[~out])
        parts[1].append(rows[out])
    unknown.warn()
    return [LazyRows(part.finish()) for part in parts]


def _held(codes: NDArray[Any], n_classes: int, validation: Any, seed: Any) -> NDArray[Any] | None:
    """Which rows are held out; None if none of the table are."""
    if validation is None or is_pair(validation):
        return None
    n = len(codes)
    held = np.zeros(n, dtype=bool)
    if isinstance(validation, str) and validation == LAST:
        held[n - min(max(1, round(SHARE * n)), HELD_ROWS) :] = True
    else:
        share = SHARE if isinstance(validation, str) and validation == AUTO else validation
        needed = f"{STREAMED} needs validation='auto', 'last', a share, (X, y) or None"
        require(isinstance(share, numbers.Real) and 0 < float(share) < 1, needed, validation)
        counts = np.bincount(codes, minlength=n_classes)
        for label in range(n_classes):
            count = int(counts[label])
            require(count >= 2, "rows can be held out where each class has at least two", f"{count} of one class")
            wanted = min(max(round(min(share, HELD_ROWS / n) * count), 1), count - 1)
            _mark(held, codes, label, _spread_ranks(count, wanted, seed))
    for part, chosen in (("training", ~held), ("held-out", held)):
        missing = n_classes - len(np.unique(codes[chosen]))
        require(not missing, f"the {part} part must hold all {n_classes} classes", f"none of {missing} of them")
    return held


def _spread_ranks(count: int, wanted: int, rng: np.random.Generator) -> NDArray[Any]:
    """Ascending ranks below `count`, one drawn from each of `wanted` equal parts."""
    edges = np.arange(wanted + 1) * count // wanted
    return edges[:-1] + rng.integers(np.diff(edges))


def _mark(held: NDArray[Any], codes: NDArray[Any], label: int, ranks: NDArray[Any]) -> None:
    """Mark the rows that have some ranks among those of a class, slice by slice to save memory."""
    before = 0
    for start in range(0, len(codes), _SLICE_ROWS):
        rows = start + np.flatnonzero(codes[start : start + _SLICE_ROWS] == label)
        first, last = np.searchsorted(ranks, [before, before + len(rows)])
        held[rows[ranks[first:last] - before]] = True
        before += len(rows)
