"""Open a table in the format of its suffix: delimited text, Parquet, Excel or ARFF."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp.data.csv_files import open_csv
from aesara_nondecomp.data.files import (
    STANDARD_STREAM,
    PathLike,
    existing_file,
    open_binary,
    text_lines,
    uncompressed_suffix,
)
from aesara_nondecomp.data.table_columns import TableColumns, check_unique, read_table

TEXT_SUFFIXES = (".csv", ".tsv", ".data")


class OpenTable(NamedTuple):
    """A table whose columns are read on demand.

    Attributes
    ----------
    names : tuple of str
        All columns.
    read : callable
        From the columns to read, and those of them to read cell by cell as they are, to TableColumns.
    blocks : callable
        From the same and a number of rows to TableColumns of so many rows each; only text is read block by block.
    """

    names: tuple[str, ...]
    read: Callable[[Sequence[str], Collection[str]], TableColumns]
    blocks: Callable[[Sequence[str], Collection[str], int], Iterator[TableColumns]]


def is_table_file(path: PathLike) -> bool:
    """Whether a file is a table by its suffix; standard input, "-", is one.

    Parameters
    ----------
    path : path-like
        The file, which need not exist.

    Returns
    -------
    bool
    """
    return path == STANDARD_STREAM or uncompressed_suffix(path) in (*TEXT_SUFFIXES, *_READERS)


@contextmanager
def open_table(path: PathLike, delimiter: str | None = None, decimal: str = ".") -> Iterator[OpenTable]:
    """Open a table.

    Parameters
    ----------
    path : path-like
        Delimited text (.csv, .tsv, .data; plain, .gz, .bz2 or .xz; "-" for standard input), .parquet, .xlsx (its first
        sheet) or .arff.
    delimiter : str, optional
        For text: one character. Default: told from the first lines.
    decimal : str, default "."
        For text: the decimal sign, "." or ",".

    Yields
    ------
    OpenTable

    Raises
    ------
    ValueError
        If the file cannot be read in that format, or an option has no effect on it.
    FileNotFoundError
        If there is no such file.
    ImportError
        If a library that reads the format is missing; naming the extra that brings it.
    """
    require(decimal in (".", ","), "the decimal sign must be '.' or ','", decimal)
    reader = _READERS.get(uncompressed_suffix(path))
    if reader is None:
        with open_csv(path, delimiter) as file:
            yield OpenTable(
                file.names,
                lambda names, texts: TableColumns(file.read(names, texts, decimal=decimal)),
                lambda names, texts, rows: _numbered(file.blocks(names, texts, rows, decimal=decimal)),
            )
        return
    require(delimiter is None and decimal == ".", f"{path} is no delimited text: leave delimiter and decimal out", None)
    columns = _readable(path, reader)
    yield OpenTable(
        tuple(columns),
        lambda names, texts: _selected(columns, names, texts),
        lambda names, texts, _: iter([_selected(columns, names, texts)]),
    )


def _numbered(blocks: Iterable[dict[str, NDArray[Any]]]) -> Iterator[TableColumns]:
    """Blocks of a table that know where they begin."""
    first_row = 0
    for cells in blocks:
        block = TableColumns(cells, first_row=first_row)
        yield block
        first_row += block.shape[0]


def _selected(columns: Mapping[str, Any], names: Sequence[str], texts: Collection[str]) -> TableColumns:
    """Some columns, of which `texts` keep their cells as they are."""
    others = read_table({name: columns[name] for name in names if name not in texts})
    kept = {name: np.array([*columns[name], None], dtype=object)[:-1] for name in names if name in texts}
    return others._replace(cells={name: kept[name] if name in texts else others.cells[name] for name in names})


def _readable(path: PathLike, reader: Callable[[PathLike], dict[str, Any]]) -> dict[str, Any]:
    """The columns that a reader returns; the errors of the libraries become one of ours."""
    existing_file(path)
    try:
        return reader(path)
    except ImportError as error:
        raise ImportError(f"reading {path} needs more: pip install 'aesara-nondecomp[files]' ({error})") from None
    except (ValueError, OSError, KeyError, StopIteration, NotImplementedError, zipfile.BadZipFile) as error:
        raise ValueError(f"cannot read {path}: {error}. Check that it is complete, or write it as .csv.") from error


def _read_parquet(path: PathLike) -> dict[str, Any]:
    import pandas

    with open_binary(path) as source:
        return _series(pandas.read_parquet(source, engine="pyarrow"))


def _read_excel(path: PathLike) -> dict[str, Any]:
    """The first sheet, cell by cell as in a .csv file: which spellings are missing values is told later."""
    import pandas

    with open_binary(path) as source:
        frame = pandas.read_excel(source, dtype=object, keep_default_na=False)
    return {name: series.tolist() for name, series in _series(frame).items()}


def _read_arff(path: PathLike) -> dict[str, Any]:
    """Numeric attributes as floats, nominal ones as pandas has them, since both say that they are categories."""
    import pandas
    from scipy.io import arff

    with text_lines(path) as lines:
        rows, _ = arff.loadarff(lines)
    return {name: _attribute(rows[name], pandas) for name in rows.dtype.names}


def _attribute(cells: NDArray[Any], pandas: Any) -> Any:
    if cells.dtype.kind != "S":
        return cells
    return pandas.Series(pandas.Categorical([cell.decode() for cell in cells.tolist()]))


def _series(frame: Any) -> dict[str, Any]:
    """The columns of a data frame, named once each."""
    check_unique(list(frame.columns))
    return {str(name): frame[name] for name in frame.columns}


_READERS: dict[str, Callable[[PathLike], dict[str, Any]]] = {
    ".parquet": _read_parquet,
    ".xlsx": _read_excel,
    ".arff": _read_arff,
}
