"""The header of delimited text: its delimiter, the columns, and the comments above it, told from the first lines."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple

from aesara_nondecomp.data.files import PathLike

DELIMITERS = (",", ";", "\t", "|")
SAMPLE_BYTES = 2**20  # of the file, at least, from which delimiter and header are told
SAMPLE_LINES = 20


class Header(NamedTuple):
    """What the first lines of delimited text say.

    Attributes
    ----------
    names : tuple of str
        The columns.
    delimiter : str
        One character.
    lines_above : int
        Lines down to the end of the header.
    """

    names: tuple[str, ...]
    delimiter: str
    lines_above: int


def read_header(path: PathLike, lines: Sequence[str], delimiter: str | None) -> Header:
    """Read the header among the first lines.

    A first line `sep=;` names the delimiter. Lines that start with "#" are comments where they have another number of
    cells than the others.

    Parameters
    ----------
    path : path-like
        The file, for error messages, and for its suffix.
    lines : sequence of str
        The first lines, whole.
    delimiter : str, optional
        One character. Default: as the lines say.

    Returns
    -------
    Header

    Raises
    ------
    ValueError
        If there is no header, or one that repeats a name.
    """
    above = 0
    if lines and (named := lines[0].strip().strip('"')).lower().startswith("sep=") and len(named) <= len("sep=;"):
        delimiter, above = delimiter or named[4:] or "\t", 1
    body = [line for line in lines[above:] if line.strip() and not line.startswith("#")][:SAMPLE_LINES]
    preferred = "\t" if ".tsv" in Path(path).suffixes else ","
    delimiter = delimiter or _delimiter_of(body or lines[above:], preferred)
    while body and lines[above] != body[0] and _is_aside(lines[above], body[0], delimiter):
        above += 1
    reader = csv.reader(lines[above:], delimiter=delimiter)
    names = tuple(name.strip() for name in next(reader, []))
    if not names:
        raise ValueError(
            f"{path} must start with a header row, but it is empty: it must hold rows below its header, got none."
        )
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise ValueError(f"{path} must name each column once, got {twice} more than once. Rename them.")
    return Header(names, delimiter, above + reader.line_num)


def first_lines(source: IO[bytes]) -> list[str]:
    """Read the first lines of a file, whole: at least two, if there are.

    Parameters
    ----------
    source : binary file
        The file, at its beginning.

    Returns
    -------
    list of str
    """
    sample = source.read(SAMPLE_BYTES)
    while sample.count(b"\n") < 2 and (more := source.read(SAMPLE_BYTES)):
        sample += more
    lines = lines_of(sample)
    return lines[:-1] if source.read(1) else lines


def lines_of(sample: bytes) -> list[str]:
    """Cut UTF-8 bytes, whose last character may be incomplete, into lines with their ends.

    Parameters
    ----------
    sample : bytes
        From the beginning of a file.

    Returns
    -------
    list of str
    """
    return list(io.StringIO(codecs.getincrementaldecoder("utf-8-sig")().decode(sample), newline=""))


def _is_aside(line: str, header: str, delimiter: str) -> bool:
    """Whether a line above the header is empty, or a comment that has another number of cells."""
    return not line.strip() or len(set(_widths([line, header], delimiter))) > 1


def _delimiter_of(lines: Sequence[str], preferred: str) -> str:
    """The delimiter that cuts all lines into the same number of cells, or at least the header into many."""
    candidates = (preferred, *(delimiter for delimiter in DELIMITERS if delimiter != preferred))
    widths = {delimiter: _widths(lines, delimiter) for delimiter in candidates}
    even = [delimiter for delimiter in candidates if len(set(widths[delimiter])) == 1 and widths[delimiter][0] > 1]
    if preferred in even:
        return preferred
    return max(even or candidates, key=lambda delimiter: widths[delimiter][0] if lines else 0)


def _widths(lines: Sequence[str], delimiter: str) -> list[int]:
    """Number of cells of each line."""
    try:
        return [len(cells) for cells in csv.reader(lines, delimiter=delimiter)]
    except csv.Error:  # a line that it does not cut is too long for one cell
        return [1] * len(lines)
