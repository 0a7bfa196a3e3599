"""Rows that are kept on JAX's device, so that a step sends row indices and not rows."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.data import BatchSource


class DeviceRows(BatchSource):
    """A dense matrix on JAX's default device, where its batches are too.

    Parameters
    ----------
    X : array, shape (n, d)
        Must fit into the device's memory.
    """

    def __init__(self, X: Any):
        self._X = jax.device_put(X)
        self.shape, self.dtype = X.shape, np.dtype(X.dtype)

    def batch(self, indices: NDArray[Any]) -> jax.Array:
        """Take the rows of a batch.

        Parameters
        ----------
        indices : int array, shape (b,)
            Row indices; -1 is a row of zeros.

        Returns
        -------
        jax.Array, shape (b, d)
        """
        rows: jax.Array = _rows_at(self._X, indices)
        return rows

    def part(self, rows: NDArray[Any]) -> DeviceRows:
        """Take some of the rows, which are indexed anew from 0.

        Parameters
        ----------
        rows : int array, shape (k,)
            Row indices.

        Returns
        -------
        DeviceRows
        """
        return DeviceRows(self._X[rows])


@jax.jit
def _rows_at(X: jax.Array, indices: jax.Array) -> jax.Array:
    return jnp.where(indices[:, None] < 0, 0, X[indices])
