"""A table in several files: which files a folder or a pattern stands for, and that their columns are the same."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from aesara_nondecomp.data.csv_files import CsvFile, open_csv
from aesara_nondecomp.data.files import STANDARD_STREAM, PathLike, uncompressed_suffix

TEXT_SUFFIXES = (".csv", ".tsv", ".data")
PARQUET = ".parquet"


def is_several(path: PathLike) -> bool:
    """Whether a path stands for the files of a folder, or for those that match a pattern such as ``data/*.parquet``.

    Parameters
    ----------
    path : path-like
        The path.

    Returns
    -------
    bool
    """
    text = os.fspath(path)
    return text != STANDARD_STREAM and (os.path.isdir(text) or glob.has_magic(text) and not os.path.exists(text))


def is_parquet(path: PathLike) -> bool:
    """Whether a file is Parquet by its suffix.

    Parameters
    ----------
    path : path-like
        The file, which need not exist.

    Returns
    -------
    bool
    """
    return Path(path).suffix.lower() == PARQUET


def files_of(source: PathLike | Sequence[PathLike]) -> list[str]:
    """The files of a table, in sorted order where a folder or a pattern stands for them.

    Parameters
    ----------
    source : path-like or sequence of path-like
        A file; a folder, whose folders are looked through too; a pattern such as ``data/*.parquet``; or several files.

    Returns
    -------
    list of str

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If they are not all delimited text, or all Parquet.
    """
    if not isinstance(source, (str, os.PathLike)):
        found = [os.fspath(path) for path in source]
    elif not is_several(source):
        return [os.fspath(source)]
    else:
        found = _files_in(source) if os.path.isdir(source) else sorted(glob.glob(os.fspath(source), recursive=True))
    if not found:
        raise FileNotFoundError(f"there is no file of a table in {os.fspath(source)}. Check the path.")  # type: ignore[arg-type]
    kinds = {_kind_of(path): path for path in found}
    if len(kinds) > 1 or None in kinds:
        raise ValueError(
            f"several files of one table must all be delimited text ({', '.join(TEXT_SUFFIXES)}) or all {PARQUET}, got "
            f"{', '.join(kinds.values())}. Name the files by a pattern such as 'data/*.csv'."
        )
    return found


def _files_in(folder: PathLike) -> list[str]:
    """Tables in a folder and those below; names that begin with "_" or "." are those of logs and half-written files."""
    paths = (path for path in Path(folder).rglob("*") if path.is_file() and _kind_of(path) is not None)
    return sorted(str(path) for path in paths if not any(part[0] in "_." for part in path.relative_to(folder).parts))


def _kind_of(path: PathLike) -> str | None:
    suffix = uncompressed_suffix(path)
    return "text" if suffix in TEXT_SUFFIXES else PARQUET if suffix == PARQUET else None


@contextmanager
def open_csv_files(paths: Sequence[PathLike], delimiter: str | None = None) -> Iterator[CsvFile]:
    """Open files of the same columns, in any order, as one table.

    Parameters
    ----------
    paths : sequence of path-like
        As for `open_csv`.
    delimiter : str, optional
        One character. Default: as the first lines of the first file say.

    Yields
    ------
    CsvFile

    Raises
    ------
    ValueError
        As in `open_csv`, or if the columns of the files differ.
    FileNotFoundError
        If there is no such file.
    """
    with open_csv(paths[0], delimiter) as first:
        expected = [first.expected_rows]
        for path in paths[1:]:
            with open_csv(path, first.delimiter) as file:
                check_same_names(paths[0], first.names, path, file.names)
                expected.append(file.expected_rows)
        yield first._replace(more=tuple(paths[1:]), expected_rows=sum(expected) if all(expected) else 0)


def check_same_names(first: PathLike, names: Sequence[str], path: PathLike, found: Sequence[str]) -> None:
    """Refuse a file of a table whose columns are not those of the first file.

    Parameters
    ----------
    first : path-like
        The first file.
    names : sequence of str
        Its columns.
    path : path-like
        Another file.
    found : sequence of str
        Its columns.

    Raises
    ------
    ValueError
        If the columns differ.
    """
    differing = sorted(set(names) ^ set(found))
    if differing:
        of = [path, first] if differing[0] in names else [first, path]
        raise ValueError(
            f"the files of a table must have the same columns, but {differing[0]!r} is not in {of[0]}, as it is in "
            f"{of[1]}. Leave one of the files out, or write them alike."
        )
