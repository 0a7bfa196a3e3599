"""Measures of classification and quantification, as functions of the true positive and true negative rate.

Reading order: `base` (the families of measures), `classification`, `quantification` and `hybrid` (the formulas),
`user` (your own measures), `catalogue` (measures by name). All values are plain floats; nothing here needs Aesara.

>>> from aesara_nondecomp import measures
>>> measures.get("fbeta", beta=2).value(P=0.75, N=0.75, prior=0.5)
0.75
"""

from aesara_nondecomp.measures.base import Concave, Measure, NestedConcave, PseudoConcave, Pseudolinear
from aesara_nondecomp.measures.catalogue import defaults, get, names
from aesara_nondecomp.measures.classification import (
    F1,
    GTPPR,
    Accuracy,
    BalancedAccuracy,
    FBeta,
    GMean,
    GowerLegendre,
    HMean,
    Jaccard,
    Min,
    QMean,
    WeightedAccuracy,
)
from aesara_nondecomp.measures.hybrid import BAKLD, BKReward, CQReward, QMeasure, QMeasureBarranquero
from aesara_nondecomp.measures.quantification import AE, KLD, NAS, NKLD, NSS, RAE
from aesara_nondecomp.measures.user import check_concave, concave, pseudolinear

__all__ = [
    "AE",
    "BAKLD",
    "F1",
    "GTPPR",
    "KLD",
    "NAS",
    "NKLD",
    "NSS",
    "RAE",
    "Accuracy",
    "BKReward",
    "BalancedAccuracy",
    "CQReward",
    "Concave",
    "FBeta",
    "GMean",
    "GowerLegendre",
    "HMean",
    "Jaccard",
    "Measure",
    "Min",
    "NestedConcave",
    "PseudoConcave",
    "Pseudolinear",
    "QMean",
    "QMeasure",
    "QMeasureBarranquero",
    "WeightedAccuracy",
    "check_concave",
    "concave",
    "defaults",
    "get",
    "names",
    "pseudolinear",
]
