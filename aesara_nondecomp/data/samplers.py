"""The order of rows in mini-batches: endless shuffled passes, whose state can be stored and restored."""

from __future__ import annotations

from typing import Any

import numpy as np


class _RowStream:
    """Endless passes over `rows`, shuffled anew for each pass."""

    def __init__(self, rows: np.ndarray, seed: int) -> None:
        self._rows = rows
        self._order = np.empty(len(rows), dtype=np.int64)  # which NumPy shuffles faster than narrower ones
        self._rng = np.random.default_rng(seed)
        self._shuffle()

    def take(self, count: int) -> np.ndarray:
        """The next `count` rows, across passes."""
        rows, done = np.empty(count, dtype=np.int64), 0
        while done < count:
            part = self.take_within_pass(count - done)
            rows[done : done + len(part)] = part
            done += len(part)
        return rows

    def take_within_pass(self, count: int) -> np.ndarray:
        """The next rows, at least one and at most `count`, of one pass; valid until the next call."""
        if self._position == len(self._order):
            self._shuffle()
        taken = self._order[self._position : self._position + count]
        self._position += len(taken)
        return taken

    def state(self) -> dict[str, Any]:
        return {"rng": self._rng_at_pass, "position": self._position}

    def restore(self, state: dict[str, Any]) -> None:
        self._rng.bit_generator.state = state["rng"]
        self._shuffle()
        self._position = state["position"]

    def _shuffle(self) -> None:
        # The order follows from the generator's state, so only that has to be stored.
        self._rng_at_pass = self._rng.bit_generator.state
        self._order[:] = self._rows
        self._rng.shuffle(self._order)
        self._position = 0


class EpochSampler:
    """Shuffled epochs; the last batch of each is padded with -1.

    Parameters
    ----------
    rows : int >= 1. How many there are.
    batch_size : int >= 1
    rng : numpy Generator. Seeds the sampler's own.
    """

    def __init__(self, rows: int, batch_size: int, rng: np.random.Generator) -> None:
        self._batch_size = batch_size
        self._stream = _RowStream(np.arange(rows, dtype=_number_type(rows)), child_seed(rng))

    def draw(self, batches: int) -> np.ndarray:
        """Row numbers of the next batches, shape (batches, b)."""
        indices = np.full((batches, self._batch_size), -1, dtype=np.intp)
        for batch in indices:
            rows = self._stream.take_within_pass(self._batch_size)
            batch[: len(rows)] = rows
        return indices

    def state(self) -> list[dict[str, Any]]:
        """Everything needed to draw the same batches again."""
        return [self._stream.state()]

    def restore(self, state: list[dict[str, Any]]) -> None:
        """Take up what `state` gave."""
        self._stream.restore(state[0])


class ClassSampler:
    """A fixed number of positives and of negatives per batch, from two independent streams.

    Parameters
    ----------
    signs : array, shape (n,), in {-1, +1}
    batch_size : int >= 2
    positives : int from 1 to batch_size - 1. In each batch.
    rng : numpy Generator. Seeds the two streams' own.
    """

    def __init__(self, signs: np.ndarray, batch_size: int, positives: int, rng: np.random.Generator) -> None:
        classes = (np.flatnonzero(of_class).astype(_number_type(len(signs))) for of_class in (signs > 0, signs < 0))
        self._streams = [_RowStream(rows, child_seed(rng)) for rows in classes]
        self._counts = [positives, batch_size - positives]

    def draw(self, batches: int) -> np.ndarray:
        """Row numbers of the next batches, shape (batches, b)."""
        return np.hstack([stream.take(batches * count).reshape(batches, count)
                          for stream, count in zip(self._streams, self._counts)])

    def state(self) -> list[dict[str, Any]]:
        """Everything needed to draw the same batches again."""
        return [stream.state() for stream in self._streams]

    def restore(self, state: list[dict[str, Any]]) -> None:
        """Take up what `state` gave."""
        for stream, stored in zip(self._streams, state):
            stream.restore(stored)


def child_seed(rng: np.random.Generator) -> int:
    """A seed for a stream of its own, so that a generator passed in by the caller can be used elsewhere."""
    return int(rng.integers(2**63))


def _number_type(rows: int) -> np.dtype:
    """The smallest signed type that numbers so many rows, for sets of many short rows."""
    return np.min_scalar_type(-rows)
