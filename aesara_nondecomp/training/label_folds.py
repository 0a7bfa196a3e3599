"""Which rows are held out where a row may have several labels: as for two classes, but so that each label is in each
part."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import warn_caller
from aesara_nondecomp.data.splits import any_of_groups, label_parts
from aesara_nondecomp.training.folds import (
    AUTO,
    FOLDS,
    RARE_ROWS_FOR_ONE_PART,
    ROWS_FOR_ONE_PART,
    SHARE,
    Fold,
    is_splitter,
    plan_folds,
)


def plan_label_folds(
    validation: Any, matrix: NDArray[Any], seed: Any, groups: Any = None, *, one_part: bool = False
) -> list[Fold]:
    """Divide the rows for each network that is to be trained.

    Parameters
    ----------
    validation : str, float, int or splitter
        See `fit`.
    matrix : bool array, shape (n, L)
        Which labels the rows have; each has rows with and without it.
    seed : int or numpy Generator
        Of the division.
    groups : array-like, shape (n,), optional
        Rows of equal value are held out together.
    one_part : bool, default False
        As for `plan_folds`.

    Returns
    -------
    list of Fold
        As from `plan_folds`.

    Raises
    ------
    ValueError
        If a part would lack rows with or without a label, or the splitter's parts are no division.
    """
    if isinstance(validation, str) and validation == AUTO:
        validation = _automatic(matrix, groups, one_part)
        if validation is None:
            warn_caller(
                "a label has a single row, or all but one, so no rows are held out: one network is trained in place "
                "of several, its last weights are kept, and it has no calibrated probabilities. Give that label more "
                "rows, leave it out, or pass validation=(X, y)."
            )
            return []
    if isinstance(validation, str) or is_splitter(validation):
        folds = plan_folds(validation, np.where(matrix[:, 0], 1, -1), seed, groups)
    else:
        whole = float(validation) >= 1
        shares = np.full(int(validation), 1 / int(validation)) if whole else [validation, 1 - validation]
        part = label_parts(matrix, shares, seed, groups)
        folds = [
            Fold(np.flatnonzero(part != k), np.flatnonzero(part == k))
            for k in range(int(validation) if whole else 1)
        ]  # fmt: skip
    for fold in folds:
        for name, rows in zip(("training", "held-out"), fold):
            _check_part(name, matrix[rows], matrix)
    return folds


def _automatic(matrix: NDArray[Any], groups: Any, one_part: bool) -> float | int | None:
    """The share or the number of folds; None if there are too few rows for either."""
    sides = np.concatenate([matrix, ~matrix], axis=1)
    if groups is not None:
        sides, _ = any_of_groups(sides, groups)
    rarest = int(sides.sum(axis=0).min())
    if rarest < 2:
        return None
    enough = len(matrix) >= ROWS_FOR_ONE_PART and SHARE * rarest >= RARE_ROWS_FOR_ONE_PART
    return SHARE if enough or one_part else min(FOLDS, rarest)


def _check_part(name: str, part: NDArray[Any], matrix: NDArray[Any]) -> None:
    having = part.sum(axis=0)
    wrong = np.flatnonzero((having == 0) | (having == len(part)))
    if len(wrong):
        found = int(matrix[:, wrong[0]].sum())
        raise ValueError(
            f"the {name} part must hold rows with and without each label, got none of one kind for {len(wrong)} of "
            f"{matrix.shape[1]} labels; label {wrong[0]} has {found} of {len(matrix)} rows. Leave out rare labels, or "
            "use fewer folds, or validation=None."
        )
