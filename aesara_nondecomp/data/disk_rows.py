"""A matrix in a temporary file, for rows that do not fit in memory: read by slices, or by blocks that are kept."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import OrderedDict
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
        self._file = tempfile.TemporaryFile(prefix="aesara_nondecomp.")  # noqa: SIM115  # closed with the matrix
        self._row_bytes = columns * self.dtype.itemsize
        self.block_rows = max(1, BLOCK_BYTES // self._row_bytes)
        self._kept: OrderedDict[int, int] = OrderedDict()  # place in `_blocks` of each block, the last one used last
        self._blocks: NDArray[Any] = np.empty((0, columns), self.dtype)
        self._place: NDArray[Any] = np.empty(0, dtype=np.int64)  # the same, -1 for the others

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
        blocks = np.unique(indices // self.block_rows)
        if len(blocks) > min(_KEPT_BLOCKS, len(self._place)):  # too scattered for blocks
            return self._one_by_one(indices)
        self._keep(blocks)
        block, row = np.divmod(indices, self.block_rows)
        found: NDArray[Any] = self._blocks[self._place[block] * self.block_rows + row]
        return found

    def _keep(self, blocks: NDArray[Any]) -> None:
        """Read the blocks that are not kept yet, in place of those that were used the longest ago."""
        if not len(self._blocks):
            room = min(_KEPT_BLOCKS, len(self._place))
            self._blocks = np.empty((room * self.block_rows, self.shape[1]), self.dtype)
        for block in blocks.tolist():
            if block in self._kept:
                self._kept.move_to_end(block)
        for block in blocks[self._place[blocks] < 0].tolist():
            place = len(self._kept)
            if place * self.block_rows == len(self._blocks):
                former, place = self._kept.popitem(last=False)
                self._place[former] = -1
            first = block * self.block_rows
            found = self._read(first, min(self.block_rows, len(self) - first))
            self._blocks[place * self.block_rows :][: len(found)] = found
            self._kept[block] = self._place[block] = place

    def _one_by_one(self, indices: NDArray[Any]) -> NDArray[Any]:
        found = np.empty((len(indices), self.shape[1]), self.dtype)
        for k, row in enumerate(indices.tolist()):
            found[k] = self._read(row, 1)[0]
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
