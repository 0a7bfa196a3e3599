"""From lines to means over seeds, and from these to verdicts over the sets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.rivals.choice import MEASURES, PROBABILITY
from benchmarks.rivals.methods import OURS
from benchmarks.rivals.runs import Line

SINGLE = {"f1": 0.0, "min": 0.0, "qmean": 0.0}
"""Goals of the mean difference from each single rival."""
HINDSIGHT = {"f1": -0.005, "min": -0.015, "qmean": -0.010}
"""Goals of the mean difference from the rival that is best on the test rows of each set."""
STRETCH = {"f1": 0.01, "min": 0.005, "qmean": 0.005}
"""Goals of the mean difference from `STRETCH_RIVAL`."""
WORST = {"f1": -0.03, "min": -0.03, "qmean": -0.03}
"""Goals of the difference on the set where it is smallest, from the single rival that is best on average."""
ORDER = (*MEASURES, *PROBABILITY)
STRETCH_RIVAL = "lightgbm_tuned"
Values = dict[str, dict[int, float]]
"""From set and seed to a value."""
Differences = dict[str, float]
"""From set to ours minus a rival."""


class Verdict(NamedTuple):
    """Ours minus a rival on one measure, over the sets that both have."""

    ours: str
    rival: str
    measure: str
    sets: int
    mean_difference: float
    se: float | None
    """Standard error of the mean over the sets; None of one set."""
    won: int
    lost: int
    goal: float | None
    """What the mean difference must reach; None for measures without a goal."""
    holds: bool | None


def cells_of(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """The values of each set, measure and method, one for each seed, their mean, and the median of the seconds."""
    found: dict[tuple[str, str, str], dict[int, Line]] = {}
    for line in lines:
        found.setdefault((line["data"], line["measure"], line["method"]), {})[line["seed"]] = line
    cells = []
    for (data, measure, method), of_seeds in found.items():
        values = [of_seeds[seed]["value"] for seed in sorted(of_seeds)]
        cells.append(
            {
                "data": data,
                "measure": measure,
                "method": method,
                "seeds": sorted(of_seeds),
                "seed_values": values,
                "mean": float(np.mean(values)),
                "seconds": float(np.median([line["seconds"] for line in of_seeds.values()])),
            }
        )
    return sorted(cells, key=lambda cell: ORDER.index(cell["measure"]))


def against(cells: Sequence[dict[str, Any]]) -> list[Verdict]:
    """Every verdict on what the cells hold of ours and of rivals.

    Parameters
    ----------
    cells : sequence of dict
        From `cells_of`.

    Returns
    -------
    list of Verdict
        For each measure and each of ours: against each single rival, the best rival of each set with hindsight, tuned
        LightGBM with the stretch goal, and the worst set against the best single rival.
    """
    verdicts: list[Verdict] = []
    for measure in dict.fromkeys(cell["measure"] for cell in cells):
        of_methods: dict[str, Values] = {}
        for cell in cells:
            if cell["measure"] == measure:
                values = dict(zip(cell["seeds"], cell["seed_values"]))
                of_methods.setdefault(cell["method"], {})[cell["data"]] = values
        for ours in (name for name in OURS if name in of_methods):
            found = {name: differences(of_methods[ours], of_methods[name]) for name in of_methods if name not in OURS}
            verdicts += _verdicts(ours, measure, {name: each for name, each in found.items() if each})
    return verdicts


def _verdicts(ours: str, measure: str, found: dict[str, Differences]) -> Iterator[Verdict]:
    """Those of one measure on the differences from each rival."""
    if not found:
        return
    singles = [verdict(ours, name, measure, each, SINGLE.get(measure)) for name, each in found.items()]
    yield from singles
    yield verdict(ours, "best of all with hindsight", measure, hindsight(measure, found), HINDSIGHT.get(measure))
    if measure not in STRETCH:
        return
    if STRETCH_RIVAL in found:
        yield verdict(ours, f"{STRETCH_RIVAL}, stretch", measure, found[STRETCH_RIVAL], STRETCH[measure])
    most = max(single.sets for single in singles)
    strongest = min((each for each in singles if each.sets == most), key=lambda each: each.mean_difference).rival
    worst = min(found[strongest], key=lambda data: found[strongest][data])
    yield verdict(ours, f"{strongest}, worst set: {worst}", measure, {worst: found[strongest][worst]}, WORST[measure])


def differences(own: Values, other: Values) -> Differences:
    """Ours minus the rival, a mean over the seeds that both have, on the sets that both have."""
    found = {}
    for data in own:
        seeds = own[data].keys() & other.get(data, {}).keys()
        if seeds:
            found[data] = float(np.mean([own[data][seed] - other[data][seed] for seed in seeds]))
    return found


def hindsight(measure: str, found: dict[str, Differences]) -> Differences:
    """The difference from the rival of each set that is best on its test rows."""
    of_sets: dict[str, list[float]] = {}
    for each in found.values():
        for data, difference in each.items():
            of_sets.setdefault(data, []).append(difference)
    hardest = max if measure in PROBABILITY else min
    return {data: hardest(values) for data, values in of_sets.items()}


def verdict(ours: str, rival: str, measure: str, found: Differences, goal: float | None) -> Verdict:
    """The verdict on some differences.

    Parameters
    ----------
    ours : str
        Of `OURS`.
    rival : str
        Whom the differences are from.
    measure : str
        Their measure.
    found : dict of str to float
        From set to ours minus the rival; at least one.
    goal : float or None
        What their mean must reach.

    Returns
    -------
    Verdict
        Their mean and its standard error, and on how many sets ours is better and worse.
    """
    values = np.array(list(found.values()))
    mean = float(values.mean())
    se = float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else None
    holds = None if goal is None else bool(mean >= goal)
    gains = -values if measure in PROBABILITY else values
    won, lost = int((gains > 0).sum()), int((gains < 0).sum())
    return Verdict(ours, rival, measure, len(values), mean, se, won, lost, goal, holds)
