"""The weighted rewards of a batch of K classes as one Op: objective, confusion sums, and the derivative in the scores.

For a row with scores f, cell c of class y and weight w (cell -1 marks padding), docs/multiclass.md 1 defines

- the probability reward of each class k, P_k = softmax(f / temperature)_k,
- the logistic reward  1 + ln softmax(f + shift)_y,
- the count reward of class k,  1 if f_k is the first of the largest scores, else 0.

With two classes and scores (0, f) these are the rewards of `ops.rewards`.
"""

from __future__ import annotations

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, DisconnectedType, at
from aesara_nondecomp.metrics.confusion_sums import cell_batch, log_softmax, softmax
from aesara_nondecomp.ops.fused import FusedOp

_KINDS = (("scores", 2, None), ("cell", 1, "int32"), ("weight", 1, None), ("target", 1, "int32"),
          ("gains", 2, "float64"), ("logs", 1, "float64"), ("shift", 1, "float64"),
          ("temperature", 0, "float64"))  # fmt: skip


class CellRewards(FusedOp):
    """The objective of a batch, its confusion sums, and the derivative of the objective in the scores.

    Notes
    -----
    Inputs: scores (b, K); cell (b,) int32; weight (b,) of the scores' type; target (m,) int32; gains (m, K), logs (m,),
    shift (K,) and temperature () float64.

    Outputs: the objective (), the confusion sums (m, 2 K + 2) float64 as in `metrics.confusion_sums.ConfusionSums`, and
    d objective / d scores (b, K).
    """

    __props__ = ()
    header, function = "cell_rewards.h", "cell_rewards<number>"
    connected = ((True, False, False), *[(False, False, False)] * 7)

    def make_node(self, *given):
        inputs = [at.as_tensor_variable(each) for each in given]
        found = [(each.ndim, each.dtype) for each in inputs]
        wanted = [(ndim, dtype or inputs[0].dtype) for _, ndim, dtype in _KINDS]
        if found != wanted:
            raise TypeError(
                "cell_rewards needs "
                + ", ".join(
                    f"{name} of {ndim} dimensions ({dtype or 'one float type'})" for name, ndim, dtype in _KINDS
                )
                + f", got {found}. Reshape or cast them."
            )
        objective = at.TensorType(inputs[0].dtype, shape=())()
        return Apply(self, inputs, [objective, at.TensorType("float64", shape=(None, None))(), inputs[0].type()])

    def grad(self, inputs, output_gradients):
        slope = self(*inputs)[2]
        return [output_gradients[0] * slope] + [DisconnectedType()() for _ in inputs[1:]]

    def perform(self, node, inputs, outputs):
        scores, cell, weight, target, gains, logs, shift, temperature = inputs
        (b, classes), m = scores.shape, len(target)
        wanted = ((b,), (b,), (m,), (m, classes), (m,), (classes,))
        if classes < 2 or tuple(each.shape for each in inputs[1:-1]) != wanted:
            raise ValueError(
                "cell_rewards needs scores of two or more classes, a cell and a weight for each row, gains, a log "
                "weight and a target for each cell, and a shift for each class, got "
                f"{[each.shape for each in inputs[:-1]]}"
            )
        objective, sums, slope = cell_rewards_numpy(
            scores, cell, weight, target, gains, logs, shift, float(temperature)
        )
        outputs[0][0] = np.asarray(objective, dtype=scores.dtype)
        outputs[1][0] = sums.table
        outputs[2][0] = slope.astype(scores.dtype)


def cell_rewards_numpy(scores, cell, weight, target, gains, logs, shift, temperature=1.0):
    """Compute what the Op computes in NumPy, in float64.

    Parameters
    ----------
    scores : array, shape (b, K)
        Raw outputs of the last linear layer.
    cell : array of int, shape (b,)
        Cell of each row; -1 marks padding.
    weight : array, shape (b,)
        Weights of the rows, at least 0.
    target : array of int, shape (m,)
        True class of each cell.
    gains : array, shape (m, K)
        As for `cell_rewards`.
    logs : array, shape (m,)
        As for `cell_rewards`.
    shift : array, shape (K,)
        As for `cell_rewards`.
    temperature : float, default 1.0
        Of the probability reward, positive.

    Returns
    -------
    objective : float
        To be maximised.
    sums : metrics.confusion_sums.ConfusionSums
        Confusion sums of the rewards.
    slope : float64 array, shape (b, K)
        Derivative of the objective in each score.
    """
    batch = cell_batch(scores, cell, target, weight)
    probabilities, log_shifted = softmax(batch.scores / temperature), log_softmax(batch.scores + shift)
    sums = batch.sums(probabilities, log_shifted)
    total = sums.weight.sum() or 1.0
    g, own = gains[batch.cell], batch.target[batch.cell][:, None] == np.arange(batch.scores.shape[1])
    of_probability = probabilities * (g - (g * probabilities).sum(axis=1, keepdims=True)) / temperature
    of_logistic = logs[batch.cell][:, None] * (own - np.exp(log_shifted))
    slope = np.zeros(np.shape(scores))
    slope[batch.kept] = batch.weight[:, None] / total * (of_probability + of_logistic)
    return float(np.vdot(gains, sums.soft) + np.vdot(logs, sums.logistic)) / total, sums, slope


_OP = CellRewards()


def cell_rewards(scores, cell, weight, target, gains, logs, shift, temperature=1.0):
    """Compute the weighted objective of a batch of K classes and its confusion sums.

    Parameters
    ----------
    scores : symbolic matrix, shape (b, K)
        Raw outputs of the last linear layer.
    cell : symbolic int32 vector, shape (b,)
        Cell of each row; -1 marks padding.
    weight : symbolic vector, shape (b,)
        Weights of the rows, at least 0, of the type of `scores`.
    target : symbolic int32 vector, shape (m,)
        True class of each cell.
    gains : symbolic float64 matrix, shape (m, K)
        Weights of the soft counts.
    logs : symbolic float64 vector, shape (m,)
        Weights of the sums of the logistic reward.
    shift : symbolic float64 vector, shape (K,)
        Added to the scores in the logistic reward: 0, or minus the logarithms of class weights for the adjusted one.
    temperature : float or symbolic float64 scalar, default 1.0
        Of the probability reward, positive.

    Returns
    -------
    objective : symbolic scalar
        To be maximised; differentiable in the scores.
    sums : symbolic float64 matrix, shape (m, 2 K + 2)
        As in `metrics.confusion_sums.ConfusionSums`. Not differentiable.

    Raises
    ------
    TypeError
        If dimensions or types do not fit.
    ValueError
        At run time, if sizes do not fit, a cell or target is out of range, or a weight is below 0.

    Notes
    -----
    The objective is (sum of gains * soft counts + sum of logs * logistic sums) / sum of weights. Gains and logs divided
    by the cells' shares of the rows make it that of docs/multiclass.md 1.
    """
    temperature = at.as_tensor_variable(temperature, dtype="float64") if np.isscalar(temperature) else temperature
    objective, sums, _ = _OP(scores, cell, weight, target, gains, logs, shift, temperature)
    return objective, sums
