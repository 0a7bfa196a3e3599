"""The embedded data sets have the documented rows, positives, splits and bytes."""

import hashlib
import importlib.resources
import os
import re
from pathlib import Path

import numpy as np
import pytest

from aesara_nondecomp.data import load

EMBEDDED = importlib.resources.files("aesara_nondecomp.data") / "embedded"
DATA_DIR = os.environ.get("AESARA_NONDECOMP_DATA", "")


def shape_and_positives(X, y):
    return (*X.shape, int(y.sum()))


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
        (
            "covtype",
            r"no embedded data set is called 'covtype'.*Known: letter, adult, vader_tweets.*data\.read\(path\)",
        ),
    ],
)
def test_a_set_that_is_not_embedded_is_refused_with_the_embedded_names(name, message):
    with pytest.raises(ValueError, match=message):
        load(name)


def test_the_data_dir_of_version_0_1_is_refused_with_the_place_that_takes_it(tmp_path):
    for call in (lambda: load("covtype", tmp_path), lambda: load("covtype", data_dir=tmp_path)):
        with pytest.raises(TypeError, match=r"takes no data_dir.*benchmarks\.data\.load\(name, data_dir\)"):
            call()


@pytest.mark.skipif(not DATA_DIR, reason="set AESARA_NONDECOMP_DATA to the folder of data sets")
def test_the_embedded_copies_equal_the_stored_files():
    adult, letter = load("adult"), load("letter")
    with np.load(Path(DATA_DIR) / "a9a" / "a9a.npz") as stored:
        np.testing.assert_array_equal(adult.X_train, stored["X_train"])
        np.testing.assert_array_equal(adult.X_test, stored["X_test"])
    with np.load(Path(DATA_DIR) / "letter" / "letter.npz") as stored:
        np.testing.assert_array_equal(np.vstack([letter.X_train, letter.X_test]), stored["X"])
