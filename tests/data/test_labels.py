"""Labels, feature checks and splits."""

import datetime
from decimal import Decimal

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from aesara_nondecomp.data import (
    check_features,
    check_lengths,
    decode,
    encode_classes,
    encode_classes_as,
    encode_labels,
    stratified_split,
)

ZERO_ONE = [0, 1, 1, 0, 1]
SIGNS = [-1, 1, 1, -1, 1]
CODINGS = {
    "list": ZERO_ONE,
    "minus one and one": SIGNS,
    "booleans": np.array(ZERO_ONE, dtype=bool),
    "unsigned bytes": np.array(ZERO_ONE, dtype=np.uint8),
    "unsigned bytes from 1 and 255": np.array([1, 255, 255, 1, 255], dtype=np.uint8),
    "floats": np.array(ZERO_ONE, dtype=np.float64),
    "single precision": np.array([0.1, 0.7, 0.7, 0.1, 0.7], dtype=np.float32),
    "one and two": [1, 2, 2, 1, 2],
    "strings": np.array(["neg", "pos", "pos", "neg", "pos"]),
    "list of strings": ["neg", "pos", "pos", "neg", "pos"],
    "objects": np.array(["neg", "pos", "pos", "neg", "pos"], dtype=object),
    "bytes": np.array([b"a", b"b", b"b", b"a", b"b"]),
    "dates": np.array(["2024-01-01", "2024-01-02", "2024-01-02", "2024-01-01", "2024-01-02"], "datetime64[D]"),
    "nanoseconds": np.array(["2024-01-01", "2024-01-02", "2024-01-02", "2024-01-01", "2024-01-02"], "datetime64[ns]"),
}


@pytest.mark.parametrize("y", CODINGS.values(), ids=CODINGS)
def test_every_coding_of_two_classes_gives_the_same_signs_and_decodes_to_itself(y):
    labels = encode_labels(y)
    assert labels.signs.dtype == np.int8
    assert labels.signs.tolist() == SIGNS
    assert labels.prior == pytest.approx(3 / 5)
    decoded = decode(labels.signs, labels.classes)
    np.testing.assert_array_equal(decoded.astype(np.asarray(y).dtype), np.asarray(y))


def test_naming_the_positive_class_flips_signs_and_prior():
    labels = encode_labels(["ham", "spam", "spam"], positive="ham")
    assert labels.classes == ("spam", "ham")
    assert labels.signs.tolist() == [1, -1, -1]
    assert labels.prior == pytest.approx(1 / 3)
    assert decode(labels.signs, labels.classes).tolist() == ["ham", "spam", "spam"]


@pytest.mark.parametrize(
    "y, positive, message",
    [
        ([1, 1, 1], None, r"exactly two classes, got 1: \[1\]"),
        ([0, 1, 2], None, r"exactly two classes, got 3: \[0, 1, 2\]"),
        (np.arange(50), None, r"got 50: \[0, 1, .*, \.\.\.\]"),
        ([], None, "empty"),
        ([0.0, 1.0, np.nan], None, "NaN"),
        (np.array(["a", "b", np.nan], dtype=object), None, "NaN"),
        (np.array(["a", 1], dtype=object), None, "all be of one kind"),
        (np.array([{}, {}], dtype=object), None, "numbers or strings, got {}"),
        (np.array(["2024-01-01", "NaT"], "datetime64[D]"), None, "NaT"),
        (np.array([1, 2], "datetime64[ns]"), None, "whole microseconds"),
        (np.array([1, 2], "timedelta64[D]"), None, "must be booleans, numbers, text, bytes or dates, got"),
        ([Decimal(1), Decimal(2)], None, "must be booleans, numbers, text, bytes or dates, got"),
        (np.array([[0], [1]]), None, r"y\.ravel\(\)"),
        (np.eye(2), None, r"one-dimensional, got shape \(2, 2\)"),
        (1, None, "one-dimensional"),
        (["neg", "pos"], "poss", "Did you mean 'pos'"),
        ([0, 1], 2, "positive must be one of the two labels, got 2"),
    ],
)
def test_labels_that_are_not_two_classes_are_refused_with_one_clear_message(y, positive, message):
    with pytest.raises(ValueError, match=message):
        encode_labels(y, positive)


def test_times_of_several_classes_stay_times():
    """tolist() makes numbers of nanoseconds, so that a model would predict numbers."""
    days = np.array(["2024-01-03", "2024-01-01", "2024-01-02"], "datetime64[ns]")
    found = encode_classes(days)
    assert found.classes == tuple(datetime.datetime(2024, 1, day) for day in (1, 2, 3))
    assert found.codes.tolist() == [2, 0, 1]
    for strange in (np.array([1, 2, 3], "timedelta64[D]"), [Decimal(1), Decimal(2), Decimal(3)]):
        with pytest.raises(ValueError, match="must be booleans, numbers, text, bytes or dates, got"):
            encode_classes(strange)


def test_features_already_right_are_not_copied():
    X = np.ones((3, 2), dtype=np.float32)
    assert check_features(X) is X


def test_features_of_another_dtype_or_order_become_contiguous_with_equal_values():
    X = np.asfortranarray(np.arange(6).reshape(3, 2))
    checked = check_features(X, columns=2, dtype="float64")
    assert checked.dtype == np.float64 and checked.flags.c_contiguous
    np.testing.assert_array_equal(checked, X)


def test_a_memory_map_stays_one(tmp_path):
    np.save(tmp_path / "X.npy", np.ones((4, 3), dtype=np.float32))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert check_features(mapped) is mapped


@pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.csc_matrix])
def test_sparse_features_stay_sparse_with_equal_values(kind):
    X = np.array([[0.0, 2.0], [3.0, 0.0], [0.0, 0.0]])
    checked = check_features(kind(X))
    assert scipy.sparse.issparse(checked) and checked.format == "csr" and checked.dtype == np.float32
    np.testing.assert_array_equal(checked.toarray(), X)


def _with(value, row, column, shape=(4, 3)):
    X = np.ones(shape)
    X[row, column] = value
    return X


@pytest.mark.parametrize(
    "X, message",
    [
        (np.array([[1, "a"]], dtype=object), "must be numbers, got an array of dtype object"),
        ([["a", "b"]], "must be numbers"),
        ([[1j]], "must be numbers"),
        ([[1.0, 2.0], [3.0]], "rectangular"),
        ([1.0, 2.0], r"X\.reshape\(-1, 1\)"),
        (np.ones((2, 2, 2)), "two-dimensional"),
        (np.ones((0, 2)), "empty"),
        (np.ones((2, 0)), "empty"),
        (_with(np.nan, 2, 1), "row 2, column 1"),
        (_with(-np.inf, 0, 2), "row 0, column 2"),
        (_with(1e300, 3, 0), "finite in float32.*row 3, column 0"),
        (_with(np.nan, 2_000_000, 0, (2_000_001, 1)), "row 2000000, column 0"),
        (scipy.sparse.csr_matrix(_with(np.nan, 2, 1)), "row 2, column 1"),
    ],
)
def test_unusable_features_are_refused_naming_the_place(X, message):
    with pytest.raises(ValueError, match=message):
        check_features(X)


@pytest.mark.parametrize("classes", [("low", "mid", "high"), (3, 1, 2), (2.0, 0.0, 1.0), (b"b", b"a", b"c")])
def test_labels_are_encoded_by_the_place_of_their_class_in_any_order_of_these(classes):
    for dtype in (None, object):
        assert encode_classes_as(np.array([*classes, classes[1]], dtype), classes).tolist() == [0, 1, 2, 1]


def test_features_with_other_columns_than_in_training_are_refused():
    with pytest.raises(ValueError, match="the 3 columns seen in training, got 2"):
        check_features(np.ones((2, 2)), columns=3)


def test_unequal_numbers_of_rows_and_labels_are_refused():
    check_lengths(["a", "b"], [0, 1])
    with pytest.raises(ValueError, match="3 rows of features and 2 labels"):
        check_lengths(np.ones((3, 1)), [0, 1])


@given(st.integers(2, 60), st.integers(2, 60), st.floats(0.05, 0.95), st.integers(0, 5))
def test_a_stratified_split_partitions_the_rows_and_keeps_each_class_share(n_pos, n_neg, share, seed):
    signs = np.repeat([1, -1], [n_pos, n_neg])
    train, held = stratified_split(signs, share, seed)
    assert sorted([*train, *held]) == list(range(len(signs)))
    assert (np.diff(train) > 0).all() and (np.diff(held) > 0).all()
    for sign, count in ((1, n_pos), (-1, n_neg)):
        in_held = int(np.sum(signs[held] == sign))
        assert 1 <= in_held <= count - 1
        assert abs(in_held - share * count) <= 1


def test_equal_seeds_split_equally_and_other_seeds_do_not():
    signs = np.tile([1, -1], 50)
    first, again, other = (stratified_split(signs, seed=seed)[1].tolist() for seed in (1, 1, 2))
    assert first == again != other
    assert stratified_split(signs, seed=np.random.default_rng(1))[1].tolist() == first


def test_groups_are_never_divided_and_fill_about_the_share():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 40, 400)
    signs = np.where(rng.random(400) < 0.3, 1, -1)
    train, held = stratified_split(signs, 0.25, seed=0, groups=groups)
    assert not set(groups[train]) & set(groups[held])
    assert sorted([*train, *held]) == list(range(400))
    largest = np.bincount(groups).max()
    assert abs(len(held) - 100) <= largest


@pytest.mark.parametrize(
    "signs, options, message",
    [
        ([1, -1, 1, -1], {"held_out": 1.0}, "strictly between 0 and 1"),
        ([1, -1, -1, -1], {}, "at least two rows of each class, got 1 of class \\+1"),
        ([1, 1, -1, -1], {"groups": [0, 0, 1, 1]}, "must hold both classes"),
        ([1, 1, -1, -1], {"groups": [0, 0, 0, 0]}, "at least two groups"),
        ([1, 1, -1, -1], {"groups": [0, 1]}, "one value per row"),
    ],
)
def test_a_split_that_cannot_serve_both_parts_is_refused(signs, options, message):
    with pytest.raises(ValueError, match=message):
        stratified_split(np.array(signs), seed=0, **options)
