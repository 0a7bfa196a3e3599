"""Labels as training takes them, and which rows are trained on and held out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_array
from aesara_nondecomp._checks import is_null, require
from aesara_nondecomp.data import Labels, encode_labels
from aesara_nondecomp.data.groups import Groups, without_unused
from aesara_nondecomp.data.label_sets import signs_of_sets
from aesara_nondecomp.training.folds import Fold, is_pair, is_splitter, plan_folds
from aesara_nondecomp.training.label_folds import plan_label_folds
from aesara_nondecomp.training.row_labels import cells_of_rows, checked_weight, labels_of_several


class Split(NamedTuple):
    """Labels, and the split into training and validation rows.

    Attributes
    ----------
    classes : tuple (negative, positive)
        The two labels; or those of all classes.
    signs : int8 array, shape (m,), in {-1, +1}
        Labels of the training rows; of several classes -1 for the first one.
    weight : float64 array, shape (m,), or None
        Positive weights of the training rows; None for equal ones.
    train : int array, shape (m,), or None
        Indices of the training rows; None for all rows.
    held : int array, shape (k,), or None
        Indices of the rows held out from the only network; None if none are.
    held_signs : int8 array, shape (k,), in {-1, +1}, or None
        Labels of the rows held out.
    held_weight : float64 array, shape (k,), or None
        Their weights.
    folds : list of Fold
        Where each of several networks holds other rows out: divisions of the training rows.
    cell : int32 array, shape (m,), or None
        Cells of the training rows, where they play a part; of several classes without groups, the classes.
    held_cell : int32 array, shape (k,), or None
        Cells of the rows held out, likewise.
    groups : Groups or None
        Those of all rows, without groups that rows of weight 0 alone have.
    """

    classes: tuple[Any, ...]
    signs: NDArray[Any]
    weight: NDArray[Any] | None
    train: NDArray[Any] | None = None
    held: NDArray[Any] | None = None
    held_signs: NDArray[Any] | None = None
    held_weight: NDArray[Any] | None = None
    folds: tuple[Fold, ...] = ()
    cell: NDArray[Any] | None = None
    held_cell: NDArray[Any] | None = None
    groups: Groups | None = None

    @property
    def prior(self) -> float:
        """Share of positives among the training rows, by weight."""
        return float(np.average(self.signs > 0, weights=self.weight))

    @property
    def labels(self) -> NDArray[Any]:
        """Labels of the training rows: signs, or classes if there are more than two, or numbers of sets of labels."""
        if self.cell is None or len(self.classes) == 2:
            return self.signs
        return self.cell % len(self.classes) if self.classes else self.cell  # cells are classes, group after group


def row_split(
    y: Any, positive: Any, sample_weight: Any, validation: Any, validation_groups: Any, seed: Any,
    groups: Groups | None = None, *, one_part: bool, refit: bool, multiclass: bool = False,
    sets: NDArray[Any] | None = None,
) -> Split:  # fmt: skip
    """Encode the labels, drop rows of weight 0, and plan which rows are held out.

    Parameters
    ----------
    y : array-like, shape (n,)
        Labels of all rows; of sets of labels, their numbers.
    positive : label or None
        The positive one of two classes; None for the larger one.
    sample_weight : array-like, shape (n,), or None
        None for equal weights.
    validation : object
        As for `fit`.
    validation_groups : array-like, shape (n,), or None
        Rows of equal value are held out together.
    seed : int or numpy Generator
        Of the split.
    groups : Groups, optional
        Those of the rows, if their cells play a part.
    one_part : bool
        Whether "auto" holds one part out in place of folds, as for slow networks.
    refit : bool
        Whether rows that are held out stay among those to train on.
    multiclass : bool, default False
        Whether labels are of any number of classes.
    sets : bool array, shape (m, L), optional
        Sets of labels that `y` numbers.

    Returns
    -------
    Split

    Raises
    ------
    ValueError
        If labels, weights or groups are unusable, or do not allow the rows to be held out; or if a splitter gets rows
        of weight 0.
    """
    if sets is not None:
        labels, codes = Labels(signs_of_sets(sets, y), ()), y
    else:
        labels, codes = labels_of_several(y) if multiclass else (encode_labels(y, positive), None)
    weight = (
        None if sample_weight is None else checked_weight(sample_weight, labels.signs, codes if multiclass else None)
    )
    holds_out = validation is not None and not is_pair(validation)
    needed = "validation_groups need rows to hold out: leave them out, or give validation as a share, for example"
    require(validation_groups is None or holds_out, needed, "rows of your own" if validation is not None else None)
    if groups is not None and weight is not None:
        groups = without_unused(groups, np.flatnonzero(weight))
    cell = codes if groups is None else cells_of_rows(labels, codes, groups.codes, groups.names)
    if weight is None and not holds_out:  # spares the memory of the indices of all rows
        return Split(labels.classes, labels.signs, None, cell=cell, groups=groups)
    kept = np.arange(len(labels.signs)) if weight is None else np.flatnonzero(weight)
    if is_splitter(validation):  # whose indices are of all rows
        needed = "a splitter divides all rows, but those of weight 0 take no part: leave them out"
        require(len(kept) == len(labels.signs), needed, f"{len(labels.signs) - len(kept)} of them")
    if weight is not None and np.ptp(weight[kept]) == 0:  # only ratios count
        weight = None
    folds: list[Fold] = []
    if holds_out:
        together = None if validation_groups is None else _one_per_row(validation_groups, len(labels.signs))[kept]
        strata = None if cell is None else cell[kept]
        classes = None if codes is None else codes[kept]
        if sets is not None:
            folds = plan_label_folds(validation, sets[codes[kept]], seed, together, one_part=one_part)
        else:
            folds = plan_folds(
                validation, labels.signs[kept], seed, together, one_part=one_part, strata=strata, classes=classes
            )
    single = len(folds) == 1 and not refit
    train, held = (kept[folds[0].train], kept[folds[0].held]) if single else (kept, None)
    return Split(
        labels.classes,
        labels.signs[train],
        None if weight is None else weight[train],
        None if len(train) == len(labels.signs) else train,
        held,
        None if held is None else labels.signs[held],
        None if held is None or weight is None else weight[held],
        () if single else tuple(folds),
        None if cell is None else cell[train],
        None if held is None or cell is None else cell[held],
        groups,
    )


def _one_per_row(groups: Any, n: int) -> NDArray[Any]:
    found = as_array(groups, "validation_groups")
    require(found.shape == (n,), f"validation_groups must hold one value per row, shape ({n},)", found.shape)
    missing = sum(map(is_null, found.tolist()))
    require(not missing, "validation_groups must not be missing: give each such row a group of its own", missing)
    require(_are_alike(found), "validation_groups must all be of one kind, such as text", found.tolist()[:4])
    require(len(set(found.tolist())) > 1, "a split by validation_groups needs at least two groups", found[:1].tolist())
    return found


def _are_alike(values: NDArray[Any]) -> bool:
    """Whether values can be put in order."""
    try:
        sorted(set(values.tolist()))
    except TypeError:
        return False
    return True
