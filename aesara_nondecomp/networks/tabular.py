"""Networks of numeric columns: periodic features and bins of them, below dense layers."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._aesara.imports import aesara
from aesara_nondecomp._checks import number, positive_int, require
from aesara_nondecomp.networks.feedforward import (
    Shapes,
    _check_layers,
    _dense_shapes,
    _initial_values,
    _layer_sizes,
    _layered,
    _scheme,
)
from aesara_nondecomp.networks.members import member_layers
from aesara_nondecomp.networks.network import Network
from aesara_nondecomp.ops import periodic

Bin = tuple[int, float, float]  # column, low, high


def tabular(
    n_features: int,
    hidden: Sequence[int] = (64, 64),
    *,
    numeric: Sequence[int] | None = None,
    bins: Sequence[Bin] = (),
    frequencies: int = 16,
    outputs: int = 3,
    members: int = 1,
    activation: str = "relu",
    dropout: float = 0.0,
    dtype: str = "float32",
    n_scores: int = 1,
    seed: Any = None,
) -> Network:
    """Make a multi-layer perceptron on clipped columns, periodic features of them and bins.

    A numeric column x, scaled to about unit spread, enters as s = x / sqrt(1 + (x / 3)^2), which lies in (-3, 3), and
    as features sum_f cos(2 pi s W_f + c_f) V_fe + b_e with weights of its own. So a dense layer sees steps and bumps
    of a column that it would need many units to form. A bin enters as the place of its column between its ends, cut at
    0 and 1: for columns in which some values are very frequent.

    Parameters
    ----------
    n_features : int
        Number of columns d, at least 1.
    hidden : sequence of int, default (64, 64)
        Widths of the hidden layers, each at least 1, from input to output.
    numeric : sequence of int, optional
        Indices of the columns to clip and to give periodic features; others enter as they are. Default: all.
    bins : sequence of (int, float, float), default ()
        Column, low and high end of each bin, in units of the network's input. A bin of no width gives 0.
    frequencies : int, default 16
        Number of cosines of each numeric column, at least 1.
    outputs : int, default 3
        Number of features of each numeric column, at least 1.
    members : int, default 1
        Number k of members, at least 1. Above 1, each member multiplies what the dense layers see by factors of its
        own and has an output unit of its own; the layers between are shared. Each is trained on its own rewards, and
        the score is their mean. A step takes about three times as long with 4 members, and six times with 8.
    activation : {"relu", "leaky_relu", "elu", "tanh", "sigmoid", "softplus", "identity"}, default "relu"
        Activation of every hidden layer.
    dropout : float, default 0.0
        Probability in [0, 1) of dropping a hidden unit in training, as for `mlp`.
    dtype : {"float32", "float64"}, default "float32"
        Dtype of parameters and scores.
    n_scores : int, default 1
        Number of output units: of several classes one for each.
    seed : int, numpy Generator or None, optional
        Seed of the initial weights and of the dropout masks. Dense layers start as those of `mlp`; W is normal with
        deviation 0.1, c uniform in (-pi, pi), V and b uniform within 1 / sqrt(frequencies) of 0, and the factors of
        members are random signs.

    Returns
    -------
    Network
        With hidden layers, the last one is its `features`, and the output units are its `head`. An L2 penalty applies
        to V and the weights of the dense layers.

    Raises
    ------
    ValueError
        If a width or number is below 1, members have no hidden layer to share or more than one score, a column is none
        of the d or is listed twice as numeric, a bin is no such triple or ends before it starts, the activation is
        unknown (the nearest is suggested), dropout lies outside [0, 1), or the dtype is neither of the two.

    Notes
    -----
    The features are those of RealMLP (Holzmueller, Grinsztajn and Steinwart 2024), the members those of TabM-mini
    (Gorishniy, Kotelnikov and Babenko 2025). Columns and bins are numbers in shared variables that are not trained:
    compiled code does not depend on them.
    """
    d, *widths, n_outputs = _layer_sizes(n_features, hidden, n_scores)
    _check_layers(activation, dropout, dtype)
    columns = list(range(d)) if numeric is None else [_column(column, d) for column in numeric]
    require(len(set(columns)) == len(columns), "each numeric column must be listed once", columns)
    triples = [_bin(each, d) for each in bins]
    shape = len(columns), positive_int("frequencies", frequencies), positive_int("outputs", outputs)
    k = _member_count(members, widths, n_outputs)
    sizes = [d + len(columns) * shape[2] + len(triples), *widths, max(k, n_outputs)]

    def draw(rng: np.random.Generator) -> list[NDArray[Any]]:
        block = [value.astype(dtype) for value in _block_values(*shape, rng)]
        factors = [rng.choice([-1.0, 1.0], (k, sizes[0])).astype(dtype)] if k > 1 else []
        return [*block, *factors, *_initial_values(sizes, _scheme("auto", activation), dtype, rng)]

    def block(X: Any, W: Any, c: Any, V: Any, b: Any, *factors: Any) -> Any:
        columns = periodic(X, places, W, c, V, b, *ends)
        return (columns, *factors) if factors else columns

    names = ("columns", "bin_columns", "bin_low", "bin_rate")
    values = (np.array(columns, "int32"), *bin_values(triples, dtype))
    places, *ends = (aesara.shared(value, name=name) for name, value in zip(names, values))
    description = {
        "builder": "tabular",
        "n_features": d,
        "hidden": widths,
        "numeric": columns,
        "bins": [[*each] for each in triples],
        "frequencies": shape[1],
        "outputs": shape[2],
        "members": k,
        "activation": activation,
        "dropout": dropout,
        "dtype": dtype,
        "n_scores": n_outputs,
    }
    return _layered(
        d,
        draw,
        description,
        seed,
        block=block,
        block_names=("W", "c", "V", "b", *(["R"] if k > 1 else [])),
        undecayed=("W", "c", "b", "R"),
        forward=member_layers if k > 1 else None,
    )


def tabular_shapes(
    n_features: int,
    hidden: Sequence[int] = (64, 64),
    numeric: Sequence[int] | None = None,
    bins: Sequence[Bin] = (),
    frequencies: int = 16,
    outputs: int = 3,
    n_scores: int = 1,
    members: int = 1,
    **_: Any,
) -> Shapes:
    """The shapes of the parameters of a `tabular`.

    Parameters
    ----------
    n_features : int
        As for `tabular`.
    hidden : sequence of int, default (64, 64)
        As for `tabular`.
    numeric : sequence of int, optional
        As for `tabular`.
    bins : sequence of (int, float, float), default ()
        As for `tabular`.
    frequencies : int, default 16
        As for `tabular`.
    outputs : int, default 3
        As for `tabular`.
    n_scores : int, default 1
        As for `tabular`.
    members : int, default 1
        As for `tabular`.
    **_ : object
        All else has no effect on them.

    Returns
    -------
    list of tuple of int

    Raises
    ------
    ValueError
        If a width or number is below 1, or members have no hidden layer to share or more than one score.
    """
    d, *widths, k = _layer_sizes(n_features, hidden, n_scores)
    columns = d if numeric is None else len(numeric)
    f, e = positive_int("frequencies", frequencies), positive_int("outputs", outputs)
    block: Shapes = [(columns, f), (columns, f), (columns, f, e), (columns, e)]
    n_members, width = _member_count(members, widths, k), d + columns * e + len(bins)
    factors: Shapes = [(n_members, width)] if n_members > 1 else []
    return [*block, *factors, *_dense_shapes([width, *widths, max(k, n_members)])]


def _member_count(members: Any, widths: Sequence[int], n_scores: int) -> int:
    k = positive_int("members", members)
    require(k == 1 or len(widths) > 0, "members share hidden layers: give widths, or leave members out", members)
    require(k == 1 or n_scores == 1, "members are of networks with one score: leave members out", members)
    return k


def _column(column: Any, d: int) -> int:
    try:
        found = -1 if isinstance(column, (bool, np.bool_)) else operator.index(column)
    except TypeError:
        found = -1
    require(0 <= found < d, f"a column must be a whole number from 0 to {d - 1}", column)
    return found


def _bin(given: Any, d: int) -> Bin:
    require(isinstance(given, Sequence) and len(given) == 3, "a bin must be (column, low end, high end)", given)
    column, low, high = _column(given[0], d), *(number("an end of a bin", end) for end in given[1:])
    require(-np.inf < low <= high < np.inf, "a bin must have finite ends in ascending order", given)
    return column, low, high


def bin_values(bins: Sequence[Bin], dtype: str) -> list[NDArray[Any]]:
    """Bins as `ops.periodic` takes them.

    Parameters
    ----------
    bins : sequence of (int, float, float)
        Column, low and high end of each.
    dtype : {"float32", "float64"}
        Of the ends.

    Returns
    -------
    list of array, each of shape (k,)
        Columns (int32), low ends and rates.
    """
    columns = np.array([column for column, _, _ in bins], "int32")
    # Within the type, so that neither an end nor a rate is infinite: that would give NaN at the low end.
    most, least = float(np.finfo(dtype).max) / 4, float(np.finfo(dtype).tiny)
    low, high = (np.clip(np.array([each[end] for each in bins], "float64"), -most, most) for end in (1, 2))
    rate = np.where(high > low, 1 / np.maximum(high - low, least), 0)
    return [columns, low.astype(dtype), rate.astype(dtype)]


def _block_values(d: int, f: int, e: int, rng: np.random.Generator) -> list[NDArray[Any]]:
    limit = f**-0.5
    frequencies, phases = rng.normal(0.0, 0.1, (d, f)), rng.uniform(-np.pi, np.pi, (d, f))
    return [frequencies, phases, rng.uniform(-limit, limit, (d, f, e)), rng.uniform(-limit, limit, (d, e))]
