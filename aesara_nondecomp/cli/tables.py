"""Read the user's files as inputs and labels for `fit` and models."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import networks
from aesara_nondecomp._checks import require, suggestion, warn_caller
from aesara_nondecomp.cli.label_columns import features_beside, labels_of, one_target, target_columns
from aesara_nondecomp.data import read_libsvm, read_npz
from aesara_nondecomp.data.cells import is_missing
from aesara_nondecomp.data.files import as_labels
from aesara_nondecomp.data.label_sets import Indicators, is_indicator_matrix, read_indicators
from aesara_nondecomp.data.loaders import file_format
from aesara_nondecomp.data.streamed_tables import is_large, popped_labels
from aesara_nondecomp.data.table_columns import TableColumns, check_names, read_table
from aesara_nondecomp.data.table_files import TableFiles, open_table
from aesara_nondecomp.data.table_parts import files_of
from aesara_nondecomp.data.table_survey import survey
from aesara_nondecomp.models import Model
from aesara_nondecomp.parallel import LOCAL, Communicator, local_slice
from aesara_nondecomp.step.scoring import SCORING_ROWS
from aesara_nondecomp.training.param_checks import AUTO

MOST_DENSE_ENTRIES = 50_000_000  # a larger LIBSVM file stays sparse, and unscaled


class LabelledTable(NamedTuple):
    """Inputs and labels of a file.

    Attributes
    ----------
    X : TableColumns, StreamedTable, Survey, list of str, array or CSR matrix, shape (n, d)
        The columns of a table, the texts of one of them, or a matrix; a Survey of one process's share of a table.
    y : array, shape (n,), or Indicators
        Labels, in the file's own coding; of a StreamedTable or Survey the distinct ones. Of several labels which rows
        have them.
    names : sequence of str, or None
        Column names of a matrix, if the file has them.
    groups : dict of str to array, or None
        The columns whose combinations are the groups of the rows, if there are groups.
    text : str or None
        The column that the inputs are the texts of, if they are texts.
    """

    X: Any
    y: Any
    names: Sequence[str] | None = None
    groups: dict[str, NDArray[Any]] | None = None
    text: str | None = None


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
        table = read_npz(options.data, labels=_array_name(options.target))
        return LabelledTable(table.X, _labels_of_archive(table.y), table.feature_names)
    _refuse_target(options.data, options.target)
    table = read_libsvm(options.data, dense=False)
    dense = table.X.shape[0] * table.X.shape[1] <= MOST_DENSE_ENTRIES
    return LabelledTable(table.X.toarray() if dense else table.X, table.y)


def row_blocks(
    path: str, model: Model, delimiter: str | None = None, decimal: str | None = None
) -> Iterator[TableColumns | list[str] | NDArray[Any]]:
    """Read the inputs of a file, as raw as the training file, for a model: text block by block, others in one block.

    Parameters
    ----------
    path : str
        Path of the file; "-" for a table on standard input.
    model : Model
        The model that will take the inputs.
    delimiter : str, optional
        Of a table of text. Default: as in training.
    decimal : {".", ","}, optional
        Of a table of text. Default: as in training.

    Yields
    ------
    TableColumns, list of str, array or CSR matrix

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file cannot be read, or is of another kind than the training file.
    """
    kind = _checked_kind(path, model)
    if kind == "table":
        yield from _known_blocks(path, model, delimiter, decimal)
    else:
        yield read_npz(path, labels=None).X if kind == "npz" else _libsvm_of(path, model).X


def read_labelled_rows(
    path: str,
    model: Model,
    target: str | Sequence[str] | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    groups: Sequence[str] | None = None,
) -> LabelledTable:
    """Read the inputs of a file at once, and its labels in the coding of the model's classes.

    Parameters
    ----------
    path : str
        Path of the file; "-" for a table on standard input.
    model : Model
        The model that will take the inputs, and whose classes the labels are.
    target : str or sequence of str, optional
        Column or array of the labels, or the columns of several labels. Default: as in the training file.
    delimiter : str, optional
        Of a table of text. Default: as in training.
    decimal : {".", ","}, optional
        Of a table of text. Default: as in training.
    groups : sequence of str, optional
        Columns of a table whose combinations are the groups. Default: as in training, with a warning if they are not
        there, as rows have no groups then.

    Returns
    -------
    LabelledTable

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If `row_blocks` would raise it, if the file has no labels or no such groups, or a label is not among the model's
        classes.
    """
    kind = _checked_kind(path, model)
    known, columns = model.extra.get("target"), None
    if kind != "table" and groups:
        raise ValueError(f"--groups is for a table, such as a .csv file, but {path} is none. Leave it out.")
    if kind == "table":
        X, labels, columns = _read_labelled_columns(path, model, target or known, delimiter, decimal, groups)
    elif kind == "npz":
        X, y, _ = read_npz(path, labels=_array_name(target or known))
        labels = _labels_of_archive(y)
    else:
        _refuse_target(path, target)
        X, labels, _ = _libsvm_of(path, model)
    return LabelledTable(X, _as_classes(labels, model), groups=columns)


def labelled_blocks(
    path: str, model: Model, target: str | None = None, delimiter: str | None = None, decimal: str | None = None
) -> Iterator[LabelledTable]:
    """Read the inputs and labels of a file as `read_labelled_rows` does without groups: a table block by block.

    Parameters
    ----------
    path : str
        Path of the file; "-" for a table on standard input.
    model : Model
        The model that will take the inputs, and whose classes the labels are.
    target : str, optional
        Column or array of the labels. Default: as in the training file.
    delimiter : str, optional
        Of a table of text. Default: as in training.
    decimal : {".", ","}, optional
        Of a table of text. Default: as in training.

    Yields
    ------
    LabelledTable

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If `read_labelled_rows` would raise it.
    """
    if _checked_kind(path, model) != "table":
        yield read_labelled_rows(path, model, target, delimiter, decimal)
        return
    names, as_they_are = _input_columns(model)
    with open_table(path, *_layout(model, delimiter, decimal)) as table:
        check_names(names, table.names)
        target = one_target(path, target or model.extra.get("target"), table.names)
        for block in table.blocks([*names, target], [*as_they_are, target], SCORING_ROWS):
            y = _as_classes(popped_labels(path, block, target), model)
            yield LabelledTable(_inputs(model, block), y)


def in_blocks(X: Any) -> Iterator[Any]:
    """Cut the columns of a table into blocks, whose scores are to the last bit those of the whole; others stay whole.

    Parameters
    ----------
    X : TableColumns, list of str, array or CSR matrix
        Inputs.

    Yields
    ------
    TableColumns, list of str, array or CSR matrix
    """
    if not isinstance(X, TableColumns):
        yield X
        return
    for first in range(0, X.shape[0], SCORING_ROWS):
        cells = {name: column[first : first + SCORING_ROWS] for name, column in X.cells.items()}
        yield X._replace(cells=cells, first_row=X.first_row + first)


def label_like(text: Any, classes: Sequence[Any]) -> Any:
    """Find the class that a label or its text stands for: "1", "1.0" and 1 all stand for the class 1.

    Parameters
    ----------
    text : object
        A label, or what was typed for one.
    classes : sequence
        The known labels.

    Returns
    -------
    object
        One of `classes`.

    Raises
    ------
    ValueError
        If it stands for none of them.
    """
    for label in classes:
        if label == text or str(label) == str(text):
            return label
    for label in classes:  # "1.0" stands for 1, but not where there is a label "1.0"
        if _same_number(label, text):
            return label
    known = ", ".join(repr(label) for label in classes[:10])
    raise ValueError(f"the label {text!r} is unknown. Known: {known}. Give one of these.")


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
        groups = _checked_groups(options.groups, targets, table.names)
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
        return LabelledTable(_texts(columns, features[0]), labels, None, of_rows, features[0])
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


def _texts(columns: TableColumns, name: str) -> list[str]:
    """The texts of a column; a missing one is empty."""
    return ["" if is_missing(cell) and not isinstance(cell, str) else str(cell) for cell in columns.cells[name]]


def _checked_kind(path: str, model: Model) -> str:
    """The format of a file, which must be a table if the model was trained on one."""
    kind, table = file_format(path), model.encoder.table is not None or _text_column(model) is not None
    if model.encoder.vocabulary is not None and not table:
        raise ValueError("this model was trained on texts in Python, where load_model(path).predict(texts) takes them")
    if (kind == "table") != table:
        wanted = "a table, such as a .csv file" if table else "LIBSVM text or .npz"
        raise ValueError(f"this model was trained on {wanted}, and {path} is another kind of file")
    return kind


def _text_column(model: Model) -> str | None:
    """The column of texts that a model was trained on, if it was."""
    column: str | None = model.extra.get("text")
    return column


def _input_columns(model: Model) -> tuple[list[str], list[str]]:
    """The columns of a table that a model takes, and those of them to read as they are."""
    if (column := _text_column(model)) is not None:
        return [column], [column]
    encoder: Any = model.encoder.table
    return [*encoder.numeric, *encoder.categorical], [*encoder.categorical]


def _inputs(model: Model, columns: TableColumns) -> TableColumns | list[str]:
    """What a model takes of the columns of a table."""
    column = _text_column(model)
    return columns if column is None else _texts(columns, column)


def _known_blocks(
    path: str, model: Model, delimiter: str | None, decimal: str | None
) -> Iterator[TableColumns | list[str]]:
    """The columns of a file that a model takes, in blocks whose scores are to the last bit those of the whole file."""
    names, as_they_are = _input_columns(model)
    with open_table(path, *_layout(model, delimiter, decimal)) as table:
        check_names(names, table.names)
        for block in table.blocks(names, as_they_are, SCORING_ROWS):
            yield _inputs(model, block)


def _read_labelled_columns(
    path: str,
    model: Model,
    target: str | Sequence[str] | None,
    delimiter: str | None,
    decimal: str | None,
    groups: Sequence[str] | None,
) -> tuple[TableColumns | list[str], Any, dict[str, NDArray[Any]] | None]:
    """What a model takes of a file, its labels, and the columns of its groups."""
    names, as_they_are = _input_columns(model)
    with open_table(path, *_layout(model, delimiter, decimal)) as table:
        check_names(names, table.names)
        targets = target_columns(path, target, table.names)
        chosen = _groups_to_report(path, model, groups, targets, table.names)
        more = [name for name in chosen if name not in names]
        columns = table.read([*names, *targets, *more], [*as_they_are, *targets, *more])
    labels = labels_of(path, columns, targets)
    known = read_table(columns, missing=model.encoder.table.missing if model.encoder.table else ())
    return _inputs(model, columns.without(more)), labels, {name: known.cells[name] for name in chosen} or None


def _array_name(target: Any) -> str:
    """The name of the array of labels in an .npz."""
    one = "--target names one array of an .npz, which is a matrix where rows have several labels"
    require(target is None or isinstance(target, str), one, target)
    return target or "y"


def _labels_of_archive(y: NDArray[Any]) -> NDArray[Any] | Indicators:
    return read_indicators(y) if is_indicator_matrix(y) else y


def _as_classes(labels: Any, model: Any) -> Any:
    """Labels in the coding of a model's classes, or of several labels which rows have them."""
    of_labels, several = hasattr(model, "labels"), isinstance(labels, Indicators)
    if of_labels or several:
        kind = f"the {len(model.labels)} labels {model.labels}" if of_labels else "one label for each row"
        got = labels.labels if several else "one column"
        require(of_labels and several, f"this model has {kind}: --target must name as many columns", got)
        return labels
    listed = np.asarray(labels).tolist()
    classes = {label: label_like(label, model.classes) for label in dict.fromkeys(listed)}
    return np.array([classes[label] for label in listed])


def _layout(model: Model, delimiter: str | None, decimal: str | None) -> tuple[str | None, str]:
    """Delimiter and decimal sign: those given, or those given in training."""
    return delimiter or model.extra.get("delimiter"), decimal or model.extra.get("decimal") or "."


def _libsvm_of(path: str, model: Model) -> Any:
    dense = model.encoder.standardiser is not None
    return read_libsvm(path, n_features=model.functions.network.n_columns, dense=dense)


def _checked_groups(groups: Sequence[str] | None, targets: Sequence[str], names: Sequence[str]) -> list[str]:
    """The columns of groups, each once."""
    for name in groups or ():
        if name not in names:
            raise ValueError(f"there is no column {name!r} for --groups. {suggestion(name, names)}")
        if name in targets:
            raise ValueError(f"--groups must be other columns than the labels, got {name!r}")
    return list(dict.fromkeys(groups or ()))


def _groups_to_report(
    path: str, model: Model, groups: Sequence[str] | None, targets: Sequence[str], names: Sequence[str]
) -> list[str]:
    """The columns of the groups asked for, or else of those in training, if the file has them."""
    if groups:
        return _checked_groups(groups, targets, names)
    trained: list[str] = model.extra.get("groups") or []
    missing = [name for name in trained if name not in names]
    if missing:
        warn_caller(f"{path} has no column {missing[0]!r} of the groups in training: nothing is reported by group.")
    return [] if missing else trained


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


def _refuse_target(path: str, target: str | Sequence[str] | None) -> None:
    if target is not None:
        raise ValueError(f"--target names a column or an array, and the labels of {path} come first in its lines")


def _same_number(label: Any, text: Any) -> bool:
    try:
        return float(label) == float(text)
    except (TypeError, ValueError):
        return False
