"""What a user would try before a network: scikit-learn's boosted trees and logistic regression.

Each function trains on its rows and returns a scorer; the caller chooses the threshold (`metrics.best_threshold` on
held-out rows). Needs scikit-learn (extra ``benchmarks``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Scorer = Callable[[Any], np.ndarray]
"""From features, shape (n, d), to scores, shape (n,): estimated log-odds of the positive class."""


def hist_gradient_boosting(
    X: Any,
    signs: np.ndarray,
    rate: float = 0.1,
    seed: int = 0,
    iterations: int = 300,
    leaves: int = 31,
    categorical: np.ndarray | None = None,
    early_stopping: bool = True,
) -> Scorer:
    """Train gradient-boosted trees on histograms, for the log loss.

    Parameters
    ----------
    X : array, shape (n, d)
        Training rows, not sparse.
    signs : array, shape (n,)
        Labels, -1 or +1.
    rate : float, default 0.1
        Shrinkage of each tree, above 0.
    seed : int, default 0
        Draws the rows that decide when to stop.
    iterations : int, default 300
        Number of trees, the largest one with early stopping.
    leaves : int, default 31
        Largest number of leaves of a tree.
    categorical : bool array, shape (d,), optional
        Columns that hold codes of categories, NaN for a missing or unknown one. Default: none.
    early_stopping : bool, default True
        Stop after ten trees without gain on a tenth of the rows.

    Returns
    -------
    callable
        From rows to scores.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        learning_rate=rate,
        max_iter=iterations,
        max_leaf_nodes=leaves,
        categorical_features=categorical,
        early_stopping=early_stopping,
        random_state=seed,
    )
    return model.fit(X, signs).decision_function


def logistic_regression(X: Any, signs: np.ndarray, strength: float = 1.0, seed: int = 0) -> Scorer:
    """Train logistic regression with an L2 penalty, on standardised columns.

    Parameters
    ----------
    X : array or CSR matrix, shape (n, d)
        Training rows.
    signs : array, shape (n,)
        Labels, -1 or +1.
    strength : float, default 1.0
        Inverse of the weight of the penalty (scikit-learn's C), above 0.
    seed : int, default 0
        Not used, because the solver draws nothing; here so that all baselines are called alike.

    Returns
    -------
    callable
        From rows to scores.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    # Sparse columns cannot be centred without making them dense.
    scaler = StandardScaler(with_mean=isinstance(X, np.ndarray))
    return make_pipeline(scaler, LogisticRegression(C=strength, max_iter=2000)).fit(X, signs).decision_function
