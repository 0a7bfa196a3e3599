"""Recipes of several classes: which driver trains a measure, and which rule predicts.

- "auto" is cross-entropy with the plug-in rule, as training for a measure did not beat it: the minimum recall on
  CoverType was .77 with it and .75 by DUPLE on six development seeds, but .74 and .77 on three others, so they are
  level. For "mean_recall" it is logit adjustment. Without rows held out there is none to choose a rule on: then it is
  the measure's own driver.
- "duple", "dame" and "denim" choose a driver; DUPLE has the adjusted reward, on counts.
- Of groups "worst_group" has DUPLE with duals that rows held out move, "group_dro" and "cell_weighted" are baselines.
- Under constraints "auto" is the measure's own driver, and of "likelihood" cross-entropy. Where offsets are chosen that
  meet them, their multipliers stay small, and a precision has none: on three classes of which the rarest was asked for
  a precision of .85, training under a cap of 20 gave the class up, with a cap of 2 in one of two seeds, and offsets
  alone reached .90 and .87. Bounds on recalls and shares were met at more accuracy with a cap of 1 than with 0 or 20.
- The baselines: "cross_entropy", "class_weighted", "logit_adjusted"; and cross-entropy with a rule chosen on held-out
  rows: "plug_in" (offsets), "plug_in_linear" (linearised).

Source: docs/multiclass.md 3, 4 and 8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from aesara_nondecomp._checks import choose, require
from aesara_nondecomp.drivers.multiclass import (
    DAME,
    DENIM,
    DUPLE,
    CellDriver,
    CellWeighted,
    Constrained,
    FixedGains,
    OfClasses,
    WorstGroup,
)
from aesara_nondecomp.measures import Constraint
from aesara_nondecomp.measures.multiclass import Cells, GroupedCells, GroupMeasure, MulticlassMeasure
from aesara_nondecomp.networks import Network
from aesara_nondecomp.training.recipes import Phase, Recipe

# Of networks without a hidden layer: at 0.01 their weights are still on the way after all steps. Of four draws of
# CoverType the smallest recall by DUPLE rose from .601 to .616, and by logit adjustment from .518 to .542.
LINEAR_RATE = 0.05
CAP_BESIDE_OFFSETS = 1.0


def class_recipe(
    algorithm: str | Recipe,
    measure: MulticlassMeasure,
    cells: Cells,
    eps: float,
    held_out: bool = True,
    network: Network | None = None,
    constraints: Sequence[Constraint] = (),
    by_offsets: bool = False,
) -> Recipe:
    """The recipe that trains a measure of several classes.

    Parameters
    ----------
    algorithm : str or Recipe
        One of `CLASS_BUILDERS`, or a recipe with drivers of `drivers.multiclass`, which is returned as it is.
    measure : measures.multiclass.MulticlassMeasure
        What to train for.
    cells : measures.multiclass.Cells
        Of the training rows.
    eps : float
        Smoothing of KLD-like measures, 1 / (2 n).
    held_out : bool, default True
        Whether there are rows held out to choose a rule on. Where "auto" lacks them, it is the measure's own driver.
    network : Network, optional
        What is trained; a linear one has a rate of its own.
    constraints : sequence of Constraint, optional
        What predictions must meet; the cells are then `GroupedCells`. Default: nothing.
    by_offsets : bool, default False
        Whether offsets are chosen that meet the constraints.

    Returns
    -------
    Recipe

    Raises
    ------
    ValueError
        If the algorithm is unknown (the nearest is suggested) or does not serve the measure, or a recipe has drivers of
        two classes.
    """
    if isinstance(algorithm, Recipe):
        own = all(isinstance(phase.driver, CellDriver) for phase in algorithm.phases)
        require(own, "a recipe of several classes needs drivers of drivers.multiclass", algorithm)
        return _on_cells(algorithm, cells, constraints, by_offsets)
    of_cells = isinstance(measure, GroupMeasure) or algorithm == "cell_weighted"
    of_classes = cells if of_cells or cells.n_cells == cells.n_classes else Cells(cells.priors, None, cells.n_classes)
    recipe = choose("algorithm", algorithm, CLASS_BUILDERS)(measure, of_classes, eps)
    if algorithm == "auto" and recipe.plug_in is not None and (constraints or not held_out) and measure.drivers():
        recipe = CLASS_BUILDERS[measure.drivers()[0]](measure, of_classes, eps)
    is_linear = network is not None and network.description.get("hidden") == []
    recipe = recipe._replace(learning_rate=LINEAR_RATE) if is_linear else recipe
    return _on_cells(recipe, cells, constraints, by_offsets)


def _on_cells(recipe: Recipe, cells: Cells, constraints: Sequence[Constraint], by_offsets: bool) -> Recipe:
    """The recipe with drivers of these cells, subject to constraints if there are any."""
    phases = recipe.phases
    if isinstance(cells, GroupedCells) and cells.groups:
        phases = tuple(
            phase
            if phase.driver.cells.n_cells == cells.n_cells
            else phase._replace(driver=OfClasses(phase.driver, cells))
            for phase in phases
        )
    trained = [each for each in constraints if not (by_offsets and each.is_ratio)]
    if trained:
        cap = {"cap": CAP_BESIDE_OFFSETS} if by_offsets else {}
        phases = tuple(phase._replace(driver=Constrained(phase.driver, trained, cells, **cap)) for phase in phases)
    return recipe._replace(phases=phases)


def _auto(measure: MulticlassMeasure, cells: Cells, eps: float) -> Recipe:
    if isinstance(measure, GroupMeasure):
        return _worst_group(measure, cells, eps)
    if measure.name == "likelihood":
        return _fixed(measure, cells, eps, kind="cross_entropy")
    if measure.name == "mean_recall":
        return _fixed(measure, cells, eps, kind="logit_adjusted")._replace(fixed_threshold=False)
    by_offsets = measure.of_recalls or measure.family in ("concave", "nested concave", "report only")
    method = "offsets" if by_offsets else "linearised"
    return _fixed(measure, cells, eps, kind="cross_entropy")._replace(plug_in=method)


def _smoothed(measure: MulticlassMeasure, cells: Cells, eps: float, *, driver: type[DUPLE | DENIM]) -> Recipe:
    return Recipe((Phase(driver(measure, cells, eps=eps)),))


def _dame(measure: MulticlassMeasure, cells: Cells, eps: float) -> Recipe:
    return Recipe((Phase(DAME(measure, cells)),))


def _worst_group(measure: MulticlassMeasure, cells: Cells, eps: float, *, signal: str = "count") -> Recipe:
    return Recipe((Phase(WorstGroup(measure, cells, signal=signal)),))


def _cell_weighted(measure: MulticlassMeasure, cells: Cells, eps: float) -> Recipe:
    return Recipe((Phase(CellWeighted(cells)),), fixed_threshold=True)


def _fixed(measure: MulticlassMeasure, cells: Cells, eps: float, *, kind: str, plug_in: str | None = None) -> Recipe:
    return Recipe((Phase(FixedGains(cells, kind)),), fixed_threshold=True, plug_in=plug_in)


# A new algorithm is one row here, beside its driver.
CLASS_BUILDERS: dict[str, Callable[[MulticlassMeasure, Cells, float], Recipe]] = {
    "auto": _auto,
    "duple": partial(_smoothed, driver=DUPLE),
    "dame": _dame,
    "denim": partial(_smoothed, driver=DENIM),
    "worst_group": _worst_group,
    "group_dro": partial(_worst_group, signal="logistic"),
    "cell_weighted": _cell_weighted,
    "cross_entropy": partial(_fixed, kind="cross_entropy"),
    "class_weighted": partial(_fixed, kind="class_weighted"),
    "logit_adjusted": partial(_fixed, kind="logit_adjusted"),
    "plug_in": partial(_fixed, kind="cross_entropy", plug_in="offsets"),
    "plug_in_linear": partial(_fixed, kind="cross_entropy", plug_in="linearised"),
}
