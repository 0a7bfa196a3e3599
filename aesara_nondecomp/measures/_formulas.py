"""Formulas of the predicted prevalence that several measures share (docs/algorithms.md 1.1 and 2.4)."""

# ruff: noqa: N803 -- TP, FN, FP, TN are the names used by the formulas
from __future__ import annotations

import math
from typing import Any

import numpy as np

from aesara_nondecomp.measures.base import Pair


def predicted_prevalence(P: Any, N: Any, prior: float) -> tuple[Any, Any]:
    """Predicted prevalence phat of the positives, and 1 - phat without cancellation."""
    return prior * P + (1.0 - prior) * (1.0 - N), (1.0 - prior) * N + prior * (1.0 - P)


def gap(P: Any, N: Any, prior: float) -> Any:
    """Quantification gap d = p - phat."""
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


def log(x: Any) -> Any:
    """ln x, minus infinity at 0."""
    if isinstance(x, float):
        return float(np.log(x)) if x > 0.0 else -math.inf
    with np.errstate(divide="ignore"):
        return np.log(x)


def kl_divergence(P: Any, N: Any, prior: float, eps: float) -> Any:
    """KLD of the predicted from the true prevalence, both smoothed."""
    phat, phat_negative = predicted_prevalence(P, N, prior)
    true = smooth(prior, eps), smooth(1.0 - prior, eps)
    return _relative_entropy(true, (smooth(phat, eps), smooth(phat_negative, eps)))


def kl_divergence_of_counts(TP: Any, FN: Any, FP: Any, TN: Any, smoothed: bool) -> Any:
    """KLD of the predicted from the true class counts, with half an item added to each if `smoothed`."""
    half = 0.5 if smoothed else 0.0
    total = TP + FN + FP + TN + 2.0 * half
    return _relative_entropy((TP + FN + half, FP + TN + half), (TP + FP + half, FN + TN + half)) / total


def smoothed_prevalence(P: float, N: float, prior: float, eps: float) -> Pair:
    """phat + eps and 1 - phat + eps; a ValueError if one is 0, where the KLD is infinite."""
    phat, phat_negative = predicted_prevalence(P, N, prior)
    if phat + eps <= 0.0 or phat_negative + eps <= 0.0:
        raise ValueError(
            f"the KLD's supergradient needs both classes predicted, or eps > 0; got P={P}, N={N}, eps={eps}. "
            "Smooth with eps = 1/(2n), n the number of training points."
        )
    return phat + eps, phat_negative + eps


def negated_divergence_gradient(P: float, N: float, prior: float, eps: float) -> Pair:
    """Gradient in (P, N) of minus the KLD; finite everywhere for eps > 0."""
    phat, phat_negative = smoothed_prevalence(P, N, prior, eps)
    return along_prevalence(smooth(prior, eps) / phat - smooth(1.0 - prior, eps) / phat_negative, prior)


def _relative_entropy(true: tuple[Any, Any], predicted: tuple[Any, Any]) -> Any:
    """Sum of t ln(t/s), where 0 ln 0 = 0; kept >= 0 against rounding."""
    total = sum(_entropy_term(t, s) for t, s in zip(true, predicted))
    return max(total, 0.0) if isinstance(total, float) else np.maximum(total, 0.0)


def _entropy_term(t: Any, s: Any) -> Any:
    """t ln(t/s); on floats, as drivers use it, without NumPy's overhead."""
    if isinstance(t, float) and isinstance(s, float):
        if t == 0.0:
            return 0.0
        return t * float(np.log(t / s)) if s > 0.0 else math.inf  # to the last bit as in an array
    return np.where(np.equal(t, 0.0), 0.0, t * np.log(t / s))
