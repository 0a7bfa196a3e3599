"""Sentiment Labelled Sentences, published by UCI as three text files; a stand-in for the tweets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from aesara_nondecomp.data import Dataset
from aesara_nondecomp.data.datasets import split_texts
from benchmarks.data.prepared import labelled_texts, write_texts
from benchmarks.data.source import Source

FILE = "standin_sentiment_sentences/sentiment_sentences.tsv.xz"
ORIGINALS = {"amazon": "amazon_cells_labelled.txt", "imdb": "imdb_labelled.txt", "yelp": "yelp_labelled.txt"}


def load(data_dir: Path) -> Dataset:
    """Sentences of reviews, half of them positive."""
    texts, y = labelled_texts("sentiment_sentences", data_dir / FILE)
    return split_texts(
        "sentiment_sentences",
        texts,
        y,
        "Kotzias, D. et al. (2015). From Group to Individual Labels using Deep Features. "
        "UCI Sentiment Labelled Sentences, CC BY 4.0.",
    )


def convert(originals: Sequence[Path], data_dir: Path) -> list[Path]:
    """Put the three files into one table."""
    rows = [row for source, path in zip(ORIGINALS, originals) for row in _rows(source, path)]
    return [write_texts(data_dir / FILE, ("label", "source", "text"), rows)]


def _rows(source: str, path: Path) -> Iterator[tuple[str, str, str]]:
    # Only "\n" ends a line: a sentence may hold other characters that str.splitlines takes for an end.
    lines = path.read_bytes().decode("utf-8").split("\n")
    for number, line in enumerate(lines, start=1):
        text, tab, label = line.rstrip("\r").rpartition("\t")
        if tab and label.strip() in ("0", "1"):
            yield label.strip(), source, " ".join(text.split("\t")).strip()
        elif line.strip():
            raise ValueError(f"{path}, line {number}: expected a sentence, a tab, and 0 or 1, got {line!r}.")


SOURCES = {"sentiment_sentences": Source(load, (FILE,), tuple(ORIGINALS.values()), convert)}
