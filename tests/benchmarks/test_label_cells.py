"""The benchmark of several labels: its values against scikit-learn's, and its division of the rows."""

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.metrics import f1_score, recall_score

from benchmarks.cells import labels

RNG = np.random.default_rng(0)
TRUE, SAID = (RNG.integers(0, 2, (200, 3)).astype(np.uint8) for _ in range(2))


def test_values_are_those_of_scikit_learn():
    assert labels._value("f1", TRUE, SAID) == pytest.approx(f1_score(TRUE, SAID, average="macro"))
    assert labels._value("micro_f1", TRUE, SAID) == pytest.approx(f1_score(TRUE, SAID, average="micro"))
    worse = [min(recall_score(y, p), recall_score(y, p, pos_label=0)) for y, p in zip(TRUE.T, SAID.T)]
    assert labels._value("min", TRUE, SAID) == pytest.approx(np.mean(worse))


def test_no_row_is_both_trained_on_and_tested():
    table = {"row": np.arange(200)}
    found = labels._divided(table, TRUE, 120, seed=1, n_test=60)
    assert len(found.y) == 120 and len(found.y_test) == 60
    assert not set(found.X["row"]) & set(found.X_test["row"])
    assert np.array_equal(TRUE[found.X["row"]], found.y) and np.array_equal(TRUE[found.X_test["row"]], found.y_test)
    again = labels._divided(np.arange(200), TRUE, 120, seed=1)
    assert np.array_equal(again.X, found.X["row"])


def test_the_labels_of_adult_are_not_among_its_columns():
    problem = labels.adults(None, 0)
    assert problem.y.shape == (6000, 6) and "sex" not in problem.X and "relationship" not in problem.X
    assert (problem.y.mean(axis=0) > 0.1).all() and (problem.y.mean(axis=0) < 0.9).all()
