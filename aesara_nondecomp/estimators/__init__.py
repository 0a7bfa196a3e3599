"""For scikit-learn users (extra `sklearn`): an estimator, and a scorer for every measure.

Reading order: `classifier` (the estimator and its `fit`), `fit_arguments` (its parameters as arguments of the package's
`fit`), `fitted` (its other methods), `several_labels` (what differs for matrices of labels), `partial_fit`, `scoring`,
`input_checks`, `function_cache` (estimators with the same network share compiled functions), `sklearn_compat`
(differences between releases of scikit-learn).
"""

from aesara_nondecomp.estimators.classifier import MeasureClassifier
from aesara_nondecomp.estimators.scoring import measure_scorer

__all__ = ["MeasureClassifier", "measure_scorer"]
