"""Shared by the file readers: the table they return, opened files, and the dtype of features."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import is_sparse

PathLike = Union[str, "os.PathLike[str]"]

COMPRESSIONS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
STANDARD_STREAM = "-"  # standard input or output, where a file is named
LARGEST_ROUNDING = 1e-5  # by float32, as a share of a column's range
ENTRIES_PER_BLOCK = 2**20  # columns are checked block by block, to save memory


class Table(NamedTuple):
    """Contents of a file.

    Attributes
    ----------
    X : array or CSR matrix, shape (n, d)
        Features.
    y : array, shape (n,)
        Labels, in the coding of the file.
    feature_names : tuple of str or None
        Names of the columns of `X`, where the file has them.
    """

    X: Any
    y: NDArray[Any]
    feature_names: tuple[str, ...] | None


def existing_file(path: PathLike) -> Path:
    """Return the path of a file after checking that the file exists.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    """
    found = Path(path)
    if not found.is_file():
        raise FileNotFoundError(f"there is no file {path}. Check the path.")
    return found


def readable(source: Any, read: Callable[[], Any]) -> Any:
    """What a reader of a library returns; its errors become one of ours.

    Parameters
    ----------
    source : object
        What is read, for the message.
    read : callable
        The reader.

    Returns
    -------
    object

    Raises
    ------
    ValueError
        If the reader fails.
    """
    try:
        return read()
    except (ValueError, OSError, KeyError, StopIteration, NotImplementedError, zipfile.BadZipFile) as error:
        raise ValueError(f"cannot read {source}: {error}. Check that it is complete, or write it as .csv.") from error


def uncompressed_suffix(path: PathLike) -> str:
    """Tell the suffix of a file, in lower case, without that of a compression.

    Parameters
    ----------
    path : path-like
        The file, which need not exist.

    Returns
    -------
    str
        Such as ".csv" for "adult.CSV.gz".
    """
    found = Path(path)
    return (found.with_suffix("") if found.suffix.lower() in COMPRESSIONS else found).suffix.lower()


@contextmanager
def open_binary(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a text file, compressed or not, for reading its bytes, more than once if need be.

    Parameters
    ----------
    path : path-like
        UTF-8 text, plain or in the compression of its suffix: .gz, .bz2 or .xz.

    Yields
    ------
    binary file
        The uncompressed bytes.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is not such text, or is truncated; naming the file.
    """
    with unreadable_text(path):
        found = existing_file(path)
        with COMPRESSIONS.get(found.suffix.lower(), open)(found, "rb") as source:
            yield source


@contextmanager
def unreadable_text(path: PathLike) -> Iterator[None]:
    """Make one error of what goes wrong while text is read.

    Parameters
    ----------
    path : path-like
        The text, for the message.

    Raises
    ------
    ValueError
        If it is not UTF-8 text, or is truncated.
    """
    try:
        yield
    except FileNotFoundError:
        raise
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error
    except (OSError, EOFError, csv.Error, lzma.LZMAError, zlib.error) as error:
        raise ValueError(
            f"cannot read {path}: {error}. It must be UTF-8 text, compressed as its suffix says and complete."
        ) from error


def not_utf8(path: PathLike) -> ValueError:
    """The error about text in another encoding.

    Parameters
    ----------
    path : path-like
        The text.

    Returns
    -------
    ValueError
    """
    return ValueError(
        f"{path} must be UTF-8 text, got another encoding. Save it as UTF-8, for example from Latin-1 by: "
        "iconv -f LATIN1 -t UTF-8 OLD > NEW"
    )


@contextmanager
def text_lines(path: PathLike) -> Iterator[IO[str]]:
    """Open a text file, compressed or not, for reading by lines.

    Parameters
    ----------
    path : path-like
        UTF-8 text, plain or in the compression of its suffix: .gz, .bz2 or .xz.

    Yields
    ------
    file object
        The text, with line ends as stored.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is not such text, or is truncated; naming the file.
    """
    with open_binary(path) as source:
        yield io.TextIOWrapper(source, encoding="utf-8-sig", newline="")


@contextmanager
def open_archive(path: PathLike) -> Iterator[Any]:
    """Open an .npz file.

    Parameters
    ----------
    path : path-like
        The file.

    Yields
    ------
    numpy.lib.npyio.NpzFile
        Its arrays by name; read them with `stored_array`.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not an .npz archive; naming the file.
    """
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


def stored_array(archive: Any, name: str, path: PathLike) -> NDArray[Any]:
    """Read one array of an open archive.

    Parameters
    ----------
    archive : numpy.lib.npyio.NpzFile
        From `open_archive`.
    name : str
        An array in it.
    path : path-like
        The file, for the error message.

    Returns
    -------
    array
        As stored.

    Raises
    ------
    ValueError
        If the array is damaged or holds Python objects; naming file and array.
    """
    try:
        return np.asarray(archive[name])
    except MemoryError:
        raise  # the array is too large, the file may be whole
    except Exception as error:  # damage makes zip, zlib and NumPy's parser of headers raise errors of many types
        raise ValueError(
            f"cannot read {name!r} from {path}: {error}. The file must be complete and hold a plain "
            "array of numbers or strings."
        ) from error


def narrow_floats(X: Any) -> Any:
    """Convert features to float32 unless that would lose digits that matter.

    Timestamps, long ids and small differences between large numbers stay in float64: in float32, 1.7e9 + 60 is 1.7e9.

    Parameters
    ----------
    X : array or CSR matrix, shape (n, d)
        In float64, with at least one row and one column.

    Returns
    -------
    array or CSR matrix, shape (n, d)
        In float32 if every column keeps its whole numbers exactly, and its other numbers within 1e-5 of the column's
        range; otherwise `X` itself. Columns with NaN or infinity keep `X` in float64.
    """
    columns = X.tocsc() if is_sparse(X) else X
    width = max(1, ENTRIES_PER_BLOCK * X.shape[1] // max(1, X.size))
    blocks = (columns[:, start : start + width] for start in range(0, X.shape[1], width))
    return X.astype(np.float32) if all(map(_fits_float32, blocks)) else X


def _fits_float32(columns: Any) -> bool:
    """Whether some columns, an array or a CSC matrix, survive the conversion to float32."""
    with np.errstate(over="ignore", invalid="ignore"):  # NaN and infinity answer False
        rounding = columns.copy()
        stored = rounding.data if is_sparse(rounding) else rounding
        whole = stored == np.rint(stored)
        stored -= stored.astype(np.float32)
        np.abs(stored, out=stored)
        stored[whole & (stored > 0)] = np.inf
        allowed = LARGEST_ROUNDING * (columns.max(axis=0) - columns.min(axis=0))
        return bool((rounding.max(axis=0) - allowed).max() <= 0)
