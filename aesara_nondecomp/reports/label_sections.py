"""The sections of the report of one model of several labels, in the order of the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.metrics.bootstrap import FEW_ROWS
from aesara_nondecomp.metrics.label_confusion import label_confusions
from aesara_nondecomp.reports import markup
from aesara_nondecomp.reports.frame import (
    Evaluated,
    importance_section,
    measures_section,
    overview_section,
    rates_of_each,
    training_section,
    warnings_section,
)
from aesara_nondecomp.reports.label_facts import predicted_labels
from aesara_nondecomp.reports.markup import Markup, Section, figure, name, number
from aesara_nondecomp.reports.page import page_of
from aesara_nondecomp.reports.pictures import calibration_of_each
from aesara_nondecomp.reports.svg import Axis, Chart

MOST_NAMED = 15  # labels in a warning


def _overview(found: Evaluated) -> Section:
    facts = found.facts
    told = f"{facts['rows']:,} rows with {len(facts['labels'])} labels"
    one_for_all = len(set(facts["model"]["thresholds"])) == 1
    predicts = "one threshold for all labels" if one_for_all else "a threshold for each label"
    return overview_section(found, told, "the same prediction for all rows", [("predicts by", predicts)])


def _warnings(found: Evaluated) -> Section:
    labels, n_rows, told = found.facts["labels"], found.facts["rows"], list[Any]()
    few = [each for each in labels if min(each["rows"], n_rows - each["rows"]) < FEW_ROWS]
    if few:
        listed = _named(few, lambda each: Markup(f"{name(each['label'])} ({each['rows']})"))
        told.append(Markup(f"Intervals are rough where fewer than {FEW_ROWS} rows have a label, or lack it: {listed}."))
    constant = [each for each in labels if each["predicted"] in (0, n_rows)]
    if constant:
        told.append(Markup(f"Given to all rows or to none: {_named(constant, lambda each: name(each['label']))}."))
    if not found.model.calibrations:
        told.append("The model is not calibrated: there are no probabilities.")
    return warnings_section(found, told)


def _named(labels: list[dict[str, Any]], shown: Callable[[dict[str, Any]], Markup]) -> str:
    """Some labels, and how many more there are."""
    left = len(labels) - MOST_NAMED
    return ", ".join(map(shown, labels[:MOST_NAMED])) + (f" and {left} more" if left > 0 else "")


def _labels(found: Evaluated) -> Section:
    thresholds = [number(value) for value in found.facts["model"]["thresholds"]]
    table = rates_of_each(found, "labels", "label", "Each label", ("threshold", thresholds))
    return Section("labels", "Labels", markup.figures(_f1_picture(found)) + table)


def _f1_picture(found: Evaluated) -> str:
    """F1 of each label, with its interval."""
    labels = found.facts["labels"]
    values = [each["f1"]["value"] for each in labels]
    known = [k for k in range(len(labels)) if values[k] == values[k]]
    worst = min(known, key=lambda k: values[k]) if known else None
    told = "" if worst is None else f" The lowest is {number(values[worst])}, of the label {worst}."
    chart = Chart(
        Axis("F1", 0.0, 1.0), Axis("label, by its number", -0.5, len(labels) - 0.5), "label-f1", "F1 of each label",
        f"Of {len(labels)} labels.{told}",
    )  # fmt: skip
    for k in known:
        f1 = labels[k]["f1"]
        chart.line([f1["low"], f1["high"]], [k, k], "whisker")
        chart.point(f1["value"], k)
    caption = "F1 of each label with its 95\u00a0% interval; numbers count the labels of the table below from 0."
    return figure(chart.svg(), caption)


def _probabilities(found: Evaluated) -> Section | None:
    if not found.model.calibrations:
        return None
    labels = [each["label"] for each in found.facts["labels"]]
    signs = np.where(found.truth, 1, -1)
    drawn = calibration_of_each("label", labels, found.model.probabilities(found.scores), signs)
    return Section("probabilities", "Probabilities", markup.figures(drawn))


# The page in its order.
SECTIONS: tuple[Callable[[Evaluated], Section | None], ...] = (
    _overview,
    _warnings,
    _labels,
    measures_section,
    _probabilities,
    importance_section,
    training_section,
)


def label_evaluation_page(
    model: Any, X: Any, matrix: NDArray[Any], scores: NDArray[Any], facts: dict[str, Any], seed: Any = 0
) -> str:
    """Make the page of a model of several labels on labelled rows.

    Parameters
    ----------
    model : MultilabelModel
        The model.
    X : matrix, shape (n, d), table or list of str
        As raw as the training rows.
    matrix : bool array, shape (n, L)
        Which labels the rows have.
    scores : array, shape (n, L)
        The model's scores of X.
    facts : dict of str to object
        The figures, as in the JSON report.
    seed : int, numpy Generator or None, default 0
        Of the importance of columns.

    Returns
    -------
    str
        HTML.
    """

    def value(of_scores: NDArray[Any], truth: NDArray[Any]) -> float:
        counts = label_confusions(truth, predicted_labels(model, of_scores))
        return float(model.measure.oriented(model.measure.from_confusions(counts)))

    return page_of(Evaluated.of(model, X, matrix, scores, facts, seed, value), SECTIONS)
