"""What is compared: how each method is trained, and the threshold of its scores.

A *training* is what is run; a *method* is a training and a decision rule for its scores. Cross-entropy is trained once
for three methods, whose threshold is 0, the log-odds of the prior, or the best one on the validation rows (plug-in).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import aesara_nondecomp as an
from aesara_nondecomp import measures
from aesara_nondecomp.drivers import DirectLoss, StructANN
from aesara_nondecomp.training.recipes import Phase, Problem, Recipe, recipe_for
from benchmarks import baselines
from benchmarks.paper import released

MEASURES = ("min", "qmean", "f1", "kld")
RATES = (0.003, 0.01, 0.03)
SLOW_RATES = (0.001, 0.003, 0.01)
DIRECT = {"min": "duple", "qmean": "duple", "f1": "dame", "kld": "denim"}
DEFAULT = {**DIRECT, "f1": "dame_ns", "kld": "denim_ns"}
"""What `fit` trains a measure with by default."""


class Training(NamedTuple):
    """One way to train."""

    serves: tuple[str, ...]
    """The measures it can be trained for."""
    recipe: Callable[[str, Problem], Recipe] | None
    """From (measure, problem) to what `fit` takes; None for a baseline outside this package."""
    per_measure: bool = True
    """Whether the training depends on the measure."""
    rates: tuple[float, ...] = RATES
    """Learning rates to choose from on the validation rows: three for every method that has one to tune."""
    batch_size: int = 512
    schedule: str = "constant"
    network: Callable[[int], Any] | None = None
    """From the number of features to a network; None for the common one, 64-64."""
    baseline: Callable[..., baselines.Scorer] | None = None
    """Trains a baseline outside this package."""
    shift: bool = False
    """Whether it is evaluated at the last step only, and under shifted prevalences too."""


class Method(NamedTuple):
    """A training and its decision rule."""

    title: str
    training: str
    threshold: str = "zero"
    """"zero", "prior" (log-odds of the training prior), "tuned" (best on the validation rows) or "nine" (odds 9:1)."""


def _served_by(driver: str) -> tuple[str, ...]:
    return tuple(measure for measure in MEASURES if DIRECT[measure] == driver)


def _default(algorithm: str) -> Callable[[str, Problem], Recipe]:
    # The default recipe for KLD trains BAKLD.
    return lambda measure, problem: recipe_for({"kld": "bakld"}.get(measure, measure), problem, algorithm)


def _paper(algorithm: str) -> Callable[[str, Problem], Recipe]:
    return lambda measure, problem: recipe_for(measure, problem, f"paper_{algorithm}")


def _any(algorithm: str) -> Callable[[str, Problem], Recipe]:
    return lambda measure, problem: recipe_for(measure, problem, algorithm)


def _driver_trainings(driver: str) -> dict[str, Training]:
    serves = _served_by(driver)
    return {
        driver: Training(serves, _default(driver)),
        f"{driver}_ns": Training(serves, _default(f"{driver}_ns")),
        f"{driver}_paper": Training(serves, _paper(driver), rates=SLOW_RATES),
        f"{driver}_ns_paper": Training(serves, _paper(f"{driver}_ns"), rates=SLOW_RATES),
        f"{driver}_released": Training(
            serves,
            getattr(released, driver),
            rates=(released.RATES[driver],),
            batch_size=released.BATCH_SIZES[driver],
            schedule=released.SCHEDULES.get(driver, "constant"),
            network=getattr(released, f"{driver}_network"),
        ),
    }


def _linear(n_features: int) -> an.Network:
    return an.mlp(n_features, ())


def _released_baseline(recipe: Callable[[str, Problem], Recipe]) -> Training:
    return Training(
        MEASURES,
        recipe,
        per_measure=False,
        rates=(released.RATES["baseline"],),
        batch_size=released.BATCH_SIZES["baseline"],
        network=released.baseline_network,
    )


TRAININGS: dict[str, Training] = {
    **_driver_trainings("duple"),
    **_driver_trainings("dame"),
    **_driver_trainings("denim"),
    "struct_ann": Training(MEASURES, lambda measure, problem: Recipe((Phase(StructANN(measure)),))),
    "direct_loss": Training(MEASURES, lambda measure, problem: Recipe((Phase(DirectLoss(measure)),))),
    "struct_ann_scaled": Training(MEASURES, _any("struct_ann")),
    "direct_loss_scaled": Training(MEASURES, _any("direct_loss")),
    "struct_ann_linear": Training(("f1",), _any("struct_ann"), network=_linear),
    "amp": Training(("f1",), _any("amp"), rates=SLOW_RATES),
    "cross_entropy": Training(MEASURES, _any("cross_entropy"), per_measure=False),
    "class_weighted": Training(MEASURES, _any("class_weighted"), per_measure=False),
    "baseline_released": _released_baseline(released.baseline),
    "weighted_baseline_released": _released_baseline(released.weighted_baseline),
    "hist_gradient_boosting": Training(
        MEASURES, None, per_measure=False, rates=(0.03, 0.1, 0.3), baseline=baselines.hist_gradient_boosting
    ),
    "logistic_regression": Training(
        MEASURES, None, per_measure=False, rates=(1.0,), baseline=baselines.logistic_regression
    ),
}

SHIFT_TRAININGS: dict[str, Training] = {
    "shift_cross_entropy": Training(("kld",), _any("cross_entropy"), rates=(0.01,), shift=True),
    "shift_denim": Training(("kld",), _default("denim_ns"), rates=(0.01,), shift=True),
    "shift_duple": Training(("kld",), lambda measure, problem: recipe_for("qmean", problem), rates=(0.01,), shift=True),
}
"""The networks of the quantification table, at the default rate; the table compares estimators."""
SHIFT_TITLES = {
    "shift_cross_entropy": "cross-entropy", "shift_denim": "DENIM-NS on BAKLD", "shift_duple": "DUPLE on Q-mean",
}  # fmt: skip

_TITLES = {"duple": "DUPLE", "dame": "DAME", "denim": "DENIM"}


def _driver_methods(driver: str) -> dict[str, Method]:
    title = _TITLES[driver]
    return {
        driver: Method(title, driver),
        f"{driver}_ns": Method(f"{title}-NS", f"{driver}_ns"),
        f"{driver}_paper": Method(f"{title}, paper's listing", f"{driver}_paper"),
        f"{driver}_ns_paper": Method(f"{title}-NS, paper's listing", f"{driver}_ns_paper"),
        f"{driver}_released": Method(f"{title}, as released", f"{driver}_released"),
    }


METHODS: dict[str, Method] = {
    **_driver_methods("duple"),
    **_driver_methods("dame"),
    **_driver_methods("denim"),
    "struct_ann": Method("STRUCT-ANN", "struct_ann"),
    "direct_loss": Method("direct loss (Song et al.)", "direct_loss"),
    "struct_ann_scaled": Method("STRUCT-ANN, mean of scores", "struct_ann_scaled"),
    "direct_loss_scaled": Method("direct loss, mean of scores, warm start", "direct_loss_scaled"),
    "struct_ann_linear": Method("STRUCT-ANN, mean of scores, linear", "struct_ann_linear"),
    "amp": Method("AMP: DAME's rounds on all layers, no pre-training", "amp"),
    "cross_entropy": Method("ANN 0-1: cross-entropy", "cross_entropy"),
    "class_weighted": Method("ANN-p: class-weighted", "class_weighted"),
    "class_weighted_tuned": Method("ANN-p, threshold tuned", "class_weighted", "tuned"),
    "plug_in": Method("ANN-PG: cross-entropy, threshold tuned", "cross_entropy", "tuned"),
    "logit_adjusted": Method("logit-adjusted: cross-entropy cut at the prior", "cross_entropy", "prior"),
    "baseline_released": Method("ANN 0-1, as released", "baseline_released"),
    "weighted_baseline_released": Method("ANN-p, as released", "weighted_baseline_released"),
    "hist_gradient_boosting": Method(
        "HistGradientBoosting, rate and threshold tuned only", "hist_gradient_boosting", "tuned"
    ),
    "logistic_regression": Method("logistic regression, threshold tuned", "logistic_regression", "tuned"),
}


def serving(names: list[str], measure: str) -> list[str]:
    """The methods among `names` that can be trained for a measure."""
    return [name for name in names if measure in TRAININGS[METHODS[name].training].serves]


def threshold_for(method: str, measure: str) -> str:
    """The decision rule of a method on a measure; the released baselines have one of their own for F1."""
    released_f1 = method.endswith("baseline_released") and measure == "f1"
    return "nine" if released_f1 else METHODS[method].threshold


def larger_is_better(measure: str) -> bool:
    """Whether larger values of a measure are better."""
    return bool(measures.get(measure).greater_is_better)
