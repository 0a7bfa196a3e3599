"""Mini-batches of large matrices, whose rows are copied while earlier batches are in use."""

from __future__ import annotations

import threading
import weakref
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.data.memory_maps import MappedFile
from aesara_nondecomp.data.row_loader import RowLoader
from aesara_nondecomp.ops import prefetch_rows
from aesara_nondecomp.step.backends import compile_c
from aesara_nondecomp.step.locks import ForkedLock

LARGE = 2**25  # bytes; fewer are soon in the processor's caches, and not worth a module to compile
_NONE = np.empty(0, dtype=np.int64)
_WANTED, _UNWANTED = (np.asarray(wanted, dtype=np.int8) for wanted in (1, 0))
_LOCK = ForkedLock(threading.Lock)  # functions of Aesara serve one caller at a time


class Prefetcher(RowLoader):
    """A `RowLoader` of a contiguous array, whose rows a thread copies while others are in use.

    The thread is a C++ one, which does not wait for Python's interpreter lock, and serves all sets of a dtype in turn.
    If BLAS may use only one thread, no thread is started and rows are copied when they are needed. `X` must not change
    between `request` and `result`.

    Parameters
    ----------
    X : float32 or float64 array, shape (n, d)
        In C order.
    rows : int
        Number of rows of each request. Two buffers of so many rows are allocated.
    """

    def __init__(self, X: NDArray[Any], rows: int) -> None:
        super().__init__(X, rows)
        self._filling: NDArray[Any] = self._buffer
        self._filled: NDArray[Any] = np.empty_like(self._filling)
        self._call = _compiled(X.dtype.name)
        # The function keeps the rows alive that it copies from, and the last ones requested are seldom needed.
        weakref.finalize(self, _give_up, self._call, self._filling, self._filled).atexit = False

    def request(self, indices: NDArray[np.int64]) -> None:
        with _LOCK:
            self._call(self._X, indices, self._filling, _WANTED)

    def result(self) -> NDArray[Any]:
        with _LOCK:
            self._call(self._X, _NONE, self._filling, _WANTED)
        self._filling, self._filled = self._filled, self._filling
        return self._filled

    def close(self) -> None:
        with _LOCK:
            self._call(self._X, _NONE, self._filling, _UNWANTED)


def row_loader_for(X: Any, backend: str) -> type[RowLoader]:
    """The fastest loader for the rows of a training set.

    Parameters
    ----------
    X : array, LazyRows, CSR matrix or BatchSource, shape (n, d)
        The training set.
    backend : {"c", "jax"}
        Of the training step.

    Returns
    -------
    type
        `RowLoader` or `Prefetcher`.
    """
    if backend != "c" or "openblas_set_num_threads" not in aesara.config.blas__ldflags:  # there is no thread then
        return RowLoader
    large = isinstance(X, np.ndarray) and X.dtype in ("float32", "float64") and X.nbytes >= LARGE
    direct = large and X.flags.c_contiguous and X.flags.aligned and MappedFile.of(X) is None
    if direct:
        _compiled(X.dtype.name)  # now, so that processes forked after this call share it
    return Prefetcher if direct else RowLoader


@cache
def _compiled(dtype: str) -> Any:
    inputs = [at.matrix(dtype=dtype), at.lvector(), at.matrix(dtype=dtype), at.bscalar()]
    return compile_c(inputs, prefetch_rows(*inputs), "prefetch_rows")


def _give_up(call: Any, *buffers: NDArray[Any]) -> None:
    # This may run at any moment, in a thread that holds the lock too: then that thread's own call ends the copying.
    if _LOCK.acquire(blocking=False):
        try:
            for buffer in buffers:
                call(buffer, _NONE, buffer, _UNWANTED)
        finally:
            _LOCK.release()
