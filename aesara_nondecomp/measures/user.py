"""Measures of your own, and the check that a measure is concave.

A measure of your own is given by functions of (P, N, prior) on plain floats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Callable, Union

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_vector
from aesara_nondecomp._checks import random_generator, require, shown
from aesara_nondecomp.measures import catalogue
from aesara_nondecomp.measures._parameters import check_prior
from aesara_nondecomp.measures.base import Pair
from aesara_nondecomp.measures.families import Concave, Pseudolinear, Triple

__all__ = ["check_concave", "concave", "pseudolinear"]

Floats = NDArray[np.float64]
Coefficients = Union[Sequence[float], Callable[[float], Sequence[float]]]

CHECKED_PRIORS = (0.01, 0.3, 0.5, 0.9)

# What a formula raises where it is undefined (as math.sqrt does) or does not return numbers.
UNUSABLE = (ArithmeticError, TypeError, ValueError)

# A safe supergradient on the boundary may be the exact one of a point just inside, as G-mean's is.
INTERIOR_TOLERANCE = 1e-6
BOUNDARY_TOLERANCE = 1e-3


def concave(
    name: str,
    value: Callable[[float, float, float], float],
    supergradient: Callable[[float, float, float], Pair],
    greater_is_better: bool = True,
) -> Concave:
    """A concave measure of your own, for DUPLE.

    Parameters
    ----------
    name : str
        Label of the measure, not empty, and no name of the catalogue.
    value : callable
        ``value(P, N, prior)`` is the measure, on floats. It must be defined on the whole of [0, 1]^2, by its limit
        where the formula reads 0/0.
    supergradient : callable
        ``supergradient(P, N, prior)`` is a finite supergradient (alpha, beta) of `value`, or of ``-value`` if smaller
        is better.
    greater_is_better : bool, default True
        False for an error, which must then be convex.

    Returns
    -------
    Concave
        Its value from counts is computed from the rates: NaN if a class is missing.

    Raises
    ------
    ValueError
        If `name` is not a string, empty or in the catalogue, `value` or `supergradient` is not callable, or random and
        boundary points show that the measure is not concave; see `check_concave`.
    """
    _check_name(name)
    for part, given in (("value", value), ("supergradient", supergradient)):
        require(callable(given), f"{name} needs its {part} to be a function of (P, N, prior)", given)
    flag = isinstance(greater_is_better, (bool, np.bool_))
    require(flag, f"{name} needs greater_is_better to be True or False", greater_is_better)
    measure = UserConcave(name, value, supergradient, bool(greater_is_better))
    check_concave(measure)
    return measure


def pseudolinear(name: str, a: Coefficients, b: Coefficients) -> Pseudolinear:
    """A pseudolinear measure (a0 + a1 P + a2 N) / (b0 + b1 P + b2 N) of your own, for DAME; larger is better.

    Parameters
    ----------
    name : str
        Label of the measure, not empty, and no name of the catalogue.
    a : sequence of 3 float or callable
        Coefficients of the numerator, or a function of the prior that returns them.
    b : sequence of 3 float or callable
        Coefficients of the denominator, likewise. The common scale of `a` and `b` leaves the measure unchanged but
        multiplies DAME's step.

    Returns
    -------
    Pseudolinear
        Its value from counts is computed from the rates: NaN if a class is missing.

    Raises
    ------
    ValueError
        If `name` is not a string, empty or in the catalogue, `a` or `b` is not three finite numbers, or the denominator
        is not positive everywhere on [0, 1]^2.
    """
    _check_name(name)
    measure = UserPseudolinear(name, _as_coefficients(name, a), _as_coefficients(name, b))
    for prior in CHECKED_PRIORS:
        measure.coefficients(prior)
    return measure


@dataclass(frozen=True)
class UserConcave(Concave):
    """A concave measure made by `concave`.

    Parameters
    ----------
    name : str
        Label of the measure.
    function : callable
        ``function(P, N, prior)`` is the value.
    gradient : callable
        ``gradient(P, N, prior)`` is a supergradient of the oriented value.
    greater_is_better : bool, default True
        False for an error.
    """

    name: str
    function: Callable[[float, float, float], float] = field(repr=False)
    gradient: Callable[[float, float, float], Pair] = field(repr=False)
    greater_is_better: bool = True

    def range(self, prior: float) -> Pair:
        return -math.inf, math.inf

    def supergradient(self, P: float, N: float, prior: float, eps: float = 0.0) -> Pair:
        alpha, beta = self.gradient(P, N, prior)
        return float(alpha), float(beta)

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:
        # Entry by entry, so that the user's function may branch.
        return np.vectorize(self.function, otypes=[float])(P, N, prior)


@dataclass(frozen=True)
class UserPseudolinear(Pseudolinear):
    """A pseudolinear measure made by `pseudolinear`.

    Parameters
    ----------
    name : str
        Label of the measure.
    a : tuple of 3 float or callable
        Coefficients of the numerator, or a function of the prior that returns them.
    b : tuple of 3 float or callable
        Coefficients of the denominator, likewise.
    """

    name: str
    a: Triple | Callable[[float], Sequence[float]] = field(repr=False)
    b: Triple | Callable[[float], Sequence[float]] = field(repr=False)

    def range(self, prior: float) -> Pair:
        corners = [float(self.value(P, N, prior)) for P in (0.0, 1.0) for N in (0.0, 1.0)]
        return min(corners), max(corners)

    def coefficients(self, prior: float) -> tuple[Triple, Triple]:
        """Coefficients of the numerator and of the denominator.

        Parameters
        ----------
        prior : float
            Fraction of positives, in (0, 1).

        Returns
        -------
        a : tuple of 3 float
            (a0, a1, a2).
        b : tuple of 3 float
            (b0, b1, b2).

        Raises
        ------
        ValueError
            If the denominator is not positive everywhere on [0, 1]^2, or `a` or `b` is not three finite numbers.
        """
        a, b = (_triple(self.name, x(prior) if callable(x) else x) for x in (self.a, self.b))
        smallest = b[0] + min(b[1], 0.0) + min(b[2], 0.0)
        if smallest <= 0.0:
            raise ValueError(
                f"{self.name} needs a denominator above 0 on [0, 1]^2, got {smallest:g} at prior {prior:g} "
                f"for b = {b}. Multiply a and b by -1, or add the same count to numerator and denominator."
            )
        return a, b


def check_concave(measure: Concave, priors: Sequence[float] = CHECKED_PRIORS, seed: int = 0) -> None:
    """Check by sampling that a measure is concave and that its supergradient is one.

    At random, tied (P = N) and boundary points of [0, 1]^2 no value may exceed the bound set by the supergradient at
    another point: value(y) <= value(x) + supergradient(x) . (y - x), oriented so that larger is better. Points where
    the value is -inf are outside the measure's domain and bound nothing.

    Parameters
    ----------
    measure : Concave
        Any of the catalogue, or your own.
    priors : sequence of float, default (0.01, 0.3, 0.5, 0.9)
        Fractions of positives to check at, in (0, 1).
    seed : int, default 0
        Seed of the random points.

    Raises
    ------
    ValueError
        If a pair of points contradicts concavity, or the value or the supergradient is undefined at a point; the
        message names the points. Also if `measure` is none of the family, or a prior or the seed is out of range.
    """
    require(isinstance(measure, Concave), "measure must be a Concave measure", measure)
    points = _probe_points(random_generator(seed))
    for prior in as_vector(priors, "priors").tolist():
        check_prior(str(measure), prior)
        values = _oriented_values(measure, points, prior)
        inside = np.isfinite(values)
        slopes = np.array([_finite_supergradient(measure, P, N, prior) for P, N in points[inside]])
        _check_bounds(measure, prior, points, values, np.flatnonzero(inside), slopes)


def _probe_points(rng: np.random.Generator) -> Floats:
    """Random, tied, edge and corner points of [0, 1]^2, shape (m, 2)."""
    ties = np.repeat(rng.random((6, 1)), 2, axis=1)
    edges = rng.random((12, 2))
    edges[np.arange(12), np.arange(12) % 2] = np.arange(12) // 2 % 2
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    return np.concatenate([rng.random((40, 2)), ties, edges, corners])


def _oriented_values(measure: Concave, points: Floats, prior: float) -> Floats:
    try:
        values = np.asarray(measure.oriented(measure.value(points[:, 0], points[:, 1], prior)))
    except UNUSABLE as error:
        raise ValueError(f"{measure} needs a value on the whole of [0, 1]^2, but raised {error!r}.") from error
    unusable = np.isnan(values) | (values == np.inf)
    if np.any(unusable):
        P, N = points[np.argmax(unusable)]
        raise ValueError(
            f"{measure} needs a value at P={P:g}, N={N:g}, prior={prior:g}, "
            f"got {values[np.argmax(unusable)]}. Define it there by its limit."
        )
    return values


def _finite_supergradient(measure: Concave, P: float, N: float, prior: float) -> Pair:
    where = f"{measure} needs a finite supergradient at P={P:g}, N={N:g}, prior={prior:g}"
    try:
        slope = measure.supergradient(float(P), float(N), prior)
    except UNUSABLE as error:
        raise ValueError(f"{where}, but raised {error!r}. Choose a safe value there.") from error
    if not np.all(np.isfinite(slope)):
        raise ValueError(f"{where}, got {tuple(slope)}. Choose a safe value there.")
    return slope


def _check_bounds(
    measure: Concave,
    prior: float,
    points: Floats,
    values: Floats,
    inside: NDArray[np.intp],
    slopes: Floats,
) -> None:
    """Compare every value with the bounds set by `slopes`, the supergradients at the points indexed by `inside`."""
    steps = points[None, :, :] - points[inside][:, None, :]
    bounds = values[inside][:, None] + np.einsum("ik,ijk->ij", slopes, steps)
    on_boundary = np.any((points[inside] == 0.0) | (points[inside] == 1.0), axis=1)
    tolerance = np.where(on_boundary, BOUNDARY_TOLERANCE, INTERIOR_TOLERANCE)[:, None]
    excess = (values[None, :] - bounds) / np.maximum(1.0, np.abs(bounds)) - tolerance
    i, j = np.unravel_index(np.argmax(excess), excess.shape)
    if excess[i, j] > 0.0:
        raise ValueError(
            f"{measure} is not concave, or its supergradient is wrong, at prior {prior:g}: "
            f"the supergradient {slopes[i].tolist()} at (P, N) = {points[inside[i]].tolist()} allows at most "
            f"{bounds[i, j]:g} at {points[j].tolist()}, but the value there is {values[j]:g}. "
            "For an error, pass greater_is_better=False and the supergradient of minus its value; for a ratio of "
            "linear functions, as F-beta is, use measures.pseudolinear."
        )


def _check_name(name: str) -> None:
    require(isinstance(name, str) and bool(name), "a measure needs a name, a string that is not empty", name)
    # A report names measures by their texts, and lists those of the catalogue beside it.
    known = (*catalogue.FACTORIES, *catalogue.WITH_GROUPS_OR_CONSTRAINTS)
    require(name not in known, "a measure of your own needs a name that the catalogue does not have", name)


def _as_coefficients(name: str, coefficients: Coefficients) -> Triple | Callable[[float], Sequence[float]]:
    """Coefficients as a tuple, so that the measure can be hashed; functions as they are."""
    return coefficients if callable(coefficients) else _triple(name, coefficients)


def _triple(name: str, coefficients: Sequence[float]) -> Triple:
    try:
        constant, of_P, of_N = (float(number) for number in coefficients)
        usable = all(map(math.isfinite, (constant, of_P, of_N)))
    except (TypeError, ValueError, OverflowError):
        usable = False
    if not usable:
        raise ValueError(f"{name} needs three finite coefficients (constant, of P, of N), got {shown(coefficients)}.")
    return constant, of_P, of_N
