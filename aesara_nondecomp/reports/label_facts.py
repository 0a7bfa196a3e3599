"""The figures of a report of several labels, as plain values ready for JSON; text, JSON and web pages show these."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from aesara_nondecomp.measures import Averaged
from aesara_nondecomp.measures.identity import by_text
from aesara_nondecomp.metrics.label_bootstrap import (
    LabelIntervals,
    bootstrap_labels,
    default_label_measures,
    trivial_label_value,
)
from aesara_nondecomp.metrics.label_confusion import label_confusions, label_rates
from aesara_nondecomp.reports.facts import measure_facts, shown_label

UNKNOWN = (math.nan, math.nan)


def label_model_facts(model: Any) -> dict[str, Any]:
    """Describe a model of several labels.

    Parameters
    ----------
    model : MultilabelModel
        A trained model.

    Returns
    -------
    dict of str to object
        "measure", the names of the "labels", their shares in training as "priors", and their "thresholds".
    """
    return {
        "measure": str(model.measure),
        "labels": [shown_label(label) for label in model.labels],
        "priors": model.priors.tolist(),
        "thresholds": model.thresholds.tolist(),
    }


def reported_label_measures(model: Any, more: Iterable[Averaged] = ()) -> dict[str, Averaged]:
    """What a model is judged by: the measure trained for, and those of `default_label_measures`.

    Parameters
    ----------
    model : MultilabelModel
        A trained model.
    more : iterable of Averaged, optional
        Further measures.

    Returns
    -------
    dict of str to Averaged

    Raises
    ------
    ValueError
        If two different ones have the same text.
    """
    return by_text((model.measure, *more, *default_label_measures()))


def label_evaluation(
    model: Any, confusions: Any, intervals: LabelIntervals | None = None, more: Iterable[Averaged] = ()
) -> dict[str, Any]:
    """Evaluate a model of several labels by every measure.

    Parameters
    ----------
    model : MultilabelModel
        The model.
    confusions : array, shape (L, 4)
        TP, FN, FP and TN of each label.
    intervals : LabelIntervals, optional
        Of these measures and labels. Default: NaN, as without the rows themselves there are none.
    more : iterable of Averaged, optional
        Further measures, beside those of `reported_label_measures`.

    Returns
    -------
    dict of str to object
        The number of "rows"; for each of "labels" its "label", how many "rows" have it, for how many it is "predicted",
        its confusion matrix as "table", and its "recall", "precision" and "f1", each with the interval from "low" to
        "high"; and for each of "measures" its "value", the interval, and as "trivial" the best value of predictions
        that are the same for all rows.
    """
    rates, ends = label_rates(confusions), intervals.labels if intervals else {}
    of_measures = intervals.measures if intervals else {}

    def figures(rate: str, k: int) -> dict[str, float]:
        low, high = ends[rate][k].tolist() if ends else UNKNOWN
        return {"value": float(rates[rate][k]), "low": low, "high": high}

    labels = [
        {
            "label": label,
            "rows": TP + FN,
            "predicted": TP + FP,
            "table": {"TP": TP, "FN": FN, "FP": FP, "TN": TN},
            **{rate: figures(rate, k) for rate in rates},
        }
        for k, (label, (TP, FN, FP, TN)) in enumerate(zip(label_model_facts(model)["labels"], confusions.tolist()))
    ]
    return {
        "rows": int(confusions[0].sum()),
        "labels": labels,
        "measures": {
            name: measure_facts(
                measure.measure,
                measure.from_confusions(confusions),
                *of_measures.get(name, UNKNOWN),
                trivial_label_value(measure, confusions),
            )
            for name, measure in reported_label_measures(model, more).items()
        },
    }


def label_evaluation_facts(
    model: Any, scores: Any, matrix: Any, draws: int, seed: Any, more: Iterable[Averaged] = ()
) -> dict[str, Any]:
    """All figures of the report of a model of several labels on labelled rows.

    Parameters
    ----------
    model : MultilabelModel
        The model.
    scores : array, shape (n, L)
        Its scores of the rows.
    matrix : bool array, shape (n, L)
        Which labels the rows have.
    draws : int
        Number of bootstrap resamples, at least 1.
    seed : int, numpy Generator or None
        Seed of the bootstrap.
    more : iterable of Averaged, optional
        Further measures, as in `label_evaluation`.

    Returns
    -------
    dict of str to object
        As of `label_evaluation`, with the "model".
    """
    predicted, more = predicted_labels(model, scores), list(more)
    chosen = reported_label_measures(model, more).values()
    intervals = bootstrap_labels(matrix, predicted, chosen, n_resamples=draws, seed=seed)
    found = label_evaluation(model, label_confusions(matrix, predicted), intervals, more)
    return {"model": label_model_facts(model), **found}


def predicted_labels(model: Any, scores: Any) -> Any:
    """The labels that a model predicts.

    Parameters
    ----------
    model : MultilabelModel
        The model.
    scores : array, shape (n, L)
        From its `decision_function`.

    Returns
    -------
    bool array, shape (n, L)
    """
    return scores > model.thresholds
