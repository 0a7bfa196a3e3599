"""STRUCT-ANN and direct loss minimisation: the oracle against brute force and golden values, the step, the loop."""

import itertools
import json
import pickle
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from oracles import FixedBatches, LinearProblem

from aesara_nondecomp import measures
from aesara_nondecomp._aesara.imports import aesara
from aesara_nondecomp.drivers import CrossEntropy, DirectLoss, Mix, Oracle, StructANN
from aesara_nondecomp.drivers.oracle import BLOCK_ENTRIES
from aesara_nondecomp.networks import linear, mlp
from aesara_nondecomp.step.train_functions import TrainFunctions
from aesara_nondecomp.training.loop import train

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden_trajectories.json").read_text())
X = np.array(GOLDEN["inputs"]["X"])
Y = np.array(GOLDEN["inputs"]["y"])
NAMES = {"f1": "f1", "ba": "balanced_accuracy", "kld_smoothed": "kld"}  # golden names that differ from ours
MEASURES = (
    *(*measures.defaults(), measures.WeightedAccuracy(0.8)),
    *(measures.FBeta(2.0), measures.FBeta(0.5), measures.GowerLegendre(0.5), measures.GowerLegendre(2.0)),
    *(measures.BAKLD(C=0.2), measures.QMeasure(beta=2.0)),
)
OWN = measures.concave("own", lambda P, N, p: 1 - (1 - P) ** 2 - (1 - N), lambda P, N, p: (2 * (1 - P), 1.0))


# -- the oracle ------------------------------------------------------------------------------------------------------


def try_every_assignment(measure, scores, positive, weight):
    """Values of all 2^b assignments, the losses from one confusion matrix each."""
    assignments = np.array(list(itertools.product((False, True), repeat=len(scores))))
    tp, fp = assignments @ positive.astype(int), assignments @ (~positive).astype(int)
    values = measure.from_counts(tp, positive.sum() - tp, fp, (~positive).sum() - fp)
    perfect = measure.from_counts(positive.sum(), 0, 0, (~positive).sum())
    losses = measure.oriented(perfect) - measure.oriented(values)
    return assignments, losses, weight * losses + assignments @ scores


def batch_of(rng):
    """At most ten rows of both classes; half of the batches have many tied scores, and some are all zeros."""
    n = int(rng.integers(2, 11))
    positive = rng.permutation(np.arange(n) < rng.integers(1, n))
    scores = rng.standard_normal(n) * rng.choice([0.01, 0.1, 1.0])
    return (np.round(scores, rng.integers(0, 2)) if rng.random() < 0.5 else scores), positive


@pytest.mark.parametrize("measure", (*MEASURES, OWN), ids=str)
def test_no_assignment_beats_the_one_that_the_oracle_finds(measure):
    oracle, rng = Oracle(measure), np.random.default_rng(11)
    for weight in (1.0, 0.1, -1.0, -0.1) * 15:
        scores, positive = batch_of(rng)
        found = oracle(scores, positive, weight)
        assignments, losses, values = try_every_assignment(measure, scores, positive, weight)
        assert found.value == pytest.approx(values.max(), abs=1e-12)
        (row,) = np.flatnonzero((assignments == found.positive).all(axis=1))
        assert values[row] == pytest.approx(found.value, abs=1e-12) and losses[row] == pytest.approx(found.loss)
        assert (found.TP, found.FP) == (found.positive[positive].sum(), found.positive[~positive].sum())


@pytest.mark.parametrize("name", ["f1", "kld", "balanced_accuracy", "bakld", "min"])
def test_a_fast_search_finds_the_tables_maximum_on_a_large_batch(name):
    oracle, rng = Oracle(name), np.random.default_rng(2)
    positive = rng.random(300) < 0.3
    scores = 0.1 * rng.standard_normal(300) + 0.1 * positive
    found = oracle(scores, positive)
    sums = [np.concatenate([[0], np.cumsum(np.sort(scores[of_class])[::-1])]) for of_class in (positive, ~positive)]
    table = oracle.table(*(len(s) - 1 for s in sums)) + sums[0][:, None] + sums[1]
    assert found.value == pytest.approx(table.max(), abs=1e-12)
    assert 0 < found.TP + found.FP < 300


def test_of_tied_maxima_the_table_gives_the_first_by_true_then_by_false_positives():
    # With scores of 0 the loss of G-mean is 1 at every count that has a class all wrong: (0, 0) is the first of them.
    found = Oracle("gmean")(np.zeros(4), np.array([True, False, True, False]))
    assert (found.value, found.TP, found.FP) == (1.0, 0, 0)


@pytest.mark.parametrize("weight", [1.0, -1.0])
def test_a_table_searched_in_blocks_has_the_maximum_of_the_whole(weight):
    rng, oracle = np.random.default_rng(6), Oracle("qmean")
    positive = np.arange(800) < 300
    scores = 0.01 * rng.standard_normal(800)
    assert 301 * 501 > 4 * BLOCK_ENTRIES
    sums = [np.concatenate([[0], np.cumsum(np.sort(scores[of_class])[::-1])]) for of_class in (positive, ~positive)]
    table = weight * oracle.table(300, 500) + sums[0][:, None] + sums[1]
    found = oracle(scores, positive, weight)
    assert found.value == pytest.approx(table.max(), abs=1e-12)
    assert (found.TP, found.FP) == np.unravel_index(np.argmax(table), table.shape)


@pytest.mark.parametrize("measure", (*MEASURES, OWN), ids=str)
def test_the_loss_is_never_negative_and_0_for_the_true_labels(measure):
    table = Oracle(measure).table(4, 7)
    assert table.min() >= -1e-15 and table[4, 0] == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("golden", GOLDEN["struct_oracle"], ids=lambda g: f"{g['scores_from']} {g['loss']}")
def test_the_oracle_matches_the_golden_one(golden):
    scores = X @ np.array(golden["w"])
    driver = StructANN(NAMES.get(golden["loss"], golden["loss"]))
    coefficients = driver.coefficients(scores, Y)
    assert driver.duals()["structural_loss"] == pytest.approx(golden["value"], abs=1e-10)
    assert (coefficients == (Y > 0).astype(int) - np.array(golden["y_tilde"])).all()


@pytest.mark.parametrize("bad, message", [([0.0, np.nan], "finite scores"), ([0.0, np.inf], "finite scores")])
def test_scores_that_are_not_finite_are_refused(bad, message):
    for name in ("f1", "qmean"):
        with pytest.raises(ValueError, match=message):
            Oracle(name)(np.array(bad), np.array([True, False]))


def test_a_batch_of_one_class_is_refused():
    with pytest.raises(ValueError, match="rows of both classes, got 2 positives of 2"):
        Oracle("f1")(np.zeros(2), np.array([True, True]))


# -- the drivers -----------------------------------------------------------------------------------------------------


def test_three_steps_on_a_linear_score_match_the_golden_ones():
    w, driver = np.array(GOLDEN["inputs"]["w0"]), StructANN("qmean")
    for golden in GOLDEN["struct_qmean_steps"]:
        coefficients = driver.coefficients(X @ w, Y)
        assert driver.structural_loss == pytest.approx(golden["value_before"], abs=1e-10)
        assert -coefficients @ X == pytest.approx(golden["subgradient"], abs=1e-10)
        w = w + 0.1 * coefficients @ X
        assert w == pytest.approx(golden["w"], abs=1e-10)


@pytest.mark.parametrize("name", ["f1", "min", "kld"])
def test_the_structural_loss_bounds_the_loss_of_the_predictions(name):
    rng, oracle = np.random.default_rng(3), Oracle(name)
    for scale in (0.01, 0.1, 1.0, 10.0):
        y = np.where(np.arange(40) < 12, 1, -1)
        scores = scale * (rng.standard_normal(40) + 0.3 * y)
        tp, fp = np.sum((scores > 0) & (y > 0)), np.sum((scores > 0) & (y < 0))
        driver = StructANN(name)
        driver.coefficients(scores, y)
        assert driver.structural_loss >= oracle.loss(tp, fp, 12, 28) - 1e-12


def test_coefficients_are_the_descent_direction_of_the_structural_loss():
    rng, h = np.random.default_rng(4), 1e-6
    y, scores = np.where(np.arange(20) < 6, 1, -1), rng.standard_normal(20)
    driver = StructANN("f1", C=3.0, score_scale=0.2)
    coefficients = driver.coefficients(scores, y)
    for row in range(20):
        shifted = scores + h * (np.arange(20) == row)
        ends = []
        for at in (shifted, 2 * scores - shifted):
            driver.coefficients(at, y)
            ends.append(3.0 * driver.structural_loss)
        assert coefficients[row] == pytest.approx(-(ends[0] - ends[1]) / (2 * h), abs=1e-6)


@pytest.mark.parametrize("driver", [StructANN, DirectLoss])
@pytest.mark.parametrize("y", [[1, 0, 0, 1], np.array([True, False, False, True]), np.array([1, 0, 0, 1.0])], ids=str)
def test_labels_in_0_and_1_are_refused(driver, y):
    with pytest.raises(ValueError, match=r"labels must be -1 or \+1, got .*Pass 2.0 \* y - 1.0"):
        driver("f1").coefficients(np.zeros(4), y)


@pytest.mark.parametrize("direction, sign", [("away", 1.0), ("towards", -1.0)])
@pytest.mark.parametrize("name", ["f1", "qmean", "kld"])
def test_direct_loss_is_a_finite_difference_of_the_best_assignments_value(name, direction, sign):
    """(1 / eps) times the change of max over t of [t . f + sign eps loss], differentiated in f."""
    rng = np.random.default_rng(5)
    positive = np.arange(9) < 4
    for epsilon in (0.05, 0.5, 5.0):
        scores = rng.standard_normal(9)
        assignments, _, values = try_every_assignment(measures.get(name), scores, positive, sign * epsilon)
        best, own = assignments[np.argmax(values)].astype(int), (scores > 0).astype(int)
        found = DirectLoss(name, epsilon=epsilon, direction=direction).coefficients(scores, np.where(positive, 1, -1))
        assert found == pytest.approx(-sign / epsilon * (best - own))


@pytest.mark.parametrize("direction", ["away", "towards"])
def test_the_expected_direct_loss_direction_is_that_of_the_expected_loss(direction):
    """Song et al.'s theorem, on two scores moved by a normal input: d E[loss] / d shift, by a fine grid of inputs."""
    inputs = np.linspace(-4, 4, 4001)
    density = np.exp(-(inputs**2) / 2)
    density /= density.sum()
    y, shift, directions = np.array([1, -1]), 0.4, np.array([1.0, -0.5])

    def scores_at(s):  # one positive and one negative row, both moved by the same parameter
        return inputs[:, None] * [1.0, -0.7] + s * directions

    def expected_loss(s):
        right = np.where(scores_at(s) > 0, 1, -1) == y
        return density @ (1.0 - right.mean(axis=1))

    driver = DirectLoss("accuracy", epsilon=0.2, direction=direction)
    ascent = [driver.coefficients(scores, y) @ directions for scores in scores_at(shift)]
    slope = (expected_loss(shift + 0.05) - expected_loss(shift - 0.05)) / 0.1
    assert density @ np.array(ascent) == pytest.approx(-slope, rel=0.05)


def test_padding_gets_no_coefficient_and_changes_none():
    y, scores = np.array([1, -1, 1, -1, 0, 0]), np.array([0.3, 0.1, -0.2, -0.4, 9.0, -9.0])
    for driver in (StructANN("f1"), DirectLoss("f1")):
        padded = driver.coefficients(scores, y)
        assert (padded[:4] == driver.coefficients(scores[:4], y[:4])).all() and (padded[4:] == 0).all()


def test_labels_of_another_shape_than_the_scores_are_refused():
    for shape in ((2,), (3, 1)):
        with pytest.raises(ValueError, match=r"one label per score is needed, shape \(3,\), got \("):
            StructANN("f1").coefficients(np.zeros(3), np.resize([1, -1], shape))
        with pytest.raises(ValueError, match=r"one label per score is needed, shape \(3,\), got \("):
            Oracle("f1")(np.zeros(3), np.resize([True, False], shape))


def test_labels_of_0_and_1_are_the_same_to_the_oracle_as_booleans():
    scores, positive = np.array([0.3, -0.1, 0.2]), np.array([True, False, False])
    by_booleans, by_numbers = Oracle("qmean")(scores, positive), Oracle("qmean")(scores, positive.astype(int))
    assert by_numbers[:4] == by_booleans[:4]


def test_sample_weights_are_refused():
    with pytest.raises(ValueError, match="StructANN counts rows.*no sample weights"):
        StructANN("f1").coefficients(np.zeros(2), np.array([2.0, -1.0]))


def test_a_row_driver_in_a_mixture_says_that_it_does_not_belong_there():
    with pytest.raises(TypeError, match="StructANN weights rows.*with a phase of cross-entropy before it"):
        Mix(StructANN("f1"), CrossEntropy(0.5)).weights()


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: StructANN("f2"), "unknown measure 'f2'"),
        (lambda: StructANN("f1", C=0.0), "C must be a positive finite number, got 0.0"),
        (lambda: StructANN("f1", score_scale=-1.0), "score_scale must be a positive finite number"),
        (lambda: DirectLoss("f1", epsilon=0.0), "epsilon must be a positive finite number"),
        (lambda: DirectLoss("f1", direction="up"), "direction must be 'away' or 'towards', got 'up'"),
    ],
)
def test_bad_options_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_driver_survives_pickling_with_its_kept_tables():
    driver, rng = StructANN("qmean"), np.random.default_rng(0)
    y, scores = np.where(np.arange(30) < 9, 1, -1), rng.standard_normal(30)
    before = driver.coefficients(scores, y)
    assert (pickle.loads(pickle.dumps(driver)).coefficients(scores, y) == before).all()


# -- the compiled step and the loop ----------------------------------------------------------------------------------


def golden_functions() -> TrainFunctions:
    network = mlp(2, (), initialisation="zero", dtype="float64")
    functions = TrainFunctions(network, "sgd")
    functions.load([np.array(GOLDEN["inputs"]["w0"])[:, None], np.zeros(1)])
    return functions


@pytest.fixture(scope="module")
def linear_functions():
    return TrainFunctions(linear(3), "sgd")


def three_columns(rng, n=40):
    y = np.where(np.arange(n) < n // 4, 1.0, -1.0)
    return LinearProblem(rng.standard_normal((n, 3)) + 0.8 * y[:, None], y, np.zeros(3))


def test_the_loop_makes_the_steps_of_a_numpy_transcript(linear_functions):
    batches = [three_columns(np.random.default_rng(seed)) for seed in range(4)]
    linear_functions.initialise(0)
    linear_functions.configure(l2=0.1)
    steps = train(linear_functions, StructANN("f1", C=2.0), FixedBatches(batches, 0.25, "float32"), learning_rate=0.01)
    w, b, driver = np.zeros(3), 0.0, StructANN("f1", C=2.0)
    for step, batch in zip(islice(steps, 12), itertools.cycle(batches)):
        coefficients = driver.coefficients(batch.X @ w + b, batch.y)
        gradient = np.array([*(coefficients @ batch.X), coefficients.sum()])
        w, b = w + 0.01 * (gradient[:3] - 0.1 * w), b + 0.01 * gradient[3]
        assert step.gradient_norm == pytest.approx(np.linalg.norm(gradient), rel=1e-5)
        assert step.duals["structural_loss"] == pytest.approx(driver.structural_loss, abs=1e-5)
        found_w, found_b = linear_functions.parameters()
        assert found_w.ravel() == pytest.approx(w, abs=1e-5) and found_b == pytest.approx(b, abs=1e-5)


def test_batches_that_lack_a_class_are_passed_over(linear_functions):
    whole = three_columns(np.random.default_rng(0))
    batches = FixedBatches([whole.part(whole.y < 0), whole, whole.part(whole.y > 0)], 0.25, "float32")
    linear_functions.initialise(0)
    linear_functions.configure()
    steps = list(islice(train(linear_functions, StructANN("min"), batches, learning_rate=0.01), 4))
    assert [step.samples for step in steps] == [40, 80, 120, 160]
    assert all(np.isfinite(step.soft_rates + step.hard_rates).all() for step in steps)


def test_nothing_is_compiled_inside_the_loop(linear_functions, monkeypatch):
    batches = FixedBatches([three_columns(np.random.default_rng(0))], 0.25, "float32")
    linear_functions.configure()
    linear_functions.compile(rows=True)
    monkeypatch.setattr(aesara, "function", lambda *args, **kwargs: pytest.fail("compiled inside the loop"))
    for driver in (StructANN("f1"), StructANN("qmean"), DirectLoss("kld", epsilon=5.0)):
        list(islice(train(linear_functions, driver, batches, learning_rate=0.01), 5))


@pytest.mark.parametrize(
    "driver",
    [
        StructANN("f1", score_scale=1 / 40),
        DirectLoss("f1", epsilon=20.0),
        DirectLoss("f1", epsilon=20.0, direction="towards"),
    ],
    ids=["struct", "away", "towards"],
)
def test_training_raises_f1_above_the_trivial_value(driver, linear_functions):
    problem = three_columns(np.random.default_rng(1))
    # Not from 0, where all is negative and F1 already 0: "away" finds nothing worse there.
    linear_functions.initialise(0, [np.full((3, 1), 0.1, "float32"), np.zeros(1, "float32")])
    linear_functions.configure()
    steps = train(linear_functions, driver, FixedBatches([problem], 0.25, "float32"), learning_rate=0.05)
    *_, last = islice(steps, 200)
    (tp, tn), f1 = (last.sums.count_pos, last.sums.count_neg), measures.get("f1")
    assert f1.from_counts(tp, 10 - tp, 30 - tn, tn) > 0.8 > f1.trivial(0.25)


def test_golden_steps_by_the_compiled_step():
    functions, driver = golden_functions(), StructANN("qmean")
    functions.configure()
    functions.set_objective((0, 0, 0, 0), 0.1)
    coefficients = driver.coefficients(functions.scores(X), Y)
    norm = functions.ascend_rows(X, coefficients)
    (golden, *_) = GOLDEN["struct_qmean_steps"]
    assert norm == pytest.approx(np.linalg.norm([*golden["subgradient"], coefficients.sum()]), abs=1e-10)
    assert functions.parameters()[0].ravel() == pytest.approx(golden["w"], abs=1e-10)
