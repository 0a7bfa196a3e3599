"""Models by group and under constraints: values against counted rows, thresholds against all of them, files, copies."""

import copy
import pickle
import warnings

import numpy as np
import pytest

from aesara_nondecomp import (
    Model,
    SoftVote,
    TrainFunctions,
    at_least,
    at_most,
    gap,
    linear,
    load_model,
    measures,
    metrics,
)
from aesara_nondecomp.metrics import Quantifier
from aesara_nondecomp.metrics.bootstrap import bootstrap
from aesara_nondecomp.metrics.multiclass import averaged_value
from aesara_nondecomp.models.archive import write_archive
from aesara_nondecomp.models.model import to_archive

RNG = np.random.default_rng(0)
N = 800
X = RNG.normal(size=(N, 2)).astype("float32")
SEX = np.where(RNG.random(N) < 0.4, "F", "M")
POSITIVE = X[:, 0] + np.where(SEX == "F", -0.4, 0.4) * X[:, 1] + 0.7 * RNG.normal(size=N) > 0.4
Y = np.where(POSITIVE, ">50K", "<=50K")
FUNCTIONS = TrainFunctions(linear(2))
WEIGHTS = [np.array([[1.0], [0.2]], "float32"), np.zeros(1, "float32")]
SCORES = (X @ WEIGHTS[0])[:, 0]


def model_of(measure="worst_cell", constrained_by=(), threshold=0.1):
    return Model(FUNCTIONS, WEIGHTS, measures.get(measure), ("<=50K", ">50K"), 0.35, threshold=threshold,
                 constrained_by=constrained_by)  # fmt: skip


def recalls(threshold, groups=SEX):
    """By group and class, counted."""
    right = (SCORES > threshold) == POSITIVE
    return {(g, c): right[(groups == g) & (c == POSITIVE)].mean() for g in np.unique(groups) for c in (False, True)}


def tpr_gap(threshold):
    found = recalls(threshold)
    return abs(found["F", True] - found["M", True])


def precision(threshold):
    return POSITIVE[SCORES > threshold].mean()


# -- values ----------------------------------------------------------------------------------------------------------


def test_the_value_and_the_score_of_a_model_are_those_of_its_worst_cell():
    model = model_of()
    expected = min(recalls(0.1).values())
    assert model.value(X, Y, groups=SEX) == model.score(X, Y, groups=SEX) == expected
    assert model_of("f1").value(X, Y, "worst_cell", groups=SEX) == expected
    assert model.by_group(X, Y, SEX).worst_cell.rate == expected


def test_the_report_by_group_has_the_recalls_of_the_cells_by_the_labels_of_the_model():
    found = {cell.name: cell.rate for cell in model_of().by_group(X, Y, SEX).cells}
    names = {False: "<=50K", True: ">50K"}
    assert found == pytest.approx({f"{names[c]} of {g}": rate for (g, c), rate in recalls(0.1).items()})
    named = model_of()
    named.extra = {"target": "income"}
    assert named.by_group(X, Y, {"sex": SEX}).worst_cell.name.startswith("income=")
    assert " of sex=" in named.by_group(X, Y, {"sex": SEX}).worst_cell.name


def test_the_labels_may_be_turned_round_and_groups_need_not_be_those_of_training():
    turned = Model(FUNCTIONS, [-WEIGHTS[0], WEIGHTS[1]], measures.get("worst_cell"), (">50K", "<=50K"), 0.65,
                   threshold=-0.1)  # fmt: skip
    assert turned.value(X, Y, groups=SEX) == pytest.approx(model_of().value(X, Y, groups=SEX), abs=0.01)
    other = RNG.integers(0, 3, N)
    assert model_of().value(X, Y, groups=other) == min(recalls(0.1, other).values())


def test_the_constraints_of_a_model_are_judged_by_their_counted_values():
    model = model_of("likelihood", (gap("tpr", at_most=0.02), at_least("precision", 0.5)))
    of_gap, of_precision = model.constraints(X, Y, SEX).verdicts
    assert of_gap.value == pytest.approx(tpr_gap(0.1)) and of_precision.value == pytest.approx(precision(0.1))
    assert of_precision.verdict == "held"
    (asked,) = model.constraints(X, Y, asked=at_most("fpr", 0.9)).verdicts
    assert asked.verdict == "held" and asked.value == pytest.approx(np.mean(SCORES[~POSITIVE] > 0.1))


def test_the_same_rows_have_the_same_intervals():
    model = model_of("likelihood", (gap("tpr", at_most=0.02),))
    assert model.constraints(X, Y, SEX) == model.constraints(X, Y, SEX)


REFUSED = {
    "value needs groups": (lambda m: m.value(X, Y), "worst_cell needs groups=, a value per row"),
    "score needs groups": (lambda m: m.score(X, Y), "worst_cell needs groups=, a value per row"),
    "tuning needs groups": (lambda m: m.tune_threshold(X, Y), "worst_cell needs groups=, a value per row"),
    "no groups": (lambda m: m.by_group(X, Y, None), "by_group needs groups, a value per row"),
    "few groups": (lambda m: m.by_group(X, Y, SEX[:9]), "one value per row, 800 of them, got 9"),
    "without effect": (lambda m: m.value(X, Y, "f1", groups=SEX), "groups have no effect on f1"),
    "tuning without effect": (lambda m: m.tune_threshold(X, Y, "f1", groups=SEX), "groups have no effect on f1"),
    "a gap needs groups": (
        lambda m: m.constraints(X, Y, asked=gap("tpr", 0.1)),
        "tpr gap <= 0.1 needs groups=, a value per row",
    ),
    "nothing is asked": (lambda m: m.constraints(X, Y, SEX), "constraints needs asked=, such as gap"),
    "text": (lambda m: m.constraints(X, Y, SEX, "tpr gap <= 0.1"), "asked must be Constraints, such as gap"),
    "no group has both classes": (
        lambda m: m.value(X, Y, "worst_group_balanced", groups=Y),
        "worst_group_balanced needs a group with rows of both classes",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_missing_groups_and_groups_without_effect_are_refused(name):
    call, reason = REFUSED[name]
    with pytest.raises(ValueError, match=reason):
        call(model_of())


def test_without_a_needed_group_nothing_is_scored(nothing_may_be_compiled):
    model = Model(None, WEIGHTS, measures.get("worst_cell"), ("<=50K", ">50K"), 0.35)
    for call in (model.value, model.score, model.tune_threshold):
        with pytest.raises(ValueError, match="needs groups="):
            call(X, Y)


# -- thresholds ------------------------------------------------------------------------------------------------------

CUTS = np.sort(SCORES)


def test_the_tuned_threshold_is_the_best_of_all_for_the_worst_cell():
    model = model_of()
    model.quantifier = Quantifier.fit(SCORES, np.where(POSITIVE, 1, -1), 0.1)
    model.tune_threshold(X, Y, groups=SEX)
    assert model.value(X, Y, groups=SEX) == max(min(recalls(cut).values()) for cut in CUTS)
    assert model.quantifier.threshold == model.threshold


def test_tuning_keeps_to_the_constraints_that_the_model_was_trained_under():
    model = model_of("recall", (at_least("precision", 0.8), gap("tpr", at_most=0.1)))
    model.tune_threshold(X, Y, groups=SEX)
    allowed = [cut for cut in CUTS[:-1] if precision(cut) >= 0.8 and tpr_gap(cut) <= 0.1]
    assert precision(model.threshold) >= 0.8 and tpr_gap(model.threshold) <= 0.1
    best = max(np.mean(SCORES[POSITIVE] > cut) for cut in allowed)
    assert best - 0.06 < model.value(X, Y) < best  # the precision is met by a standard error
    free = model_of("accuracy").tune_threshold(X, Y)
    assert precision(free.threshold) < 0.8


def test_constraints_that_no_threshold_meets_give_a_warning():
    model = model_of("accuracy", (at_least("tpr", 0.95), at_most("fpr", 0.05)))
    with pytest.warns(UserWarning, match="no threshold meets tpr >= 0.95, fpr <= 0.05 on these rows"):
        model.tune_threshold(X, Y)


def test_groups_beside_constraints_that_need_none_are_refused():
    with pytest.raises(ValueError, match="groups have no effect on accuracy"):
        model_of("accuracy", (at_least("tpr", 0.5),)).tune_threshold(X, Y, groups=SEX)


# -- files and copies ------------------------------------------------------------------------------------------------

CONSTRAINTS = (gap("tpr", at_most=0.02), at_least("precision", 1 / 3))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_has_the_constraints(copied):
    assert copied(model_of("likelihood", CONSTRAINTS)).constrained_by == CONSTRAINTS


def test_a_file_holds_measure_and_constraints_and_nothing_of_the_groups(tmp_path):
    model = model_of("worst_group_balanced", CONSTRAINTS)
    model.save(tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert again.constrained_by == CONSTRAINTS and again.measure == model.measure
    assert again.constraints(X, Y, SEX) == model.constraints(X, Y, SEX)
    header, arrays = to_archive(model)
    assert header["constrained_by"][0] == {"rate": "tpr", "bound": 0.02, "kind": "gap"} and len(arrays) == 2


def test_files_and_pickles_of_before_have_no_constraints(tmp_path):
    header, arrays = to_archive(model_of("f1"))
    del header["constrained_by"]
    write_archive(tmp_path / "m", "model", header, arrays)
    assert load_model(tmp_path / "m").constrained_by == ()
    state = model_of("f1").__getstate__()
    del state["constrained_by"]
    former = Model.__new__(Model)
    former.__setstate__(state)
    assert former.constrained_by == () and copy.copy(former).constrained_by == ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert former.value(X, Y) == model_of("f1").value(X, Y)


def test_a_vote_is_evaluated_by_group_as_its_members_are():
    vote = SoftVote([model_of(), model_of()])
    assert vote.value(X, Y, groups=SEX) == model_of().value(X, Y, groups=SEX)
    assert vote.value(X, Y, "f1") == model_of().value(X, Y, "f1")
    with pytest.raises(ValueError, match="worst_cell needs groups="):
        vote.value(X, Y)


OF_TWO_RATES = {
    "score": lambda: metrics.score("worst_cell", (1, 2, 3, 4)),
    "report": lambda: metrics.report((1, 2, 3, 4), ["worst_cell"]),
    "bootstrap": lambda: bootstrap((10, 20, 30, 40), ["worst_cell"]),
    "best_threshold": lambda: metrics.best_threshold("worst_cell", SCORES, np.where(POSITIVE, 1, -1)),
    "steady_threshold": lambda: metrics.steady_threshold("worst_cell", SCORES, np.where(POSITIVE, 1, -1)),
    "averaged_value": lambda: averaged_value("worst_cell", Y, Y),
    "Measure.value": lambda: measures.get("worst_cell").value(0.5, 0.5, 0.5),
}


@pytest.mark.parametrize("name", OF_TWO_RATES)
def test_what_knows_two_rates_alone_says_where_a_measure_of_groups_is_evaluated(name):
    with pytest.raises(ValueError, match=r"not of two rates: give groups, as to Model.value\(X, y, groups=...\)"):
        OF_TWO_RATES[name]()
