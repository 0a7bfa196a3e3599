"""The data sets of the experiments: three embedded ones and readers for the others.

Labels are 0/1 and features are in their natural units. Every split drawn here uses seed 0, so
that a data set is the same rows on every machine.
"""

from __future__ import annotations

import gzip
import importlib.resources
import io
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from aesara_nondecomp._checks import choose
from aesara_nondecomp.data.files import PathLike, open_archive, stored_array
from aesara_nondecomp.data.kddcup08 import read_kddcup08
from aesara_nondecomp.data.ppi import column_means, fill_missing, read_ppi
from aesara_nondecomp.data.splits import stratified_split

SPLIT_SEED = 0
COVTYPE_TRAIN, COVTYPE_TEST = 120_000, 60_000
TWITTER_TRAIN_PARTS = ("train", "dev", "devtest")


class Dataset(NamedTuple):
    """A training and a test part.

    Attributes
    ----------
    name : str
    X_train, X_test : float32 arrays, shape (n, d), or lists of str for the text sets
    y_train, y_test : uint8 arrays, shape (n,), in {0, 1}
        1 is the positive class.
    groups : int array, shape (n_train,), or None
        Training rows of one value belong on one side of a validation split.
    feature_names : tuple of str, or None
    source : str
        The credit line.
    """

    name: str
    X_train: Any
    y_train: np.ndarray
    X_test: Any
    y_test: np.ndarray
    groups: np.ndarray | None
    feature_names: tuple[str, ...] | None
    source: str


def load(name: str, data_dir: PathLike | None = None) -> Dataset:
    """Load a data set by its name.

    Parameters
    ----------
    name : str
        Embedded: "letter" (positive: N; UCI's last 4,000 rows for testing), "adult" or "a9a" (123
        binary features; UCI's test file), "vader_tweets" (text; positive: valence above 0, rows of
        valence 0 dropped; 20 % for testing, stratified).
        From `data_dir`: "ijcnn1" (LIBSVM's test file), "cod-rna" (30 % of the distinct rows, with all
        their copies; groups are copies), "covtype" (positive: class 5; 120,000 + 60,000 rows drawn at
        random, stratified), "kdd04" (30 % of the blocks; groups are blocks), "mammography" (30 %,
        stratified), "sentiment_sentences" (text; 20 %, stratified), "twitter" (text; SemEval-2016
        train, dev and devtest parts against the test part), "twitter2017" (against that of
        SemEval-2017), "kddcup08" and "ppi" (in their original
        formats, see `read_kddcup08` and `read_ppi`, in folders of these names; 30 % of the patients,
        and 30 % stratified).
    data_dir : path, optional
        The folder that holds one folder per data set.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If the name is unknown, the data set is not embedded and `data_dir` is missing, or a file of
        "kddcup08" or "ppi" is not in its format.
    FileNotFoundError
        If `data_dir` lacks the file.
    """
    embedded: dict[str, Callable[[], Dataset]] = {"letter": _letter, "adult": _adult, "vader_tweets": _vader_tweets}
    external: dict[str, Callable[[Path], Dataset]] = {
        "ijcnn1": _ijcnn1,
        "cod-rna": _cod_rna,
        "covtype": _covtype,
        "kdd04": _kdd04,
        "mammography": _mammography,
        "sentiment_sentences": _sentiment_sentences,
        "twitter": _twitter,
        "twitter2017": _twitter2017,
        "kddcup08": _kddcup08,
        "ppi": _ppi,
    }
    canonical = {"a9a": "adult", "codrna": "cod-rna"}.get(name, name)
    choose("data set", canonical, {**embedded, **external})
    if canonical in embedded:
        return embedded[canonical]()
    if data_dir is None:
        raise ValueError(
            f"{name!r} is not embedded and needs the folder that holds it. Pass data_dir=; "
            f"embedded are: {', '.join(embedded)}."
        )
    return external[canonical](Path(data_dir))


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
    names = tuple(name.decode() for name in arrays["feature_names"].tolist())
    X_train, X_test = (
        np.unpackbits(arrays[part], axis=1, count=len(names)).astype(np.float32) for part in ("X_train", "X_test")
    )
    return Dataset(
        "adult",
        X_train,
        arrays["y_train"],
        X_test,
        arrays["y_test"],
        None,
        names,
        "Becker, B. and Kohavi, R. (1996). Adult [Dataset]. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C5XW20. CC BY 4.0; re-encoded as binary features (Platt, 1999) "
        "and bit-packed.",
    )


def _vader_tweets() -> Dataset:
    packed = _embedded("vader_tweets.tsv.gz")
    columns = _tsv_columns(gzip.decompress(packed).decode("utf-8"))
    valence = np.array([float(cell) for cell in columns["valence"]])
    kept = np.flatnonzero(valence != 0.0)
    texts = [columns["text"][row] for row in kept]
    return _text_split(
        "vader_tweets",
        texts,
        (valence[kept] > 0).astype(np.uint8),
        "Hutto, C.J. and Gilbert, E.E. (2014). VADER: A Parsimonious Rule-based Model for "
        "Sentiment Analysis of Social Media Text. ICWSM-14. MIT licence.",
    )


def _ijcnn1(data_dir: Path) -> Dataset:
    arrays = _FileArrays("ijcnn1", data_dir / "ijcnn1" / "ijcnn1.npz")
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


def _cod_rna(data_dir: Path) -> Dataset:
    arrays = _FileArrays("cod-rna", data_dir / "cod-rna" / "cod-rna_train.npz")
    _, copies_of = np.unique(arrays["X"], axis=0, return_inverse=True)
    return _group_split(
        "cod-rna",
        arrays["X"],
        arrays["y"],
        copies_of.reshape(-1),
        "Uzilov, A.V. et al. (2006). Detection of non-coding RNAs on the basis of predicted "
        "secondary structure formation free energy change; LIBSVM Data, training file.",
    )


def _covtype(data_dir: Path) -> Dataset:
    arrays = _FileArrays("covtype", data_dir / "covtype" / "covtype.npz")
    y = (arrays["cover_type"] == 5).astype(np.uint8)
    train, test = _stratified_draw(y, COVTYPE_TRAIN, COVTYPE_TEST)
    names = (
        *(name.decode() for name in arrays["numeric_names"].tolist()),
        *(f"wilderness_area={code}" for code in range(1, 5)),
        *(f"soil_type={code}" for code in range(1, 41)),
    )
    return Dataset(
        "covtype",
        _covtype_features(arrays, train),
        y[train],
        _covtype_features(arrays, test),
        y[test],
        None,
        names,
        "Blackard, J. (1998). Covertype [Dataset]. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C50K5N. Copyright Jock A. Blackard and Colorado State "
        "University; CC BY 4.0; a random sample of rows.",
    )


def _kdd04(data_dir: Path) -> Dataset:
    arrays = _FileArrays("kdd04", data_dir / "standin_kdd04_protein" / "kdd04_protein.npz")
    return _group_split("kdd04", arrays["X"], arrays["y"], arrays["block_id"], "KDD Cup 2004, protein homology task.")


def _kddcup08(data_dir: Path) -> Dataset:
    read = read_kddcup08(data_dir / "kddcup08")
    return _group_split("kddcup08", *read, "Siemens Medical Solutions (2008). KDD Cup 2008, breast cancer.")


def _ppi(data_dir: Path) -> Dataset:
    X, y = read_ppi(data_dir / "ppi")
    train, test = stratified_split(_signs(y), 0.3, SPLIT_SEED)
    means = column_means(X[train])
    return Dataset(
        "ppi",
        fill_missing(X[train], means),
        y[train],
        fill_missing(X[test], means),
        y[test],
        None,
        None,
        "Qi, Y., Bar-Joseph, Z. and Klein-Seetharaman, J. (2006). Evaluation of different biological "
        "data and computational classification methods for use in protein interaction prediction.",
    )


def _mammography(data_dir: Path) -> Dataset:
    arrays = _FileArrays("mammography", data_dir / "standin_mammography" / "mammography.npz")
    X, y = arrays["X"], arrays["y"]
    train, test = stratified_split(_signs(y), 0.3, SPLIT_SEED)
    return Dataset(
        "mammography",
        X[train],
        y[train],
        X[test],
        y[test],
        None,
        None,
        "Woods, K. et al. (1993). Comparative evaluation of pattern recognition techniques for "
        "detection of microcalcifications in mammography.",
    )


def _sentiment_sentences(data_dir: Path) -> Dataset:
    texts, y = _labelled_texts(
        "sentiment_sentences", data_dir / "standin_sentiment_sentences", "sentiment_sentences.tsv.xz"
    )
    return _text_split(
        "sentiment_sentences",
        texts,
        y,
        "Kotzias, D. et al. (2015). From Group to Individual Labels using Deep Features. "
        "UCI Sentiment Labelled Sentences, CC BY 4.0.",
    )


def _twitter(data_dir: Path) -> Dataset:
    return _tweets("twitter", "semeval2016test_bd.tsv.xz", data_dir)


def _twitter2017(data_dir: Path) -> Dataset:
    return _tweets("twitter2017", "semeval2017test_bd.tsv.xz", data_dir)


def _tweets(name: str, test_file: str, data_dir: Path) -> Dataset:
    folder = data_dir / "twitter_semeval2016_bd"
    parts = [_labelled_texts(name, folder, f"semeval2016{part}_bd.tsv.xz") for part in TWITTER_TRAIN_PARTS]
    test_texts, y_test = _labelled_texts(name, folder, test_file)
    return Dataset(
        name,
        [text for texts, _ in parts for text in texts],
        np.concatenate([y for _, y in parts]),
        test_texts,
        y_test,
        None,
        None,
        "Nakov, P. et al. (2016). SemEval-2016 Task 4: Sentiment Analysis in Twitter, "
        "subtasks B and D; of 2017: Rosenthal, S. et al. (2017). SemEval-2017 Task 4.",
    )


def _text_split(name: str, texts: list[str], y: np.ndarray, source: str) -> Dataset:
    train, test = stratified_split(_signs(y), 0.2, SPLIT_SEED)
    return Dataset(
        name, [texts[row] for row in train], y[train], [texts[row] for row in test], y[test], None, None, source
    )


def _group_split(name: str, X: np.ndarray, y: np.ndarray, groups: np.ndarray, source: str) -> Dataset:
    distinct = np.unique(groups)
    count = round(0.3 * len(distinct))
    chosen = np.random.default_rng(SPLIT_SEED).permutation(distinct)[:count]
    test = np.isin(groups, chosen)
    return Dataset(name, X[~test], y[~test], X[test], y[test], groups[~test], None, source)


def _stratified_draw(y: np.ndarray, n_train: int, n_test: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(SPLIT_SEED)
    prior = y.mean()
    train, test = [], []
    for label, share in ((0, 1.0 - prior), (1, prior)):
        rows = rng.permutation(np.flatnonzero(y == label))
        first, second = round(share * n_train), round(share * n_test)
        train.append(rows[:first])
        test.append(rows[first : first + second])
    return np.sort(np.concatenate(train)), np.sort(np.concatenate(test))


def _covtype_features(arrays: dict[str, np.ndarray], rows: np.ndarray) -> np.ndarray:
    return np.hstack(
        [
            arrays["numeric"][rows].astype(np.float32),
            _one_hot(arrays["wilderness_area"][rows], 4),
            _one_hot(arrays["soil_type"][rows], 40),
        ]
    )


def _one_hot(codes: np.ndarray, levels: int) -> np.ndarray:
    """Codes 1..levels to columns."""
    return np.eye(levels, dtype=np.float32)[codes.astype(np.intp) - 1]


def _signs(y: np.ndarray) -> np.ndarray:
    return np.where(y > 0, 1, -1)


def _embedded(file: str) -> bytes:
    return (importlib.resources.files(__package__) / "embedded" / file).read_bytes()


def _embedded_arrays(file: str) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(_embedded(file)), allow_pickle=False) as archive:
        return dict(archive)


class _FileArrays(dict[str, np.ndarray]):
    """Arrays of a file that may be another than it should."""

    def __init__(self, name: str, path: Path):
        with open_archive(_present(name, path)) as archive:
            super().__init__({key: stored_array(archive, key, path) for key in archive.files})
        self._about = f"data set {name!r} needs the array {{!r}} in {path}, which holds {', '.join(self) or 'none'}"

    def __missing__(self, key: str) -> np.ndarray:
        raise ValueError(f"{self._about.format(key)}. Put the original file there.")


def _present(name: str, path: Path) -> Path:
    if not path.is_file():
        raise FileNotFoundError(
            f"data set {name!r} needs the file {path}, which does not exist. Check "
            f"data_dir=: it must be the folder that holds {path.parent.name!r}."
        )
    return path


def _labelled_texts(name: str, folder: Path, file: str) -> tuple[list[str], np.ndarray]:
    packed = _present(name, folder / file).read_bytes()
    columns = _tsv_columns(lzma.decompress(packed).decode("utf-8"))
    return columns["text"], np.array(columns["label"], dtype=np.uint8)


def _tsv_columns(text: str) -> dict[str, list[str]]:
    """Tab-separated text with a header and without quoting, split on line feeds only."""
    header, *rows = [line.split("\t") for line in text.split("\n") if line]
    return dict(zip(header, map(list, zip(*rows))))
