"""Prevalence under shift: a plain call of ours against boosted trees, by the artificial-prevalence protocol.

Test sets of 500 rows are drawn from the test rows at 21 prevalences from 0 to 1, ten of each; a method's error is the
mean distance of its estimate from the true prevalence. Ours is `fit(X, y, "f1", seed=seed)`, whose rates and
calibration are of rows that it held out by itself. The rival is scikit-learn's HistGradientBoosting with its
defaults; its threshold, rates and calibration are of a fifth of the training rows. Splits are those of `python -m
benchmarks rivals`.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import measures, metrics
from aesara_nondecomp.metrics import Quantifier, prevalence_shift
from benchmarks.experiment import chosen_seeds, write_json
from benchmarks.rivals.sets import SETS, Part, optional, part_of, signs_of

DATA = ("a9a", "letter", "synthetic_5_20000", "synthetic_20_20000")
METHODS = ("acc", "pacc", "sld")
GOAL = 1.1
"""Largest error of ours, as a multiple of the rival's."""
RIVAL = "hist_gradient_boosting"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--data-dir", help="folder of the data sets that the package does not carry")
    parser.add_argument("--sets", nargs="+", default=DATA, choices=SETS, metavar="NAME", help="data sets")
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds (default 3)")
    parser.add_argument("--first-seed", type=int, default=100, help="the first one (default 100)")
    parser.add_argument("--json", metavar="FILE", help="file to write the figures to")


def main(options: argparse.Namespace) -> int:
    """Measure and print; 1 if a method's mean error is above the goal."""
    seeds = chosen_seeds(options)
    for name in options.sets:
        part_of(name, options.data_dir, seeds[0])  # a missing file is reported before any training
    cells = []
    for name in options.sets:
        errors = [_errors(part_of(name, options.data_dir, seed), seed) for seed in seeds]
        for method in METHODS:
            ours, rival = ([of_seed[who][method] for of_seed in errors] for who in ("fit", RIVAL))
            cells.append({"data": name, "method": method, "fit": ours, RIVAL: rival})
            print(f"{name}, {method}: fit {np.mean(ours):.4f}, {RIVAL} {np.mean(rival):.4f}", flush=True)
    against = [_verdict(method, [cell for cell in cells if cell["method"] == method]) for method in METHODS]
    for verdict in against:
        print(f"{verdict['method']}: {verdict['ratio']:.2f} of the rival's error", "" if verdict["holds"] else "MISSED")
    if options.json:
        write_json(options.json, {"cells": cells, "against": against})
    return 0 if all(verdict["holds"] for verdict in against) else 1


def _verdict(method: str, cells: list[dict]) -> dict:
    """The mean error over the sets, as a multiple of the rival's."""
    ratio = float(np.mean([cell["fit"] for cell in cells]) / np.mean([cell[RIVAL] for cell in cells]))
    return {"method": method, "ratio": round(ratio, 3), "goal": GOAL, "holds": ratio <= GOAL}


def _errors(part: Part, seed: int) -> dict[str, dict[str, float]]:
    """Mean absolute errors of both, by method, on the same test sets."""
    model = an.fit(part.X, part.y, "f1", seed=seed)
    ours = model.require_quantifier(), model.network_scores(part.X_test)
    found = {"fit": ours, RIVAL: _trees(part, seed)}
    return {who: _shift_errors(*scored, signs_of(part.y_test), seed) for who, scored in found.items()}


def _trees(part: Part, seed: int) -> tuple[Quantifier, np.ndarray]:
    """The rival's quantifier, and its scores of the test rows."""
    tuning = part.held_out(seed)
    trees = optional("sklearn.ensemble").HistGradientBoostingClassifier(random_state=seed).fit(tuning.X, tuning.y)
    held, signs = trees.decision_function(tuning.X_held), signs_of(tuning.y_held)
    threshold, _ = metrics.best_threshold(measures.get("f1"), held, signs)
    return Quantifier.fit(held, signs, threshold), trees.decision_function(part.X_test)


def _shift_errors(quantifier: Quantifier, scores: np.ndarray, signs: np.ndarray, seed: int) -> dict[str, float]:
    estimators = {method: partial(quantifier.prevalence, method=method) for method in METHODS}
    found = prevalence_shift.prevalence_shift(scores, signs, estimators, seed=seed).errors()
    return {method: found[method]["ae"] for method in METHODS}
