"""Types of the command line's options: from text to values; what cannot be read is an error of usage."""

from __future__ import annotations

import argparse
import csv
import json
import re
from collections.abc import Callable
from typing import Any

from aesara_nondecomp import measures
from aesara_nondecomp._checks import require
from aesara_nondecomp.data.files import STANDARD_STREAM
from aesara_nondecomp.measures.constraints import parse_constraint


def as_usage_error(check: Callable[[], Any]) -> Any:
    """Call a check whose ValueError becomes an error of usage, with the message as it is.

    Parameters
    ----------
    check : callable
        Without parameters.

    Returns
    -------
    object
        What it returns.

    Raises
    ------
    argparse.ArgumentTypeError
        If it raises a ValueError.
    """
    try:
        return check()
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def output_file(text: str) -> str:
    """Read the path of a file to write; "-" is standard output in any spelling.

    Parameters
    ----------
    text : str
        As it was typed.

    Returns
    -------
    str
    """
    return STANDARD_STREAM if text == "/dev/stdout" else text


def delimiter(text: str) -> str:
    """Read a delimiter of columns.

    Parameters
    ----------
    text : str
        As it was typed: one character, "tab" or "\\t".

    Returns
    -------
    str

    Raises
    ------
    argparse.ArgumentTypeError
        If it is something else.
    """
    found = {"\\t": "\t", "tab": "\t"}.get(text, text)
    as_usage_error(lambda: require(len(found) == 1, "the delimiter must be one character", text))
    return found


def measure(text: str) -> measures.Measure | measures.multiclass.MulticlassMeasure | measures.Averaged:
    """Read a measure such as "f1", or with parameters "fbeta:beta=2".

    Parameters
    ----------
    text : str
        As it was typed.

    Returns
    -------
    Measure, MulticlassMeasure or Averaged

    Raises
    ------
    argparse.ArgumentTypeError
        If there is none such.
    """
    name, _, rest = text.partition(":")
    try:
        pairs = [part.split("=", 1) for part in re.split(r",(?=\s*\w+\s*=)", rest) if part]
        of_labels = name == "micro_f1" and not pairs  # of several classes it needs a parameter
        if name not in (*measures.names(), "recall") and name in measures.multiclass.names() and not of_labels:
            return measures.multiclass.get(name, **{key.strip(): json.loads(value) for key, value in pairs})
        average, _, own = name.partition("_")
        averaged = average in measures.averaged.AVERAGES and own in measures.names()
        found = measures.get(own if averaged else name, **{key.strip(): float(value) for key, value in pairs})
        return measures.Averaged(found, average) if averaged else found
    except (ValueError, TypeError) as error:
        more = (
            ", or mean_of_worst:h=2 and cost_matrix:costs=[[0,1],[5,0]]" if name in measures.multiclass.names() else ""
        )
        raise argparse.ArgumentTypeError(f"{error} Write it as f1 or fbeta:beta=2{more}.") from None


def constraint(text: str) -> measures.Constraint:
    """Read a constraint such as "tpr gap <= 0.02".

    Parameters
    ----------
    text : str
        As it was typed.

    Returns
    -------
    Constraint

    Raises
    ------
    argparse.ArgumentTypeError
        If it is none.
    """
    found: measures.Constraint = as_usage_error(lambda: parse_constraint(text))
    return found


def column_names(text: str) -> tuple[str, ...]:
    """Read names of columns, written as in a .csv file: id,"family name, first name"; one without a name is ''.

    Parameters
    ----------
    text : str
        As it was typed.

    Returns
    -------
    tuple of str
    """
    return tuple(name.strip() for name in next(csv.reader([text], skipinitialspace=True)) or [""])
