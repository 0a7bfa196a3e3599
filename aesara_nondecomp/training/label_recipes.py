"""Recipes of several labels: the two-class recipe of each label on one network, or one on the counts of all labels.

"auto" is cross-entropy with a steady threshold for each label, or one for all of them where the average is "micro".
All other names are those of two classes (`training.recipes`).

Source: docs/multilabel.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import choose, require
from aesara_nondecomp.drivers.multiclass.labels import LabelDrivers
from aesara_nondecomp.measures import Averaged
from aesara_nondecomp.measures.multiclass import Cells
from aesara_nondecomp.training.recipes import Phase, Problem, Recipe, recipe_for

# Algorithms of one phase that weight classes; and, for "auto", the one that trains.
LABEL_ALGORITHMS = {name: name for name in (
    "auto", "cross_entropy", "plug_in", "class_weighted", "logit_adjusted", "duple", "duple_ns", "denim", "denim_ns",
    "dame", "dame_ns",
)}  # fmt: skip


class LabelRecipe(NamedTuple):
    """How to train several labels.

    Attributes
    ----------
    recipe : Recipe
        One phase, with `LabelDrivers`; its threshold is None where the labels' are chosen on rows held out.
    thresholds : float64 array, shape (L,)
        Of the labels, before any are chosen.
    by_likelihood : bool
        Whether evaluations are compared by the likelihood of the rows held out, as scores are to be probabilities.
    """

    recipe: Recipe
    thresholds: NDArray[Any]
    by_likelihood: bool


def label_recipe(algorithm: Any, measure: Averaged, cells: Cells, eps: float) -> LabelRecipe:
    """The recipe that trains a measure of several labels.

    Parameters
    ----------
    algorithm : str
        One of `LABEL_ALGORITHMS`.
    measure : measures.Averaged
        What to train for.
    cells : measures.multiclass.Cells
        Of the labels: see `label_cells`.
    eps : float
        Smoothing of KLD-like measures, 1 / (2 n).

    Returns
    -------
    LabelRecipe

    Raises
    ------
    ValueError
        If the algorithm is unknown (the nearest is suggested), is no name of one for several labels, or does not serve
        the measure.
    """
    require(isinstance(algorithm, str), "algorithm must be a name where a row may have several labels", algorithm)
    choose("algorithm of several labels", algorithm, LABEL_ALGORITHMS)
    pooled = measure.average == "micro"
    n_labels = cells.n_cells // 2
    priors = [float(cells.priors[1])] if pooled else (cells.shares[1::2] * n_labels).tolist()
    trained = "cross_entropy" if algorithm == "auto" else algorithm
    recipes = [recipe_for(measure.measure, Problem(prior, eps), trained) for prior in priors]
    drivers = LabelDrivers([recipe.phases[0].driver for recipe in recipes], cells)
    fixed = recipes[0].fixed_threshold and algorithm != "auto"
    common = recipes[0]._replace(phases=(Phase(drivers),), fixed_threshold=fixed)
    thresholds = [0.0 if recipe.threshold is None else recipe.threshold for recipe in recipes]
    return LabelRecipe(common, np.resize(thresholds, n_labels), algorithm in ("auto", "plug_in"))
