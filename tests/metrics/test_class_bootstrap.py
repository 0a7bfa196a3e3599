"""Intervals of measures of K classes: against resampled rows, the intervals of two classes, and their own claims."""

from __future__ import annotations

import numpy as np
import pytest

from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.metrics.bootstrap import bootstrap
from aesara_nondecomp.metrics.class_bootstrap import (
    bootstrap_classes,
    bootstrap_classes_difference,
    class_rates,
    trivial_class_value,
)
from aesara_nondecomp.metrics.confusion import ConfusionMatrix

RNG = np.random.default_rng(0)
N, K = 600, 3
TRUTH = RNG.choice(K, N, p=[0.6, 0.3, 0.1])
FIRST = np.where(RNG.random(N) < 0.3, RNG.integers(K, size=N), TRUTH)
SECOND = np.where(RNG.random(N) < 0.2, RNG.integers(K, size=N), FIRST)
NAMES = ["min_recall", "macro_f1", "kappa", "kld"]


def table(truth, predicted, n_classes=K):
    counts = np.zeros((n_classes, n_classes), int)
    np.add.at(counts, (truth, predicted), 1)
    return counts


def test_intervals_are_those_of_resampled_rows():
    found = bootstrap_classes(table(TRUTH, FIRST), NAMES, n_resamples=1000)
    drawn = {**{name: [] for name in NAMES}, "recall": [], "precision": [], "f1": []}
    for _ in range(600):
        rows = RNG.integers(N, size=N)
        counts = table(TRUTH[rows], FIRST[rows])
        for name in NAMES:
            drawn[name].append(multiclass.get(name).from_confusion(counts))
        hits = np.diagonal(counts)
        drawn["recall"].append(hits / counts.sum(axis=1))
        drawn["precision"].append(hits / counts.sum(axis=0))
        drawn["f1"].append(2 * hits / (counts.sum(axis=0) + counts.sum(axis=1)))
    expected = {name: np.quantile(values, [0.025, 0.975], axis=0) for name, values in drawn.items()}
    for name in NAMES:
        assert found.measures[name] == pytest.approx(expected[name], abs=0.2 * np.ptp(expected[name])), name
    for rate, ends in found.classes.items():
        for k in range(K):
            assert ends[k] == pytest.approx(expected[rate][:, k], abs=0.2 * np.ptp(expected[rate][:, k])), (rate, k)


def test_the_intervals_of_two_classes_are_those_of_two_classes_also_without_errors():
    for cells in ((60, 25, 40, 200), (30, 0, 20, 200), (0, 30, 20, 200)):  # TP, FN, FP, TN
        TP, FN, FP, TN = cells
        binary = bootstrap(ConfusionMatrix(*cells), ["min", "gmean", "kld", "accuracy"], n_resamples=2000)
        several = bootstrap_classes([[TN, FP], [FN, TP]], ["min", "gmean", "kld", "accuracy"], n_resamples=2000)
        for name, (low, high) in binary.items():
            own = several.measures["min_recall" if name == "min" else name]
            assert own == pytest.approx((low, high), abs=0.15 * (high - low) + 1e-9), (cells, name)


def test_differences_are_those_of_resampled_rows_and_swap_their_sign():
    found = bootstrap_classes_difference(TRUTH, FIRST, SECOND, K, NAMES, n_resamples=1000)
    drawn = {name: [] for name in NAMES}
    for _ in range(600):
        rows = RNG.integers(N, size=N)
        former, latter = (table(TRUTH[rows], each[rows]) for each in (FIRST, SECOND))
        for name in NAMES:
            measure = multiclass.get(name)
            drawn[name].append(measure.from_confusion(latter) - measure.from_confusion(former))
    for name, values in drawn.items():
        low, high = np.quantile(values, [0.025, 0.975])
        assert found[name] == pytest.approx((low, high), abs=0.2 * (high - low)), name
    swapped = bootstrap_classes_difference(TRUTH, SECOND, FIRST, K, NAMES, n_resamples=1000)
    for name in NAMES:
        assert swapped[name] == pytest.approx([-end for end in found[name][::-1]], abs=0.01)
    assert set(bootstrap_classes_difference(TRUTH, FIRST, FIRST, K, NAMES, n_resamples=20).values()) == {(0.0, 0.0)}


def test_an_interval_holds_the_value_and_a_perfect_class_may_err():
    counts = np.diag([50, 20, 12])
    found = bootstrap_classes(counts)
    for measure in multiclass.defaults():
        low, high = found.measures[str(measure)]
        assert low <= measure.from_confusion(counts) <= high
    assert found.classes["recall"][2] == pytest.approx((0.025 ** (1 / 12), 1.0), abs=0.02)  # Clopper and Pearson


def test_measures_whose_long_parameters_differ_at_their_end_have_figures_of_their_own():
    size = 15
    cheap = 1.0 - np.eye(size)
    dear = cheap.copy()
    dear[-1, 0] = 50.0
    costs = [multiclass.get("cost_matrix", costs=each.tolist()) for each in (cheap, dear)]
    first, second = map(str, costs)
    assert first[:400] == second[:400] and len(first) < 500 and str(multiclass.CostMatrix(cheap)) == first
    counts = np.full((size, size), 2)
    found = bootstrap_classes(counts, costs, n_resamples=5).measures
    assert list(found) == [first, second]
    for measure in costs:
        low, high = found[str(measure)]
        assert low <= measure.from_confusion(counts) <= high


def test_a_class_without_rows_leaves_the_recalls_undefined_and_other_measures_not():
    with pytest.warns(UserWarning, match="1 of 3 have fewer than 10, the smallest 0"):
        found = bootstrap_classes([[30, 5, 2], [4, 40, 1], [0, 0, 0]], ["min_recall", "accuracy"], n_resamples=50)
    assert np.isnan(found.measures["min_recall"]).all() and np.isfinite(found.measures["accuracy"]).all()
    assert np.isnan(found.classes["recall"][2]).all()


def test_the_trivial_value_is_the_best_of_one_class_for_all_rows():
    counts = table(TRUTH, FIRST)
    shares = np.bincount(TRUTH) / N
    assert trivial_class_value(multiclass.get("accuracy"), counts) == pytest.approx(shares.max())
    assert trivial_class_value(multiclass.get("kappa"), counts) == 0
    assert trivial_class_value(multiclass.get("macro_f1"), counts) == pytest.approx(
        max(2 * share / (1 + share) for share in shares) / K
    )
    errors = [np.abs(np.eye(K)[k] - shares).mean() for k in range(K)]
    assert trivial_class_value(multiclass.get("ae"), counts) == pytest.approx(min(errors))


def test_rates_of_classes_are_those_of_scikit_learn():
    peer = pytest.importorskip("sklearn.metrics", reason="needs the extra sklearn")
    precision, recall, f1, _ = peer.precision_recall_fscore_support(TRUTH, FIRST)
    found = class_rates(table(TRUTH, FIRST))
    for name, expected in (("precision", precision), ("recall", recall), ("f1", f1)):
        assert found[name] == pytest.approx(expected)


def test_measures_of_ordered_classes_are_left_out_where_there_is_no_order():
    ordered, plain = ({str(each) for each in multiclass.defaults(given)} for given in (True, False))
    assert ordered - plain == {"qwk", "macro_mae", "emd"}
    counts = RNG.integers(1, 20, size=(4, 4))
    shuffled = np.ix_([2, 0, 3, 1], [2, 0, 3, 1])
    for measure in multiclass.defaults():
        moved = measure.from_confusion(counts[shuffled]) != pytest.approx(measure.from_confusion(counts))
        assert moved == measure.of_order, measure


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([[1, 2]],), "shape \\(K, K\\)"),
        (([[1, 0.5], [2, 3]],), "whole counts"),
        (([[0, 0], [0, 0]],), "at least one row"),
        (([[5, 1], [2, 30]], "kld"), "measures must be several"),
        (([[5, 1], [2, 30]], ["f1"]), "'f1' is a measure of two classes"),
    ],
)
def test_unusable_matrices_and_measures_are_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        bootstrap_classes(*arguments)


def test_classes_that_are_none_and_other_lengths_are_refused():
    with pytest.raises(ValueError, match="second must hold one class index from 0 to 2 per row"):
        bootstrap_classes_difference(TRUTH, FIRST, FIRST + 1, K)
    with pytest.raises(ValueError, match=rf"first must hold one class index .*, shape \({N},\), got \({N - 1},\)"):
        bootstrap_classes_difference(TRUTH, FIRST[1:], FIRST, K)
