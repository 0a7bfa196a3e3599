"""Write predictions block by block: as lines of text, compressed or not, or as a Parquet file."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import itertools
import lzma
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp._files import is_stream, replacing
from aesara_nondecomp.data.files import STANDARD_STREAM, uncompressed_suffix
from aesara_nondecomp.data.table_parts import PARQUET, is_parquet

# Text under the name of one of these would be taken for a broken file.
OTHER_FORMATS = frozenset(
    (".xlsx", ".xls", ".ods", ".arff", ".npz", ".npy", ".json", ".jsonl", ".html", ".feather", ".arrow", ".orc", ".zip")
    + (".zst", ".7z", ".tar", ".pkl", ".h5", ".svm", ".libsvm")
)
# Without a time and a name in the file, as gzip.open writes them, so that equal predictions are equal files.
_COMPRESSED: dict[str, Any] = {
    ".gz": lambda file, mode: gzip.GzipFile("", mode, fileobj=file, mtime=0),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
}

# Writes a block of predictions: the number of its first row, from 1, and the columns, of shape (n,).
Write = Callable[[int, Sequence[NDArray[Any]]], None]


@contextmanager
def writing(path: str, names: Sequence[str]) -> Iterator[Write]:
    """Open a file for predictions, which is there when all of it is written.

    Parameters
    ----------
    path : str
        A .parquet file, or text, with tabs as .tsv and compressed as .gz, .bz2 or .xz; "-" for standard output.
    names : sequence of str
        Of the columns; the first one, "row", comes before them.

    Yields
    ------
    callable
        Writes a block: the number of its first row, from 1; the columns, each of shape (n,), labels first.

    Raises
    ------
    ImportError
        If pyarrow is needed and missing; naming the extra that brings it.
    OSError
        If the file cannot be written.
    """
    if path == STANDARD_STREAM:
        yield _lines(sys.stdout, names, piped=True)
    elif is_parquet(path):
        with replacing(path) as file, _parquet(file, names) as write:
            yield write
    else:
        with _text(path) as file:
            yield _lines(file, names, is_stream(path), "\t" if uncompressed_suffix(path) == ".tsv" else ",")


def check_format(path: str) -> None:
    """Refuse, before the work, a format that cannot be written.

    Parameters
    ----------
    path : str
        As for `writing`.

    Raises
    ------
    ValueError
        If the suffix is that of another format.
    ImportError
        If pyarrow is needed and missing; naming the extra that brings it.
    """
    other = {Path(path).suffix.lower(), uncompressed_suffix(path)} & OTHER_FORMATS
    packed = uncompressed_suffix(path) == PARQUET and not is_parquet(path)  # it is compressed inside
    needed = "predictions are written as .csv, .tsv or other text, also as .gz, .bz2 or .xz, or as .parquet"
    require(not other and not packed, needed, path)
    if is_parquet(path):
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError:
            raise ImportError(f"writing {path} needs pyarrow: pip install 'aesara-nondecomp[files]'") from None


@contextmanager
def _text(path: str) -> Iterator[Any]:
    """Open a file for text, compressed as its suffix says."""
    packing = _COMPRESSED.get(Path(path).suffix.lower())
    if packing is None:
        with replacing(path, text=True) as file:
            yield file
        return
    with replacing(path) as file, packing(file, "wb") as packed, io.TextIOWrapper(packed, "utf-8", newline="") as text:
        yield text


def _lines(file: Any, names: Sequence[str], piped: bool, delimiter: str = ",") -> Write:
    """Write lines of text; to a pipe at once, as who reads it may wait for them."""
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow(("row", *names))

    def write(row: int, columns: Sequence[NDArray[Any]]) -> None:
        # Labels come first, as they are; the rest is scores and probabilities.
        labels, *numbers = (column.tolist() for column in columns)
        shown = (map("{:.6g}".format, column) for column in numbers)
        writer.writerows(zip(itertools.count(row), labels, *shown))
        if piped:
            file.flush()

    return write


@contextmanager
def _parquet(file: Any, names: Sequence[str]) -> Iterator[Write]:
    import pyarrow
    from pyarrow import parquet

    writers: list[Any] = []  # made for the types of the first block

    def write(row: int, columns: Sequence[NDArray[Any]]) -> None:
        rows = np.arange(row, row + len(columns[0]))
        table = pyarrow.table(dict(zip(("row", *names), (rows, *columns))))
        if not writers:
            writers.append(parquet.ParquetWriter(file, table.schema))
        writers[0].write_table(table)

    try:
        yield write
    finally:
        for writer in writers:
            writer.close()
