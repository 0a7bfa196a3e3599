"""Do the runs that are not done yet, and keep their lines in a file that only grows.

A line is the value of one method on one set, seed and measure. The lines of a run are added to the file at once, when
it is complete, so that the command can be killed and started again. Where the last lines are lost, so is that of a
measure, because the values of probabilities stand before it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from aesara_nondecomp._files import replacing
from benchmarks.paper.runner import one_thread, unordered
from benchmarks.rivals.methods import AT_HALF, OURS, RIVALS, our_values, rival_values
from benchmarks.rivals.sets import SETS, part_of

Line = dict[str, Any]


class Run(NamedTuple):
    """One method on the rows of one seed."""

    data: str
    seed: int
    method: str
    """Of `OURS` or `RIVALS`."""
    measures: tuple[str, ...]


class Outcome(NamedTuple):
    """The lines of a run, or why there are none."""

    run: Run
    lines: list[Line]
    error: str | None = None


def readings(method: str) -> list[str]:
    """The names under which a method stands in the lines."""
    if method in OURS:
        return [method]
    return [method if tuned else f"{method}{AT_HALF}" for tuned in RIVALS[method].readings]


def runs_of(names: Sequence[str], sets: Sequence[str], measures: Sequence[str], seeds: Sequence[int]) -> list[Run]:
    """Every run, seed by seed, so that an interrupted command has completed whole seeds.

    Parameters
    ----------
    names : sequence of str
        Of `OURS` and `RIVALS`; a rival is left out on sets of a kind that it is not trained on.
    sets : sequence of str
        Of `SETS`.
    measures : sequence of str
        Of `choice.MEASURES`.
    seeds : sequence of int
        Of the splits and of the training.

    Returns
    -------
    list of Run
        All of them, done or not.
    """
    return [
        Run(name, seed, method, tuple(measures))
        for seed in seeds
        for name in sets
        for method in names
        if method in OURS or SETS[name].kind in RIVALS[method].kinds
    ]


def waiting(runs: Sequence[Run], lines: Sequence[Line]) -> list[Run]:
    """What is not done of each run; a rival is trained again for all its readings."""
    done = {(line["data"], line["seed"], line["method"], line["measure"]) for line in lines}
    left = []
    for run in runs:
        missing = tuple(
            measure
            for measure in run.measures
            if any((run.data, run.seed, reading, measure) not in done for reading in readings(run.method))
        )
        if missing:
            left.append(run._replace(measures=missing))
    return left


def run_all(runs: Sequence[Run], data_dir: str | None, path: Path, jobs: int, stamp: Line) -> int:
    """Do the runs whose lines are not in a file, and add them to it.

    Parameters
    ----------
    runs : sequence of Run
        All runs, done or not.
    data_dir : str or None
        Folder of the data sets that are not embedded.
    path : Path
        The file of lines; made if it is missing.
    jobs : int
        Number of processes, each of one thread.
    stamp : dict
        Added to every line.

    Returns
    -------
    int
        Number of failed runs, which are done again next time.
    """
    left = waiting(runs, read_lines(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    failed = 0
    with path.open("a", encoding="utf-8") as file:
        for outcome in unordered(run_one, [(run, data_dir) for run in left], jobs) if left else ():
            file.write("".join(json.dumps({**line, **stamp}) + "\n" for line in outcome.lines))
            file.flush()
            failed += outcome.error is not None
            if outcome.error:
                print(f"{_title(outcome.run)} failed: {outcome.error}", file=sys.stderr)
    return failed


def run_one(run: Run, data_dir: str | None) -> Outcome:
    """The lines of a run; a failed run must not stop the others."""
    try:
        with one_thread():
            part = part_of(run.data, data_dir, run.seed)
            values_of = our_values if run.method in OURS else rival_values
            values, seconds = values_of(run.method, part, run.measures, run.seed)
    except Exception as error:
        return Outcome(run, [], f"{type(error).__name__}: {error}")
    common = {"data": run.data, "seed": run.seed, "seconds": round(seconds, 3)}
    lines = [
        {**common, "method": method, "measure": measure, "value": value}
        for method, of_measures in values.items()
        for measure, value in of_measures.items()
    ]
    print(f"{_title(run)}: {seconds:.1f} s", file=sys.stderr, flush=True)
    return Outcome(run, lines)


def read_lines(path: Path) -> list[Line]:
    """The lines of a file; the end of a line that was cut off is removed from the file."""
    if not path.is_file():
        return []
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        with replacing(path, text=True) as file:
            file.write(whole)
    return [json.loads(line) for line in whole.splitlines()]


def _title(run: Run) -> str:
    return f"{run.data}, seed {run.seed}, {run.method}"
