"""What the commands do where a row may have several labels."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp._tables import number_text
from aesara_nondecomp.cli.label_report_lines import label_evaluation_lines, label_model_lines
from aesara_nondecomp.cli.model_rows import read_labelled_rows
from aesara_nondecomp.cli.outputs import Outcome
from aesara_nondecomp.cli.report_lines import steps_text, two_models_lines
from aesara_nondecomp.cli.tables import LabelledTable
from aesara_nondecomp.cli.usage import usage_errors
from aesara_nondecomp.measures import Averaged, Measure, catalogue
from aesara_nondecomp.measures.multiclass import MulticlassMeasure
from aesara_nondecomp.models.archive import describe_measure
from aesara_nondecomp.models.label_model import MultilabelModel
from aesara_nondecomp.reports.label_comparison import label_comparison_facts, label_comparison_page
from aesara_nondecomp.reports.label_facts import (
    label_evaluation,
    label_evaluation_facts,
    label_model_facts,
    predicted_labels,
)
from aesara_nondecomp.reports.label_sections import label_evaluation_page
from aesara_nondecomp.reports.two_models import Scored

ONE_LABEL = {"positive": "positive", "prior": "prior", "groups": "groups", "constraints": "constraint"}


def label_measure(measure: Measure | MulticlassMeasure | Averaged, options: argparse.Namespace) -> Averaged:
    """The measure of several labels that a name stands for, after a look at the options that one label a row takes.

    Parameters
    ----------
    measure : Measure, MulticlassMeasure or Averaged
        As it was read before the labels; "macro_f1" is a name of several classes too.
    options : Namespace
        Parsed options of `train`.

    Returns
    -------
    Averaged

    Raises
    ------
    UsageError
        If there is no such measure, or an option is not for several labels.
    """
    with usage_errors():
        for name, flag in ONE_LABEL.items():
            value = getattr(options, name)
            require(not value, f"--{flag} is not available for several labels: leave it out", value)
        if not isinstance(measure, MulticlassMeasure):
            return Averaged.get(measure)
        found = describe_measure(measure)
        average, _, name = found["name"].partition("_")
        needed = "several labels need a measure of two classes, such as f1, or its average: macro_f1, micro_f1"
        require(average in ("macro", "micro") and name in catalogue.names(), needed, found["name"])
        parameters = {key: value for key, value in found["parameters"].items() if value is not None}
        try:
            return Averaged(catalogue.get(name, **parameters), average)
        except TypeError as error:
            raise ValueError(f"of several labels, {found['name']!r} takes other parameters: {error}") from None


def training_confusion(model: MultilabelModel, table: LabelledTable) -> tuple[NDArray[Any], str]:
    """The confusions of the rows that a model is judged on: those held out, or if there are none, all.

    Parameters
    ----------
    model : MultilabelModel
        As `fit` returned it; on all rows it is calibrated too.
    table : LabelledTable
        The training file.

    Returns
    -------
    confusions : array, shape (L, 4)
        TP, FN, FP and TN of each label.
    rows : {"held-out", "training"}
        Which rows these are.
    """
    if model.validation_confusions is not None:
        return model.validation_confusions, "held-out"
    return model.calibrate(table.X, table.y).confusion_matrices(table.X, table.y), "training"


def training_report(
    model: MultilabelModel, confusions: NDArray[Any], rows: str, options: argparse.Namespace, table: LabelledTable
) -> tuple[dict[str, Any], list[str]]:
    """The report of training.

    Parameters
    ----------
    model : MultilabelModel
        The model.
    confusions : array, shape (L, 4)
        As from `training_confusion`.
    rows : str
        Likewise.
    options : Namespace
        Parsed options of `train`.
    table : LabelledTable
        The training file, which is not looked at.

    Returns
    -------
    facts : dict of str to object
        The figures.
    lines : list of str
        In short.
    """
    facts = {
        "model": label_model_facts(model),
        "steps": len(model.history),
        "best_step": model.best_step,
        "judged_on": f"{rows} rows",
        **label_evaluation(model, confusions),
    }
    value = facts["measures"][str(model.measure)]
    trivial = f"one prediction for all {number_text(value['trivial'])}"
    lines = [
        *label_model_lines(facts["model"]),
        f"{steps_text(model)}; {model.measure} {number_text(value['value'])} on {facts['rows']} {rows} rows "
        f"({trivial})",
        f"saved in {options.out}",
    ]
    return facts, lines


def prediction_columns(
    model: MultilabelModel, with_scores: bool
) -> tuple[list[str], Callable[[NDArray[Any]], list[NDArray[Any]]]]:
    """How predictions are written.

    Parameters
    ----------
    model : MultilabelModel
        The model.
    with_scores : bool
        Whether the scores are written too.

    Returns
    -------
    header : list of str
        Names of the columns: of 0 and 1 for each label, then of the probabilities, and of the scores.
    columns_of : callable
        Makes the columns of a block of scores.

    Raises
    ------
    ValueError
        If the model is not calibrated.
    """
    model.require_calibrations()
    kinds = ("prediction", "probability", "score") if with_scores else ("prediction", "probability")
    header = [f"{kind} {label}" for kind in kinds for label in model.labels]

    def columns_of(scores: NDArray[Any]) -> list[NDArray[Any]]:
        predicted = predicted_labels(model, scores).astype(int)
        return [*predicted.T, *model.probabilities(scores).T, *(scores.T if with_scores else ())]

    return header, columns_of


def evaluation_report(model: MultilabelModel, options: argparse.Namespace) -> Outcome:
    """Judge a model on labelled rows.

    Parameters
    ----------
    model : MultilabelModel
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

    Raises
    ------
    UsageError
        If a report by group is asked for.
    """
    with usage_errors():
        require(not options.groups, "groups are reported for one label a row: leave --groups out", options.groups)
    table, (_, matrix, scores, _) = _scored(model, options)
    facts = label_evaluation_facts(model, scores, matrix, options.draws, options.seed)
    lines = [*label_model_lines(facts["model"]), f"{facts['rows']} rows", "", *label_evaluation_lines(facts)]
    return facts, lambda: label_evaluation_page(model, table.X, matrix, scores, facts, options.seed), lines


def comparison_report(models: Sequence[MultilabelModel], names: Sequence[str], options: argparse.Namespace) -> Outcome:
    """Judge two models on the same labelled rows.

    Parameters
    ----------
    models : sequence of MultilabelModel
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
    first, second = (_scored(model, options)[1] for model in models)
    facts = label_comparison_facts(first, second, options.draws, options.seed)
    lines = two_models_lines(facts, names, label_model_lines, f"{facts['models'][0]['rows']} rows")
    return facts, lambda: label_comparison_page(names, facts), lines


def _scored(model: Any, options: argparse.Namespace) -> tuple[LabelledTable, Scored]:
    """A labelled file, and the model with its labels and scores."""
    table = read_labelled_rows(options.data, model, options.target, options.delimiter, options.decimal)
    scores, matrix = model._scored(table.X, table.y)
    return table, Scored(model, matrix, scores)
