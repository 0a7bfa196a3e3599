"""Labels of rows, of two classes or of several, and the cells that they form with the groups of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp.data import (
    Labels,
    check_lengths,
    check_sample_weight,
    encode_as,
    encode_classes,
    encode_classes_as,
)
from aesara_nondecomp.data.cells import category_places
from aesara_nondecomp.data.groups import Groups, read_groups
from aesara_nondecomp.data.sample_weights import check_row_weight
from aesara_nondecomp.measures import Cells
from aesara_nondecomp.measures.groups import cell_of_classes, cell_of_rows
from aesara_nondecomp.training.groups import checked_cells


def labels_of_several(y: Any) -> tuple[Labels, NDArray[Any]]:
    """Encode labels of several classes.

    Parameters
    ----------
    y : array-like, shape (n,)
        The labels.

    Returns
    -------
    labels : Labels
        With stand-ins for signs.
    codes : int array, shape (n,)
        The classes of the rows.
    """
    labels = encode_classes(y)
    return Labels(np.where(labels.codes > 0, np.int8(1), np.int8(-1)), labels.classes), labels.codes


def weight_at_prior(signs: NDArray[Any], weight: NDArray[Any] | None, prior: float) -> NDArray[np.float64] | None:
    """Weights that give positives another share of the rows; within a class their ratios stay.

    Parameters
    ----------
    signs : array, shape (n,)
        Labels in {-1, +1}.
    weight : array, shape (n,), or None
        Weights of the rows; None for equal ones.
    prior : float
        Share of the positives, in (0, 1).

    Returns
    -------
    float64 array, shape (n,), or None
        As given if there are rows of one class only.
    """
    positive = signs > 0
    observed = np.average(positive, weights=weight)
    if not 0 < observed < 1:
        return weight
    return np.where(positive, prior / observed, (1 - prior) / (1 - observed)) * (1.0 if weight is None else weight)


def checked_weight(sample_weight: Any, signs: NDArray[Any], codes: NDArray[Any] | None) -> NDArray[Any]:
    """Check sample weights, some of which must be above 0 in each class.

    Parameters
    ----------
    sample_weight : array-like, shape (n,)
        As given to `fit`.
    signs : array, shape (n,)
        Labels in {-1, +1}.
    codes : int array, shape (n,), or None
        Classes, where there are several.

    Returns
    -------
    float64 array, shape (n,)

    Raises
    ------
    ValueError
        If they are no such weights.
    """
    if codes is None:
        return check_sample_weight(sample_weight, signs)
    weight = check_row_weight(sample_weight, len(codes))
    of_classes = np.bincount(codes, weight)
    needed = "sample_weight must be above 0 for some rows of each class"
    require(bool((of_classes > 0).all()), needed, f"sums of {of_classes.tolist()}")
    return weight


def cells_of_rows(
    labels: Labels, classes: NDArray[Any] | None, groups: NDArray[Any], names: Sequence[str]
) -> NDArray[Any]:
    """The cells of labelled rows.

    Parameters
    ----------
    labels : Labels
        Of the rows.
    classes : int array, shape (n,), or None
        Their classes, where there are several.
    groups : int array, shape (n,)
        Index of each row's group; -1 for none.
    names : sequence of str
        Of the groups.

    Returns
    -------
    int32 array, shape (n,)
    """
    if classes is None:
        return cell_of_rows(labels.signs, groups, len(names))
    return cell_of_classes(classes, groups, len(names), len(labels.classes))


def count_cells(
    cell: NDArray[Any], groups: Sequence[str], classes: Sequence[Any], weight: Any, multiclass: bool
) -> Any:
    """Count and check the cells of the training rows.

    Parameters
    ----------
    cell : int array, shape (n,)
        Of each row.
    groups : sequence of str
        Names of the groups.
    classes : sequence
        The classes.
    weight : array, shape (n,), or None
        Sample weights.
    multiclass : bool
        Whether labels are of several classes.

    Returns
    -------
    Cells or multiclass.GroupedCells

    Raises
    ------
    ValueError
        If a group lacks a class.
    """
    if not multiclass:
        return checked_cells(Cells.of(cell, groups, weight))
    from aesara_nondecomp.measures.multiclass import GroupedCells  # its module takes long to load

    return checked_cells(GroupedCells.of(cell, groups, classes, weight))


def own_labels(held: Any, y: Any, classes: tuple[Any, ...], multiclass: bool) -> tuple[Labels, NDArray[Any] | None]:
    """Labels of the caller's own validation rows.

    Parameters
    ----------
    held : array, LazyRows or CSR matrix, shape (n, d)
        The rows.
    y : array-like, shape (n,)
        Their labels.
    classes : tuple
        Those of the training rows.
    multiclass : bool
        Whether these are of several classes.

    Returns
    -------
    labels : Labels
    codes : int array, shape (n,), or None
        The classes of the rows, where there are several.

    Raises
    ------
    ValueError
        If a label is unknown, or a class has no rows.
    """
    codes = encode_classes_as(y, classes) if multiclass else None
    signs = encode_as(y, classes) if codes is None else np.where(codes > 0, np.int8(1), np.int8(-1))
    check_lengths(held, signs)
    if codes is None:
        found = np.unique(signs).tolist()
        require(len(found) == 2, "validation needs rows of both classes", f"only {classes[found[0] > 0]!r}")
    else:
        missing = [label for k, label in enumerate(classes) if not (codes == k).any()]
        require(not missing, "validation needs rows of each class", f"none of {missing}")
    return Labels(signs, classes), codes


def own_groups_of(groups: Groups | None, own_groups: list[Any], n_rows: int) -> NDArray[Any] | None:
    """Groups of the caller's own validation rows.

    Parameters
    ----------
    groups : Groups or None
        Those of the training rows; None where groups play no part.
    own_groups : list
        The third entry of ``(X, y, groups)``, if it was given.
    n_rows : int
        Number of validation rows.

    Returns
    -------
    int array, shape (n,), or None
        Indices of the groups of the training rows; -1 for none of them.

    Raises
    ------
    ValueError
        If groups are missing, or given where they play no part.
    """
    if groups is None:
        require(not own_groups, "validation needs no groups here: give (X, y)", "three values")
        return None
    if not groups.names:
        return np.full(n_rows, -1)
    require(len(own_groups) == 1, "with groups, validation rows of your own need theirs: (X, y, groups)", "two values")
    found = read_groups(own_groups[0], n_rows)
    place_of = category_places(groups.names)
    return np.asarray(np.array([*map(place_of, found.names), -1])[found.codes])
