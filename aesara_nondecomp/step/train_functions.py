"""All compiled functions of one network: its ascent step, evaluation, and the state of its weights."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp._communicator import LOCAL, Communicator
from aesara_nondecomp.data import Standardiser
from aesara_nondecomp.metrics.class_rates import ClassSums
from aesara_nondecomp.networks import Network
from aesara_nondecomp.ops import optimisers, reward_sums
from aesara_nondecomp.step.ascent import AscentFunctions
from aesara_nondecomp.step.locks import lock_of
from aesara_nondecomp.step.row_checks import check_step
from aesara_nondecomp.step.scoring import Scorer, dense_rows, row_chunks
from aesara_nondecomp.step.weights import Weights


class TrainFunctions(AscentFunctions, Weights):
    """The compiled functions of one network, and the shared variables that they read.

    `ascend` is compiled once and serves every measure, algorithm, prior, learning rate and L2 strength: all of these
    are numbers in shared variables. Each function is compiled when first used, after its input has been checked.

    Parameters
    ----------
    network : Network
        Its parameters are updated in place.
    optimizer : str or optimisers.Optimiser, default "adam"
        "sgd", "momentum", "nesterov", "adam", "adamw", or an instance.
    backend : {"c", "jax"}, default "c"
        Compile through C++ (without a compiler: see `ops.library`), or through JAX (extra ``jax``), for a GPU. JAX
        computes in 64 bits where a graph asks for it, in the whole process (its ``jax_enable_x64``). It draws other
        dropout masks.

    Attributes
    ----------
    comm : communicator
        `LOCAL`: these functions train in a single process.
    lock : TrainingLock
        `fit` holds it, and another `fit` on the same parameters waits for it. Hold it in a training loop of your own if
        threads share these functions.
    several_classes : bool
        False.

    Raises
    ------
    ValueError
        If `optimizer` or `backend` is unknown; on the first use of a function, if an Op of the network has no JAX
        implementation.
    ImportError
        If the backend is "jax" and JAX is missing.
    """

    comm: Communicator = LOCAL
    several_classes: Literal[False] = False

    def __init__(self, network: Network, optimizer: str | optimisers.Optimiser = "adam", backend: str = "c"):
        super().__init__(network, optimizer, backend)
        self.lock = lock_of(network)
        self._scorer = Scorer(network, self._function)

    # -- evaluation ----------------------------------------------------------------------------------------------

    def class_sums(self, X: Any, y: NDArray[Any]) -> ClassSums:
        """Class sums of any number of rows at the current weights, without a step.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, ...)
            Of the dtype of the network's input.
        y : array, shape (n,)
            Signed sample weights in the network's dtype.

        Returns
        -------
        ClassSums

        Raises
        ------
        ValueError
            If rows, or what belongs to them, are of another shape or dtype.
        """
        try:
            parts = (self._class_sums(dense_rows(X[rows]), y[rows]) for rows in row_chunks(self.network, len(y)))
            return ClassSums(*sum(parts, np.zeros(len(ClassSums._fields))).tolist())
        except Exception:
            check_step(self.network, X, y=y)
            raise

    def scores(
        self, X: Any, scaling: Standardiser | None = None, parameters: Sequence[NDArray[Any]] | None = None
    ) -> NDArray[Any]:
        """Scores of any number of rows.

        Parameters
        ----------
        X : array, LazyRows or CSR matrix, shape (n, ...)
            Finite numbers, or token ids. Rows of a wider dtype than the network's are standardised in float64 before
            they are rounded.
        scaling : data.Standardiser, optional
            Standardise the rows first.
        parameters : sequence of arrays, optional
            Weights to use in place of the current ones, as for `load`; these may be in training meanwhile.

        Returns
        -------
        array, shape (n,)
            In the network's dtype.

        Raises
        ------
        ValueError
            If an entry of X is not finite, or the parameters are of other shapes.
        """
        return self._scorer.outputs("scores", self.network.scores, X, scaling, parameters).reshape(-1)

    def features(self, X: Any) -> NDArray[Any]:
        """Output of the lower part of the network, for `Network.head_network`.

        Parameters
        ----------
        X : array, LazyRows or CSR matrix, shape (n, ...)
            Finite numbers, or token ids.

        Returns
        -------
        array, shape (n, k)

        Raises
        ------
        ValueError
            If the network has no lower part, or an entry of X is not finite.
        """
        require(self.network.features is not None, "`features` needs a network with a lower part", self.network)
        return self._scorer.outputs("features", self.network.features, X)

    # -- compilation ---------------------------------------------------------------------------------------------

    def compile(self, *, evaluation: bool = False, rows: bool = False, cells: bool = False) -> None:
        """Compile the step if it is not compiled yet, so that compilation is excluded from timings.

        Parameters
        ----------
        evaluation : bool, default False
            Compile `class_sums` too.
        rows : bool, default False
            Compile what a row driver needs instead: `ascend_rows` and `scores`.
        cells : bool, default False
            Compile `ascend_cells` in place of `ascend`.
        """
        if rows:
            self._ascend_rows, self._scores  # noqa: B018
            return
        self._ascend_cells if cells else self._ascend  # noqa: B018
        if evaluation:
            self._class_sums  # noqa: B018

    @cached_property
    def head(self) -> TrainFunctions:
        """The functions of the head alone, with features as input and the same shared parameters."""
        return TrainFunctions(self.network.head_network(), self.optimizer, self.backend)

    @cached_property
    def _class_sums(self) -> Any:
        sums = reward_sums(self.network.scores, self._y, self._weights, self._temperature)[1]
        return self._function([self.network.inputs, self._y], sums, "class_sums")

    @property
    def _scores(self) -> Any:
        return self._scorer.function("scores", self.network.scores)
