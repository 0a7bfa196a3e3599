"""Measures from symbolic expressions: equal to the catalogue's closed forms, safe at singular points, checked."""

from __future__ import annotations

import itertools
import math

import pytest

from aesara_nondecomp import measures
from aesara_nondecomp._aesara.imports import at
from aesara_nondecomp.drivers import DUPLE
from aesara_nondecomp.metrics.class_rates import ClassSums
from aesara_nondecomp.step.symbolic_measure import symbolic_measure


def _qmean(P, N, prior):
    return 1 - at.sqrt(((1 - P) ** 2 + (1 - N) ** 2) / 2)


def _hmean(P, N, prior):
    return at.switch(at.eq(P + N, 0), 0.0, 2 * P * N / (P + N))


def _nss_raw(P, N, prior):
    return 1 - (prior * (1 - P) - (1 - prior) * (1 - N)) ** 2


EXPRESSIONS = {
    "qmean": _qmean,
    "gmean": lambda P, N, prior: at.sqrt(P * N),
    "hmean": _hmean,
    "min": lambda P, N, prior: at.minimum(P, N),
    "nss_raw": _nss_raw,
    "accuracy": lambda P, N, prior: prior * P + (1 - prior) * N,
}
CATALOGUE = {name: measures.NSS(raw=True) if name == "nss_raw" else measures.get(name) for name in EXPRESSIONS}
NO_SCALARS = {
    "None": lambda P, N, prior: None,
    "two parameters": lambda P, N: P,
    "Python's min": lambda P, N, prior: min(P, N),
    "a vector": lambda P, N, prior: at.stack([P, N]),
}
GRID = (0.0, 0.2, 0.35, 0.8, 1.0)
SINGULAR = list(itertools.product((0.0, 1.0), repeat=2)) + [(0.0, 0.5), (0.5, 0.0), (1.0, 0.5), (0.5, 1.0), (0.5, 0.5)]


@pytest.fixture(scope="module")
def own():
    """Each expression as a measure."""
    return {name: symbolic_measure(f"own {name}", expression) for name, expression in EXPRESSIONS.items()}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_values_equal_the_catalogues(own, name):
    for P, N, prior in itertools.product(GRID, GRID, (0.1, 0.6)):
        expected = CATALOGUE[name].value(P, N, prior)
        assert own[name].value(P, N, prior) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_supergradients_inside_the_square_equal_the_closed_forms(own, name):
    for P, N, prior in itertools.product((0.2, 0.45, 0.9), (0.25, 0.5, 0.8), (0.1, 0.6)):
        expected = CATALOGUE[name].supergradient(P, N, prior)
        assert own[name].supergradient(P, N, prior) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize(("P", "N"), SINGULAR)
def test_supergradients_at_singular_points_are_finite_and_bound_the_measure(own, name, P, N):
    alpha, beta = own[name].supergradient(P, N, 0.3)
    assert math.isfinite(alpha)
    assert math.isfinite(beta)
    here = own[name].value(P, N, 0.3)
    for x, y in itertools.product(GRID, GRID):
        assert own[name].value(x, y, 0.3) <= here + alpha * (x - P) + beta * (y - N) + 1e-3


def test_a_dual_that_should_be_large_is_large(own):
    """Differentiating a clipped rate would give 0 here (docs/algorithms.md 3.2)."""
    assert own["gmean"].supergradient(0.0, 0.5, 0.3)[0] > 100


def test_at_its_apex_qmean_gets_the_limit_along_the_diagonal(own):
    assert own["qmean"].supergradient(1.0, 1.0, 0.3) == pytest.approx((0.5, 0.5))


def test_an_error_is_given_as_it_is_and_its_supergradient_is_of_minus_it():
    error = symbolic_measure("own distance", lambda P, N, prior: 1 - _qmean(P, N, prior), greater_is_better=False)
    assert error.value(0.2, 0.6, 0.5) == pytest.approx(1 - measures.get("qmean").value(0.2, 0.6, 0.5))
    assert error.oriented(error.value(0.2, 0.6, 0.5)) < 0
    assert error.supergradient(0.2, 0.6, 0.5) == pytest.approx(measures.get("qmean").supergradient(0.2, 0.6, 0.5))


def test_a_measure_of_one_rate_alone_has_derivative_zero_in_the_other():
    recall = symbolic_measure("own recall", lambda P, N, prior: P)
    assert recall.supergradient(0.3, 0.6, 0.5) == (1.0, 0.0)


def test_duple_takes_the_same_duals_from_an_expression_as_from_the_catalogue(own):
    drivers = [DUPLE(measure, 0.3, evaluate="old") for measure in (own["qmean"], measures.get("qmean"))]
    for driver in drivers:
        driver.refresh(ClassSums(1.0, 4.0, 0.0, 0.0, 1.0, 5.0, 3.0, 7.0))
        driver.observe(ClassSums(2.0, 3.0, 0.0, 0.0, 1.0, 5.0, 3.0, 7.0))
    assert drivers[0].weights() == pytest.approx(drivers[1].weights())
    assert drivers[0].weights() != (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("name", "expression"),
    [
        ("stacked min", lambda P, N, prior: at.min(at.stack([P, N]))),
        ("convex", lambda P, N, prior: (P**2 + N**2) / 2),
        ("own f1", lambda P, N, prior: 2 * P / (1 + P + (1 - prior) / prior * (1 - N))),
        ("turned", lambda P, N, prior: 1 - at.sqrt(P * N)),
    ],
)
def test_what_is_not_concave_or_has_no_supergradient_is_refused(name, expression):
    with pytest.raises(ValueError, match=f"{name}.* is not concave, or its supergradient is wrong"):
        symbolic_measure(name, expression)


def test_a_value_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="needs a value at P=0, N=0.*Define it there by its limit"):
        symbolic_measure("own hmean", lambda P, N, prior: 2 * P * N / (P + N))


@pytest.mark.parametrize("case", NO_SCALARS)
def test_what_is_no_symbolic_scalar_is_answered_by_what_would_be(case):
    with pytest.raises(ValueError, match="mine needs a function of symbolic .* such as at.minimum"):
        symbolic_measure("mine", NO_SCALARS[case])
