"""Independent routes to the library's numbers.

Concave conjugates Psi*(a, b) = inf over (u, v) of a u + b v - Psi(u, v), in the closed forms of docs/algorithms.md 2.1,
2.4 and 2.5. The library never evaluates one: its dual step is the supergradient itself. The second half trains linear
scores in plain NumPy.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from aesara_nondecomp.data import Batch
from aesara_nondecomp.metrics.class_rates import class_sums

# sqrt(1/2) + sqrt(1/2) is not exactly sqrt(2), so domains are tested with a tolerance.
DOMAIN_TOLERANCE = 1e-9


def conjugate(name: str, a: float, b: float, p: float = 0.5, eps: float = 0.0) -> float:
    """Psi*(a, b) of the maximised measure `name`, -inf outside its domain."""
    if name in RATE_CONJUGATES:
        return RATE_CONJUGATES[name](a, b)
    return conjugate_along_prevalence(name, a, b, p, eps)


def conjugate_of_linear(a: float, b: float, c: float) -> float:
    """Of c P + (1-c) N: finite at (c, 1-c) alone."""
    return 0.0 if _near(a, c) and _near(b, 1.0 - c) else -math.inf


def conjugate_along_prevalence(name: str, a: float, b: float, p: float, eps: float) -> float:
    """Of a function of phat: finite on the line (a, b) = s (p, -(1-p)) alone."""
    s = a / p
    if not _near(b, -s * (1.0 - p), scale=max(1.0, abs(s))):
        return -math.inf
    return PREVALENCE_CONJUGATES[name](s, p, eps)


def _min(a, b):
    return 0.0 if a >= -DOMAIN_TOLERANCE and b >= -DOMAIN_TOLERANCE and _near(a + b, 1.0) else -math.inf


def _qmean(a, b):
    return a + b - 1.0 if a * a + b * b <= 0.5 + DOMAIN_TOLERANCE else -math.inf


def _hmean(a, b):
    inside = a >= 0.0 and b >= 0.0 and math.sqrt(a) + math.sqrt(b) >= math.sqrt(2.0) - DOMAIN_TOLERANCE
    return 0.0 if inside else -math.inf


def _gmean(a, b):
    return 0.0 if a > 0.0 and b > 0.0 and a * b >= 0.25 - DOMAIN_TOLERANCE else -math.inf


RATE_CONJUGATES = {
    "min": _min,
    "qmean": _qmean,
    "hmean": _hmean,
    "gmean": _gmean,
    "balanced_accuracy": lambda a, b: conjugate_of_linear(a, b, 0.5),
}


def _absolute(factor, offset):
    """Of offset - factor(p, eps) abs(p - phat)."""

    def at(s, p, eps):
        return s * (2.0 * p - 1.0) - offset if abs(s) <= factor(p, eps) + DOMAIN_TOLERANCE else -math.inf

    return at


def _squared(k):
    return lambda s, p, eps: s * (2.0 * p - 1.0) - 1.0 - (s * k(p)) ** 2 / 4.0


def _negkld(s, p, eps):
    scaled, smooth_p = s * (1.0 + 2.0 * eps), (p + eps) / (1.0 + 2.0 * eps)
    tau = 2.0 * smooth_p / ((scaled + 1.0) + math.sqrt((scaled + 1.0) ** 2 - 4.0 * scaled * smooth_p))
    entropy = -smooth_p * math.log(smooth_p) - (1.0 - smooth_p) * math.log(1.0 - smooth_p)
    phi = smooth_p * math.log(tau) + (1.0 - smooth_p) * math.log(1.0 - tau) + entropy
    return scaled * tau - s * eps - s * (1.0 - p) - phi


PREVALENCE_CONJUGATES = {
    "nas": _absolute(lambda p, eps: 1.0 / max(p, 1.0 - p), 1.0),
    "neg_ae": _absolute(lambda p, eps: 1.0, 0.0),
    "neg_rae": _absolute(lambda p, eps: (1.0 / (p + eps) + 1.0 / (1.0 - p + eps)) / 2.0, 0.0),
    "nss": _squared(lambda p: max(p, 1.0 - p)),
    "nss_raw": _squared(lambda p: 1.0),
    "negkld": _negkld,
    "zeta1_log_phat": lambda s, p, eps: 1.0 + math.log(s) - s * (1.0 - p) if s > 0 else -math.inf,
    "zeta2_log_1mphat": lambda s, p, eps: 1.0 + math.log(-s) + s * p if s < 0 else -math.inf,
}


def _near(x: float, y: float, scale: float = 1.0) -> bool:
    return abs(x - y) <= DOMAIN_TOLERANCE * scale


# -- Training a linear score in plain NumPy: the transcripts that drivers and loop are held against ------------------


class LinearProblem(NamedTuple):
    """A data set and first weights for scores X w, with what a transcript of an algorithm needs."""

    X: np.ndarray
    y: np.ndarray
    w: np.ndarray

    @property
    def prior(self) -> float:
        """Fraction of positives."""
        return float(np.mean(self.y > 0))

    def rewards(self, w: np.ndarray) -> np.ndarray:
        """Sigmoid reward of every row."""
        return 1.0 / (1.0 + np.exp(-self.y * (self.X @ w)))

    def rates(self, w: np.ndarray) -> np.ndarray:
        """(P, N): class means of the sigmoid reward."""
        r = self.rewards(w)
        return np.array([r[self.y > 0].mean(), r[self.y < 0].mean()])

    def count_rates(self, w: np.ndarray) -> np.ndarray:
        """(TPR, TNR) of the rule "positive iff the score is above 0"."""
        predicted = np.where(self.X @ w > 0, 1, -1)
        return np.array([np.mean(predicted[self.y == sign] == sign) for sign in (1, -1)])

    def rate_gradients(self, w: np.ndarray) -> np.ndarray:
        """Gradients of P and N in w, shape (2, d)."""
        r = self.rewards(w)
        slopes = self.y * r * (1.0 - r)
        classes = np.array([self.y > 0, self.y < 0])
        return (classes * slopes) @ self.X / classes.sum(axis=1, keepdims=True)

    def smoothness(self) -> tuple[float, float]:
        """(L_P, L_N), the Lipschitz constants of the gradients of P and N (docs/algorithms.md 4)."""
        classes = (self.X[self.y > 0], self.X[self.y < 0])
        return tuple(np.linalg.eigvalsh(rows.T @ rows / len(rows))[-1] / (6 * math.sqrt(3)) for rows in classes)

    def part(self, rows) -> LinearProblem:
        """The same problem on some of the rows."""
        return LinearProblem(self.X[rows], self.y[rows], self.w)


def batch_gradient(batch: LinearProblem, w: np.ndarray, weights: Sequence[float], prior: float) -> np.ndarray:
    """Gradient of a driver's objective on a mini-batch, each class sum divided by its expected number of rows."""
    r = batch.rewards(w)
    positive, share = batch.y > 0, np.where(batch.y > 0, prior, 1.0 - prior) * len(batch.y)
    on_sigmoid, on_logistic = (np.where(positive, *pair) for pair in (weights[:2], weights[2:]))
    slopes = on_sigmoid * r * (1.0 - r) + on_logistic * (1.0 - r)
    return (batch.y * slopes / share) @ batch.X


def numpy_training(driver, batches: Iterable[LinearProblem], start: LinearProblem, rate: float) -> Iterator[np.ndarray]:
    """Weights after each step of a driver on a linear score, in a loop of one's own; S_0 is the whole of `start`."""
    w = start.w
    for batch in batches:
        if driver.needs_refresh():
            driver.refresh(class_sums(start.X @ w, start.y))
        before = w
        w = w + rate * batch_gradient(batch, w, driver.weights(), start.prior)
        driver.observe(class_sums(batch.X @ (before if driver.evaluate == "old" else w), batch.y))
        yield w


def separated_problem(rng, n: int, n_positive: int, w: Sequence[float], separation: float = 1.0) -> LinearProblem:
    """Positives first; two normal columns, the first shifted by the label, and a column of ones."""
    y = np.where(np.arange(n) < n_positive, 1.0, -1.0)
    X = rng.standard_normal((n, 3))
    X[:, 0] += separation * y
    X[:, 2] = 1.0
    return LinearProblem(X, y, np.array(w))


class FixedBatches:
    """Stands in for `data.MiniBatches`: the given batches, over and over."""

    def __init__(self, batches: Sequence[LinearProblem], positive_share: float, dtype: str = "float64"):
        self.positive_share = positive_share
        self._batches = itertools.cycle([(b.X.astype(dtype), b.y.astype(dtype), len(b.y)) for b in batches])

    def __iter__(self) -> FixedBatches:
        return self

    def __next__(self) -> Batch:
        return Batch(*next(self._batches))
