"""The figures of a report of K classes, as plain values ready for JSON; text, JSON and web pages show these."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.measures.identity import by_text
from aesara_nondecomp.measures.multiclass import GroupMeasure, MulticlassMeasure
from aesara_nondecomp.metrics.class_bootstrap import (
    RATES,
    bootstrap_classes,
    class_rates,
    class_values,
    trivial_class_value,
)
from aesara_nondecomp.metrics.class_group_report import ClassGroupReport
from aesara_nondecomp.metrics.class_scores import class_confusion, decision_scores, is_diagonal
from aesara_nondecomp.metrics.constraint_report import ConstraintReport
from aesara_nondecomp.reports.facts import measure_facts, shown_label, worst_value


def class_model_facts(model: Any) -> dict[str, Any]:
    """Describe a model of several classes.

    Parameters
    ----------
    model : ClassModel
        A trained model.

    Returns
    -------
    dict of str to object
        "measure", "constraints", the labels as "classes", their shares in training as "priors", and by which "rule" one
        is predicted.
    """
    return {
        "measure": str(model.measure),
        "constraints": [str(constraint) for constraint in model.constrained_by],
        "classes": [shown_label(label) for label in model.classes],
        "priors": model.priors.tolist(),
        "rule": rule_name(model),
    }


def rule_name(model: Any) -> str:
    """By which rule a model predicts a class.

    Parameters
    ----------
    model : ClassModel
        A trained model.

    Returns
    -------
    str
        "largest score", or that with "offsets" of the classes, or "linearised".
    """
    if model.rule is None:
        return "largest score"
    return "offsets" if is_diagonal(model.rule) else "linearised"


def reported_measures(model: Any, more: Iterable[MulticlassMeasure] = ()) -> dict[str, MulticlassMeasure]:
    """What a model is judged by: the measure trained for, and all that need no parameter.

    Parameters
    ----------
    model : ClassModel
        A trained model. Measures of the order of the classes are left out where labels are text, and those of groups.
    more : iterable of MulticlassMeasure, optional
        Further measures.

    Returns
    -------
    dict of str to MulticlassMeasure

    Raises
    ------
    ValueError
        If two different ones have the same text.
    """
    ordered = all(isinstance(label, Real) for label in model.classes)
    asked = (model.measure, *more, *multiclass.defaults(ordered))
    return by_text(measure for measure in asked if not isinstance(measure, GroupMeasure))


def measure_of_classes(measure: MulticlassMeasure) -> MulticlassMeasure:
    """The measure that is shown where there are no groups: the one trained for, or "min_recall" in place of theirs.

    Parameters
    ----------
    measure : MulticlassMeasure
        Trained for.

    Returns
    -------
    MulticlassMeasure
    """
    return multiclass.get("min_recall") if isinstance(measure, GroupMeasure) else measure


def class_evaluation(
    model: Any,
    table: Any,
    draws: int,
    seed: Any,
    more: Iterable[MulticlassMeasure] = (),
    worst: dict[str, float] | None = None,
) -> dict[str, Any]:
    """Evaluate a model of several classes by every measure, with bootstrap intervals.

    Parameters
    ----------
    model : ClassModel
        The model.
    table : array, shape (K, K)
        Confusion matrix of its predictions: counts of true classes by predicted ones.
    draws : int
        Number of bootstrap resamples, at least 1.
    seed : int, numpy Generator or None
        Seed of the bootstrap.
    more : iterable of MulticlassMeasure, optional
        Further measures, beside those of `reported_measures`.
    worst : dict of str to float, optional
        From `ClassGroupReport.value`, for a model of the worst group. Default: its measure is left out.

    Returns
    -------
    dict of str to object
        The number of "rows", the confusion matrix as "table"; for each of "classes" its "label", how many "rows" it
        has, how many are "predicted" to be of it, and its "recall", "precision" and "f1", each with the interval from
        "low" to "high"; and for each of "measures" its "value", the interval, and as "trivial" the best value of one
        class for all rows.
    """
    chosen = reported_measures(model, more)
    intervals = bootstrap_classes(table, chosen.values(), n_resamples=draws, seed=seed)
    values = class_values(chosen.values(), table)
    by_group = {} if worst is None else {str(model.measure): {"better": "larger", **worst}}
    return {
        "rows": int(table.sum()),
        "table": table.tolist(),
        "classes": _facts_of_classes(class_model_facts(model)["classes"], table, intervals.classes),
        "measures": by_group
        | {
            name: measure_facts(measure, value, *intervals.measures[name], trivial_class_value(measure, table))
            for (name, measure), value in zip(chosen.items(), values)
        },
    }


def _facts_of_classes(labels: list[Any], table: Any, intervals: dict[str, Any]) -> list[dict[str, Any]]:
    rates = class_rates(table)

    def figures(rate: str, k: int) -> dict[str, float]:
        low, high = intervals[rate][k].tolist()
        return {"value": float(rates[rate][k]), "low": low, "high": high}

    counts = zip(labels, table.sum(axis=1).tolist(), table.sum(axis=0).tolist())
    return [
        {"label": label, "rows": rows, "predicted": predicted, **{rate: figures(rate, k) for rate in RATES}}
        for k, (label, rows, predicted) in enumerate(counts)
    ]


def class_evaluation_facts(
    model: Any,
    scores: Any,
    codes: Any,
    draws: int,
    seed: Any,
    more: Iterable[MulticlassMeasure] = (),
    by_group: ClassGroupReport | None = None,
    verdicts: ConstraintReport | None = None,
) -> dict[str, Any]:
    """All figures of the report of a model of several classes on labelled rows.

    Parameters
    ----------
    model : ClassModel
        The model.
    scores : array, shape (n, K)
        Its network's scores of the rows.
    codes : int array, shape (n,)
        True classes.
    draws : int
        Number of bootstrap resamples, at least 1.
    seed : int, numpy Generator or None
        Seed of the bootstrap.
    more : iterable of MulticlassMeasure, optional
        Further measures, as in `class_evaluation`.
    by_group : ClassGroupReport, optional
        How the model does by group. Default: the rows have no groups.
    verdicts : ConstraintReport, optional
        Whether constraints hold. Default: there are none.

    Returns
    -------
    dict of str to object
        As of `class_evaluation`, with the "model"; "groups" and "constraints" where they are given.
    """
    table = class_confusion(codes, predicted_classes(model, scores), len(model.classes))
    worst = worst_value(model.measure, by_group)
    return {
        "model": class_model_facts(model),
        **class_evaluation(model, table, draws, seed, more, worst),
        **({} if by_group is None else {"groups": by_group.as_dict()}),
        **({} if verdicts is None else {"constraints": verdicts.as_dict()}),
    }


def predicted_classes(model: Any, scores: Any) -> Any:
    """The classes that a model predicts.

    Parameters
    ----------
    model : ClassModel
        The model.
    scores : array, shape (n, K)
        Its network's scores.

    Returns
    -------
    int array, shape (n,)
    """
    return np.argmax(decision_scores(scores, model.rule), axis=1)
