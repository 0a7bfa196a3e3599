"""One network's functions over the rows of all processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, Union

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._communicator import Communicator
from aesara_nondecomp.metrics.class_rates import ClassSums
from aesara_nondecomp.ops.embedding import summed_rows
from aesara_nondecomp.parallel.rows import DistributedRows, LocalBatch
from aesara_nondecomp.step.train_functions import TrainFunctions

N_SUMS = len(ClassSums._fields)


class SpreadFunctions:
    """What functions over the rows of all processes have in common: one message for each step.

    Attributes that do not concern rows are those of the wrapped functions.

    Parameters
    ----------
    functions : TrainFunctions or ClassFunctions
        Equal in all processes, as are the weights they start from.
    comm : communicator
        Of the processes.
    n_sums : int
        How many sums a step adds up beside its gradients.
    """

    def __init__(self, functions: Any, comm: Communicator, n_sums: int):
        self.functions, self.comm, self._n_sums = functions, comm, n_sums
        tables = [lookup.table for lookup in functions.network.lookups]
        dense = [p for p in functions.network.parameters if p not in tables]
        self._shapes = [p.get_value(borrow=True).shape for p in dense]
        # A table's gradient is sent as a whole, with a column that marks the rows that were looked up.
        sizes = [table.get_value(borrow=True).shape for table in tables]
        self._shapes += [(n_rows, width + 1) for n_rows, width in sizes]
        size = n_sums + sum(int(np.prod(shape)) for shape in self._shapes)
        # One buffer, so that a step is one message; class sums in the network's precision, like its scores.
        self._own, self._total = (np.zeros(size, dtype=functions.network.dtype) for _ in range(2))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.functions, name)

    def _add_up(self, sums: Any, gradients: Sequence[NDArray[Any]] | None, X: LocalBatch, factor: float) -> None:
        """Fill the buffer with this process's sums and gradients, and add up those of all."""
        self._own[:] = 0
        if sums is not None:
            self._own[: self._n_sums] = sums
        if gradients is not None:
            n_dense = len(self._shapes) - len(self.functions.network.lookups)
            for k, (view, gradient) in enumerate(zip(self._views(self._own), gradients)):
                if k < n_dense:
                    np.multiply(gradient, factor, out=view)
                else:
                    _scatter_rows(view, X.X, np.asarray(gradient), factor)
        self.comm.Allreduce(self._own, self._total)

    def _apply(self, factor: float) -> float:
        self._total[self._n_sums :] *= factor
        views, n_tables = self._views(self._total), len(self.functions.network.lookups)
        dense, tables = views[: len(views) - n_tables], views[len(views) - n_tables :]
        looked_up = [np.flatnonzero(table[:, -1]) for table in tables]
        gradients = [np.ascontiguousarray(table[rows, :-1]) for table, rows in zip(tables, looked_up)]
        norm: float = self.functions.apply([*dense, *gradients], [rows[:, None].astype("int32") for rows in looked_up])
        return norm

    def _views(self, buffer: NDArray[Any]) -> list[NDArray[Any]]:
        ends = np.cumsum([self._n_sums] + [int(np.prod(shape)) for shape in self._shapes])
        return [buffer[a:b].reshape(shape) for a, b, shape in zip(ends, ends[1:], self._shapes)]

    def _sum(self, own: NDArray[Any]) -> NDArray[Any]:
        total = np.empty_like(own)
        self.comm.Allreduce(own, total)
        return total

    # -- random streams ------------------------------------------------------------------------------------------

    def initialise(self, seed: Any = None, parameters: Sequence[NDArray[Any]] | None = None) -> None:
        """Start anew, see `TrainFunctions.initialise`; dropout masks differ between the processes.

        Parameters
        ----------
        seed : int, numpy Generator or None, optional
            Equal in all processes.
        parameters : sequence of arrays, optional
            Initial values in place of drawn ones.
        """
        self.functions.initialise(seed, parameters)
        self._jump_streams()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state returned by `state` on rank 0.

        Parameters
        ----------
        state : mapping of str to array
            Equal in all processes.
        """
        self.functions.restore(state)
        self._jump_streams()

    def _jump_streams(self) -> None:
        """Let each process draw other random numbers."""
        for shared in self.functions.network.generators:
            generator = shared.get_value(borrow=False)
            shared.set_value(np.random.Generator(generator.bit_generator.jumped(self.comm.rank)), borrow=True)


class DistributedFunctions(SpreadFunctions):
    """Takes the place of `TrainFunctions` in a training loop, with `LocalBatch` or `DistributedRows` as rows.

    Labels and scores are those of the whole batch, equal in all processes. Attributes that do not concern rows are
    those of the wrapped functions.

    Parameters
    ----------
    functions : TrainFunctions
        Equal in all processes, as are the weights they start from.
    comm : communicator
        Of the processes.
    """

    several_classes: Literal[False] = False

    def __init__(self, functions: TrainFunctions, comm: Communicator):
        super().__init__(functions, comm, N_SUMS)

    # -- steps ---------------------------------------------------------------------------------------------------

    def ascend(self, X: LocalBatch, y: NDArray[Any]) -> tuple[ClassSums, float]:
        """Take one ascent step on the weighted objective of a batch, see `TrainFunctions.ascend`.

        Parameters
        ----------
        X : LocalBatch
            This process's rows of the batch.
        y : array, shape (b,)
            Signed sample weights of the whole batch.

        Returns
        -------
        sums : ClassSums
            Class sums of the whole batch at the weights before the step.
        gradient_norm : float
            Euclidean norm of the objective's gradient.
        """
        own = y[X.positions]
        weight = float(np.abs(own).sum())
        sums, gradients = self.functions.gradients(X.X, own) if weight else (None, None)
        # The gradient of a process is that of its rows' mean; sums are what adds up.
        self._add_up(sums, gradients, X, weight)
        total = ClassSums(*self._total[:N_SUMS].tolist())
        return total, self._apply(1 / ((total.n_pos + total.n_neg) or 1.0))

    def ascend_rows(self, X: LocalBatch, coefficients: NDArray[Any]) -> float:
        """Take one ascent step on a weighted sum of scores, see `TrainFunctions.ascend_rows`.

        Parameters
        ----------
        X : LocalBatch
            This process's rows of the batch.
        coefficients : array, shape (b,)
            Of the whole batch.

        Returns
        -------
        float
            Euclidean norm of the sum's gradient.
        """
        gradients = self.functions.row_gradients(X.X, coefficients[X.positions]) if len(X.positions) else None
        self._add_up(None, gradients, X, 1.0)
        return self._apply(1.0)

    def compile(self, *, evaluation: bool = False, rows: bool = False, cells: bool = False) -> None:
        """Compile the step if it is not compiled yet, see `TrainFunctions.compile`.

        Parameters
        ----------
        evaluation : bool, default False
            Compile `class_sums` too.
        rows : bool, default False
            Compile what a row driver needs instead.
        cells : bool, default False
            Must be False: cells are trained in one process.
        """
        self.functions._apply  # noqa: B018
        if rows:
            self.functions._row_gradients, self.functions._scores  # noqa: B018
            return
        self.functions._gradients  # noqa: B018
        if evaluation:
            self.functions._class_sums  # noqa: B018

    # -- evaluation ----------------------------------------------------------------------------------------------

    def class_sums(self, X: LocalBatch | DistributedRows, y: NDArray[Any]) -> ClassSums:
        """Class sums of the rows of all processes at the current weights.

        Parameters
        ----------
        X : LocalBatch or DistributedRows
            Rows of all processes.
        y : array, shape (n,)
            Signed sample weights of all of them.

        Returns
        -------
        ClassSums
        """
        rows, positions, _ = own_rows(X)
        own = np.zeros(N_SUMS)
        if len(positions):
            own[:] = self.functions.class_sums(rows, y[positions])
        return ClassSums(*self._sum(own).tolist())

    def scores(self, X: LocalBatch | DistributedRows) -> NDArray[Any]:
        """Scores of the rows of all processes, in all of them.

        Parameters
        ----------
        X : LocalBatch or DistributedRows
            Rows of all processes.

        Returns
        -------
        array, shape (n,)
        """
        rows, positions, n = own_rows(X)
        own = np.zeros(n, dtype=self.functions.network.dtype)
        if len(positions):
            own[positions] = self.functions.scores(rows)
        return self._sum(own)

    def features(self, X: DistributedRows) -> DistributedRows:
        """Output of the lower part of the network, distributed as the rows are.

        Parameters
        ----------
        X : DistributedRows
            Rows of all processes.

        Returns
        -------
        DistributedRows
        """
        return X.with_own(self.functions.features(X.own))

    @cached_property
    def head(self) -> DistributedFunctions:
        """The functions of the head alone."""
        return DistributedFunctions(self.functions.head, self.comm)


Functions = Union[TrainFunctions, DistributedFunctions]


def distributed(functions: Any, comm: Communicator) -> Any:
    """Functions over the rows of all processes.

    Parameters
    ----------
    functions : TrainFunctions or ClassFunctions
        Equal in all processes, as are the weights they start from.
    comm : communicator
        Of the processes.

    Returns
    -------
    TrainFunctions, ClassFunctions, DistributedFunctions or DistributedClassFunctions
        The functions themselves where there is one process.
    """
    if comm.size == 1:
        return functions
    if functions.several_classes:
        from aesara_nondecomp.parallel.class_functions import DistributedClassFunctions  # takes long to load

        return DistributedClassFunctions(functions, comm)
    return DistributedFunctions(functions, comm)


def own_rows(X: LocalBatch | DistributedRows) -> tuple[Any, NDArray[Any], int]:
    """Return this process's rows, their positions among all rows, and the total number of rows.

    Parameters
    ----------
    X : LocalBatch or DistributedRows
        Rows of all processes.

    Returns
    -------
    rows : array or CSR matrix, shape (k, d)
        Those of this process.
    positions : int array, shape (k,)
        Where they are among all of them.
    n : int
        Number of rows of all processes.
    """
    return (X.X, X.positions, X.n) if isinstance(X, LocalBatch) else (X.own, X.indices, len(X))


def _scatter_rows(view: NDArray[Any], ids: NDArray[Any], gradient: NDArray[Any], factor: float) -> None:
    """Put the gradients of looked-up rows where the rows are in the table, and mark these in the last column."""
    rows, sums = summed_rows(ids, gradient)
    view[rows, :-1] = factor * sums
    view[rows, -1] = 1
