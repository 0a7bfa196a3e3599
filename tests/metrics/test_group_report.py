"""Reports by group and on constraints: counts against NumPy, intervals against SciPy, verdicts that do not cry wolf."""

import itertools
import json
import math

import numpy as np
import pytest
import scipy.stats

from aesara_nondecomp import at_least, at_most, gap, measures, share
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.measures.groups import cell_of_rows
from aesara_nondecomp.metrics.cell_intervals import jeffreys_interval
from aesara_nondecomp.metrics.constraint_report import ConstraintReport
from aesara_nondecomp.metrics.group_report import GroupReport

RNG = np.random.default_rng(0)
N = 3000
NAMES = ("sex=F", "sex=M", "sex=X")
CODES = RNG.integers(-1, 3, N)
SIGNS = np.where(RNG.random(N) < 0.3, 1, -1)
PREDICTED = RNG.random(N) < np.where(SIGNS > 0, 0.8 - 0.1 * CODES, 0.1)
CELL = cell_of_rows(SIGNS, CODES, 3)


def rows_of(counts):
    """Cells and predictions of rows, from (right, rows) of the negatives and positives of each group."""
    cell = np.concatenate([np.full(rows, k) for k, (_, rows) in enumerate(counts)])
    right = np.concatenate([np.arange(rows) < hits for hits, rows in counts])
    return right == (cell % 2 == 1), cell.astype(np.int32)


def report(counts, names=("a", "b")):
    return GroupReport.of(*rows_of(counts), names, ("no", "yes"))


def verdicts(constraints, counts, names=("a", "b")):
    return ConstraintReport.of(constraints, *rows_of(counts), names).verdicts


# -- by group --------------------------------------------------------------------------------------------------------


def test_the_rates_of_cells_and_groups_are_those_of_counted_rows():
    found = GroupReport.of(PREDICTED, CELL, NAMES, ("no", "yes"))
    right = PREDICTED == (SIGNS > 0)
    for k, name in enumerate(NAMES):
        member = CODES == k
        of_cells = [right[member & (SIGNS == sign)] for sign in (-1, 1)]
        for cell, values, label in zip(found.cells[2 * k : 2 * k + 2], of_cells, ("no", "yes")):
            assert cell[:6] == (f"{label} of {name}", name, label == "yes", len(values), values.sum(), values.mean())
        expected = (right[member].mean(), np.mean([values.mean() for values in of_cells]), PREDICTED[member].mean())
        assert found.groups[k][:2] == (name, member.sum()) and found.groups[k][2:] == pytest.approx(expected)
    assert found.rows_without_group == np.sum(CODES < 0)
    assert found.worst_cell.name == "yes of sex=X" and found.worst_group.name == "sex=X"


@pytest.mark.parametrize("right, rows", [(1, 2), (3, 10), (9, 10), (40, 76), (499, 1000), (9990, 10000)])
def test_an_interval_has_the_quantiles_of_jeffreys_posterior(right, rows):
    low, high = jeffreys_interval(np.array([right]), np.array([rows]))
    expected = scipy.stats.beta.ppf([0.025, 0.975], right + 0.5, rows - right + 0.5)
    assert (low[0], high[0]) == pytest.approx(tuple(expected), rel=1e-12)
    assert low[0] < right / rows < high[0]


def test_an_interval_reaches_the_end_where_no_row_or_every_row_is_right():
    low, high = jeffreys_interval(np.array([0, 20, 0]), np.array([20, 20, 0]))
    assert low[0] == 0 and high[0] == pytest.approx(scipy.stats.beta.ppf(0.975, 0.5, 20.5))
    assert high[1] == 1 and low[1] == pytest.approx(scipy.stats.beta.ppf(0.025, 20.5, 0.5))
    assert np.isnan([low[2], high[2]]).all()


@pytest.mark.parametrize("name", ["worst_cell", "worst_group_balanced", "worst_group_accuracy"])
def test_a_measure_of_the_worst_group_is_the_smallest_of_the_table(name):
    found = GroupReport.of(PREDICTED, CELL, NAMES, ("no", "yes"))
    smallest = {
        "worst_cell": min(cell.rate for cell in found.cells),
        "worst_group_balanced": min(group.balanced_accuracy for group in found.groups),
        "worst_group_accuracy": min(group.accuracy for group in found.groups),
    }
    values = found.value(measures.get(name))
    assert values["value"] == pytest.approx(smallest[name], abs=1e-14)
    assert values["low"] < values["value"] < values["high"]


def test_the_trivial_value_is_that_of_the_better_constant_prediction():
    counts = [(50, 100), (20, 40), (50, 60), (30, 100)]  # 100 of 140 and 60 of 160 rows are negative
    trivial = {name: report(counts).value(measures.get(name))["trivial"] for name in (
        "worst_cell", "worst_group_balanced", "worst_group_accuracy",
    )}  # fmt: skip
    expected = {"worst_cell": 0, "worst_group_balanced": 0.5, "worst_group_accuracy": 60 / 160}
    assert trivial == pytest.approx(expected)


def test_a_group_without_a_class_has_no_balanced_accuracy_and_is_not_the_worst():
    found = report([(5, 10), (0, 0), (7, 10), (6, 10)])
    assert math.isnan(found.cells[1].rate) and math.isnan(found.groups[0].balanced_accuracy)
    assert found.groups[0].accuracy == 0.5 and found.worst_group.name == "b" and found.worst_cell.name == "no of a"
    assert found.as_dict()["cells"][1]["rate"] is None and "undefined" in str(found)
    values = report([(5, 10), (0, 0), (0, 0), (2, 3)]).value(measures.get("worst_group_balanced"))
    assert np.isnan(list(values.values())).all()


def test_the_text_holds_every_cell_and_json_takes_the_dict():
    found = GroupReport.of(PREDICTED, CELL, NAMES, ("income=<=50K", "income=>50K"))
    lines = str(found).splitlines()
    assert lines[0].split() == ["cell", "rows", "predicted", "right", "95", "%", "interval"]
    assert all(line.startswith(f"{cell.name}  ") for line, cell in zip(lines[1:7], found.cells))
    assert f"{np.sum(CODES < 0)} rows without a group are left out" == lines[-1]
    facts = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert facts["worst_cell"] == "income=>50K of sex=X" and facts["groups"][1]["name"] == "sex=M"


# -- constraints -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "constraint, right, rows, negate",
    [
        (at_least("tpr", 0.5), 40, 60, False),
        (at_most("fnr", 0.5), 40, 60, True),
        (at_least("tnr", 0.5), 30, 90, False),
        (at_most("fpr", 0.5), 30, 90, True),
    ],
)
def test_the_interval_of_a_rate_of_one_class_is_jeffreys(constraint, right, rows, negate):
    (found,) = verdicts([constraint], [(30, 90), (40, 60)], ())
    expected = scipy.stats.beta.ppf([0.025, 0.975], right + 0.5, rows - right + 0.5)
    expected = 1 - expected[::-1] if negate else expected
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.01)
    assert found.value == pytest.approx(1 - right / rows if negate else right / rows)


def test_a_rate_of_all_rows_does_not_depend_on_the_groups():
    asked = [at_least("precision", 0.8), share(at_most=0.3)]
    grouped = ConstraintReport.of(asked, PREDICTED, CELL, NAMES)
    assert grouped == ConstraintReport.of(asked, PREDICTED, cell_of_rows(SIGNS, np.full(N, -1), 0), ())
    assert [v.value for v in grouped.verdicts] == pytest.approx([np.mean(SIGNS[PREDICTED] > 0), np.mean(PREDICTED)])


@pytest.mark.parametrize("rate", ["tpr", "fpr", "selection", "accuracy"])
def test_a_gap_is_the_largest_difference_of_counted_rates(rate):
    rows = {"tpr": SIGNS > 0, "fpr": SIGNS < 0}.get(rate, np.ones(N, bool))
    hit = PREDICTED == (SIGNS > 0) if rate == "accuracy" else PREDICTED
    rates = [np.mean(hit[rows & (CODES == k)]) for k in range(3)]
    (found,) = ConstraintReport.of([gap(rate, at_most=0.1)], PREDICTED, CELL, NAMES).verdicts
    assert found.value == pytest.approx(max(rates) - min(rates)) and found.low < found.value < found.high


def test_the_interval_of_a_gap_of_two_groups_is_that_of_a_difference():
    counts = [(0, 0), (150, 200), (0, 0), (90, 200)]
    (found,) = verdicts([gap("tpr", at_most=0.1)], counts)
    error = math.sqrt(0.75 * 0.25 / 200 + 0.45 * 0.55 / 200)
    assert found.value == pytest.approx(0.3)
    assert found.high == pytest.approx(0.3 + scipy.stats.norm.ppf(0.975) * error, abs=0.01)
    assert found.low == pytest.approx(0.3 + scipy.stats.norm.ppf(0.0125) * error, abs=0.015)  # of two directions


VERDICTS = [
    (gap("tpr", at_most=0.02), [(0, 9), (700, 1000), (0, 9), (600, 1000)], "broken"),
    (gap("tpr", at_most=0.2), [(0, 9), (700, 1000), (0, 9), (600, 1000)], "held"),
    (gap("tpr", at_most=0.1), [(0, 9), (700, 1000), (0, 9), (600, 1000)], "not shown"),
    (gap("tpr", at_most=0.02), [(0, 9), (7, 10), (0, 9), (6, 10)], "not shown"),
    (gap("tpr", at_most=0.02), [(0, 9), (600, 1000), (0, 9), (600, 1000)], "not shown"),
    (gap("selection", at_most=0.05), [(500, 1000), (50, 100), (50, 100), (500, 1000)], "held"),
    (at_least("precision", 0.9), [(990, 1000), (500, 1000), (0, 0), (0, 0)], "held"),
    (at_least("precision", 0.97), [(990, 1000), (500, 1000), (0, 0), (0, 0)], "not shown"),
    (at_least("precision", 0.995), [(990, 1000), (500, 1000), (0, 0), (0, 0)], "broken"),
    (at_most("fpr", 0.02), [(990, 1000), (500, 1000), (0, 0), (0, 0)], "held"),
    (at_most("fpr", 0.001), [(990, 1000), (500, 1000), (0, 0), (0, 0)], "broken"),
    (share(at_least=0.1), [(100, 100), (50, 100), (100, 100), (50, 100)], "held"),
    (share(at_least=0.4), [(100, 100), (50, 100), (100, 100), (50, 100)], "broken"),
    (at_least("precision", 0.9), [(100, 100), (0, 100), (0, 0), (0, 0)], "not shown"),  # nothing is predicted positive
]


@pytest.mark.parametrize("constraint, counts, verdict", VERDICTS)
def test_a_verdict_is_given_where_the_whole_interval_is_on_one_side(constraint, counts, verdict):
    (found,) = verdicts([constraint], counts)
    assert found.verdict == verdict and found.constraint == str(constraint)
    if not math.isnan(found.value):
        met = [constraint.excess(end) == 0 for end in (found.low, found.high)]
        assert {(True, True): "held", (False, False): "broken"}.get(tuple(met), "not shown") == verdict


def test_equal_groups_are_seldom_said_to_differ_however_many_they_are():
    """With ten groups of 100 the largest difference of the rates is .15 by chance alone."""
    rng, names = np.random.default_rng(1), [f"g{k}" for k in range(10)]
    broken, values = 0, []
    for _ in range(20):
        counts = list(itertools.chain(*(((0, 0), (hits, 100)) for hits in rng.binomial(100, 0.5, 10))))
        (found,) = verdicts([gap("tpr", at_most=0.02)], counts, names)
        broken, values = broken + (found.verdict == "broken"), [*values, found.value]
    assert np.mean(values) > 0.1 and broken <= 1


def test_bounds_that_hold_are_shown_to_at_least_as_often_as_the_level_says():
    rng, inside = np.random.default_rng(2), 0
    for _ in range(100):
        counts = [(0, 0), (rng.binomial(150, 0.7), 150), (0, 0), (rng.binomial(80, 0.6), 80)]
        (found,) = verdicts([gap("tpr", at_most=0.1)], counts)
        inside += found.low <= 0.1 <= found.high
    assert inside >= 92


def drawn_rows(rng, n, positives, tpr, fpr):
    """New rows of a classifier: whether each is positive, and predicted positive."""
    truth = rng.random(n) < positives
    return truth, rng.random(n) < np.where(truth, tpr, fpr)


@pytest.mark.parametrize("rate, true", [("selection", 0.2), ("precision", 0.9), ("f1", 0.9), ("accuracy", 0.96)])
def test_the_interval_of_a_rate_of_both_classes_covers_it_on_new_rows(rate, true):
    """New rows also have another share of positives: with shares held fixed it was .4 for the share of predictions."""
    rng, inside = np.random.default_rng(3), []
    for _ in range(200):
        truth, predicted = drawn_rows(rng, 200, 0.2, 0.9, 0.025)
        (found,) = ConstraintReport.of([at_least(rate, 0.5)], predicted, truth.astype(int), ()).verdicts
        inside.append(found.low <= true <= found.high)
    assert 0.92 <= np.mean(inside) <= 0.98


def test_groups_with_equal_shares_of_predictions_are_seldom_said_to_differ():
    rng, broken = np.random.default_rng(4), 0
    for _ in range(100):
        truth, predicted = drawn_rows(rng, 200, 0.3, 0.98, 0.01)
        cell = 2 * rng.integers(0, 2, 200) + truth
        (found,) = ConstraintReport.of([gap("selection", at_most=0.05)], predicted, cell, ("a", "b")).verdicts
        broken += found.verdict == "broken"
    assert broken <= 3


def test_a_precision_without_a_false_alarm_has_the_interval_of_its_alarms_alone():
    of_one_class, of_both = (verdicts([at_least("precision", 0.6)], [(n, n), (9, 9)], ())[0] for n in (0, 300))
    expected = scipy.stats.beta.ppf(0.025, 9.5, 0.5)
    for found in (of_one_class, of_both):
        assert (found.low, found.high) == pytest.approx((expected, 1), abs=0.02)


def test_the_interval_of_the_smallest_accuracy_covers_it_on_new_rows():
    rng, inside = np.random.default_rng(5), []
    for _ in range(200):
        truth, predicted = drawn_rows(rng, 150, 0.2, 0.1, 0.02)
        found = GroupReport.of(predicted, truth.astype(int), ("a",), ("no", "yes")).value("worst_group_accuracy")
        inside.append(found["low"] <= 0.2 * 0.1 + 0.8 * 0.98 <= found["high"])
    assert 0.92 <= np.mean(inside) <= 0.98


def test_a_report_of_constraints_is_text_and_json():
    asked = [gap("tpr", at_most=0.02), at_least("precision", 0.5)]
    found = ConstraintReport.of(asked, PREDICTED, CELL, NAMES)
    assert [line.split("  ")[0] for line in str(found).splitlines()[1:]] == ["tpr gap <= 0.02", "precision >= 0.5"]
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))["precision >= 0.5"]["verdict"] == "held"
    assert not found.held and ConstraintReport.of(asked[1:], PREDICTED, CELL, NAMES).held


def test_a_gap_of_fewer_than_two_groups_is_undefined_and_not_shown():
    (found,) = verdicts([gap("tpr", at_most=0.02)], [(5, 9), (7, 10), (4, 9), (0, 0)])
    assert found.verdict == "not shown" and np.isnan([found.value, found.low, found.high]).all()


# -- pictures --------------------------------------------------------------------------------------------------------


def test_pictures_name_what_they_show_also_with_dollars(tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    drawn = [
        GroupReport.of(PREDICTED, CELL, ("$5 to $10", "b", "c"), ("no", "yes")),
        ConstraintReport.of([gap("tpr", at_most=0.02), at_least("precision", 0.5)], PREDICTED, CELL, NAMES),
    ]
    for k, found in enumerate(drawn):
        path = tmp_path / f"{k}.svg"
        figure = found.plot(path)
        assert figure.get_size_inches()[0] == 3.5 and path.stat().st_size > 1000
        labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
        names = [cell.name for cell in found.cells] if k == 0 else [v.constraint for v in found.verdicts]
        assert [label.replace("\\$", "$").rpartition(" (")[0] or label for label in labels] == names


def test_a_class_with_dollars_is_drawn_as_it_is_in_a_constraint(tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    cells = multiclass.GroupedCells.of(np.arange(20) % 2, (), ("$10-$20", "b"))
    asked = [at_least("recall", 0.5, label="$10-$20")]
    found = ConstraintReport.of_classes(asked, np.zeros(20, int), np.arange(20) % 2, cells)
    labels = found.plot(tmp_path / "c.svg").axes[0].get_yticklabels()
    assert [text.get_text() for text in labels] == [r"recall(\$10-\$20) >= 0.5"]


@pytest.mark.parametrize("found", [
    GroupReport.of(PREDICTED, CELL, NAMES, ("no", "yes")),
    ConstraintReport.of([at_least("precision", 0.5)], PREDICTED, CELL, NAMES),
])  # fmt: skip
def test_a_picture_without_matplotlib_names_the_extra(found, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"aesara-nondecomp\[plots\]"):
        found.plot()


def test_a_measure_of_the_worst_group_can_be_given_by_its_name():
    report = GroupReport.of(PREDICTED, CELL, NAMES, ("no", "yes"))
    assert report.value("worst_cell") == report.value(measures.get("worst_cell"))
    for other in ("f1", measures.get("min")):
        with pytest.raises(ValueError, match="a measure of the worst group is needed, as 'worst_cell', got"):
            report.value(other)
