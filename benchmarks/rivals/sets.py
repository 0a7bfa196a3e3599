"""The data sets, whole, and the fresh split that each seed draws from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from aesara_nondecomp import data
from benchmarks.data import load
from benchmarks.data.kdd04 import FILE as KDD04
from benchmarks.data.libsvm import COD_RNA
from benchmarks.data.prepared import PreparedArrays, existing

TEST_SHARE, VALIDATION_SHARE = 0.3, 0.2
MOST_ROWS = 60_000
"""Training rows of a split, at most."""
ADULT_RAW = tuple(f"adult_raw/adult_{part}.csv.gz" for part in ("train", "test"))
CAP, HELD, NOISE = 1, 2, 3
"""What is drawn after the test rows; beside the seed they make the streams of random numbers independent."""


class Table(NamedTuple):
    """All rows of a data set."""

    X: Any
    """float32 array, data frame, or list of str."""
    y: np.ndarray
    """Labels, 1 for the positive class and 0."""
    groups: np.ndarray | None = None
    """Rows of equal value stay in one part."""


class Part(NamedTuple):
    """Training and test rows of one seed; the labels are 1 or 0."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    groups: np.ndarray | None = None

    def held_out(self, seed: int) -> Tuning:
        """80 % of the training rows to train on, and 20 % to choose configurations and thresholds on."""
        kept, held = data.stratified_split(signs_of(self.y), VALIDATION_SHARE, [seed, HELD], self.groups)
        return Tuning(take(self.X, kept), self.y[kept], take(self.X, held), self.y[held], self.X_test)


class Tuning(NamedTuple):
    """What a rival may see: rows to train on, validation rows, and test rows without labels."""

    X: Any
    y: np.ndarray
    X_held: Any
    y_held: np.ndarray
    X_test: Any


class DataSet(NamedTuple):
    """How to make the parts of a data set."""

    table: Callable[[str | None], Table]
    """From the folder of the data sets to all rows."""
    most_rows: int = MOST_ROWS
    noise: float = 0.0
    """Share of the training labels that are flipped."""
    kind: str = "numbers"
    """"numbers", "frame" or "texts"."""


def take(X: Any, rows: np.ndarray) -> Any:
    """Some rows of an array, a data frame or a list."""
    if isinstance(X, list):
        return [X[row] for row in rows]
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def signs_of(y: np.ndarray) -> np.ndarray:
    """Labels -1 or +1."""
    return np.where(y > 0, 1, -1)


def optional(module: str) -> Any:
    """A module of the extra `rivals`; a ValueError with the remedy where it is missing."""
    try:
        return import_module(module)
    except ImportError as missing:
        package = module.split(".")[0]
        raise ValueError(
            f"this comparison needs {package}: pip install 'aesara-nondecomp[rivals]', or leave out what needs it"
        ) from missing


# -- tables ----------------------------------------------------------------------------------------------------------


def _published(name: str, data_dir: str | None) -> Table:
    """Both parts of a set that has no groups."""
    parts = load(name, data_dir)
    X: Any = (
        [*parts.X_train, *parts.X_test] if name == "vader_tweets" else np.concatenate([parts.X_train, parts.X_test])
    )
    return Table(X, np.concatenate([parts.y_train, parts.y_test]))


def _folder(data_dir: str | None) -> Path:
    if data_dir is None:
        raise ValueError("this data set needs the folder that holds it: pass --data-dir")
    return Path(data_dir)


def _kdd04(data_dir: str | None) -> Table:
    arrays = PreparedArrays("kdd04", _folder(data_dir) / KDD04)
    return Table(arrays["X"].astype(np.float32), arrays["y"], arrays["block_id"])


def _cod_rna(data_dir: str | None) -> Table:
    arrays = PreparedArrays("cod-rna", _folder(data_dir) / COD_RNA)
    _, copies_of = np.unique(arrays["X"], axis=0, return_inverse=True)
    return Table(arrays["X"].astype(np.float32), arrays["y"], copies_of.reshape(-1))


def _adult_raw(data_dir: str | None) -> Table:
    """Both files of UCI's Adult as a data frame; columns of text are categorical, and "?" is missing."""
    pandas = optional("pandas")
    files = [existing("adult_raw", _folder(data_dir) / file) for file in ADULT_RAW]
    frame = pandas.concat([pandas.read_csv(file, na_values="?") for file in files], ignore_index=True)
    y = frame.pop("income").str.startswith(">50K").to_numpy(np.uint8)
    texts = frame.select_dtypes(exclude="number").columns
    return Table(frame.astype(dict.fromkeys(texts, "category")), y)


def _breast_cancer(data_dir: str | None) -> Table:
    """Malignant is positive; scikit-learn codes it 0."""
    X, y = optional("sklearn.datasets").load_breast_cancer(return_X_y=True)
    return Table(X.astype(np.float32), (y == 0).astype(np.uint8))


def _synthetic(share: float, rows: int, data_dir: str | None) -> Table:
    """Moderately hard: of 20 columns 8 are informative, and 1 % of the labels are drawn anew."""
    X, y = optional("sklearn.datasets").make_classification(
        rows, 20, n_informative=8, weights=[1 - share], class_sep=1.0, flip_y=0.01, random_state=0
    )
    return Table(X.astype(np.float32), y.astype(np.uint8))


_a9a, _letter = partial(_published, "a9a"), partial(_published, "letter")
SETS: dict[str, DataSet] = {
    "letter": DataSet(_letter),
    "a9a": DataSet(_a9a),
    "adult_raw": DataSet(_adult_raw, kind="frame"),
    "ijcnn1": DataSet(partial(_published, "ijcnn1")),
    "cod-rna": DataSet(_cod_rna),
    "covtype": DataSet(partial(_published, "covtype")),
    "kdd04": DataSet(_kdd04),
    "breast_cancer": DataSet(_breast_cancer),
    **{
        f"synthetic_{share}_{rows}": DataSet(partial(_synthetic, share / 100, rows))
        for rows in (2_000, 20_000)
        for share in (1, 5, 20)
    },
    "a9a_1000": DataSet(_a9a, most_rows=1_000),
    "a9a_4000": DataSet(_a9a, most_rows=4_000),
    "a9a_noise": DataSet(_a9a, noise=0.1),
    "letter_noise": DataSet(_letter, noise=0.1),
    "vader_tweets": DataSet(partial(_published, "vader_tweets"), kind="texts"),
}


# -- splits ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _table(name: str, data_dir: str | None) -> Table:
    return SETS[name].table(data_dir)


@lru_cache(maxsize=1)
def part_of(name: str, data_dir: str | None, seed: int) -> Part:
    """The training and test rows of a seed, equal for every method.

    Parameters
    ----------
    name : str
        Of `SETS`.
    data_dir : str or None
        Folder of the data sets that are not embedded.
    seed : int
        Draws the test part, then the training rows that are kept and the labels that are flipped.

    Returns
    -------
    Part
        30 % of the rows are test rows, stratified, or whole groups; only training labels are flipped.
    """
    return split(_table(name, data_dir), SETS[name], seed)


def split(table: Table, kind: DataSet, seed: int) -> Part:
    """The same of a table."""
    signs = signs_of(table.y)
    train, test = data.stratified_split(signs, TEST_SHARE, seed, table.groups)
    if len(train) > kind.most_rows:
        _, kept = data.stratified_split(signs[train], kind.most_rows / len(train), [seed, CAP])
        train = train[kept]
    y = table.y[train]
    if kind.noise:
        rng = np.random.default_rng([seed, NOISE])
        y = y ^ (rng.permutation(len(y)) < kind.noise * len(y)).astype(y.dtype)
    groups = None if table.groups is None else table.groups[train]
    return Part(take(table.X, train), y, take(table.X, test), table.y[test], groups)
