"""Read a matrix of numbers from plain text."""

from __future__ import annotations

import lzma
import warnings
import zlib
from pathlib import Path

import numpy as np


def read_matrix(path: Path, delimiter: str | None = None, dtype: str = "float32") -> np.ndarray:
    """Read a matrix of numbers, one row a line.

    Parameters
    ----------
    path : Path
        Text, plain or compressed (.gz, .bz2, .xz).
    delimiter : str, optional
        What stands between two numbers, by default any white space.
    dtype : str, default "float32"
        Type of the numbers.

    Returns
    -------
    array, shape (n, d)
        The numbers, with n and d at least 1.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is empty, a line is not such a row, or it is not compressed as its suffix says.
    """
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}. Check the folder.")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="loadtxt: input contained no data")
            matrix = np.loadtxt(path, dtype=dtype, delimiter=delimiter, ndmin=2)
    except (ValueError, OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise ValueError(f"cannot read {path}: {error}. Every line must hold equally many numbers.") from error
    if not matrix.size:
        raise ValueError(f"{path} must hold rows of numbers, but it is empty.")
    return matrix
