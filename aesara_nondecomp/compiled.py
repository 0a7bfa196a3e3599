"""The compiled step and its companions: the only caller of ``aesara.function``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from aesara_nondecomp import optimisers
from aesara_nondecomp._aesara import aesara, at
from aesara_nondecomp._checks import positive_number, require
from aesara_nondecomp.networks import Network
from aesara_nondecomp.ops import FusedUpdate, reward_sums
from aesara_nondecomp.rates import ClassSums

SCORING_ROWS = 4096  # rows scored at a time: large enough for BLAS, small enough to stay in cache


class TrainFunctions:
    """One network's compiled functions, with the shared scalars that steer them.

    `ascend` is compiled once and serves every measure, algorithm, prior, learning rate and L2 strength: all of these
    are numbers in shared variables.  Each function is compiled when first used, so that all input is checked before.

    Parameters
    ----------
    network : Network
    optimiser : str or optimisers.Optimiser. "sgd", "momentum", "nesterov", "adam", "adamw", or an instance.

    Raises
    ------
    ValueError
        If the optimiser is unknown.
    """

    def __init__(self, network: Network, optimiser: str | optimisers.Optimiser = "adam"):
        self.network, self.optimiser = network, optimisers.get(optimiser)
        self._weights = _shared("reward_weights", np.zeros(4))
        self._temperature = _shared("temperature", 1.0)
        self._learning_rate = _shared("learning_rate", 0.01)
        self._averaging = _shared("averaging", 0.0)
        self._t = _shared("t", 0.0)
        self._decay = _shared("decay", np.zeros(len(network.parameters)))
        self._slots = [_like(p, slot) for slot in self.optimiser.slots for p in network.parameters]
        self._averages = [_like(p, "average") for p in network.parameters]
        self._y = at.vector("y", dtype=network.dtype)
        self.restart()

    # -- one step ------------------------------------------------------------------------------------------------

    def ascend(self, X: np.ndarray, y: np.ndarray) -> tuple[ClassSums, float]:
        """Move the parameters one ascent step on the weighted objective of a mini-batch.

        Parameters
        ----------
        X : array, shape (b, ...), of the type of the network's input.
        y : array, shape (b,), of the network's dtype. Signed sample weights; 0 marks padding.

        Returns
        -------
        sums : ClassSums, at the weights before the step.
        gradient_norm : float. Euclidean norm of the objective's gradient (weight decay aside).
        """
        sums, norm = self._ascend(X, y)
        return ClassSums(*sums.tolist()), float(norm)

    def steer(self, weights: Sequence[float], learning_rate: float) -> None:
        """Set the four reward weights and the learning rate of the following steps.

        Parameters
        ----------
        weights : sequence of 4 floats
            Of the sums over the batch, per row: a driver's weight of a class mean divided by the share of that class
            in the batches (spec 1.3: by the prior, when batches are drawn at random).
        learning_rate : float
        """
        self._weights.set_value(np.array(weights, dtype="float64"), borrow=True)
        self._learning_rate.set_value(np.array(learning_rate, dtype="float64"), borrow=True)

    def configure(self, *, l2: float = 0.0, averaging: float = 0.0, temperature: float = 1.0) -> None:
        """Set what stays fixed during one training run.

        Parameters
        ----------
        l2 : float >= 0
            Weight decay of the network's `decayed` parameters: penalty l2 / 2 times their squares.
        averaging : float in [0, 1)
            Decay of the exponential running average of the weights; 0 keeps the last weights.
        temperature : float > 0. Of the sigmoid reward.

        Raises
        ------
        ValueError
            If a value is out of range.
        """
        require(0 <= l2 < float("inf"), "l2 must be a finite number of at least 0", l2)
        require(0 <= averaging < 1, "averaging must lie in [0, 1)", averaging)
        decayed = set(self.network.decayed)
        self._decay.set_value(np.array([l2 if p in decayed else 0.0 for p in self.network.parameters]))
        self._averaging.set_value(np.asarray(averaging, dtype="float64"))
        self._temperature.set_value(np.asarray(positive_number("temperature", temperature)))

    # -- evaluation ----------------------------------------------------------------------------------------------

    def class_sums(self, X: np.ndarray, y: np.ndarray) -> ClassSums:
        """Class sums of any number of rows at the current weights, without a step."""
        parts = (self._class_sums(_dense(X[rows]), y[rows]) for rows in _chunks(len(y)))
        return ClassSums(*sum(parts, np.zeros(len(ClassSums._fields))).tolist())

    def scores(self, X) -> np.ndarray:
        """Scores (n,) of any number of rows (array or CSR) at the current weights, in the network's dtype."""
        return self._by_chunks(self._scores, X).reshape(-1)

    def features(self, X) -> np.ndarray:
        """Output (n, k) of the lower part of the network, for `Network.head_network`."""
        return self._by_chunks(self._features, X)

    # -- weights -------------------------------------------------------------------------------------------------

    def parameters(self) -> list[np.ndarray]:
        """Copies of the current parameters."""
        return [p.get_value() for p in self.network.parameters]

    def averaged_parameters(self) -> list[np.ndarray]:
        """Copies of the running average of the parameters (see `configure`)."""
        return [p.get_value() for p in self._averages]

    def load(self, parameters: Sequence[np.ndarray]) -> None:
        """Put other values in the parameters, of the same shapes.

        Raises
        ------
        ValueError
            If number or shapes differ.
        """
        mine = [p.get_value(borrow=True).shape for p in self.network.parameters]
        given = [np.shape(value) for value in parameters]
        require(mine == given, f"parameters of shapes {mine} are needed", given)
        for p, value in zip(self.network.parameters, parameters):
            p.set_value(np.array(value, dtype=p.dtype, order="C"))

    @contextmanager
    def using(self, parameters: Sequence[np.ndarray]) -> Iterator[None]:
        """Evaluate with other parameters inside a ``with`` block, then put the present ones back."""
        present = self.parameters()
        self.load(parameters)
        try:
            yield
        finally:
            self.load(present)

    def initialise(self, seed=None, parameters: Sequence[np.ndarray] | None = None) -> None:
        """Begin anew: parameters drawn from `seed`, or the given ones, and no memory of earlier steps."""
        self.network.initialise(seed)
        if parameters is not None:
            self.load(parameters)
        self.restart()

    def restart(self) -> None:
        """Forget the optimiser's moments, the step count and the averages; keep the parameters."""
        self._t.set_value(np.asarray(0.0))
        for slot in self._slots:
            slot.set_value(np.zeros_like(slot.get_value(borrow=True)))
        for average, p in zip(self._averages, self.network.parameters):
            average.set_value(p.get_value())

    def state(self) -> dict[str, np.ndarray]:
        """All that the next step depends on, apart from what `steer` and `configure` set.

        Parameters, slots, averages, step count, and the random streams (as JSON text in arrays of shape ()).
        """
        arrays = {name: variable.get_value() for name, variable in self._state_variables().items()}
        generators = (generator.get_value(borrow=True) for generator in self.network.generators)
        texts = {f"generator.{k}": np.array(json.dumps(g.bit_generator.state)) for k, g in enumerate(generators)}
        return {**arrays, **texts}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up a state that `state` gave.

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

    def _state_variables(self) -> dict[str, Any]:
        groups = {"parameters": self.network.parameters, "slots": self._slots, "averages": self._averages}
        named = {f"{group}.{k}": v for group, members in groups.items() for k, v in enumerate(members)}
        return {**named, "t": self._t}

    # -- compilation ---------------------------------------------------------------------------------------------

    def compile(self) -> None:
        """Compile the step now, where it has not been (for a clock that should not count it)."""
        self._ascend  # noqa: B018

    @cached_property
    def head(self) -> TrainFunctions:
        """The same for the head alone, with features as input and the same shared parameters."""
        return TrainFunctions(self.network.head_network(), self.optimiser)

    @cached_property
    def _ascend(self):
        network = self.network
        objective, sums = reward_sums(network.training_scores, self._y, self._weights, self._temperature)
        gradients = aesara.grad(objective, network.parameters)
        moved = [self._t, *network.parameters, *self._slots, *self._averages]
        update = FusedUpdate(self.optimiser, len(network.parameters))
        *new, norm = update(
            self._learning_rate, self._averaging, self._t, self._decay,
            *network.parameters, *gradients, *self._slots, *self._averages,
        )  # fmt: skip
        return _function([network.inputs, self._y], [sums, norm], "ascend", updates=list(zip(moved, new)))

    @cached_property
    def _class_sums(self):
        sums = reward_sums(self.network.scores, self._y, self._weights, self._temperature)[1]
        return _function([self.network.inputs, self._y], sums, "class_sums")

    @cached_property
    def _scores(self):
        return _function([self.network.inputs], self.network.scores, "scores")

    @cached_property
    def _features(self):
        require(self.network.features is not None, "`features` needs a network with a lower part", self.network)
        return _function([self.network.inputs], self.network.features, "features")

    def _by_chunks(self, function, X) -> np.ndarray:
        parts = [function(_dense(X[rows])) for rows in _chunks(X.shape[0])]
        return np.concatenate(parts) if len(parts) != 1 else parts[0]


def symbolic_values(build, n_inputs: int):
    """Compile a function of float64 scalars, for use off the training path, without C code.

    Parameters
    ----------
    build : callable (n_inputs symbolic float64 scalars -> list of symbolic scalars)
    n_inputs : int

    Returns
    -------
    callable (n_inputs floats -> list of arrays)
    """
    inputs = [at.scalar(dtype="float64") for _ in range(n_inputs)]
    # No rewrites and no C: one evaluation is a few scalar operations, and the derivative must be the literal one.
    mode = aesara.compile.mode.Mode(linker="py", optimizer=None)
    return aesara.function(inputs, build(*inputs), mode=mode, on_unused_input="ignore")


def _function(inputs, outputs, name, updates=()):
    # FusedUpdate works in place from the start, so no rewrite has to find that out (`accept_inplace`).
    compiled = aesara.function(inputs, outputs, updates=updates, name=name, accept_inplace=True)
    compiled.trust_input = True  # arrays are checked once, where they enter the package
    return compiled


def _shared(name: str, value):
    return aesara.shared(np.asarray(value, dtype="float64"), name=name)


def _like(parameter, name: str):
    return aesara.shared(np.zeros_like(parameter.get_value(borrow=True)), name=f"{parameter.name}.{name}")


def _dense(rows):
    return rows.toarray() if scipy.sparse.issparse(rows) else rows


def _chunks(n: int) -> list[slice]:
    return [slice(start, start + SCORING_ROWS) for start in range(0, max(n, 1), SCORING_ROWS)]
