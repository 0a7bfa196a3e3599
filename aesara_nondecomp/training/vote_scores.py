"""Held-out scores of single networks, shrunk to the distribution that a vote's scores have on new rows.

Each row held out has the score of the one network that was not trained on it, and new rows get the mean score of all
networks. A mean varies less from row to row, so fewer rows are far out: with a rare class, the vote exceeded a
threshold that was chosen on single scores up to a fifth less often. The scores of single networks are therefore mapped
to those that a vote would have, in their order:

1. The other networks' scores of a held-out row are too good, as these were trained on it. Within each class they are
   mapped, quantile by quantile, to the scores of held-out rows.
2. The mean of all networks is the row's vote. Single votes still know a little too much of their row, so only their
   distribution is used: a quantile of the held-out scores becomes that of the votes.
3. Rows that occur often, as in tables of few categories, are learned from so many others that their votes know nothing
   of a single one. They get the vote itself: all of them lie on one side of a threshold, which must be the right one.

Of K classes a row has K scores, and which class is predicted depends on all of them, so that no score alone can be
mapped in its order. There step 2 takes the middle between the row's own scores, which vary too much, and its vote,
which knows too much.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_OFTEN = 20  # equal rows among those held out
_LAST_DIGITS = 8  # in units of rounding


def vote_scores(
    scores: Array, outside: Array, truth: Array, weight: Array | None = None, group: Array | None = None
) -> Array:
    """Scores of held-out rows, with the distribution that votes of all networks would have.

    Parameters
    ----------
    scores : array, shape (k, n), (k, n, L) or (k, n, K)
        Of each network, of every row that is held out from one of them; of several labels or K classes for each.
    outside : int array, shape (n,)
        The network that the row was held out from.
    truth : array, shape (n,) or (n, L)
        Labels, of two values; of K classes the cells of the rows, shape (n,).
    weight : array, shape (n,), optional
        Sample weights. Default: equal weights.
    group : int array, shape (n,), optional
        Groups of rows of two classes whose rates play a part, each of which is mapped by itself: a vote may shrink the
        spread of their scores by different factors.

    Returns
    -------
    array, shape (n,), (n, L) or (n, K)
        Of two classes and of labels, within a group in the order of the scores of the networks that the rows were held
        out from, except for rows that occur often. Of K classes their mean is 0.
    """
    weight = np.ones(len(outside)) if weight is None else weight
    if scores.ndim == 3 and truth.ndim == 1:
        return _of_classes(scores, outside, truth, weight).astype(scores.dtype)
    if scores.ndim == 3:
        columns = [vote_scores(scores[:, :, k], outside, truth[:, k], weight, group) for k in range(scores.shape[2])]
        return np.stack(columns, axis=1)
    if group is None:
        return _shrunk(scores, outside, truth, weight).astype(scores.dtype)
    mapped = np.empty(len(outside), scores.dtype)
    for each in np.unique(group):
        rows = np.flatnonzero(group == each)
        mapped[rows] = _shrunk(scores[:, rows], outside[rows], truth[rows], weight[rows])
    return mapped


def _shrunk(scores: Array, outside: Array, truth: Array, weight: Array) -> Array:
    own, honest = _honest_votes(scores, outside, truth, weight)
    vote, often = _votes_of_repeated_rows(scores)
    return np.where(often, vote, _with_quantiles_of(honest, weight, own, weight))


def _of_classes(scores: Array, outside: Array, cell: Array, weight: Array) -> Array:
    vote, often = _votes_of_repeated_rows(scores)
    # Networks may differ by what all classes have in common.
    centred = _honest_votes(scores - scores.mean(axis=2, keepdims=True), outside, cell, weight)
    return np.where(often[:, None], vote - vote.mean(axis=1, keepdims=True), np.mean(centred, axis=0))


def _honest_votes(scores: Array, outside: Array, truth: Array, weight: Array) -> tuple[Array, Array]:
    """Each row's own score, and the mean of it and the other networks' scores, mapped to those of held-out rows."""
    own = scores[outside, np.arange(len(outside))].astype(np.float64)
    votes = own / len(scores)
    for held in (np.flatnonzero(truth == label) for label in np.unique(truth)):
        for network, of_network in enumerate(scores):
            seen = held[outside[held] != network]
            votes[seen] += _with_quantiles_of(own[held], weight[held], of_network[seen], weight[seen]) / len(scores)
    return own, votes


def _votes_of_repeated_rows(scores: Array) -> tuple[Array, Array]:
    """The votes, and which of them at least `_OFTEN` rows have."""
    votes, size = _ties(scores.mean(axis=0, dtype=np.float64), np.finfo(scores.dtype).eps)
    return votes, size.reshape(len(votes), -1).min(axis=1) >= _OFTEN


def with_one_value_for_ties(scores: Array) -> Array:
    """Scores in which rows that occur often have one value.

    Equal rows have scores that differ in their last digits, by the places they have in a block. Half of them must not
    lie on the other side of a threshold.

    Parameters
    ----------
    scores : array, shape (n,) or (n, L)
        Of a network.

    Returns
    -------
    array of the same shape and dtype
    """
    value, size = _ties(scores, np.finfo(scores.dtype).eps)
    return np.where(size >= _OFTEN, value, scores).astype(scores.dtype)


def _ties(values: Array, eps: Any) -> tuple[Array, Array]:
    """The smallest of the values that differ from each by last digits, and their number; column by column.

    Many different scores may follow each other as closely. Where they do not all lie within these digits, only equal
    ones are tied.
    """
    if values.ndim == 2:
        found = [_ties(column, eps) for column in values.T]
        return np.stack([value for value, _ in found], axis=1), np.stack([size for _, size in found], axis=1)
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    last_digits, gaps = _LAST_DIGITS * eps * np.abs(ranked).max(), np.diff(ranked, prepend=-np.inf)
    starts = gaps > last_digits
    first, size = _runs(starts)
    wide = ranked[first + size - 1] - ranked[first] > last_digits
    first, size = _runs(starts | np.repeat(wide, size) & (gaps > 0))
    tie = np.empty(len(values), dtype=np.intp)
    tie[order] = np.repeat(np.arange(len(first)), size)
    return ranked[first][tie], size[tie]


def _runs(starts: Array) -> tuple[Array, Array]:
    """Where the runs of a bool array begin that is true at their first places, and their lengths."""
    first = np.flatnonzero(starts)
    return first, np.diff(first, append=len(starts))


def _with_quantiles_of(target: Array, target_weight: Array, values: Array, weight: Array) -> Array:
    """Values, mapped in their order to the distribution of others; column by column."""
    if values.ndim == 2:
        pairs = zip(target.T, values.T)
        return np.stack([_with_quantiles_of(of, target_weight, column, weight) for of, column in pairs], axis=1)
    order = np.argsort(target, kind="stable")
    return np.interp(_shares_below(values, weight), _shares_below(target, target_weight)[order], target[order])


def _shares_below(values: Array, weight: Array) -> Array:
    """By weight the share of the values that lie below each; of equal ones half."""
    _, place = np.unique(values, return_inverse=True)
    place = place.reshape(-1)  # NumPy 2.0 gave it other shapes
    of_place = np.bincount(place, weights=weight)
    return np.asarray((np.cumsum(of_place) - 0.5 * of_place)[place] / (of_place.sum() or 1.0))
