"""The compiled functions of a network of L labels: the step of K classes, with a pair of cells for each label."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.drivers.multiclass.labels import label_cells
from aesara_nondecomp.networks import Network
from aesara_nondecomp.ops import cell_rewards, optimisers
from aesara_nondecomp.step.class_functions import ClassFunctions


class LabelFunctions(ClassFunctions):
    """The compiled functions of a network with a score for each of L labels.

    A label is a problem of two classes, with scores 0 and f. A batch of b rows so has b L pairs, in the 2 L cells of
    `label_cells`; the objective is their mean. Rows come with the number of their set of labels in place of a cell.

    Parameters
    ----------
    network : Network
        Its scores have L columns; its parameters are updated in place.
    priors : float64 array, shape (L,)
        Share of the training rows that has each label.
    sets : bool array, shape (m, L), optional
        The sets of labels that rows may have. Default: none, for functions that only compute scores.
    optimizer : str or optimisers.Optimiser, default "adam"
        See `TrainFunctions`.
    backend : {"c", "jax"}, default "c"
        See `TrainFunctions`.

    Raises
    ------
    ValueError
        As from `ClassFunctions`.
    """

    def __init__(
        self,
        network: Network,
        priors: NDArray[Any],
        sets: NDArray[Any] | None = None,
        optimizer: str | optimisers.Optimiser = "adam",
        backend: str = "c",
    ) -> None:
        super().__init__(network, label_cells(priors), optimizer, backend)
        self.sets = np.zeros((0, len(priors)), dtype=bool) if sets is None else sets
        self._sets = aesara.shared(self.sets.astype("int32"), name="sets")

    @property
    def n_scores(self) -> int:
        return self.cells.n_cells // 2

    @property
    def n_problems(self) -> int:
        return self.n_scores

    def shares_in(self, row_shares: NDArray[Any] | None) -> NDArray[Any] | None:
        if row_shares is None:
            return None
        priors = row_shares @ self.sets[: len(row_shares)]
        return np.asarray(label_cells(priors / row_shares.sum()).shares)

    def _rewards(self, scores: Any) -> tuple[Any, Any]:
        (row_set, weight), (gains, logs, shift) = self._rows, self._objective
        n_labels = self.n_scores
        cell = 2 * np.arange(n_labels, dtype="int32") + self._sets[row_set]
        # 0 and f, as a product: the gradient of what joins two columns has no implementation in JAX.
        pairs = scores.reshape((-1, 1)) * np.array([[0, 1]], dtype=scores.dtype)
        weights = at.repeat(weight, n_labels)
        objective, sums = cell_rewards(
            pairs, cell.ravel(), weights, self._target, gains, logs, shift, self._temperature
        )
        return objective, sums
