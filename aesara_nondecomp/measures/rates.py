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


def _ratio(top: tuple[float, float, float, float], bottom: tuple[float, float, float, float]) -> Any:
    """A rate by how often TP, FN, FP and TN count in its numerator and in its denominator."""

    def of_cells(cells: Cells, chosen: Array) -> Ratio:
        weight = np.where(chosen, cells.shares, 0.0)
        parts = []
        for tp, fn, fp, tn in (top, bottom):
            right, wrong = np.where(cells.positive, tp, tn), np.where(cells.positive, fn, fp)
            parts += [weight * (right - wrong), float(weight @ wrong)]
        return Ratio(*parts)

    return of_cells


_ALL = (1.0, 1.0, 1.0, 1.0)
RATES: Mapping[str, Any] = {
    "tpr": _ratio((1, 0, 0, 0), (1, 1, 0, 0)),
    "fnr": _ratio((0, 1, 0, 0), (1, 1, 0, 0)),
    "tnr": _ratio((0, 0, 0, 1), (0, 0, 1, 1)),
    "fpr": _ratio((0, 0, 1, 0), (0, 0, 1, 1)),
    "recall": _ratio((1, 0, 0, 0), (1, 1, 0, 0)),
    "selection": _ratio((1, 0, 1, 0), _ALL),
    "accuracy": _ratio((1, 0, 0, 1), _ALL),
    "precision": _ratio((1, 0, 0, 0), (1, 0, 1, 0)),
    "npv": _ratio((0, 0, 0, 1), (0, 1, 0, 1)),
    "f1": _ratio((2, 0, 0, 0), (2, 1, 1, 0)),
}
