"""Validation while training: by counts, in the measure's direction, without disturbing the run; callbacks; weights."""

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp import EarlyStopping, Recipe, TrainFunctions, linear, measures, mlp
from aesara_nondecomp.drivers import DUPLE, CrossEntropy
from aesara_nondecomp.history import collapsed_since
from aesara_nondecomp.measures import Averaged, multiclass
from aesara_nondecomp.metrics.confusion import ConfusionMatrix
from aesara_nondecomp.training import schedules
from aesara_nondecomp.training.class_held_out import class_monitor_factory
from aesara_nondecomp.training.early_stopping import Interval
from aesara_nondecomp.training.label_held_out import label_monitor_factory
from aesara_nondecomp.training.label_recipes import LabelRecipe
from aesara_nondecomp.training.recipes import Phase
from aesara_nondecomp.training.run import Settings, TrainingRows
from aesara_nondecomp.training.run_settings import default_steps
from aesara_nondecomp.training.validation_monitor import ValidationMonitor

N_ROWS, D = 240, 4


def toy(seed: int = 0, n: int = N_ROWS):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < n // 4, 1, -1)
    return rng.standard_normal((n, D)) + 0.4 * y[:, None], y


X, Y = toy()
HELD = toy(seed=1)
QUICK = {"steps": 120, "batch_size": 32, "seed": 3}


def fit(*data, **options):
    """`an.fit` on all rows at a constant rate, unless a test says otherwise."""
    return an.fit(*data, **{"validation": None, "schedule": "constant", **options})


def watching(rows=HELD, every=None, patience=None):
    """Evaluations alone: the threshold stays where the recipe has it, and only patience that is given stops."""
    return EarlyStopping(rows, every, patience, tune_threshold=False)


@pytest.fixture(scope="module")
def functions():
    return TrainFunctions(mlp(D, (6,), seed=0))


def same(first, second) -> bool:
    return all(a.tobytes() == b.tobytes() for a, b in zip(first, second))


# -- Evaluations -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["f1", "min", "qmean", "kld", "ae", "cqreward"])
def test_the_logged_best_value_is_that_of_the_returned_models_predictions(measure, functions):
    model = fit(X, Y, measure, network=functions, validation=watching(every=5), **QUICK)
    predicted = model.predict(HELD[0])
    counts = [int(np.sum((HELD[1] == y) & (predicted == z))) for y, z in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
    best = {e.step: e for e in model.evaluations}[model.best_step]
    assert best.confusion_matrix == ConfusionMatrix(*counts)
    assert best.value == measures.get(measure).from_counts(*counts) == model.value(*HELD)


@pytest.mark.parametrize("measure", ["f1", "kld", "rae"])
def test_the_best_value_is_the_largest_or_smallest_as_the_measure_has_it(measure, functions):
    model = fit(X, Y, measure, network=functions, validation=watching(every=5), **QUICK)
    values = [e.value for e in model.evaluations]
    choose = max if measures.get(measure).greater_is_better else min
    first = values.index(choose(values))
    assert len(set(values)) > 3 and model.best_step == model.evaluations[first].step


def test_evaluations_do_not_disturb_the_training(functions):
    watched, alone = (fit(X, Y, network=functions, validation=v, **QUICK)
                      for v in (watching(every=7), None))  # fmt: skip
    assert [s.gradient_norm for s in watched.history] == [s.gradient_norm for s in alone.history]
    assert alone.evaluations == [] and alone.best_step is None


def test_an_evaluation_is_of_the_averaged_weights(functions):
    averages = {}
    model = fit(X, Y, network=functions, validation=watching(every=10), **QUICK,
                on_step=lambda step: averages.update({step.step: functions.averaged_parameters()}))  # fmt: skip
    assert same(model.parameters, averages[model.best_step])


@pytest.mark.filterwarnings("ignore:on the rows held out")  # 9 steps are few
@pytest.mark.parametrize(("steps", "every", "expected"), [(40, 15, [15, 30, 40]), (40, 20, [20, 40])])
def test_evaluations_come_every_so_many_steps_and_at_the_end(steps, every, expected, functions):
    options = {**QUICK, "steps": steps}
    model = fit(X, Y, network=functions, validation=watching(every=every), **options)
    assert [e.step for e in model.evaluations] == expected


def test_a_share_is_held_out_in_both_classes_and_not_trained_on(functions):
    model = fit(X, Y, network=functions, validation=0.25, **QUICK)
    table = model.evaluations[0].confusion_matrix
    assert (table.TP + table.FN, table.FP + table.TN) == (15, 45)
    # The start takes the first batch; 180 rows are left, so that an epoch is five batches of 32 and one of 20.
    assert [step.samples for step in model.history[:7]] == [32, 64, 96, 128, 148, 180, 212]


def test_another_seed_holds_out_other_rows(functions):
    first, again, other = (fit(X, Y, network=functions, validation=0.25, **{**QUICK, "seed": s}) for s in (3, 3, 4))
    assert first.evaluations == again.evaluations != other.evaluations


def test_the_rows_given_are_scaled_as_the_training_rows(functions):
    shifted = 100 * X + 7, Y
    as_is = fit(*shifted, network=functions, validation=watching((100 * HELD[0] + 7, HELD[1])), **QUICK)
    assert as_is.value(100 * HELD[0] + 7, HELD[1]) == max(e.value for e in as_is.evaluations) > 0.5


# -- Patience --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["f1", "kld"])
def test_training_stops_after_so_many_evaluations_without_a_better_one(measure, functions):
    options = {**QUICK, "steps": 3000}
    model = fit(X, Y, measure, network=functions, validation=watching(every=5, patience=4), **options)
    steps = [e.step for e in model.evaluations]
    assert steps.index(model.best_step) == len(steps) - 5 and len(model.history) == steps[-1] < 3000


@pytest.mark.parametrize(("rows", "patience"), [(0.3, 3), (3, 5)])
def test_auto_waits_for_three_evaluations_and_of_several_networks_for_five(rows, patience, functions):
    def made(waits):
        stopping = EarlyStopping(rows, every=5, patience=waits, tune_threshold=False)
        return len(fit(X, Y, network=functions, validation=stopping, **{**QUICK, "steps": 3000}).history)

    assert made("auto") == made(patience) != made(8 - patience)


SETTINGS = Settings(2000, 0.01, schedules.constant(), 0.99, 0.0, 1.0, 32, "natural", "prior", first_evaluation=15)


def test_the_same_patience_and_interval_hold_for_several_classes_and_several_labels():
    recipe, held = Recipe((Phase(CrossEntropy(0.25)),)), TrainingRows(X, Y, None)
    of_classes = class_monitor_factory(EarlyStopping(), multiclass.get("macro_f1"), recipe, SETTINGS, 3)
    how, sets = LabelRecipe(recipe, np.zeros(2)), np.eye(2, dtype=bool)
    of_labels = label_monitor_factory(EarlyStopping(), Averaged("f1"), how, SETTINGS, sets)
    for monitor in (of_classes, of_labels):
        assert [monitor(held, several).patience for several in (False, True)] == [3, 5]
        assert monitor(held, True).interval == EarlyStopping().interval(SETTINGS) == Interval(15, 100, 0.2)


# -- when networks are evaluated -------------------------------------------------------------------------------------


def test_evaluations_become_rarer_up_to_a_twentieth_of_all_steps(functions):
    model = fit(X, Y, network=functions, validation=EarlyStopping(0.25, patience=None), **{**QUICK, "steps": 1000})
    expected = [15]  # a twentieth of 300, the steps that 180 rows are worth
    while expected[-1] < 1000:
        step = expected[-1]
        expected.append(min(1000, step + int(np.clip(np.ceil(0.2 * step), 15, 50))))
    assert [e.step for e in model.evaluations] == expected


def test_short_runs_are_evaluated_every_ten_steps(functions):
    model = fit(X, Y, network=functions, validation=EarlyStopping(0.25, patience=None), **{**QUICK, "steps": 35})
    assert [e.step for e in model.evaluations] == [10, 20, 30, 35]


def test_evaluations_begin_anew_with_each_phase(functions):
    phases = Phase(CrossEntropy(0.25), 0.5), Phase(DUPLE("qmean", 0.25), 0.5)
    stopping = EarlyStopping(0.25, patience=None)
    model = fit(
        X, Y, "qmean", algorithm=Recipe(phases), network=functions, validation=stopping, **{**QUICK, "steps": 2000}
    )
    steps = [e.step for e in model.evaluations]
    first, second = ([step for step in steps if (step > 1000) is late] for late in (False, True))
    assert np.diff(first).max() == 100 and np.diff(second[:4]).tolist() == [15, 15, 15]


@pytest.mark.parametrize(("n_rows", "limit", "fixed"), [
    (100, 300, 300), (1_000, 1_000, 300), (5_000, 1_600, 500), (16_000, 1_600, 1_600), (30_000, 3_000, 3_000),
    (1_000_000, 6_000, 6_000),
])  # fmt: skip
def test_small_tables_may_take_more_steps_if_rows_held_out_stop_them(n_rows, limit, fixed):
    assert [default_steps(n_rows, stops_early) for stops_early in (True, False)] == [limit, fixed]


def test_a_table_that_needs_many_steps_gets_them():
    """Two interleaved spirals, which a tenth of the rows in steps would leave unlearned."""
    rng = np.random.default_rng(0)
    turn, y = np.sqrt(rng.random(1600)) * 20.0, np.arange(1600) % 2
    rows = (turn * np.stack([np.cos(turn + np.pi * y), np.sin(turn + np.pi * y)])).T
    rows += 0.3 * rng.standard_normal(rows.shape)
    few, more = (an.fit(rows, y, "f1", seed=0, steps=steps) for steps in (300, None))
    best = [max(e.value for e in model.evaluations) for model in (few, more)]
    assert more.best_step > 300 and best[1] > best[0] + 0.1


# -- the best evaluation ---------------------------------------------------------------------------------------------


def evaluated(values, measure, patience=2):
    """A monitor that has seen these values, ten steps apart."""
    validation = ValidationMonitor(None, None, None, measures.get(measure), Interval(10), patience)
    evaluations = [[10 * k, v, 1, 1, 1, 1, False] for k, v in enumerate(values, 1)]
    validation.restore({"evaluations": evaluations, "kept": []}, {})
    return validation


@pytest.mark.parametrize(("values", "measure", "best", "should_stop"), [
    ([0.1, 0.3, 0.2, 0.3], "f1", 20, True),
    ([0.1, 0.3, 0.2, 0.4], "f1", 40, False),
    ([0.4, 0.3, 0.2, 0.1], "kld", 40, False),
    ([0.1, 0.3, 0.2], "kld", 10, True),
    ([float("nan"), 0.3, float("nan")], "f1", 20, False),
    ([float("nan")] * 3, "kld", 10, True),
])  # fmt: skip
def test_the_direction_of_improvement_is_the_measures(values, measure, best, should_stop):
    validation = evaluated(values, measure)
    assert validation.evaluations[validation.best].step == best and validation.should_stop() is should_stop


@pytest.mark.parametrize(("values", "measure", "patient"), [
    ([0.68, 0.67, 0.66], "f1", True),  # half of the rows are positive: all positive has an F1 of .67
    ([0.75, 0.7, 0.7], "f1", False),
    ([0.52, 0.5, 0.5], "min", True),  # as at random
    ([0.6, 0.5, 0.5], "min", False),
    ([0.0, 0.1, 0.1], "kld", False),  # random predictions with the right share of positives are perfect
    ([float("nan")] * 3, "f1", True),
])  # fmt: skip
def test_patience_waits_in_the_first_half_for_a_network_that_is_hardly_better_than_chance(values, measure, patient):
    validation = evaluated(values, measure)
    assert validation.should_stop()
    validation.patient_until = 31
    assert validation.should_stop() is not patient
    validation.patient_until = 30
    assert validation.should_stop()


@pytest.mark.parametrize(("values", "measure", "best", "steady"), [
    ([0.1, 0.9, 0.1, 0.5, 0.6, 0.5, 0.1], "f1", 20, 50),
    ([0.9, 0.1, 0.5, 0.6, 0.5], "kld", 20, 30),  # means .5, .5, .4, .53, .55
    ([0.8, 0.6, 0.6], "f1", 10, 10),  # the ends have one neighbour: means .7, .67, .6
    ([0.5, 0.5, 0.5], "f1", 10, 10),
    ([0.3], "f1", 10, 10),
    ([0.2, float("nan"), 0.6, 0.5], "f1", 30, 30),
    ([float("nan"), float("nan")], "f1", 10, 10),
])  # fmt: skip
def test_the_steadily_best_evaluation_has_good_neighbours(values, measure, best, steady):
    monitor = evaluated(values, measure)
    found = [monitor.evaluations[monitor.best_of(monitor.evaluations, steadily=each)].step for each in (False, True)]
    assert found == [best, steady]


def test_patience_begins_with_the_last_phase():
    assert evaluated([0.5, 0.1, 0.1], "f1").should_stop(since=0)
    assert not evaluated([0.5, 0.1, 0.1], "f1").should_stop(since=20)


def test_earlier_phases_are_not_cut_short(functions):
    phases = Phase(CrossEntropy(0.25), 0.5), Phase(DUPLE("qmean", 0.25), 0.5)
    options = {**QUICK, "steps": 400, "validation": watching(every=2, patience=1)}
    model = fit(X, Y, "qmean", algorithm=Recipe(phases), network=functions, **options)
    assert 200 < len(model.history) < 400
    early = [e.value for e in model.evaluations if e.step <= 200]
    assert any(b <= max(early[:k]) for k, b in enumerate(early) if k)


# -- Callbacks -------------------------------------------------------------------------------------------------------


def test_a_true_answer_of_any_callback_stops_after_the_step_and_all_are_asked(functions):
    asked = []
    callbacks = [lambda step: step.step == 17, lambda step: asked.append(step.step)]
    model = fit(X, Y, network=functions, on_step=callbacks, **QUICK)
    assert len(model.history) == 17 and asked == list(range(1, 18))


def test_a_model_stopped_by_a_callback_has_the_average_of_that_step(functions):
    averages = []
    callbacks = [lambda step: averages.append(functions.averaged_parameters()), lambda step: step.step == 17]
    model = fit(X, Y, network=functions, on_step=callbacks, **QUICK)
    assert same(model.parameters, averages[-1])


# -- A collapse to one class -----------------------------------------------------------------------------------------


def noise(seed: int):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((20_000, 3)), np.where(np.arange(20_000) < 2_000, 1, 0)


@pytest.mark.parametrize(("measure", "expected"), [("f1", 2 * 0.1 / 1.1), ("min", 0.5), ("qmean", 0.5)])
def test_on_pure_noise_a_measure_ends_at_its_trivial_value(measure, expected):
    model = fit(*noise(0), measure, network=linear(3), optimizer="adam", steps=400, batch_size=256, seed=0)
    table = model.confusion_matrix(*noise(1))
    assert measures.get(measure).from_counts(*table) == pytest.approx(expected, abs=0.02)
    if measure == "f1":
        assert table.predicted_prevalence > 0.95


@pytest.mark.parametrize(("l2", "collapses"), [(1.0, True), (0.0, False)])
def test_a_classifier_that_predicts_one_class_only_is_flagged(l2, collapses):
    # A strong pull of the weights, but not of the bias, to zero: F1 on noise then takes every row for a positive.
    options = {"network": linear(3), "optimizer": "adam", "l2": l2, "steps": 400, "batch_size": 256, "seed": 0}
    model = fit(*noise(0), "f1", validation=watching(noise(1)), **options)
    last = model.evaluations[-1]
    assert last.one_class is collapses is (last.TN + last.FN == 0)
    first = collapsed_since(model.evaluations)
    assert (first is not None) is collapses
    if collapses:
        assert all(e.one_class for e in model.evaluations if e.step >= first)


# -- Sample weights --------------------------------------------------------------------------------------------------


def whole_batches(X, y, **options):
    """Deterministic but for the order of rows: every batch is the whole set."""
    functions = TrainFunctions(linear(D, dtype="float64"), "sgd")
    return fit(X, y, "qmean", network=functions, steps=40, batch_size=10**6, learning_rate=0.3, seed=0, **options)


@pytest.mark.filterwarnings("ignore:batch_size")
def test_a_row_of_weight_3_counts_as_three_rows():
    weight = np.random.default_rng(0).integers(0, 4, N_ROWS)
    weighted = whole_batches(X, Y, sample_weight=weight)
    repeated = whole_batches(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    assert weighted.prior == pytest.approx(repeated.prior) and weighted.prior != pytest.approx(0.25, abs=1e-3)
    assert weighted.decision_function(X) == pytest.approx(repeated.decision_function(X), abs=1e-8)


def test_rows_of_weight_0_are_left_out(functions):
    weight = (np.arange(N_ROWS) % 3 > 0).astype(float)
    options = {"network": functions, "validation": 0.3, **QUICK}
    masked = fit(X, Y, sample_weight=weight, **options)
    without = fit(X[weight > 0], Y[weight > 0], sample_weight=weight[weight > 0], **options)
    assert same(masked.parameters, without.parameters) and masked.evaluations == without.evaluations


def test_the_scale_of_the_weights_does_not_matter(functions):
    weight = np.random.default_rng(0).random(N_ROWS)
    first, second = (fit(X, Y, network=functions, sample_weight=c * weight, **QUICK) for c in (1, 1024))
    assert first.decision_function(X) == pytest.approx(second.decision_function(X), abs=1e-4)


# -- Refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options, message", [
    ({"validation": 0.0}, "a share of the rows strictly between 0 and 1, a number of folds of at least 2"),
    ({"validation": 1.5}, "strictly between 0 and 1"),
    ({"validation": True}, "or a pair \\(X, y\\), got True"),
    ({"validation": "half"}, "or a pair \\(X, y\\), got 'half'"),
    ({"validation": (X, Y, Y, Y)}, "or a pair"),
    ({"validation": (X, Y[:3])}, "same number of rows"),
    ({"validation": (X[:, :2], Y)}, "the 4 columns seen in training, got 2"),
    ({"validation": (X, Y + 5)}, "labels must be -1 or 1"),
    ({"validation": (X[:9], Y[:9])}, "validation needs rows of both classes, got 'only 1'"),
    ({"validation": (np.where(X > 2, np.nan, X), Y)}, "finite"),
    ({"on_step": "print"}, "on_step must be a callable or a sequence of callables"),
    ({"sample_weight": np.ones(3)}, "one weight per row"),
    ({"sample_weight": -np.ones(N_ROWS)}, "finite and not negative"),
    ({"sample_weight": np.zeros(N_ROWS)}, "above 0 for some rows of each class, got 0 for all positive rows"),
    ({"sample_weight": Y > 0}, "got 0 for all negative rows"),
])  # fmt: skip
def test_unusable_options_are_refused(options, message, functions):
    with pytest.raises(ValueError, match=message):
        fit(X, Y, network=functions, **QUICK, **options)


# -- the options of early stopping -----------------------------------------------------------------------------------


def test_early_stopping_takes_a_share_or_rows_and_leaves_the_rest_to_defaults():
    defaults = {"validation": "auto", "every": None, "patience": "auto", "tune_threshold": "auto", "refit": False}
    assert vars(EarlyStopping()) == defaults
    rows = EarlyStopping((X, Y), every=3, patience=2)
    assert rows.validation[0] is X and (rows.every, rows.patience) == (3, 2)


@pytest.mark.parametrize("options, message", [
    ({"validation": None}, "validation must be 'auto', 'last', a share of the rows.*, or a pair \\(X, y\\), got None"),
    ({"validation": 1.0}, "strictly between 0 and 1"),
    ({"validation": True}, "got True"),
    ({"validation": (X, Y, Y, Y)}, "or a pair"),
    ({"every": 0}, "every must be a whole number of at least 1, got 0"),
    ({"patience": 2.5}, "patience must be a whole number of at least 1, got 2.5"),
    ({"patience": "long"}, "patience must be 'auto', a whole number of at least 1, or None, got 'long'"),
    ({"tune_threshold": 1}, "tune_threshold must be True, False or 'auto', got 1"),
    ({"tune_threshold": None}, "tune_threshold must be True, False or 'auto', got None"),
    ({"refit": "auto"}, "refit must be True or False, got 'auto'"),
    ({"refit": True, "validation": (X, Y)}, "refit needs rows to hold out: leave it out, .* got 'rows of your own'"),
])  # fmt: skip
def test_early_stopping_checks_its_fields(options, message):
    with pytest.raises(ValueError, match=message):
        EarlyStopping(**options)
