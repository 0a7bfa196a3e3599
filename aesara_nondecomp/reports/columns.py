"""What each column contributes to a model's value, and how far the columns moved since training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from aesara_nondecomp._checks import random_generator
from aesara_nondecomp.data import InputEncoder
from aesara_nondecomp.data.rows import select_rows
from aesara_nondecomp.metrics.confusion import confusion_at_threshold, score
from aesara_nondecomp.reports.facts import measure_of_rates

Array = NDArray[Any]
MOST_COLUMNS, REPEATS = 150, 3
MOST_ROWS, FEWEST_ROWS, MOST_SCORED = 4000, 500, 600_000  # rows to shuffle, fewer where there are many columns
MOVED = 0.5  # of a column's spread in training, from which on its shift is told


class Importance(NamedTuple):
    """What is lost when the cells of a column are shuffled over the rows.

    Attributes
    ----------
    column : str
        Its name.
    loss : float
        Of the measure trained for (`facts.measure_of_rates`), where a loss is above 0; mean of the shuffles.
    low : float
        The smallest loss of a shuffle.
    high : float
        The largest loss of a shuffle.
    """

    column: str
    loss: float
    low: float
    high: float


class Shift(NamedTuple):
    """How far a column of the encoded rows moved since training.

    Attributes
    ----------
    column : str
        Its name.
    trained : float
        Its mean or median in training.
    found : float
        The same of these rows.
    spreads : float
        The distance of the two, in standard deviations or quartile distances of the column in training.
    """

    column: str
    trained: float
    found: float
    spreads: float


def importances(
    model: Any, rows: Any, truth: Array, seed: Any, value: Callable[[Array, Array], float]
) -> list[Importance]:
    """Permutation importance of each column, on 500 to 4,000 rows, if there are as many.

    Parameters
    ----------
    model : Model
        The model.
    rows : array, LazyRows or CSR matrix, shape (n, d)
        The rows as its encoder makes them; of a table, the columns that one column became are
        shuffled together.
    truth : array, shape (n,) or (n, L)
        Labels, as `value` takes them.
    seed : int, numpy Generator or None
        Of rows and shuffles.
    value : callable (scores, truth) -> float
        How good scores are, larger is better.

    Returns
    -------
    list of Importance
        The most important column first; empty for texts, for sparse rows and for more than 150 columns.
    """
    if scipy.sparse.issparse(rows) or model.functions.network.takes_tokens:
        return []
    blocks = _blocks(model.encoder, rows.shape[1])
    if len(blocks) > MOST_COLUMNS:
        return []
    rng = random_generator(seed)
    scored = MOST_SCORED // (REPEATS * len(blocks) * (1 + len(model.voters)))
    chosen = _sample(len(truth), min(MOST_ROWS, max(FEWEST_ROWS, scored)), rng)
    sample, labels = np.asarray(select_rows(rows, chosen)), truth[chosen]
    whole, found = value(model._scores(sample), labels), []
    for name, block in blocks.items():
        losses = []
        for _ in range(REPEATS):
            shuffled = sample.copy()
            shuffled[:, block] = sample[rng.permutation(len(sample))[:, None], block]
            losses.append(whole - value(model._scores(shuffled), labels))
        found.append(Importance(name, float(np.mean(losses)), min(losses), max(losses)))
    return sorted(found, key=lambda each: -each.loss if np.isfinite(each.loss) else np.inf)


def value_at_threshold(model: Any) -> Callable[[Array, Array], float]:
    """How good the scores of a model of two classes are.

    Parameters
    ----------
    model : Model
        The model.

    Returns
    -------
    callable (scores, signs) -> float
        Its measure at its threshold, larger is better.
    """
    measure = measure_of_rates(model.measure)

    def value(scores: Array, signs: Array) -> float:
        return float(measure.oriented(score(measure, confusion_at_threshold(scores, signs, model.threshold))))

    return value


def shifts(encoder: InputEncoder, rows: Any, seed: Any) -> list[Shift]:
    """The columns that moved since training by at least half their spread, and by more than chance moves them.

    Parameters
    ----------
    encoder : InputEncoder
        Knows means and spreads of its training rows; without a standardiser it knows none.
    rows : array, LazyRows or CSR matrix, shape (n, d)
        The rows as it makes them, not yet standardised; 20,000 of them are looked at.
    seed : int, numpy Generator or None
        Of the rows looked at.

    Returns
    -------
    list of Shift
        The column that moved farthest first.
    """
    known = encoder.standardiser
    if known is None:
        return []
    chosen = _sample(rows.shape[0], 20_000, random_generator(seed))
    sample = np.asarray(select_rows(rows, chosen), np.float64)
    found = np.median(sample, axis=0) if known.holds_medians else sample.mean(axis=0)
    spreads = np.abs(found - known.mean_) / known.spread_
    measured = (known.mean_ != 0) | (known.scale_ != 1)  # otherwise the column was left as it is
    least = max(MOVED, 4 / np.sqrt(len(sample)))
    names = encoder.feature_names or [f"column {k}" for k in range(len(spreads))]
    order = [k for k in np.argsort(-spreads) if measured[k] and spreads[k] >= least]
    return [Shift(names[k], float(known.mean_[k]), float(found[k]), float(spreads[k])) for k in order]


def _blocks(encoder: InputEncoder, width: int) -> dict[str, list[int]]:
    """The columns of the encoded rows that belong to each column of the input."""
    if encoder.table is not None:
        return encoder.table.places
    names = encoder.names or [f"column {k}" for k in range(width)]
    return {name: [k] for k, name in enumerate(names)}


def _sample(n: int, most: int, rng: np.random.Generator) -> Array:
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))
