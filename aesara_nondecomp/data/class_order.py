"""The order of classes, which measures of ordered classes take from that of their labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara_nondecomp._checks import shown, warn_caller


def is_ordered(y: Any) -> bool:
    """Whether labels are ordered categories of pandas.

    Parameters
    ----------
    y : array-like
        Labels as given.

    Returns
    -------
    bool
    """
    return bool(getattr(getattr(y, "dtype", None), "ordered", False))


def check_class_order(y: Any, classes: Sequence[Any], measure: Any, otherwise: str = "give numbers") -> None:
    """Check that the order of labels is that of the classes, for a measure of ordered classes.

    Parameters
    ----------
    y : array-like, shape (n,)
        Labels as given. The categories of an ordered one of pandas say what their order is.
    classes : sequence
        As in `ClassLabels.classes`.
    measure : MulticlassMeasure
        Any other measure takes classes in any order, and this one in the reverse order too.
    otherwise : str, default "give numbers"
        What to do if the order is another, for the warning.

    Raises
    ------
    ValueError
        If ordered categories are in another order.

    Warns
    -----
    UserWarning
        Of text without such an order: which one is taken.
    """
    if not measure.of_order or len(classes) == 2:
        return
    if is_ordered(y):
        known = [label for label in y.dtype.categories.tolist() if label in classes]
        if list(classes) not in (known, known[::-1]):
            raise ValueError(
                f"{measure} compares classes by their order, and takes labels in sorted order, got categories in the "
                f"order {shown(known)}. Give their places, y.cat.codes or y.codes."
            )
    elif isinstance(classes[0], (str, bytes)) and not _are_ascending_numbers(classes):
        warn_caller(
            f"{measure} compares classes by their order, and text is taken in sorted order: {shown(list(classes))}. If "
            f"this is not the order of the classes, {otherwise}."
        )


def _are_ascending_numbers(texts: Sequence[Any]) -> bool:
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        return False
    return numbers == sorted(numbers)
