"""Groups, constraints, several classes and several labels against their rivals, some figures with a goal.

Every method holds the same stratified fifth of the training rows out, for checkpoints, thresholds and duals. Choices
about the package were made on parts of the training rows; the test rows are for looking once.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cells import class_groups, classes, groups, labels, texts
from benchmarks.data.covtype import FILE
from benchmarks.data.prepared import existing
from benchmarks.experiment import chosen_seeds, write_json

FIRST_SEED = 100
PARTS = {**groups.PARTS, **classes.PARTS, **class_groups.PARTS, **labels.PARTS, **texts.PARTS}
OF_COVTYPE = (*classes.PARTS, *class_groups.PARTS)
DATA = {**dict.fromkeys(groups.PARTS, "a9a"), **dict.fromkeys(OF_COVTYPE, "covtype")}


def _check_covtype(data_dir: str | None) -> None:
    existing("covtype", Path(data_dir or ".") / FILE)


CHECKS: dict[str, Callable[[str | None], None]] = {
    **dict.fromkeys((*OF_COVTYPE, "labels_covtype"), _check_covtype),
    **texts.CHECKS,
}
"""Of the parts that read files: report a missing one, before any training."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--data-dir", help="folder of the data sets that the package does not carry")
    parser.add_argument("--json", default="out/cells.json", metavar="FILE", help="results (default: out/cells.json)")
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS, metavar="NAME")
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds (default 3)")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED, help=f"the first one (default {FIRST_SEED})")


def main(options: argparse.Namespace) -> int:
    """Run all methods of the chosen parts on all seeds; 1 if a goal is missed."""
    seeds = chosen_seeds(options)
    for name in options.parts:
        if name in CHECKS:
            CHECKS[name](options.data_dir)
    cells: list[dict[str, Any]] = []
    for name in options.parts:
        for method, values in PARTS[name](options.data_dir, seeds):
            cells += [_cell(name, method, measure, each) for measure, each in values.items()]
            print(
                f"{name:12} {method:34}", *(f"{measure} {np.mean(v):.3f}" for measure, v in values.items()), flush=True
            )
    missed = [cell for cell in _with_goals(cells) if cell["holds"] is False]
    write_json(options.json, {"cells": cells, "seeds": list(seeds)})
    for cell in missed:
        print(f"missed: {cell['part']}, {cell['measure']} of {cell['method']}: {cell['mean']:.4f}, goal {cell['goal']}")
    return 1 if missed else 0


def _cell(part: str, method: str, measure: str, values: list[float]) -> dict[str, Any]:
    mean, spread = float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else None
    row = {
        "part": part,
        "data": DATA.get(part, part),
        "method": method,
        "measure": measure,
        "seed_values": values,
    }
    return {**row, "mean": mean, "sd": spread, "goal": None, "holds": None}


GOALS: dict[tuple[str, str, str], tuple[str, float]] = {
    ("worst_cell", "direct", "worst_cell"): (">=", 0.755),
    ("tpr_gap", "direct", "gap"): ("<=", 0.025),
    ("tpr_gap", "direct", "accuracy"): (">=", 0.844),
    ("tpr_gap", "duals from training rows", "gap"): (">=", 0.03),
    ("selection_gap", "direct", "gap"): ("<=", 0.025),
    ("selection_gap", "direct", "accuracy"): (">=", 0.825),
    ("min_recall", "duple", "min_recall"): (">=", 0.715),
    ("min_recall_linear", "duple", "min_recall"): (">=", 0.605),
    ("macro_f1", "plain call", "macro_f1"): (">=", 0.710),
    ("semeval_a", "duple", "min_recall"): (">=", 0.44),
    ("semeval_c", "plain call", "qwk"): (">=", 0.415),
}


def _with_goals(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cells with a goal, which is written into them."""
    found = {(cell["part"], cell["method"], cell["measure"]): cell for cell in cells}
    for key, (side, goal) in GOALS.items():
        if key in found:
            _set_goal(found[key], side, goal)
    rival = found.get(("worst_cell", "class_weighted", "worst_cell"))
    if rival is not None and ("worst_cell", "direct", "worst_cell") in found:
        cell = found[("worst_cell", "direct", "worst_cell")]
        cell["above_class_weighted"] = cell["mean"] - rival["mean"]
        cell["holds"] = bool(cell["holds"] and cell["above_class_weighted"] >= 0.05)
    return [cell for cell in cells if cell["goal"]]


def _set_goal(cell: dict[str, Any], side: str, goal: float) -> None:
    holds = cell["mean"] >= goal if side == ">=" else cell["mean"] <= goal
    cell.update(goal=f"{side} {goal}", holds=bool(holds))
