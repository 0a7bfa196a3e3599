"""`fit` of several classes under constraints: what is met on new rows, what is refused, what is said."""

import warnings

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp.history import ClassEvaluation
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.measures.multiclass import Cells, GroupedCells
from aesara_nondecomp.metrics import plug_in
from aesara_nondecomp.metrics.threshold import best_threshold
from aesara_nondecomp.step.class_functions import ClassFunctions
from aesara_nondecomp.training.class_held_out import ClassMonitor
from aesara_nondecomp.training.early_stopping import Interval
from aesara_nondecomp.training.run import TrainingRows

LABELS = np.array(["common", "fair", "rare"])


def rows(n, seed):
    """The two sexes differ in how far their rows of a class lie from those of others, and the inputs hold the sex."""
    rng = np.random.default_rng(seed)
    codes, sex = rng.choice(3, n, p=[0.7, 0.2, 0.1]), np.where(rng.random(n) < 0.3, "f", "m")
    X = rng.normal(size=(n, 3))
    X[:, :2] += np.array([[0, 0], [2, 0], [0, 2]])[codes] * np.where(sex == "f", 0.6, 1.2)[:, None]
    X[:, 2] += np.where(sex == "f", 0.8, -0.8)
    return X.astype("float32"), LABELS[codes], sex


X, Y, SEX = rows(5000, 0)
NEW, Y_NEW, SEX_NEW = rows(20000, 1)
OPTIONS = {"seed": 0, "steps": 200, "validation": 0.3}


@pytest.fixture(scope="module")
def functions():
    return ClassFunctions(an.mlp(3, (16,), n_scores=3), Cells(np.full(3, 1 / 3)), "adamw")


def fit(functions, measure="likelihood", **options):
    return an.fit(X, Y, measure, **{**OPTIONS, "network": functions, **options})


@pytest.fixture(scope="module")
def plain(functions):
    return fit(functions)


def test_a_class_of_float_labels_is_named_as_it_is_stored(functions, tmp_path):
    codes = np.searchsorted(LABELS, Y).astype(float)
    bound = an.at_least("recall", 0.5, label=2.0)
    model = an.fit(X, codes, "likelihood", **{**OPTIONS, "steps": 5}, network=functions, constraints=[bound])
    model.save(tmp_path / "m")
    (found,) = an.load_model(tmp_path / "m").constraints(X, codes).verdicts
    assert found.value == pytest.approx(np.mean(model.predict(X)[codes == 2] == 2))
    assert [cell.label for cell in model.by_group(X, codes, SEX).cells[:3]] == ["0", "1", "2"]


def rate(model, name, label="rare", group=None):
    chosen = slice(None) if group is None else SEX_NEW == group
    predicted, true = model.predict(NEW)[chosen] == label, Y_NEW[chosen] == label
    return {
        "recall": np.mean(predicted[true]),
        "precision": np.mean(true[predicted]),
        "selection": np.mean(predicted),
    }[name]


def gap_of(model, name):
    return abs(rate(model, name, group="f") - rate(model, name, group="m"))


@pytest.mark.parametrize(("name", "between"), [("recall", 0.06), ("selection", 0.035)])
def test_a_gap_that_is_bounded_is_smaller_than_without_the_bound(functions, plain, name, between):
    model = fit(functions, groups=SEX, constraints=an.gap(name, label="rare", at_most=0.02))
    assert gap_of(model, name) < between < gap_of(plain, name)
    assert model.rule is None and model.constrained_by == (an.gap(name, 0.02, "rare"),)
    assert rate(model, "recall") > 0.2  # not by predicting none of them


@pytest.mark.parametrize(
    ("constraint", "measure"),
    [
        (an.at_least("recall", 0.75, label="rare"), "likelihood"),
        (an.at_least("precision", 0.85, label="rare"), "likelihood"),
        (an.share("rare", at_least=0.15), "accuracy"),
        (an.share("rare", at_most=0.05), "mean_recall"),
        (an.at_least("recall", 0.75, label="rare"), "macro_f1"),
    ],
    ids=str,
)
def test_a_bound_on_a_class_holds_on_new_rows(functions, plain, constraint, measure):
    asked = "selection" if constraint.rate == "selection" else constraint.rate
    before = rate(plain, asked) if measure == "likelihood" else np.nan
    model = fit(functions, measure, constraints=constraint)
    sign = -1 if constraint.kind == "at_most" else 1
    assert sign * rate(model, asked) > sign * constraint.bound - 0.03
    assert not before > constraint.bound
    assert model.constraints(NEW, Y_NEW).verdicts[0].value == pytest.approx(rate(model, asked))


def test_a_constraint_that_holds_with_slack_leaves_the_run_as_it_is(functions, plain):
    loose = [an.share("rare", at_most=1.0), an.at_least("recall", 0.0, label="fair")]
    free = {"validation": an.EarlyStopping(0.3, tune_threshold=False), "steps": 60}
    for measure, algorithm in (("likelihood", "auto"), ("min_recall", "duple"), ("macro_f1", "dame")):
        one = fit(functions, measure, algorithm=algorithm, **free)
        bound = fit(functions, measure, algorithm=algorithm, constraints=loose, **free)
        for a, b in zip(one.parameters, bound.parameters):
            np.testing.assert_array_equal(a, b)
        assert [e.value for e in one.evaluations] == [e.value for e in bound.evaluations]


def test_bounds_and_worst_groups_train_together_and_by_folds(functions):
    asked = [an.gap("accuracy", at_most=0.2), an.at_least("recall", 0.3, label="rare")]
    model = fit(functions, "worst_cell", groups=SEX, constraints=asked, validation=2, steps=60)
    assert len(model.voters) == 1 and model.evaluations[-1].excess >= 0.0
    names = [name.split("[")[0] for name in model.history[-1].duals]
    assert names == ["alpha"] * 6 + ["lambda"] * 2


def test_what_cannot_be_reached_is_said(functions):
    impossible = [an.at_least("recall", 0.99, label="rare"), an.at_least("precision", 0.99, label="rare")]
    with pytest.warns(UserWarning, match=r"constraint not reached.*\(rare\) >= 0.99 \(reached: 0\.\d+\)"):
        fit(functions, constraints=impossible, steps=60)


def test_runs_go_on_under_their_constraints_and_no_others(functions, tmp_path):
    options, path = {"groups": SEX, "constraints": [an.gap("recall", 0.05, label="rare")]}, tmp_path / "run"
    first = fit(functions, **options)
    fit(functions, **options, checkpoint=an.Checkpoint(path, 35), on_step=lambda step: step.step == 70)
    with pytest.raises(ValueError, match="measure"):
        fit(functions, groups=SEX, constraints=[an.gap("recall", 0.1, label="rare")],
            checkpoint=an.Checkpoint(path, 35, resume=True))  # fmt: skip
    resumed = fit(functions, **options, checkpoint=an.Checkpoint(path, 35, resume=True))
    for a, b in zip(first.parameters, resumed.parameters):
        np.testing.assert_array_equal(a, b)


def test_a_model_and_its_file_know_the_constraints(functions, tmp_path):
    model = fit(functions, constraints=an.at_least("recall", 0.5, label="rare"), steps=20)
    model.save(tmp_path / "m")
    again = an.load_model(tmp_path / "m")
    assert again.constrained_by == model.constrained_by == (an.at_least("recall", 0.5, "rare"),)
    assert again.constraints(NEW, Y_NEW) == model.constraints(NEW, Y_NEW)
    assert "recall(rare) >= 0.5" in str(model.constraints(NEW, Y_NEW))


def test_a_verdict_is_that_of_the_class_against_all_others(plain):
    asked = [an.gap("recall", 0.02, label="rare"), an.at_least("precision", 0.3, label="rare"), an.gap("accuracy", 0.5)]
    report = plain.constraints(NEW, Y_NEW, SEX_NEW, asked)
    assert [each.verdict for each in report.verdicts] == ["broken", "held", "held"]
    assert report.verdicts[0].value == pytest.approx(gap_of(plain, "recall"))
    error = np.sqrt(sum(r * (1 - r) / n for r, n in (
        (rate(plain, "recall", group=g), np.sum((SEX_NEW == g) & (Y_NEW == "rare"))) for g in "fm"
    )))  # fmt: skip
    assert report.verdicts[0].high - report.verdicts[0].value == pytest.approx(1.96 * error, rel=0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda model: model.constraints(NEW, Y_NEW), "constraints needs asked="),
        (lambda model: model.constraints(NEW, Y_NEW, None, [an.gap("recall", 0.1, "rare")]), "needs groups="),
        (lambda model: model.constraints(NEW, Y_NEW, SEX_NEW, [an.at_least("recall", 0.1)]), "needs label="),
        (lambda model: model.constraints(NEW, Y_NEW, SEX_NEW, [an.at_least("recall", 0.1, "x")]), "one of the classes"),
    ],
)
def test_wrong_calls_of_a_model_are_refused(plain, call, message):
    with pytest.raises(ValueError, match=message):
        call(plain)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"constraints": [an.gap("recall", 0.1, label="rare")]}, r"recall\(rare\) gap <= 0.1 needs groups"),
        ({"constraints": [an.at_least("recall", 0.5)]}, "recall >= 0.5 needs label="),
        ({"constraints": [an.at_least("recall", 0.5, label="odd")]}, "one of the classes common, fair, rare"),
        ({"constraints": ["recall(rare) >= 0.5"]}, "Constraint"),
        ({"groups": SEX}, "groups have no effect on likelihood"),
        ({"constraints": [an.share("rare", at_most=0.5)], "algorithm": "plug_in"}, "chosen without groups"),
        (
            {
                "groups": SEX,
                "constraints": [an.gap("recall", 0.1, label="rare")],
                "validation": (X, Y, np.full(len(X), "f")),
            },
            "rows held out cannot judge a model.*two groups",
        ),
    ],
)
def test_wrong_constraints_are_refused(functions, options, message):
    with pytest.raises(ValueError, match=message), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit(functions, **options)


def test_labels_of_two_classes_are_not_named():
    with pytest.raises(ValueError, match=r"labels are of two classes here: recall\(rare\) >= 0.5"):
        an.fit(X, Y == "rare", "f1", constraints=[an.at_least("recall", 0.5, label="rare")])


# -- the plug-in under constraints -----------------------------------------------------------------------------------


def test_of_two_classes_the_offsets_are_the_best_threshold_that_meets_the_constraint():
    rng = np.random.default_rng(0)
    y = (rng.random(60) < 0.4).astype(int)
    p = np.round(1 / (1 + np.exp(-(2 * y - 1 + 1.5 * rng.normal(size=60)))), 3)
    asked = an.at_least("precision", 0.6, label=1)
    found = plug_in("mean_recall", np.column_stack([1 - p, p]), y, constraints=[asked], candidates=200)
    cells = GroupedCells.of(y, (), (0, 1))
    best = -np.inf
    for cut in np.unique(p):
        predicted = p >= cut
        R = np.array([[np.mean(predicted[y == k] == j) for j in (0, 1)] for k in (0, 1)])
        if asked.excess(asked.value(R, cells), asked.standard_error(R, cells)) == 0:
            best = max(best, np.mean(np.diag(R)))
    free, _ = best_threshold("balanced_accuracy", p, np.where(y, 1, -1))
    assert found.value == pytest.approx(best) and found.value < np.mean(
        [np.mean(p[y == 1] > free), np.mean(p[y == 0] <= free)]
    )


def test_a_rule_under_constraints_meets_them_by_a_standard_error_or_breaks_them_least():
    rng = np.random.default_rng(1)
    y = rng.choice(3, 900, p=[0.6, 0.3, 0.1])
    P = np.exp(1.2 * np.eye(3)[y] + rng.normal(size=(900, 3))) * [0.6, 0.3, 0.1]
    P /= P.sum(axis=1, keepdims=True)
    cells, asked = GroupedCells.of(y, (), LABELS), [an.at_least("recall", 0.7, label="rare")]
    found = plug_in("accuracy", P, y, constraints=asked, labels=LABELS)
    predicted = found.predict(P)
    R = np.array([np.bincount(predicted[y == k], minlength=3) / np.sum(y == k) for k in range(3)])
    assert R[2, 2] - asked[0].standard_error(R, cells) >= 0.7 > np.mean(P[y == 2].argmax(axis=1) == 2)
    assert found.value == np.mean(predicted == y) < plug_in("accuracy", P, y, method="offsets").value
    for wrong, message in (
        ({"constraints": [an.gap("recall", 0.1, label=1)]}, "knows no groups"),
        ({"constraints": [an.at_least("recall", 0.1, label=1)], "method": "linearised"}, "need method='offsets'"),
    ):
        with pytest.raises(ValueError, match=message):
            plug_in("accuracy", P, y, **wrong)


def test_of_all_steps_the_best_that_meets_the_constraints_is_taken():
    held = TrainingRows(None, np.zeros(0), None)
    monitor = ClassMonitor(held, multiclass.get("accuracy"), Interval(10), None, False, 3, None)
    found = [
        ClassEvaluation(k, v, np.eye(3).tolist(), 0.0, e)
        for k, (v, e) in enumerate([(0.9, 0.1), (0.7, 0.0), (0.8, 0.0)])
    ]
    assert monitor.best_of(found) == 2 and monitor.best_of(found[:2]) == 1 and monitor.best_of(found[:1]) == 0
