"""The step of K classes: two classes against the binary step, plain gradients, and drivers that reach what they ask."""

import numpy as np
import pytest

from aesara_nondecomp import drivers as binary
from aesara_nondecomp._aesara.imports import aesara
from aesara_nondecomp.drivers.multiclass import DAME, DUPLE, FixedGains, StepGains
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.measures.multiclass import Cells
from aesara_nondecomp.metrics import confusion_sums
from aesara_nondecomp.networks import Network, mlp
from aesara_nondecomp.ops import dense
from aesara_nondecomp.step import TrainFunctions
from aesara_nondecomp.step.class_functions import ClassFunctions

PRIOR = 0.25


def blobs(n=600, seed=0):
    """Rows of three classes of 80, 15 and 5 %, which overlap."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], [int(0.8 * n), int(0.15 * n), n - int(0.8 * n) - int(0.15 * n)])
    X = rng.normal(size=(n, 2)) + np.array([[0, 0], [1.5, 0], [0, 1.5]])[y]
    order = rng.permutation(n)
    return X[order], y[order].astype("int32")


def three_cells(y):
    return Cells(np.bincount(y) / len(y))


PAIRS = {
    "cross-entropy": (binary.CrossEntropy, lambda cells: FixedGains(cells, "cross_entropy")),
    "class-weighted": (binary.ClassWeighted, lambda cells: FixedGains(cells, "class_weighted")),
    "Q-mean": (
        lambda prior: binary.DUPLE("qmean", prior, counts=True, reward="logistic"),
        lambda cells: DUPLE("qmean", cells, reward="logistic"),
    ),
    "minimum": (
        lambda prior: binary.DUPLE("min", prior, counts=True, reward="logistic", dual="step"),
        lambda cells: DUPLE("min_recall", cells, reward="logistic"),
    ),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_two_classes_take_the_steps_of_the_binary_network(pair):
    """Equivalence (a): the same network with scores (0, f) has the same weights after 200 steps."""
    rng = np.random.default_rng(1)
    networks = [mlp(3, (4,), dtype="float64", seed=0) for _ in range(2)]
    both = dense(networks[1].scores, aesara.shared(np.array([[0.0, 1.0]])), aesara.shared(np.zeros(2)))
    networks[1] = Network(networks[1].inputs, both, networks[1].parameters)
    one, other = TrainFunctions(networks[0]), ClassFunctions(networks[1], Cells([1 - PRIOR, PRIOR]))
    drivers = PAIRS[pair][0](PRIOR), PAIRS[pair][1](other.cells)
    shares, weight = np.array([PRIOR, 1 - PRIOR] * 2), np.ones(32)
    for _ in range(200):
        X, positive = rng.normal(size=(32, 3)), rng.random(32) < PRIOR
        y, cell = np.where(positive, 1.0, -1.0), positive.astype("int32")
        if drivers[0].needs_refresh():
            drivers[0].refresh(one.class_sums(X, y))
            drivers[1].refresh(other.confusion_sums(X, cell, weight))
        one.set_objective(np.array(drivers[0].weights()) / shares, 0.01)
        other.steer(drivers[1].gains(), 0.01)
        drivers[0].observe(one.ascend(X, y)[0])
        drivers[1].observe(other.ascend(X, cell, weight)[0])
    for found, expected in zip(other.parameters(), one.parameters()):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_the_step_follows_the_gradient_of_the_objective():
    X, y = blobs(60)
    cells = three_cells(y)
    functions = ClassFunctions(mlp(2, (5,), n_scores=3, dtype="float64", seed=1), cells, "sgd")
    start = functions.parameters()
    rng = np.random.default_rng(3)
    gains, logs, shift = rng.normal(size=(3, 3)), rng.random(3), rng.normal(size=3)
    functions.steer(StepGains(gains, logs, shift), 1.0)
    sums, norm = functions.ascend(X, y, np.ones(60))
    expected = confusion_sums(functions.scores(X, parameters=start), y, [0, 1, 2], shift=shift)
    np.testing.assert_allclose(sums.table, expected.table, rtol=1e-10)
    moved = [new - old for new, old in zip(functions.parameters(), start)]
    assert norm == pytest.approx(np.sqrt(sum(np.sum(m**2) for m in moved)), rel=1e-9)

    def objective(step):
        trial = [p + step * m for p, m in zip(start, moved)]
        at_trial = confusion_sums(functions.scores(X, parameters=trial), y, [0, 1, 2], shift=shift)
        scaled = np.vdot(gains / cells.shares[:, None], at_trial.soft) + np.vdot(logs / cells.shares, at_trial.logistic)
        return scaled / 60

    assert (objective(1e-6) - objective(-1e-6)) / 2e-6 == pytest.approx(norm**2, rel=1e-6)


def trained(driver_of, steps=150, seed=0):
    """Functions after steps on blobs, by a driver."""
    X, y = blobs(1500)
    X32, cells, rng = X.astype("float32"), three_cells(y), np.random.default_rng(seed)
    functions = ClassFunctions(mlp(2, (16,), n_scores=3, seed=seed), cells)
    functions.configure(averaging=0.9)
    driver, weight = driver_of(cells), np.ones(128, "float32")
    for _ in range(steps):
        rows = rng.integers(0, len(y), 128)
        if driver.needs_refresh():
            driver.refresh(functions.confusion_sums(X32[rows], y[rows], weight))
        functions.steer(driver.gains(), 0.02)
        driver.observe(functions.ascend(X32[rows], y[rows], weight)[0])
    functions.load(functions.averaged_parameters())
    return functions


def value_on_new_rows(functions, measure):
    X, y = blobs(6000, seed=9)
    predicted = functions.scores(X.astype("float32")).argmax(axis=1)
    C = np.bincount(y * 3 + predicted, minlength=9).reshape(3, 3)
    return multiclass.get(measure).from_confusion(C)


def test_duple_raises_the_minimum_recall_of_new_rows_over_cross_entropy():
    plain = value_on_new_rows(trained(lambda cells: FixedGains(cells, "cross_entropy")), "min_recall")
    for reward in ("adjusted", "logistic", "probability"):
        found = value_on_new_rows(trained(lambda cells, r=reward: DUPLE("min_recall", cells, reward=r)), "min_recall")
        assert found > plain + 0.3, reward


def test_dame_on_macro_f1_is_no_worse_than_the_plain_network():
    plain = value_on_new_rows(trained(lambda cells: FixedGains(cells, "cross_entropy")), "macro_f1")
    found = value_on_new_rows(trained(lambda cells: DAME("macro_f1", cells)), "macro_f1")
    assert found > plain - 0.02


def test_a_batch_of_padding_changes_nothing():
    X, y = blobs(60)
    functions = ClassFunctions(mlp(2, (5,), n_scores=3, seed=1), three_cells(y), "sgd")
    start = functions.parameters()
    sums, norm = functions.ascend(X.astype("float32"), np.full(60, -1, "int32"), np.ones(60, "float32"))
    assert norm == 0 and not sums.table.any()
    for one, other in zip(start, functions.parameters()):
        np.testing.assert_array_equal(one, other)


def test_a_step_by_jax_is_that_by_c():
    pytest.importorskip("jax", reason="the JAX backend needs the extra `jax`")
    X, y = blobs(60)
    step, found = DUPLE("qmean", three_cells(y)).gains(), []
    for backend in ("c", "jax"):
        functions = ClassFunctions(mlp(2, (5,), n_scores=3, dtype="float64", seed=1), three_cells(y), "sgd", backend)
        functions.steer(step, 0.1)
        sums, norm = functions.ascend(X, y, np.ones(60))
        found.append([sums.table, norm, *functions.parameters()])
    for one, other in zip(*found):
        np.testing.assert_allclose(other, one, rtol=1e-10, atol=1e-13)
