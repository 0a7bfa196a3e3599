"""Recipes of several labels: the two-class recipe of each label on one network, or one on the counts of all labels.

Names are those of two classes (`training.recipes`), and "auto" is what it is there: the measure's own driver.

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

# Those of one phase that weight classes.
LABEL_ALGORITHMS = (
    "auto", "cross_entropy", "plug_in", "class_weighted", "logit_adjusted", "duple", "duple_ns", "denim", "denim_ns",
    "dame", "dame_ns",
)  # fmt: skip


class LabelRecipe(NamedTuple):
    """How to train several labels.

    Attributes
    ----------
    recipe : Recipe
        One phase, with `LabelDrivers`; its threshold is None where the labels' are chosen on rows held out.
    thresholds : float64 array, shape (L,)
        Of the labels, before any are chosen.
    """

    recipe: Recipe
    thresholds: NDArray[Any]


def label_recipe(algorithm: Any, measure: Averaged, cells: Cells, eps: float, text: bool = False) -> LabelRecipe:
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
    text : bool, default False
        Whether the rows are token ids; see `recipes.Problem`.

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
    choose("algorithm of several labels", algorithm, dict.fromkeys(LABEL_ALGORITHMS))
    n_labels = cells.n_cells // 2
    pooled = measure.average == "micro"
    priors = [float(cells.priors[1])] if pooled else (cells.shares[1::2] * n_labels).tolist()
    recipes = [recipe_for(measure.measure, Problem(prior, eps, text), algorithm) for prior in priors]
    drivers = LabelDrivers([recipe.phases[0].driver for recipe in recipes], cells)
    thresholds = np.resize([recipe.threshold or 0.0 for recipe in recipes], n_labels)
    return LabelRecipe(recipes[0]._replace(phases=(Phase(drivers),)), thresholds)
