"""Mini-batches of large matrices, whose rows are read while the batches before them are in use."""

from __future__ import annotations

import os
import threading
import weakref
from functools import cache
from typing import Any

import numpy as np

from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.data.row_loader import RowLoader
from aesara_nondecomp.ops import prefetch_rows
from aesara_nondecomp.step.backends import compile_c

LARGE = 2**25  # bytes; less than that is in the processor's caches soon, and not worth a module to compile
_NONE = np.empty(0, dtype=np.int64)
_WANTED, _UNWANTED = (np.asarray(wanted, dtype=np.int8) for wanted in (1, 0))
_LOCK = threading.Lock()  # functions of Aesara serve one caller at a time


def _renew_lock() -> None:
    global _LOCK
    _LOCK = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)  # whoever held it may be no thread of the child


class Prefetcher(RowLoader):
    """Rows of a contiguous array, copied by a thread while others are in use; they are those that `RowLoader` gives.

    The thread is one of C++, which Python's lock does not stop, and serves all sets of a dtype in turn. Where BLAS may
    use only one thread there is none: then rows are copied when they are needed.

    `X` must not change from `begin` to `end`. Rows take two buffers of their size.
    """

    def __init__(self, X: np.ndarray, rows: int) -> None:
        super().__init__(X, rows)
        self._begun, self._ended = self._buffer, np.empty_like(self._buffer)
        self._call = _compiled(X.dtype.name)
        # The function keeps what it copies from alive, and the last rows asked for are seldom needed.
        weakref.finalize(self, _give_up, self._call, self._begun, self._ended).atexit = False

    def begin(self, numbers: np.ndarray) -> None:
        with _LOCK:
            self._call(self._X, numbers, self._begun, _WANTED)

    def end(self) -> np.ndarray:
        with _LOCK:
            self._call(self._X, _NONE, self._begun, _WANTED)
        self._begun, self._ended = self._ended, self._begun
        return self._ended

    def close(self) -> None:
        with _LOCK:
            self._call(self._X, _NONE, self._begun, _UNWANTED)


def row_loader_for(X: Any, backend: str) -> type[RowLoader]:
    """How the rows of a training set are best fetched."""
    if backend != "c" or "openblas_set_num_threads" not in aesara.config.blas__ldflags:  # so there is no thread
        return RowLoader
    large = isinstance(X, np.ndarray) and X.dtype in ("float32", "float64") and X.nbytes >= LARGE
    return Prefetcher if large and X.flags.c_contiguous and X.flags.aligned else RowLoader


@cache
def _compiled(dtype: str):
    inputs = [at.matrix(dtype=dtype), at.lvector(), at.matrix(dtype=dtype), at.bscalar()]
    return compile_c(inputs, prefetch_rows(*inputs), "prefetch_rows")


def _give_up(call, *buffers: np.ndarray) -> None:
    # May be called at any moment, in a thread that holds the lock too: whoever has it ends the copying with his call.
    if _LOCK.acquire(blocking=False):
        try:
            for buffer in buffers:
                call(buffer, _NONE, buffer, _UNWANTED)
        finally:
            _LOCK.release()
