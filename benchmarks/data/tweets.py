"""Tweets of SemEval 2016 and 2017, task 4, subtasks B and D: is a tweet positive towards its topic?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from aesara_nondecomp.data import Dataset
from benchmarks.data.prepared import labelled_texts, write_texts
from benchmarks.data.source import Source

FOLDER = "twitter_semeval2016_bd"
TRAIN = tuple(f"{FOLDER}/semeval2016{part}_bd.tsv.xz" for part in ("train", "dev", "devtest"))
TEST_2016, TEST_2017 = f"{FOLDER}/semeval2016test_bd.tsv.xz", f"{FOLDER}/semeval2017test_bd.tsv.xz"
LABELS = {"positive": "1", "negative": "0"}
NO_LONGER_THERE = "Not Available"
"""What SemEval's download script writes for a tweet that has been deleted."""
MASKS = (
    (re.compile(r"https?://\S+"), "http"),
    (re.compile(r"[\w+-]+(?:\.[\w+-]+)*@[\w-]+(?:\.[\w-]+)+"), "email"),
    (re.compile(r"@\w+"), "@user"),
)


def load(name: str, test_file: str, data_dir: Path) -> Dataset:
    """The training, development and development-test parts of 2016 against a test part."""
    parts = [labelled_texts(name, data_dir / file) for file in TRAIN]
    test_texts, y_test = labelled_texts(name, data_dir / test_file)
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


def convert(files: Sequence[str], originals: Sequence[Path], data_dir: Path) -> list[Path]:
    """Drop the ids, mask names and links, and code the labels; one prepared file for each published one."""
    header = ("label", "topic", "text")
    return [
        write_texts(data_dir / file, header, _rows(path, quoted=file == TEST_2016))
        for file, path in zip(files, originals)
    ]


def _rows(path: Path, quoted: bool) -> Iterator[tuple[str, str, str]]:
    """Label, topic and masked text; `quoted` undoes the quotes of .csv, which the test part of 2016 was given."""
    handles: dict[str, str] = {}
    # Only "\n" ends a line: a tweet may hold other characters that str.splitlines takes for an end.
    lines = path.read_bytes().decode("utf-8").split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        cells = line.rstrip("\r").split("\t", 3)
        if len(cells) < 4 or cells[2] not in LABELS:
            raise ValueError(
                f"{path}, line {number}: expected id, topic, positive or negative, and text, got {line!r}."
            )
        _, topic, label, text = cells
        text = _plain(text)
        if text == NO_LONGER_THERE:
            continue
        if topic.startswith("@"):
            topic = handles.setdefault(topic, f"handle-{len(handles) + 1}")
        yield LABELS[label], topic, _masked(_unquoted(text) if quoted else text)


def _plain(text: str) -> str:
    """Control characters become spaces."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", text).strip()


def _unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"').strip() if len(text) > 1 and text[0] == text[-1] == '"' else text


def _masked(text: str) -> str:
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    return text


SOURCES = {
    "twitter": Source(
        partial(load, "twitter", TEST_2016),
        (*TRAIN, TEST_2016),
        ("twitter-2016train-BD.tsv", "twitter-2016dev-BD.tsv", "twitter-2016devtest-BD.tsv", "twitter-2016test-BD.tsv"),
        partial(convert, (*TRAIN, TEST_2016)),
    ),
    "twitter2017": Source(
        partial(load, "twitter2017", TEST_2017),
        (*TRAIN, TEST_2017),
        ("SemEval2017-task4-test.subtask-BD.english.txt",),
        partial(convert, (TEST_2017,)),
    ),
}
