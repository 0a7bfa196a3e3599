"""Evaluation under prevalence shift: how well is the share of positives estimated when it is not that of training?

The artificial-prevalence protocol (APP): test sets are drawn from one labelled set at given prevalences, and every
estimator is asked for the prevalence of each.  Rows of a class keep their distribution: prior probability shift.

    quantifier = Quantifier.fit(held_scores, held_signs)
    shift = prevalence_shift(test_scores, test_signs, estimators(quantifier, training_prior))
    shift.errors()["sld"]["kld"]

Source: Forman 2008; the grid, the sampling and the smoothing of the errors are those of QuaPy 0.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from aesara_nondecomp._checks import positive_int, require
from aesara_nondecomp.metrics.quantification import METHODS, Quantifier

Estimator = Callable[[np.ndarray], float]
"""From the scores of a set to the estimate of its prevalence."""


def prevalence_errors(true: Any, estimate: Any, eps: float) -> dict[str, np.ndarray]:
    """Errors "ae", "rae" and "kld" of estimated prevalences; spec 2.4 in terms of p and its estimate.

    The measures of those names say the same of a confusion table; these also take estimates that are not counts.

    Parameters
    ----------
    true, estimate : float or array, in [0, 1]. Shares of positives.
    eps : float > 0
        Smoothing of the shares in rae and kld, 1 / (2n) for sets of n rows.

    Returns
    -------
    dict of str to array, of the common shape.

    Raises
    ------
    ValueError
        If a share is outside [0, 1], eps is not positive, or the shapes do not broadcast.
    """
    true, estimate = np.asarray(true, dtype=float), np.asarray(estimate, dtype=float)
    for name, shares in (("true", true), ("estimate", estimate)):
        require(bool(np.all((shares >= 0) & (shares <= 1))), f"{name} must lie in [0, 1]", shares)
    require(0 < eps < float("inf"), "eps must be a positive number, 1 / (2n) for sets of n rows", eps)
    ae = np.abs(true - estimate)
    rae = ae * 0.5 * (1.0 / (true + eps) + 1.0 / (1.0 - true + eps))
    kld = np.zeros_like(ae)
    for t, s in ((true, estimate), (1.0 - true, 1.0 - estimate)):
        kld = kld + (t + eps) / (1.0 + 2.0 * eps) * np.log((t + eps) / (s + eps))
    return {"ae": ae, "rae": rae, "kld": np.maximum(kld, 0.0)}


class Sample(NamedTuple):
    """A test set of the protocol."""

    prevalence: float
    """Share of positives among its rows."""
    rows: np.ndarray
    """Row numbers, with repetitions."""


def artificial_prevalences(
    signs: Any, sample_size: int, *, grid: int = 21, repeats: int = 10, seed: Any = None
) -> Iterator[Sample]:
    """Draw test sets at equidistant prevalences from 0 to 1.

    Parameters
    ----------
    signs : array, shape (n,), in {-1, +1}
    sample_size : int >= 1
    grid : int >= 2. Number of prevalences: 0, 1 / (grid - 1), ..., 1.
    repeats : int >= 1. Sets per prevalence.
    seed : int, numpy Generator or None

    Yields
    ------
    Sample
        Rows are drawn with replacement within each class; the number of positives is the nearest to the prevalence.

    Raises
    ------
    ValueError
        If a class is missing, or a number is out of range.
    """
    signs = np.asarray(signs)
    classes = [np.flatnonzero(signs == sign) for sign in (1, -1)]
    require(
        signs.ndim == 1 and min(map(len, classes)) > 0 and sum(map(len, classes)) == len(signs),
        "artificial_prevalences needs signs -1 and +1, both of them, in a vector",
        np.unique(signs)[:5],
    )
    sample_size, repeats = positive_int("sample_size", sample_size), positive_int("repeats", repeats)
    require(positive_int("grid", grid) >= 2, "grid must be at least 2", grid)
    rng = np.random.default_rng(seed)
    return _samples(classes, sample_size, np.repeat(np.linspace(0.0, 1.0, grid), repeats), rng)


def _samples(classes, sample_size, prevalences, rng) -> Iterator[Sample]:
    for prevalence in prevalences:
        positives = round(sample_size * float(prevalence))
        counts = (positives, sample_size - positives)
        rows = np.concatenate([rng.choice(of_class, count) for of_class, count in zip(classes, counts)])
        yield Sample(positives / sample_size, rows)


def estimators(quantifier: Quantifier, training_prior: float) -> dict[str, Estimator]:
    """All estimators on top of one classifier: those of `quantification`, and the floor that each must beat.

    Parameters
    ----------
    quantifier : quantification.Quantifier. Measured on held-out rows.
    training_prior : float in (0, 1)

    Returns
    -------
    dict of str to Estimator
        "cc", "acc", "pcc", "pacc", "sld", and "training_prior", which answers with that number whatever it is shown.

    Raises
    ------
    ValueError
        If `training_prior` is out of range.
    """
    require(0 < training_prior < 1, "training_prior must lie strictly between 0 and 1", training_prior)
    named: dict[str, Estimator] = {method: partial(quantifier.prevalence, method=method) for method in METHODS}
    return {**named, "training_prior": lambda scores: float(training_prior)}


class PrevalenceShift(NamedTuple):
    """What the estimators answered on each set of a protocol."""

    sample_size: int
    prevalences: np.ndarray
    """The true ones, shape (m,)."""
    estimates: dict[str, np.ndarray]
    """Of each estimator, shape (m,)."""

    def errors(self) -> dict[str, dict[str, float]]:
        """Mean "ae", "rae" and "kld" of each estimator over all sets, smoothed with eps = 1 / (2 sample_size)."""
        of_each = {
            name: prevalence_errors(self.prevalences, estimates, 0.5 / self.sample_size)
            for name, estimates in self.estimates.items()
        }
        return {name: {error: float(np.mean(v)) for error, v in errors.items()} for name, errors in of_each.items()}


def prevalence_shift(
    scores: Any,
    signs: Any,
    estimators: Mapping[str, Estimator],
    *,
    sample_size: int = 500,
    grid: int = 21,
    repeats: int = 10,
    seed: Any = 0,
) -> PrevalenceShift:
    """Put estimators through the artificial-prevalence protocol.

    Parameters
    ----------
    scores : array of float, shape (n,). Of the test rows.
    signs : array, shape (n,), in {-1, +1}
    estimators : mapping of str to Estimator. All see the same sets.
    sample_size, grid, repeats, seed : see `artificial_prevalences`. Equal seeds give equal sets.

    Returns
    -------
    PrevalenceShift

    Raises
    ------
    ValueError
        If scores and signs differ in length, or as in `artificial_prevalences`.
    """
    scores, signs = np.asarray(scores, dtype=float), np.asarray(signs)
    require(scores.shape == signs.shape, f"one score per label is needed, shape {signs.shape}", scores.shape)
    samples = list(artificial_prevalences(signs, sample_size, grid=grid, repeats=repeats, seed=seed))
    answers = {
        name: np.array([estimate(scores[sample.rows]) for sample in samples]) for name, estimate in estimators.items()
    }
    return PrevalenceShift(sample_size, np.array([sample.prevalence for sample in samples]), answers)
