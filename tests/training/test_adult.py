"""The embedded table trains as it is, a mapping of columns without a data frame library, strange cells included."""

import sys

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp import data

ADULT = data.load("adult")
X = {name: cells[:500] for name, cells in ADULT.X_train.items()}
Y = ADULT.y_train[:500]
OPTIONS = {"steps": 100, "batch_size": 64}
UNKNOWN = pytest.mark.filterwarnings("ignore:categories that training did not hold:UserWarning")


@pytest.fixture(scope="module")
def model():
    with pytest.MonkeyPatch.context() as patch:
        for library in ("pandas", "polars"):
            patch.setitem(sys.modules, library, None)  # importing it fails
        return an.fit(X, Y, "f1", seed=0, network=(8,), **OPTIONS)


def one_row(**cells):
    """The first row as a table, with other cells."""
    return {name: np.array([cells.get(name, column[0])], dtype=object) for name, column in X.items()}


def test_the_table_is_learned_without_a_data_frame_library(model):
    always_positive = 2 * np.mean(Y) / (1 + np.mean(Y))
    assert model.value(X, Y) > always_positive + 0.1


@UNKNOWN
@pytest.mark.parametrize(
    "cells",
    [
        {"occupation": "Astronaut"},
        {"native-country": None, "workclass": "?"},
        {"age": None, "capital-gain": float("nan")},
        {"sex": None},  # not missing in training
    ],
    ids=str,
)
def test_an_unseen_category_and_a_missing_cell_are_scored(model, cells):
    score = model.decision_function(one_row(**cells))
    assert np.isfinite(score).all() and score != model.decision_function(one_row())
    assert model.predict(one_row(**cells)).shape == (1,)


def test_a_missing_number_counts_as_the_median(model):
    median = float(np.median(X["age"]))
    assert model.decision_function(one_row(age=None)) == model.decision_function(one_row(age=median))


@UNKNOWN
def test_the_estimator_takes_the_mapping_too():
    pytest.importorskip("sklearn", reason="needs the extra sklearn")
    classifier = an.MeasureClassifier("f1", random_state=0, hidden=(8,), **OPTIONS).fit(X, Y)
    assert classifier.predict(one_row(occupation="Astronaut", sex=None)).shape == (1,)
