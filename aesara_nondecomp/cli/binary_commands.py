"""What the commands do with labels of two classes."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._numeric import vote
from aesara_nondecomp._tables import interval_text, number_text
from aesara_nondecomp.cli import report_lines
from aesara_nondecomp.cli.model_rows import in_blocks, labelled_blocks, read_labelled_rows
from aesara_nondecomp.cli.outputs import Outcome, with_progress
from aesara_nondecomp.cli.report_lines import (
    training_confusion as training_confusion,
)  # for `kinds`
from aesara_nondecomp.cli.tables import LabelledTable
from aesara_nondecomp.data import check_lengths, decode, encode_as
from aesara_nondecomp.metrics import ConfusionMatrix
from aesara_nondecomp.models import Model
from aesara_nondecomp.reports.comparison import comparison_facts, comparison_page
from aesara_nondecomp.reports.facts import (
    by_group_and_constraints,
    evaluation,
    evaluation_facts,
    model_facts,
    prevalences,
)
from aesara_nondecomp.reports.page import evaluation_page
from aesara_nondecomp.reports.two_models import Scored


def training_report(
    model: Model, matrix: ConfusionMatrix, rows: str, options: argparse.Namespace, table: LabelledTable
) -> tuple[dict[str, Any], list[str]]:
    """The report of training.

    Parameters
    ----------
    model : Model
        The model.
    matrix : ConfusionMatrix
        Of the rows that it is judged on.
    rows : str
        Which rows these are.
    options : Namespace
        Parsed options of `train`.
    table : LabelledTable
        The training file.

    Returns
    -------
    facts : dict of str to object
        The figures.
    lines : list of str
        In short.
    """
    facts = {
        "model": model_facts(model),
        "steps": len(model.history),
        "best_step": model.best_step,
        "judged_on": f"{rows} rows",
        **evaluation(
            model, matrix, draws=1000, seed=options.seed, worst=report_lines.worst_of_training(model, rows, table)
        ),
    }
    value = facts["measures"][str(model.measure)]
    interval = f"95 % interval {interval_text(value['low'], value['high'])}, one label for all {value['trivial']:.4f}"
    lines = [
        *report_lines.model_lines(facts["model"]),
        f"{report_lines.steps_text(model)}; {model.measure} {number_text(value['value'])} on {matrix.n} {rows} rows, "
        f"{matrix.TP + matrix.FN} of them positive" + ("" if math.isnan(value["low"]) else f" ({interval})"),
        f"saved in {options.out}",
    ]
    return facts, lines


def prediction_columns(
    model: Model, with_scores: bool
) -> tuple[list[str], Callable[[NDArray[Any]], list[NDArray[Any]]]]:
    """How predictions are written.

    Parameters
    ----------
    model : Model
        The model.
    with_scores : bool
        Without effect: the score is always written.

    Returns
    -------
    header : list of str
        Names of the columns.
    columns_of : callable
        Makes the columns of a block of scores.

    Raises
    ------
    ValueError
        If the model is not calibrated.
    """
    quantifier = model.require_quantifier()

    def columns_of(scores: NDArray[Any]) -> list[NDArray[Any]]:
        labels = np.where(scores > model.threshold, model.classes[1], model.classes[0])
        return [labels, scores, quantifier.posteriors(scores)]

    return ["prediction", "score", "probability"], columns_of


def evaluation_report(model: Model, options: argparse.Namespace) -> Outcome:
    """Judge a model on labelled rows.

    Parameters
    ----------
    model : Model
        The model.
    options : Namespace
        Parsed options of `evaluate`.

    Returns
    -------
    facts : dict of str to object
        The figures.
    page : callable
        Makes the page.
    lines : list of str
        The report.
    """
    model.require_quantifier()
    if options.html or options.groups or model.extra.get("groups") or model.constrained_by:
        X, (_, signs, scores, _), groups = _scored(model, options, options.groups)
    else:
        X, (_, signs, scores, _), groups = None, _scored_by_blocks(model, options), None
    by_group, verdicts = by_group_and_constraints(model, X, decode(signs, model.classes), groups)
    facts = evaluation_facts(model, scores, signs, options.draws, options.seed, by_group, verdicts)
    lines = [
        *report_lines.model_lines(facts["model"]),
        f"{facts['rows']} rows, {facts['positives']} of them positive ({facts['prior']:.4f})",
        "",
        *report_lines.evaluation_lines(facts, facts["model"]),
        "",
        *report_lines.prevalence_lines(facts["prevalence"]),
        *(line for part in (by_group, verdicts) if part is not None for line in ("", str(part))),
    ]
    return facts, lambda: evaluation_page(model, X, signs, vote(scores), facts, options.seed), lines


def prevalence_report(model: Model, scores: NDArray[Any]) -> tuple[dict[str, Any], list[str]]:
    """Estimate the prevalence of the positive class.

    Parameters
    ----------
    model : Model
        The model.
    scores : array, shape (n, k)
        Of each of its networks.

    Returns
    -------
    facts : dict of str to object
        The figures.
    lines : list of str
        In short.
    """
    model.require_quantifier()
    estimates = prevalences(model, scores)
    facts: dict[str, Any] = {"model": model_facts(model), "rows": len(scores), "prevalence": estimates}
    return facts, [*report_lines.model_lines(facts["model"]), "", *report_lines.prevalence_lines(estimates)]


def comparison_report(models: Sequence[Model], names: Sequence[str], options: argparse.Namespace) -> Outcome:
    """Judge two models on the same labelled rows.

    Parameters
    ----------
    models : sequence of Model
        Both models.
    names : sequence of str
        Of the models.
    options : Namespace
        Parsed options of `compare`.

    Returns
    -------
    facts : dict of str to object
        The figures.
    page : callable
        Makes the page.
    lines : list of str
        The report.
    """
    first, second = (_scored_by_blocks(model, options) for model in models)
    facts = comparison_facts(first, second, options.draws, options.seed)
    return facts, lambda: comparison_page(first, second, names, facts), report_lines.comparison_lines(facts, names)


def _scored_by_blocks(model: Model, options: argparse.Namespace) -> Scored:
    """A model with the labels and its networks' scores of a file, of which a block is in memory at a time."""
    signs: list[NDArray[Any]] = []

    def inputs() -> Iterator[Any]:
        for block in labelled_blocks(options.data, model, options.target, options.delimiter, options.decimal):
            signs.append(encode_as(block.y, model.classes))
            check_lengths(block.X, signs[-1])
            yield block.X

    scores = np.concatenate(list(with_progress(model.network_score_blocks(inputs()), options)))
    return Scored(model, np.concatenate(signs), scores)


def _scored(model: Model, options: argparse.Namespace, groups: Any) -> tuple[Any, Scored, Any]:
    """The inputs of a labelled file, the model with its labels and its networks' scores, and the groups of the rows."""
    table = read_labelled_rows(options.data, model, options.target, options.delimiter, options.decimal, groups)
    signs = encode_as(table.y, model.classes)
    check_lengths(table.X, signs)
    blocks = model.network_score_blocks(in_blocks(table.X))
    scores = np.concatenate(list(with_progress(blocks, options, signs.size)))
    return table.X, Scored(model, signs, scores), table.groups
