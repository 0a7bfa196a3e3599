"""Checks of sample weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_floats


def check_sample_weight(sample_weight: Any, signs: NDArray[Any]) -> NDArray[Any]:
    """Check sample weights against labels in {-1, +1}.

    Parameters
    ----------
    sample_weight : array-like, shape (n,)
        Finite numbers of at least 0.
    signs : array, shape (n,)
        Labels in {-1, +1}.

    Returns
    -------
    float64 array, shape (n,)

    Raises
    ------
    ValueError
        If they are not one finite number of at least 0 per row, some of them positive in each class, or so large or
        small that sums of them would not fit into float32.
    """
    weight = check_row_weight(sample_weight, len(signs))
    for sign, name in ((1, "positive"), (-1, "negative")):
        if not (weight[signs == sign] > 0).any():
            raise ValueError(
                "sample_weight must be above 0 for some rows of each class, got 0 for all "
                f"{name} rows. Give some of them weight, or leave sample_weight out."
            )
    return weight


def check_row_weight(sample_weight: Any, n_rows: int) -> NDArray[Any]:
    """Check sample weights of rows, whatever their labels.

    Parameters
    ----------
    sample_weight : array-like, shape (n,)
        Finite numbers of at least 0.
    n_rows : int
        Number n of rows.

    Returns
    -------
    float64 array, shape (n,)

    Raises
    ------
    ValueError
        If they are not one finite number of at least 0 per row, or so large or small that sums of them would not fit
        into float32.
    """
    weight = as_floats(sample_weight, "sample_weight")
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight must hold one weight per row, shape ({n_rows},), got shape {weight.shape}.")
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError(
            "sample_weight must be finite and not negative, got a smallest value of "
            f"{weight.min()} and a largest of {weight.max()}. Correct those rows, or drop them."
        )
    if weight.any() and not 1e-20 < weight.max() < 1e20:
        raise ValueError(
            f"sample_weight must be of ordinary size, got a largest of {weight.max()}. "
            "Divide it by its mean: only ratios of weights count."
        )
    return weight
