"""The description of a data set outside the package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from aesara_nondecomp.data import Dataset


class Source(NamedTuple):
    """A data set that is read from a folder."""

    load: Callable[[Path], Dataset]
    """From the folder of all data sets to this one."""
    files: tuple[str, ...]
    """The files that `load` reads, relative to that folder."""
    originals: tuple[str, ...] = ()
    """The published files that `convert` takes, in this order."""
    convert: Callable[[Sequence[Path], Path], list[Path]] | None = None
    """From the published files and the folder to the prepared files; None for a set that is read as published."""
