"""Reports of the commands: the facts of `aesara_nondecomp.reports.facts` as lines of text, and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aesara_nondecomp._files import replacing
from aesara_nondecomp._tables import interval_text, number_text, table_lines
from aesara_nondecomp.data.files import STANDARD_STREAM
from aesara_nondecomp.data.streamed_tables import StreamedTable
from aesara_nondecomp.measures.groups import WorstOfForms
from aesara_nondecomp.reports.facts import METHOD_NAMES, finite_facts, network_text, worst_value

if TYPE_CHECKING:  # its modules take long to load, and some commands need no network
    from aesara_nondecomp.cli.tables import LabelledTable

BETWEEN = "95 % interval"


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


def steps_text(model: Any) -> str:
    """How many steps a model was trained for, and which was the best.

    Parameters
    ----------
    model : Model, ClassModel or MultilabelModel
        As `fit` returned it.

    Returns
    -------
    str
    """
    return f"{len(model.history)} steps" + (f", best after {model.best_step}" if model.best_step else "")


def training_confusion(model: Any, table: LabelledTable) -> tuple[Any, str] | None:
    """The confusion matrix of the rows that a model is judged on: those held out, or if there are none, all.

    Parameters
    ----------
    model : Model or ClassModel
        As `fit` returned it; on all rows it is calibrated too.
    table : LabelledTable
        The training file.

    Returns
    -------
    matrix : ConfusionMatrix or array, shape (K, K)
    rows : {"held-out", "training"}
        Which rows these are. None in place of both if training on a streamed table was stopped before the rows held out
        were looked at.
    """
    if model.validation_matrix is not None:
        return model.validation_matrix, "held-out"
    if model.interrupted and isinstance(table.X, StreamedTable):
        return None
    return model.calibrate(table.X, table.y).confusion_matrix(table.X, table.y), "training"


def worst_of_training(model: Any, rows: str, table: LabelledTable) -> dict[str, float] | None:
    """The value of a measure of the worst group; on rows held out, that by which the best step was chosen.

    Parameters
    ----------
    model : Model or ClassModel
        The model.
    rows : str
        Which rows it is judged on.
    table : LabelledTable
        The training rows.

    Returns
    -------
    dict of str to float, or None
        None for another measure.
    """
    if not isinstance(model.measure, WorstOfForms):
        return None
    if rows == "training":
        return worst_value(model.measure, model.by_group(table.X, table.y, table.groups))
    found = [each.value for each in model.evaluations if each.step == model.best_step]
    return {"value": found[0] if found else math.nan, **dict.fromkeys(("low", "high", "trivial"), math.nan)}


def choice_lines(model: Any, facts: dict[str, Any], rows: int, seconds: float) -> list[str]:
    """Say what a training chose, for ``--verbose``.

    Parameters
    ----------
    model : Model or ClassModel
        As `fit` returned it.
    facts : dict of str to object
        Of the report of the training.
    rows : int
        Number of rows of the training file.
    seconds : float
        That the training took.

    Returns
    -------
    list of str
        One line for each choice.
    """
    votes, about = 1 + len(model.voters), facts["model"]
    none = facts["judged_on"] != "held-out rows"
    held = "none held out" if none else f"{facts['rows']} held out" + (" in turn" if votes > 1 else "")
    in_steps = model.history[-1].seconds
    lines = {
        "network": network_text(model) + (f", {votes} that vote" if votes > 1 else ""),
        "rows": f"{rows}, {held}",
        "steps": steps_text(model).replace(" steps", ""),
        **_rule(about),
        "seconds": f"{seconds:.1f}, of which {in_steps:.1f} in steps",
    }
    return [f"{name}: {line}" for name, line in lines.items()]


def _rule(about: dict[str, Any]) -> dict[str, str]:
    """By what a model predicts."""
    if "rule" in about:
        return {"rule": about["rule"]}
    if "thresholds" in about:
        return {"thresholds": ", ".join(f"{each:.6g}" for each in about["thresholds"])}
    return {"threshold": f"{about['threshold']:.6g}"}


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
    rates = f"true positive rate {number_text(facts['true_positive_rate'])}, true negative rate "
    return [
        *confusion,
        rates + number_text(facts["true_negative_rate"]),
        "",
        *measure_lines(facts, "one label"),
    ]


def measure_rows(facts: dict[str, Any]) -> list[tuple[str, ...]]:
    """The measures of an evaluation as rows of a table.

    Parameters
    ----------
    facts : dict of str to object
        From `evaluation` or `class_evaluation`.

    Returns
    -------
    list of tuple of str
        Name, what is better, value, interval, and value of the best constant prediction.
    """
    return [
        (name, m["better"], number_text(m["value"]), interval_text(m["low"], m["high"]), number_text(m["trivial"]))
        for name, m in facts["measures"].items()
    ]


def rate_lines(
    what: str, entries: Sequence[dict[str, Any]], more: Mapping[str, Sequence[str]] | None = None
) -> list[str]:
    """Format recall, precision and F1 of classes or labels as a table, with intervals.

    Parameters
    ----------
    what : str
        Head of the first column: what the entries are.
    entries : sequence of dict
        From `class_evaluation` or `label_evaluation`.
    more : mapping of str to sequence of str, optional
        Further columns, by their heads.

    Returns
    -------
    list of str
        The lines.
    """
    further = more or {}
    rates = {"recall": "recall", "precision": "precision", "F1": "f1"}
    header = (what, "rows", "predicted", *(text for rate in rates for text in (rate, BETWEEN)), *further)
    rows = []
    for each, *texts in zip(entries, *further.values()):
        found = [each[rate] for rate in rates.values()]
        values = [text for f in found for text in (number_text(f["value"]), interval_text(f["low"], f["high"]))]
        rows.append((each["label"], each["rows"], each["predicted"], *values, *texts))
    return table_lines(header, rows)


def measure_lines(facts: dict[str, Any], trivial: str) -> list[str]:
    """Format the measures of an evaluation as a table.

    Parameters
    ----------
    facts : dict of str to object
        From `evaluation`, `class_evaluation` or `label_evaluation`.
    trivial : str
        Head of the last column: what a trivial prediction is.

    Returns
    -------
    list of str
        The lines.
    """
    return table_lines(("measure", "better", "value", BETWEEN, trivial), measure_rows(facts))


def comparison_lines(facts: dict[str, Any], names: Sequence[str]) -> list[str]:
    """Format the comparison of two models as a table.

    Parameters
    ----------
    facts : dict of str to object
        From `aesara_nondecomp.reports.comparison.comparison_facts`.
    names : sequence of str
        Of the two models.

    Returns
    -------
    list of str
        The lines.
    """
    first = facts["models"][0]
    return two_models_lines(facts, names, model_lines, f"{first['rows']} rows, {first['positives']} of them positive")


def two_models_lines(
    facts: dict[str, Any], names: Sequence[str], lines_of: Callable[[dict[str, Any]], list[str]], rows: str
) -> list[str]:
    """Format the comparison of two models of any kind as a table.

    Parameters
    ----------
    facts : dict of str to object
        From `aesara_nondecomp.reports.two_models.facts_of_two`.
    names : sequence of str
        Of the two models.
    lines_of : callable (facts of a model) -> list of str
        Describes a model.
    rows : str
        What rows they are compared on.

    Returns
    -------
    list of str
        The lines.
    """
    return [
        *(f"{name}: {line}" for name, each in zip(names, facts["models"]) for line in lines_of(each["model"])),
        f"{rows}; predictions differ on {facts['differ']}",
        "",
        *table_lines(("measure", "better", *names, "difference", BETWEEN), _difference_rows(facts)),
    ]


def _difference_rows(facts: dict[str, Any]) -> list[tuple[str, ...]]:
    """Of each measure its name, what is better, both values, the difference and its interval."""
    first, second = facts["models"]
    return [
        (measure, m["better"], number_text(first["measures"][measure]["value"]),
         number_text(second["measures"][measure]["value"]), number_text(m["value"]),
         interval_text(m["low"], m["high"]))
        for measure, m in facts["differences"].items()
    ]  # fmt: skip


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
    return table_lines(
        ("share of positives", "", ""),
        [(METHOD_NAMES[method], method, number_text(share)) for method, share in estimates.items()],
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
    return json.dumps(finite_facts(facts), indent=2)


def write_report(path: str | None, facts: Any) -> None:
    """Write facts as JSON to a file.

    Parameters
    ----------
    path : str or None
        The file; None writes nothing, and "-" is standard output.
    facts : object
        As for `as_json`.
    """
    if path is not None:
        write_text(path, as_json(facts) + "\n")


def write_text(path: str, text: str) -> None:
    """Write a text to a file.

    Parameters
    ----------
    path : str
        The file; "-" is standard output.
    text : str
        Of whole lines.
    """
    if path == STANDARD_STREAM:
        print(text, end="")
    else:
        with replacing(path, text=True) as file:
            file.write(text)
