"""Token ids: rows of word numbers padded with 0, checked, cut to the longest of a batch, and batched by length."""

from __future__ import annotations

from typing import Any

import numpy as np

CHUNK = 16  # batches whose rows are sorted by length together
WIDTH_STEP = 8  # batches are cut to a multiple of this, so that few shapes occur


def check_tokens(X: Any, size: int) -> np.ndarray:
    """Check token ids once and bring them to int32.

    Parameters
    ----------
    X : array-like of whole numbers, shape (n, T), in [0, size). 0 is padding.
    size : int. Number of ids that the network knows.

    Returns
    -------
    int32 array, shape (n, T), C-contiguous

    Raises
    ------
    ValueError
        If it is anything else.
    """
    ids = np.asarray(X)
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


def used_width(ids: np.ndarray) -> int:
    """Columns up to the last that is not all padding, rounded up to a multiple of 8; at most all, at least 1."""
    used = np.flatnonzero(ids.any(axis=0))
    last = int(used[-1]) + 1 if len(used) else 1
    return min(-(-last // WIDTH_STEP) * WIDTH_STEP, ids.shape[1])


class LengthBuckets:
    """Rows of a sampler's batches exchanged within chunks of 16 batches, so that a batch holds rows of like length.

    Every row is drawn as often as by the sampler itself, and the batches of a chunk come in random order, so class
    means over many batches stay unbiased.

    Parameters
    ----------
    sampler : with `draw(batches)` giving row numbers (batches, b), -1 at padding, `state` and `restore`
    lengths : int array, shape (n,)
    seed : int. Of the order of batches.
    """

    def __init__(self, sampler: Any, lengths: np.ndarray, seed: int) -> None:
        self._sampler, self._lengths = sampler, lengths
        self._rng = np.random.default_rng(seed)
        self._load_chunk()

    def draw(self, batches: int) -> np.ndarray:
        """Row numbers of the next batches."""
        drawn = []
        for _ in range(batches):
            if self._position == len(self._chunk):
                self._load_chunk()
            drawn.append(self._chunk[self._position])
            self._position += 1
        return np.array(drawn) if drawn else self._chunk[:0]

    def state(self) -> dict[str, Any]:
        """Everything needed to draw the same batches again."""
        return {"streams": self._streams_at_chunk, "rng": self._rng_at_chunk, "position": self._position}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up what `state` gave."""
        self._sampler.restore(state["streams"])
        self._rng.bit_generator.state = state["rng"]
        self._load_chunk()
        self._position = state["position"]

    def _load_chunk(self) -> None:
        self._streams_at_chunk, self._rng_at_chunk = self._sampler.state(), self._rng.bit_generator.state
        chunk = self._sampler.draw(CHUNK)
        used = chunk >= 0  # filled in place, so that padding stays where it is: behind the rows of its batch
        rows = chunk[used]
        chunk[used] = rows[np.argsort(self._lengths[rows], kind="stable")]
        self._chunk = chunk[self._rng.permutation(CHUNK)]
        self._position = 0


def token_lengths(ids: np.ndarray) -> np.ndarray:
    """Number of tokens of each row."""
    return np.count_nonzero(ids, axis=1)
