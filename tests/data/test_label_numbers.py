"""What label columns of files say: numbers where they are, and text where digits would be lost."""

import numpy as np
import pytest

from aesara_nondecomp.data import read_csv
from aesara_nondecomp.data.label_numbers import as_numbers


def test_labels_without_end_are_text():
    assert as_numbers(["inf", "1"]).tolist() == ["inf", "1"]


def test_labels_that_are_numbers_are_whole_ones_if_all_are():
    found = [as_numbers(labels) for labels in (["2", "1.0"], ["0.5", "1"])]
    assert [each.tolist() for each in found] == [[2, 1], [0.5, 1.0]]
    assert [each.dtype for each in found] == [np.int64, np.float64]


@pytest.mark.parametrize("labels", [
    ["1_1", "1_2", "11"], ["01", "1", "2"], ["1e1", "10"], [str(2**53 + k) for k in range(3)], [str(2**53 + 1)],
    ["12345678901234567890", "1"],
])  # fmt: skip
def test_labels_that_would_become_one_number_or_another_stay_text(labels, tmp_path):
    assert as_numbers(labels).tolist() == labels
    (tmp_path / "set.csv").write_text("x,y\n" + "".join(f"1.5,{label}\n" for label in labels))
    table = read_csv(tmp_path / "set.csv", target="y")
    assert table.y.tolist() == labels


@pytest.mark.parametrize("labels, numbers", [
    (["1", "1.0", "+1", "1.00", "-1"], [1, 1, 1, 1, -1]), (["0.5", ".5", "0.50"], [0.5, 0.5, 0.5]),
    (["-.5", "-0.5", "0"], [-0.5, -0.5, 0.0]), (["0", "-0", "1"], [0, 0, 1]),
    (["01", "02"], [1, 2]),
])  # fmt: skip
def test_labels_that_differ_by_a_sign_or_a_decimal_point_are_one_number(labels, numbers):
    assert as_numbers(labels).tolist() == numbers
