"""The command `train`: a file of rows to a model, and a report of the rows that it is judged on."""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from aesara_nondecomp import measures
from aesara_nondecomp._checks import require
from aesara_nondecomp.cli import outputs, report_lines
from aesara_nondecomp.cli.kinds import commands_for
from aesara_nondecomp.cli.model_rows import label_like
from aesara_nondecomp.cli.parser import FIT_OPTIONS
from aesara_nondecomp.cli.program import Stop
from aesara_nondecomp.cli.report_lines import choice_lines
from aesara_nondecomp.cli.tables import LabelledTable
from aesara_nondecomp.cli.training_tables import read_training_table
from aesara_nondecomp.cli.usage import check_training, check_use_of_groups, network_of
from aesara_nondecomp.data import check_lengths, count_labels
from aesara_nondecomp.data.inputs import count_rows, select_inputs
from aesara_nondecomp.data.label_sets import Indicators
from aesara_nondecomp.data.streamed_tables import StreamedTable
from aesara_nondecomp.data.table_parts import files_of
from aesara_nondecomp.data.table_survey import Survey
from aesara_nondecomp.parallel import LOCAL, Communicator, agree, all_succeed, comm_world, local_slice
from aesara_nondecomp.training.checkpoints import Checkpoint
from aesara_nondecomp.training.fit import fit
from aesara_nondecomp.training.streamed_rows import learned_together

NOT_TYPED = ("command", "parser", "stop")  # of the options: what the user did not type


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
    table = _table_of_all(options, comm)
    start = time.perf_counter()
    model = _fitted(table, options, chosen, comm)
    stop.waits, seconds = False, time.perf_counter() - start
    n_rows = _rows_of_all(table, comm)
    if comm.rank > 0:
        return 0  # all processes have the same model; the first one writes it
    commands = commands_for(model)
    confusion = commands.training_confusion(model, table)
    _save(model, table, options)
    if checkpoint and not model.interrupted:  # otherwise --resume needs it
        Path(checkpoint.path).unlink(missing_ok=True)
    if confusion is not None:
        facts, lines = commands.training_report(model, *confusion, options, table)
        report_lines.write_report(options.report, facts)
        outputs.print_lines(lines, options)
        if options.verbose:
            print("\n".join(choice_lines(model, facts, n_rows, seconds)), file=sys.stderr)
    if model.interrupted:
        stop.advice = lambda: f"The model so far is in {options.out}. {_how_to_go_on(checkpoint)}"
        raise KeyboardInterrupt
    return 0


def _table_of_all(options: argparse.Namespace, comm: Communicator) -> LabelledTable:
    """The training file, or the part of a streamed table that is this process's, with the encoder of all."""
    table = all_succeed(comm, lambda: _rows_to_train(options, comm))
    if not isinstance(table.X, Survey):
        return table
    streamed = learned_together(table.X, comm)
    return LabelledTable(streamed, streamed.classes)


def _rows_of_all(table: LabelledTable, comm: Communicator) -> int:
    """How many rows all processes train on: each reads the whole file, unless it streams files of its own."""
    counts = comm.allgather(count_rows(table.X))
    return sum(counts) if isinstance(table.X, StreamedTable) else counts[0]


def _fitted(table: LabelledTable, options: argparse.Namespace, chosen: dict[str, Any], comm: Communicator) -> Any:
    """The model, after a look at what the labels and the processes need."""
    positive = all_succeed(comm, lambda: _positive(table.y, options.positive))
    if comm.size > 1:
        typed = {name: str(value) for name, value in vars(options).items() if name not in NOT_TYPED}
        agree(comm, {**typed, "the training file": _digest(options.data)})
    X, y = _local_rows(table, comm)
    measure = _of_the_labels(options, table, chosen)
    return fit(
        X,
        y,
        measure,
        positive=positive,
        groups=table.groups,
        constraints=options.constraints,
        on_step=lambda step: _stops(options.stop),
        progress=not options.quiet,
        comm=comm,
        seed=options.seed,
        **chosen,
        **{name: getattr(options, name) for name in FIT_OPTIONS},
    )


def _of_the_labels(options: argparse.Namespace, table: LabelledTable, chosen: dict[str, Any]) -> Any:
    """The measure that is meant for the labels; of several classes, algorithm and network are changed to suit."""
    measure = options.measure
    if options.preset != "default":
        two = "--preset applies to two classes only: name an --algorithm"
        require(not isinstance(table.y, Indicators) and count_labels(table.y) <= 2, two, options.preset)
    if isinstance(table.y, Indicators):
        from aesara_nondecomp.cli.label_commands import label_measure  # takes long to load

        chosen.update(algorithm=options.algorithm, network=network_of(options, len(table.y.labels)))
        return label_measure(measure, options)
    of_labels = isinstance(measure, measures.Averaged)
    if of_labels and str(measure) in measures.multiclass.names():
        measures.multiclass.get(str(measure))  # says what it needs
    needed = f"{measure} is a measure of several labels, whose columns --target names: --target a,b,c"
    require(not of_labels, needed, options.target)
    several = count_labels(table.y) > 2
    if several or not isinstance(measure, measures.Measure):
        from aesara_nondecomp.cli.class_commands import measure_for  # takes long to load

        measure = measure_for(measure, table.y)
    of_two = isinstance(measure, measures.Measure)
    if not (several and of_two):  # otherwise `fit` says what to do
        check_use_of_groups(options, measure, table.y)
    if not of_two:
        chosen.update(algorithm=options.algorithm, network=network_of(options, count_labels(table.y)))
    return measure


def _save(model: Any, table: LabelledTable, options: argparse.Namespace) -> None:
    """Write the model, with what it takes to read other files as the training file was read."""
    if table.names is not None:
        model.encoder = replace(model.encoder, names=tuple(table.names))
    model.extra = {name: getattr(options, name) for name in ("target", "delimiter", "decimal")}
    for name, value in (("groups", table.groups and list(table.groups)), ("text", table.text)):
        if value is not None:
            model.extra[name] = value
    model.save(outputs.path_of(options.out))


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


def _rows_to_train(options: argparse.Namespace, comm: Communicator) -> LabelledTable:
    """The training file, after a look at the files to write."""
    outputs.check_outputs(options, options.out, options.report)
    table = read_training_table(options, comm)
    if not isinstance(table.X, (StreamedTable, Survey)):
        check_lengths(table.X, table.y.matrix if isinstance(table.y, Indicators) else table.y)
    return table


def _local_rows(table: LabelledTable, comm: Communicator) -> tuple[Any, Any]:
    """The inputs and labels that this process trains on; not copied where it is the only one, or streams them."""
    if comm.size == 1 or isinstance(table.X, StreamedTable):
        return table.X, table.y
    n_rows = count_rows(table.X)
    rows = np.arange(n_rows)[local_slice(comm, n_rows)]
    return select_inputs(table.X, rows), table.y.rows(rows) if isinstance(table.y, Indicators) else table.y[rows]


def _digest(path: str) -> str:
    """Digest of the bytes of the files, of which every process takes its part of the rows."""
    digest = hashlib.blake2b(digest_size=16)
    for part in files_of(path):
        with open(part, "rb") as file:
            while block := file.read(2**20):
                digest.update(block)
    return digest.hexdigest()


def _positive(labels: Any, text: str | None) -> Any:
    """The positive label in the coding of the file; None stands for the larger one, and for none of several labels."""
    return None if text is None or isinstance(labels, Indicators) else label_like(text, np.unique(labels).tolist())
