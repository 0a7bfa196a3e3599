"""What the pictures of a report draw: curves, isolines, shuffled columns and shifts, each by another route."""

from __future__ import annotations

import re

import numpy as np
import pytest

from aesara_nondecomp import measures
from aesara_nondecomp.data import InputEncoder, Standardiser
from aesara_nondecomp.reports.columns import importances, shifts, value_at_threshold
from aesara_nondecomp.reports.curves import CalibrationCurve, Histogram, Plane, Ranking
from aesara_nondecomp.reports.markup import Markup, bar, table
from aesara_nondecomp.reports.svg import Axis, Chart

RNG = np.random.default_rng(0)
SIGNS = np.where(RNG.random(500) < 0.2, 1, -1)
SCORES = np.round(RNG.normal(size=500) + SIGNS, 1).astype("float32")  # with ties


# -- curves ------------------------------------------------------------------------------------------------------------


def test_each_point_of_the_ranking_is_the_rates_of_some_threshold():
    curve = Ranking.of(SCORES, SIGNS)
    expected = set()
    for threshold in [*np.unique(SCORES), -np.inf]:
        chosen = SCORES > threshold
        expected.add((np.mean(chosen[SIGNS > 0]), np.mean(chosen[SIGNS < 0])))
    assert set(zip(curve.tpr, curve.fpr)) == expected  # few enough thresholds for all to be drawn
    assert (curve.tpr[-1], curve.fpr[-1]) == (1, 1)
    assert curve.precision[-1] == np.mean(SIGNS > 0)


def test_the_curves_are_those_of_scikit_learn():
    peer = pytest.importorskip("sklearn.metrics", reason="needs the extra sklearn")
    curve = Ranking.of(SCORES, SIGNS)
    fpr, tpr, _ = peer.roc_curve(SIGNS, SCORES, drop_intermediate=False)
    assert curve.fpr == pytest.approx(fpr) and curve.tpr == pytest.approx(tpr)
    precision, recall, _ = peer.precision_recall_curve(SIGNS, SCORES)
    assert curve.tpr[1:] == pytest.approx(recall[-2::-1]) and curve.precision[1:] == pytest.approx(precision[-2::-1])


def test_a_long_ranking_is_thinned_without_a_gap():
    signs = np.where(RNG.random(100_000) < 0.001, 1, -1)
    curve = Ranking.of(RNG.normal(size=100_000) + 2 * signs, signs)
    assert len(curve.tpr) <= 301
    assert np.max(np.diff(curve.tpr) + np.diff(curve.fpr)) < 0.02


def test_bins_hold_all_rows_of_each_class():
    bins = Histogram.of(np.append(SCORES, [1e9, -1e9]), np.append(SIGNS, [1, -1]))
    assert bins.positives.sum() == pytest.approx(1) and bins.negatives.sum() == pytest.approx(1)
    assert np.all(np.diff(bins.edges) > 0) and bins.edges[-1] < 1e3


def test_equal_scores_have_a_histogram():
    bins = Histogram.of(np.ones(6), np.array([1, 1, -1, -1, -1, -1]))
    assert bins.positives.sum() == bins.negatives.sum() == pytest.approx(1)


def test_calibration_groups_have_the_shares_and_wilson_intervals_of_their_rows():
    from scipy.stats import binomtest

    probabilities = RNG.random(100)
    signs = np.where(RNG.random(100) < probabilities, 1, -1)
    curve = CalibrationCurve.of(probabilities, signs)
    for k, part in enumerate(np.split(np.argsort(probabilities), 10)):
        hits = int(np.sum(signs[part] > 0))
        interval = binomtest(hits, 10).proportion_ci(method="wilson")
        assert curve.predicted[k] == pytest.approx(probabilities[part].mean())
        assert (curve.observed[k], curve.low[k], curve.high[k]) == pytest.approx((hits / 10, *interval))


def test_rows_of_equal_probability_are_in_one_calibration_group_whatever_their_order():
    probabilities = np.repeat([0.2, 0.4], 500)
    signs = np.where(np.random.default_rng(1).random(1000) < probabilities, 1, -1)
    expected = [np.mean(signs[:500] > 0), np.mean(signs[500:] > 0)]
    for order in (np.arange(1000), np.argsort(signs), np.argsort(-signs)):
        curve = CalibrationCurve.of(probabilities[order], signs[order])
        assert curve.predicted == pytest.approx([0.2, 0.4]) and curve.observed == pytest.approx(expected)
    tied = np.round(RNG.random(100), 1)
    shares = dict(zip(*np.unique(tied, return_counts=True)))
    curve = CalibrationCurve.of(tied, SIGNS[:100], groups=100)
    assert curve.predicted == pytest.approx(sorted(shares))


@pytest.mark.parametrize("name", ["f1", "min", "qmean", "kld", "gmean", "accuracy"])
def test_a_measure_has_its_level_along_an_isoline_in_both_planes(name):
    measure, prior = measures.get(name), 0.2
    planes = {"roc": Plane.roc(measure, prior, 500), "precision-recall": Plane.precision_recall(measure, prior, 500)}
    for kind, plane in planes.items():
        for level in plane.levels()[1:-1]:
            ends = np.array(plane.isoline(level)).reshape(-1, 2)
            assert len(ends) > 4, (kind, level)
            x, y = ends.T
            if kind == "precision-recall":
                keep = y > 0.1
                x, y = x[keep] * prior / (1 - prior) * (1 / y[keep] - 1), x[keep]
            values = measure.value(y, 1 - x, prior, eps=1 / 1000)
            spread = np.nanmax(plane.values) - np.nanmin(plane.values)
            assert np.median(np.abs(values - level)) < 0.01 * spread, (kind, level)


def test_the_line_of_a_value_is_drawn_unless_it_is_nearly_the_best_or_the_worst():
    f1, kld = (Plane.roc(measures.get(name), 0.2, 500) for name in ("f1", "kld"))
    assert [f1.holds(value) for value in (0.005, 0.5, 0.96, 0.999, np.nan)] == [False, True, True, False, False]
    assert [kld.holds(value) for value in (1e-5, 0.5)] == [False, True]


def test_no_classifier_has_a_precision_that_needs_more_negatives_than_there_are():
    plane = Plane.precision_recall(measures.get("f1"), 0.5, 100)
    assert np.isnan(plane.values[1, -1])  # precision .02 at recall 1
    assert plane.values[-1, -1] == 1


# -- columns -----------------------------------------------------------------------------------------------------------


class Sum:
    """A model whose score is the sum of two of its three columns."""

    class functions:  # noqa: N801
        class network:  # noqa: N801
            takes_tokens = False

    encoder, threshold, measure, voters = InputEncoder(), 0.0, measures.get("accuracy"), ()

    def _scores(self, rows):
        return rows[:, 0] + 3 * rows[:, 1]


def test_the_loss_of_a_column_is_that_of_shuffling_it():
    X = RNG.normal(size=(2000, 3))
    signs = np.where(X[:, 0] + 3 * X[:, 1] > 0, 1, -1)
    found = {each.column: each for each in importances(Sum(), X, signs, 0, value_at_threshold(Sum()))}
    assert list(found) == ["column 1", "column 0", "column 2"]
    assert found["column 2"].loss == 0
    assert found["column 1"].loss == pytest.approx(np.arccos(0.1) / np.pi, abs=0.04)  # the angle between the sums
    assert found["column 0"].loss == pytest.approx(np.arccos(0.9) / np.pi, abs=0.04)
    assert all(each.low <= each.loss <= each.high for each in found.values())
    assert importances(Sum(), X, signs, 0, value_at_threshold(Sum())) == list(found.values())


def test_the_columns_of_one_category_are_shuffled_together():
    colours = np.array(["red", "blue", "green"] * 200, dtype=object)
    table_ = {"size": RNG.normal(size=600), "colour": colours}
    model = Sum()
    model.encoder = InputEncoder.fit(table_)
    rows = np.asarray(model.encoder.encode(table_))
    seen = []
    model._scores = lambda matrix: seen.append(matrix) or matrix[:, 0]
    found = importances(model, rows, np.where(rows[:, 0] > 0, 1, -1), 0, value_at_threshold(model))
    assert {each.column for each in found} == {"size", "colour"}
    assert all(np.array_equal(matrix[:, 1:].sum(axis=1), np.ones(600)) for matrix in seen)


def test_a_column_is_shuffled_with_what_tells_where_it_is_missing():
    table = {"size": np.where(RNG.random(600) < 0.2, np.nan, RNG.normal(5, 1, 600)), "age": RNG.normal(size=600)}
    model = Sum()
    model.encoder = InputEncoder.learn(table, add_indicator=True)
    rows = np.asarray(model.encoder.encode(table))
    seen = []
    model._scores = lambda matrix: seen.append(matrix) or matrix[:, 1]
    importances(model, rows, np.where(rows[:, 1] > 0, 1, -1), 0, value_at_threshold(model))
    median = model.encoder.table.medians[0]
    assert all(np.array_equal(matrix[:, 0] == median, matrix[:, 2] == 1) for matrix in seen)
    assert any(not np.array_equal(matrix[:, 2], rows[:, 2]) for matrix in seen)


def test_a_column_that_moved_is_told_in_its_spreads():
    X = RNG.normal(loc=5, scale=2, size=(1000, 3))
    moved = X + [0, 3, 0.1]
    robust = Standardiser.robust(X, [0, 1, 2])
    for standardiser in (Standardiser.fit(X), robust, robust.with_as_one([0, 1])):
        spread = robust.scale_[1] if standardiser.holds_medians else standardiser.scale_[1]
        encoder = InputEncoder(standardiser=standardiser, names=("a", "b", "c"))
        assert shifts(encoder, X, 0) == []
        (found,) = shifts(encoder, moved, 0)
        assert found.column == "b" and found.spreads == pytest.approx(3 / spread, rel=0.01)
        assert found.found - found.trained == pytest.approx(3, rel=0.01)


def test_few_rows_move_by_chance_and_an_unmeasured_column_is_not_judged():
    X = RNG.normal(size=(1000, 2))
    assert shifts(InputEncoder(standardiser=Standardiser.fit(X)), X[:4] + 1, 0) == []
    assert shifts(InputEncoder(standardiser=Standardiser.robust(X, [0])), X + [0, 50], 0) == []
    assert shifts(InputEncoder(), X + 50, 0) == []


# -- drawings ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]), (-11.7, 9.1, [-10, -5, 0, 5]), (1, 300, [100, 200, 300])],
)
def test_ticks_are_round(low, high, expected):
    assert Axis("", low, high).ticks() == pytest.approx(expected)


@pytest.mark.parametrize("values", [[], [3.0, 3.0], [0.0], [np.nan, 1.0, 2.0], [1e-300, 2e-300], [-1e300, 1e300]])
def test_an_axis_holds_its_values_and_has_room(values):
    axis = Axis.over("", values)
    finite = [value for value in values if np.isfinite(value)]
    assert axis.low < axis.high and all(axis.low < value < axis.high for value in finite)


def test_a_chart_stays_inside_and_leaves_gaps_where_there_is_no_number():
    chart = Chart(Axis("x<", 0, 1), Axis("y", 0, 1), "k", "t", "d")
    chart.line([-5, 0.5, np.nan, 0.7, 99], [0, 2, 0.5, 0.1, 1], "s0")
    chart.point(np.nan, 1)
    drawn = chart.svg()
    path = re.search(r'class="line s0" d="([^"]+)"', drawn)[1]
    assert path.count("M") == 2 and "nan" not in drawn and "<circle" not in drawn
    numbers = np.array(re.findall(r"[\d.]+", path), float).reshape(-1, 2)
    assert numbers.min() >= 0 and numbers[:, 0].max() <= 420 and numbers[:, 1].max() <= 320
    assert "x&lt;" in drawn


def test_cells_are_escaped_but_markup_is_kept():
    drawn = table("a < b", ["<c>"], [["<r>", Markup("<b>x</b>")]])
    assert "<c>" not in drawn and "<r>" not in drawn and "<b>x</b>" in drawn
    assert drawn.count("a &lt; b") == 2


@pytest.mark.parametrize(
    ("value", "largest", "width"), [(1, 2, "50.0%"), (-1, 2, "0.0%"), (np.inf, 2, "0.0%"), (0, 0, "0.0%")]
)
def test_a_bar_is_as_long_as_its_share(value, largest, width):
    assert f"width:{width}" in bar(value, largest)
