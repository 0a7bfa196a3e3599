"""The protein homology task of KDD Cup 2004, published as bio_train.dat; it stands in for KDDCup08."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aesara_nondecomp.data import Dataset
from benchmarks.data.matrices import read_matrix
from benchmarks.data.prepared import PreparedArrays, split_groups, write_arrays
from benchmarks.data.source import Source

FILE = "standin_kdd04_protein/kdd04_protein.npz"
COLUMNS = 77
"""Block, example, label, and 74 features."""


def load(data_dir: Path) -> Dataset:
    """Rows of one block (one native sequence) are in one part."""
    arrays = PreparedArrays("kdd04", data_dir / FILE)
    return split_groups("kdd04", arrays["X"], arrays["y"], arrays["block_id"], "KDD Cup 2004, protein homology task.")


def convert(originals: Sequence[Path], data_dir: Path) -> list[Path]:
    """Drop the ids of the examples."""
    (path,) = originals
    rows = read_matrix(path)
    if rows.shape[1] != COLUMNS:
        raise ValueError(f"{path} must have the {COLUMNS} columns of bio_train.dat, got {rows.shape[1]}.")
    block_id, y = rows[:, 0].astype(np.int16), rows[:, 2].astype(np.uint8)
    return [write_arrays(data_dir / FILE, X=rows[:, 3:], y=y, block_id=block_id)]


SOURCES = {"kdd04": Source(load, (FILE,), ("bio_train.dat",), convert)}
