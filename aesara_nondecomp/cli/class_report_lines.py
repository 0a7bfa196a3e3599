"""Reports of models of several classes as lines of text: the facts of `aesara_nondecomp.reports.class_facts`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara_nondecomp._tables import number_text, table_lines
from aesara_nondecomp.cli.report_lines import measure_lines, rate_lines, two_models_lines
from aesara_nondecomp.reports.facts import METHOD_NAMES

MOST_SHOWN = 20  # classes of a matrix in a terminal


def class_model_lines(facts: dict[str, Any]) -> list[str]:
    """Format the facts of a model in one line.

    Parameters
    ----------
    facts : dict of str to object
        From `class_model_facts`.

    Returns
    -------
    list of str
        One line.
    """
    labels = ", ".join(map(repr, facts["classes"][:MOST_SHOWN])) + ", ..." * (len(facts["classes"]) > MOST_SHOWN)
    under = f" under {', '.join(facts['constraints'])}" if facts["constraints"] else ""
    classes = f"{len(facts['classes'])} classes ({labels})"
    return [f"trained for {facts['measure']}{under}, {classes}, predicts by {facts['rule']}"]


def class_evaluation_lines(facts: dict[str, Any]) -> list[str]:
    """Format an evaluation as tables: the confusion matrix, the classes and the measures.

    Parameters
    ----------
    facts : dict of str to object
        From `class_evaluation`.

    Returns
    -------
    list of str
        The lines.
    """
    labels = [each["label"] for each in facts["classes"]]
    matrix = table_lines(
        ("", *(f"predicted {label}" for label in labels)),
        [(f"true {label}", *counts) for label, counts in zip(labels, facts["table"])],
    )
    return [
        *([*matrix, ""] if len(labels) <= MOST_SHOWN else []),
        *rate_lines("class", facts["classes"]),
        "",
        *measure_lines(facts, "one class"),
    ]


def class_prevalence_lines(facts: dict[str, Any]) -> list[str]:
    """Format estimated prevalences as a table.

    Parameters
    ----------
    facts : dict of str to object
        With the model and, for each method, the shares of the classes.

    Returns
    -------
    list of str
        One line for each method, below a header.
    """
    return table_lines(
        ("share of the class", "", *map(str, facts["model"]["classes"])),
        [(METHOD_NAMES[name], name, *map(number_text, shares)) for name, shares in facts["prevalence"].items()],
    )


def class_comparison_lines(facts: dict[str, Any], names: Sequence[str]) -> list[str]:
    """Format the comparison of two models as a table.

    Parameters
    ----------
    facts : dict of str to object
        From `aesara_nondecomp.reports.class_comparison.class_comparison_facts`.
    names : sequence of str
        Of the two models.

    Returns
    -------
    list of str
        The lines.
    """
    return two_models_lines(facts, names, class_model_lines, f"{facts['models'][0]['rows']} rows")
