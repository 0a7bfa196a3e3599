"""The catalogue of measures, their identity, what serves them, and measures of the user's own."""

import copy
import math
import pickle
from dataclasses import FrozenInstanceError, dataclass
from inspect import Parameter, signature

import numpy as np
import pytest

from aesara_nondecomp import measures
from aesara_nondecomp.measures import (
    BAKLD,
    F1,
    GTPPR,
    KLD,
    NKLD,
    NSS,
    FBeta,
    GowerLegendre,
    HMean,
    Jaccard,
    Min,
    NestedConcave,
    PseudoConcave,
    Pseudolinear,
    QMean,
    QMeasure,
    WeightedAccuracy,
    catalogue,
)
from aesara_nondecomp.measures.catalogue import example, parameter_names, required_parameters

# Identity of measures.


def test_measures_are_equal_by_class_and_parameters():
    assert FBeta(2) == FBeta(2.0) and hash(FBeta(2)) == hash(FBeta(2.0))
    assert F1() == FBeta(1) and hash(F1()) == hash(FBeta(1))
    assert FBeta(2) != FBeta(1) and Min() != QMean() and NSS() != NSS(raw=True) and F1() != Jaccard()


@pytest.mark.parametrize("measure", [FBeta(2), F1(), NSS(raw=True), Min(0.1), KLD()], ids=str)
def test_measures_are_immutable_and_survive_copying_and_pickling(measure):
    with pytest.raises(FrozenInstanceError):
        measure.beta = 3
    for twin in (copy.deepcopy(measure), pickle.loads(pickle.dumps(measure)), eval(repr(measure))):
        assert twin == measure and str(twin) == str(measure)


@pytest.mark.parametrize(
    "measure, label",
    [
        (F1(), "f1"),
        (FBeta(), "fbeta"),
        (FBeta(2), "fbeta(beta=2)"),
        (NSS(raw=True), "nss_raw"),
        (QMeasure(0.5, raw=True), "qmeasure_raw(beta=0.5)"),
        (WeightedAccuracy(0.3), "weighted_accuracy(c=0.3)"),
        (Min(0.2), "min(tau=0.2)"),
        (WeightedAccuracy(0.12345678), "weighted_accuracy(c=0.12345678)"),
        (FBeta(1e6), "fbeta(beta=1e+06)"),
    ],
)
def test_label_shows_the_name_and_what_differs_from_the_defaults(measure, label):
    assert str(measure) == label


def test_repr_shows_every_parameter():
    assert repr(FBeta(2)) == "FBeta(beta=2.0)"


# The catalogue.


def test_a_measure_is_its_own_specification():
    measure = FBeta(3)
    assert measures.get(measure) is measure
    with pytest.raises(TypeError, match="has its parameters already"):
        measures.get(measure, beta=2)


@pytest.mark.parametrize("name", measures.names())
def test_every_name_of_the_catalogue_yields_the_measure_of_that_name(name):
    assert example(name).name == name


def test_defaults_are_the_measures_that_need_no_parameter_in_the_order_of_the_catalogue():
    assert [measure.name for measure in measures.defaults()] == [
        n for n in measures.names() if n != "weighted_accuracy"
    ]


@pytest.mark.parametrize("name", measures.names())
def test_required_parameters_are_those_without_a_default_and_all_are_settable(name):
    kinds = signature(catalogue.FACTORIES[name]).parameters
    without = {parameter for parameter in parameter_names(name) if kinds[parameter].default is Parameter.empty}
    assert set(required_parameters(name)) == without
    for parameter in parameter_names(name):
        value = getattr(example(name), parameter)
        assert measures.get(name, **{**required_parameters(name), parameter: value}) == example(name)


@pytest.mark.parametrize("name", measures.names())
def test_the_class_of_every_measure_is_public(name):
    cls = type(example(name))
    assert getattr(measures, cls.__name__) is cls and cls.__name__ in measures.__all__


@dataclass(frozen=True)
class Youden(measures.Concave):
    """P + N - 1, as a newcomer would add it."""

    name = "youden"

    def supergradient(self, P, N, prior, eps=0.0):
        return 1.0, 1.0

    def _value(self, P, N, prior, eps):
        return P + N - 1.0


def test_a_class_and_one_row_make_a_measure_of_the_catalogue(monkeypatch):
    monkeypatch.setattr(catalogue, "FACTORIES", {**catalogue.FACTORIES, "youden": Youden})
    assert measures.get("youden") == Youden() and "youden" in measures.names()
    assert Youden() in measures.defaults() and measures.get("youden").drivers() == ("duple",)
    with pytest.raises(ValueError, match="Did you mean 'youden'"):
        measures.get("yuoden")


def test_parameters_reach_the_measure():
    assert measures.get("fbeta", beta=2) == FBeta(2)
    assert measures.get("qmeasure_raw", beta=2) == QMeasure(2, raw=True)
    assert measures.get("min", tau=0.1) == Min(0.1)


@pytest.mark.parametrize(
    "name, nearest", [("qmeen", "qmean"), ("f11", "f1"), ("gower-legendre", "gower_legendre"), ("KLD", "kld")]
)
def test_an_unknown_name_suggests_the_nearest(name, nearest):
    with pytest.raises(ValueError, match=f"unknown measure '{name}'. Did you mean '{nearest}'"):
        measures.get(name)


@pytest.mark.parametrize(
    "name, parameters, message",
    [
        ("fbeta", {"bta": 2}, "no parameter 'bta'. Did you mean 'beta'"),
        ("nss_raw", {"raw": False}, "no parameter 'raw'. Known: none"),
        ("weighted_accuracy", {}, "needs the parameter c, got none.*such as c=0.5"),
    ],
)
def test_unknown_and_missing_parameters_are_refused_with_a_remedy(name, parameters, message):
    with pytest.raises(TypeError, match=message):
        measures.get(name, **parameters)


@pytest.mark.parametrize("wrong", [3, None, ["f1"], measures.F1])
def test_what_is_neither_a_name_nor_a_measure_is_refused_with_the_names(wrong):
    with pytest.raises(ValueError, match="by its name or as a Measure, got .*Known: min, qmean"):
        measures.get(wrong)


@pytest.mark.parametrize(
    "name, parameters",
    [
        ("fbeta", {"beta": 0}),
        ("fbeta", {"beta": -1}),
        ("fbeta", {"beta": math.nan}),
        ("fbeta", {"beta": math.inf}),
        ("qmeasure", {"beta": 0}),
        ("qmeasure_barranquero", {"beta": -1}),
        ("weighted_accuracy", {"c": 1.5}),
        ("weighted_accuracy", {"c": -0.1}),
        ("gower_legendre", {"sigma": 0}),
        ("bakld", {"C": 1.1}),
        ("min", {"tau": -0.1}),
        ("fbeta", {"beta": None}),
        ("fbeta", {"beta": "2"}),
        ("bakld", {"C": True}),
    ],
)
def test_a_parameter_outside_its_range_is_refused(name, parameters):
    (parameter,) = parameters
    with pytest.raises(ValueError, match=f"{name} needs a finite {parameter}"):
        measures.get(name, **parameters)


# Which algorithm serves which measure.


@pytest.mark.parametrize("measure", measures.defaults(), ids=str)
def test_drivers_follow_from_what_the_measure_offers(measure):
    drivers = set(measure.drivers())
    assert ("duple" in drivers) == isinstance(measure, measures.Concave)
    assert ("denim" in drivers) == isinstance(measure, NestedConcave)
    assert ("dame" in drivers) == isinstance(measure, (Pseudolinear, PseudoConcave))
    assert (measure.family == "report only") == (not drivers)


def test_gower_legendre_is_concave_only_up_to_sigma_one():
    assert set(GowerLegendre(0.5).drivers()) == {"duple", "dame"}
    assert GowerLegendre(2).drivers() == ("dame",)
    with pytest.raises(ValueError, match="needs a concave measure"):
        GowerLegendre(2).supergradient(0.5, 0.5, 0.3)


def test_report_only_measures_refuse_every_driver_and_say_what_to_train_on():
    with pytest.raises(ValueError, match="Train on 'f1'"):
        GTPPR().require_driver("duple")
    with pytest.raises(ValueError, match="Train on 'kld', which has the same minimiser"):
        NKLD().require_driver("denim")
    with pytest.raises(ValueError, match="'dame' cannot train for kld.*'duple'"):
        KLD().require_driver("dame")
    KLD().require_driver("denim")


def test_gtppr_is_not_quasi_concave_so_no_driver_may_serve_it():
    ends = GTPPR().value([0.4046, 0.7956], [0.9862, 0.7419], 0.25)
    middle = GTPPR().value((0.4046 + 0.7956) / 2, (0.9862 + 0.7419) / 2, 0.25)
    np.testing.assert_allclose([*ends, middle], [0.60584, 0.63498, 0.59773], atol=5e-6)  # docs/algorithms.md 2.3
    assert middle < min(ends)


@pytest.mark.parametrize("theta", [1.0, 3.0, 163.0])
def test_pseudolinear_coefficients_are_scaled_as_tabulated(theta):
    prior = 1 / (1 + theta)
    assert np.ravel(FBeta(2).coefficients(prior)) == pytest.approx([0, 5, 0, 4 + theta, 1, -theta])
    assert np.ravel(Jaccard().coefficients(prior)) == pytest.approx([0, 1, 0, 1 + theta, 0, -theta])
    expected = [0, 1, theta, 0.5 * (1 + theta), 0.5, 0.5 * theta]
    assert np.ravel(GowerLegendre(0.5).coefficients(prior)) == pytest.approx(expected)
    assert np.ravel(WeightedAccuracy(0.3).coefficients(prior)) == pytest.approx([0, 0.3, 0.7, 1, 0, 0])


def test_valuation_weights_of_f1_are_those_of_its_linear_valuation():
    assert F1().valuation_weights(0.1, 0.2, 0.4, 0.25) == (pytest.approx(2 - 0.4), pytest.approx(0.4 * 3))


# Measures of the user's own.


def user_qmean(P, N, prior):
    return 1 - math.hypot(1 - P, 1 - N) / math.sqrt(2)


def test_a_user_concave_measure_behaves_like_the_catalogue_one():
    mine = measures.concave("mine", user_qmean, QMean().supergradient)
    assert str(mine) == "mine" and mine.drivers() == ("duple",)
    assert mine.value(0.3, 0.6, 0.2) == pytest.approx(QMean().value(0.3, 0.6, 0.2), abs=1e-15)
    assert mine.supergradient(0.3, 0.6, 0.2) == QMean().supergradient(0.3, 0.6, 0.2)
    tables = np.array([[3, 1], [2, 4], [5, 0], [7, 0]])
    np.testing.assert_allclose(mine.from_counts(*tables), QMean().from_counts(*tables), atol=1e-15)
    assert math.isnan(mine.from_counts(3, 2, 0, 0))


def test_a_user_error_is_minimised():
    mine = measures.concave(
        "gap",
        lambda P, N, p: abs(P - N),
        lambda P, N, p: sign_of_difference(N, P, p),
        greater_is_better=False,
    )
    assert not mine.greater_is_better and mine.oriented(0.25) == -0.25
    assert mine.perfect(0.3) == 0.0


def sign_of_difference(P, N, prior):
    return float(np.sign(P - N)), float(np.sign(N - P))


@pytest.mark.parametrize(
    "value, supergradient, message",
    [
        (lambda P, N, p: P * N, lambda P, N, p: (N, P), "not concave"),
        (lambda P, N, p: abs(P - N), sign_of_difference, "not concave"),
        (user_qmean, lambda P, N, p: (1.0, 1.0), "supergradient is wrong"),
        # What symbolic differentiation of a stacked minimum returns at a tie: (1, 1).
        (lambda P, N, p: min(P, N), lambda P, N, p: (float(P <= N), float(N <= P)), "supergradient is wrong"),
        (lambda P, N, p: 2 * P * N / (P + N), HMean().supergradient, "needs a value on the whole"),
        (lambda P, N, p: math.nan, lambda P, N, p: (0.0, 0.0), "needs a value at P=.*got nan"),
        (user_qmean, lambda P, N, p: (math.inf, 0.0), "needs a finite supergradient at P="),
        (user_qmean, lambda P, N, p: None, "needs a finite supergradient at P=.*raised TypeError"),
        (lambda P, N, p: math.sqrt(P - 2), lambda P, N, p: (0.0, 0.0), "on the whole.*raised ValueError"),
        (
            lambda P, N, p: (P * N) ** 0.5,
            lambda P, N, p: ((N / P) ** 0.5 / 2, 0.5),
            "finite supergradient|wrong",
        ),
    ],
)
def test_a_user_measure_that_duple_cannot_train_for_is_refused(value, supergradient, message):
    with pytest.raises(ValueError, match=message):
        measures.concave("mine", value, supergradient)


def test_the_refusal_names_two_points_that_contradict_concavity():
    with pytest.raises(ValueError) as refusal:
        measures.concave("product", lambda P, N, p: P * N, lambda P, N, p: (N, P))
    assert "at (P, N) = [0.0, 0.0] allows at most 0 at [1.0, 1.0], but the value there is 1" in str(refusal.value)


@pytest.mark.parametrize(
    "measure",
    [m for m in measures.defaults() if "duple" in m.drivers() and m not in (KLD(), BAKLD())],
    ids=str,
)
def test_the_concavity_check_passes_the_concave_measures_of_the_catalogue(measure):
    measures.check_concave(measure)
    measures.check_concave(measure, priors=(0.0061,), seed=1)


def test_the_concavity_check_treats_minus_infinity_as_outside_the_domain():
    for measure in (KLD(), BAKLD()):
        measures.check_concave(measure)


def test_a_user_pseudolinear_measure_behaves_like_the_catalogue_one():
    mine = measures.pseudolinear("mine", a=(0, 2, 0), b=lambda p: (1 + (1 - p) / p, 1, -(1 - p) / p))
    assert mine.drivers() == ("dame",) and mine.range(0.2) == (0.0, 1.0)
    assert mine.value(0.3, 0.6, 0.2) == pytest.approx(F1().value(0.3, 0.6, 0.2), abs=1e-15)
    assert mine.coefficients(0.2) == F1().coefficients(0.2)
    assert mine.from_counts(3, 2, 5, 7) == pytest.approx(F1().from_counts(3, 2, 5, 7), abs=1e-15)
    assert hash(mine) == hash(copy.copy(mine))


@pytest.mark.parametrize(
    "a, b, message",
    [
        ((0, 1, 0), (0, 1, 1), "denominator above 0"),
        ((0, 1, 0), (1, -2, 0), "denominator above 0"),
        ((0, 1, 0), lambda p: (p - 0.5, 0, 0), "denominator above 0"),
        ((0, 1), (1, 0, 0), "three finite coefficients"),
        ((0, math.inf, 0), (1, 0, 0), "three finite coefficients"),
        (3, (1, 0, 0), "three finite coefficients.*got 3"),
        ((0, 1, 0), lambda p: None, "three finite coefficients.*got None"),
    ],
)
def test_a_user_pseudolinear_measure_needs_a_positive_denominator(a, b, message):
    with pytest.raises(ValueError, match=message):
        measures.pseudolinear("mine", a, b)


def test_a_user_measure_needs_a_name_and_functions():
    with pytest.raises(ValueError, match="needs a name"):
        measures.pseudolinear("", (0, 1, 0), (1, 0, 0))
    with pytest.raises(ValueError, match="mine needs its supergradient to be a function of"):
        measures.concave("mine", user_qmean, (0.5, 0.5))


@pytest.mark.parametrize("name", ["f1", "min", "weighted_accuracy", "worst_cell", "recall"])
def test_a_user_measure_needs_a_name_that_the_catalogue_does_not_have(name):
    with pytest.raises(ValueError, match=f"needs a name that the catalogue does not have, got '{name}'"):
        measures.pseudolinear(name, (0, 1, 0), (1, 0, 0))
    with pytest.raises(ValueError, match=f"needs a name that the catalogue does not have, got '{name}'"):
        measures.concave(name, user_qmean, QMean().supergradient)


@pytest.mark.parametrize("name", ["fbeta", "qmeasure", "qmeasure_barranquero"])
@pytest.mark.parametrize("beta", [0.0, -1.0, 1e-8, 1e-170, 1e7, 1e200, float("nan")])
def test_a_beta_whose_square_cannot_be_computed_with_is_refused(name, beta):
    with pytest.raises(ValueError, match=r"finite beta at least 0\.0001 and at most 1e\+06"):
        measures.get(name, beta=beta)


@pytest.mark.parametrize("sigma", [0.0, 1e-300, 1e300])
def test_a_sigma_that_cannot_be_computed_with_is_refused(sigma):
    with pytest.raises(ValueError, match=r"finite sigma at least 1e-06 and at most 1e\+06"):
        measures.get("gower_legendre", sigma=sigma)


@pytest.mark.parametrize("P", [0.0, 1e-7, 0.5, 1.0])
@pytest.mark.parametrize("N", [0.0, 1e-7, 0.5, 1.0])
@pytest.mark.parametrize("prior", [1e-7, 0.5, 1 - 1e-7])
def test_ratios_of_extreme_parameters_are_numbers_everywhere(P, N, prior):
    given = {"fbeta": "beta", "gower_legendre": "sigma", "qmeasure": "beta", "qmeasure_barranquero": "beta"}
    for name, parameter in given.items():
        for extreme in (1e-4, 1e6):
            assert 0 <= measures.get(name, **{parameter: extreme}).value(P, N, prior) <= 1 + 1e-9
