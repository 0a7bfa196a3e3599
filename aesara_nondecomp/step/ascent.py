"""The compiled ascent step of one network: as a whole, and in two halves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._aesara.imports import at, jax_mode
from aesara_nondecomp._checks import choose, positive_number, require
from aesara_nondecomp.metrics.cell_rates import CellSums
from aesara_nondecomp.metrics.class_rates import ClassSums
from aesara_nondecomp.networks import Network
from aesara_nondecomp.networks.members import mean_of_members
from aesara_nondecomp.ops import cell_reward_sums, optimisers, reward_sums
from aesara_nondecomp.step.backends import BACKENDS
from aesara_nondecomp.step.optimiser_state import OptimiserState, shared_float64
from aesara_nondecomp.step.row_checks import step_on


class AscentFunctions:
    """The functions that change the parameters of one network, and the shared variables that they read.

    `ascend` is compiled once and serves every measure, algorithm, prior, learning rate and L2 strength: all of these
    are numbers in shared variables. Each function is compiled when first used.

    Parameters
    ----------
    network : Network
        Its parameters are updated in place.
    optimizer : str or optimisers.Optimiser, default "adam"
        See `TrainFunctions`.
    backend : {"c", "jax"}, default "c"
        See `TrainFunctions`.
    """

    def __init__(self, network: Network, optimizer: str | optimisers.Optimiser = "adam", backend: str = "c"):
        needed = "two classes need a network with one score for a row, or scores of shape (b,) or (b, 1)"
        require(network.n_scores in (1, None), needed, network.n_scores)
        self.network, self.optimizer, self.backend = network, optimisers.get(optimizer), backend
        self._function = choose("backend", backend, BACKENDS)
        if backend == "jax":
            jax_mode()  # raises now if JAX is missing
        self._weights = shared_float64("reward_weights", np.zeros(4))
        self._cell_weights = shared_float64("cell_weights", np.zeros((2, 2)))
        self._temperature = shared_float64("temperature", 1.0)
        self._optimiser_state = OptimiserState(network, self.optimizer)
        self._objective = [v.get_value(borrow=True) for v in (self._weights, self._optimiser_state.learning_rate)]
        self._y, self._cell = at.vector("y", dtype=network.dtype), at.ivector("cell")

    # -- one step ------------------------------------------------------------------------------------------------

    def ascend(self, X: NDArray[Any], y: NDArray[Any]) -> tuple[ClassSums, float]:
        """Take one ascent step on the weighted objective of a mini-batch.

        Parameters
        ----------
        X : array, shape (b, ...)
            Of the dtype of the network's input.
        y : array, shape (b,)
            Signed sample weights in the network's dtype; 0 marks padding.

        Returns
        -------
        sums : ClassSums
            Class sums at the weights before the step.
        gradient_norm : float
            Euclidean norm of the objective's gradient, without weight decay.

        Raises
        ------
        ValueError
            If rows, or what belongs to them, are of another shape or dtype.
        """
        sums, *norms = step_on(self.network, self._ascend, X, y=y)
        return ClassSums(*sums.tolist()), math.hypot(*norms)

    def ascend_cells(self, X: NDArray[Any], y: NDArray[Any], cell: NDArray[Any]) -> tuple[ClassSums, CellSums, float]:
        """Take one ascent step on a mini-batch whose rows are weighted by their cells.

        Parameters
        ----------
        X : array, shape (b, ...)
            As for `ascend`.
        y : array, shape (b,)
            As for `ascend`.
        cell : int32 array, shape (b,)
            Cell of each row, in 0 .. m-1, for the m weights of `set_cell_objective`.

        Returns
        -------
        sums : ClassSums
            Class sums at the weights before the step.
        of_cells : CellSums
            Cell sums, likewise.
        gradient_norm : float
            As from `ascend`.

        Raises
        ------
        ValueError
            If rows, or what belongs to them, are of another shape or dtype.
        """
        sums, of_cells, *norms = step_on(self.network, self._ascend_cells, X, y=y, cell=cell)
        return ClassSums(*sums.tolist()), CellSums(*of_cells.T), math.hypot(*norms)

    def ascend_rows(self, X: NDArray[Any], coefficients: NDArray[Any]) -> float:
        """Take one ascent step on the sum of the rows' scores, each times its coefficient.

        This step serves drivers that weight rows and not classes.

        Parameters
        ----------
        X : array, shape (b, ...)
            Of the dtype of the network's input.
        coefficients : array, shape (b,)
            In the network's dtype; 0 for padding.

        Returns
        -------
        float
            Euclidean norm of the sum's gradient, without weight decay.

        Raises
        ------
        ValueError
            If rows, or what belongs to them, are of another shape or dtype.
        """
        return math.hypot(*step_on(self.network, self._ascend_rows, X, coefficients=coefficients))

    # -- the same step in two halves, between which gradients of several processes are added up ------------------

    def gradients(self, X: NDArray[Any], y: NDArray[Any]) -> tuple[ClassSums, list[NDArray[Any]]]:
        """Class sums of a mini-batch and the gradient of the weighted objective; no parameter changes.

        Parameters
        ----------
        X : array, shape (b, ...)
            As for `ascend`.
        y : array, shape (b,)
            As for `ascend`.

        Returns
        -------
        sums : ClassSums
        gradients : list of arrays
            In the order and shapes that `apply` takes: one for each dense parameter; then, for each embedding table,
            that of the rows (T b, d) which the batch looked up.

        Raises
        ------
        ValueError
            If rows, or what belongs to them, are of another shape or dtype.
        """
        sums, *gradients = step_on(self.network, self._gradients, X, y=y)
        return ClassSums(*sums.tolist()), gradients

    def row_gradients(self, X: NDArray[Any], coefficients: NDArray[Any]) -> list[NDArray[Any]]:
        """The gradients that `ascend_rows` follows; no parameter changes.

        Parameters
        ----------
        X : array, shape (b, ...)
            As for `ascend_rows`.
        coefficients : array, shape (b,)
            As for `ascend_rows`.

        Returns
        -------
        list of arrays
            As from `gradients`.
        """
        gradients: list[NDArray[Any]] = self._row_gradients(X, coefficients)
        return gradients

    def set_objective(self, weights: Sequence[float], learning_rate: float) -> None:
        """Set the four reward weights and the learning rate of the following steps.

        Parameters
        ----------
        weights : sequence of 4 floats
            Of the sums over the batch, per row: a driver's weight of a class mean divided by the fraction of that class
            in the batches (docs/algorithms.md 1.3: by the prior, if batches are drawn at random).
        learning_rate : float
            Above 0.
        """
        # In place: `set_value` takes four times as long, which counts beside a step of 20 microseconds.
        self._objective[0][:] = weights
        self._objective[1][()] = learning_rate

    def set_cell_objective(self, weights: NDArray[Any], learning_rate: float) -> None:
        """Set the reward weights of the cells, and the learning rate of the following steps of `ascend_cells`.

        Parameters
        ----------
        weights : float64 array, shape (m, 2)
            Of the sigmoid and of the logistic reward of each row of a cell.
        learning_rate : float
            Above 0.
        """
        self._cell_weights.set_value(weights)
        self._objective[1][()] = learning_rate

    def configure(self, *, l2: float = 0.0, averaging: float = 0.0, temperature: float = 1.0) -> None:
        """Set what stays fixed during one training run.

        Parameters
        ----------
        l2 : float, default 0
            Weight decay of the network's `decayed` parameters, at least 0: penalty l2 / 2 times their squares.
        averaging : float, default 0
            Decay in [0, 1) of the exponential running average of the weights; 0 keeps the last weights.
        temperature : float, default 1
            Of the sigmoid reward, above 0.

        Raises
        ------
        ValueError
            If a value is out of range.
        """
        self._optimiser_state.configure(l2, averaging)
        self._temperature.set_value(np.asarray(positive_number("temperature", temperature)))

    # -- compilation ---------------------------------------------------------------------------------------------

    @cached_property
    def _ascend(self) -> Any:
        objective, sums = self._class_objective()
        norms, updates = self._optimiser_state.updates(self._optimiser_state.gradients_of(objective))
        return self._function([self.network.inputs, self._y], [sums, *norms], "ascend", updates=updates)

    @cached_property
    def _ascend_cells(self) -> Any:
        objective, sums, of_cells = self._trained(cell_reward_sums, [self._y, self._cell], self._cell_weights)
        norms, updates = self._optimiser_state.updates(self._optimiser_state.gradients_of(objective))
        inputs = [self.network.inputs, self._y, self._cell]
        return self._function(inputs, [sums, of_cells, *norms], "ascend_cells", updates=updates)

    @cached_property
    def _ascend_rows(self) -> Any:
        objective, coefficients = self._row_objective()
        norms, updates = self._optimiser_state.updates(self._optimiser_state.gradients_of(objective))
        return self._function([self.network.inputs, coefficients], norms, "ascend_rows", updates=updates)

    @cached_property
    def _gradients(self) -> Any:
        objective, sums = self._class_objective()
        gradients = self._optimiser_state.gradients_of(objective)
        return self._function([self.network.inputs, self._y], [sums, *gradients], "gradients")

    @cached_property
    def _row_gradients(self) -> Any:
        objective, coefficients = self._row_objective()
        gradients = self._optimiser_state.gradients_of(objective)
        return self._function([self.network.inputs, coefficients], gradients, "row_gradients")

    def _class_objective(self) -> tuple[Any, Any]:
        """The weighted objective while training, and the class sums."""
        objective, sums = self._trained(reward_sums, [self._y], self._weights)
        return objective, sums

    def _trained(self, rewards: Any, of_rows: Sequence[Any], weights: Any) -> Any:
        """The rewards of the training scores: the mean objective of the members, and the sums of their mean score."""
        scores = self.network.training_scores
        if self.network.member_scores is None:
            return rewards(scores, *of_rows, weights, self._temperature)
        repeated = [at.concatenate([values] * scores.type.shape[1]) for values in of_rows]
        objective, *_ = rewards(scores.T.reshape((-1,)), *repeated, weights, self._temperature)
        _, *sums = rewards(mean_of_members(scores), *of_rows, weights, self._temperature)
        return objective, *sums

    def _row_objective(self) -> tuple[Any, Any]:
        """Sum of the scores, each times its coefficient; and the vector of coefficients."""
        scores, coefficients = self.network.training_scores, at.vector("coefficients", dtype=self.network.dtype)
        if self.network.member_scores is not None:
            scores = mean_of_members(scores)
        column = scores if scores.ndim == 1 else scores[:, 0]
        return (coefficients * column).sum(), coefficients
