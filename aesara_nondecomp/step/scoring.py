"""Outputs of a network for any number of rows, which are checked and standardised chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp._arrays import in_machine_layout, is_sparse
from aesara_nondecomp._checks import require
from aesara_nondecomp.data import LazyRows, Standardiser, check_finite
from aesara_nondecomp.data.memory_maps import MappedFile
from aesara_nondecomp.networks import Network
from aesara_nondecomp.ops import checked, standardise
from aesara_nondecomp.step.locks import ForkedLock
from aesara_nondecomp.step.row_checks import check_shape

SCORING_ROWS = 4096  # rows of a chunk: enough for BLAS, few enough for the cache
SCORING_TEXTS = 256  # the same for token ids, as each token of a row has states and gates of its own


class Scorer:
    """Compiled functions from parameters and rows to the outputs of a network; each is compiled when first used.

    Parameters are inputs of these functions, so threads can score different models, and one while another trains.

    Parameters
    ----------
    network : Network
        Whose outputs are computed.
    function : callable
        A backend: takes inputs, outputs and a name, and returns a compiled function.
    """

    def __init__(self, network: Network, function: Callable[..., Any]):
        self.network, self._function = network, function
        self._compiled: dict[tuple[Any, str | None], Any] = {}
        self._read: dict[Any, list[Any]] = {}  # parameters by output
        self._lock = ForkedLock()  # functions of Aesara serve one caller at a time

    def outputs(
        self,
        name: str,
        output: Any,
        X: Any,
        scaling: Standardiser | None = None,
        parameters: Sequence[NDArray[Any]] | None = None,
    ) -> NDArray[Any]:
        """An output of the network for any number of rows.

        Rows of another dtype become that of the network: without `scaling` at once, and with it after they are
        standardised in float64, so that no digit is lost before.

        Parameters
        ----------
        name : str
            Of the compiled function.
        output : symbolic variable
            Has one row for each row of the network's input.
        X : array, LazyRows or CSR matrix, shape (n, ...)
            Finite numbers, or token ids.
        scaling : Standardiser, optional
            Standardise the rows first.
        parameters : sequence of arrays, optional
            In place of the network's present ones.

        Returns
        -------
        array, shape (n, ...)

        Raises
        ------
        ValueError
            If an entry of X is not finite, the output does not have one row for each row of X, or number or shapes of
            the parameters differ.
        """
        check_shape(self.network, X)
        numbers = () if scaling is None else (scaling.mean_, scaling.scale_, np.asarray(scaling.clip))
        inputs = (*self._values(output, parameters), *numbers)
        whole: NDArray[Any] | None = None
        above = X.first_row if isinstance(X, LazyRows) else 0
        for part, rows in self._chunks(X, scaled=scaling is not None):
            with self._lock:
                function = self._checked_function(name, output, rows, above + part.start, scaled=scaling is not None)
                values, finite = function(*inputs, rows)
            if not finite:
                check_finite(rows, first_row=above + part.start)
            require(values.shape[:1] == rows.shape[:1], "an output needs one row for each row of X", values.shape)
            if whole is None:
                whole = np.empty((X.shape[0], *values.shape[1:]), dtype=values.dtype)
            whole[part] = values
        assert whole is not None  # there is at least one chunk
        return whole

    def function(self, name: str, output: Any, raw_dtype: str | None = None) -> Any:
        """The compiled function of an output, which also says whether the rows are finite.

        Parameters
        ----------
        name : str
            Of the compiled function.
        output : symbolic variable
            Has one row for each row of the network's input.
        raw_dtype : str, optional
            The dtype of rows that are not standardised yet: the function then takes the mean, scale and clip of a
            `data.Standardiser` before them. Default: it takes the rows of the network. The parameters come first.

        Returns
        -------
        callable
        """
        key = output, raw_dtype
        if key not in self._compiled:
            if raw_dtype is None:
                inputs, outputs = [self.network.inputs], list(checked(output, self.network.inputs))
            else:
                inputs, outputs = self._standardised(output, raw_dtype)
            given = {p: p.type() for p in self._parameters_of(output)}
            name = name if raw_dtype is None else f"{name}_of_raw"
            self._compiled[key] = self._function([*given.values(), *inputs], aesara.clone_replace(outputs, given), name)
        return self._compiled[key]

    def _parameters_of(self, output: Any) -> list[Any]:
        """The parameters that an output depends on, in their order."""
        if output not in self._read:
            roots = set(aesara.graph.basic.graph_inputs([output]))
            self._read[output] = [p for p in self.network.parameters if p in roots]
        return self._read[output]

    def _values(self, output: Any, parameters: Sequence[NDArray[Any]] | None) -> list[NDArray[Any]]:
        """The parameters of an output as its function takes them, copied only where they have to be converted."""
        read = self._parameters_of(output)
        if parameters is None:
            return [p.get_value(borrow=True) for p in read]
        check_shapes(self.network, parameters)
        values = dict(zip(self.network.parameters, parameters))
        return [np.require(values[p], p.dtype, ["C", "A"]) for p in read]

    def _checked_function(self, name: str, output: Any, rows: NDArray[Any], first_row: int, scaled: bool) -> Any:
        """The function of these rows, which are checked before anything is compiled for them."""
        raw_dtype = rows.dtype.name if scaled else None
        if (output, raw_dtype) not in self._compiled:
            check_finite(rows, first_row)
        return self.function(name, output, raw_dtype)

    def _standardised(self, output: Any, raw_dtype: str) -> tuple[list[Any], list[Any]]:
        """Inputs and outputs of the graph from rows that are not standardised yet."""
        inputs, mean, scale, clip = self.network.inputs, at.dvector(), at.dvector(), at.dscalar()
        rows = at.TensorType(raw_dtype, shape=inputs.type.shape)()
        standardised, finite = standardise(rows, mean, scale, clip, dtype=inputs.dtype)
        return [mean, scale, clip, rows], [aesara.clone_replace(output, {inputs: standardised}), finite]

    def _chunks(self, X: Any, scaled: bool) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Slices of X with their rows, dense and in the dtype that a compiled function takes."""
        dtype, file = np.dtype(self.network.inputs.dtype), MappedFile.of(X)
        for part in row_chunks(self.network, X.shape[0]):
            if file:
                file.check()
            rows = X[part]
            if rows.dtype != dtype:
                wider = scaled and not np.can_cast(rows.dtype, dtype)
                with np.errstate(over="ignore"):  # what is too large for the dtype is reported as not finite
                    rows = rows.astype("float64" if wider else dtype)
            yield part, dense_rows(rows)


def check_shapes(network: Network, parameters: Sequence[NDArray[Any]]) -> None:
    """Refuse parameters of another network.

    Parameters
    ----------
    network : Network
        Its parameters have the right shapes.
    parameters : sequence of arrays
        To be used in place of them.

    Raises
    ------
    ValueError
        If number or shapes differ.
    """
    mine = [p.get_value(borrow=True).shape for p in network.parameters]
    given = [np.shape(value) for value in parameters]
    require(mine == given, f"parameters of shapes {mine} are needed", given)


def row_chunks(network: Network, n: int) -> list[slice]:
    """Slices of the rows to evaluate at a time.

    Parameters
    ----------
    network : Network
        Chunks of token ids are shorter.
    n : int
        Number of rows; for 0 there is one empty chunk.

    Returns
    -------
    list of slices
    """
    size = SCORING_TEXTS if network.takes_tokens else SCORING_ROWS
    return [slice(start, start + size) for start in range(0, max(n, 1), size)]


def dense_rows(rows: Any) -> Any:
    """Rows as an aligned array.

    Parameters
    ----------
    rows : array or CSR matrix, shape (n, d)
        An aligned array is returned as it is.

    Returns
    -------
    array, shape (n, d)
    """
    if is_sparse(rows):
        return rows.toarray()
    return in_machine_layout(rows) if isinstance(rows, np.ndarray) else rows
