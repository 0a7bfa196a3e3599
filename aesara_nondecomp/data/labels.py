"""Encode labels of two classes, in any coding, as {-1, +1}, and decode them."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_array
from aesara_nondecomp._checks import is_null, shown, suggestion


class Labels(NamedTuple):
    """Two-class labels in the coding of the paper.

    Attributes
    ----------
    signs : int8 array, shape (n,), in {-1, +1}
        +1 for the positive class.
    classes : tuple (negative, positive)
        The two labels in the user's own coding, as plain Python scalars.
    """

    signs: NDArray[Any]
    classes: tuple[Any, ...]

    @property
    def prior(self) -> float:
        """Share of positives p, in (0, 1)."""
        return float(np.mean(self.signs > 0))


def encode_labels(y: Any, positive: Any = None) -> Labels:
    """Encode two classes in any coding as signs.

    Parameters
    ----------
    y : array-like, shape (n,)
        Two distinct values of any kind: {0, 1}, {-1, +1}, booleans, strings, unsigned bytes, ...
    positive : scalar, optional
        The label of the positive class. Default: the last in sorted order (True, 1, "pos" rather than "neg").

    Returns
    -------
    Labels

    Raises
    ------
    ValueError
        If `y` is not one-dimensional, is empty, holds NaN, or does not hold exactly two distinct labels; or if
        `positive` is not one of them.

    Notes
    -----
    Source: docs/algorithms.md 1.1 (labels in {-1, +1}, both classes present).
    """
    values = _label_vector(y)
    found = _labels_in(values)
    _refuse_other_kinds(found)
    if len(found) != 2:
        raise ValueError(
            f"labels must hold exactly two classes, got {len(found)}: {_preview(found)}. "
            "Pass the labels of a binary problem in which both classes occur."
        )
    if positive is None:
        positive = found[1]
    else:
        check_positive(positive, found)
    negative, positive = found if found[1] == positive else found[::-1]
    signs = np.where(values == positive, np.int8(1), np.int8(-1))
    return Labels(signs, (negative, positive))


def check_positive(positive: Any, classes: Sequence[Any], name: str = "positive") -> None:
    """Check that the positive label is one of two labels.

    Parameters
    ----------
    positive : object
        The positive label.
    classes : sequence of two labels
        As plain Python scalars.
    name : str, default "positive"
        What the caller calls it.

    Raises
    ------
    ValueError
        If it is none of them.
    """
    if _is_label(positive) and positive in classes:
        return
    texts = all(isinstance(label, str) for label in (*classes, positive))
    known = suggestion(positive, classes) if texts else f"Known: {', '.join(map(repr, classes))}."
    raise ValueError(f"{name} must be one of the two labels, got {shown(positive)}. {known}")


def encode_as(y: Any, classes: Sequence[Any]) -> NDArray[Any]:
    """Encode labels by known classes, such as those of a test set, which may hold only one of them.

    Parameters
    ----------
    y : array-like, shape (n,)
        Labels, each of them one of `classes`.
    classes : sequence (negative, positive)
        As in `Labels.classes`.

    Returns
    -------
    int8 array, shape (n,), in {-1, +1}

    Raises
    ------
    ValueError
        If `y` is not one-dimensional, is empty, or holds a label that is neither of the two.
    """
    values = _label_vector(y)
    negative, positive = classes
    strange = [label for label in _labels_in(values) if label != negative and label != positive]
    if strange:
        raise ValueError(
            f"labels must be {negative!r} or {positive!r}, as in training, got {_preview(strange)}. "
            "Use the coding of the training labels."
        )
    return np.where(values == positive, np.int8(1), np.int8(-1))


def encode_pair(y: Any, predicted: Any, positive: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Encode true and predicted labels, of which the true ones may hold a single class, as those of a fold may.

    Parameters
    ----------
    y : array-like, shape (n,)
        True labels.
    predicted : array-like, shape (n,)
        Predicted labels, in the coding of the true ones.
    positive : scalar, optional
        The label of the positive class. Default: the last in sorted order of the true labels, or of both where the true
        ones are all equal; a single label in both is taken for that of {0, 1} or {-1, +1}.

    Returns
    -------
    signs : int8 array, shape (n,), in {-1, +1}
        Of the true labels.
    predicted_signs : int8 array, shape (n,), in {-1, +1}
        Of the predicted labels.

    Raises
    ------
    ValueError
        If there are more than two labels, or a single one that does not tell whether it is the positive one.
    """
    if positive is not None and not _is_label(positive):
        raise ValueError(f"positive (pos_label) must be a single label, got {shown(positive)}.")
    values, others = _label_vector(y), _label_vector(predicted)
    found = _labels_in(values)
    if len(found) == 1:
        extra = [] if positive is None else [positive]
        found = list(dict.fromkeys([*found, *_labels_in(others), *extra]))
    if len(found) == 1:
        is_positive = found[0] == (1 if positive is None else positive)
        if positive is None and found[0] not in (-1, 0, 1):
            raise ValueError(
                f"a single label must be 0, 1 or -1 unless positive (pos_label) says which one is positive, got "
                f"{_preview(found)}."
            )
        signs = [np.full(len(labels), 1 if is_positive else -1, np.int8) for labels in (values, others)]
        return signs[0], signs[1]
    classes = encode_labels(found, positive).classes
    return encode_as(values, classes), encode_as(others, classes)


class ClassLabels(NamedTuple):
    """Labels of several classes.

    Attributes
    ----------
    codes : int32 array, shape (n,)
        Class of each row, from 0 to K - 1.
    classes : tuple
        The K labels in sorted order, as plain Python scalars.
    """

    codes: NDArray[Any]
    classes: tuple[Any, ...]


def encode_classes(y: Any) -> ClassLabels:
    """Encode any number of classes as numbers.

    Parameters
    ----------
    y : array-like, shape (n,)
        At least two distinct values, all numbers or all strings; of more than two, numbers must be whole.

    Returns
    -------
    ClassLabels

    Raises
    ------
    ValueError
        If `y` is not one-dimensional, is empty, holds NaN or a single label, or holds fractions.
    """
    values = _label_vector(y)
    found = _labels_in(values)
    _refuse_other_kinds(found)
    if len(found) < 2:
        raise ValueError(f"labels must hold at least two classes, got {_preview(found)}. Check how they were read.")
    if problem := why_not_classes(found):
        raise ValueError(problem)
    return ClassLabels(_codes(values, found), tuple(found))


def encode_classes_as(y: Any, classes: Sequence[Any]) -> NDArray[Any]:
    """Encode labels by known classes, not all of which need to occur.

    Parameters
    ----------
    y : array-like, shape (n,)
        Labels, each of them one of `classes`.
    classes : sequence
        As in `ClassLabels.classes`.

    Returns
    -------
    int32 array, shape (n,)

    Raises
    ------
    ValueError
        If `y` is not one-dimensional, is empty, or holds a label that is none of the classes.
    """
    values = _label_vector(y)
    strange = [label for label in _labels_in(values) if label not in classes]
    if strange:
        raise ValueError(
            f"labels must be among {_preview(classes)}, as in training, got {_preview(strange)}. Use the coding of the "
            "training labels."
        )
    return _codes(values, classes)


def _codes(values: NDArray[Any], classes: Sequence[Any]) -> NDArray[Any]:
    """Place of each value among the classes."""
    if values.dtype != object:
        ascending = np.argsort(np.asarray(classes))
        return ascending[np.searchsorted(np.asarray(classes), values, sorter=ascending)].astype(np.int32)
    places = {label: place for place, label in enumerate(classes)}
    return np.array([places[label] for label in values.tolist()], dtype=np.int32)


def why_not_classes(found: Sequence[Any]) -> str:
    """Say why distinct labels are not those of classes.

    Parameters
    ----------
    found : sequence
        The distinct labels.

    Returns
    -------
    str
        One message for an error; "" if nothing is wrong.
    """
    fractions = [label for label in found if isinstance(label, float) and not label.is_integer()]
    if len(found) <= 2 or not fractions:
        return ""
    return (
        f"labels of several classes must be whole numbers or text, got {_preview(fractions)}. Put numbers that are "
        "measured into classes first, name another column, or give text."
    )


def count_labels(y: Any) -> int:
    """The number of distinct labels.

    Parameters
    ----------
    y : array-like, shape (n,)
        Labels of any kind.

    Returns
    -------
    int
        0 for what is no vector of labels, which `encode_labels` refuses.
    """
    return len(distinct_labels(y))


def distinct_labels(y: Any) -> list[Any]:
    """The distinct labels.

    Parameters
    ----------
    y : array-like, shape (n,)
        Labels of any kind.

    Returns
    -------
    list
        In sorted order; empty for what is no vector of labels, which `encode_labels` refuses.
    """
    try:
        return _labels_in(_label_vector(y))
    except (TypeError, ValueError):
        return []


def decode(signs: NDArray[Any], classes: Sequence[Any]) -> NDArray[Any]:
    """Decode signs to the user's labels.

    Parameters
    ----------
    signs : array, shape (n,)
        Positive entries mean the positive class, all others the negative one.
    classes : sequence (negative, positive)
        As in `Labels.classes`.

    Returns
    -------
    array, shape (n,)
        The labels, in the dtype that NumPy gives to `classes`.
    """
    return np.asarray(classes)[(np.asarray(signs) > 0).astype(np.intp)]


def _is_label(value: Any) -> bool:
    """Whether a value is a single one that can be compared with labels."""
    single = not isinstance(value, (list, tuple, dict, set)) and getattr(value, "ndim", 0) == 0
    return single and not is_null(value)


def _label_vector(y: Any) -> NDArray[Any]:
    values = _exact_times(as_array(y, "labels"))
    if values.ndim == 2 and values.shape[1] == 1:
        raise ValueError(f"labels must be one-dimensional, got shape {values.shape}. Pass y.ravel().")
    if values.ndim != 1:
        raise ValueError(f"labels must be one-dimensional, got shape {values.shape}. Pass one label per row.")
    if values.size == 0:
        raise ValueError("labels must be of at least two classes, got an empty array. Check how they were read.")
    return values


def _exact_times(values: NDArray[Any]) -> NDArray[Any]:
    """Times as objects of Python's, and other values as they are; finer ones than microseconds would become numbers."""
    if values.dtype.kind != "M":
        return values
    if np.isnat(values).any():
        raise _missing("NaT")
    times = values if isinstance(values[:1].tolist()[0], datetime.date) else values.astype("datetime64[us]")
    if not np.array_equal(times, values):
        raise ValueError("labels that are times must be of whole microseconds. Round them, or convert them to text.")
    return times.astype(object)


def refuse_missing(labels: Iterable[Any]) -> None:
    """Refuse labels that are NaN, NaT or pandas.NA.

    Parameters
    ----------
    labels : iterable
        As plain Python scalars.

    Raises
    ------
    ValueError
        If one is missing.
    """
    for label in labels:
        if label is not None and is_null(label):
            raise _missing("NaN" if isinstance(label, float) else str(label))


def _missing(what: str) -> ValueError:
    return ValueError(f"labels must not be missing, got {what} among them. Drop those rows or fill them in.")


def _refuse_other_kinds(found: Sequence[Any]) -> None:
    """Refuse labels that no model file could hold."""
    plain = [label.item() if isinstance(label, np.generic) else label for label in found]
    strange = [label for label in plain if not isinstance(label, (bool, int, float, str, bytes, datetime.date))]
    if strange:
        raise ValueError(
            f"labels must be booleans, numbers, text, bytes or dates, got {_preview(strange)}. Convert them to text or "
            "whole numbers."
        )


def _labels_in(values: NDArray[Any]) -> list[Any]:
    """The distinct labels in sorted order, as plain Python scalars."""
    # np.unique cannot sort mixed objects and would keep every NaN apart, so objects go through a set.
    try:
        found = list(set(values.tolist())) if values.dtype == object else distinct(values).tolist()
    except TypeError:
        raise ValueError(f"labels must be numbers or strings, got {shown(values[0])}.") from None
    refuse_missing(found)
    try:
        return sorted(found)
    except TypeError:
        raise ValueError(
            f"labels must all be of one kind, got {_preview(found)}. Convert them all to numbers or all to strings."
        ) from None


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Find the distinct values as np.unique does, but without sorting if there are at most two numbers.

    Long columns of labels usually hold two.

    Parameters
    ----------
    values : array, shape (n,)
        At least one value.

    Returns
    -------
    array
        The distinct values, ascending.
    """
    if values.dtype.kind in "biuf":
        ends = np.array([values.min(), values.max()])
        if ((values == ends[0]) | (values == ends[1])).all():
            return ends[: 1 if ends[0] == ends[1] else 2]
    found: NDArray[Any] = np.unique(values)
    return found


def _preview(found: Sequence[Any]) -> str:
    listed = ", ".join(shown(label) for label in found[:10])
    return f"[{listed}, ...]" if len(found) > 10 else f"[{listed}]"
