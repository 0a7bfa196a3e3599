"""`network="auto"`: the network of a table follows from its columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import is_sparse
from aesara_nondecomp._checks import require
from aesara_nondecomp.data import BatchSource, Standardiser
from aesara_nondecomp.data.columns import (
    FEW_BINS,
    JAGGED,
    SPIKY,
    TAILED,
    bins_of_columns,
    columns_to_bin,
    numeric_columns,
    room_for_bins,
    weak_columns,
)
from aesara_nondecomp.networks import Network
from aesara_nondecomp.networks.tabular import Bin

SAMPLED_ROWS = 10_000  # medians and quartiles of more rows would hardly differ
BINNED_ROWS = 100_000  # a column of amounts that are rare needs more of them
WIDTHS, WIDE, WIDE_SCORES, WIDE_ROWS = (64, 64), (128, 128), 6, 500


class TableNetwork(NamedTuple):
    """Makes "tabular" for rows with numeric columns, and "mlp" for binary ones, sparse or distributed rows.

    Attributes
    ----------
    make : callable (name, size, options) -> Network or TrainFunctions
        Builds a network by name for a number of columns, with options in a dict.
    otherwise : {"mlp", "tabular"}, default "mlp"
        The network of other rows.
    n_scores : int, default 1
        Number of scores of a row.
    """

    make: Callable[[str, int, dict[str, Any]], Any]
    otherwise: str = "mlp"
    n_scores: int = 1

    def __call__(self, size: int) -> Any:
        """The network of rows of which only the number of columns is known."""
        return self.make(self.otherwise, size, {})

    def of_rows(self, rows: Any, labels: NDArray[Any], weight: NDArray[Any] | None) -> tuple[Any, Standardiser] | None:
        """The network of dense rows with numeric columns, and their scaling.

        Parameters
        ----------
        rows : array, CSR matrix, LazyRows or BatchSource, shape (n, d)
            Training rows, encoded but not scaled.
        labels : array, shape (n,)
            Their labels, of any number of classes.
        weight : array, shape (n,), or None
            Their sample weights.

        Returns
        -------
        tuple of (Network or TrainFunctions, Standardiser), or None
            None for other rows, which the mlp takes.
        """
        if isinstance(rows, BatchSource) or is_sparse(rows) or not np.issubdtype(rows.dtype, np.number):
            return None
        chosen = _some_rows(len(rows), SAMPLED_ROWS)
        sample, of_sample = _taken(chosen, rows, weight)
        numeric = numeric_columns(sample)
        if not numeric or not np.isfinite(sample).all():  # what is not finite is refused where it is prepared
            return None
        scaling, weak = _scaling_and_weak(sample, numeric, labels[chosen], of_sample)
        telling = [column for column in numeric if column not in weak]
        to_bin = columns_to_bin(scaling.transform(sample, np.float64), telling, labels[chosen])
        bins = _bins(rows, labels, to_bin, scaling)
        if bins is None:
            return None
        options = {"hidden": _widths(self.n_scores, len(rows)), "numeric": tuple(numeric), "bins": tuple(bins)}
        return self.make("tabular", rows.shape[1], options), scaling


def network_maker(network: Any, make: Callable[[Any, int, dict[str, Any]], Any], n_scores: int = 1) -> Any:
    """What makes the network of a call once its rows are known.

    Parameters
    ----------
    network : str, callable or None
        As given to `fit`; None stands for "auto".
    make : callable (network, size, options) -> Network or TrainFunctions
        Makes a network for a number of columns, with options in a dict.
    n_scores : int, default 1
        Number of scores of a row.

    Returns
    -------
    callable (size) -> Network or TrainFunctions
        A TableNetwork for "tabular", which takes any rows, and for "auto", which is an mlp where that does not fit.
    """
    if network is None or isinstance(network, str) and network in ("auto", "tabular"):
        return TableNetwork(make, "tabular" if network == "tabular" else "mlp", n_scores)
    return lambda size: make(network, size, {})


def scaling_for(network: Network, rows: Any, labels: NDArray[Any], weight: NDArray[Any] | None) -> Standardiser | None:
    """The scaling that a network takes which is made already: a tabular one that of all numeric columns.

    Parameters
    ----------
    network : Network
        Whose bins, if it has any, are in units of this scaling.
    rows : array, CSR matrix, LazyRows or BatchSource, shape (n, d)
        Training rows, encoded but not scaled.
    labels : array, shape (n,)
        Their labels, of any number of classes.
    weight : array, shape (n,), or None
        Their sample weights.

    Returns
    -------
    Standardiser or None
        None for other networks, and where rows are not scaled or not finite.

    Raises
    ------
    ValueError
        If a network with bins gets rows that are not scaled here.
    """
    description = network.description or {}
    if description.get("builder") != "tabular":
        return None
    if isinstance(rows, BatchSource) or is_sparse(rows):
        needed = "bins of a tabular network are in units of scaled columns, so that it needs dense rows in memory"
        require(not description["bins"], f"{needed}, or a model to train further, which keeps its scaling", "others")
        return None
    chosen = _some_rows(len(rows), SAMPLED_ROWS)
    sample, of_sample = _taken(chosen, rows, weight)
    if not np.isfinite(sample).all():
        return None
    columns = sorted({*description["numeric"], *numeric_columns(sample)})
    return _scaling_and_weak(sample, columns, labels[chosen], of_sample)[0]


def _scaling_and_weak(
    sample: NDArray[np.float64], columns: list[int], labels: NDArray[Any], weight: NDArray[Any] | None
) -> tuple[Standardiser, list[int]]:
    """The scaling of numeric columns, and those that tell nothing of labels, which have the spread of one together.

    A network would learn single rows by many columns that tell nothing.
    """
    weak = weak_columns(sample, columns, labels)
    return Standardiser.robust(sample, columns, weight).with_as_one(weak), weak


def _taken(
    chosen: NDArray[np.intp], rows: Any, weight: NDArray[Any] | None
) -> tuple[NDArray[np.float64], NDArray[Any] | None]:
    """Some rows, and their weights."""
    return np.asarray(rows[chosen], dtype=np.float64), None if weight is None else weight[chosen]


def _widths(n_scores: int, n_rows: int) -> tuple[int, int]:
    """The widths of the hidden layers; wide ones of many classes overfit a few hundred rows."""
    return WIDE if n_scores >= WIDE_SCORES and n_rows >= WIDE_ROWS else WIDTHS


def _bins(rows: Any, labels: NDArray[Any], to_bin: Mapping[str, list[int]], scaling: Standardiser) -> list[Bin] | None:
    """Bins of columns of several kinds, in units of the network's input; None if they are not finite."""
    columns = sorted(column for of_kind in to_bin.values() for column in of_kind)
    if not columns:
        return []
    sharing = len(to_bin[SPIKY]) or len(to_bin[TAILED]) or 1
    few = not to_bin[JAGGED] and room_for_bins(len(rows)) // sharing <= FEW_BINS
    chosen = _some_rows(len(rows), SAMPLED_ROWS if few else BINNED_ROWS)
    blocks = np.array_split(chosen, -(-len(chosen) // SAMPLED_ROWS))
    values = np.concatenate([np.asarray(rows[block])[:, columns] for block in blocks])
    if not np.isfinite(values).all():
        return None
    of_columns = Standardiser(scaling.mean_[columns], scaling.scale_[columns], scaling.clip)
    return bins_of_columns(of_columns.transform(values, np.float64), columns, labels[chosen], len(rows))


def _some_rows(n_rows: int, most: int) -> NDArray[np.intp]:
    """Indices of at most so many rows, in order. They are drawn: every third row may be of another kind."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, most, replace=False, shuffle=False))
