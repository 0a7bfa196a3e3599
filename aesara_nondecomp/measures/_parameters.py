"""Checks of a measure's parameters and of the prior, and the texts of parameters."""

from __future__ import annotations

import hashlib
import math
from numbers import Real
from typing import Any

from aesara_nondecomp._checks import LONGEST_SHOWN, shown

# A beta or sigma beyond these is lost beside the other terms of a denominator, which would be 0 where it should not be.
BETAS = {"at_least": 1e-4, "at_most": 1e6}
SIGMAS = {"at_least": 1e-6, "at_most": 1e6}


def check_prior(name: str, prior: float) -> None:
    """Refuse a prior that leaves a class empty."""
    try:
        usable = 0.0 < prior < 1.0
    except (ArithmeticError, TypeError, ValueError):  # no number, or several
        usable = False
    if not usable:
        raise ValueError(
            f"{name} needs both classes: the prior must lie strictly between 0 and 1, got {shown(prior)}. "
            "Check that the labels hold positives and negatives."
        )


def set_number(
    measure: Any, field: str, above: float = -math.inf, at_least: float = -math.inf, at_most: float = math.inf
) -> None:
    """Check a dataclass parameter of a frozen measure against its interval and store it as a float."""
    given = getattr(measure, field)
    try:
        number = float(given) if isinstance(given, Real) and not isinstance(given, bool) else math.nan
    except OverflowError:
        number = math.nan
    if not (math.isfinite(number) and above < number and at_least <= number <= at_most):
        limits = {"above": above, "at least": at_least, "at most": at_most}
        need = " and ".join(f"{words} {limit:g}" for words, limit in limits.items() if math.isfinite(limit))
        raise ValueError(f"{measure.name} needs a finite {field} {need}, got {shown(given)}.")
    object.__setattr__(measure, field, number)


def parameter_text(value: Any) -> str:
    """A parameter as the text of a measure shows it, by which reports tell it from others: short, but never rounded."""
    if isinstance(value, Real):
        short = f"{value:g}"
        return short if float(short) == value else shown(value)
    whole = repr(value)
    if len(whole) <= LONGEST_SHOWN:
        return shown(value)
    return f"{shown(value)} {hashlib.blake2b(whole.encode(), digest_size=4).hexdigest()}"  # of what is cut off


def name_raw(measure: Any) -> None:
    """Name a frozen measure on the unnormalised NSS (``raw=True``) after its class, with "_raw" added."""
    if measure.raw:
        object.__setattr__(measure, "name", f"{type(measure).name}_raw")
