"""Seconds from starting Python to the end of the first DUPLE step of a 64-64 network, and of Python.

Once with an empty compile cache, then with the cache of the first run, and with an empty one and no compiler, by the
library of compiled Ops: medians of 15 starts, as single ones vary by a third. Python finds the bytecode of all modules,
as after an installation by pip, even if PYTHONDONTWRITEBYTECODE is set: an untimed start writes it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.experiment import write_json

GOALS = {"cold_seconds": 9.0, "warm_seconds": 1.5 if sys.version_info >= (3, 13) else 1.2, "library_seconds": 2.0}
STARTS = 15
FIRST_STEP = """
import numpy as np
import aesara_nondecomp as an
rng = np.random.default_rng(0)
X, y = rng.normal(size=(2000, 54)), rng.random(2000) < 0.2
model = an.fit(X, y, "qmean", network=(64, 64), steps=1, validation=None, seed=0)
assert model.history[-1].step == 1
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--json", help="file to write the figures to")


def main(options: argparse.Namespace) -> int:
    """Measure all starts; 1 if one exceeds its goal."""
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = bytecode
        library = float(
            np.median([_seconds_without_compiler(environment) for _ in range(STARTS + 1)][1:])
        )  # one writes it
        with tempfile.TemporaryDirectory() as cache:
            cold = _seconds(environment, cache)
            warm = float(np.median([_seconds(environment, cache) for _ in range(STARTS)]))
            modules = len(list(Path(cache).glob("*/tmp*/key.pkl")))
    seconds = {"cold_seconds": cold, "warm_seconds": warm, "library_seconds": library}
    figures = {**{name: round(value, 2) for name, value in seconds.items()}, "modules": modules}
    print(", ".join(f"{name} {value}" for name, value in figures.items()))
    if options.json:
        write_json(options.json, figures)
    return 0 if all(figures[name] <= goal for name, goal in GOALS.items()) else 1


def _seconds_without_compiler(environment: dict[str, str]) -> float:
    with tempfile.TemporaryDirectory() as cache:
        return _seconds(environment, cache, "cxx=")


def _seconds(environment: dict[str, str], cache: str, *settings: str) -> float:
    parts = (environment.get("AESARA_FLAGS"), f"base_compiledir={cache}", *settings)
    flags = ",".join(part for part in parts if part)
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", FIRST_STEP], check=True, env={**environment, "AESARA_FLAGS": flags})
    return time.perf_counter() - begun
