"""The data sets of the paper's figures, and the stand-ins for the two that are not freely available.

KDDCup08 and PPI are read as published if their files are present. Otherwise the protein task of KDD Cup 2004 replaces
KDDCup08, and a synthetic twin of the same shape and prevalence replaces PPI; "kdd08-twin" is such a twin of KDDCup08.
Captions and tables say so.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from aesara_nondecomp import data
from aesara_nondecomp._checks import choose
from benchmarks import data as benchmark_data
from benchmarks.experiment import Prepared, prepared_from

TWIN_SEED = 2018


class PaperRow(NamedTuple):
    """A row of the paper's data table (Table 1); COD-RNA has none."""

    title: str
    rows: str
    features: str
    positives: str


PAPER_TABLE = {
    "kdd08": PaperRow("KDDCup08", "100K", "117", "0.61 %"),
    "ppi": PaperRow("PPI", "240K", "85", "1.19 %"),
    "covtype": PaperRow("CoverType", "580K", "54", "1.63 %"),
    "letter": PaperRow("Letter", "20K", "16", "3.92 %"),
    "ijcnn1": PaperRow("IJCNN-1", "140K", "22", "9.57 %"),
    "a9a": PaperRow("Adult", "50K", "123", "23.93 %"),
    "cod-rna": PaperRow("COD-RNA", "not given", "not given", "not given"),
}


class Twin(NamedTuple):
    """Shape of a synthetic data set."""

    rows: int
    features: int
    positives: int


TWINS = {"kdd08-twin": Twin(102_294, 117, 623), "ppi-twin": Twin(240_000, 85, 2_856)}
REAL = {"kdd08": "kddcup08", "ppi": "ppi"}
"""The sets that have stand-ins, and their names in `benchmarks.data`."""
NAMES = (*PAPER_TABLE, "kdd04", *TWINS)


def resolve(name: str, data_dir: str | None) -> str:
    """The data set that is used under a name of the paper: itself, or the first stand-in that is available.

    Raises
    ------
    ValueError
        If the name is unknown (the nearest is suggested).
    """
    choose("data set", name, dict.fromkeys(NAMES))
    if name not in REAL or benchmark_data.is_available(REAL[name], data_dir):
        return name
    if name == "kdd08" and benchmark_data.is_available("kdd04", data_dir):
        return "kdd04"
    return f"{name}-twin"


def remark(name: str, used: str) -> str:
    """What a caption must say of a data set: that a stand-in is used, or nothing."""
    if name == used:
        return ""
    title = PAPER_TABLE[name].title
    if used == "kdd04":
        return f"{title} was not available: this is the protein task of KDD Cup 2004, a stand-in."
    return f"{title} was not available: this is a seeded synthetic twin of its shape and prevalence, not data."


def load(name: str, data_dir: str | None) -> data.Dataset:
    """The data set of a name of `NAMES` that `resolve` gave; see `benchmarks.data` for its test part."""
    if name in TWINS:
        return _twin(name, TWINS[name])
    return benchmark_data.load(REAL.get(name, name), data_dir)


@cache
def prepare(name: str, data_dir: str | None) -> Prepared:
    """The same, ready for training: standardised, with the functions of the default network; cached."""
    return prepared_from(load(name, data_dir))._replace(name=name)


def _twin(name: str, shape: Twin) -> data.Dataset:
    """Low-rank normal features plus noise; the positives have the highest noisy scores of a random network.

    The noise makes the classes overlap and the network makes the boundary curved, as in the real sets.
    """
    rng = np.random.default_rng(TWIN_SEED)
    latent = rng.normal(size=(shape.rows, 12)).astype("float32")
    mixing = rng.normal(size=(12, shape.features)).astype("float32") / np.float32(np.sqrt(12))
    # Not a matrix product, whose last bits depend on the BLAS, the processor and the number of threads.
    X = np.zeros((shape.rows, shape.features), "float32")
    for k, direction in enumerate(mixing):
        X += latent[:, k, None] * direction
    X += 0.3 * rng.normal(size=X.shape).astype("float32")
    bumps = np.tanh(latent @ rng.normal(size=(12, 24)).astype("float32")) @ rng.normal(size=24)
    score = bumps / bumps.std() + 0.25 * rng.normal(size=shape.rows)
    y = np.zeros(shape.rows, np.uint8)
    y[np.argsort(score)[-shape.positives :]] = 1
    train, test = data.stratified_split(np.where(y > 0, 1, -1), 0.3, TWIN_SEED)
    return data.Dataset(name, X[train], y[train], X[test], y[test], None, None, "Synthetic.")
