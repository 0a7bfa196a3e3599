"""Groups of rows: a vector or columns, in any spelling and from any library."""

import numpy as np
import pytest

from aesara_nondecomp.data.groups import MOST_GROUPS, read_groups

SEX = ["F", "M", None, "M", "F"]


def named(groups, n=5):
    """The name of each row's group; None where it is missing."""
    found = read_groups(groups, n)
    assert list(found.names) == sorted(found.names) and found.codes.dtype == np.int32
    return [None if code < 0 else found.names[code] for code in found.codes]


VECTORS = [
    (SEX, SEX),
    (np.array(["F", "M", "", "M", "F"]), SEX),
    ([" F", "M ", "?", "M", "F"], SEX),
    ([1, 1.0, "1", "1.0", np.nan], ["1", "1", "1", "1", None]),
    ([True, "true", "True", False, None], ["true", "true", "true", "false", None]),
    (np.array([0.5, 0.5, np.nan, 2, 1]), ["0.5", "0.5", None, "2", "1"]),
    (["01", "1", "1", "1", "1"], ["01", "1", "1", "1", "1"]),
    (np.ma.array([1, 2, 3, 2, 1], mask=[0, 0, 1, 0, 0]), ["1", "2", None, "2", "1"]),
]


@pytest.mark.parametrize("groups, expected", VECTORS)
def test_spellings_of_a_value_are_one_group_and_missing_ones_none(groups, expected):
    assert named(groups) == expected


def test_the_name_of_a_group_does_not_depend_on_the_rows_that_it_is_read_from():
    """Of training and validation rows, groups are matched by name."""
    assert set(named([True, False] * 2 + [True])) == set(named(["True", "False"] * 2 + ["true"]))
    assert set(named([1.0, 2.0] * 2 + [1])) == set(named(["1", "2.0"] * 2 + [1]))


def test_groups_of_several_columns_are_their_combinations():
    table = {"sex": SEX, "age": np.array([30.0, 30, 30, 40, np.nan])}
    assert named(table) == ["sex=F, age=30", "sex=M, age=30", None, "sex=M, age=40", None]
    assert len(read_groups(table, 5).names) == 3  # those that occur, not all that could


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_and_their_columns_are_read_as_lists_are(library):
    frames = pytest.importorskip(library, reason="needs the extra frames")
    frame = frames.DataFrame({"sex": SEX, "race": ["a", "b", "a", "a", "b"]})
    assert named(frame["sex"]) == SEX
    assert named(frame[["sex"]]) == [None if sex is None else f"sex={sex}" for sex in SEX]
    assert named(frame) == ["sex=F, race=a", "sex=M, race=b", None, "sex=M, race=a", "sex=F, race=b"]


def test_categories_and_nullable_numbers_of_pandas_are_read_as_their_values():
    pandas = pytest.importorskip("pandas", reason="needs the extra frames")
    assert named(pandas.Series(SEX, dtype="category")) == SEX
    assert named(pandas.Series([1, 2, None, 2, 1], dtype="Int64")) == ["1", "2", None, "2", "1"]


REFUSED = [
    (["F", "M"], "must hold one value per row, 5 of them, got 2"),
    ({"sex": SEX[:4]}, "must hold one value per row, 5 of them, got 4"),
    ({"sex": SEX, "race": ["a"]}, "columns of a table must be equally long"),
    ({}, "must have a column, got 'none'"),
    (np.zeros((5, 2)), r"must have shape \(n,\), or be a table of columns, got shape \(5, 2\)"),
    ([["F"], ["M"], ["F"], ["M"], ["F"]], r"got shape \(5, 1\)"),
    ("women", r"got shape \(\)"),
    ([None, "", "?", np.nan, "NA"], "must not all be missing"),
]


@pytest.mark.parametrize("groups, reason", REFUSED)
def test_what_is_no_group_per_row_is_refused(groups, reason):
    with pytest.raises(ValueError, match=reason):
        read_groups(groups, 5)


def test_numbers_that_were_not_divided_into_ranges_are_refused():
    assert len(read_groups(np.arange(MOST_GROUPS), MOST_GROUPS).names) == MOST_GROUPS
    with pytest.raises(ValueError, match="at most 200 different ones, got 201, such as '0'. Divide numbers into"):
        read_groups(np.arange(201), 201)


def test_no_groups_leave_every_row_without_one():
    found = read_groups(None, 3)
    assert found.names == () and found.codes.tolist() == [-1, -1, -1]
