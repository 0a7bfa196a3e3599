"""What commands write: checked before the work, then JSON, a page and lines of text, and progress meanwhile."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp._files import check_writable, is_stream
from aesara_nondecomp.cli import report_lines
from aesara_nondecomp.data.files import STANDARD_STREAM
from aesara_nondecomp.data.table_parts import files_of
from aesara_nondecomp.training.progress import progress_of

Outcome = tuple[dict[str, Any], Callable[[], str], list[str]]  # figures, what makes the page of them, lines of text


def check_outputs(options: argparse.Namespace, *outputs: str | None) -> None:
    """Refuse, before hours of work, a file to write that cannot be written or is one of the files to read.

    Parameters
    ----------
    options : Namespace
        Parsed options of the command, with the files to read.
    *outputs : str or None
        The files to write; None for none.

    Raises
    ------
    ValueError
        If two of them are the same, or one is read.
    OSError
        If one cannot be written.
    """
    given = [path for name in ("data", "model", "other") if (path := getattr(options, name, None))]
    read = [Path(part).resolve() for path in given for part in files_of(path)]
    written = [Path(path) for path in outputs if path not in (None, STANDARD_STREAM)]
    for path in written:
        check_writable(path)
        require(path.resolve() not in read, "a file to write must be another one than those to read", str(path))
    files = [path.resolve() for path in written if not is_stream(path)]
    once = len(set(files)) == len(files) and outputs.count(STANDARD_STREAM) < 2
    require(once, "files to write must differ", outputs)


def path_of(out: str) -> str:
    """A path for bytes to write, also of standard output.

    Parameters
    ----------
    out : str
        As it was typed; "-" is standard output.

    Returns
    -------
    str
    """
    return "/dev/stdout" if out == STANDARD_STREAM else out


def write_outcome(options: argparse.Namespace, outcome: Outcome) -> None:
    """Write the figures as JSON and as a page where they are asked for, and print the lines.

    Parameters
    ----------
    options : Namespace
        Parsed options of the command.
    outcome : tuple of (dict, callable, list of str)
        The figures, what makes the page of them, and the lines of text.
    """
    facts, page, lines = outcome
    report_lines.write_report(options.out, facts)
    if options.html is not None:
        report_lines.write_text(options.html, page())
    print_lines(lines, options)


def print_lines(lines: list[str], options: argparse.Namespace) -> None:
    """Print lines of text, unless they are not wanted or would mix with what is written.

    Parameters
    ----------
    lines : list of str
        The lines.
    options : Namespace
        Parsed options of the command.
    """
    written = (getattr(options, name, None) for name in ("out", "report", "html"))
    if not options.quiet and STANDARD_STREAM not in written:
        print("\n".join(lines))


def with_progress(
    blocks: Iterable[NDArray[Any]], options: argparse.Namespace, n_rows: int | None = None, shown: bool = True
) -> Iterator[NDArray[Any]]:
    """Show how many rows have their scores.

    Parameters
    ----------
    blocks : iterable of array
        Scores, block by block.
    options : Namespace
        Parsed options of the command.
    n_rows : int, optional
        Number of all rows. Default: unknown.
    shown : bool, default True
        False where it would mix with what is written.

    Yields
    ------
    array
        The blocks.
    """
    with progress_of(n_rows, 0, shown and not options.quiet, "row") as advance:
        for scores in blocks:
            advance(len(scores))
            yield scores
