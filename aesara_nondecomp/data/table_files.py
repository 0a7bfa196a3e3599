"""Tables in files and how to read them, in the format of their suffix: delimited text, Parquet, Excel or ARFF."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import check_listed, require, suggestion
from aesara_nondecomp.data.arrow_tables import is_arrow, open_arrow
from aesara_nondecomp.data.files import (
    STANDARD_STREAM,
    PathLike,
    existing_file,
    open_binary,
    readable,
    text_lines,
    uncompressed_suffix,
)
from aesara_nondecomp.data.table_columns import TableColumns, check_names, check_unique, read_table
from aesara_nondecomp.data.table_parts import PARQUET, TEXT_SUFFIXES, files_of, is_several, open_csv_files


class OpenTable(NamedTuple):
    """A table whose columns are read on demand.

    Attributes
    ----------
    names : tuple of str
        All columns.
    read : callable
        From the columns to read, and those of them to read cell by cell as they are, to TableColumns.
    blocks : callable
        From the same and a number of rows to TableColumns of so many rows each. Excel and ARFF are one block.
    count_rows : callable
        Returns about how many rows there are; 0 where they are read at once, and of standard input.
    """

    names: tuple[str, ...]
    read: Callable[[Sequence[str], Collection[str]], TableColumns]
    blocks: Callable[[Sequence[str], Collection[str], int], Iterator[TableColumns]]
    count_rows: Callable[[], int]


class TableFiles(NamedTuple):
    """A table to train on, and how to read it: for `fit(TableFiles(...), target=...)`.

    Attributes
    ----------
    source : path-like, sequence of path-like, pyarrow.dataset.Dataset or pyarrow.Table
        See `open_table`: a file, several, a folder, or a pattern such as ``data/*.parquet``.
    drop : sequence of str
        Columns to leave out.
    categorical : sequence of str
        Numeric columns to treat as categorical.
    missing : sequence of str
        Spellings of a missing value, beside the usual ones.
    delimiter : str, optional
        Of text. Default: told from the first lines.
    decimal : {".", ","}
        The decimal sign of text.

    Examples
    --------
    >>> files = TableFiles("data/*.csv", drop=["id"], categorical=["zip"])  # for fit(files, target="label")
    """

    source: Any
    drop: Sequence[str] = ()
    categorical: Sequence[str] = ()
    missing: Sequence[str] = ()
    delimiter: str | None = None
    decimal: str = "."

    def opened(self) -> AbstractContextManager[OpenTable]:
        """Open the table.

        Returns
        -------
        context manager of OpenTable

        Raises
        ------
        ValueError
            If `drop`, `categorical` or `missing` is a single text, or the table cannot be read.
        """
        for name in ("drop", "categorical", "missing"):
            check_listed(name, getattr(self, name))
        return open_table(self.source, self.delimiter, self.decimal)

    def features(self, names: Sequence[str], target: str) -> list[str]:
        """Find the columns of the features among all columns.

        Parameters
        ----------
        names : sequence of str
            All columns.
        target : str
            That of the labels.

        Returns
        -------
        list of str

        Raises
        ------
        ValueError
            If a named column is not there, or no feature is left.
        """
        if target not in names:
            raise ValueError(f"{self.source} has no column {target!r} of labels. {suggestion(target, names)}")
        for name in self.drop:
            if name not in names:
                raise ValueError(f"there is no column {name!r} to drop. {suggestion(name, names)}")
        features = [name for name in names if name not in (target, *self.drop)]
        if not features:
            raise ValueError(f"{self.source} has no feature columns beside the labels. Check its delimiter.")
        check_names(self.categorical, features)
        return features


def is_table_file(path: PathLike) -> bool:
    """Whether a file is a table by its suffix; standard input, "-", is one, and so is what `files_of` takes.

    Parameters
    ----------
    path : path-like
        The file, which need not exist; or a folder or a pattern of files.

    Returns
    -------
    bool
    """
    known = (*TEXT_SUFFIXES, PARQUET, *_READERS)
    return path == STANDARD_STREAM or is_several(path) or uncompressed_suffix(path) in known


def is_delimited_text(source: PathLike | Sequence[PathLike]) -> bool:
    """Whether the files of a table are delimited text, which has a delimiter and a decimal sign.

    Parameters
    ----------
    source : path-like or sequence of path-like
        As for `files_of`; standard input, "-", is text.

    Returns
    -------
    bool

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the files are of several formats.
    """
    return _is_text(files_of(source)[0])


@contextmanager
def open_table(source: Any, delimiter: str | None = None, decimal: str = ".") -> Iterator[OpenTable]:
    """Open a table.

    Parameters
    ----------
    source : path-like, sequence of path-like, pyarrow.dataset.Dataset or pyarrow.Table
        Delimited text (.csv, .tsv, .data; plain, .gz, .bz2 or .xz; "-" for standard input), .parquet, .xlsx
        (its first sheet) or .arff. Of text and Parquet also several files, a folder or a pattern, see `files_of`.
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
        If a file cannot be read in that format, files differ in their columns, or an option has no effect on them.
    FileNotFoundError
        If there is no such file.
    ImportError
        If a library that reads the format is missing; naming the extra that brings it.
    """
    require(decimal in (".", ","), "the decimal sign must be '.' or ','", decimal)
    paths = [] if is_arrow(source) else files_of(source)
    suffix = uncompressed_suffix(paths[0]) if paths else None
    if paths and _is_text(paths[0]):
        with open_csv_files(paths, delimiter) as file:
            yield OpenTable(
                file.names,
                lambda names, texts: TableColumns(file.read(names, texts, decimal=decimal), decimal=decimal),
                lambda names, texts, rows: _numbered(
                    TableColumns(cells, decimal=decimal) for cells in file.blocks(names, texts, rows, decimal=decimal)
                ),
                file.count_rows,
            )
        return
    shown = source if paths else "a table of pyarrow"
    for name, value, plain in (("delimiter", delimiter, None), ("decimal", decimal, ".")):
        require(value == plain, f"{shown} is no delimited text: leave delimiter and decimal out", f"{name}={value}")
    if suffix in _READERS:
        columns = _columns(paths[0], _READERS[suffix])
        yield OpenTable(
            tuple(columns),
            lambda names, texts: _selected(columns, names, texts),
            lambda names, texts, _: iter([_selected(columns, names, texts)]),
            lambda: 0,
        )
        return
    table = open_arrow(source)
    yield OpenTable(
        table.names,
        lambda names, texts: _selected(table.read(names), names, texts),
        lambda names, texts, rows: _numbered(_selected(block, names, texts) for block in table.blocks(names, rows)),
        table.count_rows,
    )


def _is_text(path: PathLike) -> bool:
    return uncompressed_suffix(path) not in (PARQUET, *_READERS)


def _numbered(blocks: Iterable[TableColumns]) -> Iterator[TableColumns]:
    """Blocks of a table that know where they begin."""
    first_row = 0
    for block in blocks:
        yield block._replace(first_row=first_row)
        first_row += block.shape[0]


def _selected(columns: Mapping[str, Any], names: Sequence[str], texts: Collection[str]) -> TableColumns:
    """Some columns, of which `texts` keep their cells as they are."""
    others = read_table({name: columns[name] for name in names if name not in texts})
    kept = {name: np.array([*columns[name], None], dtype=object)[:-1] for name in names if name in texts}
    return others._replace(cells={name: kept[name] if name in texts else others.cells[name] for name in names})


def _columns(path: PathLike, reader: Callable[[PathLike], list[tuple[str, Any]]]) -> dict[str, Any]:
    """The columns that a reader returns, named once each."""
    existing_file(path)
    try:
        columns = readable(path, lambda: reader(path))
    except ImportError as error:
        raise ImportError(f"reading {path} needs more: pip install 'aesara-nondecomp[files]' ({error})") from None
    check_unique([name for name, _ in columns])
    return dict(columns)


def _read_excel(path: PathLike) -> list[tuple[str, Any]]:
    """The first sheet, cell by cell as in a .csv file: which spellings are missing values is told later."""
    import pandas

    with open_binary(path) as source, pandas.ExcelFile(source) as book:
        header = pandas.read_excel(book, header=None, nrows=1, dtype=object, keep_default_na=False)
        frame = pandas.read_excel(book, dtype=object, keep_default_na=False)
    # pandas renames columns of one name, as to x and x.1, and those without one.
    written = dict(zip(frame.columns, header.to_numpy().ravel().tolist()))
    names = [name if written.get(name, "") == "" else written[name] for name in frame.columns]
    return [(str(name), series.tolist()) for name, (_, series) in zip(names, frame.items())]


def _read_arff(path: PathLike) -> list[tuple[str, Any]]:
    """Numeric attributes as floats, nominal ones as pandas has them, since both say that they are categories."""
    import pandas
    from scipy.io import arff

    with text_lines(path) as lines:
        rows, _ = arff.loadarff(lines)
    return [(name, _attribute(rows[name], pandas)) for name in rows.dtype.names]


def _attribute(cells: NDArray[Any], pandas: Any) -> Any:
    if cells.dtype.kind != "S":
        return cells
    return pandas.Series(pandas.Categorical([cell.decode() for cell in cells.tolist()]))


_READERS: dict[str, Callable[[PathLike], list[tuple[str, Any]]]] = {
    ".xlsx": _read_excel,
    ".arff": _read_arff,
}
