"""Reports of the commands: facts as plain values, ready for JSON, and the same facts as lines of text."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from aesara_nondecomp import measures, metrics
from aesara_nondecomp._files import replacing
from aesara_nondecomp._tables import interval_text, number_text, table_lines
from aesara_nondecomp.data.files import STANDARD_STREAM
from aesara_nondecomp.metrics.bootstrap import bootstrap
from aesara_nondecomp.metrics.confusion import ConfusionMatrix, trivial_score
from aesara_nondecomp.metrics.quantification import METHODS, Quantifier

if TYPE_CHECKING:  # `measures` and `doctor` print without Aesara, which may not start
    from aesara_nondecomp.models.model import Model


def model_facts(model: Model) -> dict[str, Any]:
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
    negative, positive = model.classes
    return {
        "measure": str(model.measure),
        "constraints": [str(constraint) for constraint in model.constrained_by],
        "prior": model.prior,
        "threshold": model.threshold,
        "positive": positive,
        "negative": negative,
    }


def evaluation(
    model: Model, table: ConfusionMatrix, draws: int, seed: int, worst: dict[str, float] | None = None
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
    seed : int
        Seed of the bootstrap.
    worst : dict of str to float, optional
        From `GroupReport.value`, for a model of the worst group. Default: its measure is left out.

    Returns
    -------
    dict of str to object
        "rows", "positives" and "negatives", the confusion matrix as "table", the prevalence as "prior", both rates, and
        for each of "measures" its "value", the interval from "low" to "high", and as "trivial" the better value of the
        two constant predictions.
    """
    of_groups = isinstance(model.measure, measures.GroupMeasure)
    chosen = {str(measure): measure for measure in (*(() if of_groups else (model.measure,)), *measures.defaults())}
    intervals = bootstrap(table, chosen.values(), n_resamples=draws, seed=seed)
    by_group = {} if worst is None else {str(model.measure): {"better": "larger", **worst}}
    of_rates = {
        name: {
            "better": "larger" if measure.greater_is_better else "smaller",
            "value": metrics.score(measure, table),
            "low": intervals[name][0],
            "high": intervals[name][1],
            "trivial": trivial_score(measure, table),
        }
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


def prevalences(quantifier: Quantifier, scores: Any) -> dict[str, float]:
    """Estimate the prevalence by every method.

    Parameters
    ----------
    quantifier : Quantifier
        Calibration of the model.
    scores : array, shape (n,)
        Scores of the rows.

    Returns
    -------
    dict of str to float
        The estimate of each method.
    """
    return {method: quantifier.prevalence(scores, method) for method in METHODS}


def model_lines(facts: dict[str, Any]) -> list[str]:
    """Format the facts of a model in one line.

    Parameters
    ----------
    facts : dict of str to object
        From `model_facts`.

    Returns
    -------
    list of str
        One line.
    """
    under = f" under {', '.join(facts['constraints'])}" if facts["constraints"] else ""
    return [
        f"trained for {facts['measure']}{under}, positive label {facts['positive']!r}, prior {facts['prior']:.4g}, "
        f"threshold {facts['threshold']:.4g}"
    ]


def evaluation_lines(facts: dict[str, Any], model: dict[str, Any]) -> list[str]:
    """Format an evaluation as two tables: the confusion matrix and the measures.

    Parameters
    ----------
    facts : dict of str to object
        From `evaluation`.
    model : dict of str to object
        From `model_facts`.

    Returns
    -------
    list of str
        The lines.
    """
    cells, labels = facts["table"], (model["negative"], model["positive"])
    confusion = table_lines(
        ("", *(f"predicted {label}" for label in labels)),
        [(f"true {labels[0]}", cells["TN"], cells["FP"]), (f"true {labels[1]}", cells["FN"], cells["TP"])],
    )
    rows = [
        (name, m["better"], number_text(m["value"]), interval_text(m["low"], m["high"]), number_text(m["trivial"]))
        for name, m in facts["measures"].items()
    ]
    rates = f"true positive rate {number_text(facts['true_positive_rate'])}, true negative rate "
    return [
        *confusion,
        rates + number_text(facts["true_negative_rate"]),
        "",
        *table_lines(("measure", "better", "value", "95 % interval", "one label"), rows),
    ]


def prevalence_lines(estimates: dict[str, float]) -> list[str]:
    """Format prevalence estimates as a table.

    Parameters
    ----------
    estimates : dict of str to float
        From `prevalences`.

    Returns
    -------
    list of str
        One line for each method, below a header.
    """
    names = {
        "cc": "classify and count",
        "acc": "adjusted count",
        "pcc": "probabilistic count",
        "pacc": "adjusted probabilistic count",
        "sld": "expectation-maximisation",
    }
    return table_lines(
        ("share of positives", "", ""),
        [(names[method], method, number_text(share)) for method, share in estimates.items()],
    )


def as_json(facts: Any) -> str:
    """Format facts as JSON.

    Parameters
    ----------
    facts : object
        Plain values, in dicts and lists. NaN and infinity become null, since JSON cannot express them.

    Returns
    -------
    str
        Indented JSON.
    """
    return json.dumps(_finite(facts), indent=2)


def write_report(path: str | None, facts: Any) -> None:
    """Write facts as JSON to a file.

    Parameters
    ----------
    path : str or None
        The file; None writes nothing, and "-" is standard output.
    facts : object
        As for `as_json`.
    """
    if path == STANDARD_STREAM:
        print(as_json(facts))
    elif path is not None:
        with replacing(path, text=True) as file:
            file.write(as_json(facts) + "\n")


def _finite(facts: Any) -> Any:
    if isinstance(facts, dict):
        return {name: _finite(value) for name, value in facts.items()}
    if isinstance(facts, (list, tuple)):
        return [_finite(value) for value in facts]
    return None if isinstance(facts, float) and not math.isfinite(facts) else facts
