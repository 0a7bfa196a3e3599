"""The sections of the report of one model, in the order of the page; a section without anything to say is left out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.data.tabular import UnknownCategories
from aesara_nondecomp.history.plots import dual_label, settled_range
from aesara_nondecomp.metrics.bootstrap import FEW_ROWS
from aesara_nondecomp.reports import markup
from aesara_nondecomp.reports.columns import MOST_COLUMNS, MOST_ROWS, REPEATS, Importance, Shift, importances, shifts
from aesara_nondecomp.reports.facts import METHOD_NAMES, measure_of_rates, network_text
from aesara_nondecomp.reports.markup import Markup, Section, escaped, figure, interval, name, number
from aesara_nondecomp.reports.pictures import calibration, precision_recall, roc, score_histogram
from aesara_nondecomp.reports.svg import Axis, Chart

MOST_LISTED = 30  # columns in a table
LONGEST_MESSAGE = 300
MOST_STEPS, MOST_DUALS = 400, 6  # points of a training curve, and lines of a picture


class Evaluated(NamedTuple):
    """A model and labelled rows, with the figures of its report.

    Attributes
    ----------
    model : Model
        The model.
    rows : array, LazyRows or CSR matrix, shape (n, d)
        The rows as the model's encoder makes them.
    unknown : UnknownCategories
        The categories among them that training did not hold.
    signs : array, shape (n,)
        Labels in {-1, +1}.
    scores : array, shape (n,)
        Scores of the rows.
    facts : dict of str to object
        The figures, as in the JSON report.
    importance : list of Importance
        What each column contributes.
    shift : list of Shift
        The columns that moved since training.
    """

    model: Any
    rows: Any
    unknown: UnknownCategories
    signs: NDArray[Any]
    scores: NDArray[Any]
    facts: dict[str, Any]
    importance: list[Importance]
    shift: list[Shift]

    @classmethod
    def of(
        cls, model: Any, X: Any, signs: NDArray[Any], scores: NDArray[Any], facts: dict[str, Any], seed: Any
    ) -> Evaluated:
        """Look at the columns too.

        Parameters
        ----------
        model : Model
            The model.
        X : matrix, shape (n, d), table or list of str
            As raw as the training rows.
        signs : array, shape (n,)
            Labels in {-1, +1}.
        scores : array, shape (n,)
            The model's scores of X.
        facts : dict of str to object
            As in `facts`.
        seed : int, numpy Generator or None
            Of the rows and shuffles of the importance.

        Returns
        -------
        Evaluated
        """
        unknown = UnknownCategories()
        rows = model._rows(X, unknown)
        found = importances(model, rows, signs, seed), shifts(model.encoder, rows, seed)
        return cls(model, rows, unknown, signs, scores, facts, *found)

    @property
    def both_classes(self) -> bool:
        """Whether there are rows of both classes, without which there is no curve."""
        return bool(self.facts["positives"] and self.facts["negatives"])


def _overview(found: Evaluated) -> Section:
    facts, about, model = found.facts, found.facts["model"], found.model
    value = facts["measures"].get(about["measure"])
    headline = Markup(
        f"{escaped(about['measure'])} <strong>{number(value['value']) if value else 'without groups'}</strong> on "
        f"{facts['rows']:,} rows, {facts['positives']:,} of them positive"
    )
    beside = (
        f"95\u00a0% interval {interval(value['low'], value['high'])}; one label for all rows has "
        f"{number(value['trivial'])}; {value['better']} is better."
        if value
        else "This measure has a value by the groups of the rows, which were not given."
    )
    pairs = [
        ("trained for", about["measure"]),
        ("under", ", ".join(about["constraints"])),
        ("positive label", name(about["positive"])),
        ("negative label", name(about["negative"])),
        ("share of positives trained for", number(about["prior"])),
        ("threshold of the scores", number(about["threshold"])),
        *network_terms(model),
    ]
    body = markup.paragraph(headline, "headline") + markup.paragraph(beside)
    return Section("overview", "Overview", body + markup.terms(pair for pair in pairs if pair[1]))


def network_terms(model: Any) -> list[tuple[str, str]]:
    """How a model was made, as terms and descriptions.

    Parameters
    ----------
    model : Model or ClassModel
        The model.

    Returns
    -------
    list of tuple of str
        The description of what is not known is empty.
    """
    return [
        ("network", network_text(model)),
        ("networks that vote", f"{1 + len(model.voters)}" if model.voters else ""),
        ("training steps", f"{len(model.history):,}" if model.history else ""),
        ("best step", "" if model.best_step is None else f"{model.best_step:,}"),
    ]


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
    return warnings_section(found, told)


def warnings_section(found: Any, told: list[Any]) -> Section:
    """What is to be known before figures are believed.

    Parameters
    ----------
    found : Evaluated or EvaluatedClasses
        The model and its rows.
    told : list
        Warnings that come before those of the columns.

    Returns
    -------
    Section
    """
    told = list(told)
    if message := found.unknown.message():
        told.append(name(message[0].upper() + message[1:], LONGEST_MESSAGE))
    told += [
        Markup(
            f"{name(each.column)} is now about {number(each.found)}, and was {number(each.trained)} in training: "
            f"{each.spreads:.1f} times its spread away."
        )
        for each in found.shift[:MOST_LISTED]
    ]
    if len(found.shift) > MOST_LISTED:
        told.append(f"{len(found.shift) - MOST_LISTED} more columns moved since training.")
    return Section("warnings", "Warnings", markup.bullets(told) if told else markup.paragraph("None."))


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


def measures_section(found: Any) -> Section:
    """All measures of the same predictions, with intervals and trivial values.

    Parameters
    ----------
    found : Evaluated or EvaluatedClasses
        The model and its rows.

    Returns
    -------
    Section
    """
    listed = found.facts["measures"]
    rows = [
        (measure, m["better"], number(m["value"]), interval(m["low"], m["high"]), number(m["trivial"]))
        for measure, m in listed.items()
    ]
    header = ("measure", "better", "value", "95\u00a0% interval", "one label for all")
    first = 0 if found.facts["model"]["measure"] in listed else None
    body = markup.table("All measures of the same predictions", header, rows, marked=first)
    note = (
        "The measure set off is the one trained for. Intervals are of bootstrap resamples of these rows; they do not "
        "include how models differ that were trained on other rows."
    )
    return Section("measures", "Measures", body + markup.paragraph(note))


def _scores(found: Evaluated) -> Section | None:
    drawn = [score_histogram(found)] if found.both_classes else []
    if found.model.quantifier is not None:
        drawn.append(calibration(found))
    return Section("scores", "Scores and probabilities", markup.figures(*drawn)) if drawn else None


def _ranking(found: Evaluated) -> Section | None:
    if not found.both_classes:
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


def _groups(found: Evaluated) -> Section | None:
    facts = found.facts.get("groups")
    if facts is None:
        return None
    cells = [
        (name(c["name"]), number(c["rows"]), number(c["rate"]), interval(c["low"], c["high"])) for c in facts["cells"]
    ]
    groups = [
        (name(g["name"]), number(g["rows"]), *(number(g[key]) for key in
         ("accuracy", "balanced_accuracy", "selection_rate")))
        for g in facts["groups"]
    ]  # fmt: skip
    of_cells = ("class and group", "rows", "predicted right", "95\u00a0% interval")
    of_groups = ("group", "rows", "accuracy", "balanced accuracy", "predicted positive")
    worst = Markup(f"The smallest rate predicted right is that of {name(facts['worst_cell'])}.")
    without = facts["rows_without_group"]
    body = (
        markup.paragraph(worst)
        + markup.table("Each class of each group", of_cells, cells)
        + markup.table("Each group", of_groups, groups)
        + (markup.paragraph(f"{without:,} rows without a group are left out.") if without else "")
    )
    return Section("groups", "Groups", body)


def _constraints(found: Evaluated) -> Section | None:
    facts = found.facts.get("constraints")
    if facts is None:
        return None
    rows = [
        (constraint, number(v["value"]), interval(v["low"], v["high"]), v["verdict"]) for constraint, v in facts.items()
    ]
    note = (
        "A constraint is held if its whole interval meets the bound, broken if all of it breaks the bound, and "
        "otherwise not shown by these rows."
    )
    table = markup.table("Constraints", ("constraint", "value", "95\u00a0% interval", "verdict"), rows)
    return Section("constraints", "Constraints", table + markup.paragraph(note))


def importance_section(found: Any) -> Section:
    """What each column contributes.

    Parameters
    ----------
    found : Evaluated or EvaluatedClasses
        The model and its rows.

    Returns
    -------
    Section
    """
    if not found.importance:
        text = f"Not measured: that takes a table or a dense matrix, of up to {MOST_COLUMNS} columns."
        return Section("importance", "Importance of the columns", markup.paragraph(text))
    shown = found.importance[:MOST_LISTED]
    largest = max((each.loss for each in shown if math.isfinite(each.loss)), default=0.0)
    rows = [
        (name(each.column), Markup(f"{markup.bar(each.loss, largest)} {number(each.loss)}"),
         interval(each.low, each.high))
        for each in shown
    ]  # fmt: skip
    measure, left = measure_of_rates(found.model.measure), len(found.importance) - len(shown)
    caption = f"Loss of {measure} when the cells of a column are shuffled"
    note = (
        f"Mean, smallest and largest of {REPEATS} shuffles of at most {MOST_ROWS:,} rows. Columns that hold the same "
        f"information stand in for each other: each of them then loses little."
        + (f" {left} columns that lose less are not shown." if left else "")
    )
    body = markup.table(caption, ("column", "mean loss", "smallest to largest"), rows)
    return Section("importance", "Importance of the columns", body + markup.paragraph(note))


def training_section(found: Any) -> Section:
    """The evaluations on rows held out, and the duals.

    Parameters
    ----------
    found : Evaluated or EvaluatedClasses
        The model and its rows.

    Returns
    -------
    Section
    """
    model = found.model
    if not model.history:
        text = "The file of a model does not hold how it was trained: call report right after fit to see it here."
        return Section("training", "Training", markup.paragraph(text))
    drawn = [_evaluations(model), _duals(model)]
    return Section("training", "Training", markup.figures(*(each for each in drawn if each)))


def _evaluations(model: Any) -> str:
    if not model.evaluations:
        return ""
    steps, values = [e.step for e in model.evaluations], [e.value for e in model.evaluations]
    title = f"{model.measure} on the validation rows"
    chart = Chart(
        Axis.over("training step of each network" if model.voters else "training step", [0, *steps], 0.02),
        Axis(str(model.measure), *settled_range(values)),
        "evaluations", title, f"{len(steps)} evaluations, the last one {number(values[-1])}.",
    )  # fmt: skip
    chart.line(steps, values, "s0")
    for e in model.evaluations:
        if e.step == model.best_step:
            chart.point(e.step, e.value)
    best = "" if model.best_step is None else f"; the point is the best step, {model.best_step:,}"
    return figure(chart.svg(), f"{title}{best}.")


def _duals(model: Any) -> str:
    known = sorted({dual for step in model.history for dual in step.duals})
    names = known[:MOST_DUALS]
    if not names:
        return ""
    chosen = np.unique(np.linspace(0, len(model.history) - 1, MOST_STEPS).astype(int))
    steps = [model.history[k].duals for k in chosen]
    values = {dual: [step.get(dual, math.nan) for step in steps] for dual in names}
    last = ", ".join(f"{markup.plain_name(dual)} {number(line[-1])}" for dual, line in values.items())
    chart = Chart(
        Axis("training step" + ", one network after another" * bool(model.voters), 1, max(2, len(model.history))),
        Axis("value after the step", *settled_range([step[dual] for step in steps for dual in names if dual in step])),
        "duals", "Duals, which weight the classes", f"The last values: {last}.",
    )  # fmt: skip
    for k, dual in enumerate(names):
        chart.line((chosen + 1).tolist(), values[dual], f"s{k}")
    legend = [(f"s{k}", name(dual_label(dual))) for k, dual in enumerate(names)]
    more = f" {len(known) - len(names)} more are not shown." if len(known) > len(names) else ""
    caption = "Duals, from which the weights of the rows follow. The first steps may lie outside."
    return figure(chart.svg(), caption + more, legend)


# The page in its order. Another part of a report is a row here; that of K classes is `class_sections.SECTIONS`.
SECTIONS: tuple[Callable[[Evaluated], Section | None], ...] = (
    _overview,
    _warnings,
    _confusion,
    measures_section,
    _groups,
    _constraints,
    _scores,
    _ranking,
    _prevalence,
    importance_section,
    training_section,
)
