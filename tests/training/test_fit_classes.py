"""`fit` for labels of several classes: against the binary path, rivals, itself resumed, and what it refuses."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.drivers.multiclass import FixedGains
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.measures.multiclass import Cells
from aesara_nondecomp.metrics.class_quantification import ClassQuantifier
from aesara_nondecomp.metrics.class_scores import ClassCalibration
from aesara_nondecomp.models import ClassModel, class_model
from aesara_nondecomp.models.archive import describe_measure, restore_measure
from aesara_nondecomp.training import EarlyStopping, Phase, Recipe
from aesara_nondecomp.training.class_held_out import class_model_fields
from aesara_nondecomp.training.cross_fitting import Choice
from aesara_nondecomp.training.folds import plan_folds

PRIORS, CENTRES = [0.8, 0.15, 0.05], np.array([[0, 0], [2, 0], [0, 2]])


def blobs(n=1500, seed=0):
    """Rows of three classes of 80, 15 and 5 %, which overlap."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=PRIORS)
    return (rng.normal(size=(n, 2)) + CENTRES[y]).astype("float32"), y


X, Y = blobs()
NEW, Y_NEW = blobs(6000, seed=1)
QUICK = {"network": (8,), "steps": 120, "batch_size": 256, "seed": 0}


@pytest.fixture(scope="module")
def model():
    """Five networks of folds, with offsets or without."""
    return an.fit(X, np.array(["common", "fair", "rare"])[Y], "min_recall", **QUICK)


def test_a_plain_call_gives_a_model_of_all_classes(model):
    assert isinstance(model, ClassModel) and model.classes == ("common", "fair", "rare")
    labels = model.predict(NEW)
    assert set(labels) == {"common", "fair", "rare"}
    assert model.decision_function(NEW).shape == (6000, 3)
    np.testing.assert_array_equal(labels, model.classes_[model.decision_function(NEW).argmax(axis=1)])
    confusion = model.confusion_matrix(NEW, np.array(model.classes)[Y_NEW])
    np.testing.assert_array_equal(confusion.sum(axis=1), np.bincount(Y_NEW))
    by_hand = min(np.mean(labels[Y_NEW == k] == model.classes[k]) for k in range(3))
    assert model.value(NEW, np.array(model.classes)[Y_NEW]) == pytest.approx(by_hand, abs=1e-12)


def test_the_minimum_recall_is_far_above_that_of_cross_entropy(model):
    usual = an.fit(X, Y, "min_recall", algorithm="cross_entropy", **QUICK)
    assert usual.rule is None
    assert model.value(NEW, np.array(model.classes)[Y_NEW]) > usual.value(NEW, Y_NEW) + 0.2


def test_probabilities_are_calibrated():
    """Also where the reward has shifted the scores: their means are the class shares, and right ones are likely."""
    model = an.fit(X, Y, "min_recall", algorithm="duple", validation=0.3, **QUICK)
    probabilities = model.predict_proba(NEW)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-9)
    np.testing.assert_allclose(probabilities.mean(axis=0), np.bincount(Y_NEW) / 6000, atol=0.01)
    for low, high in ((0.1, 0.4), (0.4, 0.7), (0.7, 0.95)):
        chosen = (probabilities > low) & (probabilities < high)
        true = (Y_NEW[:, None] == np.arange(3))[chosen]
        assert np.mean(true) == pytest.approx(probabilities[chosen].mean(), abs=0.06)
    densities = np.exp(-0.5 * ((NEW[:, None] - CENTRES) ** 2).sum(axis=2)) * PRIORS
    truth = densities / densities.sum(axis=1, keepdims=True)
    assert abs(probabilities - truth).mean() < 0.04


def test_copies_and_pickles_predict_alike(model):
    for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.decision_function(NEW[:50]), model.decision_function(NEW[:50]))
        np.testing.assert_array_equal(other.predict_proba(NEW[:50]), model.predict_proba(NEW[:50]))


def test_two_classes_get_the_scores_of_the_binary_path():
    """The same zero weights and batches: the difference of two scores moves twice as far per step as the one score."""
    positive = Y > 0
    binary = an.fit(
        X, positive, "f1", algorithm="cross_entropy", network="linear", optimizer="sgd", learning_rate=0.2,
        steps=30, validation=None, seed=3,
    )  # fmt: skip
    several = an.fit(
        X, positive, "min_recall", algorithm="cross_entropy",
        network="linear", optimizer="sgd", learning_rate=0.1, steps=30, validation=None, seed=3,
    )  # fmt: skip
    found = np.diff(several.decision_function(X), axis=1)[:, 0]
    np.testing.assert_allclose(found, binary.decision_function(X), rtol=2e-4, atol=2e-5)


def test_equal_seeds_give_equal_models_and_resumed_runs_their_last_bit(tmp_path, model):
    labels = np.array(model.classes)[Y]
    again = an.fit(X, labels, "min_recall", **QUICK)
    for found, expected in zip([again.parameters, *again.voters], [model.parameters, *model.voters]):
        for one, other in zip(found, expected):
            np.testing.assert_array_equal(one, other)
    path = tmp_path / "run.npz"

    class StopError(Exception):
        pass

    def stop(step):
        if len(seen := stop.__dict__.setdefault("seen", [])) == 200:  # in the second network
            raise StopError
        seen.append(step)

    with pytest.raises(StopError):
        an.fit(X, labels, "min_recall", checkpoint=an.Checkpoint(path, every=50), on_step=stop, **QUICK)
    resumed = an.fit(X, labels, "min_recall", checkpoint=an.Checkpoint(path, resume=True), **QUICK)
    assert [s.step for s in resumed.history] == [s.step for s in model.history]
    assert resumed.history[70].sums == model.history[70].sums and resumed.history[70].recalls
    assert resumed.evaluations == model.evaluations
    np.testing.assert_array_equal(resumed.decision_function(NEW[:99]), model.decision_function(NEW[:99]))


class Costly(multiclass.CostMatrix):
    """A measure of one's own whose text says nothing of its costs."""

    def __str__(self):
        return "costly"


def test_a_checkpoint_of_another_measure_of_ones_own_of_the_same_text_is_refused(tmp_path):
    first, second = (Costly((cost * (1 - np.eye(3))).tolist()) for cost in (1, 2))
    path, options = tmp_path / "run.npz", {**QUICK, "validation": None, "steps": 10}
    an.fit(X, Y, first, checkpoint=path, **options)
    with pytest.raises(ValueError, match="is of another run: it differs in .*measure"):
        an.fit(X, Y, second, checkpoint=an.Checkpoint(path, resume=True), **options)


def test_ratios_get_a_plug_in_that_is_no_worse_than_the_largest_score():
    trained = an.fit(X, Y, "macro_f1", validation=0.3, **QUICK)
    plain = copy.copy(trained)
    plain.rule = None
    assert trained.rule is not None and np.count_nonzero(trained.rule) > 3
    assert trained.value(NEW, Y_NEW) > plain.value(NEW, Y_NEW) - 0.02
    at_best_step = {evaluation.step: evaluation.value for evaluation in trained.evaluations}[trained.best_step]
    assert trained.measure.from_confusion(trained.validation_matrix) >= at_best_step


@pytest.mark.parametrize("name", ["min", "balanced_accuracy", "kappa", "kld"])
def test_measures_by_their_names_for_two_classes_and_others_are_trained(name):
    trained = an.fit(X, Y, name, **{**QUICK, "steps": 5}, validation=0.3)
    assert trained.measure == multiclass.get(name)


def test_weights_count_as_copies_of_the_rows():
    """The mean gradient of full batches is the same."""
    options = {**QUICK, "network": (), "validation": None, "steps": 20, "algorithm": "class_weighted"}
    rows = np.r_[np.arange(200), np.flatnonzero(Y == 2)[:20]]
    weight = np.where(Y[rows] == 2, 3.0, 1.0)
    repeated = np.repeat(rows, weight.astype(int))
    one = an.fit(X[rows], Y[rows], "gmean", sample_weight=weight, standardize=False, **{**options, "batch_size": 220})
    two = an.fit(X[repeated], Y[repeated], "gmean", standardize=False, **{**options, "batch_size": len(repeated)})
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), rtol=1e-3, atol=1e-4)


@pytest.mark.filterwarnings("ignore:the model to train further may have been")
def test_a_model_is_trained_further_from_its_weights(model):
    further = an.fit(X, np.array(model.classes)[Y], "min_recall", network=model, steps=1, learning_rate=1e-9, seed=0)
    np.testing.assert_allclose(further._scores(NEW[:20]), model._scores(NEW[:20]), atol=1e-3)


@pytest.mark.parametrize("sampler", ["natural", "balanced"])
def test_either_sampler_reaches_the_same_mean_recall(sampler):
    trained = an.fit(
        X, Y, "mean_recall", algorithm="class_weighted", sampler=sampler, validation=None, **{**QUICK, "steps": 200}
    )
    assert trained.value(NEW, Y_NEW) == pytest.approx(0.79, abs=0.03)


@pytest.mark.parametrize("measure", ["mean_recall", "balanced_accuracy", multiclass.get("power_mean", s=1.0)])
def test_the_plain_call_for_the_mean_recall_is_logit_adjustment(measure):
    options = {**QUICK, "steps": 20, "validation": None}
    plain, by_name, other = (
        an.fit(X, Y, measure, algorithm=algorithm, **options)
        for algorithm in ("auto", "logit_adjusted", "cross_entropy")
    )
    np.testing.assert_array_equal(plain.decision_function(X), by_name.decision_function(X))
    assert np.any(plain.decision_function(X) != other.decision_function(X))


@pytest.mark.parametrize(
    ("network", "given", "rate"),
    [("linear", {}, 0.05), ((), {}, 0.05), ((8,), {}, 0.01), ("linear", {"learning_rate": 0.002}, 0.002)],
)
def test_a_linear_network_has_a_larger_learning_rate_unless_one_is_given(network, given, rate):
    options = {"network": network, "steps": 2, "validation": None, "schedule": "constant", "seed": 0, **given}
    assert [step.learning_rate for step in an.fit(X, Y, "min_recall", **options).history] == [rate, rate]


def own_recipe():
    return Recipe((Phase(FixedGains(Cells(np.bincount(Y) / len(Y)), "class_weighted")),))


def test_a_recipe_of_ones_own_is_trained():
    assert an.fit(X, Y, "gmean", algorithm=own_recipe(), validation=None, **QUICK).value(NEW, Y_NEW) > 0.7


WRONG = {
    "f1": ({"measure": "f1"}, "'macro_f1'.*'micro_f1'"),
    "binary name": ({"measure": "nas"}, "'nas' must be of two classes, got 3.*'min_recall'"),
    "binary measure": ({"measure": an.measures.get("gmean")}, "'gmean' must be of two classes, got 3"),
    "parameter missing": ({"measure": "micro_f1"}, "negative"),
    "algorithm": ({"algorithm": "struct_ann"}, "unknown algorithm"),
    "algorithm of others": ({"algorithm": "dame"}, "'dame' cannot train for min_recall"),
    "positive": ({"positive": 1}, "positive is not available for several classes"),
    "prior": ({"prior": 0.5}, "prior is not available for several classes"),
    "groups": ({"groups": Y}, "groups have no effect on min_recall"),
    "constraints": ({"constraints": [an.measures.share(at_most=0.5)]}, "selection <= 0.5 needs label=, one of"),
    "backend": ({"backend": "cuda"}, "unknown backend 'cuda'"),
    "sampler": ({"sampler": 0.3}, "sampler must be 'natural' or 'balanced'"),
    "texts": ({"X": ["a b"] * len(Y), "network": "tabular"}, "network='tabular' takes numbers: use attention or lstm"),
    "numbers": ({"network": "lstm"}, "texts must be a list of str for network='lstm'"),
    "network": ({"network": "tabluar"}, "unknown network 'tabluar'. Did you mean 'tabular'"),
    "no network": ({"network": 3}, "a sequence of widths, a Network, a ClassModel or a callable, got 3"),
    "two scores": ({"network": lambda d: an.mlp(d, (), n_scores=2)}, "labels of 3 classes need a Network"),
    "binary network": ({"network": lambda d: an.mlp(d, ())}, "labels of 3 classes need a Network"),
    "binary functions": ({"network": an.TrainFunctions(an.mlp(2, ()))}, "labels of 3 classes need a Network"),
    "fractions of a binary measure": ({"y": np.where(Y == 2, 0.5, Y), "measure": "f1"}, "whole numbers or text, got"),
    "fractions": ({"y": np.where(Y == 2, 0.5, Y)}, "whole numbers or text, got"),
    "missing": ({"y": np.where(Y == 2, np.nan, Y)}, "must not be missing"),
    "one class": ({"y": np.zeros(len(Y), int)}, "at least two classes"),
    "lengths": ({"y": Y[1:]}, "1500.*1499|1499.*1500"),
    "no weight": ({"sample_weight": (Y != 2).astype(float)}, "above 0 for some rows of each class"),
    "no weight of the first": ({"sample_weight": (Y != 0).astype(float)}, r"each class, got 'sums of \[0.0, "),
    "negative weight": ({"sample_weight": -np.ones(len(Y))}, "sample_weight must be finite and not negative"),
    "no labels": ({"y": []}, "labels must be of at least two classes, got an empty array"),
    "too many worst": ({"measure": multiclass.get("mean_of_worst", h=4)}, r"mean_of_worst\(h=4\) needs at least 4"),
    "too many worst, DUPLE": (
        {"measure": multiclass.get("mean_of_worst", h=4), "algorithm": "duple"}, "needs at least 4 classes, got 3"
    ),
    "class out of range": ({"measure": multiclass.get("f1_of", labels=[5])}, "labels must hold classes from 0 to 2"),
    "single row": ({"y": np.where(np.arange(len(Y)) == 0, 3, Y), "validation": 0.2}, "must hold all 4 classes"),
    "folds": ({"y": np.where(np.arange(len(Y)) < 2, 3, Y), "validation": 5}, "must hold all 4 classes"),
    "own rows": ({"validation": (X[Y < 2], Y[Y < 2])}, "validation needs rows of each class, got 'none of \\[2\\]'"),
    "own groups": ({"validation": (X, Y, Y)}, "validation needs no groups here"),
    "strange label": ({"validation": (X, Y + 1)}, "labels must be among"),
    "binary recipe": (
        {"algorithm": Recipe((Phase(an.drivers.CrossEntropy(0.5)),))}, "needs drivers of drivers.multiclass"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_are_refused_before_any_step(case):
    changed, message = WRONG[case]
    given = {"X": X, "y": Y, "measure": "min_recall", **QUICK, **changed}
    with pytest.raises((ValueError, TypeError), match=message):
        an.fit(given.pop("X"), given.pop("y"), on_step=lambda step: pytest.fail("trained"), **given)


def test_a_model_to_train_further_keeps_its_optimiser_and_backend(model):
    for name, value in (("optimizer", "adam"), ("backend", "jax"), ("backend", "c")):
        with pytest.raises(ValueError, match=f"compiled functions have their own {name}: leave {name} out"):
            an.fit(X, np.array(model.classes)[Y], "min_recall", network=model, **{name: value})


@pytest.mark.parametrize("y", [Y, Y > 0], ids=["three classes", "two classes"])
def test_no_constraints_may_be_said_in_two_ways(y):
    measure = "gmean"
    one, two = (
        an.fit(X, y, measure, constraints=nothing, validation=None, **{**QUICK, "steps": 2}) for nothing in ((), None)
    )
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


def test_a_recipe_of_several_classes_is_refused_for_two():
    with pytest.raises(ValueError, match="without drivers of drivers.multiclass"):
        an.fit(X, Y > 0, algorithm=own_recipe(), **QUICK)


def test_two_labels_keep_the_binary_path():
    assert isinstance(an.fit(X, Y > 0, "gmean", validation=None, **{**QUICK, "steps": 2}), an.Model)


def test_a_saved_model_predicts_alike(tmp_path, model):
    path = tmp_path / "classes.model"
    model.save(path)
    loaded = an.load_model(path)
    assert isinstance(loaded, ClassModel) and loaded.measure == model.measure and loaded.classes == model.classes
    np.testing.assert_array_equal(loaded.decision_function(NEW[:99]), model.decision_function(NEW[:99]))
    np.testing.assert_array_equal(loaded.predict_proba(NEW[:99]), model.predict_proba(NEW[:99]))


OF_NETWORKS = np.full(3, 1 / 3), np.eye(3), np.eye(3), 5
ALTERED = {
    "classes": {"classes": ("b", "a", "c")},
    "count": {"classes": ("a", "b")},
    "priors": {"priors": np.array([0.5, 0.4, 0.3])},
    "rule": {"rule": np.eye(2)},
    "calibration": {"calibration": ClassCalibration(-1.0, np.zeros(3))},
    "calibration of networks": {"quantifier": ClassQuantifier(*OF_NETWORKS, ClassCalibration(1.0, np.zeros(1)))},
    "best_step": {"best_step": -1},
}


def test_a_graph_of_ones_own_is_told_that_it_cannot_be_saved(tmp_path):
    inputs = at.matrix("X", dtype="float32")
    W, b = aesara.shared(np.ones((2, 3), "float32")), aesara.shared(np.float32(0.5))
    own = an.fit(X, Y, "macro_f1", network=an.Network(inputs, at.dot(inputs, W) * b, [W, b]), steps=2, validation=None)
    with pytest.raises(ValueError, match="this model cannot be saved"):
        own.save(tmp_path / "own.model")


@pytest.mark.parametrize("case", ALTERED)
def test_what_no_model_holds_is_neither_saved_nor_loaded(tmp_path, monkeypatch, model, case):
    path, altered = tmp_path / "altered.model", replace(model, **ALTERED[case])
    with pytest.raises(ValueError, match="must|needed"):
        altered.save(path)
    assert not path.exists()
    with monkeypatch.context() as without:
        without.setattr(class_model, "check_class_model", lambda model: None)
        altered.save(path)
    with pytest.raises(ValueError, match="holds what no model holds"):
        an.load_model(path)


def test_a_model_that_is_worse_than_one_class_for_all_rows_is_warned_of():
    cell = np.arange(90) % 3
    choice = Choice([], 2.0 * np.eye(3)[(cell + 1) % 3], None, None, [], 1, cell)
    recipe, stopping = Recipe((), fixed_threshold=True), EarlyStopping(tune_threshold=False)
    with pytest.warns(UserWarning, match="kappa is -0.5, worse than one class for all rows"):
        class_model_fields(recipe, stopping, multiclass.get("kappa"), choice)


def test_more_than_200_classes_are_refused():
    with pytest.raises(ValueError, match="at most 200 classes"):
        an.fit(np.zeros((402, 2)), np.arange(402) % 201, "min_recall")


def test_an_ordered_measure_refuses_categories_whose_order_is_not_that_of_their_text():
    pandas = pytest.importorskip("pandas", reason="categories of that library")
    levels = ["low", "mid", "high"]
    y = pandas.Series(pandas.Categorical.from_codes(Y, categories=levels, ordered=True))
    with pytest.raises(ValueError, match="qwk compares classes by their order"):
        an.fit(X, y, "qwk")


def test_a_splitter_sees_the_classes():
    seen = []

    class Splitter:
        def split(self, X, y, groups=None):  # noqa: N803
            seen.append(np.unique(y).tolist())
            fold = np.arange(len(y)) % 2
            return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(2)]

    plan_folds(Splitter(), np.where(Y > 0, 1, -1), 0, classes=Y)
    assert seen == [[0, 1, 2]]


@pytest.mark.parametrize("measure", [multiclass.get("f1_of", labels=[1, 2]), multiclass.get("macro_fbeta", beta=2.0)])
def test_a_file_keeps_the_parameters_of_a_measure(measure):
    assert restore_measure(describe_measure(measure), None) == measure
