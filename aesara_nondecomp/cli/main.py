"""Entry point of the command line: parse the arguments, run a command, report an error in one line."""

from __future__ import annotations

import argparse
import atexit
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

from aesara_nondecomp.cli.program import PROGRAM, Stop, UsageError, interrupted_at_once, stopped_by_signals


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Command and options; by default those of the process.

    Returns
    -------
    int
        Exit status: 0 on success, 1 on failure, 130 after Ctrl-C and 143 after SIGTERM, which are reported in one line
        on stderr.

    Raises
    ------
    SystemExit
        With status 2 on a usage error, and with 0 after ``--help``, as argparse does.
    """
    with stopped_by_signals() as stop:
        try:
            with interrupted_at_once():
                options = _parsed(arguments)
            options.stop = stop
            if "data" in options:  # `train` has more to say
                stop.advice = lambda: f"{options.parser.prog} keeps no checkpoint: run the command again."
            status = _run(options)
            return status if stop.received is None else _stopped(stop)
        except KeyboardInterrupt:
            return _stopped(stop)
        except UsageError as error:
            _usage_error(options.parser, str(error))
        except BrokenPipeError:  # the reader of our output, such as `head`, has closed the pipe
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        except MemoryError:
            return _fail("there is not enough memory for these data")
        except (ValueError, TypeError, OSError, ImportError) as error:
            if isinstance(error, SystemExit):  # another process of the job reports it
                return 1
            if stop.received is not None:  # what a library made of the signal
                return _stopped(stop)
            return _fail(error)


def run() -> NoReturn:
    """Run the command of this process, and end the process with its exit status.

    After a failure it ends without taking Python apart: a thread of pyarrow that still reads ahead would abort it.
    """
    try:
        status = main()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0
    if status and "pyarrow" in sys.modules and "mpi4py" not in sys.modules:  # MPI has to be finalised
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # its reader may be gone
                stream.flush()
        os._exit(status)
    sys.exit(status)


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options; one that is unknown is told with the usage of its command."""
    from aesara_nondecomp.cli.parser import build_parser, unknown_options

    options, unknown = build_parser().parse_known_args(arguments)  # some values are checked by parts that need Aesara
    if unknown:
        _usage_error(options.parser, unknown_options(options.parser, unknown))
    return options


def _usage_error(parser: argparse.ArgumentParser, message: str) -> NoReturn:
    parser.error(_one_line(message))


def _run(options: argparse.Namespace) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _show_warning
        return int(options.command(options))


def _stopped(stop: Stop) -> int:
    _fail(stop.message)
    return stop.status


def _fail(reason: object) -> int:
    print(f"{PROGRAM}: error: {_one_line(reason)}", file=sys.stderr)
    return 1


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"{PROGRAM}: warning: {_one_line(message)}", file=sys.stderr)


def _one_line(text: object) -> str:
    return " ".join(str(text).split())
