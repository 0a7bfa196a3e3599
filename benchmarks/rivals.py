"""What a user would pick instead of a network: scikit-learn's boosted trees and logistic regression.

Each function trains on its rows and returns a scorer; thresholds are the caller's business
(`metrics.best_threshold` on held-out rows).  Needs scikit-learn (extra ``benchmarks``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Scorer = Callable[[Any], np.ndarray]
"""From features (n, d) to scores (n,): estimated log-odds of the positive class."""


def hist_gradient_boosting(
    X: Any, signs: np.ndarray, rate: float = 0.1, seed: int = 0, iterations: int = 300
) -> Scorer:
    """Gradient-boosted trees on histograms, on the log loss, stopped early on a tenth of the rows.

    Parameters
    ----------
    X : array, shape (n, d). Not sparse.
    signs : array, shape (n,), in {-1, +1}
    rate : float > 0. Shrinkage of each tree.
    seed : int. Of the rows that stop it.
    iterations : int >= 1. Trees at most; it stops after ten without gain.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        learning_rate=rate, max_iter=iterations, early_stopping=True, random_state=seed
    )
    return model.fit(X, signs).decision_function


def logistic_regression(X: Any, signs: np.ndarray, strength: float = 1.0, seed: int = 0) -> Scorer:
    """Logistic regression with an L2 penalty, on standardised columns.

    Parameters
    ----------
    X : array or CSR matrix, shape (n, d)
    signs : array, shape (n,), in {-1, +1}
    strength : float > 0. Inverse of the penalty's weight (scikit-learn's C).
    seed : int. Taken so that all rivals are called alike; the solver draws nothing.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    # Sparse columns cannot be centred without making them dense.
    scaler = StandardScaler(with_mean=isinstance(X, np.ndarray))
    return make_pipeline(scaler, LogisticRegression(C=strength, max_iter=2000)).fit(X, signs).decision_function
