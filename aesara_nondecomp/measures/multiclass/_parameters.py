"""Checks of the parameters that measures of K classes take: matrices of costs, and numbers of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara_nondecomp._arrays import as_array, as_floats
from aesara_nondecomp._checks import require
from aesara_nondecomp.measures.multiclass.base import Matrix

Rows = tuple[tuple[float, ...], ...]


def cost_rows(name: str, given: Any) -> Rows:
    """A square matrix as tuples, by which measures are compared; a ValueError on anything else."""
    matrix = as_floats(given, name)
    square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] >= 2
    require(square and bool(np.isfinite(matrix).all()), f"{name} must be a finite matrix of shape (K, K)", given)
    return tuple(tuple(row) for row in matrix.tolist())


def matrix_for(name: str, rows: Rows, n_classes: int) -> Matrix:
    """The matrix that `cost_rows` made; a ValueError unless it is for that many classes."""
    require(len(rows) == n_classes, f"{name} must have a row and a column for each of {n_classes} classes", len(rows))
    return np.array(rows)


def label_numbers(name: str, given: Any) -> tuple[int, ...]:
    """One or several numbers of classes as a sorted tuple; a ValueError on anything else."""
    found = np.atleast_1d(as_array(given, name))
    whole = found.dtype.kind in "iu" and found.ndim == 1 and found.size > 0 and bool((found >= 0).all())
    require(whole, f"{name} must hold one or several numbers of classes, from 0", given)
    return tuple(np.unique(found).tolist())
