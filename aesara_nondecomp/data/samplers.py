"""The order of rows in mini-batches: endless shuffled passes, whose state can be stored and restored."""

from __future__ import annotations

from typing import Any

import numpy as np


class _RowStream:
    """Endless passes over rows, shuffled anew for each pass.

    Parameters
    ----------
    rows : int array of their numbers; or int, how many there are, numbered from 0
    seed : int
    multiple : int. Each pass is filled up with -1 to a multiple of so many rows.
    """

    def __init__(self, rows: np.ndarray | int, seed: int, multiple: int = 1) -> None:
        self._rows = rows
        self._count = rows if isinstance(rows, int) else len(rows)
        # In 64 bits, which NumPy shuffles faster than fewer.
        self._order = np.full(-(-self._count // multiple) * multiple, -1, dtype=np.int64)
        self._rng = np.random.default_rng(seed)
        self._shuffle()

    def take(self, count: int) -> np.ndarray:
        """The next `count` rows, across passes."""
        taken, done = np.empty(count, dtype=np.int64), 0
        while done < count:
            if self._position == len(self._order):
                self._shuffle()
            part = self._order[self._position : self._position + count - done]
            taken[done : done + len(part)] = part
            done += len(part)
            self._position += len(part)
        return taken

    def state(self) -> dict[str, Any]:
        return {"rng": self._rng_at_pass, "position": self._position}

    def restore(self, state: dict[str, Any]) -> None:
        self._rng.bit_generator.state = state["rng"]
        self._shuffle()
        # States of before passes were filled up count the rows alone: after them comes the next pass.
        at_end = state["position"] == self._count
        self._position = len(self._order) if at_end else state["position"]

    def _shuffle(self) -> None:
        # The order follows from the generator's state, so only that has to be stored.
        self._rng_at_pass = self._rng.bit_generator.state
        rows = self._order[: self._count]
        if isinstance(self._rows, int):
            _number(rows)
        else:
            rows[:] = self._rows
        self._rng.shuffle(rows)
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
        self._stream = _RowStream(rows, child_seed(rng), multiple=batch_size)

    def draw(self, batches: int) -> np.ndarray:
        """Row numbers of the next batches, shape (batches, b)."""
        return self._stream.take(batches * self._batch_size).reshape(batches, self._batch_size)

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
        # In the smallest type that numbers them, for sets of many short rows.
        smallest = np.min_scalar_type(-len(signs))
        classes = (np.flatnonzero(of_class).astype(smallest) for of_class in (signs > 0, signs < 0))
        self._streams = [_RowStream(rows, child_seed(rng)) for rows in classes]
        self._counts = [positives, batch_size - positives]

    def draw(self, batches: int) -> np.ndarray:
        """Row numbers of the next batches, shape (batches, b)."""
        return np.hstack(
            [stream.take(batches * count).reshape(batches, count) for stream, count in zip(self._streams, self._counts)]
        )

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


def _number(rows: np.ndarray) -> None:
    """Write 0, 1, 2 ... to `rows`, without a second array of its size."""
    for start in range(0, len(rows), 2**16):
        part = rows[start : start + 2**16]
        part[:] = np.arange(start, start + len(part))
