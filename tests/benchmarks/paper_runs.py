"""A small grid of the paper's runs, and what the tests read from its folder."""

from __future__ import annotations

import json

from benchmarks.paper.grid import make_grid

SMALL = {"figures": ["f1"], "datasets": ["letter"], "methods": ["dame", "plug_in"], "seeds": [3], "steps": 3}
CLOCKS = {"seconds", "seconds_with_compilation", "run_seconds"}


def small_grid(**changes):
    return make_grid(**{**SMALL, "data_dir": None, **changes})


def lines_of(out):
    """All lines of a folder by run, without the clocks."""

    def without_clocks(path):
        read = [json.loads(line) for line in path.read_text().splitlines()]
        return [{name: value for name, value in line.items() if name not in CLOCKS} for line in read]

    return {path.stem: without_clocks(path) for path in (out / "runs").glob("*.jsonl")}
