"""The only import of scikit-learn (1.2 or later), with a clear error if it is missing."""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import UndefinedMetricWarning
    from sklearn.metrics import make_scorer
    from sklearn.utils import assert_all_finite, check_random_state, column_or_1d
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted
except ImportError as error:
    raise ImportError(
        "the estimators and tables with text need scikit-learn: pip install 'aesara-nondecomp[sklearn]'"
    ) from error

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before scikit-learn 1.6 it was a method

    def validate_data(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
        return estimator._validate_data(X, y, **options)


__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "UndefinedMetricWarning",
    "assert_all_finite",
    "check_classification_targets",
    "check_is_fitted",
    "check_random_state",
    "check_sample_weight",
    "check_table",
    "column_or_1d",
    "make_scorer",
    "type_of_target",
    "validate_data",
]

check_sample_weight = _check_sample_weight


def check_table(estimator: Any, table: Any, *, reset: bool) -> None:
    """Record a table's columns, or check that the recorded ones are present, in any order.

    Parameters
    ----------
    estimator : estimator
        Gets `n_features_in_` and, if all names are str, `feature_names_in_`.
    table : data frame or mapping of str to sequence
        The inputs.
    reset : bool
        Whether the estimator is being fitted.

    Raises
    ------
    ValueError
        If a column of the training table is missing.
    """
    names = list(table) if not hasattr(table, "columns") else list(table.columns)
    if reset:
        estimator.n_features_in_ = len(names)
        if all(isinstance(name, str) for name in names):
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return
    missing = [name for name in getattr(estimator, "feature_names_in_", ()) if name not in names]
    if missing:
        raise ValueError(f"the table lacks the columns {missing}, which were there in training. It has: {names}.")
