"""What the comparisons of two models of all kinds have in common: the figures, and the sections of every page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp.reports import markup
from aesara_nondecomp.reports.markup import Markup, Section, interval, name, number


class Scored(NamedTuple):
    """A model with its scores of labelled rows.

    Attributes
    ----------
    model : Model, ClassModel or MultilabelModel
        The model.
    truth : array, shape (n,) or (n, L)
        Labels in {-1, +1}; of several classes their numbers, of several labels which rows have each.
    scores : array, shape (n,), (n, k) or (n, K)
        Its scores; of two classes also those of each of its k networks, of several classes the network's.
    facts : dict of str to object, optional
        Its figures, which the pictures need.
    """

    model: Any
    truth: NDArray[Any]
    scores: NDArray[Any]
    facts: dict[str, Any] = {}


class Kind(NamedTuple):
    """What differs with the kind of the models.

    Attributes
    ----------
    labels : str
        The field of a model that both must have alike.
    needed : str
        What is needed of it, for the message.
    measures : callable (models) -> dict of str to measure
        What two models are judged by.
    facts : callable (model, scores, truth, draws, seed, more=) -> dict
        The figures of a model.
    predicted : callable (model, scores) -> array, shape (n,) or (n, L)
        Its predictions.
    intervals : callable (truth, first, second, measures, n_resamples=, seed=) -> dict
        Those of the differences of predictions.
    """

    labels: str
    needed: str
    measures: Callable[[Sequence[Any]], dict[str, Any]]
    facts: Callable[..., dict[str, Any]]
    predicted: Callable[[Any, NDArray[Any]], NDArray[Any]]
    intervals: Callable[..., dict[str, tuple[float, float]]]


def facts_of_two(kind: Kind, first: Scored, second: Scored, draws: int, seed: Any) -> dict[str, Any]:
    """All figures of a comparison.

    Parameters
    ----------
    kind : Kind
        Of the models.
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
        The figures of both "models"; the number of rows on which predictions "differ"; and for each measure among
        "differences" what is "better", its "value", the second model's less the first's, and its interval from "low"
        to "high", of paired resamples.

    Raises
    ------
    ValueError
        If the models have other labels than each other, or the rows are not the same.
    """
    both = first, second
    labels = [tuple(getattr(each.model, kind.labels)) for each in both]
    require(labels[0] == labels[1], f"{kind.needed}, {labels[0]}", labels[1])
    require(np.array_equal(first.truth, second.truth), "two models on the same rows", "labels that differ")
    chosen = kind.measures([each.model for each in both])
    found = [kind.facts(each.model, each.scores, each.truth, draws, seed, more=chosen.values()) for each in both]
    former, latter = (kind.predicted(each.model, each.scores) for each in both)
    intervals = kind.intervals(first.truth, former, latter, chosen.values(), n_resamples=draws, seed=seed)
    differ = (former != latter).reshape(len(former), -1).any(axis=1)
    return {
        "models": found,
        "differ": int(differ.sum()),
        "differences": {key: _difference(found, key, *intervals[key]) for key in chosen},
    }


def _difference(found: Sequence[dict[str, Any]], key: str, low: float, high: float) -> dict[str, Any]:
    """What is better, the value of the second model less that of the first, and the interval."""
    first, second = (each["measures"][key] for each in found)
    value = float(np.subtract(second["value"], first["value"]))
    return {"better": first["better"], "value": value, "low": low, "high": high}


def models_section(names: Sequence[str], facts: dict[str, Any], told: str, rows: Sequence[Sequence[Any]]) -> Section:
    """What the two models are.

    Parameters
    ----------
    names : sequence of str
        Of the two models.
    facts : dict of str to object
        From `facts_of_two`.
    told : str
        What rows they are compared on.
    rows : sequence of sequence
        Further rows of the table: a term, and its description of each model.

    Returns
    -------
    Section
    """
    trained = ("trained for", *(each["model"]["measure"] for each in facts["models"]))
    differ = f" The predictions of the two models differ on {facts['differ']:,} rows."
    table = markup.table("Models", ("", *map(name, names)), [trained, *rows])
    return Section("models", "The two models", markup.paragraph(Markup(told + differ)) + table)


def differences_section(names: Sequence[str], facts: dict[str, Any]) -> Section:
    """The measures of two models side by side, and which one is clearly better.

    Parameters
    ----------
    names : sequence of str
        Of the two models.
    facts : dict of str to object
        From `facts_of_two`.

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


def rates_section(facts: dict[str, Any], key: str, title: str, one: str) -> Section:
    """Recall and F1 of each class or label, of both models side by side.

    Parameters
    ----------
    facts : dict of str to object
        From `facts_of_two`.
    key : str
        Of the figures, "classes" or "labels".
    title : str
        Of the section.
    one : str
        What each of them is called.

    Returns
    -------
    Section
    """
    pairs = zip(*(each[key] for each in facts["models"]))
    rows = [
        (name(one["label"]), number(one["rows"]), *(number(each[rate]["value"]) for rate in ("recall", "f1")
                                                    for each in (one, other)))
        for one, other in pairs
    ]  # fmt: skip
    of_both = (f"{rate} of the {which}" for rate in ("recall", "F1") for which in ("first", "second"))
    return Section(key, title, markup.table(f"Each {one}", (one, "rows", *of_both), rows))


def _verdict(m: dict[str, Any]) -> str:
    if not (m["low"] > 0 or m["high"] < 0):
        return "neither"
    return "second" if (m["low"] > 0) == (m["better"] == "larger") else "first"
