"""The figures of a report, as plain values ready for JSON; text, JSON and web pages show these."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from aesara_nondecomp import measures, metrics
from aesara_nondecomp._numeric import vote
from aesara_nondecomp.measures.groups import WorstOfForms
from aesara_nondecomp.measures.identity import by_text
from aesara_nondecomp.metrics.bootstrap import bootstrap
from aesara_nondecomp.metrics.confusion import ConfusionMatrix, trivial_score
from aesara_nondecomp.metrics.constraint_report import ConstraintReport
from aesara_nondecomp.metrics.group_report import GroupReport
from aesara_nondecomp.metrics.quantification import COUNTED, METHODS

METHOD_NAMES = {
    "cc": "classify and count",
    "acc": "adjusted count",
    "pcc": "probabilistic count",
    "pacc": "adjusted probabilistic count",
    "sld": "expectation-maximisation",
}


def model_facts(model: Any) -> dict[str, Any]:
    """Describe a model.

    Parameters
    ----------
    model : Model
        A trained model.

    Returns
    -------
    dict of str to object
        "measure", "constraints", "prior", "threshold", and the labels "positive" and "negative".
    """
    negative, positive = map(shown_label, model.classes)
    return {
        "measure": str(model.measure),
        "constraints": [str(constraint) for constraint in model.constrained_by],
        "prior": model.prior,
        "threshold": model.threshold,
        "positive": positive,
        "negative": negative,
    }


def network_text(model: Any) -> str:
    """Describe the network of a model in a few words.

    Parameters
    ----------
    model : Model
        A trained model.

    Returns
    -------
    str
        Its name and the widths of its hidden layers, such as "tabular 64-64".
    """
    described = model.network_description
    hidden = described.get("hidden", ())  # one number in networks of texts
    widths = "-".join(map(str, hidden if isinstance(hidden, (list, tuple)) else [hidden]))
    return f"{described.get('builder', 'a graph of your own')} {widths}".strip()


def shown_label(label: Any) -> Any:
    """A label as a report shows it.

    Parameters
    ----------
    label : object
        Of a model.

    Returns
    -------
    bool, int, float or str
        Text for bytes and dates.
    """
    return label if isinstance(label, (bool, int, float, str)) else str(label)


def evaluation(
    model: Any,
    table: ConfusionMatrix,
    draws: int,
    seed: Any,
    worst: dict[str, float] | None = None,
    more: Iterable[measures.Measure] = (),
) -> dict[str, Any]:
    """Evaluate a model by every measure, with bootstrap intervals.

    Parameters
    ----------
    model : Model
        The model.
    table : ConfusionMatrix
        Confusion matrix of its predictions.
    draws : int
        Number of bootstrap resamples, at least 1.
    seed : int, numpy Generator or None
        Seed of the bootstrap.
    worst : dict of str to float, optional
        From `GroupReport.value`, for a model of the worst group. Default: its measure is left out.
    more : iterable of Measure, optional
        Further measures, beside that of the model and `measures.defaults`.

    Returns
    -------
    dict of str to object
        "rows", "positives" and "negatives", the confusion matrix as "table", the prevalence as "prior", both rates, and
        for each of "measures" its "value", the interval from "low" to "high", and as "trivial" the better value of the
        two constant predictions.
    """
    asked = (model.measure, *more, *measures.defaults())
    chosen = by_text(measure for measure in asked if not isinstance(measure, measures.GroupMeasure))
    intervals = bootstrap(table, chosen.values(), n_resamples=draws, seed=seed)
    by_group = {} if worst is None else {str(model.measure): {"better": "larger", **worst}}
    of_rates = {
        name: measure_facts(measure, metrics.score(measure, table), *intervals[name], trivial_score(measure, table))
        for name, measure in chosen.items()
    }
    return {
        "rows": table.n,
        "positives": intervals.positives,
        "negatives": intervals.negatives,
        "table": table._asdict(),
        "prior": table.prevalence,
        "true_positive_rate": table.tpr,
        "true_negative_rate": table.tnr,
        "measures": {**by_group, **of_rates},
    }


def measure_facts(measure: Any, value: float, low: float, high: float, trivial: float) -> dict[str, Any]:
    """The figures of one measure.

    Parameters
    ----------
    measure : Measure or MulticlassMeasure
        The measure.
    value : float
        Its value.
    low : float
        Lower end of its interval.
    high : float
        Upper end of its interval.
    trivial : float
        Value of the best constant prediction.

    Returns
    -------
    dict of str to object
        These, and what is "better".
    """
    better = "larger" if measure.greater_is_better else "smaller"
    return {"better": better, "value": value, "low": low, "high": high, "trivial": trivial}


def evaluation_facts(
    model: Any,
    scores: Any,
    signs: Any,
    draws: int,
    seed: Any,
    by_group: GroupReport | None = None,
    verdicts: ConstraintReport | None = None,
    more: Iterable[measures.Measure] = (),
) -> dict[str, Any]:
    """All figures of the report of a model on labelled rows.

    Parameters
    ----------
    model : Model
        The model.
    scores : array, shape (n,) or (n, k)
        Its scores of the rows, or those of each of its networks, by which prevalences are estimated more accurately.
    signs : array, shape (n,)
        Labels in {-1, +1}.
    draws : int
        Number of bootstrap resamples, at least 1.
    seed : int, numpy Generator or None
        Seed of the bootstrap.
    by_group : GroupReport, optional
        How it does by group.
    verdicts : ConstraintReport, optional
        Whether it meets its constraints.
    more : iterable of Measure, optional
        Further measures, as in `evaluation`.

    Returns
    -------
    dict of str to object
        As of `evaluation`, with the "model" and, where there are any, the "prevalence" by each method, "groups" and
        "constraints".
    """
    table = metrics.confusion_at_threshold(vote(scores), signs, model.threshold)
    worst = worst_value(model.measure, by_group)
    return {
        "model": model_facts(model),
        **evaluation(model, table, draws, seed, worst, more),
        **({} if model.quantifier is None else {"prevalence": prevalences(model, scores)}),
        **({} if by_group is None else {"groups": by_group.as_dict()}),
        **({} if verdicts is None else {"constraints": verdicts.as_dict()}),
    }


def by_group_and_constraints(model: Any, X: Any, y: Any, groups: Any) -> tuple[Any, ConstraintReport | None]:
    """How a model does by group, and whether the constraints that it was trained under hold.

    Parameters
    ----------
    model : Model or ClassModel
        The model.
    X : matrix, shape (n, d), table or list of str
        As raw as the training rows.
    y : array-like, shape (n,)
        True labels.
    groups : array-like of shape (n,), table, or None
        The group of each row; without, the constraints between groups are left out.

    Returns
    -------
    by_group : GroupReport, ClassGroupReport or None
        None without groups.
    verdicts : ConstraintReport or None
        None without constraints.
    """
    asked = [each for each in model.constrained_by if groups is not None or not each.needs_groups]
    by_group = None if groups is None else model.by_group(X, y, groups)
    return by_group, model.constraints(X, y, groups, asked) if asked else None


def worst_value(measure: Any, by_group: Any) -> dict[str, float] | None:
    """The value of a measure of the worst group, with its interval and the trivial value.

    Parameters
    ----------
    measure : Measure or MulticlassMeasure
        Any measure.
    by_group : GroupReport, ClassGroupReport or None
        How a model does by group.

    Returns
    -------
    dict of str to float, or None
        None for another measure, or without groups.
    """
    if by_group is None or not isinstance(measure, WorstOfForms):
        return None
    return by_group.value(measure)  # type: ignore[no-any-return]


def measure_of_rates(measure: measures.Measure) -> measures.Measure:
    """The measure that pictures of the two rates show: the one trained for, or min in place of one of groups.

    Parameters
    ----------
    measure : Measure
        Trained for.

    Returns
    -------
    Measure
    """
    return measures.get("min") if isinstance(measure, measures.GroupMeasure) else measure


def prevalences(model: Any, scores: Any) -> dict[str, float]:
    """Estimate the prevalence by every method that `Model.predict_prevalence` takes.

    Parameters
    ----------
    model : Model
        The model; calibrated.
    scores : array, shape (n,) or (n, k)
        Scores of the rows, of each of k networks.

    Returns
    -------
    dict of str to float
        The estimate of each method.
    """
    left_out = COUNTED if model.threshold_has_moved else ()
    return {method: model.quantifier.prevalence(scores, method) for method in METHODS if method not in left_out}


def finite_facts(facts: Any) -> Any:
    """Facts without NaN and infinity, which JSON cannot express.

    Parameters
    ----------
    facts : object
        Plain values, in dicts and lists.

    Returns
    -------
    object
        The same, with None in place of NaN and infinity.
    """
    if isinstance(facts, dict):
        return {name: finite_facts(value) for name, value in facts.items()}
    if isinstance(facts, (list, tuple)):
        return [finite_facts(value) for value in facts]
    return None if isinstance(facts, float) and not math.isfinite(facts) else facts
