"""How the study estimates a prevalence from scores, and the errors on resampled test sets."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from aesara_nondecomp import metrics
from aesara_nondecomp.metrics.prevalence_shift import PrevalenceShift, prevalence_errors, prevalence_shift
from aesara_nondecomp.metrics.quantification import Quantifier
from benchmarks.twitter.types import Plan, Run, Tweets

PRIOR_ONLY = "training prior"
ERRORS = ("kld_mean", "ae_mean", "kld_5", "kld_50", "kld_95")
SAMPLE_SIZE = 500  # tweets in a resampled test set
DRIFT = (0.05, 0.95)
Estimators = Mapping[str, Callable[[np.ndarray], float]]


def estimators(scores: np.ndarray, signs: np.ndarray) -> dict[str, Callable[[np.ndarray], float]]:
    """The ways to estimate a prevalence from scores, with what they need measured on held-out rows."""
    quantifier = Quantifier.fit(scores, signs, 0.0)
    threshold, _ = metrics.best_threshold("kld", scores, signs)
    return {
        "cc": lambda test: quantifier.prevalence(test, "cc"),
        "tuned": lambda test: float(np.mean(test > threshold)),
        "acc": lambda test: quantifier.prevalence(test, "acc"),
        "sld": lambda test: quantifier.prevalence(test, "sld"),
    }


def errors_of_run(tweets: Tweets, run: Run, plan: Plan) -> list[dict[str, Any]]:
    """Errors of each estimator of one run, on each kind of resampled test set."""
    rows = []
    for kind, shift in _shifts(tweets, run.scores, run.estimators, plan):
        for reading, estimates in shift.estimates.items():
            about = {"network": run.network, "objective": run.objective, "reading": reading, "seed": run.seed}
            rows.append({**about, "sets": kind, **_errors(shift, estimates)})
    return rows


def errors_of_prior(tweets: Tweets, plan: Plan) -> list[dict[str, Any]]:
    """The same for the training prior as the estimate of every set."""
    prior = float(np.mean(tweets.signs > 0))
    scores = {name: np.zeros(len(test.signs)) for name, test in tweets.tests.items()}
    about = {"network": "none", "objective": PRIOR_ONLY, "reading": "", "seed": 0}
    return [
        {**about, "sets": kind, **_errors(shift, shift.estimates[""])}
        for kind, shift in _shifts(tweets, scores, {"": lambda test: prior}, plan)
    ]


def _shifts(
    tweets: Tweets, scores: Mapping[str, np.ndarray], estimators: Estimators, plan: Plan
) -> Iterator[tuple[str, PrevalenceShift]]:
    """Estimates on sets at the prevalence of each test set, and on sets of the main one at other prevalences."""
    for name, test in tweets.tests.items():
        yield name, _at_own_prevalence(scores[name], test.signs, estimators, 10 * plan.repeats)
    main = next(iter(tweets.tests))
    signs = tweets.main_test.signs
    drift = prevalence_shift(scores[main], signs, estimators, sample_size=SAMPLE_SIZE, repeats=plan.repeats)
    inside = (drift.prevalences > DRIFT[0] - 1e-9) & (drift.prevalences < DRIFT[1] + 1e-9)
    kept = {name: estimates[inside] for name, estimates in drift.estimates.items()}
    yield "drift", drift._replace(prevalences=drift.prevalences[inside], estimates=kept)


def _at_own_prevalence(scores: np.ndarray, signs: np.ndarray, estimators: Estimators, repeats: int) -> PrevalenceShift:
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


def summarize(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Medians over the seeds, and the range of the mean KLD."""

    def key(row: dict[str, Any]) -> tuple[str, ...]:
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
