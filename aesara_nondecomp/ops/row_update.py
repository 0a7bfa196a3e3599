"""An optimiser's update of the rows of an embedding table that a batch looked up, as one Op, in place.

Differences from the update of a whole matrix by `FusedUpdate`, all of which follow from leaving other rows alone:

- the moments of a row decay only in steps that look it up, while the bias corrections of Adam use the global step
  count ("lazy" Adam: a rare word keeps its momentum for its next appearance, instead of drifting on without one);
- weight decay acts on a row only in those steps;
- row 0 is padding, and is never updated.

The running average costs the rows looked up alone, and is still that of every step: by the recursion of `FusedUpdate`
a row that has not changed since step s comes nearer to its value by the factor d^(t-s) (1 - d^s) / (1 - d^t), the
telescoped product over the steps since, so each row remembers its last step and catches up when it is next used.
"""

from __future__ import annotations

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, ParamsType, at, int32
from aesara_nondecomp.ops.embedding import summed_rows
from aesara_nondecomp.ops.optimisers import Optimiser
from aesara_nondecomp.ops.update import RuleOp, braced, left_of_way


def caught_up(averages: np.ndarray, table: np.ndarray, touched: np.ndarray, t: float, averaging: float) -> np.ndarray:
    """Compute the running averages of all rows, from each row's average at its last step.

    Parameters
    ----------
    averages : array, shape (V, d)
        Of each row, at its last step.
    table : array, shape (V, d)
        The rows.
    touched : float64 array, shape (V,)
        Last step of each row, 0 before the first.
    t : float
        The step now, at least 0.
    averaging : float
        Decay of the average, in [0, 1).

    Returns
    -------
    array, shape (V, d)
        The averages at step `t`.
    """
    return _towards(averages, table, _left_since(touched, t, averaging))


def _left_since(since, t: float, d: float) -> np.ndarray:
    """Fraction of the gap between average and row that remains at step t, for a row unchanged since step `since`."""
    if t == 0:
        return np.ones_like(since)
    return np.where(since == t, 1.0, d ** (t - since) * (1 - d**since) / (1 - d**t))


def _towards(averages, rows, left) -> np.ndarray:
    return (rows - left[:, None] * (rows - averages)).astype(rows.dtype)


class RowUpdate(RuleOp):
    """In-place ascent step of the rows of one table.

    Parameters
    ----------
    rule : Optimiser
        How to take a step.
    position : int
        Entry of the table's weight decay in `decay`.

    Notes
    -----
    Inputs: learning_rate (), averaging (), t () before the step: float64 scalars; decay (n,) float64; ids (b, T) int32,
    the gradient of their rows (T b, d); table (V, d), its running average, the last step of each row (V,) float64, and
    the slots of the optimiser.
    Outputs: table, average, last steps and slots, updated in place; the gradient's Euclidean norm (float64).
    """

    __props__ = ("rule", "position")
    params_type = ParamsType(position=int32)
    header, function = "row_update.h", "update_rows<number>"

    def __init__(self, rule: Optimiser, position: int):
        self.rule, self.position = rule, position
        self.destroy_map = {k: [6 + k] for k in range(3 + len(rule.slots))}

    def make_node(self, *given):
        inputs = [at.as_tensor_variable(x) for x in given]
        if len(inputs) != 9 + len(self.rule.slots):
            raise TypeError(f"RowUpdate needs {9 + len(self.rule.slots)} inputs, got {len(inputs)}")
        outputs = [x.type() for x in inputs[6:]]
        return Apply(self, inputs, [*outputs, at.TensorType("float64", shape=())()])

    def perform(self, node, inputs, outputs, params=None):
        learning_rate, averaging, t, decay, ids, gradients, table, average, touched, *slots = inputs
        rows, g = summed_rows(ids, gradients)
        d, now = float(averaging), float(t) + 1.0
        average[rows] = _towards(average[rows], table[rows], _left_since(touched[rows], now - 1, d))
        settings = (float(learning_rate), float(decay[self.position]), now)
        table[rows], new_slots = self.rule.step(table[rows], g, [slot[rows] for slot in slots], *settings)
        for slot, value in zip(slots, new_slots):
            slot[rows] = value
        average[rows] = _towards(average[rows], table[rows], np.full(len(rows), left_of_way(d, now)))
        touched[rows] = now
        norm = np.asarray(np.sqrt(np.sum(np.square(g, dtype="float64"))))
        for out, value in zip(outputs, [table, average, touched, *slots, norm]):
            out[0] = value

    def c_arguments(self, inputs, outputs) -> list[str]:
        *settings, ids, gradients, table, average, touched = inputs[:9]
        new_table, new_average, new_touched, *new_slots, norm = (f"&{out}" for out in outputs)
        in_place, updated = [table, average, *inputs[9:]], [new_table, new_average, *new_slots]
        return [*settings, ids, gradients, touched, braced(in_place), new_touched, braced(updated), norm]
