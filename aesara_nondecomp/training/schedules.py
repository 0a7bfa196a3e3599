"""Learning-rate schedules: plain functions of the step, as the rate is a shared scalar."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from aesara_nondecomp._checks import choose, number, positive_int, require, shown

Schedule = Callable[[int], float]


def constant() -> Schedule:
    """Keep the learning rate constant.

    Returns
    -------
    callable
        Takes the index of a step, from 0, and returns a factor on the learning rate: 1.
    """
    return lambda step: 1.0


def step_decay(every: int, factor: float = 0.1) -> Schedule:
    """Multiply the learning rate by a factor every so many steps.

    Parameters
    ----------
    every : int
        Steps between two changes, at least 1.
    factor : float, default 0.1
        In (0, 1].

    Returns
    -------
    callable
        Takes the index of a step, from 0, and returns a factor on the learning rate.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    positive_int("every", every)
    require(0 < number("factor", factor) <= 1, "factor must lie in (0, 1]", factor)
    return lambda step: factor ** (step // every)


def cosine(total: int, final: float = 0.0) -> Schedule:
    """Lower the learning rate along half a cosine, and keep it constant after that.

    Parameters
    ----------
    total : int
        Steps until the final value, at least 1.
    final : float, default 0
        Final factor, in [0, 1].

    Returns
    -------
    callable
        Takes the index of a step, from 0, and returns a factor on the learning rate.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    positive_int("total", total)
    require(0 <= number("final", final) <= 1, "final must lie in [0, 1]", final)
    return lambda step: final + (1 - final) * 0.5 * (1 + math.cos(math.pi * min(step, total) / total))


def inverse_root() -> Schedule:
    """Divide the learning rate by sqrt(step + 1).

    Returns
    -------
    callable
        Takes the index of a step, from 0, and returns a factor on the learning rate.
    """
    return lambda step: 1.0 / math.sqrt(step + 1)


def get(schedule: str | Schedule, steps: int) -> Schedule:
    """A schedule by name, or the given function.

    Parameters
    ----------
    schedule : {"constant", "step", "cosine", "inverse_root"} or callable
        "step" divides the rate by 10 once, after half of the steps. A callable takes the index of a step, from 0, and
        returns a factor on the learning rate.
    steps : int
        Number of steps of the run, at least 1.

    Returns
    -------
    callable

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


def factor_at(schedule: Schedule, step: int) -> float:
    """The factor on the learning rate of a step, checked.

    Parameters
    ----------
    schedule : callable
        Takes the index of a step, from 0, and returns a factor.
    step : int
        The index.

    Returns
    -------
    float
        As the schedule returned it.

    Raises
    ------
    ValueError
        If it is not a finite number of at least 0.
    """
    factor = schedule(step)
    if not is_factor(factor):
        need = "schedule must return a finite number of at least 0"
        raise ValueError(f"{need}, got {shown(factor)} at step {step} (from 0)")
    return factor


def is_factor(value: Any) -> bool:
    """Whether a value can multiply a learning rate: a finite number of at least 0.

    Parameters
    ----------
    value : object
        What a schedule returned.

    Returns
    -------
    bool
    """
    if isinstance(value, float):  # as at almost each step: `number` takes ten times as long
        return 0 <= value < math.inf
    try:
        return 0 <= number("factor", value) < math.inf
    except ValueError:
        return False
