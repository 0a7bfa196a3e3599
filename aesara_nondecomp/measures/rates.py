"""Rates of two classes that constraints bound, as ratios of affine functions of the recalls of cells.

Source: docs/algorithms.md 3.10.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.measures.groups import Cells

Array = NDArray[Any]


class Ratio(NamedTuple):
    """A rate as (a . r + a0) / (d . r + d0), where r are the recalls of the cells.

    Attributes
    ----------
    a : float64 array, shape (m,)
        Slopes of the numerator.
    a0 : float
        Its constant.
    d : float64 array, shape (m,)
        Slopes of the denominator.
    d0 : float
        Its constant.
    """

    a: Array
    a0: float
    d: Array
    d0: float

    def value(self, recalls: Array) -> Any:
        """The rate; NaN where it is undefined.

        Parameters
        ----------
        recalls : array, shape (..., m)
            Of the cells.

        Returns
        -------
        float or array
        """
        recalls = np.nan_to_num(recalls)
        with np.errstate(invalid="ignore", divide="ignore"):
            return (recalls @ self.a + self.a0) / (recalls @ self.d + self.d0)


class Rate(NamedTuple):
    """A rate: how often each TP, FN, FP and TN, in this order, counts in its numerator and denominator.

    Attributes
    ----------
    top : tuple of float
        Of the numerator.
    bottom : tuple of float
        Of the denominator.
    """

    top: tuple[float, float, float, float]
    bottom: tuple[float, float, float, float]

    def of_cells(self, cells: Cells, chosen: Array) -> Ratio:
        """The rate as a function of the recalls of cells.

        Parameters
        ----------
        cells : Cells
            Of the rows.
        chosen : bool array, shape (m,)
            The cells whose rows count.

        Returns
        -------
        Ratio
        """
        weight = np.where(chosen, cells.shares, 0.0)
        parts = []
        for tp, fn, fp, tn in self:
            right, wrong = np.where(cells.positive, tp, tn), np.where(cells.positive, fn, fp)
            parts += [weight * (right - wrong), float(weight @ wrong)]
        return Ratio(*parts)

    def of_counts(self, right: Array, wrong: Array) -> Any:
        """The rate of counted rows.

        Parameters
        ----------
        right : array, shape (..., m)
            Rows of each cell that are predicted right; cells of negatives and of positives alternate.
        wrong : array, shape (..., m)
            Those that are predicted wrong.

        Returns
        -------
        float or array
        """
        outcomes = (right[..., 1::2], wrong[..., 1::2], wrong[..., ::2], right[..., ::2])
        counts = np.stack([np.sum(rows, axis=-1) for rows in outcomes], axis=-1)
        return (counts @ self.top) / (counts @ self.bottom)


_ALL = (1.0, 1.0, 1.0, 1.0)
RATES: Mapping[str, Rate] = {
    "tpr": Rate((1, 0, 0, 0), (1, 1, 0, 0)),
    "fnr": Rate((0, 1, 0, 0), (1, 1, 0, 0)),
    "tnr": Rate((0, 0, 0, 1), (0, 0, 1, 1)),
    "fpr": Rate((0, 0, 1, 0), (0, 0, 1, 1)),
    "recall": Rate((1, 0, 0, 0), (1, 1, 0, 0)),
    "selection": Rate((1, 0, 1, 0), _ALL),
    "accuracy": Rate((1, 0, 0, 1), _ALL),
    "precision": Rate((1, 0, 0, 0), (1, 0, 1, 0)),
    "npv": Rate((0, 0, 0, 1), (0, 1, 0, 1)),
    "f1": Rate((2, 0, 0, 0), (2, 1, 1, 0)),
}
