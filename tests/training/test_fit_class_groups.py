"""`fit` with groups for several classes: what is trained, what is refused, what is said."""

import warnings

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp.drivers.multiclass import DUPLE, FixedGains, OfClasses
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.measures.groups import cell_of_classes
from aesara_nondecomp.measures.multiclass import Cells
from aesara_nondecomp.models import ClassModel
from aesara_nondecomp.step.class_functions import ClassFunctions
from aesara_nondecomp.training import Phase, Recipe

RNG = np.random.default_rng(0)
N, LABELS = 4500, np.array(["common", "fair", "rare"])
SEX = np.where(RNG.random(N) < 0.3, "f", "m")
CODES = RNG.choice(3, N, p=[0.6, 0.25, 0.15])
CENTRES = np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0]])
# The two sexes differ in what tells the classes apart, and the model does not see which sex a row is of.
SIGN = np.where(SEX == "f", -0.6, 0.6)[:, None] * np.array([0, 0, 1])
X = (RNG.normal(size=(N, 3)) + CENTRES[CODES] + SIGN * (CODES == 2)[:, None]).astype("float32")
Y = LABELS[CODES]
OPTIONS = {"seed": 0, "steps": 200, "validation": 0.3}


@pytest.fixture(scope="module")
def functions():
    return ClassFunctions(an.mlp(3, (16,), n_scores=3), Cells(np.full(3, 1 / 3)), "adamw")


def fit(functions, measure="worst_cell", **options):
    return an.fit(X, Y, measure, **{**OPTIONS, "network": functions, **options})


def recalls(model):
    predicted = model.predict(X)
    return {(k, sex): np.mean(predicted[(Y == k) & (SEX == sex)] == k) for sex in "fm" for k in LABELS}


def test_training_for_the_worst_cell_raises_it_above_cross_entropy(functions):
    direct = fit(functions, groups=SEX)
    plain = fit(functions, groups=SEX, algorithm="cross_entropy")
    assert isinstance(direct, ClassModel) and direct.rule is None
    assert min(recalls(direct).values()) > min(recalls(plain).values()) + 0.1
    assert direct.value(X, Y, groups=SEX) == min(recalls(direct).values())
    assert set(direct.history[-1].duals) == {f"alpha[{k} of {sex}]" for sex in "fm" for k in LABELS}
    assert len(direct.history[-1].recalls) == 3
    best = next(e for e in direct.evaluations if e.step == direct.best_step)
    assert best.value == max(e.value for e in direct.evaluations) and np.shape(best.confusion) == (3, 3)


@pytest.mark.parametrize("measure", ["worst_group_accuracy", "worst_group_balanced"])
@pytest.mark.parametrize("algorithm", ["worst_group", "group_dro", "cell_weighted", "class_weighted"])
def test_each_measure_of_groups_trains_by_each_algorithm(functions, measure, algorithm):
    model = fit(functions, measure, groups=SEX, algorithm=algorithm, steps=60)
    assert model.value(X, Y, groups=SEX) > 0.5 and model.measure == multiclass.get(measure)


def test_cells_can_be_drawn_equally_often(functions):
    model = fit(functions, groups=SEX, algorithm="cross_entropy", sampler="cell_balanced", steps=60)
    counts = np.array(model.history[9].sums[3:])
    assert counts.max() - counts.min() <= 2  # of the classes in a batch


def test_the_model_needs_no_groups_and_keeps_none(functions, tmp_path):
    model = fit(functions, groups=SEX, steps=30)
    model.save(tmp_path / "m")
    again = an.load_model(tmp_path / "m")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.measure == multiclass.get("worst_cell") and again.value(X, Y, groups=SEX) > 0
    assert b"sex" not in (tmp_path / "m").read_bytes()


def test_rows_without_a_group_train_and_count_in_no_group(functions):
    groups = SEX.astype(object)
    groups[::7] = None
    groups[CODES == 1] = np.where(groups[CODES == 1] == None, "f", groups[CODES == 1])  # noqa: E711 -- of a class none
    model = fit(functions, groups=groups, steps=40)
    assert not any("without" in name for name in model.history[-1].duals)


def test_equal_seeds_give_equal_models_also_after_a_resumption(functions, tmp_path):
    options, path = {"groups": SEX, "validation": 2, "steps": 60}, tmp_path / "run"
    first = fit(functions, **options)
    fit(functions, **options, checkpoint=an.Checkpoint(path, 35), on_step=lambda step: step.step == 70)
    resumed = fit(functions, **options, checkpoint=an.Checkpoint(path, 35, resume=True))
    for a, b in zip([first.parameters, *first.voters], [resumed.parameters, *resumed.voters]):
        assert all(np.array_equal(one, other) for one, other in zip(a, b))
    assert first.evaluations == resumed.evaluations


@pytest.mark.filterwarnings("ignore:the model to train further may have been")
def test_compiled_functions_serve_other_groups_and_none(functions):
    three = np.where(np.arange(N) % 3 == 0, "x", SEX)
    model = fit(functions, groups=three, steps=20)
    plain = fit(model, "min_recall", steps=20)
    fresh = fit("linear", "min_recall", algorithm="cross_entropy", steps=20)
    kept = ClassFunctions(an.linear(3, n_scores=3), Cells(np.full(5, 0.2), [0, 1, 2, 0, 1]), "adamw")
    again = fit(kept, "min_recall", algorithm="cross_entropy", learning_rate=0.05, steps=20)
    assert plain.functions is model.functions and plain.functions.cells.n_cells == 3
    assert fresh.priors == pytest.approx(again.priors)


def test_two_classes_by_scores_of_their_own_are_as_good_as_by_one_score():
    y = CODES > 0
    two = an.fit(X, y, "worst_cell", groups=SEX, network="linear", **OPTIONS)
    several = an.fit(X, y, multiclass.get("worst_cell"), groups=SEX, network="linear", **OPTIONS)
    assert isinstance(several, ClassModel)
    assert several.value(X, y, groups=SEX) == pytest.approx(two.value(X, y, groups=SEX), abs=0.03)


def test_own_validation_rows_bring_their_groups(functions):
    held = (X[:900], Y[:900], SEX[:900])
    model = an.fit(
        X[900:], Y[900:], "worst_cell", groups=SEX[900:], network=functions, steps=40, validation=held, seed=0
    )
    predicted, best = model.predict(X[:900]), max(e.value for e in model.evaluations)
    by_hand = [np.mean(predicted[(Y[:900] == k) & (SEX[:900] == s)] == k) for s in "fm" for k in LABELS]
    assert best == pytest.approx(min(by_hand), abs=1e-12)


def test_recipes_of_drivers_of_classes_train_on_cells(functions):
    classes = Cells(np.bincount(CODES) / N)
    recipe = Recipe((Phase(FixedGains(classes, "cross_entropy"), 0.5), Phase(DUPLE("min_recall", classes), 0.5)))
    model = fit(functions, "worst_group_balanced", groups=SEX, algorithm=recipe, steps=40)
    assert len(model.history) == 40 and "alpha_2" in model.history[-1].duals
    assert OfClasses.__name__ == "OfClasses"


def test_cells_with_few_rows_are_named(functions):
    groups = SEX.astype(object)
    for k in range(3):
        groups[np.flatnonzero(CODES == k)[:20]] = "x"
    with pytest.warns(UserWarning) as said:
        fit(functions, groups=groups, steps=20)
    texts = [str(warning.message) for warning in said]
    assert any("only 14 common of x, 14 fair of x, 14 rare of x" in text for text in texts)
    assert any("fewer than 30 rows are held out of" in text and "rare of x" in text for text in texts)


@pytest.mark.parametrize(
    ("measure", "options", "message"),
    [
        ("worst_cell", {}, "worst_cell needs groups"),
        ("min_recall", {"groups": SEX}, "groups have no effect on min_recall"),
        ("min_recall", {"groups": SEX, "algorithm": "group_dro"}, "cannot train for min_recall"),
        ("min_recall", {"sampler": "cell_balanced"}, "'cell_balanced' needs groups"),
        ("worst_cell", {"groups": SEX, "sampler": "balanced"}, "'natural' or 'cell_balanced' for several classes in"),
        ("worst_cell", {"groups": SEX, "algorithm": "duple"}, "Use 'worst_group' or 'group_dro'"),
        ("worst_cell", {"groups": SEX[:-1]}, "one value per row"),
        ("worst_cell", {"groups": np.where(CODES == 2, "x", "y")}, "each class, got no common of x, no fair of x"),
        ("worst_cell", {"groups": SEX, "algorithm": "plug_in"}, "chosen without groups"),
        ("worst_cell", {"groups": SEX, "validation": an.EarlyStopping(0.3, tune_threshold=True)}, "without groups"),
        ("worst_cell", {"groups": SEX, "validation": (X, Y)}, r"\(X, y, groups\)"),
        ("min_recall", {"validation": (X, Y, SEX)}, r"give \(X, y\)"),
        ("worst_cell", {"groups": SEX, "validation": (X, Y, np.full(N, "other"))}, "rows held out cannot judge"),
    ],
)
def test_wrong_uses_of_groups_are_refused(functions, measure, options, message):
    with pytest.raises(ValueError, match=message), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit(functions, measure, **options)


def test_folds_and_parts_hold_each_cell():
    from aesara_nondecomp.training.folds import plan_folds

    cell = cell_of_classes(CODES, (SEX == "m").astype(int), 2, 3)
    signs = np.where(CODES > 0, 1, -1)
    for validation in (0.3, 4):
        for fold in plan_folds(validation, signs, 0, strata=cell, classes=CODES):
            shares = np.bincount(cell[fold.held]) / np.bincount(cell)
            np.testing.assert_allclose(shares, len(fold.held) / N, atol=0.01)
