"""Prepared files: arrays in .npz archives, texts in .tsv.xz tables; reading, writing, and drawing the test part."""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from aesara_nondecomp._files import replacing
from aesara_nondecomp.data import Dataset, stratified_split
from aesara_nondecomp.data.datasets import SPLIT_SEED, tsv_columns
from aesara_nondecomp.data.files import open_archive, stored_array

TEST_SHARE = 0.3
"""Of the rows, or of the groups, in a table whose publisher gives no test part."""


class PreparedArrays(dict[str, np.ndarray]):
    """The arrays of a prepared file; an array that is missing is a ValueError that names the file."""

    def __init__(self, name: str, path: Path):
        with open_archive(existing(name, path)) as archive:
            super().__init__({key: stored_array(archive, key, path) for key in archive.files})
        self._name, self._path = name, path

    def __missing__(self, key: str) -> np.ndarray:
        held = ", ".join(self) or "no array"
        raise ValueError(
            f"data set {self._name!r} needs the array {key!r} in {self._path}, which holds {held}. "
            f"{_remedy(self._name)}"
        )


def existing(name: str, path: Path) -> Path:
    """The path, or a FileNotFoundError that says how to get the file."""
    if not path.is_file():
        raise FileNotFoundError(
            f"data set {name!r} needs the file {path}, which does not exist. Check data_dir=: it must be the folder "
            f"that holds {path.parent.name!r}. {_remedy(name)}"
        )
    return path


def _remedy(name: str) -> str:
    return f"`python -m benchmarks data convert {name} ...` makes it from the published file."


def labelled_texts(name: str, path: Path) -> tuple[list[str], np.ndarray]:
    """The texts of a prepared table and their labels, 1 or 0."""
    columns = tsv_columns(lzma.decompress(existing(name, path).read_bytes()).decode("utf-8"))
    return columns["text"], np.array(columns["label"], dtype=np.uint8)


def write_arrays(path: Path, **arrays: np.ndarray) -> Path:
    """Write a prepared file of arrays, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type, unused-ignore]
    return path


def write_texts(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> Path:
    """Write a prepared table of texts, whole or not at all; no cell may hold a tab or a line feed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["\t".join(cells) + "\n" for cells in (header, *rows)]
    with replacing(path) as file:
        file.write(lzma.compress("".join(lines).encode("utf-8")))
    return path


def split_rows(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the training and of the test rows, `TEST_SHARE` of each class."""
    return stratified_split(np.where(y > 0, 1, -1), TEST_SHARE, SPLIT_SEED)


def split_groups(name: str, X: np.ndarray, y: np.ndarray, groups: np.ndarray, source: str) -> Dataset:
    """A data set whose test part is `TEST_SHARE` of the groups, with all rows of each."""
    distinct = np.unique(groups)
    count = round(TEST_SHARE * len(distinct))
    chosen = np.random.default_rng(SPLIT_SEED).permutation(distinct)[:count]
    test = np.isin(groups, chosen)
    return Dataset(name, X[~test], y[~test], X[test], y[test], groups[~test], None, source)
