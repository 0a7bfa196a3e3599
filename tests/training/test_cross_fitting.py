"""Networks of folds that vote: what each was trained on, what is said of rows it did not see, and where runs end."""

import copy
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp import Checkpoint, EarlyStopping, TrainFunctions, metrics, mlp
from aesara_nondecomp.metrics import Quantifier
from aesara_nondecomp.training.folds import plan_folds
from aesara_nondecomp.training.vote_scores import vote_scores

N_ROWS, D, FOLDS, STEPS, SEED = 150, 3, 4, 40, 5


def toy(seed: int = 0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(N_ROWS) % 3 == 0, 1, -1)
    return (rng.standard_normal((N_ROWS, D)) + 0.8 * y[:, None]).astype("float32"), y


X, Y = toy()


@pytest.fixture(scope="module")
def functions():
    return TrainFunctions(mlp(D, (4,), seed=0))


def fit(functions, X=X, y=Y, **options):
    """Folds of unscaled rows, so that what one network saw leaves no trace in another one's scaling."""
    given = {
        "validation": FOLDS,
        "steps": STEPS,
        "batch_size": 16,
        "learning_rate": 0.05,
        "standardize": False,
        **options,
    }
    given.setdefault("seed", SEED)
    return an.fit(X, y, given.pop("measure", "f1"), network=functions, **given)


@pytest.fixture(scope="module")
def model(functions):
    return fit(functions)


def draws():
    """The folds, and the seeds of the networks and of a last one on all rows: drawn as `fit` draws them."""
    rng = np.random.default_rng(SEED)
    folds = plan_folds(FOLDS, Y, rng)
    return folds, [int(seed) for seed in rng.integers(2**63, size=FOLDS + 1)]


def networks_of(model):
    return [model.parameters, *model.voters]


def same(first, second) -> bool:
    return len(first) == len(second) and all(a.tobytes() == b.tobytes() for a, b in zip(first, second))


def same_networks(first, second) -> bool:
    mine, theirs = networks_of(first), networks_of(second)
    return len(mine) == len(theirs) and all(same(a, b) for a, b in zip(mine, theirs))


def out_of_fold(model):
    """Scores of all rows by the network that did not see them, fold by fold, with their labels."""
    folds, _ = draws()
    scores = [
        replace(model, parameters=parameters, voters=[]).decision_function(X[fold.held])
        for fold, parameters in zip(folds, networks_of(model))
    ]
    return np.concatenate(scores), np.concatenate([Y[fold.held] for fold in folds])


def as_votes(model):
    """Those scores with the distribution of votes."""
    folds, _ = draws()
    of_each = [replace(model, parameters=p, voters=[]).decision_function(X) for p in networks_of(model)]
    held = np.concatenate([fold.held for fold in folds])
    outside = np.concatenate([np.full(len(fold.held), k) for k, fold in enumerate(folds)])
    return vote_scores(np.stack(of_each)[:, held], outside, Y[held]), Y[held]


# -- the networks ----------------------------------------------------------------------------------------------------


def test_the_score_of_a_row_is_the_mean_of_the_networks_scores(model):
    assert len(model.voters) == FOLDS - 1
    alone = [replace(model, parameters=p, voters=[]).decision_function(X) for p in networks_of(model)]
    assert len({scores.tobytes() for scores in alone}) == FOLDS
    assert model.decision_function(X) == pytest.approx(np.mean(alone, axis=0), rel=1e-5, abs=1e-6)
    assert np.array_equal(model.predict(X) == 1, model.decision_function(X) > model.threshold)


def stopped_run(functions, rows, steps, seed):
    """A plain run on some rows with the prior of all, stopped after so many steps."""
    return fit(functions, X[rows], Y[rows], validation=None, prior=float(np.mean(Y > 0)), seed=seed,
               on_step=lambda step: step.step == steps).parameters  # fmt: skip


def test_each_network_is_that_of_a_plain_run_on_its_rows_stopped_at_the_best_step(model, functions):
    folds, seeds = draws()
    for parameters, fold, seed in zip(networks_of(model), folds, seeds):
        assert same(parameters, stopped_run(functions, fold.train, model.best_step, seed))


def test_a_network_does_not_see_the_rows_held_out_from_it(functions):
    folds, _ = draws()
    changed = X.copy()
    changed[folds[1].held] += 3.0
    options = {"validation": EarlyStopping(FOLDS, every=STEPS)}  # one evaluation, so that no other step can be best
    first, second = networks_of(fit(functions, **options)), networks_of(fit(functions, changed, **options))
    assert [same(a, b) for a, b in zip(first, second)] == [False, True, False, False]


def test_a_splitter_gives_the_networks_of_its_folds(functions):
    folds, _ = draws()

    class Given:
        def split(self, X, y, groups=None):
            return iter(folds)

    first, second = fit(functions, validation=Given()), fit(functions, validation=Given())
    assert len(first.voters) == FOLDS - 1 and same_networks(first, second)


# -- what the held-out rows say --------------------------------------------------------------------------------------


def test_threshold_calibration_and_counts_are_of_scores_out_of_fold_as_votes(model):
    scores, signs = as_votes(model)
    single, _ = out_of_fold(model)
    assert np.std(scores) < np.std(single) and np.array_equal(np.argsort(scores), np.argsort(single))
    threshold, value = metrics.steady_threshold("f1", scores, signs)
    assert model.threshold == pytest.approx(threshold, abs=1e-5) and model.threshold != 0.0
    assert model.validation_matrix == metrics.confusion_at_threshold(scores, signs, model.threshold)
    assert model.validation_matrix.n == N_ROWS and metrics.score("f1", model.validation_matrix) == value
    expected = Quantifier.fit(scores, signs, model.threshold)
    assert np.array(model.quantifier.calibration) == pytest.approx(np.array(expected.calibration), rel=1e-4)
    assert model.quantifier.threshold == model.threshold
    assert np.array(model.quantifier[2:7]) == pytest.approx(np.array(expected[2:7]), rel=1e-4)
    of_networks = model.quantifier.of_networks
    expected = Quantifier.fit(single, signs, of_networks.threshold)
    assert np.array(of_networks[2:7]) == pytest.approx(np.array(expected[2:7]), rel=1e-4)
    assert np.mean(single > of_networks.threshold) == pytest.approx(np.mean(scores > threshold), abs=1.5 / N_ROWS)


@pytest.mark.parametrize("measure", ["f1", "kld", "min"])
def test_the_best_step_has_the_best_value_of_all_rows_at_the_best_threshold(measure, functions):
    model = fit(functions, measure=measure)
    scores, signs = out_of_fold(model)
    values = [e.value for e in model.evaluations]
    best = min(values) if measure == "kld" else max(values)
    assert model.best_step == model.evaluations[values.index(best)].step
    assert best == metrics.best_threshold(measure, scores, signs)[1]
    assert all(e.confusion_matrix.n == N_ROWS for e in model.evaluations)


@pytest.mark.parametrize("tuned", [False, True])
def test_the_threshold_is_the_recipes_or_the_best_one_if_asked_for(tuned, functions):
    model = fit(functions, validation=EarlyStopping(FOLDS, tune_threshold=tuned))
    scores, signs = as_votes(model)
    assert model.threshold == (metrics.best_threshold("f1", scores, signs)[0] if tuned else 0.0)
    assert model.validation_matrix == metrics.confusion_at_threshold(scores, signs, model.threshold)
    if tuned:  # the order of the rows is that of single networks, so the best value is too
        value = metrics.score("f1", model.validation_matrix)
        assert value == metrics.best_threshold("f1", *out_of_fold(model))[1]


def test_groups_are_held_out_together(functions):
    """Rows come in pairs of one group; what a pair's other row is cannot be learned from its twin."""
    groups, seen = np.arange(N_ROWS) // 6, []
    rng = np.random.default_rng(SEED)
    for train, held in plan_folds(FOLDS, Y, rng, groups):
        assert not set(groups[train]) & set(groups[held])
        seen.append(len(held))
    model = fit(functions, validation_groups=groups)
    assert model.validation_matrix.n == sum(seen) == N_ROWS
    assert not same_networks(model, fit(functions))


# -- the record ------------------------------------------------------------------------------------------------------


def test_the_record_counts_through_the_networks_and_each_has_its_own_schedule(functions):
    model = fit(functions, validation=EarlyStopping(FOLDS, patience=None))
    assert [step.step for step in model.history] == list(range(1, FOLDS * STEPS + 1))
    assert all(a.samples < b.samples and a.seconds <= b.seconds for a, b in zip(model.history, model.history[1:]))
    rates = np.reshape([step.learning_rate for step in model.history], (FOLDS, STEPS))
    assert (rates == rates[0]).all() and rates[0, 0] > rates[0, -1]
    assert [e.step for e in model.evaluations] == [10, 20, 30, 40] and model.best_step <= STEPS
    assert not model.interrupted and not model.collapsed


def test_each_network_has_its_own_patience(functions):
    model = fit(functions, steps=400, validation=EarlyStopping(FOLDS, every=2, patience=2))
    firsts = [k for k, step in enumerate(model.history) if step.learning_rate == model.history[0].learning_rate]
    lengths = np.diff([*firsts, len(model.history)])
    assert len(lengths) == FOLDS and len(set(lengths)) > 1 and max(lengths) < 400
    assert len(model.evaluations) == min(lengths) // 2


def test_a_network_is_trained_no_further_than_the_shortest_one_before_it(functions):
    options = {"steps": 400, "prior": float(np.mean(Y > 0))}
    model = fit(functions, validation=EarlyStopping(FOLDS, every=2, patience=2), **options)
    firsts = [k for k, step in enumerate(model.history) if step.learning_rate == model.history[0].learning_rate]
    folds, seeds = draws()
    alone = []  # steps of networks that know of no other
    for fold, seed in zip(folds, seeds):
        stopping = EarlyStopping((X[fold.held], Y[fold.held]), every=2, patience=2)
        run = fit(functions, X[fold.train], Y[fold.train], seed=seed, validation=stopping, **options)
        alone.append(len(run.history))
    assert np.diff([*firsts, len(model.history)]).tolist() == np.minimum.accumulate(alone).tolist()
    assert alone != np.minimum.accumulate(alone).tolist()
    assert len(model.evaluations) == min(alone) // 2


# -- to the last bit -------------------------------------------------------------------------------------------------


def outcome(model):
    """All that a call returns but the weights and the clock."""
    history = [step._replace(seconds=0.0) for step in model.history]
    return (model.threshold, model.quantifier, model.validation_matrix, model.evaluations, model.best_step, history,
            model.interrupted, model.collapsed)  # fmt: skip


def test_equal_calls_give_equal_networks_and_other_seeds_others(model, functions):
    again, other = fit(functions), fit(functions, seed=6)
    assert same_networks(model, again) and outcome(model) == outcome(again)
    assert not any(same(a, b) for a, b in zip(networks_of(model), networks_of(other)))


@pytest.mark.parametrize("stops", [(95,), (1, 40, 41, 80, 120, 159), (100, 101, 102)], ids=str)
def test_a_run_stopped_in_a_fold_and_resumed_ends_as_the_undisturbed_one(stops, functions, tmp_path):
    options = {"validation": EarlyStopping(FOLDS, every=7, patience=None)}
    undisturbed = fit(functions, **options)
    kept = Checkpoint(tmp_path / "run.npz", every=9, resume=True)
    for stop in stops:
        stopped = fit(functions, checkpoint=kept, on_step=lambda step, stop=stop: step.step == stop, **options)
        assert stopped.interrupted and len(stopped.history) == stop
        functions.initialise(1000 + stop)
    made = []
    resumed = fit(functions, checkpoint=kept, on_step=lambda step: made.append(step.step), **options)
    assert made == list(range(stops[-1] + 1, FOLDS * STEPS + 1))
    assert same_networks(undisturbed, resumed) and outcome(undisturbed) == outcome(resumed)


def test_a_finished_run_or_one_out_of_patience_is_returned_without_another_step(functions, tmp_path):
    options = {"steps": 400, "validation": EarlyStopping(FOLDS, every=2, patience=2)}
    first = fit(functions, checkpoint=tmp_path / "run.npz", **options)
    made = []
    again = fit(functions, checkpoint=Checkpoint(tmp_path / "run.npz", resume=True), on_step=made.append, **options)
    assert made == [] and same_networks(first, again) and outcome(first) == outcome(again)


def test_a_checkpoint_of_another_number_of_folds_is_refused(functions, tmp_path):
    fit(functions, checkpoint=tmp_path / "run.npz", on_step=lambda step: step.step == 50)
    with pytest.raises(ValueError, match="is of another run: it differs in .*networks"):
        fit(functions, validation=3, checkpoint=Checkpoint(tmp_path / "run.npz", resume=True))


# -- ended early -----------------------------------------------------------------------------------------------------


def test_a_callback_that_stops_in_the_first_fold_leaves_one_network(functions):
    folds, seeds = draws()
    model = fit(functions, on_step=lambda step: step.step == 25)
    assert model.interrupted and model.voters == [] and len(model.history) == 25
    assert model.validation_matrix.n == len(folds[0].held) and [e.step for e in model.evaluations] == [10, 20]
    assert same(model.parameters, stopped_run(functions, folds[0].train, model.best_step, seeds[0]))


def test_a_callback_that_stops_before_the_first_evaluation_leaves_the_averaged_weights_uncalibrated(functions):
    folds, seeds = draws()
    model = fit(functions, on_step=lambda step: step.step == 5)
    assert model.quantifier is None and model.evaluations == [] and model.best_step is None and model.threshold == 0.0
    assert same(model.parameters, stopped_run(functions, folds[0].train, 5, seeds[0]))


def test_ctrl_c_in_a_later_fold_leaves_the_networks_so_far_and_says_so(functions):
    folds, _ = draws()

    def press(step):
        if step.step == STEPS + 35:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match=f"interrupted after 75 of {FOLDS * STEPS} steps") as found:
        model = fit(functions, on_step=press, validation=EarlyStopping(FOLDS, patience=None))
    assert len(found) == 1 and found[0].filename == __file__
    assert model.interrupted and len(model.history) == 75
    assert model.validation_matrix.n == sum(len(fold.held) for fold in folds[: 1 + len(model.voters)])


def test_a_network_barely_begun_does_not_take_the_others_back_to_their_first_steps(functions):
    options = {"validation": EarlyStopping(FOLDS, patience=None)}
    two, barely_three = (
        fit(functions, on_step=lambda step, stop=stop: step.step == stop, **options)
        for stop in (2 * STEPS, 2 * STEPS + 12)
    )
    assert two.best_step > 10
    assert barely_three.best_step == two.best_step
    assert barely_three.value(*toy(seed=9)) >= two.value(*toy(seed=9)) - 0.02


# -- once more on all rows -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("held_out", [FOLDS, 0.25])
def test_refit_trains_on_all_rows_for_the_best_number_of_steps(held_out, functions):
    chosen = fit(functions, validation=EarlyStopping(held_out, refit=True, patience=None))
    rng = np.random.default_rng(SEED)
    count = len(plan_folds(held_out, Y, rng))
    seed = int(rng.integers(2**63, size=count + 1)[-1])
    assert chosen.voters == []
    assert same(chosen.parameters, stopped_run(functions, np.arange(N_ROWS), chosen.best_step, seed))
    assert [step.step for step in chosen.history] == list(range(1, count * STEPS + chosen.best_step + 1))


def test_callbacks_are_called_with_the_steps_of_the_refit_too(functions):
    seen = []
    stopping = EarlyStopping(FOLDS, refit=True, patience=None)
    model = fit(functions, validation=stopping, on_step=lambda step: seen.append(step.step))
    assert seen == list(range(1, FOLDS * STEPS + model.best_step + 1))


def test_the_threshold_and_calibration_of_a_refit_are_of_single_networks_as_it_is_one(model, functions):
    again = fit(functions, validation=EarlyStopping(FOLDS, refit=True))
    assert again.best_step == model.best_step and again.evaluations == model.evaluations
    scores, signs = out_of_fold(model)
    threshold, _ = metrics.steady_threshold("f1", scores, signs)
    assert again.threshold == pytest.approx(threshold, abs=1e-5)
    expected = Quantifier.fit(scores, signs, again.threshold)
    assert np.array(again.quantifier.calibration) == pytest.approx(np.array(expected.calibration), rel=1e-4)


def test_ctrl_c_while_refitting_leaves_the_networks_of_the_folds(functions, monkeypatch):
    made, ascend = [], functions.ascend

    def press(*arguments):
        made.append(1)
        if len(made) == FOLDS * STEPS + 3:
            raise KeyboardInterrupt
        return ascend(*arguments)

    monkeypatch.setattr(functions, "ascend", press)
    with pytest.warns(UserWarning, match="interrupted"):
        try:
            model = fit(functions, validation=EarlyStopping(FOLDS, refit=True, patience=None))
        except KeyboardInterrupt:  # would end the whole suite
            pytest.fail("Ctrl-C lost the networks of all folds")
    assert model.interrupted and len(model.voters) == FOLDS - 1


def test_refit_of_a_resumed_run_is_that_of_the_undisturbed_one(functions, tmp_path):
    options = {"validation": EarlyStopping(FOLDS, refit=True)}
    undisturbed = fit(functions, **options)
    kept = Checkpoint(tmp_path / "run.npz", every=9, resume=True)
    stopped = fit(functions, checkpoint=kept, on_step=lambda step: step.step == 95, **options)
    assert stopped.interrupted and len(stopped.history) == 95
    resumed = fit(functions, checkpoint=kept, **options)
    assert same_networks(undisturbed, resumed) and outcome(undisturbed)[:5] == outcome(resumed)[:5]


# -- the model -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["saved", "pickled", "copied"])
def test_voters_come_along_to_files_pickles_and_copies(way, model, tmp_path):
    if way == "saved":
        model.save(tmp_path / "model.npz")
        other = an.load_model(tmp_path / "model.npz")
    else:
        other = pickle.loads(pickle.dumps(model)) if way == "pickled" else copy.deepcopy(model)
    assert same_networks(model, other) and other.threshold == model.threshold
    assert np.array_equal(other.decision_function(X), model.decision_function(X))
    assert np.array_equal(other.predict_proba(X), model.predict_proba(X))


@pytest.mark.filterwarnings("ignore:the model to train further may have been")
def test_training_on_from_a_model_starts_each_fold_from_a_network_of_it(model, functions):
    again = fit(model, steps=1, learning_rate=1e-12, standardize=True)
    for mine, theirs in zip(networks_of(again), networks_of(model)):
        assert all(a == pytest.approx(b, abs=1e-5) for a, b in zip(mine, theirs))


def test_rows_that_tell_nothing_give_a_model_that_predicts_one_class_and_says_so_once(functions, tmp_path):
    y = np.where(np.arange(N_ROWS) % 5 == 0, 1, -1)[: N_ROWS - N_ROWS % (5 * FOLDS)]
    nothing = np.zeros((len(y), D), dtype="float32")
    with pytest.warns(UserWarning, match="no threshold was better for f1 than to predict one class only") as found:
        model = fit(functions, nothing, y)
    assert len(found) == 1 and found[0].filename == __file__
    assert model.collapsed and model.threshold == -math.inf and (model.predict(X) == 1).all()
    assert model.validation_matrix == (np.sum(y > 0), 0, np.sum(y < 0), 0)
    model.save(tmp_path / "model.npz")
    loaded = an.load_model(tmp_path / "model.npz")
    assert loaded.collapsed and loaded.threshold == -math.inf


def test_weights_of_the_rows_held_out_reach_threshold_and_calibration(functions):
    weight = np.where(Y > 0, 20.0, 1.0)
    weighted, plain = fit(functions, sample_weight=weight), fit(functions)
    assert weighted.quantifier.prior == pytest.approx(weight[Y > 0].sum() / weight.sum())
    assert plain.quantifier.prior == pytest.approx(np.mean(Y > 0))
    assert weighted.validation_matrix.TP + weighted.validation_matrix.FN == weight[Y > 0].sum()
    means = [np.average(m.predict_proba(X)[:, 1], weights=w) for m, w in ((weighted, weight), (plain, None))]
    assert means == pytest.approx([weighted.quantifier.prior, plain.quantifier.prior], abs=0.1)


def test_a_fixed_threshold_that_predicts_one_class_is_named_in_the_warning(functions):
    rare = np.where(np.arange(N_ROWS) % 10 == 0, 1, -1)
    noise = np.random.default_rng(1).standard_normal((N_ROWS, D)).astype("float32")
    with pytest.warns(UserWarning, match="predicts one class only at the algorithm's threshold of 0") as caught:
        collapsed = fit(functions, noise, rare, measure="accuracy", algorithm="cross_entropy", steps=100)
    assert len(caught) == 1 and collapsed.collapsed and collapsed.threshold == 0
