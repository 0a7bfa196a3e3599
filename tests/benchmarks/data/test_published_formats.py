"""KDD Cup 2008 and the protein pairs are read from small files in their published formats."""

from __future__ import annotations

import numpy as np
import pytest
from published import N_FEATURES, write_kddcup08, write_ppi

from benchmarks.data import load
from benchmarks.data.kddcup08 import read_kddcup08
from benchmarks.data.matrices import read_matrix
from benchmarks.data.ppi import read_ppi

LABELS = [1, -1, -1, 1, -1, -1, -1, 1, -1, -1] * 4
PATIENTS = [row // 2 + 50 for row in range(40)]


def test_kddcup08_has_the_features_and_the_labels_and_no_id_among_the_features(tmp_path):
    X = write_kddcup08(tmp_path / "kddcup08", LABELS, PATIENTS)
    read = read_kddcup08(tmp_path / "kddcup08")
    assert read.X.shape == (40, N_FEATURES) and read.X.dtype == np.float32
    np.testing.assert_allclose(read.X, X, atol=1e-4)
    assert read.y.tolist() == [int(label > 0) for label in LABELS]
    assert read.patients.tolist() == PATIENTS


def test_kddcup08_keeps_all_regions_of_a_patient_on_one_side(tmp_path):
    X = write_kddcup08(tmp_path / "kddcup08", LABELS, PATIENTS)
    data = load("kddcup08", tmp_path)
    assert data.X_train.shape[1] == N_FEATURES
    patient_of = {tuple(np.float32(row)): patient for row, patient in zip(X, PATIENTS)}
    train, test = ({patient_of[tuple(row)] for row in part} for part in (data.X_train, data.X_test))
    assert not train & test and len(train | test) == 20 and len(test) == 6
    assert [patient_of[tuple(row)] for row in data.X_train] == data.groups.tolist()


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("Info.txt", lambda text: text.replace("+1 ", "+2 ", 1), r"\+1 or -1"),
        ("Info.txt", lambda text: "\n".join(text.split("\n")[:-2]) + "\n", "equally long, got 40 and 39"),
        ("Info.txt", lambda text: "\n".join(line[2:] for line in text.split("\n")), "11 columns"),
        ("Features.txt", lambda text: text.replace("\t", "\t0.5\t", 1), "Features.txt"),
        ("Features.txt", lambda text: "\n", "empty"),
        ("Features.txt", lambda text: "# nothing\n", "empty"),
    ],
)
def test_kddcup08_says_what_is_wrong_with_a_file(tmp_path, file, change, message):
    write_kddcup08(tmp_path / "k", LABELS, PATIENTS)
    path = tmp_path / "k" / file
    path.write_text(change(path.read_text()))
    with pytest.raises(ValueError, match=message):
        read_kddcup08(tmp_path / "k")


def test_protein_pairs_are_positives_then_negatives_with_missing_values_marked(tmp_path):
    X = write_ppi(tmp_path / "ppi", 5, 15, missing=((1, 2), (5, 0)))
    read = read_ppi(tmp_path / "ppi")
    assert read.y.tolist() == [1] * 5 + [0] * 15
    assert np.isnan(read.X[1, 2]) and np.isnan(read.X[5, 0]) and np.isnan(read.X).sum() == 2
    present = ~np.isnan(read.X)
    np.testing.assert_allclose(read.X[present], X[present], atol=1e-6)


def test_a_missing_protein_feature_becomes_the_mean_of_the_training_rows(tmp_path):
    X = write_ppi(tmp_path / "ppi", 10, 30, missing=((1, 2),))
    data = load("ppi", tmp_path)
    assert (len(data.X_train), len(data.X_test)) == (28, 12) and data.y_train.sum() == 7
    rows = np.concatenate([data.X_train, data.X_test])
    (filled,) = np.flatnonzero(np.all(np.isclose(rows[:, [0, 1, 3]], X[1, [0, 1, 3]]), axis=1))
    others = [row for row in range(len(data.X_train)) if row != filled]
    assert rows[filled, 2] == pytest.approx(np.mean(data.X_train[others, 2]), abs=1e-6)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_a_matrix_that_is_not_compressed_as_its_suffix_says_is_refused(tmp_path, suffix):
    path = tmp_path / f"numbers.txt{suffix}"
    path.write_text("1 2\n")
    with pytest.raises(ValueError, match="cannot read .*numbers.txt"):
        read_matrix(path)


def test_a_protein_file_with_the_other_label_is_refused(tmp_path):
    write_ppi(tmp_path / "ppi", 5, 15)
    path = tmp_path / "ppi" / "dipsPosPair.feature"
    path.write_text(path.read_text().replace(",1\n", ",0\n"))
    with pytest.raises(ValueError, match="label 1"):
        read_ppi(tmp_path / "ppi")


@pytest.mark.parametrize("name", ["kddcup08", "ppi"])
def test_a_missing_folder_is_named(tmp_path, name):
    with pytest.raises(FileNotFoundError, match=name):
        load(name, tmp_path)
