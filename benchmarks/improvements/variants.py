"""What is trained: the cross-entropy family, the direct drivers, and the ideas tried on top of either."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from aesara_nondecomp.drivers import ClassWeighted, CrossEntropy
from aesara_nondecomp.recipes import Phase, Problem, Recipe, recipe_for

MEASURES = ("min", "qmean", "f1")
RATES = (0.003, 0.01, 0.03)
CHECKPOINTS = (50, 200, 500, 1000, 2000)


class Stage(NamedTuple):
    """A stretch of a run with one sampler; it begins from the averaged weights of the stretch before it."""

    sampler: str | float
    steps: int


class Variant(NamedTuple):
    """One way to train, run at each of the learning rates."""

    name: str
    build: Callable[[Problem], Recipe]
    stages: tuple[Stage, ...] = (Stage("natural", 2000),)
    hidden: tuple[int, ...] = (64, 64)
    l2: float = 0.0
    schedule: str = "constant"
    held_out_duals: bool = False
    """Steer the duals by the validation rows instead of the training batches."""


SAMPLERS: dict[str, str | float] = {"natural": "natural", "b20": 0.2, "balanced": "balanced"}
B20_THEN_NATURAL = (Stage(0.2, 1000), Stage("natural", 1000))


def _always(sampler: str) -> tuple[Stage, ...]:
    return (Stage(SAMPLERS[sampler], CHECKPOINTS[-1]),)


def _weighted(positive: float) -> Callable[[Problem], Recipe]:
    return lambda problem: Recipe((Phase(ClassWeighted(problem.prior, positive)),))


def _cross_entropy(problem: Problem) -> Recipe:
    return Recipe((Phase(CrossEntropy(problem.prior)),))


def _direct(measure: str) -> Callable[[Problem], Recipe]:
    return lambda problem: recipe_for(measure, problem)


def _catalogue() -> dict[str, Variant]:
    # Plain cross-entropy on batches with a share s of positives weighs the class means by s and 1 - s.
    rows = [
        Variant("ce", _cross_entropy),
        Variant("wce", _weighted(0.5)),
        Variant("ce b20", _weighted(0.2), _always("b20")),
        Variant("wce balanced", _weighted(0.5), _always("balanced")),
        Variant("ce b20 then natural", _cross_entropy, B20_THEN_NATURAL),
        *_options("ce", _cross_entropy),
        *_options("f1", _direct("f1")),
        Variant("f1 b20 held-out duals", _direct("f1"), _always("b20"), held_out_duals=True),
    ]
    for measure in MEASURES:
        build = _direct(measure)
        rows += [Variant(f"{measure} {sampler}", build, _always(sampler)) for sampler in SAMPLERS]
        rows += [
            Variant(f"{measure} b20 then natural", build, B20_THEN_NATURAL),
            Variant(f"{measure} held-out duals", build, held_out_duals=True),
        ]
    return {row.name: row for row in rows}


def _options(name: str, build: Callable[[Problem], Recipe]) -> list[Variant]:
    """Ideas that change neither loss nor sampler, offered to both sides."""
    return [
        Variant(f"{name} wide", build, hidden=(128, 128)),
        Variant(f"{name} l2", build, l2=1e-4),
        Variant(f"{name} cosine", build, schedule="cosine"),
    ]


VARIANTS = _catalogue()
