"""The data sets inside the package: Letter, Adult as a table and as binary columns, and the VADER tweets.

Labels are 0/1 and features are in their natural units. A split drawn here uses seed 0, so a data set has the same
rows on every machine.
"""

from __future__ import annotations

import functools
import gzip
import importlib.resources
import io
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import suggestion
from aesara_nondecomp.data.splits import stratified_split

SPLIT_SEED = 0
ADULT_TRAIN = 32_561  # rows of UCI's training file; those of its test file follow
ADULT_SOURCE = (
    "Becker, B. and Kohavi, R. (1996). Adult [Dataset]. UCI Machine Learning Repository. "
    "https://doi.org/10.24432/C5XW20. CC BY 4.0"
)


class Dataset(NamedTuple):
    """A training and a test part.

    Attributes
    ----------
    name : str
        Name of the data set.
    X_train : array, shape (n_train, d), dict of str to array, or list of str
        Training rows, float32; the columns of a table by their names; texts in a text set.
    y_train : array, shape (n_train,)
        Training labels, uint8: 1 is the positive class, 0 the negative one.
    X_test : array, shape (n_test, d), or list of str
        Test rows, of the kind of `X_train`.
    y_test : array, shape (n_test,)
        Test labels.
    groups : array, shape (n_train,), or None
        Integers: training rows of equal value belong on one side of a validation split.
    feature_names : tuple of str or None
        Names of the columns, where they are known.
    source : str
        The credit line.
    """

    name: str
    X_train: Any
    y_train: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]
    groups: NDArray[Any] | None
    feature_names: tuple[str, ...] | None
    source: str


def _refuse_data_dir(load: Callable[[str], Dataset]) -> Callable[[str], Dataset]:
    """`load` with a helpful error for the second parameter that it had in 0.1."""

    @functools.wraps(load)
    def checked(*args: Any, **keywords: Any) -> Dataset:
        if len(args) > 1 or "data_dir" in keywords:
            raise TypeError(
                "data.load takes no data_dir: it loads the embedded sets only. For the sets of the experiments use "
                "benchmarks.data.load(name, data_dir) of the source repository, for other files data.read(path)."
            )
        return load(*args, **keywords)

    return checked


@_refuse_data_dir
def load(name: str) -> Dataset:
    """Load an embedded data set.

    Parameters
    ----------
    name : {"letter", "adult", "a9a", "vader_tweets"}
        "letter" has the letter N as its positive class and UCI's last 4,000 rows as its test part. "adult" is a table
        of 6 numeric and 8 categorical columns, a dict of arrays in which a missing cell is None; an income above
        50,000 dollars is positive, and UCI's test file is the test part. "a9a" has the same rows as 123 binary
        features. "vader_tweets" is text: valence above 0 is positive, rows of valence 0 are dropped, and 20 % of each
        class are the test part.

    Returns
    -------
    Dataset
        Its training and test part.

    Raises
    ------
    TypeError
        If `data_dir`, a parameter of version 0.1, is passed.
    ValueError
        If no embedded data set has this name.

    Examples
    --------
    >>> adult = load("adult")
    >>> {name: cells[:2].tolist() for name, cells in adult.X_train.items() if name in ("age", "education")}
    {'age': [39, 50], 'education': ['Bachelors', 'Bachelors']}
    """
    if name not in EMBEDDED:
        raise ValueError(
            f"no embedded data set is called {name!r}. {suggestion(name, EMBEDDED)} "
            "Read other data from a file, with data.read(path)."
        )
    return EMBEDDED[name]()


def split_texts(name: str, texts: Sequence[str], y: NDArray[Any], source: str) -> Dataset:
    """A text set with a test part of 20 % of each class.

    Parameters
    ----------
    name : str
        Name of the data set.
    texts : sequence of str
        All texts.
    y : array, shape (n,)
        Their labels, 1 or 0.
    source : str
        The credit line.

    Returns
    -------
    Dataset
        Both parts in the order of `texts`.
    """
    train, test = stratified_split(np.where(y > 0, 1, -1), 0.2, SPLIT_SEED)
    return Dataset(
        name, [texts[row] for row in train], y[train], [texts[row] for row in test], y[test], None, None, source
    )


def tsv_columns(text: str) -> dict[str, list[str]]:
    """The columns of tab-separated text by their names.

    Parameters
    ----------
    text : str
        A header and rows without quoting, split on line feeds only.

    Returns
    -------
    dict of str to list of str
        The cells of each column.
    """
    header, *rows = [line.split("\t") for line in text.split("\n") if line]
    return dict(zip(header, map(list, zip(*rows))))


def _letter() -> Dataset:
    arrays = _embedded_arrays("letter.npz")
    X, y = arrays["X"].astype(np.float32), (arrays["letter"] == b"N").astype(np.uint8)
    return Dataset(
        "letter",
        X[:16_000],
        y[:16_000],
        X[16_000:],
        y[16_000:],
        None,
        None,
        "Slate, D. (1991). Letter Recognition [Dataset]. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C5ZP40. CC BY 4.0; stored as arrays.",
    )


def _adult() -> Dataset:
    arrays = _embedded_arrays("adult.npz")
    labels = arrays.pop("income")
    levels = {name: arrays.pop(f"{name}_levels") for name in list(arrays) if f"{name}_levels" in arrays}
    columns = {name: _cells(cells, levels.get(name)) for name, cells in arrays.items()}
    return Dataset(
        "adult",
        {name: cells[:ADULT_TRAIN] for name, cells in columns.items()},
        labels[:ADULT_TRAIN],
        {name: cells[ADULT_TRAIN:] for name, cells in columns.items()},
        labels[ADULT_TRAIN:],
        None,
        tuple(columns),
        f"{ADULT_SOURCE}; stored as arrays.",
    )


def _cells(stored: NDArray[Any], levels: NDArray[Any] | None) -> NDArray[Any]:
    """A stored column as int64, or its codes as the texts that they stand for: 0 for None, k for level k - 1."""
    if levels is None:
        return stored.astype(np.int64)
    texts: NDArray[Any] = np.array([None, *(level.decode() for level in levels.tolist())], dtype=object)
    return np.take(texts, stored)


def _a9a() -> Dataset:
    arrays = _embedded_arrays("a9a.npz")
    names = tuple(name.decode() for name in arrays["feature_names"].tolist())
    X_train, X_test = (
        np.unpackbits(arrays[part], axis=1, count=len(names)).astype(np.float32) for part in ("X_train", "X_test")
    )
    return Dataset(
        "a9a",
        X_train,
        arrays["y_train"],
        X_test,
        arrays["y_test"],
        None,
        names,
        f"{ADULT_SOURCE}; re-encoded as binary features (Platt, 1999) and bit-packed.",
    )


def _vader_tweets() -> Dataset:
    columns = tsv_columns(gzip.decompress(_embedded("vader_tweets.tsv.gz")).decode("utf-8"))
    valence = np.array([float(cell) for cell in columns["valence"]])
    kept = np.flatnonzero(valence != 0.0)
    return split_texts(
        "vader_tweets",
        [columns["text"][row] for row in kept],
        (valence[kept] > 0).astype(np.uint8),
        "Hutto, C.J. and Gilbert, E.E. (2014). VADER: A Parsimonious Rule-based Model for "
        "Sentiment Analysis of Social Media Text. ICWSM-14. MIT licence.",
    )


EMBEDDED: dict[str, Callable[[], Dataset]] = {
    "letter": _letter,
    "adult": _adult,
    "a9a": _a9a,
    "vader_tweets": _vader_tweets,
}
"""The loaders by name."""


def _embedded(file: str) -> bytes:
    return (importlib.resources.files(__package__) / "embedded" / file).read_bytes()


def _embedded_arrays(file: str) -> dict[str, NDArray[Any]]:
    with np.load(io.BytesIO(_embedded(file)), allow_pickle=False) as archive:
        return dict(archive)
