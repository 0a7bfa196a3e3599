"""Which driver, with which options, trains a measure well: the defaults, and the paper's listing.

The default recipes come from a comparison of about 125 configurations on six data sets:

- the sigmoid reward alone learns slowly from badly wrong rows, so min, Q-mean and their like take half of their
  weights from class-weighted cross-entropy (`Mix`);
- F1 and its like train best on the logistic reward with a level v from counts;
- a quantification measure alone is satisfied by a useless classifier, so KLD and its like train BAKLD, which adds
  balanced accuracy, half mixed with cross-entropy, after 50 steps of cross-entropy;
- on text the class-weighted form takes the place of that cross-entropy: a text network fits its training rows almost
  perfectly, so DENIM finds nothing to correct, and other rows show the lean of its anchor. On held-out rows of
  four skewed sets of texts, with attention and LSTM, KLD under drift fell in 7 of 8 cells (mean .106 against .126), and
  at the own share from .0056 to .0037. On three tables it rose 7 to 13 times at the own share, so they keep
  cross-entropy (`benchmarks/report/text.md`);
- class sums are forgotten (factor 0.9 or 0.98) and the weights averaged (decay 0.99).

The baselines are recipes as well, so that a comparison differs in nothing else:

- "cross_entropy" (ANN 0-1) and "class_weighted" (ANN-p), cut at 0;
- "plug_in" (ANN-PG): cross-entropy, cut at the best threshold on held-out rows (spec 3.8);
- "logit_adjusted" (Menon et al. 2021): cross-entropy, cut at the log-odds of the prior.  Adding them to the scores in
  the training loss and cutting at 0 is the same but for the bias that training starts from: the output bias takes up
  the difference;
- "struct_ann" and "direct_loss": row drivers on the loss-augmented oracle (spec 3.6), the scores divided by the usual
  batch size; direct loss after a quarter of cross-entropy, as it finds nothing worse than a trivial labelling;
- "spade", "nemsis" and "amp": the linear antecedents of DUPLE, DENIM and DAME, when the network is linear
  (``hidden=()``): cumulative class sums at the old weights, last weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from aesara_nondecomp import measures
from aesara_nondecomp._checks import choose
from aesara_nondecomp.drivers import (
    DAME,
    DENIM,
    DUPLE,
    ClassWeighted,
    CrossEntropy,
    DirectLoss,
    Driver,
    FixedWeights,
    Mix,
    StructANN,
    WarmStart,
)

ALGORITHMS = (
    "auto", "duple", "duple_ns", "denim", "denim_ns", "dame", "dame_ns",
    "cross_entropy", "class_weighted", "plug_in", "logit_adjusted", "struct_ann", "direct_loss",
    "spade", "nemsis", "amp",
)  # fmt: skip
PRESETS = ("default", "paper")
PAPER = ("paper", "paper_duple", "paper_duple_ns", "paper_denim", "paper_denim_ns", "paper_dame", "paper_dame_ns")
ALGORITHMS = (*ALGORITHMS, *PAPER)


def with_preset(algorithm: str, preset: str) -> str:
    """The name of an algorithm that 0.1 spelled as an algorithm and a preset."""
    if preset == "default" or algorithm in _BASELINES:
        return algorithm
    return "paper" if algorithm == "auto" else f"paper_{algorithm}"


class Phase(NamedTuple):
    """One stretch of training with one driver."""

    driver: Driver
    share: float = 1.0
    """Share of the run's steps."""
    head_only: bool = False
    """Train the head alone, on frozen features and without dropout; see `Network.head_network`."""


class Recipe(NamedTuple):
    """How to train one measure: `fit` takes one, `recipe_for` makes the usual ones."""

    phases: tuple[Phase, ...]
    learning_rate: float = 0.01
    averaging: float = 0.99
    """Decay of the running average of the weights; 0 keeps the last weights."""
    threshold: float | None = 0.0
    """Scores above it are positive; None for the best one on held-out rows."""
    temperature: float = 1.0
    """Of the sigmoid reward."""
    normalize: str = "prior"
    """How class sums are normalised: "prior" or "batch"."""


class Problem(NamedTuple):
    """What a recipe must know of the training data."""

    prior: float
    """Share of positives p in (0, 1)."""
    eps: float
    """Smoothing of KLD-like measures, 1 / (2 n)."""
    text: bool = False
    """Whether the rows are token ids, where DENIM gets another anchor."""


def recipe_for(measure, problem: Problem, algorithm: str = "auto", preset: str = "default") -> Recipe:
    """The recipe that trains `measure` on a problem.

    Parameters
    ----------
    measure : measures.Measure or str
    problem : Problem
    algorithm : str
        One of `ALGORITHMS`. "auto" is the first driver that serves the measure (spec 2.7), in the variant that trains
        it best; "_ns" variants set_objective the duals by counts. For the baselines see the top of this module.
    preset : {"default", "paper"}
        "paper" is the corrected listing and nothing else: sigmoid reward, cumulative class sums, exact duals at the
        new weights, last weights; DAME on the head of a network pre-trained on cross-entropy. Baselines have one form.

    Returns
    -------
    Recipe

    Raises
    ------
    ValueError
        For an unknown algorithm or preset (the nearest is suggested), a measure that no driver serves, or a driver
        that does not serve the measure (those that do are named).
    """
    measure = measures.get(measure)
    choose("algorithm", algorithm, dict.fromkeys(ALGORITHMS))
    choose("preset", preset, dict.fromkeys(PRESETS))
    if algorithm in _BASELINES:
        return _BASELINES[algorithm](measure, problem)
    if algorithm in PAPER:
        return _paper(measure, problem, algorithm.removeprefix("paper").removeprefix("_") or "auto")
    if preset == "paper":
        return _paper(measure, problem, algorithm)
    return _default(measure, problem, algorithm)


# -- the default recipes ---------------------------------------------------------------------------------------------


def _default(measure, problem: Problem, algorithm: str) -> Recipe:
    if algorithm == "auto":
        measure = trained_measure(measure)
    kind, counts = _kind_and_counts(measure, algorithm)
    build = {"duple": _default_duple, "denim": _default_denim, "dame": _default_dame}[kind]
    return Recipe((Phase(build(measure, problem, counts)),))


def trained_measure(measure):
    """The measure that the default recipe trains for the sake of `measure`: itself, or BAKLD.

    KLD, AE, RAE, NAS and NSS are perfect as soon as FP = FN, however bad the classifier, and training on them alone
    ends with one class; BAKLD adds balanced accuracy.
    """
    of_prevalence_alone = (measures.KLD, measures.AE, measures.RAE, measures.NAS, measures.NSS)
    return measures.BAKLD() if isinstance(measure, of_prevalence_alone) else measure


def _default_duple(measure, problem: Problem, counts: bool | None) -> Driver:
    ns, p, eps = bool(counts), problem.prior, problem.eps
    if isinstance(measure, measures.Min):
        inner = DUPLE(measure, p, counts=ns, dual="step", dual_rate=0.05, forgetting=0.5, eps=eps)
    else:
        inner = DUPLE(measure, p, counts=ns, forgetting=0.9, eps=eps)
    return Mix(inner, ClassWeighted(problem.prior, _share_of_positives(measure, problem)))


def _share_of_positives(measure, problem: Problem) -> float:
    """The anchor's weight of the positives: the measure's own where it is linear, else one half."""
    linear = isinstance(measure, (measures.Accuracy, measures.WeightedAccuracy))
    share = measure.positive_weight(problem.prior) if linear else 0.5
    return min(max(share, 1e-6), 1 - 1e-6)


def _default_denim(measure, problem: Problem, counts: bool | None) -> Driver:
    counts = counts is not False
    inner = DENIM(measure, problem.prior, counts=counts, forgetting=0.98, cap=2.0, eps=problem.eps)
    anchor = ClassWeighted(problem.prior) if problem.text else CrossEntropy(problem.prior)
    return _anchored(inner, anchor)


def _default_dame(measure, problem: Problem, counts: bool | None) -> Driver:
    counts = counts is not False
    if measure.family == "pseudo-concave":
        inner = DAME(measure, problem.prior, counts=counts, forgetting=0.98, eps=problem.eps)
        return _anchored(inner, CrossEntropy(problem.prior))
    return DAME(measure, problem.prior, reward="logistic", counts=counts, forgetting=0.9, eps=problem.eps)


def _anchored(inner: Driver, anchor: FixedWeights, steps: int = 50) -> Driver:
    """The anchor alone for some steps, and then for half of the weights."""
    return WarmStart(anchor, steps, Mix(inner, anchor))


# -- baselines -------------------------------------------------------------------------------------------------------

SCORE_SCALE = 1 / 512  # of the default batch size: beside the loss stands the mean score


def _cross_entropy(measure, problem: Problem) -> Recipe:
    return Recipe((Phase(CrossEntropy(problem.prior)),))


def _class_weighted(measure, problem: Problem) -> Recipe:
    return Recipe((Phase(ClassWeighted(problem.prior)),))


def _plug_in(measure, problem: Problem) -> Recipe:
    return _cross_entropy(measure, problem)._replace(threshold=None)


def _logit_adjusted(measure, problem: Problem) -> Recipe:
    log_odds = math.log(problem.prior / (1 - problem.prior))
    return _cross_entropy(measure, problem)._replace(threshold=log_odds)


def _struct_ann(measure, problem: Problem) -> Recipe:
    return Recipe((Phase(StructANN(measure, score_scale=SCORE_SCALE)),))


def _direct_loss(measure, problem: Problem) -> Recipe:
    driver = DirectLoss(measure, epsilon=0.1, score_scale=SCORE_SCALE)
    return Recipe((Phase(CrossEntropy(problem.prior), 0.25), Phase(driver, 0.75)), learning_rate=0.003)


def _spade(measure, problem: Problem) -> Recipe:
    return Recipe((Phase(DUPLE(measure, problem.prior, forgetting=1.0, eps=problem.eps)),), averaging=0.0)


def _nemsis(measure, problem: Problem) -> Recipe:
    return Recipe((Phase(DENIM(measure, problem.prior, forgetting=1.0, eps=problem.eps)),), averaging=0.0)


def _amp(measure, problem: Problem) -> Recipe:
    driver = DAME(measure, problem.prior, inner_steps=50, round_rows=8192, eps=problem.eps)
    return Recipe((Phase(driver),), averaging=0.0)


_BASELINES: dict[str, Callable[[Any, Problem], Recipe]] = {
    "cross_entropy": _cross_entropy,
    "class_weighted": _class_weighted,
    "plug_in": _plug_in,
    "logit_adjusted": _logit_adjusted,
    "struct_ann": _struct_ann,
    "direct_loss": _direct_loss,
    "spade": _spade,
    "nemsis": _nemsis,
    "amp": _amp,
}


# -- the paper's listing ---------------------------------------------------------------------------------------------


def _paper(measure, problem: Problem, algorithm: str) -> Recipe:
    kind, counts = _kind_and_counts(measure, algorithm)
    literal: dict[str, Any] = {"counts": bool(counts), "forgetting": 1.0, "evaluate": "new", "eps": problem.eps}
    if kind == "dame":
        driver = DAME(measure, problem.prior, inner_steps=50, round_rows=8192, **literal)
        phases = (Phase(CrossEntropy(problem.prior), 0.5), Phase(driver, 0.5, head_only=True))
        return Recipe(phases, learning_rate=0.003, averaging=0.0)
    driver = {"duple": DUPLE, "denim": DENIM}[kind](measure, problem.prior, **literal)
    return Recipe((Phase(driver),), learning_rate=0.003, averaging=0.0)


def _kind_and_counts(measure, algorithm: str) -> tuple[str, bool | None]:
    """The driver's name, and whether counts set_objective the duals (None: as the recipe likes)."""
    if algorithm == "auto":
        kinds = measure.drivers()
        if not kinds:
            raise ValueError(
                f"no driver trains {measure} directly. {measure.hint or 'Train another measure and report this one.'} "
                f"Trainable: {', '.join(m.name for m in measures.defaults() if m.drivers())}."
            )
        return kinds[0], None
    return algorithm.removesuffix("_ns"), algorithm.endswith("_ns")
