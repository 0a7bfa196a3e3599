"""Optimiser state (slots, averages, step count) and the update graph of one ascent step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._aesara.imports import aesara
from aesara_nondecomp._checks import require
from aesara_nondecomp.networks import Network
from aesara_nondecomp.ops import FusedUpdate, RowUpdate
from aesara_nondecomp.ops.optimisers import Optimiser
from aesara_nondecomp.ops.row_update import caught_up


class OptimiserState:
    """Shared variables of the optimiser, and the updates that change them.

    Gradients come in one order throughout: first those of the dense parameters, then, for each embedding table, the
    gradient (T b, d) of the rows that the batch looked up.

    Parameters
    ----------
    network : Network
        Its parameters are updated in place.
    optimizer : Optimiser
        The update rule.

    Attributes
    ----------
    learning_rate : shared float64 scalar
        Of the next step.
    """

    def __init__(self, network: Network, optimizer: Optimiser):
        self.network, self.optimizer = network, optimizer
        self.learning_rate = shared_float64("learning_rate", 0.01)
        self._averaging = shared_float64("averaging", 0.0)
        self._t = shared_float64("t", 0.0)
        self._decay = shared_float64("decay", np.zeros(len(network.parameters)))
        self._slots = [_like(p, slot) for slot in optimizer.slots for p in network.parameters]
        self._averages = [_like(p, "average") for p in network.parameters]
        # For each row of an embedding table, the step that last updated it.
        self._touched = [
            shared_float64("touched", np.zeros(len(k.table.get_value(borrow=True)))) for k in network.lookups
        ]
        tables = [lookup.table for lookup in network.lookups]
        self._dense = [k for k, p in enumerate(network.parameters) if p not in tables]
        self._tables = [network.parameters.index(table) for table in tables]
        self.restart()

    # -- settings and values -------------------------------------------------------------------------------------

    def configure(self, l2: float, averaging: float) -> None:
        """Set weight decay and averaging.

        Parameters
        ----------
        l2 : float
            At least 0; see `TrainFunctions.configure`.
        averaging : float
            In [0, 1); see `TrainFunctions.configure`.

        Raises
        ------
        ValueError
            If a value is out of range.
        """
        require(0 <= l2 < float("inf"), "l2 must be a finite number of at least 0", l2)
        require(0 <= averaging < 1, "averaging must lie in [0, 1)", averaging)
        decayed, parameters = set(self.network.decayed), self.network.parameters
        self._decay.set_value(
            np.array([l2 if parameters[k] in decayed else 0.0 for k in (*self._dense, *self._tables)])
        )
        self._averaging.set_value(np.asarray(averaging, dtype="float64"))

    def restart(self) -> None:
        """Reset moments, step count and averages."""
        self._t.set_value(np.asarray(0.0))
        for slot in (*self._slots, *self._touched):
            slot.set_value(np.zeros(slot.get_value(borrow=True).shape, slot.dtype))
        for average, p in zip(self._averages, self.network.parameters):
            average.set_value(value_of(p), borrow=True)

    def averaged_parameters(self) -> list[NDArray[Any]]:
        """Copies of the running average of the parameters, in their order."""
        averages = [value_of(average) for average in self._averages]
        t, decay = float(self._t.get_value()), float(self._averaging.get_value())
        for k, touched in zip(self._tables, self._touched):
            table = value_of(self.network.parameters[k])
            averages[k] = caught_up(averages[k], table, value_of(touched), t, decay)
        return averages

    def state_variables(self) -> dict[str, Any]:
        """Shared variables by name that the next step depends on, except parameters and settings."""
        groups = {"slots": self._slots, "averages": self._averages, "touched": self._touched}
        named = {f"{group}.{k}": v for group, members in groups.items() for k, v in enumerate(members)}
        return {**named, "t": self._t}

    # -- graphs --------------------------------------------------------------------------------------------------

    def gradients_of(self, objective: Any) -> list[Any]:
        """Symbolic gradients of an objective.

        Parameters
        ----------
        objective : symbolic scalar
            To be maximised.

        Returns
        -------
        list of symbolic variables
        """
        parameters = [self.network.parameters[k] for k in self._dense]
        gradients: list[Any] = aesara.grad(objective, [*parameters, *(lookup.rows for lookup in self.network.lookups)])
        return gradients

    def gradient_inputs(self) -> tuple[list[Any], list[Any]]:
        """Fresh variables for gradients that are computed elsewhere.

        Returns
        -------
        gradients : list of symbolic variables
        ids : list of symbolic int32 matrices
            For each embedding table, the rows that its gradient belongs to.
        """
        gradients = [self.network.parameters[k].type() for k in (*self._dense, *self._tables)]
        return gradients, [lookup.ids.type() for lookup in self.network.lookups]

    def updates(self, gradients: Sequence[Any], ids: Sequence[Any] | None = None) -> tuple[list[Any], list[Any]]:
        """Gradient norms and the updates of one ascent step.

        Parameters
        ----------
        gradients : sequence of symbolic variables
            As from `gradients_of` or `gradient_inputs`.
        ids : sequence of symbolic int32 matrices, optional
            For each embedding table, the rows that its gradient belongs to. Default: those of the network's input.

        Returns
        -------
        norms : list of symbolic scalars
            Euclidean norm of each gradient.
        updates : list of pairs
            Shared variable and new value, as for ``aesara.function``.
        """
        ids = [lookup.ids for lookup in self.network.lookups] if ids is None else ids
        norms: list[Any] = []
        # Every dense update returns the same t + 1, and only the first one is kept.
        updates: list[Any] = [] if self._dense else [(self._t, self._t + 1.0)]
        for place, k in enumerate(self._dense):
            t, norm, own = self._dense_update(place, k, gradients[place])
            updates += [*([] if updates else [(self._t, t)]), *own]
            norms.append(norm)
        for position, k in enumerate(self._tables):
            norm, own = self._embedding_update(position, k, gradients[len(self._dense) + position], ids[position])
            updates += own
            norms.append(norm)
        return norms, updates

    def _dense_update(self, decay_at: int, k: int, gradient: Any) -> tuple[Any, Any, list[Any]]:
        parameter, *rest = updated = [self.network.parameters[k], *self._slots_of(k), self._averages[k]]
        update = FusedUpdate(self.optimizer, decay_at)
        t, *new, norm = update(self.learning_rate, self._averaging, self._t, self._decay, parameter, gradient, *rest)
        return t, norm, list(zip(updated, new))

    def _embedding_update(self, position: int, k: int, gradient: Any, ids: Any) -> tuple[Any, list[Any]]:
        updated = [self.network.parameters[k], self._averages[k], self._touched[position], *self._slots_of(k)]
        update = RowUpdate(self.optimizer, len(self._dense) + position)
        *new, norm = update(self.learning_rate, self._averaging, self._t, self._decay, ids, gradient, *updated)
        return norm, list(zip(updated, new))

    def _slots_of(self, k: int) -> list[Any]:
        return self._slots[k :: len(self.network.parameters)]


def shared_float64(name: str, value: Any) -> Any:
    """A shared float64 array or scalar.

    Parameters
    ----------
    name : str
        Of the variable.
    value : array-like
        Of any numeric dtype; it is copied to float64.

    Returns
    -------
    shared variable
    """
    return aesara.shared(np.asarray(value, dtype="float64"), name=name)


def value_of(shared: Any) -> NDArray[Any]:
    """A copy of a shared array, on the host whatever its device.

    Parameters
    ----------
    shared : shared variable
        Of an array.

    Returns
    -------
    array
    """
    return np.array(shared.get_value(borrow=True))


def _like(parameter: Any, name: str) -> Any:
    return aesara.shared(np.zeros_like(parameter.get_value(borrow=True)), name=f"{parameter.name}.{name}")
