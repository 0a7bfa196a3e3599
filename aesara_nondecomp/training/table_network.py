"""`network="auto"`: the network of a table follows from its columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import is_sparse
from aesara_nondecomp.data import BatchSource, Standardiser
from aesara_nondecomp.data.columns import bins_of_spiky_columns, numeric_columns

SAMPLED_ROWS = 10_000  # medians, quartiles and bins of more rows would hardly differ


class TableNetwork(NamedTuple):
    """Makes "tabular" for rows with numeric columns, and "mlp" for binary ones, sparse or distributed rows.

    Attributes
    ----------
    make : callable (name, size, options) -> Network or TrainFunctions
        Builds a network by name for a number of columns, with options in a dict.
    otherwise : {"mlp", "tabular"}, default "mlp"
        The network of other rows.
    """

    make: Callable[[str, int, dict[str, Any]], Any]
    otherwise: str = "mlp"

    @classmethod
    def named(cls, name: str | None, make: Callable[[str, int, dict[str, Any]], Any]) -> TableNetwork:
        """That of "tabular", which holds for all rows, or of "auto".

        Parameters
        ----------
        name : {"auto", "tabular"} or None
            None stands for "auto".
        make : callable
            As above.

        Returns
        -------
        TableNetwork
        """
        return cls(make, "tabular" if name == "tabular" else "mlp")

    def __call__(self, size: int) -> Any:
        """The network of rows of which only the number of columns is known."""
        return self.make(self.otherwise, size, {})

    def of_rows(self, rows: Any, weight: NDArray[Any] | None) -> tuple[Any, Standardiser] | None:
        """The network of dense rows with numeric columns, and their scaling.

        Parameters
        ----------
        rows : array, CSR matrix, LazyRows or BatchSource, shape (n, d)
            Training rows, encoded but not scaled.
        weight : array, shape (n,), or None
            Their sample weights.

        Returns
        -------
        tuple of (Network or TrainFunctions, Standardiser), or None
            None for other rows, which the mlp takes.
        """
        if isinstance(rows, BatchSource) or is_sparse(rows) or not np.issubdtype(rows.dtype, np.number):
            return None
        chosen = np.unique(np.linspace(0, len(rows) - 1, SAMPLED_ROWS).astype(np.intp))
        sample = np.asarray(rows[chosen], dtype=np.float64)
        numeric = numeric_columns(sample)
        if not numeric or not np.isfinite(sample).all():  # what is not finite is refused where it is prepared
            return None
        scaling = Standardiser.robust(sample, numeric, None if weight is None else weight[chosen])
        bins = bins_of_spiky_columns(scaling.transform(sample, np.float64), numeric, len(rows))
        return self.make("tabular", rows.shape[1], {"numeric": tuple(numeric), "bins": tuple(bins)}), scaling
