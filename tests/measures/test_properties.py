"""What must hold of every measure at every point."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from aesara_nondecomp import measures
from aesara_nondecomp.measures import BAKLD, KLD, NSS, BalancedAccuracy, Min, NestedConcave, Pseudolinear, catalogue
from aesara_nondecomp.measures.catalogue import parameter_names

# Values of the catalogue's parameters. (`tau` is left out: above 0 Min's supergradient is that of a soft minimum.)
VARIED = {"beta": (0.25, 0.5, 1, 2), "sigma": (0.25, 0.5, 1, 2), "c": (0.3,), "C": (0.9,)}


def every_measure():
    """All measures of the catalogue, with all values of VARIED that they take."""
    for name in measures.names():
        yield catalogue.example(name)
        for parameter in parameter_names(name):
            for value in VARIED.get(parameter, ()):
                yield measures.get(name, **{parameter: value})


EVERY = list(dict.fromkeys(every_measure()))
CONCAVE = [measure for measure in EVERY if "duple" in measure.drivers()]
NESTED = [measure for measure in CONCAVE if isinstance(measure, NestedConcave)]

# Boundary and near-boundary rates get their own branch, or random floats would hardly ever find them.
rates = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 1e-6, 1 - 1e-9]), st.floats(0.0, 1.0))
points = st.tuples(rates, rates)
priors = st.sampled_from([0.0061, 0.1, 0.25, 0.5, 0.774, 0.99])
smoothings = st.sampled_from([1e-4, 1e-2])
few = settings(max_examples=30, deadline=None)


def dot(slope, step):
    return slope[0] * step[0] + slope[1] * step[1]


def has_a_supergradient(measure, P, N):
    """G-mean has none on an axis off the origin, and its floor is not exact below 1e-6."""
    return measure.name != "gmean" or min(P, N) >= 1e-6 or P == N == 0.0


@pytest.mark.parametrize("measure", CONCAVE, ids=repr)
@few
@given(at=points, other=points, prior=priors, eps=smoothings)
@example(at=(0.0, 0.0), other=(1.0, 1.0), prior=0.25, eps=1e-2)
@example(at=(1.0, 1.0), other=(0.0, 0.3), prior=0.25, eps=1e-2)
@example(at=(0.0, 1.0), other=(0.4, 0.3), prior=0.25, eps=1e-4)
@example(at=(1.0, 0.0), other=(0.4, 0.3), prior=0.25, eps=1e-4)
def test_no_value_exceeds_what_a_supergradient_allows(measure, at, other, prior, eps):
    assume(has_a_supergradient(measure, *at))
    slope = measure.supergradient(*at, prior, eps)
    here, there = (measure.oriented(measure.value(*z, prior, eps)) for z in (at, other))
    allowed = here + dot(slope, (other[0] - at[0], other[1] - at[1]))
    assert there <= allowed + 1e-11 * (1 + abs(slope[0]) + abs(slope[1]) + abs(here))


@pytest.mark.parametrize("measure", CONCAVE, ids=repr)
@few
@given(along=rates, edge=st.integers(0, 3), prior=priors, eps=smoothings)
def test_safe_supergradients_are_finite_on_the_boundary(measure, along, edge, prior, eps):
    P, N = [(0.0, along), (1.0, along), (along, 0.0), (along, 1.0)][edge]
    slope = measure.supergradient(P, N, prior, eps)
    assert all(math.isfinite(entry) for entry in slope)
    assert all(isinstance(entry, float) for entry in slope)


@few
@given(at=points, other=points, tau=st.sampled_from([0.05, 0.2, 1.0]))
def test_soft_min_supergradient_belongs_to_the_soft_minimum(at, other, tau):
    def soft_minimum(P, N):
        return -tau * np.logaddexp(-P / tau, -N / tau)

    slope = Min(tau).supergradient(*at, 0.5)
    allowed = soft_minimum(*at) + dot(slope, (other[0] - at[0], other[1] - at[1]))
    assert soft_minimum(*other) <= allowed + 1e-12


matrices = st.tuples(*[st.integers(0, 200)] * 4).filter(lambda t: t[0] + t[1] > 0 and t[2] + t[3] > 0)


@pytest.mark.parametrize("measure", EVERY, ids=repr)
@few
@given(matrix=matrices, smoothed=st.booleans())
@example(matrix=(0, 5, 0, 7), smoothed=False)
@example(matrix=(5, 0, 7, 0), smoothed=False)
@example(matrix=(0, 5, 5, 0), smoothed=True)
def test_training_form_equals_count_form(measure, matrix, smoothed):
    hits, misses, false_alarms, rejections = matrix
    positives, negatives, n = hits + misses, false_alarms + rejections, sum(matrix)
    eps = 1 / (2 * n) if smoothed else 0.0
    from_rates = measure.value(hits / positives, rejections / negatives, positives / n, eps)
    assert from_rates == pytest.approx(measure.from_counts(*matrix, smoothed=smoothed), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("measure", EVERY, ids=repr)
@few
@given(at=points, prior=priors)
@example(at=(0.0, 1.0), prior=0.0061)
@example(at=(1.0, 0.0), prior=0.99)
@example(at=(0.0, 0.0), prior=0.5)
def test_values_stay_in_range(measure, at, prior):
    low, high = measure.range(prior)
    value = measure.value(*at, prior)
    assert low - 1e-12 <= value <= high * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize("measure", NESTED, ids=repr)
@few
@given(at=points, other=points, prior=priors, eps=smoothings)
def test_components_of_a_nested_measure_are_concave(measure, at, other, prior, eps):
    slopes = measure.component_gradients(*at, prior, eps)
    here, there = measure.components(*at, prior, eps), measure.components(*other, prior, eps)
    for i in (0, 1):
        allowed = here[i] + dot(slopes[i], (other[0] - at[0], other[1] - at[1]))
        assert there[i] <= allowed + 1e-11 * (1 + abs(slopes[i][0]) + abs(slopes[i][1]))


@pytest.mark.parametrize("measure", NESTED, ids=repr)
@few
@given(at=points, other=points, prior=priors, eps=smoothings)
@example(at=(0.0, 0.0), other=(1.0, 0.2), prior=0.5, eps=1e-2)
def test_outer_function_of_a_nested_measure_is_concave_and_non_decreasing(measure, at, other, prior, eps):
    gamma = measure.outer_gradient(*at, prior, eps)
    assert min(gamma) >= 0.0
    here, there = measure.outer(*at, prior, eps), measure.outer(*other, prior, eps)
    assert there <= here + dot(gamma, (other[0] - at[0], other[1] - at[1])) + 1e-11 * (1 + sum(gamma))
    if other[0] >= at[0] and other[1] >= at[1]:
        assert there >= here - 1e-12


@pytest.mark.parametrize("measure", NESTED, ids=repr)
@few
@given(at=points, prior=priors, eps=smoothings)
def test_outer_of_components_is_the_oriented_value(measure, at, prior, eps):
    composite = measure.outer(*measure.components(*at, prior, eps), prior, eps)
    assert composite == pytest.approx(measure.oriented(measure.value(*at, prior, eps)), rel=1e-12, abs=1e-12)


@few
@given(at=points, prior=priors, eps=smoothings, weight=st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_bakld_is_the_weighted_sum_of_its_two_measures(at, prior, eps, weight):
    direct = weight * BalancedAccuracy().value(*at, prior) - (1 - weight) * KLD().value(*at, prior, eps)
    assert BAKLD(weight).value(*at, prior, eps) == pytest.approx(direct, rel=1e-12, abs=1e-12)
    ba, kld = BalancedAccuracy().supergradient(*at, prior), KLD().supergradient(*at, prior, eps)
    expected = [weight * u + (1 - weight) * v for u, v in zip(ba, kld)]
    assert BAKLD(weight).supergradient(*at, prior, eps) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@few
@given(at=points, prior=priors, eps=smoothings)
def test_kld_never_negative_and_its_supergradient_moves_the_prevalence_alone(at, prior, eps):
    assert KLD().value(*at, prior, eps) >= 0.0
    alpha, beta = KLD().supergradient(*at, prior, eps)
    assert (1 - prior) * alpha + prior * beta == pytest.approx(0.0, abs=1e-10 * (1 + abs(alpha)))


@pytest.mark.parametrize("name", ["cqreward", "cqreward_raw", "bkreward"])
@few
@given(at=points, other=points, prior=priors, eps=smoothings)
def test_pseudo_concave_weights_are_a_supergradient_of_the_valuation(name, at, other, prior, eps):
    measure = measures.get(name)
    v = measure.value(*at, prior, eps)

    def valuation(P, N):
        class_part = (P + N) / 2
        quantification = {
            "cqreward": lambda: 2 - NSS().value(P, N, prior),
            "cqreward_raw": lambda: 2 - NSS(raw=True).value(P, N, prior),
            "bkreward": lambda: 1 + KLD().value(P, N, prior, eps),
        }[name]()
        return class_part - v * quantification

    weights = measure.valuation_weights(*at, v, prior, eps)
    allowed = valuation(*at) + dot(weights, (other[0] - at[0], other[1] - at[1]))
    assert valuation(*at) == pytest.approx(0.0, abs=1e-12)
    assert valuation(*other) <= allowed + 1e-11 * (1 + abs(weights[0]) + abs(weights[1]))


@pytest.mark.parametrize("measure", [m for m in EVERY if isinstance(m, Pseudolinear)], ids=repr)
@few
@given(at=points, v=st.floats(0.0, 1.0), prior=priors)
def test_pseudolinear_value_exceeds_a_level_iff_the_valuation_is_positive(measure, at, v, prior):
    (a0, a1, a2), (b0, b1, b2) = measure.coefficients(prior)
    weight_pos, weight_neg = measure.valuation_weights(*at, v, prior)
    valuation = (a0 - v * b0) + weight_pos * at[0] + weight_neg * at[1]
    assume(abs(valuation) > 1e-9 * (abs(b0) + abs(b2)))
    assert (measure.value(*at, prior) > v) == (valuation > 0)


@pytest.mark.parametrize("measure", [m for m in EVERY if "dame" in m.drivers()], ids=repr)
@few
@given(at=points, other=points, prior=priors, eps=smoothings)
def test_every_better_point_lies_in_the_direction_of_the_valuation_weights(measure, at, other, prior, eps):
    v = measure.value(*at, prior, eps)
    weights = measure.valuation_weights(*at, v, prior, eps)
    slack = 1e-9 * (1 + abs(weights[0]) + abs(weights[1]))
    assume(measure.value(*other, prior, eps) > v + slack)
    assert dot(weights, (other[0] - at[0], other[1] - at[1])) >= -slack


# The facts that the rest of the package reads off a measure.

COUNTS = np.array([(tp, fp) for tp in range(7) for fp in range(10)])  # of 6 positives and 9 negatives


def loss_along(measure, total):
    """Values at the counts with TP + FP = total, in the order of TP."""
    tp, fp = COUNTS[COUNTS.sum(axis=1) == total].T
    return np.asarray(measure.from_counts(tp, 6 - tp, fp, 9 - fp))


@pytest.mark.parametrize("measure", EVERY, ids=repr)
def test_a_measure_said_to_be_affine_in_tp_is_so_wherever_tp_plus_fp_is_fixed(measure):
    if measure.affine_in_tp:
        for total in range(16):
            np.testing.assert_allclose(np.diff(loss_along(measure, total), n=2), 0.0, atol=1e-12)


@pytest.mark.parametrize("measure", EVERY, ids=repr)
def test_min_of_rates_is_said_of_the_smaller_rate_alone(measure):
    P, N = np.random.default_rng(0).random((2, 50))
    assert measure.min_of_rates == np.allclose(measure.value(P, N, 0.3), np.minimum(P, N))


@pytest.mark.parametrize("measure", EVERY, ids=repr)
@pytest.mark.parametrize("prior", [0.1, 0.5])
def test_the_positive_weight_is_the_slope_of_a_linear_measure_in_the_true_positive_rate(measure, prior):
    weight = measure.positive_weight(prior)
    if weight is not None:
        P, N = np.random.default_rng(0).random((2, 50))
        np.testing.assert_allclose(measure.value(P, N, prior), weight * P + (1 - weight) * N, atol=1e-12)
        assert measure.supergradient(0.3, 0.6, prior) == (weight, 1 - weight)


@pytest.mark.parametrize("measure", EVERY, ids=repr)
def test_a_trainable_measure_of_the_prevalence_alone_is_trained_as_another(measure):
    shift = np.linspace(0.0, 0.2, 9)  # P and N move so that the predicted prevalence stays
    values = np.asarray(measure.value(0.4 + shift * 0.7, 0.5 + shift * 0.3, 0.3, 0.01))
    of_prevalence = bool(np.allclose(values, values[0]))
    assert bool(measure.trained_as) == (of_prevalence and bool(measure.drivers()))
    if measure.trained_as:
        other = measures.get(measure.trained_as)
        assert other.drivers() and not other.trained_as


@pytest.mark.parametrize("measure", EVERY, ids=repr)
@pytest.mark.parametrize("eps", [0.0, 0.01])
def test_only_a_measure_that_needs_smoothing_is_ever_infinite(measure, eps):
    values = np.asarray(measure.value(np.array([0.0, 1.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0, 1.0]), 0.3, eps))
    if eps > 0 or not measure.needs_smoothing:
        assert np.isfinite(values).all()


@pytest.mark.parametrize("measure", EVERY, ids=repr)
def test_merit_orders_values_from_undefined_to_best(measure):
    values = [math.nan, measure.trivial(0.3, 0.01), measure.perfect(0.3)]
    merits = [measure.merit(value) for value in values]
    assert merits == [-math.inf, *(measure.oriented(value) for value in values[1:])] and merits == sorted(merits)


@pytest.mark.parametrize("measure", [m for m in measures.defaults() if m.takes_floats], ids=str)
@pytest.mark.parametrize("eps", [0.0, 0.01])
def test_a_measure_of_floats_is_its_value_in_an_array(measure, eps):
    grid = [0.0, 0.25, 0.6, 1.0]
    of_floats = [[measure.value(P, N, 0.3, eps) for N in grid] for P in grid]
    of_arrays = measure.value(np.array(grid)[:, None], np.array(grid), 0.3, eps)
    np.testing.assert_allclose(of_floats, of_arrays, rtol=1e-15)
    assert all(type(value) is float for row in of_floats for value in row)


def test_the_measures_that_dame_and_denim_ask_at_every_step_take_floats():
    asked = [m for m in measures.defaults() if isinstance(m, (measures.Pseudolinear, measures.PseudoConcave))]
    assert all(m.takes_floats for m in [*asked, measures.get("kld"), measures.get("nss")])
