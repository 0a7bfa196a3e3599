"""The pictures of a report, of one model or of two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara_nondecomp.reports.curves import CalibrationCurve, Histogram, Plane, Ranking
from aesara_nondecomp.reports.facts import measure_of_rates
from aesara_nondecomp.reports.markup import Markup, figure, name, number, plain_name
from aesara_nondecomp.reports.svg import Axis, Chart

MOST_CURVES = 6  # calibrations in a picture


def score_histogram(found: Any) -> str:
    """Scores by class, with the threshold.

    Parameters
    ----------
    found : Evaluated
        The model and its rows, of both classes.

    Returns
    -------
    str
        HTML.
    """
    bins, threshold, about = Histogram.of(found.scores, found.truth), found.model.threshold, found.facts["model"]
    top = max(bins.positives.max(), bins.negatives.max())
    chart = Chart(
        Axis("score", float(bins.edges[0]), float(bins.edges[-1])), Axis("share of the class", 0.0, 1.05 * float(top)),
        "histogram", "Scores by class", f"Median score of the positives {number(_median(found, 1))}, of the negatives "
        f"{number(_median(found, -1))}, threshold {number(threshold)}.",
    )  # fmt: skip
    chart.steps(bins.edges, bins.negatives, "s1")
    chart.steps(bins.edges, bins.positives, "s0")
    inside = bool(bins.edges[0] <= threshold <= bins.edges[-1])
    if inside:
        chart.line([threshold] * 2, [chart.y.low, chart.y.high], "threshold")
    legend = [("s0", Markup(f"true {name(about['positive'])}")), ("s1", Markup(f"true {name(about['negative'])}"))]
    place = "A row right of the line" if inside else f"A row above {number(threshold)}, outside the picture,"
    predicted = Markup(f"{place} is predicted {name(about['positive'])}. The outer bins hold all scores beyond them.")
    return figure(chart.svg(), predicted, legend + [("threshold", f"threshold {number(threshold)}")] * inside)


def roc(found: Any) -> str:
    """The ROC curve, with isolines of the measure trained for and the chosen point.

    Parameters
    ----------
    found : Evaluated
        The model and its rows, of both classes.

    Returns
    -------
    str
        HTML.
    """
    facts, curve = found.facts, Ranking.of(found.scores, found.truth)
    x, y = 1 - facts["true_negative_rate"], facts["true_positive_rate"]
    chart = Chart(
        Axis("false positive rate", 0.0, 1.0), Axis("true positive rate", 0.0, 1.0), "roc", "ROC curve",
        f"The chosen point: false positive rate {number(x)}, true positive rate {number(y)}.",
    )  # fmt: skip
    plane = Plane.roc(measure_of_rates(found.model.measure), facts["prior"], facts["rows"])
    chart.line([0, 1], [0, 1], "chance")
    return _on_plane(found, chart, plane, (curve.fpr, curve.tpr), (x, y))


def precision_recall(found: Any) -> str:
    """The precision-recall curve, likewise.

    Parameters
    ----------
    found : Evaluated
        The model and its rows, of both classes.

    Returns
    -------
    str
        HTML.
    """
    facts, curve, cells = found.facts, Ranking.of(found.scores, found.truth), found.facts["table"]
    predicted = cells["TP"] + cells["FP"]
    x, y = facts["true_positive_rate"], cells["TP"] / predicted if predicted else math.nan
    chart = Chart(
        Axis("recall", 0.0, 1.0), Axis("precision", 0.0, 1.0), "precision-recall", "Precision-recall curve",
        f"The chosen point: recall {number(x)}, precision {number(y)}.",
    )  # fmt: skip
    plane = Plane.precision_recall(measure_of_rates(found.model.measure), facts["prior"], facts["rows"])
    chart.line([0, 1], [facts["prior"]] * 2, "chance")
    return _on_plane(found, chart, plane, (curve.tpr, curve.precision), (x, y))


def _on_plane(found: Any, chart: Chart, plane: Plane, curve: tuple[Any, Any], chosen: tuple[float, float]) -> str:
    measure = str(measure_of_rates(found.model.measure))
    value = found.facts["measures"][measure]["value"]
    for level in plane.levels():
        chart.pieces(plane.isoline(level), "iso", f"{level:.3g}")
    if plane.holds(value):
        chart.pieces(plane.isoline(value), "iso reached")
    chart.line(*curve, "s0")
    chart.point(*chosen)
    legend = [
        ("s0", "all thresholds"),
        ("dot", f"the model's threshold, {measure} {number(value)}"),
        ("iso", f"equal {measure}"),
        ("chance", "scores at random"),
    ]
    return figure(chart.svg(), f"{chart.y.label.capitalize()} by {chart.x.label}.", legend)


def two_curves(found: Sequence[Any], names: Sequence[str], plane: str) -> str:
    """The curves of two models in one picture, with the points that they chose.

    Parameters
    ----------
    found : sequence of Evaluated
        The models, on the same rows of both classes.
    names : sequence of str
        Of the models.
    plane : {"roc", "precision-recall"}
        Which curves.

    Returns
    -------
    str
        HTML.
    """
    of_roc = plane == "roc"
    x, y = ("false positive rate", "true positive rate") if of_roc else ("recall", "precision")
    title = "ROC curves" if of_roc else "Precision-recall curves"
    shown = [plain_name(each) for each in names]
    chart = Chart(Axis(x, 0.0, 1.0), Axis(y, 0.0, 1.0), plane, title, f"Of {shown[0]} and {shown[1]}.")
    for k, each in enumerate(found):
        curve, cells, facts = Ranking.of(each.scores, each.truth), each.facts["table"], each.facts
        predicted, tpr = cells["TP"] + cells["FP"], facts["true_positive_rate"]
        chart.line(*((curve.fpr, curve.tpr) if of_roc else (curve.tpr, curve.precision)), f"s{k}")
        precision = cells["TP"] / predicted if predicted else math.nan
        chart.point(*((1 - facts["true_negative_rate"], tpr) if of_roc else (tpr, precision)), f"point p{k}")
    legend = [(f"s{k}", name(each)) for k, each in enumerate(names)]
    return figure(chart.svg(), f"{title}; the points are the models' thresholds.", legend)


def calibration(found: Any) -> str:
    """Predicted probabilities and observed shares.

    Parameters
    ----------
    found : Evaluated
        A calibrated model and its rows.

    Returns
    -------
    str
        HTML.
    """
    curve = CalibrationCurve.of(found.model.quantifier.posteriors(found.scores), found.truth)
    return calibration_curve(curve, Axis("observed share of positives", 0.0, 1.0), "Calibration curve")


def calibration_curve(curve: CalibrationCurve, observed: Axis, title: str) -> str:
    """A calibration curve with its intervals.

    Parameters
    ----------
    curve : CalibrationCurve
        Of the rows.
    observed : Axis
        Of the observed shares.
    title : str
        What it shows.

    Returns
    -------
    str
        HTML.
    """
    ends = ", ".join(number(float(each)) for each in (curve.predicted[-1], curve.observed[-1]))
    chart = Chart(
        Axis("predicted probability", 0.0, 1.0), observed, "calibration-curve", title,
        f"Predicted and observed in the group of the highest probabilities: {ends}.",
    )  # fmt: skip
    chart.line([0, 1], [0, 1], "chance")
    for x, low, high in zip(curve.predicted, curve.low, curve.high):
        chart.line([x, x], [low, high], "whisker")
    chart.line(curve.predicted, curve.observed, "s0")
    for x, y in zip(curve.predicted, curve.observed):
        chart.point(float(x), float(y), "knot")
    groups = f"{len(curve.predicted)} groups of about equally many rows"
    caption = f"Each point is one of {groups}, with its 95\u00a0% interval."
    return figure(chart.svg(), caption, [("s0", "this model"), ("chance", "perfect calibration")])


def calibration_of_each(one: str, labels: Sequence[Any], probabilities: Any, signs: Any) -> str:
    """Calibration of some classes or labels, each against all rows that are not of it.

    Parameters
    ----------
    one : str
        What each of them is called, "class" or "label".
    labels : sequence
        Their names.
    probabilities : array, shape (n, K)
        Of each of them.
    signs : array, shape (n, K)
        1 for the rows that are of it, -1 for the others.

    Returns
    -------
    str
        HTML; those with most rows are drawn.
    """
    rows = (signs > 0).sum(axis=0)
    shown = [k for k in sorted(np.argsort(-rows, kind="stable")[:MOST_CURVES].tolist()) if rows[k]]
    others = {"class": "all others", "label": "the rows without it"}[one]
    chart = Chart(
        Axis("predicted probability", 0.0, 1.0), Axis(f"observed share of the {one}", 0.0, 1.0), f"{one}-calibration",
        f"Calibration of each {one}", f"Of each {one} against {others}, in groups of about equally many rows.",
    )  # fmt: skip
    chart.line([0, 1], [0, 1], "chance")
    for place, k in enumerate(shown):
        curve = CalibrationCurve.of(probabilities[:, k], signs[:, k])
        chart.line(curve.predicted, curve.observed, f"s{place}")
    legend = [(f"s{place}", name(labels[k])) for place, k in enumerate(shown)]
    plural = {"class": "classes", "label": "labels"}[one]
    left = f" The {plural} with most rows are shown." if len(shown) < len(rows) else ""
    caption = f"Each {one} against {others}.{left}"
    return figure(chart.svg(), caption, [*legend, ("chance", "perfect calibration")])


def _median(found: Any, sign: int) -> float:
    return float(np.median(found.scores[found.truth == sign]))
