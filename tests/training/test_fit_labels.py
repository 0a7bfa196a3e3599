"""`fit` for a matrix of labels: against labels trained one by one, brute force, itself resumed, and what it refuses."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp import metrics
from aesara_nondecomp.data.label_sets import LabelSets
from aesara_nondecomp.drivers.multiclass import label_cells
from aesara_nondecomp.measures import Averaged, multiclass
from aesara_nondecomp.metrics.calibration import Calibration
from aesara_nondecomp.models import MultilabelModel, label_model
from aesara_nondecomp.networks import mlp
from aesara_nondecomp.step.label_functions import LabelFunctions
from aesara_nondecomp.training import Phase, Recipe
from aesara_nondecomp.training.cross_fitting import Choice
from aesara_nondecomp.training.label_folds import plan_label_folds
from aesara_nondecomp.training.label_held_out import label_model_fields
from aesara_nondecomp.training.label_recipes import label_recipe

ANGLES = np.array([0.0, 2.0, 4.0])
OFFSETS = np.array([0.5, 1.0, 1.5])


def fans(n=1200, seed=0):
    """Rows of three labels of 35, 25 and 15 %, each in another direction, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    along = X @ np.stack([np.cos(ANGLES), np.sin(ANGLES)])
    return X.astype("float32"), (along + rng.normal(size=(n, 3)) > OFFSETS).astype(int)


X, Y = fans()
NEW, Y_NEW = fans(6000, seed=1)
QUICK = {"network": (8,), "steps": 200, "batch_size": 256, "averaging": 0.9, "seed": 0}
ONE_PART = {**QUICK, "validation": 0.25}


@pytest.fixture(scope="module")
def model():
    """Five networks of folds."""
    return an.fit(X, Y, "f1", **QUICK)


def test_a_plain_call_gives_a_model_of_all_labels(model):
    assert isinstance(model, MultilabelModel) and str(model.measure) == "macro_f1" and len(model.voters) == 4
    predicted, scores = model.predict(NEW), model.decision_function(NEW)
    assert predicted.shape == scores.shape == (6000, 3) and set(predicted.ravel()) == {0, 1}
    np.testing.assert_array_equal(predicted, scores > model.thresholds)
    by_hand = [2 * np.sum(p & t) / (p.sum() + t.sum()) for p, t in zip(predicted.T, Y_NEW.T)]
    assert model.value(NEW, Y_NEW) == pytest.approx(np.mean(by_hand), rel=1e-12)
    assert [row.f1 for row in model.by_label(NEW, Y_NEW).rows] == pytest.approx(by_hand)
    micro = 2 * np.sum(predicted & Y_NEW) / (predicted.sum() + Y_NEW.sum())
    assert model.value(NEW, Y_NEW, "micro_f1") == pytest.approx(micro, rel=1e-12)
    np.testing.assert_allclose(model.priors, Y.mean(axis=0))


def test_thresholds_of_labels_make_macro_f1_far_better_than_that_of_cross_entropy(model):
    usual = an.fit(X, Y, "f1", algorithm="cross_entropy", **QUICK)
    np.testing.assert_array_equal(usual.thresholds, 0)
    assert model.value(NEW, Y_NEW) > usual.value(NEW, Y_NEW) + 0.05


def test_probabilities_are_calibrated_label_by_label(model):
    probabilities = model.predict_proba(NEW)
    np.testing.assert_allclose(probabilities.mean(axis=0), Y_NEW.mean(axis=0), atol=0.05)
    for low, high in ((0.1, 0.4), (0.4, 0.7), (0.7, 0.95)):
        chosen = (probabilities > low) & (probabilities < high)
        assert np.mean(Y_NEW[chosen]) == pytest.approx(probabilities[chosen].mean(), abs=0.07)


def test_the_plug_in_has_the_best_threshold_of_each_label_or_one_for_all():
    """Held-out rows of our own, so that the scores by which thresholds were chosen can be computed again."""
    held = NEW[:300], Y_NEW[:300]
    by_label = an.fit(X, Y, "f1", algorithm="plug_in", **{**QUICK, "validation": held})
    for k, (scores, signs) in enumerate(zip(by_label.decision_function(held[0]).T, 2 * held[1].T - 1)):
        cuts = [-np.inf, *np.sort(scores)]
        best = max(metrics.score("f1", metrics.confusion_at_threshold(scores, signs, cut)) for cut in cuts)
        found = metrics.confusion_at_threshold(scores, signs, by_label.thresholds[k])
        assert metrics.score("f1", found) == pytest.approx(best)
    pooled = an.fit(X, Y, "micro_f1", algorithm="plug_in", **{**QUICK, "validation": held})
    scores, signs = pooled.decision_function(held[0]).ravel(), 2 * held[1].ravel() - 1
    assert set(pooled.thresholds) == {metrics.best_threshold("f1", scores, signs)[0]}


def test_training_for_a_measure_is_level_with_the_plug_in():
    direct, usual = (an.fit(X, Y, "min", algorithm=name, **ONE_PART) for name in ("auto", "plug_in"))
    assert direct.value(NEW, Y_NEW) == pytest.approx(usual.value(NEW, Y_NEW), abs=0.03)
    assert len(direct.history[-1].duals) % 3 == 0 and direct.history[-1].duals and not usual.history[-1].duals


def test_a_linear_network_of_labels_is_that_of_each_label_by_itself():
    """Plain gradients of a mean of three objectives, at three times the rate, on the same batches."""
    options = {"algorithm": "cross_entropy", "optimizer": "sgd", "steps": 30, "validation": None, "seed": 3}
    joint = an.fit(X, Y, network=lambda d: zeroed(mlp(d, (), n_scores=3)), learning_rate=0.6, **options)
    own = an.fit(X, Y[:, 1], network=lambda d: zeroed(an.linear(d)), learning_rate=0.2, **options)
    found = joint.decision_function(NEW)[:, 1]
    np.testing.assert_allclose(found, own.decision_function(NEW), rtol=2e-4, atol=2e-5)


def zeroed(network):
    network._initial = [np.zeros_like(value) for value in network._initial]
    network._draw = None
    return network


def test_copies_pickles_and_files_predict_alike(tmp_path, model):
    path = tmp_path / "labels.model"
    model.save(path)
    loaded = an.load_model(path)
    assert isinstance(loaded, MultilabelModel) and loaded.measure == model.measure and loaded.labels == model.labels
    for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model)), loaded):
        for method in ("decision_function", "predict_proba", "predict"):
            np.testing.assert_array_equal(getattr(other, method)(NEW[:50]), getattr(model, method)(NEW[:50]))


def test_a_copy_has_weights_and_thresholds_of_its_own(model):
    before, twin = model.predict(NEW), copy.copy(model)
    twin.parameters[-1] += 1
    twin.thresholds -= 1
    assert not np.array_equal(twin.predict(NEW), before)
    assert np.array_equal(model.predict(NEW), before)


ALTERED = {
    "labels": {"labels": (0, 1)},
    "priors": {"priors": np.array([0.5, 0.5, 1.0])},
    "thresholds": {"thresholds": np.zeros(2)},
    "no number": {"thresholds": np.array([0.0, np.nan, 0.0])},
    "calibrations": {"calibrations": (Calibration(1.0, 0.0),) * 2},
    "slope": {"calibrations": (Calibration(-1.0, 0.0),) * 3},
    "best_step": {"best_step": -1},
}


@pytest.mark.parametrize("case", ALTERED)
def test_what_no_model_holds_is_neither_saved_nor_loaded(tmp_path, monkeypatch, model, case):
    path, altered = tmp_path / "altered.model", replace(model, **ALTERED[case])
    with pytest.raises(ValueError, match="must|needed"):
        altered.save(path)
    assert not path.exists()
    with monkeypatch.context() as without:
        without.setattr(label_model, "check_label_model", lambda model: None)
        altered.save(path)
    with pytest.raises(ValueError, match="holds what no model holds"):
        an.load_model(path)


def test_a_file_keeps_a_measure_with_parameters_and_its_average(tmp_path, model):
    path = tmp_path / "measure.model"
    measure = Averaged(an.measures.get("fbeta", beta=2), "micro")
    replace(model, measure=measure).save(path)
    assert an.load_model(path).measure == measure


def test_a_resumed_run_ends_with_the_same_weights(tmp_path):
    path, options = tmp_path / "run.npz", {**ONE_PART, "network": "linear", "steps": 100}
    whole = an.fit(X, Y, "micro_f1", **options)
    an.fit(X, Y, "micro_f1", on_step=lambda step: step.step == 50, checkpoint=path, **options)
    resumed = an.fit(X, Y, "micro_f1", checkpoint=an.Checkpoint(path, resume=True), **options)
    assert not resumed.interrupted and resumed.history[-1].sums == whole.history[-1].sums
    np.testing.assert_array_equal(resumed.decision_function(NEW), whole.decision_function(NEW))
    assert set(resumed.thresholds) == {whole.thresholds[0]} and any("v_0" in step.duals for step in resumed.history)
    with pytest.raises(ValueError, match="differs in.*labels|differs in.*sets"):
        an.fit(X, 1 - Y, "micro_f1", checkpoint=an.Checkpoint(path, resume=True), **options)


def test_a_checkpoint_of_another_measure_of_ones_own_of_the_same_name_is_refused(tmp_path):
    first, second = (an.measures.pseudolinear("cost", (0, weight, 1), (2, 0, 0)) for weight in (1, 5))
    path, options = tmp_path / "run.npz", {**ONE_PART, "network": "linear", "steps": 20}
    an.fit(X, Y, first, on_step=lambda step: step.step == 10, checkpoint=path, **options)
    with pytest.raises(ValueError, match="is of another run: it differs in .*measure"):
        an.fit(X, Y, second, checkpoint=an.Checkpoint(path, resume=True), **options)


def test_sparse_matrices_booleans_and_frames_train_the_same_model():
    sparse, pandas = pytest.importorskip("scipy.sparse"), pytest.importorskip("pandas")
    options = {**ONE_PART, "steps": 30, "averaging": 0.0, "network": "linear"}
    expected = an.fit(X, Y, **options)
    for given in (sparse.csr_matrix(Y == 1), pandas.DataFrame(Y, columns=["a", "b", "c"])):
        model = an.fit(X, given, "macro_f1", **options)
        np.testing.assert_array_equal(model.decision_function(NEW), expected.decision_function(NEW))
    assert model.labels == ("a", "b", "c") and str(model.by_label(NEW, Y_NEW)).splitlines()[1].startswith("a ")


def test_rows_of_weight_0_are_left_out():
    weight = (np.arange(len(X)) % 3 > 0).astype(float)
    options = {**QUICK, "network": "linear", "steps": 20, "validation": (NEW[:200], Y_NEW[:200])}
    found = an.fit(X, Y, sample_weight=2 * weight, **options)
    expected = an.fit(X[weight > 0], Y[weight > 0], **options)
    np.testing.assert_array_equal(found.decision_function(NEW), expected.decision_function(NEW))


@pytest.mark.filterwarnings("ignore:the model to train further may have been")
def test_a_model_is_trained_further_and_refitted_on_all_rows():
    start = an.fit(X, Y, **ONE_PART)
    model = an.fit(X, Y, network=start, validation=an.EarlyStopping(0.25, refit=True), steps=20, seed=1)
    assert not model.voters and len(model.history) == 20 + model.best_step
    assert model.value(NEW, Y_NEW) == pytest.approx(start.value(NEW, Y_NEW), abs=0.03)


def test_a_model_that_cannot_be_trained_further_is_refused():
    model = an.fit(X, Y, network="linear", steps=1, validation=None)
    never = {"on_step": lambda step: pytest.fail("trained")}
    with pytest.raises(ValueError, match="this model standardises its rows: leave standardize out"):
        an.fit(X, Y, network=model, standardize=False, **never)
    with pytest.raises(ValueError, match="must be finite arrays"):
        an.fit(X, Y, network=replace(model, parameters=[value * np.nan for value in model.parameters]), **never)


def test_without_rows_held_out_there_are_no_probabilities_until_the_model_is_calibrated():
    model = an.fit(X, Y, **{**QUICK, "validation": None, "steps": 5})
    with pytest.raises(ValueError, match="not calibrated"):
        model.predict_proba(NEW)
    assert model.calibrate(NEW, Y_NEW).predict_proba(NEW[:3]).shape == (3, 3)


IDS = np.arange(len(X)) % 3
WRONG = {
    "class ids in a column": ({"y": IDS[:, None]}, r"one-dimensional, got shape \(1200, 1\). Pass y.ravel\(\)"),
    "class ids": ({"y": np.column_stack([IDS, IDS])}, "0 and 1 only .* give class ids as a vector"),
    "signs": ({"y": 2 * Y - 1}, "0 and 1 only"),
    "missing": ({"y": np.where(Y == 1, np.nan, 0)}, "0 and 1 only"),
    "no positives": ({"y": Y * [1, 0, 1]}, r"leave out those that do not vary, got 'none with \[1\]'"),
    "no negatives": ({"y": np.maximum(Y, [0, 0, 1])}, r"only rows with \[2\]"),
    "no positives of weight": ({"sample_weight": 1.0 - Y[:, 2]}, r"none with \[2\]"),
    "weights": ({"sample_weight": np.ones(3)}, "sample_weight must hold one weight per row"),
    "lengths": ({"y": Y[1:]}, "1200.*1199|1199.*1200"),
    "groups": ({"groups": IDS}, "groups is not available for a matrix of labels"),
    "constraints": ({"constraints": [an.at_least("precision", 0.5)]}, "constraints is not available for a matrix"),
    "prior": ({"prior": 0.2}, "prior is not available for a matrix of labels"),
    "positive": ({"positive": 1}, "positive is not available for a matrix of labels"),
    "backend": ({"backend": "fortran"}, "backend must be|unknown backend"),
    "sampler": ({"sampler": "balanced"}, "sampler must be 'natural'"),
    "texts of our own network": ({"X": ["a b"] * len(Y), "network": mlp(2, (), n_scores=3)}, "takes token ids"),
    "widths for texts": ({"X": ["a b"] * len(Y)}, "widths build an mlp, which takes numbers"),
    "functions": ({"network": lambda d: LabelFunctions(mlp(d, (), n_scores=3), Y.mean(axis=0))}, "Network with as"),
    "measure of classes": ({"measure": multiclass.get("min_recall")}, "needs a two-class measure"),
    "name of classes": ({"measure": "min_recall"}, "unknown measure 'min_recall'"),
    "measure of groups": ({"measure": "worst_cell"}, "without groups"),
    "algorithm": ({"algorithm": "struct_ann"}, "unknown algorithm of several labels"),
    "served": ({"algorithm": "duple"}, "'duple' cannot train for f1"),
    "recipe": ({"algorithm": Recipe((Phase(an.drivers.CrossEntropy(0.5)),))}, "algorithm must be a name"),
    "network": ({"network": "strange"}, "unknown network 'strange'"),
    "two scores": ({"network": lambda d: mlp(d, (), n_scores=2)}, "3 labels need a Network with as many scores"),
    "own rows": ({"validation": (X, Y * [1, 1, 0])}, r"validation rows need rows with .*none with \[2\]"),
    "own columns": ({"validation": (X, Y[:, :2])}, "must have the 3 columns of training"),
    "own groups": ({"validation": (X, Y, IDS)}, "needs no groups here"),
    "folds": ({"y": np.where(np.arange(len(Y))[:, None] < 3, 1, Y * [1, 1, 0]), "validation": 5}, "label 2 has 3 of"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_are_refused_before_any_step(case):
    changed, message = WRONG[case]
    given = {"X": X, "y": Y, "measure": "f1", **QUICK, **changed}
    with pytest.raises((ValueError, TypeError), match=message):
        an.fit(given.pop("X"), given.pop("y"), on_step=lambda step: pytest.fail("trained"), **given)


def test_a_label_that_is_best_given_to_all_rows_is_warned_of():
    rows = LabelSets.of(Y == 1)
    scores = np.where(rows.sets[rows.codes], [2.0, -2.0, 2.0], [-2.0, 2.0, -2.0])  # the second the wrong way
    choice = Choice([], scores, None, None, [], 1, rows.codes)
    how = label_recipe("plug_in", Averaged("f1"), label_cells(Y.mean(axis=0)), eps=0.01)
    with pytest.warns(UserWarning, match=r"gives each of the labels \['b'\] to all rows or to none"):
        found = label_model_fields(how, an.EarlyStopping(), Averaged("f1"), choice, rows.sets, ("a", "b", "c"))
    np.testing.assert_array_equal(found["thresholds"], [0, -np.inf, 0])
    np.testing.assert_array_equal(found["validation_confusions"][1], [Y[:, 1].sum(), 0, (1 - Y[:, 1]).sum(), 0])


def test_folds_hold_every_label_and_a_splitter_or_the_last_rows_are_checked():
    matrix = np.zeros((100, 2), dtype=bool)
    matrix[::2, 0], matrix[[3, 9, 50, 90], 1] = True, True
    folds = plan_label_folds("auto", matrix, 0)
    assert len(folds) == 4 and sorted(np.concatenate([fold.held for fold in folds])) == list(range(100))
    assert all(matrix[fold.held, 1].sum() == 1 for fold in folds)
    assert len(plan_label_folds("last", matrix, 0)[0].held) == 20
    with pytest.raises(ValueError, match="the held-out part must hold rows with and without each label"):
        plan_label_folds("last", matrix[:80], 0)
    single = matrix & (np.arange(100)[:, None] != [[-1, 3]]) & (np.arange(100)[:, None] < 50)
    with pytest.warns(UserWarning, match="a label has a single row"):
        assert plan_label_folds("auto", single, 0) == []
    together = plan_label_folds("auto", matrix, 0, np.arange(100) // 5)
    assert all(len(np.intersect1d(fold.train // 5, fold.held // 5)) == 0 for fold in together)
