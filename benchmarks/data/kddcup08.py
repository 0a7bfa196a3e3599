"""KDD Cup 2008 (breast cancer), read as published: Features.txt and Info.txt, one candidate region a row."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from aesara_nondecomp.data import Dataset
from benchmarks.data.matrices import read_matrix
from benchmarks.data.prepared import split_groups
from benchmarks.data.source import Source

FILES = ("kddcup08/Features.txt", "kddcup08/Info.txt")

INFO_COLUMNS = (
    "label", "image_finding", "study_finding", "image", "patient", "left_breast", "mlo",
    "x", "y", "x_nipple", "y_nipple",
)  # fmt: skip
LABEL, PATIENT = INFO_COLUMNS.index("label"), INFO_COLUMNS.index("patient")


class KDDCup08(NamedTuple):
    """Candidate regions of mammograms."""

    X: np.ndarray
    """Features, float32, shape (n, 117)."""
    y: np.ndarray
    """uint8: 1 is malignant, 0 is not."""
    patients: np.ndarray
    """Ids, for the split only. All regions of a patient belong in one part; and neither this id nor any other is a
    feature, because it gives the label away: the ids of each source of patients fill a range of their own."""


def load(data_dir: Path) -> Dataset:
    """The training part, split by patient: the test part has no labels."""
    X, y, patients = read_kddcup08(data_dir / "kddcup08")
    return split_groups("kddcup08", X, y, patients, "Siemens Medical Solutions (2008). KDD Cup 2008, breast cancer.")


def read_kddcup08(folder: Path) -> KDDCup08:
    """Read the training part of KDD Cup 2008.

    Parameters
    ----------
    folder : Path
        Holds ``Features.txt`` (numbers, one region a line) and ``Info.txt`` (the 11 `INFO_COLUMNS`, labels +1 or -1).

    Returns
    -------
    KDDCup08
        One row for each region.

    Raises
    ------
    FileNotFoundError
        If a file is missing.
    ValueError
        If a line is no row of numbers, the files differ in length, or Info.txt has other columns or labels.
    """
    X = read_matrix(folder / "Features.txt")
    info = read_matrix(folder / "Info.txt", dtype="float64")
    if info.shape[1] != len(INFO_COLUMNS):
        raise ValueError(
            f"{folder / 'Info.txt'} must have the {len(INFO_COLUMNS)} columns of the training part, "
            f"got {info.shape[1]}. The test part has no labels and cannot be used."
        )
    if len(X) != len(info):
        raise ValueError(f"Features.txt and Info.txt must be equally long, got {len(X)} and {len(info)} rows.")
    labels = info[:, LABEL]
    if not np.isin(labels, (-1, 1)).all():
        raise ValueError(f"labels in Info.txt must be +1 or -1, got {np.unique(labels)[:5].tolist()}.")
    return KDDCup08(X, (labels > 0).astype(np.uint8), info[:, PATIENT].astype(np.int64))


SOURCES = {"kddcup08": Source(load, FILES)}
