"""Input checks shared by many modules. Their errors say what was needed, what was given, and what to do."""

from __future__ import annotations

import difflib
import operator
import os
import re
import sys
import warnings
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

import numpy as np

Choice = TypeVar("Choice")
PACKAGE = os.path.dirname(__file__) + os.sep
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
LONGEST_SHOWN = 400  # characters of a value in a message
LARGEST_INT = 2**63  # what NumPy's integers hold is below it


def require(condition: bool, need: str, got: Any) -> None:
    """Raise a ValueError, "`need`, got `got`", unless `condition` holds."""
    if not condition:
        raise ValueError(f"{need}, got {shown(got)}")


def check_listed(name: str, value: Any) -> None:
    """Refuse a text where several are taken, as it would be read letter by letter."""
    several = isinstance(value, Collection) and not isinstance(value, (str, bytes))
    require(several, f"{name} must be a sequence of texts, such as [{shown(value)}]", value)


def shown(value: Any) -> str:
    """A value as a message shows it: its repr, shortened; some have none, such as an int of 5,000 digits."""
    try:
        plain = value.item() if isinstance(value, np.generic) else value  # NumPy 2 writes np.float64(0.5)
        text = without_addresses(" ".join(repr(plain).split()))
    except Exception:  # a repr can raise anything
        return f"an object of type {type(value).__name__}"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]} ..."


def without_addresses(text: str) -> str:
    """A repr without addresses in memory, which tell a reader nothing and differ from process to process."""
    return _ADDRESS.sub("", text)


def is_null(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas.NA."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal to itself nor different
        return True


def number(name: str, value: Any, what: str = "a number") -> float:
    """Return `value` as a float, or raise a ValueError naming the parameter."""
    try:
        if isinstance(value, (bool, np.bool_, str, bytes)) or np.ndim(value):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be {what}, got {shown(value)}") from None


def positive_number(name: str, value: Any) -> float:
    """Return `value` as a finite float above 0, or raise a ValueError naming the parameter."""
    found = number(name, value, "a positive number")
    require(0 < found < float("inf"), f"{name} must be a positive finite number", value)
    return found


def share(name: str, value: Any) -> float:
    """Return `value` as a float strictly between 0 and 1, or raise a ValueError naming the parameter."""
    found = number(name, value, "a number strictly between 0 and 1")
    require(0 < found < 1, f"{name} must lie strictly between 0 and 1", value)
    return found


def positive_int(name: str, value: Any) -> int:
    """Return `value` as an int of at least 1, or raise a ValueError naming the parameter."""
    try:
        found = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        found = 0
    require(found >= 1, f"{name} must be a whole number of at least 1", value)
    require(found < LARGEST_INT, f"{name} must be a whole number below 2**63", value)
    return found


def one_of(name: str, value: Any, known: tuple[str, ...], remark: str = "") -> None:
    """Raise a ValueError naming the parameter unless `value` is one of a few words."""
    need = f"{name} must be {' or '.join(map(repr, known))}{remark}"
    require(isinstance(value, str) and value in known, need, value)


def random_generator(seed: Any, name: str = "seed") -> np.random.Generator:
    """The generator that a seed stands for; integers of all types are alike.

    Parameters
    ----------
    seed : int, sequence of int, numpy Generator, BitGenerator, SeedSequence or None
        A Generator is returned as it is.
    name : str, default "seed"
        Of the argument, for the error.

    Returns
    -------
    numpy Generator

    Raises
    ------
    ValueError
        If it is none of these, or negative.
    """
    try:
        whole = hasattr(seed, "__index__") and not getattr(seed, "ndim", 0)
        return np.random.default_rng(operator.index(seed) if whole else seed)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be a non-negative integer, a numpy Generator or None, got {shown(seed)}"
        ) from None


def suggestion(name: str, known: Any) -> str:
    """The end of an error message about an unknown `name`: the nearest known one, and the list of all."""
    spelling = {word.lower(): word for word in known}
    typed = name if isinstance(name, str) else shown(name)
    near = difflib.get_close_matches(typed[:LONGEST_SHOWN].lower(), spelling, n=1, cutoff=0.5)
    hint = f"Did you mean {spelling[near[0]]!r}? " if near else ""
    return f"{hint}Known: {', '.join(known) or 'none'}."


def choose(kind: str, name: Any, known: Mapping[str, Choice]) -> Choice:
    """Return `known[name]`, or raise a ValueError suggesting the nearest name."""
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"unknown {kind} {shown(name)}. {suggestion(name, known)}")
    return known[name]


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that points at the first line outside this package on the call stack."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
