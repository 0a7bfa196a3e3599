"""Measures written by the user, and the check that a measure is concave.

A user's measure is given by functions of (P, N, prior) on plain floats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Callable, Union

import numpy as np

from aesara_nondecomp.measures.base import Concave, Pair, Pseudolinear, Triple

Coefficients = Union[Sequence[float], Callable[[float], Sequence[float]]]

CHECKED_PRIORS = (0.01, 0.3, 0.5, 0.9)

# What a formula raises where it is not defined, math.sqrt's ValueError too, or where it gives no numbers.
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
    value : callable (P, N, prior) -> float
        The measure, on floats; define it on the whole of [0, 1]^2, by its limit where the formula reads 0/0.
    supergradient : callable (P, N, prior) -> (alpha, beta)
        A finite supergradient of `value`, or of ``-value`` if smaller is better.
    greater_is_better : bool
        False for an error, which must then be convex.

    Returns
    -------
    Concave
        Its count form goes by way of the rates: NaN if a class is missing.

    Raises
    ------
    ValueError
        If random and boundary points show that it is not concave; see `check_concave`.
    TypeError
        If `name` is not a string, or empty, or `value` or `supergradient` is no function.
    """
    _check_name(name)
    if not (callable(value) and callable(supergradient)):
        raise TypeError(f"concave({name!r}, ...) needs value and supergradient to be functions of (P, N, prior).")
    measure = UserConcave(name, value, supergradient, greater_is_better)
    check_concave(measure)
    return measure


def pseudolinear(name: str, a: Coefficients, b: Coefficients) -> Pseudolinear:
    """A pseudolinear measure (a0 + a1 P + a2 N) / (b0 + b1 P + b2 N) of your own, for DAME; larger is better.

    Parameters
    ----------
    name : str
    a, b : 3 floats, or callable prior -> 3 floats
        Their common scale leaves the measure unchanged but multiplies DAME's step.

    Raises
    ------
    ValueError
        If a or b is not three finite numbers, or the denominator is not positive everywhere on [0, 1]^2.
    TypeError
        If `name` is not a string, or empty.
    """
    _check_name(name)
    measure = UserPseudolinear(name, _as_coefficients(name, a), _as_coefficients(name, b))
    for prior in CHECKED_PRIORS:
        measure.coefficients(prior)
    return measure


@dataclass(frozen=True)
class UserConcave(Concave):
    """See `concave`."""

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
    """See `pseudolinear`."""

    name: str
    a: Triple | Callable[[float], Sequence[float]] = field(repr=False)
    b: Triple | Callable[[float], Sequence[float]] = field(repr=False)

    def range(self, prior: float) -> Pair:
        corners = [float(self.value(P, N, prior)) for P in (0.0, 1.0) for N in (0.0, 1.0)]
        return min(corners), max(corners)

    def coefficients(self, prior: float) -> tuple[Triple, Triple]:
        """(a, b) at this prior.

        Raises
        ------
        ValueError
            If the denominator is not positive everywhere on [0, 1]^2, or a or b is not three finite numbers.
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

    At random, tied (P = N) and boundary points of [0, 1]^2 no value may exceed what the supergradient at
    another point allows: value(y) <= value(x) + supergradient(x) . (y - x), oriented so that larger is
    better. Points where the value is -inf are outside the measure's domain and bound nothing.

    Parameters
    ----------
    measure : Concave
    priors : sequence of float in (0, 1)
    seed : int
        Of the random points.

    Raises
    ------
    ValueError
        Naming the two points that contradict concavity most, or a point where the value or supergradient is
        not usable.
    """
    points = _probe_points(np.random.default_rng(seed))
    for prior in priors:
        values = _oriented_values(measure, points, prior)
        inside = np.isfinite(values)
        slopes = np.array([_finite_supergradient(measure, P, N, prior) for P, N in points[inside]])
        _check_bounds(measure, prior, points, values, np.flatnonzero(inside), slopes)


def _probe_points(rng: np.random.Generator) -> np.ndarray:
    """Random, tied, edge and corner points of [0, 1]^2, shape (m, 2)."""
    ties = np.repeat(rng.random((6, 1)), 2, axis=1)
    edges = rng.random((12, 2))
    edges[np.arange(12), np.arange(12) % 2] = np.arange(12) // 2 % 2
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    return np.concatenate([rng.random((40, 2)), ties, edges, corners])


def _oriented_values(measure: Concave, points: np.ndarray, prior: float) -> np.ndarray:
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
    points: np.ndarray,
    values: np.ndarray,
    inside: np.ndarray,
    slopes: np.ndarray,
) -> None:
    """Compare every value with the bounds set by `slopes`, the supergradients at the points `inside`."""
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
            "For an error, pass greater_is_better=False and the supergradient of minus its value."
        )


def _check_name(name: str) -> None:
    if not (isinstance(name, str) and name):
        raise TypeError(f"A measure needs a name, a string that is not empty, got {name!r}.")


def _as_coefficients(name: str, coefficients: Coefficients) -> Triple | Callable[[float], Sequence[float]]:
    """A tuple, so that the measure can be hashed; functions are kept."""
    return coefficients if callable(coefficients) else _triple(name, coefficients)


def _triple(name: str, coefficients: Sequence[float]) -> Triple:
    try:
        constant, of_P, of_N = (float(number) for number in coefficients)
        usable = all(map(math.isfinite, (constant, of_P, of_N)))
    except (TypeError, ValueError):
        usable = False
    if not usable:
        raise ValueError(f"{name} needs three finite coefficients (constant, of P, of N), got {coefficients!r}.")
    return constant, of_P, of_N
