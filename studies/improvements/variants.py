"""What is trained: the cross-entropy family, the direct drivers, and ideas that were tried on top of both."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from aesara_nondecomp.drivers import ClassWeighted, CrossEntropy
from aesara_nondecomp.training.recipes import Phase, Problem, Recipe, recipe_for

MEASURES = ("min", "qmean", "f1")
RATES = (0.003, 0.01, 0.03)
CHECKPOINTS = (50, 200, 500, 1000, 2000)


class Stage(NamedTuple):
    """A part of a run with one sampler; it starts from the averaged weights of the part before."""

    sampler: str | float
    steps: int


NATURAL = (Stage("natural", CHECKPOINTS[-1]),)


class Variant(NamedTuple):
    """One way to train, run at each of the learning rates."""

    name: str
    build: Callable[[Problem], Recipe]
    stages: tuple[Stage, ...] = NATURAL
    hidden: tuple[int, ...] = (64, 64)
    l2: float = 0.0
    schedule: str = "constant"
    margin: float = 0.0
    """Subtracted from the score of a positive while training."""
    radius: float = 0.0
    """Radius of sharpness-aware steps; 0 for plain ones."""
    held_out_duals: bool = False
    """Whether the duals follow the validation rows instead of the training batches."""
    own_threshold: str = "zero"
    """The threshold of the training loss for equal classes: 0; "prior" or "b20" for unweighted cross-entropy."""


SAMPLERS: dict[str, str | float] = {"natural": "natural", "b20": 0.2, "balanced": "balanced"}
WIDE = (128, 128)
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
    # Plain cross-entropy on batches with a share s of positives weights the class means by s and 1 - s.
    rows = [
        Variant("ce", _cross_entropy, own_threshold="prior"),
        Variant("wce", _weighted(0.5)),
        Variant("ce b20", _weighted(0.2), _always("b20"), own_threshold="b20"),
        Variant("wce balanced", _weighted(0.5), _always("balanced")),
        Variant("ce b20 then natural", _cross_entropy, B20_THEN_NATURAL),
        *_options("ce", _cross_entropy),
        *_options("f1", _direct("f1")),
        *_options("ce b20", _cross_entropy, _always("b20")),
        *_options("f1 b20", _direct("f1"), _always("b20")),
        Variant("f1 b20 held-out duals", _direct("f1"), _always("b20"), held_out_duals=True),
    ]
    for measure in MEASURES:
        build = _direct(measure)
        rows += [Variant(f"{measure} {sampler}", build, _always(sampler)) for sampler in SAMPLERS]
        rows += [
            Variant(f"{measure} b20 then natural", build, B20_THEN_NATURAL),
            Variant(f"{measure} held-out duals", build, held_out_duals=True),
        ]
    narrow = {row.name: row for row in rows}
    wide = (row._replace(name=f"{row.name} wide", hidden=WIDE) for row in rows)
    return {**narrow, **{row.name: row for row in wide}}


def _options(name: str, build: Callable[[Problem], Recipe], stages: tuple[Stage, ...] = NATURAL) -> list[Variant]:
    """Ideas that change neither loss nor sampler, offered to both sides."""
    return [
        Variant(f"{name} l2", build, stages, l2=1e-4),
        Variant(f"{name} cosine", build, stages, schedule="cosine"),
        Variant(f"{name} margin", build, stages, margin=2.0),
        Variant(f"{name} sharpness", build, stages, radius=0.05),
    ]


VARIANTS = _catalogue()
