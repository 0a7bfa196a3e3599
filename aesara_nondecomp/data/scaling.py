"""Zero mean and unit standard deviation, as measured on the training rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from aesara_nondecomp.data.labels import row_slices


class Standardiser(NamedTuple):
    """Column means and scales of a training set; make one with `Standardiser.fit`.

    Attributes
    ----------
    mean_, scale_ : float64 arrays, shape (d,)
        Mean and standard deviation of each column (ddof = 0); 0 and 1 for a constant column,
        which therefore is not moved.
    clip : float
        Standardised values are cut at +-clip (in standard deviations).
    """

    mean_: np.ndarray
    scale_: np.ndarray
    clip: float = 10.0

    @classmethod
    def fit(cls, X: np.ndarray, clip: float = 10.0) -> Standardiser:
        """Measure the columns of `X`, shape (n, d), in float64 whatever its dtype.

        Raises
        ------
        ValueError
            If `X` is sparse or not two-dimensional, or `clip` is not positive.
        """
        _check_dense(X)
        if not clip > 0:
            raise ValueError(f"clip must be positive, got {clip!r}. Use float('inf') for no clipping.")
        mean = X.mean(axis=0, dtype=np.float64)
        squares = np.zeros(X.shape[1])
        for part in row_slices(*X.shape):
            squares += np.square(X[part] - mean).sum(axis=0)
        # Rounding leaves a constant column a tiny spread, so it is recognised by its range.
        constant = X.max(axis=0) == X.min(axis=0)
        scale = np.sqrt(squares / len(X))
        return cls(np.where(constant, 0.0, mean), np.where(constant, 1.0, scale), float(clip))

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Standardise and clip `X`, shape (n, d); float64 in gives float64, all else float32.

        Raises
        ------
        ValueError
            If `X` is sparse, not two-dimensional, or has another number of columns.
        """
        _check_dense(X)
        if X.shape[1] != len(self.mean_):
            raise ValueError(f"features must have the {len(self.mean_)} columns seen in training, "
                             f"got {X.shape[1]}. Apply the same preparation to both.")
        scaled = np.empty(X.shape, dtype=np.float64 if X.dtype == np.float64 else np.float32)
        for part in row_slices(*X.shape):
            scaled[part] = np.clip((X[part] - self.mean_) / self.scale_, -self.clip, self.clip)
        return scaled


def _check_dense(X: Any) -> None:
    if scipy.sparse.issparse(X):
        raise ValueError("standardising needs a dense array, got a sparse matrix, which would lose its "
                         "zeros. Leave it unscaled, or pass X.toarray().")
    if np.ndim(X) != 2 or len(X) == 0:
        raise ValueError(f"standardising needs rows of features, got shape {np.shape(X)}. "
                         "Pass a non-empty two-dimensional array.")
