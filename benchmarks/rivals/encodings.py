"""Data frames as rivals need them that do not take categorical or missing values."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.rivals.sets import Tuning, optional


def is_frame(X: Any) -> bool:
    """Whether rows are a data frame."""
    return hasattr(X, "select_dtypes")


def as_numbers(rows: Tuning) -> Tuning:
    """Columns of 0 and 1 for categories, numbers scaled, medians for what is missing; arrays as they are."""
    if not is_frame(rows.X):
        return rows
    numbers = list(rows.X.select_dtypes("number"))
    categories = [column for column in rows.X if column not in numbers]
    pipeline = optional("sklearn.pipeline").make_pipeline
    preprocessing = optional("sklearn.preprocessing")
    scaled = pipeline(optional("sklearn.impute").SimpleImputer(strategy="median"), preprocessing.StandardScaler())
    encoder = optional("sklearn.compose").make_column_transformer(
        (scaled, numbers),
        (preprocessing.OneHotEncoder(handle_unknown="ignore", sparse_output=False), categories),
        sparse_threshold=0,
    )
    X = encoder.fit_transform(rows.X).astype(np.float32)
    X_held, X_test = (encoder.transform(part).astype(np.float32) for part in (rows.X_held, rows.X_test))
    return rows._replace(X=X, X_held=X_held, X_test=X_test)


def without_missing_categories(rows: Tuning) -> Tuning:
    """Categories as text, with one of their own for what is missing; arrays as they are."""
    if not is_frame(rows.X):
        return rows

    def filled(X: Any) -> Any:
        texts = X.select_dtypes(exclude="number").astype(object).fillna("missing").astype(str)
        return X.assign(**{column: texts[column] for column in texts})

    return rows._replace(X=filled(rows.X), X_held=filled(rows.X_held), X_test=filled(rows.X_test))
