"""Boosted trees with a tuned threshold: what is usually taken for a table, as a method to compare with.

A few configurations are trained on four fifths of the rows. The other fifth chooses the configuration and its threshold
for each measure. Categories are split on as such, and a missing cell is a category of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from aesara_nondecomp import metrics
from aesara_nondecomp.data import Dataset, stratified_split
from benchmarks.baselines import hist_gradient_boosting

# Early stopping would decide on a tenth of the rows, in which a rare class has too few: the number of trees is tuned.
CONFIGURATIONS: tuple[dict[str, Any], ...] = (
    {"rate": 0.1, "iterations": 100, "leaves": 31},  # scikit-learn's defaults
    {"rate": 0.1, "iterations": 200, "leaves": 31},
    {"rate": 0.1, "iterations": 200, "leaves": 7},
    {"rate": 0.05, "iterations": 300, "leaves": 15},
)


class Trees(NamedTuple):
    """The scores of one configuration."""

    scores: np.ndarray
    held_scores: np.ndarray


def train_trees(loaded: Dataset, seed: int) -> tuple[list[Trees], np.ndarray]:
    """Train every configuration; its scores of the test part and of the rows held out, and the signs of the latter."""
    X, X_test, categorical = _matrices(loaded)
    signs = np.where(loaded.y_train > 0, 1, -1)
    kept, held = stratified_split(signs, 0.2, seed, loaded.groups)
    scorers = [
        hist_gradient_boosting(
            X[kept], signs[kept], seed=seed, categorical=categorical, early_stopping=False, **options
        )
        for options in CONFIGURATIONS
    ]
    return [Trees(score(X_test), score(X[held])) for score in scorers], signs[held]


def value_of_best(measure, trained: list[Trees], signs: np.ndarray, held_signs: np.ndarray) -> float:
    """Test value of the configuration and the threshold that are best on the rows held out."""
    tuned = [metrics.best_threshold(measure, trees.held_scores, held_signs) for trees in trained]
    best = int(np.argmax([measure.oriented(value) for _, value in tuned]))
    confusion = metrics.confusion_at_threshold(trained[best].scores, signs, tuned[best][0])
    return float(metrics.score(measure, confusion))


def _matrices(loaded: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training and test rows as scikit-learn's trees take them, and which of their columns are codes of categories."""
    if not isinstance(loaded.X_train, dict):
        return loaded.X_train, loaded.X_test, np.zeros(loaded.X_train.shape[1], dtype=bool)
    categorical = np.array([cells.dtype == object for cells in loaded.X_train.values()])
    columns = [
        _codes(cells, loaded.X_test[name]) if coded else (cells, loaded.X_test[name])
        for coded, (name, cells) in zip(categorical, loaded.X_train.items())
    ]
    train, test = (np.column_stack(part).astype(np.float64) for part in zip(*columns))
    return train, test, categorical


def _codes(cells: np.ndarray, test_cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both parts of a categorical column as codes; NaN, which trees take for missing, for an unseen category."""
    codes = {cell: float(code) for code, cell in enumerate(dict.fromkeys(cells.tolist()))}
    known, found = ([codes.get(cell, np.nan) for cell in part.tolist()] for part in (cells, test_cells))
    return np.array(known), np.array(found)
