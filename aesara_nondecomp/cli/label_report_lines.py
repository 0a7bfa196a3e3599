"""Reports of models of several labels as lines of text: the facts of `aesara_nondecomp.reports.label_facts`."""

from __future__ import annotations

from typing import Any

from aesara_nondecomp._tables import number_text
from aesara_nondecomp.cli.report_lines import measure_lines, rate_lines

MOST_SHOWN = 20  # labels in a line


def label_model_lines(facts: dict[str, Any]) -> list[str]:
    """Format the facts of a model in one line.

    Parameters
    ----------
    facts : dict of str to object
        From `label_model_facts`.

    Returns
    -------
    list of str
        One line.
    """
    labels = ", ".join(map(str, facts["labels"][:MOST_SHOWN])) + ", ..." * (len(facts["labels"]) > MOST_SHOWN)
    return [f"trained for {facts['measure']}, {len(facts['labels'])} labels ({labels})"]


def label_evaluation_lines(facts: dict[str, Any]) -> list[str]:
    """Format an evaluation as two tables: the labels and the measures.

    Parameters
    ----------
    facts : dict of str to object
        From `label_evaluation`, with the facts of the model.

    Returns
    -------
    list of str
        The lines.
    """
    thresholds = list(map(number_text, facts["model"]["thresholds"]))
    return [
        *rate_lines("label", facts["labels"], {"threshold": thresholds}),
        "",
        *measure_lines(facts, "same for all"),
    ]
