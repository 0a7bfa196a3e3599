"""The sections of the report of one model of K classes, in the order of the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.metrics.bootstrap import FEW_ROWS
from aesara_nondecomp.metrics.class_scores import class_confusion
from aesara_nondecomp.reports import markup
from aesara_nondecomp.reports.class_facts import measure_of_classes, predicted_classes
from aesara_nondecomp.reports.curves import CalibrationCurve
from aesara_nondecomp.reports.frame import (
    Evaluated,
    importance_section,
    measures_section,
    overview_section,
    rates_of_each,
    training_section,
    warnings_section,
)
from aesara_nondecomp.reports.group_sections import constraints_section, groups_section
from aesara_nondecomp.reports.markup import Markup, Section, figure, name, number, shaded
from aesara_nondecomp.reports.page import page_of
from aesara_nondecomp.reports.pictures import calibration_curve, calibration_of_each
from aesara_nondecomp.reports.svg import Axis, Chart

MOST_SHOWN = 30  # classes of a matrix in numbers; one of more is a picture
MOST_ERRORS = 15


def _overview(found: Evaluated) -> Section:
    facts, about = found.facts, found.facts["model"]
    rules = {
        "largest score": "the largest score of the network",
        "offsets": "the largest score, with an offset for each class",
        "linearised": "the largest expected gain of the measure",
    }
    told = f"{facts['rows']:,} rows of {len(about['classes'])} classes"
    pairs = [("under", ", ".join(about["constraints"])), ("predicts", rules[about["rule"]])]
    shown = about["measure"] if about["measure"] in facts["measures"] else str(measure_of_classes(found.model.measure))
    return overview_section(found, told, "one class for all rows", pairs, shown)


def _warnings(found: Evaluated) -> Section:
    classes, told = found.facts["classes"], list[Any]()
    few = [Markup(f"{name(each['label'])} ({each['rows']})") for each in classes if each["rows"] < FEW_ROWS]
    if few:
        listed = ", ".join(few[:MOST_ERRORS]) + (
            f" and {len(few) - MOST_ERRORS} more" if len(few) > MOST_ERRORS else ""
        )
        told.append(Markup(f"Intervals are rough below {FEW_ROWS} rows of a class. So few have: {listed}."))
    never = [name(each["label"]) for each in classes if each["rows"] and not each["predicted"]]
    if len(never) and len(never) < len(classes):
        told.append(Markup(f"Never predicted, though there are rows of them: {', '.join(never[:MOST_ERRORS])}."))
    if found.model.calibration is None:
        told.append("The model is not calibrated: there are no probabilities.")
    return warnings_section(found, told)


def _confusion(found: Evaluated) -> Section:
    facts = found.facts
    shown = class_table(facts, "Rows by true and predicted class") if len(facts["classes"]) <= MOST_SHOWN else ""
    picture = "" if shown else markup.figures(_matrix_picture(facts))
    return Section("confusion", "Confusion matrix", shown + picture + _errors(facts))


def class_table(facts: dict[str, Any], caption: Any) -> str:
    """The confusion matrix as a table, each cell the darker the larger its share of the true class.

    Parameters
    ----------
    facts : dict of str to object
        The figures of a report.
    caption : object
        Of the table.

    Returns
    -------
    str
        HTML.
    """
    labels = [name(each["label"]) for each in facts["classes"]]
    rows = [
        (Markup(f"true {label}"), *(shaded(number(count), share) for count, share in zip(counts, shares)))
        for label, counts, shares in zip(labels, facts["table"], _shares(facts).tolist())
    ]
    return markup.table(caption, ("", *(Markup(f"predicted {label}") for label in labels)), rows)


def _shares(facts: dict[str, Any]) -> NDArray[Any]:
    """Shares of each true class that are predicted as each class; NaN for one without rows."""
    counts = np.array(facts["table"], float)
    with np.errstate(invalid="ignore"):
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _matrix_picture(facts: dict[str, Any]) -> str:
    """The confusion matrix as a picture, of classes too many for a table."""
    shares, n = _shares(facts), len(facts["classes"])
    right = float(np.nanmean(np.diagonal(shares)))
    chart = Chart(
        Axis("predicted class, by its number", -0.5, n - 0.5), Axis("true class", -0.5, n - 0.5), "matrix",
        "Confusion matrix", f"Of {n} classes; the mean of the shares on the diagonal is {number(right)}.",
    )  # fmt: skip
    for true, predicted in np.argwhere(shares >= 0.005).tolist():
        chart.cell(predicted, true, float(shares[true, predicted]))
    caption = "Shares of each true class; numbers count the classes of the table below from 0. The diagonal is right."
    return figure(chart.svg(), caption)


def _errors(facts: dict[str, Any]) -> str:
    """The most frequent errors, where there are more than a matrix shows at a glance."""
    counts, labels = np.array(facts["table"]), [each["label"] for each in facts["classes"]]
    np.fill_diagonal(counts, 0)
    if len(labels) <= 3 or not counts.any():
        return ""
    order = np.argsort(-counts, axis=None, kind="stable")[:MOST_ERRORS]
    pairs = [divmod(int(k), len(labels)) for k in order if counts.flat[k]]
    shares = _shares(facts)
    rows = [
        (name(labels[t]), name(labels[p]), number(int(counts[t, p])), number(float(shares[t, p]))) for t, p in pairs
    ]
    header = ("true class", "predicted", "rows", "share of the true class")
    return markup.table("The most frequent errors", header, rows)


def _classes(found: Evaluated) -> Section:
    return Section("classes", "Classes", rates_of_each(found, "classes", "class", "Each class"))


def _probabilities(found: Evaluated) -> Section | None:
    if found.model.calibration is None:
        return None
    probabilities = found.model.calibration.probabilities(found.scores)
    likely = probabilities.argmax(axis=1)
    curve = CalibrationCurve.of(probabilities.max(axis=1), np.where(likely == found.truth, 1, -1))
    observed = Axis("share of rows of that class", 0.0, 1.0)
    drawn = (
        calibration_curve(curve, observed, "Calibration of the most probable class"),
        _by_class(found, probabilities),
    )
    return Section("probabilities", "Probabilities", markup.figures(*drawn))


def _by_class(found: Evaluated, probabilities: NDArray[Any]) -> str:
    """Calibration of some classes, each against all others."""
    signs = np.where(found.truth[:, None] == np.arange(probabilities.shape[1]), 1, -1)
    labels = [each["label"] for each in found.facts["classes"]]
    return calibration_of_each("class", labels, probabilities, signs)


# The page in its order.
SECTIONS: tuple[Callable[[Evaluated], Section | None], ...] = (
    _overview,
    _warnings,
    _confusion,
    _classes,
    measures_section,
    groups_section,
    constraints_section,
    _probabilities,
    importance_section,
    training_section,
)


def class_evaluation_page(
    model: Any, X: Any, codes: NDArray[Any], scores: NDArray[Any], facts: dict[str, Any], seed: Any = 0
) -> str:
    """Make the page of a model of several classes on labelled rows.

    Parameters
    ----------
    model : ClassModel
        The model.
    X : matrix, shape (n, d), table or list of str
        As raw as the training rows.
    codes : int array, shape (n,)
        True classes.
    scores : array, shape (n, K)
        Its network's scores of X.
    facts : dict of str to object
        The figures, as in the JSON report.
    seed : int, numpy Generator or None, default 0
        Of the importance of columns.

    Returns
    -------
    str
        HTML.
    """

    shown = measure_of_classes(model.measure)

    def value(of_scores: NDArray[Any], truth: NDArray[Any]) -> float:
        table = class_confusion(truth, predicted_classes(model, of_scores), len(model.classes))
        return float(shown.oriented(shown.from_confusion(table)))

    return page_of(Evaluated.of(model, X, codes, scores, facts, seed, value), SECTIONS)
