"""Two models on the same rows: their figures side by side, and the differences with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import measures
from aesara_nondecomp._numeric import vote
from aesara_nondecomp.measures.identity import by_text
from aesara_nondecomp.metrics.bootstrap import bootstrap_difference
from aesara_nondecomp.reports import markup
from aesara_nondecomp.reports.facts import METHOD_NAMES, evaluation_facts, measure_of_rates
from aesara_nondecomp.reports.markup import Section, name, number
from aesara_nondecomp.reports.page import page
from aesara_nondecomp.reports.pictures import two_curves
from aesara_nondecomp.reports.sections import confusion_table
from aesara_nondecomp.reports.two_models import Kind, Scored, differences_section, facts_of_two, models_section


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
        As of `two_models.facts_of_two`, with the figures of `facts.evaluation_facts`.

    Raises
    ------
    ValueError
        If the models have other labels than each other, or the rows are not the same.
    """
    kind = Kind(
        "classes", "two models of the same negative and positive label", _measures, evaluation_facts, _predicted,
        bootstrap_difference,
    )  # fmt: skip
    return facts_of_two(kind, first, second, draws, seed)


def _measures(models: Sequence[Any]) -> dict[str, measures.Measure]:
    return by_text((*(measure_of_rates(model.measure) for model in models), *measures.defaults()))


def _predicted(model: Any, scores: NDArray[Any]) -> NDArray[Any]:
    return np.where(vote(scores) > model.threshold, 1, -1)


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
        both = zip((first, second), facts["models"])
        found = [each._replace(facts=figures, scores=vote(each.scores)) for each, figures in both]
        drawn = (two_curves(found, names, plane) for plane in ("roc", "precision-recall"))
        sections.append(Section("ranking", "Ranking and chosen points", markup.figures(*drawn)))
    if all("prevalence" in each for each in facts["models"]):
        sections.append(_prevalences(names, facts))
    return page("Comparison of two models", sections)


def _models(names: Sequence[str], facts: dict[str, Any]) -> Section:
    about, whole = [each["model"] for each in facts["models"]], facts["models"][0]
    rows = [
        ("share of positives trained for", *(number(each["prior"]) for each in about)),
        ("threshold of the scores", *(number(each["threshold"]) for each in about)),
    ]
    told = f"{whole['rows']:,} rows, {whole['positives']:,} of them {name(about[0]['positive'])}."
    return models_section(names, facts, told, rows)


def _matrices(names: Sequence[str], facts: dict[str, Any]) -> Section:
    tables = (confusion_table(each, name(title)) for each, title in zip(facts["models"], names))
    return Section("confusion", "Confusion matrices", "".join(tables))


def _prevalences(names: Sequence[str], facts: dict[str, Any]) -> Section:
    first, second = (each["prevalence"] for each in facts["models"])
    methods = [method for method in first if method in second]
    rows = [(METHOD_NAMES[method], number(first[method]), number(second[method])) for method in methods]
    caption = f"Share of positives; true on these rows: {number(facts['models'][0]['prior'])}"
    return Section("prevalence", "Prevalence", markup.table(caption, ("method", *map(name, names)), rows))
