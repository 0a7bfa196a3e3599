"""Evaluation of predictions in NumPy: confusion matrices, class rates, prevalence estimates, intervals.

Reading order: `checks` (of scores, labels and weights), `confusion` (measures of hard predictions), `threshold` (the
best one for a measure), `class_rates` (class sums of a batch and their running means), `confusion_sums` (the same of K
classes), `calibration` (scores to probabilities), `quantification` (prevalence estimates), `class_quantification`
(those of K classes), `prevalence_shift` (test sets resampled to given prevalences), `bootstrap` and `class_bootstrap`
(confidence intervals), `multiclass` (macro and micro averages), `class_scores` (predictions and probabilities of K
classes), `label_confusion` and `label_bootstrap` (several labels), `plug_in_rule` (the best rule on probabilities of K
classes); `cell_rates` and `cell_threshold` (likewise for cells, class times group), `cell_intervals`, `cell_tables`,
`group_report`, `class_group_report` and `constraint_report` (what is shown of groups and constraints), `class_goal` (by
what models of several classes are judged under constraints).
"""

from typing import TYPE_CHECKING

from aesara_nondecomp._names import lazy
from aesara_nondecomp.metrics.class_rates import ClassSums, RunningRates, class_sums
from aesara_nondecomp.metrics.confusion import (
    ConfusionMatrix,
    confusion_at_threshold,
    confusion_matrix,
    report,
    score,
)
from aesara_nondecomp.metrics.confusion_sums import ConfusionSums, RunningConfusion, confusion_sums
from aesara_nondecomp.metrics.quantification import Quantifier
from aesara_nondecomp.metrics.threshold import best_threshold, steady_threshold

if TYPE_CHECKING:  # what `lazy` says, for type checkers and editors
    from aesara_nondecomp.metrics.plug_in_rule import PlugIn as PlugIn
    from aesara_nondecomp.metrics.plug_in_rule import plug_in as plug_in

__all__ = [
    "ClassSums",
    "ConfusionMatrix",
    "ConfusionSums",
    "PlugIn",
    "Quantifier",
    "RunningConfusion",
    "RunningRates",
    "best_threshold",
    "class_sums",
    "confusion_at_threshold",
    "confusion_matrix",
    "confusion_sums",
    "plug_in",
    "report",
    "score",
    "steady_threshold",
]

__getattr__, __dir__ = lazy(
    __name__,
    {"PlugIn": "metrics.plug_in_rule", "plug_in": "metrics.plug_in_rule"},  # with the measures of K classes
    former={
        "ConfusionTable": "ConfusionMatrix",
        "confusion_table": "confusion_matrix",
        "table_at_threshold": "confusion_at_threshold",
    },
)
