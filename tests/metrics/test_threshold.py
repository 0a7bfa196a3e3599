"""A threshold that moves little with the rows: `steady_threshold`, against `best_threshold` and by brute force."""

import math

import numpy as np
import pytest

from aesara_nondecomp import measures, metrics
from aesara_nondecomp.metrics.calibration import Calibration
from aesara_nondecomp.metrics.threshold import RESAMPLES, best_threshold, steady_threshold

MEASURES = ["f1", "min", "qmean", "kld", "gmean"]


def scored(n=200, prior=0.25, gap=1.5, seed=0):
    rng = np.random.default_rng(seed)
    signs = np.where(np.arange(n) < prior * n, 1, -1)
    return rng.standard_normal(n) + gap * (signs > 0), signs


@pytest.mark.parametrize("measure", MEASURES)
def test_the_value_is_that_of_the_measure_at_the_threshold(measure):
    for seed in range(10):
        scores, signs = scored(seed=seed)
        threshold, value = steady_threshold(measure, scores, signs)
        assert metrics.score(measure, metrics.confusion_at_threshold(scores, signs, threshold)) == value
        best = best_threshold(measure, scores, signs)[1]
        assert measures.get(measure).merit(value) <= measures.get(measure).merit(best)


@pytest.mark.parametrize("measure", MEASURES)
def test_the_value_is_that_at_the_threshold_also_where_few_digits_of_the_scores_differ(measure):
    for seed in range(10):
        scores, signs = scored(seed=seed)
        close = (1000 + 0.002 * scores).astype(np.float32)
        threshold, value = steady_threshold(measure, close, signs)
        assert metrics.score(measure, metrics.confusion_at_threshold(close, signs, threshold)) == value


def test_equal_seeds_give_equal_thresholds_and_other_seeds_do_not():
    first, again, other = (steady_threshold("f1", *scored(), seed=seed) for seed in (1, 1, 2))
    assert first == again and first[0] != other[0]
    assert steady_threshold("f1", *scored(), seed=np.random.default_rng(1)) == first


def test_the_order_of_the_rows_does_not_matter():
    scores, signs = scored()
    order = np.random.default_rng(3).permutation(len(scores))
    assert steady_threshold("qmean", scores[order], signs[order]) == steady_threshold("qmean", scores, signs)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("slope, intercept", [(2.0, 0.0), (0.01, -3.0), (1000.0, 5.0)])
def test_a_rising_line_through_the_scores_takes_the_threshold_along(measure, slope, intercept):
    scores, signs = scored()
    threshold, value = steady_threshold(measure, scores, signs)
    moved, same = steady_threshold(measure, slope * scores + intercept, signs)
    assert moved == pytest.approx(slope * threshold + intercept, rel=1e-6) and same == value


# -- by brute force --------------------------------------------------------------------------------------------------


def best_of_weighted(measure, scores, positive, negative):
    """The lowest number of positives among the best, by trial of all thresholds between two rows."""
    ranked = sorted(scores, reverse=True)
    between = [(a + b) / 2 for a, b in zip(ranked, ranked[1:])]
    candidates = [(ranked[0], math.inf), *((t, t) for t in between), (ranked[-1], -math.inf)]
    merits = []
    for _, threshold in candidates:
        cells = (positive, True), (positive, False), (negative, True), (negative, False)
        counts = [sum(w for w, s in zip(weights, scores) if hit == (s > threshold)) for weights, hit in cells]
        merits.append(measure.merit(float(measure.from_counts(*counts))))
    return candidates[int(np.argmax(np.round(merits, 12)))][0]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("measure", ["f1", "min", "qmean"])
def test_it_is_halfway_between_bagged_thresholds_and_the_best_one_for_expected_counts(measure, weighted):
    measure, found = measures.get(measure), 0
    weight = np.random.default_rng(5).integers(1, 9, 24) if weighted else np.ones(24)
    for seed in range(4):
        scores, signs = scored(n=24, seed=seed)
        scores, signs = scores[np.argsort(-scores)], signs[np.argsort(-scores)]
        rng = np.random.default_rng(0)
        draws = []
        for _ in range(RESAMPLES):
            rows = [rng.choice(np.flatnonzero(signs == sign), int(np.sum(signs == sign))) for sign in (1, -1)]
            draws.append([np.bincount(chosen, minlength=24) * weight for chosen in rows])
        bagged = np.mean([best_of_weighted(measure, scores, *weights) for weights in draws])
        posteriors = Calibration.fit(scores, signs, weight).posteriors(scores)
        expected = best_of_weighted(measure, scores, weight * posteriors, weight * (1 - posteriors))
        threshold, _ = steady_threshold(measure, scores, signs, weight if weighted else None)
        assert min(abs(threshold - (bagged + expected) / 2), abs(threshold - bagged)) < 1e-9 or math.isinf(threshold)
        found += abs(threshold - (bagged + expected) / 2) < 1e-9
    assert found >= 2


# -- steadier than the best one --------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["f1", "min", "qmean"])
def test_on_other_rows_of_the_kind_it_moves_less_than_the_best_one(measure):
    thresholds = np.array(
        [[f(measure, *scored(seed=seed))[0] for f in (steady_threshold, best_threshold)] for seed in range(30)]
    )
    assert np.isfinite(thresholds).all()
    steady, best = thresholds.var(axis=0)
    assert steady < 0.8 * best


def test_calibration_that_does_not_fit_the_scores_is_left_out():
    """Rows far above and far below are negative: a rising sigmoid cannot tell where the positives are."""
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(0, 0.1, 50), rng.normal(-5, 0.1, 150), rng.normal(200, 0.1, 5)])
    signs = np.repeat([1, -1], [50, 155])
    threshold, value = steady_threshold("f1", scores, signs)
    assert value > 0.9 and value >= best_threshold("f1", scores, signs)[1] - 0.05
    assert -5 < threshold < 0


# -- nothing to tell -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure, expected", [("f1", -math.inf), ("accuracy", math.inf)])
def test_equal_scores_give_the_better_constant_prediction(measure, expected):
    signs = np.where(np.arange(50) < 10, 1, -1)
    threshold, value = steady_threshold(measure, np.full(50, 0.3), signs)
    assert threshold == expected and value == pytest.approx(measures.get(measure).trivial(0.2))


def test_scores_of_pure_noise_seldom_beat_the_constant_prediction_though_the_best_threshold_always_seems_to():
    infinite = {steady_threshold: 0, best_threshold: 0}
    for seed in range(40):
        for f in infinite:
            infinite[f] += math.isinf(f("f1", *scored(gap=0.0, seed=seed))[0])
    assert infinite[steady_threshold] > 20 > infinite[best_threshold]


def test_scores_that_rank_backwards_give_a_constant_prediction():
    scores, signs = scored(gap=-1.5)
    assert steady_threshold("f1", scores, signs)[0] == -math.inf


@pytest.mark.parametrize("scores, signs, message", [
    ([0.1, np.nan], [1, -1], "finite"),
    ([0.1, 0.2, 0.3], [1, -1], "equally long, got 3 and 2"),
    ([0.1, 0.2], [1, 0], "-1"),
    ([0.1, 0.2], [1, 1], "both classes"),
])  # fmt: skip
def test_unusable_scores_and_labels_are_refused(scores, signs, message):
    with pytest.raises(ValueError, match=message):
        steady_threshold("f1", scores, signs)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_row_of_weight_three_counts_as_three_rows_for_the_best_threshold(measure):
    scores, signs = scored(60)
    weight = np.random.default_rng(3).integers(0, 4, 60)
    repeated = best_threshold(measure, np.repeat(scores, weight), np.repeat(signs, weight))
    found = best_threshold(measure, scores, signs, weight)
    assert found[1] == pytest.approx(repeated[1])
    confusion = metrics.confusion_at_threshold(scores, signs, found[0], weight)
    assert metrics.score(measure, confusion) == pytest.approx(found[1])


@pytest.mark.parametrize("measure", ["f1", "min"])
def test_rows_of_weight_zero_are_as_if_they_were_not_there(measure):
    scores, signs = np.arange(40.0), np.where(np.arange(40) % 10 == 0, 1, -1)
    weight = np.where(np.isin(np.arange(40), (10, 20, 33)), 0.0, 1.0)
    there = weight > 0
    for find in (best_threshold, steady_threshold):
        value, expected = (find(measure, *rows)[1] for rows in ((scores, signs, weight), (scores[there], signs[there])))
        assert value == pytest.approx(expected)


@pytest.mark.parametrize("measure", MEASURES)
def test_weights_of_a_class_move_the_steady_threshold_and_equal_ones_do_not(measure):
    scores, signs = scored()
    plain = steady_threshold(measure, scores, signs)
    assert steady_threshold(measure, scores, signs, np.full(200, 2.0)) == pytest.approx(
        plain, abs=0.03
    )  # smoothed targets
    moved = steady_threshold("f1", scores, signs, np.where(signs > 0, 20.0, 1.0))[0]
    assert moved < steady_threshold("f1", scores, signs)[0]  # where positives count more, more rows are positive


@pytest.mark.parametrize("seed", range(5))
def test_a_steady_threshold_of_few_distinct_scores_is_the_best_one(seed):
    """The mean of thresholds would lie on the wrong side of a hundred equal rows."""
    rng = np.random.default_rng(seed)
    scores = rng.choice([-2.0, -0.6, -0.05, 0.0, 0.4, 3.0], 600)
    signs = np.where(rng.random(600) < 1 / (1 + np.exp(-scores)), 1, -1)
    assert metrics.steady_threshold("min", scores, signs) == metrics.best_threshold("min", scores, signs)


def test_tied_scores_that_are_no_better_than_one_label_get_an_infinite_threshold():
    """60 of 180 rows are positive, 15 of them among the lowest 60: F1 is 1/2 with and without these."""
    scores, positives = np.repeat([1.0, 0.0, -1.0], 60), [22, 23, 15]
    signs = np.concatenate([np.where(np.arange(60) < k, 1, -1) for k in positives])
    assert metrics.best_threshold("f1", scores, signs) == (-0.5, 0.5)
    assert metrics.steady_threshold("f1", scores, signs) == (-math.inf, 0.5)
