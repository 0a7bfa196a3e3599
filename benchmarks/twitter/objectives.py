"""What the networks are trained for, by the names that the report uses."""

from __future__ import annotations

from aesara_nondecomp.training.recipes import Problem, Recipe, recipe_for

FOR_TABLES = "DENIM, recipe for tables"
DENIM, CROSS_ENTROPY, CLASS_WEIGHTED = "DENIM on BAKLD", "cross-entropy", "class-weighted (ANN-p)"
OBJECTIVES = {
    FOR_TABLES: ("denim_ns", "bakld"),
    DENIM: ("denim", "bakld"),
    "DENIM-NS on BAKLD": ("denim_ns", "bakld"),
    "DENIM on KLD": ("denim", "kld"),
    "DENIM-NS on KLD": ("denim_ns", "kld"),
    CROSS_ENTROPY: ("cross_entropy", "kld"),
    CLASS_WEIGHTED: ("class_weighted", "kld"),
}
"""Algorithm and measure."""


def recipe(objective: str, problem: Problem) -> Recipe:
    """The default recipe of an objective, for text or for tables."""
    algorithm, measure = OBJECTIVES[objective]
    return recipe_for(measure, problem._replace(text=objective != FOR_TABLES), algorithm)
