"""The step of several labels: on a linear network, that of each label by itself."""

import numpy as np
import pytest

from aesara_nondecomp import drivers
from aesara_nondecomp.data.label_sets import LabelSets
from aesara_nondecomp.drivers.multiclass import LabelDrivers, StepGains
from aesara_nondecomp.metrics import class_sums
from aesara_nondecomp.networks import linear, mlp
from aesara_nondecomp.ops.rewards import reward_sums_numpy
from aesara_nondecomp.step import TrainFunctions
from aesara_nondecomp.step.label_functions import LabelFunctions

PRIORS = np.array([0.2, 0.5, 0.7])
DRIVERS = {
    "cross-entropy": drivers.CrossEntropy,
    "DAME": lambda prior: drivers.DAME("f1", prior, reward="logistic", counts=True),
    "DUPLE": lambda prior: drivers.DUPLE("qmean", prior),
    "DENIM": lambda prior: drivers.DENIM("bakld", prior, counts=True, eps=0.01),
}


def some_rows(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, :3] > np.array([0.8, 0.0, -0.5])


def functions_of(matrix, network, optimizer):
    rows = LabelSets.of(matrix)
    return LabelFunctions(network, PRIORS, rows.sets, optimizer), rows.codes


@pytest.mark.parametrize("kind", DRIVERS)
def test_labels_of_a_linear_network_take_the_steps_of_networks_of_their_own(kind):
    """The objective is the mean over the labels, so a rate three times as high makes up for it."""
    X, matrix = some_rows(32 * 60, seed=1)
    joint, codes = functions_of(matrix, mlp(4, (), n_scores=3, dtype="float64"), "sgd")
    own = [TrainFunctions(linear(4, dtype="float64"), "sgd") for _ in PRIORS]
    joint.load([np.zeros_like(p) for p in joint.parameters()])
    for each in own:
        each.load([np.zeros_like(p) for p in each.parameters()])
    together = LabelDrivers([DRIVERS[kind](prior) for prior in PRIORS], joint.cells)
    apart = [DRIVERS[kind](prior) for prior in PRIORS]
    for part in np.arange(len(X)).reshape(-1, 32):
        signs = np.where(matrix[part], 1.0, -1.0)
        while together.needs_refresh():
            together.refresh(joint.confusion_sums(X[part], codes[part], np.ones(32)))
        joint.steer(together.gains(), 0.3)
        sums, _ = joint.ascend(X[part], codes[part], np.ones(32))
        together.observe(sums)
        for k, (each, driver, prior) in enumerate(zip(own, apart, PRIORS)):
            while driver.needs_refresh():
                driver.refresh(each.class_sums(X[part], signs[:, k]))
            each.set_objective(np.array(driver.weights()) / [prior, 1 - prior, prior, 1 - prior], 0.1)
            driver.observe(each.ascend(X[part], signs[:, k])[0])
    found, expected = joint.parameters(), [each.parameters() for each in own]
    np.testing.assert_allclose(found[0], np.column_stack([p[0].ravel() for p in expected]), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found[1], [p[1].item() for p in expected], rtol=1e-9, atol=1e-12)
    assert together.duals() == {
        name: pytest.approx([driver.duals()[name] for driver in apart]) for name in apart[0].duals()
    }
    again = LabelDrivers([DRIVERS[kind](prior) for prior in PRIORS], joint.cells)
    again.restore(together.state())
    np.testing.assert_array_equal(again.gains().logs, together.gains().logs)


def test_one_driver_of_all_labels_sees_pooled_counts_and_ascends_the_pooled_objective():
    X, matrix = some_rows(200, seed=2)
    functions, codes = functions_of(matrix, mlp(4, (), n_scores=3, dtype="float64", seed=0), "sgd")
    start = functions.parameters()
    pooled = PRIORS.mean()
    driver = drivers.DAME("f1", pooled, reward="logistic", counts=True)
    together = LabelDrivers([driver], functions.cells)
    scores, signs = functions.scores(X).ravel(), np.where(matrix, 1.0, -1.0).ravel()
    weight = np.where(np.arange(200) < 190, 1.0, 0.0)  # the last rows are padding
    together.refresh(functions.confusion_sums(X, codes, weight))
    expected = class_sums(scores[:570], signs[:570])
    other = drivers.DAME("f1", pooled, reward="logistic", counts=True)
    other.refresh(expected)
    assert driver.v == pytest.approx(other.v, rel=1e-12)
    weights = np.array(driver.weights())
    functions.steer(together.gains(), 1.0)
    functions.ascend(X, codes, weight)
    slope = reward_sums_numpy(scores[:570], signs[:570], weights / np.array([pooled, 1 - pooled] * 2))[2].reshape(-1, 3)
    moved = functions.parameters()[0] - start[0]
    np.testing.assert_allclose(moved, X[:190].T @ slope, rtol=1e-9)


def test_cells_of_batches_have_the_shares_of_the_rows_that_are_drawn():
    matrix = np.array([[1, 0], [1, 1], [0, 1], [0, 1]], dtype=bool)
    rows = LabelSets.of(matrix)
    functions = LabelFunctions(mlp(2, (), n_scores=2), [0.4, 0.6], rows.sets)
    shares = np.bincount(rows.codes, [1, 1, 1, 3]) / 6  # the last row has a weight of 3
    np.testing.assert_allclose(functions.shares_in(shares), np.array([4, 2, 1, 5]) / 12)


@pytest.mark.parametrize("given", [
    [drivers.CrossEntropy(0.5)] * 2, [drivers.DUPLE("qmean", 0.5, evaluate="new")], [drivers.StructANN("f1")],
])  # fmt: skip
def test_drivers_that_do_not_weight_the_classes_of_labels_are_refused(given):
    with pytest.raises(ValueError, match="3 labels need|must weight classes"):
        LabelDrivers(given, LabelFunctions(mlp(2, (), n_scores=3), PRIORS).cells)


def test_gains_of_labels_add_up_to_the_weights_of_their_drivers():
    gains = LabelDrivers([drivers.ClassWeighted(prior) for prior in PRIORS],
                         LabelFunctions(mlp(2, (), n_scores=3), PRIORS).cells).gains()  # fmt: skip
    assert isinstance(gains, StepGains) and gains.logs.sum() == pytest.approx(1)
    np.testing.assert_allclose(gains.logs, 1 / 6)
