"""What a careful user may do with the trained variants: the rows of the tables."""

from __future__ import annotations

from typing import NamedTuple

CE_FAMILY = ("ce", "wce", "ce b20", "wce balanced")
TUNED = ("tuned",)


class Method(NamedTuple):
    """Train some variants, cut their scores by some rules, keep the best on validation."""

    name: str
    variants: tuple[str, ...]
    cuts: tuple[str, ...] = ("zero",)
    """Of "zero" (no threshold step), "prior" (the log-odds of the prior) and "tuned" (best on validation)."""
    members: int = 1
    """How many of the best runs vote, by the mean of their soft labels."""
    refit: bool = False
    """Train the chosen ones again with the validation rows added, and keep their thresholds."""


def methods(measure: str, development: bool = False) -> list[Method]:
    """All rows of a measure's table: the cross-entropy family first, then direct training.

    In development also the ideas that did not make it. Refits for min and Q-mean are among them: they did nothing
    for the direct drivers there.
    """
    rows = [*_cross_entropy(measure), *_direct(measure)]
    if development or measure == "f1":
        rows += _refits(measure)
    if development:
        rows += _ideas(measure)
    return rows


def direct_family(measure: str) -> tuple[str, ...]:
    """Names of the direct variants that the final comparison trains: no more than the other family has."""
    samplers = ("natural", "b20", "balanced") if measure == "f1" else ("natural", "b20")
    return tuple(f"{measure} {sampler}" for sampler in samplers)


def _cross_entropy(measure: str) -> list[Method]:
    # The log-odds of the prior is the best cut of a calibrated score for min and Q-mean, not for F1.
    at_the_prior = [] if measure == "f1" else [Method("CE at the prior", ("ce",), ("prior",))]
    return [
        Method("CE tuned", ("ce",), TUNED),
        *at_the_prior,
        Method("wCE at 0", ("wce",)),
        Method("wCE tuned", ("wce",), TUNED),
        Method("CE on balanced batches, at 0", ("wce balanced",)),
        Method("CE on balanced batches, tuned", ("wce balanced",), TUNED),
        Method("CE on 20 % batches, tuned", ("ce b20",), TUNED),
        Method("CE family by validation, tuned", CE_FAMILY, TUNED),
        Method("CE family by validation, any cut", CE_FAMILY, ("zero", "prior", "tuned")),
        Method("CE family, vote of 3, tuned", CE_FAMILY, TUNED, 3),
    ]


def _direct(measure: str) -> list[Method]:
    family = direct_family(measure)
    return [
        Method("direct, natural, at 0", family[:1]),
        Method("direct, natural, tuned", family[:1], TUNED),
        Method("direct, 20 % batches, at 0", family[1:2]),
        Method("direct, sampler by validation, at 0", family),
        Method("direct, sampler by validation, tuned", family, TUNED),
        Method("direct, vote of 3, at 0", family, members=3),
        Method("direct, vote of 3, tuned", family, TUNED, 3),
    ]


def _refits(measure: str) -> list[Method]:
    family = direct_family(measure)
    at_zero = [] if measure == "f1" else [Method("wCE at 0, refit", ("wce",), refit=True)]
    return [
        Method("CE tuned, refit", ("ce",), TUNED, refit=True),
        *at_zero,
        Method("CE family by validation, tuned, refit", CE_FAMILY, TUNED, refit=True),
        Method("CE family, vote of 3, tuned, refit", CE_FAMILY, TUNED, 3, refit=True),
        Method("direct, sampler by validation, at 0, refit", family, refit=True),
        Method("direct, vote of 3, at 0, refit", family, members=3, refit=True),
    ]


def _ideas(measure: str) -> list[Method]:
    rows = [
        Method("direct, duals from held-out rows", (f"{measure} held-out duals",)),
        Method("direct, 20 % batches then natural", (f"{measure} b20 then natural",)),
        Method("CE on 20 % batches then natural, tuned", ("ce b20 then natural",), TUNED),
    ]
    if measure == "f1":
        rows += [
            Method("direct, 20 % batches, duals from held-out rows", ("f1 b20 held-out duals",)),
            Method("direct, cosine rate", ("f1 cosine",)),
            Method("direct, L2 1e-4", ("f1 l2",)),
            Method("direct, 128-128", ("f1 wide",)),
            Method("CE, cosine rate, tuned", ("ce cosine",), TUNED),
            Method("CE, L2 1e-4, tuned", ("ce l2",), TUNED),
            Method("CE, 128-128, tuned", ("ce wide",), TUNED),
        ]
    return rows
