"""Intervals of measures of several labels: against resampled rows, those of two classes, and their own claims."""

from __future__ import annotations

import numpy as np
import pytest

from aesara_nondecomp.measures import Averaged, pseudolinear
from aesara_nondecomp.metrics import label_bootstrap
from aesara_nondecomp.metrics.bootstrap import bootstrap, bootstrap_difference
from aesara_nondecomp.metrics.confusion import confusion_matrix
from aesara_nondecomp.metrics.label_bootstrap import (
    bootstrap_labels,
    bootstrap_labels_difference,
    default_label_measures,
    trivial_label_value,
)

RNG = np.random.default_rng(0)
N, L = 500, 3
HARD = RNG.normal(size=N)  # a hard row is hard for all labels
TRUTH = RNG.random((N, L)) < [0.5, 0.3, 0.1]
FIRST = TRUTH ^ (RNG.normal(size=(N, L)) + 2 * HARD[:, None] > 2)
SECOND = FIRST ^ (RNG.random((N, L)) < 0.05)
NAMES = ["macro_f1", "micro_f1", "min", "kld"]


def by_hand(name, truth, predicted):
    """The value by the rates of scikit-learn's definition where it has one, else by counts of each label."""
    if name in ("macro_f1", "micro_f1"):
        pairs = [(truth[:, k], predicted[:, k]) for k in range(L)] if name == "macro_f1" else [(truth, predicted)]
        return np.mean([2 * np.sum(t & p) / (t.sum() + p.sum()) for t, p in pairs])
    return Averaged(name).from_confusions(
        [[np.sum(t & p), np.sum(t & ~p), np.sum(~t & p), np.sum(~t & ~p)] for t, p in zip(truth.T, predicted.T)]
    )


def test_intervals_are_those_of_resampled_rows():
    found = bootstrap_labels(TRUTH, FIRST, NAMES)
    drawn = {**{name: [] for name in NAMES}, "recall": [], "precision": [], "f1": []}
    for _ in range(1000):
        rows = RNG.integers(N, size=N)
        truth, predicted = TRUTH[rows], FIRST[rows]
        for name in NAMES:
            drawn[name].append(by_hand(name, truth, predicted))
        hits = (truth & predicted).sum(axis=0)
        drawn["recall"].append(hits / truth.sum(axis=0))
        drawn["precision"].append(hits / predicted.sum(axis=0))
        drawn["f1"].append(2 * hits / (truth.sum(axis=0) + predicted.sum(axis=0)))
    expected = {name: np.quantile(values, [0.025, 0.975], axis=0) for name, values in drawn.items()}
    for name in NAMES:
        own = found.measures[str(Averaged.get(name))]
        assert own == pytest.approx(expected[name], abs=0.15 * np.ptp(expected[name])), name
    for rate, ends in found.labels.items():
        assert ends.shape == (L, 2)
        np.testing.assert_allclose(ends, expected[rate].T, atol=0.2 * np.ptp(expected[rate], axis=0).max())


def test_the_interval_of_one_label_is_that_of_two_classes_also_without_errors():
    truth = TRUTH[:, :1]
    for predicted in (FIRST[:, :1], truth, ~truth):
        signs = [np.where(each[:, 0], 1, -1) for each in (truth, predicted)]
        binary = bootstrap(confusion_matrix(*signs), ["f1", "min", "kld"], n_resamples=2000)
        several = bootstrap_labels(truth, predicted, ["f1", "min", "kld"], n_resamples=2000)
        for name, (low, high) in binary.items():
            expected = pytest.approx((low, high), abs=0.15 * (high - low) + 1e-9)
            assert several.measures[f"macro_{name}"] == expected, name


def test_differences_of_one_label_are_those_of_two_classes_and_of_equals_none():
    truth, first, second = (each[:, :1] for each in (TRUTH, FIRST, SECOND))
    signs = [np.where(each[:, 0], 1, -1) for each in (truth, first, second)]
    low, high = bootstrap_difference(*signs, ["f1"], n_resamples=2000)["f1"]
    found = bootstrap_labels_difference(truth, first, second, ["f1"], n_resamples=2000)["macro_f1"]
    assert found == pytest.approx((low, high), abs=0.15 * (high - low))
    same = bootstrap_labels_difference(TRUTH, FIRST, FIRST, NAMES, n_resamples=5)
    assert set(same.values()) == {(0.0, 0.0)}


def test_paired_differences_are_narrower_than_the_values():
    paired = bootstrap_labels_difference(TRUTH, FIRST, SECOND, ["f1"])["macro_f1"]
    alone = bootstrap_labels(TRUTH, FIRST, ["f1"]).measures["macro_f1"]
    value = by_hand("macro_f1", TRUTH, SECOND) - by_hand("macro_f1", TRUTH, FIRST)
    assert np.ptp(paired) < np.ptp(alone) and paired[0] < value < paired[1] < 0


def test_draws_in_parts_are_those_of_one(monkeypatch):
    whole = bootstrap_labels(TRUTH, FIRST, NAMES, n_resamples=50)
    monkeypatch.setattr(label_bootstrap, "MOST_DRAWN", 100)
    parts = bootstrap_labels(TRUTH, FIRST, NAMES, n_resamples=50)
    assert parts.measures == whole.measures
    assert bootstrap_labels(TRUTH, FIRST, NAMES, n_resamples=50, seed=1).measures != whole.measures


def test_trivial_values_are_the_best_of_constant_predictions():
    counts = [[TRUTH[:, k].sum(), 0, N - TRUTH[:, k].sum(), 0] for k in range(L)]  # all labels for all rows
    all_given = np.ones_like(TRUTH)
    assert trivial_label_value(Averaged("f1"), counts) == pytest.approx(by_hand("macro_f1", TRUTH, all_given))
    assert trivial_label_value(Averaged("f1", "micro"), counts) == pytest.approx(by_hand("micro_f1", TRUTH, all_given))
    shares = TRUTH.mean(axis=0)
    assert trivial_label_value(Averaged("accuracy"), counts) == pytest.approx(np.maximum(shares, 1 - shares).mean())
    assert np.isnan(trivial_label_value(Averaged("f1"), [[0, 0, 2, 3], [1, 1, 1, 1]]))


def test_by_default_both_averages_of_f1_come_first_and_no_measure_twice():
    names = [str(measure) for measure in default_label_measures()]
    assert names[:2] == ["macro_f1", "micro_f1"] and len(set(names)) == len(names) > 5


COSTS = [pseudolinear("cost", (0, weight, 1), (2, 0, 0)) for weight in (1, 5)]
WRONG = {
    "texts": ({"measures": COSTS}, "texts that tell them apart, got 'macro_cost' twice"),
    "values": ({"y_true": 2 * TRUTH}, "y_true must be a matrix of 0 and 1"),
    "vector": ({"y_pred": FIRST[:, 0]}, "y_pred must be a matrix of 0 and 1"),
    "empty": ({"y_true": TRUTH[:0], "y_pred": FIRST[:0]}, "y_true must be a matrix"),
    "shapes": ({"y_pred": FIRST[:-1]}, r"y_pred must have the shape of y_true, \(500, 3\)"),
    "measures": ({"measures": "f1"}, r"measures must be several, such as \['f1'\]"),
    "measure": ({"measures": ["kappa"]}, "unknown measure"),
    "n_resamples": ({"n_resamples": 0}, "n_resamples"),
    "confidence_level": ({"confidence_level": 1.0}, "confidence_level"),
    "seed": ({"seed": "x"}, "seed"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_are_refused(case):
    changed, message = WRONG[case]
    with pytest.raises((ValueError, TypeError), match=message):
        bootstrap_labels(**{"y_true": TRUTH, "y_pred": FIRST, **changed})


def test_labels_of_few_rows_and_few_differences_are_warned_of():
    truth = TRUTH.copy()
    truth[:, 2] = np.arange(N) < 4
    with pytest.warns(UserWarning, match="for 1 of 3 labels these are fewer than 10, at the least 4"):
        bootstrap_labels(truth, FIRST, ["f1"], n_resamples=2)
    second = FIRST.copy()
    second[:3] ^= True
    with pytest.warns(UserWarning, match="differences from 3 rows"):
        bootstrap_labels_difference(TRUTH, FIRST, second, ["f1"], n_resamples=2)


def test_frames_whose_labels_are_in_another_order_are_refused():
    pandas = pytest.importorskip("pandas", reason="frames of that library")
    truth = pandas.DataFrame(np.eye(3, dtype=int)[np.arange(60) % 3], columns=list("abc"))
    for same in (truth, truth.to_numpy(), pandas.DataFrame(truth.to_numpy())):
        assert bootstrap_labels(truth, same, ["macro_f1"], n_resamples=10)
    with pytest.raises(ValueError, match=r"must have the columns of .*, \['a', 'b', 'c'\], in their order"):
        bootstrap_labels(truth, truth[["c", "b", "a"]], ["macro_f1"], n_resamples=10)
