"""Write predictions block by block: as lines of text, or as a Parquet file."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._files import replacing
from aesara_nondecomp.data.files import STANDARD_STREAM
from aesara_nondecomp.data.table_parts import is_parquet

COLUMNS = ("row", "prediction", "score", "probability")


class Write(Protocol):
    """Writes a block of predictions."""

    def __call__(self, row: int, labels: NDArray[Any], scores: NDArray[Any], probabilities: NDArray[Any]) -> None:
        """`row` is the number of the first row, from 1; the others have shape (n,)."""


@contextmanager
def writing(path: str) -> Iterator[Write]:
    """Open a file for predictions, which is there when all of it is written.

    Parameters
    ----------
    path : str
        A .parquet file, or text; "-" for standard output.

    Yields
    ------
    Write

    Raises
    ------
    ImportError
        If pyarrow is needed and missing; naming the extra that brings it.
    OSError
        If the file cannot be written.
    """
    if path == STANDARD_STREAM:
        yield _lines(sys.stdout)
    elif is_parquet(path):
        with replacing(path) as file, _parquet(file) as write:
            yield write
    else:
        with replacing(path, text=True) as file:
            yield _lines(file)


def check_format(path: str) -> None:
    """Refuse, before the work, a format that cannot be written.

    Parameters
    ----------
    path : str
        As for `writing`.

    Raises
    ------
    ImportError
        If pyarrow is needed and missing; naming the extra that brings it.
    """
    if is_parquet(path):
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError:
            raise ImportError(f"writing {path} needs pyarrow: pip install 'aesara-nondecomp[files]'") from None


def _lines(file: Any) -> Write:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)

    def write(row: int, labels: NDArray[Any], scores: NDArray[Any], probabilities: NDArray[Any]) -> None:
        columns = zip(labels.tolist(), scores.tolist(), probabilities.tolist())
        for number, (label, score, probability) in enumerate(columns, start=row):
            writer.writerow((number, label, f"{score:.6g}", f"{probability:.6g}"))

    return write


@contextmanager
def _parquet(file: Any) -> Iterator[Write]:
    import pyarrow
    from pyarrow import parquet

    writers: list[Any] = []  # made for the types of the first block

    def write(row: int, labels: NDArray[Any], scores: NDArray[Any], probabilities: NDArray[Any]) -> None:
        rows = np.arange(row, row + len(labels))
        table = pyarrow.table(dict(zip(COLUMNS, (rows, labels, scores, probabilities))))
        if not writers:
            writers.append(parquet.ParquetWriter(file, table.schema))
        writers[0].write_table(table)

    try:
        yield write
    finally:
        for writer in writers:
            writer.close()
