"""Input checks of the estimator, by scikit-learn's conventions."""

from __future__ import annotations

import numbers
import os
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_array, as_floats, refuse_iterator, refuse_masked
from aesara_nondecomp._checks import shown
from aesara_nondecomp.data import check_lengths, distinct
from aesara_nondecomp.data.column_kinds import without_row_names
from aesara_nondecomp.data.inputs import is_input_table, select_inputs
from aesara_nondecomp.data.labels import refuse_missing
from aesara_nondecomp.data.table_columns import is_table, read_table
from aesara_nondecomp.data.text import check_texts
from aesara_nondecomp.estimators import sklearn_compat as compat
from aesara_nondecomp.training.class_labels import takes_classes


def check_rows(estimator: Any, X: Any, *, texts: bool = False, reset: bool = False, min_rows: int = 1) -> Any:
    """Check inputs as scikit-learn does, and return them as `fit` and `Model` take them.

    Parameters
    ----------
    estimator : MeasureClassifier
        With `reset` it records the number and names of the columns; otherwise they must match the recorded ones.
    X : matrix, shape (n, d), data frame, mapping of columns or list of str
        The inputs.
    texts : bool, default False
        Whether the network takes lists of str.
    reset : bool, default False
        Whether the estimator is being fitted.
    min_rows : int, default 1
        Minimum number of rows.

    Returns
    -------
    array, CSR matrix, memory map, data frame, TableColumns or object array of str
        Memory maps and, but for a column that numbers the rows, data frames are returned unchanged, and checked when
        they are read. A mapping becomes TableColumns, whose length is that of its rows.

    Raises
    ------
    ValueError
        If the inputs are unusable.
    """
    refuse_masked(X, "X")
    if texts:
        return np.array(check_texts(X), dtype=object)
    refuse_iterator(X, "X")
    if isinstance(X, (str, bytes, os.PathLike)):
        raise ValueError(
            f"X must be rows, got {shown(X)}. An estimator reads no files: give a data frame, as from pandas.read_csv, "
            "or use fit(path, target=...) of aesara_nondecomp."
        )
    if is_table(X):
        X = without_row_names(X) if reset else X
        compat.check_table(estimator, X, reset=reset)
        return read_table(X) if isinstance(X, Mapping) else X
    is_map = isinstance(X, np.memmap)
    try:
        checked = compat.validate_data(
            estimator,
            X[:2] if is_map else X,
            reset=reset,
            accept_sparse="csr",
            dtype="numeric",
            order="C",
            ensure_min_samples=min_rows,
        )
    except (TypeError, ValueError) as error:
        if re.search(r"\bX\b", str(error)):
            raise
        raise type(error)(f"X cannot be used: {error}") from None
    return X if is_map else checked


def random_state_of(random_state: Any) -> np.random.RandomState:
    """The RandomState that scikit-learn makes of its parameter.

    Parameters
    ----------
    random_state : int, RandomState or None
        The parameter.

    Returns
    -------
    RandomState

    Raises
    ------
    ValueError
        If it is none of these.
    """
    try:
        state: np.random.RandomState = compat.check_random_state(random_state)
    except (TypeError, ValueError):
        needed = "random_state must be an integer from 0 to 2**32 - 1, a RandomState or None"
        raise ValueError(f"{needed}, got {shown(random_state)}") from None
    return state


def seed_of(random_state: Any) -> int:
    """The seed of a whole training; integers of all types are alike.

    Parameters
    ----------
    random_state : int, RandomState or None
        A RandomState draws it.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If it is none of these.
    """
    state = random_state_of(random_state)
    return int(random_state) if isinstance(random_state, numbers.Integral) else int(state.randint(2**31 - 1))


def check_vectors(X: Any, y: Any, sample_weight: Any = None) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """Check labels and weights as scikit-learn does.

    Parameters
    ----------
    X : matrix, shape (n, d), data frame or array of str
        The rows, as `check_rows` returns them.
    y : array-like, shape (n,)
        Labels; a column gives a warning.
    sample_weight : array-like, shape (n,), float or None
        A number stands for equal weights.

    Returns
    -------
    y : array, shape (n,)
    weight : float64 array, shape (n,), or None

    Raises
    ------
    ValueError
        If they are no vectors of one length.
    """
    y = compat.column_or_1d(as_array(y, "y"), warn=True)
    check_lengths(X, y)
    if sample_weight is None:
        return y, None
    weight = as_floats(sample_weight, "sample_weight")
    return y, compat.check_sample_weight(weight if weight.ndim else weight.item(), X, dtype=np.float64)


def rows_that_count(X: Any, weight: Any) -> tuple[Any, Any]:
    """Leave out rows of a table that have weight 0, as they may hold categories that training did not.

    Parameters
    ----------
    X : matrix, shape (n, d), data frame, TableColumns or array of str
        The rows, as `check_rows` returns them.
    weight : array, shape (n,), or None
        Their weights.

    Returns
    -------
    X : as given, or TableColumns
    kept : slice or int array, shape (k,)
        Which rows these are.
    """
    if weight is None or not is_input_table(X):
        return X, slice(None)
    kept = np.flatnonzero(weight)
    return select_inputs(read_table(X), kept), kept


def check_labels(y: NDArray[Any], known: Any, measure: Any = None) -> NDArray[Any]:
    """Check labels and return their classes in sorted order.

    Parameters
    ----------
    y : array, shape (n,)
        The labels.
    known : array-like of labels, or None
        The only labels allowed. None: any, as many as the measure takes.
    measure : str, Measure or MulticlassMeasure, optional
        What to train for. Default: a measure of two classes.

    Returns
    -------
    array, shape (K,)

    Raises
    ------
    ValueError
        If `y` is of more classes than the measure takes, or holds a label that is not among the known ones.
    """
    found = _two_or_all(y)
    for labels in (found, np.asarray([] if known is None else known)):
        if labels.dtype.kind == "O":
            refuse_missing(labels)
    compat.assert_all_finite(found, input_name="y")
    compat.check_classification_targets(found)
    kind = compat.type_of_target(found)
    if kind != "binary" and not (kind == "multiclass" and takes_classes(measure)):
        raise ValueError(
            f"Only binary classification is supported by the measure {str(measure)!r}. The type of the target is "
            f"{kind}. For more classes give a measure of several: 'min_recall', 'macro_f1', 'micro_f1', 'kappa' or "
            "another of measures.multiclass.names(); or use OneVsRestClassifier(MeasureClassifier(...))."
        )
    classes: NDArray[Any] = np.unique(found if known is None else np.asarray(known))
    strange = np.setdiff1d(found, classes).tolist()
    too_many = len(classes) > 2 and not takes_classes(measure)
    if strange or too_many:
        count = "two " if too_many or len(classes) == 2 else ""
        raise ValueError(f"labels must be of {count}known classes, got {strange} beside {classes.tolist()}")
    return classes


def _two_or_all(y: NDArray[Any]) -> NDArray[Any]:
    """The distinct labels if there are at most two, so that scikit-learn's checks need not sort a long column.

    More than two stay as they are: the distinct values alone would look like a regression target.
    """
    found = y if y.dtype == object else distinct(y)
    return found if len(found) <= 2 else y
