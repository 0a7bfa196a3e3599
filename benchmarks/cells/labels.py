"""Several labels at once: plain calls, cross-entropy with thresholds, and as many calls of `fit` as there are labels.

A row has several of the labels, or none. All methods train the network that `fit` chooses, and hold rows out as `fit`
does. Each draws another part of the rows to train on for each seed, and is judged by the measure it was trained for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import data
from aesara_nondecomp.metrics import confusion_matrix, score
from benchmarks.data.covtype import FILE
from benchmarks.data.prepared import PreparedArrays

MEASURES = ("f1", "min", "micro_f1")
DIGIT_LABELS, DIGITS_OF_A_LABEL = 8, 3
COVTYPE_TEST = 50_000
Results = Iterator[tuple[str, dict[str, list[float]]]]
Method = Callable[["Problem", str, int], Any]


class Problem(NamedTuple):
    """Rows of one seed; labels of shape (n, L)."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any


def _divided(X: Any, y: Any, n_train: int, seed: int, n_test: int | None = None) -> Problem:
    """Some rows to train on, others to test; X is an array or a table of columns."""
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = np.sort(order[:n_train]), np.sort(order[n_train:][:n_test])
    parts = [{k: v[rows] for k, v in X.items()} if isinstance(X, dict) else X[rows] for rows in (train, test)]
    return Problem(parts[0], y[train], parts[1], y[test])


def digits(data_dir: str | None, seed: int) -> Problem:
    """Whether a digit is one of three, for eight such sets that the seed draws; 1,000 rows to train on."""
    from sklearn.datasets import load_digits

    X, digit = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    sets = [rng.choice(10, DIGITS_OF_A_LABEL, replace=False) for _ in range(DIGIT_LABELS)]
    y = np.stack([np.isin(digit, own) for own in sets], axis=1).astype(np.uint8)
    return _divided(X, y, 1_000, seed)


def forests(data_dir: str | None, seed: int) -> Problem:
    """The seven cover types and four wilderness areas, by the ten columns of numbers; 10,000 rows to train on."""
    arrays = PreparedArrays("covtype", Path(data_dir or ".") / FILE)
    kind = np.asarray(arrays["cover_type"]).astype(int)
    rows = np.sort(np.random.default_rng(seed).permutation(len(kind))[: 10_000 + COVTYPE_TEST])
    area = np.asarray(arrays["wilderness_area"])[rows]
    y = [kind[rows, None] == np.unique(kind), area[:, None] == np.unique(area)]
    return _divided(arrays["numeric"][rows].astype(np.float32), np.hstack(y).astype(np.uint8), 10_000, seed)


def adults(data_dir: str | None, seed: int) -> Problem:
    """Income, sex, marriage, private work, long hours and a degree, by the other columns; 6,000 rows to train on."""
    adult = data.load("adult")
    table = {name: np.concatenate([adult.X_train[name], adult.X_test[name]]) for name in adult.X_train}
    facts = [
        np.concatenate([adult.y_train, adult.y_test]) == 1,
        table.pop("sex") == "Female",
        table.pop("marital-status") == "Married-civ-spouse",
        table.pop("workclass") == "Private",
        table.pop("hours-per-week") > 40,
        table.pop("education-num") >= 13,
    ]
    for told in ("education", "relationship", "native-country"):  # tell a fact, or have categories of a single row
        del table[told]
    return _divided(table, np.stack(facts, axis=1).astype(np.uint8), 6_000, seed)


def made(data_dir: str | None, seed: int) -> Problem:
    """scikit-learn's `make_multilabel_classification`, five labels; 4,000 rows to train on."""
    from sklearn.datasets import make_multilabel_classification

    X, y = make_multilabel_classification(20_000, 20, n_classes=5, n_labels=2, random_state=seed)
    return _divided(X, y, 4_000, seed)


# -- methods: from a problem, a measure and a seed to predictions ---------------------------------------------------


def _together(problem: Problem, measure: str, seed: int, algorithm: str = "auto") -> Any:
    return an.fit(problem.X, problem.y, measure, algorithm=algorithm, seed=seed).predict(problem.X_test)


def _each(problem: Problem, measure: str, seed: int) -> Any:
    columns = [an.fit(problem.X, column, measure, seed=seed).predict(problem.X_test) for column in problem.y.T]
    return np.stack(columns, axis=1)


METHODS: dict[str, tuple[Method, Sequence[str]]] = {
    "plain call": (_together, MEASURES),
    "cross_entropy, thresholds": (partial(_together, algorithm="plug_in"), MEASURES),
    "one call for each label": (_each, ("f1", "min")),
}


def _value(measure: str, y: Any, predicted: Any) -> float:
    """Of predictions: the mean over the labels, or of all labels' counts together."""
    of_two, is_mean = measure.replace("micro_", ""), not measure.startswith("micro_")
    true, said = (2 * np.asarray(each, dtype=np.int8) - 1 for each in (y, predicted))
    pairs = zip(true.T, said.T) if is_mean else [(true.ravel(), said.ravel())]
    return float(np.mean([score(of_two, confusion_matrix(*pair)) for pair in pairs]))


def _run(draw: Callable[[str | None, int], Problem], data_dir: str | None, seeds: Sequence[int]) -> Results:
    problems = {seed: draw(data_dir, seed) for seed in seeds}
    for name, (method, measures) in METHODS.items():
        values = {
            measure: [_value(measure, of.y_test, method(of, measure, seed)) for seed, of in problems.items()]
            for measure in measures
        }
        yield name, {("macro_f1" if measure == "f1" else measure): found for measure, found in values.items()}


PARTS: dict[str, Callable[[str | None, Sequence[int]], Results]] = {
    "labels_digits": partial(_run, digits),
    "labels_covtype": partial(_run, forests),
    "labels_adult": partial(_run, adults),
    "labels_made": partial(_run, made),
}
