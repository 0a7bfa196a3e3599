"""Measures of several labels: the mean of a two-class measure over the labels, or its value on pooled counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import one_of, require
from aesara_nondecomp.measures import catalogue
from aesara_nondecomp.measures.groups import GroupMeasure

__all__ = ["Averaged"]

AVERAGES = ("macro", "micro")


@dataclass(frozen=True)
class Averaged:
    """A two-class measure of problems of several labels.

    Parameters
    ----------
    measure : str or Measure
        Of two classes, without groups.
    average : {"macro", "micro"}, default "macro"
        "macro" is the mean of the labels' values, "micro" the value of the sum of their confusion matrices.

    Raises
    ------
    ValueError
        If the measure is none of two classes, or the average is unknown.

    Examples
    --------
    >>> str(Averaged("f1", "micro"))
    'micro_f1'
    >>> Averaged("f1").from_confusions([[1, 0, 1, 2], [0, 1, 0, 3]])
    0.3333333333333333
    """

    measure: Any
    average: str = "macro"

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", catalogue.get(self.measure))
        without = not isinstance(self.measure, GroupMeasure)
        require(without, "several labels need a measure without groups", self.measure)
        one_of("average", self.average, AVERAGES)

    def __str__(self) -> str:
        return f"{self.average}_{self.measure}"

    @property
    def greater_is_better(self) -> bool:
        """Whether larger values are better, as of the measure of two classes."""
        return bool(self.measure.greater_is_better)

    @classmethod
    def get(cls, spec: Any) -> Averaged:
        """The measure of several labels that `spec` stands for.

        Parameters
        ----------
        spec : str, Measure or Averaged
            "f1" or "macro_f1" for the mean over the labels, "micro_f1" for pooled counts, likewise with every other
            name in the catalogue; a measure, for its mean over the labels.

        Returns
        -------
        Averaged

        Raises
        ------
        ValueError
            If it is none of these.
        """
        if isinstance(spec, Averaged):
            return spec
        if isinstance(spec, str):
            average, _, name = spec.partition("_")
            if average in AVERAGES and spec not in catalogue.names():
                return cls(name, average)
        return cls(spec)

    def from_confusions(self, confusions: Any) -> float:
        """Value on hard predictions, in the measure's own orientation.

        Parameters
        ----------
        confusions : array-like, shape (L, 4)
            TP, FN, FP and TN of each label.

        Returns
        -------
        float
            NaN where the measure is undefined for a label.
        """
        return float(self.values(confusions))

    def values(self, confusions: Any) -> NDArray[np.float64]:
        """The values of several sets of hard predictions.

        Parameters
        ----------
        confusions : array-like, shape (..., L, 4)
            As for `from_confusions`.

        Returns
        -------
        float64 array, shape (...)
        """
        counts = np.asarray(confusions, dtype=float)
        if self.average == "micro":
            counts = counts.sum(axis=-2, keepdims=True)
        return np.asarray(np.mean(self.of_labels(counts), axis=-1))

    def of_labels(self, confusions: Any) -> NDArray[np.float64]:
        """Value of each label by itself.

        Parameters
        ----------
        confusions : array-like, shape (..., L, 4)
            As for `from_confusions`.

        Returns
        -------
        float64 array, shape (..., L)
        """
        counts = np.moveaxis(np.asarray(confusions, dtype=float), -1, 0)
        return np.asarray(self.measure.from_counts(*counts), dtype=float)

    def oriented(self, value: float) -> float:
        """A value such that larger is better.

        Parameters
        ----------
        value : float
            In the measure's own orientation.

        Returns
        -------
        float
        """
        return float(self.measure.oriented(value))

    def merit(self, value: float) -> float:
        """The same, for comparisons: minus infinity where undefined.

        Parameters
        ----------
        value : float
            In the measure's own orientation.

        Returns
        -------
        float
        """
        return float(self.measure.merit(value))
