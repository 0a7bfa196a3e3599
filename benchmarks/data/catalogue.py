"""Every data set of the benchmarks by its name."""

from __future__ import annotations

from pathlib import Path

from aesara_nondecomp._checks import choose
from aesara_nondecomp.data import Dataset
from aesara_nondecomp.data.datasets import EMBEDDED
from aesara_nondecomp.data.files import PathLike
from benchmarks.data import covtype, kdd04, kddcup08, libsvm, mammography, ppi, sentences, tweets
from benchmarks.data.source import Source

SOURCES: dict[str, Source] = {
    **libsvm.SOURCES,
    **covtype.SOURCES,
    **kdd04.SOURCES,
    **mammography.SOURCES,
    **sentences.SOURCES,
    **tweets.SOURCES,
    **kddcup08.SOURCES,
    **ppi.SOURCES,
}
ALIASES = {"codrna": "cod-rna"}


def load(name: str, data_dir: PathLike | None = None) -> Dataset:
    """Load a data set, embedded or from a folder.

    Parameters
    ----------
    name : str
        Embedded: "letter", "adult", "a9a", "vader_tweets" (see `aesara_nondecomp.data.load`).
        From `data_dir`: "ijcnn1", "cod-rna" or "codrna", "covtype", "kdd04", "mammography", "sentiment_sentences",
        "twitter", "twitter2017", "kddcup08", "ppi"; README.md describes their files and their test parts.
    data_dir : path, optional
        The folder with one folder for each data set; needed for a set that is not embedded.

    Returns
    -------
    Dataset
        Its training and test part.

    Raises
    ------
    ValueError
        If the name is unknown, `data_dir` is needed and missing, or a file is not in its format.
    FileNotFoundError
        If `data_dir` lacks a file.
    """
    canonical = ALIASES.get(name, name)
    choose("data set", canonical, {**EMBEDDED, **SOURCES})
    if canonical in EMBEDDED:
        return EMBEDDED[canonical]()
    if data_dir is None:
        raise ValueError(
            f"{name!r} is not embedded and needs the folder that holds it. Pass data_dir=; "
            f"embedded are: {', '.join(EMBEDDED)}."
        )
    return SOURCES[canonical].load(Path(data_dir))


def is_available(name: str, data_dir: PathLike | None) -> bool:
    """Whether the folder holds all files of a data set that is not embedded."""
    return data_dir is not None and all((Path(data_dir) / file).is_file() for file in SOURCES[name].files)
