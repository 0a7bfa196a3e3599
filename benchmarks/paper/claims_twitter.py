"""The claims of section 5.4 (text), from the results of the Twitter study in the same folder."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.paper.claims import NOT_RUN, Claim, number, verdict_of
from benchmarks.twitter.command import FULL
from benchmarks.twitter.evaluation import PRIOR_ONLY
from benchmarks.twitter.objectives import CLASS_WEIGHTED, CROSS_ENTROPY, DENIM

NEAR_ZERO = 1e-3
NETWORKS = ("lstm", "attention")
COMMAND, SOURCE = "python -m benchmarks paper --figures twitter", "introduction, 5.4"
FAR, ORDERS = 2.0, 100.0
"""What counts as far more or far fewer, and as two orders of magnitude."""


class Study(NamedTuple):
    """What the study measured."""

    own: str
    """Name of the test sets at the prevalence of the data."""
    summary: list[dict]
    runs: list[dict]
    """Test curves: "network", "objective", "seed", and "curve" with step, samples and kld at each checkpoint."""

    def kld(self, network: str, objective: str, sets: str, statistic: str = "kld_mean", reading: str = "cc") -> float:
        """A statistic of one network on one kind of test sets; the training prior has no reading."""
        return next(
            row[statistic]
            for row in self.summary
            if (row["network"], row["objective"], row["sets"]) == (network, objective, sets)
            and row["reading"] in (reading, "")
        )

    def settled(self, network: str, objective: str, goal: float, axis: str) -> float:
        """Median over seeds of the first checkpoint from which test KLD stays at most `goal`; infinite for never."""
        curves = [r["curve"] for r in self.runs if (r["network"], r["objective"]) == (network, objective)]
        return float(np.median([_settled(curve, goal, axis) for curve in curves])) if curves else math.nan

    def last(self, network: str, objective: str) -> float:
        """Median over seeds of the last KLD of the test curve."""
        of = [r["curve"][-1]["kld"] for r in self.runs if (r["network"], r["objective"]) == (network, objective)]
        return float(np.median(of)) if of else math.nan


def rows(out: Path) -> list[Claim]:
    """All rows, in the paper's order; a single one if the study has not been run."""
    path = out / "twitter" / "results.json"
    if not path.exists():
        title = "Twitter: KLD 0.007 with an LSTM, 0.00002 with attention; robust to drift"
        return [Claim(SOURCE, title, "a study of its own", NOT_RUN, COMMAND, "", "")]
    content = json.loads(path.read_text("utf-8"))
    study = Study(content["data"], content["summary"], content["runs"])
    measured: dict[str, list[str]] = {}
    for claim in content["claims"]:
        measured.setdefault(claim["paper"], []).append(claim["measured"])
    own = [
        _claim(paper, "; ".join(found), verdict, *against)
        for (paper, found), verdict, against in zip(measured.items(), verdicts(study), margins(study))
    ]
    command = command_of(content["plan"])
    found = [*own, _sooner(study), _two_orders(study), _poor_under_drift(study)]
    return [claim._replace(command=command) for claim in found]


def command_of(plan: dict[str, Any]) -> str:
    """The command that makes the study again."""
    quick = "" if plan["steps"] == FULL.steps else " --quick"
    return f"{COMMAND}{quick} --first-seed {plan['seeds'][0]} --seeds {len(plan['seeds'])}"


def verdicts(study: Study) -> list[str]:
    """The verdicts, in the order of the study's own claims."""

    def reached(network: str, sets: str, goal: float, statistic: str) -> str:
        return _verdict(study.kld(network, DENIM, sets, statistic) <= goal)

    own, prior = study.own, study.kld("none", PRIOR_ONLY, study.own)
    unable = study.kld("attention", CROSS_ENTROPY, own) > prior
    return [
        reached("lstm", own, 0.007, "kld_50"),
        reached("attention", own, 0.00002, "kld_50"),
        _verdict(unable),
        reached("attention", "drift", NEAR_ZERO, "kld_mean"),
        reached("lstm", "drift", NEAR_ZERO, "kld_mean"),
    ]


def margins(study: Study) -> list[tuple[str, str]]:
    """Rival and margin of each of `verdicts`."""

    def mean(network: str, objective: str, sets: str = study.own) -> str:
        return f"{study.kld(network, objective, sets):.4f}"

    def reached(network: str, goal: float) -> tuple[str, str]:
        median = study.kld(network, DENIM, study.own, "kld_50")
        margin = f"median {median:.5f} against {goal:g}; mean {mean(network, DENIM)}, where "
        margin += f"{CLASS_WEIGHTED} has {mean(network, CLASS_WEIGHTED)} and the training prior "
        return "the paper's figure", margin + mean("none", PRIOR_ONLY)

    def under_drift(network: str) -> tuple[str, str]:
        return f"a bound of {NEAR_ZERO:g} in KLD", f"mean {mean(network, DENIM, 'drift')}"

    unable = f"mean {mean('attention', CROSS_ENTROPY)} against {mean('none', PRIOR_ONLY)}"
    return [
        reached("lstm", 0.007),
        reached("attention", 0.00002),
        ("the training prior", unable),
        under_drift("attention"),
        under_drift("lstm"),
    ]


def _sooner(study: Study) -> Claim:
    goals = {network: study.last(network, CROSS_ENTROPY) for network in NETWORKS}

    def needs(network: str, objective: str, axis: str) -> float:
        return study.settled(network, objective, goals[network], axis)

    far_fewer = all(
        FAR * needs(network, DENIM, axis) <= needs(network, CROSS_ENTROPY, axis)
        for network in NETWORKS
        for axis in ("step", "samples")
    )
    order = (DENIM, CLASS_WEIGHTED, CROSS_ENTROPY)
    measured = f"Mini-batches (tweets) until test KLD stays at cross-entropy's last value ({', '.join(order)}): "
    measured += "; ".join(
        f"{network} "
        + ", ".join(
            f"{number(needs(network, objective, 'step'))} ({number(needs(network, objective, 'samples'))})"
            for objective in order
        )
        for network in NETWORKS
    )
    paper = "DENIM: optimal test KLD in far fewer iterations and samples"
    of_weighted, of_cross_entropy = (
        ", ".join(f"{needs(network, rival, 'step') / needs(network, DENIM, 'step'):.1f}" for network in NETWORKS)
        for rival in (CLASS_WEIGHTED, CROSS_ENTROPY)
    )
    margin = f"{of_cross_entropy} times the mini-batches ({', '.join(NETWORKS)}; {FAR:g} needed)"
    margin += f"; {CLASS_WEIGHTED} {of_weighted} times"
    return _claim(paper, measured, _verdict(far_fewer, *goals.values()), CROSS_ENTROPY, margin)


def _two_orders(study: Study) -> Claim:
    lstm, attention = (study.kld(network, DENIM, study.own, "kld_50") for network in NETWORKS)
    measured = f"Median KLD of the LSTM {lstm:.5f}, of attention {attention:.5f}"
    paper = "DENIM: KLD with attention two orders of magnitude below the LSTM's"
    margin = f"{lstm / attention:.1f} times ({ORDERS:g} needed)"
    return _claim(paper, measured, _verdict(lstm >= ORDERS * attention), "DENIM with the LSTM", margin)


def _poor_under_drift(study: Study) -> Claim:
    def drift(objective: str, reading: str = "cc") -> float:
        return study.kld("attention", objective, "drift", reading=reading)

    measured = (
        f"Mean over the grid: cross-entropy {drift(CROSS_ENTROPY):.4f}, with a tuned threshold "
        f"{drift(CROSS_ENTROPY, 'tuned'):.4f}; {DENIM} {drift(DENIM):.4f}; the training prior "
        f"{study.kld('none', PRIOR_ONLY, 'drift'):.4f}"
    )
    paper = "cross-entropy with attention: extremely poor under drift (beside DENIM)"
    margin = f"{drift(CROSS_ENTROPY) / drift(DENIM):.1f} times its KLD ({FAR:g} needed)"
    return _claim(paper, measured, _verdict(drift(CROSS_ENTROPY) >= FAR * drift(DENIM)), DENIM, margin)


def _claim(paper: str, measured: str, verdict: str, rival: str, margin: str) -> Claim:
    return Claim(SOURCE, f"Twitter, {paper}", measured, verdict, COMMAND, rival, margin)


def _verdict(holds: bool, *evidence: float) -> str:
    return verdict_of(holds, False, *evidence)


def _settled(curve: list[dict], goal: float, axis: str) -> float:
    above = [k for k, point in enumerate(curve) if point["kld"] > goal]
    first = above[-1] + 1 if above else 0
    return float(curve[first][axis]) if first < len(curve) else math.inf
