"""What the readers of files share: the table they give, opened text, labels."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, Union

import numpy as np

PathLike = Union[str, "os.PathLike[str]"]


class Table(NamedTuple):
    """What a file held.

    Attributes
    ----------
    X : array or CSR matrix, shape (n, d)
    y : array, shape (n,)
        Labels in the file's own coding.
    feature_names : tuple of str, or None
    """

    X: Any
    y: np.ndarray
    feature_names: tuple[str, ...] | None


def existing_file(path: PathLike) -> Path:
    """The path, or a FileNotFoundError."""
    found = Path(path)
    if not found.is_file():
        raise FileNotFoundError(f"there is no file {path}. Check the path.")
    return found


@contextmanager
def text_lines(path: PathLike) -> Iterator[IO[str]]:
    """The lines of a text file, compressed or not; a ValueError, naming the file, for what is no such text."""
    found = existing_file(path)
    openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    opener = openers.get(found.suffix.lower(), open)
    try:
        with opener(found, "rt", encoding="utf-8-sig", newline="") as lines:
            yield lines
    except (OSError, EOFError, UnicodeDecodeError, csv.Error, lzma.LZMAError, zlib.error) as error:
        raise ValueError(
            f"cannot read {path}: {error}. It must be UTF-8 text, compressed as its suffix says and complete."
        ) from error


@contextmanager
def open_archive(path: PathLike) -> Iterator[Any]:
    """The arrays of an .npz file by name; a ValueError, naming the file, for what is no such archive."""
    found = existing_file(path)
    try:
        archive = np.load(found, allow_pickle=False)
    except (OSError, EOFError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"cannot read {path} as .npz: {error}. Write it with numpy.savez.") from error
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise ValueError(
            f"{path} must be an .npz archive of two arrays, got a single array. "
            "Write it with numpy.savez(path, X=X, y=y)."
        )
    with archive:
        yield archive


def stored_array(archive: Any, name: str, path: PathLike) -> np.ndarray:
    """One array of an open archive; a ValueError, naming file and array, where it is damaged."""
    try:
        return archive[name]
    except MemoryError:
        raise  # the array is too large, the file may be whole
    except Exception as error:  # damage makes zip, zlib and NumPy's parser of headers raise errors of many types
        raise ValueError(
            f"cannot read {name!r} from {path}: {error}. The file must be complete and hold a plain "
            "array of numbers or strings."
        ) from error


def whole_numbers(numbers: np.ndarray) -> np.ndarray:
    """Labels as integers if all of them are whole, else as they are."""
    exact = 2**53  # beyond it a float64 is no longer one whole number
    whole = bool((np.abs(numbers) <= exact).all()) and np.array_equal(numbers, np.rint(numbers))
    return numbers.astype(np.int64) if whole else numbers


def as_numbers(cells: Sequence[str]) -> np.ndarray:
    """Labels as integers or float64 if all of them are finite numbers, else as the strings they are."""
    try:
        numbers = np.array([float(cell) for cell in cells])
    except ValueError:
        return np.array(cells)
    return whole_numbers(numbers) if np.isfinite(numbers).all() else np.array(cells)
