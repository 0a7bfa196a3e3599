"""Drivers of K classes: the training algorithms without Aesara, for a training loop of your own.

Reading order: `base` (the interface of a driver, and the rewards), `duple`, `dame`, `denim`, `cells` (groups
and constraints), `labels` (of several labels).
"""

from aesara_nondecomp.drivers.multiclass.base import AdaptiveCellDriver, CellDriver, FixedGains, StepGains
from aesara_nondecomp.drivers.multiclass.cells import CellWeighted, Constrained, OfClasses, WorstGroup
from aesara_nondecomp.drivers.multiclass.dame import DAME
from aesara_nondecomp.drivers.multiclass.denim import DENIM
from aesara_nondecomp.drivers.multiclass.duple import DUPLE
from aesara_nondecomp.drivers.multiclass.labels import LabelDrivers, label_cells

__all__ = [
    "DAME",
    "DENIM",
    "DUPLE",
    "AdaptiveCellDriver",
    "CellDriver",
    "CellWeighted",
    "Constrained",
    "FixedGains",
    "LabelDrivers",
    "OfClasses",
    "StepGains",
    "WorstGroup",
    "label_cells",
]
