"""What the reports of all kinds of models have in common: the rows that are judged, and the sections of every page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.data.categories import UnknownCategories
from aesara_nondecomp.history.plots import dual_label, settled_range
from aesara_nondecomp.reports import markup
from aesara_nondecomp.reports.columns import MOST_COLUMNS, MOST_ROWS, REPEATS, Importance, Shift, importances, shifts
from aesara_nondecomp.reports.facts import measure_of_rates, network_text
from aesara_nondecomp.reports.markup import Markup, Section, escaped, figure, interval, name, number
from aesara_nondecomp.reports.svg import Axis, Chart

MOST_LISTED = 30  # columns in a table
LONGEST_MESSAGE = 300
MOST_STEPS, MOST_DUALS = 400, 6  # points of a training curve, and lines of a picture


class Evaluated(NamedTuple):
    """A model and labelled rows, with the figures of its report.

    Attributes
    ----------
    model : Model, ClassModel or MultilabelModel
        The model.
    unknown : UnknownCategories
        The categories among the rows that training did not hold.
    truth : array, shape (n,) or (n, L)
        Labels in {-1, +1}; of several classes their numbers, of several labels which rows have each.
    scores : array, shape (n,) or (n, K)
        The network's scores of the rows.
    facts : dict of str to object
        The figures, as in the JSON report.
    importance : list of Importance
        What each column contributes.
    shift : list of Shift
        The columns that moved since training.
    """

    model: Any
    unknown: UnknownCategories
    truth: NDArray[Any]
    scores: NDArray[Any]
    facts: dict[str, Any]
    importance: list[Importance]
    shift: list[Shift]

    @classmethod
    def of(
        cls, model: Any, X: Any, truth: NDArray[Any], scores: NDArray[Any], facts: dict[str, Any], seed: Any,
        value: Callable[[NDArray[Any], NDArray[Any]], float],
    ) -> Evaluated:  # fmt: skip
        """Look at the columns too.

        Parameters
        ----------
        model : Model, ClassModel or MultilabelModel
            The model.
        X : matrix, shape (n, d), table or list of str
            As raw as the training rows.
        truth : array, shape (n,) or (n, L)
            As in `truth`.
        scores : array, shape (n,) or (n, K)
            The network's scores of X.
        facts : dict of str to object
            As in `facts`.
        seed : int, numpy Generator or None
            Of the rows and shuffles of the importance.
        value : callable (scores, truth) -> float
            How good scores are, larger is better.

        Returns
        -------
        Evaluated
        """
        unknown = UnknownCategories()
        rows = model._rows(X, unknown)
        found = importances(model, rows, truth, seed, value), shifts(model.encoder, rows, seed)
        return cls(model, unknown, truth, scores, facts, *found)


def overview_section(
    found: Evaluated, told: str, constant: str, pairs: Sequence[tuple[str, Any]], shown: str | None = None
) -> Section:
    """The value of the measure trained for, and how the model was made.

    Parameters
    ----------
    found : Evaluated
        The model and its rows.
    told : str
        Of what rows the value is.
    constant : str
        The predictions that the trivial value is of.
    pairs : sequence of tuple
        Further terms with their descriptions; those without a description are left out.
    shown : str, optional
        The measure whose value is shown. Default: the one trained for.

    Returns
    -------
    Section
    """
    about = found.facts["model"]
    shown = about["measure"] if shown is None else shown
    value = found.facts["measures"].get(shown)
    told_value = number(value["value"]) if value else "without groups"
    headline = Markup(f"{escaped(shown)} <strong>{told_value}</strong> on {told}")
    beside = (
        f"95\u00a0% interval {interval(value['low'], value['high'])}; {constant} has {number(value['trivial'])}; "
        f"{value['better']} is better."
        if value
        else "This measure has a value by the groups of the rows, which were not given."
    )
    terms = [("trained for", about["measure"]), *pairs, *network_terms(found.model)]
    body = markup.paragraph(headline, "headline") + markup.paragraph(beside)
    return Section("overview", "Overview", body + markup.terms(pair for pair in terms if pair[1]))


def network_terms(model: Any) -> list[tuple[str, str]]:
    """How a model was made, as terms and descriptions.

    Parameters
    ----------
    model : Model, ClassModel or MultilabelModel
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


def warnings_section(found: Evaluated, told: list[Any]) -> Section:
    """What is to be known before figures are believed.

    Parameters
    ----------
    found : Evaluated
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


def rates_of_each(found: Evaluated, key: str, one: str, title: str, *more: tuple[str, Sequence[Any]]) -> str:
    """Recall, precision and F1 of each class or label, with intervals.

    Parameters
    ----------
    found : Evaluated
        The model and its rows.
    key : str
        Of the figures, "classes" or "labels".
    one : str
        What each of them is called.
    title : str
        Of the table.
    *more : tuple of (str, sequence)
        Headers and cells of further columns.

    Returns
    -------
    str
        HTML.
    """
    rates, between = ("recall", "precision", "f1"), "95\u00a0% interval"
    rows = [
        (name(each["label"]), number(each["rows"]), number(each["predicted"]), number(prior),
         *(text for rate in rates for text in (number(each[rate]["value"]),
                                               interval(each[rate]["low"], each[rate]["high"]))),
         *(cells[k] for _, cells in more))
        for k, (each, prior) in enumerate(zip(found.facts[key], found.facts["model"]["priors"]))
    ]  # fmt: skip
    header = (one, "rows", "predicted", "share in training", "recall", between, "precision", between, "F1", between)
    return markup.table(title, (*header, *(title_of for title_of, _ in more)), rows)


def measures_section(found: Evaluated) -> Section:
    """All measures of the same predictions, with intervals and trivial values.

    Parameters
    ----------
    found : Evaluated
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


def importance_section(found: Evaluated) -> Section:
    """What each column contributes.

    Parameters
    ----------
    found : Evaluated
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


def training_section(found: Evaluated) -> Section:
    """The evaluations on rows held out, and the duals.

    Parameters
    ----------
    found : Evaluated
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
