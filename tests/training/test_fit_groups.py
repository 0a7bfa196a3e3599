"""`fit` with groups and constraints: what is trained, what is refused, what is said."""

import warnings

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp import drivers
from aesara_nondecomp.drivers import Constrained, WorstGroup
from aesara_nondecomp.history import Evaluation
from aesara_nondecomp.measures import Cells, at_least, gap, share
from aesara_nondecomp.measures.groups import cell_of_classes, cell_of_rows
from aesara_nondecomp.metrics.cell_threshold import CellGoal
from aesara_nondecomp.training.early_stopping import Interval
from aesara_nondecomp.training.validation_monitor import ValidationMonitor

RNG = np.random.default_rng(0)
N = 3000
X = RNG.normal(size=(N, 4)).astype("float32")
SEX = np.where(RNG.random(N) < 0.3, "f", "m")
# The two sexes differ in what tells the classes apart, and the model does not see which sex a row is of.
Y = X[:, 0] + np.where(SEX == "f", -0.7, 0.7) * X[:, 1] + 0.8 * RNG.normal(size=N) > 0.5
OPTIONS = {"seed": 0, "steps": 200, "network": (16,), "validation": 0.2}


def rates(model, rate):
    predicted = model.predict(X)
    rows = {"tpr": Y, "selection": np.ones(N, dtype=bool)}[rate]
    return [float(np.mean(predicted[rows & (SEX == sex)])) for sex in ("f", "m")]


def worst_cell(model):
    predicted = model.predict(X)
    return min(np.mean((predicted == Y)[(SEX == sex) & (label == Y)]) for sex in ("f", "m") for label in (True, False))


@pytest.fixture(scope="module")
def functions():
    return an.TrainFunctions(an.mlp(4, (16,)), "adamw")


def fit(functions, measure="worst_cell", **options):
    return an.fit(X, Y, measure, **{**OPTIONS, "network": functions, **options})


def fit_on(labels, measure, **options):
    """Of three classes the network is made anew."""
    options = options if labels.dtype == bool else {**options, "network": "linear"}
    return an.fit(X, labels, measure, **{**OPTIONS, **options})


@pytest.fixture(scope="module")
def plain(functions):
    return fit(functions, "likelihood")


def test_training_for_the_worst_cell_raises_it_above_cross_entropy(functions, plain):
    direct = fit(functions, groups=SEX)
    assert worst_cell(direct) > worst_cell(plain) + 0.03
    assert {name.split("[")[0] for name in direct.history[-1].duals} == {"alpha"}


def test_a_gap_that_is_bounded_is_smaller_than_without_the_bound(functions, plain):
    model = fit(functions, "likelihood", groups=SEX, constraints=gap("tpr", at_most=0.02))
    (a, b), (c, d) = rates(model, "tpr"), rates(plain, "tpr")
    assert abs(a - b) < 0.05 < abs(c - d)
    assert model.constrained_by == (gap("tpr", at_most=0.02),)


def test_a_constraint_that_holds_with_slack_leaves_the_run_as_it_is(functions):
    loose = [share(at_most=1.0), at_least("accuracy", 0.0)]
    for measure in ("likelihood", "f1", "min", "kld"):
        free = fit(functions, measure, validation=an.EarlyStopping(0.2, tune_threshold=True))
        bound = fit(functions, measure, constraints=loose, validation=an.EarlyStopping(0.2, tune_threshold=True))
        assert all(np.array_equal(a, b) for a, b in zip(free.parameters, bound.parameters)), measure
        assert [s[:4] for s in free.evaluations] == [s[:4] for s in bound.evaluations]


def test_the_threshold_is_the_best_that_meets_the_constraint_by_a_standard_error(functions):
    held = (X[:600], Y[:600])
    model = an.fit(
        X[600:], Y[600:], "recall", constraints=[at_least("precision", 0.7)],
        **{**OPTIONS, "network": functions, "validation": held},
    )  # fmt: skip
    scores = model.decision_function(X[:600])

    def at(threshold):
        """A precision that is a standard error worse, by the variance of a binomial ratio, and the recall."""
        hits, alarms = np.sum((scores > threshold) & Y[:600]), np.sum((scores > threshold) & ~Y[:600])
        n = np.sum(Y[:600]), np.sum(~Y[:600])
        p, f = (hits + 0.5) / (n[0] + 1), (alarms + 0.5) / (n[1] + 1)
        tp, fp = p * n[0], f * n[1]
        slopes = n[0] * fp / (tp + fp) ** 2, n[1] * tp / (tp + fp) ** 2
        error = np.sqrt(slopes[0] ** 2 * p * (1 - p) / n[0] + slopes[1] ** 2 * f * (1 - f) / n[1])
        return hits / (hits + alarms) - error if hits + alarms else 1.0, hits / n[0]

    feasible = [recall for precision, recall in map(at, np.unique(scores)) if precision >= 0.7]
    assert at(model.threshold)[0] >= 0.7 and at(model.threshold)[1] == max(feasible)


def test_equal_seeds_give_equal_models_also_after_a_resumption(functions, tmp_path):
    options = {"groups": SEX, "constraints": [gap("selection", at_most=0.1)]}
    first = fit(functions, "worst_cell", **options)
    path, stopped = tmp_path / "run", lambda step: step.step == 70
    fit(functions, "worst_cell", **options, checkpoint=an.Checkpoint(path, 35), on_step=stopped)
    resumed = fit(functions, "worst_cell", **options, checkpoint=an.Checkpoint(path, 35, resume=True))
    assert all(np.array_equal(a, b) for a, b in zip(first.parameters, resumed.parameters))
    assert first.threshold == resumed.threshold


def test_folds_train_under_constraints_too(functions):
    model = fit(functions, "likelihood", groups=SEX, constraints=[gap("tpr", at_most=0.05)], validation=3, steps=60)
    assert len(model.voters) == 2 and model.evaluations[-1].excess <= 0.05


@pytest.mark.filterwarnings("ignore:prior = 0.5 is far from", "ignore:fewer than 30 rows")
def test_multipliers_are_those_of_the_prior_asked_for_as_if_rows_had_weights(functions):
    """Positives are a tenth of the rows; at that share the multiplier of this precision rises to 17."""
    rare = ~Y | (np.arange(N) % 5 == 0)
    share = np.mean(Y[rare])
    means = []
    for option in {"prior": 0.5}, {"sample_weight": np.where(Y, 0.5 / share, 0.5 / (1 - share))[rare]}:
        options = {**OPTIONS, "network": functions, "validation": 0.5, **option}
        model = an.fit(X[rare], Y[rare], "recall", constraints=[at_least("precision", 0.8)], **options)
        means.append(np.mean([step.duals["lambda[precision >= 0.8]"] for step in model.history]))
    assert means[0] == pytest.approx(means[1], abs=1)


def test_rows_without_a_group_train_and_count_in_no_group(functions):
    groups = SEX.astype(object)
    groups[::7] = None
    model = fit(functions, groups=groups)
    assert not any("without" in name for name in model.history[-1].duals)


def test_baselines_of_groups_train(functions):
    for options in ({"algorithm": "group_dro"}, {"algorithm": "cell_weighted", "sampler": "cell_balanced"}):
        assert worst_cell(fit(functions, groups=SEX, **options)) > 0.5


def test_a_bound_that_cannot_be_reached_is_said_and_breaks_as_little_as_it_can(functions):
    impossible = [at_least("accuracy", 0.99), at_least("selection", 0.05)]
    with pytest.warns(UserWarning, match=r"constraint not reached.*accuracy >= 0.99 \(reached: 0\.\d+\)"):
        fit(functions, "likelihood", constraints=impossible)


def test_cells_with_few_rows_are_named(functions):
    groups = SEX.astype(object)
    groups[np.flatnonzero(Y)[:20]] = "x"
    groups[np.flatnonzero(~Y)[:200]] = "x"
    with pytest.warns(UserWarning) as said:
        fit(functions, groups=groups, steps=20)
    assert any("only 16 positives of x" in str(w.message) for w in said)
    assert any("held out of positives of x" in str(w.message) for w in said)


CLASS_WISE = {"algorithm": "struct_ann", "constraints": [share(at_most=0.5)]}


@pytest.mark.parametrize(
    ("measure", "options", "message"),
    [
        ("worst_cell", {}, "worst_cell needs groups"),
        ("likelihood", {"constraints": [gap("tpr", at_most=0.1)]}, "tpr gap <= 0.1 needs groups"),
        ("f1", {"groups": SEX}, "groups have no effect on f1"),
        ("f1", {"groups": SEX, "algorithm": "group_dro"}, "cannot train for f1: it needs a measure of the worst group"),
        ("f1", {"sampler": "cell_balanced"}, "needs groups"),
        ("recall", {}, "recall alone"),
        ("worst_cell", {"groups": SEX[:-1]}, "one value per row"),
        ("worst_cell", {"groups": np.where(Y, "x", "y")}, "no positives of y"),
        ("worst_cell", {"groups": np.arange(N)}, "at most 200"),
        ("likelihood", {"constraints": ["tpr gap <= 0.1"]}, "Constraint"),
        ("f1", CLASS_WISE, "an algorithm that weights classes"),
        ("worst_cell", {"groups": SEX, "validation": (X, Y)}, r"\(X, y, groups\)"),
        ("f1", {"validation": (X, Y, SEX)}, r"give \(X, y\)"),
        (
            "likelihood",
            {"groups": SEX, "constraints": [gap("tpr", at_most=0.1)], "validation": (X, Y, np.full(N, "f"))},
            "rows held out cannot judge a model.*two groups",
        ),
        ("worst_cell", {"groups": SEX, "validation": (X, Y, np.full(N, "other"))}, "rows held out cannot judge"),
    ],
)
def test_wrong_uses_of_groups_and_constraints_are_refused(functions, measure, options, message):
    with pytest.raises(ValueError, match=message), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit(functions, measure, **options)


@pytest.mark.parametrize(
    "constraints", [(), (gap("tpr", at_most=0.1),), (at_least("precision", 0.8), share(at_least=0.02))]
)
@pytest.mark.parametrize("measure", ["worst_cell", "f1", "accuracy"])
def test_no_threshold_is_better_than_the_chosen_one(measure, constraints):
    rng = np.random.default_rng(3)
    signs, codes = np.where(rng.random(80) < 0.4, 1, -1), rng.integers(0, 2, 80)
    scores = np.round(signs + rng.normal(size=80) * 1.5, 1)  # with ties
    cell, goal = cell_of_rows(signs, codes, 2), CellGoal(an.measures.get(measure), constraints, ("a", "b"))
    chosen = goal.at(goal.best_threshold(scores, cell, None), scores, cell, None)
    for threshold in [-np.inf, *np.unique(scores)]:
        other = goal.at(threshold, scores, cell, None)
        assert (chosen.excess, -chosen.value) <= (other.excess + 1e-12, -other.value) or chosen.excess < other.excess


def test_shares_of_cells_follow_the_sampler():
    from aesara_nondecomp.data import MiniBatches

    signs, codes = np.where(Y, 1, -1), (SEX == "m").astype(int)
    cell = cell_of_rows(signs, codes, 2)
    weight = RNG.uniform(0.5, 2.0, N)
    for sampler in ("natural", "balanced", 0.3, "cell_balanced"):
        batches = MiniBatches(X, signs, 100, 0, sampler, weight, "float64", cell=cell)
        drawn = np.zeros(4)
        for _ in range(600):
            batch = next(batches)
            drawn += np.bincount(batch.cell, np.abs(batch.y), 4)
        np.testing.assert_allclose(drawn / drawn.sum(), batches.cell_shares, atol=0.01)
    assert Cells.of(cell, ("f", "m"), weight).shares[:4] == pytest.approx(
        MiniBatches(X, signs, 100, 0, "natural", weight, "float64", cell=cell).cell_shares
    )


def test_the_duals_move_by_rows_held_out_and_without_any_by_training_rows(functions, monkeypatch):
    seen, move = [], Constrained.move

    def watched(driver, held=None):
        seen.append(held)
        move(driver, held)

    monkeypatch.setattr(Constrained, "move", watched)
    held = (X[:600], Y[:600], SEX[:600])
    options = {
        "groups": SEX[600:],
        "constraints": [gap("tpr", at_most=0.3)],
        "network": functions,
        "steps": 100,
        "seed": 0,
    }
    an.fit(X[600:], Y[600:], "likelihood", validation=held, **options)
    counts = [np.sum((SEX[:600] == sex) & (Y[:600] == label)) for sex in ("f", "m") for label in (False, True)]
    assert len(seen) >= 50 and all(each.weight.tolist() == [*counts, 0, 0] for each in seen)
    seen.clear()
    an.fit(X[600:], Y[600:], "likelihood", validation=None, **options)
    assert seen == [None] * 100


@pytest.mark.parametrize("labels", [Y, np.where(Y & (X[:, 2] > 0), 2, Y)], ids=["two classes", "three classes"])
def test_held_out_rows_of_a_cell_are_counted_and_not_weighed(functions, labels, monkeypatch):
    """The duals move by cells of enough rows, however little or much the rows weigh."""
    seen = []
    driver = WorstGroup if labels.dtype == bool else drivers.multiclass.WorstGroup
    monkeypatch.setattr(driver, "move", lambda self, held=None: seen.append(held))
    weight = np.where(SEX == "f", 0.01, 5.0) * (1 + np.arange(N) % 3)
    fit_on(labels, "worst_cell", groups=SEX, network=functions, sample_weight=weight, steps=20, validation=1 / 3)
    rows = seen[0].weight[:4] if labels.dtype == bool else seen[0].sum(axis=1)[:6]
    counts = np.bincount(cell_of_classes(labels, SEX == "m", 2, len(set(labels))))
    np.testing.assert_allclose(rows, counts / 3, atol=1)


def test_of_all_steps_the_best_that_meets_the_constraints_is_taken():
    def evaluation(step, value, excess):
        return Evaluation(step, value, 1, 1, 1, 1, False, excess)

    monitor = ValidationMonitor(None, np.zeros(0), None, an.measures.get("accuracy"), Interval(10), None)
    some_meet = [evaluation(1, 0.9, 0.1), evaluation(2, 0.7, 0.0), evaluation(3, 0.8, 0.0), evaluation(4, 0.8, 0.0)]
    assert monitor.best_of(some_meet) == 2
    none_meets = [evaluation(1, 0.9, 0.1), evaluation(2, 0.7, 0.05), evaluation(3, 0.8, 0.2)]
    assert monitor.best_of(none_meets) == 1


@pytest.mark.parametrize("stopping", [None, 0.5], ids=["few to train on", "few held out"])
def test_a_warning_of_many_small_groups_names_ten_of_their_cells(stopping):
    X, y = np.random.default_rng(0).normal(size=(2400, 2)).astype("float32"), np.arange(2400) % 2
    groups = np.arange(2400) // (40 if stopping is None else 80)
    with pytest.warns(UserWarning, match="only 20 .* more. Consider|held out of .* more: there") as found:
        an.fit(X, y, "worst_cell", groups=groups, network=(2,), steps=2, validation=stopping, seed=0)
    texts = [str(each.message) for each in found]
    assert any(f"and {2 * (groups.max() + 1) - 10} more" in text for text in texts) and max(map(len, texts)) < 600


def test_groups_of_ones_own_validation_rows_may_spell_whole_numbers_otherwise(functions):
    site = np.where(SEX == "f", 1, 2)
    spelt = [np.where(SEX[:1000] == "f", *pair) for pair in ((1, 2), ("1.00", "2.0"))]
    one, other = (
        an.fit(
            X, Y, "worst_cell", groups=site, network=functions, steps=20, seed=0, validation=(X[:1000], Y[:1000], own)
        )
        for own in spelt
    )
    assert one.evaluations == other.evaluations and one.threshold == other.threshold


@pytest.mark.parametrize("measure", ["worst_cell", "worst_group_balanced"])
@pytest.mark.parametrize("validation", [None, 0.2])
def test_groups_of_rows_of_weight_zero_are_as_if_they_were_not_there(measure, validation, functions):
    weight = np.where(np.arange(N) < 30, 0.0, 1.0)
    groups = np.where(weight == 0, "left out", SEX)  # between the two in sorted order
    missing = np.where(weight == 0, None, SEX)
    options = {"steps": 20, "validation": validation, "network": functions, "sample_weight": weight}
    labels = {"worst_cell": Y, "worst_group_balanced": Y + (X[:, 1] > 0.5)}[measure]
    found, expected = (fit_on(labels, measure, groups=each, **options) for each in (groups, missing))
    np.testing.assert_array_equal(found.decision_function(X), expected.decision_function(X))


def test_groups_of_rows_of_weight_zero_alone_are_none(functions):
    groups = np.where(np.arange(N) < 30, SEX, None)
    with pytest.raises(ValueError, match="groups must not all be missing"):
        fit(functions, groups=groups, sample_weight=np.where(np.arange(N) < 30, 0.0, 1.0))
