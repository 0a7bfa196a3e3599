"""Estimators, summaries, tables and the attention page of the Twitter study."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.twitter import evaluation, objectives, report
from benchmarks.twitter.loading import TEXT_NETWORKS
from benchmarks.twitter.plots import write_attention
from benchmarks.twitter.types import Attended, EvaluationSet, Plan, Tweets


def scored(n=4000, prior=0.7, separation=2.0, seed=0):
    """Signs, and scores that tell them apart with errors."""
    rng = np.random.default_rng(seed)
    signs = np.where(rng.random(n) < prior, 1, -1)
    return rng.normal(size=n) + separation / 2 * signs, signs


def test_adjusted_counts_follow_a_drifting_share_where_counts_do_not():
    scores, signs = scored()
    readings = evaluation.estimators(*scored(seed=1))
    negatives = scores[signs < 0]
    assert readings["cc"](negatives) > 0.1
    for reading in ("acc", "sld"):
        assert readings[reading](negatives) == pytest.approx(0, abs=0.03)
    assert readings["tuned"](scores) == pytest.approx(np.mean(signs > 0), abs=0.02)


def test_the_training_prior_errs_by_its_distance_from_the_share_of_each_set():
    scores, signs = scored()
    training = np.array([1] * 6 + [-1] * 4)
    tweets = Tweets("tiny", None, np.zeros((10, 1)), training, {"tiny": EvaluationSet([], None, signs)}, {})
    plan = Plan((0,), 1, (1,), 2)
    own, drift = evaluation.errors_of_prior(tweets, plan)
    assert own["ae_mean"] == pytest.approx(abs(0.6 - np.mean(signs > 0)), abs=0.02)
    assert drift["ae_mean"] == pytest.approx(np.mean(np.abs(0.6 - np.arange(5, 100, 5) / 100)), abs=1e-9)
    assert sorted(drift["kld_by_share"])[0] == 0.05 and sorted(drift["kld_by_share"])[-1] == 0.95


def test_the_summary_holds_medians_over_seeds_and_the_range_of_means():
    row = {"network": "lstm", "objective": "cross-entropy", "reading": "cc", "sets": "drift", "kld_by_share": {}}
    rows = [{**row, "seed": k, **{name: float(v) for name in evaluation.ERRORS}} for k, v in enumerate((1, 5, 2))]
    (summary,) = evaluation.summarize(rows)
    assert summary["kld_mean"] == 2.0 and summary["range"] == [1.0, 5.0]


def test_the_report_counts_the_seeds_on_which_denim_does_better():
    klds = {objectives.DENIM: (1.0, 2.0), objectives.FOR_TABLES: (1.5, 1.5)}
    klds.update({objectives.CROSS_ENTROPY: (3.0, 3.0), objectives.CLASS_WEIGHTED: (0.5, 0.5)})
    rows = [
        {"network": network, "objective": name, "reading": reading, "sets": "drift", "seed": seed, "kld_mean": kld}
        for network in TEXT_NETWORKS
        for reading in ("cc", "acc", "sld")
        for name, of_seeds in klds.items()
        for seed, kld in enumerate(of_seeds)
    ]
    lines = report._duels(rows).split("\n")
    assert "| attention | DENIM on BAKLD | 1.5000 | 1.0000 2.0000 |  | 1.5000 | 1.5000 |" in lines
    for name, wins in zip(klds, ("", "1 of 2", "2 of 2", "0 of 2")):
        assert sum(line.startswith(f"| lstm | {name} |") and f"| {wins} | " in line for line in lines) == 1


def test_words_on_the_attention_page_are_escaped_and_shaded_by_weight_and_sign(tmp_path):
    tweets = [Attended(["<b>", "good"], [0.2, 0.8], 1.0), Attended(["bad"], [1.0], -1.0)]
    write_attention(tweets, str(tmp_path / "page.html"))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;" in page and "<b>" not in page
    assert "rgba(51,166,76,0.85)' title='0.800'>good" in page
    assert "rgba(51,166,76,0.21)' title='0.200'" in page
    assert "rgba(217,51,51,0.85)' title='1.000'>bad" in page
