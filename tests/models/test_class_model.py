"""Models of several classes without training: their files, and their scores block by block."""

from __future__ import annotations

import copy
import datetime

import numpy as np
import pytest

from aesara_nondecomp import load_model
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.measures.multiclass import Cells
from aesara_nondecomp.models import ClassModel
from aesara_nondecomp.networks import mlp
from aesara_nondecomp.step.class_functions import ClassFunctions

D, K = 3, 3
X = np.random.default_rng(0).normal(size=(100, D)).astype("float32")
PRIORS = np.array([0.6, 0.3, 0.1])


@pytest.fixture(scope="module")
def functions():
    return ClassFunctions(mlp(D, (5,), n_scores=K, seed=0), Cells(PRIORS))


def model_of(functions, **changes):
    own = [p.get_value() for p in functions.network.parameters]
    labels = changes.pop("classes", ("a", "b", "c"))
    return ClassModel(functions, own, multiclass.get("gmean"), labels, PRIORS, **changes)


@pytest.mark.parametrize(
    "classes",
    [
        (b"a", b"b", b"\xff"),
        tuple(datetime.date(2024, 1, day) for day in (1, 2, 3)),
        tuple(datetime.datetime(2024, 1, day, 5) for day in (1, 2, 3)),
        (1.0, 2.0, 3.0),
    ],
)
def test_labels_of_every_kind_are_in_the_file(functions, classes, tmp_path):
    model = model_of(functions, classes=classes)
    model.save(tmp_path / "m.model")
    loaded = load_model(tmp_path / "m.model")
    assert loaded.classes == classes and list(map(type, loaded.classes)) == list(map(type, classes))
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    y = np.array([classes[k] for k in np.arange(100) % K], dtype=object)
    assert loaded.value(X, y) == model.value(X, y)


def test_a_copy_has_weights_and_a_rule_of_its_own(functions):
    model = model_of(functions, rule=np.eye(K))
    before, twin = model.decision_function(X), copy.copy(model)
    twin.parameters[-1] += 1
    twin.rule[0, 0] = 5
    assert not np.array_equal(twin.decision_function(X), before)
    assert np.array_equal(model.decision_function(X), before)


def test_further_values_are_saved(functions, tmp_path):
    model_of(functions, extra={"target": "kind", "decimal": None}).save(tmp_path / "m.model")
    assert load_model(tmp_path / "m.model").extra == {"target": "kind", "decimal": None}


@pytest.mark.parametrize("rule", [None, np.diag([1.0, 0.5, 0.2]), np.ones((K, K)) + np.eye(K)])
def test_blocks_have_the_scores_of_the_whole_and_the_rule(functions, rule):
    model = model_of(functions, rule=rule)
    found = np.concatenate(list(model.decision_blocks([X[:64], X[64:]])))
    assert found == pytest.approx(model.decision_function(X), abs=1e-6)
    own = np.concatenate(list(model.score_blocks([X[:64], X[64:]])))
    assert own == pytest.approx(model_of(functions).decision_function(X), abs=1e-6)
