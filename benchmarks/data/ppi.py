"""Yeast protein pairs of Qi, Bar-Joseph and Klein-Seetharaman (2006), read as CMU published them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from aesara_nondecomp.data import Dataset
from benchmarks.data.matrices import read_matrix
from benchmarks.data.prepared import split_rows
from benchmarks.data.source import Source

POSITIVE_PAIRS, RANDOM_PAIRS = "dipsPosPair.feature", "dipsRandpairSub23w.feature"
FILES = (f"ppi/{POSITIVE_PAIRS}", f"ppi/{RANDOM_PAIRS}")
MISSING = -100.0


class ProteinPairs(NamedTuple):
    """Pairs of proteins; those that interact come first."""

    X: np.ndarray
    """Features, float32, shape (n, d), with NaN for a missing value."""
    y: np.ndarray
    """uint8: 1 is an interacting pair, 0 a random one."""


def load(data_dir: Path) -> Dataset:
    """A stratified split; missing values become the means of the training rows."""
    X, y = read_ppi(data_dir / "ppi")
    train, test = split_rows(y)
    means = column_means(X[train])
    return Dataset(
        "ppi",
        fill_missing(X[train], means),
        y[train],
        fill_missing(X[test], means),
        y[test],
        None,
        None,
        "Qi, Y., Bar-Joseph, Z. and Klein-Seetharaman, J. (2006). Evaluation of different biological "
        "data and computational classification methods for use in protein interaction prediction.",
    )


def read_ppi(folder: Path) -> ProteinPairs:
    """Read interacting and random pairs of proteins.

    Parameters
    ----------
    folder : Path
        Holds ``dipsPosPair.feature`` and ``dipsRandpairSub23w.feature``: comma-separated numbers, one pair a line, the
        label (1 or 0) in the last column, -100 for a missing value.

    Returns
    -------
    ProteinPairs
        One row for each pair.

    Raises
    ------
    FileNotFoundError
        If a file is missing.
    ValueError
        If a line is no row of numbers, the files differ in width, or the last column is not the file's label.
    """
    parts = [_pairs(folder / POSITIVE_PAIRS, 1), _pairs(folder / RANDOM_PAIRS, 0)]
    widths = [part.shape[1] for part in parts]
    if widths[0] != widths[1]:
        raise ValueError(f"the two files in {folder} must have equally many columns, got {widths[0]} and {widths[1]}.")
    X = np.concatenate(parts)
    X[X == MISSING] = np.nan
    return ProteinPairs(X, np.repeat(np.array([1, 0], np.uint8), [len(part) for part in parts]))


def fill_missing(X: np.ndarray, means: np.ndarray) -> np.ndarray:
    """`X` with each NaN replaced by its column's entry of `means`."""
    return np.where(np.isnan(X), means.astype(X.dtype), X)


def column_means(X: np.ndarray) -> np.ndarray:
    """Mean of the values present in each column; 0 for an empty column."""
    present = ~np.isnan(X)
    totals = np.where(present, X, 0.0).sum(axis=0, dtype=np.float64)
    return totals / np.maximum(present.sum(axis=0), 1)


def _pairs(path: Path, label: int) -> np.ndarray:
    rows = read_matrix(path, delimiter=",")
    if not (rows[:, -1] == label).all():
        found = np.unique(rows[:, -1])[:5].tolist()
        raise ValueError(f"the last column of {path} must be the label {label} in every row, got {found}.")
    return rows[:, :-1]


SOURCES = {"ppi": Source(load, FILES)}
