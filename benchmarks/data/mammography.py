"""Mammography (Woods et al.), published by OpenML as an ARFF file; a small stand-in for KDDCup08."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aesara_nondecomp.data import Dataset
from benchmarks.data.prepared import PreparedArrays, split_rows, write_arrays
from benchmarks.data.source import Source

FILE = "standin_mammography/mammography.npz"
COLUMNS = 7
"""Six features and the class."""


def load(data_dir: Path) -> Dataset:
    """Candidate regions of mammograms, standardised by the publisher."""
    arrays = PreparedArrays("mammography", data_dir / FILE)
    X, y = arrays["X"], arrays["y"]
    train, test = split_rows(y)
    return Dataset(
        "mammography",
        X[train],
        y[train],
        X[test],
        y[test],
        None,
        None,
        "Woods, K. et al. (1993). Comparative evaluation of pattern recognition techniques for "
        "detection of microcalcifications in mammography.",
    )


def convert(originals: Sequence[Path], data_dir: Path) -> list[Path]:
    """Read the lines below ``@data``: six numbers, then the class, '-1' or '1' in quotes."""
    (path,) = originals
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    starts = [number for number, line in enumerate(lines, start=1) if line.lower() == "@data"]
    if not starts:
        raise ValueError(f"{path} must be an ARFF file with a line @data, but has none.")
    cells = [line.replace("'", "").split(",") for line in lines[starts[0] :] if line and not line.startswith("%")]
    try:
        rows = np.array(cells, dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"cannot read {path}: {error}. Every line below @data must hold {COLUMNS} numbers.") from error
    if rows.ndim != 2 or rows.shape[1] != COLUMNS:
        raise ValueError(f"{path} must hold rows of {COLUMNS} numbers below @data, got shape {rows.shape}.")
    X, y = rows[:, :-1].astype(np.float32), (rows[:, -1] > 0).astype(np.uint8)
    return [write_arrays(data_dir / FILE, X=X, y=y)]


SOURCES = {"mammography": Source(load, (FILE,), ("mammography.arff",), convert)}
