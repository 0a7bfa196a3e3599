"""The families of measures of K classes. A measure's family says which algorithm trains for it.

- `Concave` measures have a supergradient: DUPLE;
- `NestedConcave` measures are a concave function of two concave functions: DENIM, and DUPLE on the composite;
- `Pseudolinear` measures are a ratio of two linear functions of R: DAME with one level;
- `SumOfRatios` measures are a mean of such ratios: DAME with a level and a scale for each.
"""

# ruff: noqa: N803, N806 -- R, A and B are the names used by the formulas
from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from aesara_nondecomp.measures.multiclass.base import Cells, Matrix, MulticlassMeasure

__all__ = ["Concave", "NestedConcave", "Pseudolinear", "SumOfRatios"]


class Concave(MulticlassMeasure):
    """A measure that is concave in R once oriented so that larger is better: for DUPLE."""

    family = "concave"

    def drivers(self) -> tuple[str, ...]:
        return ("duple",)


class NestedConcave(Concave):
    """A measure Psi(zeta1(R), zeta2(R)) of concave functions, Psi non-decreasing: for DENIM and DUPLE."""

    family = "nested concave"

    def components(self, R: Matrix, cells: Cells, eps: float = 0.0) -> tuple[float, float]:
        """The components at R.

        Parameters
        ----------
        R : float64 array, shape (m, K)
            Conditional confusion matrix.
        cells : Cells
            The cells.
        eps : float, default 0.0
            Smoothing, as in `value`.

        Returns
        -------
        zeta1 : float
            First component.
        zeta2 : float
            Second component.
        """
        raise NotImplementedError

    def component_gains(self, R: Matrix, cells: Cells, eps: float = 0.0) -> tuple[Matrix, Matrix]:
        """Supergradients in R of both components.

        Parameters
        ----------
        R : float64 array, shape (m, K)
            Conditional confusion matrix.
        cells : Cells
            The cells.
        eps : float, default 0.0
            Smoothing, as in `value`.

        Returns
        -------
        alpha : float64 array, shape (m, K)
            Of zeta1.
        beta : float64 array, shape (m, K)
            Of zeta2.

        Raises
        ------
        ValueError
            If `needs_smoothing`, `eps` is 0 and a class is never predicted.
        """
        raise NotImplementedError

    def outer(self, x: float, y: float) -> float:
        """The outer function Psi: the value as a function of the components.

        Parameters
        ----------
        x : float
            Value of zeta1.
        y : float
            Value of zeta2.

        Returns
        -------
        float
            Larger is better.
        """
        raise NotImplementedError

    def outer_gradient(self, x: float, y: float) -> tuple[float, float]:
        """Supergradient of Psi.

        Parameters
        ----------
        x : float
            Value of zeta1.
        y : float
            Value of zeta2.

        Returns
        -------
        gamma1 : float
            Slope in x, at least 0.
        gamma2 : float
            Slope in y, at least 0.
        """
        raise NotImplementedError

    def drivers(self) -> tuple[str, ...]:
        return ("denim", "duple")

    def _value(self, R: Matrix, cells: Cells, eps: float) -> Any:
        return self.outer(*self.components(R, cells, eps))

    def _gains(self, R: Matrix, cells: Cells, eps: float) -> Matrix:
        gamma1, gamma2 = self.outer_gradient(*self.components(R, cells, eps))
        alpha, beta = self.component_gains(R, cells, eps)
        return gamma1 * alpha + gamma2 * beta


class _Ratio(MulticlassMeasure):
    """What DAME needs of a measure: levels at R, and the gains at given levels."""

    def levels(self, R: Matrix, cells: Cells) -> Matrix:
        """What DAME keeps between two refreshes: ratios, and for a sum of ratios the scales 1/D_k as a second row.

        Parameters
        ----------
        R : float64 array, shape (m, K)
            Conditional confusion matrix.
        cells : Cells
            The cells.

        Returns
        -------
        float64 array
            Of the shape that `level_gains` takes.
        """
        raise NotImplementedError

    def level_gains(self, levels: Any, cells: Cells) -> Matrix:
        """Gradient in R of the valuation N - v D at given levels.

        Parameters
        ----------
        levels : array of float
            As returned by `levels`.
        cells : Cells
            The cells.

        Returns
        -------
        float64 array, shape (m, K)
        """
        raise NotImplementedError

    def drivers(self) -> tuple[str, ...]:
        return ("dame",)


class Pseudolinear(_Ratio):
    """A measure (a0 + sum of A R) / (b0 + sum of B R), the denominator positive: for DAME."""

    family = "pseudolinear"

    def coefficients(self, cells: Cells) -> tuple[float, Matrix, float, Matrix]:
        """Coefficients of the numerator and of the denominator.

        Parameters
        ----------
        cells : Cells
            The cells.

        Returns
        -------
        a0 : float
            Constant of the numerator.
        A : float64 array, shape (m, K)
            Slopes of the numerator.
        b0 : float
            Constant of the denominator.
        B : float64 array, shape (m, K)
            Slopes of the denominator.
        """
        raise NotImplementedError

    def levels(self, R: Matrix, cells: Cells) -> Matrix:
        return np.asarray(_ratio(_last_coefficients(self, cells), R))

    def level_gains(self, levels: Any, cells: Cells) -> Matrix:
        _, A, _, B = _last_coefficients(self, cells)
        return np.asarray(A - levels * B)

    def _value(self, R: Matrix, cells: Cells, eps: float) -> Any:
        return _ratio(self.coefficients(cells), R)

    def _gains(self, R: Matrix, cells: Cells, eps: float) -> Matrix:
        a0, A, b0, B = self.coefficients(cells)
        denominator = b0 + np.vdot(B, R)
        return np.asarray((A - (a0 + np.vdot(A, R)) / denominator * B) / denominator)


class SumOfRatios(_Ratio):
    """A mean of ratios of linear functions of R, with positive denominators: for DAME with a level for each ratio.

    The gains are the gradient of the measure, so that a fixed point is a stationary point; but that the measure grows
    from one refresh to the next is not certain, as it is with one ratio.
    """

    family = "sum of ratios"

    def _gains(self, R: Matrix, cells: Cells, eps: float) -> Matrix:
        return self.level_gains(self.levels(R, cells), cells)


Coefficients = tuple[float, Matrix, float, Matrix]


@lru_cache(maxsize=4)
def _last_coefficients(measure: Pseudolinear, cells: Cells) -> Coefficients:
    """The coefficients, kept from one step to the next."""
    return measure.coefficients(cells)


def _ratio(coefficients: Coefficients, R: Matrix) -> Any:
    a0, A, b0, B = coefficients
    return (a0 + np.vdot(A, R)) / (b0 + np.vdot(B, R))
