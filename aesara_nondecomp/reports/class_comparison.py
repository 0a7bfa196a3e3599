"""Two models of K classes on the same rows: their figures side by side, and the differences with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp.metrics.class_bootstrap import bootstrap_classes_difference
from aesara_nondecomp.reports import markup
from aesara_nondecomp.reports.class_facts import class_evaluation_facts, predicted_classes, reported_measures
from aesara_nondecomp.reports.class_sections import MOST_SHOWN, class_table
from aesara_nondecomp.reports.comparison import difference, differences_section
from aesara_nondecomp.reports.markup import Section, name, number
from aesara_nondecomp.reports.page import page


class ScoredClasses(NamedTuple):
    """A model of several classes with its scores of labelled rows.

    Attributes
    ----------
    model : ClassModel
        The model.
    codes : int array, shape (n,)
        True classes.
    scores : array, shape (n, K)
        The network's scores.
    """

    model: Any
    codes: NDArray[Any]
    scores: NDArray[Any]


def class_comparison_facts(first: ScoredClasses, second: ScoredClasses, draws: int, seed: Any) -> dict[str, Any]:
    """All figures of a comparison.

    Parameters
    ----------
    first : ScoredClasses
        A model.
    second : ScoredClasses
        Another one, on the same rows.
    draws : int
        Number of bootstrap resamples, at least 1.
    seed : int, numpy Generator or None
        Seed of the bootstrap.

    Returns
    -------
    dict of str to object
        As of `comparison.comparison_facts`, with the figures of `class_facts.class_evaluation_facts`.

    Raises
    ------
    ValueError
        If the models have other classes than each other, or the rows are not the same.
    """
    both = first, second
    classes = [tuple(each.model.classes) for each in both]
    require(classes[0] == classes[1], f"two models of the same classes, {classes[0]}", classes[1])
    require(np.array_equal(first.codes, second.codes), "two models on the same rows", "labels that differ")
    chosen = {**reported_measures(first.model), **reported_measures(second.model)}
    found = [
        class_evaluation_facts(each.model, each.scores, each.codes, draws, seed, more=chosen.values()) for each in both
    ]
    predicted = [predicted_classes(each.model, each.scores) for each in both]
    intervals = bootstrap_classes_difference(
        first.codes, predicted[0], predicted[1], len(classes[0]), chosen.values(), n_resamples=draws, seed=seed
    )
    return {
        "models": found,
        "differ": int(np.sum(predicted[0] != predicted[1])),
        "differences": {key: difference(found, key, *intervals[key]) for key in chosen},
    }


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
    sections = [_models(names, facts), differences_section(names, facts)]
    if len(facts["models"][0]["classes"]) <= MOST_SHOWN:
        tables = (class_table(each, name(title)) for each, title in zip(facts["models"], names))
        sections.append(Section("confusion", "Confusion matrices", "".join(tables)))
    return page("Comparison of two models", [*sections, _recalls(names, facts)])


def _models(names: Sequence[str], facts: dict[str, Any]) -> Section:
    about, whole = [each["model"] for each in facts["models"]], facts["models"][0]
    rows = [
        ("trained for", *(each["measure"] for each in about)),
        ("predicts by", *(each["rule"] for each in about)),
    ]
    told = markup.paragraph(
        f"{whole['rows']:,} rows of {len(whole['classes'])} classes. The predictions of the two models differ on "
        f"{facts['differ']:,} rows."
    )
    return Section("models", "The two models", told + markup.table("Models", ("", *map(name, names)), rows))


def _recalls(names: Sequence[str], facts: dict[str, Any]) -> Section:
    pairs = zip(*(each["classes"] for each in facts["models"]))
    rows = [
        (name(one["label"]), number(one["rows"]), *(number(each[rate]["value"]) for rate in ("recall", "f1")
                                                    for each in (one, other)))
        for one, other in pairs
    ]  # fmt: skip
    header = (
        "class",
        "rows",
        *(f"{rate} of the {which}" for rate in ("recall", "F1") for which in ("first", "second")),
    )
    return Section("classes", "Classes", markup.table("Each class", header, rows))
