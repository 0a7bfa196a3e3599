"""The weights of a network in training: read, replaced, and stored with all that the next step depends on."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import choose
from aesara_nondecomp.data import Standardiser
from aesara_nondecomp.networks import Network
from aesara_nondecomp.step.locks import TrainingLock
from aesara_nondecomp.step.optimiser_state import OptimiserState, value_of
from aesara_nondecomp.step.scoring import Scorer, check_shapes


class Weights:
    """Base of the compiled functions of a network: what they have in common, whatever their step ascends.

    Attributes
    ----------
    network : Network
        Its parameters are updated in place.
    lock : TrainingLock
        One thread at a time trains them.
    """

    network: Network
    lock: TrainingLock
    _optimiser_state: OptimiserState
    _scorer: Scorer
    _function: Callable[..., Any]

    def parameters(self) -> list[NDArray[Any]]:
        """Copies of the current parameters."""
        return [value_of(p) for p in self.network.parameters]

    def averaged_parameters(self) -> list[NDArray[Any]]:
        """Copies of the running average of the parameters (see `configure`)."""
        return self._optimiser_state.averaged_parameters()

    def load(self, parameters: Sequence[NDArray[Any]]) -> None:
        """Replace the values of the parameters.

        Parameters
        ----------
        parameters : sequence of arrays
            Of the shapes of the current ones.

        Raises
        ------
        ValueError
            If number or shapes differ.
        """
        check_shapes(self.network, parameters)
        for p, value in zip(self.network.parameters, parameters):
            p.set_value(np.array(value, dtype=p.dtype, order="C"))

    @contextmanager
    def using(self, parameters: Sequence[NDArray[Any]]) -> Iterator[None]:
        """Evaluate with other parameters inside a ``with`` block; the current ones return after it.

        Parameters
        ----------
        parameters : sequence of arrays
            As for `load`.
        """
        with self.lock:
            current = self.parameters()
            try:  # around `load` too, which Ctrl-C may interrupt between two parameters
                self.load(parameters)
                yield
            finally:
                self.load(current)

    def initialise(self, seed: Any = None, parameters: Sequence[NDArray[Any]] | None = None) -> None:
        """Start anew, with fresh parameters and an optimiser that has made no step.

        Parameters
        ----------
        seed : int, numpy Generator or None, optional
            Of the parameters and the random streams.
        parameters : sequence of arrays, optional
            Initial values in place of drawn ones.
        """
        self.network.initialise(seed)
        if parameters is not None:
            self.load(parameters)
        self.restart()

    def restart(self) -> None:
        """Reset the optimiser's moments, the step count and the averages; keep the parameters."""
        self._optimiser_state.restart()

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next step depends on, except what `set_objective` and `configure` set.

        Returns
        -------
        dict of str to array
            Parameters, slots, averages, step count, and the random streams (as JSON text in arrays of shape ()).
        """
        arrays = {name: value_of(variable) for name, variable in self._state_variables().items()}
        generators = (generator.get_value(borrow=True) for generator in self.network.generators)
        texts = {f"generator.{k}": np.array(json.dumps(g.bit_generator.state)) for k, g in enumerate(generators)}
        return {**arrays, **texts}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state returned by `state`.

        Parameters
        ----------
        state : mapping of str to array
            It is copied.

        Raises
        ------
        ValueError
            If it is the state of another network or optimiser.
        """
        mine, given = ({name: np.shape(value) for name, value in s.items()} for s in (self.state(), state))
        if mine != given:
            differing = sorted(name for name in {*mine, *given} if mine.get(name) != given.get(name))
            raise ValueError(
                f"restore needs a state of the same network and optimiser, but {', '.join(differing)} "
                "differ in shape or are in one of the two only"
            )
        for name, variable in self._state_variables().items():
            variable.set_value(np.array(state[name], dtype=variable.dtype, order="C"))
        for k, shared in enumerate(self.network.generators):
            generator = np.random.default_rng()
            generator.bit_generator.state = json.loads(str(state[f"generator.{k}"]))
            shared.set_value(generator, borrow=True)

    def extra(
        self,
        name: str,
        X: Any,
        scaling: Standardiser | None = None,
        parameters: Sequence[NDArray[Any]] | None = None,
    ) -> NDArray[Any]:
        """One of `Network.extras` for any number of rows.

        Parameters
        ----------
        name : str
            Such as "attention_weights", of shape (n, T).
        X : array, LazyRows or CSR matrix, shape (n, ...)
            Finite numbers, or token ids.
        scaling : data.Standardiser, optional
            Standardise the rows first.
        parameters : sequence of arrays, optional
            Weights to use in place of the current ones, as for `load`; these may be in training meanwhile.

        Returns
        -------
        array, shape (n, ...)

        Raises
        ------
        ValueError
            If the network has no such extra, where the nearest is suggested; if an entry of X is not finite, the extra
            does not have one row for each row of X, or the parameters are of other shapes.
        """
        return self._scorer.outputs(name, choose("extra", name, self.network.extras), X, scaling, parameters)

    def _state_variables(self) -> dict[str, Any]:
        parameters = {f"parameters.{k}": p for k, p in enumerate(self.network.parameters)}
        return {**parameters, **self._optimiser_state.state_variables()}

    def apply(self, gradients: Sequence[NDArray[Any]], ids: Sequence[NDArray[Any]] = ()) -> float:
        """Take one ascent step along given gradients.

        Parameters
        ----------
        gradients : sequence of arrays
            As from `gradients`.
        ids : sequence of int32 arrays, optional
            For each embedding table, the rows (b, T) that its gradient (T b, d) belongs to.

        Returns
        -------
        float
            Euclidean norm of the gradients.
        """
        return math.hypot(*self._apply(*gradients, *ids))

    @cached_property
    def _apply(self) -> Any:
        gradients, ids = self._optimiser_state.gradient_inputs()
        norms, updates = self._optimiser_state.updates(gradients, ids)
        return self._function([*gradients, *ids], norms, "apply", updates=updates)
