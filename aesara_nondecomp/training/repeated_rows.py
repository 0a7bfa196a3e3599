"""Copies of rows, of which some would be trained on and others held out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import is_sparse
from aesara_nondecomp._checks import warn_caller
from aesara_nondecomp.data import BatchSource

MOST_ROWS, MOST_COLUMNS = 10_000, 50  # that are looked at
FEWEST_ROWS = 20  # of a class
MOST_DIFFERENT = 0.5  # share of the rows of a class that are different, if they repeat


def warn_of_repeated_rows(rows: Any, labels: NDArray[Any]) -> None:
    """Warn where most rows of a class are copies, as after oversampling, and rows are held out one by one.

    Rows of few values repeat by nature. They do not count: at least two columns must tell the different rows apart.

    Parameters
    ----------
    rows : array, LazyRows, CSR matrix or BatchSource, shape (n, d)
        Rows to train on, of which some are held out. Sparse and streamed ones are not looked at.
    labels : array, shape (n,)
        Their labels, of any number of classes.

    Warns
    -----
    UserWarning
        If there are such copies.
    """
    if isinstance(rows, BatchSource) or is_sparse(rows):
        return
    rng = np.random.default_rng(0)
    columns = _some(rng, np.arange(rows.shape[1]), MOST_COLUMNS)
    for label in np.unique(labels):
        chosen = _some(rng, np.flatnonzero(labels == label), MOST_ROWS)
        if len(chosen) < FEWEST_ROWS:
            continue
        different = _different_rows(np.asarray(rows[chosen])[:, columns])
        if different:
            warn_caller(
                f"rows repeat: {len(chosen)} rows of a class hold {different} different ones. Copies of one row are "
                "trained on and held out, so that value, threshold and probabilities of the rows held out flatter the "
                "model. Drop the copies (sample_weight= counts a row several times), or give validation_groups=, equal "
                "for all copies of a row."
            )
            return


def _different_rows(rows: NDArray[Any]) -> int:
    """How many rows are different, if most of them are copies; otherwise 0."""
    rows = np.ascontiguousarray(rows)
    different = len(np.unique(rows.view(f"V{rows.dtype.itemsize * rows.shape[1]}")))
    if different > MOST_DIFFERENT * len(rows):
        return 0
    values = np.array([len(np.unique(column)) for column in rows.T])
    telling = (values > 2) & (values >= MOST_DIFFERENT * different)
    return different if np.count_nonzero(telling) >= 2 else 0


def _some(rng: np.random.Generator, indices: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    return indices if len(indices) <= most else np.sort(rng.choice(indices, most, replace=False, shuffle=False))
