"""Readers of LIBSVM text, .npz and .csv files."""

import bz2
import gzip
import lzma
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from aesara_nondecomp.data import files, read, read_csv, read_csv_columns, read_libsvm, read_npz
from aesara_nondecomp.data.files import narrow_floats

LIBSVM = "# made by hand\n+1 1:0.5 3:-2\n\n-1 qid:7 2:1e1 # a comment\n+1\n"
LIBSVM_X = np.array([[0.5, 0, -2], [0, 10, 0], [0, 0, 0]], dtype=np.float32)
CSV = "age,kind,height\n31,yes,1.5\n\n42,no,1.75\n"
WRITERS: dict[str, Any] = {"": open, ".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def write(path, text):
    with WRITERS.get(path.suffix, open)(path, "wt", encoding="utf-8") as file:
        file.write(text)
    return path


@pytest.mark.parametrize("packing", WRITERS)
@pytest.mark.parametrize("suffix", ["", ".txt", ".svm", ".t"])
def test_libsvm_text_is_read_in_every_packing_and_suffix(tmp_path, suffix, packing):
    table = read(write(tmp_path / f"set{suffix}{packing}", LIBSVM))
    assert table.X.dtype == np.float32
    np.testing.assert_array_equal(table.X, LIBSVM_X)
    assert table.y.tolist() == [1, -1, 1] and table.y.dtype == np.int64
    assert table.feature_names is None


def test_libsvm_text_can_stay_sparse_and_be_widened(tmp_path):
    table = read_libsvm(write(tmp_path / "set.txt", LIBSVM), n_features=5, dense=False)
    assert table.X.format == "csr" and table.X.nnz == 3
    np.testing.assert_array_equal(table.X.toarray(), np.pad(LIBSVM_X, ((0, 0), (0, 2))))


def test_libsvm_labels_that_are_not_whole_stay_floats(tmp_path):
    assert read_libsvm(write(tmp_path / "set.txt", "0.5 1:1\n1 1:2\n")).y.tolist() == [0.5, 1.0]


def test_a_random_sparse_matrix_survives_a_round_trip_through_libsvm_text(tmp_path):
    rng = np.random.default_rng(0)
    X = (rng.random((40, 9)) * (rng.random((40, 9)) < 0.3)).astype(np.float32)
    y = rng.integers(0, 2, 40)
    lines = [
        " ".join([str(label), *(f"{j + 1}:{float(x)!r}" for j, x in enumerate(row) if x)]) for label, row in zip(y, X)
    ]
    table = read_libsvm(write(tmp_path / "set.gz", "\n".join(lines)), n_features=9)
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(table.y, y)


@pytest.mark.parametrize(
    "text, message",
    [
        ("+1 1:1\nyes 1:1\n", r"set\.txt, line 2: expected a number for a label, got 'yes'"),
        ("1 1:1 3\n", "line 1: expected index:value.*got '3'"),
        ("1 a:1\n", "got 'a:1'"),
        ("1 -1:1\n", "got '-1:1'"),
        ("1 1:1\n\n1 2:x\n", "line 3: expected a number for a value of feature 2, got 'x'"),
        ("1 0:1 1:2\n", "start at 1 and increase"),
        ("1 2:1 2:3\n", "got 2 after 2"),
        ("1 99999999999:1\n", "line 1"),
        ("", "must hold rows with features"),
        ("1\n-1\n", "must hold rows with features"),
    ],
)
def test_malformed_libsvm_text_is_refused_naming_file_and_line(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_libsvm(write(tmp_path / "set.txt", text))


def test_a_feature_beyond_n_features_is_refused(tmp_path):
    with pytest.raises(ValueError, match="holds feature 3, more than n_features=2"):
        read_libsvm(write(tmp_path / "set.txt", LIBSVM), n_features=2)


def test_npz_arrays_come_back_as_stored(tmp_path):
    X, y = np.eye(3, dtype=np.float64), np.array(["a", "b", "a"])
    np.savez_compressed(tmp_path / "set.npz", X=X, y=y, feature_names=np.array([b"u", b"v", b"w"]))
    table = read(tmp_path / "set.npz")
    np.testing.assert_array_equal(table.X, X)
    assert table.X.dtype == X.dtype and table.y.tolist() == ["a", "b", "a"]
    assert table.feature_names == ("u", "v", "w")


def test_npz_arrays_can_have_other_names(tmp_path):
    np.savez(tmp_path / "set.npz", inputs=np.eye(2), targets=np.arange(2))
    table = read(tmp_path / "set.npz", features="inputs", labels="targets")
    assert table.y.tolist() == [0, 1] and table.feature_names is None


def test_unusable_npz_files_are_refused(tmp_path):
    np.savez(tmp_path / "names.npz", X_all=np.eye(2), y=np.arange(2))
    with pytest.raises(ValueError, match="has no array 'X'.*Known: X_all, y"):
        read_npz(tmp_path / "names.npz")
    np.savez(tmp_path / "objects.npz", X=np.array([{}, None], dtype=object), y=np.arange(2))
    with pytest.raises(ValueError, match="cannot read 'X'.*plain array"):
        read_npz(tmp_path / "objects.npz")
    np.savez(tmp_path / "short.npz", X=np.eye(3), y=np.arange(3), feature_names=["u", "v"])
    with pytest.raises(ValueError, match=r"name each column of 'X', which has the shape \(3, 3\), got \['u', 'v'\]"):
        read_npz(tmp_path / "short.npz")
    np.save(tmp_path / "single.npy", np.eye(2))
    with pytest.raises(ValueError, match="got a single array"):
        read_npz(tmp_path / "single.npy")
    with pytest.raises(ValueError, match="as .npz"):
        read_npz(write(tmp_path / "text.npz", "not an archive"))


def test_a_damaged_npz_file_is_refused_naming_the_array(tmp_path):
    path = tmp_path / "set.npz"
    np.savez_compressed(path, X=np.random.default_rng(0).random((200, 5)), y=np.arange(200) % 2)
    good = path.read_bytes()
    for place in range(200, 3000, 400):  # inside the compressed X, where no zip table shows the damage
        path.write_bytes(good[:place] + bytes([good[place] ^ 255]) + good[place + 1 :])
        with pytest.raises(ValueError, match="cannot read 'X'.*must be complete"):
            read_npz(path)


def test_whole_labels_beyond_the_exact_integers_stay_floats(tmp_path):
    table = read_libsvm(write(tmp_path / "set.txt", "1e30 1:1\n-1 1:2\n"))
    assert table.y.tolist() == [1e30, -1.0]


@pytest.mark.parametrize("delimiter", ["", ";;", r"\t"])
def test_a_delimiter_of_more_or_less_than_one_character_is_refused(tmp_path, delimiter):
    path = write(tmp_path / "set.csv", CSV)
    for call in (lambda: read_csv(path, "kind", delimiter), lambda: read_csv_columns(path, delimiter)):
        with pytest.raises(ValueError, match="must be one character"):
            call()


@pytest.mark.parametrize("packing", WRITERS)
def test_csv_tables_are_read_in_every_packing(tmp_path, packing):
    table = read(write(tmp_path / f"set.csv{packing}", CSV), target="kind")
    np.testing.assert_array_equal(table.X, np.array([[31, 1.5], [42, 1.75]], dtype=np.float32))
    assert table.y.tolist() == ["yes", "no"]
    assert table.feature_names == ("age", "height")


def test_csv_labels_that_are_numbers_become_numbers(tmp_path):
    table = read_csv(write(tmp_path / "set.csv", "x;y\n0.5;1\n1.5;0\n"), target="y", delimiter=";")
    assert table.y.tolist() == [1, 0] and table.y.dtype == np.int64


@pytest.mark.parametrize(
    "text, target, message",
    [
        (CSV, "knd", "no column 'knd'.*Did you mean 'kind'"),
        (CSV, "age", r"row 1 \(from 1\), column 'kind': expected a number, got 'yes'.*one-hot"),
        ("a,b\n1,\n", "a", r"row 1 \(from 1\), column 'b': expected a number, got ''"),
        ("a,b\n1,2\n1,2,3\n", "a", r"row 2 \(from 1, below the header\): expected 2 cells.*got 3"),
        ("a,b,b\n1,2,3\n", "a", r"\['b'\] more than once"),
        ("a\n1\n", "a", "feature columns"),
        ("a,b\n", "a", "rows below its header"),
        ("", "a", "header row, but it is empty"),
    ],
)
def test_unusable_csv_tables_are_refused_naming_the_place(tmp_path, text, target, message):
    with pytest.raises(ValueError, match=message):
        read_csv(write(tmp_path / "set.csv", text), target)


# -- the dtype of features -------------------------------------------------------------------------------------------

ORDINARY = {
    "decimals": [0.1, 0.25, -3.7, 1e-12, 0.0],
    "years": [1990.0, 2024.0, 2001.0, 2010.0, 2020.0],
    "kelvin": [280.15, 310.35, 295.25, 300.1, 290.0],
    "incomes": [12_345.67, 1_234_567.89, 0.0, 99_999.99, 54_321.0],
    "tiny": [1e-12, 3.3e-12, 2e-12, 0.0, 1.7e-12],
}
PRECISE = {
    "timestamps": [1.7e9 + 60 * t for t in range(5)],
    "timestamps of many years": [1e9 + 86_399 * 1_000 * t for t in range(5)],
    "ids": [10_000_001.0, 99_999_999.0, 16_777_217.0, 5.0, 6.0],
    "large and small": [1e9 + 0.1, 1e9 + 0.2, 1e9 + 0.4, 1e9, 1e9 - 0.3],
    "a narrow range": [1000.1, 1000.2, 1000.15, 1000.11, 1000.3],
    "one repeated decimal": [0.1] * 5,
    "beyond float32": [1e39, 1.0, 2.0, 3.0, 4.0],
    "not a number": [float("nan"), 1.0, 2.0, 3.0, 4.0],
    "infinite": [float("inf"), -1.0, 2.0, 3.0, 4.0],
}


def rows_of(column):
    """A table with the column between two harmless ones."""
    return np.column_stack([np.arange(5) / 4, column, np.ones(5)])


def as_csv(path, X):
    lines = [",".join([*map(repr, row), "1"]) for row in X.tolist()]
    return read_csv(write(path, "\n".join(["a,b,c,y", *lines])), "y").X


def as_libsvm(path, X):
    lines = [" ".join(["1", *(f"{j}:{x!r}" for j, x in enumerate(row, start=1))]) for row in X.tolist()]
    return read_libsvm(write(path, "\n".join(lines))).X


@pytest.mark.parametrize("reader", [as_csv, as_libsvm])
@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_features_are_read_in_float32(tmp_path, name, reader):
    X = rows_of(ORDINARY[name])
    found = reader(tmp_path / "set.txt", X)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, X.astype(np.float32))


@pytest.mark.parametrize("reader", [as_csv, as_libsvm])
@pytest.mark.parametrize("name", PRECISE)
def test_features_that_float32_would_blur_are_read_in_float64_without_loss(tmp_path, name, reader):
    X = rows_of(PRECISE[name])
    found = reader(tmp_path / "set.txt", X)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, X)


def test_sparse_features_are_read_in_float64_where_they_need_it(tmp_path):
    path = tmp_path / "set.txt"
    ordinary = read_libsvm(write(path, "1 2:0.1\n-1 1:3\n"), dense=False).X
    precise = read_libsvm(write(path, "1 2:1700000060\n-1 1:3\n"), dense=False).X
    assert ordinary.dtype == np.float32 and precise.dtype == np.float64
    assert precise.format == "csr" and precise[0, 1] == 1_700_000_060


columns_of_floats = arrays(
    np.float64, (6, 3), elements=st.floats(-1e4, 1e4) | st.integers(0, 10**9).map(float) | st.just(0.0)
)


@given(columns_of_floats, st.booleans())
def test_narrowed_features_keep_whole_numbers_and_the_digits_of_each_column(X, sparse):
    narrow = narrow_floats(scipy.sparse.csr_matrix(X) if sparse else X)
    found = narrow.toarray() if sparse else narrow
    whole = X == np.rint(X)
    np.testing.assert_array_equal(found[whole], X[whole])
    assert (np.abs(found - X).max(axis=0) <= 1e-5 * np.ptp(X, axis=0)).all()


@given(columns_of_floats, st.integers(1, 20))
def test_the_dtype_depends_neither_on_blocks_nor_on_sparsity(X, entries):
    expected = narrow_floats(X).dtype
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "ENTRIES_PER_BLOCK", entries)
        assert narrow_floats(X).dtype == narrow_floats(scipy.sparse.csr_matrix(X)).dtype == expected


# -- files that cannot be read ---------------------------------------------------------------------------------------


def test_files_that_cannot_be_read_are_refused_with_a_remedy(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read(tmp_path / "missing.txt")
    with pytest.raises(ValueError, match="unknown suffix '.feather'"):
        read(tmp_path / "set.feather")
    with pytest.raises(ValueError, match="name of its label column"):
        read(write(tmp_path / "set.csv", CSV))
    (tmp_path / "cut.gz").write_bytes(gzip.compress(LIBSVM.encode() * 100)[:-20])
    with pytest.raises(ValueError, match="compressed as its suffix says"):
        read(tmp_path / "cut.gz")
    (tmp_path / "plain.xz").write_text(LIBSVM)
    with pytest.raises(ValueError, match="compressed as its suffix says"):
        read(tmp_path / "plain.xz")
    (tmp_path / "latin.txt").write_bytes(b"1 1:1 # caf\xe9\n")
    with pytest.raises(ValueError, match="UTF-8"):
        read(tmp_path / "latin.txt")
