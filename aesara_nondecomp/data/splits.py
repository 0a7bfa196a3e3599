"""Hold rows out for validation, keeping the share of positives, or whole groups, together: once, or in folds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_array
from aesara_nondecomp._checks import number, positive_int, random_generator, require
from aesara_nondecomp.metrics.checks import checked_signs


def stratified_split(
    signs: NDArray[Any], held_out: float = 0.2, seed: Any = None, groups: Any = None, strata: Any = None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Split row indices into a training part and a held-out part.

    Parameters
    ----------
    signs : array, shape (n,)
        Labels in {-1, +1}.
    held_out : float, default 0.2
        Share of the rows to hold out, in (0, 1).
    seed : int or numpy.random.Generator, optional
        Source of the shuffle.
    groups : array-like, shape (n,), optional
        Rows of equal value stay on one side (duplicates, blocks, patients). Classes are then not balanced: whole
        groups are held out, in shuffled order, until the number of their rows is as close to the share as it can be.
    strata : int array, shape (n,), optional
        Parts of the classes, each of which is held out by the same share. Default: the classes.

    Returns
    -------
    train : array of int, shape (n_train,)
        Sorted row indices to train on.
    held : array of int, shape (n - n_train,)
        The remaining row indices, sorted. Without `groups`, the same rounded share of each class, and at least one
        row of each class on either side.

    Raises
    ------
    ValueError
        If `held_out` lies outside (0, 1), if one part would lack a class, or if `groups` has another shape or a
        single value.
    """
    signs = checked_signs("signs", signs)
    if not 0.0 < number("held_out", held_out) < 1.0:
        raise ValueError(
            f"held_out must lie strictly between 0 and 1, got {held_out!r}. 0.2 holds a fifth of the rows out."
        )
    rng = random_generator(seed)
    for sign in (-1, 1):
        count = int(np.sum(signs == sign))
        if groups is None and count < 2:
            raise ValueError(
                f"a split needs at least two rows of each class, got {count} of class "
                f"{sign:+d}. Add rows of that class or train without a held-out part."
            )
    train, held = split_rows(signs if strata is None else strata, held_out, rng, groups)
    _check_both_classes(signs[train], "training")
    _check_both_classes(signs[held], "held-out")
    return train, held


def split_rows(
    strata: NDArray[Any], held_out: float, rng: np.random.Generator, groups: Any = None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Split row indices as `stratified_split` does, for any number of classes; a part may lack some of them.

    Parameters
    ----------
    strata : int array, shape (n,)
        Classes, or parts of them; the same rounded share of each is held out.
    held_out : float
        Share of the rows to hold out, in (0, 1).
    rng : numpy Generator
        Source of the shuffle.
    groups : array-like, shape (n,), optional
        Rows of equal value stay on one side; the strata are then not balanced.

    Returns
    -------
    train : array of int, shape (n_train,)
        Sorted row indices to train on.
    held : array of int, shape (n - n_train,)
        The remaining row indices, sorted.

    Raises
    ------
    ValueError
        If `groups` has another shape or a single value.
    """
    held = np.zeros(len(strata), dtype=bool)
    if groups is None:
        for part in _parts(strata):
            rows = rng.permutation(part)
            held[rows[: min(max(round(held_out * len(rows)), 1), len(rows) - 1)]] = True
    else:
        held = _whole_groups(groups, len(strata), held_out, rng)
    return np.flatnonzero(~held), np.flatnonzero(held)


def stratified_folds(
    signs: NDArray[Any], folds: int, seed: Any = None, groups: Any = None, strata: Any = None
) -> NDArray[np.intp]:
    """Assign each row to one of several folds of about equal size and share of positives.

    Parameters
    ----------
    signs : array, shape (n,)
        Labels in {-1, +1}.
    folds : int
        Number of folds, at least 2.
    seed : int or numpy.random.Generator, optional
        Source of the shuffle.
    groups : array-like, shape (n,), optional
        Rows of equal value stay in one fold. Groups are assigned from the largest to the smallest, each to the fold
        that it leaves most balanced.
    strata : int array, shape (n,), optional
        Parts of the classes, each of which is spread evenly over the folds. Default: the classes.

    Returns
    -------
    array of int, shape (n,)
        The fold of each row, from 0 to `folds` - 1. Every fold holds rows of both classes.

    Raises
    ------
    ValueError
        If a class has fewer rows, or there are fewer groups, than folds; or if groups leave a fold without a class.
    """
    signs, rng = checked_signs("signs", signs), random_generator(seed)
    require(positive_int("folds", folds) >= 2, "folds must be a number of at least 2", folds)
    for sign in (-1, 1):
        count = int(np.sum(signs == sign))
        if count < folds:
            raise ValueError(f"{folds} folds need as many rows of each class, got {count} of class {sign:+d}.")
    fold = fold_rows(signs if strata is None else strata, folds, rng, groups, staggered=strata is not None)
    if groups is not None:
        for k in range(folds):
            _check_both_classes(signs[fold == k], f"fold {k}")
    return fold


def fold_rows(
    strata: NDArray[Any], folds: int, rng: np.random.Generator, groups: Any = None, *, staggered: bool = True
) -> NDArray[np.intp]:
    """Assign rows to folds as `stratified_folds` does, for any number of classes; a fold may lack some of them.

    Parameters
    ----------
    strata : int array, shape (n,)
        Classes, or parts of them, each of which is spread evenly over the folds.
    folds : int
        Number of folds, at least 2.
    rng : numpy Generator
        Source of the shuffle.
    groups : array-like, shape (n,), optional
        Rows of equal value stay in one fold.
    staggered : bool, default True
        Whether each stratum begins at the fold where the one before has ended: many small strata would all fill the
        first folds.

    Returns
    -------
    array of int, shape (n,)
        The fold of each row, from 0 to `folds` - 1.

    Raises
    ------
    ValueError
        If there are fewer groups than folds, or `groups` has another shape.
    """
    if groups is not None:
        return _folds_of_groups(strata, folds, groups, rng)
    fold = np.empty(len(strata), dtype=np.intp)
    start = 0
    for part in _parts(strata):
        rows = rng.permutation(part)
        fold[rows] = (start + np.arange(len(rows))) % folds
        start += len(rows) if staggered else 0
    return fold


def label_parts(matrix: NDArray[Any], shares: Any, seed: Any = None, groups: Any = None) -> NDArray[np.intp]:
    """Divide rows that may have several labels, so that each part has its share of the rows of every label.

    One label after another, from the rarest on, the rows that are still to be placed go to the parts that have the
    fewest of it for their share: iterative stratification, in the order of the labels' counts.

    Parameters
    ----------
    matrix : bool array, shape (n, L)
        Which labels the rows have.
    shares : sequence of float
        Of the parts in the rows; they sum to 1.
    seed : int or numpy.random.Generator, optional
        Source of the shuffle.
    groups : array-like, shape (n,), optional
        Rows of equal value stay in one part; a group has the labels of all its rows.

    Returns
    -------
    array of int, shape (n,)
        The part of each row.

    Notes
    -----
    Source: Sechidis, Tsoumakas and Vlahavas (2011).
    """
    rng, shares = random_generator(seed), np.asarray(shares, dtype=float)
    if groups is not None:
        of_groups, group_of_row = any_of_groups(matrix, groups)
        return label_parts(of_groups, shares, rng)[group_of_row]
    rare = np.where(matrix.mean(axis=0) > 0.5, ~matrix, matrix)  # of a common label, the rows without it
    part = np.full(len(matrix), -1, dtype=np.intp)
    for k in np.argsort(rare.sum(axis=0), kind="stable"):
        _fill(part, np.flatnonzero(rare[:, k]), shares, rng)
    _fill(part, np.arange(len(matrix)), shares, rng)
    return part


def any_of_groups(matrix: NDArray[Any], groups: Any) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Whether any row of a group has what a column says.

    Parameters
    ----------
    matrix : bool array, shape (n, k)
        Of the rows.
    groups : array-like, shape (n,)
        Group of each row.

    Returns
    -------
    of_groups : bool array, shape (m, k)
    group_of_row : int array, shape (n,)
    """
    names, group_of_row = _groups(groups, len(matrix))
    of_groups = np.zeros((len(names), matrix.shape[1]), dtype=bool)
    np.logical_or.at(of_groups, group_of_row, matrix)
    return of_groups, group_of_row


def _fill(part: NDArray[np.intp], members: NDArray[np.intp], shares: NDArray[Any], rng: np.random.Generator) -> None:
    """Place the members that have no part yet, so that each part has its share of all members."""
    rows = rng.permutation(members[part[members] < 0])
    placed = np.bincount(1 + part[members], minlength=1 + len(shares))[1:]
    sizes = np.bincount(1 + part, minlength=1 + len(shares))[1:] / shares
    levels = (placed[:, None] + np.arange(len(rows)) + 0.5) / shares[:, None]  # of the places in each part
    order = np.lexsort((np.repeat(sizes, len(rows)), levels.ravel()))  # of equal levels, in the smallest part
    part[rows] = order[: len(rows)] // max(1, len(rows))


def _parts(strata: NDArray[Any]) -> list[NDArray[Any]]:
    """The rows of each stratum."""
    return [np.flatnonzero(strata == value) for value in np.unique(strata)]


def _folds_of_groups(strata: NDArray[Any], folds: int, groups: Any, rng: np.random.Generator) -> NDArray[Any]:
    names, group_of_row = _groups(groups, len(strata))
    if len(names) < folds:
        raise ValueError(f"{folds} folds need as many groups, got {len(names)}.")
    counts = np.stack([np.bincount(group_of_row[part], minlength=len(names)) for part in _parts(strata)], axis=1)
    shares = counts / counts.sum(axis=0)
    filled, fold_of_group = np.zeros((folds, counts.shape[1])), np.empty(len(names), dtype=np.intp)
    shuffled = rng.permutation(len(names))
    for group in shuffled[np.argsort(-shares[shuffled].sum(axis=1), kind="stable")]:
        # The spread that each choice would leave between the folds, up to terms that all choices share.
        fold_of_group[group] = best = int(np.argmin(filled @ shares[group]))
        filled[best] += shares[group]
    fold: NDArray[Any] = fold_of_group[group_of_row]
    return fold


def _groups(groups: Any, rows: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The distinct groups, and the index of each row's group."""
    groups = as_array(groups, "groups")
    if groups.shape != (rows,):
        raise ValueError(f"groups must hold one value per row, shape ({rows},), got shape {groups.shape}.")
    names, group_of_row = np.unique(groups, return_inverse=True)
    return names, group_of_row.reshape(-1)


def _whole_groups(groups: Any, rows: int, held_out: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    names, group_of_row = _groups(groups, rows)
    sizes = np.bincount(group_of_row)
    if len(names) < 2:
        raise ValueError(
            "a split by groups needs at least two groups, got one. Split without groups, or give finer ones."
        )
    order = rng.permutation(len(names))
    filled = np.cumsum(sizes[order])
    # The last group stays in training, so that neither part is empty.
    count = 1 + int(np.argmin(np.abs(filled[:-1] - held_out * rows)))
    return np.isin(group_of_row, order[:count])


def _check_both_classes(signs: NDArray[Any], part: str) -> None:
    positives, negatives = int(np.sum(signs > 0)), int(np.sum(signs < 0))
    if not positives or not negatives:
        raise ValueError(
            f"the {part} part must hold both classes, got {positives} positives and {negatives} "
            "negatives. Try another seed or share, or split without groups."
        )
