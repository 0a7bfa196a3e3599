"""The case study of the paper: shares of positive tweets, by networks trained end to end from raw text.

An LSTM and an attention network, each trained by DENIM and DENIM-NS on KLD and on BAKLD, by cross-entropy and by
class-weighted cross-entropy (ANN-p), on the same 80 % of the training tweets; and by DENIM-NS on BAKLD with the recipe
for tables, which anchors DENIM by cross-entropy where the recipe for text takes the class-weighted form.

Shares are read by counting labels, by counting above a threshold tuned on the other 20 %, by counts adjusted with the
rates measured there, and (for comparison) by expectation-maximisation; and there is the predictor that answers with the
share in training. All are judged on many resampled test sets: at the test set's own share, and at shares from 5 % to
95 %. With --data-dir, SemEval-2016 subtasks B and D, and the test set of 2017 as a natural shift; without, the embedded
tweets.

`twitter_judging` has the judging, `twitter_report` the tables and the report, `twitter_pictures` the pictures.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import data, measures, metrics
from aesara_nondecomp._checks import positive_int, require
from aesara_nondecomp.training.param_checks import TEXT_NETWORKS
from aesara_nondecomp.training.recipes import Problem, Recipe, recipe_for
from benchmarks import twitter_pictures as pictures
from benchmarks import twitter_report as report
from benchmarks.experiment import write_json
from benchmarks.twitter_judging import estimators, judged, prior_rows, summarised

OBJECTIVES = {
    report.FOR_TABLES: ("denim_ns", "bakld"),
    "DENIM on BAKLD": ("denim", "bakld"),
    "DENIM-NS on BAKLD": ("denim_ns", "bakld"),
    "DENIM on KLD": ("denim", "kld"),
    "DENIM-NS on KLD": ("denim_ns", "kld"),
    "cross-entropy": ("cross_entropy", "kld"),
    "class-weighted (ANN-p)": ("class_weighted", "kld"),
}
BATCH_SIZE = 128


class Plan(NamedTuple):
    """How much is run."""

    seeds: tuple[int, ...]
    steps: int
    checkpoints: tuple[int, ...]
    repeats: int
    """Resampled sets per prevalence of the drift; ten times as many at the test set's own."""


FULL = Plan((0, 1, 2), 300, (10, 20, 40, 60, 100, 150, 200, 300), 20)
QUICK = Plan((0,), 120, (20, 40, 80, 120), 10)


class Tweets(NamedTuple):
    """Encoded data and one compiled step per network."""

    name: str
    vocabulary: data.Vocabulary
    X: np.ndarray
    signs: np.ndarray
    tests: dict[str, tuple[list[str], np.ndarray, np.ndarray]]
    """Texts, ids and signs by name of the test set; the first is the main one."""
    functions: dict[str, an.TrainFunctions]


class Run(NamedTuple):
    """One trained network: its test curve, its final scores, and how its shares are read."""

    network: str
    objective: str
    seed: int
    curve: list[dict[str, float]]
    scores: dict[str, np.ndarray]
    estimators: dict[str, Callable[[np.ndarray], float]]
    parameters: list[np.ndarray]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--data-dir", help="folder of the data sets; without it the embedded tweets are used")
    parser.add_argument("--out", default="out/twitter", help="folder for runs and results (default out/twitter)")
    parser.add_argument("--seeds", type=int, help=f"number of seeds (default {len(FULL.seeds)})")
    parser.add_argument("--first-seed", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument("--quick", action="store_true", help="one seed, 120 steps, fewer test sets")


def main(options: argparse.Namespace) -> int:
    """Train and judge what is not yet there, and write results.json, the report with its pictures, attention.html."""
    plan = _plan(options)
    tweets = load(options.data_dir)
    runs = all_runs(tweets, plan, options.out)
    results = [row for run in runs for row in run["rows"]] + prior_rows(tweets, plan)
    summary = summarised(results)
    print(report.table([*tweets.tests, "drift"], summary))
    told = report.claims(tweets.name, summary)
    print("\n" + "\n".join(f"paper: {claim['paper']}\n  here: {claim['measured']}" for claim in told))
    curves = [{name: run[name] for name in ("network", "objective", "seed", "curve")} for run in runs]
    content = {"data": tweets.name, "facts": facts(tweets), "plan": plan._asdict(), "claims": told, "summary": summary}
    write_json(os.path.join(options.out, "results.json"), {**content, "rows": results, "runs": curves})
    report.write({**content, "rows": results}, os.path.join(options.out, "twitter.md"))
    pictures.draw_convergence(curves, tweets.name, os.path.join(options.out, "twitter-convergence.png"))
    pictures.draw_drift(summary, tweets.name, os.path.join(options.out, "twitter-drift.png"))
    shown = [pictures.Attended(*tweet) for tweet in next(run["attended"] for run in runs if run["attended"])]
    pictures.draw_attention(shown, os.path.join(options.out, "attention.png"))
    pictures.write_attention(shown, os.path.join(options.out, "attention.html"))
    print(f"\nWritten to {options.out}: results.json, twitter.md with its pictures, attention.png and attention.html.")
    return 0


def _plan(options: argparse.Namespace) -> Plan:
    plan = QUICK if options.quick else FULL
    count = len(plan.seeds) if options.seeds is None else positive_int("--seeds", options.seeds)
    return plan._replace(seeds=tuple(range(options.first_seed, options.first_seed + count)))


# -- data ------------------------------------------------------------------------------------------------------------


def load(data_dir: str | None, networks: tuple[str, ...] = tuple(TEXT_NETWORKS)) -> Tweets:
    """Load and encode the tweets, and build (not yet compile) the networks."""
    first = data.load("twitter" if data_dir else "vader_tweets", data_dir)
    loaded = [first, data.load("twitter2017", data_dir)] if data_dir else [first]
    vocabulary = data.Vocabulary.learn(first.X_train)
    tests = {each.name: (each.X_test, vocabulary.transform(each.X_test), _signs(each.y_test)) for each in loaded}
    functions = {name: an.TrainFunctions(TEXT_NETWORKS[name](len(vocabulary))) for name in networks}
    return Tweets(first.name, vocabulary, vocabulary.transform(first.X_train), _signs(first.y_train), tests, functions)


def facts(tweets: Tweets) -> dict[str, dict[str, float]]:
    """Rows and share of positives of the training tweets and of each test set."""
    signs = {"training": tweets.signs, **{name: test[2] for name, test in tweets.tests.items()}}
    return {name: {"rows": len(own), "positives": float(np.mean(own > 0))} for name, own in signs.items()}


def _signs(y: np.ndarray) -> np.ndarray:
    return np.where(y > 0, 1, -1)


# -- training --------------------------------------------------------------------------------------------------------


def all_runs(tweets: Tweets, plan: Plan, folder: str) -> list[dict[str, Any]]:
    """The record of every network with every objective and seed; those that are in the folder are not run again."""
    from tqdm import tqdm

    grid = tqdm(list(itertools.product(plan.seeds, tweets.functions, OBJECTIVES)), unit="run", mininterval=10)
    return [_record(tweets, network, objective, seed, plan, folder) for seed, network, objective in grid]


def _record(tweets: Tweets, network: str, objective: str, seed: int, plan: Plan, folder: str) -> dict[str, Any]:
    """Curve and errors of one run, and the tweets of the attention figure, by way of its file."""
    path = os.path.join(folder, "runs", f"{network}, {objective}, {seed}.json")
    settings = {**plan._asdict(), "data": tweets.name, "checkpoints": list(plan.checkpoints)}
    del settings["seeds"]
    if not os.path.exists(path):
        run = trained(tweets, network, objective, seed, plan)
        about = {"network": network, "objective": objective, "seed": seed, "settings": settings, "curve": run.curve}
        shown = attended(tweets, run) if (network, objective) == ("attention", report.DENIM) else []
        write_json(path, {**about, "rows": judged(tweets, run, plan), "attended": shown})
    with open(path, encoding="utf-8") as file:
        record = json.load(file)
    require(record["settings"] == settings, f"{path} is of a run like this one; choose another --out", "another one")
    for row in record["rows"]:
        row["kld_by_share"] = {float(share): kld for share, kld in row["kld_by_share"].items()}
    return record


def trained(tweets: Tweets, network: str, objective: str, seed: int, plan: Plan) -> Run:
    """Train one network; its test curve is of the averaged weights, by counts at threshold 0."""
    functions = tweets.functions[network]
    kept, held = data.stratified_split(tweets.signs, 0.2, seed)
    signs = tweets.signs[kept]
    prior = float(np.mean(signs > 0))
    curve: list[dict[str, float]] = []
    X_test, signs_test = _sampled(tweets)

    def read(step) -> None:
        if step.step in plan.checkpoints:
            with functions.using(functions.averaged_parameters()):
                found = metrics.confusion_at_threshold(functions.scores(X_test), signs_test)
            errors = {name: float(metrics.score(name, found)) for name in ("kld", "ae", "bakld", "balanced_accuracy")}
            curve.append({"step": step.step, "samples": step.samples, "seconds": step.seconds, **errors})

    model = an.fit(
        tweets.X[kept],
        signs,
        OBJECTIVES[objective][1],
        recipe=recipe(objective, Problem(prior, 0.5 / len(signs), text=True)),
        functions=functions,
        steps=plan.steps,
        batch_size=min(BATCH_SIZE, len(signs)),
        seed=seed,
        on_step=read,
    )
    scores = {name: model.decision_function(X) for name, (_, X, _) in tweets.tests.items()}
    reading = estimators(model.decision_function(tweets.X[held]), tweets.signs[held])
    return Run(network, objective, seed, curve, scores, reading, model.parameters)


def recipe(objective: str, problem: Problem) -> Recipe:
    """How an objective is trained: the default recipe for text, or for tables."""
    algorithm, measure = OBJECTIVES[objective]
    return recipe_for(measure, problem._replace(text=objective != report.FOR_TABLES), algorithm)


def _sampled(tweets: Tweets, count: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the main test set for the curves: scoring all of them would take as long as the training."""
    _, X, signs = next(iter(tweets.tests.values()))
    rows = np.random.default_rng(0).permutation(len(signs))[:count]
    return X[rows], signs[rows]


def demo_rows(seeds: tuple[int, ...] = (0, 1, 2), steps: int = 200) -> list[dict[str, Any]]:
    """Rows of the demo's table: an LSTM on the embedded tweets, by DENIM, cross-entropy and its weighted form."""
    tweets = load(None, networks=("lstm",))
    signs = next(iter(tweets.tests.values()))[2]
    plan = Plan(seeds, steps, (steps,), 1)
    methods = {
        "DENIM on BAKLD": "DENIM",
        "cross-entropy": "cross-entropy at 0.5",
        "class-weighted (ANN-p)": "class-weighted",
    }
    runs = {name: [trained(tweets, "lstm", name, seed, plan).curve[-1] for seed in seeds] for name in methods}
    return [
        {
            "dataset": "tweets",
            "measure": measure,
            "method": methods[name],
            "test_value": float(np.median([end[measure] for end in ends])),
            "greater_is_better": measures.get(measure).greater_is_better,
            "trivial_value": measures.get(measure).trivial(float(np.mean(signs > 0)), 0.5 / len(signs)),
            "seed_values": [end[measure] for end in ends],
            "steps": steps,
            "seconds": round(float(np.median([end["seconds"] for end in ends])), 3),
        }
        for measure in ("bakld", "kld")
        for name, ends in runs.items()
    ]


# -- attention -------------------------------------------------------------------------------------------------------


def attended(tweets: Tweets, run: Run, count: int = 12) -> list[pictures.Attended]:
    """Test tweets of 5 to 18 words that the network is surest of, half of each sign, with the weight of each word."""
    texts, X, _ = next(iter(tweets.tests.values()))
    functions, scores = tweets.functions[run.network], next(iter(run.scores.values()))
    lengths = np.count_nonzero(X, axis=1)
    usable = (lengths >= 5) & (lengths <= 18) & np.array([text.isascii() for text in texts])
    order = np.argsort(np.where(usable, scores, np.nan))[: int(usable.sum())]  # NaN sorts last
    # One in ten of the surest, so that the tweets shown are not all of the same few words.
    chosen = [*order[::-1][: 5 * count : 10], *order[: 5 * count : 10]]
    with functions.using(run.parameters):
        weights = functions.extra("attention_weights", X[chosen])
    return [
        pictures.Attended(tweets.vocabulary.tokens(texts[row]), weights[k, : lengths[row]].tolist(), float(scores[row]))
        for k, row in enumerate(chosen)
    ]
