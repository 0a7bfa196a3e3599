"""The program's name, and how Ctrl-C ends it. Nothing slow is imported here, as this comes first."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

PROGRAM = "aesara-nondecomp"
INTERRUPTED = 130  # the exit status of a program that Ctrl-C ended, by the shells' convention


@contextmanager
def interrupted_at_once() -> Iterator[None]:
    """End the process in one line at Ctrl-C, for the time of imports, where KeyboardInterrupt would surface anywhere.

    Nothing needs to be put away then. A signal that is ignored or handled already is left as it is, and so is that of
    another thread.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> NoReturn:
    os.write(2, f"{PROGRAM}: error: interrupted\n".encode())
    os._exit(INTERRUPTED)
