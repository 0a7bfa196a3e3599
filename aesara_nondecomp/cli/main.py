"""The way in and out: arguments to a command, errors to one line and an exit status."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence

from aesara_nondecomp.cli.parser import PROGRAM, build_parser


def main(arguments: Sequence[str] | None = None) -> int:
    """TrainingRun one command.

    Parameters
    ----------
    arguments : sequence of str, optional. Default: those of the process.

    Returns
    -------
    int
        Exit status: 0 all is well, 1 a failure, told in one line on stderr. (A usage error exits with 2, by
        argparse.)
    """
    options = build_parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_warning
            return options.command(options)
    except BrokenPipeError:  # the reader of our output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return _fail("interrupted")
    except MemoryError:
        return _fail("there is not enough memory for these data")
    except (ValueError, TypeError, OSError, ImportError) as error:
        return _fail(error)


def _fail(reason: object) -> int:
    print(f"{PROGRAM}: error: {_one_line(reason)}", file=sys.stderr)
    return 1


def _show_warning(message, category, filename, lineno, file=None, line=None) -> None:
    print(f"{PROGRAM}: warning: {_one_line(message)}", file=sys.stderr)


def _one_line(text: object) -> str:
    return " ".join(str(text).split())
