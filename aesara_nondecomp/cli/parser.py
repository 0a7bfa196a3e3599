"""Commands and their options. Slow imports are deferred, so that `--help` answers at once."""

from __future__ import annotations

import argparse
import csv
from typing import Any

from aesara_nondecomp import __version__, measures
from aesara_nondecomp.cli.program import PROGRAM, interrupted_at_once
from aesara_nondecomp.measures.constraints import parse_constraint
from aesara_nondecomp.training.parameters import PARAMETERS

# Parameters of `fit` that `train` passes on unchanged.
FIT_OPTIONS = (
    "steps", "batch_size", "optimizer", "learning_rate", "schedule", "averaging", "l2", "sampler", "prior", "backend",
)  # fmt: skip
_FILES = (
    "a table with a header row (.csv, .tsv, .data, .parquet, .xlsx, .arff; - for text on standard input), LIBSVM text, "
    "or an .npz with arrays X and y"
)


def build_parser() -> argparse.ArgumentParser:
    """Build the parser; it sets `options.command` to a function of the options."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description="Train, apply and judge classifiers for F1, min(TPR, TNR), KLD and their like."
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = parser.add_subparsers(metavar="command", required=True)
    _add_train(commands)
    _add_predict(commands)
    _add_evaluate(commands)
    _add_compare(commands)
    _add_quantify(commands)
    _add_facts(commands)
    return parser


def _add_train(commands: Any) -> None:
    train = _command(
        commands,
        "train",
        "train a network on a measure and save it",
        "train adult.csv --target income --positive '>50K' --measure f1 --out adult.model",
    )
    train.add_argument("data", help=f"training rows: {_FILES}")
    train.add_argument("--out", required=True, metavar="MODEL", help="file to save the model to")
    _add_columns(train)
    _add_layout(train, ".")
    train.add_argument("--positive", metavar="LABEL", help="the positive label (default: the larger one)")
    train.add_argument(
        "--drop", type=_names, action="extend", default=[], metavar="COLUMNS", help="of a table, to leave out: id,name"
    )
    train.add_argument(
        "--categorical",
        type=_names,
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
    train.add_argument(
        "--measure", type=_measure, default="f1", help="what to train for, such as f1, min, kld or fbeta:beta=2"
    )
    train.add_argument(
        "--groups",
        type=_names,
        action="extend",
        metavar="COLUMNS",
        help="of a table, whose combinations are the groups of the rows, for worst_cell and for gaps: sex,race; they "
        "are inputs too unless they are in --drop",
    )
    train.add_argument(
        "--constraint",
        type=_constraint,
        action="append",
        default=[],
        dest="constraints",
        metavar="TEXT",
        help="what predictions must meet on rows held out, such as 'tpr gap <= 0.02' or 'precision >= 0.9' (may be "
        "repeated)",
    )
    for name in (*FIT_OPTIONS, "algorithm", "network", "hidden", "activation", "dropout", "members", "patience"):
        _add_parameter(train, name)
    train.add_argument("--preset", default="default", help=argparse.SUPPRESS)  # of 0.1; say --algorithm paper
    _add_parameter(train, "validation")
    train.add_argument("--refit", action="store_true", help="train once more on all rows, as long as turned out best")
    train.add_argument("--tune-threshold", action="store_true", help="move the threshold to the best held-out value")
    train.add_argument("--seed", type=int, default=0, help="equal seeds give equal models (default: 0)")
    train.add_argument("--resume", action="store_true", help="resume an interrupted run, if any")
    train.add_argument("--mpi", action="store_true", help="share the rows among the processes that mpirun started")
    train.add_argument("--report", metavar="FILE", help="write the report as JSON too")
    train.add_argument("--quiet", action="store_true", help="print errors and warnings only")
    train.set_defaults(command=_later("train"))


def _add_predict(commands: Any) -> None:
    predict = _command(
        commands, "predict", "label the rows of a file", "predict adult.model new.csv --out predictions.csv"
    )
    _add_model_and_data(predict)
    predict.add_argument(
        "--out", metavar="FILE", help="a .csv: row, prediction, score, probability (default: -, standard output)"
    )
    predict.add_argument("--quiet", action="store_true", help="print errors and warnings only")
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
        type=_names,
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
    parser.add_argument("--out", metavar="FILE", help="write the report as JSON too")
    parser.add_argument("--html", metavar="FILE", help="write the report as a web page too, one file for a browser")
    parser.add_argument("--draws", type=int, default=1000, help="bootstrap tables for the intervals (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, help="of the bootstrap (default: 0)")
    parser.add_argument("--quiet", action="store_true", help="print errors and warnings only")


def _add_quantify(commands: Any) -> None:
    quantify = _command(
        commands,
        "quantify",
        "estimate the share of positives among unlabelled rows",
        "quantify adult.model new.csv --out shares.json",
    )
    _add_model_and_data(quantify)
    quantify.add_argument("--out", metavar="FILE", help="write the estimates as JSON too")
    quantify.add_argument("--quiet", action="store_true", help="print errors and warnings only")
    quantify.set_defaults(command=_later("quantify"))


def _add_facts(commands: Any) -> None:
    listing = _command(commands, "measures", "list the measures and what trains them", "measures")
    listing.add_argument("--json", action="store_true", help="print the list as JSON")
    listing.set_defaults(command=_later("list_measures", "info"))
    doctor = _command(commands, "doctor", "check the installation and report problems", "doctor")
    doctor.add_argument("--json", action="store_true", help="print the report as JSON")
    doctor.set_defaults(command=_later("doctor", "info"))


def _add_parameter(parser: argparse.ArgumentParser, name: str) -> None:
    """Add an option from the table of parameters, which holds its range, default and text."""
    row = PARAMETERS[name]

    def read(text: str) -> Any:
        try:
            value = row.read(text)  # type: ignore[misc]  # it is an option
        except ValueError:
            raise argparse.ArgumentTypeError(f"expected {row.accepts}, got {text!r}") from None
        try:
            return row.check(name, value)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    shown = "" if row.default is None else f" (default: {_as_typed(row.default)})"
    flag, text = f"--{name.replace('_', '-')}", row.text[0].lower() + row.text[1:].rstrip(".")
    parser.add_argument(flag, type=read, default=row.default, metavar=name.upper(), help=f"{text}{shown}")


def _as_typed(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _command(commands: Any, name: str, purpose: str, example: str) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=purpose,
        description=purpose[0].upper() + purpose[1:] + ".",
        epilog=f"example: {PROGRAM} {example}",
        allow_abbrev=False,
    )


def _add_model_and_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help="a file that `train` wrote")
    _add_data(parser)


def _add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", help=f"rows as raw as those trained on: {_FILES}")
    _add_layout(parser, "as in training")


def _add_columns(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--target", metavar="COLUMN", help="the column of labels; of an .npz, their array (default: y)")


def _add_layout(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument(
        "--delimiter",
        type=lambda text: {"\\t": "\t", "tab": "\t"}.get(text, text),
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


def _measure(text: str) -> measures.Measure:
    """Read a measure such as "f1", or with parameters "fbeta:beta=2"; an invalid one is a usage error."""
    name, _, rest = text.partition(":")
    if name not in (*measures.names(), "recall") and name in measures.multiclass.names():
        raise argparse.ArgumentTypeError(
            f"{name!r} is of several classes, which fit takes in Python: an.fit(X, y, {name!r})"
        )
    try:
        pairs = [part.split("=") for part in rest.split(",") if part]
        return measures.get(name, **{key.strip(): float(value) for key, value in pairs})
    except (ValueError, TypeError) as error:
        raise argparse.ArgumentTypeError(f"{error} Write it as f1 or fbeta:beta=2.") from None


def _constraint(text: str) -> measures.Constraint:
    """Read a constraint such as "tpr gap <= 0.02"; an invalid one is a usage error."""
    try:
        return parse_constraint(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _names(text: str) -> tuple[str, ...]:
    """Names of columns, written as in a .csv file: id,"family name, first name"; one without a name is ''."""
    return tuple(name.strip() for name in next(csv.reader([text], skipinitialspace=True)) or [""])
