"""The case study of the paper: shares of positive tweets, by networks trained end to end from raw text.

An LSTM and an attention network, each trained by DENIM and DENIM-NS on KLD and on BAKLD, by cross-entropy and by
class-weighted cross-entropy (ANN-p), on the same 80 % of the training tweets; and by DENIM-NS on BAKLD with the latter
in the place of cross-entropy, for the half that the default recipe mixes in (the "weighted anchor").

Shares are read by counting labels, by counting above a threshold tuned on the other 20 %, by counts adjusted with the
rates measured there, and (for comparison) by expectation-maximisation; and there is the predictor that answers with the
share in training. All are judged on many resampled test sets: at the test set's own share, and at shares from 5 % to
95 %. With --data-dir, SemEval-2016 subtasks B and D, and the test set of 2017 as a natural shift; without, the embedded
tweets.
"""

from __future__ import annotations

import argparse
import itertools
import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import data, drivers, measures, metrics
from aesara_nondecomp._checks import positive_int
from aesara_nondecomp.protocols import PrevalenceShift, prevalence_errors, prevalence_shift
from aesara_nondecomp.quantification import Quantifier
from aesara_nondecomp.recipes import Phase, Problem, Recipe, recipe_for
from benchmarks import twitter_pictures as pictures
from benchmarks.experiment import write_json

WEIGHTED = "DENIM, weighted anchor"
OBJECTIVES = {
    WEIGHTED: ("denim_ns", "bakld"),
    "DENIM on BAKLD": ("denim", "bakld"),
    "DENIM-NS on BAKLD": ("denim_ns", "bakld"),
    "DENIM on KLD": ("denim", "kld"),
    "DENIM-NS on KLD": ("denim_ns", "kld"),
    "cross-entropy": ("cross_entropy", "kld"),
    "class-weighted (ANN-p)": ("class_weighted", "kld"),
}
READINGS = ("cc", "tuned", "acc", "sld")
PRIOR_ONLY = "training prior"
NETWORKS = ("attention", "lstm")
BATCH_SIZE = 128
ERRORS = ("kld_mean", "ae_mean", "kld_5", "kld_50", "kld_95")
HEADER = (
    f"{'network':<11}{'trained by':<24}{'read by':<9}{'mean':>9}  {'range':<19}"
    f"{'5 %':>10}{'50 %':>10}{'95 %':>10}{'AE':>8}"
)
SAMPLE_SIZE = 500  # tweets in a resampled test set
DRIFT = (0.05, 0.95)


class Plan(NamedTuple):
    """How much is run."""

    seeds: int
    steps: int
    checkpoints: tuple[int, ...]
    repeats: int
    """Resampled sets per prevalence of the drift; ten times as many at the test set's own."""


FULL = Plan(3, 300, (10, 20, 40, 60, 100, 150, 200, 300), 20)
QUICK = Plan(1, 120, (20, 40, 80, 120), 10)


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
    parser.add_argument("--out", default="out/twitter", help="folder for results and pictures (default out/twitter)")
    parser.add_argument("--seeds", type=int, help=f"number of seeds (default {FULL.seeds})")
    parser.add_argument("--quick", action="store_true", help="one seed, 120 steps, fewer test sets")


def main(options: argparse.Namespace) -> int:
    """Train everything, judge it, and write results.json, the pictures and attention.html."""
    plan = QUICK if options.quick else FULL
    plan = plan._replace(seeds=positive_int("--seeds", options.seeds)) if options.seeds is not None else plan
    tweets = load(options.data_dir)
    runs = list(all_runs(tweets, plan))
    results = [row for run in runs for row in judged(tweets, run, plan)]
    results += prior_rows(tweets, plan)
    summary = summarised(results)
    print(table(tweets, summary))
    told = claims(tweets.name, summary)
    print("\n" + "\n".join(f"paper: {claim['paper']}\n  here: {claim['measured']}" for claim in told))
    os.makedirs(options.out, exist_ok=True)
    curves = [{"network": r.network, "objective": r.objective, "seed": r.seed, "curve": r.curve} for r in runs]
    path = os.path.join(options.out, "results.json")
    content = {"data": tweets.name, "plan": plan._asdict(), "claims": told, "summary": summary, "rows": results}
    write_json(path, {**content, "runs": curves})
    pictures.draw_convergence(curves, tweets.name, os.path.join(options.out, "convergence.png"))
    pictures.draw_drift(summary, tweets.name, os.path.join(options.out, "drift.png"))
    shown = attended(tweets, next(r for r in runs if (r.network, r.objective) == ("attention", WEIGHTED)))
    pictures.draw_attention(shown, os.path.join(options.out, "attention.png"))
    pictures.write_attention(shown, os.path.join(options.out, "attention.html"))
    print(f"\nWritten: {path}; convergence.png, drift.png, attention.png and attention.html beside it.")
    return 0


# -- data ------------------------------------------------------------------------------------------------------------


def load(data_dir: str | None, networks: tuple[str, ...] = NETWORKS) -> Tweets:
    """Load and encode the tweets, and build (not yet compile) the networks."""
    first = data.load("twitter" if data_dir else "vader_tweets", data_dir)
    loaded = [first, data.load("twitter2017", data_dir)] if data_dir else [first]
    vocabulary = data.Vocabulary.learn(first.X_train)
    tests = {each.name: (each.X_test, vocabulary.transform(each.X_test), _signs(each.y_test)) for each in loaded}
    builders = {"attention": an.networks.attention, "lstm": an.networks.lstm}
    functions = {name: an.TrainFunctions(builders[name](len(vocabulary))) for name in networks}
    return Tweets(first.name, vocabulary, vocabulary.transform(first.X_train), _signs(first.y_train), tests, functions)


def _signs(y: np.ndarray) -> np.ndarray:
    return np.where(y > 0, 1, -1)


# -- training --------------------------------------------------------------------------------------------------------


def all_runs(tweets: Tweets, plan: Plan) -> Iterator[Run]:
    """Every network with every objective and seed."""
    from tqdm import tqdm

    grid = list(itertools.product(range(plan.seeds), tweets.functions, OBJECTIVES))
    for seed, network, objective in tqdm(grid, unit="run", mininterval=10):
        yield trained(tweets, network, objective, seed, plan)


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
                found = metrics.table_at_threshold(functions.scores(X_test), signs_test)
            errors = {name: float(metrics.score(name, found)) for name in ("kld", "ae", "bakld", "balanced_accuracy")}
            curve.append({"step": step.step, "samples": step.samples, "seconds": step.seconds, **errors})

    model = an.fit(
        tweets.X[kept],
        signs,
        OBJECTIVES[objective][1],
        recipe=recipe(objective, Problem(prior, 0.5 / len(signs))),
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
    """How an objective is trained: the default recipe, but for the anchor of `WEIGHTED`."""
    algorithm, measure = OBJECTIVES[objective]
    if objective != WEIGHTED:
        return recipe_for(measure, problem, algorithm)
    anchor = drivers.ClassWeighted(problem.prior)
    inner = drivers.DENIM(measures.BAKLD(), problem.prior, counts=True, forgetting=0.98, cap=2.0, eps=problem.eps)
    return Recipe((Phase(drivers.WarmStart(anchor, 50, drivers.Mix(inner, anchor))),))


def _sampled(tweets: Tweets, count: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the main test set for the curves: scoring all of them would take as long as the training."""
    _, X, signs = next(iter(tweets.tests.values()))
    rows = np.random.default_rng(0).permutation(len(signs))[:count]
    return X[rows], signs[rows]


def estimators(scores: np.ndarray, signs: np.ndarray) -> dict[str, Callable[[np.ndarray], float]]:
    """How a share is read from scores, with all that is measured on held-out rows."""
    quantifier = Quantifier.fit(scores, signs)
    threshold, _ = metrics.best_threshold("kld", scores, signs)
    return {
        "cc": lambda test: quantifier.prevalence(test, "cc"),
        "tuned": lambda test: float(np.mean(test > threshold)),
        "acc": lambda test: quantifier.prevalence(test, "acc"),
        "sld": lambda test: quantifier.prevalence(test, "sld"),
    }


def demo_rows(seeds: tuple[int, ...] = (0, 1, 2), steps: int = 200) -> list[dict[str, Any]]:
    """Rows of the demo's table: an LSTM on the embedded tweets, by DENIM, cross-entropy and its weighted form."""
    tweets = load(None, networks=("lstm",))
    signs = next(iter(tweets.tests.values()))[2]
    plan = Plan(len(seeds), steps, (steps,), 1)
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


# -- judging ---------------------------------------------------------------------------------------------------------


def judged(tweets: Tweets, run: Run, plan: Plan) -> list[dict[str, Any]]:
    """Errors of one run's readings, on each kind of resampled test set."""
    rows = []
    for kind, shift in _shifts(tweets, run.scores, run.estimators, plan):
        for reading, estimates in shift.estimates.items():
            about = {"network": run.network, "objective": run.objective, "reading": reading, "seed": run.seed}
            rows.append({**about, "sets": kind, **_errors(shift, estimates)})
    return rows


def prior_rows(tweets: Tweets, plan: Plan) -> list[dict[str, Any]]:
    """The same of the predictor that always answers with the share in training."""
    prior = float(np.mean(tweets.signs > 0))
    scores = {name: np.zeros(len(signs)) for name, (_, _, signs) in tweets.tests.items()}
    about = {"network": "none", "objective": PRIOR_ONLY, "reading": "", "seed": 0}
    return [
        {**about, "sets": kind, **_errors(shift, shift.estimates[""])}
        for kind, shift in _shifts(tweets, scores, {"": lambda test: prior}, plan)
    ]


def _shifts(tweets: Tweets, scores, estimators, plan: Plan) -> Iterator[tuple[str, PrevalenceShift]]:
    """Estimates on sets at the share of each test set, and on sets drawn from the main one at drifting shares."""
    main, size = next(iter(tweets.tests)), SAMPLE_SIZE
    for name, (_, _, signs) in tweets.tests.items():
        yield name, _at_own_share(scores[name], signs, estimators, 10 * plan.repeats)
    drift = prevalence_shift(scores[main], tweets.tests[main][2], estimators, sample_size=size, repeats=plan.repeats)
    inside = (drift.prevalences > DRIFT[0] - 1e-9) & (drift.prevalences < DRIFT[1] + 1e-9)
    kept = {name: estimates[inside] for name, estimates in drift.estimates.items()}
    yield "drift", drift._replace(prevalences=drift.prevalences[inside], estimates=kept)


def _at_own_share(scores, signs, estimators, repeats: int) -> PrevalenceShift:
    rng = np.random.default_rng(0)
    sets = [rng.integers(len(signs), size=SAMPLE_SIZE) for _ in range(repeats)]
    true = np.array([np.mean(signs[rows] > 0) for rows in sets])
    return PrevalenceShift(
        SAMPLE_SIZE, true, {name: np.array([e(scores[rows]) for rows in sets]) for name, e in estimators.items()}
    )


def _errors(shift: PrevalenceShift, estimates: np.ndarray) -> dict[str, Any]:
    errors = prevalence_errors(shift.prevalences, estimates, 0.5 / shift.sample_size)
    shares = np.round(shift.prevalences, 2)
    by_share = {float(p): float(np.mean(errors["kld"][shares == p])) for p in np.unique(shares)}
    return {
        **{f"{name}_mean": float(np.mean(errors[name])) for name in ("kld", "ae")},
        **{f"kld_{q}": float(np.quantile(errors["kld"], q / 100)) for q in (5, 50, 95)},
        "kld_by_share": by_share if len(by_share) < 30 else {},
    }


def summarised(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Medians over seeds, and the range of the mean KLD."""

    def key(row):
        return row["network"], row["objective"], row["reading"], row["sets"]

    summary = []
    for (network, objective, reading, kind), group in itertools.groupby(sorted(rows, key=key), key=key):
        own = list(group)
        means = [row["kld_mean"] for row in own]
        about = {"network": network, "objective": objective, "reading": reading, "sets": kind}
        by_share = _medians([row["kld_by_share"] for row in own])
        spread = {"range": [min(means), max(means)], "kld_by_share": by_share}
        summary.append({**about, **_medians([{name: row[name] for name in ERRORS} for row in own]), **spread})
    return summary


def _medians(rows: list[dict[Any, float]]) -> dict[Any, float]:
    return {name: float(np.median([row[name] for row in rows])) for name in rows[0]}


def table(tweets: Tweets, summary: list[dict[str, Any]]) -> str:
    """The summary as text, a block per kind of test set."""
    lines = []
    for kind in (*tweets.tests, "drift"):
        lines += ["", f"{kind}: KLD of {SAMPLE_SIZE} resampled tweets, mean [range over seeds]; quantiles; mean AE"]
        lines.append(HEADER)
        for row in sorted((r for r in summary if r["sets"] == kind), key=lambda r: r["kld_mean"]):
            low, high = row["range"]
            about = f"{row['network']:<11}{row['objective']:<24}{row['reading']:<9}{row['kld_mean']:>9.5f}"
            quantiles = "".join(f"{row[name]:>10.6f}" for name in ("kld_5", "kld_50", "kld_95"))
            lines.append(f"{about}  [{low:.5f}, {high:.5f}] {quantiles}{row['ae_mean']:>8.4f}")
    return "\n".join(lines)


def claims(tweets_name: str, summary: list[dict[str, Any]]) -> list[dict[str, str]]:
    """What the paper says of this study, and what was measured: by counting labels, beside the training prior."""

    def of(network: str, objective: str, kind: str, reading: str = "cc") -> dict[str, Any]:
        wanted = (network, objective, kind, reading)
        return next(r for r in summary if (r["network"], r["objective"], r["sets"], r["reading"]) == wanted)

    def at_own_share(network: str, objective: str) -> str:
        own, prior = of(network, objective, tweets_name), of("none", PRIOR_ONLY, tweets_name, "")
        spread = f"median {own['kld_50']:.5f} [{own['kld_5']:.6f}, {own['kld_95']:.5f}], mean {own['kld_mean']:.5f}"
        return f"{spread}; the training prior: mean {prior['kld_mean']:.5f}"

    def drift(network: str) -> str:
        chosen = itertools.product(("cc", "acc"), (WEIGHTED, "DENIM on BAKLD", "cross-entropy"))
        parts = [f"{name} {reading} {of(network, name, 'drift', reading)['kld_mean']:.4f}" for reading, name in chosen]
        prior = of("none", PRIOR_ONLY, "drift", "")["kld_mean"]
        return f"mean over the grid: {'; '.join(parts)}; {PRIOR_ONLY} {prior:.4f}"

    return [
        *(
            {"paper": said, "measured": f"{objective}: {at_own_share(network, objective)}"}
            for said, network in (("DENIM, LSTM: test KLD 0.007", "lstm"), ("DENIM, attention: 0.00002", "attention"))
            for objective in ("DENIM on BAKLD", WEIGHTED)
        ),
        {"paper": "cross-entropy with attention: unable", "measured": at_own_share("attention", "cross-entropy")},
        {"paper": "DENIM with attention: near zero at any drift", "measured": drift("attention")},
        {"paper": "DENIM with LSTM: robust to some drift", "measured": drift("lstm")},
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
