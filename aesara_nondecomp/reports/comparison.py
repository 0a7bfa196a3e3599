"""Two models on the same rows: their figures side by side, and the differences with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import measures
from aesara_nondecomp._checks import require
from aesara_nondecomp.metrics.bootstrap import bootstrap_difference
from aesara_nondecomp.reports import markup
from aesara_nondecomp.reports.facts import METHOD_NAMES, evaluation_facts, measure_of_rates
from aesara_nondecomp.reports.markup import Markup, Section, interval, name, number
from aesara_nondecomp.reports.page import page
from aesara_nondecomp.reports.pictures import two_curves
from aesara_nondecomp.reports.sections import confusion_table


class Scored(NamedTuple):
    """A model with its scores of labelled rows.

    Attributes
    ----------
    model : Model
        The model.
    signs : array, shape (n,)
        Labels in {-1, +1}.
    scores : array, shape (n,)
        Its scores.
    facts : dict of str to object, optional
        Its figures, which the pictures need.
    """

    model: Any
    signs: NDArray[Any]
    scores: NDArray[Any]
    facts: dict[str, Any] = {}


def comparison_facts(first: Scored, second: Scored, draws: int, seed: Any) -> dict[str, Any]:
    """All figures of a comparison.

    Parameters
    ----------
    first : Scored
        A model.
    second : Scored
        Another one, on the same rows.
    draws : int
        Number of bootstrap resamples, at least 1.
    seed : int, numpy Generator or None
        Seed of the bootstrap.

    Returns
    -------
    dict of str to object
        The figures of both "models", as of `facts.evaluation_facts`; the number of rows on which predictions "differ";
        and for each measure among "differences" what is "better", its "value", the second model's less the first's, and
        its interval from "low" to "high", of paired resamples.

    Raises
    ------
    ValueError
        If the models have other labels than each other, or the rows are not the same.
    """
    classes = [tuple(each.model.classes) for each in (first, second)]
    require(classes[0] == classes[1], f"two models of the same negative and positive label, {classes[0]}", classes[1])
    require(np.array_equal(first.signs, second.signs), "two models on the same rows", "labels that differ")
    both = first, second
    asked = (*(measure_of_rates(each.model.measure) for each in both), *measures.defaults())
    chosen = {str(measure): measure for measure in asked}
    found = [evaluation_facts(each.model, each.scores, each.signs, draws, seed, more=chosen.values()) for each in both]
    former, latter = (np.where(each.scores > each.model.threshold, 1, -1) for each in both)
    intervals = bootstrap_difference(first.signs, former, latter, chosen.values(), n_resamples=draws, seed=seed)
    return {
        "models": found,
        "differ": int(np.sum(former != latter)),
        "differences": {key: difference(found, key, *intervals[key]) for key in chosen},
    }


def difference(found: Sequence[dict[str, Any]], key: str, low: float, high: float) -> dict[str, Any]:
    """The figures of a measure of two models.

    Parameters
    ----------
    found : sequence of dict
        The figures of both models.
    key : str
        The measure.
    low : float
        Lower end of the interval of the difference.
    high : float
        Its upper end.

    Returns
    -------
    dict of str to object
        What is "better", the "value" of the second model less that of the first, and the interval.
    """
    first, second = (each["measures"][key] for each in found)
    value = float(np.subtract(second["value"], first["value"]))
    return {"better": first["better"], "value": value, "low": low, "high": high}


def comparison_page(first: Scored, second: Scored, names: Sequence[str], facts: dict[str, Any]) -> str:
    """Make the page of a comparison.

    Parameters
    ----------
    first : Scored
        A model.
    second : Scored
        Another one, on the same rows.
    names : sequence of str
        Of the two models.
    facts : dict of str to object
        From `comparison_facts`.

    Returns
    -------
    str
        HTML.
    """
    sections = [_models(names, facts), differences_section(names, facts), _matrices(names, facts)]
    if facts["models"][0]["positives"] and facts["models"][0]["negatives"]:
        found = [each._replace(facts=figures) for each, figures in zip((first, second), facts["models"])]
        drawn = (two_curves(found, names, plane) for plane in ("roc", "precision-recall"))
        sections.append(Section("ranking", "Ranking and chosen points", markup.figures(*drawn)))
    if all("prevalence" in each for each in facts["models"]):
        sections.append(_prevalences(names, facts))
    return page("Comparison of two models", sections)


def _models(names: Sequence[str], facts: dict[str, Any]) -> Section:
    about = [each["model"] for each in facts["models"]]
    rows = [
        ("trained for", *(each["measure"] for each in about)),
        ("share of positives trained for", *(number(each["prior"]) for each in about)),
        ("threshold of the scores", *(number(each["threshold"]) for each in about)),
    ]
    whole = facts["models"][0]
    told = markup.paragraph(
        Markup(
            f"{whole['rows']:,} rows, {whole['positives']:,} of them {name(about[0]['positive'])}. The predictions of "
            f"the two models differ on {facts['differ']:,} rows."
        )
    )
    return Section("models", "The two models", told + markup.table("Models", ("", *map(name, names)), rows))


def differences_section(names: Sequence[str], facts: dict[str, Any]) -> Section:
    """The measures of two models side by side, and which one is clearly better.

    Parameters
    ----------
    names : sequence of str
        Of the two models.
    facts : dict of str to object
        From `comparison_facts` or `class_comparison_facts`.

    Returns
    -------
    Section
    """
    first, second = (each["measures"] for each in facts["models"])
    rows = [
        (key, m["better"], number(first[key]["value"]), number(second[key]["value"]), number(m["value"]),
         interval(m["low"], m["high"]), _verdict(m))
        for key, m in facts["differences"].items()
    ]  # fmt: skip
    header = ("measure", "better", *map(name, names), "difference", "95\u00a0% interval", "clearly better")
    note = (
        "Differences are those of the second model less the first. Intervals are of bootstrap resamples of the rows, "
        "the same for both models; one model is clearly better where the interval leaves out 0."
    )
    table = markup.table("Measures of both models", header, rows, marked=0)
    return Section("differences", "Differences", table + markup.paragraph(note))


def _verdict(m: dict[str, Any]) -> str:
    if not (m["low"] > 0 or m["high"] < 0):
        return "neither"
    return "second" if (m["low"] > 0) == (m["better"] == "larger") else "first"


def _matrices(names: Sequence[str], facts: dict[str, Any]) -> Section:
    tables = (confusion_table(each, name(title)) for each, title in zip(facts["models"], names))
    return Section("confusion", "Confusion matrices", "".join(tables))


def _prevalences(names: Sequence[str], facts: dict[str, Any]) -> Section:
    first, second = (each["prevalence"] for each in facts["models"])
    rows = [(METHOD_NAMES[method], number(first[method]), number(second[method])) for method in first]
    caption = f"Share of positives; true on these rows: {number(facts['models'][0]['prior'])}"
    return Section("prevalence", "Prevalence", markup.table(caption, ("method", *map(name, names)), rows))
