"""Measures against golden values, closed forms and sharp cases."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from oracles import conjugate, conjugate_of_linear

from aesara_nondecomp import measures
from aesara_nondecomp.measures import (
    AE,
    BAKLD,
    F1,
    GTPPR,
    KLD,
    NAS,
    NKLD,
    NSS,
    RAE,
    Accuracy,
    BalancedAccuracy,
    BKReward,
    CQReward,
    FBeta,
    GMean,
    GowerLegendre,
    HMean,
    Jaccard,
    Min,
    PseudoConcave,
    Pseudolinear,
    QMean,
    QMeasure,
    QMeasureBarranquero,
    WeightedAccuracy,
)
from aesara_nondecomp.measures.catalogue import parameter_names

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden_measures.json").read_text())

# What the gradient sections smooth with: "n = 1000 for the supergradient and conjugate points".
GOLDEN_EPS = 1 / 2000

ABOUT_THE_MATRIX = {"TPR", "TNR", "p", "p_hat"}
ZETAS = {"zeta1_log_phat": 0, "zeta2_log_1mphat": 1}


def split_name(golden_name):
    """(measure name, whether the golden value is smoothed)."""
    bare = golden_name[: -len("_smoothed")] if golden_name.endswith("_smoothed") else golden_name
    return bare, bare != golden_name


def measure_of(golden_name):
    """The catalogue's measure of a golden name: "negkld" is the maximised kld, "fbeta_2" has first parameter 2."""
    name, number = re.fullmatch(r"(?:neg_?)?(.+?)(?:_c?([0-9.]+))?", golden_name).groups()
    return measures.get(name) if number is None else measures.get(name, **{parameter_names(name)[0]: float(number)})


def close(expected):
    return pytest.approx(float("nan") if expected is None else float(expected), rel=1e-10, abs=1e-10, nan_ok=True)


def golden_matrices(section):
    for matrix in GOLDEN[section]:
        for name, expected in matrix["values"].items():
            if name not in ABOUT_THE_MATRIX:
                measure_name, smoothed = split_name(name)
                measure = measure_of(measure_name)
                yield pytest.param(matrix, measure, smoothed, expected, id=f"{matrix['name']}-{name}")


@pytest.mark.parametrize("matrix, measure, smoothed, expected", list(golden_matrices("confusion_matrices")))
def test_count_formula_matches_the_golden_value(matrix, measure, smoothed, expected):
    counts = (matrix[key] for key in ("TP", "FN", "FP", "TN"))
    assert measure.from_counts(*counts, smoothed=smoothed) == close(expected)


@pytest.mark.parametrize("matrix, measure, smoothed, expected", list(golden_matrices("confusion_matrices")))
def test_rate_formula_matches_the_golden_value(matrix, measure, smoothed, expected):
    n = sum(matrix[key] for key in ("TP", "FN", "FP", "TN"))
    P, N = matrix["TP"] / (matrix["TP"] + matrix["FN"]), matrix["TN"] / (matrix["TN"] + matrix["FP"])
    prior = (matrix["TP"] + matrix["FN"]) / n
    assert measure.value(P, N, prior, eps=1 / (2 * n) if smoothed else 0.0) == close(expected)


@pytest.mark.parametrize("matrix, measure, smoothed, expected", list(golden_matrices("single_class")))
def test_with_one_class_the_count_formula_decides_and_nan_means_undefined(matrix, measure, smoothed, expected):
    counts = (matrix[key] for key in ("TP", "FN", "FP", "TN"))
    assert measure.from_counts(*counts, smoothed=smoothed) == close(expected)


def golden_gradients():
    for point in GOLDEN["supergradients"]:
        for name, expected in point["values"].items():
            if name not in ZETAS:
                yield pytest.param(point, name, expected, id=f"{point['P']}-{point['N']}-{name}")


def gradient_of(measure, P, N, prior, eps):
    """The gradient of the oriented value, from whatever the measure's family offers."""
    if "duple" in measure.drivers():
        return measure.supergradient(P, N, prior, eps)
    value = measure.value(P, N, prior, eps)
    if isinstance(measure, Pseudolinear):
        b = measure.coefficients(prior)[1]
        denominator = b[0] + b[1] * P + b[2] * N
    else:
        assert isinstance(measure, PseudoConcave)
        denominator = (P + N) / 2 / value
    return tuple(weight / denominator for weight in measure.valuation_weights(P, N, value, prior, eps))


@pytest.mark.parametrize("point, name, expected", list(golden_gradients()))
def test_oriented_value_and_gradient_match_the_golden_ones(point, name, expected):
    measure_name, smoothed = split_name(name)
    measure, eps = measure_of(measure_name), GOLDEN_EPS if smoothed else 0.0
    where = (point["P"], point["N"], point["p"])
    assert measure.oriented(measure.value(*where, eps)) == close(expected["value"])
    if name != "gtppr":  # report only: it has no gradient to ask for
        assert gradient_of(measure, *where, eps) == (close(expected["dP"]), close(expected["dN"]))


@pytest.mark.parametrize("point", GOLDEN["supergradients"])
@pytest.mark.parametrize("zeta", ZETAS)
def test_components_of_kld_match_the_golden_ones(point, zeta):
    where, expected = (point["P"], point["N"], point["p"]), point["values"][zeta]
    assert KLD().components(*where)[ZETAS[zeta]] == close(expected["value"])
    slope = KLD().component_gradients(*where)[ZETAS[zeta]]
    assert slope == (close(expected["dP"]), close(expected["dN"]))


def golden_conjugates():
    for point in GOLDEN["conjugates"]:
        for name, expected in point["values"].items():
            yield pytest.param(point["p"], name, expected, id=f"{point['P']}-{point['N']}-{name}")
    for dual in GOLDEN["conjugates_other_duals"]:
        yield pytest.param(dual["p"], dual["measure"], dual, id=f"{dual['measure']}-{dual['alpha']}-{dual['beta']}")
    for dual in GOLDEN["conjugate_outside_domain"]:
        yield pytest.param(0.5, dual["measure"], dual, id=f"{dual['measure']}-outside")


def conjugate_of(name, alpha, beta, prior):
    bare, smoothed = split_name(name)
    if bare == "accuracy":
        return conjugate_of_linear(alpha, beta, prior)
    if bare == "weighted_accuracy_c0.3":
        return conjugate_of_linear(alpha, beta, 0.3)
    return conjugate(bare, alpha, beta, prior, GOLDEN_EPS if smoothed else 0.0)


@pytest.mark.parametrize("prior, name, expected", list(golden_conjugates()))
def test_closed_form_conjugate_matches_the_golden_one(prior, name, expected):
    assert conjugate_of(name, expected["alpha"], expected["beta"], prior) == close(expected["conjugate"])


def conjugable_points():
    for point in GOLDEN["conjugates"]:
        for name in point["values"]:
            if name not in ZETAS:
                yield pytest.param(point, name, id=f"{point['P']}-{point['N']}-{name}")


@pytest.mark.parametrize("point, name", list(conjugable_points()))
def test_supergradient_attains_the_infimum_of_the_dual_problem(point, name):
    bare, smoothed = split_name(name)
    measure, eps = measure_of(bare), GOLDEN_EPS if smoothed else 0.0
    P, N, prior = point["P"], point["N"], point["p"]
    alpha, beta = measure.supergradient(P, N, prior, eps)
    dual_value = alpha * P + beta * N - conjugate_of(name, alpha, beta, prior)
    assert dual_value == close(measure.oriented(measure.value(P, N, prior, eps)))


@pytest.mark.parametrize("point", GOLDEN["safe_points"], ids=lambda point: f"{point['measure']}-{point['P']}")
def test_supergradient_at_a_singular_point_is_the_safe_one(point):
    alpha, beta = measures.get(point["measure"]).supergradient(point["P"], point["N"], point.get("p", 0.25))
    assert (alpha, beta) == (close(point["dP"]), close(point["dN"]))


# The trivial classifiers' values, as docs/algorithms.md states them for each measure.


def trivial_closed_forms(p, eps):
    k, q = max(p, 1 - p), 1 - p
    ps, least, most = (p + eps) / (1 + 2 * eps), eps / (1 + 2 * eps), (1 + eps) / (1 + 2 * eps)
    all_negative_kld = ps * math.log(ps / least) + (1 - ps) * math.log((1 - ps) / most)
    all_positive_kld = ps * math.log(ps / most) + (1 - ps) * math.log((1 - ps) / least)
    nss, nss_raw = (1 - (q / k) ** 2, 1 - (p / k) ** 2), (1 - q**2, 1 - p**2)
    nas = (1 - q / k, 1 - p / k)
    return {
        Min(): (0, 0),
        QMean(): (1 - 1 / math.sqrt(2), 1 - 1 / math.sqrt(2)),
        HMean(): (0, 0),
        GMean(): (0, 0),
        BalancedAccuracy(): (0.5, 0.5),
        WeightedAccuracy(0.3): (0.3, 0.7),
        Accuracy(): (p, q),
        FBeta(2): (5 * p / (1 + 4 * p), 0),
        F1(): (2 * p / (1 + p), 0),
        Jaccard(): (p, 0),
        GowerLegendre(2): (p / (p + 2 * q), q / (q + 2 * p)),
        GTPPR(): (math.sqrt(p), 0),
        KLD(): (all_positive_kld, all_negative_kld),
        NKLD(): (math.tanh(all_positive_kld / 2), math.tanh(all_negative_kld / 2)),
        AE(): (q, p),
        RAE(): tuple(gap / 2 * (1 / (p + eps) + 1 / (q + eps)) for gap in (q, p)),
        NAS(): nas,
        NSS(): nss,
        NSS(raw=True): nss_raw,
        QMeasure(2): tuple(5 * y / 2 / (2 + y) for y in nss),
        QMeasure(2, raw=True): tuple(5 * y / 2 / (2 + y) for y in nss_raw),
        QMeasureBarranquero(2): (5 * nas[0] / (4 + nas[0]), 0),
        BAKLD(0.4): tuple(0.2 - 0.6 * kld for kld in (all_positive_kld, all_negative_kld)),
        CQReward(): tuple(0.5 / (2 - y) for y in nss),
        CQReward(raw=True): tuple(0.5 / (2 - y) for y in nss_raw),
        BKReward(): (0.5 / (1 + all_positive_kld), 0.5 / (1 + all_negative_kld)),
    }


def test_every_measure_of_the_catalogue_has_closed_forms_for_the_trivial_classifiers():
    known = {measure.name for measure in trivial_closed_forms(0.25, eps=5e-5)}
    assert set(measures.names()) <= known, "add the missing rows to trivial_closed_forms"


@pytest.mark.parametrize("prior", [0.0061, 0.25, 0.5, 0.774])
def test_trivial_classifiers_have_the_values_of_the_closed_forms(prior):
    for measure, (all_positive, all_negative) in trivial_closed_forms(prior, eps=5e-5).items():
        assert measure.all_positive(prior, 5e-5) == pytest.approx(all_positive, abs=1e-12), measure
        assert measure.all_negative(prior, 5e-5) == pytest.approx(all_negative, abs=1e-12), measure
        better = min if not measure.greater_is_better else max
        assert measure.trivial(prior, 5e-5) == pytest.approx(better(all_positive, all_negative), abs=1e-12), measure


def test_predicting_all_negative_already_has_a_small_kld_on_imbalanced_data():
    assert KLD().trivial(0.0061, eps=1 / 20000) == pytest.approx(0.0235, abs=5e-5)


@pytest.mark.parametrize("measure", measures.defaults(), ids=str)
def test_no_classifier_beats_the_perfect_value(measure):
    expected = 0.0 if not measure.greater_is_better else (0.5 if measure == BAKLD() else 1.0)
    assert measure.perfect(0.2) == pytest.approx(expected, abs=1e-15)
    low, high = measure.range(0.2)
    assert measure.perfect(0.2) == pytest.approx(high if measure.greater_is_better else low, abs=1e-15)


def test_nkld_is_the_normalised_logistic_form_of_kld():
    kld = KLD().value(0.3, 0.8, 0.25)
    assert NKLD().value(0.3, 0.8, 0.25) == pytest.approx(2 * math.exp(kld) / (1 + math.exp(kld)) - 1, abs=1e-15)


def test_jaccard_is_an_increasing_function_of_f1():
    f1 = F1().value(0.3, 0.8, 0.25)
    assert Jaccard().value(0.3, 0.8, 0.25) == pytest.approx(f1 / (2 - f1), abs=1e-15)


# Sharp cases.


def test_f1_of_a_classifier_that_finds_no_positive_is_zero():
    assert F1().from_counts(TP=0, FN=2, FP=0, TN=1) == 0.0
    assert F1().value(P=0.0, N=1.0, prior=2 / 3) == 0.0


def test_f1_with_nothing_positive_and_nothing_predicted_is_nan_and_training_refuses_that_prior():
    assert math.isnan(F1().from_counts(TP=0, FN=0, FP=0, TN=3))
    with pytest.raises(ValueError, match="prior must lie strictly between 0 and 1, got 0.0"):
        F1().value(P=0.0, N=1.0, prior=0.0)


def test_min_puts_all_weight_on_the_worse_class_and_splits_it_at_a_tie():
    assert Min().supergradient(0.9, 0.5, 0.3) == (0.0, 1.0)
    assert Min().supergradient(0.5, 0.9, 0.3) == (1.0, 0.0)
    assert Min().supergradient(0.7, 0.7, 0.3) == (0.5, 0.5)


def test_soft_min_weights_the_classes_smoothly_but_its_value_stays_the_minimum():
    soft = Min(tau=0.1)
    alpha, beta = soft.supergradient(0.6, 0.5, 0.3)
    assert (alpha, beta) == (pytest.approx(1 / (1 + math.e)), pytest.approx(math.e / (1 + math.e)))
    assert soft.value(0.6, 0.5, 0.3) == 0.5


@pytest.mark.parametrize("tau", [1e-300, 1e-3])
def test_soft_min_does_not_overflow_at_a_low_temperature(tau):
    assert Min(tau).supergradient(1.0, 0.0, 0.3) == (pytest.approx(0.0, abs=1e-300), 1.0)
    assert Min(tau).supergradient(0.0, 1.0, 0.3) == (1.0, pytest.approx(0.0, abs=1e-300))


def test_smoothed_kld_of_published_trials():
    assert KLD().from_counts(TP=0, FN=10, FP=0, TN=90) == pytest.approx(0.2226, abs=5e-5)
    assert KLD().from_counts(TP=0, FN=0, FP=10, TN=90) == pytest.approx(0.0892, abs=5e-5)
    assert KLD().value(P=0.0, N=1.0, prior=0.1, eps=1e-7) == pytest.approx(1.287, abs=5e-4)


@pytest.mark.parametrize("positives", [1, 3, 50, 97])
def test_kld_of_equal_prevalences_is_exactly_zero(positives):
    wrong = min(positives, 100 - positives) // 2
    matrix = dict(TP=positives - wrong, FN=wrong, FP=wrong, TN=100 - positives - wrong)
    assert KLD().from_counts(**matrix) == 0.0
    assert KLD().from_counts(**matrix, smoothed=False) == 0.0


def test_a_classifier_wrong_on_every_point_of_a_balanced_set_has_kld_zero():
    assert KLD().from_counts(TP=0, FN=50, FP=50, TN=0) == 0.0


def test_unsmoothed_kld_has_no_supergradient_where_a_class_is_never_predicted():
    for P, N in [(0.0, 1.0), (1.0, 0.0)]:
        assert KLD().value(P, N, 0.2) == math.inf
        for measure in (KLD(), BAKLD()):
            with pytest.raises(ValueError, match=r"Smooth with eps = 1/\(2n\)"):
                measure.supergradient(P, N, 0.2)


def test_swapping_the_classes_changes_f1_but_not_min():
    assert F1().from_counts(TP=5, FN=5, FP=2, TN=88) != F1().from_counts(TP=88, FN=2, FP=5, TN=5)
    assert Min().from_counts(TP=5, FN=5, FP=2, TN=88) == Min().from_counts(TP=88, FN=2, FP=5, TN=5)


@pytest.mark.parametrize("measure", measures.defaults(), ids=str)
def test_arrays_of_counts_and_rates_are_treated_entry_by_entry(measure):
    matrices = [(0, 5, 0, 10), (3, 2, 4, 6), (5, 0, 10, 0)]
    one_by_one = [measure.from_counts(*matrix) for matrix in matrices]
    np.testing.assert_array_equal(measure.from_counts(*np.transpose(matrices)), one_by_one)
    P, N = np.array([0.0, 0.6, 1.0]), np.array([1.0, 0.6, 0.0])
    one_by_one = [measure.value(float(u), float(v), 1 / 3, 0.01) for u, v in zip(P, N)]
    np.testing.assert_array_equal(measure.value(P, N, 1 / 3, 0.01), one_by_one)
    assert all(isinstance(value, float) for value in one_by_one)


@pytest.mark.parametrize("measure", measures.defaults(), ids=str)
def test_an_empty_confusion_matrix_has_no_value(measure):
    assert math.isnan(measure.from_counts(0, 0, 0, 0))


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="counts of at least 0, got TP=-1"):
        F1().from_counts(-1, 1, 1, 1)


@pytest.mark.parametrize("name", ["min", "qmean", "hmean", "gmean", "balanced_accuracy", "gtppr", "qmeasure"])
def test_measures_of_both_rates_are_nan_without_positives_even_if_every_prediction_is_wrong(name):
    assert math.isnan(measures.get(name).from_counts(TP=0, FN=0, FP=3, TN=0))


@pytest.mark.parametrize("eps", [0.0, 0.005])
def test_kld_never_rounds_below_zero_where_the_prevalences_agree(eps):
    # Balanced errors: p (1-P) = (1-p)(1-N), up to rounding.
    for errors in range(1, 100):
        P, N = 1 - errors / 300, 1 - errors / 700
        assert 0.0 <= KLD().value(P, N, 0.3, eps) < 1e-15


def test_bakld_with_all_weight_on_balanced_accuracy_is_balanced_accuracy_even_where_kld_is_infinite():
    assert BAKLD(C=1).value(1.0, 0.0, 0.2) == 0.5
    assert BAKLD(C=1).from_counts(2, 0, 8, 0, smoothed=False) == 0.5
    assert BAKLD(C=1).supergradient(1.0, 0.0, 0.2) == (0.5, 0.5)
