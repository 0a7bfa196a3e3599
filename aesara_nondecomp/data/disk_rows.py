"""A matrix in a temporary file, for rows that do not fit in memory: read by slices, or by blocks that are kept."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.data.samplers import GROUPED_BLOCKS

BLOCK_BYTES = 2**17  # long enough to be read at the speed of a disk
_KEPT_BLOCKS = 2 * GROUPED_BLOCKS  # those of two groups, since a request may reach from one into the next


class DiskMatrix:
    """A matrix whose rows are appended to a temporary file and read from there, in memory for some blocks of rows.

    The file has no name, so that it is gone when the matrix is, whatever ends the process. It is read and not mapped:
    pages of a map would count as memory of the process.

    Parameters
    ----------
    columns : int
        Number of columns d.
    dtype : dtype
        Of the entries.

    Attributes
    ----------
    block_rows : int
        Rows per block.
    """

    ndim = 2

    def __init__(self, columns: int, dtype: Any):
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.shape = (0, columns)
        self._file = tempfile.TemporaryFile(prefix="aesara_nondecomp.")  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._row_bytes = columns * self.dtype.itemsize
        self.block_rows = max(1, BLOCK_BYTES // self._row_bytes)
        self._blocks: NDArray[Any] = np.empty((0, columns), self.dtype)  # those that are kept, one behind another
        self._kept: NDArray[Any] = np.empty(0, dtype=np.int64)  # which block is in each place of them, or -1
        self._place: NDArray[Any] = np.empty(0, dtype=np.int64)  # of each block, or -1
        self._next = 0  # the place that is filled next

    def __len__(self) -> int:
        return self.shape[0]

    def append(self, rows: NDArray[Any]) -> None:
        """Write rows behind the others; none may have been read at an int array before.

        Parameters
        ----------
        rows : array, shape (k, d)
            The rows.
        """
        self._file.write(np.ascontiguousarray(rows, self.dtype).data)
        self.shape = (len(self) + len(rows), self.shape[1])

    def finish(self) -> DiskMatrix:
        """Make all rows readable; call this after the last one.

        Returns
        -------
        DiskMatrix
            Itself.
        """
        self._file.flush()
        n_blocks = -(-len(self) // self.block_rows)
        self._place = np.full(n_blocks, -1, dtype=np.int64)
        return self

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        """Read the rows at a slice or int array."""
        if isinstance(rows, slice):
            start, stop, step = rows.indices(len(self))
            return self._read(start, max(0, stop - start))[::step]
        indices = np.asarray(rows)
        block, row = np.divmod(indices, self.block_rows)
        missing = np.unique(block[self._place[block] < 0])
        if len(missing) > _KEPT_BLOCKS:
            return self._in_passing(indices)
        self._keep(missing)
        place = self._place[block]
        if (place < 0).any():  # one that was kept had to make room
            return self._in_passing(indices)
        found: NDArray[Any] = np.take(self._blocks, place * self.block_rows + row, axis=0, mode="clip")
        return found

    def _keep(self, blocks: NDArray[Any]) -> None:
        """Read blocks in place of those that were read the longest ago."""
        if not len(self._kept):
            self._kept = np.full(min(_KEPT_BLOCKS, len(self._place)), -1)
            self._blocks = np.empty((len(self._kept) * self.block_rows, self.shape[1]), self.dtype)
        for block in blocks.tolist():
            place, self._next = self._next, (self._next + 1) % len(self._kept)
            if self._kept[place] >= 0:
                self._place[self._kept[place]] = -1
            first = block * self.block_rows
            found = self._read(first, min(self.block_rows, len(self) - first))
            self._blocks[place * self.block_rows :][: len(found)] = found
            self._kept[place], self._place[block] = block, place

    def _in_passing(self, indices: NDArray[Any]) -> NDArray[Any]:
        """Rows of more blocks than are kept: of each, those from the first to the last that is wanted are read."""
        found = np.empty((len(indices), self.shape[1]), self.dtype)
        order = np.argsort(indices, kind="stable")
        for places in np.split(order, np.flatnonzero(np.diff(indices[order] // self.block_rows)) + 1):
            wanted = indices[places]
            first = int(wanted[0])
            found[places] = self._read(first, int(wanted[-1]) - first + 1)[wanted - first]
        return found

    def _read(self, first: int, count: int) -> NDArray[Any]:
        """Rows that follow each other, read in a way that threads can share."""
        found = np.empty((count, self.shape[1]), self.dtype)
        left, place = found.reshape(-1).view(np.uint8), first * self._row_bytes
        while len(left):
            done = os.preadv(self._file.fileno(), [left.data], place)
            if not done:
                raise OSError(f"the temporary file of {len(self)} rows was shortened. Leave it alone.")
            left, place = left[done:], place + done
        return found


def check_disk_space(rows: int, columns: int, dtype: Any) -> None:
    """Refuse to write a matrix that is too large for the folder of temporary files.

    Parameters
    ----------
    rows : int
        Number of rows.
    columns : int
        Number of columns.
    dtype : dtype
        Of the entries.

    Raises
    ------
    ValueError
        If there is too little space.
    """
    needed, folder = rows * columns * np.dtype(dtype).itemsize, tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise ValueError(
            f"{rows} rows of {columns} columns need {needed / 1e9:.1f} GB in {folder}, the folder of temporary files, "
            f"got {free / 1e9:.1f} GB. Make space, or name another folder in the environment variable TMPDIR."
        )
