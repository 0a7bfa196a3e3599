"""Do boosted trees gain by a driver as their objective? Against the same trees on cross-entropy with a tuned threshold.

The objective is that of docs/boosting.md, with the recommended driver of each measure after ten rounds of
class-weighted cross-entropy. Every seed splits a training set: a quarter stands in for the test part; a fifth of the
rest chooses the configuration, the number of trees and the threshold. Test sets are not used.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit

from aesara_nondecomp import drivers, metrics
from aesara_nondecomp.data import stratified_split
from aesara_nondecomp.training.recipes import Problem, recipe_for
from benchmarks.data import load
from benchmarks.experiment import write_json

MEASURES = ("f1", "min", "qmean")
TABLES = ("letter", "a9a", "cod-rna", "covtype", "synthetic")
CONFIGURATIONS = ({"num_leaves": 31}, {"num_leaves": 15, "feature_fraction": 0.8})
ROUNDS, EVERY, WARM_ROUNDS, MOST_ROWS = 300, 5, 10, 60_000

Rows = tuple[np.ndarray, np.ndarray]
"""Columns, and labels in {-1, +1}."""


class Parts(NamedTuple):
    """The three parts of a training set."""

    train: Rows
    validation: Rows
    test: Rows


class Stage(NamedTuple):
    """Scores of the validation and of the test rows after some rounds."""

    validation: np.ndarray
    test: np.ndarray


class Choice(NamedTuple):
    """A stage and a threshold: their value on the validation rows, and on the test rows."""

    validation: float
    test: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--data-dir", required=True, help="folder of the data sets")
    parser.add_argument("--data", nargs="+", default=TABLES, choices=TABLES, help="data sets (default all)")
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds, from 0 (default 3)")
    parser.add_argument("--json", help="file to write every run to")


def main(options: argparse.Namespace) -> int:
    """Train both on every set, and print means over the seeds."""
    runs: list[dict[str, Any]] = []
    print("| measure | data | cross-entropy, tuned | driver at 0 | driver, tuned |")
    print("|---|---|---|---|---|")
    for name in options.data:
        of_set = [run for seed in range(options.seeds) for run in _runs(name, seed, options.data_dir)]
        for measure in MEASURES:
            means = [np.mean([run[method] for run in of_set if run["measure"] == measure]) for method in METHODS]
            print(f"| {measure} | {name} | {' | '.join(f'{mean:.4f}' for mean in means)} |", flush=True)
        runs += of_set
    print(_differences(runs))
    if options.json:
        write_json(options.json, {"runs": runs})
    return 0


def tree_objective(driver: drivers.Driver, signs: np.ndarray) -> Callable[[np.ndarray, Any], Rows]:
    """The first derivative of a driver's objective in the scores, and a bound of the second one."""
    positive, share = signs > 0, float(np.mean(signs > 0))

    def of_rows(pos: float, neg: float) -> np.ndarray:
        return np.where(positive, pos / share, neg / (1 - share))

    def objective(scores: np.ndarray, _: Any) -> Rows:
        sums = metrics.class_sums(scores, signs)
        if driver.needs_refresh():
            driver.refresh(sums)
        weights = driver.weights()
        driver.observe(sums)
        a = of_rows(weights.sigmoid_pos, weights.sigmoid_neg)
        b = of_rows(weights.logistic_pos, weights.logistic_neg)
        right = expit(signs * scores)
        slope = right * (1 - right)
        # LightGBM divides by the second derivative, which vanishes where all rows of a leaf are certain.
        return -signs * (a * slope + b * (1 - right)), np.maximum((abs(a) + abs(b)) * slope, 1e-12)

    return objective


def choose(measure: str, stages: list[Stage], parts: Parts, *, tuned: bool) -> Choice:
    """The stage with the best value on the validation rows, at 0 or at the best threshold."""
    choices = []
    for stage in stages:
        cut = metrics.best_threshold(measure, stage.validation, parts.validation[1])[0] if tuned else 0.0
        scored = ((stage.validation, parts.validation[1]), (stage.test, parts.test[1]))
        values = (metrics.score(measure, metrics.confusion_at_threshold(*rows, cut)) for rows in scored)
        choices.append(Choice(*values))
    return max(choices, key=lambda choice: choice.validation)


METHODS = {"cross-entropy, tuned": ("ce", True), "driver at 0": ("driver", False), "driver, tuned": ("driver", True)}


def _runs(name: str, seed: int, data_dir: str) -> Iterator[dict[str, Any]]:
    """The test value of each method for each measure, all choices made on the validation rows."""
    parts = _parts(name, seed, data_dir)
    plain = [stage for options in CONFIGURATIONS for stage in _stages(parts, options, seed)]
    prior = float(np.mean(parts.train[1] > 0))
    for measure in MEASURES:
        stages = {"ce": plain, "driver": []}
        for options in CONFIGURATIONS:
            inner = recipe_for(measure, Problem(prior, 0.0)).phases[0].driver
            driver = drivers.WarmStart(drivers.ClassWeighted(prior), WARM_ROUNDS, inner)
            stages["driver"] += _stages(parts, options, seed, driver)
        values = {
            method: choose(measure, stages[kind], parts, tuned=tuned).test for method, (kind, tuned) in METHODS.items()
        }
        yield {"data": name, "seed": seed, "measure": measure, **values}


def _differences(runs: list[dict[str, Any]]) -> str:
    """Mean paired differences from the first method, with the standard error over the sets, and the runs won."""
    first, *others = METHODS
    lines = ["| measure | method | minus cross-entropy | standard error | won | lost |", "|---|---|---|---|---|---|"]
    for measure in (*MEASURES, "all"):
        of_measure = [run for run in runs if measure in (run["measure"], "all")]
        for method in others:
            gains = np.array([run[method] - run[first] for run in of_measure])
            sets = np.array([run["data"] for run in of_measure])
            means = [gains[sets == name].mean() for name in np.unique(sets)]
            error = np.std(means, ddof=1) / len(means) ** 0.5 if len(means) > 1 else float("nan")
            won = f"{np.sum(gains > 0)} | {np.sum(gains < 0)}"
            lines.append(f"| {measure} | {method} | {np.mean(means):+.4f} | {error:.4f} | {won} |")
    return "\n".join(lines)


def _stages(
    parts: Parts, configuration: dict[str, Any], seed: int, driver: drivers.Driver | None = None
) -> list[Stage]:
    """Scores after every few rounds, of trees on a driver's objective or on cross-entropy."""
    import lightgbm

    train = lightgbm.Dataset(parts.train[0], parts.train[1] > 0)
    others = [train.create_valid(X, signs > 0) for X, signs in parts[1:]]
    objective = "binary" if driver is None else tree_objective(driver, parts.train[1])
    options = {
        **configuration, "objective": objective, "learning_rate": 0.1, "metric": "None", "verbosity": -1,
        "num_threads": 1, "deterministic": True, "seed": seed,
    }  # fmt: skip
    seen: list[np.ndarray] = []

    def keep(scores: np.ndarray, _: Any) -> tuple[str, float, bool]:
        shares = np.clip(scores, 1e-15, 1 - 1e-15) if driver is None else None
        seen.append(np.array(scores) if shares is None else logit(shares))
        return "none", 0.0, True

    lightgbm.train(options, train, ROUNDS, valid_sets=others, feval=keep)
    rounds = [Stage(*pair) for pair in zip(seen[::2], seen[1::2])]
    return rounds[EVERY - 1 :: EVERY]


def _parts(name: str, seed: int, data_dir: str) -> Parts:
    X, y, groups = _synthetic(seed) if name == "synthetic" else _rows(name, seed, data_dir)
    X, signs = np.asarray(X, "float32"), np.where(y > 0, 1, -1)
    rest, test = stratified_split(signs, 0.25, seed, groups)
    train, held = stratified_split(signs[rest], 0.2, seed, None if groups is None else groups[rest])
    return Parts(*((X[rows], signs[rows]) for rows in (rest[train], rest[held], test)))


def _rows(name: str, seed: int, data_dir: str) -> tuple[Any, Any, Any]:
    loaded = load(name, data_dir)
    if len(loaded.y_train) <= MOST_ROWS:
        return loaded.X_train, loaded.y_train, loaded.groups
    rows = np.random.default_rng(seed).permutation(len(loaded.y_train))[:MOST_ROWS]
    return loaded.X_train[rows], loaded.y_train[rows], None


def _synthetic(seed: int) -> tuple[Any, Any, Any]:
    from sklearn.datasets import make_classification

    shape = {"n_samples": 20000, "n_features": 20, "n_informative": 8, "n_redundant": 4, "n_clusters_per_class": 4}
    return (*make_classification(**shape, weights=[0.96], flip_y=0.03, class_sep=0.8, random_state=seed), None)
