"""Two models of K classes on the same rows: their figures side by side, and the differences with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from aesara_nondecomp.measures.identity import by_text
from aesara_nondecomp.metrics.class_bootstrap import bootstrap_classes_difference
from aesara_nondecomp.reports.class_facts import class_evaluation_facts, predicted_classes, reported_measures
from aesara_nondecomp.reports.class_sections import MOST_SHOWN, class_table
from aesara_nondecomp.reports.markup import Section, name
from aesara_nondecomp.reports.page import page
from aesara_nondecomp.reports.two_models import (
    Kind,
    Scored,
    differences_section,
    facts_of_two,
    models_section,
    rates_section,
)


def class_comparison_facts(first: Scored, second: Scored, draws: int, seed: Any) -> dict[str, Any]:
    """All figures of a comparison.

    Parameters
    ----------
    first : Scored
        A model, with the network's scores.
    second : Scored
        Another one, on the same rows.
    draws : int
        Number of bootstrap resamples, at least 1.
    seed : int, numpy Generator or None
        Seed of the bootstrap.

    Returns
    -------
    dict of str to object
        As of `two_models.facts_of_two`, with the figures of `class_facts.class_evaluation_facts`.

    Raises
    ------
    ValueError
        If the models have other classes than each other, or the rows are not the same.
    """

    def intervals(truth: NDArray[Any], *rest: Any, **options: Any) -> dict[str, tuple[float, float]]:
        former, latter, measures = rest
        return bootstrap_classes_difference(truth, former, latter, len(first.model.classes), measures, **options)

    kind = Kind(
        "classes", "two models of the same classes", _measures, class_evaluation_facts, predicted_classes, intervals
    )
    return facts_of_two(kind, first, second, draws, seed)


def _measures(models: Sequence[Any]) -> dict[str, Any]:
    return by_text(measure for model in models for measure in reported_measures(model).values())


def class_comparison_page(names: Sequence[str], facts: dict[str, Any]) -> str:
    """Make the page of a comparison.

    Parameters
    ----------
    names : sequence of str
        Of the two models.
    facts : dict of str to object
        From `class_comparison_facts`.

    Returns
    -------
    str
        HTML.
    """
    whole = facts["models"][0]
    told = f"{whole['rows']:,} rows of {len(whole['classes'])} classes."
    rules = ("predicts by", *(each["model"]["rule"] for each in facts["models"]))
    sections = [models_section(names, facts, told, [rules]), differences_section(names, facts)]
    if len(whole["classes"]) <= MOST_SHOWN:
        tables = (class_table(each, name(title)) for each, title in zip(facts["models"], names))
        sections.append(Section("confusion", "Confusion matrices", "".join(tables)))
    return page("Comparison of two models", [*sections, rates_section(facts, "classes", "Classes", "class")])
