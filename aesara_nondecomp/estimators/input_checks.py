"""Input checks of the estimator, by scikit-learn's conventions."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara_nondecomp.data import distinct
from aesara_nondecomp.data.text import check_texts
from aesara_nondecomp.estimators import sklearn_compat as compat
from aesara_nondecomp.estimators.texts import takes_text


def check_rows(estimator: Any, X: Any, dtype: Any, *, reset: bool = False, min_rows: int = 1) -> Any:
    """Features as an array or CSR matrix of `dtype`; a memory map stays one, and is checked where it is read.

    With `reset` the estimator takes note of the columns, otherwise they must be those noted before. For a text network
    an array of str objects.
    """
    if takes_text(estimator):
        return np.array(check_texts(X), dtype=object)
    is_map = isinstance(X, np.memmap)
    with np.errstate(over="ignore"):  # a value too large for the dtype is reported as such
        checked = compat.validate_data(
            estimator,
            X[:2] if is_map else X,
            reset=reset,
            accept_sparse="csr",
            dtype=dtype,
            order="C",
            ensure_min_samples=min_rows,
        )
    return X if is_map else checked


def check_labels(y: np.ndarray, known: Any) -> np.ndarray:
    """The two classes, sorted: those of `y`, or `known` ones that `y` must keep to.

    Raises
    ------
    ValueError
        If `y` is not binary, or holds a label that is not known.
    """
    found = _two_or_all(y)
    compat.assert_all_finite(found, input_name="y")
    compat.check_classification_targets(found)
    kind = compat.type_of_target(found)
    if kind != "binary":
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}. "
            "For more classes wrap the estimator: OneVsRestClassifier(MeasureClassifier(...))."
        )
    classes = np.unique(found if known is None else np.asarray(known))
    strange = np.setdiff1d(found, classes).tolist()
    if strange or len(classes) > 2:
        raise ValueError(f"labels must be of two known classes, got {strange} beside {classes.tolist()}")
    return classes


def _two_or_all(y: np.ndarray) -> np.ndarray:
    """The distinct labels if there are at most two, which spares each of scikit-learn's checks to sort a long column.

    More than two stay as they are: alone they would look like numbers to be predicted.
    """
    found = y if y.dtype == object else distinct(y)
    return found if len(found) <= 2 else y
