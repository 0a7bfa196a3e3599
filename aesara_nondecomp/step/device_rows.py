"""Rows that are kept on JAX's device, so that a step sends row numbers and not rows."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from aesara_nondecomp.data import BatchSource


class DeviceRows(BatchSource):
    """A dense matrix (n, d) on the default device of JAX; its batches are there too.

    Parameters
    ----------
    X : array, shape (n, d). Must fit into the device's memory.
    """

    def __init__(self, X: Any):
        self._X = jax.device_put(X)
        self.shape, self.dtype = X.shape, np.dtype(X.dtype)

    def batch(self, indices: np.ndarray) -> jax.Array:
        """The rows at `indices`; zeros at -1."""
        return _rows_at(self._X, indices)

    def part(self, rows: np.ndarray) -> DeviceRows:
        """Some of the rows, numbered anew from 0."""
        return DeviceRows(self._X[rows])


@jax.jit
def _rows_at(X, indices):
    return jnp.where(indices[:, None] < 0, 0, X[indices])
