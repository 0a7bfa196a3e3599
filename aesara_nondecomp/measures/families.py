"""The families of measures. A measure's family says which algorithm trains for it.

- `Concave` measures have a supergradient: DUPLE;
- `NestedConcave` measures are a concave function of two concave functions: DENIM, and DUPLE on the composite;
- `Pseudolinear` measures are a ratio of two affine functions: DAME;
- `PseudoConcave` measures are a concave over a convex function: DAME with a concave valuation.

Source: docs/algorithms.md 2 to 3.2.
"""

# ruff: noqa: N803, N806 -- the names used by the formulas
from __future__ import annotations

from typing import Any

from aesara_nondecomp.measures.base import Measure, Pair, Values

__all__ = ["Concave", "NestedConcave", "PseudoConcave", "Pseudolinear"]

Triple = tuple[float, float, float]


class Concave(Measure):
    """A measure that is concave in (P, N) once oriented so that larger is better: for DUPLE."""

    family = "concave"

    def supergradient(self, P: float, N: float, prior: float, eps: float = 0.0) -> Pair:
        """Supergradient of the oriented value at (P, N): the exact dual step (docs/algorithms.md 3.1).

        Where the value is not differentiable this is the safe choice of docs/algorithms.md 2: finite, and not one that
        stops training for ever.

        Parameters
        ----------
        P : float
            True positive rate, in [0, 1].
        N : float
            True negative rate, in [0, 1].
        prior : float
            Fraction of positives, in (0, 1).
        eps : float, default 0.0
            Smoothing, as in `value`.

        Returns
        -------
        alpha : float
            Slope in P.
        beta : float
            Slope in N. For all (u, v), ``oriented(value(u, v))`` is at most
            ``oriented(value(P, N)) + alpha (u - P) + beta (v - N)``.

        Raises
        ------
        ValueError
            If `needs_smoothing`, `eps` is 0 and a class is never predicted: no supergradient exists there.
        """
        raise NotImplementedError

    def drivers(self) -> tuple[str, ...]:
        return ("duple",)


class NestedConcave(Concave):
    """A measure Psi(zeta1(P, N), zeta2(P, N)): for DENIM and DUPLE.

    All three functions are concave and Psi is non-decreasing, which makes the composite concave. DENIM keeps duals of
    Psi and of both components; DUPLE on the composite is correct as well. With a linear Psi both visit the same weights
    (docs/algorithms.md 2.5).
    """

    family = "nested concave"

    def components(self, P: Values, N: Values, prior: float, eps: float = 0.0) -> tuple[Any, Any]:
        """The components (zeta1, zeta2) at (P, N).

        Parameters
        ----------
        P : float or array of float
            True positive rate, in [0, 1].
        N : float or array of float
            True negative rate, in [0, 1].
        prior : float
            Fraction of positives, in (0, 1).
        eps : float, default 0.0
            Smoothing, as in `value`.

        Returns
        -------
        zeta1 : float or array of float
            First component.
        zeta2 : float or array of float
            Second component.
        """
        raise NotImplementedError

    def component_gradients(self, P: float, N: float, prior: float, eps: float = 0.0) -> tuple[Pair, Pair]:
        """Supergradients in (P, N) of both components: DENIM's alpha and beta.

        Parameters
        ----------
        P : float
            True positive rate, in [0, 1].
        N : float
            True negative rate, in [0, 1].
        prior : float
            Fraction of positives, in (0, 1).
        eps : float, default 0.0
            Smoothing, as in `value`.

        Returns
        -------
        alpha : pair of float
            Supergradient of zeta1.
        beta : pair of float
            Supergradient of zeta2.

        Raises
        ------
        ValueError
            If `needs_smoothing`, `eps` is 0 and a class is never predicted.
        """
        raise NotImplementedError

    def outer(self, x: Values, y: Values, prior: float, eps: float = 0.0) -> Values:
        """The outer function Psi(x, y): the oriented value as a function of the components.

        Parameters
        ----------
        x : float or array of float
            Value of zeta1.
        y : float or array of float
            Value of zeta2.
        prior : float
            Fraction of positives, in (0, 1).
        eps : float, default 0.0
            Smoothing, as in `value`.

        Returns
        -------
        float or array of float
            Larger is better.
        """
        raise NotImplementedError

    def outer_gradient(self, x: float, y: float, prior: float, eps: float = 0.0) -> Pair:
        """Supergradient of Psi at (x, y): DENIM's gamma.

        Parameters
        ----------
        x : float
            Value of zeta1.
        y : float
            Value of zeta2.
        prior : float
            Fraction of positives, in (0, 1).
        eps : float, default 0.0
            Smoothing, as in `value`.

        Returns
        -------
        gamma1 : float
            Slope in x, at least 0.
        gamma2 : float
            Slope in y, at least 0.
        """
        raise NotImplementedError

    def supergradient(self, P: float, N: float, prior: float, eps: float = 0.0) -> Pair:
        # The chain rule, with gamma taken at (zeta1, zeta2)(P, N).
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
        """Coefficients of the numerator and of the denominator, scaled as in docs/algorithms.md 2.2.

        Their common scale leaves the measure unchanged, but multiplies the valuation and therefore DAME's step.

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
        """
        raise NotImplementedError

    def valuation_weights(self, P: float, N: float, v: float, prior: float, eps: float = 0.0) -> Pair:
        """Gradient (a1 - v b1, a2 - v b2) of the valuation V = Pa - v Pb (docs/algorithms.md 3.5).

        Parameters
        ----------
        P : float
            Not used, as the valuation is affine.
        N : float
            Not used.
        v : float
            Valuation level.
        prior : float
            Fraction of positives, in (0, 1).
        eps : float, default 0.0
            Not used.

        Returns
        -------
        of_P : float
            Slope in P.
        of_N : float
            Slope in N.
        """
        (_, a1, a2), (_, b1, b2) = self.coefficients(prior)
        return a1 - v * b1, a2 - v * b2

    def drivers(self) -> tuple[str, ...]:
        return ("dame",)

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:
        (a0, a1, a2), (b0, b1, b2) = self.coefficients(prior)
        return (a0 + a1 * P + a2 * N) / (b0 + b1 * P + b2 * N)


class PseudoConcave(Measure):
    """A measure Pclass / Pquant, concave >= 0 over convex > 0: for DAME with a concave valuation.

    Source: docs/algorithms.md 2.6.
    """

    family = "pseudo-concave"
    takes_floats = True

    def valuation_weights(self, P: float, N: float, v: float, prior: float, eps: float = 0.0) -> Pair:
        """Supergradient at (P, N) of the valuation V = Pclass - v Pquant.

        Parameters
        ----------
        P : float
            True positive rate, in [0, 1].
        N : float
            True negative rate, in [0, 1].
        v : float
            Valuation level, at least 0, where V is concave.
        prior : float
            Fraction of positives, in (0, 1).
        eps : float, default 0.0
            Smoothing, as in `value`.

        Returns
        -------
        of_P : float
            Slope in P.
        of_N : float
            Slope in N.

        Raises
        ------
        ValueError
            If `needs_smoothing`, `eps` is 0 and a class is never predicted.
        """
        raise NotImplementedError

    def drivers(self) -> tuple[str, ...]:
        return ("dame",)
