"""What a careful user may do with the trained variants; each method is a row of the tables."""

from __future__ import annotations

from typing import NamedTuple

CE_FAMILY = ("ce", "wce", "ce b20", "wce balanced")
TUNED, HALFWAY = ("tuned",), ("halfway",)

FIXED = {
    "f1": "direct, vote of 3, at 0, refit",
    "min": "direct, both drivers, vote of 5, tuned",
    "qmean": "direct, both drivers, vote of 5, tuned",
}
"""The method that is judged for each measure, fixed on development seeds before a test row was scored."""


class Method(NamedTuple):
    """Variants to train, rules for their thresholds, and how many of the best runs on validation rows to keep."""

    name: str
    variants: tuple[str, ...]
    thresholds: tuple[str, ...] = ("zero",)
    """Rules: "zero", "prior" (the log-odds of the prior), "tuned" (the best on the validation rows) and "halfway"
    (half-way between the tuned threshold and that of the training loss)."""
    members: int = 1
    """How many of the best runs vote, with the mean of their soft labels."""
    refit: bool = False
    """Whether the chosen runs are repeated with the validation rows added; they keep their thresholds."""


def methods(measure: str, development: bool = False, wide: bool = False) -> list[Method]:
    """All rows of a measure's table: the cross-entropy family, then direct training.

    In development, the ideas that were dropped are added; they include refits for min and Q-mean, which did not help
    the direct drivers. With `wide`, every network has layers of 128 instead of 64.
    """
    rows = [*_cross_entropy(measure), *_direct(measure)]
    if development or measure == "f1":
        rows += _refits(measure)
    if wide:
        rows = [row._replace(variants=tuple(f"{name} wide" for name in row.variants)) for row in rows]
    elif development:
        rows += _ideas(measure)
    return rows


def direct_family(measure: str) -> tuple[str, ...]:
    """Names of the direct variants in the final comparison; no more than the cross-entropy family has."""
    samplers = ("natural", "b20", "balanced") if measure == "f1" else ("natural", "b20")
    return tuple(f"{measure} {sampler}" for sampler in samplers)


def both_drivers(measure: str) -> tuple[str, ...]:
    """The variants trained for min and those trained for Q-mean, because either may serve the other measure."""
    other = {"min": "qmean", "qmean": "min"}[measure]
    return (*direct_family(measure), *direct_family(other))


def _cross_entropy(measure: str) -> list[Method]:
    # The log-odds of the prior are the best threshold of a calibrated score for min and Q-mean, not for F1.
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
        Method("CE family, vote of 5, tuned", CE_FAMILY, TUNED, 5),
        *([] if measure == "f1" else [Method("CE family, vote of 3, halfway", CE_FAMILY, HALFWAY, 3)]),
    ]


def _direct(measure: str) -> list[Method]:
    family = direct_family(measure)
    pooled = [] if measure == "f1" else _pooled(measure)
    return [
        Method("direct, natural, at 0", family[:1]),
        Method("direct, natural, tuned", family[:1], TUNED),
        Method("direct, 20 % batches, at 0", family[1:2]),
        Method("direct, sampler by validation, at 0", family),
        Method("direct, sampler by validation, tuned", family, TUNED),
        Method("direct, vote of 3, at 0", family, members=3),
        Method("direct, vote of 3, tuned", family, TUNED, 3),
        Method("direct, vote of 5, tuned", family, TUNED, 5),
        *pooled,
    ]


def _pooled(measure: str) -> list[Method]:
    pool = both_drivers(measure)
    return [
        Method("direct, both drivers, vote of 3, at 0", pool, members=3),
        Method("direct, both drivers, vote of 3, halfway", pool, HALFWAY, 3),
        Method("direct, both drivers, vote of 3, tuned", pool, TUNED, 3),
        Method("direct, both drivers, vote of 5, tuned", pool, TUNED, 5),
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
            Method("direct, 128-128", ("f1 natural wide",)),
            Method("CE, 128-128, tuned", ("ce wide",), TUNED),
        ]
        for name, idea in (
            ("cosine rate", "cosine"),
            ("L2 1e-4", "l2"),
            ("margin of 2", "margin"),
            ("sharpness-aware steps", "sharpness"),
        ):
            rows += [
                Method(f"direct, {name}", (f"f1 {idea}",)),
                Method(f"direct, 20 % batches, {name}", (f"f1 b20 {idea}",)),
                Method(f"CE, {name}, tuned", (f"ce {idea}",), TUNED),
                Method(f"CE on 20 % batches, {name}, tuned", (f"ce b20 {idea}",), TUNED),
            ]
    return rows
