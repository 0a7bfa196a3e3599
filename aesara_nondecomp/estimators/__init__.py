"""The package for scikit-learn users (extra `sklearn`): an estimator, and a scorer for every measure.

Reading order: `classifier` (the estimator and its training), `fitted` (what it does once trained), `partial` (its
`partial_fit`), `texts`, `scoring`, `sharing` (why the tenth estimator of a shape compiles nothing), `compatibility`
(scikit-learn 1.2 and later).
"""

from aesara_nondecomp.estimators.classifier import MeasureClassifier
from aesara_nondecomp.estimators.scoring import measure_scorer

__all__ = ["MeasureClassifier", "measure_scorer"]
