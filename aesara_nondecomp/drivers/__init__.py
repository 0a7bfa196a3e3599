"""Drivers: the training algorithms without Aesara, for the training loop of this package or for your own.

Reading order: `base` (the interface of a driver), `duple`, `denim`, `dame`, then `fixed_weights`, `combined`,
`duals` and `cells` (groups and constraints); the baselines that weight individual rows are in `oracle` and
`struct_ann`; drivers of K classes in `multiclass`.
"""

from aesara_nondecomp._names import lazy
from aesara_nondecomp.drivers.base import AdaptiveDriver, Driver, RewardWeights
from aesara_nondecomp.drivers.cells import CellDriver, CellWeighted, Constrained, WorstGroup
from aesara_nondecomp.drivers.combined import Mix, WarmStart
from aesara_nondecomp.drivers.dame import DAME
from aesara_nondecomp.drivers.denim import DENIM
from aesara_nondecomp.drivers.duple import DUPLE
from aesara_nondecomp.drivers.fixed_weights import ClassWeighted, CrossEntropy, FixedWeights
from aesara_nondecomp.drivers.oracle import Labelling, Oracle
from aesara_nondecomp.drivers.struct_ann import DirectLoss, RowDriver, StructANN

__all__ = [
    "AdaptiveDriver",
    "DAME",
    "DENIM",
    "DUPLE",
    "CellDriver",
    "CellWeighted",
    "ClassWeighted",
    "Constrained",
    "CrossEntropy",
    "DirectLoss",
    "Driver",
    "FixedWeights",
    "Labelling",
    "Mix",
    "Oracle",
    "RewardWeights",
    "RowDriver",
    "StructANN",
    "WarmStart",
    "WorstGroup",
]

__getattr__, __dir__ = lazy(__name__, {"multiclass": "drivers.multiclass"})
