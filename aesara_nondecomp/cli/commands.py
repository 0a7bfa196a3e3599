"""The commands that work on data: each reads, calls the library, and reports."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from aesara_nondecomp import metrics
from aesara_nondecomp._checks import positive_int, require
from aesara_nondecomp.cli import reports
from aesara_nondecomp.cli.tables import TrainingTable, label_like, read_rows, read_signs, read_training_table
from aesara_nondecomp.data import check_features, check_lengths, encode_labels, stratified_split
from aesara_nondecomp.data.tabular import TableEncoder
from aesara_nondecomp.metrics.quantification import Quantifier
from aesara_nondecomp.models.model import Model, load_model
from aesara_nondecomp.parallel import comm_world, local_slice
from aesara_nondecomp.training.fit import fit


class _Parts(NamedTuple):
    X: Any
    y: np.ndarray
    held: tuple[Any, np.ndarray] | None
    names: list[str] | None
    preparation: TableEncoder | None


def train(options: argparse.Namespace) -> int:
    """Train, save, and report on the rows held out (without any: on the training rows)."""
    _check_outputs(options, options.out, options.report)
    if options.tune_threshold and not options.validation:
        raise ValueError("--tune-threshold needs held-out rows: give --validation a share above 0")
    table = read_training_table(options)
    positive = _positive(table.labels, options.positive)
    parts = _parts(table, positive, options)
    comm = comm_world() if options.mpi else None
    own = local_slice(comm, len(parts.y))
    checkpoint = f"{options.out}.checkpoint"
    model = fit(
        parts.X[own],
        parts.y[own],
        options.measure,
        algorithm=options.algorithm,
        preset=options.preset,
        hidden=options.hidden,
        steps=options.steps,
        batch_size=min(options.batch_size, len(parts.y)),
        learning_rate=options.learning_rate,
        positive=positive,
        feature_names=parts.names,
        validation=_own_part(parts.held, comm),
        patience=options.patience,
        checkpoint=checkpoint,
        resume=options.resume,
        progress=False if options.quiet else None,
        comm=comm,
        backend=options.backend,
        seed=options.seed,
    )
    if comm is not None and comm.rank > 0:
        return 0  # the model is the same in all processes; the first one writes it
    X, y = parts.held or (parts.X, parts.y)
    if options.tune_threshold:
        model.tune_threshold(X, y)
    signs = encode_labels(y, positive).signs
    quantifier = Quantifier.fit(model.decision_function(X), signs, model.threshold)
    model.extra = {
        "quantifier": quantifier.as_dict(),
        "target": options.target,
        "preparation": parts.preparation.as_dict() if parts.preparation else None,
    }
    model.save(options.out)
    if _is_complete(model, options):  # otherwise --resume goes on from it
        Path(checkpoint).unlink(missing_ok=True)
    table_of_rows = metrics.confusion_at_threshold(model.decision_function(X), signs, model.threshold)
    _report_training(model, table_of_rows, "held-out" if parts.held else "training", options)
    return 0


def predict(options: argparse.Namespace) -> int:
    """Write one line per row."""
    _check_outputs(options, options.out)
    model = load_model(options.model)
    scores = model.decision_function(read_rows(options.data, model))
    labels = np.where(scores > model.threshold, model.classes[1], model.classes[0])
    probabilities = _quantifier(model).posteriors(scores)
    with _output(options.out) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("row", "prediction", "score", "probability"))
        for row, values in enumerate(zip(labels.tolist(), scores.tolist(), probabilities.tolist()), start=1):
            writer.writerow((row, values[0], f"{values[1]:.6g}", f"{values[2]:.6g}"))
    if options.out and not options.quiet:
        print(f"{len(scores)} predictions in {options.out}")
    return 0


def evaluate(options: argparse.Namespace) -> int:
    """Confusion table, all measures with intervals, and the estimated shares of positives beside the true one."""
    _check_outputs(options, options.out)
    positive_int("--draws", options.draws)
    model = load_model(options.model)
    X, signs = read_rows(options.data, model), read_signs(options.data, options.target, model)
    check_lengths(X, signs)
    scores = model.decision_function(X)
    table = metrics.confusion_at_threshold(scores, signs, model.threshold)
    facts = {
        "model": reports.model_facts(model),
        **reports.evaluation(model, table, options.draws, options.seed),
        "prevalence": reports.prevalences(_quantifier(model), scores),
    }
    reports.write_report(options.out, facts)
    lines = [
        *reports.model_lines(facts["model"]),
        f"{table.n} rows, {table.TP + table.FN} of them positive ({table.prior:.4f})",
        "",
        *reports.evaluation_lines(facts, facts["model"]),
        "",
        *reports.prevalence_lines(facts["prevalence"]),
    ]
    _print(lines, options)
    return 0


def quantify(options: argparse.Namespace) -> int:
    """The estimated shares of positives."""
    _check_outputs(options, options.out)
    model = load_model(options.model)
    scores = model.decision_function(read_rows(options.data, model))
    facts: dict[str, Any] = {
        "model": reports.model_facts(model),
        "rows": len(scores),
        "prevalence": reports.prevalences(_quantifier(model), scores),
    }
    reports.write_report(options.out, facts)
    _print([*reports.model_lines(facts["model"]), "", *reports.prevalence_lines(facts["prevalence"])], options)
    return 0


def _positive(labels: np.ndarray, text: str | None) -> Any:
    """The positive label in the coding of the file; None for the larger one."""
    return None if text is None else label_like(text, np.unique(labels).tolist())


def _parts(table: TrainingTable, positive: Any, options: argparse.Namespace) -> _Parts:
    """Training and held-out rows; how a table's columns are made numbers is learned from the former."""
    signs = encode_labels(table.labels, positive).signs
    require(0 <= options.validation < 1, "--validation must lie in [0, 1)", options.validation)
    rows = np.arange(len(signs))
    train, held = stratified_split(signs, options.validation, options.seed) if options.validation else (rows, None)
    preparation, names = None, list(table.names) if table.names else None
    X = table.X if table.columns is not None else check_features(table.X)
    if table.columns is not None:
        cells = {name: np.array(column, dtype=object) for name, column in table.columns.items()}
        preparation = TableEncoder.fit({name: c[train].tolist() for name, c in cells.items()}, options.categorical)
        X, names = preparation.transform(table.columns), list(preparation.feature_names)
    check_lengths(X, signs)
    part = None if held is None else (X[held], table.labels[held])
    return _Parts(X[train], table.labels[train], part, names, preparation)


def _own_part(held, comm):
    """This process's share of the rows held out, if there are any."""
    if held is None:
        return None
    own = local_slice(comm, len(held[1]))
    return held[0][own], held[1][own]


def _is_complete(model: Model, options: argparse.Namespace) -> bool:
    """Whether training ended as it should, and not by Ctrl-C."""
    since_best = sum(evaluation.step > (model.best_step or 0) for evaluation in model.evaluations)
    out_of_patience = options.patience is not None and since_best >= options.patience
    return out_of_patience or len(model.history) >= options.steps


def _report_training(model: Model, table: metrics.ConfusionMatrix, rows: str, options: argparse.Namespace) -> None:
    facts = {
        "model": reports.model_facts(model),
        "steps": len(model.history),
        "best_step": model.best_step,
        "judged_on": f"{rows} rows",
        **reports.evaluation(model, table, draws=1000, seed=options.seed),
    }
    reports.write_report(options.report, facts)
    value = facts["measures"][str(model.measure)]
    steps = f"{len(model.history)} steps" + (f", best after {model.best_step}" if model.best_step else "")
    lines = [
        *reports.model_lines(facts["model"]),
        f"{steps}; {model.measure} {value['value']:.4f} on {table.n} {rows} rows "
        f"(95 % interval {value['low']:.4f} .. {value['high']:.4f}, one label for all {value['trivial']:.4f})",
        f"saved in {options.out}",
    ]
    _print(lines, options)


def _quantifier(model: Model) -> Quantifier:
    if "quantifier" not in model.extra:
        raise ValueError("this model has no calibration: it was not saved by `aesara-nondecomp train`. Train it there.")
    return Quantifier.from_dict(model.extra["quantifier"])


def _check_outputs(options: argparse.Namespace, *outputs: str | None) -> None:
    """Before hours of work, not after: each file to write has a folder, and is none of those to read."""
    read = [Path(path).resolve() for path in (options.data, getattr(options, "model", None)) if path]
    written = [Path(path) for path in outputs if path]
    for path in written:
        if not path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {str(path.parent)!r} to save {path.name!r} in")
        require(not path.is_dir(), "a file to write is needed, not a folder", str(path))
        require(path.resolve() not in read, "a file to write must be another one than those to read", str(path))
    require(len({path.resolve() for path in written}) == len(written), "files to write must differ", outputs)


@contextmanager
def _output(path: str | None) -> Iterator[IO[str]]:
    if path is None:
        yield sys.stdout
        return
    with open(path, "w", encoding="utf-8", newline="") as file:
        yield file


def _print(lines: list[str], options: argparse.Namespace) -> None:
    if not options.quiet:
        print("\n".join(lines))
