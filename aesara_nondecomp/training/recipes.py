"""Recipes: which driver, with which options, trains a measure well.

`recipe_for` makes them by the name of an algorithm:

- "auto" is the recommended recipe of the measure's first driver; "duple", "denim" and "dame" choose the driver. The
  variants "_ns" take the duals from counts instead of soft rewards.
- "paper" is the corrected listing of the measure's first driver and nothing else; "paper_duple" and so on choose the
  driver.
- "worst_group" is the recommended recipe of the measures of the worst group. "likelihood" is cross-entropy, and the
  recommended recipe of the measures "likelihood" and "recall", which are for use under constraints.
- The other names are baselines. Where the algorithm allows it, they are trained as the recommended recipes are, so that
  a comparison differs in nothing else.

The recommended recipes come from a comparison of about 125 configurations on six data sets:

- The sigmoid reward alone learns slowly from badly misclassified rows, so min, Q-mean and the like take half of their
  weights from class-weighted cross-entropy (`Mix`).
- F1 and the like train best on the logistic reward with a level v from counts.
- A quantification measure alone is satisfied by a useless classifier, so KLD and the like train BAKLD, which adds
  balanced accuracy, half mixed with cross-entropy, after 50 steps of cross-entropy.
- On text the class-weighted form replaces that cross-entropy: a text network fits its training rows almost perfectly,
  so DENIM finds nothing to correct, and the bias of its anchor shows on other rows. On held-out rows of four skewed
  text sets, with attention and LSTM, KLD under drift fell in 7 of 8 cells (mean .106 against .126), and at the original
  prevalence from .0056 to .0037. On three tables it rose 7 to 13 times at the original prevalence, so tables keep
  cross-entropy (`studies/report/text.md`).
- Class sums are forgotten (factor 0.9 or 0.98) and the weights averaged (decay 0.99).

The baselines:

- "cross_entropy" (ANN 0-1) and "class_weighted" (ANN-p), thresholded at 0.
- "plug_in" (ANN-PG): cross-entropy, with the best threshold on held-out rows (docs/algorithms.md 3.8).
- "logit_adjusted" (Menon et al. 2021): cross-entropy, thresholded at the log-odds of the prior. Adding them to the
  scores in the training loss and thresholding at 0 is the same up to the initial bias: the output bias absorbs the
  difference.
- "struct_ann" and "direct_loss": row drivers on the loss-augmented oracle (docs/algorithms.md 3.6), the scores divided
  by 512. Direct loss starts after a quarter of cross-entropy, as it finds nothing worse than a
  trivial assignment.
- "cell_weighted": cross-entropy in which each cell (class times group) has the same weight; with
  sampler="cell_balanced" equally many rows are drawn from each cell instead. "group_dro": duals from the training loss
  of each group (Sagawa et al. 2020), where "worst_group" takes them from the recalls of rows held out.
- "spade", "nemsis" and "amp": the linear antecedents of DUPLE, DENIM and DAME, for ``network="linear"``:
  cumulative class sums at the old weights, last weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from aesara_nondecomp import measures
from aesara_nondecomp._checks import choose, require
from aesara_nondecomp._names import warn_renamed
from aesara_nondecomp._numeric import log_odds
from aesara_nondecomp.drivers import (
    DAME,
    DENIM,
    DUPLE,
    CellWeighted,
    ClassWeighted,
    Constrained,
    CrossEntropy,
    DirectLoss,
    Driver,
    FixedWeights,
    Mix,
    RowDriver,
    StructANN,
    WarmStart,
    WorstGroup,
)
from aesara_nondecomp.measures import Cells, Constraint, Measure
from aesara_nondecomp.measures.catalogue import WITH_GROUPS_OR_CONSTRAINTS

PRESETS = ("default", "paper")
_SCORE_SCALE = 1 / 512  # with batches of 512 rows the oracle adds the mean score to the loss


class Phase(NamedTuple):
    """A part of a training run, with one driver.

    Attributes
    ----------
    driver : Driver or drivers.multiclass.CellDriver
        Rule that sets the objective of every step.
    share : float
        Share of the run's steps, in (0, 1]. The shares of a recipe sum to 1.
    head_only : bool
        Train only the head, on frozen features and without dropout; see `Network.head_network`.
    """

    driver: Any
    share: float = 1.0
    head_only: bool = False


class Recipe(NamedTuple):
    """How to train one measure. `fit` takes one, `recipe_for` makes them.

    Attributes
    ----------
    phases : tuple of Phase
        In the order of training.
    learning_rate : float
        Of the optimiser, above 0.
    averaging : float
        Decay of the running average of the weights, in [0, 1); 0 keeps the last weights.
    threshold : float or None
        Scores above it are positive; None for the best threshold on held-out rows.
    temperature : float
        Of the sigmoid reward, above 0.
    normalize : {"prior", "batch"}
        Whether class sums are divided by the expected number of a class's rows, which is unbiased, or by its number in
        the batch (docs/algorithms.md 1.3).
    schedule : str or callable
        Factor on the learning rate; see `schedules.get`.
    weight_decay : float
        Decoupled weight decay of AdamW, at least 0; other optimisers have none unless `fit` gets it.
    fixed_threshold : bool
        Whether the threshold belongs to the algorithm: `fit` then moves it only if `tune_threshold` is True.
    plug_in : {"offsets", "linearised"}, optional
        Of several classes: search of the rule on held-out rows, see `metrics.plug_in`. Default: the class with the
        largest score is predicted.
    """

    phases: tuple[Phase, ...]
    learning_rate: float = 0.01
    averaging: float = 0.99
    threshold: float | None = 0.0
    temperature: float = 1.0
    normalize: str = "prior"
    schedule: Any = "cosine"
    weight_decay: float = 0.02
    fixed_threshold: bool = False
    plug_in: str | None = None


class Problem(NamedTuple):
    """What a recipe must know of the training data.

    Attributes
    ----------
    prior : float
        Fraction of positives in the training set, in (0, 1).
    eps : float
        Smoothing of KLD-like measures, 1 / (2 n).
    text : bool
        Whether the rows are token ids, for which DENIM gets another anchor.
    cells : Cells or None
        Of the training rows, where cells play a part.
    """

    prior: float
    eps: float
    text: bool = False
    cells: Cells | None = None


def recipe_for(measure: str | Measure, problem: Problem, algorithm: str = "auto", preset: str | None = None) -> Recipe:
    """The recipe that trains a measure on a problem.

    Parameters
    ----------
    measure : str or measures.Measure
        What to train for.
    problem : Problem
        Prior, smoothing and kind of the training data.
    algorithm : str, default "auto"
        One of `ALGORITHMS`; see the top of this module.
    preset : {"default", "paper"}, optional
        Former way to choose the paper's listing; give the algorithm that `with_preset` names instead.

    Returns
    -------
    Recipe
        With new drivers.

    Raises
    ------
    ValueError
        For an unknown measure, algorithm or preset (the nearest is suggested), a measure that no driver serves, or a
        driver that does not serve the measure (those that do are named).
    """
    measure = measures.get(measure)
    needed = "recipe_for needs a training.Problem: Problem(prior, eps=0.5 / n) for n rows with that share of positives"
    require(isinstance(problem, Problem), needed, problem)
    if preset is not None:
        algorithm = with_preset(algorithm, preset)
        warn_renamed(f"preset={preset!r} of recipe_for", f"algorithm={algorithm!r}")
    return choose("algorithm", algorithm, BUILDERS)(measure, problem)


def resolve_recipe(algorithm: str | Recipe, measure: str | Measure, problem: Problem) -> Recipe:
    """Resolve the argument `algorithm` of `fit`.

    Parameters
    ----------
    algorithm : str or Recipe
        One of `ALGORITHMS`, or a recipe, which is returned as it is.
    measure : str or measures.Measure
        What to train for.
    problem : Problem
        Prior, smoothing and kind of the training data.

    Returns
    -------
    Recipe

    Raises
    ------
    ValueError
        As `recipe_for`.
    """
    return algorithm if isinstance(algorithm, Recipe) else recipe_for(measure, problem, algorithm)


def with_preset(algorithm: str, preset: str) -> str:
    """The algorithm that an algorithm and a preset of version 0.1 stand for.

    Parameters
    ----------
    algorithm : str
        One of `ALGORITHMS`.
    preset : {"default", "paper"}
        "paper" is the paper's listing; it has no effect on a baseline.

    Returns
    -------
    str
        Such as "paper_duple" for "duple" and "paper" for "auto"; `algorithm` itself for "default".

    Raises
    ------
    ValueError
        If the algorithm or the preset is unknown (the nearest is suggested).
    """
    choose("algorithm", algorithm, BUILDERS)
    choose("preset", preset, dict.fromkeys(PRESETS))
    listing = "paper" if algorithm == "auto" else f"paper_{algorithm}"
    return listing if preset == "paper" and listing in BUILDERS else algorithm


# -- the recommended recipes -----------------------------------------------------------------------------------------


def _auto(measure: Measure, problem: Problem) -> Recipe:
    measure = trained_measure(measure)
    kind = measure.algorithm or _first_driver(measure)
    return BUILDERS[_BEST_VARIANTS.get(kind, kind)](measure, problem)


def trained_measure(measure: Measure) -> Measure:
    """The measure that the recommended recipe trains in place of another: itself, or BAKLD.

    KLD, AE, RAE, NAS and NSS are perfect as soon as FP = FN, however bad the classifier, and training on them alone
    ends with one class; BAKLD adds balanced accuracy.

    Parameters
    ----------
    measure : measures.Measure
        The measure asked for.

    Returns
    -------
    measures.Measure
        The measure named by its `trained_as`, or itself.
    """
    return measures.get(measure.trained_as) if measure.trained_as else measure


def _first_driver(measure: Measure) -> str:
    """Name of the driver that serves a measure best."""
    kinds = measure.drivers()
    if not kinds:
        raise ValueError(
            f"no driver trains {measure} directly. {measure.hint or 'Train another measure and report this one.'} "
            f"Trainable: {', '.join(m.name for m in measures.defaults() if m.drivers())}."
        )
    return kinds[0]


def _duple(measure: Measure, problem: Problem, *, counts: bool) -> Recipe:
    options: dict[str, Any] = {"counts": counts, "eps": problem.eps}
    if measure.min_of_rates:
        inner = DUPLE(measure, problem.prior, dual="step", dual_rate=0.05, forgetting=0.5, **options)
    else:
        inner = DUPLE(measure, problem.prior, forgetting=0.9, **options)
    return _single(Mix(inner, ClassWeighted(problem.prior, _positive_weight(measure, problem))))


def _positive_weight(measure: Measure, problem: Problem) -> float:
    """The anchor's weight of the positives: the measure's own if it is linear, else one half."""
    weight = measure.positive_weight(problem.prior)
    return min(max(0.5 if weight is None else weight, 1e-6), 1 - 1e-6)


def _denim(measure: Measure, problem: Problem, *, counts: bool) -> Recipe:
    inner = DENIM(measure, problem.prior, counts=counts, forgetting=0.98, cap=2.0, eps=problem.eps)
    anchor = ClassWeighted(problem.prior) if problem.text else CrossEntropy(problem.prior)
    return _single(_anchored(inner, anchor))


def _dame(measure: Measure, problem: Problem, *, counts: bool) -> Recipe:
    if measure.family == "pseudo-concave":
        inner = DAME(measure, problem.prior, counts=counts, forgetting=0.98, eps=problem.eps)
        return _single(_anchored(inner, CrossEntropy(problem.prior)))
    return _single(DAME(measure, problem.prior, reward="logistic", counts=counts, forgetting=0.9, eps=problem.eps))


def _anchored(inner: Driver, anchor: FixedWeights, steps: int = 50) -> Driver:
    """The anchor alone for some steps, and then for half of the weights."""
    return WarmStart(anchor, steps, Mix(inner, anchor))


def _single(driver: Driver) -> Recipe:
    """One phase, with the recommended options."""
    return Recipe((Phase(driver),))


# -- groups and constraints ------------------------------------------------------------------------------------------


def _likelihood(measure: Measure, problem: Problem) -> Recipe:
    return _single(CrossEntropy(problem.prior))


def _worst_group(measure: Measure, problem: Problem, *, signal: str) -> Recipe:
    measure, cells = _of_groups(measure, problem)
    return _single(WorstGroup(measure, cells, signal=signal))


def _cell_weighted(measure: Measure, problem: Problem) -> Recipe:
    return _baseline(Phase(CellWeighted(_cells(problem))))._replace(fixed_threshold=False)


def _of_groups(measure: Measure, problem: Problem) -> tuple[measures.GroupMeasure, Cells]:
    names = ", ".join(name for name, factory in WITH_GROUPS_OR_CONSTRAINTS.items() if _is_group_measure(factory))
    if not isinstance(measure, measures.GroupMeasure):
        raise ValueError(f"this algorithm cannot train for {measure}: it needs a measure of the worst group ({names}).")
    return measure, _cells(problem)


def _is_group_measure(factory: Any) -> bool:
    return isinstance(factory, type) and issubclass(factory, measures.GroupMeasure)


def _cells(problem: Problem) -> Cells:
    if problem.cells is None or not problem.cells.groups:
        raise ValueError("this algorithm or measure needs groups, got none: fit(..., groups=...).")
    return problem.cells


def constrained(recipe: Recipe, constraints: Sequence[Constraint], cells: Cells) -> Recipe:
    """A recipe whose drivers are subject to constraints.

    Parameters
    ----------
    recipe : Recipe
        How to train without them.
    constraints : sequence of Constraint
        At least one.
    cells : Cells
        Of the training rows.

    Returns
    -------
    Recipe

    Raises
    ------
    ValueError
        If a driver of the recipe weights rows and not classes.
    """
    for phase in recipe.phases:
        weights_rows = isinstance(phase.driver, RowDriver) or phase.head_only
        require(not weights_rows, "constraints need an algorithm that weights classes", type(phase.driver).__name__)
    phases = tuple(phase._replace(driver=Constrained(phase.driver, constraints, cells)) for phase in recipe.phases)
    return recipe._replace(phases=phases, fixed_threshold=False)


# -- the paper's listings --------------------------------------------------------------------------------------------


def _paper(measure: Measure, problem: Problem) -> Recipe:
    return BUILDERS[f"paper_{_first_driver(measure)}"](measure, problem)


def _literal(problem: Problem, counts: bool) -> dict[str, Any]:
    """Options of the corrected listing: cumulative class sums at the new weights, exact duals."""
    return {"counts": counts, "forgetting": 1.0, "evaluate": "new", "eps": problem.eps}


def _listing(*phases: Phase) -> Recipe:
    """The last weights of plain Adam, thresholded at 0, as the paper has it."""
    options: dict[str, Any] = {"averaging": 0.0, "schedule": "constant", "weight_decay": 0.0, "fixed_threshold": True}
    return Recipe(phases, learning_rate=0.003, **options)


def _paper_dual(driver: type[DUPLE | DENIM], measure: Measure, problem: Problem, *, counts: bool) -> Recipe:
    phase = Phase(driver(measure, problem.prior, **_literal(problem, counts)))
    return _listing(phase)


def _paper_dame(measure: Measure, problem: Problem, *, counts: bool) -> Recipe:
    """DAME on the head of a network trained on cross-entropy before."""
    driver = DAME(measure, problem.prior, inner_steps=50, round_rows=8192, **_literal(problem, counts))
    phases = (Phase(CrossEntropy(problem.prior), 0.5), Phase(driver, 0.5, head_only=True))
    return _listing(*phases)


# -- baselines -------------------------------------------------------------------------------------------------------


def _baseline(*phases: Phase) -> Recipe:
    """Trained as the recommended recipes are; the threshold makes the baseline."""
    return Recipe(phases, fixed_threshold=True)


def _cross_entropy(measure: Measure, problem: Problem) -> Recipe:
    return _baseline(Phase(CrossEntropy(problem.prior)))


def _class_weighted(measure: Measure, problem: Problem) -> Recipe:
    return _baseline(Phase(ClassWeighted(problem.prior)))


def _plug_in(measure: Measure, problem: Problem) -> Recipe:
    return _cross_entropy(measure, problem)._replace(threshold=None)


def _logit_adjusted(measure: Measure, problem: Problem) -> Recipe:
    return _cross_entropy(measure, problem)._replace(threshold=log_odds(problem.prior))


def _struct_ann(measure: Measure, problem: Problem) -> Recipe:
    return _baseline(Phase(StructANN(measure, score_scale=_SCORE_SCALE)))


def _direct_loss(measure: Measure, problem: Problem) -> Recipe:
    driver = DirectLoss(measure, epsilon=0.1, score_scale=_SCORE_SCALE)
    return _baseline(Phase(CrossEntropy(problem.prior), 0.25), Phase(driver, 0.75))._replace(learning_rate=0.003)


def _spade(measure: Measure, problem: Problem) -> Recipe:
    measure.require_driver("duple", "spade")
    return _baseline(Phase(DUPLE(measure, problem.prior, forgetting=1.0, eps=problem.eps)))._replace(averaging=0.0)


def _nemsis(measure: Measure, problem: Problem) -> Recipe:
    measure.require_driver("denim", "nemsis")
    return _baseline(Phase(DENIM(measure, problem.prior, forgetting=1.0, eps=problem.eps)))._replace(averaging=0.0)


def _amp(measure: Measure, problem: Problem) -> Recipe:
    measure.require_driver("dame", "amp")
    driver = DAME(measure, problem.prior, inner_steps=50, round_rows=8192, eps=problem.eps)
    return _baseline(Phase(driver))._replace(averaging=0.0)


# A new algorithm is one row here, beside its driver.
BUILDERS: dict[str, Callable[[Measure, Problem], Recipe]] = {
    "auto": _auto,
    "duple": partial(_duple, counts=False),
    "duple_ns": partial(_duple, counts=True),
    "denim": partial(_denim, counts=False),
    "denim_ns": partial(_denim, counts=True),
    "dame": partial(_dame, counts=False),
    "dame_ns": partial(_dame, counts=True),
    "cross_entropy": _cross_entropy,
    "class_weighted": _class_weighted,
    "plug_in": _plug_in,
    "logit_adjusted": _logit_adjusted,
    "struct_ann": _struct_ann,
    "direct_loss": _direct_loss,
    "spade": _spade,
    "nemsis": _nemsis,
    "amp": _amp,
    "likelihood": _likelihood,
    "worst_group": partial(_worst_group, signal="count"),
    "group_dro": partial(_worst_group, signal="logistic"),
    "cell_weighted": _cell_weighted,
    "paper": _paper,
    "paper_duple": partial(_paper_dual, DUPLE, counts=False),
    "paper_duple_ns": partial(_paper_dual, DUPLE, counts=True),
    "paper_denim": partial(_paper_dual, DENIM, counts=False),
    "paper_denim_ns": partial(_paper_dual, DENIM, counts=True),
    "paper_dame": partial(_paper_dame, counts=False),
    "paper_dame_ns": partial(_paper_dame, counts=True),
}
ALGORITHMS = tuple(BUILDERS)
_BEST_VARIANTS = {"denim": "denim_ns", "dame": "dame_ns"}  # that "auto" takes
