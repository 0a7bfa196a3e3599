"""Confusion matrices of several labels, and a table of how each label does."""

# ruff: noqa: N806 -- TP, FN, FP and TN are the names of the counts
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._tables import number_text, table_lines
from aesara_nondecomp.measures import Averaged

Array = NDArray[Any]


def label_confusions(matrix: Array, predicted: Array, weight: Array | None = None) -> Array:
    """Confusion matrix of each label.

    Parameters
    ----------
    matrix : bool array, shape (n, L)
        Which labels the rows have.
    predicted : bool array, shape (n, L)
        Which are predicted.
    weight : array, shape (n,), optional
        Sample weights. Default: 1, so that the entries are counts.

    Returns
    -------
    array, shape (L, 4)
        TP, FN, FP and TN of each label.
    """
    weights = np.ones(len(matrix), dtype=np.int64) if weight is None else weight
    has, gets = matrix.astype(bool), predicted.astype(bool)
    parts = [has & gets, has & ~gets, ~has & gets, ~has & ~gets]
    return np.stack([weights @ part for part in parts], axis=1)


def label_rates(confusions: Array) -> dict[str, Array]:
    """Recall, precision and F1 of each label.

    Parameters
    ----------
    confusions : array, shape (..., L, 4)
        From `label_confusions`.

    Returns
    -------
    dict of str to float64 array, shape (..., L)
        The "recall", the "precision" and the "f1"; NaN where one reads 0/0.
    """
    TP, FN, FP, _ = np.moveaxis(np.asarray(confusions), -1, 0)
    with np.errstate(invalid="ignore"):
        return {"recall": TP / (TP + FN), "precision": TP / (TP + FP), "f1": 2 * TP / (2 * TP + FP + FN)}


class LabelRow(NamedTuple):
    """How one label does.

    Attributes
    ----------
    label : object
        Its name.
    rows : int
        Rows that have it.
    predicted : int
        Rows that it is predicted for.
    precision : float
        Share of these that have it; NaN without any.
    recall : float
        Share of the rows that have it which it is predicted for; NaN without any.
    f1 : float
        Harmonic mean of the two.
    value : float
        The measure of this label by itself, in its own orientation.
    threshold : float
        Scores above it are predictions of the label.
    """

    label: Any
    rows: int
    predicted: int
    precision: float
    recall: float
    f1: float
    value: float
    threshold: float


class LabelReport(NamedTuple):
    """How a classifier does by label, from `MultilabelModel.by_label`. ``str(report)`` is a table.

    Attributes
    ----------
    rows : tuple of LabelRow
        In the order of the labels.
    measure : str
        Name of the measure.
    value : float
        Its average over the labels.
    """

    rows: tuple[LabelRow, ...]
    measure: str
    value: float

    @classmethod
    def of(cls, measure: Averaged, confusions: Array, labels: tuple[Any, ...], thresholds: Array) -> LabelReport:
        """Make the report of confusion matrices.

        Parameters
        ----------
        measure : measures.Averaged
            Whose values are reported.
        confusions : array, shape (L, 4)
            From `label_confusions`.
        labels : tuple
            Names of the labels.
        thresholds : array, shape (L,)
            Of the labels.

        Returns
        -------
        LabelReport
        """
        TP, FN, FP, _ = confusions.T
        rates = label_rates(confusions)
        own = rates["precision"], rates["recall"], rates["f1"], measure.of_labels(confusions), np.asarray(thresholds)
        columns = (TP + FN, TP + FP, *own)
        rows = tuple(LabelRow(label, *row) for label, *row in zip(labels, *(column.tolist() for column in columns)))
        return cls(rows, str(measure), measure.from_confusions(confusions))

    def __str__(self) -> str:
        own = self.measure.partition("_")[2]
        extra = [own] if own != "f1" else []
        lines = [
            [row.label, row.rows, row.predicted, *map(number_text, (row.precision, row.recall, row.f1)),
             *([number_text(row.value)] if extra else []), number_text(row.threshold)]
            for row in self.rows
        ]  # fmt: skip
        header = ["label", "rows", "predicted", "precision", "recall", "f1", *extra, "threshold"]
        return "\n".join([*table_lines(header, lines), f"{self.measure} {number_text(self.value)}"])
