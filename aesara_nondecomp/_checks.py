"""The few input checks that many modules share: each says what was needed, what came, and what to do."""

from __future__ import annotations

import difflib
import operator
import os
import sys
import warnings
from collections.abc import Mapping
from typing import Any, TypeVar

Choice = TypeVar("Choice")
PACKAGE = os.path.dirname(__file__) + os.sep


def require(condition: bool, need: str, got: Any) -> None:
    """Raise ValueError("`need`, got `got`") unless `condition` holds."""
    if not condition:
        raise ValueError(f"{need}, got {got!r}")


def refuse_beside(given: Any, why: str, **others: Any) -> None:
    """Raise ValueError if `given` is given and one of `others`, by name, too: it would lose without a word."""
    for name, value in others.items():
        require(given is None or value is None, f"{why}: leave {name} out", value)


def check_kind(name: str, value: Any, kinds: Any, what: str) -> None:
    """Raise ValueError unless `value` is None or of the given kinds (a class or a tuple of them)."""
    require(value is None or isinstance(value, kinds), f"{name} must be {what}", value)


def number(name: str, value: Any, what: str = "a number") -> float:
    """`value` as a float, or a ValueError that names the parameter."""
    try:
        if isinstance(value, (bool, str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be {what}, got {value!r}") from None


def positive_number(name: str, value: Any) -> float:
    """`value` as a finite float above 0, or a ValueError that names the parameter."""
    found = number(name, value, "a positive number")
    require(0 < found < float("inf"), f"{name} must be a positive finite number", value)
    return found


def positive_int(name: str, value: Any) -> int:
    """`value` as an int of at least 1, or a ValueError that names the parameter."""
    try:
        found = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        found = 0
    require(found >= 1, f"{name} must be a whole number of at least 1", value)
    return found


def suggestion(name: str, known: Any) -> str:
    """The tail of an error about an unknown `name`: the nearest known one, and the list."""
    near = difflib.get_close_matches(str(name), list(known), n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    return f"{hint}Known: {', '.join(known)}."


def choose(kind: str, name: Any, known: Mapping[str, Choice]) -> Choice:
    """`known[name]`, or a ValueError that suggests the nearest name."""
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"unknown {kind} {name!r}. {suggestion(name, known)}")
    return known[name]


def warn_caller(message: str) -> None:
    """Give a UserWarning that points at the caller's line: the first one outside this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
