"""A network of one's own, tried on a few rows before training: does it fit them, and score each by itself?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import is_sparse
from aesara_nondecomp._checks import require, shown
from aesara_nondecomp.data import select_rows
from aesara_nondecomp.networks import Network

ROWS = 6  # that are tried: more than two, as some may be alike
TOLERANCE = 1e-3  # of the largest score, for sums that BLAS adds up in another order


def check_scores(functions: Any, rows: Any, n_scores: int, needed: str) -> None:
    """Refuse a network that cannot score the rows, or not each by itself. Those that `networks.build` knows can.

    Parameters
    ----------
    functions : TrainFunctions, ClassFunctions or LabelFunctions
        Their weights stay as they are.
    rows : array, LazyRows, CSR matrix or DistributedRows, shape (n, d)
        Prepared for the network.
    n_scores : int
        Number of scores of a row.
    needed : str
        What is needed, for the message of another number.

    Raises
    ------
    ValueError
        If it fails on the rows, has another number of scores or another dtype than its input, or if the score of a row
        depends on the rows beside it.
    """
    network = functions.network
    found = network.n_scores
    require(found in (n_scores, None), needed, f"{found} scores")
    rows = getattr(rows, "own", rows)
    if network.description or not rows.shape[0]:
        return
    same = network.takes_tokens or network.inputs.dtype == network.dtype
    require(same, f"the network's input must be {network.dtype}, as its scores are", network.inputs.dtype)
    few = select_rows(rows, np.unique(np.linspace(0, rows.shape[0] - 1, ROWS).astype(int)))[:]
    few = few.toarray() if is_sparse(few) else few
    drawn = _drawn_parameters(network)  # at first weights of 0 no row would matter
    scores = _scores(functions, few, drawn)
    count = scores.size // len(few)
    require(count == n_scores and scores.size == count * len(few), needed, f"{count} scores")
    scores = scores.reshape(len(few), count)
    if _alike(scores, _scores(functions, few, drawn).reshape(scores.shape)):  # otherwise they are random
        alone = [_scores(functions, few[k : k + 1], drawn).reshape(1, -1) for k in range(len(few))]
        _check_alone(scores, np.concatenate(alone))


def _drawn_parameters(network: Network) -> list[NDArray[Any]]:
    """Parameters of the usual size."""
    rng = np.random.default_rng(0)
    shapes = [parameter.get_value(borrow=True).shape for parameter in network.parameters]
    drawn = [rng.normal(size=shape) / np.sqrt(shape[0] if len(shape) > 1 else 1) for shape in shapes]
    return [np.asarray(value, dtype=network.dtype) for value in drawn]


def _scores(functions: Any, rows: NDArray[Any], parameters: Sequence[NDArray[Any]]) -> NDArray[Any]:
    try:
        return np.asarray(functions.scores(rows, parameters=parameters))
    except Exception as error:  # whatever a graph of one's own raises
        why = str(error).strip().split("\n")[0]
        raise ValueError(
            f"the network cannot score rows of {rows.shape[1]} columns and dtype {rows.dtype}: {why}. It must take a "
            "batch of rows (b, columns), of any number b, and return one row of scores for each; its weights must have "
            "the shapes for that."
        ) from error


def _check_alone(together: NDArray[Any], alone: NDArray[Any]) -> None:
    """Raise a ValueError if rows get other scores by themselves than together."""
    if not _alike(together, alone):
        raise ValueError(
            "a row must have the same score whatever rows are in its batch, and this network gives "
            f"{shown(together[0].tolist())} to a row among {len(together)} and {shown(alone[0].tolist())} to it alone. "
            "Statistics of a batch, as of batch normalisation, belong in training_scores; in scores use fixed ones."
        )


def _alike(first: NDArray[Any], second: NDArray[Any]) -> bool:
    finite = np.abs(first[np.isfinite(first)])
    largest = float(finite.max()) if len(finite) else 0.0
    return bool(np.isclose(first, second, rtol=0, atol=TOLERANCE * largest, equal_nan=True).all())
