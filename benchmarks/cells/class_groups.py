"""CoverType with its seven classes in two groups, the slopes that face north and those that face south.

Aspect and hillshade are not among the inputs, so that a model does not see the group. Rows as in `classes`. The worst
of the 14 cells, and the gap between the groups in the recall of one class, with the MLP 64-64 for all methods.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import aesara_nondecomp as an
from benchmarks.cells.classes import N_TEST, N_TRAIN
from benchmarks.data.covtype import FILE, NUMERIC, features
from benchmarks.data.prepared import PreparedArrays

HELD, BOUND, LABEL = 0.3, 0.02, 7
HIDDEN_COLUMNS = [k for k, name in enumerate(NUMERIC) if name == "Aspect" or name.startswith("Hillshade")]
Results = Iterator[tuple[str, dict[str, list[float]]]]


class Rows(NamedTuple):
    """Inputs without what tells the group, classes and groups."""

    X: Any
    y: Any
    groups: Any


def _problem(data_dir: str | None, seed: int) -> tuple[Rows, Rows]:
    """Rows to train on and to test."""
    arrays = PreparedArrays("covtype", Path(data_dir or ".") / FILE)
    y = np.asarray(arrays["cover_type"]).astype(int)
    aspect = np.asarray(arrays["numeric"][:, NUMERIC.index("Aspect")])
    groups = np.where((aspect < 90) | (aspect > 270), "north", "south")
    order = np.random.default_rng(seed).permutation(len(y))
    parts = np.sort(order[:N_TRAIN]), np.sort(order[N_TRAIN : N_TRAIN + N_TEST])
    train, test = (
        Rows(np.delete(features(arrays, rows), HIDDEN_COLUMNS, axis=1), y[rows], groups[rows]) for rows in parts
    )
    return train, test


def _values(predicted: Any, test: Rows) -> dict[str, float]:
    """Worst cell, gap and accuracy, from the rows."""
    of_group = {
        group: [np.mean(predicted[(test.y == k) & (test.groups == group)] == k) for k in np.unique(test.y)]
        for group in ("north", "south")
    }
    gap = abs(of_group["north"][LABEL - 1] - of_group["south"][LABEL - 1])
    accuracy = float(np.mean(predicted == test.y))
    return {"worst_cell": float(min(map(min, of_group.values()))), "gap": float(gap), "accuracy": accuracy}


def _fit(measure: str, groups: bool = True, **options: Any) -> Callable[..., Any]:
    def fitted(train: Rows, seed: int) -> Any:
        given = {"groups": train.groups} if groups else {}
        return an.fit(train.X, train.y, measure, network="mlp", validation=HELD, seed=seed, **given, **options)

    return fitted


def _run(methods: dict[str, Any], measures: Sequence[str], data_dir: str | None, seeds: Sequence[int]) -> Results:
    for name, method in methods.items():
        values = []
        for seed in seeds:
            train, test = _problem(data_dir, seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of small cells, and of what is not reached
                values.append(_values(method(train, seed).predict(test.X), test))
        yield name, {measure: [each[measure] for each in values] for measure in measures}


def worst_cell(data_dir: str | None, seeds: Sequence[int]) -> Results:
    """The smallest recall of a class in a group."""
    methods = {
        "direct": _fit("worst_cell"),
        "direct, cell_balanced": _fit("worst_cell", sampler="cell_balanced"),
        "group_dro": _fit("worst_cell", algorithm="group_dro"),
        "cell_weighted": _fit("worst_cell", algorithm="cell_weighted"),
        "cell_balanced": _fit("worst_cell", algorithm="cell_weighted", sampler="cell_balanced"),
        "class_weighted": _fit("worst_cell", algorithm="class_weighted"),
        "min_recall, offsets": _fit("min_recall", groups=False),
        "cross_entropy": _fit("worst_cell", algorithm="cross_entropy"),
    }
    yield from _run(methods, ("worst_cell", "accuracy"), data_dir, seeds)


def recall_gap(data_dir: str | None, seeds: Sequence[int]) -> Results:
    """The gap in the recall of class 7 between the groups."""
    bound = [an.gap("recall", label=LABEL, at_most=BOUND)]
    methods = {
        "direct": _fit("likelihood", constraints=bound),
        "cell_weighted": _fit("worst_cell", algorithm="cell_weighted"),
        "cross_entropy": _fit("accuracy", groups=False, algorithm="cross_entropy"),
    }
    yield from _run(methods, ("gap", "accuracy"), data_dir, seeds)


PARTS: dict[str, Callable[[str | None, Sequence[int]], Results]] = {
    "class_worst_cell": worst_cell,
    "class_recall_gap": recall_gap,
}
