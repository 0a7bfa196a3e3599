"""The functions of a network of K classes, or of several labels, over the rows of all processes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._communicator import Communicator
from aesara_nondecomp.metrics import ConfusionSums
from aesara_nondecomp.parallel.functions import SpreadFunctions, own_rows
from aesara_nondecomp.parallel.rows import DistributedRows, LocalBatch
from aesara_nondecomp.step.class_functions import ClassFunctions


class DistributedClassFunctions(SpreadFunctions):
    """Takes the place of `ClassFunctions` in a training loop, with `LocalBatch` or `DistributedRows` as rows.

    Cells, weights and scores are those of the whole batch, equal in all processes.

    Parameters
    ----------
    functions : ClassFunctions or LabelFunctions
        Equal in all processes, as are the weights they start from.
    comm : communicator
        Of the processes.
    """

    several_classes: Literal[True] = True

    def __init__(self, functions: ClassFunctions, comm: Communicator):
        cells = functions.cells
        self._table = cells.n_cells, 2 * cells.n_classes + 2
        super().__init__(functions, comm, self._table[0] * self._table[1])

    def ascend(self, X: LocalBatch, cell: NDArray[Any], weight: NDArray[Any]) -> tuple[ConfusionSums, float]:
        """Take one ascent step on the objective of a batch, see `ClassFunctions.ascend`.

        Parameters
        ----------
        X : LocalBatch
            This process's rows of the batch.
        cell : int32 array, shape (b,)
            Cells of the whole batch.
        weight : array, shape (b,)
            Sample weights of the whole batch.

        Returns
        -------
        sums : ConfusionSums
            Of the whole batch, at the weights before the step.
        gradient_norm : float
            Euclidean norm of the objective's gradient.
        """
        own, own_weight = cell[X.positions], weight[X.positions]
        total_weight = float(own_weight[own >= 0].sum())
        sums, gradients = None, None
        if total_weight:
            found, gradients = self.functions.gradients(X.X, own, own_weight)
            sums = found.table.ravel()
        # The gradient of a process is that of its rows' mean; sums are what adds up.
        self._add_up(sums, gradients, X, total_weight * self.functions.n_problems)
        total = ConfusionSums(self._total[: self._n_sums].reshape(self._table).astype(np.float64))
        return total, self._apply(1 / (float(total.weight.sum()) or 1.0))

    def confusion_sums(
        self, X: LocalBatch | DistributedRows, cell: NDArray[Any], weight: NDArray[Any]
    ) -> ConfusionSums:
        """Confusion sums of the rows of all processes at the current weights, without a step.

        Parameters
        ----------
        X : LocalBatch or DistributedRows
            Rows of all processes.
        cell : int32 array, shape (n,)
            Cells of all of them.
        weight : array, shape (n,)
            Their sample weights.

        Returns
        -------
        ConfusionSums
        """
        rows, positions, _ = own_rows(X)
        own = np.zeros(self._table)
        if len(positions):
            own[:] = self.functions.confusion_sums(rows, cell[positions], weight[positions]).table
        return ConfusionSums(self._sum(own))

    def scores(self, X: LocalBatch | DistributedRows) -> NDArray[Any]:
        """Scores of the rows of all processes, in all of them.

        Parameters
        ----------
        X : LocalBatch or DistributedRows
            Rows of all processes.

        Returns
        -------
        array, shape (n, K)
        """
        rows, positions, n = own_rows(X)
        own = np.zeros((n, self.functions.n_scores), dtype=self.functions.network.dtype)
        if len(positions):
            own[positions] = self.functions.scores(rows)
        return self._sum(own)

    def compile(self, *, evaluation: bool = False) -> None:
        """Compile the step if it is not compiled yet, see `ClassFunctions.compile`.

        Parameters
        ----------
        evaluation : bool, default False
            Compile `confusion_sums` too.
        """
        self.functions._gradients, self.functions._apply  # noqa: B018
        if evaluation:
            self.functions._confusion_sums  # noqa: B018
