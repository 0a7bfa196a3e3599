"""The BLAS that the Ops call: where it is, and what OpenBLAS says of itself."""

from __future__ import annotations

import ctypes
import glob
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_ROW_THREADS = "_aesara_nondecomp_row_threads"  # in sys, where ops/cpp/threads.h looks
_LOCK = threading.Lock()
_BEFORE: list[int] = []  # threads that OpenBLAS had, once for each call within `one_blas_thread`


def library_path(ldflags: str) -> str | None:
    """The file of the library behind linker flags.

    Parameters
    ----------
    ldflags : str
        Such as Aesara's `blas__ldflags`.

    Returns
    -------
    str or None
        None if there is no such file.
    """
    parts = ldflags.split()
    folders = [part[2:] for part in parts if part.startswith("-L")]
    names = [part[2:] for part in parts if part.startswith("-l")]
    patterns = [name[1:] if name.startswith(":") else f"lib{name}.*" for name in names]
    places = [os.path.join(folder, pattern) for folder in folders for pattern in patterns]
    return next((path for place in places for path in glob.glob(place)), None)


def ask_openblas(path: str) -> tuple[str, int] | None:
    """Description and number of threads by OpenBLAS itself.

    Parameters
    ----------
    path : str
        Of a shared library.

    Returns
    -------
    tuple of (str, int), or None
        None for a library without these functions.
    """
    describe, count = (_function(path, name) for name in ("get_config", "get_num_threads"))
    if describe is None or count is None:
        return None
    describe.restype = ctypes.c_char_p
    return describe().decode(), count()


def _function(path: str, name: str) -> Any:
    """A function of OpenBLAS, None if there is none; Ops, which set the number of threads too, wait for its end."""
    library = ctypes.PyDLL(path)
    found = (getattr(library, f"{prefix}openblas_{name}", None) for prefix in ("scipy_", ""))
    return next((function for function in found if function is not None), None)


def threads_of_steps(ldflags: str) -> int:
    """How many threads a step may take: those of a private OpenBLAS, which follow OMP_NUM_THREADS.

    Parameters
    ----------
    ldflags : str
        Aesara's `blas__ldflags`.

    Returns
    -------
    int
        1 with any other BLAS, whose threads belong to other libraries of the process too.
    """
    path = _private_openblas(ldflags)
    asked = ask_openblas(path) if path else None
    return getattr(sys, _ROW_THREADS, asked[1]) if asked else 1


def _private_openblas(ldflags: str) -> str | None:
    return library_path(ldflags) if "openblas_set_num_threads" in ldflags else None


@contextmanager
def one_blas_thread(ldflags: str) -> Iterator[None]:
    """Within it a private OpenBLAS has one thread, and rows are shared among as many threads as before.

    A process forked there starts none of OpenBLAS's threads, which would spin beside the training of other networks.
    Several threads may be in it at once. With any other BLAS it has no effect.

    Parameters
    ----------
    ldflags : str
        Aesara's `blas__ldflags`.

    Yields
    ------
    None
    """
    path = _private_openblas(ldflags)
    limit = _function(path, "set_num_threads") if path else None
    if limit is None:
        yield
        return
    with _LOCK:
        _BEFORE.append(threads_of_steps(ldflags))
        setattr(sys, _ROW_THREADS, _BEFORE[0])
        limit(1)
    try:
        yield
    finally:
        with _LOCK:
            before = _BEFORE.pop()
            if not _BEFORE:
                delattr(sys, _ROW_THREADS)
                limit(before)
