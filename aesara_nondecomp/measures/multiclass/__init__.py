"""Measures of K classes, as functions of the conditional confusion matrix R of the cells.

Reading order: `base` (cells, and what every measure provides), `families`, `recalls`, `linear`, `ratios`,
`quantification` (the formulas), `groups` (cells of groups, and the worst group), `catalogue` (measures by name).
Nothing here needs Aesara.

>>> from aesara_nondecomp.measures import multiclass
>>> multiclass.get("min_recall").from_confusion([[3, 1], [1, 1]])
0.5
"""

# ruff: noqa: F403 -- each module lists its public names in `__all__`, so that a new measure is not listed here too
from aesara_nondecomp.measures.multiclass import (
    base,
    catalogue,
    families,
    groups,
    linear,
    quantification,
    ratios,
    recalls,
)
from aesara_nondecomp.measures.multiclass.base import *
from aesara_nondecomp.measures.multiclass.catalogue import *
from aesara_nondecomp.measures.multiclass.families import *
from aesara_nondecomp.measures.multiclass.groups import *
from aesara_nondecomp.measures.multiclass.linear import *
from aesara_nondecomp.measures.multiclass.quantification import *
from aesara_nondecomp.measures.multiclass.ratios import *
from aesara_nondecomp.measures.multiclass.recalls import *

__all__: list[str] = []
__all__ += base.__all__
__all__ += catalogue.__all__
__all__ += families.__all__
__all__ += groups.__all__
__all__ += linear.__all__
__all__ += quantification.__all__
__all__ += ratios.__all__
__all__ += recalls.__all__
