"""The compiled functions of a network of K classes: its ascent step on gains, and its scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._aesara.imports import aesara, at, jax_mode
from aesara_nondecomp._checks import choose, positive_number, require
from aesara_nondecomp._communicator import LOCAL, Communicator
from aesara_nondecomp.data import Standardiser
from aesara_nondecomp.drivers.multiclass import StepGains
from aesara_nondecomp.measures.multiclass import Cells
from aesara_nondecomp.metrics import ConfusionSums
from aesara_nondecomp.networks import Network
from aesara_nondecomp.ops import cell_rewards, optimisers
from aesara_nondecomp.step.backends import BACKENDS
from aesara_nondecomp.step.locks import lock_of
from aesara_nondecomp.step.optimiser_state import OptimiserState, shared_float64
from aesara_nondecomp.step.row_checks import check_step, step_on
from aesara_nondecomp.step.scoring import Scorer, dense_rows, row_chunks
from aesara_nondecomp.step.weights import Weights


class ClassFunctions(Weights):
    """The compiled functions of one network of K classes, and the shared variables that they read.

    `ascend` is compiled once and serves every measure, driver and learning rate. Each function is compiled when first
    used.

    Parameters
    ----------
    network : Network
        Its scores have K columns; its parameters are updated in place.
    cells : measures.multiclass.Cells
        Of the training set; batches are drawn in their shares.
    optimizer : str or optimisers.Optimiser, default "adam"
        See `TrainFunctions`.
    backend : {"c", "jax"}, default "c"
        See `TrainFunctions`.

    Attributes
    ----------
    comm : communicator
        `LOCAL`: these functions train in a single process. See `parallel` for several.
    lock : TrainingLock
        See `TrainFunctions`.
    several_classes : bool
        True.

    Raises
    ------
    ValueError
        If the scores are no matrix, or `optimizer` or `backend` is unknown.
    """

    comm: Communicator = LOCAL
    several_classes: Literal[True] = True

    def __init__(
        self, network: Network, cells: Cells, optimizer: str | optimisers.Optimiser = "adam", backend: str = "c"
    ) -> None:
        require(
            network.scores.ndim == 2, "a network of several classes needs scores of shape (b, K)", network.scores.type
        )
        self.network, self.cells, self.lock = network, cells, lock_of(network)
        self.optimizer, self.backend = optimisers.get(optimizer), backend
        self._function = choose("backend", backend, BACKENDS)
        if backend == "jax":
            jax_mode()  # raises now if JAX is missing
        self._optimiser_state = OptimiserState(network, self.optimizer)
        shapes = zip(("gains", "logs", "shift"), _shapes(cells))
        self._objective = [shared_float64(name, np.zeros(shape)) for name, shape in shapes]
        self._follow_objective()
        self._temperature = shared_float64("temperature", 1.0)
        self._target = aesara.shared(cells.target.astype("int32"), name="target")
        self._rows = [at.ivector("cell"), at.vector("weight", dtype=network.dtype)]
        self._scorer = Scorer(network, self._function)

    def divide(self, cells: Cells) -> None:
        """Divide the rows into other cells, for another training run; nothing is compiled for it.

        Parameters
        ----------
        cells : measures.multiclass.Cells
            Of the training set, with the same classes.
        """
        self.cells = cells
        self._target.set_value(cells.target.astype("int32"))
        for shared, shape in zip(self._objective, _shapes(cells)):
            shared.set_value(np.zeros(shape))
        self._follow_objective()

    def _follow_objective(self) -> None:
        """Keep the buffers that `steer` writes to, and what it divides by."""
        shared = (*self._objective, self._optimiser_state.learning_rate)
        self._steered = [each.get_value(borrow=True) for each in shared]
        self._divisor = _divisor(self.cells.shares)

    @property
    def n_scores(self) -> int:
        """Number of scores of a row."""
        return self.cells.n_classes

    @property
    def n_problems(self) -> int:
        """How many problems a row stands for: of K classes one, of several labels as many as there are labels."""
        return 1

    def steer(self, step: StepGains, learning_rate: float, shares: NDArray[Any] | None = None) -> None:
        """Set what the following steps ascend, and their learning rate.

        Parameters
        ----------
        step : drivers.multiclass.StepGains
            As from a driver.
        learning_rate : float
            Above 0.
        shares : array, shape (m,), optional
            Shares of the cells in the batches, by which the gains are divided; of a cell without any, its gains are
            left out. Default: those of the training set.
        """
        divisor = self._divisor if shares is None else _divisor(shares)
        gains, logs, shift, rate = self._steered  # in place: `set_value` takes four times as long
        np.divide(step.gains, divisor[:, None], out=gains)
        np.divide(step.logs, divisor, out=logs)
        shift[...], rate[...] = step.shift, learning_rate

    def shares_in(self, row_shares: NDArray[Any] | None) -> NDArray[Any] | None:
        """Shares of all cells in the batches, for `steer`.

        Parameters
        ----------
        row_shares : array, shape (at most m,), or None
            `MiniBatches.cell_shares`, which ends with the last cell that has rows.

        Returns
        -------
        array, shape (m,), or None
        """
        if row_shares is None or len(row_shares) == self.cells.n_cells:
            return row_shares
        return np.pad(row_shares, (0, self.cells.n_cells - len(row_shares)))

    def configure(self, *, l2: float = 0.0, averaging: float = 0.0, temperature: float = 1.0) -> None:
        """Set what stays fixed during one training run.

        Parameters
        ----------
        l2 : float, default 0
            Weight decay, as in `TrainFunctions.configure`.
        averaging : float, default 0
            Decay of the running average of the weights, likewise.
        temperature : float, default 1
            Of the probability reward, above 0.

        Raises
        ------
        ValueError
            If a value is out of range.
        """
        self._optimiser_state.configure(l2, averaging)
        self._temperature.set_value(np.asarray(positive_number("temperature", temperature)))

    def ascend(self, X: NDArray[Any], cell: NDArray[Any], weight: NDArray[Any]) -> tuple[ConfusionSums, float]:
        """Take one ascent step on the objective of a mini-batch.

        Parameters
        ----------
        X : array, shape (b, ...)
            Of the dtype of the network's input.
        cell : int32 array, shape (b,)
            Cell of each row; -1 marks padding.
        weight : array, shape (b,)
            Sample weights in the network's dtype, at least 0.

        Returns
        -------
        sums : ConfusionSums
            At the weights before the step.
        gradient_norm : float
            Euclidean norm of the objective's gradient, without weight decay.

        Raises
        ------
        ValueError
            If rows, or what belongs to them, are of another shape or dtype.
        """
        sums, *norms = step_on(self.network, self._ascend, X, cell=cell, weight=weight)
        return ConfusionSums(sums), math.hypot(*norms)

    def gradients(
        self, X: NDArray[Any], cell: NDArray[Any], weight: NDArray[Any]
    ) -> tuple[ConfusionSums, list[NDArray[Any]]]:
        """Confusion sums of a mini-batch and the gradient of the objective, for `apply`; no parameter changes.

        Parameters
        ----------
        X : array, shape (b, ...)
            As for `ascend`.
        cell : int32 array, shape (b,)
            As for `ascend`.
        weight : array, shape (b,)
            As for `ascend`.

        Returns
        -------
        sums : ConfusionSums
        gradients : list of arrays
        """
        sums, *gradients = step_on(self.network, self._gradients, X, cell=cell, weight=weight)
        return ConfusionSums(sums), gradients

    def confusion_sums(self, X: Any, cell: NDArray[Any], weight: NDArray[Any]) -> ConfusionSums:
        """Confusion sums of any number of rows at the current weights, without a step.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, ...)
            Of the dtype of the network's input.
        cell : int32 array, shape (n,)
            As for `ascend`.
        weight : array, shape (n,)
            As for `ascend`.

        Returns
        -------
        ConfusionSums
        """
        parts = row_chunks(self.network, len(cell))
        try:
            tables = [self._confusion_sums(dense_rows(X[part]), cell[part], weight[part]) for part in parts]
        except Exception:
            check_step(self.network, X, cell=cell, weight=weight)
            raise
        return ConfusionSums(np.sum(tables, axis=0))

    def scores(
        self, X: Any, scaling: Standardiser | None = None, parameters: Sequence[NDArray[Any]] | None = None
    ) -> NDArray[Any]:
        """Scores of any number of rows.

        Parameters
        ----------
        X : array, LazyRows or CSR matrix, shape (n, ...)
            Finite numbers, or token ids.
        scaling : data.Standardiser, optional
            Standardise the rows first.
        parameters : sequence of arrays, optional
            Weights to use in place of the current ones.

        Returns
        -------
        array, shape (n, K)
            In the network's dtype.

        Raises
        ------
        ValueError
            If an entry of X is not finite, or the parameters are of other shapes.
        """
        return self._scorer.outputs("scores", self.network.scores, X, scaling, parameters)

    def compile(self, *, evaluation: bool = False) -> None:
        """Compile the step if it is not compiled yet, so that compilation is excluded from timings.

        Parameters
        ----------
        evaluation : bool, default False
            Compile `confusion_sums` too.
        """
        self._ascend  # noqa: B018
        if evaluation:
            self._confusion_sums  # noqa: B018

    @cached_property
    def _ascend(self) -> Any:
        objective, sums = self._rewards(self.network.training_scores)
        norms, updates = self._optimiser_state.updates(self._optimiser_state.gradients_of(objective))
        return self._function([self.network.inputs, *self._rows], [sums, *norms], "ascend", updates=updates)

    @cached_property
    def _gradients(self) -> Any:
        objective, sums = self._rewards(self.network.training_scores)
        gradients = self._optimiser_state.gradients_of(objective)
        return self._function([self.network.inputs, *self._rows], [sums, *gradients], "gradients")

    @cached_property
    def _confusion_sums(self) -> Any:
        sums = self._rewards(self.network.scores)[1]
        return self._function([self.network.inputs, *self._rows], sums, "confusion_sums")

    def _rewards(self, scores: Any) -> tuple[Any, Any]:
        (cell, weight), (gains, logs, shift) = self._rows, self._objective
        objective, sums = cell_rewards(scores, cell, weight, self._target, gains, logs, shift, self._temperature)
        return objective, sums


def _divisor(shares: NDArray[Any]) -> NDArray[Any]:
    """What gains are divided by: infinity for a cell without rows."""
    return np.where(shares > 0, shares, np.inf)


def _shapes(cells: Cells) -> tuple[tuple[int, ...], ...]:
    """Shapes of gains, logs and shift."""
    return (cells.n_cells, cells.n_classes), (cells.n_cells,), (cells.n_classes,)
