"""Read the rows of a file for a model that was trained before: its inputs, and labels in the coding of its classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require, warn_caller
from aesara_nondecomp.cli.label_columns import labels_of, one_target, target_columns
from aesara_nondecomp.cli.tables import (
    LabelledTable,
    array_name,
    checked_groups,
    labels_of_archive,
    refuse_target,
    texts_of,
)
from aesara_nondecomp.data import read_libsvm, read_npz
from aesara_nondecomp.data.files import Table
from aesara_nondecomp.data.label_numbers import same_number
from aesara_nondecomp.data.label_sets import Indicators
from aesara_nondecomp.data.loaders import file_format
from aesara_nondecomp.data.streamed_tables import popped_labels
from aesara_nondecomp.data.table_columns import TableColumns, check_names, check_unique, read_table
from aesara_nondecomp.data.table_files import is_delimited_text, open_table
from aesara_nondecomp.models import Model
from aesara_nondecomp.step.scoring import SCORING_ROWS


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
        yield _archive_of(path, model, labels=None).X if kind == "npz" else _libsvm_of(path, model).X


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
        X, y, _ = _archive_of(path, model, labels=array_name(target or known))
        labels = labels_of_archive(y)
    else:
        refuse_target(path, target)
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
    with open_table(path, *_layout(path, model, delimiter, decimal)) as table:
        check_names(names, table.names)
        target = one_target(path, target or model.extra.get("target"), table.names)
        _refuse_inputs_as_targets(names, [target])
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
        if same_number(label, text):
            return label
    known = ", ".join(repr(label) for label in classes[:10])
    raise ValueError(f"the label {text!r} is unknown. Known: {known}. Give one of these.")


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
    return columns if column is None else texts_of(columns, column)


def _known_blocks(
    path: str, model: Model, delimiter: str | None, decimal: str | None
) -> Iterator[TableColumns | list[str]]:
    """The columns of a file that a model takes, in blocks whose scores are to the last bit those of the whole file."""
    names, as_they_are = _input_columns(model)
    with open_table(path, *_layout(path, model, delimiter, decimal)) as table:
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
    with open_table(path, *_layout(path, model, delimiter, decimal)) as table:
        check_names(names, table.names)
        targets = target_columns(path, target, table.names)
        _refuse_inputs_as_targets(names, targets)
        chosen = _groups_to_report(path, model, groups, targets, table.names)
        more = [name for name in chosen if name not in names]
        columns = table.read([*names, *targets, *more], [*as_they_are, *targets, *more])
    labels = labels_of(path, columns, targets)
    known = read_table(columns, missing=model.encoder.table.missing if model.encoder.table else ())
    return _inputs(model, columns.without(more)), labels, {name: known.cells[name] for name in chosen} or None


def _refuse_inputs_as_targets(names: Sequence[str], targets: Sequence[str]) -> None:
    """Refuse columns of labels that the model takes as inputs."""
    inputs = [name for name in targets if name in names]
    require(not inputs, "--target must name other columns than the inputs of the model", inputs)


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


def _layout(path: str, model: Model, delimiter: str | None, decimal: str | None) -> tuple[str | None, str]:
    """Delimiter and decimal sign: those given, or of text those given in training."""
    known = model.extra if is_delimited_text(path) else {}
    return delimiter or known.get("delimiter"), decimal or known.get("decimal") or "."


def _archive_of(path: str, model: Model, labels: str | None) -> Table:
    """The arrays of an .npz; where it and the training file name their columns, those of training in their order."""
    table, known = read_npz(path, labels=labels), model.encoder.names
    found = table.feature_names
    if known is None or found is None or known == found:
        return table
    check_unique(found)
    check_names(known, found)
    return table._replace(X=table.X[:, [found.index(name) for name in known]], feature_names=known)


def _libsvm_of(path: str, model: Model) -> Table:
    dense = model.encoder.standardiser is not None
    return read_libsvm(path, n_features=model.functions.network.n_columns, dense=dense)


def _groups_to_report(
    path: str, model: Model, groups: Sequence[str] | None, targets: Sequence[str], names: Sequence[str]
) -> list[str]:
    """The columns of the groups asked for, or else of those in training, if the file has them."""
    if groups:
        return checked_groups(groups, targets, names)
    trained: list[str] = model.extra.get("groups") or []
    missing = [name for name in trained if name not in names]
    if missing:
        warn_caller(f"{path} has no column {missing[0]!r} of the groups in training: nothing is reported by group.")
    return [] if missing else trained
