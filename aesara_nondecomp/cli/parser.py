"""Commands and their options. Slow imports are deferred, so that `--help` answers at once."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Sequence
from typing import Any

from aesara_nondecomp import __version__
from aesara_nondecomp._checks import positive_int, random_generator, suggestion
from aesara_nondecomp.cli.completion import SHELLS, completion_script
from aesara_nondecomp.cli.option_types import (
    as_usage_error,
    column_names,
    constraint,
    delimiter,
    measure,
    output_file,
)
from aesara_nondecomp.cli.program import PROGRAM, interrupted_at_once
from aesara_nondecomp.training.parameters import PARAMETERS

# Parameters of `fit` that `train` passes on unchanged.
FIT_OPTIONS = (
    "steps", "batch_size", "optimizer", "learning_rate", "schedule", "averaging", "l2", "sampler", "prior", "backend",
)  # fmt: skip
_FILES = (
    "a table with a header row (.csv, .tsv, .data, .parquet, .xlsx, .arff; - for text on standard input; a folder or a "
    "quoted pattern such as 'data/*.parquet' for several files of a table), LIBSVM text, or an .npz with arrays X and y"
)


class _PrintCompletion(argparse.Action):
    """Prints the script that completes in a shell, and exits as ``--help`` does."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        print(completion_script(parser, values))
        parser.exit()


class _AddTarget(argparse.Action):
    """Keeps one target as it was typed, and several as a tuple; which columns they are, the table decides."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        before = getattr(namespace, self.dest)
        former = () if before is None else (before,) if isinstance(before, str) else before
        setattr(namespace, self.dest, (*former, values) if former else values)


def build_parser() -> argparse.ArgumentParser:
    """Build the parser; it sets `options.command` to a function of the options."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description="Train, apply and judge classifiers for F1, min(TPR, TNR), KLD and their like."
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    parser.add_argument(
        "--print-completion",
        action=_PrintCompletion,
        choices=SHELLS,
        help="print what the shell reads to complete commands and options",
    )
    commands = parser.add_subparsers(metavar="command", required=True)
    _add_train(commands)
    _add_predict(commands)
    _add_evaluate(commands)
    _add_compare(commands)
    _add_quantify(commands)
    _add_export(commands)
    _add_facts(commands)
    return parser


def unknown_options(parser: argparse.ArgumentParser, unknown: Sequence[str]) -> str:
    """Say which arguments a command does not take, and which option is near.

    Parameters
    ----------
    parser : ArgumentParser
        Of the command.
    unknown : sequence of str
        The arguments.

    Returns
    -------
    str
    """
    message = f"unrecognized arguments: {' '.join(unknown)}"
    if not unknown[0].startswith("-"):
        return message
    flags = [flag for action in parser._actions for flag in action.option_strings if flag.startswith("--")]
    return f"{message}. {suggestion(unknown[0].split('=')[0], flags)}"


def _add_train(commands: Any) -> None:
    train = _command(
        commands,
        "train",
        "train a network on a measure and save it",
        "train adult.csv --target income --positive '>50K' --measure f1 --out adult.model",
    )
    train.add_argument("data", help=f"training rows: {_FILES}")
    train.add_argument(
        "--out",
        type=output_file,
        required=True,
        metavar="MODEL",
        help="file to save the model to (- for standard output)",
    )
    _add_table_options(train)
    _add_goal_options(train)
    _add_run_options(train)
    train.add_argument("--report", type=output_file, metavar="FILE", help="write the report as JSON too")
    told = train.add_mutually_exclusive_group()
    _add_quiet(told)
    told.add_argument("--verbose", action="store_true", help="say on stderr what was chosen, and how long it took")
    train.set_defaults(command=_later("train", "train"))


def _add_table_options(train: argparse.ArgumentParser) -> None:
    """Which columns of a table are labels and inputs, and how its cells are read."""
    _add_columns(train)
    _add_layout(train, ".")
    train.add_argument("--positive", metavar="LABEL", help="the positive label (default: the larger one)")
    train.add_argument(
        "--drop",
        type=column_names,
        action="extend",
        default=[],
        metavar="COLUMNS",
        help="of a table, to leave out: id,name",
    )
    train.add_argument(
        "--categorical",
        type=column_names,
        action="extend",
        default=[],
        metavar="COLUMNS",
        help="of a table, numbers to treat as categories",
    )
    train.add_argument(
        "--missing",
        action="append",
        default=[],
        metavar="TEXT",
        help="how a table spells a missing value, beside empty, ?, NA and their like (may be repeated)",
    )


def _add_goal_options(train: argparse.ArgumentParser) -> None:
    """What to train for."""
    train.add_argument(
        "--measure",
        type=measure,
        default="f1",
        help="what to train for, such as f1, min, kld or fbeta:beta=2, of several classes min_recall, macro_f1, qwk, "
        "or of several labels macro_f1, micro_f1, macro_min (default: f1)",
    )
    train.add_argument(
        "--groups",
        type=column_names,
        action="extend",
        metavar="COLUMNS",
        help="of a table, whose combinations are the groups of the rows, for worst_cell and for gaps: sex,race; they "
        "are inputs too unless they are in --drop",
    )
    train.add_argument(
        "--constraint",
        type=constraint,
        action="append",
        default=[],
        dest="constraints",
        metavar="TEXT",
        help="what predictions must meet on rows held out, such as 'tpr gap <= 0.02' or 'precision >= 0.9' (may be "
        "repeated)",
    )


def _add_run_options(train: argparse.ArgumentParser) -> None:
    """How to train."""
    _add_parameter(train, "algorithm", _class_algorithms)
    for name in (*FIT_OPTIONS, "network", "hidden", "activation", "dropout", "members", "patience"):
        _add_parameter(train, name)
    train.add_argument("--preset", default="default", help=argparse.SUPPRESS)  # of 0.1; say --algorithm paper
    _add_parameter(train, "validation")
    train.add_argument("--refit", action="store_true", help="train once more on all rows, as long as turned out best")
    train.add_argument("--tune-threshold", action="store_true", help="move the threshold to the best held-out value")
    _add_int(train, "--seed", 0, random_generator, "equal seeds give equal models")
    train.add_argument("--resume", action="store_true", help="resume an interrupted run, if any")
    train.add_argument("--mpi", action="store_true", help="share the rows among the processes that mpirun started")


def _add_predict(commands: Any) -> None:
    predict = _command(
        commands, "predict", "label the rows of a file", "predict adult.model new.csv --out predictions.csv"
    )
    _add_model_and_data(predict)
    predict.add_argument(
        "--out",
        type=output_file,
        metavar="FILE",
        help="a .csv, .csv.gz, .tsv or .parquet: row, prediction, score, probability (default: -, standard output)",
    )
    predict.add_argument(
        "--scores", action="store_true", help="of several classes or labels, write the scores of each too"
    )
    _add_quiet(predict)
    predict.set_defaults(command=_later("predict"))


def _add_evaluate(commands: Any) -> None:
    evaluate = _command(
        commands,
        "evaluate",
        "judge a model on labelled rows by all measures",
        "evaluate adult.model test.csv --out report.json",
    )
    _add_model_and_data(evaluate)
    _add_columns(evaluate)
    evaluate.add_argument(
        "--groups",
        type=column_names,
        action="extend",
        metavar="COLUMNS",
        help="of a table, to report by (default: as in training, if the table has them)",
    )
    _add_report(evaluate)
    evaluate.set_defaults(command=_later("evaluate"))


def _add_compare(commands: Any) -> None:
    compare = _command(
        commands,
        "compare",
        "judge two models on the same labelled rows, and their differences",
        "compare former.model adult.model test.csv --html comparison.html",
    )
    compare.add_argument("model", help="a file that `train` wrote")
    compare.add_argument("other", help="another one, of the same labels; differences are its values less the first's")
    _add_data(compare)
    _add_columns(compare)
    _add_report(compare)
    compare.set_defaults(command=_later("compare"))


def _add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=output_file, metavar="FILE", help="write the report as JSON too")
    parser.add_argument(
        "--html", type=output_file, metavar="FILE", help="write the report as a web page too, one file for a browser"
    )
    _add_int(
        parser, "--draws", 1000, lambda draws, flag: positive_int(flag, draws), "bootstrap resamples for the intervals"
    )
    _add_int(parser, "--seed", 0, random_generator, "of the bootstrap")
    _add_quiet(parser)


def _add_quiet(parser: Any) -> None:
    parser.add_argument("--quiet", action="store_true", help="print errors and warnings only, and no progress")


def _add_quantify(commands: Any) -> None:
    quantify = _command(
        commands,
        "quantify",
        "estimate the share of positives among unlabelled rows",
        "quantify adult.model new.csv --out shares.json",
    )
    _add_model_and_data(quantify)
    quantify.add_argument("--out", type=output_file, metavar="FILE", help="write the estimates as JSON too")
    _add_quiet(quantify)
    quantify.set_defaults(command=_later("quantify"))


def _add_export(commands: Any) -> None:
    export = _command(
        commands,
        "export-onnx",
        "write a model as an ONNX graph, to serve without this package",
        "export-onnx adult.model adult.onnx",
    )
    export.add_argument("model", help="a file that `train` wrote, of numbers")
    export.add_argument(
        "out", type=output_file, help="the .onnx to write: from X to scores, positive, label, probabilities"
    )
    export.add_argument(
        "--input-dtype",
        choices=("float32", "float64"),
        metavar="DTYPE",
        help="of X: float64 keeps all digits of columns far from 0, such as timestamps (default: the network's)",
    )
    _add_quiet(export)
    export.set_defaults(command=_later("write_onnx"))


def _add_facts(commands: Any) -> None:
    listing = _command(commands, "measures", "list the measures and what trains them", "measures")
    listing.add_argument("--json", action="store_true", help="print the list as JSON")
    listing.set_defaults(command=_later("list_measures", "info"))
    doctor = _command(commands, "doctor", "check the installation and report problems", "doctor")
    doctor.add_argument("--json", action="store_true", help="print the report as JSON")
    doctor.set_defaults(command=_later("doctor", "info"))


def _add_parameter(parser: argparse.ArgumentParser, name: str, more: Callable[[], Collection[str]] = tuple) -> None:
    """Add an option from the table of parameters, which holds its range, default and text; `more()` are taken too."""
    row = PARAMETERS[name]

    def read(text: str) -> Any:
        try:
            value = row.read(text)  # type: ignore[misc]  # it is an option
        except ValueError:
            raise argparse.ArgumentTypeError(f"expected {row.accepts}, got {text!r}") from None
        try:
            return row.check(name, value)
        except ValueError as error:
            if value in more():
                return value
            raise argparse.ArgumentTypeError(str(error)) from None

    shown = "" if row.default is None else f" (default: {_as_typed(row.default)})"
    flag, text = f"--{name.replace('_', '-')}", row.text[0].lower() + row.text[1:].rstrip(".")
    parser.add_argument(flag, type=read, default=row.default, metavar=name.upper(), help=f"{text}{shown}")


def _class_algorithms() -> Collection[str]:
    from aesara_nondecomp.training.class_recipes import CLASS_BUILDERS

    return CLASS_BUILDERS


def _as_typed(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _command(commands: Any, name: str, purpose: str, example: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        help=purpose,
        description=purpose[0].upper() + purpose[1:] + ".",
        epilog=f"example: {PROGRAM} {example}",
        allow_abbrev=False,
    )
    parser.set_defaults(parser=parser)
    return parser


def _add_model_and_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help="a file that `train` wrote")
    _add_data(parser)


def _add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", help=f"rows as raw as those trained on: {_FILES}")
    _add_layout(parser, "as in training")


def _add_columns(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--target",
        action=_AddTarget,
        metavar="COLUMN",
        help="the column of labels, or of several labels the columns of 0 and 1: a,b,c (may be repeated); of an .npz, "
        "their array (default: y)",
    )


def _add_layout(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument(
        "--delimiter",
        type=delimiter,
        metavar="CHARACTER",
        help=f"of a table of text: , ; | or tab (default: {default}, or as its first lines say)",
    )
    parser.add_argument(
        "--decimal",
        choices=(".", ","),
        metavar="SIGN",
        help=f"the decimal sign of a table of text (default: {default})",
    )


def _later(function: str, module: str = "commands") -> Any:
    """A function of a module of this package, imported when it is called."""

    def run(options: argparse.Namespace) -> int:
        from importlib import import_module

        with interrupted_at_once():
            command = getattr(import_module(f"aesara_nondecomp.cli.{module}"), function)
        return command(options)

    return run


def _add_int(parser: Any, flag: str, default: int, check: Callable[[int, str], Any], text: str) -> None:
    """Add an option that is a whole number which a check lets pass."""

    def read(typed: str) -> int:
        number = int(typed)
        as_usage_error(lambda: check(number, flag))
        return number

    read.__name__ = "int"  # as argparse calls what it could not read
    parser.add_argument(flag, type=read, default=default, help=f"{text} (default: {default})")
