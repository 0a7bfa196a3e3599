"""The embedded data sets have the documented rows, positives, splits and bytes, and those of their publishers."""

import csv
import gzip
import hashlib
import importlib.resources
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from aesara_nondecomp.data import TableEncoder, load

EMBEDDED = importlib.resources.files("aesara_nondecomp.data") / "embedded"
DATA_DIR = os.environ.get("AESARA_NONDECOMP_DATA", "")


def shape_and_positives(X, y):
    return (*X.shape, int(y.sum()))


def test_the_embedded_files_have_the_digests_of_their_readme():
    readme = (EMBEDDED / "README.md").read_text("utf-8")
    digests = dict(re.findall(r"^\| `(\S+)` \|.*`([0-9a-f]{64})` \|$", readme, re.MULTILINE))
    assert set(digests) == {"letter.npz", "adult.npz", "a9a.npz", "vader_tweets.tsv.gz", "LICENSE-vader.txt"}
    for name, digest in digests.items():
        assert hashlib.sha256((EMBEDDED / name).read_bytes()).hexdigest() == digest, name


@pytest.mark.parametrize(
    "name, train, test",
    [
        ("letter", (16_000, 16, 617), (4_000, 16, 166)),
        ("a9a", (32_561, 123, 7_841), (16_281, 123, 3_846)),
    ],
)
def test_embedded_matrices_have_the_documented_shape_and_positives(name, train, test):
    data = load(name)
    assert data.name == name and data.source
    assert shape_and_positives(data.X_train, data.y_train) == train
    assert shape_and_positives(data.X_test, data.y_test) == test
    assert data.X_train.dtype == data.X_test.dtype == np.float32
    assert data.y_train.dtype == data.y_test.dtype == np.uint8


def test_a9a_has_binary_named_columns():
    data = load("a9a")
    assert data.name == "a9a" and set(np.unique(data.X_train)) == {0.0, 1.0}
    # LIBSVM's own counts of non-zero entries.
    assert (np.count_nonzero(data.X_train), np.count_nonzero(data.X_test)) == (451_592, 225_731)
    assert data.feature_names is not None and data.feature_names[0] == "age<26"
    assert len(data.feature_names) == 123


# Digests of UCI's own files, which other public loaders check too.
UCI_FILES = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
}


def adult_as_published(table, y, first_line, end):
    """A part of Adult in the text form of UCI: cells between ", ", a missing one "?", an empty line at the end."""
    columns = [["?" if cell is None else str(cell) for cell in cells.tolist()] for cells in table.values()]
    incomes = [f"{'>50K' if positive else '<=50K'}{end}" for positive in y]
    return "\n".join([*first_line, *map(", ".join, zip(*columns, incomes)), "", ""])


def test_adult_written_back_as_text_is_the_files_of_uci_byte_for_byte():
    adult = load("adult")
    written = {
        "adult.data": adult_as_published(adult.X_train, adult.y_train, [], ""),
        "adult.test": adult_as_published(adult.X_test, adult.y_test, ["|1x3 Cross validator"], "."),
    }
    assert {name: hashlib.sha256(text.encode()).hexdigest() for name, text in written.items()} == UCI_FILES


def test_adult_is_a_table_of_six_numeric_and_eight_categorical_columns_with_missing_cells():
    adult = load("adult")
    assert adult.name == "adult" and "Becker" in adult.source and "CC BY 4.0" in adult.source
    assert tuple(adult.X_train) == tuple(adult.X_test) == adult.feature_names
    assert [cells.dtype.kind for cells in adult.X_train.values()].count("i") == 6 and len(adult.X_train) == 14
    assert (len(adult.y_train), int(adult.y_train.sum())) == (32_561, 7_841)
    assert (len(adult.y_test), int(adult.y_test.sum())) == (16_281, 3_846)
    missing = {
        name: tuple(sum(cell is None for cell in part[name].tolist()) for part in (adult.X_train, adult.X_test))
        for name in adult.X_train
    }
    assert {name: counts for name, counts in missing.items() if any(counts)} == {
        "workclass": (1_836, 963),
        "occupation": (1_843, 966),
        "native-country": (583, 274),
    }


def test_a9a_is_the_binary_form_of_the_same_rows():
    adult, a9a = load("adult"), load("a9a")
    assert adult.y_train.tolist() == a9a.y_train.tolist() and adult.y_test.tolist() == a9a.y_test.tolist()
    for table, matrix in ((adult.X_train, a9a.X_train), (adult.X_test, a9a.X_test)):
        encoded = dict(zip(a9a.feature_names, matrix.T))
        for feature in ("sex=Female", "workclass=Private", "occupation=Sales", "native-country=Hong"):
            name, _, level = feature.partition("=")
            assert (encoded[feature] > 0).tolist() == (table[name] == level).tolist(), feature
        assert (encoded["age<26"] > 0).tolist() == (table["age"] < 26).tolist()


def test_adult_is_loaded_and_encoded_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)  # importing it fails
    monkeypatch.setitem(sys.modules, "polars", None)
    adult = load("adult")
    encoder = TableEncoder.fit(adult.X_train)
    assert (len(encoder.numeric), len(encoder.categorical), len(encoder.feature_names)) == (6, 8, 108)
    encoded = dict(zip(encoder.feature_names, encoder.transform(adult.X_test).T))
    assert int(encoded["occupation="].sum()) == 966  # a missing cell is a category of its own


def test_adult_becomes_a_data_frame_with_the_same_cells():
    pandas = pytest.importorskip("pandas")
    adult = load("adult")
    frame = pandas.DataFrame(adult.X_train)
    assert frame.shape == (32_561, 14) and int(frame.isna().sum().sum()) == 1_836 + 1_843 + 583
    encoder = TableEncoder.fit(adult.X_train)
    assert TableEncoder.fit(frame) == encoder
    np.testing.assert_array_equal(encoder.transform(frame), encoder.transform(adult.X_train))


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
            r"no embedded data set is called 'covtype'.*Known: letter, adult, a9a, vader_tweets.*data\.read\(path\)",
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
def test_adult_equals_the_stored_file_cell_by_cell():
    adult = load("adult")
    for part, table, y in (("train", adult.X_train, adult.y_train), ("test", adult.X_test, adult.y_test)):
        with gzip.open(Path(DATA_DIR) / "adult_raw" / f"adult_{part}.csv.gz", "rt", encoding="utf-8") as file:
            _, *rows = csv.reader(file)
        *columns, incomes = zip(*rows)
        assert [income.startswith(">50K") for income in incomes] == (y > 0).tolist()
        for (name, cells), stored in zip(table.items(), columns):
            assert ["?" if cell is None else str(cell) for cell in cells.tolist()] == list(stored), name


@pytest.mark.skipif(not DATA_DIR, reason="set AESARA_NONDECOMP_DATA to the folder of data sets")
def test_the_embedded_copies_equal_the_stored_files():
    a9a, letter = load("a9a"), load("letter")
    with np.load(Path(DATA_DIR) / "a9a" / "a9a.npz") as stored:
        np.testing.assert_array_equal(a9a.X_train, stored["X_train"])
        np.testing.assert_array_equal(a9a.X_test, stored["X_test"])
    with np.load(Path(DATA_DIR) / "letter" / "letter.npz") as stored:
        np.testing.assert_array_equal(np.vstack([letter.X_train, letter.X_test]), stored["X"])
