"""The sections of the report of one model of two classes, in the order of the page; one without anything to say is left
out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from aesara_nondecomp.metrics.bootstrap import FEW_ROWS
from aesara_nondecomp.reports import markup
from aesara_nondecomp.reports.facts import METHOD_NAMES
from aesara_nondecomp.reports.frame import (
    Evaluated,
    importance_section,
    measures_section,
    overview_section,
    training_section,
    warnings_section,
)
from aesara_nondecomp.reports.group_sections import constraints_section, groups_section
from aesara_nondecomp.reports.markup import Markup, Section, name, number
from aesara_nondecomp.reports.pictures import calibration, precision_recall, roc, score_histogram


def _overview(found: Evaluated) -> Section:
    facts, about = found.facts, found.facts["model"]
    pairs = [
        ("under", ", ".join(about["constraints"])),
        ("positive label", name(about["positive"])),
        ("negative label", name(about["negative"])),
        ("share of positives trained for", number(about["prior"])),
        ("threshold of the scores", number(about["threshold"])),
    ]
    told = f"{facts['rows']:,} rows, {facts['positives']:,} of them positive"
    return overview_section(found, told, "one label for all rows", pairs)


def _both_classes(found: Evaluated) -> bool:
    """Whether there are rows of both classes, without which there is no curve."""
    return bool(found.facts["positives"] and found.facts["negatives"])


def _warnings(found: Evaluated) -> Section:
    facts, model = found.facts, found.model
    told: list[Any] = []
    few = min(facts["positives"], facts["negatives"])
    if few < FEW_ROWS:
        told.append(
            f"There are {facts['positives']:,} positive and {facts['negatives']:,} negative rows: intervals are rough "
            f"below {FEW_ROWS} rows of each class, and there are no curves without both."
        )
    if model.collapsed or math.isinf(model.threshold):
        told.append("The model predicts one label for all rows: in training no threshold was better.")
    elif facts["table"]["TP"] + facts["table"]["FP"] in (0, facts["rows"]):
        told.append("All of these rows are predicted to have one label.")
    if model.quantifier is None:
        told.append("The model is not calibrated: there are no probabilities and no estimates of the prevalence.")
    elif model.threshold_has_moved:
        told.append(
            "The threshold was changed after the model was calibrated: estimates of the prevalence that count its "
            "predictions are left out."
        )
    return warnings_section(found, told)


def _confusion(found: Evaluated) -> Section:
    return Section("confusion", "Confusion matrix", confusion_table(found.facts, "Rows by true and predicted label"))


def confusion_table(facts: dict[str, Any], caption: str) -> str:
    """The confusion matrix as a table.

    Parameters
    ----------
    facts : dict of str to object
        The figures of a report.
    caption : str
        Of the table.

    Returns
    -------
    str
        HTML.
    """
    cells, about = facts["table"], facts["model"]
    negative, positive = name(about["negative"]), name(about["positive"])
    rows = [
        (Markup(f"true {negative}"), number(cells["TN"]), number(cells["FP"]), number(facts["true_negative_rate"])),
        (Markup(f"true {positive}"), number(cells["FN"]), number(cells["TP"]), number(facts["true_positive_rate"])),
    ]
    header = ("", Markup(f"predicted {negative}"), Markup(f"predicted {positive}"), "rate predicted right")
    return markup.table(caption, header, rows)


def _scores(found: Evaluated) -> Section | None:
    drawn = [score_histogram(found)] if _both_classes(found) else []
    if found.model.quantifier is not None:
        drawn.append(calibration(found))
    return Section("scores", "Scores and probabilities", markup.figures(*drawn)) if drawn else None


def _ranking(found: Evaluated) -> Section | None:
    if not _both_classes(found):
        return None
    return Section("ranking", "Ranking and chosen point", markup.figures(roc(found), precision_recall(found)))


def _prevalence(found: Evaluated) -> Section | None:
    estimates = found.facts.get("prevalence")
    if not estimates:
        return None
    true = found.facts["prior"]
    rows = [
        (METHOD_NAMES[method], method, number(share), number(abs(share - true))) for method, share in estimates.items()
    ]
    header = ("method", "name in the library", "estimate", "error")
    caption = f"Share of positives; true on these rows: {number(true)}"
    return Section("prevalence", "Prevalence", markup.table(caption, header, rows))


# The page in its order. Another part of a report is a row here; that of K classes is `class_sections.SECTIONS`.
SECTIONS: tuple[Callable[[Evaluated], Section | None], ...] = (
    _overview,
    _warnings,
    _confusion,
    measures_section,
    groups_section,
    constraints_section,
    _scores,
    _ranking,
    _prevalence,
    importance_section,
    training_section,
)
