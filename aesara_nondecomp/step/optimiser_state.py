"""One optimiser's moves of one network: what it remembers of each parameter, and the graph of an ascent step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara_nondecomp._aesara.imports import aesara
from aesara_nondecomp._checks import require
from aesara_nondecomp.networks import Network
from aesara_nondecomp.ops import FusedUpdate, RowUpdate
from aesara_nondecomp.ops.optimisers import Optimiser
from aesara_nondecomp.ops.row_update import caught_up


class OptimiserState:
    """Shared variables of the optimiser (slots, averages, step count), and the updates that move them.

    Gradients come in one order throughout: those of the parameters that move as a whole, then, for each embedding
    table, that of the rows (T b, d) looked up by the batch.

    Parameters
    ----------
    network : Network. Its parameters are moved in place.
    optimizer : Optimiser

    Attributes
    ----------
    learning_rate : shared float64 scalar
    """

    def __init__(self, network: Network, optimizer: Optimiser):
        self.network, self.optimizer = network, optimizer
        self.learning_rate = number("learning_rate", 0.01)
        self._averaging = number("averaging", 0.0)
        self._t = number("t", 0.0)
        self._decay = number("decay", np.zeros(len(network.parameters)))
        self._slots = [_like(p, slot) for slot in optimizer.slots for p in network.parameters]
        self._averages = [_like(p, "average") for p in network.parameters]
        # Of each row of an embedding table, the step that last moved it.
        self._touched = [number("touched", np.zeros(len(k.table.get_value(borrow=True)))) for k in network.lookups]
        tables = [lookup.table for lookup in network.lookups]
        self._whole = [k for k, p in enumerate(network.parameters) if p not in tables]
        self._tables = [network.parameters.index(table) for table in tables]
        self.restart()

    # -- settings and memory -------------------------------------------------------------------------------------

    def configure(self, l2: float, averaging: float) -> None:
        """Set weight decay and averaging; see `TrainFunctions.configure`."""
        require(0 <= l2 < float("inf"), "l2 must be a finite number of at least 0", l2)
        require(0 <= averaging < 1, "averaging must lie in [0, 1)", averaging)
        decayed, parameters = set(self.network.decayed), self.network.parameters
        self._decay.set_value(
            np.array([l2 if parameters[k] in decayed else 0.0 for k in (*self._whole, *self._tables)])
        )
        self._averaging.set_value(np.asarray(averaging, dtype="float64"))

    def restart(self) -> None:
        """Forget moments, step count and averages."""
        self._t.set_value(np.asarray(0.0))
        for slot in (*self._slots, *self._touched):
            slot.set_value(np.zeros(slot.get_value(borrow=True).shape, slot.dtype))
        for average, p in zip(self._averages, self.network.parameters):
            average.set_value(value_of(p), borrow=True)

    def averaged_parameters(self) -> list[np.ndarray]:
        """Copies of the running average of the parameters, in their order."""
        averages = [value_of(average) for average in self._averages]
        t, decay = float(self._t.get_value()), float(self._averaging.get_value())
        for k, touched in zip(self._tables, self._touched):
            table = value_of(self.network.parameters[k])
            averages[k] = caught_up(averages[k], table, value_of(touched), t, decay)
        return averages

    def state_variables(self) -> dict[str, Any]:
        """The shared variables that the next step depends on, by name; parameters and settings aside."""
        groups = {"slots": self._slots, "averages": self._averages, "touched": self._touched}
        named = {f"{group}.{k}": v for group, members in groups.items() for k, v in enumerate(members)}
        return {**named, "t": self._t}

    # -- graphs --------------------------------------------------------------------------------------------------

    def gradients_of(self, objective) -> list[Any]:
        """Symbolic gradients of a scalar."""
        parameters = [self.network.parameters[k] for k in self._whole]
        return aesara.grad(objective, [*parameters, *(lookup.rows for lookup in self.network.lookups)])

    def gradient_inputs(self) -> tuple[list[Any], list[Any]]:
        """Fresh variables for gradients that come from elsewhere, and for the ids of the rows they belong to."""
        gradients = [self.network.parameters[k].type() for k in (*self._whole, *self._tables)]
        return gradients, [lookup.ids.type() for lookup in self.network.lookups]

    def along(self, gradients: Sequence[Any], ids: Sequence[Any] | None = None) -> tuple[list[Any], list[Any]]:
        """The norms of the gradient's parts, and the updates of one ascent step along it.

        Parameters
        ----------
        gradients : sequence of symbolic variables
        ids : sequence of symbolic int32 matrices, optional. Of the tables' rows; default those of the network's input.
        """
        ids = [lookup.ids for lookup in self.network.lookups] if ids is None else ids
        norms: list[Any] = []
        # Every whole parameter's update hands on the same t + 1, and only the first one's is kept.
        moves: list[Any] = [] if self._whole else [(self._t, self._t + 1.0)]
        for place, k in enumerate(self._whole):
            t, norm, own = self._dense_update(place, k, gradients[place])
            moves += [*([] if moves else [(self._t, t)]), *own]
            norms.append(norm)
        for position, k in enumerate(self._tables):
            norm, own = self._embedding_update(position, k, gradients[len(self._whole) + position], ids[position])
            moves += own
            norms.append(norm)
        return norms, moves

    def _dense_update(self, decay_at: int, k: int, gradient) -> tuple[Any, Any, list[Any]]:
        parameter, *rest = moved = [self.network.parameters[k], *self._slots_of(k), self._averages[k]]
        update = FusedUpdate(self.optimizer, decay_at)
        t, *new, norm = update(self.learning_rate, self._averaging, self._t, self._decay, parameter, gradient, *rest)
        return t, norm, list(zip(moved, new))

    def _embedding_update(self, position: int, k: int, gradient, ids) -> tuple[Any, list[Any]]:
        moved = [self.network.parameters[k], self._averages[k], self._touched[position], *self._slots_of(k)]
        update = RowUpdate(self.optimizer, len(self._whole) + position)
        *new, norm = update(self.learning_rate, self._averaging, self._t, self._decay, ids, gradient, *moved)
        return norm, list(zip(moved, new))

    def _slots_of(self, k: int) -> list[Any]:
        return self._slots[k :: len(self.network.parameters)]


def number(name: str, value):
    """A shared float64 array or scalar."""
    return aesara.shared(np.asarray(value, dtype="float64"), name=name)


def value_of(shared) -> np.ndarray:
    """A copy of a shared array, wherever it lies."""
    return np.array(shared.get_value(borrow=True))


def _like(parameter, name: str):
    return aesara.shared(np.zeros_like(parameter.get_value(borrow=True)), name=f"{parameter.name}.{name}")
