"""The few input checks that many modules share: each says what was needed, what came, and what to do."""

from __future__ import annotations

import difflib
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


def positive_number(name: str, value: Any) -> float:
    """`value` as a finite float above 0, or a ValueError that names the parameter."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) and not hasattr(value, "__float__"):
        raise ValueError(f"{name} must be a positive number, got {value!r}")
    require(0 < float(value) < float("inf"), f"{name} must be a positive finite number", value)
    return float(value)


def positive_int(name: str, value: Any) -> int:
    """`value` as an int of at least 1, or a ValueError that names the parameter."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")
    return int(value.__index__())


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
