"""Folds: every row in one of them, classes balanced, groups together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aesara_nondecomp.data import stratified_folds


@given(st.integers(2, 7), st.integers(0, 40), st.integers(0, 40), st.integers(0, 5))
def test_folds_differ_by_at_most_one_row_of_each_class(folds, more_positives, more_negatives, seed):
    signs = np.repeat([1, -1], [folds + more_positives, folds + more_negatives])
    fold = stratified_folds(signs, folds, seed)
    assert fold.shape == signs.shape and set(fold) == set(range(folds))
    for sign in (1, -1):
        counts = np.bincount(fold[signs == sign], minlength=folds)
        assert counts.min() >= 1 and np.ptp(counts) <= 1


def test_equal_seeds_give_equal_folds_and_other_seeds_do_not():
    signs = np.tile([1, -1], 50)
    first, again, other = (stratified_folds(signs, 5, seed).tolist() for seed in (1, 1, 2))
    assert first == again != other
    assert stratified_folds(signs, 5, np.random.default_rng(1)).tolist() == first


def test_the_order_of_the_rows_is_shuffled_out_of_the_folds():
    signs = np.where(np.arange(1000) % 4 == 0, 1, -1)
    fold = stratified_folds(signs, 5, seed=0)
    middles = [np.flatnonzero(fold == k).mean() for k in range(5)]
    assert middles == pytest.approx([500] * 5, abs=4 * 1000 / np.sqrt(12 * 200))


@pytest.mark.parametrize("seed", range(5))
def test_groups_stay_together_and_leave_folds_as_balanced_as_the_largest_group_allows(seed):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 60, 600).astype(str)
    signs = np.where(rng.random(600) < 0.2, 1, -1)
    fold = stratified_folds(signs, 5, seed, groups)
    for name in np.unique(groups):
        assert len(set(fold[groups == name])) == 1
    for sign in (1, -1):
        counts = np.bincount(fold[signs == sign], minlength=5)
        largest = max(np.sum((groups == name) & (signs == sign)) for name in np.unique(groups))
        assert np.ptp(counts) <= largest


def test_a_group_for_each_row_gives_folds_as_balanced_as_no_groups():
    signs = np.where(np.arange(103) < 23, 1, -1)
    fold = stratified_folds(signs, 5, seed=0, groups=np.arange(103))
    for sign in (1, -1):
        assert np.ptp(np.bincount(fold[signs == sign], minlength=5)) <= 1


def test_folds_of_groups_depend_on_the_seed_alone():
    groups, signs = np.arange(200) // 4, np.tile([1, -1], 100)
    first, again, other = (stratified_folds(signs, 5, seed, groups).tolist() for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize(
    "signs, options, message",
    [
        ([1, 1, -1, -1, -1], {}, "3 folds need as many rows of each class, got 2 of class \\+1"),
        ([1, 1, 1, -1], {}, "got 1 of class -1"),
        ([1, -1] * 4, {"groups": [0, 1] * 4}, "3 folds need as many groups, got 2"),
        ([1, -1] * 4, {"groups": [0, 1]}, r"groups must hold one value per row, shape \(8,\), got shape \(2,\)"),
        ([1, -1] * 4, {"groups": [[0]] * 8}, "one value per row"),
        ([1, 1, 1, -1, -1, -1], {"groups": [0, 0, 0, 1, 1, 2]}, "fold . part must hold both classes"),
    ],
)
def test_folds_that_cannot_hold_both_classes_are_refused(signs, options, message):
    with pytest.raises(ValueError, match=message):
        stratified_folds(np.array(signs), 3, seed=0, **options)


def test_many_small_strata_fill_the_folds_evenly():
    strata = np.arange(600) // 3  # three rows of each
    signs = np.where(np.arange(600) % 2, 1, -1)
    fold = stratified_folds(signs, 5, seed=0, strata=strata)
    assert np.ptp(np.bincount(fold, minlength=5)) <= 1
