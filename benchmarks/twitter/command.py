"""The command: train what is missing, and write the results, the report and the figures."""

from __future__ import annotations

import argparse
import os
from typing import Any

from aesara_nondecomp._checks import positive_int
from benchmarks.experiment import write_json
from benchmarks.twitter import plots, report
from benchmarks.twitter.evaluation import errors_of_prior, summarize
from benchmarks.twitter.loading import facts, load_tweets
from benchmarks.twitter.training import all_runs
from benchmarks.twitter.types import Attended, Plan

FULL = Plan((0, 1, 2), 300, (10, 20, 40, 60, 100, 150, 200, 300), 20)
QUICK = Plan((0,), 120, (20, 40, 80, 120), 10)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--data-dir", help="folder of the data sets; without it the embedded tweets are used")
    parser.add_argument("--out", default="out/twitter", help="folder for runs and results (default out/twitter)")
    parser.add_argument("--seeds", type=int, help=f"number of seeds (default {len(FULL.seeds)})")
    parser.add_argument("--first-seed", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument("--quick", action="store_true", help="one seed, 120 steps, fewer test sets")


def main(options: argparse.Namespace) -> int:
    """Run the study; runs that are already in the folder are read from there."""
    plan = _plan(options)
    tweets = load_tweets(options.data_dir)
    runs = all_runs(tweets, plan, options.out)
    results = [row for run in runs for row in run["rows"]] + errors_of_prior(tweets, plan)
    summary = summarize(results)
    claims = report.claims(tweets.name, summary)
    curves = [{name: run[name] for name in ("network", "objective", "seed", "curve")} for run in runs]
    about = {"data": tweets.name, "facts": facts(tweets), "plan": plan._asdict()}
    content = {**about, "claims": claims, "summary": summary}
    print(report.table([*tweets.tests, "drift"], summary))
    print("\n" + "\n".join(f"paper: {claim['paper']}\n  here: {claim['measured']}" for claim in claims))
    write_json(os.path.join(options.out, "results.json"), {**content, "rows": results, "runs": curves})
    report.write({**content, "rows": results}, os.path.join(options.out, "twitter.md"))
    _draw(options.out, tweets.name, runs, summary)
    print(f"\nWritten to {options.out}: results.json, twitter.md with its figures, attention.png and attention.html.")
    return 0


def _draw(folder: str, name: str, runs: list[dict[str, Any]], summary: list[dict[str, Any]]) -> None:
    plots.draw_convergence(runs, name, os.path.join(folder, "twitter-convergence.png"))
    plots.draw_drift(summary, name, os.path.join(folder, "twitter-drift.png"))
    attended = [Attended(*tweet) for tweet in next(run["attended"] for run in runs if run["attended"])]
    plots.draw_attention(attended, os.path.join(folder, "attention.png"))
    plots.write_attention(attended, os.path.join(folder, "attention.html"))


def _plan(options: argparse.Namespace) -> Plan:
    plan = QUICK if options.quick else FULL
    count = len(plan.seeds) if options.seeds is None else positive_int("--seeds", options.seeds)
    return plan._replace(seeds=tuple(range(options.first_seed, options.first_seed + count)))
