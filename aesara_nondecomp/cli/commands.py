"""The commands that work on data: each reads files, calls the library and reports."""

from __future__ import annotations

import argparse
import hashlib
import itertools
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import measures, metrics
from aesara_nondecomp._checks import require
from aesara_nondecomp._files import check_writable, is_stream
from aesara_nondecomp._tables import interval_text, number_text
from aesara_nondecomp.cli import reports
from aesara_nondecomp.cli.parser import FIT_OPTIONS
from aesara_nondecomp.cli.predictions import check_format, writing
from aesara_nondecomp.cli.program import Stop
from aesara_nondecomp.cli.reports import choice_lines
from aesara_nondecomp.cli.tables import (
    LabelledTable,
    in_blocks,
    label_like,
    labelled_blocks,
    read_labelled_rows,
    read_training_table,
    row_blocks,
)
from aesara_nondecomp.cli.usage import check_training, network_of, usage_errors
from aesara_nondecomp.data import check_lengths, count_labels, decode, encode_as
from aesara_nondecomp.data.files import STANDARD_STREAM
from aesara_nondecomp.data.inputs import select_inputs
from aesara_nondecomp.data.streamed_tables import StreamedTable
from aesara_nondecomp.data.table_parts import files_of
from aesara_nondecomp.data.table_survey import Survey
from aesara_nondecomp.models import Model, load_model
from aesara_nondecomp.models.onnx import export_onnx
from aesara_nondecomp.parallel import LOCAL, Communicator, agree, all_succeed, comm_world, local_slice
from aesara_nondecomp.reports.comparison import Scored, comparison_facts, comparison_page
from aesara_nondecomp.reports.facts import by_group_and_constraints, evaluation_facts, worst_value
from aesara_nondecomp.reports.page import evaluation_page
from aesara_nondecomp.training.checkpoints import Checkpoint
from aesara_nondecomp.training.fit import fit
from aesara_nondecomp.training.progress import progress_of
from aesara_nondecomp.training.streamed_rows import learned_together

NOT_TYPED = ("command", "parser", "stop")  # of the options: what the user did not type

Outcome = tuple[dict[str, Any], Callable[[], str], list[str]]  # figures, what makes the page of them, lines of text


def train(options: argparse.Namespace) -> int:
    """Train and save a model, and report its values on the rows held out, or if none are, on the training rows.

    Parameters
    ----------
    options : Namespace
        Parsed options of the command.

    Returns
    -------
    int
        Exit status, 0.
    """
    chosen = check_training(options)
    checkpoint, stop = chosen["checkpoint"], options.stop
    stop.advice = lambda: _how_to_go_on(checkpoint)
    comm = comm_world() if options.mpi else LOCAL
    table = all_succeed(comm, lambda: _rows_to_train(options, comm))
    if isinstance(table.X, Survey):
        streamed = learned_together(table.X, comm)
        table = LabelledTable(streamed, streamed.classes)
    positive = all_succeed(comm, lambda: _positive(table.y, options.positive))
    if comm.size > 1:
        typed = {name: str(value) for name, value in vars(options).items() if name not in NOT_TYPED}
        agree(comm, {**typed, "the training file": _digest(options.data)})
    X, y = _local_rows(table, comm)
    measure, several = options.measure, count_labels(table.y) > 2 or not isinstance(options.measure, measures.Measure)
    if several:
        measure = _of_classes().measure_for(measure, table.y)
        several = not isinstance(measure, measures.Measure)  # otherwise `fit` says what to do
    if several:
        chosen.update(algorithm=options.algorithm, network=network_of(options, count_labels(table.y)))
    start = time.perf_counter()
    model = fit(
        X,
        y,
        measure,
        positive=positive,
        groups=table.groups,
        constraints=options.constraints,
        on_step=lambda step: _stops(stop),
        progress=not options.quiet,
        comm=comm,
        seed=options.seed,
        **chosen,
        **{name: getattr(options, name) for name in FIT_OPTIONS},
    )
    stop.waits, seconds = False, time.perf_counter() - start
    if comm.rank > 0:
        return 0  # all processes have the same model; the first one writes it
    judged_on, matrix = "held-out", model.validation_matrix
    if matrix is None:
        judged_on, matrix = "training", model.calibrate(table.X, table.y).confusion_matrix(table.X, table.y)
    if table.names is not None:
        model.encoder = replace(model.encoder, names=tuple(table.names))
    model.extra = {name: getattr(options, name) for name in ("target", "delimiter", "decimal")}
    for name, value in (("groups", table.groups and list(table.groups)), ("text", table.text)):
        if value is not None:
            model.extra[name] = value
    model.save(_path_of(options.out))
    if checkpoint and not model.interrupted:  # otherwise --resume needs it
        Path(checkpoint.path).unlink(missing_ok=True)
    _report_training(model, matrix, judged_on, table, options)
    if options.verbose:
        print("\n".join(choice_lines(model, table.y.size, seconds)), file=sys.stderr)
    if model.interrupted:
        stop.advice = lambda: f"The model so far is in {options.out}. {_how_to_go_on(checkpoint)}"
        raise KeyboardInterrupt
    return 0


def _stops(stop: Stop) -> bool:
    """Whether training stops after a step; from the first one on, a signal waits for the step in hand to be made."""
    stop.waits = True
    return stop.received is not None


def _how_to_go_on(checkpoint: Checkpoint | None) -> str:
    if checkpoint is None:
        return "There is no checkpoint, as --out is no file: run the command again."
    if not Path(checkpoint.path).exists():
        return "No checkpoint was written yet: run the command again."
    return f"The checkpoint is {checkpoint.path}: run the command again with --resume to go on."


def predict(options: argparse.Namespace) -> int:
    """Write the prediction, score and probability of each row, one line per row.

    Parameters
    ----------
    options : Namespace
        Parsed options of the command.

    Returns
    -------
    int
        Exit status, 0.
    """
    out = STANDARD_STREAM if options.out is None else options.out
    _check_outputs(options, out)
    check_format(out)
    model = load_model(options.model)
    several = not isinstance(model, Model)
    header, columns_of = (
        _of_classes().prediction_columns(model, options.scores) if several else _prediction_columns(model)
    )  # fmt: skip
    blocks = _score_blocks(model, options, shown=out != STANDARD_STREAM or not sys.stdout.isatty())
    first, done = next(blocks), 0  # most of what can be wrong shows before a line is written
    with writing(out, header) as write:
        for scores in itertools.chain([first], blocks):
            write(done + 1, columns_of(scores))
            done += len(scores)
    if out != STANDARD_STREAM and not options.quiet and not is_stream(out):
        print(f"{done} predictions in {out}")
    return 0


def _prediction_columns(model: Model) -> tuple[list[str], Callable[[NDArray[Any]], list[NDArray[Any]]]]:
    """The names of the columns, and what makes the columns of a block of scores."""
    quantifier = model.require_quantifier()

    def columns_of(scores: NDArray[Any]) -> list[NDArray[Any]]:
        labels = np.where(scores > model.threshold, model.classes[1], model.classes[0])
        return [labels, scores, quantifier.posteriors(scores)]

    return ["prediction", "score", "probability"], columns_of


def evaluate(options: argparse.Namespace) -> int:
    """Report the confusion matrix, all measures with intervals, and the true and the estimated prevalence.

    Parameters
    ----------
    options : Namespace
        Parsed options of the command.

    Returns
    -------
    int
        Exit status, 0.
    """
    _check_outputs(options, options.out, options.html)
    model = load_model(options.model)
    _write(options, *(_of_classes().evaluated if not isinstance(model, Model) else _evaluated)(model, options))
    return 0


def _evaluated(model: Model, options: argparse.Namespace) -> Outcome:
    """The figures, what makes the page of them, and the lines of text."""
    if options.html or options.groups or model.extra.get("groups") or model.constrained_by:
        X, (_, signs, scores, _), groups = _scored(model, options, options.groups)
    else:
        X, (_, signs, scores, _), groups = None, _scored_by_blocks(model, options), None
    model.require_quantifier()
    by_group, verdicts = by_group_and_constraints(model, X, decode(signs, model.classes), groups)
    facts = evaluation_facts(model, scores, signs, options.draws, options.seed, by_group, verdicts)
    lines = [
        *reports.model_lines(facts["model"]),
        f"{facts['rows']} rows, {facts['positives']} of them positive ({facts['prior']:.4f})",
        "",
        *reports.evaluation_lines(facts, facts["model"]),
        "",
        *reports.prevalence_lines(facts["prevalence"]),
        *(line for part in (by_group, verdicts) if part is not None for line in ("", str(part))),
    ]
    return facts, lambda: evaluation_page(model, X, signs, scores, facts, options.seed), lines


def compare(options: argparse.Namespace) -> int:
    """Report two models on the same labelled rows, and their differences with intervals of paired resamples.

    Parameters
    ----------
    options : Namespace
        Parsed options of the command.

    Returns
    -------
    int
        Exit status, 0.
    """
    _check_outputs(options, options.out, options.html)
    with usage_errors():
        require(options.data != STANDARD_STREAM, "compare needs a file, which each model reads", options.data)
    paths = options.model, options.other
    names = [Path(path).name for path in paths]
    names = names if names[0] != names[1] else list(paths)
    models = [load_model(path) for path in paths]  # both are looked at before one is compiled
    several = [not isinstance(model, Model) for model in models]
    needed = "two models of the same labels, both of two classes or both of several"
    require(several[0] == several[1], needed, [tuple(model.classes) for model in models])
    _write(options, *(_of_classes().compared if several[0] else _compared)(models, names, options))
    return 0


def _compared(models: Sequence[Model], names: Sequence[str], options: argparse.Namespace) -> Outcome:
    """The figures, what makes the page of them, and the lines of text."""
    first, second = (_scored_by_blocks(model, options) for model in models)
    facts = comparison_facts(first, second, options.draws, options.seed)
    return facts, lambda: comparison_page(first, second, names, facts), reports.comparison_lines(facts, names)


def quantify(options: argparse.Namespace) -> int:
    """Report the estimated prevalence.

    Parameters
    ----------
    options : Namespace
        Parsed options of the command.

    Returns
    -------
    int
        Exit status, 0.
    """
    _check_outputs(options, options.out)
    model = load_model(options.model)
    quantifier = model.require_quantifier()
    scores = np.concatenate(list(_score_blocks(model, options)))
    if not isinstance(model, Model):
        facts, lines = _of_classes().quantified(model, scores)
    else:
        estimates = reports.prevalences(quantifier, scores)
        facts = {"model": reports.model_facts(model), "rows": len(scores), "prevalence": estimates}
        lines = [*reports.model_lines(facts["model"]), "", *reports.prevalence_lines(estimates)]
    reports.write_report(options.out, facts)
    _print(lines, options)
    return 0


def write_onnx(options: argparse.Namespace) -> int:
    """Write a model as an ONNX graph, and name the columns that it takes.

    Parameters
    ----------
    options : Namespace
        Parsed options of the command.

    Returns
    -------
    int
        Exit status, 0.
    """
    _check_outputs(options, options.out)
    model = load_model(options.model)
    export_onnx(model, _path_of(options.out))
    names = model.encoder.feature_names or ()
    columns = f": {', '.join(names)}" if names else ""
    _print([f"saved in {options.out}; X is of {model.network_description['n_features']} columns{columns}"], options)
    return 0


def _path_of(out: str) -> str:
    """A path for bytes to write, also of standard output."""
    return "/dev/stdout" if out == STANDARD_STREAM else out


def _scored_by_blocks(model: Model, options: argparse.Namespace) -> Scored:
    """A model with the labels and scores of a file, of which a block is in memory at a time."""
    signs: list[NDArray[Any]] = []

    def inputs() -> Iterator[Any]:
        for block in labelled_blocks(options.data, model, options.target, options.delimiter, options.decimal):
            signs.append(encode_as(block.y, model.classes))
            check_lengths(block.X, signs[-1])
            yield block.X

    with progress_of(None, 0, not options.quiet, "row") as advance:
        scores = np.concatenate(list(_counted(model.decision_blocks(inputs()), advance)))
    return Scored(model, np.concatenate(signs), scores)


def _scored(model: Model, options: argparse.Namespace, groups: Any) -> tuple[Any, Scored, Any]:
    """The inputs of a labelled file, the model with its labels and scores, and the groups of the rows."""
    table = read_labelled_rows(options.data, model, options.target, options.delimiter, options.decimal, groups)
    signs = encode_as(table.y, model.classes)
    check_lengths(table.X, signs)
    with progress_of(signs.size, 0, not options.quiet, "row") as advance:
        scores = np.concatenate(list(_counted(model.decision_blocks(in_blocks(table.X)), advance)))
    return table.X, Scored(model, signs, scores), table.groups


def _score_blocks(model: Any, options: argparse.Namespace, shown: bool = True) -> Iterator[NDArray[Any]]:
    """Scores of the rows of a file, block by block, with progress unless it would mix with what is written."""
    with progress_of(None, 0, shown and not options.quiet, "row") as advance:
        rows = row_blocks(options.data, model, options.delimiter, options.decimal)
        yield from _counted(model.score_blocks(rows), advance)


def _counted(blocks: Iterator[NDArray[Any]], advance: Callable[[int], None]) -> Iterator[NDArray[Any]]:
    for scores in blocks:
        advance(len(scores))
        yield scores


def _rows_to_train(options: argparse.Namespace, comm: Communicator) -> LabelledTable:
    """The training file, after a look at the files to write."""
    _check_outputs(options, options.out, options.report)
    table = read_training_table(options, comm)
    if not isinstance(table.X, (StreamedTable, Survey)):
        check_lengths(table.X, table.y)
    return table


def _local_rows(table: LabelledTable, comm: Communicator) -> tuple[Any, NDArray[Any]]:
    """The inputs and labels that this process trains on; not copied where it is the only one, or streams them."""
    if comm.size == 1 or isinstance(table.X, StreamedTable):
        return table.X, table.y
    rows = np.arange(table.y.size)[local_slice(comm, table.y.size)]
    return select_inputs(table.X, rows), table.y[rows]


def _digest(path: str) -> str:
    """Digest of the bytes of the files, of which every process takes its part of the rows."""
    digest = hashlib.blake2b(digest_size=16)
    for part in files_of(path):
        with open(part, "rb") as file:
            while block := file.read(2**20):
                digest.update(block)
    return digest.hexdigest()


def _positive(labels: np.ndarray, text: str | None) -> Any:
    """The positive label in the coding of the file; None stands for the larger one."""
    return None if text is None else label_like(text, np.unique(labels).tolist())


def _report_training(model: Any, matrix: Any, rows: str, table: LabelledTable, options: argparse.Namespace) -> None:
    report = _of_classes().trained if not isinstance(model, Model) else partial(_trained, table=table)
    facts, lines = report(model, matrix, rows, options)
    reports.write_report(options.report, facts)
    _print(lines, options)


def _trained(
    model: Model, matrix: metrics.ConfusionMatrix, rows: str, options: argparse.Namespace, table: LabelledTable
) -> tuple[dict[str, Any], list[str]]:
    """The figures of training, and the lines of text."""
    facts = {
        "model": reports.model_facts(model),
        "steps": len(model.history),
        "best_step": model.best_step,
        "judged_on": f"{rows} rows",
        **reports.evaluation(model, matrix, draws=1000, seed=options.seed, worst=_worst_group(model, rows, table)),
    }
    value = facts["measures"][str(model.measure)]
    steps = f"{len(model.history)} steps" + (f", best after {model.best_step}" if model.best_step else "")
    interval = f"95 % interval {interval_text(value['low'], value['high'])}, one label for all {value['trivial']:.4f}"
    lines = [
        *reports.model_lines(facts["model"]),
        f"{steps}; {model.measure} {number_text(value['value'])} on {matrix.n} {rows} rows, "
        f"{matrix.TP + matrix.FN} of them positive" + ("" if math.isnan(value["low"]) else f" ({interval})"),
        f"saved in {options.out}",
    ]
    return facts, lines


def _worst_group(model: Model, rows: str, table: LabelledTable) -> dict[str, float] | None:
    """The value of a measure of the worst group; on rows held out, that by which the best step was chosen."""
    if not isinstance(model.measure, measures.GroupMeasure):
        return None
    if rows == "training":
        return worst_value(model.measure, model.by_group(table.X, table.y, table.groups))
    found = [each.value for each in model.evaluations if each.step == model.best_step]
    return {"value": found[0] if found else math.nan, **dict.fromkeys(("low", "high", "trivial"), math.nan)}


def _check_outputs(options: argparse.Namespace, *outputs: str | None) -> None:
    """Refuse, before hours of work, a file to write that cannot be written or is one of the files to read."""
    given = [path for name in ("data", "model", "other") if (path := getattr(options, name, None))]
    read = [Path(part).resolve() for path in given for part in files_of(path)]
    written = [Path(path) for path in outputs if path not in (None, STANDARD_STREAM)]
    for path in written:
        check_writable(path)
        require(path.resolve() not in read, "a file to write must be another one than those to read", str(path))
    files = [path.resolve() for path in written if not is_stream(path)]
    once = len(set(files)) == len(files) and outputs.count(STANDARD_STREAM) < 2
    require(once, "files to write must differ", outputs)


def _of_classes() -> Any:
    """What the commands do with labels of several classes; its modules take long to load."""
    from aesara_nondecomp.cli import class_commands

    return class_commands


def _write(options: argparse.Namespace, facts: dict[str, Any], page: Callable[[], str], lines: list[str]) -> None:
    """Write the figures as JSON and as a page where they are asked for, and print the lines."""
    reports.write_report(options.out, facts)
    if options.html is not None:
        reports.write_text(options.html, page())
    _print(lines, options)


def _print(lines: list[str], options: argparse.Namespace) -> None:
    written = (getattr(options, name, None) for name in ("out", "report", "html"))
    if not options.quiet and STANDARD_STREAM not in written:
        print("\n".join(lines))
