"""Read the yeast protein pairs of Qi, Bar-Joseph and Klein-Seetharaman (2006) from CMU's two feature files."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from aesara_nondecomp.data.files import PathLike
from aesara_nondecomp.data.matrices import read_matrix

POSITIVE_PAIRS, RANDOM_PAIRS = "dipsPosPair.feature", "dipsRandpairSub23w.feature"
MISSING = -100.0


class ProteinPairs(NamedTuple):
    """Pairs of proteins, those that interact first.

    Attributes
    ----------
    X : float32 array, shape (n, d); NaN where the source has no value.
    y : uint8 array, shape (n,), in {0, 1}; 1 is an interacting pair.
    """

    X: np.ndarray
    y: np.ndarray


def read_ppi(folder: PathLike) -> ProteinPairs:
    """Read interacting and random pairs of proteins.

    Parameters
    ----------
    folder : path
        Holds ``dipsPosPair.feature`` and ``dipsRandpairSub23w.feature``: comma-separated numbers, one pair a line, the
        label (1 or 0) in the last column, -100 for a missing value.

    Raises
    ------
    FileNotFoundError
        If a file is missing.
    ValueError
        If a line is no row of numbers, the files differ in width, or the last column is not the file's label.
    """
    folder = Path(folder)
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
    """Means (d,) of the values present in each column; 0 for a column without any."""
    present = ~np.isnan(X)
    totals = np.where(present, X, 0.0).sum(axis=0, dtype=np.float64)
    return totals / np.maximum(present.sum(axis=0), 1)


def _pairs(path: Path, label: int) -> np.ndarray:
    rows = read_matrix(path, delimiter=",")
    if not (rows[:, -1] == label).all():
        found = np.unique(rows[:, -1])[:5].tolist()
        raise ValueError(f"the last column of {path} must be the label {label} in every row, got {found}.")
    return rows[:, :-1]
