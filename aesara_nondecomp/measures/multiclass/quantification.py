"""Errors of the predicted class shares q against the true ones p, and BAKLD, which adds the mean recall."""

# ruff: noqa: N803 -- R and C are the names used by the formulas
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aesara_nondecomp._checks import require
from aesara_nondecomp.measures._parameters import set_number
from aesara_nondecomp.measures.multiclass.base import Cells, Matrix
from aesara_nondecomp.measures.multiclass.families import Concave, NestedConcave
from aesara_nondecomp.measures.multiclass.recalls import PowerMean

__all__ = ["AE", "BAKLD", "EMD", "KLD", "RAE"]

_MEAN_RECALL = PowerMean(1.0)


class _OfShares(Concave):
    """An error of q that is convex in q."""

    greater_is_better = False

    def _slopes(self, q: Matrix, cells: Cells, eps: float) -> Matrix:
        """Slopes of minus the error in q (K,)."""
        raise NotImplementedError

    def _gains(self, R: Matrix, cells: Cells, eps: float) -> Matrix:
        return np.asarray(cells.shares[:, None] * self._slopes(cells.predicted(R), cells, eps))


@dataclass(frozen=True)
class KLD(_OfShares):
    """Kullback-Leibler divergence of q from p: the sum of s(p) ln(s(p) / s(q)), where s(x) = (x + eps) / (1 + K eps).

    Unsmoothed it is infinite where a class is never predicted. Source: docs/multiclass.md.
    """

    name = "kld"
    needs_smoothing = True

    def _value(self, R: Matrix, cells: Cells, eps: float) -> Any:
        p, q = _smoothed(cells.priors, eps), _smoothed(cells.predicted(R), eps)
        return max(0.0, float(np.where(p > 0, p * np.log(p / q), 0.0).sum()))  # below 0 by rounding only

    def _slopes(self, q: Matrix, cells: Cells, eps: float) -> Matrix:
        shares = q.tolist()
        require(
            min(shares) + eps > 0,
            "the KLD's supergradient needs every class predicted, or eps > 0 (1 / (2 n), n the number of rows)",
            shares,
        )
        return np.asarray(_smoothed(cells.priors, eps) / (q + eps))


@dataclass(frozen=True)
class AE(_OfShares):
    """Absolute error: the mean over the classes of abs(p - q).

    Source: docs/multiclass.md.
    """

    name = "ae"

    def _weights(self, cells: Cells, eps: float) -> Matrix:
        return np.full(cells.n_classes, 1.0 / cells.n_classes)

    def _value(self, R: Matrix, cells: Cells, eps: float) -> Any:
        return np.abs(cells.predicted(R) - cells.priors) @ self._weights(cells, eps)

    def _slopes(self, q: Matrix, cells: Cells, eps: float) -> Matrix:
        return -_sign(q - cells.priors) * self._weights(cells, eps)


@dataclass(frozen=True)
class RAE(AE):
    """Relative absolute error: the mean over the classes of abs(p - q) / (p + eps).

    Source: docs/multiclass.md.
    """

    name = "rae"

    def _weights(self, cells: Cells, eps: float) -> Matrix:
        return np.asarray(1.0 / (cells.n_classes * (cells.priors + eps)))


@dataclass(frozen=True)
class EMD(_OfShares):
    """Earth mover's distance of ordered classes: the sum over k < K of abs(Q_k - P_k), of cumulative shares.

    Source: docs/multiclass.md.
    """

    name = "emd"
    of_order = True

    def _value(self, R: Matrix, cells: Cells, eps: float) -> Any:
        return np.abs(np.cumsum(cells.predicted(R) - cells.priors)[:-1]).sum()

    def _slopes(self, q: Matrix, cells: Cells, eps: float) -> Matrix:
        signs = _sign(np.cumsum(q - cells.priors))
        signs[-1] = 0.0  # both cumulative shares are 1 there
        return np.asarray(-np.cumsum(signs[::-1])[::-1])


@dataclass(frozen=True)
class BAKLD(NestedConcave):
    """BAKLD: C times the mean recall minus (1 - C) KLD.

    Parameters
    ----------
    C : float, default 0.5
        Weight of the mean recall, in [0, 1].

    Raises
    ------
    ValueError
        If `C` is not a finite number in its range.

    Notes
    -----
    Source: docs/multiclass.md.
    """

    C: float = 0.5
    name = "bakld"
    needs_smoothing = True
    needs_every_cell = True

    def __post_init__(self) -> None:
        set_number(self, "C", at_least=0.0, at_most=1.0)

    def components(self, R: Matrix, cells: Cells, eps: float = 0.0) -> tuple[float, float]:
        with np.errstate(divide="ignore"):
            return float(_MEAN_RECALL.of(cells.recalls(R))), -float(KLD()._value(R, cells, eps))

    def component_gains(self, R: Matrix, cells: Cells, eps: float = 0.0) -> tuple[Matrix, Matrix]:
        # With all weight on the recalls the KLD has no influence, so it needs no gradient either.
        of_kld = np.zeros_like(R) if self.C == 1.0 else KLD()._gains(R, cells, eps)
        return _MEAN_RECALL._gains(R, cells, eps), of_kld

    def outer(self, x: float, y: float) -> float:
        return x if self.C == 1.0 else self.C * x + (1.0 - self.C) * y

    def outer_gradient(self, x: float, y: float) -> tuple[float, float]:
        return self.C, 1.0 - self.C


def _smoothed(shares: Matrix, eps: float) -> Matrix:
    """(x + eps) / (1 + K eps): with eps = 1/(2n), half a row added to each class."""
    return np.asarray((shares + eps) / (1.0 + shares.size * eps))


def _sign(gap: Matrix) -> Matrix:
    """The sign of a gap between shares, 0 where it is rounding alone."""
    return np.where(np.abs(gap) < 1e-12, 0.0, np.sign(gap))
