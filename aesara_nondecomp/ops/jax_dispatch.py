"""The fused Ops in JAX: the function that Aesara's JAX linker puts in the place of each, for a CPU or a GPU.

`translations` is the whole table.  Each entry mirrors the Op's `perform`; matrix products are computed in full float32
(a GPU's default has fewer digits), class sums and scalars in float64, and updates give new arrays, since JAX's arrays
are immutable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from aesara_nondecomp.ops.activations import softplus
from aesara_nondecomp.ops.attention import AttentionGradient, AttentionPool
from aesara_nondecomp.ops.cell_rewards import CellRewards
from aesara_nondecomp.ops.dense import CheckedDense, Dense, InputGradient, WeightGradient
from aesara_nondecomp.ops.dropout import Dropout
from aesara_nondecomp.ops.embedding import Rows
from aesara_nondecomp.ops.finite import AllFinite
from aesara_nondecomp.ops.lstm import LSTM, LSTMGradient, activated_gates, gate_gradients
from aesara_nondecomp.ops.periodic import Periodic, PeriodicGradient, angles, smooth_clip
from aesara_nondecomp.ops.rewards import CellRewardSums, RewardSums
from aesara_nondecomp.ops.row_update import RowUpdate
from aesara_nondecomp.ops.scaling import Standardise
from aesara_nondecomp.ops.update import FusedUpdate

_matmul = partial(jnp.matmul, precision=jax.lax.Precision.HIGHEST)


def translations() -> dict[type, Callable[..., Callable]]:
    """List the translations of all fused Ops.

    Returns
    -------
    dict
        Op type to a function (op -> function of JAX arrays).
    """
    return {
        RewardSums: lambda op: _reward_sums,
        CellRewardSums: lambda op: _cell_reward_sums,
        Dense: lambda op: partial(_dense, partial(op.functions.value, jnp)),
        CheckedDense: lambda op: partial(_checked_dense, partial(op.functions.value, jnp)),
        InputGradient: lambda op: partial(_input_gradient, partial(op.functions.slope, jnp)),
        WeightGradient: lambda op: partial(_weight_gradient, partial(op.functions.slope, jnp)),
        Dropout: lambda op: lambda x, kept, scale: x * jnp.asarray(kept, x.dtype) * jnp.asarray(scale, x.dtype),
        Standardise: lambda op: partial(_standardise, op.dtype),
        AllFinite: lambda op: lambda x: jnp.isfinite(x).all(),
        FusedUpdate: lambda op: partial(_fused_update, op.rule, op.position),
        RowUpdate: lambda op: partial(_row_update, op.rule, op.position),
        Rows: lambda op: _rows,
        LSTM: lambda op: _lstm,
        LSTMGradient: lambda op: partial(_lstm_gradient, bool(op.of_last)),
        AttentionPool: lambda op: _attention_pool,
        AttentionGradient: lambda op: _attention_gradient,
        Periodic: lambda op: _periodic,
        PeriodicGradient: lambda op: _periodic_gradient,
        CellRewards: lambda op: _cell_rewards,
    }


# -- rewards ---------------------------------------------------------------------------------------------------------


def _reward_sums(scores, y, weights, temperature):
    """Compute `ops.rewards.RewardSums`."""
    f, negative = scores.reshape(-1), y < 0
    rewards = _rewards(f, y, temperature)
    sums, total, per_row = _class_sums(f, y, rewards)
    # A class without a weight is left out, not multiplied by it: its sum may be infinite.
    objective = jnp.sum(jnp.where(weights == 0, 0, weights * sums[:4])) * jnp.where(total > 0, 1 / total, 0)
    of_sigmoid, of_logistic = (jnp.where(negative, weights[k + 1], weights[k]).astype(f.dtype) for k in (0, 2))
    slope = _reward_slope(f, y, per_row, of_sigmoid, of_logistic, temperature)
    return objective.astype(f.dtype), sums, slope.reshape(scores.shape)


def _cell_reward_sums(scores, y, cell, weights, temperature):
    """Compute `ops.rewards.CellRewardSums`."""
    f = scores.reshape(-1)
    rewards = _rewards(f, y, temperature)
    sums, total, per_row = _class_sums(f, y, rewards)
    of_rows = jnp.stack([jnp.abs(y).astype("float64") * reward.astype("float64") for reward in rewards], axis=1)
    of_rows = jnp.where(y[:, None] == 0, 0, of_rows)
    of_cells = jnp.zeros((weights.shape[0], 4)).at[cell].add(of_rows)
    weighted = jnp.where(weights == 0, 0, weights * of_cells[:, :2])
    objective = jnp.sum(weighted) * jnp.where(total > 0, 1 / total, 0)
    of_sigmoid, of_logistic = (weights[cell, k].astype(f.dtype) for k in (0, 1))
    slope = _reward_slope(f, y, per_row, of_sigmoid, of_logistic, temperature)
    return objective.astype(f.dtype), sums, of_cells, slope.reshape(scores.shape)


def _rewards(f, y, temperature):
    """The sigmoid, logistic and count reward of each row, and 1."""
    u = jnp.where(y < 0, -f, f)
    share, _ = _sigmoid_and_slope(u * (1 / temperature).astype(f.dtype))
    return share, 1 - softplus(jnp, -u), jnp.where(y < 0, f <= 0, f > 0), jnp.ones_like(u)


def _class_sums(f, y, rewards):
    """Class sums, their total weight, and the factor of a row."""
    weight, negative = jnp.abs(y), y < 0
    weight_of = [jnp.where(of_class, weight, 0).astype("float64") for of_class in (~negative, negative)]
    sums = jnp.stack([jnp.sum(w * reward.astype("float64")) for reward in rewards for w in weight_of])
    total = sums[6] + sums[7]
    return sums, total, jnp.where(total > 0, 1 / total, 0).astype(f.dtype)


def _reward_slope(f, y, per_row, of_sigmoid, of_logistic, temperature):
    """Derivative of the objective in each score."""
    u, scale = jnp.where(y < 0, -f, f), (1 / temperature).astype(f.dtype)
    ascent = of_sigmoid * _sigmoid_and_slope(u * scale)[1] * scale + of_logistic * _sigmoid_and_slope(-u)[0]
    return jnp.where(y == 0, 0, y * per_row * ascent)


def _sigmoid_and_slope(u):
    small = jnp.exp(-jnp.abs(u))
    share = 1 / (1 + small)
    return jnp.where(u > 0, share, small * share), small * share * share


# -- dense layers ----------------------------------------------------------------------------------------------------


def _dense(value, x, W, b):
    """Compute `ops.dense.Dense`."""
    return value(_matmul(x, W) + b)


def _checked_dense(value, x, W, b):
    """Compute `ops.dense.CheckedDense`."""
    return _dense(value, x, W, b), jnp.isfinite(x).all()


def _input_gradient(slope, out, upstream, W):
    """Compute `ops.dense.InputGradient`."""
    return _matmul(upstream * slope(out), W.T)


def _weight_gradient(slope, out, upstream, x):
    """Compute `ops.dense.WeightGradient`."""
    dz = upstream * slope(out)
    return _matmul(x.T, dz), jnp.sum(dz, axis=0, dtype="float64").astype(dz.dtype)


def _standardise(dtype, x, mean, scale, clip):
    """Compute `ops.scaling.Standardise` of that dtype, by default that of x."""
    dtype = dtype or x.dtype
    ratio = ((x.astype("float64") - mean) / scale).astype(dtype)
    return jnp.clip(ratio, -clip.astype(dtype), clip.astype(dtype)), jnp.isfinite(x).all()


# -- updates ---------------------------------------------------------------------------------------------------------


def _fused_update(rule, position: int, learning_rate, averaging, t, decay, p, g, *rest):
    """Compute `ops.update.FusedUpdate`."""
    *slots, average = rest
    t = t + 1.0
    new, new_slots = _moved(rule, p, g, slots, learning_rate, decay[position], t)
    left = 1 - (1 - averaging) / (1 - averaging**t)
    return (t, new, *new_slots, _towards(average, new, left), jnp.sqrt(_square(g)))


def _row_update(rule, position: int, learning_rate, averaging, t, decay, ids, gradients, *arrays):
    """Compute `ops.row_update.RowUpdate`: rows are gathered, updated and put back."""
    table, average, touched, *slots = arrays
    looked_up, where = jnp.unique(ids.T.reshape(-1), return_inverse=True, size=ids.size, fill_value=0)
    g = jnp.zeros((ids.size, table.shape[1]), gradients.dtype).at[where.reshape(-1)].add(gradients)
    padding = looked_up == 0
    g = jnp.where(padding[:, None], 0, g)
    now, since = t + 1.0, touched[looked_up]
    still = averaging ** (t - since) * (1 - averaging**since) / (1 - averaging**t)
    still = jnp.where(since == t, 1.0, still)
    old = table[looked_up]
    caught_up = _towards(average[looked_up], old, still[:, None])
    own = [slot[looked_up] for slot in slots]
    new, new_slots = _moved(rule, old, g, own, learning_rate, decay[position], now)
    new_average = _towards(caught_up, new, 1 - (1 - averaging) / (1 - averaging**now))
    # Row 0, padding, stays: JAX drops what is put outside the table.
    kept = jnp.where(padding, table.shape[0], looked_up)
    values = (new, new_average, jnp.full(len(kept), now), *new_slots)
    put = [old.at[kept].set(value, mode="drop") for old, value in zip(arrays, values)]
    return (*put, jnp.sqrt(_square(g)))


def _moved(rule, p, g, slots, learning_rate, decay, t):
    # The scalars are float64, so a float32 network's step is computed in float64, element by element, and rounded.
    new, new_slots = rule.step(p, g, slots, learning_rate, decay, t)
    return new.astype(p.dtype), [slot.astype(p.dtype) for slot in new_slots]


def _towards(average, p, left):
    return (p - left * (p - average)).astype(p.dtype)


def _square(g):
    return jnp.sum(jnp.square(g.astype("float64")))


# -- sequences -------------------------------------------------------------------------------------------------------


def _rows(table, ids):
    """Compute `ops.embedding.Rows`; JAX raises no error for an id beyond the table, but reads its last row."""
    return table[ids.T.reshape(-1)]


def _lstm(x, mask, W, U, bias):
    """Compute `ops.lstm.LSTM`."""
    (b, T), h = mask.shape, U.shape[0]

    def token(carried, given):
        h_before, c_before = carried
        projected, valid = given
        i, f, g, o = activated_gates(jnp, projected + _matmul(h_before, U))
        c = jnp.where(valid, f * c_before + i * g, c_before)
        state = jnp.where(valid, o * jnp.tanh(c), h_before)
        return (state, c), (state, c, jnp.concatenate([i, f, g, o], axis=1))

    start = jnp.zeros((b, h), x.dtype)
    projections = (_matmul(x, W) + bias).reshape(T, b, 4 * h)
    (last, _), kept = jax.lax.scan(token, (start, start), (projections, (mask.T != 0)[:, :, None]))
    return (last, *(array.reshape(T * b, -1) for array in kept))


def _lstm_gradient(of_last: bool, upstream, x, mask, W, U, states, cells, gates):
    """Compute `ops.lstm.LSTMGradient`."""
    (b, T), h = mask.shape, U.shape[0]
    states, cells, gates = (array.reshape(T, b, -1) for array in (states, cells, gates))
    start = jnp.zeros((b, h), x.dtype)
    before = [jnp.concatenate([start[None], array])[:T] for array in (states, cells)]
    of_token = jnp.zeros((T, b, h), x.dtype) if of_last else upstream.reshape(T, b, h)

    def token(carried, given):
        dh, dc = carried
        own_upstream, valid, c_before, c, own_gates = given
        dh = dh + own_upstream
        own, dc_before = gate_gradients(jnp, dh, dc, c_before, c, own_gates)
        own = jnp.where(valid, own, 0)
        return (jnp.where(valid, 0, dh) + _matmul(own, U.T), jnp.where(valid, dc_before, dc)), own

    given = (of_token, (mask.T != 0)[:, :, None], before[1], cells, gates)
    _, dgates = jax.lax.scan(token, (upstream if of_last else start, start), given, reverse=True)
    flat, previous = dgates.reshape(T * b, 4 * h), before[0].reshape(T * b, h)
    db = jnp.sum(flat, axis=0, dtype="float64").astype(x.dtype)
    return _matmul(flat, W.T), _matmul(x.T, flat), _matmul(previous.T, flat), db


def _attention_pool(energies, states, mask):
    """Compute `ops.attention.AttentionPool`."""
    (b, T), h = mask.shape, states.shape[1]
    valid = mask != 0
    e = jnp.where(valid, energies.reshape(T, b).T, -jnp.inf)
    largest = jnp.max(e, axis=1, keepdims=True)
    weights = jnp.where(valid, jnp.exp(jnp.where(valid, e - largest, 0)), 0)
    total = jnp.sum(weights, axis=1, keepdims=True)
    weights = weights / jnp.where(total > 0, total, 1)
    return _einsum("bt,tbh->bh", weights, states.reshape(T, b, h)), weights


def _attention_gradient(upstream, weights, states):
    """Compute `ops.attention.AttentionGradient`."""
    (b, T), h = weights.shape, states.shape[1]
    dweights = _einsum("bh,tbh->bt", upstream, states.reshape(T, b, h))
    mean = jnp.sum(weights * dweights, axis=1, keepdims=True)
    return (weights * (dweights - mean)).T.reshape(-1, 1), (weights.T[:, :, None] * upstream).reshape(-1, h)


_einsum = partial(jnp.einsum, precision=jax.lax.Precision.HIGHEST)


# -- columns ---------------------------------------------------------------------------------------------------------


def _periodic(X, columns, W, c, V, b, bin_columns, bin_low, bin_rate):
    """Compute `ops.periodic.Periodic`; JAX raises no error for an index beyond the columns."""
    clipped = smooth_clip(jnp, X[:, columns])
    own = X.at[:, columns].set(clipped)
    features = _einsum("bdf,dfe->bde", jnp.cos(angles(jnp, clipped, W, c)), V) + b
    bins = jnp.clip((X[:, bin_columns] - bin_low) * bin_rate, 0, 1)
    return jnp.concatenate([own, features.reshape(X.shape[0], b.size), bins], axis=1)


def _periodic_gradient(upstream, X, columns, W, c, V):
    """Compute `ops.periodic.PeriodicGradient`."""
    (b, width), (d, _, e) = X.shape, V.shape
    clipped = smooth_clip(jnp, X[:, columns])
    angle, g = angles(jnp, clipped, W, c), upstream[:, width : width + d * e].reshape(b, d, e)
    slope = -jnp.sin(angle) * _einsum("bde,dfe->bdf", g, V)
    frequencies = 2 * np.pi * _einsum("bdf,bd->df", slope, clipped)
    return frequencies, slope.sum(axis=0), _einsum("bdf,bde->dfe", jnp.cos(angle), g), g.sum(axis=0)


# -- several classes -------------------------------------------------------------------------------------------------


def _cell_rewards(scores, cell, weight, target, gains, logs, shift, temperature):
    """Compute `ops.cell_rewards.CellRewards`; JAX raises no error for a cell out of range."""
    (b, classes), m, dtype = scores.shape, target.shape[0], scores.dtype
    used, scale = jnp.clip(cell, 0, m - 1), (1 / temperature).astype(dtype)
    w = jnp.where(cell < 0, 0, weight).astype(dtype)
    share = jax.nn.softmax(scores * scale, axis=1)
    centred = scores - jnp.max(scores, axis=1, keepdims=True)  # before the shift, which would be rounded away
    log_shifted = jax.nn.log_softmax(centred + shift.astype(dtype), axis=1)
    own = jax.nn.one_hot(target[used], classes, dtype=dtype)
    first = jax.nn.one_hot(jnp.argmax(scores, axis=1), classes, dtype="float64")
    logistic = 1 + jnp.take_along_axis(log_shifted, target[used][:, None], axis=1)
    parts = [share.astype("float64"), first, logistic.astype("float64"), jnp.ones((b, 1))]
    # A row without a cell is left out, not multiplied by 0: its scores may be NaN.
    rows = jnp.where(cell[:, None] < 0, 0, w[:, None].astype("float64") * jnp.concatenate(parts, axis=1))
    sums = jnp.zeros((m, 2 * classes + 2)).at[used].add(rows)
    total = jnp.sum(sums[:, -1])
    inverse = jnp.where(total > 0, 1 / total, 0)
    value = jnp.sum(jnp.where(gains == 0, 0, gains * sums[:, :classes]))
    value += jnp.sum(jnp.where(logs == 0, 0, logs * sums[:, 2 * classes]))
    g = gains[used].astype(dtype)
    ascent = scale * share * (g - jnp.sum(g * share, axis=1, keepdims=True))
    ascent += logs[used].astype(dtype)[:, None] * (own - jnp.exp(log_shifted))
    slope = jnp.where(cell[:, None] < 0, 0, (w * inverse.astype(dtype))[:, None] * ascent)
    return (value * inverse).astype(dtype), sums, slope


# -- what has no translation -----------------------------------------------------------------------------------------


def untranslatable(outputs: Sequence[Any], table) -> list[str]:
    """Name the Ops in a graph that have no entry in Aesara's table, each with the parameters it works on.

    Parameters
    ----------
    outputs : sequence of symbolic variables
        Of the graph.
    table : functools.singledispatch function
        Aesara's `jax_funcify`.

    Returns
    -------
    list of str
        In the order of evaluation.
    """
    from aesara_nondecomp._aesara.imports import aesara

    default = table.dispatch(object)
    nodes = aesara.graph.basic.io_toposort(aesara.graph.basic.graph_inputs(outputs), outputs)
    return [f"{node.op}{_place(node)}" for node in nodes if table.dispatch(type(node.op)) is default]


def _place(node) -> str:
    named = [str(v.name) for v in node.inputs if v.name]
    return f" (of {', '.join(named)})" if named else ""
