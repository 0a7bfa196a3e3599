"""Confusion matrices, values on hard predictions and the plug-in threshold."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from aesara_nondecomp import measures
from aesara_nondecomp.metrics.bootstrap import bootstrap, bootstrap_difference
from aesara_nondecomp.metrics.confusion import (
    ConfusionMatrix,
    confusion_at_threshold,
    confusion_matrix,
    report,
    score,
)
from aesara_nondecomp.metrics.threshold import best_threshold

FOLDER = Path(__file__).parents[1] / "golden"
GOLDEN = json.loads((FOLDER / "golden_measures.json").read_text())
GOLDEN_PLUG_IN = json.loads((FOLDER / "golden_trajectories.json").read_text())["plugin_threshold"]


# Tables.


@pytest.mark.parametrize(
    "golden",
    GOLDEN["confusion_matrices"] + GOLDEN["single_class"],
    ids=lambda golden: golden["name"],
)
def test_rates_and_prevalences_of_a_matrix_match_the_golden_ones(golden):
    matrix = ConfusionMatrix(*(golden[key] for key in ("TP", "FN", "FP", "TN")))
    expected = [golden["values"][key] for key in ("TPR", "TNR", "p", "p_hat")]
    found = [matrix.tpr, matrix.tnr, matrix.prevalence, matrix.predicted_prevalence]
    assert found == [pytest.approx(math.nan if x is None else x, abs=1e-10, nan_ok=True) for x in expected]


def test_a_matrix_counts_each_pair_of_truth_and_prediction():
    rng = np.random.default_rng(0)
    truth, predicted = rng.choice([-1, 1], size=(2, 200), p=[0.7, 0.3])
    pairs = list(zip(truth.tolist(), predicted.tolist()))
    matrix = confusion_matrix(truth, predicted)
    assert matrix == tuple(pairs.count(pair) for pair in [(1, 1), (1, -1), (-1, 1), (-1, -1)])
    assert matrix.n == 200 and all(type(count) is int for count in matrix)


def test_the_precision_is_the_share_of_hits_among_the_predicted_positives():
    assert ConfusionMatrix(TP=3, FN=5, FP=1, TN=7).precision == 0.75
    assert math.isnan(ConfusionMatrix(TP=0, FN=5, FP=0, TN=7).precision)


def test_swapping_truth_and_prediction_gives_another_table():
    truth, predicted = [1, 1, -1, -1], [1, -1, -1, -1]
    assert confusion_matrix(truth, predicted) == (1, 1, 0, 2)
    assert confusion_matrix(predicted, truth) == (1, 0, 1, 2)


def test_predicting_from_two_batches_gives_the_rates_of_the_whole():
    first, second = confusion_matrix([-1, -1], [-1, 1]), confusion_matrix([1, 1], [-1, 1])
    whole = ConfusionMatrix(*(a + b for a, b in zip(first, second)))
    assert (whole.tpr, whole.tnr) == (0.5, 0.5)


def test_a_weight_of_k_counts_a_point_k_times():
    rng = np.random.default_rng(1)
    truth, scores = rng.choice([-1, 1], 50), rng.standard_normal(50)
    predicted, repeats = np.where(scores > 0.2, 1, -1), rng.integers(0, 4, 50)
    repeated = confusion_matrix(np.repeat(truth, repeats), np.repeat(predicted, repeats))
    weighted = confusion_matrix(truth, predicted, sample_weight=repeats)
    assert weighted == repeated and weighted == confusion_at_threshold(scores, truth, 0.2, repeats)
    assert score("kld", weighted) == score("kld", repeated) and weighted.prevalence == repeated.prevalence
    assert confusion_matrix(truth, predicted, np.full(50, 0.5)) == confusion_matrix(truth, predicted)


@pytest.mark.parametrize(
    "weight, message",
    [
        ([1.0, 2.0, 3.0], "sample_weight must hold one weight for each of 2 points, got 3"),
        ([1.0, -1.0], "sample_weight must be finite and at least 0, got -1.0"),
        ([1.0, math.nan], "sample_weight must be finite"),
        ([0.0, 0.0], "sample_weight must be above 0 for some point"),
        ([[1.0], [1.0]], r"sample_weight must have shape \(n,\)"),
    ],
)
def test_weights_that_are_no_vector_of_weights_are_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        confusion_matrix([1, -1], [1, 1], weight)


def test_the_former_name_of_the_prevalence_and_of_the_matrix_still_work_with_a_warning():
    matrix = ConfusionMatrix(1, 2, 3, 4)
    with pytest.warns(DeprecationWarning, match="ConfusionMatrix.prior is now spelled prevalence"):
        assert matrix.prior == matrix.prevalence == 0.3
    with pytest.warns(DeprecationWarning, match="'table' of score is now spelled 'confusion'"):
        assert score("f1", table=matrix) == score("f1", matrix)


@pytest.mark.parametrize(
    "truth, predicted, message",
    [
        (
            np.ones((3, 1)),
            np.ones(3),
            r"y_true_signs must have shape \(n,\), got \(3, 1\).*y_true_signs.ravel\(\)",
        ),
        (np.ones(3), np.ones((3, 1)), r"predicted_signs must have shape \(n,\)"),
        (np.ones(3), np.ones(4), "equally long, got 3 and 4"),
        ([0, 1], [1, 1], r"-1 and \+1 only, got 0, 1.*2\*y - 1"),
        ([True, True], [1, 1], "only, got True"),
        ([1, math.nan], [1, 1], "only, got 1.0, nan"),
        (["a", "b"], [1, 1], "only, got 'a', 'b'"),
        ([], [], "at least one point"),
        (1, 1, r"must have shape \(n,\), got \(\)"),
    ],
)
def test_what_is_not_a_vector_of_signs_is_refused_with_a_remedy(truth, predicted, message):
    with pytest.raises(ValueError, match=message):
        confusion_matrix(truth, predicted)


def test_a_score_equal_to_the_threshold_is_negative():
    assert confusion_at_threshold([0.0, 0.0, 1.0, -1.0], [1, -1, 1, -1]) == (1, 1, 0, 2)
    assert confusion_at_threshold([0.5, 0.7], [1, 1], threshold=0.5) == (1, 1, 0, 0)
    assert confusion_at_threshold([0.5, 0.7], [1, -1], threshold=-math.inf) == (1, 0, 1, 0)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_scores_that_are_not_finite_are_refused(bad):
    with pytest.raises(ValueError, match="scores must be finite, got 1 infinite or NaN of 2"):
        confusion_at_threshold([0.5, bad], [1, -1])
    with pytest.raises(ValueError, match="scores must be finite"):
        best_threshold("min", [0.5, bad], [1, -1])


# Scores.


def test_a_threshold_of_nan_is_refused_as_every_score_would_be_negative():
    with pytest.raises(ValueError, match="threshold must be a number.*got NaN"):
        confusion_at_threshold([0.5, -0.5], [1, -1], float("nan"))


def test_score_takes_a_name_or_a_measure():
    matrix = ConfusionMatrix(40, 10, 5, 45)
    assert score("f1", matrix) == score(measures.F1(), matrix) == pytest.approx(80 / 95, abs=1e-15)


def test_report_holds_every_catalogue_measure_under_its_name():
    found = report(ConfusionMatrix(40, 10, 5, 45))
    assert set(found) == {measure.name for measure in measures.defaults()}
    assert found["accuracy"] == 0.85 and found["balanced_accuracy"] == pytest.approx(0.85)


def test_report_of_chosen_measures_is_keyed_by_label_in_their_order():
    found = report(ConfusionMatrix(40, 10, 5, 45), ["kld", measures.FBeta(2)])
    assert list(found) == ["kld", "fbeta(beta=2)"]


def test_two_different_measures_of_one_text_are_refused():
    costs = [measures.pseudolinear("cost", (0, weight, 1), (2, 0, 0)) for weight in (1, 5)]
    rows = ConfusionMatrix(40, 10, 5, 45)
    signs = [1] * 50 + [-1] * 50
    calls = (
        lambda: report(rows, costs),
        lambda: bootstrap(rows, costs),
        lambda: bootstrap_difference(signs, signs, signs, costs),
    )
    for call in calls:
        with pytest.raises(ValueError, match="texts that tell them apart, got 'cost' twice"):
            call()


def test_report_of_one_name_is_refused_with_the_list_it_should_be():
    with pytest.raises(ValueError, match=r"measures must be several, such as \['f1'\], got 'f1'"):
        report(ConfusionMatrix(40, 10, 5, 45), "f1")


def test_report_without_positives_says_nan_where_a_rate_is_missing():
    found = report(ConfusionMatrix(0, 0, 3, 7))
    assert math.isnan(found["min"]) and found["accuracy"] == 0.7 and found["ae"] == pytest.approx(0.3)


# The plug-in threshold.


def try_every_threshold(measure, scores, signs):
    """Best value by brute force: every midpoint, and both trivial classifiers."""
    distinct = np.unique(scores)
    thresholds = [-math.inf, *(distinct[:-1] + distinct[1:]) / 2, math.inf]
    values = [score(measure, confusion_at_threshold(scores, signs, threshold)) for threshold in thresholds]
    return max(values) if measure.greater_is_better else min(values)


@pytest.mark.parametrize("name", ["f1", "min", "qmean", "kld", "nss", "qmeasure", "accuracy", "bkreward", "gtppr"])
def test_no_other_threshold_beats_the_plug_in_one(name):
    rng, measure = np.random.default_rng(7), measures.get(name)
    for _ in range(35):
        n = int(rng.integers(3, 20))
        signs = np.where(np.arange(n) < rng.integers(1, n), 1, -1)
        scores = np.round(rng.standard_normal(n) + 0.5 * signs, 1)  # rounded, so that ties are frequent
        threshold, value = best_threshold(measure, scores, signs)
        assert score(measure, confusion_at_threshold(scores, signs, threshold)) == value
        assert value == try_every_threshold(measure, scores, signs)


@pytest.mark.parametrize("golden", GOLDEN_PLUG_IN["results"], ids=lambda golden: golden["measure"])
def test_plug_in_threshold_matches_the_golden_one(golden):
    scores, signs = np.array(GOLDEN_PLUG_IN["scores"]), np.array(GOLDEN_PLUG_IN["y"])
    threshold, value = best_threshold(golden["measure"].replace("fbeta_1", "f1"), scores, signs)
    assert threshold == pytest.approx(golden["threshold_midpoint"], abs=1e-10)
    assert value == pytest.approx(golden["best_value"], abs=1e-10)
    assert np.sum(scores > threshold) == golden["k_predicted_positive"]


@pytest.mark.parametrize("golden", GOLDEN_PLUG_IN["results"], ids=lambda golden: golden["measure"])
def test_value_at_every_cut_matches_the_golden_one(golden):
    ranked, signs = np.array(GOLDEN_PLUG_IN["scores"]), np.array(GOLDEN_PLUG_IN["y"])
    for k, expected in enumerate(golden["values_by_k"]):
        if expected is not None:
            matrix = confusion_matrix(signs, np.where(np.arange(len(ranked)) < k, 1, -1))
            found = score(golden["measure"].replace("fbeta_1", "f1"), matrix)
            assert found == pytest.approx(expected, abs=1e-10)


def test_trivial_classifiers_have_infinite_thresholds():
    assert best_threshold("accuracy", [1.0, 2.0, 3.0], [-1, -1, -1]) == (math.inf, 1.0)
    assert best_threshold("accuracy", [1.0, 2.0, 3.0], [1, 1, 1]) == (-math.inf, 1.0)


def test_of_equally_good_thresholds_the_one_predicting_fewest_positives_is_taken():
    assert best_threshold("accuracy", [4.0, 3.0, 2.0, 1.0], [1, -1, 1, -1])[0] == 3.5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threshold_separates_neighbouring_floats_in_the_precision_of_the_scores(dtype):
    low = dtype(0.7)
    high = np.nextafter(low, dtype(1))
    scores = np.array([high, low], dtype=dtype)
    threshold, value = best_threshold("min", scores, [1, -1])
    assert value == 1.0 and (scores > threshold).tolist() == [True, False]


def test_threshold_between_huge_scores_does_not_overflow():
    threshold, value = best_threshold("min", [1.7e308, 1.6e308], [1, -1])
    assert value == 1.0 and math.isfinite(threshold)


def test_integer_scores_are_cut_halfway():
    assert best_threshold("f1", [3, 2, 1], [1, -1, -1]) == (2.5, 1.0)


def test_threshold_for_a_measure_undefined_without_positives_is_refused():
    with pytest.raises(ValueError, match="min needs points of both classes.*got 0 positives and 2 negatives"):
        best_threshold("min", [0.1, 0.2], [-1, -1])


def test_threshold_for_a_user_measure_is_found_by_way_of_its_rates():
    mine = measures.pseudolinear("mine", a=(0, 2, 0), b=lambda p: (1 + (1 - p) / p, 1, -(1 - p) / p))
    scores, signs = GOLDEN_PLUG_IN["scores"], GOLDEN_PLUG_IN["y"]
    assert best_threshold(mine, scores, signs) == pytest.approx(best_threshold("f1", scores, signs), abs=1e-12)


def test_best_f1_threshold_on_calibrated_probabilities_is_half_the_best_f1():
    rng = np.random.default_rng(11)
    probabilities = rng.beta(1, 4, size=40_000)
    signs = np.where(rng.random(40_000) < probabilities, 1, -1)
    threshold, value = best_threshold("f1", probabilities, signs)
    assert threshold == pytest.approx(value / 2, abs=0.02)
