"""From row indices to the rows themselves, for the blocks that mini-batches are cut from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import is_sparse
from aesara_nondecomp.data.memory_maps import MappedFile
from aesara_nondecomp.data.rows import BatchSource, LazyRows


class RowLoader:
    """Loads rows that are requested before they are needed, so that a subclass can prefetch them.

    This class loads them when they are needed. Subclasses take the same two arguments.

    Parameters
    ----------
    X : array, LazyRows, CSR matrix or BatchSource, shape (n, d)
        The training set.
    rows : int
        Number of rows of each request.
    """

    def __init__(self, X: Any, rows: int) -> None:
        self._X, self._file = X, MappedFile.of(X)
        # Allocated once, so that later blocks take no more memory.
        self._buffer: Any = None if isinstance(X, BatchSource) else np.empty((rows, X.shape[1]), X.dtype)

    def request(self, indices: NDArray[np.int64]) -> None:
        """Request rows; an earlier request is dropped.

        Parameters
        ----------
        indices : int64 array, shape (rows,)
            Row indices; -1 is a row of zeros.
        """
        self._indices = indices

    def result(self) -> Any:
        """The requested rows, which replace those returned before.

        Returns
        -------
        array, shape (rows, d)
            For a BatchSource, what its `batch` returns.
        """
        if isinstance(self._X, BatchSource):
            return self._X.batch(self._indices)
        if self._file:
            self._file.check()
        indices, out = self._indices, self._buffer
        if is_sparse(self._X):
            self._X[np.maximum(indices, 0)].toarray(out=out)
        elif isinstance(self._X, LazyRows):
            out[:] = self._X[np.maximum(indices, 0)]
        else:
            # Any other mode than "raise" lets NumPy write straight into `out`.
            np.take(self._X, indices, axis=0, out=out, mode="clip")
        out[indices < 0] = 0
        return out

    def close(self) -> None:
        """Drop the request; `X` is not read after this."""
