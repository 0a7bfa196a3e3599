"""Train for min(TPR, TNR), Q-mean, F1 and KL divergence on the embedded data sets, and compare with other methods.

Direct training and cross-entropy have the same network, batches, optimiser, learning rate and number of steps. Values
are of hard predictions on test data, over three seeds. The method with a tuned threshold trains on four fifths of the
rows, because the threshold needs the rest, and so do boosted trees, whose configuration is tuned too. "plain call" is
`fit(X, y, measure, seed=seed)` on the data set as it is loaded. Writes results.json and one figure per data set.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import data, measures
from aesara_nondecomp.training.recipes import Problem, recipe_for
from benchmarks import plots
from benchmarks.data import load
from benchmarks.experiment import Prepared, Reading, prepare, run, value_at_zero, value_tuned, write_json
from benchmarks.trees import train_trees, value_of_best
from benchmarks.twitter.loading import load_tweets
from benchmarks.twitter.objectives import CLASS_WEIGHTED, CROSS_ENTROPY, DENIM
from benchmarks.twitter.training import train_one
from benchmarks.twitter.types import Plan

DATASETS = ("letter", "adult")
# KLD is evaluated on the network that DENIM trains for BAKLD: see recipes.trained_measure.
DIRECT = {"min": "DUPLE", "qmean": "DUPLE", "f1": "DAME", "bakld": "DENIM", "kld": "DENIM"}
TRAINED = ("min", "qmean", "f1", "bakld")
PLAIN, WEIGHTED, TUNED = "cross-entropy at 0.5", "class-weighted", "cross-entropy, tuned"
TREES, PLAIN_CALL = "trees, tuned", "plain call"
SEEDS = (0, 1, 2)
STEPS = 1000
TWEET_METHODS = {DENIM: "DENIM", CROSS_ENTROPY: PLAIN, CLASS_WEIGHTED: WEIGHTED}
TWEET_STEPS = 200
CHECKPOINTS = (10, 20, 40, 70, 100, 150, 200, 300, 400, 500, 600, 700, 800, 900, 1000)


class Run(NamedTuple):
    """One training run, evaluated at every checkpoint."""

    dataset: str
    method: str
    trained_for: str | None
    seed: int
    readings: list[Reading]
    held_signs: np.ndarray | None


class Others(NamedTuple):
    """What a method that is not a run with checkpoints reaches on a measure, one value per seed."""

    dataset: str
    measure: str
    method: str
    values: list[float]
    steps: int | None
    seconds: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--output", default="out/demo", help="folder for results.json and the figures")


def main(options: argparse.Namespace) -> int:
    """Train everything, print the table, write the files."""
    from threadpoolctl import threadpool_limits

    # The other methods take a second core beside the runs. With more threads the two would wait for each other.
    with ProcessPoolExecutor(1, get_context("spawn"), _one_thread) as pool:
        waited = pool.submit(other_methods)
        prepared = {name: prepare(name) for name in DATASETS}
        compile_seconds = _compile(prepared)
        print(f"compiled in {compile_seconds:.1f} s", flush=True)
        with threadpool_limits(1):
            runs = list(_all_runs(prepared))
        print("waiting for boosted trees and plain calls", flush=True)
        others = waited.result()
    rows = [row for name in DATASETS for row in _rows(prepared[name], runs, others)]
    print("an LSTM on raw tweets: 9 short runs", flush=True)
    rows += _tweet_rows()
    print(_table(rows))
    target = os.path.join(options.output, "results.json")
    write_json(target, {"rows": rows, "compile_seconds": round(compile_seconds, 2)})
    for name in DATASETS:
        plots.draw_curves(_curves(prepared[name], runs), name, os.path.join(options.output, f"{name}.png"))
    print(f"\nWritten: {target} and one figure per data set beside it.")
    return 0


def _one_thread() -> None:
    """Give libraries that are loaded from now on one thread."""
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")


def other_methods() -> list[Others]:
    """Tuned trees and plain calls on every data set."""
    return [one for name in DATASETS for method in (_trees, _plain_calls) for one in method(load(name))]


def _trees(loaded: data.Dataset) -> list[Others]:
    signs = np.where(loaded.y_test > 0, 1, -1)
    begun = time.perf_counter()
    seeds = [train_trees(loaded, seed) for seed in SEEDS]
    seconds = (time.perf_counter() - begun) / len(SEEDS)
    values = {
        name: [value_of_best(measures.get(name), trained, signs, held_signs) for trained, held_signs in seeds]
        for name in DIRECT
    }
    return [Others(loaded.name, name, TREES, values[name], None, seconds) for name in DIRECT]


def _plain_calls(loaded: data.Dataset) -> list[Others]:
    return [_plain_call(loaded, name) for name in DIRECT]


def _plain_call(loaded: data.Dataset, name: str) -> Others:
    values, seconds = [], []
    for seed in SEEDS:
        begun = time.perf_counter()
        model = an.fit(loaded.X_train, loaded.y_train, name, seed=seed, progress=False)
        seconds.append(time.perf_counter() - begun)
        values.append(model.value(loaded.X_test, loaded.y_test))
    return Others(loaded.name, name, PLAIN_CALL, values, model.history[-1].step, float(np.median(seconds)))


def _compile(prepared: dict[str, Prepared]) -> float:
    begun = time.perf_counter()
    for each in prepared.values():
        each.functions.compile()
        each.functions.scores(each.X_test[:1])
    return time.perf_counter() - begun


def _all_runs(prepared: dict[str, Prepared]) -> Iterator[Run]:
    from tqdm import tqdm

    per_dataset = len(SEEDS) * (len(TRAINED) + 3)
    # In a file or a pipe every redraw is a new line, so there it is redrawn every ten seconds only.
    pause = 0.1 if sys.stderr.isatty() else 10.0
    with tqdm(total=len(prepared) * per_dataset * STEPS, unit="step", unit_scale=True, mininterval=pause) as bar:
        for each in prepared.values():
            bar.set_description(each.name)
            for seed in SEEDS:
                yield from _runs_of_seed(each, seed, lambda step: bar.update())


def _runs_of_seed(prepared: Prepared, seed: int, on_step) -> Iterator[Run]:
    def trained(part: Prepared, algorithm: str, measure: str, held=None) -> list[Reading]:
        problem = Problem(float(np.mean(part.signs > 0)), 0.5 / len(part.signs))
        recipe = recipe_for(measure, problem, algorithm)
        return run(part, recipe, seed, CHECKPOINTS, held=held, on_step=on_step)

    name = prepared.name
    for measure in TRAINED:
        yield Run(name, DIRECT[measure], measure, seed, trained(prepared, "auto", measure), None)
    yield Run(name, PLAIN, None, seed, trained(prepared, "cross_entropy", "f1"), None)
    yield Run(name, WEIGHTED, None, seed, trained(prepared, "class_weighted", "f1"), None)
    part, held, held_signs = prepared.split(seed)
    yield Run(name, TUNED, None, seed, trained(part, "cross_entropy", "f1", held), held_signs)


def _values(prepared: Prepared, one: Run, measure) -> list[float]:
    """Test value of a run at every checkpoint."""
    signs = prepared.signs_test
    if one.held_signs is None:
        return [value_at_zero(measure, reading.scores, signs) for reading in one.readings]
    return [value_tuned(measure, reading, signs, one.held_signs) for reading in one.readings]


def _runs_for(prepared: Prepared, runs: list[Run], name: str) -> dict[str, list[Run]]:
    """The runs that compete on a measure, by method, the direct one first."""
    trained = "bakld" if name == "kld" else name
    mine = [one for one in runs if one.dataset == prepared.name and one.trained_for in (None, trained)]
    return {method: [one for one in mine if one.method == method] for method in (DIRECT[name], PLAIN, WEIGHTED, TUNED)}


def _tweet_rows() -> list[dict[str, Any]]:
    """An LSTM on the embedded tweets, trained by DENIM, cross-entropy and its class-weighted form."""
    tweets = load_tweets(None, networks=("lstm",))
    signs = tweets.main_test.signs
    plan = Plan(SEEDS, TWEET_STEPS, (TWEET_STEPS,), 1)
    last = {name: [train_one(tweets, "lstm", name, seed, plan).curve[-1] for seed in SEEDS] for name in TWEET_METHODS}
    return [
        _row("tweets", name, TWEET_METHODS[objective], [point[name] for point in points], signs, TWEET_STEPS, seconds)
        for name in ("bakld", "kld")
        for objective, points in last.items()
        for seconds in [float(np.median([point["seconds"] for point in points]))]
    ]


def _rows(prepared: Prepared, runs: list[Run], others: list[Others]) -> list[dict[str, Any]]:
    rows, signs = [], prepared.signs_test
    for name in DIRECT:
        measure = measures.get(name)
        for method, competing in _runs_for(prepared, runs, name).items():
            finals = [_values(prepared, one, measure)[-1] for one in competing]
            seconds = float(np.median([one.readings[-1].seconds for one in competing]))
            rows.append(_row(prepared.name, name, method, finals, signs, STEPS, seconds))
        for one in others:
            if (one.dataset, one.measure) == (prepared.name, name):
                rows.append(_row(prepared.name, name, one.method, one.values, signs, one.steps, one.seconds))
    return rows


def _row(
    dataset: str, name: str, method: str, values: list[float], signs: np.ndarray, steps: int | None, seconds: float
) -> dict[str, Any]:
    """A row of the table: a method's test values, and the trivial one of these labels."""
    measure = measures.get(name)
    return {
        "dataset": dataset,
        "measure": name,
        "method": method,
        "test_value": float(np.median(values)),
        "greater_is_better": measure.greater_is_better,
        "trivial_value": measure.trivial(float(np.mean(signs > 0)), 0.5 / len(signs)),
        "seed_values": values,
        "steps": steps,
        "seconds": round(seconds, 3),
    }


def _curves(prepared: Prepared, runs: list[Run]) -> list[plots.Panel]:
    panels = []
    for name in ("min", "qmean", "f1", "kld"):
        measure = measures.get(name)
        curves = {
            method: np.array([_values(prepared, one, measure) for one in competing])
            for method, competing in _runs_for(prepared, runs, name).items()
        }
        trivial = measure.trivial(prepared.test_prior, 0.5 / len(prepared.signs_test))
        panels.append(plots.Panel(measure, CHECKPOINTS, curves, trivial))
    return panels


def _table(rows: list[dict]) -> str:
    lines = [
        "",
        f"Test data, median of {len(SEEDS)} seeds [lowest, highest]. Larger is better but for kld.",
        f"{'data':<8}{'measure':<9}{'method':<23}{'value':>9}   {'spread':<20}{'trivial':>9}{'seconds':>9}",
    ]
    previous = None
    for row in rows:
        if previous not in (None, (row["dataset"], row["measure"])):
            lines.append("")
        previous = (row["dataset"], row["measure"])
        digits = ".4f" if row["greater_is_better"] else ".1e"
        spread = "[" + ", ".join(format(pick(row["seed_values"]), digits) for pick in (min, max)) + "]"
        lines.append(
            f"{row['dataset']:<8}{row['measure']:<9}{row['method']:<23}{row['test_value']:>9{digits}}   {spread:<20}"
            f"{row['trivial_value']:>9{digits}}{row['seconds']:>9.2f}"
        )
    return "\n".join(lines)
