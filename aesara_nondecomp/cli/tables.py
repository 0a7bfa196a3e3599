"""From the user's files to arrays, and which part of a file a model needs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from aesara_nondecomp._checks import suggestion
from aesara_nondecomp.data import read_csv_columns, read_libsvm, read_npz
from aesara_nondecomp.data.files import as_numbers
from aesara_nondecomp.data.loaders import file_format
from aesara_nondecomp.data.tabular import Columns, TableEncoder, is_missing
from aesara_nondecomp.models.model import Model

MOST_DENSE_ENTRIES = 50_000_000  # a larger LIBSVM file stays sparse, and unscaled


class TrainingTable(NamedTuple):
    """A file to train on: columns of text, or a matrix."""

    labels: np.ndarray
    columns: Columns | None
    X: Any
    names: Sequence[str] | None


def read_training_table(options: argparse.Namespace) -> TrainingTable:
    """Read `options.data` with the labels at `options.target`.

    Raises
    ------
    ValueError, FileNotFoundError
        If it cannot be read, or the target is not there.
    """
    kind = file_format(options.data)
    if kind == "csv":
        columns = read_csv_columns(options.data)
        labels = as_numbers(_target(columns, options.target, options.data))
        for name in options.drop:
            if name not in columns:
                raise ValueError(f"there is no column {name!r} to drop. {suggestion(name, columns)}")
        kept = {name: cells for name, cells in columns.items() if name not in (options.target, *options.drop)}
        if not kept:
            raise ValueError(f"{options.data} has no feature columns beside the labels. Check its commas.")
        return TrainingTable(labels, kept, None, None)
    for name in ("drop", "categorical"):
        if getattr(options, name):
            raise ValueError(f"--{name} is of the columns of a .csv table, and {options.data} is none. Leave it out.")
    if kind == "npz":
        table = read_npz(options.data, labels=options.target or "y")
        return TrainingTable(table.y, None, table.X, table.feature_names)
    _refuse_target(options.data, options.target)
    table = read_libsvm(options.data, dense=False)
    X = table.X.toarray() if table.X.shape[0] * table.X.shape[1] <= MOST_DENSE_ENTRIES else table.X
    return TrainingTable(table.y, None, X, None)


def read_rows(path: str, model: Model) -> Any:
    """The features of a file as raw as the one trained on, as the model wants them.

    Raises
    ------
    ValueError, FileNotFoundError
        If the file cannot be read or is of another kind than the training file.
    """
    kind, preparation = file_format(path), model.extra.get("preparation")
    if (kind == "csv") != (preparation is not None):
        wanted = "a .csv table" if preparation else "LIBSVM text or .npz"
        raise ValueError(f"this model was trained on {wanted}, and {path} is another kind of file")
    if preparation:
        return TableEncoder.from_dict(preparation).transform(read_csv_columns(path))
    if kind == "npz":
        return read_npz(path, labels=None).X
    n_features = model.functions.network.n_columns
    return read_libsvm(path, n_features=n_features, dense=model.scaling is not None).X


def read_signs(path: str, target: str | None, model: Model) -> np.ndarray:
    """The labels of a file in {-1, +1}, +1 for the model's positive class.

    Raises
    ------
    ValueError
        If the file has no labels, or one that is neither of the model's two.
    """
    kind = file_format(path)
    if kind == "libsvm":
        _refuse_target(path, target)
        labels: Any = read_libsvm(path, dense=False).y
    else:
        target = target or model.extra.get("target")
        csv = kind == "csv"
        labels = _target(read_csv_columns(path), target, path) if csv else read_npz(path, labels=target or "y").y
    found = {label: label_like(label, model.classes) for label in dict.fromkeys(np.asarray(labels).tolist())}
    positive = model.classes[1]
    return np.array([1 if found[label] == positive else -1 for label in np.asarray(labels).tolist()], dtype=np.int8)


def label_like(text: Any, classes: Sequence[Any]) -> Any:
    """The class that a label, or its text, stands for: "1", "1.0" and 1 are all the class 1.

    Raises
    ------
    ValueError
        If it is none of them.
    """
    for label in classes:
        if label == text or str(label) == str(text) or _same_number(label, text):
            return label
    known = ", ".join(repr(label) for label in classes[:10])
    raise ValueError(f"the label {text!r} is none of the known ones: {known}. Give one of these.")


def _target(columns: Columns, target: str | None, path: str) -> Sequence[str]:
    if target is None:
        raise ValueError(f"{path} needs the name of its label column: give --target. Columns: {', '.join(columns)}")
    if target not in columns:
        raise ValueError(f"{path} has no column {target!r} for --target. {suggestion(target, columns)}")
    gaps = [row for row, cell in enumerate(columns[target], start=1) if is_missing(cell)]
    if gaps:
        raise ValueError(f"{path} has {len(gaps)} rows without a label, the first is row {gaps[0]}. Drop them.")
    return columns[target]


def _refuse_target(path: str, target: str | None) -> None:
    if target is not None:
        raise ValueError(f"--target names a column or an array, and the labels of {path} come first in its lines")


def _same_number(label: Any, text: Any) -> bool:
    try:
        return float(label) == float(text)
    except (TypeError, ValueError):
        return False
