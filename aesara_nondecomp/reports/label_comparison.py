"""Two models of several labels on the same rows: their figures, and the differences with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara_nondecomp.measures.identity import by_text
from aesara_nondecomp.metrics.label_bootstrap import bootstrap_labels_difference
from aesara_nondecomp.reports.label_facts import label_evaluation_facts, predicted_labels, reported_label_measures
from aesara_nondecomp.reports.page import page
from aesara_nondecomp.reports.two_models import (
    Kind,
    Scored,
    differences_section,
    facts_of_two,
    models_section,
    rates_section,
)


def label_comparison_facts(first: Scored, second: Scored, draws: int, seed: Any) -> dict[str, Any]:
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
        As of `two_models.facts_of_two`, with the figures of `label_facts.label_evaluation_facts`.

    Raises
    ------
    ValueError
        If the models have other labels than each other, or the rows are not the same.
    """
    kind = Kind(
        "labels", "two models of the same labels", _measures, label_evaluation_facts, predicted_labels,
        bootstrap_labels_difference,
    )  # fmt: skip
    return facts_of_two(kind, first, second, draws, seed)


def _measures(models: Sequence[Any]) -> dict[str, Any]:
    return by_text(measure for model in models for measure in reported_label_measures(model).values())


def label_comparison_page(names: Sequence[str], facts: dict[str, Any]) -> str:
    """Make the page of a comparison.

    Parameters
    ----------
    names : sequence of str
        Of the two models.
    facts : dict of str to object
        From `label_comparison_facts`.

    Returns
    -------
    str
        HTML.
    """
    whole = facts["models"][0]
    told = f"{whole['rows']:,} rows of {len(whole['labels'])} labels."
    sections = [
        models_section(names, facts, told, []),
        differences_section(names, facts),
        rates_section(facts, "labels", "Labels", "label"),
    ]
    return page("Comparison of two models", sections)
