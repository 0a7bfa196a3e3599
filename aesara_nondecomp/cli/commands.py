"""The commands that work on data: each reads files, calls the library and reports."""

from __future__ import annotations

import argparse
import hashlib
import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import measures, metrics, networks
from aesara_nondecomp._checks import positive_int, random_generator, require
from aesara_nondecomp._files import check_writable, is_stream
from aesara_nondecomp._tables import interval_text, number_text
from aesara_nondecomp.cli import reports
from aesara_nondecomp.cli.parser import FIT_OPTIONS
from aesara_nondecomp.cli.predictions import check_format, writing
from aesara_nondecomp.cli.tables import LabelledTable, label_like, read_labelled_rows, read_training_table, row_blocks
from aesara_nondecomp.data import check_lengths, decode, encode_as
from aesara_nondecomp.data.files import STANDARD_STREAM
from aesara_nondecomp.data.inputs import select_inputs
from aesara_nondecomp.data.streamed_tables import StreamedTable
from aesara_nondecomp.data.table_parts import files_of
from aesara_nondecomp.models import Model, load_model
from aesara_nondecomp.parallel import LOCAL, Communicator, agree, all_succeed, comm_world, local_slice
from aesara_nondecomp.reports.comparison import Scored, comparison_facts, comparison_page
from aesara_nondecomp.reports.facts import by_group_and_constraints, evaluation_facts, worst_value
from aesara_nondecomp.reports.page import evaluation_page
from aesara_nondecomp.training.checkpoints import Checkpoint
from aesara_nondecomp.training.early_stopping import EarlyStopping
from aesara_nondecomp.training.fit import fit
from aesara_nondecomp.training.param_checks import AUTO, NETWORK_OPTIONS, changed_options
from aesara_nondecomp.training.parameters import PARAMETERS
from aesara_nondecomp.training.recipes import with_preset
from aesara_nondecomp.training.table_network import TableNetwork


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
    comm = comm_world() if options.mpi else LOCAL
    table, positive = all_succeed(comm, lambda: _rows_to_train(options, comm))
    if comm.size > 1:
        chosen = {name: str(value) for name, value in vars(options).items() if name != "command"}
        agree(comm, {**chosen, "the training file": _digest(options.data)})
    X, y = _local_rows(table, comm)
    checkpoint = _checkpoint(options)
    model = fit(
        X,
        y,
        options.measure,
        algorithm=with_preset(options.algorithm, options.preset),
        network=_network(options),
        validation=_early_stopping(options),
        positive=positive,
        groups=table.groups,
        constraints=options.constraints,
        checkpoint=checkpoint,
        progress=False if options.quiet else None,
        comm=comm,
        seed=options.seed,
        **{name: getattr(options, name) for name in FIT_OPTIONS},
    )
    if comm.rank > 0:
        return 0  # all processes have the same model; the first one writes it
    judged_on, matrix = "held-out", model.validation_matrix
    if matrix is None:
        judged_on, matrix = "training", model.calibrate(table.X, table.y).confusion_matrix(table.X, table.y)
    if table.names is not None:
        model.encoder = replace(model.encoder, names=tuple(table.names))
    model.extra = {name: getattr(options, name) for name in ("target", "delimiter", "decimal")}
    if table.groups is not None:
        model.extra["groups"] = list(table.groups)
    model.save(options.out)
    if checkpoint and not model.interrupted:  # otherwise --resume needs it
        Path(checkpoint.path).unlink(missing_ok=True)
    _report_training(model, matrix, judged_on, table, options)
    return 0


def _load(path: str) -> Model:
    """The model of a file, if it is one of two classes."""
    model = load_model(path)
    needed = "commands take models of two classes; in Python, load_model(path).predict(X) takes this one"
    require(isinstance(model, Model), needed, type(model).__name__)
    return model


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
    out = options.out or STANDARD_STREAM
    _check_outputs(options, out)
    check_format(out)
    model = _load(options.model)
    quantifier = model.require_quantifier()
    blocks = _score_blocks(model, options)
    first, done = next(blocks), 0  # most of what can be wrong shows before a line is written
    with writing(out) as write:
        for scores in itertools.chain([first], blocks):
            labels = np.where(scores > model.threshold, model.classes[1], model.classes[0])
            write(done + 1, labels, scores, quantifier.posteriors(scores))
            done += len(scores)
    if out != STANDARD_STREAM and not options.quiet and not is_stream(out):
        print(f"{done} predictions in {out}")
    return 0


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
    positive_int("--draws", options.draws)
    random_generator(options.seed, "--seed")
    model = _load(options.model)
    X, (_, signs, scores, _), groups = _scored(model, options, options.groups)
    model.require_quantifier()
    by_group, verdicts = by_group_and_constraints(model, X, decode(signs, model.classes), groups)
    facts = evaluation_facts(model, scores, signs, options.draws, options.seed, by_group, verdicts)
    reports.write_report(options.out, facts)
    if options.html is not None:
        reports.write_text(options.html, evaluation_page(model, X, signs, scores, facts, options.seed))
    lines = [
        *reports.model_lines(facts["model"]),
        f"{facts['rows']} rows, {facts['positives']} of them positive ({facts['prior']:.4f})",
        "",
        *reports.evaluation_lines(facts, facts["model"]),
        "",
        *reports.prevalence_lines(facts["prevalence"]),
        *(line for part in (by_group, verdicts) if part is not None for line in ("", str(part))),
    ]
    _print(lines, options)
    return 0


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
    positive_int("--draws", options.draws)
    random_generator(options.seed, "--seed")
    require(options.data != STANDARD_STREAM, "compare needs a file, which each model reads", options.data)
    paths = options.model, options.other
    names = [Path(path).name for path in paths]
    names = names if names[0] != names[1] else list(paths)
    models = [_load(path) for path in paths]  # both are looked at before one is compiled
    first, second = (_scored(model, options)[1] for model in models)
    facts = comparison_facts(first, second, options.draws, options.seed)
    reports.write_report(options.out, facts)
    if options.html is not None:
        reports.write_text(options.html, comparison_page(first, second, names, facts))
    _print(reports.comparison_lines(facts, names), options)
    return 0


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
    model = _load(options.model)
    quantifier = model.require_quantifier()
    scores = np.concatenate(list(_score_blocks(model, options)))
    facts: dict[str, Any] = {
        "model": reports.model_facts(model),
        "rows": len(scores),
        "prevalence": reports.prevalences(quantifier, scores),
    }
    reports.write_report(options.out, facts)
    _print([*reports.model_lines(facts["model"]), "", *reports.prevalence_lines(facts["prevalence"])], options)
    return 0


def _scored(model: Model, options: argparse.Namespace, groups: Any = None) -> tuple[Any, Scored, Any]:
    """The inputs of a labelled file, the model with its labels and scores, and the groups of the rows."""
    table = read_labelled_rows(options.data, model, options.target, options.delimiter, options.decimal, groups)
    signs = encode_as(table.y, model.classes)
    check_lengths(table.X, signs)
    return table.X, Scored(model, signs, model.decision_function(table.X)), table.groups


def _score_blocks(model: Model, options: argparse.Namespace) -> Iterator[NDArray[Any]]:
    return model.decision_blocks(row_blocks(options.data, model, options.delimiter, options.decimal))


def _rows_to_train(options: argparse.Namespace, comm: Communicator) -> tuple[LabelledTable, Any]:
    """The training file, and the positive label, after a look at the options that need no rows."""
    _check_outputs(options, options.out, options.report)
    if options.tune_threshold and not options.validation:
        raise ValueError("--tune-threshold needs held-out rows: leave --validation out, or give it a share")
    _check_group_options(options)
    if comm.size > 1:
        require(options.data != STANDARD_STREAM, "--mpi needs a file that every process can read", options.data)
    table = read_training_table(options)
    if not isinstance(table.X, StreamedTable):
        check_lengths(table.X, table.y)
    return table, _positive(table.y, options.positive)


def _local_rows(table: LabelledTable, comm: Communicator) -> tuple[Any, NDArray[Any]]:
    """The inputs and labels that this process trains on; not copied where it is the only one."""
    if comm.size == 1:
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


def _checkpoint(options: argparse.Namespace) -> Checkpoint | None:
    """The checkpoint beside the model; none beside a pipe or a device."""
    if is_stream(options.out):
        require(not options.resume, "--resume needs a model file, beside which its checkpoint lies", options.out)
        return None
    return Checkpoint(f"{options.out}.checkpoint", resume=options.resume)


def _positive(labels: np.ndarray, text: str | None) -> Any:
    """The positive label in the coding of the file; None stands for the larger one."""
    return None if text is None else label_like(text, np.unique(labels).tolist())


def _network(options: argparse.Namespace) -> Any:
    """What makes the chosen network, with the options that were changed."""
    name = options.network
    changed = changed_options(name, {option: getattr(options, option) for option in NETWORK_OPTIONS})
    if name in (AUTO, "tabular"):
        return TableNetwork.named(name, lambda chosen, size, more: networks.make(chosen, size, **changed, **more))
    return lambda size: networks.make(name, size, **changed)


def _early_stopping(options: argparse.Namespace) -> EarlyStopping | None:
    if options.validation:
        return replace(
            options.validation,
            patience=options.patience,
            tune_threshold=True if options.tune_threshold else "auto",
            refit=options.refit,
        )
    for name, default in (("patience", PARAMETERS["patience"].default), ("refit", False)):
        value = getattr(options, name)
        needed = f"--{name} needs held-out rows: leave --validation out, or give it a share"
        require(value in (default, None), needed, value)
    return None


def _report_training(
    model: Model, matrix: metrics.ConfusionMatrix, rows: str, table: LabelledTable, options: argparse.Namespace
) -> None:
    facts = {
        "model": reports.model_facts(model),
        "steps": len(model.history),
        "best_step": model.best_step,
        "judged_on": f"{rows} rows",
        **reports.evaluation(model, matrix, draws=1000, seed=options.seed, worst=_worst_group(model, rows, table)),
    }
    reports.write_report(options.report, facts)
    value = facts["measures"][str(model.measure)]
    steps = f"{len(model.history)} steps" + (f", best after {model.best_step}" if model.best_step else "")
    interval = f"95 % interval {interval_text(value['low'], value['high'])}, one label for all {value['trivial']:.4f}"
    lines = [
        *reports.model_lines(facts["model"]),
        f"{steps}; {model.measure} {number_text(value['value'])} on {matrix.n} {rows} rows, "
        f"{matrix.TP + matrix.FN} of them positive" + ("" if math.isnan(value["low"]) else f" ({interval})"),
        f"saved in {options.out}",
    ]
    _print(lines, options)


def _worst_group(model: Model, rows: str, table: LabelledTable) -> dict[str, float] | None:
    """The value of a measure of the worst group; on rows held out, that by which the best step was chosen."""
    if not isinstance(model.measure, measures.GroupMeasure):
        return None
    if rows == "training":
        return worst_value(model.measure, model.by_group(table.X, table.y, table.groups))
    found = [each.value for each in model.evaluations if each.step == model.best_step]
    return {"value": found[0] if found else math.nan, **dict.fromkeys(("low", "high", "trivial"), math.nan)}


def _check_group_options(options: argparse.Namespace) -> None:
    users = [str(options.measure)] if isinstance(options.measure, measures.GroupMeasure) else []
    users += [str(constraint) for constraint in options.constraints if constraint.needs_groups]
    if users and not options.groups:
        raise ValueError(f"{', '.join(users)} needs --groups, columns of the table")


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


def _print(lines: list[str], options: argparse.Namespace) -> None:
    written = (getattr(options, name, None) for name in ("out", "report", "html"))
    if not options.quiet and STANDARD_STREAM not in written:
        print("\n".join(lines))
