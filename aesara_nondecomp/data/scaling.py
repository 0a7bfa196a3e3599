"""Zero mean and unit standard deviation, as measured on the training rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from aesara_nondecomp.data.labels import row_slices

_CACHED_ENTRIES = 2**15


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
    def fit(cls, X: np.ndarray, clip: float = 10.0, sample_weight: np.ndarray | None = None) -> Standardiser:
        """Measure the columns of `X`, shape (n, d), in float64 whatever its dtype, slice by slice.

        `sample_weight`, shape (n,), positive, weighs the rows: a row of weight 2 counts as two rows.

        Raises
        ------
        ValueError
            If `X` is sparse or not two-dimensional, or `clip` is not positive.
        """
        _check_dense(X)
        if not clip > 0:
            raise ValueError(f"clip must be positive, got {clip!r}. Use float('inf') for no clipping.")
        slices = list(row_slices(*X.shape))
        weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        total = weight.sum()
        mean = sum(weight[part] @ X[part] for part in slices) / total
        squares = sum(weight[part] @ np.square(X[part] - mean) for part in slices)
        # Rounding leaves a constant column a tiny spread, so it is recognised by comparison with the first row.
        constant = np.logical_and.reduce([(X[part] == X[:1]).all(axis=0) for part in slices])
        scale = np.sqrt(squares / total)
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
            raise ValueError(
                f"features must have the {len(self.mean_)} columns seen in training, "
                f"got {X.shape[1]}. Apply the same preparation to both."
            )
        scaled = np.empty(X.shape, dtype=np.float64 if X.dtype == np.float64 else np.float32)
        # In float64 whatever the dtype. Slices stay in the cache; means and scales are repeated for each row of one, as
        # broadcasting would take NumPy longer than the arithmetic.
        slices = list(row_slices(len(X), X.shape[1], _CACHED_ENTRIES))
        shape = (slices[0].stop, X.shape[1])
        means, scales, moved = np.tile(self.mean_, (shape[0], 1)), np.tile(self.scale_, (shape[0], 1)), np.empty(shape)
        for part in slices:
            n = part.stop - part.start
            np.subtract(X[part], means[:n], out=moved[:n])
            np.divide(moved[:n], scales[:n], out=moved[:n])
            with np.errstate(over="ignore"):  # what float32 cannot hold is clipped next
                scaled[part] = moved[:n]
            np.clip(scaled[part], -self.clip, self.clip, out=scaled[part])
        return scaled


def _check_dense(X: Any) -> None:
    if scipy.sparse.issparse(X):
        raise ValueError(
            "standardising needs a dense array, got a sparse matrix, which would lose its "
            "zeros. Leave it unscaled, or pass X.toarray()."
        )
    if np.ndim(X) != 2 or len(X) == 0:
        raise ValueError(
            f"standardising needs rows of features, got shape {np.shape(X)}. Pass a non-empty two-dimensional array."
        )
