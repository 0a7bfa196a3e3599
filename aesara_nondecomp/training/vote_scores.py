"""Scores of held-out rows as a vote has them: those of single networks, drawn together.

Each row held out has the score of the one network that was not trained on it, and new rows get the mean score of all
networks. A mean varies less from row to row, so fewer rows are far out: with a rare class, the vote exceeded a
threshold that was chosen on single scores up to a fifth less often. The scores of single networks are therefore mapped
to those that a vote would have, in their order:

1. The other networks' scores of a held-out row are too good, as these were trained on it. Within each class they are
   mapped, rank by rank, to the scores of held-out rows.
2. The mean of all networks is the row's vote. Single votes still know a little too much of their row, so only their
   distribution is used: the k-th largest held-out score becomes the k-th largest vote.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def vote_scores(scores: Array, outside: Array, truth: Array) -> Array:
    """Scores of held-out rows, with the distribution that votes of all networks would have.

    Parameters
    ----------
    scores : array, shape (k, n) or (k, n, L)
        Of each network, of every row that is held out from one of them; of several labels for each.
    outside : int array, shape (n,)
        The network that was not trained on the row.
    truth : array, shape (n,) or (n, L)
        Labels, of two values.

    Returns
    -------
    array, shape (n,) or (n, L)
        In the order of the scores of the networks that were not trained on the rows. Equal scores stay equal.
    """
    if scores.ndim == 3:
        columns = [vote_scores(scores[:, :, label], outside, truth[:, label]) for label in range(scores.shape[2])]
        return np.stack(columns, axis=1)
    rows = np.arange(len(outside))
    own = scores[outside, rows].astype(np.float64)
    votes = np.zeros(len(rows))
    for network, of_network in enumerate(scores):
        votes += np.where(outside == network, own, _unseen(of_network, outside != network, own, truth))
    return _in_order_of(own, votes / len(scores)).astype(scores.dtype)


def _unseen(scores: Array, seen: Array, own: Array, truth: Array) -> Array:
    """A network's scores of rows that it was trained on, mapped within each class to those of held-out rows."""
    from scipy.stats import rankdata  # takes long to load

    mapped = np.zeros(len(scores))
    for label in np.unique(truth):
        known, held = np.sort(own[truth == label]), seen & (truth == label)
        places, ranks = np.arange(len(known)) + 0.5, rankdata(scores[held]) - 0.5
        mapped[held] = np.interp(ranks / max(len(ranks), 1), places / len(known), known)
    return mapped


def _in_order_of(own: Array, votes: Array) -> Array:
    """The votes, sorted as the scores are; rows of equal scores get the mean of theirs."""
    _, place, count = np.unique(own, return_inverse=True, return_counts=True)
    place = place.reshape(-1)  # NumPy 2.0 has given it other shapes
    sums = np.bincount(place[np.argsort(own, kind="stable")], weights=np.sort(votes))
    return np.asarray((sums / count)[place])
