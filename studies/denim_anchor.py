"""Which anchor should DENIM have? The choice of the default recipes for text and for tables, on held-out training rows.

An anchor is a driver with constant weights. DENIM-NS on BAKLD is trained after each anchor and mixed with it, and the
anchors are trained alone. Every seed holds out 30 % of a training set; test sets are not used. The prevalence is
estimated by counting labels, in resampled sets of 500 held-out rows, at their own prevalence and at prevalences from
5 % to 95 % (drift). The criterion, fixed beforehand: less KLD under drift, and no more at the own prevalence.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import data, drivers, measures, metrics
from aesara_nondecomp.metrics.prevalence_shift import prevalence_errors, prevalence_shift
from aesara_nondecomp.networks import make
from aesara_nondecomp.training.recipes import Phase, Problem, Recipe
from benchmarks.data import load
from benchmarks.experiment import prepare, write_json
from benchmarks.twitter.loading import TEXT_NETWORKS

SAMPLE_SIZE = 500
TEXTS = {"twitter": None, "vader_tweets": None, "sentences, 77.4 %": 0.774, "sentences, 22.6 %": 0.226}
"""Text sets, and the prevalence to which rows of one class are left out."""
TABLES = ("a9a", "ijcnn1", "kdd04")


def halfway(prior: float) -> float:
    """Weight of the positives with half the log-odds of the prior: between cross-entropy and equal weights."""
    return prior**0.5 / (prior**0.5 + (1 - prior) ** 0.5)


ANCHORS: dict[str, Callable[[float], drivers.FixedWeights]] = {
    "cross-entropy": drivers.CrossEntropy,
    "half-way": lambda prior: drivers.ClassWeighted(prior, halfway(prior)),
    "class-weighted": drivers.ClassWeighted,
}


class Rows(NamedTuple):
    """Encoded rows, their split for one seed, and a network."""

    X: Any
    signs: np.ndarray
    kept: np.ndarray
    held: np.ndarray
    functions: an.TrainFunctions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--data-dir", required=True, help="folder of the data sets")
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds, from 0 (default 3)")
    parser.add_argument("--json", help="file to write every run to")


def main(options: argparse.Namespace) -> int:
    """Train with every anchor on every set, and print means over the seeds."""
    seeds = range(options.seeds)
    runs: list[dict[str, Any]] = []
    print("| data | network | trained by | drift KLD [seeds] | own share KLD | balanced accuracy |")
    print("|---|---|---|---|---|---|")
    for name in (*TEXTS, *TABLES):
        for network, of_seeds in _problems(name, seeds, options.data_dir):
            of_set = [
                {
                    "data": name,
                    "network": network,
                    "method": method,
                    "seed": seed,
                    **_errors(rows, recipe, seed, network),
                }
                for seed, rows in zip(seeds, of_seeds)
                for method, recipe in _recipes(rows).items()
            ]
            print(_lines(of_set), flush=True)
            runs += of_set
    if options.json:
        write_json(options.json, {"runs": runs})
    return 0


def _recipes(rows: Rows) -> dict[str, Recipe]:
    signs = rows.signs[rows.kept]
    problem = Problem(float(np.mean(signs > 0)), 0.5 / len(signs))
    recipes = {}
    for name, anchor_for in ANCHORS.items():
        anchor = anchor_for(problem.prior)
        inner = drivers.DENIM(measures.BAKLD(), problem.prior, counts=True, forgetting=0.98, cap=2.0, eps=problem.eps)
        recipes[f"DENIM, {name}"] = Recipe((Phase(drivers.WarmStart(anchor, 50, drivers.Mix(inner, anchor))),))
        recipes[name] = Recipe((Phase(anchor),))
    return recipes


def _problems(name: str, seeds: range, data_dir: str) -> Iterator[tuple[str, Iterator[Rows]]]:
    """Each network, with the rows of each seed."""
    if name in TABLES:
        table = prepare(name, data_dir)
        parts = (data.stratified_split(table.signs, 0.3, seed, table.groups) for seed in seeds)
        yield "mlp", (Rows(table.X, table.signs, kept, held, table.functions) for kept, held in parts)
        return
    texts, signs = _texts(name, data_dir)
    for network in TEXT_NETWORKS:
        yield network, (_encoded(texts, signs, network, seed) for seed in seeds)


def _encoded(texts: list[str], signs: np.ndarray, network: str, seed: int) -> Rows:
    kept, held = data.stratified_split(signs, 0.3, seed)
    vocabulary = data.Vocabulary.learn([texts[row] for row in kept])
    return Rows(vocabulary.transform(texts), signs, kept, held, an.TrainFunctions(make(network, len(vocabulary))))


def _texts(name: str, data_dir: str) -> tuple[list[str], np.ndarray]:
    share = TEXTS[name]
    loaded = load(name if share is None else "sentiment_sentences", data_dir)
    signs = np.where(loaded.y_train > 0, 1, -1)
    if share is None:
        return loaded.X_train, signs
    fewer = -1 if share > 0.5 else 1
    odds = min(share, 1 - share) / max(share, 1 - share)
    rare, common = np.flatnonzero(signs == fewer), np.flatnonzero(signs != fewer)
    rare = np.random.default_rng(0).choice(rare, round(len(common) * odds), replace=False)
    rows = np.sort(np.concatenate([rare, common]))
    return [loaded.X_train[row] for row in rows], signs[rows]


def _errors(rows: Rows, recipe: Recipe, seed: int, network: str) -> dict[str, float]:
    """Train on the kept rows, and evaluate on the held ones."""
    steps, batch_size = (2000, 512) if network == "mlp" else (300, 128)
    X, signs = rows.X[rows.kept], rows.signs[rows.kept]
    options: dict[str, Any] = {"algorithm": recipe, "network": rows.functions, "steps": steps, "batch_size": batch_size}
    model = an.fit(X, signs, "bakld", standardize=False, seed=seed, progress=False, **options)
    scores, signs = model.decision_function(rows.X[rows.held]), rows.signs[rows.held]
    return {
        "drift": _drift(scores, signs),
        "own": _own_prevalence(scores, signs),
        "balanced_accuracy": float(
            metrics.score("balanced_accuracy", metrics.confusion_at_threshold(scores, signs, 0.0))
        ),
    }


def _drift(scores: np.ndarray, signs: np.ndarray) -> float:
    shift = prevalence_shift(scores, signs, {"cc": lambda s: float(np.mean(s > 0))}, sample_size=SAMPLE_SIZE)
    inside = (shift.prevalences > 0) & (shift.prevalences < 1)
    return _mean_kld(shift.prevalences[inside], shift.estimates["cc"][inside])


def _own_prevalence(scores: np.ndarray, signs: np.ndarray) -> float:
    rng = np.random.default_rng(0)
    sets = [rng.integers(len(signs), size=SAMPLE_SIZE) for _ in range(100)]
    return _mean_kld([np.mean(signs[rows] > 0) for rows in sets], [np.mean(scores[rows] > 0) for rows in sets])


def _mean_kld(true: Any, estimates: Any) -> float:
    return float(np.mean(prevalence_errors(true, estimates, 0.5 / SAMPLE_SIZE)["kld"]))


def _lines(runs: list[dict[str, Any]]) -> str:
    lines = []
    for method in dict.fromkeys(run["method"] for run in runs):
        own = [run for run in runs if run["method"] == method]
        drift, at_own, accuracy = ([run[key] for run in own] for key in ("drift", "own", "balanced_accuracy"))
        cells = f"{np.mean(drift):.4f} [{', '.join(f'{value:.3f}' for value in drift)}]"
        about = f"{own[0]['data']} | {own[0]['network']} | {method}"
        lines.append(f"| {about} | {cells} | {np.mean(at_own):.5f} | {np.mean(accuracy):.3f} |")
    return "\n".join(lines)
