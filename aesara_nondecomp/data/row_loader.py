"""From the numbers of rows to the rows themselves, for the blocks that mini-batches are cut from."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from aesara_nondecomp.data.rows import BatchSource, LazyRows


class RowLoader:
    """Rows asked for some time before they are needed, so that a subclass can read them in between; this one does not.

    Subclasses are made with the same two arguments.

    Parameters
    ----------
    X : array, LazyRows, CSR matrix or BatchSource, shape (n, d)
    rows : int. As many are asked for each time.
    """

    def __init__(self, X: Any, rows: int) -> None:
        self._X = X
        # Allocated once, so that the blocks cost no more memory.
        self._buffer: Any = None if isinstance(X, BatchSource) else np.empty((rows, X.shape[1]), X.dtype)

    def begin(self, numbers: np.ndarray) -> None:
        """Ask for the rows of these numbers (int64), of which -1 is a row of zeros; what was asked before is void."""
        self._numbers = numbers

    def end(self) -> Any:
        """The rows asked for, shape (rows, d); what was given before is void."""
        if isinstance(self._X, BatchSource):
            return self._X.batch(self._numbers)
        numbers, out = self._numbers, self._buffer
        if scipy.sparse.issparse(self._X):
            self._X[np.maximum(numbers, 0)].toarray(out=out)
        elif isinstance(self._X, LazyRows):
            out[:] = self._X[np.maximum(numbers, 0)]
        else:
            # Any other mode than "raise" lets NumPy write straight into `out`.
            np.take(self._X, numbers, axis=0, out=out, mode="clip")
        out[numbers < 0] = 0
        return out

    def close(self) -> None:
        """Give up what was asked for: from now on `X` is not read any more."""
