"""Plain calls of ours against tuned rivals, on fresh splits of many sets.

Ours gets the training rows, the measure and a seed. Every rival holds a fifth of the training rows out, on which its
configuration and its threshold are chosen for each measure. Choices about the package are made on seeds below 100;
seeds from 100 on, the default, are for looking once.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from aesara_nondecomp._checks import choose
from benchmarks.experiment import write_json
from benchmarks.paper.command import stamp
from benchmarks.rivals.choice import MEASURES
from benchmarks.rivals.methods import OURS, RIVALS
from benchmarks.rivals.report import draw, tables
from benchmarks.rivals.runs import read_lines, readings, run_all, runs_of
from benchmarks.rivals.sets import SETS, optional, part_of
from benchmarks.rivals.verdicts import against, cells_of

FIRST_SEED = 100
QUICK: dict[str, Any] = {
    "sets": ["breast_cancer", "synthetic_5_2000", "a9a_1000"],
    "seeds": 1,
    "methods": [*OURS, "hist_gradient_boosting_tuned", "lightgbm_tuned", "logistic_regression"],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--data-dir", help="folder of the data sets that the package does not carry")
    parser.add_argument(
        "--json",
        default="out/rivals.json",
        metavar="FILE",
        help="file for the results; FILE with an l added holds the runs (default: out/rivals.json)",
    )
    parser.add_argument("--sets", nargs="+", metavar="NAME", help=f"of {', '.join(SETS)} (default all)")
    parser.add_argument("--measures", nargs="+", default=list(MEASURES), choices=MEASURES, metavar="NAME")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help=f"of {', '.join((*OURS, *RIVALS))} (default all)")
    parser.add_argument("--seeds", type=int, help="number of seeds (default 5)")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED, help=f"the first one (default {FIRST_SEED})")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument(
        "--quick", action="store_true", help="three small sets, one seed, few methods: under five minutes"
    )
    parser.add_argument("--figure", metavar="FILE", help="picture of the verdicts (extra plots)")


def main(options: argparse.Namespace) -> int:
    """Do the missing runs, and write tables and verdicts; 1 if a goal is missed or a run failed."""
    preset = QUICK if options.quick else {}
    sets = options.sets or preset.get("sets", list(SETS))
    methods = options.methods or preset.get("methods", [*OURS, *RIVALS])
    seeds = preset.get("seeds", 5) if options.seeds is None else options.seeds
    for name, value in (("--seeds", seeds), ("--jobs", options.jobs)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
    chosen = range(options.first_seed, options.first_seed + seeds)
    _check(sets, methods, options.data_dir, options.first_seed)
    path = Path(f"{options.json}l")
    runs = runs_of(methods, sets, options.measures, chosen)
    failed = run_all(runs, options.data_dir, path, options.jobs, {"commit": stamp()["commit"]})
    names = {reading for method in methods for reading in readings(method)}
    kept = [
        line for line in read_lines(path) if line["data"] in sets and line["seed"] in chosen and line["method"] in names
    ]
    return 1 if _report(kept, options.json, options.figure) or failed else 0


def _check(sets: list[str], methods: list[str], data_dir: str | None, seed: int) -> None:
    """Report wrong names, missing packages and missing files before the first run."""
    for name in methods:
        choose("method", name, {**OURS, **RIVALS})
        if name in RIVALS:
            optional(RIVALS[name].package)
    for name in sets:
        choose("data set", name, SETS)
        part_of(name, data_dir, seed)


def _report(lines: list[dict[str, Any]], path: str, figure: str | None) -> bool:
    """Write and print what the lines give; whether a goal is missed."""
    cells = cells_of(lines)
    verdicts = against(cells)
    write_json(path, {"cells": cells, "against": [each._asdict() for each in verdicts]})
    if figure:
        draw(verdicts, figure)
    print(tables(cells, verdicts))
    missed = sum(each.holds is False for each in verdicts)
    goals = sum(each.goal is not None for each in verdicts)
    print(f"\n{goals - missed} of {goals} goals are met")
    return missed > 0
