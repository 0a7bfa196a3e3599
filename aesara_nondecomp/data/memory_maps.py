"""The file behind a memory map: where another program has shortened it, reading on would kill this process."""

from __future__ import annotations

import mmap
from typing import Any, NamedTuple

import numpy as np

from aesara_nondecomp._arrays import is_sparse


class MappedFile(NamedTuple):
    """A mapped file and where its mapped part ends.

    Attributes
    ----------
    map : mmap.mmap
        The mapping.
    end : int
        Bytes that the file must have.
    name : str
        Of the file, for messages.
    """

    map: mmap.mmap
    end: int
    name: str

    @classmethod
    def of(cls, X: Any) -> MappedFile | None:
        """Find the file whose bytes a matrix shows.

        Parameters
        ----------
        X : object
            A memory map, a view of one, a CSR matrix of one, or anything else.

        Returns
        -------
        MappedFile or None
            None if the matrix is in memory.
        """
        start, name = 0, "mapped"
        base = X.data if is_sparse(X) else X
        while base is not None and not isinstance(base, mmap.mmap):
            if isinstance(base, np.memmap) and base.filename is not None:
                start, name = base.offset - base.offset % mmap.ALLOCATIONGRANULARITY, str(base.filename)
            base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
        return None if base is None else cls(base, start + len(base), name)

    def check(self) -> None:
        """Refuse to read a file that has become shorter; call this before each block.

        Raises
        ------
        OSError
            If the file lacks mapped bytes.
        """
        size = self.map.size()
        if size < self.end:
            raise OSError(
                f"the file {self.name!r} of a memory map was shortened while it was in use, to {size} of {self.end} "
                "bytes. Write it again, and leave it alone while rows are read from it."
            )
