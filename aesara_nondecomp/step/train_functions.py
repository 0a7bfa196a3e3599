"""The compiled step and its companions; the graph of the step itself is in `moves`."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from aesara_nondecomp._aesara.imports import aesara, at, jax_mode
from aesara_nondecomp._checks import choose, positive_number, require
from aesara_nondecomp._communicator import LOCAL, Communicator
from aesara_nondecomp.data import check_finite
from aesara_nondecomp.metrics.class_rates import ClassSums
from aesara_nondecomp.networks import Network
from aesara_nondecomp.ops import checked, optimisers, reward_sums, standardise
from aesara_nondecomp.step.backends import BACKENDS
from aesara_nondecomp.step.optimiser_state import OptimiserState, number, value_of

SCORING_ROWS = 4096  # rows scored at a time: large enough for BLAS, small enough to stay in cache
SCORING_TEXTS = 256  # the same for token ids, as each token of a row has states and gates of its own


class TrainFunctions:
    """One network's compiled functions, with the shared scalars that set_objective them.

    `ascend` is compiled once and serves every measure, algorithm, prior, learning rate and L2 strength: all of these
    are numbers in shared variables.  Each function is compiled when first used, so that all input is checked before.

    Parameters
    ----------
    network : Network
    optimizer : str or optimisers.Optimiser. "sgd", "momentum", "nesterov", "adam", "adamw", or an instance.
    backend : {"c", "jax"}
        Compile through C++, or through JAX (extra ``jax``): for a GPU, or where there is no compiler. JAX then computes
        in 64 bits where it is asked to, in the whole process (its ``jax_enable_x64``). Dropout has other masks there.

    Raises
    ------
    ValueError
        If optimiser or backend are unknown; on the first use of a function, if JAX has no translation for an Op of a
        network of your own.
    ImportError
        If JAX is asked for and missing.
    """

    comm: Communicator = LOCAL

    def __init__(self, network: Network, optimizer: str | optimisers.Optimiser = "adam", backend: str = "c"):
        self.network, self.optimizer, self.backend = network, optimisers.get(optimizer), backend
        self._function = choose("backend", backend, BACKENDS)
        if backend == "jax":
            jax_mode()  # that it is missing is to be known at once
        self.lock = threading.RLock()  # to be held by whoever trains, where threads share the functions
        self._weights = number("reward_weights", np.zeros(4))
        self._temperature = number("temperature", 1.0)
        self._moves = OptimiserState(network, self.optimizer)
        self._steered = [v.get_value(borrow=True) for v in (self._weights, self._moves.learning_rate)]
        self._y = at.vector("y", dtype=network.dtype)
        self._evaluations: dict[tuple[Any, bool], Any] = {}

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
        sums, *norms = self._ascend(X, y)
        return ClassSums(*sums.tolist()), math.hypot(*norms)

    def ascend_rows(self, X: np.ndarray, coefficients: np.ndarray) -> float:
        """Move the parameters one ascent step on the sum of the rows' scores, each times its coefficient.

        The second step there is, compiled when first used: for drivers that weight rows, not classes.

        Parameters
        ----------
        X : array, shape (b, ...), of the type of the network's input.
        coefficients : array, shape (b,), of the network's dtype; 0 for padding.

        Returns
        -------
        float. Euclidean norm of the sum's gradient (weight decay aside).
        """
        return math.hypot(*self._ascend_rows(X, coefficients))

    # -- the same step in two halves, for whoever adds up gradients of several processes in between ---------------

    def gradients(self, X: np.ndarray, y: np.ndarray) -> tuple[ClassSums, list[np.ndarray]]:
        """Class sums of a mini-batch, and the gradient of the weighted objective, without moving anything.

        Returns
        -------
        sums : ClassSums
        gradients : list of arrays
            One per parameter, in the order and shapes that `apply` takes: those that move as a whole, then, for each
            embedding table, the rows (T b, d) looked up by the batch.
        """
        sums, *gradients = self._gradients(X, y)
        return ClassSums(*sums.tolist()), gradients

    def row_gradients(self, X: np.ndarray, coefficients: np.ndarray) -> list[np.ndarray]:
        """The gradients that `ascend_rows` follows, as `gradients` gives them."""
        return self._row_gradients(X, coefficients)

    def apply(self, gradients: Sequence[np.ndarray], ids: Sequence[np.ndarray] = ()) -> float:
        """Move the parameters one ascent step along given gradients; returns their Euclidean norm.

        Parameters
        ----------
        gradients : sequence of arrays, as from `gradients`.
        ids : sequence of int32 arrays (b, T), one per embedding table: the rows that its gradients (T b, d) belong to.
        """
        return math.hypot(*self._apply(*gradients, *ids))

    def set_objective(self, weights: Sequence[float], learning_rate: float) -> None:
        """Set the four reward weights and the learning rate of the following steps.

        Parameters
        ----------
        weights : sequence of 4 floats
            Of the sums over the batch, per row: a driver's weight of a class mean divided by the share of that class
            in the batches (spec 1.3: by the prior, when batches are drawn at random).
        learning_rate : float
        """
        # In place: four times as fast as `set_value`, which counts beside a step of 20 microseconds.
        self._steered[0][:] = weights
        self._steered[1][()] = learning_rate

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
        self._moves.configure(l2, averaging)
        self._temperature.set_value(np.asarray(positive_number("temperature", temperature)))

    # -- evaluation ----------------------------------------------------------------------------------------------

    def class_sums(self, X: np.ndarray, y: np.ndarray) -> ClassSums:
        """Class sums of any number of rows at the current weights, without a step."""
        parts = (self._class_sums(_dense(X[rows]), y[rows]) for rows in self._chunks(len(y)))
        return ClassSums(*sum(parts, np.zeros(len(ClassSums._fields))).tolist())

    def scores(self, X, scaling=None) -> np.ndarray:
        """Scores (n,) of any number of rows (array or CSR) at the current weights, in the network's dtype.

        With a `data.Standardiser` the rows are standardised on the way.

        Raises
        ------
        ValueError
            If an entry of X is not finite.
        """
        return self._by_chunks("scores", self.network.scores, X, scaling).reshape(-1)

    def features(self, X) -> np.ndarray:
        """Output (n, k) of the lower part of the network, for `Network.head_network`; raises as `scores`."""
        require(self.network.features is not None, "`features` needs a network with a lower part", self.network)
        return self._by_chunks("features", self.network.features, X)

    def extra(self, name: str, X, scaling=None) -> np.ndarray:
        """One of `Network.extras` for any number of rows, such as "attention_weights" (n, T).

        With a `data.Standardiser` it is that of the standardised rows.

        Raises
        ------
        ValueError
            If the network has no such extra, where the nearest is suggested; if an entry of X is not finite, or the
            extra does not have one row for each of X.
        """
        choose("extra", name, self.network.extras)
        return self._by_chunks(name, self.network.extras[name], X, scaling)

    # -- weights -------------------------------------------------------------------------------------------------

    def parameters(self) -> list[np.ndarray]:
        """Copies of the current parameters."""
        return [value_of(p) for p in self.network.parameters]

    def averaged_parameters(self) -> list[np.ndarray]:
        """Copies of the running average of the parameters (see `configure`)."""
        return self._moves.averaged_parameters()

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
        with self.lock:
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
        self._moves.restart()

    def state(self) -> dict[str, np.ndarray]:
        """All that the next step depends on, apart from what `set_objective` and `configure` set.

        Parameters, slots, averages, step count, and the random streams (as JSON text in arrays of shape ()).
        """
        arrays = {name: value_of(variable) for name, variable in self._state_variables().items()}
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
        parameters = {f"parameters.{k}": p for k, p in enumerate(self.network.parameters)}
        return {**parameters, **self._moves.state_variables()}

    # -- compilation ---------------------------------------------------------------------------------------------

    def compile(self, *, evaluation: bool = False, rows: bool = False) -> None:
        """Compile the step now, where it has not been, for a clock that should not count it.

        With `evaluation` also `class_sums`; with `rows` what a row driver needs instead: `ascend_rows` and `scores`.
        """
        if rows:
            self._ascend_rows, self._scores  # noqa: B018
            return
        self._ascend  # noqa: B018
        if evaluation:
            self._class_sums  # noqa: B018

    @cached_property
    def head(self) -> TrainFunctions:
        """The same for the head alone, with features as input and the same shared parameters."""
        return TrainFunctions(self.network.head_network(), self.optimizer, self.backend)

    @cached_property
    def _ascend(self):
        objective, sums = self._class_objective()
        norms, moves = self._moves.along(self._moves.gradients_of(objective))
        return self._function([self.network.inputs, self._y], [sums, *norms], "ascend", updates=moves)

    @cached_property
    def _ascend_rows(self):
        objective, coefficients = self._row_objective()
        norms, moves = self._moves.along(self._moves.gradients_of(objective))
        return self._function([self.network.inputs, coefficients], norms, "ascend_rows", updates=moves)

    @cached_property
    def _gradients(self):
        objective, sums = self._class_objective()
        gradients = self._moves.gradients_of(objective)
        return self._function([self.network.inputs, self._y], [sums, *gradients], "gradients")

    @cached_property
    def _row_gradients(self):
        objective, coefficients = self._row_objective()
        gradients = self._moves.gradients_of(objective)
        return self._function([self.network.inputs, coefficients], gradients, "row_gradients")

    @cached_property
    def _apply(self):
        gradients, ids = self._moves.gradient_inputs()
        norms, moves = self._moves.along(gradients, ids)
        return self._function([*gradients, *ids], norms, "apply", updates=moves)

    def _class_objective(self):
        """The weighted objective while training, and the class sums."""
        return reward_sums(self.network.training_scores, self._y, self._weights, self._temperature)

    def _row_objective(self):
        """Sum of the scores, each times its coefficient; and the vector of coefficients."""
        scores, coefficients = self.network.training_scores, at.vector("coefficients", dtype=self.network.dtype)
        column = scores if scores.ndim == 1 else scores[:, 0]
        return (coefficients * column).sum(), coefficients

    @cached_property
    def _class_sums(self):
        sums = reward_sums(self.network.scores, self._y, self._weights, self._temperature)[1]
        return self._function([self.network.inputs, self._y], sums, "class_sums")

    @property
    def _scores(self):
        return self._evaluation("scores", self.network.scores)

    def _evaluation(self, name: str, output, raw: bool = False):
        """The function of rows that gives an output, and whether the rows are finite; compiled when first asked for.

        With `raw`, of the three numbers of a `data.Standardiser` and of rows as they are before it.
        """
        if (output, raw) not in self._evaluations:
            inputs, outputs = self._of_raw(output) if raw else self._of_rows(output)
            self._evaluations[output, raw] = self._function(inputs, outputs, f"{name}_of_raw" if raw else name)
        return self._evaluations[output, raw]

    def _of_rows(self, output) -> tuple[list[Any], list[Any]]:
        return [self.network.inputs], list(checked(output, self.network.inputs))

    def _of_raw(self, output) -> tuple[list[Any], list[Any]]:
        rows, numbers = self.network.inputs.type(), [at.dvector(), at.dvector(), at.dscalar()]
        standardised, finite = standardise(rows, *numbers)
        return [*numbers, rows], [aesara.clone_replace(output, {self.network.inputs: standardised}), finite]

    def _by_chunks(self, name: str, output, X, scaling=None) -> np.ndarray:
        chunks, raw = self._chunks(X.shape[0]), scaling is not None
        if (output, raw) not in self._evaluations:
            check_finite(_dense(X[chunks[0]]))  # before anything is compiled
        evaluation = self._evaluation(name, output, raw)
        numbers = (scaling.mean_, scaling.scale_, np.asarray(scaling.clip)) if raw else ()
        whole: Any = None
        for rows in chunks:
            X_part = _dense(X[rows])
            part, finite = evaluation(*numbers, X_part)
            if not finite:
                check_finite(X_part, first_row=rows.start)
            require(part.shape[:1] == X_part.shape[:1], "an output needs one row for each row of X", part.shape)
            if whole is None:
                whole = np.empty((X.shape[0], *part.shape[1:]), dtype=part.dtype)
            whole[rows] = part
        return whole

    def _chunks(self, n: int) -> list[slice]:
        size = SCORING_TEXTS if self.network.takes_tokens else SCORING_ROWS
        return [slice(start, start + size) for start in range(0, max(n, 1), size)]


def _dense(rows):
    return rows.toarray() if scipy.sparse.issparse(rows) else rows
