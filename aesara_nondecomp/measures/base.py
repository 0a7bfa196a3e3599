"""The families of measures, and what every measure can do.

A measure is a function of the true positive rate ``P`` and the true negative rate ``N`` of a classifier,
given the proportion of positives, the ``prior``. Its family says which algorithm can train for it:

- `Concave` measures have a supergradient: DUPLE;
- `NestedConcave` measures are a concave function of two concave functions: DENIM, and DUPLE on the composite;
- `Pseudolinear` measures are a ratio of two affine functions: DAME;
- `PseudoConcave` measures are a concave over a convex function: DAME with a concave valuation.

Everything here is plain numbers. Training evaluates a measure and its supergradient between two compiled
steps, so closed forms are exact, cheap, and safe at the points where symbolic differentiation gives NaN.

Source: the specification, sections 1 to 3.2.
"""

# ruff: noqa: N803, N806 -- TP, FN, FP, TN are the names used by the formulas
from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from numbers import Real
from typing import Any, Union

import numpy as np

Values = Union[float, np.ndarray]
Pair = tuple[float, float]
Triple = tuple[float, float, float]


class Measure:
    """A measure of a binary classifier's quality, or of its error.

    Measures are immutable; two are equal when their class and parameters are. ``str(measure)`` is a short
    label such as ``"fbeta(beta=2)"``.

    Attributes
    ----------
    name : str
        Name in the catalogue.
    family : str
        "concave", "nested concave", "pseudolinear", "pseudo-concave" or "report only".
    greater_is_better : bool
        False for errors such as "kld", whose value is 0 when all is well.
    hint : str
        For a measure that no algorithm can train for: what to do instead.
    needs_smoothing : bool
        Whether training steps on counts need eps > 0: the KLD-like measures, infinite where a class is never predicted.
    takes_floats : bool
        Whether the formula behind `value` holds for plain floats too, so that drivers, which ask between two steps,
        need not go through arrays: five times as fast.
    """

    name: str
    family: str = "report only"
    greater_is_better: bool = True
    hint: str = ""
    needs_smoothing: bool = False
    takes_floats: bool = False

    def value(self, P: Values, N: Values, prior: float, eps: float = 0.0) -> Values:
        """The measure's value in its own orientation.

        Parameters
        ----------
        P, N : float or array of float, in [0, 1]
            True positive rate and true negative rate, of counts or of a reward.
        prior : float in (0, 1)
            Proportion of positives of the set that `P` and `N` were measured on.
        eps : float, >= 0
            Smoothing of proportions in the KLD-like measures and in "rae": 0 for none, 1/(2n) for a set of n
            points (spec 2.4). Other measures ignore it.

        Returns
        -------
        float, or array of the common shape of `P` and `N`. An unsmoothed KLD is infinite where a class is
        never predicted.

        Raises
        ------
        ValueError
            If `prior` is not strictly between 0 and 1.
        """
        check_prior(self.name, prior)
        if self.takes_floats and isinstance(P, float) and isinstance(N, float):
            return float(self._value(P, N, prior, eps))
        with np.errstate(all="ignore"):
            return plain(self._value(np.asarray(P, dtype=float), np.asarray(N, dtype=float), prior, eps))

    def from_counts(self, TP: Values, FN: Values, FP: Values, TN: Values, smoothed: bool = True) -> Values:
        """The measure's value from the counts of a confusion table, by a formula in the counts themselves.

        Parameters
        ----------
        TP, FN, FP, TN : float or array, >= 0
            Counts; arrays are treated entry by entry.
        smoothed : bool
            Whether the KLD-like measures and "rae" smooth proportions with eps = 1/(2n), n = TP + FN + FP +
            TN, that is, add half an item to each count (spec 2.4). Quote that eps beside such a number.

        Returns
        -------
        float or array. NaN where the measure is undefined: the formula reads 0/0 or needs the rate of a class
        that has no members (spec 1.4).

        Raises
        ------
        ValueError
            If a count is negative.
        """
        counts: list[Any] = [np.asarray(count, dtype=float) for count in (TP, FN, FP, TN)]
        if any(np.any(count < 0) for count in counts):
            raise ValueError(f"{self.name} needs counts of at least 0, got TP={TP}, FN={FN}, FP={FP}, TN={TN}.")
        with np.errstate(all="ignore"):
            values = self._from_counts(*counts, smoothed=smoothed)
        return plain(np.where(sum(counts) > 0, values, np.nan))

    def oriented(self, value: Values) -> Values:
        """`value` with the sign that makes larger better."""
        return value if self.greater_is_better else -value

    def range(self, prior: float) -> Pair:
        """Lowest and highest value on [0, 1]^2, unsmoothed; either may be infinite."""
        return 0.0, 1.0

    def perfect(self, prior: float) -> float:
        """Value of a classifier that makes no mistake."""
        return float(self.value(1.0, 1.0, prior))

    def all_positive(self, prior: float, eps: float = 0.0) -> float:
        """Value of the trivial classifier that predicts every point positive."""
        return float(self.value(1.0, 0.0, prior, eps))

    def all_negative(self, prior: float, eps: float = 0.0) -> float:
        """Value of the trivial classifier that predicts every point negative."""
        return float(self.value(0.0, 1.0, prior, eps))

    def trivial(self, prior: float, eps: float = 0.0) -> float:
        """Value of the better of the two trivial classifiers: the floor to report beside a result."""
        best = max if self.greater_is_better else min
        return best(self.all_positive(prior, eps), self.all_negative(prior, eps))

    def drivers(self) -> tuple[str, ...]:
        """Algorithms that can train for this measure, best first; empty if none can (spec 2.7)."""
        return ()

    def require_driver(self, driver: str) -> None:
        """Refuse an algorithm that cannot train for this measure.

        Raises
        ------
        ValueError
            If `driver` is not among `drivers`; the message says what to use instead.
        """
        if driver in self.drivers():
            return
        served_by = " or ".join(repr(name) for name in self.drivers())
        remedy = self.hint or (f"Use {served_by}." if served_by else "It can only be reported.")
        raise ValueError(f"{driver!r} cannot train for {self}, which is {self.family}. {remedy}")

    def __str__(self) -> str:
        parameters: tuple[Any, ...] = fields(self) if is_dataclass(self) else ()
        settings = [(parameter, getattr(self, parameter.name)) for parameter in parameters]
        shown = [
            f"{parameter.name}={setting:g}"
            for parameter, setting in settings
            if isinstance(setting, float) and setting != parameter.default
        ]
        return f"{self.name}({', '.join(shown)})" if shown else self.name

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:
        """The formula behind `value`; runs on float arrays, with floating-point warnings off, or see `takes_floats`."""
        raise NotImplementedError

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        """The formula behind `from_counts`; by default by way of the rates, unsmoothed."""
        TP, FN, FP, TN = np.broadcast_arrays(TP, FN, FP, TN)
        P, N, prior = TP / (TP + FN), TN / (TN + FP), np.asarray((TP + FN) / (TP + FN + FP + TN))
        values = np.full(prior.shape, np.nan)
        # A threshold sweep has one prior throughout, so this is one call, not one per table.
        for one_prior in np.unique(prior[(prior > 0) & (prior < 1)]):
            rows = prior == one_prior
            values[rows] = self._value(P[rows], N[rows], float(one_prior), 0.0)
        return values


class Concave(Measure):
    """A measure that is concave in (P, N) once oriented so that larger is better: DUPLE trains for it."""

    family = "concave"

    def supergradient(self, P: float, N: float, prior: float, eps: float = 0.0) -> Pair:
        """A supergradient (alpha, beta) of the oriented value at (P, N): the exact dual step (spec 3.1).

        Where the value is not differentiable this is the safe choice of spec 2: finite, and not one that
        stops training for ever.

        Parameters
        ----------
        P, N : float, in [0, 1]
        prior : float in (0, 1)
        eps : float, >= 0
            Smoothing, as in `value`.

        Returns
        -------
        alpha, beta : float
            ``oriented(value(u, v)) <= oriented(value(P, N)) + alpha (u - P) + beta (v - N)`` for all (u, v).

        Raises
        ------
        ValueError
            If `needs_smoothing`, `eps` is 0 and a class is never predicted, where there is none.
        """
        raise NotImplementedError

    def drivers(self) -> tuple[str, ...]:
        return ("duple",)


class NestedConcave(Concave):
    """A measure Psi(zeta1(P, N), zeta2(P, N)).

    All three functions are concave and Psi is non-decreasing, which makes the composite concave.
    DENIM keeps duals of Psi and of both components; DUPLE on the composite is correct as well. With a linear
    Psi both visit the same weights (spec 2.5).
    """

    family = "nested concave"

    def components(self, P: Values, N: Values, prior: float, eps: float = 0.0) -> tuple[Any, Any]:
        """(zeta1, zeta2) at (P, N)."""
        raise NotImplementedError

    def component_gradients(self, P: float, N: float, prior: float, eps: float = 0.0) -> tuple[Pair, Pair]:
        """Supergradients in (P, N) of zeta1 and of zeta2: DENIM's alpha and beta."""
        raise NotImplementedError

    def outer(self, x: Values, y: Values, prior: float, eps: float = 0.0) -> Values:
        """Psi(x, y), the oriented value as a function of the components."""
        raise NotImplementedError

    def outer_gradient(self, x: float, y: float, prior: float, eps: float = 0.0) -> Pair:
        """A supergradient of Psi at (x, y), both entries >= 0: DENIM's gamma."""
        raise NotImplementedError

    def supergradient(self, P: float, N: float, prior: float, eps: float = 0.0) -> Pair:
        """The chain rule: gamma1 grad zeta1 + gamma2 grad zeta2, with gamma taken at (zeta1, zeta2)(P, N)."""
        gamma1, gamma2 = self.outer_gradient(*self.components(P, N, prior, eps), prior, eps)
        alpha, beta = self.component_gradients(P, N, prior, eps)
        return gamma1 * alpha[0] + gamma2 * beta[0], gamma1 * alpha[1] + gamma2 * beta[1]

    def drivers(self) -> tuple[str, ...]:
        return ("denim", "duple")

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:
        return self.oriented(self.outer(*self.components(P, N, prior, eps), prior, eps))


class Pseudolinear(Measure):
    """A measure (a0 + a1 P + a2 N) / (b0 + b1 P + b2 N), denominator positive on [0, 1]^2: for DAME."""

    family = "pseudolinear"
    takes_floats = True

    def coefficients(self, prior: float) -> tuple[Triple, Triple]:
        """(a, b), scaled as in the table of spec 2.2.

        The scale leaves the measure unchanged, but multiplies the valuation and therefore DAME's step.
        """
        raise NotImplementedError

    def valuation_weights(self, P: float, N: float, v: float, prior: float, eps: float = 0.0) -> Pair:
        """(a1 - v b1, a2 - v b2): the gradient of the valuation V = Pa - v Pb at level `v` (spec 3.5)."""
        (_, a1, a2), (_, b1, b2) = self.coefficients(prior)
        return a1 - v * b1, a2 - v * b2

    def drivers(self) -> tuple[str, ...]:
        return ("dame",)

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:
        (a0, a1, a2), (b0, b1, b2) = self.coefficients(prior)
        return (a0 + a1 * P + a2 * N) / (b0 + b1 * P + b2 * N)


class PseudoConcave(Measure):
    """A measure Pclass / Pquant, concave >= 0 over convex > 0: for DAME, with a concave valuation (2.6)."""

    family = "pseudo-concave"
    takes_floats = True

    def valuation_weights(self, P: float, N: float, v: float, prior: float, eps: float = 0.0) -> Pair:
        """A supergradient at (P, N) of the valuation V = Pclass - v Pquant, which is concave for `v` >= 0.

        Raises
        ------
        ValueError
            If `needs_smoothing`, `eps` is 0 and a class is never predicted.
        """
        raise NotImplementedError

    def drivers(self) -> tuple[str, ...]:
        return ("dame",)


def plain(values: Any) -> Values:
    """`values` as a Python float if it holds a single number, else as an array."""
    array = np.asarray(values, dtype=float)
    return float(array) if array.ndim == 0 else array


def check_prior(name: str, prior: float) -> None:
    """Refuse a prior that leaves a class empty."""
    if not 0.0 < prior < 1.0:
        raise ValueError(
            f"{name} needs both classes: the prior must lie strictly between 0 and 1, got {prior!r}. "
            "Check that the labels hold positives and negatives."
        )


LARGEST_BETA = 1e6  # its square is computed with


def set_number(
    measure: Any, field: str, above: float = -math.inf, at_least: float = -math.inf, at_most: float = math.inf
) -> None:
    """Check a dataclass parameter of a frozen measure against its interval and store it as a float."""
    given = getattr(measure, field)
    number = float(given) if isinstance(given, Real) and not isinstance(given, bool) else math.nan
    if not (math.isfinite(number) and above < number and at_least <= number <= at_most):
        limits = {"above": above, "at least": at_least, "at most": at_most}
        need = " and ".join(f"{words} {limit:g}" for words, limit in limits.items() if math.isfinite(limit))
        raise ValueError(f"{measure.name} needs a finite {field} {need}, got {given!r}.")
    object.__setattr__(measure, field, number)
