"""The command: check the options, run the grid, write the report."""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from aesara_nondecomp._aesara.imports import aesara
from benchmarks import twitter
from benchmarks.paper import grid as grids
from benchmarks.paper.datasets import NAMES
from benchmarks.paper.grid import FIGURES, Grid
from benchmarks.paper.methods import METHODS
from benchmarks.paper.runner import run_all
from benchmarks.paper.training import split

TWITTER = "twitter"
FIRST_SEED, SEEDS = 10, 5  # the default recipes were chosen on seeds 0, 1 and 2
QUICK = {"figures": list(FIGURES), "datasets": ["letter", "a9a"], "seeds": 2, "steps": 300}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--figures", nargs="+", metavar="NAME", help=f"of {', '.join(FIGURES)} (default), twitter")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help=f"of {', '.join(NAMES)} (default the paper's)")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help=f"of {', '.join(METHODS)} (default all)")
    parser.add_argument("--seeds", type=int, help=f"number of seeds (default {SEEDS})")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED, help=f"the first one (default {FIRST_SEED})")
    parser.add_argument("--steps", type=int, help="steps of a run (default 2000)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default one per core)")
    parser.add_argument("--dask", metavar="ADDRESS", help="scheduler of the workers; local: start --jobs workers here")
    parser.add_argument("--data-dir", help="folder of the data sets that the package does not carry")
    parser.add_argument("--out", default="out/paper", help="folder for the runs and the report (default out/paper)")
    parser.add_argument("--report-only", action="store_true", help="write the report from the finished runs, run none")
    parser.add_argument("--quick", action="store_true", help="embedded data, two seeds, 300 steps: under ten minutes")


def main(options: argparse.Namespace) -> int:
    """Do the missing runs and write the report; 1 if a run failed. The figure "twitter" is a command of its own."""
    if options.figures and TWITTER in options.figures:
        rest = [figure for figure in options.figures if figure != TWITTER]
        status = twitter.main(argparse.Namespace(**{**vars(options), "out": os.path.join(options.out, TWITTER)}))
        return main(argparse.Namespace(**{**vars(options), "figures": rest})) if rest else status
    grid = _grid(options)
    if options.jobs < 1:
        raise ValueError(f"--jobs must be at least 1, got {options.jobs}")
    _check_data(grid)
    out = Path(options.out)
    runs = grids.runs(grid)
    failed = 0
    if not options.report_only:
        failed = run_all(runs, grid.data_dir, out, options.jobs, stamp(), options.dask)
    from benchmarks.paper.report import write_report

    print(f"{write_report(grid, out)} written; {failed} of {len(runs)} runs failed")
    return 1 if failed else 0


def _grid(options: argparse.Namespace) -> Grid:
    preset: dict[str, Any] = QUICK if options.quick else {}
    seeds = _or(options.seeds, preset.get("seeds", SEEDS))
    return grids.make_grid(
        figures=_or(options.figures, list(FIGURES)),
        datasets=_or(options.datasets, preset.get("datasets")),
        methods=options.methods,
        seeds=range(options.first_seed, options.first_seed + max(seeds, 0)),
        steps=_or(options.steps, preset.get("steps", 2000)),
        data_dir=options.data_dir,
    )


def _check_data(grid: Grid) -> None:
    """Load and split every data set, to report errors before the first run."""
    for name in grid.used_datasets:
        for seed in grid.seeds:
            try:
                split(name, grid.data_dir, seed)
            except (ValueError, OSError) as problem:
                raise ValueError(f"data set {name!r}, seed {seed}: {problem}") from problem


def stamp() -> dict[str, Any]:
    """Commit and versions, which are stored with every line."""
    return {
        "commit": _commit(),
        "versions": {
            "python": platform.python_version(),
            "aesara": aesara.__version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
        },
    }


def _commit() -> str:
    here = Path(__file__).parent
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty"], cwd=here, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value
