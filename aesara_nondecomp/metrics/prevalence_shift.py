"""Evaluation under prevalence shift: how well is a prevalence estimated when it is not that of the training set?

The artificial-prevalence protocol (APP) draws test sets from one labelled set at given prevalences, and asks every
estimator for the prevalence of each. The rows of a class keep their distribution: prior probability shift.

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
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_floats
from aesara_nondecomp._checks import number, positive_int, random_generator, require, share
from aesara_nondecomp.metrics.checks import check_same_length, checked_network_scores, checked_signs
from aesara_nondecomp.metrics.quantification import METHODS, Quantifier

Floats = NDArray[np.float64]
Estimator = Callable[[Floats], float]
"""From the scores of a set to the estimate of its prevalence."""


def prevalence_errors(true: Any, estimate: Any, eps: float) -> dict[str, Floats]:
    """Errors "ae", "rae" and "kld" of estimated prevalences.

    They equal the measures of those names on a confusion matrix, but also take estimates that are not counts.

    Parameters
    ----------
    true : float or array-like
        True prevalences, in [0, 1].
    estimate : float or array-like
        Estimated prevalences, in [0, 1].
    eps : float
        Smoothing of the prevalences in rae and kld, above 0: 1 / (2n) for sets of n rows.

    Returns
    -------
    dict of str to array
        Errors by name, of the common shape of `true` and `estimate`.

    Raises
    ------
    ValueError
        If a prevalence is outside [0, 1], `eps` is not positive, or the shapes do not broadcast.

    Notes
    -----
    Source: docs/algorithms.md 2.4, in terms of p and its estimate.
    """
    true, estimate = as_floats(true, "true"), as_floats(estimate, "estimate")
    for name, shares in (("true", true), ("estimate", estimate)):
        require(bool(np.all((shares >= 0) & (shares <= 1))), f"{name} must lie in [0, 1]", shares)
    needed = "a positive number, 1 / (2n) for sets of n rows"
    require(0 < number("eps", eps, needed) < float("inf"), f"eps must be {needed}", eps)
    try:
        np.broadcast_shapes(true.shape, estimate.shape)
    except ValueError:
        raise ValueError(f"true and estimate must broadcast, got {true.shape} and {estimate.shape}") from None
    ae = np.abs(true - estimate)
    rae = ae * 0.5 * (1.0 / (true + eps) + 1.0 / (1.0 - true + eps))
    kld = np.zeros_like(ae)
    for t, s in ((true, estimate), (1.0 - true, 1.0 - estimate)):
        kld = kld + (t + eps) / (1.0 + 2.0 * eps) * np.log((t + eps) / (s + eps))
    return {"ae": ae, "rae": rae, "kld": np.maximum(kld, 0.0)}


class Sample(NamedTuple):
    """A test set of the protocol.

    Attributes
    ----------
    prevalence : float
        Fraction of positives among its rows.
    rows : array of int
        Row indices, with repetitions.
    """

    prevalence: float
    rows: NDArray[np.intp]


def artificial_prevalences(
    signs: Any, sample_size: int, *, grid: int = 21, repeats: int = 10, seed: Any = None
) -> Iterator[Sample]:
    """Draw test sets at equidistant prevalences from 0 to 1.

    Parameters
    ----------
    signs : array-like, shape (n,)
        Labels in {-1, +1}, of both classes.
    sample_size : int
        Rows per test set, at least 1.
    grid : int, default 21
        Number of prevalences, at least 2: 0, 1 / (grid - 1), ..., 1.
    repeats : int, default 10
        Test sets per prevalence, at least 1.
    seed : int, numpy.random.Generator or None, optional
        Equal seeds give equal test sets.

    Yields
    ------
    Sample
        Rows are drawn with replacement within each class; the number of positives is the nearest to the prevalence.

    Raises
    ------
    ValueError
        If a class is missing, or a number is out of range.
    """
    signs = checked_signs("signs", signs)
    classes = [np.flatnonzero(signs == sign) for sign in (1, -1)]
    require(min(map(len, classes)) > 0, "signs must hold both -1 and +1", np.unique(signs).tolist())
    sample_size, repeats = positive_int("sample_size", sample_size), positive_int("repeats", repeats)
    require(positive_int("grid", grid) >= 2, "grid must be at least 2", grid)
    rng = random_generator(seed)
    return _samples(classes, sample_size, np.repeat(np.linspace(0.0, 1.0, grid), repeats), rng)


def _samples(
    classes: list[NDArray[np.intp]], sample_size: int, prevalences: Floats, rng: np.random.Generator
) -> Iterator[Sample]:
    for prevalence in prevalences:
        positives = round(sample_size * float(prevalence))
        counts = (positives, sample_size - positives)
        rows = np.concatenate([rng.choice(of_class, count) for of_class, count in zip(classes, counts)])
        yield Sample(positives / sample_size, rows)


def estimators(quantifier: Quantifier, training_prior: float) -> dict[str, Estimator]:
    """All estimators on top of one classifier: those of `quantification`, and the baseline that each must beat.

    Parameters
    ----------
    quantifier : Quantifier
        Fitted on held-out rows.
    training_prior : float
        Fraction of positives in the training set, in (0, 1).

    Returns
    -------
    dict of str to callable
        "cc", "acc", "pcc", "pacc", "sld", and "training_prior", which returns that number for every set.

    Raises
    ------
    ValueError
        If `training_prior` is out of range.
    """
    require(isinstance(quantifier, Quantifier), "quantifier must be a Quantifier", quantifier)
    training_prior = share("training_prior", training_prior)
    named: dict[str, Estimator] = {method: partial(quantifier.prevalence, method=method) for method in METHODS}
    return {**named, "training_prior": lambda scores: training_prior}


class PrevalenceShift(NamedTuple):
    """Estimates of every estimator on each test set of a protocol.

    Attributes
    ----------
    sample_size : int
        Rows per test set.
    prevalences : array, shape (m,)
        True prevalences of the m test sets.
    estimates : dict of str to array
        Estimated prevalences of each estimator, shape (m,).
    """

    sample_size: int
    prevalences: Floats
    estimates: dict[str, Floats]

    def errors(self) -> dict[str, dict[str, float]]:
        """Mean errors over all test sets, smoothed with eps = 1 / (2 sample_size).

        Returns
        -------
        dict of str to dict
            From each estimator to its "ae", "rae" and "kld".
        """
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
    """Evaluate estimators by the artificial-prevalence protocol.

    Parameters
    ----------
    scores : array-like, shape (n,) or (n, k)
        Scores of the test rows; or of each of k networks that vote, as from `Model.network_scores`.
    signs : array-like, shape (n,)
        Their labels in {-1, +1}, of both classes.
    estimators : mapping of str to callable
        From the name of each estimator to a function from scores to a prevalence, as `estimators` makes them. All see
        the same test sets.
    sample_size : int, default 500
        Rows per test set, at least 1.
    grid : int, default 21
        Number of prevalences, at least 2: 0, 1 / (grid - 1), ..., 1.
    repeats : int, default 10
        Test sets per prevalence, at least 1.
    seed : int, numpy.random.Generator or None, default 0
        Equal seeds give equal test sets.

    Returns
    -------
    PrevalenceShift
        Estimates and true prevalences of all test sets.

    Raises
    ------
    ValueError
        If scores and signs differ in length, or as in `artificial_prevalences`.
    """
    scores, signs = checked_network_scores(scores), checked_signs("signs", signs)
    check_same_length("scores", scores, "signs", signs)
    usable = isinstance(estimators, Mapping) and all(map(callable, estimators.values()))
    require(usable, "estimators must be a mapping of names to functions of scores", estimators)
    samples = list(artificial_prevalences(signs, sample_size, grid=grid, repeats=repeats, seed=seed))
    answers = {
        name: np.array([estimate(scores[sample.rows]) for sample in samples]) for name, estimate in estimators.items()
    }
    return PrevalenceShift(sample_size, np.array([sample.prevalence for sample in samples]), answers)
