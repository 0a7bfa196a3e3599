"""Read a file to train on."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from aesara_nondecomp import networks
from aesara_nondecomp._checks import require, warn_caller
from aesara_nondecomp.cli.label_columns import features_beside, labels_of, target_columns
from aesara_nondecomp.cli.tables import (
    LabelledTable,
    array_name,
    checked_groups,
    labels_of_archive,
    refuse_target,
    texts_of,
)
from aesara_nondecomp.data import read_libsvm, read_npz
from aesara_nondecomp.data.cells import is_missing
from aesara_nondecomp.data.label_numbers import as_labels
from aesara_nondecomp.data.label_sets import Indicators
from aesara_nondecomp.data.loaders import file_format
from aesara_nondecomp.data.streamed_tables import is_large
from aesara_nondecomp.data.table_columns import TableColumns, read_table
from aesara_nondecomp.data.table_files import TableFiles, open_table
from aesara_nondecomp.data.table_parts import files_of
from aesara_nondecomp.data.table_survey import survey
from aesara_nondecomp.parallel import LOCAL, Communicator, local_slice
from aesara_nondecomp.training.param_checks import AUTO

MOST_DENSE_ENTRIES = 50_000_000  # a larger LIBSVM file stays sparse, and unscaled


def read_training_table(options: argparse.Namespace, comm: Communicator = LOCAL) -> LabelledTable:
    """Read a file to train on: `options.data`, with the labels at `options.target`.

    Parameters
    ----------
    options : Namespace
        Parsed options, with data, target, drop, groups, categorical, missing, delimiter and decimal.
    comm : communicator, default LOCAL
        Of the processes, each of which passes over its share of the files of a table that is streamed.

    Returns
    -------
    LabelledTable

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file cannot be read, or lacks the target or another named column.
    """
    kind = file_format(options.data)
    if kind == "table":
        return _read_training_columns(options, comm)
    for name in ("drop", "groups", "categorical", "missing", "delimiter", "decimal"):
        if getattr(options, name):
            raise ValueError(f"--{name} is for a table, such as a .csv file, but {options.data} is none. Leave it out.")
    if kind == "npz":
        table = read_npz(options.data, labels=array_name(options.target))
        return LabelledTable(table.X, labels_of_archive(table.y), table.feature_names)
    refuse_target(options.data, options.target)
    table = read_libsvm(options.data, dense=False)
    dense = table.X.shape[0] * table.X.shape[1] <= MOST_DENSE_ENTRIES
    return LabelledTable(table.X.toarray() if dense else table.X, table.y)


def _read_training_columns(options: argparse.Namespace, comm: Communicator) -> LabelledTable:
    takes_texts = options.network != AUTO and networks.takes_tokens(options.network)
    with open_table(options.data, options.delimiter, options.decimal or ".") as table:
        targets = target_columns(options.data, options.target, table.names)
        files = TableFiles(
            options.data, options.drop, options.categorical, options.missing, options.delimiter, options.decimal or "."
        )
        features = features_beside(files, table.names, targets)
        if takes_texts:
            _check_one_text(options, features)
        groups = checked_groups(options.groups, targets, table.names)
        if is_large(table, features) and not takes_texts:
            _check_streamed(options, targets)
            if comm.size > 1:
                return _surveyed(files, features, targets[0], comm)
            survey_of_all = survey(files, table, features, targets[0])
            return LabelledTable(survey_of_all, np.array(survey_of_all.labels))
        dropped = [name for name in groups if name not in features]
        as_they_are = [*targets, *(features if takes_texts else options.categorical), *dropped]
        columns = table.read([*targets, *features, *dropped], as_they_are)
    labels = labels_of(options.data, columns, targets)
    labels = labels if isinstance(labels, Indicators) else as_labels(labels)
    if takes_texts:
        of_rows = {name: columns.cells[name] for name in groups} or None
        return LabelledTable(texts_of(columns, features[0]), labels, None, of_rows, features[0])
    known = read_table(columns, categorical=options.categorical)
    read = read_table(known, missing=options.missing)
    if options.missing:
        found = _count_missing(read) - _count_missing(known)
        warn_caller(f"{found} cells are missing values because they are {' or '.join(map(repr, options.missing))}.")
    of_rows = {name: read.cells[name] for name in groups} or None
    return LabelledTable(read.without(dropped), labels, groups=of_rows)


def _surveyed(files: TableFiles, features: Sequence[str], target: str, comm: Communicator) -> LabelledTable:
    """What this process's share of the files tells, for `learned_together`."""
    paths = files_of(files.source)
    needed = f"a table that does not fit in memory is streamed by {comm.size} processes from as many files or more"
    require(len(paths) >= comm.size, needed, f"{len(paths)} of {files.source}")
    own = files._replace(source=paths[local_slice(comm, len(paths))])
    with own.opened() as table:
        found = survey(own, table, features, target, comm.rank)
    return LabelledTable(found, np.array(found.labels))


def _check_one_text(options: argparse.Namespace, features: Sequence[str]) -> None:
    """Refuse columns beside the one with texts, and options that it leaves without effect."""
    for name in ("categorical", "missing"):
        if getattr(options, name):
            raise ValueError(f"--{name} is for the columns of a table, and --network {options.network} takes texts.")
    if len(features) > 1:
        raise ValueError(
            f"--network {options.network} takes one column of texts beside the labels, got {', '.join(features)}. "
            "Leave the others out by --drop."
        )


def _check_streamed(options: argparse.Namespace, targets: Sequence[str]) -> None:
    """Refuse what a table that is streamed does not take, before it is read."""
    needed = f"{options.data} is too large to be read at once, and a streamed table takes one column of labels"
    require(len(targets) == 1, f"{needed}: train one label after another, or give fewer rows", targets)
    for name in ("groups", "constraints", "refit", "sampler"):
        if getattr(options, name) not in (None, False, [], (), "natural"):
            raise ValueError(
                f"{options.data} is too large to be read at once, and a streamed table does not take "
                f"--{name.removesuffix('s') if name == 'constraints' else name}. Leave it out, or give fewer rows."
            )
    if not options.validation:
        raise ValueError(f"{options.data} is too large to train on without rows held out: leave --validation out")


def _count_missing(table: TableColumns) -> int:
    return sum(
        sum(map(is_missing, cells.tolist())) if cells.dtype == object else int(np.isnan(cells).sum())
        for cells in table.cells.values()
    )
