"""The weighted rewards of a batch as one Op: objective, sums of classes or cells, and the derivative in the scores.

For a row with score f, signed weight y (the sign is the class, the size the row's weight, 0 marks padding) and margin
u = sign(y) f, docs/algorithms.md 1.2 defines

- the sigmoid reward  1 / (1 + exp(-u / temperature)),
- the logistic reward  1 - ln(1 + exp(-u)),
- the count reward  1 if the label rule "+1 iff f > 0" gives the row's own class, else 0.
"""

from __future__ import annotations

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, DisconnectedType, at
from aesara_nondecomp.metrics.cell_rates import CellSums, cell_sums
from aesara_nondecomp.metrics.class_rates import ClassSums, class_sums, reward_slopes
from aesara_nondecomp.ops.fused import FusedOp

N_SUMS, N_CELL_SUMS = len(ClassSums._fields), len(CellSums._fields)


class RewardSums(FusedOp):
    """The objective of a batch, its class sums, and the derivative of the objective in the scores.

    Notes
    -----
    Inputs: scores (b,) or (b, 1); y (b,); weights (4,) float64; temperature () float64.

    Outputs: the objective (), the class sums (8,) float64 in the order of `metrics.class_rates.ClassSums`, and
    d objective / d scores, in the shape of the scores.
    """

    __props__ = ()
    header, function = "rewards.h", "reward_sums<number>"
    connected = ((True, False, False), *[(False, False, False)] * 3)

    def make_node(self, scores, y, weights, temperature):
        scores, y = at.as_tensor_variable(scores), at.as_tensor_variable(y)
        if scores.ndim not in (1, 2) or y.ndim != 1 or scores.dtype != y.dtype:
            raise TypeError(
                "reward_sums needs scores of shape (b,) or (b, 1) and y of shape (b,), of one float type, "
                f"got scores with {scores.ndim} dimensions ({scores.dtype}) and y with {y.ndim} ({y.dtype}). "
                "Reshape or cast them."
            )
        weights, temperature = at.as_tensor_variable(weights), at.as_tensor_variable(temperature)
        if (weights.dtype, temperature.dtype, weights.ndim, temperature.ndim) != ("float64", "float64", 1, 0):
            raise TypeError("reward_sums needs float64 weights of shape (4,) and a float64 scalar temperature")
        objective = at.TensorType(scores.dtype, shape=())()
        sums = at.TensorType("float64", shape=(N_SUMS,))()
        return Apply(self, [scores, y, weights, temperature], [objective, sums, scores.type()])

    def grad(self, inputs, output_gradients):
        slope = self(*inputs)[2]
        return [output_gradients[0] * slope] + [DisconnectedType()() for _ in inputs[1:]]

    def perform(self, node, inputs, outputs):
        scores, y, weights, temperature = inputs
        if scores.shape not in (y.shape, (*y.shape, 1)) or weights.shape != (4,):
            raise ValueError(
                f"reward_sums needs one score per label and 4 weights, got scores {scores.shape}, "
                f"labels {y.shape} and weights {weights.shape}"
            )
        objective, sums, slope = reward_sums_numpy(scores.ravel(), y, weights, float(temperature))
        outputs[0][0] = np.asarray(objective, dtype=scores.dtype)
        outputs[1][0] = np.array(sums)
        outputs[2][0] = slope.reshape(scores.shape).astype(scores.dtype)


def reward_sums_numpy(scores, y, weights, temperature=1.0):
    """Compute what the Op computes in NumPy, in float64.

    Parameters
    ----------
    scores : array, shape (b,)
        Raw output of the last linear unit.
    y : array, shape (b,)
        Signed weights: +w positive, -w negative, 0 padding.
    weights : array, shape (4,)
        As for `reward_sums`.
    temperature : float, default 1.0
        Of the sigmoid reward, positive.

    Returns
    -------
    objective : float
        To be maximised.
    sums : metrics.class_rates.ClassSums
        Class sums of the rewards.
    slope : float64 array, shape (b,)
        Derivative of the objective in each score.
    """
    signed, f = np.asarray(y, dtype="float64"), np.asarray(scores, dtype="float64")
    sums = class_sums(f, signed, temperature)
    sigmoid_slope, logistic_slope = reward_slopes(np.sign(signed) * f, temperature)
    of_sigmoid, of_logistic = (np.where(signed > 0, weights[k], weights[k + 1]) for k in (0, 2))
    total = (sums.n_pos + sums.n_neg) or 1.0
    slope = signed / total * (of_sigmoid * sigmoid_slope + of_logistic * logistic_slope)
    return float(np.dot(weights, sums[:4])) / total, sums, slope


class CellRewardSums(FusedOp):
    """The same with weights of their own for each cell, whose sums it returns too.

    Notes
    -----
    Inputs: scores (b,) or (b, 1); y (b,); cell (b,) int32, in 0 .. m-1 also for padding,
    odd for positives and even for negatives; weights (m, 2) float64, of the
    sigmoid and of the logistic reward of a row; temperature () float64.

    Outputs: the objective (), the class sums (8,) float64, the cell sums (m, 4) float64 in the order of
    `metrics.cell_rates.CellSums`, and d objective / d scores, in the shape of the scores.
    """

    __props__ = ()
    header, function = "rewards.h", "cell_reward_sums<number>"
    connected = ((True, False, False, False), *[(False,) * 4] * 4)

    def make_node(self, scores, y, cell, weights, temperature):
        scores, y, cell = (at.as_tensor_variable(v) for v in (scores, y, cell))
        if scores.ndim not in (1, 2) or (y.ndim, cell.ndim) != (1, 1) or scores.dtype != y.dtype:
            raise TypeError("cell_reward_sums needs scores (b,) or (b, 1), and y (b,) of their type and cell (b,)")
        weights, temperature = at.as_tensor_variable(weights), at.as_tensor_variable(temperature)
        found = (cell.dtype, weights.dtype, temperature.dtype, weights.ndim, temperature.ndim)
        if found != ("int32", "float64", "float64", 2, 0):
            raise TypeError("cell_reward_sums needs int32 cells, float64 weights (m, 2) and a float64 temperature ()")
        objective = at.TensorType(scores.dtype, shape=())()
        class_sums = at.TensorType("float64", shape=(N_SUMS,))()
        of_cells = at.TensorType("float64", shape=(None, N_CELL_SUMS))()
        return Apply(self, [scores, y, cell, weights, temperature], [objective, class_sums, of_cells, scores.type()])

    def grad(self, inputs, output_gradients):
        slope = self(*inputs)[3]
        return [output_gradients[0] * slope] + [DisconnectedType()() for _ in inputs[1:]]

    def perform(self, node, inputs, outputs):
        scores, y, cell, weights, temperature = inputs
        m = len(weights)
        if scores.shape not in (y.shape, (*y.shape, 1)) or cell.shape != y.shape or weights.shape != (m, 2):
            raise ValueError(
                "cell_reward_sums needs one score and one cell per label and 2 weights per cell, got scores "
                f"{scores.shape}, labels {y.shape}, cells {cell.shape} and weights {weights.shape}"
            )
        objective, sums, of_cells, slope = cell_reward_sums_numpy(scores.ravel(), y, cell, weights, float(temperature))
        outputs[0][0] = np.asarray(objective, dtype=scores.dtype)
        outputs[1][0], outputs[2][0] = np.array(sums), np.column_stack(of_cells)
        outputs[3][0] = slope.reshape(scores.shape).astype(scores.dtype)


def cell_reward_sums_numpy(scores, y, cell, weights, temperature=1.0):
    """Compute what the Op computes in NumPy, in float64.

    Parameters
    ----------
    scores : array, shape (b,)
        Raw output of the last linear unit.
    y : array, shape (b,)
        Signed weights: +w positive, -w negative, 0 padding.
    cell : int array, shape (b,)
        Cell of each row, in 0 .. m-1, odd for positives and even for negatives.
    weights : array, shape (m, 2)
        As for `cell_reward_sums`.
    temperature : float, default 1.0
        Of the sigmoid reward, positive.

    Returns
    -------
    objective : float
        To be maximised.
    sums : metrics.class_rates.ClassSums
        Class sums of the rewards.
    of_cells : metrics.cell_rates.CellSums
        Cell sums of the rewards.
    slope : float64 array, shape (b,)
        Derivative of the objective in each score.
    """
    signed, f, cell = np.asarray(y, dtype="float64"), np.asarray(scores, dtype="float64"), np.asarray(cell)
    of_cells = cell_sums(f, signed, cell, len(weights), temperature)
    wrong = np.flatnonzero((signed != 0) & (cell % 2 != (signed > 0)))
    if wrong.size:
        raise ValueError(
            f"cells must lie in 0 .. {len(weights) - 1}, odd for positives and even for negatives, got "
            f"{cell[wrong[0]]} in row {wrong[0]}"
        )
    sigmoid_slope, logistic_slope = reward_slopes(np.sign(signed) * f, temperature)
    total = float(np.sum(of_cells.weight)) or 1.0
    slope = signed / total * (weights[cell, 0] * sigmoid_slope + weights[cell, 1] * logistic_slope)
    objective = float(np.dot(weights[:, 0], of_cells.sigmoid) + np.dot(weights[:, 1], of_cells.logistic)) / total
    return objective, class_sums(f, signed, temperature), of_cells, slope


_OP, _CELL_OP = RewardSums(), CellRewardSums()


def reward_sums(scores, y, weights, temperature=1.0):
    """Compute the weighted objective of a batch and its class sums.

    Parameters
    ----------
    scores : symbolic vector or column, shape (b,) or (b, 1)
        Raw output of the last linear unit.
    y : symbolic vector, shape (b,)
        Signed weights, of the type of `scores`: +w positive, -w negative, 0 padding.
    weights : symbolic float64 vector, shape (4,)
        Of the class sums A+_sigmoid, A-_sigmoid, A+_logistic, A-_logistic.
    temperature : float or symbolic float64 scalar, default 1.0
        Of the sigmoid reward, positive.

    Returns
    -------
    objective : symbolic scalar
        To be maximised; differentiable in the scores.
    sums : symbolic float64 vector, shape (8,)
        Class sums (positive, negative) of the sigmoid, logistic and count rewards, then the class weights. Not
        differentiable.

    Raises
    ------
    TypeError
        If dimensions or types do not fit, so that (n, 1) scores never meet (n,) labels by broadcasting.
    ValueError
        At run time, if there is not one score per label, or the weights are not 4.

    Notes
    -----
    The objective is the mean over the batch of ``weights[k] * reward``, that is
    (weights . (A+_sigmoid, A-_sigmoid, A+_logistic, A-_logistic)) / sum of abs(y), where A are sums of rewards over a
    class.  Weights of 1/p and 1/(1-p) times the duals make it the prior-normalised objective.
    Source: section 1.3 of docs/algorithms.md.
    """
    temperature = at.as_tensor_variable(temperature, dtype="float64") if np.isscalar(temperature) else temperature
    objective, sums, _ = _OP(scores, y, weights, temperature)
    return objective, sums


def cell_reward_sums(scores, y, cell, weights, temperature=1.0):
    """Compute the objective of a batch whose rows are weighted by their cells, and the sums of classes and cells.

    Parameters
    ----------
    scores : symbolic vector or column, shape (b,) or (b, 1)
        Raw output of the last linear unit.
    y : symbolic vector, shape (b,)
        Signed weights, as for `reward_sums`.
    cell : symbolic int32 vector, shape (b,)
        Cell of each row, in 0 .. m-1, also of padding: odd for positives and even for negatives.
    weights : symbolic float64 matrix, shape (m, 2)
        Of the sigmoid and of the logistic reward of the rows of each cell.
    temperature : float or symbolic float64 scalar, default 1.0
        Of the sigmoid reward, positive.

    Returns
    -------
    objective : symbolic scalar
        To be maximised; differentiable in the scores.
    sums : symbolic float64 vector, shape (8,)
        Class sums, as from `reward_sums`.
    of_cells : symbolic float64 matrix, shape (m, 4)
        Sums of the sigmoid, logistic and count rewards over each cell, then its weight.

    Raises
    ------
    TypeError
        If dimensions or types do not fit.
    ValueError
        At run time, if lengths do not fit, or a cell is out of range or of the other class.
    """
    temperature = at.as_tensor_variable(temperature, dtype="float64") if np.isscalar(temperature) else temperature
    objective, sums, of_cells, _ = _CELL_OP(scores, y, cell, weights, temperature)
    return objective, sums, of_cells
