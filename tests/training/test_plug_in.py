"""The cut of a cross-entropy network: plug-in thresholds and logit adjustment, in `metrics` and through `fit`."""

import math

import numpy as np
import pytest
from oracles import LinearProblem

import aesara_nondecomp as an
from aesara_nondecomp import measures, metrics
from aesara_nondecomp.data import stratified_split
from aesara_nondecomp.measures import Cells
from aesara_nondecomp.training.early_stopping import EarlyStopping
from aesara_nondecomp.training.recipes import ALGORITHMS, Problem, recipe_for

PRIOR = 0.2
EVERY_MEASURE = (*measures.defaults(), measures.WeightedAccuracy(0.7), measures.FBeta(2.0), measures.GowerLegendre(2.0))


def sets_with_ties(count: int):
    rng = np.random.default_rng(8)
    for _ in range(count):
        n = int(rng.integers(3, 20))
        signs = np.where(np.arange(n) < rng.integers(1, n), 1, -1)
        yield np.round(rng.standard_normal(n) + 0.5 * signs, 1), signs


def counts_at_every_threshold(scores, signs):
    """Each threshold's predictions made and counted one by one."""
    positive = signs > 0
    for threshold in (-math.inf, *np.unique(scores).tolist()):
        hit = scores > threshold
        yield [np.sum(part) for part in (positive & hit, positive & ~hit, ~positive & hit, ~positive & ~hit)]


@pytest.mark.parametrize("measure", EVERY_MEASURE, ids=str)
def test_no_threshold_beats_the_plug_in_one_on_300_sets(measure):
    for scores, signs in sets_with_ties(300):
        threshold, value = metrics.best_threshold(measure, scores, signs)
        tables = np.array(list(counts_at_every_threshold(scores, signs))).T
        best = np.max(measure.oriented(np.asarray(measure.from_counts(*tables))))
        assert measure.oriented(value) == pytest.approx(best, abs=1e-12)
        assert metrics.score(measure, metrics.confusion_at_threshold(scores, signs, threshold)) == value


# -- through fit -----------------------------------------------------------------------------------------------------


def rows(seed=0, n=600):
    rng = np.random.default_rng(seed)
    signs = np.where(rng.random(n) < PRIOR, 1, -1)
    return rng.standard_normal((n, 3)).astype("float32") + 0.7 * (signs > 0)[:, None].astype("float32"), signs


@pytest.fixture(scope="module")
def functions():
    return an.TrainFunctions(an.linear(3))


FIFTH = EarlyStopping(0.2, patience=None, tune_threshold=True)


def fitted(functions, X, y, algorithm, **options):
    settings = {"steps": 60, "batch_size": 100, "learning_rate": 0.1, "schedule": "constant", "seed": 1}
    settings["validation"] = FIFTH if algorithm == "plug_in" else None
    return an.fit(X, y, "f1", algorithm=algorithm, network=functions, **{**settings, **options})


def test_plug_in_cuts_at_the_best_threshold_of_a_held_out_fifth(functions):
    X, y = rows()
    model = fitted(functions, X, y, "plug_in")
    _, held = stratified_split(y, 0.2, np.random.default_rng(1))
    threshold, value = metrics.best_threshold("f1", model.decision_function(X[held]), y[held])
    assert model.threshold == threshold != 0.0
    assert model.value(X[held], y[held]) == value
    assert value == max(e.value for e in model.evaluations)


@pytest.mark.parametrize("tuned", ["auto", False])
def test_plug_in_chooses_its_threshold_on_rows_held_out_even_if_none_are_asked_for(tuned, functions):
    X, y = rows()
    without, automatic = (fitted(functions, X, y, "plug_in", validation=v)
                          for v in (None, EarlyStopping(tune_threshold=tuned)))  # fmt: skip
    assert without.threshold == automatic.threshold not in (0.0, math.inf, -math.inf)
    assert len(without.voters) == 4 and (without.decision_function(X) == automatic.decision_function(X)).all()


@pytest.mark.parametrize("algorithm, own", [("cross_entropy", 0.0), ("logit_adjusted", None)])
def test_a_baseline_keeps_its_threshold_unless_it_is_told_to_move_it(algorithm, own, functions):
    X, y = rows()
    kept, moved = (fitted(functions, X, y, algorithm, validation=EarlyStopping(0.2, tune_threshold=tuned))
                   for tuned in ("auto", True))  # fmt: skip
    assert kept.threshold == (math.log(kept.prior / (1 - kept.prior)) if own is None else own)
    _, held = stratified_split(y, 0.2, np.random.default_rng(1))
    assert moved.threshold == metrics.best_threshold("f1", moved.decision_function(X[held]), y[held])[0]
    assert kept.quantifier.threshold == kept.threshold and kept.validation_matrix.n == len(held)


def test_plug_in_does_not_train_on_the_held_out_rows(functions):
    X, y = rows()
    _, held = stratified_split(y, 0.2, np.random.default_rng(1))
    elsewhere = X.copy()
    elsewhere[held] += 5.0
    first, second = fitted(functions, X, y, "plug_in"), fitted(functions, elsewhere, y, "plug_in")
    assert all((a == b).all() for a, b in zip(first.parameters, second.parameters))
    assert second.threshold > first.threshold


def test_plug_in_predicts_better_by_f1_than_cross_entropy_cut_at_0(functions):
    X, y = rows()
    test = rows(seed=9, n=4000)
    values = {name: fitted(functions, X, y, name).value(*test) for name in ("plug_in", "cross_entropy")}
    assert values["plug_in"] > values["cross_entropy"] + 0.05


def test_plug_in_takes_validation_rows_for_its_threshold_and_its_best_weights(functions):
    X, y = rows()
    held = rows(seed=2)
    model = fitted(functions, X, y, "plug_in", validation=EarlyStopping(held, every=20, tune_threshold=True))
    threshold, value = metrics.best_threshold("f1", model.decision_function(held[0]), held[1])
    assert model.threshold == threshold
    assert [e.step for e in model.evaluations] == [20, 40, 60]
    assert value == max(e.value for e in model.evaluations) == model.value(*held)


def test_a_recipe_of_ones_own_may_choose_its_threshold(functions):
    X, y = rows()
    recipe = recipe_for("f1", Problem(PRIOR, 0.001), "class_weighted")._replace(threshold=None)
    model = fitted(functions, X, y, recipe, validation=FIFTH)
    _, held = stratified_split(y, 0.2, np.random.default_rng(1))
    assert model.threshold == metrics.best_threshold("f1", model.decision_function(X[held]), y[held])[0] > 0


def test_only_two_algorithms_move_the_threshold():
    of_each = np.array([35, 15]) / 100  # two groups, alike
    cells = Cells(("a", "b"), np.array([35, 15, 35, 15, 0, 0]), np.array([*of_each, *of_each, 0, 0]))
    problem = Problem(PRIOR, 0.001, cells=cells)
    measure_of = {"denim": "kld", "nemsis": "kld", "duple": "min", "spade": "min"}
    measure_of = {**measure_of, "worst_group": "worst_cell", "group_dro": "worst_cell"}
    thresholds = {
        name: recipe_for(measure_of.get(name.removeprefix("paper_").removesuffix("_ns"), "f1"), problem, name).threshold
        for name in ALGORITHMS
    }
    moved = {name: threshold for name, threshold in thresholds.items() if threshold != 0.0}
    assert moved == {"plug_in": None, "logit_adjusted": pytest.approx(math.log(PRIOR / (1 - PRIOR)))}


# -- logit adjustment ------------------------------------------------------------------------------------------------


def menon_training(problem: LinearProblem, offset: float, steps: int, rate: float) -> np.ndarray:
    """Gradient descent on mean ln(1 + exp(-y (f + offset))): the adjustment inside the loss."""
    w = problem.w
    for _ in range(steps):
        margins = problem.y * (problem.X @ w + offset)
        w = w + rate * (problem.y / (1 + np.exp(margins))) @ problem.X / len(problem.y)
    return w


def test_cutting_at_the_log_odds_is_training_on_adjusted_logits():
    X, y = rows(n=200)
    log_odds = math.log(np.mean(y > 0) / np.mean(y < 0))
    columns = np.column_stack([X, np.ones(200)]).astype("float64")
    w = menon_training(LinearProblem(columns, y, np.zeros(4)), log_odds, steps=50, rate=0.5)
    functions = an.TrainFunctions(an.linear(3, dtype="float64"), "sgd")
    start = an.Model(functions, [np.zeros((3, 1)), np.array([log_odds])], an.measures.get("f1"), (-1, 1), 0.5)
    model = an.fit(
        X, y, "balanced_accuracy", algorithm="logit_adjusted", network=start, learning_rate=0.5, averaging=0.0,
        schedule="constant", validation=None, steps=50, batch_size=200, standardize=False, seed=0,
    )  # fmt: skip
    assert model.decision_function(X) - model.threshold == pytest.approx(columns @ w, abs=1e-6)
    assert (model.predict(X) == np.where(columns @ w > 0, 1, -1)).all()


def test_logit_adjustment_raises_the_balanced_accuracy_of_cross_entropy(functions):
    X, y = rows()
    test = rows(seed=9, n=4000)
    found = {
        name: fitted(functions, X, y, name).value(*test, "balanced_accuracy")
        for name in ("logit_adjusted", "cross_entropy")
    }
    assert found["logit_adjusted"] > found["cross_entropy"] + 0.05


def test_validation_cuts_where_the_model_will(functions):
    X, y = rows()
    held = rows(seed=2)
    model = fitted(functions, X, y, "logit_adjusted", validation=EarlyStopping(held, every=30, tune_threshold=False))
    assert model.value(*held) == max(e.value for e in model.evaluations)
