"""Progress on stderr: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

BAR_AFTER = 0.5  # seconds, so that what is done at once shows no bar
FIRST_LINE = 15.0  # seconds; each further line comes after a tenth more, so that a log of days stays short


@contextmanager
def progress_bar(total: int, done: int, show: bool | None) -> Iterator[Callable[[Any], None]]:
    """Show the progress of training inside a ``with`` block.

    Parameters
    ----------
    total : int
        Number of steps of the whole run.
    done : int
        Number of steps made before.
    show : bool or None
        None shows it if stderr is a terminal.

    Yields
    ------
    callable
        Call it once per step, with any argument.
    """
    with progress_of(total, done, show, "step") as advance:
        yield lambda step: advance(1)


@contextmanager
def progress_of(total: int | None, done: int, show: bool | None, unit: str) -> Iterator[Callable[[int], None]]:
    """Show the progress of any work inside a ``with`` block.

    Parameters
    ----------
    total : int or None
        Number of units of the whole work; None if it is not known.
    done : int
        Number of those made before.
    show : bool or None
        None shows it if stderr is a terminal. On a terminal and in a notebook it is a bar (extra ``progress``); without
        tqdm and in a file there are lines, the first after 15 s.
    unit : str
        What is counted, in the singular.

    Yields
    ------
    callable
        Call it with the number of units that were made.
    """
    terminal = sys.stderr.isatty()
    if not (terminal if show is None else show):
        yield lambda made: None
        return
    bar_class = _tqdm() if terminal or "ipykernel" in sys.modules else None
    if bar_class is None:
        yield _Lines(total, done, unit).advance
        return
    with bar_class(total=total, initial=done, unit=unit, delay=BAR_AFTER) as bar:

        def advance(made: int) -> None:  # without the value of tqdm's method, which would stop training
            bar.update(made)

        yield advance


class _Lines:
    """Progress as lines of text, which come more seldom the longer the work takes."""

    def __init__(self, total: int | None, done: int, unit: str) -> None:
        self._total, self._done, self._unit = total, done, unit
        self._start = time.monotonic()
        self._next = FIRST_LINE

    def advance(self, made: int) -> None:
        self._done += made
        seconds = time.monotonic() - self._start
        if seconds < self._next:
            return
        self._next = max(seconds + FIRST_LINE, 1.1 * seconds)
        of = "" if self._total is None else f" of {self._total}"
        print(f"{self._unit} {self._done}{of}, {seconds:.0f} s", file=sys.stderr, flush=True)


def _tqdm() -> Any:
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm
