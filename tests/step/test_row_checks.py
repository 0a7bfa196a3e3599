"""Rows that a step or a score cannot take: one clear error in a loop of one's own, whatever call they come by."""

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp import TrainFunctions, data, mlp
from aesara_nondecomp.drivers import DUPLE
from aesara_nondecomp.measures.multiclass import Cells
from aesara_nondecomp.step.class_functions import ClassFunctions

X = np.random.default_rng(0).normal(size=(40, 3)).astype("float32")
Y = np.where(X[:, 0] > 0, 1, -1).astype("float32")
CELL = (Y > 0).astype("int32")
WIDE, OTHER = X.astype("float64"), "a step needs rows of dtype float32, got float64. Use np.asarray"
SHAPE = r"this network needs rows as an array of shape \(n, 3\), got "


@pytest.fixture(scope="module")
def functions():
    return TrainFunctions(mlp(3, (4,), seed=0))


@pytest.fixture(scope="module")
def of_classes():
    return ClassFunctions(mlp(3, (4,), seed=0, n_scores=2), Cells(np.array([0.5, 0.5])))


STEPS = {
    "ascend": (Y,),
    "class_sums": (Y,),
    "gradients": (Y,),
    "ascend_rows": (Y,),
    "ascend_cells": (Y, CELL),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_names_the_dtype_shape_or_length_that_it_needs(name, functions):
    call, of_rows = getattr(functions, name), STEPS[name]
    for rows, message in ((WIDE, OTHER), (X[:, :2], SHAPE + r"shape \(40, 2\)"), (X.tolist(), SHAPE + "list")):
        with pytest.raises(ValueError, match=message):
            call(rows, *of_rows)
    with pytest.raises(ValueError, match=r"must have one value for each of the 40 rows, got 'shape \(7,\)'"):
        call(X, *(values[:7] for values in of_rows))
    call(X, *of_rows)


def test_labels_and_cells_of_another_dtype_are_named(functions, of_classes):
    with pytest.raises(ValueError, match="a step needs y of dtype float32, got int64"):
        functions.ascend(X, Y.astype("int64"))
    with pytest.raises(ValueError, match="a step needs cell of dtype int32, got int64"):
        functions.ascend_cells(X, Y, CELL.astype("int64"))
    for call in (of_classes.ascend, of_classes.gradients, of_classes.confusion_sums):
        with pytest.raises(ValueError, match=OTHER):
            call(WIDE, CELL, np.abs(Y))
        with pytest.raises(ValueError, match="a step needs weight of dtype float32, got float64"):
            call(X, CELL, np.abs(Y).astype("float64"))


@pytest.mark.parametrize("rows, message", [
    (X[0], SHAPE + r"shape \(3,\). A single row x is x\[None\]"),
    (X[:, :2], SHAPE + r"shape \(40, 2\)"),
    (X.tolist(), SHAPE + "list"),
])  # fmt: skip
def test_scores_name_the_shape_that_they_need(rows, message, functions, of_classes):
    for each in (functions, of_classes):
        with pytest.raises(ValueError, match=message):
            each.scores(rows)


def test_train_says_what_is_wrong_with_its_batches(functions):
    with pytest.raises(ValueError, match=OTHER):
        batches = data.MiniBatches(WIDE, Y, 10, 0, dtype="float32")
        next(an.train(functions, DUPLE("qmean", 0.5), batches, learning_rate=0.1))
    with pytest.raises(ValueError, match=SHAPE + r"shape \(10, 2\)"):
        batches = data.MiniBatches(X[:, :2].copy(), Y, 10, 0)
        next(an.train(functions, DUPLE("qmean", 0.5), batches, learning_rate=0.1))


def test_another_failure_of_a_step_is_raised_as_it_is(functions, monkeypatch):
    def fails(*arguments):
        raise ValueError("out of luck")

    monkeypatch.setattr(functions, "_ascend", fails, raising=False)
    with pytest.raises(ValueError, match="out of luck"):
        functions.ascend(X, Y)
