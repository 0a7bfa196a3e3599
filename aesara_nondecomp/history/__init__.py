"""The record of a run: steps and evaluations (`records`), as a DataFrame and as a figure (`plots`)."""

from aesara_nondecomp._names import lazy
from aesara_nondecomp.history.plots import plot_confusion, plot_history, running_mean
from aesara_nondecomp.history.records import (
    ClassEvaluation,
    ClassStep,
    Evaluation,
    Step,
    collapsed_since,
    to_frame,
)

__all__ = [
    "ClassEvaluation",
    "ClassStep",
    "Evaluation",
    "Step",
    "collapsed_since",
    "plot_confusion",
    "plot_history",
    "running_mean",
    "to_frame",
]

__getattr__, __dir__ = lazy(__name__, {}, former={"one_class_from": "collapsed_since"})
