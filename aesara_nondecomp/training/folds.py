"""Which training rows are held out: a share of them, folds that cover all of them, or what a splitter says."""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import random_generator, require, warn_caller
from aesara_nondecomp.data import stratified_folds, stratified_split
from aesara_nondecomp.data.splits import fold_rows, split_rows

AUTO, LAST = "auto", "last"
SHARE = 0.2  # of the rows, held out once
FOLDS = 5
# A single part is held out from so many rows on, if it has so many of the rarest class: with fewer than 1,800 the
# standard error of a rate may exceed .0118. Otherwise folds waste no row, and their networks vote. Of very many rows,
# which take long to score, and of several classes, fewer must do.
ROWS_FOR_ONE_PART, VERY_MANY_ROWS = 20_000, 200_000
RARE_ROWS_FOR_ONE_PART, FEW_RARE_ROWS_FOR_ONE_PART = 1_800, 100
NEEDED = (
    "validation must be 'auto', 'last', a share of the rows strictly between 0 and 1, a number of folds of at least 2, "
    "a scikit-learn splitter, rows with groups (X, y, groups), or a pair (X, y)"
)


class Fold(NamedTuple):
    """A division of the rows for one network.

    Attributes
    ----------
    train : int array
        Indices of the rows to train on.
    held : int array
        Indices of the rows held out.
    """

    train: NDArray[Any]
    held: NDArray[Any]


def check_validation(validation: Any) -> Any:
    """Check the argument `validation` of `fit`.

    Parameters
    ----------
    validation : object
        See `fit`.

    Returns
    -------
    object
        The given value.

    Raises
    ------
    ValueError
        If it is none of the accepted kinds.
    """
    usable = (
        (isinstance(validation, str) and validation in (AUTO, LAST))
        or is_pair(validation)
        or _is_share(validation)
        or _is_count(validation)
        or is_splitter(validation)
    )
    require(usable, NEEDED, validation)
    return validation


def is_pair(validation: Any) -> bool:
    """Whether validation rows are the caller's own, and not training rows held out.

    Parameters
    ----------
    validation : object
        As given to `fit`.

    Returns
    -------
    bool
    """
    return isinstance(validation, (tuple, list)) and len(validation) in (2, 3)


def is_splitter(validation: Any) -> bool:
    """Whether it is a splitter as of scikit-learn: an object with a method `split`.

    Parameters
    ----------
    validation : object
        As given to `fit`.

    Returns
    -------
    bool
    """
    return callable(getattr(validation, "split", None)) and not isinstance(
        validation, (str, bytes, bytearray, type, np.ndarray)
    )


def plan_folds(
    validation: Any,
    signs: NDArray[Any],
    seed: Any,
    groups: Any = None,
    *,
    one_part: bool = False,
    strata: NDArray[Any] | None = None,
    classes: NDArray[Any] | None = None,
) -> list[Fold]:
    """Divide the rows for each network that is to be trained.

    Parameters
    ----------
    validation : str, float, int or splitter
        See `fit`.
    signs : array, shape (n,)
        Labels in {-1, +1}.
    seed : int or numpy Generator
        Of the division.
    groups : array-like, shape (n,), optional
        Rows of equal value are held out together.
    one_part : bool, default False
        Let "auto" hold rows out once, however few they are: for networks that take long to train.
    strata : int array, shape (n,), optional
        Parts of the classes to divide evenly, such as cells. Default: the classes.
    classes : int array, shape (n,), optional
        Of each row, where there are several; each part must hold all of them. Default: the two classes of `signs`.

    Returns
    -------
    list of Fold
        One, or several whose `held` do not overlap; none if "auto" finds too few rows to hold any out.

    Raises
    ------
    ValueError
        If a part would lack a class, or the splitter's parts are no division.
    """
    folds = _planned(validation, signs, seed, groups, one_part, strata, classes)
    for fold in folds:
        _check_fold(fold, signs) if classes is None else _check_classes(fold, classes)
    return folds


def _planned(
    validation: Any, signs: NDArray[Any], seed: Any, groups: Any, one_part: bool, strata: Any, classes: Any
) -> list[Fold]:
    labels = signs if classes is None else classes
    parts = labels if strata is None else strata
    if isinstance(validation, str):
        if validation == LAST:
            return [_last_rows(len(signs))]
        validation = _automatic(labels, groups, one_part)
        if validation is None:
            warn_caller(
                "a class has a single row, so none is held out: one network is trained in place of several, its last "
                "weights are kept, and it has no calibrated probabilities. Give that class more rows, leave it out or "
                "merge it with another, or pass validation=(X, y)."
            )
            return []
    if is_splitter(validation):
        return _folds_of_splitter(validation, labels, groups)
    if _is_share(validation):
        share = float(validation)
        if classes is None:
            return [Fold(*stratified_split(signs, share, seed, groups, strata))]
        return [Fold(*split_rows(parts, share, random_generator(seed), groups))]
    count = int(validation)
    if classes is None:
        fold = stratified_folds(signs, count, seed, groups, strata)
    else:
        fold = fold_rows(parts, count, random_generator(seed), groups)
    return [Fold(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(count)]


def _automatic(classes: NDArray[Any], groups: Any, one_part: bool) -> float | int | None:
    """The share or the number of folds; None if there are too few rows for either."""
    found, counts = np.unique(classes, return_counts=True)
    rarest = int(counts.min())
    if groups is not None:
        rarest = min(rarest, *(len(np.unique(np.asarray(groups)[classes == value])) for value in found))
    if rarest < 2:
        return None
    few_must_do = len(classes) >= VERY_MANY_ROWS or len(found) > 2
    needed = FEW_RARE_ROWS_FOR_ONE_PART if few_must_do else RARE_ROWS_FOR_ONE_PART
    enough = len(classes) >= ROWS_FOR_ONE_PART and SHARE * rarest >= needed
    return SHARE if enough or one_part else min(FOLDS, rarest)


def _last_rows(n_rows: int) -> Fold:
    cut = n_rows - max(1, round(SHARE * n_rows))
    return Fold(np.arange(cut), np.arange(cut, n_rows))


def _folds_of_splitter(splitter: Any, labels: NDArray[Any], groups: Any) -> list[Fold]:
    parts = splitter.split(np.zeros((len(labels), 1)), labels, groups)
    folds = [Fold(*(_indices(part, len(labels)) for part in pair)) for pair in parts]
    require(len(folds) > 0, "the splitter must make at least one division of the rows", folds)
    held = np.concatenate([fold.held for fold in folds])
    needed = "the splitter must hold each row out at most once (no repeated or random divisions)"
    require(len(np.unique(held)) == len(held), needed, type(splitter).__name__)
    for fold in folds:
        for part in fold:
            usable = (
                len(np.unique(part)) == len(part) and 0 <= min(part, default=0) and max(part, default=0) < len(labels)
            )
            require(usable, f"the splitter must give distinct indices from 0 to {len(labels) - 1}", part)
        require(len(np.intersect1d(*fold)) == 0, "the splitter must not train on rows that it holds out", splitter)
    return folds


def _indices(part: Any, n_rows: int) -> NDArray[np.intp]:
    """Row indices, also of a part that is given as one boolean for each row."""
    given = np.asarray(part)
    if given.dtype != bool:
        return given.astype(np.intp)
    require(given.shape == (n_rows,), f"a splitter's booleans must be one for each of the {n_rows} rows", given.shape)
    return np.flatnonzero(given)


def _check_fold(fold: Fold, signs: NDArray[Any]) -> None:
    for part, rows in zip(("training", "held-out"), fold):
        positives = int(np.sum(signs[rows] > 0))
        if not 0 < positives < len(rows):
            raise ValueError(
                f"the {part} part must hold both classes, got {positives} positives among {len(rows)} rows. Hold other "
                "rows out, for example a stratified share: validation=0.2."
            )


def _check_classes(fold: Fold, classes: NDArray[Any]) -> None:
    """Refuse a division of which a part lacks one of several classes."""
    n_classes = int(classes.max()) + 1
    for part, rows in zip(("training", "held-out"), fold):
        missing = n_classes - len(np.unique(classes[rows]))
        if missing:
            rarest = int(np.bincount(classes).min())
            raise ValueError(
                f"the {part} part must hold all {n_classes} classes, got none of {missing} of them; the rarest has "
                f"{rarest} rows. Hold other rows out, for example a stratified share: validation=0.2; or join or leave "
                "out rare classes."
            )


def _is_share(validation: Any) -> bool:
    is_number = isinstance(validation, numbers.Real) and not isinstance(validation, (bool, np.bool_))
    return is_number and bool(0 < validation < 1)


def _is_count(validation: Any) -> bool:
    is_whole = isinstance(validation, numbers.Integral) and not isinstance(validation, (bool, np.bool_))
    return is_whole and int(validation) >= 2
