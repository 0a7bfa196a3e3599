"""Learning-rate schedules: plain functions of the step, since the rate is a shared scalar."""

from __future__ import annotations

import math
from collections.abc import Callable

from aesara_nondecomp._checks import choose, positive_int, require

Schedule = Callable[[int], float]


def constant() -> Schedule:
    """Factor 1 at every step."""
    return lambda step: 1.0


def step_decay(every: int, factor: float = 0.1) -> Schedule:
    """Multiplied by `factor` in (0, 1] after each `every` >= 1 steps; ValueError out of these ranges."""
    positive_int("every", every)
    require(0 < factor <= 1, "factor must lie in (0, 1]", factor)
    return lambda step: factor ** (step // every)


def cosine(total: int, final: float = 0.0) -> Schedule:
    """Half a cosine from 1 down to `final` in [0, 1] at step `total` >= 1, constant after it; else ValueError."""
    positive_int("total", total)
    require(0 <= final <= 1, "final must lie in [0, 1]", final)
    return lambda step: final + (1 - final) * 0.5 * (1 + math.cos(math.pi * min(step, total) / total))


def inverse_root() -> Schedule:
    """1 / sqrt(step + 1)."""
    return lambda step: 1.0 / math.sqrt(step + 1)


def get(schedule: str | Schedule, steps: int) -> Schedule:
    """A schedule by name, laid over `steps` steps, or the given function as it is.

    Parameters
    ----------
    schedule : {"constant", "step", "cosine", "inverse_root"} or callable (step from 0 -> factor on the rate)
        "step" divides the rate by 10 once, when half of the steps are done.
    steps : int >= 1

    Raises
    ------
    ValueError
        If the name is unknown; the nearest is suggested.
    """
    if callable(schedule):
        return schedule
    builders: dict[str, Callable[[], Schedule]] = {
        "constant": constant,
        "step": lambda: step_decay(-(-steps // 2)),
        "cosine": lambda: cosine(steps),
        "inverse_root": inverse_root,
    }
    return choose("schedule", schedule, builders)()
