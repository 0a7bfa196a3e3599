"""The commands that work on data and a model: each reads files, calls the library and reports."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp._files import is_stream
from aesara_nondecomp.cli import outputs, report_lines
from aesara_nondecomp.cli.kinds import commands_for
from aesara_nondecomp.cli.model_rows import row_blocks
from aesara_nondecomp.cli.predictions import check_format, writing
from aesara_nondecomp.cli.usage import usage_errors
from aesara_nondecomp.data.files import STANDARD_STREAM
from aesara_nondecomp.models import load_model
from aesara_nondecomp.models.onnx import export_onnx


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
    outputs.check_outputs(options, out)
    with usage_errors():
        check_format(out)
    model = load_model(options.model)
    header, columns_of = commands_for(model).prediction_columns(model, options.scores)
    blocks = _score_blocks(model, options, shown=out != STANDARD_STREAM or not sys.stdout.isatty())
    first, done = next(blocks), 0  # most of what can be wrong shows before a line is written
    with writing(out, header) as write:
        for scores in itertools.chain([first], blocks):
            write(done + 1, columns_of(scores))
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
    outputs.check_outputs(options, options.out, options.html)
    model = load_model(options.model)
    outputs.write_outcome(options, commands_for(model).evaluation_report(model, options))
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
    outputs.check_outputs(options, options.out, options.html)
    with usage_errors():
        require(options.data != STANDARD_STREAM, "compare needs a file, which each model reads", options.data)
    paths = options.model, options.other
    names = [Path(path).name for path in paths]
    names = names if names[0] != names[1] else list(paths)
    models = [load_model(path) for path in paths]  # both are looked at before one is compiled
    kinds = [commands_for(model) for model in models]
    needed = "two models of the same labels, both of two classes, both of several, or both of several labels"
    require(kinds[0] is kinds[1], needed, [_labels_of(model) for model in models])
    outputs.write_outcome(options, kinds[0].comparison_report(models, names, options))
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
    outputs.check_outputs(options, options.out)
    model = load_model(options.model)
    with usage_errors():
        several = "quantify takes models of one label a row; evaluate has the rows and predictions of each label"
        require(not hasattr(model, "labels"), several, getattr(model, "labels", None))
    model.require_quantifier()
    scores = np.concatenate(list(_score_blocks(model, options, of_each=True)))
    facts, lines = commands_for(model).prevalence_report(model, scores)
    report_lines.write_report(options.out, facts)
    outputs.print_lines(lines, options)
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
    outputs.check_outputs(options, options.out)
    model = load_model(options.model)
    export_onnx(model, outputs.path_of(options.out), options.input_dtype)
    names = model.encoder.feature_names or ()
    columns = f": {', '.join(names)}" if names else ""
    told = f"saved in {options.out}; X is of {model.network_description['n_features']} columns{columns}"
    outputs.print_lines([told], options)
    return 0


def _labels_of(model: Any) -> tuple[Any, ...]:
    return tuple(model.labels if hasattr(model, "labels") else model.classes)


def _score_blocks(
    model: Any, options: argparse.Namespace, *, of_each: bool = False, shown: bool = True
) -> Iterator[NDArray[Any]]:
    """Scores of the rows of a file, or those of each network, block by block, with progress unless it is in the way."""
    rows = row_blocks(options.data, model, options.delimiter, options.decimal)
    scores = model.network_score_blocks(rows) if of_each else model.score_blocks(rows)
    return outputs.with_progress(scores, options, shown=shown)
