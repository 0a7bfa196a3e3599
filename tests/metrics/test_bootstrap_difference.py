"""Intervals of the differences of two classifiers on the same rows."""

from __future__ import annotations

import numpy as np
import pytest

from aesara_nondecomp import measures, metrics
from aesara_nondecomp.metrics.bootstrap import bootstrap, bootstrap_difference

RNG = np.random.default_rng(0)
N = 400
SIGNS = np.where(RNG.random(N) < 0.3, 1, -1)
FIRST = np.where(RNG.random(N) < 0.2, -SIGNS, SIGNS)
SECOND = np.where(RNG.random(N) < 0.1, -FIRST, FIRST)


def test_intervals_are_those_of_resampled_rows():
    found = bootstrap_difference(SIGNS, FIRST, SECOND, ["f1", "min", "kld"], n_resamples=4000)
    drawn = {name: [] for name in found}
    for _ in range(1000):
        rows = RNG.integers(N, size=N)
        former, latter = (metrics.confusion_matrix(SIGNS[rows], each[rows]) for each in (FIRST, SECOND))
        for name, values in drawn.items():
            values.append(metrics.score(name, latter) - metrics.score(name, former))
    for name, values in drawn.items():
        low, high = np.quantile(values, [0.025, 0.975])
        assert found[name] == pytest.approx((low, high), abs=0.15 * (high - low)), name
    assert (found.positives, found.negatives) == (np.sum(SIGNS > 0), np.sum(SIGNS < 0))


def test_swapped_classifiers_have_the_opposite_differences():
    one, other = (bootstrap_difference(SIGNS, *pair, n_resamples=3000) for pair in ((FIRST, SECOND), (SECOND, FIRST)))
    for name in map(str, measures.defaults()):
        assert one[name] == pytest.approx([-each for each in other[name][::-1]], abs=0.02), name


def test_rows_that_are_hard_for_both_do_not_widen_the_interval():
    low, high = bootstrap_difference(SIGNS, FIRST, SECOND, ["accuracy"])["accuracy"]
    matrices = [metrics.confusion_matrix(SIGNS, each) for each in (FIRST, SECOND)]
    apart = [bootstrap(matrix, ["accuracy"]) for matrix in matrices]
    assert high - low < 0.8 * max(np.ptp(each["accuracy"]) for each in apart)


def test_equal_predictions_differ_nowhere():
    assert set(bootstrap_difference(SIGNS, FIRST, FIRST, ["f1", "kld"]).values()) == {(0.0, 0.0)}


def test_equal_seeds_give_equal_intervals():
    assert bootstrap_difference(SIGNS, FIRST, SECOND, seed=3) == bootstrap_difference(SIGNS, FIRST, SECOND, seed=3)


def test_few_rows_of_a_class_and_few_that_differ_are_warned_of():
    almost = FIRST.copy()
    almost[:3] *= -1
    with pytest.warns(UserWarning, match="from 3 rows that are predicted differently"):
        bootstrap_difference(SIGNS, FIRST, almost, ["f1"])
    signs = np.repeat([1, -1], [4, 40])
    with pytest.warns(UserWarning, match="from 4 positive and 40 negative rows"):
        bootstrap_difference(signs, signs, -signs, ["f1"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((SIGNS, FIRST[:-1], SECOND), "y_true_signs and first"),
        ((SIGNS, FIRST, SECOND[:-1]), "y_true_signs and second"),
        ((SIGNS, FIRST > 0, SECOND), "first must hold -1 and \\+1"),
        ((SIGNS, FIRST, SECOND, "f1"), "measures must be several"),
    ],
)
def test_wrong_arguments_are_named(arguments, said):
    with pytest.raises(ValueError, match=said):
        bootstrap_difference(*arguments)
