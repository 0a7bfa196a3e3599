"""Measures of classification: concave, pseudolinear, and one that can only be reported.

Each measure holds two formulas for the same number, one in (P, N) for training, one in counts for evaluation.

Source: docs/algorithms.md 2.1 to 2.3; the paper, table 1.
"""

# ruff: noqa: N803, N806 -- TP, FN, FP, TN and B = beta^2 are the names used by the formulas
from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aesara_nondecomp._numeric import sigmoid
from aesara_nondecomp.measures._parameters import BETAS, SIGMAS, set_number
from aesara_nondecomp.measures.base import Measure, Pair
from aesara_nondecomp.measures.families import Concave, Pseudolinear, Triple

__all__ = [
    "Accuracy", "BalancedAccuracy", "F1", "FBeta", "GMean", "GTPPR", "GowerLegendre", "HMean", "Jaccard", "Min",
    "QMean", "WeightedAccuracy",
]  # fmt: skip

# G-mean's gradient is unbounded near the axes; rates are raised to this floor before its formula is applied.
_RATE_FLOOR = 1e-6


@dataclass(frozen=True)
class Min(Concave):
    """The worse of the two rates: min(P, N).

    Parameters
    ----------
    tau : float, default 0.0
        Temperature, at least 0. At 0 the supergradient is exact. Above 0 it is that of a soft minimum, which moves
        smoothly from one class to the other; the value stays the exact minimum.

    Raises
    ------
    ValueError
        If `tau` is not a finite number in its range.

    Notes
    -----
    Source: docs/algorithms.md 2.1.
    """

    tau: float = 0.0
    name = "min"
    min_of_rates = True

    def __post_init__(self) -> None:
        set_number(self, "tau", at_least=0.0)

    def supergradient(self, P: float, N: float, prior: float, eps: float = 0.0) -> Pair:
        if P == N:
            return 0.5, 0.5
        alpha = sigmoid((N - P) / self.tau) if self.tau > 0.0 else float(P < N)
        return alpha, 1.0 - alpha

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:
        return np.minimum(P, N)

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        return np.minimum(TP / (TP + FN), TN / (TN + FP))


@dataclass(frozen=True)
class QMean(Concave):
    """Q-mean: 1 - sqrt(((1-P)^2 + (1-N)^2) / 2).

    At the apex P = N = 1 the supergradient is (1/2, 1/2), its limit along P = N; (0, 0) would be valid there too, but
    would stop training for ever.

    Source: docs/algorithms.md 2.1.
    """

    name = "qmean"

    def supergradient(self, P: float, N: float, prior: float, eps: float = 0.0) -> Pair:
        distance = math.sqrt(2.0) * math.hypot(1.0 - P, 1.0 - N)
        if distance == 0.0:
            return 0.5, 0.5
        return (1.0 - P) / distance, (1.0 - N) / distance

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:
        return 1.0 - np.hypot(1.0 - P, 1.0 - N) / math.sqrt(2.0)

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        return 1.0 - np.sqrt(((FN / (TP + FN)) ** 2 + (FP / (TN + FP)) ** 2) / 2.0)


@dataclass(frozen=True)
class HMean(Concave):
    """H-mean, the harmonic mean 2PN/(P+N) of the rates; 0 where both rates are 0.

    Source: docs/algorithms.md 2.1.
    """

    name = "hmean"

    def supergradient(self, P: float, N: float, prior: float, eps: float = 0.0) -> Pair:
        if P + N == 0.0:
            return 0.5, 0.5
        return 2.0 * (N / (P + N)) ** 2, 2.0 * (P / (P + N)) ** 2

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:
        return np.where(P + N == 0.0, 0.0, 2.0 * P * N / (P + N))

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        positives, negatives = TP + FN, TN + FP
        mean = 2.0 * TP * TN / (TP * negatives + TN * positives)
        return np.where((TP + TN == 0.0) & (positives * negatives > 0.0), 0.0, mean)


@dataclass(frozen=True)
class GMean(Concave):
    """G-mean, the geometric mean sqrt(P N) of the rates.

    On an axis away from the origin no supergradient exists. There, and within 1e-6 of it, the formula is applied to
    rates raised to 1e-6: large, finite, and pointing the right way.

    Source: docs/algorithms.md 2.1.
    """

    name = "gmean"

    def supergradient(self, P: float, N: float, prior: float, eps: float = 0.0) -> Pair:
        ratio = math.sqrt(max(N, _RATE_FLOOR) / max(P, _RATE_FLOOR))
        return 0.5 * ratio, 0.5 / ratio

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:
        return np.sqrt(P * N)

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        return np.sqrt(TP * TN / ((TP + FN) * (TN + FP)))


class _Linear(Concave, Pseudolinear):
    """c P + (1 - c) N: concave and pseudolinear at once. DUPLE's duals never change (docs/algorithms.md 2.1)."""

    family = "concave"
    affine_in_tp = True

    def positive_weight(self, prior: float) -> float:
        raise NotImplementedError

    def supergradient(self, P: float, N: float, prior: float, eps: float = 0.0) -> Pair:
        c = self.positive_weight(prior)
        return c, 1.0 - c

    def coefficients(self, prior: float) -> tuple[Triple, Triple]:
        c = self.positive_weight(prior)
        return (0.0, c, 1.0 - c), (1.0, 0.0, 0.0)

    def drivers(self) -> tuple[str, ...]:
        return "duple", "dame"


@dataclass(frozen=True)
class BalancedAccuracy(_Linear):
    """Balanced accuracy (P+N)/2, also called AM.

    Source: docs/algorithms.md 2.1.
    """

    name = "balanced_accuracy"

    def positive_weight(self, prior: float) -> float:
        return 0.5

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        positives, negatives = TP + FN, TN + FP
        return (TP * negatives + TN * positives) / (2.0 * positives * negatives)


@dataclass(frozen=True)
class WeightedAccuracy(_Linear):
    """Weighted accuracy c P + (1-c) N.

    Parameters
    ----------
    c : float
        Weight of the true positive rate, in [0, 1].

    Raises
    ------
    ValueError
        If `c` is not a finite number in its range.

    Notes
    -----
    Source: docs/algorithms.md 2.1.
    """

    c: float
    name = "weighted_accuracy"
    required_parameters = {"c": 0.5}

    def __post_init__(self) -> None:
        set_number(self, "c", at_least=0.0, at_most=1.0)

    def positive_weight(self, prior: float) -> float:
        return self.c

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        return self.c * (TP / (TP + FN)) + (1.0 - self.c) * (TN / (TN + FP))


@dataclass(frozen=True)
class Accuracy(_Linear):
    """Accuracy, the proportion of correct predictions: weighted accuracy with c = prior.

    Source: docs/algorithms.md 2.1.
    """

    name = "accuracy"

    def positive_weight(self, prior: float) -> float:
        return prior

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        return (TP + TN) / (TP + FN + FP + TN)


@dataclass(frozen=True, eq=False)
class FBeta(Pseudolinear):
    """F_beta: (1+B) TP / ((1+B) TP + B FN + FP), where B = beta^2.

    Parameters
    ----------
    beta : float, default 1.0
        In [1e-4, 1e6]. Above 1 it favours recall, below 1 precision.

    Raises
    ------
    ValueError
        If `beta` is not a finite number in its range.

    Notes
    -----
    Source: docs/algorithms.md 2.2.
    """

    beta: float = 1.0
    name = "fbeta"
    affine_in_tp = True

    def __post_init__(self) -> None:
        set_number(self, "beta", **BETAS)

    def coefficients(self, prior: float) -> tuple[Triple, Triple]:
        B, theta = self.beta**2, (1.0 - prior) / prior
        return (0.0, 1.0 + B, 0.0), (B + theta, 1.0, -theta)

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        B = self.beta**2
        return (1.0 + B) * TP / ((1.0 + B) * TP + B * FN + FP)

    # By hand, because F1() and FBeta(1) are the same measure under two names.
    def __eq__(self, other: object) -> bool:
        return self.beta == other.beta if isinstance(other, FBeta) else NotImplemented

    def __hash__(self) -> int:
        return hash((FBeta, self.beta))


@dataclass(frozen=True, eq=False)
class F1(FBeta):
    """F1, the harmonic mean of precision and recall; equal to ``FBeta(1)``.

    Source: docs/algorithms.md 2.2.
    """

    beta: float = field(default=1.0, init=False, repr=False)
    name = "f1"


@dataclass(frozen=True)
class Jaccard(Pseudolinear):
    """Jaccard index TP / (TP + FP + FN), equal to F1/(2-F1).

    Source: docs/algorithms.md 2.2.
    """

    name = "jaccard"

    def coefficients(self, prior: float) -> tuple[Triple, Triple]:
        theta = (1.0 - prior) / prior
        return (0.0, 1.0, 0.0), (1.0 + theta, 0.0, -theta)

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        return TP / (TP + FP + FN)


@dataclass(frozen=True)
class GowerLegendre(Concave, Pseudolinear):
    """Gower-Legendre: (TP+TN) / (TP+TN + sigma (FP+FN)).

    Parameters
    ----------
    sigma : float, default 1.0
        In [1e-6, 1e6]. The measure is concave in (P, N) for sigma <= 1, linear (accuracy) for sigma = 1, and convex
        above 1, where `supergradient` raises ValueError. Every sigma has the same maximisers as accuracy.

    Raises
    ------
    ValueError
        If `sigma` is not a finite number in its range.

    Notes
    -----
    Source: docs/algorithms.md 2.2.
    """

    sigma: float = 1.0
    name = "gower_legendre"
    family = "pseudolinear"

    def __post_init__(self) -> None:
        set_number(self, "sigma", **SIGMAS)

    def coefficients(self, prior: float) -> tuple[Triple, Triple]:
        s, theta = self.sigma, (1.0 - prior) / prior
        return (0.0, 1.0, theta), (s * (1.0 + theta), 1.0 - s, (1.0 - s) * theta)

    def supergradient(self, P: float, N: float, prior: float, eps: float = 0.0) -> Pair:
        # The gradient of the ratio, a supergradient only for sigma <= 1.
        if self.sigma > 1.0:
            raise ValueError(f"a supergradient needs a concave measure; {self} is convex. Use 'dame', or sigma <= 1.")
        (a0, a1, a2), (b0, b1, b2) = self.coefficients(prior)
        denominator = b0 + b1 * P + b2 * N
        weight_pos, weight_neg = self.valuation_weights(P, N, (a0 + a1 * P + a2 * N) / denominator, prior)
        return weight_pos / denominator, weight_neg / denominator

    def drivers(self) -> tuple[str, ...]:
        return ("dame", "duple") if self.sigma <= 1.0 else ("dame",)

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        return (TP + TN) / (TP + TN + self.sigma * (FP + FN))


@dataclass(frozen=True)
class GTPPR(Measure):
    """Geometric mean of precision and recall: TP / sqrt(n+ (TP+FP)); 0 where nothing is predicted positive.

    It is quasi-convex, so none of the algorithms applies: report only.

    Source: docs/algorithms.md 2.3.
    """

    name = "gtppr"
    affine_in_tp = True
    hint = "Train on 'f1', the harmonic mean of the same two numbers."

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:
        theta = (1.0 - prior) / prior
        return np.where(P == 0.0, 0.0, P / np.sqrt(P + theta * (1.0 - N)))

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        ratio = TP / np.sqrt((TP + FN) * (TP + FP))
        return np.where((TP == 0.0) & (FN > 0.0), 0.0, ratio)
