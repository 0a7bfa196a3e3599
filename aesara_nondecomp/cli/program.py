"""The program's name, and how Ctrl-C and SIGTERM end it. Nothing slow is imported here, as this comes first."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

PROGRAM = "aesara-nondecomp"
ENDINGS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


class UsageError(ValueError):
    """An option that is wrong by itself or beside others, whatever the files hold.

    Parameters
    ----------
    message : str
        What is wrong.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)


class Stop:
    """How a signal ends a command: it is raised as a KeyboardInterrupt, or it waits until the step in hand is made.

    Attributes
    ----------
    received : int or None
        The last signal.
    waits : bool
        Whether the command looks at `received` itself, between two steps. A second signal is raised all the same.
    advice : callable () -> str
        What to do next, for the message.
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self.waits = False
        self.advice: Callable[[], str] = str

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        again, self.received = self.received is not None, signum
        if again or not self.waits:
            raise KeyboardInterrupt

    @property
    def status(self) -> int:
        """The exit status of a program that a signal ended, by the shells' convention; Ctrl-C gives 130."""
        return 128 + (self.received or signal.SIGINT)

    @property
    def message(self) -> str:
        """One line for the user."""
        advice = self.advice()
        return ENDINGS[signal.Signals(self.received or signal.SIGINT)] + (f". {advice}" if advice else "")


@contextmanager
def stopped_by_signals() -> Iterator[Stop]:
    """Let Ctrl-C and SIGTERM end a command by a `Stop`."""
    stop = Stop()
    with _handled_by(stop):
        yield stop


@contextmanager
def interrupted_at_once() -> Iterator[None]:
    """End the process in one line at a signal, for the time of imports, where KeyboardInterrupt would surface anywhere.

    Nothing needs to be put away then.
    """
    with _handled_by(_end):
        yield


@contextmanager
def _handled_by(handler: Any) -> Iterator[None]:
    """Handle the signals; one that is ignored or handled already is left as it is, and so are those of a thread."""
    former = {}
    if threading.current_thread() is threading.main_thread():
        former = {signum: signal.getsignal(signum) for signum in ENDINGS}
    free = {number: old for number, old in former.items() if _is_free(old)}
    for signum in free:
        signal.signal(signum, handler)
    try:
        yield
    finally:
        for signum, old in free.items():
            signal.signal(signum, old)


def _is_free(handler: Any) -> bool:
    return handler in (signal.default_int_handler, signal.SIG_DFL) or isinstance(handler, Stop)


def _end(signum: int, frame: FrameType | None) -> NoReturn:
    os.write(2, f"{PROGRAM}: error: {ENDINGS[signal.Signals(signum)]}\n".encode())
    os._exit(128 + signum)
