"""Read KDD Cup 2008 (breast cancer) in its original format: Features.txt and Info.txt, one candidate region a row."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from aesara_nondecomp.data.files import PathLike
from aesara_nondecomp.data.matrices import read_matrix

INFO_COLUMNS = (
    "label", "image_finding", "study_finding", "image", "patient", "left_breast", "mlo",
    "x", "y", "x_nipple", "y_nipple",
)  # fmt: skip
LABEL, PATIENT = INFO_COLUMNS.index("label"), INFO_COLUMNS.index("patient")


class KDDCup08(NamedTuple):
    """Candidate regions of mammograms.

    Attributes
    ----------
    X : float32 array, shape (n, 117)
    y : uint8 array, shape (n,), in {0, 1}; 1 is malignant.
    patients : int array, shape (n,)
        For splitting only: all of a patient's regions belong on one side, and the number itself gives the label away
        (patients of one source have numbers of one range), so neither it nor any other id is a feature.
    """

    X: np.ndarray
    y: np.ndarray
    patients: np.ndarray


def read_kddcup08(folder: PathLike) -> KDDCup08:
    """Read the training part of KDD Cup 2008.

    Parameters
    ----------
    folder : path
        Holds ``Features.txt`` (numbers, one region a line) and ``Info.txt`` (11 columns, `INFO_COLUMNS`: the label
        +1 or -1, ids, sides and places).

    Raises
    ------
    FileNotFoundError
        If a file is missing.
    ValueError
        If a line is no row of numbers, the files differ in length, or Info.txt has other columns or labels.
    """
    folder = Path(folder)
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
