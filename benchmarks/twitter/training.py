"""Train the networks of the study; finished runs are stored and not run again."""

from __future__ import annotations

import itertools
import json
import os
from typing import Any

import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import data, metrics
from aesara_nondecomp._checks import require
from aesara_nondecomp.training.recipes import Problem
from benchmarks.experiment import write_json
from benchmarks.twitter.evaluation import errors_of_run, estimators
from benchmarks.twitter.objectives import DENIM, OBJECTIVES, recipe
from benchmarks.twitter.types import Attended, Plan, Run, Tweets

BATCH_SIZE = 128
CURVE_ROWS = 4000  # test tweets of the curves: scoring all of them would take as long as the training


def all_runs(tweets: Tweets, plan: Plan, folder: str) -> list[dict[str, Any]]:
    """The record of every network with every objective and seed."""
    from tqdm import tqdm

    grid = tqdm(list(itertools.product(plan.seeds, tweets.functions, OBJECTIVES)), unit="run", mininterval=10)
    return [_record(tweets, network, objective, seed, plan, folder) for seed, network, objective in grid]


def _record(tweets: Tweets, network: str, objective: str, seed: int, plan: Plan, folder: str) -> dict[str, Any]:
    """Curve and errors of one run, and the tweets of the attention figure; always read back from its file."""
    path = os.path.join(folder, "runs", f"{network}, {objective}, {seed}.json")
    settings = {**plan._asdict(), "data": tweets.name, "checkpoints": list(plan.checkpoints)}
    del settings["seeds"]
    if not os.path.exists(path):
        run = train_one(tweets, network, objective, seed, plan)
        about = {"network": network, "objective": objective, "seed": seed, "settings": settings, "curve": run.curve}
        shown = _attended(tweets, run) if (network, objective) == ("attention", DENIM) else []
        write_json(path, {**about, "rows": errors_of_run(tweets, run, plan), "attended": shown})
    with open(path, encoding="utf-8") as file:
        record = json.load(file)
    require(
        record["settings"] == settings, f"{path} must be of a run with these settings; choose another --out", "others"
    )
    for row in record["rows"]:
        row["kld_by_share"] = {float(share): kld for share, kld in row["kld_by_share"].items()}
    return record


def train_one(tweets: Tweets, network: str, objective: str, seed: int, plan: Plan) -> Run:
    """Train one network; its test curve is that of the averaged weights, on hard predictions at threshold 0."""
    functions = tweets.functions[network]
    kept, held = data.stratified_split(tweets.signs, 0.2, seed)
    signs = tweets.signs[kept]
    prior = float(np.mean(signs > 0))
    curve: list[dict[str, float]] = []
    X_test, signs_test = _curve_rows(tweets)

    def read(step: Any) -> None:
        if step.step in plan.checkpoints:
            with functions.using(functions.averaged_parameters()):
                found = metrics.confusion_at_threshold(functions.scores(X_test), signs_test, 0.0)
            errors = {name: float(metrics.score(name, found)) for name in ("kld", "ae", "bakld", "balanced_accuracy")}
            curve.append({"step": step.step, "samples": step.samples, "seconds": step.seconds, **errors})

    model = an.fit(
        tweets.X[kept],
        signs,
        OBJECTIVES[objective][1],
        algorithm=recipe(objective, Problem(prior, 0.5 / len(signs), text=True)),
        network=functions,
        steps=plan.steps,
        batch_size=min(BATCH_SIZE, len(signs)),
        schedule="constant",
        validation=None,
        seed=seed,
        on_step=read,
    )
    scores = {name: model.decision_function(test.ids) for name, test in tweets.tests.items()}
    reading = estimators(model.decision_function(tweets.X[held]), tweets.signs[held])
    return Run(network, objective, seed, curve, scores, reading, model.parameters)


def _curve_rows(tweets: Tweets) -> tuple[np.ndarray, np.ndarray]:
    """A random sample of the main test set."""
    test = tweets.main_test
    rows = np.random.default_rng(0).permutation(len(test.signs))[:CURVE_ROWS]
    return test.ids[rows], test.signs[rows]


def _attended(tweets: Tweets, run: Run, count: int = 12) -> list[Attended]:
    """Test tweets of 5 to 18 words with the most certain predictions, half of each sign, and their word weights."""
    test = tweets.main_test
    functions, scores = tweets.functions[run.network], next(iter(run.scores.values()))
    lengths = np.count_nonzero(test.ids, axis=1)
    usable = (lengths >= 5) & (lengths <= 18) & np.array([text.isascii() for text in test.texts])
    order = np.argsort(np.where(usable, scores, np.nan))[: int(usable.sum())]  # NaN sorts last
    # Every tenth of the most certain ones, because neighbours are often of the same few words.
    chosen = [*order[::-1][: 5 * count : 10], *order[: 5 * count : 10]]
    with functions.using(run.parameters):
        weights = functions.extra("attention_weights", test.ids[chosen])
    return [
        Attended(tweets.vocabulary.tokens(test.texts[row]), weights[k, : lengths[row]].tolist(), float(scores[row]))
        for k, row in enumerate(chosen)
    ]
