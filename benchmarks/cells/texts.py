"""Tweets of SemEval, task 4: negative, neutral or positive (subtask A), and five points towards a topic (subtask C).

Subtask A is judged by the mean recall, as in 2017. Its training rows are those of 2013 to 2016 without the test part of
2016, on which network, batch size and steps were chosen, and its test rows those of 2017. Subtask C has rows of 2016 to
train on and of 2017 to test, and is judged by QWK. All networks are of attention, trained from raw text alone.
"""

from __future__ import annotations

import copy
import gzip
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.networks import attention
from benchmarks.data.prepared import existing

FOLDER = "twitter_semeval_ac"
FILES = {
    "A": (
        "2013train 2013dev 2013test 2014sarcasm 2014test 2015train 2015test 2016train 2016dev 2016devtest",
        "2017test",
    ),
    "CE": ("2016train 2016dev 2016devtest 2016test", "2017test"),
}
HELD, STEPS, BATCH, DROPOUT = 0.2, 600, 128, 0.3
Texts = tuple[list[str], Any]
Results = Iterator[tuple[str, dict[str, list[float]]]]


def _files(data_dir: str | None, subtask: str, names: str) -> list[Path]:
    """The files of some parts, or a FileNotFoundError."""
    folder = Path(data_dir or ".") / FOLDER
    return [existing(f"semeval_{subtask}", folder / f"twitter-{name}-{subtask}.tsv.gz") for name in names.split()]


@cache
def _read(data_dir: str | None, subtask: str, names: str) -> Texts:
    """Texts and labels of some files."""
    texts, labels = [], []
    for path in _files(data_dir, subtask, names):
        # Only "\n" ends a line: a tweet may hold other characters that str.splitlines takes for an end.
        for line in gzip.decompress(path.read_bytes()).decode("utf-8").split("\n")[1:]:
            if line.strip():
                label, *_, text = line.rstrip("\r").split("\t", 1 if subtask == "A" else 2)
                texts.append(_plain(text))
                labels.append(label if subtask == "A" else int(label))
    return texts, np.array(labels)


def _plain(text: str) -> str:
    r"""Undo the quotes of .csv and codes such as \u2019, which some files hold."""
    text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text.strip())
    return text[1:-1].replace('""', '"').strip() if len(text) > 1 and text[0] == text[-1] == '"' else text


class _Task:
    """The models of one seed, each trained once, and their values on the test rows."""

    def __init__(self, data_dir: str | None, subtask: str, seed: int):
        train, test = FILES[subtask]
        self.seed, self.train, self.test = seed, _read(data_dir, subtask, train), _read(data_dir, subtask, test)
        self._trained: dict[tuple[str, str], Any] = {}

    def values(self, measure: str, algorithm: str, plain: bool, measures: Sequence[str]) -> dict[str, float]:
        """Of the model that `fit` makes; or `plain`, of its largest score, without a rule."""
        if (measure, algorithm) not in self._trained:
            self._trained[measure, algorithm] = self._fitted(measure, algorithm)
        model = copy.copy(self._trained[measure, algorithm])
        model.rule = None if plain else model.rule
        table = model.confusion_matrix(*self.test)
        return {name: float(multiclass.get(name).from_confusion(table)) for name in measures}

    def _fitted(self, measure: str, algorithm: str) -> Any:
        tune: Any = False if algorithm == "duple" else "auto"
        return an.fit(
            *self.train,
            measure,
            algorithm=algorithm,
            network=lambda size: attention(size, n_scores=len(set(self.train[1])), dropout=DROPOUT),
            steps=STEPS,
            batch_size=BATCH,
            validation=an.EarlyStopping(HELD, tune_threshold=tune),
            seed=self.seed,
        )


def _run(
    subtask: str,
    methods: dict[str, tuple[str, str, bool]],
    measures: Sequence[str],
    data_dir: str | None,
    seeds: Sequence[int],
) -> Results:
    tasks = [_Task(data_dir, subtask, seed) for seed in seeds]
    for name, method in methods.items():
        values = [task.values(*method, measures) for task in tasks]
        yield name, {measure: [each[measure] for each in values] for measure in measures}


def semeval_a(data_dir: str | None, seeds: Sequence[int]) -> Results:
    """The mean recall of three classes, which is the official measure, and the smallest one."""
    methods = {
        "plain call for min_recall": ("min_recall", "auto", False),
        "plain call for mean_recall": ("mean_recall", "auto", False),
        "duple": ("min_recall", "duple", False),
        "cross_entropy": ("min_recall", "auto", True),
        "class_weighted": ("mean_recall", "class_weighted", True),
        "logit_adjusted": ("mean_recall", "auto", True),
    }
    yield from _run("A", methods, ("mean_recall", "min_recall", "accuracy"), data_dir, seeds)


def semeval_c(data_dir: str | None, seeds: Sequence[int]) -> Results:
    """QWK of five ordered classes: the plug-in against the largest probability of the same networks."""
    methods = {"plain call": ("qwk", "auto", False), "cross_entropy": ("qwk", "auto", True)}
    yield from _run("CE", methods, ("qwk", "macro_f1", "accuracy"), data_dir, seeds)


def _check(subtask: str, data_dir: str | None) -> None:
    _files(data_dir, subtask, " ".join(FILES[subtask]))


PARTS: dict[str, Callable[[str | None, Sequence[int]], Results]] = {"semeval_a": semeval_a, "semeval_c": semeval_c}
CHECKS: dict[str, Callable[[str | None], None]] = {
    "semeval_a": partial(_check, "A"),
    "semeval_c": partial(_check, "CE"),
}
