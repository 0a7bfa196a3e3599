"""`fit`: reproducible, whatever the coding of the labels, in phases, and without side effects between fits."""

import hashlib
import subprocess
import sys
import warnings

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp import Recipe, TrainFunctions, measures, metrics, mlp
from aesara_nondecomp._aesara.imports import aesara
from aesara_nondecomp.drivers import DAME, CrossEntropy
from aesara_nondecomp.training.recipes import Phase
from aesara_nondecomp.training.run import _round_data

N_ROWS, D = 240, 4
QUICK = {"steps": 60, "batch_size": 32}


def fit(*data, **options):
    """`an.fit` on all rows at a constant rate, unless a test says otherwise."""
    return an.fit(*data, **{"validation": None, "schedule": "constant", **options})


def toy(seed: int = 0):
    """Two overlapping clouds, a quarter of the rows positive."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(N_ROWS) < N_ROWS // 4, 1, -1)
    return rng.standard_normal((N_ROWS, D)) + 0.8 * y[:, None] / np.sqrt(D) * 2, y


X, Y = toy()


@pytest.fixture(scope="module")
def functions():
    return TrainFunctions(mlp(D, (6,), seed=0))


def same(first, second) -> bool:
    """Whether two lists of arrays are equal to the last bit."""
    return all(a.tobytes() == b.tobytes() for a, b in zip(first, second))


# -- Reproducible ----------------------------------------------------------------------------------------------------


def test_equal_seeds_give_equal_models_to_the_last_bit_and_other_seeds_do_not(functions):
    first, again, other = (fit(X, Y, "qmean", network=functions, seed=s, **QUICK) for s in (3, 3, 4))
    assert same(first.parameters, again.parameters)
    assert not same(first.parameters, other.parameters)
    assert [step.gradient_norm for step in first.history] == [step.gradient_norm for step in again.history]


def test_functions_used_before_give_the_model_of_fresh_ones(functions):
    fresh = fit(X, Y, "f1", network=(6,), optimizer="adam", seed=3, **QUICK)
    fit(X, Y, "kld", network=functions, seed=8, **QUICK)
    assert same(fresh.parameters, fit(X, Y, "f1", network=functions, seed=3, **QUICK).parameters)


CODINGS = {
    "0/1": (Y > 0).astype(int),
    "booleans": Y > 0,
    "words": np.where(Y > 0, "spam", "ham"),
    "unsigned bytes": np.where(Y > 0, 255, 7).astype("uint8"),
    "objects": np.where(Y > 0, "yes", "no").astype(object),
    "a list of floats": [1.5 if sign > 0 else -2.5 for sign in Y],
}


@pytest.mark.parametrize("name", CODINGS)
def test_the_coding_of_the_labels_does_not_matter(name, functions):
    reference = fit(X, Y, "qmean", network=functions, seed=3, **QUICK)
    coded = fit(X, CODINGS[name], "qmean", network=functions, seed=3, **QUICK)
    assert same(reference.parameters, coded.parameters)
    predicted = coded.predict(X)
    assert np.array_equal(predicted == coded.classes[1], reference.predict(X) == 1)
    assert coded.score(X, CODINGS[name]) == reference.score(X, Y)


IN_ANOTHER_PROCESS = """
import hashlib
import sys
import numpy as np
from aesara_nondecomp import fit
data = np.load(sys.argv[1])
model = fit(data["X"], data["y"], "bakld", network=(6,), seed=5, steps=60, batch_size=32, optimizer="adam",
            validation=None, schedule="constant")
print(hashlib.sha256(b"".join(p.tobytes() for p in model.parameters)).hexdigest())
"""


def test_another_process_gives_the_same_bits(tmp_path, functions):
    here = fit(X, Y, "bakld", network=functions, seed=5, **QUICK)
    np.savez(tmp_path / "toy.npz", X=X, y=Y)
    command = [sys.executable, "-c", IN_ANOTHER_PROCESS, str(tmp_path / "toy.npz")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    digest = hashlib.sha256(b"".join(p.tobytes() for p in here.parameters)).hexdigest()
    assert done.stdout.split()[-1] == digest


# -- Phases ----------------------------------------------------------------------------------------------------------


def watched_fit(functions, **options):
    """A model, and the parameters after each of its steps."""
    path = []
    model = fit(X, Y, network=functions, seed=1, on_step=lambda step: path.append(functions.parameters()), **options)
    return model, path


def test_the_papers_dame_trains_all_layers_first_and_the_head_alone_after(functions):
    model, path = watched_fit(functions, measure="f1", algorithm="paper", steps=240, batch_size=32)
    first, second = path[:120], path[120:]
    assert not any(same([a], [b]) for a, b in zip(first[0], first[-1]))
    handed_over = first[-1]
    for parameters in second:
        assert same(parameters[:-2], handed_over[:-2])
    assert not same(second[0][-2:], second[-1][-2:])
    assert same(model.parameters, path[-1])  # the paper's last weights, no average


def test_the_papers_dame_takes_its_level_afresh_every_50_steps(functions):
    model, _ = watched_fit(functions, measure="f1", algorithm="paper", steps=260, batch_size=32)
    assert all(step.duals == {} for step in model.history[:130])
    levels = [step.duals["v"] for step in model.history[130:]]
    rounds = [set(levels[start : start + 50]) for start in (0, 50, 100)]
    assert [len(values) for values in rounds] == [1, 1, 1]
    assert len(set.union(*rounds)) == 3


def test_the_level_of_a_round_is_the_measure_on_the_training_rows(functions):
    model, path = watched_fit(functions, measure="f1", algorithm="paper", steps=100, batch_size=32)
    with functions.using(path[49]):
        scores = functions.scores(model.encoder.transform(X)).astype(float)
    right = 1 / (1 + np.exp(-Y * scores))
    soft = [right[Y == sign].mean() for sign in (1, -1)]
    assert model.history[50].duals["v"] == pytest.approx(measures.get("f1").value(*soft, 0.25), abs=1e-5)


@pytest.mark.parametrize("rows", [1, 5, 100, N_ROWS, 10**6])
def test_the_rows_of_a_round_hold_both_classes(rows):
    rare = np.where(np.arange(N_ROWS) < 2, 1, -1)
    for seed in range(20):
        _, y = _round_data(X, rare, rows, np.random.default_rng(seed))
        assert set(y) == {-1.0, 1.0} and min(rows, N_ROWS) <= len(y) <= min(rows + 2, N_ROWS)


def test_phases_share_the_steps_and_the_record_counts_through(functions):
    shares = (0.2, 0.3, 0.5)
    recipe = Recipe(tuple(Phase(CrossEntropy(0.25), share) for share in shares), averaging=0.9)
    model, path = watched_fit(functions, algorithm=recipe, steps=50, batch_size=32)
    assert [step.step for step in model.history] == list(range(1, 51))
    assert all(a.samples < b.samples and a.seconds <= b.seconds for a, b in zip(model.history, model.history[1:]))
    # Each phase ends on its averaged weights, so the steps after it do not go on from the last ones.
    jumps = [np.abs(b[0] - a[0]).max() for a, b in zip(path, path[1:])]
    assert {9, 24} == set(np.argsort(jumps)[-2:])
    assert not same(model.parameters, path[-1])


def test_each_phase_starts_with_an_optimiser_that_remembers_nothing(functions):
    recipe = Recipe((Phase(CrossEntropy(0.25), 0.5), Phase(CrossEntropy(0.25), 0.5)), learning_rate=0.01, averaging=0.0)
    _, path = watched_fit(functions, algorithm=recipe, steps=20, batch_size=32)
    # Adam's first step moves an entry by the learning rate exactly, whatever the size of its gradient.
    first_moves = np.concatenate([np.abs(b - a).ravel() for a, b in zip(path[9], path[10])])
    assert first_moves[first_moves > 1e-4] == pytest.approx(0.01, abs=1e-4)
    assert (first_moves > 1e-4).sum() > 10


# -- One compilation -------------------------------------------------------------------------------------------------


def test_one_compiled_step_serves_five_measures_and_all_algorithms(monkeypatch):
    compiled, real = [], aesara.function
    monkeypatch.setattr(aesara, "function", lambda *a, **k: compiled.append(k["name"]) or real(*a, **k))
    functions = TrainFunctions(mlp(D, (6,), seed=0))
    runs = [("qmean", "duple"), ("min", "duple_ns"), ("qmeasure", "denim"), ("f1", "dame"), ("cqreward", "dame_ns"),
            ("f1", "cross_entropy"), ("f1", "class_weighted")]  # fmt: skip
    for measure, algorithm in runs:
        fit(X, Y, measure, algorithm=algorithm, network=functions, seed=1, steps=60, batch_size=32).predict(X)
    assert sorted(compiled) == ["ascend", "class_sums", "scores_of_raw"]


# -- The model -------------------------------------------------------------------------------------------------------


def test_a_later_fit_with_the_same_functions_does_the_model_no_harm(functions):
    model = fit(X, Y, "qmean", network=functions, seed=3, **QUICK)
    before, score = model.decision_function(X), model.score(X, Y)
    fit(X, -Y, "f1", network=functions, seed=9, **QUICK)
    assert np.array_equal(model.decision_function(X), before) and model.score(X, Y) == score


def test_fitting_leaves_the_callers_arrays_alone(functions):
    mine, labels = X.copy(), Y.copy()
    fit(mine, labels, "f1", network=functions, seed=3, **QUICK)
    assert np.array_equal(mine, X) and np.array_equal(labels, Y)


@pytest.mark.parametrize("name", ["qmean", "min", "f1", "qmeasure", "cqreward", "jaccard"])
def test_training_beats_the_trivial_classifiers_on_rows_not_seen(name, functions):
    model = fit(X, Y, name, network=functions, seed=3, steps=300, batch_size=64)
    unseen = toy(seed=1)
    trivial = measures.get(name).trivial(0.25)
    assert model.value(*unseen) > trivial + 0.4 * (1 - trivial)


def test_a_prior_to_train_for_moves_the_decisions_its_way(functions):
    with pytest.warns(UserWarning, match="far from"):
        rare, common = (fit(X, Y, "accuracy", network=functions, seed=3, prior=p, **QUICK) for p in (0.02, 0.9))
    assert (rare.predict(X) > 0).sum() < (common.predict(X) > 0).sum()


def test_a_batch_larger_than_the_data_is_the_whole_set(functions):
    with pytest.warns(UserWarning, match="exceeds the 240 training rows"):
        large = fit(X, Y, "qmean", network=functions, seed=3, steps=5, batch_size=1000)
    whole = fit(X, Y, "qmean", network=functions, seed=3, steps=5, batch_size=N_ROWS)
    assert same(large.parameters, whole.parameters)
    assert large.history[-1].samples == 5 * N_ROWS


@pytest.mark.parametrize("rows", [60, 240])
def test_the_default_batch_is_the_whole_of_a_small_set_without_a_warning(rows, functions):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit(X[:rows], np.arange(rows) % 3 == 0, "qmean", network=functions, seed=3, steps=5)
        voting = fit(X, Y, "qmean", network=functions, seed=3, steps=5, validation=3)
    assert model.history[-1].samples == 5 * rows
    assert voting.history[0].samples == N_ROWS * 2 // 3


def press_ctrl_c(step):
    raise KeyboardInterrupt


WARNED = {
    "prior": ({"prior": 0.9}, "far from"),
    "batch_size": ({"batch_size": 1000}, "exceeds the 240 training rows"),
    "interruption": ({"on_step": press_ctrl_c}, "interrupted after 1 of 2 steps"),
}


@pytest.mark.parametrize("name", WARNED)
def test_a_warning_points_at_the_callers_line(name, functions):
    options, message = WARNED[name]
    with pytest.warns(UserWarning, match=message) as found:
        fit(X, Y, network=functions, seed=3, **{"steps": 2, "batch_size": 32, **options})
    assert [warning.filename for warning in found] == [__file__]


def test_a_recipe_of_ones_own_replaces_algorithm_and_preset(functions):
    recipe = Recipe((Phase(DAME("jaccard", 0.25)),), learning_rate=0.02, averaging=0.0)
    model, path = watched_fit(functions, measure="f1", algorithm=recipe, **QUICK)
    assert model.history[0].learning_rate == 0.02 and set(model.history[0].duals) == {"v"}
    assert model.measure == measures.get("f1") and same(model.parameters, path[-1])


@pytest.mark.parametrize("measure", ["min", "f1", "bakld"])
def test_batches_of_one_row_train(measure, functions):
    model = fit(X, Y, measure, network=functions, seed=0, batch_size=1, steps=1500)
    assert model.value(X, Y, "qmean") > measures.QMean().trivial(0.25) + 0.2
    assert all(step.samples == step.step for step in model.history)


FRAUD = np.where(Y > 0, "fraud", "ok")


@pytest.mark.parametrize(("labels", "measure", "options", "told"), [
    (FRAUD, "f1", {}, True),
    (FRAUD, "min", {"constraints": an.gap("tpr", at_most=0.3), "groups": np.arange(len(Y)) % 2}, True),
    (FRAUD, "f1", {"positive": "ok"}, False),
    (FRAUD, "min", {}, False),
    (FRAUD, "kld", {}, False),
    (np.where(Y > 0, "yes", "no"), "f1", {}, False),
    (Y < 0, "f1", {}, False),
])  # fmt: skip
def test_text_that_is_taken_as_positive_though_most_rows_have_it_is_told(functions, labels, measure, options, told):
    assert np.mean(Y > 0) < 0.5
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit(X, labels, measure, network=functions, seed=1, steps=2, batch_size=32, validation=None, **options)
    found = [str(each.message) for each in caught if "is the positive label" in str(each.message)]
    assert len(found) == told
    if told:
        assert found[0].startswith("'ok' is the positive label") and "positive='fraud'" in found[0]


FEW = np.arange(N_ROWS) < 9
OF_FEW = {
    "two classes": (FEW, "qmean", "9 of True"),
    "three classes": (np.where(FEW, 2, np.arange(N_ROWS) % 2), "min_recall", "9 of 2"),
    "labels": (np.c_[np.arange(N_ROWS) % 2, ~FEW], "f1", "9 of rows without 1"),
}


@pytest.mark.parametrize("kind", OF_FEW)
def test_a_class_or_label_of_which_few_rows_are_held_out_is_named(kind):
    y, measure, named = OF_FEW[kind]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        an.fit(X, y, measure, network=(4,), seed=1, steps=2, validation=3)
    assert [named in str(each.message) for each in caught if "few rows are held out" in str(each.message)] == [True]


@pytest.mark.parametrize(("validation", "told"), [(0.3, True), (3, True), ((X, Y), False), (None, False)])
def test_rows_that_a_model_to_train_further_may_have_seen_are_told(functions, validation, told):
    model = fit(X, Y, "qmean", network=functions, seed=1, steps=5, batch_size=32)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit(X, Y, "qmean", network=model, seed=1, steps=5, batch_size=32, validation=validation)
    assert sum("may have been trained on the rows" in str(each.message) for each in caught) == told


@pytest.mark.parametrize("validation", [3, 0.3, (X, Y)])
@pytest.mark.filterwarnings("ignore:prior = 0.05 is far from")
def test_rows_held_out_stand_for_the_prior_asked_for(functions, validation):
    options = {"network": functions, "seed": 1, "validation": validation, **QUICK}
    plain, rare = (fit(X, Y, "f1", prior=prior, **options) for prior in (None, 0.05))
    assert rare.validation_matrix.prevalence == pytest.approx(0.05)
    assert rare.validation_matrix.n == pytest.approx(plain.validation_matrix.n)
    assert rare.predict_proba(X)[:, 1].mean() < plain.predict_proba(X)[:, 1].mean() - 0.05


@pytest.mark.filterwarnings("ignore:prior = 0.05 is far from")
def test_the_threshold_is_chosen_for_the_prior_asked_for(functions):
    model = fit(X, Y, "f1", prior=0.05, network=functions, seed=1, validation=(X, Y), **QUICK)
    weight = np.where(Y > 0, 0.05 / 0.25, 0.95 / 0.75)
    threshold, _ = metrics.steady_threshold("f1", model.decision_function(X), Y, weight)
    assert model.threshold == pytest.approx(threshold, abs=1e-6)


def test_a_model_is_trained_further_on_its_own_measure_and_constraints_unless_others_are_given(functions):
    asked = (measures.at_least("precision", 0.4),)
    rest = {"seed": 1, "steps": 5, "batch_size": 32, "validation": (X, Y)}
    model = fit(X, Y, "qmean", network=functions, constraints=asked, **rest)
    again = fit(X, Y, network=model, **rest)
    assert (again.measure, again.constrained_by) == (model.measure, asked)
    other = fit(X, Y, "min", network=model, constraints=(), **rest)
    assert (str(other.measure), other.constrained_by) == ("min", ())
    assert str(fit(X, Y, network=functions, **rest).measure) == "f1"


def test_a_model_trained_further_keeps_its_positive_label(functions):
    rest = {"seed": 1, "steps": 5, "batch_size": 32, "validation": (X, Y)}
    model = fit(X, Y, "qmean", network=functions, positive=-1, **rest)
    assert fit(X, Y, network=model, **rest).classes == model.classes == (1, -1)
    with pytest.raises(ValueError, match="keeps its positive label, -1, got 1"):
        fit(X, Y, network=model, positive=1, **rest)
    with pytest.raises(ValueError, match="labels must be 1 or -1, as in training, got \\[False\\]"):
        fit(X, Y > 0, network=model, seed=1, steps=5, batch_size=32, validation=None)


def test_a_vote_trained_further_with_fewer_networks_says_so(functions):
    model = fit(X, Y, "qmean", network=functions, seed=1, validation=3, **QUICK)
    with pytest.warns(UserWarning, match="from the first 1 of the 3 networks that vote"):
        assert fit(X, Y, network=model, seed=1, validation=(X, Y), **QUICK).voters == []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert len(fit(X, Y, network=model, seed=1, validation=3, **QUICK).voters) == 2
    assert not any("networks that vote" in str(each.message) for each in caught)


@pytest.mark.parametrize("kind", ["two classes", "classes", "labels"])
def test_a_model_read_from_a_file_is_trained_further_as_the_one_saved(tmp_path, kind):
    y, measure = {"two classes": (Y, "qmean"), "classes": (Y, "min_recall"),
                  "labels": (np.stack([Y > 0, X[:, 0] > 0], axis=1), "macro_f1")}[kind]  # fmt: skip
    rest = {"seed": 1, "validation": None, **QUICK}
    model = fit(X, y, measure, network=(6,), **rest)
    model.save(tmp_path / "m")
    further = [fit(X, y, network=each, **rest).parameters for each in (model, an.load_model(tmp_path / "m"))]
    assert same(*further)


def test_a_splitter_is_not_asked_for_rows_without_those_of_weight_zero(functions):
    from sklearn.model_selection import KFold

    with pytest.raises(ValueError, match="those of weight 0 take no part: leave them out, got '5 of them'"):
        fit(X, Y, network=functions, validation=KFold(3), sample_weight=np.arange(N_ROWS) >= 5)
