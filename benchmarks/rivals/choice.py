"""What is chosen on the validation rows, and the values of the choice on the test rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aesara_nondecomp import measures, metrics
from benchmarks.rivals.sets import signs_of

MEASURES = ("f1", "min", "qmean", "gmean", "jaccard")
PROBABILITY = ("log_loss", "ece")
"""Of the probabilities of a model that was trained or chosen for `PROBABILITY_FOR`; smaller is better."""
PROBABILITY_FOR = "f1"
BINS = 15
SMALLEST = float(np.finfo(np.float32).eps)
"""Probabilities are at least this far from 0 and 1 in the log loss."""


class Candidate(NamedTuple):
    """A trained model: probabilities of the positive class."""

    held: np.ndarray
    test: np.ndarray
    cut: float = 0.5
    """Where the model cuts its probabilities if no threshold is chosen."""


class Chosen(NamedTuple):
    """The candidate and the cut that are best on the validation rows."""

    candidate: Candidate
    cut: float
    value: float
    """On the validation rows."""


def choose(candidates: Sequence[Candidate], measure: str, y_held: np.ndarray, tuned: bool) -> Chosen:
    """The best candidate by a measure on the validation rows.

    Parameters
    ----------
    candidates : sequence of Candidate
        At least one; the first of equals is taken.
    measure : str
        A measure of the catalogue that is better if it is larger.
    y_held : array, shape (n_held,)
        Labels of the validation rows, 1 or 0.
    tuned : bool
        Whether each candidate is cut at its best threshold, or at its own cut.

    Returns
    -------
    Chosen
        The candidate and its cut.
    """
    signs = signs_of(y_held)
    found = []
    for candidate in candidates:
        if tuned:
            found.append(Chosen(candidate, *metrics.best_threshold(measure, candidate.held, signs)))
        else:
            found.append(Chosen(candidate, candidate.cut, value_of(measure, candidate.held, signs, candidate.cut)))
    return max(found, key=lambda chosen: chosen.value)


def value_of(measure: str, probabilities: np.ndarray, signs: np.ndarray, cut: float) -> float:
    """Value of the predictions above a cut."""
    return float(metrics.score(measures.get(measure), metrics.confusion_at_threshold(probabilities, signs, cut)))


def values_of(
    candidates: Sequence[Candidate], asked: Sequence[str], y_held: np.ndarray, y_test: np.ndarray, tuned: bool
) -> dict[str, float]:
    """Test values of what is chosen for each measure.

    Parameters
    ----------
    candidates : sequence of Candidate
        The trained models.
    asked : sequence of str
        Names of `MEASURES`.
    y_held : array, shape (n_held,)
        Labels of the validation rows, 1 or 0.
    y_test : array, shape (n_test,)
        Labels of the test rows, 1 or 0.
    tuned : bool
        As in `choose`.

    Returns
    -------
    dict of str to float
        One value for each measure, and before `PROBABILITY_FOR` those of `PROBABILITY`.
    """
    values = {}
    for measure in asked:
        chosen = choose(candidates, measure, y_held, tuned)
        if measure == PROBABILITY_FOR:
            values.update(probability_values(chosen.candidate.test, y_test))
        values[measure] = value_of(measure, chosen.candidate.test, signs_of(y_test), chosen.cut)
    return values


def probability_values(probabilities: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Log loss and expected calibration error of probabilities of the positive class."""
    return {"log_loss": log_loss(probabilities, y), "ece": calibration_error(probabilities, y)}


def log_loss(probabilities: np.ndarray, y: np.ndarray) -> float:
    """Mean of minus the logarithm of the probability of the true class."""
    of_truth = np.where(y > 0, probabilities, 1.0 - probabilities)
    return float(-np.mean(np.log(np.clip(of_truth, SMALLEST, 1.0))))


def calibration_error(probabilities: np.ndarray, y: np.ndarray) -> float:
    """Mean distance of the share of positives from the mean probability in 15 bins of equal width, by their rows."""
    bins = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    excess = np.bincount(bins, weights=(y > 0) - probabilities, minlength=BINS)
    return float(np.abs(excess).sum() / len(y))
