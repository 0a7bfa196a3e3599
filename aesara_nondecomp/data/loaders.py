"""Read features and labels from a file by its suffix; the readers of LIBSVM text and .npz files."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from aesara_nondecomp._checks import suggestion
from aesara_nondecomp.data.csv_files import read_csv
from aesara_nondecomp.data.files import PathLike, Table, open_archive, stored_array, text_lines, whole_numbers

COMPRESSIONS = (".gz", ".bz2", ".xz")
LIBSVM_SUFFIXES = ("", ".txt", ".svm", ".libsvm", ".t", ".tr", ".val")


def read(
    path: PathLike,
    *,
    target: str | None = None,
    delimiter: str = ",",
    features: str = "X",
    labels: str = "y",
    n_features: int | None = None,
    dense: bool = True,
) -> Table:
    """Read a file by its suffix: .npz, .csv, or LIBSVM text (.txt, .svm, .libsvm, .t, .tr, .val, none).

    Text may be compressed (.gz, .bz2, .xz).

    Parameters
    ----------
    path : path
    target, delimiter
        For .csv, see `read_csv`; `target` is needed.
    features, labels
        For .npz, see `read_npz`.
    n_features, dense
        For LIBSVM text, see `read_libsvm`.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        If the suffix is unknown, or the file cannot be read as what its suffix says.
    FileNotFoundError
        If there is no such file.
    """
    kind = file_format(path)
    if kind == "npz":
        return read_npz(path, features, labels)
    if kind == "libsvm":
        return read_libsvm(path, n_features, dense)
    if target is None:
        raise ValueError(f"{path} is a .csv file and needs the name of its label column. Pass target=.")
    return read_csv(path, target, delimiter)


def file_format(path: PathLike) -> str:
    """What the suffix of a file says it is: "csv", "npz" or "libsvm" (see `read`).

    Raises
    ------
    ValueError
        If the suffix is unknown.
    """
    suffix = Path(path).suffix.lower()
    if suffix in COMPRESSIONS:
        suffix = Path(path).with_suffix("").suffix.lower()
    if suffix in (".csv", ".npz"):
        return suffix[1:]
    if suffix in LIBSVM_SUFFIXES:
        return "libsvm"
    raise ValueError(
        f"{path} has the unknown suffix {suffix!r}; known are .npz, .csv and, for LIBSVM text, "
        f"{', '.join(LIBSVM_SUFFIXES[1:])} or none. Rename the file, or call its reader yourself."
    )


def read_libsvm(path: PathLike, n_features: int | None = None, dense: bool = True) -> Table:
    """Read LIBSVM (SVMlight) text: `label index:value ...`, one row per line.

    Parameters
    ----------
    path : path
        Plain text or .gz, .bz2, .xz. Indices start at 1 and rise within a line; `qid:` is
        ignored and `#` starts a comment.
    n_features : int, optional
        Number of columns d; by default the largest index. Give it for a test file.
    dense : bool
        Return an array; otherwise a CSR matrix.

    Returns
    -------
    Table
        `X` in float32; `y` as integers if all labels are whole numbers, else float64.

    Raises
    ------
    ValueError
        For a malformed line, naming the file and the line number; for a file without rows or
        features, or that is no text; for an index above `n_features`.
    FileNotFoundError
        If there is no such file.
    """
    labels, values, columns, row_ends = array("d"), array("f"), array("i"), array("q", [0])
    with text_lines(path) as lines:
        for number, line in enumerate(lines, start=1):
            try:
                _add_libsvm_row(line.partition("#")[0].split(), labels, values, columns)
            except (ValueError, OverflowError) as error:
                raise ValueError(f"{path}, line {number}: {error}") from None
            if len(row_ends) <= len(labels):
                row_ends.append(len(values))
    width = _libsvm_width(path, np.asarray(columns), n_features)
    X = scipy.sparse.csr_matrix(
        (np.asarray(values), np.asarray(columns), np.asarray(row_ends)), shape=(len(labels), width)
    )
    return Table(X.toarray() if dense else X, whole_numbers(np.asarray(labels)), None)


def read_npz(path: PathLike, features: str = "X", labels: str | None = "y") -> Table:
    """Read arrays stored by `numpy.savez` or `numpy.savez_compressed`; pickles are refused.

    Parameters
    ----------
    path : path
    features, labels : str
        Names of the arrays, shapes (n, d) and (n,); labels=None reads no labels. An array
        "feature_names", shape (d,), is read too if there is one.

    Returns
    -------
    Table
        `X` and `y` as stored; `y` is empty without labels.

    Raises
    ------
    ValueError
        If the file is no .npz archive or is damaged, lacks one of the arrays, or holds Python objects there.
    FileNotFoundError
        If there is no such file.
    """
    with open_archive(path) as archive:
        X = _member(archive, features, path)
        y = np.empty(0) if labels is None else _member(archive, labels, path)
        names = _member(archive, "feature_names", path) if "feature_names" in archive.files else None
    return Table(X, y, None if names is None else _strings(names))


def _add_libsvm_row(tokens: Sequence[str], labels: array, values: array, columns: array) -> None:
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
                f"indices must start at 1 and rise within a line, got {index} after {last}. "
                "Sort them, and add 1 if the file counts from 0."
            )
        last = int(index)
        columns.append(last - 1)
        values.append(_number(value, f"a value of feature {index}"))


def _libsvm_width(path: PathLike, columns: np.ndarray, n_features: int | None) -> int:
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


def _member(archive: Any, name: str, path: PathLike) -> np.ndarray:
    if name not in archive.files:
        raise ValueError(
            f"{path} has no array {name!r}; name the arrays with features= and labels=. "
            f"{suggestion(name, archive.files)}"
        )
    return stored_array(archive, name, path)


def _strings(names: np.ndarray) -> tuple[str, ...]:
    return tuple(name.decode() if isinstance(name, bytes) else str(name) for name in names.tolist())
