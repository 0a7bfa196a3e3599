"""Token ids: rows of word indices padded with 0, which are checked, trimmed to a batch, and batched by length."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_array
from aesara_nondecomp.data.samplers import stored_count

CHUNK = 16  # batches whose rows are sorted by length together
WIDTH_STEP = 8  # batches are trimmed to a multiple of this, so that few shapes occur


def check_tokens(X: Any, size: int) -> NDArray[np.int32]:
    """Check token ids once and convert them to int32.

    Parameters
    ----------
    X : array-like, shape (n, T)
        Whole numbers in [0, size). 0 is padding.
    size : int
        Number of ids that the network knows.

    Returns
    -------
    int32 array, shape (n, T)
        C-contiguous.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    ids = as_array(X, "token ids")
    if ids.ndim != 2 or ids.dtype.kind not in "iu" or ids.size == 0:
        raise ValueError(
            "token ids must be a non-empty matrix of whole numbers, got "
            f"shape {ids.shape} of {ids.dtype}. Vocabulary.transform makes one of texts."
        )
    if ids.min() < 0 or ids.max() >= size:
        raise ValueError(
            f"token ids must lie in [0, {size}), the words of the network, got {ids.min()} "
            f"to {ids.max()}. Use the vocabulary that the network was built for."
        )
    return np.ascontiguousarray(ids, dtype=np.int32)


def used_width(ids: NDArray[Any]) -> int:
    """Columns up to the last that holds a token.

    Parameters
    ----------
    ids : int array, shape (n, T)
        Token ids.

    Returns
    -------
    int
        From 1 to T, rounded up to a multiple of 8 if that is at most T.
    """
    used = np.flatnonzero(ids.any(axis=0))
    last = int(used[-1]) + 1 if len(used) else 1
    return min(-(-last // WIDTH_STEP) * WIDTH_STEP, int(ids.shape[1]))


class LengthBuckets:
    """Batches of rows of similar length: the rows of 16 batches are sorted by length before they are batched again.

    Every row is drawn as often as by the sampler itself, and the batches of a chunk come in random order, so class
    means over many batches stay unbiased.

    Parameters
    ----------
    sampler : object
        Its `draw(batches)` returns row indices (batches, b), with -1 at padding; it has `state` and `restore`.
    lengths : int array, shape (n,)
        Number of tokens of each row.
    seed : int
        Of the order of batches.
    """

    def __init__(self, sampler: Any, lengths: NDArray[Any], seed: int) -> None:
        self._sampler, self._lengths = sampler, lengths
        self._rng = np.random.default_rng(seed)
        self._load_chunk()

    def draw(self, batches: int) -> NDArray[np.int64]:
        """Draw the row indices of the next batches.

        Parameters
        ----------
        batches : int
            How many to draw.

        Returns
        -------
        int64 array, shape (batches, b)
            -1 is padding.
        """
        drawn = []
        for _ in range(batches):
            if self._position == len(self._chunk):
                self._load_chunk()
            drawn.append(self._chunk[self._position])
            self._position += 1
        return np.array(drawn) if drawn else self._chunk[:0]

    def state(self) -> dict[str, Any]:
        """Complete state for exact resumption, as values that JSON can hold."""
        return {"streams": self._streams_at_chunk, "rng": self._rng_at_chunk, "position": self._position}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a state returned by `state`.

        Parameters
        ----------
        state : dict
            Of a sampler of the same rows.
        """
        self._sampler.restore(state["streams"])
        self._rng.bit_generator.state = state["rng"]
        self._load_chunk()
        self._position = stored_count(state, "position", len(self._chunk))

    def _load_chunk(self) -> None:
        self._streams_at_chunk, self._rng_at_chunk = self._sampler.state(), self._rng.bit_generator.state
        chunk: NDArray[np.int64] = self._sampler.draw(CHUNK)
        used = chunk >= 0  # filled in place, so that padding stays where it is: behind the rows of its batch
        rows = chunk[used]
        chunk[used] = rows[np.argsort(self._lengths[rows], kind="stable")]
        self._chunk = chunk[self._rng.permutation(CHUNK)]
        self._position = 0


def token_lengths(ids: NDArray[Any]) -> NDArray[np.intp]:
    """Number of tokens of each row.

    Parameters
    ----------
    ids : int array, shape (n, T)
        Token ids.

    Returns
    -------
    int array, shape (n,)
    """
    lengths: NDArray[np.intp] = np.count_nonzero(ids, axis=1)
    return lengths
