"""A progress bar on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress_bar(total: int, done: int, show: bool | None) -> Iterator[Callable[[Any], None]]:
    """Show a tqdm bar on stderr inside a ``with`` block.

    Parameters
    ----------
    total : int
        Number of steps of the whole run.
    done : int
        Number of steps made before.
    show : bool or None
        None shows the bar if stderr is a terminal and tqdm is installed.

    Yields
    ------
    callable
        Call it once per step, with any argument.

    Raises
    ------
    ImportError
        If `show` is True and tqdm is missing.
    """
    bar_class = _tqdm(required=show is True) if _wanted(show) else None
    if bar_class is None:
        yield lambda step: None
        return
    with bar_class(total=total, initial=done, unit="step") as bar:

        def advance(step: Any) -> None:
            bar.update()

        yield advance


def _wanted(show: bool | None) -> bool:
    return sys.stderr.isatty() if show is None else bool(show)


def _tqdm(required: bool) -> Any:
    try:
        from tqdm import tqdm
    except ImportError:
        if required:
            raise ImportError(
                "a progress bar needs tqdm: pip install 'aesara-nondecomp[progress]', or leave progress out"
            ) from None
        return None
    return tqdm
