"""Read features and labels from a file by its suffix; the readers of LIBSVM text and .npz files."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require, suggestion
from aesara_nondecomp.data.column_kinds import typed
from aesara_nondecomp.data.csv_files import read_csv
from aesara_nondecomp.data.files import (
    PathLike,
    Table,
    narrow_floats,
    open_archive,
    stored_array,
    text_lines,
    uncompressed_suffix,
)
from aesara_nondecomp.data.label_numbers import as_labels, whole_numbers
from aesara_nondecomp.data.table_columns import check_names
from aesara_nondecomp.data.table_files import is_table_file, open_table
from aesara_nondecomp.data.table_parts import TEXT_SUFFIXES

LIBSVM_SUFFIXES = ("", ".txt", ".svm", ".libsvm", ".t", ".tr", ".val")


def read(
    path: PathLike,
    *,
    target: str | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    features: str = "X",
    labels: str = "y",
    n_features: int | None = None,
    dense: bool = True,
) -> Table:
    """Read a file of numbers in the format of its suffix: .npz, a table or LIBSVM text.

    Tables are delimited text (.csv, .tsv, .data), .parquet, .xlsx and .arff.

    LIBSVM text has the suffix .txt, .svm, .libsvm, .t, .tr, .val or none. Text may be compressed (.gz, .bz2, .xz).

    Parameters
    ----------
    path : path-like
        The file.
    target : str, optional
        For a table, which needs it: name of the label column.
    delimiter : str, optional
        For delimited text: one character. Default: told from the first lines.
    decimal : str, default "."
        For delimited text: the decimal sign, "." or ",".
    features : str, default "X"
        For .npz: name of the feature array.
    labels : str, default "y"
        For .npz: name of the label array.
    n_features : int, optional
        For LIBSVM text: number of columns, at least the largest index, which is the default.
    dense : bool, default True
        For LIBSVM text: return an array and not a CSR matrix.

    Returns
    -------
    Table
        See `read_csv`, `read_npz` and `read_libsvm`.

    Raises
    ------
    ValueError
        If the suffix is unknown, or the file cannot be read in that format.
    FileNotFoundError
        If there is no such file.
    """
    kind = file_format(path)
    if kind == "npz":
        return read_npz(path, features, labels)
    if kind == "libsvm":
        return read_libsvm(path, n_features, dense)
    if target is None:
        raise ValueError(f"{path} is a table and needs the name of its label column. Pass target=.")
    if uncompressed_suffix(path) in TEXT_SUFFIXES:
        return read_csv(path, target, delimiter, decimal)
    return _read_numbers(path, target, delimiter, decimal)


def file_format(path: PathLike) -> str:
    """Tell the format of a file by its suffix; see `read`.

    Parameters
    ----------
    path : path-like
        The file, which need not exist.

    Returns
    -------
    {"table", "npz", "libsvm"}
        The format.

    Raises
    ------
    ValueError
        If the suffix is unknown.
    """
    if is_table_file(path):
        return "table"
    suffix = uncompressed_suffix(path)
    if suffix == ".npz":
        return "npz"
    if suffix in LIBSVM_SUFFIXES:
        return "libsvm"
    raise ValueError(
        f"{path} has the unknown suffix {suffix!r}; known are .npz, .csv, .tsv, .data, .parquet, .xlsx, "
        f".arff and, for LIBSVM text, {', '.join(LIBSVM_SUFFIXES[1:])} or none. Rename the file, or call its reader."
    )


def read_libsvm(path: PathLike, n_features: int | None = None, dense: bool = True) -> Table:
    """Read LIBSVM (SVMlight) text: ``label index:value ...``, one row per line.

    Parameters
    ----------
    path : path-like
        Plain text, or compressed as .gz, .bz2 or .xz. Indices start at 1 and increase within a line; `qid:` is
        ignored, and `#` starts a comment.
    n_features : int, optional
        Number of columns d, at least the largest index, which is the default. Pass that of the training file for a
        test file.
    dense : bool, default True
        Return an array and not a CSR matrix.

    Returns
    -------
    Table
        `X` is in float32, or in float64 where float32 would lose digits (timestamps, long ids); `y` holds integers if
        all labels are whole numbers, otherwise float64.

    Raises
    ------
    ValueError
        If a line is malformed, naming file and line; if the file is not text, or has no rows or no features; or if an
        index exceeds `n_features`.
    FileNotFoundError
        If there is no such file.
    """
    import scipy.sparse  # slow

    labels, values, columns, row_ends = array("d"), array("d"), array("i"), array("q", [0])
    with text_lines(path) as lines:
        for number, line in enumerate(lines, start=1):
            try:
                _add_libsvm_row(line.partition("#")[0].split(), labels, values, columns)
            except (ValueError, OverflowError) as error:
                raise ValueError(f"{path}, line {number}: {error}") from None
            if len(row_ends) <= len(labels):
                row_ends.append(len(values))
    width = _libsvm_width(path, np.asarray(columns), n_features)
    X = narrow_floats(
        scipy.sparse.csr_matrix(
            (np.asarray(values), np.asarray(columns), np.asarray(row_ends)), shape=(len(labels), width)
        )
    )
    return Table(X.toarray() if dense else X, whole_numbers(np.asarray(labels)), None)


def read_npz(path: PathLike, features: str = "X", labels: str | None = "y") -> Table:
    """Read arrays stored by `numpy.savez` or `numpy.savez_compressed`; pickled objects are refused.

    Parameters
    ----------
    path : path-like
        The file. An array "feature_names", shape (d,), is read too if there is one.
    features : str, default "X"
        Name of the feature array, shape (n, d).
    labels : str or None, default "y"
        Name of the label array, shape (n,); None reads no labels.

    Returns
    -------
    Table
        `X` and `y` are as stored; `y` is empty without labels.

    Raises
    ------
    ValueError
        If the file is not an .npz archive, is damaged, lacks one of the arrays, or holds Python objects in one; or if
        "feature_names" does not name each column of the features.
    FileNotFoundError
        If there is no such file.
    """
    with open_archive(path) as archive:
        X = _member(archive, features, path)
        y = np.empty(0) if labels is None else _member(archive, labels, path)
        names = _member(archive, "feature_names", path) if "feature_names" in archive.files else None
    if names is not None:
        needed = f"feature_names in {path} must name each column of {features!r}, which has the shape {X.shape}"
        require(names.shape == X.shape[1:], needed, names.tolist())
    return Table(X, y, None if names is None else _strings(names))


def _read_numbers(path: PathLike, target: str, delimiter: str | None, decimal: str) -> Table:
    with open_table(path, delimiter, decimal) as table:
        check_names([target], table.names)
        columns = table.read(table.names, [target])
    features = typed(columns.without([target]))
    if features.categories:
        raise ValueError(f"{path} holds text in the columns {sorted(features.categories)}. Encode it as numbers first.")
    X = np.column_stack(list(features.cells.values()))
    return Table(narrow_floats(X), as_labels(columns.cells[target]), tuple(features.cells))


def _add_libsvm_row(tokens: Sequence[str], labels: array[float], values: array[float], columns: array[int]) -> None:
    if not tokens:
        return
    labels.append(_number(tokens[0], "a label"))
    last = 0
    for token in tokens[1:]:
        index, colon, value = token.partition(":")
        if index == "qid":
            continue
        if not colon or not index.isdecimal():
            raise ValueError(
                f"expected index:value with an index from 1, got {token!r}. Check that the file is LIBSVM text."
            )
        if int(index) <= last:
            raise ValueError(
                f"indices must start at 1 and increase within a line, got {index} after {last}. "
                "Sort them, and add 1 if the file counts from 0."
            )
        last = int(index)
        columns.append(last - 1)
        values.append(_number(value, f"a value of feature {index}"))


def _libsvm_width(path: PathLike, columns: NDArray[Any], n_features: int | None) -> int:
    if not columns.size:
        raise ValueError(f"{path} must hold rows with features, got none. Check that it is LIBSVM text.")
    largest = int(columns.max()) + 1
    if n_features is not None and largest > n_features:
        raise ValueError(
            f"{path} holds feature {largest}, more than n_features={n_features}. "
            "Pass the number of features of the training file, or leave it out."
        )
    return largest if n_features is None else n_features


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"expected a number for {what}, got {text!r}. Check that line.") from None


def _member(archive: Any, name: str, path: PathLike) -> NDArray[Any]:
    if name not in archive.files:
        raise ValueError(
            f"{path} has no array {name!r}; name the arrays with features= and labels=. "
            f"{suggestion(name, archive.files)}"
        )
    return stored_array(archive, name, path)


def _strings(names: NDArray[Any]) -> tuple[str, ...]:
    return tuple(name.decode() if isinstance(name, bytes) else str(name) for name in names.tolist())
