"""Entry point of the command line: parse the arguments, run a command, report an error in one line."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from aesara_nondecomp.cli.program import INTERRUPTED, PROGRAM, interrupted_at_once


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Command and options; by default those of the process.

    Returns
    -------
    int
        Exit status: 0 on success, 1 on failure and 130 after Ctrl-C, which are reported in one line on stderr.

    Raises
    ------
    SystemExit
        With status 2 on a usage error, and with 0 after ``--help``, as argparse does.
    """
    try:
        with interrupted_at_once():
            from aesara_nondecomp.cli.parser import build_parser

            options = build_parser().parse_args(arguments)  # some values are checked by parts that need Aesara
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_warning
            return int(options.command(options))
    except BrokenPipeError:  # the reader of our output, such as `head`, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        _fail("interrupted")
        return INTERRUPTED
    except MemoryError:
        return _fail("there is not enough memory for these data")
    except (ValueError, TypeError, OSError, ImportError) as error:
        if isinstance(error, SystemExit):  # another process of the job reports it
            return 1
        return _fail(error)


def _fail(reason: object) -> int:
    print(f"{PROGRAM}: error: {_one_line(reason)}", file=sys.stderr)
    return 1


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"{PROGRAM}: warning: {_one_line(message)}", file=sys.stderr)


def _one_line(text: object) -> str:
    return " ".join(str(text).split())
