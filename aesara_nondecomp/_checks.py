"""Input checks shared by many modules. Their errors say what was needed, what was given, and what to do."""

from __future__ import annotations

import difflib
import operator
import os
import sys
import warnings
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

Choice = TypeVar("Choice")
PACKAGE = os.path.dirname(__file__) + os.sep


def require(condition: bool, need: str, got: Any) -> None:
    """Raise a ValueError, "`need`, got `got`", unless `condition` holds."""
    if not condition:
        plain = got.item() if isinstance(got, np.generic) else got  # NumPy 2 writes np.float64(0.5)
        raise ValueError(f"{need}, got {plain!r}")


def refuse_beside(given: Any, why: str, **others: Any) -> None:
    """Raise a ValueError if `given` and one of `others` are both given, since the latter would be ignored."""
    for name, value in others.items():
        require(given is None or value is None, f"{why}: leave {name} out", value)


def check_kind(name: str, value: Any, kinds: Any, what: str) -> None:
    """Raise a ValueError unless `value` is None or an instance of `kinds`, a class or a tuple of classes."""
    require(value is None or isinstance(value, kinds), f"{name} must be {what}", value)


def number(name: str, value: Any, what: str = "a number") -> float:
    """Return `value` as a float, or raise a ValueError naming the parameter."""
    try:
        if isinstance(value, (bool, str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be {what}, got {value!r}") from None


def positive_number(name: str, value: Any) -> float:
    """Return `value` as a finite float above 0, or raise a ValueError naming the parameter."""
    found = number(name, value, "a positive number")
    require(0 < found < float("inf"), f"{name} must be a positive finite number", value)
    return found


def positive_int(name: str, value: Any) -> int:
    """Return `value` as an int of at least 1, or raise a ValueError naming the parameter."""
    try:
        found = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        found = 0
    require(found >= 1, f"{name} must be a whole number of at least 1", value)
    return found


def suggestion(name: str, known: Any) -> str:
    """The end of an error message about an unknown `name`: the nearest known one, and the list of all."""
    spelling = {word.lower(): word for word in known}
    near = difflib.get_close_matches(str(name).lower(), spelling, n=1, cutoff=0.5)
    hint = f"Did you mean {spelling[near[0]]!r}? " if near else ""
    return f"{hint}Known: {', '.join(known) or 'none'}."


def choose(kind: str, name: Any, known: Mapping[str, Choice]) -> Choice:
    """Return `known[name]`, or raise a ValueError suggesting the nearest name."""
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"unknown {kind} {name!r}. {suggestion(name, known)}")
    return known[name]


def warn_caller(message: str) -> None:
    """Issue a UserWarning that points at the first line outside this package on the call stack."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
