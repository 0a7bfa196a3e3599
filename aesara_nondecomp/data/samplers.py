"""The order of rows in mini-batches: infinite shuffled epochs, whose state can be stored and restored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require, share, shown, suggestion

SAMPLERS = ("natural", "stratified", "balanced", "cell_balanced")
GROUPED_BLOCKS = 256  # of rows on a disk, that are shuffled together


def checked_sampler(value: Any) -> str | float:
    """Check how mini-batches are to be drawn.

    Parameters
    ----------
    value : object
        A name of `SAMPLERS`, or a share of positives in (0, 1).

    Returns
    -------
    str or float

    Raises
    ------
    ValueError
        If it is neither.
    """
    if isinstance(value, str) and value in SAMPLERS:
        return value
    try:
        return share("sampler", value)
    except ValueError:
        raise ValueError(
            f"sampler must be a name or a share of positives strictly between 0 and 1, got {shown(value)}. "
            f"{suggestion(value, SAMPLERS)}"
        ) from None


class _RowStream:
    """Infinite shuffled epochs of rows.

    Parameters
    ----------
    rows : int array or int
        Row indices, or their number n for all from 0 to n - 1.
    seed : int
        Of the shuffles.
    multiple : int, default 1
        Each epoch is padded with -1 to a multiple of this number.
    """

    def __init__(self, rows: NDArray[Any] | int, seed: int, multiple: int = 1) -> None:
        self._rows = rows
        self._count = rows if isinstance(rows, int) else len(rows)
        # In 64 bits, which NumPy shuffles faster than fewer.
        self._order = np.full(-(-self._count // multiple) * multiple, -1, dtype=np.int64)
        self._rng = np.random.default_rng(seed)
        self._shuffle()

    def take(self, count: int) -> NDArray[np.int64]:
        """The next `count` row indices, across epochs."""
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
        return {"rng": self._rng_at_epoch, "position": self._position}

    def restore(self, state: dict[str, Any]) -> None:
        self._rng.bit_generator.state = state["rng"]
        self._shuffle()
        # States stored before epochs were padded count the rows alone: after the last one comes the next epoch.
        position = stored_count(state, "position", len(self._order))
        self._position = len(self._order) if position == self._count else position

    def _shuffle(self) -> None:
        # The order follows from the generator's state, so only that has to be stored.
        self._rng_at_epoch = self._rng.bit_generator.state
        rows = self._order[: self._count]
        if isinstance(self._rows, int):
            _fill_with_range(rows)
        else:
            rows[:] = self._rows
        self._rng.shuffle(rows)
        self._position = 0


class _BlockStream:
    """Infinite epochs of rows on a disk, shuffled by blocks: each is read once in an epoch, and few are held at a time.

    The blocks of an epoch are shuffled, and then the rows of each `GROUPED_BLOCKS` of them together.

    Parameters
    ----------
    rows : int
        Their number n; the rows are all from 0 to n - 1.
    block_rows : int
        Rows per block; the last one may have fewer.
    seed : int
        Of the shuffles.
    multiple : int, default 1
        Each epoch is padded with -1 to a multiple of this number.
    """

    def __init__(self, rows: int, block_rows: int, seed: int, multiple: int = 1) -> None:
        self._count, self._block_rows = rows, block_rows
        self._length = -(-rows // multiple) * multiple
        self._rng = np.random.default_rng(seed)
        self._shuffle()

    def take(self, count: int) -> NDArray[np.int64]:
        """The next `count` row indices, across epochs."""
        taken, done = np.full(count, -1, dtype=np.int64), 0
        while done < count:
            if self._position == self._length:
                self._shuffle()
            group = int(np.searchsorted(self._ends, self._position, side="right"))
            if group < len(self._ends):
                part = self._rows_of(group)[self._position - int(self._ends[group]) :][: count - done]
                taken[done : done + len(part)] = part
                moved = len(part)
            else:
                moved = min(self._length - self._position, count - done)  # padding
            done += moved
            self._position += moved
        return taken

    def state(self) -> dict[str, Any]:
        return {"rng": self._rng_at_epoch, "position": self._position}

    def restore(self, state: dict[str, Any]) -> None:
        self._rng.bit_generator.state = state["rng"]
        self._shuffle()
        self._position = stored_count(state, "position", self._length)

    def _shuffle(self) -> None:
        # The order follows from the generator's state, so only that has to be stored.
        self._rng_at_epoch = self._rng.bit_generator.state
        self._blocks = self._rng.permutation(-(-self._count // self._block_rows))
        self._seeds = self._rng.integers(2**63, size=-(-len(self._blocks) // GROUPED_BLOCKS))
        sizes = np.minimum(self._block_rows, self._count - self._blocks * self._block_rows)
        self._ends = np.cumsum(np.add.reduceat(sizes, np.arange(0, len(sizes), GROUPED_BLOCKS)))
        self._group, self._position = -1, 0

    def _rows_of(self, group: int) -> NDArray[np.int64]:
        """The rows of a group of blocks in their order, which is kept until the next group."""
        if group != self._group:
            blocks = self._blocks[group * GROUPED_BLOCKS :][:GROUPED_BLOCKS]
            rows = (blocks[:, None] * self._block_rows + np.arange(self._block_rows)).reshape(-1)
            rows = rows[rows < self._count]
            np.random.default_rng(self._seeds[group]).shuffle(rows)
            self._group, self._order = group, rows
        return self._order


class EpochSampler:
    """Shuffled epochs, each padded with -1 to whole batches.

    Parameters
    ----------
    rows : int
        Number of rows, at least 1.
    batch_size : int
        Rows per batch, at least 1.
    rng : numpy Generator
        Seeds the sampler's own generator.
    block_rows : int, optional
        Rows per block of a matrix on a disk, whose epochs are shuffled by blocks if there are more than
        `GROUPED_BLOCKS`. Default: all rows are shuffled together.
    """

    def __init__(self, rows: int, batch_size: int, rng: np.random.Generator, block_rows: int | None = None) -> None:
        self._batch_size = batch_size
        self._stream: _RowStream | _BlockStream
        if block_rows is not None and rows > GROUPED_BLOCKS * block_rows:
            self._stream = _BlockStream(rows, block_rows, child_seed(rng), multiple=batch_size)
        else:
            self._stream = _RowStream(rows, child_seed(rng), multiple=batch_size)

    def draw(self, batches: int) -> NDArray[np.int64]:
        """Draw the row indices of the next batches.

        Parameters
        ----------
        batches : int
            How many to draw.

        Returns
        -------
        int64 array, shape (batches, b)
            -1 is padding, behind the rows of the last batch of an epoch.
        """
        return self._stream.take(batches * self._batch_size).reshape(batches, self._batch_size)

    def state(self) -> list[dict[str, Any]]:
        """Complete state for exact resumption, as values that JSON can hold."""
        return [self._stream.state()]

    def restore(self, state: list[dict[str, Any]]) -> None:
        """Restore a state returned by `state`.

        Parameters
        ----------
        state : list of dict
            Of a sampler of the same rows.
        """
        self._stream.restore(state[0])


class PartSampler:
    """A fixed number of rows per batch of each part of the rows, such as a class, from independent streams.

    Parameters
    ----------
    parts : sequence of int array
        Row indices of each part.
    counts : sequence of int
        Rows per batch of each part, at least 1.
    rng : numpy Generator
        Seeds the generators of the streams.
    """

    def __init__(self, parts: Sequence[NDArray[Any]], counts: Sequence[int], rng: np.random.Generator) -> None:
        # In the smallest type that holds the indices, for sets of many short rows.
        smallest = np.min_scalar_type(-sum(len(rows) for rows in parts))
        self._streams = [_RowStream(rows.astype(smallest), child_seed(rng)) for rows in parts]
        self._counts = list(counts)

    def draw(self, batches: int) -> NDArray[np.int64]:
        """Draw the row indices of the next batches.

        Parameters
        ----------
        batches : int
            How many to draw.

        Returns
        -------
        int64 array, shape (batches, b)
            In each batch the rows of a part stand together, in the order of the parts.
        """
        return np.hstack(
            [stream.take(batches * count).reshape(batches, count) for stream, count in zip(self._streams, self._counts)]
        )

    def state(self) -> list[dict[str, Any]]:
        """Complete state for exact resumption, as values that JSON can hold."""
        return [stream.state() for stream in self._streams]

    def restore(self, state: list[dict[str, Any]]) -> None:
        """Restore a state returned by `state`.

        Parameters
        ----------
        state : list of dict
            Of a sampler of the same rows.
        """
        for stream, stored in zip(self._streams, state):
            stream.restore(stored)


def stored_count(state: dict[str, Any], name: str, most: int) -> int:
    """A count in a stored state.

    Parameters
    ----------
    state : dict
        The state.
    name : str
        Of the count.
    most : int
        The largest count that there can be.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If it is no whole number from 0 to `most`.
    """
    count = state[name]
    inside = type(count) is int and 0 <= count <= most
    require(inside, f"{name} of a stored state must be a whole number from 0 to {most}", count)
    return int(count)


def child_seed(rng: np.random.Generator) -> int:
    """A seed for a stream of its own, so that the caller can use the generator elsewhere.

    Parameters
    ----------
    rng : numpy Generator
        One number is drawn from it.

    Returns
    -------
    int
    """
    return int(rng.integers(2**63))


def _fill_with_range(rows: NDArray[np.int64]) -> None:
    """Write 0, 1, 2 ... to `rows`, without a second array of its size."""
    for start in range(0, len(rows), 2**16):
        part = rows[start : start + 2**16]
        part[:] = np.arange(start, start + len(part))
