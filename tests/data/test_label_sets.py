"""Matrices of labels: which are read, which are refused, and how their rows are divided."""

import numpy as np
import pytest

from aesara_nondecomp.data.label_sets import LabelSets, is_indicator_matrix, read_indicators, signs_of_sets
from aesara_nondecomp.data.splits import label_parts

MATRIX = np.array([[1, 0, 1], [0, 0, 0], [1, 0, 1], [0, 1, 1]])


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (MATRIX, True), (MATRIX.tolist(), True), ([(0, 1), (1, 0)], True), (MATRIX[:, :0], True),
        (MATRIX[:, 0], False), (MATRIX[:, :1], False), ([0, 1], False), (["a", "b"], False), ([], False), (3, False),
        (None, False), ("ab", False), (np.zeros((2, 2, 2)), False),
    ],
)  # fmt: skip
def test_a_matrix_of_labels_has_more_columns_than_one(y, expected):
    assert is_indicator_matrix(y) is expected


@pytest.mark.parametrize("kind", [bool, int, float, np.uint8, object])
def test_booleans_and_0_and_1_of_any_type_are_read(kind):
    found = read_indicators(MATRIX.astype(kind))
    np.testing.assert_array_equal(found.matrix, MATRIX == 1)
    assert found.labels == (0, 1, 2)


def test_sparse_matrices_and_data_frames_are_read():
    sparse = pytest.importorskip("scipy.sparse")
    pandas = pytest.importorskip("pandas")
    np.testing.assert_array_equal(read_indicators(sparse.csr_matrix(MATRIX)).matrix, MATRIX == 1)
    found = read_indicators(pandas.DataFrame(MATRIX, columns=["a", "b", "c"]))
    np.testing.assert_array_equal(found.matrix, MATRIX == 1)
    assert found.labels == ("a", "b", "c")


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (MATRIX * 2, r"must hold 0 and 1 only .* class ids as a vector, one for each row, got \[2\]"),
        (MATRIX - 1, r"0 and 1 only .* got \[-1\]"),
        (np.where(MATRIX == 1, np.nan, 0), r"0 and 1 only .* got \[nan\]"),
        (MATRIX.astype(str), r"0 and 1 only .* got \['[01]', '[01]'\]"),
        (MATRIX * 0.5, r"0 and 1 only .* got \[0.5\]"),
        (MATRIX[:0], "rows and columns"),
        (MATRIX[:, :0], "rows and columns"),
        (MATRIX[:, 0], "a matrix, with a column"),
        ([[0, 1], [1]], "rectangular"),
    ],
)
def test_what_is_no_matrix_of_0_and_1_is_refused(y, message):
    with pytest.raises(ValueError, match=message):
        read_indicators(y)


@pytest.mark.parametrize("names", [["x", "y", "x"], ["1", 1, "b"]])
def test_a_label_that_two_columns_name_is_refused(names):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="labels must name each column once"):
        read_indicators(pandas.DataFrame(MATRIX, columns=names))


def test_labels_must_be_those_of_training():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(MATRIX, columns=["a", "b", "c"])
    assert read_indicators(MATRIX, ("a", "b", "c")).labels == ("a", "b", "c")
    assert read_indicators(frame, ("a", "b", "c")).labels == ("a", "b", "c")
    assert read_indicators(frame, (0, 1, 2)).labels == (0, 1, 2)
    for wrong in (MATRIX[:, :2], frame[["b", "a", "c"]]):
        with pytest.raises(ValueError, match="must have the 3 columns of training"):
            read_indicators(wrong, ("a", "b", "c"))


@pytest.mark.parametrize(
    ("matrix", "weight", "message"),
    [
        (MATRIX[:3], None, r"none with \[1\]"),
        (MATRIX[[0, 2, 3]], None, r"only rows with \[2\]"),
        (MATRIX, [1, 1, 1, 0], r"none with \[1\]"),
    ],
)
def test_a_label_that_does_not_vary_is_refused_by_name(matrix, weight, message):
    read_indicators(MATRIX).check_both()
    with pytest.raises(ValueError, match=message):
        read_indicators(matrix).check_both(weight)


@pytest.mark.parametrize("n_labels", [2, 8, 9, 40])
def test_sets_and_codes_give_the_matrix_back(n_labels):
    matrix = np.random.default_rng(n_labels).random((300, n_labels)) < 0.3
    rows = LabelSets.of(matrix)
    np.testing.assert_array_equal(rows.sets[rows.codes], matrix)
    assert len(rows.sets) == len({tuple(row) for row in matrix.tolist()})
    np.testing.assert_array_equal(signs_of_sets(rows.sets, rows.codes), np.where(matrix[:, 0], 1, -1))


@pytest.mark.parametrize("seed", range(5))
def test_each_part_has_its_share_of_every_label_and_of_all_rows(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.random((997, 8)) < [0.005, 0.02, 0.05, 0.1, 0.3, 0.5, 0.8, 0.99]
    for shares in (np.full(5, 0.2), np.array([0.2, 0.8])):
        part = label_parts(matrix, shares, seed)
        of_parts = np.array([matrix[part == k].sum(axis=0) for k in range(len(shares))])
        sizes = np.bincount(part, minlength=len(shares))
        assert abs(sizes - shares * 997).max() <= 2
        rare = np.minimum(of_parts, sizes[:, None] - of_parts)
        wanted = shares[:, None] * np.minimum(matrix.sum(axis=0), (~matrix).sum(axis=0))
        assert abs(rare - wanted)[:, [0, 7]].max() <= 1  # the rarest sides are placed first
        assert abs(rare - wanted).max() <= 0.1 * 997 * shares.max()


def test_as_many_rows_of_a_label_as_parts_are_one_in_each():
    """Of two labels with two rows each, of which one row has both, no part lacks any."""
    matrix = np.zeros((20, 2), dtype=bool)
    matrix[[0, 1], 0], matrix[[0, 2], 1] = True, True
    for seed in range(20):
        part = label_parts(matrix, [0.5, 0.5], seed)
        assert part[0] != part[1] and part[0] != part[2]


def test_rows_of_a_group_stay_in_one_part():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 60, 600)
    matrix = rng.random((600, 3)) < 0.1
    part = label_parts(matrix, np.full(3, 1 / 3), 0, groups)
    assert all(len(set(part[groups == group])) == 1 for group in range(60))
    assert set(part) == {0, 1, 2}
