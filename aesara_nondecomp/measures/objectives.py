"""What is trained for under constraints: the likelihood, and the recall.

Source: docs/algorithms.md 3.10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aesara_nondecomp.measures.base import Measure
from aesara_nondecomp.measures.classification import Accuracy

__all__ = ["Likelihood", "Recall"]


@dataclass(frozen=True)
class Likelihood(Accuracy):
    """The likelihood of the labels as what is trained for, by cross-entropy; evaluated by the accuracy.

    For constraints: the most likely model among those that meet them.
    """

    name = "likelihood"
    algorithm = "likelihood"


@dataclass(frozen=True)
class Recall(Measure):
    """The true positive rate P, for constraints: the most recall at a given precision, for example.

    Without a constraint the best model predicts every row positive.
    """

    name = "recall"
    family = "linear, for constraints"
    takes_floats = True
    algorithm = "likelihood"

    def drivers(self) -> tuple[str, ...]:
        return ("likelihood",)

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:  # noqa: N803
        return P
