"""Scoring a million rows of 54 columns by a 64-64 network, against the network's matrix products alone.

Timed in turn, in one process on two threads: `Model.decision_function` on float32 rows (with its check that they are
finite), the same by a model that standardises its rows first, and the products of the same chunks by direct calls of
BLAS. Also measured is the memory of scoring beyond its result, for a tenth of the rows and for all of them.
"""

from __future__ import annotations

import argparse
import tracemalloc

import numpy as np

import aesara_nondecomp as an
from benchmarks import gemm_floor
from benchmarks.experiment import write_json
from benchmarks.processes import status_of_process
from benchmarks.speed import interleaved

ROWS, COLUMNS, HIDDEN = 1_000_000, 54, (64, 64)
GOAL = 0.8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--json", metavar="FILE", help="file to write the figures to")
    parser.add_argument("--rounds", type=int, default=10, help="turns of each (default 10)")
    parser.add_argument("--here", action="store_true", help="time in this process, with the threads that it has")


def main(options: argparse.Namespace) -> int:
    """Measure; 1 if the floor takes less than the goal's share of our time, or memory grows with the rows."""
    if not options.here:
        arguments = ["scoring", "--here", "--rounds", str(options.rounds)]
        return status_of_process([*arguments, *(["--json", options.json] if options.json else [])])
    figures = _figures(options.rounds)
    print(", ".join(f"{name} {value}" for name, value in figures.items()))
    if options.json:
        write_json(options.json, {**figures, "goal": GOAL})
    return 0 if figures["floor_over_ours"] >= GOAL and _constant(figures) else 1


def _constant(figures: dict[str, float]) -> bool:
    return figures["extra_mb_all_rows"] < 1.1 * figures["extra_mb_tenth_of_rows"] + 0.1


def _figures(rounds: int) -> dict[str, float]:
    from aesara_nondecomp.step.scoring import SCORING_ROWS

    X = np.random.default_rng(0).standard_normal((ROWS, COLUMNS), dtype="float32")
    plain, standardising = (_model(X[:5000], standardize) for standardize in (False, True))
    chunk = gemm_floor.scoring_products(SCORING_ROWS, [COLUMNS, *HIDDEN, 1])
    runs = {
        "ours": lambda: plain.decision_function(X),
        "standardising": lambda: standardising.decision_function(X),
        "floor": lambda: [chunk() for _ in range(-(-ROWS // SCORING_ROWS))],
    }
    medians = {name: float(np.median(values)) for name, values in interleaved(runs, rounds).items()}
    return {
        **{f"{name}_ms": round(value, 1) for name, value in medians.items()},
        "floor_over_ours": round(medians["floor"] / medians["ours"], 3),
        "floor_over_standardising": round(medians["floor"] / medians["standardising"], 3),
        "extra_mb_tenth_of_rows": _extra_mb(plain, X[: ROWS // 10]),
        "extra_mb_all_rows": _extra_mb(plain, X),
    }


def _model(X: np.ndarray, standardize: bool) -> an.Model:
    return an.fit(X, X[:, 0] > 1, "qmean", algorithm="duple", steps=10, standardize=standardize, seed=0, progress=False)


def _extra_mb(model: an.Model, X: np.ndarray) -> float:
    tracemalloc.start()
    scores = model.decision_function(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return round((peak - scores.nbytes) / 1e6, 2)
