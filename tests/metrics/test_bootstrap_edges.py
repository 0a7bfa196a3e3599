"""Bootstrap intervals of classes without errors: as wide as the number of their rows says, and with that number."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from aesara_nondecomp import measures
from aesara_nondecomp.metrics import ConfusionMatrix
from aesara_nondecomp.metrics.bootstrap import bootstrap

RATE_OF_POSITIVES = measures.get("weighted_accuracy", c=1.0)


@pytest.mark.parametrize("rows", [10, 30, 100])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_a_rate_without_errors_has_the_exact_limits_of_clopper_and_pearson(rows, level):
    exact = scipy.stats.binomtest(rows, rows).proportion_ci(level, method="exact")
    for cells, low, high in (((rows, 0), exact.low, 1.0), ((0, rows), 0.0, 1 - exact.low)):
        matrix = ConfusionMatrix(*cells, 50, 50)
        found = bootstrap(matrix, [RATE_OF_POSITIVES], n_resamples=20_000, confidence_level=level)
        assert found[str(RATE_OF_POSITIVES)] == pytest.approx((low, high), abs=0.01)


@pytest.mark.parametrize("measure", ["f1", "min", "qmean", "accuracy", "kld", "ae", "balanced_accuracy"])
def test_six_rows_that_are_all_right_have_a_wide_interval_with_the_value_at_its_end(measure):
    with pytest.warns(UserWarning, match="intervals from 3 positive and 3 negative rows are rough"):
        found = bootstrap(ConfusionMatrix(3, 0, 0, 3), [measure])
    best = measures.get(measure).perfect(0.5)
    (low, high), larger = found[measure], measures.get(measure).greater_is_better
    assert (high if larger else low) == best and high - low > 0.1
    assert (found.positives, found.negatives) == (3, 3)


def test_two_positives_that_are_both_missed_may_have_been_bad_luck():
    with pytest.warns(UserWarning, match="2 positive and 98 negative rows"):
        low, high = bootstrap(ConfusionMatrix(0, 2, 5, 93), ["f1"])["f1"]
    assert low == 0 and high > 0.2


@pytest.mark.filterwarnings("ignore:intervals from")
@pytest.mark.parametrize("n, prior, P, N", [(20, 0.2, 0.95, 0.95), (50, 0.1, 0.9, 0.99), (100, 0.1, 0.97, 0.97)])
@pytest.mark.parametrize("measure", ["f1", "qmean", "accuracy"])
def test_an_interval_holds_the_true_value_about_as_often_as_it_says(measure, n, prior, P, N):
    """Resampling alone held it in 47 to 67 of 100 cases in the first two settings."""
    rng, true = np.random.default_rng(0), measures.get(measure).value(P, N, prior)
    shares = [prior * P, prior * (1 - P), (1 - prior) * (1 - N), (1 - prior) * N]
    held = []
    for seed in range(100):
        low, high = bootstrap(ConfusionMatrix(*rng.multinomial(n, shares)), [measure], n_resamples=200, seed=seed)[
            measure
        ]
        held += [] if np.isnan(low) else [low <= true <= high]
    assert np.mean(held) > 0.9


def test_classes_with_errors_have_the_plain_percentiles():
    rng, matrix = np.random.default_rng(3), ConfusionMatrix(30, 20, 25, 75)
    drawn = rng.multinomial(150, np.array(matrix) / 150, size=500)
    values = [measures.get("f1").from_counts(*cells) for cells in drawn]
    expected = np.quantile(values, [0.025, 0.975], method="nearest")
    assert bootstrap(matrix, ["f1"], n_resamples=500, seed=3)["f1"] == tuple(expected)


def test_ten_rows_of_each_class_are_enough_to_be_quiet():
    found = bootstrap(ConfusionMatrix(9, 1, 1, 9))
    assert (found.positives, found.negatives) == (10, 10)
