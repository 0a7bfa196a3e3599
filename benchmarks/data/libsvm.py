"""IJCNN1 and COD-RNA, published as LIBSVM text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aesara_nondecomp.data import Dataset, read_libsvm
from benchmarks.data.prepared import PreparedArrays, split_groups, write_arrays
from benchmarks.data.source import Source

IJCNN1, COD_RNA = "ijcnn1/ijcnn1.npz", "cod-rna/cod-rna_train.npz"
IJCNN1_COLUMNS, COD_RNA_COLUMNS = 22, 8


def load_ijcnn1(data_dir: Path) -> Dataset:
    """IJCNN1 with LIBSVM's own test file."""
    arrays = PreparedArrays("ijcnn1", data_dir / IJCNN1)
    return Dataset(
        "ijcnn1",
        arrays["X_train"],
        arrays["y_train"],
        arrays["X_test"],
        arrays["y_test"],
        None,
        None,
        "Prokhorov, D. (2001). IJCNN 2001 neural network competition; LIBSVM Data.",
    )


def load_cod_rna(data_dir: Path) -> Dataset:
    """The training file of COD-RNA; equal rows are a group, and so in one part."""
    arrays = PreparedArrays("cod-rna", data_dir / COD_RNA)
    _, copies_of = np.unique(arrays["X"], axis=0, return_inverse=True)
    return split_groups(
        "cod-rna",
        arrays["X"],
        arrays["y"],
        copies_of.reshape(-1),
        "Uzilov, A.V. et al. (2006). Detection of non-coding RNAs on the basis of predicted "
        "secondary structure formation free energy change; LIBSVM Data, training file.",
    )


def convert_ijcnn1(originals: Sequence[Path], data_dir: Path) -> list[Path]:
    """Both files to one archive."""
    (X_train, y_train), (X_test, y_test) = (_rows(path, IJCNN1_COLUMNS) for path in originals)
    return [write_arrays(data_dir / IJCNN1, X_train=X_train, y_train=y_train, X_test=X_test, y_test=y_test)]


def convert_cod_rna(originals: Sequence[Path], data_dir: Path) -> list[Path]:
    """The training file to an archive."""
    X, y = _rows(originals[0], COD_RNA_COLUMNS)
    return [write_arrays(data_dir / COD_RNA, X=X, y=y)]


def _rows(path: Path, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    table = read_libsvm(path, n_features)
    return table.X, (table.y > 0).astype(np.uint8)


SOURCES = {
    "ijcnn1": Source(load_ijcnn1, (IJCNN1,), ("ijcnn1.bz2", "ijcnn1.t.bz2"), convert_ijcnn1),
    "cod-rna": Source(load_cod_rna, (COD_RNA,), ("cod-rna",), convert_cod_rna),
}
