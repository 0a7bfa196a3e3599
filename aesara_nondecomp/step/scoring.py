"""Outputs of a network for any number of rows, which are checked and standardised chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp._checks import require
from aesara_nondecomp.data import Standardiser, check_finite
from aesara_nondecomp.data.memory_maps import MappedFile
from aesara_nondecomp.networks import Network
from aesara_nondecomp.ops import checked, standardise

SCORING_ROWS = 4096  # rows of a chunk: enough for BLAS, few enough for the cache
SCORING_TEXTS = 256  # the same for token ids, as each token of a row has states and gates of its own


class Scorer:
    """Compiled functions from rows to the outputs of a network; each is compiled when first used.

    Parameters
    ----------
    network : Network
        The functions read its present parameters.
    function : callable
        A backend: takes inputs, outputs and a name, and returns a compiled function.
    """

    def __init__(self, network: Network, function: Callable[..., Any]):
        self.network, self._function = network, function
        self._compiled: dict[tuple[Any, str | None], Any] = {}

    def outputs(self, name: str, output: Any, X: Any, scaling: Standardiser | None = None) -> NDArray[Any]:
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

        Returns
        -------
        array, shape (n, ...)

        Raises
        ------
        ValueError
            If an entry of X is not finite, or the output does not have one row for each row of X.
        """
        numbers = () if scaling is None else (scaling.mean_, scaling.scale_, np.asarray(scaling.clip))
        whole: NDArray[Any] | None = None
        for part, rows in self._chunks(X, scaled=scaling is not None):
            function = self._checked_function(name, output, rows, part.start, scaled=scaling is not None)
            values, finite = function(*numbers, rows)
            if not finite:
                check_finite(rows, first_row=part.start)
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
            `data.Standardiser` before them. Default: it takes the rows of the network.

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
            self._compiled[key] = self._function(inputs, outputs, name if raw_dtype is None else f"{name}_of_raw")
        return self._compiled[key]

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
    """Rows as an array.

    Parameters
    ----------
    rows : array or CSR matrix, shape (n, d)
        An array is returned as it is.

    Returns
    -------
    array, shape (n, d)
    """
    return rows.toarray() if scipy.sparse.issparse(rows) else rows
