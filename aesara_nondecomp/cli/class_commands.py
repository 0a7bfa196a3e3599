"""What the commands do with labels of several classes."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import NDArray

from aesara_nondecomp._tables import interval_text, number_text
from aesara_nondecomp.cli.class_report_lines import (
    class_comparison_lines,
    class_evaluation_lines,
    class_model_lines,
    class_prevalence_lines,
)
from aesara_nondecomp.cli.model_rows import read_labelled_rows
from aesara_nondecomp.cli.outputs import Outcome
from aesara_nondecomp.cli.report_lines import steps_text, worst_of_training
from aesara_nondecomp.cli.report_lines import (
    training_confusion as training_confusion,
)  # for `kinds`
from aesara_nondecomp.cli.tables import LabelledTable
from aesara_nondecomp.data import count_labels
from aesara_nondecomp.measures import Measure, multiclass
from aesara_nondecomp.measures.multiclass import MulticlassMeasure
from aesara_nondecomp.metrics.quantification import METHODS
from aesara_nondecomp.models import ClassModel
from aesara_nondecomp.models.archive import describe_measure
from aesara_nondecomp.reports.class_comparison import class_comparison_facts, class_comparison_page
from aesara_nondecomp.reports.class_facts import (
    class_evaluation,
    class_evaluation_facts,
    class_model_facts,
    predicted_classes,
)
from aesara_nondecomp.reports.class_sections import class_evaluation_page
from aesara_nondecomp.reports.facts import by_group_and_constraints
from aesara_nondecomp.reports.two_models import Scored


def measure_for(measure: Measure | MulticlassMeasure, y: NDArray[Any]) -> Measure | MulticlassMeasure:
    """The measure of several classes that a name stands for where labels are of several.

    Parameters
    ----------
    measure : Measure or MulticlassMeasure
        As it was read before the labels.
    y : array, shape (n,)
        The labels.

    Returns
    -------
    Measure or MulticlassMeasure
        `measure` itself where there are two labels, or no measure of that name for more: `fit` says so.

    Raises
    ------
    ValueError
        If there is such a measure, but not with such parameters.
    """
    described = describe_measure(measure)
    known = described["name"] in multiclass.catalogue.known_names()
    if isinstance(measure, MulticlassMeasure) or not known or count_labels(y) <= 2:
        return measure
    try:
        return multiclass.get(described["name"], **described["parameters"])
    except TypeError as error:
        raise ValueError(f"of several classes, {described['name']!r} takes other parameters: {error}") from None


def training_report(
    model: ClassModel, matrix: NDArray[Any], rows: str, options: argparse.Namespace, table: LabelledTable
) -> tuple[dict[str, Any], list[str]]:
    """The report of training.

    Parameters
    ----------
    model : ClassModel
        The model.
    matrix : array, shape (K, K)
        Confusion matrix of the rows that it is judged on.
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
        "model": class_model_facts(model),
        "steps": len(model.history),
        "best_step": model.best_step,
        "judged_on": f"{rows} rows",
        **class_evaluation(model, matrix, draws=1000, seed=options.seed, worst=worst_of_training(model, rows, table)),
    }
    value = facts["measures"][str(model.measure)]
    interval = f"95 % interval {interval_text(value['low'], value['high'])}, one class for all {value['trivial']:.4f}"
    lines = [
        *class_model_lines(facts["model"]),
        f"{steps_text(model)}; {model.measure} {number_text(value['value'])} on {facts['rows']} {rows} rows"
        + ("" if math.isnan(value["low"]) else f" ({interval})"),
        f"saved in {options.out}",
    ]
    return facts, lines


def prediction_columns(
    model: ClassModel, with_scores: bool
) -> tuple[list[str], Callable[[NDArray[Any]], list[NDArray[Any]]]]:
    """How predictions are written.

    Parameters
    ----------
    model : ClassModel
        The model.
    with_scores : bool
        Whether the network's scores are written too.

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
    calibration = model.require_calibration()
    kinds = ("probability", "score") if with_scores else ("probability",)
    header = ["prediction", *(f"{kind} {label}" for kind in kinds for label in model.classes)]

    def columns_of(scores: NDArray[Any]) -> list[NDArray[Any]]:
        labels = model.classes_[predicted_classes(model, scores)]
        return [labels, *calibration.probabilities(scores).T, *(scores.T if with_scores else ())]

    return header, columns_of


def evaluation_report(model: ClassModel, options: argparse.Namespace) -> Outcome:
    """Judge a model on labelled rows.

    Parameters
    ----------
    model : ClassModel
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
    model.require_calibration()
    table, scored = _scored(model, options, options.groups)
    by_group, verdicts = by_group_and_constraints(model, table.X, table.y, table.groups)
    facts = class_evaluation_facts(
        model, scored.scores, scored.truth, options.draws, options.seed, (), by_group, verdicts
    )
    lines = [
        *class_model_lines(facts["model"]),
        f"{facts['rows']} rows",
        "",
        *class_evaluation_lines(facts),
        *(line for part in (by_group, verdicts) if part is not None for line in ("", str(part))),
    ]
    return facts, lambda: class_evaluation_page(
        model, table.X, scored.truth, scored.scores, facts, options.seed
    ), lines  # fmt: skip


def prevalence_report(model: ClassModel, scores: NDArray[Any]) -> tuple[dict[str, Any], list[str]]:
    """Estimate the prevalences of the classes.

    Parameters
    ----------
    model : ClassModel
        The model.
    scores : array, shape (n, k, K)
        Of each of its networks.

    Returns
    -------
    facts : dict of str to object
        The figures.
    lines : list of str
        In short.
    """
    shares = {method: model.prevalence_of_scores(scores, method).tolist() for method in METHODS}
    facts: dict[str, Any] = {"model": class_model_facts(model), "rows": len(scores), "prevalence": shares}
    return facts, [*class_model_lines(facts["model"]), "", *class_prevalence_lines(facts)]


def comparison_report(models: Sequence[ClassModel], names: Sequence[str], options: argparse.Namespace) -> Outcome:
    """Judge two models on the same labelled rows.

    Parameters
    ----------
    models : sequence of ClassModel
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
    facts = class_comparison_facts(first, second, options.draws, options.seed)
    return facts, lambda: class_comparison_page(names, facts), class_comparison_lines(facts, names)


def _scored(model: Any, options: argparse.Namespace, groups: Any = None) -> tuple[LabelledTable, Scored]:
    """A labelled file, and the model with its labels and scores."""
    table = read_labelled_rows(options.data, model, options.target, options.delimiter, options.decimal, groups)
    rows, codes = model._labelled(table.X, table.y)
    return table, Scored(model, codes, model._scores(rows))
