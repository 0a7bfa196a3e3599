"""Measures that combine classification and quantification.

Two kinds: concave functions of a classification and a quantification measure (DENIM), and ratios of the two (DAME with
a concave valuation).

Source: docs/algorithms.md 2.5 and 2.6.
"""

# ruff: noqa: N803, N806 -- TP, FN, FP, TN and B = beta^2 are the names used by the formulas
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from aesara_nondecomp._numeric import plain
from aesara_nondecomp.measures._formulas import kl_divergence, kl_divergence_of_counts, negated_divergence_gradient
from aesara_nondecomp.measures._parameters import BETAS, name_raw, set_number
from aesara_nondecomp.measures.base import Pair
from aesara_nondecomp.measures.classification import BalancedAccuracy
from aesara_nondecomp.measures.families import NestedConcave, PseudoConcave
from aesara_nondecomp.measures.quantification import KLD, NAS, NSS

__all__ = ["BAKLD", "BKReward", "CQReward", "QMeasure", "QMeasureBarranquero"]

_BALANCED_ACCURACY = BalancedAccuracy()
_KLD = KLD()


def _weighted_harmonic_mean(x: Any, y: Any, B: float) -> Any:
    """(1+B) x y / (B x + y); 0 where x and y are 0."""
    denominator = B * x + y
    return np.where(denominator == 0.0, 0.0, (1.0 + B) * x * y / denominator)


class _HarmonicPair(NestedConcave):
    """The F_beta-like mean of a classification and a quantification measure; `beta` weights the latter."""

    beta: float

    def outer(self, x: Any, y: Any, prior: float, eps: float = 0.0) -> Any:
        with np.errstate(invalid="ignore"):
            return plain(_weighted_harmonic_mean(np.asarray(x), np.asarray(y), self.beta**2))

    def outer_gradient(self, x: float, y: float, prior: float, eps: float = 0.0) -> Pair:
        B = self.beta**2
        if B * x + y == 0.0:
            return 1.0 / (1.0 + B), B / (1.0 + B)
        return (1.0 + B) * (y / (B * x + y)) ** 2, (1.0 + B) * B * (x / (B * x + y)) ** 2


@dataclass(frozen=True)
class QMeasure(_HarmonicPair):
    """Q-measure: (1+B) BA NSS / (B BA + NSS), where B = beta^2.

    Parameters
    ----------
    beta : float, default 1.0
        In [1e-4, 1e6]. Above 1 it favours the quantification measure NSS, below 1 the balanced accuracy BA.
    raw : bool, default False
        Use the unnormalised NSS ("qmeasure_raw").

    Raises
    ------
    ValueError
        If `beta` is not a finite number in its range.

    Notes
    -----
    Source: docs/algorithms.md 2.5.
    """

    beta: float = 1.0
    raw: bool = False
    name = "qmeasure"

    def __post_init__(self) -> None:
        set_number(self, "beta", **BETAS)
        name_raw(self)

    def components(self, P: Any, N: Any, prior: float, eps: float = 0.0) -> tuple[Any, Any]:
        return 0.5 * (P + N), NSS(self.raw).value(P, N, prior)

    def component_gradients(self, P: float, N: float, prior: float, eps: float = 0.0) -> tuple[Pair, Pair]:
        return (0.5, 0.5), NSS(self.raw).supergradient(P, N, prior)

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        return _weighted_harmonic_mean(
            _BALANCED_ACCURACY.from_counts(TP, FN, FP, TN),
            NSS(self.raw).from_counts(TP, FN, FP, TN),
            self.beta**2,
        )


@dataclass(frozen=True)
class QMeasureBarranquero(_HarmonicPair):
    """Q-measure as Barranquero et al. define it: recall in place of BA, NAS in place of NSS.

    Parameters
    ----------
    beta : float, default 1.0
        In [1e-4, 1e6]. Above 1 it favours the quantification measure NAS, below 1 recall.

    Raises
    ------
    ValueError
        If `beta` is not a finite number in its range.

    Notes
    -----
    Source: docs/algorithms.md 2.5.
    """

    beta: float = 1.0
    name = "qmeasure_barranquero"

    def __post_init__(self) -> None:
        set_number(self, "beta", **BETAS)

    def components(self, P: Any, N: Any, prior: float, eps: float = 0.0) -> tuple[Any, Any]:
        return P, NAS().value(P, N, prior)

    def component_gradients(self, P: float, N: float, prior: float, eps: float = 0.0) -> tuple[Pair, Pair]:
        return (1.0, 0.0), NAS().supergradient(P, N, prior)

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        return _weighted_harmonic_mean(TP / (TP + FN), NAS().from_counts(TP, FN, FP, TN), self.beta**2)


@dataclass(frozen=True)
class BAKLD(NestedConcave):
    """BAKLD: C BA - (1-C) KLD.

    Parameters
    ----------
    C : float, default 0.5
        Weight of the balanced accuracy, in [0, 1]. For C < 1, where a class is never predicted, the unsmoothed value
        is -inf and `supergradient` raises ValueError.

    Raises
    ------
    ValueError
        If `C` is not a finite number in its range.

    Notes
    -----
    Source: docs/algorithms.md 2.5.
    """

    C: float = 0.5
    name = "bakld"
    needs_smoothing = True
    affine_in_tp = True

    def __post_init__(self) -> None:
        set_number(self, "C", at_least=0.0, at_most=1.0)

    def range(self, prior: float) -> Pair:
        return (0.0, 1.0) if self.C == 1.0 else (-math.inf, self.C)

    def components(self, P: Any, N: Any, prior: float, eps: float = 0.0) -> tuple[Any, Any]:
        return 0.5 * (P + N), -_KLD.value(P, N, prior, eps)

    def component_gradients(self, P: float, N: float, prior: float, eps: float = 0.0) -> tuple[Pair, Pair]:
        # With all weight on the balanced accuracy the KLD has no influence, so it needs no gradient either.
        return (0.5, 0.5), (0.0, 0.0) if self.C == 1.0 else negated_divergence_gradient(P, N, prior, eps)

    def outer(self, x: Any, y: Any, prior: float, eps: float = 0.0) -> Any:
        return x if self.C == 1.0 else self.C * x + (1.0 - self.C) * y

    def outer_gradient(self, x: float, y: float, prior: float, eps: float = 0.0) -> Pair:
        return self.C, 1.0 - self.C

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        accuracy = _BALANCED_ACCURACY.from_counts(TP, FN, FP, TN)
        return self.outer(accuracy, -kl_divergence_of_counts(TP, FN, FP, TN, smoothed), prior=0.5)


@dataclass(frozen=True)
class CQReward(PseudoConcave):
    """CQ-reward: BA / (2 - NSS).

    Parameters
    ----------
    raw : bool, default False
        Use the unnormalised NSS ("cqreward_raw").

    Notes
    -----
    Source: docs/algorithms.md 2.6.
    """

    raw: bool = False
    name = "cqreward"
    affine_in_tp = True

    def __post_init__(self) -> None:
        name_raw(self)

    def valuation_weights(self, P: float, N: float, v: float, prior: float, eps: float = 0.0) -> Pair:
        quantification = NSS(self.raw).supergradient(P, N, prior)
        return 0.5 + v * quantification[0], 0.5 + v * quantification[1]

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:
        return 0.5 * (P + N) / (2.0 - NSS(self.raw).value(P, N, prior))

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        accuracy = _BALANCED_ACCURACY.from_counts(TP, FN, FP, TN)
        return accuracy / (2.0 - NSS(self.raw).from_counts(TP, FN, FP, TN))


@dataclass(frozen=True)
class BKReward(PseudoConcave):
    """BK-reward: BA / (1 + KLD).

    Where a class is never predicted, the unsmoothed value is 0 and `valuation_weights` raises ValueError.

    Source: docs/algorithms.md 2.6.
    """

    name = "bkreward"
    needs_smoothing = True
    affine_in_tp = True

    def valuation_weights(self, P: float, N: float, v: float, prior: float, eps: float = 0.0) -> Pair:
        quantification = negated_divergence_gradient(P, N, prior, eps)
        return 0.5 + v * quantification[0], 0.5 + v * quantification[1]

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:
        return 0.5 * (P + N) / (1.0 + kl_divergence(P, N, prior, eps))

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        accuracy = _BALANCED_ACCURACY.from_counts(TP, FN, FP, TN)
        return accuracy / (1.0 + kl_divergence_of_counts(TP, FN, FP, TN, smoothed))
