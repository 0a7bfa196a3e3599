"""Copies of rows are told where some of them would be held out."""

import warnings

import numpy as np
import pytest
import scipy.sparse

import aesara_nondecomp as an
from aesara_nondecomp.training.repeated_rows import warn_of_repeated_rows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 5))
Y = (X[:, 0] > 1).astype(int)
QUICK = {"network": "linear", "steps": 2, "seed": 0}


def told(rows, labels):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_repeated_rows(rows, labels)
    return [str(each.message) for each in caught]


def oversampled():
    """Rows of the rarer class copied until there are as many as of the other."""
    rare = np.flatnonzero(Y)
    chosen = np.concatenate([np.flatnonzero(Y == 0), np.resize(rare, np.sum(Y == 0))])
    return X[chosen], Y[chosen], len(rare)


def test_copies_of_rows_of_one_class_are_told_with_their_numbers():
    rows, labels, n_rare = oversampled()
    [message] = told(rows, labels)
    assert f"rows repeat: {np.sum(Y == 0)} rows of a class hold {n_rare} different ones" in message


def test_all_rows_several_times_are_told():
    assert len(told(np.tile(X, (3, 1)), np.tile(Y, 3))) == 1


@pytest.mark.parametrize(
    "rows",
    [
        X,
        np.concatenate([X[:300], X[:300]]) + np.repeat([0.0, 1e-9], 300)[:, None],
        RNG.integers(0, 2, (600, 4)).astype(float),
        RNG.integers(0, 6, (600, 2)).astype(float),
        np.column_stack([RNG.integers(20, 60, 600), RNG.integers(0, 2, 600)]).astype(float),
        np.round(X[:, :1], 1),
        scipy.sparse.csr_matrix(np.tile(X[:100], (6, 1))),
    ],
    ids=["different", "nearly equal", "binary", "few values", "age and sex", "one column", "sparse"],
)
def test_rows_that_differ_or_are_equal_by_their_few_values_are_not_told(rows):
    assert told(rows, RNG.integers(0, 2, 600)) == []


@pytest.mark.parametrize(
    ("options", "warned"),
    [
        ({"validation": 3}, True),
        ({"validation": 0.3}, True),
        ({"validation": None}, False),
        ({"validation": (X, Y)}, False),
        ({"validation": 3, "validation_groups": np.tile(np.arange(600), 3)}, False),
    ],
    ids=["folds", "share", "none", "own", "groups"],
)
@pytest.mark.filterwarnings("ignore:on the rows held out", "ignore:few rows are held out")
def test_fit_tells_them_where_it_holds_rows_out_one_by_one(options, warned):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        an.fit(np.tile(X, (3, 1)), np.tile(Y, 3), "f1", **options, **QUICK)
    assert sum("rows repeat" in str(each.message) for each in caught) == warned
