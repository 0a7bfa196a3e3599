"""Mini-batches of a fixed shape, from samplers whose state can be stored and restored."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import positive_int, random_generator, warn_caller
from aesara_nondecomp.data.features import check_lengths
from aesara_nondecomp.data.row_loader import RowLoader
from aesara_nondecomp.data.rows import BatchSource
from aesara_nondecomp.data.sample_weights import check_sample_weight
from aesara_nondecomp.data.samplers import EpochSampler, PartSampler, checked_sampler, child_seed, stored_count
from aesara_nondecomp.data.tokens import LengthBuckets, token_lengths, used_width

BLOCK_BYTES = 2**20  # fits in a core's cache


class Batch(NamedTuple):
    """One mini-batch S_t.

    Attributes
    ----------
    X : array, shape (b, d)
        Rows of features, or of int32 token ids (b, T). Of a BatchSource, what its `batch` returned.
    y : array, shape (b,)
        Sign times sample weight: {-1, +1} without weights; 0 marks a padding row, whose row of `X` is zero too. Of the
        dtype of `X`, or a floating one for token ids.
    rows : int
        Number of rows that are not padding; they come first.
    cell : int32 array, shape (b,), or None
        Cell of each row; None if the rows have no cells. Of padding, any cell.
    """

    X: Any
    y: NDArray[Any]
    rows: int
    cell: NDArray[Any] | None = None


class _Block(NamedTuple):
    """Batches that are drawn and loaded together; their rows `X` are None until they are needed."""

    streams: Any
    """State of the sampler before them."""
    rows: list[int]
    """Of each batch, without padding."""
    y: NDArray[Any]
    cell: NDArray[Any] | None = None
    X: Any = None


class MiniBatches:
    """An infinite iterator over shuffled mini-batches.

    Every batch has the same shape, except that token ids are trimmed to the longest row of a batch and, with the
    natural sampler, batched by length (see `tokens.LengthBuckets`). With the natural sampler the last batch of an epoch
    holds the remaining rows, padded with zeros. The other samplers draw positives and negatives from two independent
    streams, each reshuffled when it is used up, and never pad.

    A batch is a view into a buffer that holds a block of many batches: it is valid until the next call of `next`. Copy
    what must live longer.

    Parameters
    ----------
    X : array, LazyRows, CSR matrix or BatchSource, shape (n, d)
        Floating features, or int32 token ids (n, T) padded with 0. Memory maps and `LazyRows` are read block by block,
        and those of a DiskMatrix are shuffled by blocks; of a CSR matrix only a block is made dense. Must not be
        modified during training: rows are prefetched.
    signs : array, shape (n,)
        Labels in {-1, +1}. An int8 array is kept and not copied.
    batch_size : int
        Rows per batch b, at least 1. More than n means the whole set in every batch, with a warning.
    seed : int, numpy Generator or None
        Equal seeds give equal batches.
    sampler : {"natural", "stratified", "balanced", "cell_balanced"} or float, default "natural"
        Shuffled epochs; or batches with the fraction of positives of the training set, a half, or the given fraction in
        (0, 1), rounded to whole rows and at least one row of each class; or equally many rows from each cell.
    sample_weight : array, shape (n,), optional
        Non-negative weights, some positive in each class; a row of weight 0 counts as padding. Default: equal weights.
    dtype : dtype, optional
        Floating dtype of the batches' `y`. Default: that of `X`, or float32 for token ids.
    loader : type, optional
        `RowLoader`, or a subclass of it that prefetches rows. Default: `RowLoader`.
    cell : int32 array, shape (n,), optional
        Cell of each row, from 0. Default: the rows have no cells.

    Attributes
    ----------
    batch_size : int
        Rows per batch in use.
    positive_share : float
        Prior p for the natural sampler, the exact fraction k/b of positives for the others. The sum of the rewards of a
        batch's positives over `rows * positive_share` estimates P without bias, and likewise N with
        `1 - positive_share`. (`rows` is below `batch_size` in the last batch of a natural epoch only.) With sample
        weights, the expected fraction of a batch's weight that positives have.
    cell_shares : float64 array, shape (m,), or None
        Expected fraction of a batch's weight that each cell has, for all cells up to the last one; None without cells.
    steps_per_epoch : int
        Batches that hold n rows, ceil(n / b).

    Raises
    ------
    ValueError
        If an argument is not as described above.

    Notes
    -----
    Source: section 1.3 of docs/algorithms.md (the prior-normalised estimator).
    """

    def __init__(
        self,
        X: Any,
        signs: NDArray[Any],
        batch_size: int,
        seed: Any,
        sampler: str | float = "natural",
        sample_weight: NDArray[Any] | None = None,
        dtype: Any = None,
        loader: type[RowLoader] = RowLoader,
        cell: NDArray[Any] | None = None,
    ) -> None:
        signs, rng = np.asarray(signs), random_generator(seed)
        _check_data(X, signs)
        self._X = X
        self._tokens = X.dtype.kind == "i"
        self._dtype = np.dtype(dtype or ("float32" if self._tokens else X.dtype))
        self._y = _weighted_signs(signs, sample_weight, self._dtype)
        self.batch_size = usable_batch_size(batch_size, len(signs))
        self.steps_per_epoch = -(-len(signs) // self.batch_size)
        self._cell = cell
        parts, counts = _parts(checked_sampler(sampler), signs, cell, self.batch_size)
        self._positives = None if parts is None else sum(n for rows, n in zip(parts, counts) if signs[rows[0]] > 0)
        share = float(np.mean(signs > 0)) if self._positives is None else self._positives / self.batch_size
        self.positive_share = share if sample_weight is None else _share_of_weight(signs, np.abs(self._y), share)
        self.cell_shares = None if cell is None else _cell_shares(cell, np.abs(self._y), parts, counts)
        self._sampler: Any = (
            EpochSampler(len(signs), self.batch_size, rng, getattr(X, "block_rows", None))
            if parts is None
            else PartSampler(parts, counts, rng)
        )
        if self._tokens and parts is None:
            lengths = X.token_lengths() if isinstance(X, BatchSource) else token_lengths(X)
            self._sampler = LengthBuckets(self._sampler, lengths, child_seed(rng))
        self._is_source = isinstance(X, BatchSource)
        self._batches_per_block = 1 if self._is_source else self._batches_in(BLOCK_BYTES)
        self._loader = loader(X, self._batches_per_block * self.batch_size)
        self._closed = False
        self._start_anew()

    def __iter__(self) -> MiniBatches:
        return self

    def __next__(self) -> Batch:
        if self._cursor == len(self._block.rows):
            self._start(self._next_block())
        block, start = self._block, self._cursor * self.batch_size
        part, rows = slice(start, start + self.batch_size), block.rows[self._cursor]
        self._cursor += 1
        X = block.X if self._is_source else block.X[part]
        X = X[:, : used_width(X)] if self._tokens and not self._is_source else X
        return Batch(X, block.y[part], rows, None if block.cell is None else block.cell[part])

    def close(self) -> None:
        """Stop reading the rows: no batch can be drawn after this. The current one stays valid."""
        self._closed = True
        self._loader.close()

    def state(self) -> dict[str, Any]:
        """Complete state for exact resumption with the next batch, as values that JSON can hold."""
        return {**self._signature(), "streams": self._block.streams, "batches_since": self._cursor}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a state returned by `state`; the next batches are bit-identical.

        Parameters
        ----------
        state : dict
            Of batches of the same rows and options.

        Raises
        ------
        ValueError
            If the state was taken with other rows, batch size or sampler.
        """
        for name, value in self._signature().items():
            if state.get(name) != value:
                raise ValueError(
                    f"these batches have {name} = {value}, but the stored state was taken with "
                    f"{state.get(name)}. Rebuild MiniBatches with the same data and options."
                )
        since = stored_count(state, "batches_since", self.steps_per_epoch)
        self._sampler.restore(state["streams"])
        # Replaying whole batches keeps a stored state independent of how many a block holds.
        self._sampler.draw(since)
        self._start_anew()

    def _signature(self) -> dict[str, Any]:
        return {"data_rows": len(self._y), "batch_size": self.batch_size, "positives_per_batch": self._positives}

    def _batches_in(self, size: int) -> int:
        """As many batches as fit into `size` bytes, but at least one and at most an epoch."""
        batch_bytes = self.batch_size * self._X.shape[1] * self._X.dtype.itemsize
        return int(min(max(1, size // batch_bytes), self.steps_per_epoch))

    def _start_anew(self) -> None:
        """Start with no current batch and none drawn."""
        self._prefetched: _Block | None = None
        self._start(_Block(self._sampler.state(), [], self._y[:0]))

    def _start(self, block: _Block) -> None:
        self._block, self._cursor = block, 0

    def _next_block(self) -> _Block:
        if self._closed:
            raise ValueError("these batches were closed, which ends them. Make new MiniBatches of the rows.")
        # If the next draw is interrupted, its rows must not pass for those of this block.
        block, self._prefetched = self._prefetched or self._draw(), None
        X = self._loader.result()
        self._prefetched = self._draw()
        return block._replace(X=X)

    def _draw(self) -> _Block:
        """A block whose rows are requested."""
        streams = self._sampler.state()
        indices = self._sampler.draw(self._batches_per_block).reshape(-1)
        self._loader.request(indices)
        padding = np.flatnonzero(indices < 0)
        padded = np.bincount(padding // self.batch_size, minlength=self._batches_per_block)
        y = np.take(self._y, indices, mode="clip").astype(self._dtype, copy=False)
        y[padding] = 0
        cell = None if self._cell is None else np.take(self._cell, indices, mode="clip")
        return _Block(streams, (self.batch_size - padded).tolist(), y, cell)


def both_classes(batches: Iterator[Batch], draws: int = 1000) -> Batch:
    """Draw until a batch holds both classes: the S_0 that starts the duals (docs/algorithms.md 1.4).

    Parameters
    ----------
    batches : iterator of Batch
        Batches of one class are drawn from it and dropped.
    draws : int, default 1000
        Batches to try at most.

    Returns
    -------
    Batch

    Raises
    ------
    ValueError
        If no batch holds both classes.
    """
    for batch in itertools.islice(batches, draws):
        if (batch.y > 0).any() and (batch.y < 0).any():
            return batch
    raise ValueError(
        f"the start needs a batch with both classes, got none in {draws} draws. "
        'Use larger batches or sampler="stratified".'
    )


def _parts(
    sampler: str | float, signs: NDArray[Any], cell: NDArray[Any] | None, batch_size: int
) -> tuple[list[NDArray[Any]] | None, list[int]]:
    """Rows of the parts that are drawn from separately, and how many per batch; None for epochs of all rows."""
    if sampler == "cell_balanced":
        return _equal_cells(cell, batch_size)
    positives = _positives_per_batch(sampler, float(np.mean(signs > 0)), batch_size)
    if positives is None:
        return None, []
    return [np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)], [positives, batch_size - positives]


def _equal_cells(cell: NDArray[Any] | None, batch_size: int) -> tuple[list[NDArray[Any]], list[int]]:
    if cell is None:
        raise ValueError('sampler="cell_balanced" needs groups, got none. Give groups, or use "balanced".')
    parts = [np.flatnonzero(cell == value) for value in np.unique(cell)]
    if batch_size < len(parts):
        raise ValueError(f"{len(parts)} cells need batches of as many rows or more, got batch_size={batch_size}.")
    more = batch_size % len(parts)
    return parts, [batch_size // len(parts) + (k < more) for k in range(len(parts))]


def _cell_shares(
    cell: NDArray[Any], weight: NDArray[Any], parts: list[NDArray[Any]] | None, counts: list[int]
) -> NDArray[np.float64]:
    """The fraction of a batch's weight that each cell has in the mean."""
    drawn = np.ones(len(cell)) / len(cell)  # how often a row is drawn, up to a factor
    for rows, count in zip(parts or [], counts):
        drawn[rows] = count / len(rows)
    of_cells = np.bincount(cell, weights=drawn * weight)
    return np.asarray(of_cells / of_cells.sum())


def _positives_per_batch(sampler: str | float, prior: float, batch_size: int) -> int | None:
    share = _share_wanted(sampler, prior)
    if share is None:
        return None
    if batch_size < 2:
        raise ValueError(
            f"sampler={sampler!r} needs room for both classes in a batch, got batch_size=1. "
            'Use at least 2, or sampler="natural".'
        )
    return min(max(round(share * batch_size), 1), batch_size - 1)


def _share_wanted(sampler: str | float, prior: float) -> float | None:
    if isinstance(sampler, str):
        return {"stratified": prior, "balanced": 0.5}.get(sampler)
    return sampler


def usable_batch_size(batch_size: int, rows: int) -> int:
    """The batch size, reduced to the number of rows with a warning.

    Parameters
    ----------
    batch_size : int
        Rows per batch, at least 1.
    rows : int
        Number of training rows.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If `batch_size` is below 1.
    """
    batch_size = positive_int("batch_size", batch_size)
    if batch_size > rows:
        warn_caller(
            f"batch_size={batch_size} exceeds the {rows} training rows; the whole set becomes "
            f"one batch (batch_size={rows})."
        )
        return rows
    return batch_size


def _check_data(X: Any, signs: NDArray[Any]) -> None:
    shape, dtype = getattr(X, "shape", ()), getattr(X, "dtype", type(X).__name__)
    if len(shape) != 2 or getattr(dtype, "kind", "") != "f" and dtype != np.int32:
        raise ValueError(
            f"mini-batches need a 2-D floating array or int32 token ids, got {shape} of {dtype}. "
            "Pass X through check_features first."
        )
    check_lengths(X, signs)
    if not ((signs == 1) | (signs == -1)).all() or not (signs > 0).any() or not (signs < 0).any():
        raise ValueError(
            "mini-batches need labels in {-1, +1} with both classes present, got "
            f"{np.unique(signs)[:10]}. Pass y through encode_labels first."
        )


def _weighted_signs(signs: NDArray[Any], sample_weight: NDArray[Any] | None, dtype: Any) -> NDArray[Any]:
    if sample_weight is None:
        # Small enough for the cache, where the rows of a batch are looked up at random.
        return signs.astype(np.int8, copy=False)
    weighted: NDArray[Any] = signs * check_sample_weight(sample_weight, signs)
    return weighted.astype(dtype)


def _share_of_weight(signs: NDArray[Any], weight: NDArray[Any], share: float) -> float:
    """The fraction of a batch's weight that positives have, if a row is positive with probability `share`."""
    of_positives = share * np.mean(weight[signs > 0], dtype=np.float64)
    of_negatives = (1.0 - share) * np.mean(weight[signs < 0], dtype=np.float64)
    return float(of_positives / (of_positives + of_negatives))
