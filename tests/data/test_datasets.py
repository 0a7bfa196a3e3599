"""The data sets have the documented rows, positives, splits and bytes."""

import hashlib
import importlib.resources
import os
import re
from pathlib import Path

import numpy as np
import pytest

from aesara_nondecomp.data import load, stratified_split

EMBEDDED = importlib.resources.files("aesara_nondecomp.data") / "embedded"
DATA_DIR = os.environ.get("AESARA_NONDECOMP_DATA", "")
needs_data = pytest.mark.skipif(not DATA_DIR, reason="set AESARA_NONDECOMP_DATA to the folder of data sets")


def shape_and_positives(X, y):
    return (len(X), getattr(X, "shape", (0, 0))[1], int(y.sum()))


def test_the_embedded_files_have_the_digests_of_their_readme():
    readme = (EMBEDDED / "README.md").read_text("utf-8")
    digests = dict(re.findall(r"^\| `(\S+)` \|.*`([0-9a-f]{64})` \|$", readme, re.MULTILINE))
    assert set(digests) == {"letter.npz", "adult.npz", "vader_tweets.tsv.gz", "LICENSE-vader.txt"}
    for name, digest in digests.items():
        assert hashlib.sha256((EMBEDDED / name).read_bytes()).hexdigest() == digest, name


@pytest.mark.parametrize(
    "name, train, test",
    [
        ("letter", (16_000, 16, 617), (4_000, 16, 166)),
        ("adult", (32_561, 123, 7_841), (16_281, 123, 3_846)),
    ],
)
def test_embedded_tables_have_the_documented_shape_and_positives(name, train, test):
    data = load(name)
    assert data.name == name and data.source
    assert shape_and_positives(data.X_train, data.y_train) == train
    assert shape_and_positives(data.X_test, data.y_test) == test
    assert data.X_train.dtype == data.X_test.dtype == np.float32
    assert data.y_train.dtype == data.y_test.dtype == np.uint8


def test_adult_is_a9a_with_binary_named_columns():
    data = load("a9a")
    assert data.name == "adult" and set(np.unique(data.X_train)) == {0.0, 1.0}
    # LIBSVM's own counts of non-zero entries.
    assert (np.count_nonzero(data.X_train), np.count_nonzero(data.X_test)) == (451_592, 225_731)
    assert data.feature_names is not None and data.feature_names[0] == "age<26"
    assert len(data.feature_names) == 123


def test_letter_starts_with_the_rows_of_uci():
    data = load("letter")
    # UCI's file begins T,2,8,3,5,1,8,13,0,6,6,10,8,0,8,0,8; its fourth row is the first N.
    assert data.X_train[0].tolist() == [2, 8, 3, 5, 1, 8, 13, 0, 6, 6, 10, 8, 0, 8, 0, 8]
    assert data.y_train[:5].tolist() == [0, 0, 0, 1, 0]


def test_vader_tweets_drops_the_neutral_rows_and_splits_them_stratified():
    data = load("vader_tweets")
    assert len(data.X_train) + len(data.X_test) == 4_196
    assert int(data.y_train.sum()) + int(data.y_test.sum()) == 2_897
    assert int(data.y_test.sum()) == round(0.2 * 2_897)
    assert len(data.X_test) == round(0.2 * 2_897) + round(0.2 * 1_299)
    assert all(isinstance(text, str) and text for text in data.X_train + data.X_test)


def test_two_loads_give_the_same_rows():
    first, again = load("vader_tweets"), load("vader_tweets")
    assert first.X_test == again.X_test and first.y_test.tolist() == again.y_test.tolist()


@pytest.mark.parametrize(
    "name, message",
    [
        ("leter", "Did you mean 'letter'"),
        ("mnist", "unknown data set 'mnist'.*ijcnn1"),
        ("ijcnn1", "not embedded.*data_dir="),
    ],
)
def test_an_unknown_or_homeless_data_set_is_refused(name, message):
    with pytest.raises(ValueError, match=message):
        load(name)


@pytest.mark.parametrize(
    "name", ["ijcnn1", "cod-rna", "codrna", "covtype", "kdd04", "mammography", "sentiment_sentences", "twitter"]
)
def test_a_missing_file_is_named_with_the_folder_that_should_hold_it(tmp_path, name):
    with pytest.raises(FileNotFoundError, match=f"{re.escape(str(tmp_path))}.*data_dir="):
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


@needs_data
@pytest.mark.parametrize(
    "name, train, test",
    [
        ("ijcnn1", (49_990, 22, 4_853), (91_701, 22, 8_712)),
        ("covtype", (120_000, 54, 1_961), (60_000, 54, 980)),
        ("mammography", (7_828, 6, 182), (3_355, 6, 78)),
        ("sentiment_sentences", (2_400, 0, 1_200), (600, 0, 300)),
        ("twitter", (7_088, 0, 5_730), (10_551, 0, 8_212)),
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
def test_grouped_sets_test_on_30_percent_of_the_groups_and_can_be_cut_again(name, rows, positives, distinct):
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


@needs_data
def test_the_embedded_copies_equal_the_stored_files():
    adult, letter = load("adult"), load("letter")
    with np.load(Path(DATA_DIR) / "a9a" / "a9a.npz") as stored:
        np.testing.assert_array_equal(adult.X_train, stored["X_train"])
        np.testing.assert_array_equal(adult.X_test, stored["X_test"])
    with np.load(Path(DATA_DIR) / "letter" / "letter.npz") as stored:
        np.testing.assert_array_equal(np.vstack([letter.X_train, letter.X_test]), stored["X"])
