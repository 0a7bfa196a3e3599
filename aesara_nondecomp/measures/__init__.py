"""Measures of classification and quantification, as functions of the true positive and true negative rate.

Reading order: `base` (what every measure provides), `families`, `classification`, `quantification`, `hybrid` (the
formulas), `groups`, `rates`, `constraints` and `objectives` (worst groups, bounds on rates), `catalogue` (measures by
name), `elsewhere` (names of other libraries), `user` (measures of your own); `averaged` (of several labels);
`multiclass` (measures of K classes); `identity` (what tells measures apart). Nothing here needs Aesara.

>>> from aesara_nondecomp import measures
>>> measures.get("fbeta", beta=2).value(P=0.75, N=0.75, prior=0.5)
0.75
"""

# ruff: noqa: F403 -- each module lists its public names in `__all__`, so that a new measure is not listed here too
from aesara_nondecomp._names import lazy
from aesara_nondecomp.measures import (
    averaged,
    base,
    catalogue,
    classification,
    constraints,
    families,
    groups,
    hybrid,
    objectives,
    quantification,
    user,
)
from aesara_nondecomp.measures.averaged import *
from aesara_nondecomp.measures.base import *
from aesara_nondecomp.measures.catalogue import *
from aesara_nondecomp.measures.classification import *
from aesara_nondecomp.measures.constraints import *
from aesara_nondecomp.measures.families import *
from aesara_nondecomp.measures.groups import *
from aesara_nondecomp.measures.hybrid import *
from aesara_nondecomp.measures.objectives import *
from aesara_nondecomp.measures.quantification import *
from aesara_nondecomp.measures.user import *

__all__: list[str] = []
__all__ += averaged.__all__
__all__ += base.__all__
__all__ += catalogue.__all__
__all__ += classification.__all__
__all__ += constraints.__all__
__all__ += families.__all__
__all__ += groups.__all__
__all__ += hybrid.__all__
__all__ += objectives.__all__
__all__ += quantification.__all__
__all__ += user.__all__

__getattr__, __dir__ = lazy(__name__, {"multiclass": "measures.multiclass"})
