"""Measures of quantification: how far the predicted prevalence is from the true one.

All of them depend on (P, N) through the predicted prevalence alone, so a perfect value says nothing about how
good the classifier is: a classifier wrong on every point of a balanced set has KLD 0. Report a trivial
predictor's value (`Measure.trivial`) beside them.

Source: the specification, section 2.4.
"""

# ruff: noqa: N803, N806 -- TP, FN, FP, TN are the names used by the formulas
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from aesara_nondecomp.measures.base import Concave, Measure, NestedConcave, Pair

# The formulas, shared with the measures that combine quantification and classification.


def prevalence(P: Any, N: Any, prior: float) -> tuple[Any, Any]:
    """Predicted prevalence phat of the positives, and 1 - phat without cancellation (spec 1.1)."""
    return prior * P + (1.0 - prior) * (1.0 - N), (1.0 - prior) * N + prior * (1.0 - P)


def gap(P: Any, N: Any, prior: float) -> Any:
    """Quantification gap d = p - phat (spec 1.1)."""
    return prior * (1.0 - P) - (1.0 - prior) * (1.0 - N)


def along_prevalence(slope: float, prior: float) -> Pair:
    """`slope` times c = (p, -(1-p)), the gradient of phat in (P, N)."""
    return slope * prior, -slope * (1.0 - prior)


def largest_gap(prior: float) -> float:
    """k = max(p, 1-p), the largest possible absolute gap."""
    return max(prior, 1.0 - prior)


def smooth(proportion: Any, eps: float) -> Any:
    """(q + eps) / (1 + 2 eps): with eps = 1/(2n), half an item added to each of two counts."""
    return (proportion + eps) / (1.0 + 2.0 * eps)


def divergence(P: Any, N: Any, prior: float, eps: float) -> Any:
    """KLD of the predicted from the true prevalence, both smoothed."""
    phat, phat_negative = prevalence(P, N, prior)
    true = smooth(prior, eps), smooth(1.0 - prior, eps)
    return _relative_entropy(true, (smooth(phat, eps), smooth(phat_negative, eps)))


def divergence_of_counts(TP: Any, FN: Any, FP: Any, TN: Any, smoothed: bool) -> Any:
    """KLD of the predicted from the true class counts, with half an item added to each if `smoothed`."""
    half = 0.5 if smoothed else 0.0
    total = TP + FN + FP + TN + 2.0 * half
    return _relative_entropy((TP + FN + half, FP + TN + half), (TP + FP + half, FN + TN + half)) / total


def check_predicted(P: float, N: float, prior: float, eps: float) -> Pair:
    """phat + eps and 1 - phat + eps; refused if one is 0, where the KLD is infinite."""
    phat, phat_negative = prevalence(P, N, prior)
    if phat + eps <= 0.0 or phat_negative + eps <= 0.0:
        raise ValueError(
            f"The KLD's supergradient needs both classes predicted, or eps > 0; got P={P}, N={N}, eps={eps}. "
            "Smooth with eps = 1/(2n), n the number of training points."
        )
    return phat + eps, phat_negative + eps


def negated_divergence_gradient(P: float, N: float, prior: float, eps: float) -> Pair:
    """Gradient in (P, N) of minus the KLD; finite everywhere for eps > 0."""
    phat, phat_negative = check_predicted(P, N, prior, eps)
    return along_prevalence(smooth(prior, eps) / phat - smooth(1.0 - prior, eps) / phat_negative, prior)


def _relative_entropy(true: tuple[Any, Any], predicted: tuple[Any, Any]) -> Any:
    """Sum of t ln(t/s), where 0 ln 0 = 0; kept >= 0 against rounding."""
    total = sum(_entropy_term(t, s) for t, s in zip(true, predicted))
    return max(total, 0.0) if isinstance(total, float) else np.maximum(total, 0.0)


def _entropy_term(t: Any, s: Any) -> Any:
    """t ln(t/s); of floats, as the drivers use it, without NumPy's overhead."""
    if isinstance(t, float) and isinstance(s, float):
        if t == 0.0:
            return 0.0
        return t * float(np.log(t / s)) if s > 0.0 else math.inf  # to the last bit as in an array
    return np.where(np.equal(t, 0.0), 0.0, t * np.log(t / s))


def _log(x: Any) -> Any:
    """ln x, minus infinity at 0."""
    if isinstance(x, float):
        return float(np.log(x)) if x > 0.0 else -math.inf
    with np.errstate(divide="ignore"):
        return np.log(x)


@dataclass(frozen=True)
class KLD(NestedConcave):
    """Kullback-Leibler divergence of the predicted from the true prevalence; an error, natural logarithm.

    kld = p ln(p/phat) + (1-p) ln((1-p)/(1-phat)), each proportion q smoothed to (q+eps)/(1+2 eps). It is 0
    iff FP = FN. Unsmoothed (eps = 0) it is infinite, and `supergradient` raises ValueError, where a class is
    never predicted.

    As a nested measure, -kld = p x + (1-p) y + H(p) with x = ln phat and y = ln(1-phat), all smoothed.

    Source: spec 2.4, 2.5.
    """

    name = "kld"
    greater_is_better = False
    needs_smoothing = True
    takes_floats = True

    def range(self, prior: float) -> Pair:
        return 0.0, np.inf

    def components(self, P: Any, N: Any, prior: float, eps: float = 0.0) -> tuple[Any, Any]:
        phat, phat_negative = prevalence(P, N, prior)
        return _log(smooth(phat, eps)), _log(smooth(phat_negative, eps))

    def component_gradients(self, P: float, N: float, prior: float, eps: float = 0.0) -> tuple[Pair, Pair]:
        phat, phat_negative = check_predicted(P, N, prior, eps)
        return along_prevalence(1.0 / phat, prior), along_prevalence(-1.0 / phat_negative, prior)

    def outer(self, x: Any, y: Any, prior: float, eps: float = 0.0) -> Any:
        ps, qs = smooth(prior, eps), smooth(1.0 - prior, eps)
        return ps * (x - np.log(ps)) + qs * (y - np.log(qs))

    def outer_gradient(self, x: float, y: float, prior: float, eps: float = 0.0) -> Pair:
        return smooth(prior, eps), smooth(1.0 - prior, eps)

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:
        return divergence(P, N, prior, eps)

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        return divergence_of_counts(TP, FN, FP, TN, smoothed)


@dataclass(frozen=True)
class NKLD(Measure):
    """Normalised KLD, 2 e^kld / (1 + e^kld) - 1 = tanh(kld/2), in [0, 1]: report only.

    It increases with the KLD, so training on "kld" has the same minimiser.

    Source: spec 2.4.
    """

    name = "nkld"
    greater_is_better = False
    hint = "Train on 'kld', which has the same minimiser."

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:
        return np.tanh(divergence(P, N, prior, eps) / 2.0)

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        return np.tanh(divergence_of_counts(TP, FN, FP, TN, smoothed) / 2.0)


class _AbsoluteGap(Concave):
    """A measure affine in the absolute gap abs(d); the supergradient at d = 0, its best, is (0, 0)."""

    takes_floats = True

    def gap_factor(self, prior: float, eps: float) -> float:
        """What abs(d) is multiplied by."""
        raise NotImplementedError

    def supergradient(self, P: float, N: float, prior: float, eps: float = 0.0) -> Pair:
        return along_prevalence(float(np.sign(gap(P, N, prior))) * self.gap_factor(prior, eps), prior)

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:
        error = self.gap_factor(prior, eps) * np.abs(gap(P, N, prior))
        return 1.0 - error if self.greater_is_better else error


@dataclass(frozen=True)
class AE(_AbsoluteGap):
    """Absolute error abs(p - phat) = abs(FN - FP)/n of the predicted prevalence. Source: spec 2.4."""

    name = "ae"
    greater_is_better = False

    def range(self, prior: float) -> Pair:
        return 0.0, largest_gap(prior)

    def gap_factor(self, prior: float, eps: float) -> float:
        return 1.0

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        return np.abs(FN - FP) / (TP + FN + FP + TN)


@dataclass(frozen=True)
class RAE(_AbsoluteGap):
    """Relative absolute error: the mean over the classes of abs(p - phat) / (the class's true share).

    Smoothed, abs(p - phat)/2 * (1/(p+eps) + 1/(1-p+eps)): then defined for one class as well.

    Source: spec 2.4.
    """

    name = "rae"
    greater_is_better = False

    def range(self, prior: float) -> Pair:
        return 0.0, largest_gap(prior) * self.gap_factor(prior, 0.0)

    def gap_factor(self, prior: float, eps: float) -> float:
        return 0.5 * (1.0 / (prior + eps) + 1.0 / (1.0 - prior + eps))

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        half = 0.5 if smoothed else 0.0
        positives, negatives = TP + FN + half, TN + FP + half
        error = np.abs(FN - FP) * (positives + negatives) / (2.0 * positives * negatives)
        return np.where(positives * negatives > 0.0, error, np.nan)


@dataclass(frozen=True)
class NAS(_AbsoluteGap):
    """Normalised absolute score 1 - abs(p - phat)/max(p, 1-p). Source: spec 2.4."""

    name = "nas"

    def gap_factor(self, prior: float, eps: float) -> float:
        return 1.0 / largest_gap(prior)

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        return 1.0 - np.abs(FN - FP) / np.maximum(TP + FN, TN + FP)


@dataclass(frozen=True)
class NSS(Concave):
    """Normalised squared score 1 - ((p - phat)/k)^2, where k = max(p, 1-p).

    Parameters
    ----------
    raw : bool
        Use k = 1 instead ("nss_raw"): the form of the antecedents' table, with the range [1 - max(p, 1-p)^2,
        1].

    Source: spec 2.4.
    """

    raw: bool = False
    name = "nss"
    takes_floats = True

    def __post_init__(self) -> None:
        if self.raw:
            object.__setattr__(self, "name", "nss_raw")

    def range(self, prior: float) -> Pair:
        return 1.0 - (largest_gap(prior) / self.scale(prior)) ** 2, 1.0

    def scale(self, prior: float) -> float:
        """k, by which the gap is divided."""
        return 1.0 if self.raw else largest_gap(prior)

    def supergradient(self, P: float, N: float, prior: float, eps: float = 0.0) -> Pair:
        return along_prevalence(2.0 * gap(P, N, prior) / self.scale(prior) ** 2, prior)

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:
        return 1.0 - (gap(P, N, prior) / self.scale(prior)) ** 2

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        positives, negatives = TP + FN, TN + FP
        return 1.0 - ((FN - FP) / (positives + negatives if self.raw else np.maximum(positives, negatives))) ** 2
