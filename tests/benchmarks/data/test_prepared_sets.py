"""The data sets of the benchmarks have the documented rows, positives and splits; what is missing is named."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest

from aesara_nondecomp.data import stratified_split
from benchmarks.data import is_available, load
from benchmarks.data.catalogue import SOURCES

DATA_DIR = os.environ.get("AESARA_NONDECOMP_DATA", "")
needs_data = pytest.mark.skipif(not DATA_DIR, reason="set AESARA_NONDECOMP_DATA to the folder of data sets")


def shape_and_positives(X, y):
    return (len(X), getattr(X, "shape", (0, 0))[1], int(y.sum()))


def test_embedded_sets_are_served_too():
    assert load("a9a").name == "a9a" and load("letter", None).name == "letter"


@pytest.mark.parametrize(
    "name, message",
    [
        ("leter", "Did you mean 'letter'"),
        ("mnist", "unknown data set 'mnist'.*ijcnn1"),
        ("ijcnn1", "not embedded.*data_dir="),
    ],
)
def test_an_unknown_set_and_one_without_a_folder_are_refused(name, message):
    with pytest.raises(ValueError, match=message):
        load(name)


@pytest.mark.parametrize("name", ["codrna", *(name for name, source in SOURCES.items() if source.convert)])
def test_a_missing_file_is_named_with_its_folder_and_the_command_that_makes_it(tmp_path, name):
    canonical = "cod-rna" if name == "codrna" else name
    wanted = f"{re.escape(str(tmp_path))}.*data_dir=.*data convert {canonical} "
    with pytest.raises(FileNotFoundError, match=wanted):
        load(name, tmp_path)


def test_a_file_that_is_damaged_or_lacks_an_array_is_named(tmp_path):
    (tmp_path / "ijcnn1").mkdir()
    file = tmp_path / "ijcnn1" / "ijcnn1.npz"
    np.savez(file, X_train=np.zeros((2, 3)))
    with pytest.raises(ValueError, match="needs the array 'y_train' in .*ijcnn1.npz, which holds X_train"):
        load("ijcnn1", tmp_path)
    file.write_bytes(b"PK no archive")
    with pytest.raises(ValueError, match="cannot read .*ijcnn1.npz"):
        load("ijcnn1", tmp_path)


@pytest.mark.parametrize("name", SOURCES)
def test_a_set_is_available_when_all_its_files_are_there(tmp_path, name):
    assert not is_available(name, None)
    for file in SOURCES[name].files:
        assert not is_available(name, tmp_path)
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    assert is_available(name, tmp_path)


@needs_data
@pytest.mark.parametrize(
    "name, train, test",
    [
        ("ijcnn1", (49_990, 22, 4_853), (91_701, 22, 8_712)),
        ("covtype", (120_000, 54, 1_961), (60_000, 54, 980)),
        ("mammography", (7_828, 6, 182), (3_355, 6, 78)),
        ("sentiment_sentences", (2_400, 0, 1_200), (600, 0, 300)),
        ("twitter", (7_088, 0, 5_730), (10_551, 0, 8_212)),
        ("twitter2017", (7_088, 0, 5_730), (6_185, 0, 2_463)),
    ],
)
def test_stored_sets_have_the_documented_shape_and_positives(name, train, test):
    data = load(name, DATA_DIR)
    assert shape_and_positives(data.X_train, data.y_train) == train
    assert shape_and_positives(data.X_test, data.y_test) == test
    assert data.y_train.dtype == data.y_test.dtype == np.uint8


@needs_data
@pytest.mark.parametrize(
    "name, rows, positives, distinct", [("cod-rna", 59_535, 19_845, 49_451), ("kdd04", 145_751, 1_296, 153)]
)
def test_grouped_sets_test_on_30_percent_of_the_groups_and_can_be_split_again(name, rows, positives, distinct):
    data = load(name, DATA_DIR)
    assert data.groups is not None
    assert len(data.X_train) + len(data.X_test) == rows
    assert int(data.y_train.sum()) + int(data.y_test.sum()) == positives
    assert len(np.unique(data.groups)) == distinct - round(0.3 * distinct)
    train, held = stratified_split(np.where(data.y_train > 0, 1, -1), 0.2, seed=0, groups=data.groups)
    assert abs(len(held) / len(data.y_train) - 0.2) < 0.02
    assert not set(data.groups[train]) & set(data.groups[held])


@needs_data
def test_no_row_of_cod_rna_is_in_both_parts():
    data = load("cod-rna", DATA_DIR)
    train, test = ({row.tobytes() for row in part} for part in (data.X_train, data.X_test))
    assert not train & test


@needs_data
def test_covtype_codes_become_exactly_one_column_each():
    data = load("covtype", DATA_DIR)
    assert data.feature_names is not None and len(data.feature_names) == 54
    for X in (data.X_train, data.X_test):
        assert (X[:, 10:14].sum(axis=1) == 1).all() and (X[:, 14:].sum(axis=1) == 1).all()
