"""Verdicts follow from what was measured."""

from __future__ import annotations

import math

import pytest

from benchmarks.paper import claims, claims_twitter


def test_a_verdict_needs_evidence_and_follows_from_it():
    won, none = claims.Duel(2, 2), claims.Duel(0, 0)
    assert claims.verdict_of(True, False, won) == claims.HOLDS
    assert claims.verdict_of(False, True, won) == claims.READING
    assert claims.verdict_of(False, False, won) == claims.FAILS
    assert claims.verdict_of(True, True, won, none) == claims.verdict_of(True, True, math.nan) == claims.NOT_RUN
    assert won.all and won.most and not none.all and not claims.Duel(1, 2).most


def twitter_study(denim: float, cross_entropy: float, drift: float) -> claims_twitter.Study:
    """What a text study could measure: the same KLD for both networks, and twice and four times as much before."""
    of = {"DENIM on BAKLD": denim, "cross-entropy": cross_entropy}
    pairs = [(network, objective) for network in ("lstm", "attention") for objective in of]
    summary = [
        {"network": network, "objective": objective, "sets": sets, "reading": reading, "kld_50": kld, "kld_mean": kld}
        for network, objective in pairs
        for sets, kld in (("tweets", of[objective]), ("drift", drift))
        for reading in ("cc", "tuned")
    ]
    prior = {"network": "none", "objective": "training prior", "reading": "", "kld_50": 0.004, "kld_mean": 0.004}
    runs = [
        {
            "network": network,
            "objective": objective,
            "curve": [{"step": s, "samples": 9 * s, "kld": of[objective] * 40 / s} for s in (10, 20, 40)],
        }
        for network, objective in pairs
    ]
    return claims_twitter.Study("tweets", [*summary, *({**prior, "sets": sets} for sets in ("tweets", "drift"))], runs)


HOLDS, FAILS = claims.HOLDS, claims.FAILS


@pytest.mark.parametrize(
    ("values", "verdicts"),
    [
        ((1e-6, 1.0, 0.0), [HOLDS] * 5),
        ((0.005, 0.001, 0.5), [HOLDS, *[FAILS] * 4]),
        ((1.0, 0.005, 0.5), [FAILS, FAILS, HOLDS, FAILS, FAILS]),
    ],
)
def test_the_twitter_verdicts_follow_from_what_the_study_measured(values, verdicts):
    assert claims_twitter.verdicts(twitter_study(*values)) == verdicts


def test_a_text_network_that_is_sooner_by_half_needs_far_fewer_iterations():
    # Cross-entropy ends at 0.1 with step 40, where the other has been since step 20.
    claim = claims_twitter._sooner(twitter_study(0.05, 0.1, 0.5))
    assert claim.verdict == HOLDS
    assert "lstm 20 (180), - (-), 40 (360)" in claim.measured
    assert claims_twitter._sooner(twitter_study(0.1, 0.1, 0.5)).verdict == FAILS
    assert claims_twitter._sooner(twitter_study(0.1, 0.1, 0.5)._replace(runs=[])).verdict == claims.NOT_RUN


def test_orders_of_magnitude_and_drift_are_judged_against_denim():
    study = twitter_study(0.05, 0.1, 0.5)
    assert claims_twitter._two_orders(study).verdict == claims_twitter._poor_under_drift(study).verdict == FAILS
    for row in study.summary:
        if (row["objective"], row["network"]) == ("DENIM on BAKLD", "attention"):
            row.update(kld_50=0.0005, kld_mean=0.0005)
    assert claims_twitter._two_orders(study).verdict == claims_twitter._poor_under_drift(study).verdict == HOLDS


def test_without_the_text_study_its_claim_is_told_as_not_measured(tmp_path):
    (claim,) = claims_twitter.rows(tmp_path)
    assert claim.verdict == "not measured in this run"
