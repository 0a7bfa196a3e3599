"""Read the user's files as inputs and labels for `fit` and models."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import suggestion
from aesara_nondecomp.data import read_csv_columns, read_libsvm, read_npz
from aesara_nondecomp.data.cells import is_missing
from aesara_nondecomp.data.files import as_numbers
from aesara_nondecomp.data.loaders import file_format
from aesara_nondecomp.data.table_columns import TableColumns, read_table
from aesara_nondecomp.models import Model

MOST_DENSE_ENTRIES = 50_000_000  # a larger LIBSVM file stays sparse, and unscaled
Cells = dict[str, list[str]]


class LabelledTable(NamedTuple):
    """A file to train on.

    Attributes
    ----------
    X : TableColumns, array or CSR matrix, shape (n, d)
        The columns of a .csv file, or a matrix.
    y : array, shape (n,)
        Labels, in the file's own coding.
    names : sequence of str, or None
        Column names of a matrix, if the file has them.
    """

    X: Any
    y: NDArray[Any]
    names: Sequence[str] | None = None


def read_training_table(options: argparse.Namespace) -> LabelledTable:
    """Read a file to train on: `options.data`, with the labels at `options.target`.

    Parameters
    ----------
    options : Namespace
        Parsed options, with data, target, drop and categorical.

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
    if kind == "csv":
        return _read_csv(options)
    for name in ("drop", "categorical"):
        if getattr(options, name):
            raise ValueError(
                f"--{name} names columns of a .csv table, but {options.data} is not a .csv file. Leave it out."
            )
    if kind == "npz":
        table = read_npz(options.data, labels=options.target or "y")
        return LabelledTable(table.X, table.y, table.feature_names)
    _refuse_target(options.data, options.target)
    table = read_libsvm(options.data, dense=False)
    dense = table.X.shape[0] * table.X.shape[1] <= MOST_DENSE_ENTRIES
    return LabelledTable(table.X.toarray() if dense else table.X, table.y)


def read_rows(path: str, model: Model) -> Any:
    """Read the inputs of a file, as raw as the training file, for a model.

    Parameters
    ----------
    path : str
        Path of the file.
    model : Model
        The model that will take the inputs.

    Returns
    -------
    TableColumns, array or CSR matrix

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file cannot be read, or is of another kind than the training file.
    """
    kind, table = file_format(path), model.encoder.table
    if (kind == "csv") != (table is not None):
        wanted = "a .csv table" if table else "LIBSVM text or .npz"
        raise ValueError(f"this model was trained on {wanted}, and {path} is another kind of file")
    if table is not None:
        return read_table(read_csv_columns(path), [*table.numeric, *table.categorical])
    if kind == "npz":
        return read_npz(path, labels=None).X
    dense = model.encoder.standardiser is not None
    return read_libsvm(path, n_features=model.functions.network.n_columns, dense=dense).X


def read_labels(path: str, target: str | None, model: Model) -> NDArray[Any]:
    """Read the labels of a file, in the coding of a model's classes.

    Parameters
    ----------
    path : str
        Path of the file.
    target : str or None
        Column or array of the labels. None: as in the training file.
    model : Model
        The model whose classes they are.

    Returns
    -------
    array, shape (n,)

    Raises
    ------
    ValueError
        If the file has no labels, or one that is not among the model's classes.
    """
    kind = file_format(path)
    target = target if kind == "libsvm" else target or model.extra.get("target")
    if kind == "libsvm":
        _refuse_target(path, target)
        labels: Any = read_libsvm(path, dense=False).y
    elif kind == "csv":
        labels = _target(read_csv_columns(path), target, path)
    else:
        labels = read_npz(path, labels=target or "y").y
    listed = np.asarray(labels).tolist()
    known = {label: label_like(label, model.classes) for label in dict.fromkeys(listed)}
    return np.array([known[label] for label in listed])


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
        if label == text or str(label) == str(text) or _same_number(label, text):
            return label
    known = ", ".join(repr(label) for label in classes[:10])
    raise ValueError(f"the label {text!r} is unknown. Known: {known}. Give one of these.")


def _read_csv(options: argparse.Namespace) -> LabelledTable:
    columns = read_csv_columns(options.data)
    labels = as_numbers(_target(columns, options.target, options.data))
    for name in options.drop:
        if name not in columns:
            raise ValueError(f"there is no column {name!r} to drop. {suggestion(name, columns)}")
    kept = {name: cells for name, cells in columns.items() if name not in (options.target, *options.drop)}
    if not kept:
        raise ValueError(f"{options.data} has no feature columns beside the labels. Check its commas.")
    for name in options.categorical:
        if name not in kept:
            raise ValueError(f"the table has no column {name!r}. {suggestion(name, kept)}")
    table: TableColumns = read_table(kept)._replace(categories=frozenset(options.categorical))
    return LabelledTable(table, labels)


def _target(columns: Cells, target: str | None, path: str) -> Sequence[str]:
    if target is None:
        raise ValueError(f"{path} needs the name of its label column: give --target. Columns: {', '.join(columns)}")
    if target not in columns:
        raise ValueError(f"{path} has no column {target!r} for --target. {suggestion(target, columns)}")
    missing = [row for row, cell in enumerate(columns[target], start=1) if is_missing(cell)]
    if missing:
        raise ValueError(f"{path} has {len(missing)} rows without a label, the first is row {missing[0]}. Drop them.")
    return columns[target]


def _refuse_target(path: str, target: str | None) -> None:
    if target is not None:
        raise ValueError(f"--target names a column or an array, and the labels of {path} come first in its lines")


def _same_number(label: Any, text: Any) -> bool:
    try:
        return float(label) == float(text)
    except (TypeError, ValueError):
        return False
