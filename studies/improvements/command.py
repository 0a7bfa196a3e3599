"""Does direct training pay off? Direct drivers against cross-entropy with a threshold, with equal budgets.

All choices (learning rate, checkpoint, sampler, threshold) are made on validation rows. The test rows are scored after
all training is done, and only for what was chosen. Runs are stored, so an interrupted command can be resumed.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator

from aesara_nondecomp._files import replacing
from studies.improvements.choice import ScoredTest, choose, tree_values
from studies.improvements.methods import Method, methods
from studies.improvements.protocol import Cell, cells, load_runs, train_all
from studies.improvements.report import TREES, tables
from studies.improvements.variants import MEASURES

DATASETS = ("letter", "a9a", "ijcnn1", "codrna", "kdd04", "covtype")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--data-dir", help="folder of the data sets that the package does not carry")
    parser.add_argument("--out", required=True, help="folder for the runs, results.jsonl and tables.md")
    parser.add_argument("--datasets", nargs="+", default=list(DATASETS), choices=DATASETS, metavar="NAME")
    parser.add_argument("--measures", nargs="+", default=list(MEASURES), choices=MEASURES, metavar="NAME")
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds (default 5)")
    parser.add_argument("--first-seed", type=int, default=10, help="the first seed (default 10)")
    parser.add_argument("--development", action="store_true", help="use a fifth of the training rows as the test part")
    parser.add_argument("--wide", action="store_true", help="networks of 128-128 instead of 64-64")
    parser.add_argument("--trees", action="store_true", help="also boosted trees with a tuned threshold (scikit-learn)")


def main(options: argparse.Namespace) -> int:
    """Train, choose, score the test rows, write results.jsonl and tables.md."""
    if options.seeds < 1:
        raise ValueError(f"--seeds must be at least 1, got {options.seeds}")
    folder = os.path.join(options.out, "development" if options.development else "runs")
    for cell in _cells(options):
        train_all(cell, _variants(options), folder)
        print(f"trained {cell.dataset} seed {cell.seed}", flush=True)
    lines = [line for cell in _cells(options) for line in _results(cell, options, folder)]
    with replacing(os.path.join(options.out, "results.jsonl"), text=True) as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    text = tables(lines, options.measures)
    with replacing(os.path.join(options.out, "tables.md"), text=True) as file:
        file.write(text)
    print(text)
    return 0


def _cells(options: argparse.Namespace) -> Iterator[Cell]:
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    for dataset in options.datasets:
        yield from cells(dataset, seeds, options.data_dir, options.development)


def _methods(measure: str, options: argparse.Namespace) -> list[Method]:
    return methods(measure, options.development, options.wide)


def _variants(options: argparse.Namespace) -> list[str]:
    """Names of all variants that the methods need, once each."""
    rows = [method for measure in options.measures for method in _methods(measure, options)]
    return list(dict.fromkeys(name for method in rows for name in method.variants))


def _results(cell: Cell, options: argparse.Namespace, folder: str) -> Iterator[dict]:
    """One line per measure and method: what was chosen, and its values on validation and test rows."""
    runs = load_runs(cell, _variants(options), folder)
    test = ScoredTest(cell, folder)
    trees = tree_values(cell, options.measures) if options.trees else {}
    for measure in options.measures:
        about = {"dataset": cell.dataset, "seed": cell.seed, "measure": measure}
        for method in _methods(measure, options):
            chosen = choose(cell, runs, measure, method)
            if chosen:
                yield {
                    **about,
                    "method": method.name,
                    "value": test.value(measure, chosen, method.refit),
                    "held_value": chosen[0].held_value,
                    "chosen": [
                        [m.run.variant, m.run.rate, int(m.run.steps[m.checkpoint]), m.threshold] for m in chosen
                    ],
                }
        if trees:
            yield {**about, "method": TREES, "value": trees[measure]}
