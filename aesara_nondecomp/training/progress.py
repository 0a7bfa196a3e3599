"""A progress bar, where someone is there to see it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable


@contextmanager
def progress_bar(total: int, done: int, show: bool | None) -> Iterator[Callable[[Any], None]]:
    """A tqdm bar on stderr for the length of a ``with`` block.

    Parameters
    ----------
    total, done : int. Steps in all, and those made before.
    show : bool or None. None shows it if stderr is a terminal and tqdm is installed.

    Yields
    ------
    callable: to be called once per step, with anything.

    Raises
    ------
    ImportError
        If a bar is asked for and tqdm is missing.
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


def _tqdm(required: bool):
    try:
        from tqdm import tqdm
    except ImportError:
        if required:
            raise ImportError(
                "a progress bar needs tqdm: pip install 'aesara-nondecomp[progress]', or leave progress out"
            ) from None
        return None
    return tqdm
