"""Measures of quantification: how far the predicted prevalence is from the true one.

All of them depend on (P, N) through the predicted prevalence alone, so a perfect value says nothing about how good the
classifier is: a classifier wrong on every point of a balanced set has KLD 0. Report the value of a trivial predictor
(`Measure.trivial`) beside them. Trained alone they end with one class, so the default recipe trains BAKLD for them
(`Measure.trained_as`), which adds balanced accuracy.

Source: docs/algorithms.md 2.4.
"""

# ruff: noqa: N803, N806 -- TP, FN, FP, TN are the names used by the formulas
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aesara_nondecomp.measures._formulas import (
    along_prevalence,
    gap,
    kl_divergence,
    kl_divergence_of_counts,
    largest_gap,
    log,
    predicted_prevalence,
    smooth,
    smoothed_prevalence,
)
from aesara_nondecomp.measures._parameters import name_raw
from aesara_nondecomp.measures.base import Measure, Pair
from aesara_nondecomp.measures.families import Concave, NestedConcave

__all__ = ["AE", "KLD", "NAS", "NKLD", "NSS", "RAE"]


@dataclass(frozen=True)
class KLD(NestedConcave):
    """Kullback-Leibler divergence of the predicted from the true prevalence; an error, natural logarithm.

    kld = p ln(p/phat) + (1-p) ln((1-p)/(1-phat)), each proportion q smoothed to (q+eps)/(1+2 eps). It is 0 iff FP = FN.
    Where a class is never predicted, it is infinite without smoothing (eps = 0), and `supergradient` raises ValueError.

    As a nested measure, -kld = p x + (1-p) y + H(p) with x = ln phat and y = ln(1-phat), all smoothed.

    Source: docs/algorithms.md 2.4 and 2.5.
    """

    name = "kld"
    greater_is_better = False
    needs_smoothing = True
    takes_floats = True
    trained_as = "bakld"
    affine_in_tp = True

    def range(self, prior: float) -> Pair:
        return 0.0, np.inf

    def components(self, P: Any, N: Any, prior: float, eps: float = 0.0) -> tuple[Any, Any]:
        phat, phat_negative = predicted_prevalence(P, N, prior)
        return log(smooth(phat, eps)), log(smooth(phat_negative, eps))

    def component_gradients(self, P: float, N: float, prior: float, eps: float = 0.0) -> tuple[Pair, Pair]:
        phat, phat_negative = smoothed_prevalence(P, N, prior, eps)
        return along_prevalence(1.0 / phat, prior), along_prevalence(-1.0 / phat_negative, prior)

    def outer(self, x: Any, y: Any, prior: float, eps: float = 0.0) -> Any:
        ps, qs = smooth(prior, eps), smooth(1.0 - prior, eps)
        return ps * (x - np.log(ps)) + qs * (y - np.log(qs))

    def outer_gradient(self, x: float, y: float, prior: float, eps: float = 0.0) -> Pair:
        return smooth(prior, eps), smooth(1.0 - prior, eps)

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:
        return kl_divergence(P, N, prior, eps)

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        return kl_divergence_of_counts(TP, FN, FP, TN, smoothed)


@dataclass(frozen=True)
class NKLD(Measure):
    """Normalised KLD, 2 e^kld / (1 + e^kld) - 1 = tanh(kld/2), in [0, 1]: report only.

    It increases with the KLD, so training on "kld" has the same minimiser.

    Source: docs/algorithms.md 2.4.
    """

    name = "nkld"
    greater_is_better = False
    affine_in_tp = True
    hint = "Train on 'kld', which has the same minimiser."

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:
        return np.tanh(kl_divergence(P, N, prior, eps) / 2.0)

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        return np.tanh(kl_divergence_of_counts(TP, FN, FP, TN, smoothed) / 2.0)


class _AbsoluteGap(Concave):
    """A measure affine in the absolute gap abs(d); the supergradient at d = 0, its best, is (0, 0)."""

    takes_floats = True
    trained_as = "bakld"
    affine_in_tp = True

    def _gap_factor(self, prior: float, eps: float) -> float:
        """The factor on abs(d)."""
        raise NotImplementedError

    def supergradient(self, P: float, N: float, prior: float, eps: float = 0.0) -> Pair:
        return along_prevalence(float(np.sign(gap(P, N, prior))) * self._gap_factor(prior, eps), prior)

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:
        error = self._gap_factor(prior, eps) * np.abs(gap(P, N, prior))
        return 1.0 - error if self.greater_is_better else error


@dataclass(frozen=True)
class AE(_AbsoluteGap):
    """Absolute error abs(p - phat) = abs(FN - FP)/n of the predicted prevalence.

    Source: docs/algorithms.md 2.4.
    """

    name = "ae"
    greater_is_better = False

    def range(self, prior: float) -> Pair:
        return 0.0, largest_gap(prior)

    def _gap_factor(self, prior: float, eps: float) -> float:
        return 1.0

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        return np.abs(FN - FP) / (TP + FN + FP + TN)


@dataclass(frozen=True)
class RAE(_AbsoluteGap):
    """Relative absolute error: the mean over the classes of abs(p - phat) / (true prevalence of the class).

    Smoothed it is abs(p - phat)/2 * (1/(p+eps) + 1/(1-p+eps)), which is defined for a single class as well.

    Source: docs/algorithms.md 2.4.
    """

    name = "rae"
    greater_is_better = False

    def range(self, prior: float) -> Pair:
        return 0.0, largest_gap(prior) * self._gap_factor(prior, 0.0)

    def _gap_factor(self, prior: float, eps: float) -> float:
        return 0.5 * (1.0 / (prior + eps) + 1.0 / (1.0 - prior + eps))

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        half = 0.5 if smoothed else 0.0
        positives, negatives = TP + FN + half, TN + FP + half
        error = np.abs(FN - FP) * (positives + negatives) / (2.0 * positives * negatives)
        return np.where(positives * negatives > 0.0, error, np.nan)


@dataclass(frozen=True)
class NAS(_AbsoluteGap):
    """Normalised absolute score 1 - abs(p - phat)/max(p, 1-p).

    Source: docs/algorithms.md 2.4.
    """

    name = "nas"

    def _gap_factor(self, prior: float, eps: float) -> float:
        return 1.0 / largest_gap(prior)

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        return 1.0 - np.abs(FN - FP) / np.maximum(TP + FN, TN + FP)


@dataclass(frozen=True)
class NSS(Concave):
    """Normalised squared score 1 - ((p - phat)/k)^2, where k = max(p, 1-p).

    Parameters
    ----------
    raw : bool, default False
        Use k = 1 instead ("nss_raw"): the form in the table of the NEMSIS paper, with the range
        [1 - max(p, 1-p)^2, 1].

    Notes
    -----
    Source: docs/algorithms.md 2.4.
    """

    raw: bool = False
    name = "nss"
    takes_floats = True
    trained_as = "bakld"
    affine_in_tp = True

    def __post_init__(self) -> None:
        name_raw(self)

    def range(self, prior: float) -> Pair:
        return 1.0 - (largest_gap(prior) / self._scale(prior)) ** 2, 1.0

    def _scale(self, prior: float) -> float:
        """k, by which the gap is divided."""
        return 1.0 if self.raw else largest_gap(prior)

    def supergradient(self, P: float, N: float, prior: float, eps: float = 0.0) -> Pair:
        return along_prevalence(2.0 * gap(P, N, prior) / self._scale(prior) ** 2, prior)

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:
        return 1.0 - (gap(P, N, prior) / self._scale(prior)) ** 2

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        positives, negatives = TP + FN, TN + FP
        return 1.0 - ((FN - FP) / (positives + negatives if self.raw else np.maximum(positives, negatives))) ** 2
