"""What tells measures apart: reports and intervals name each by its text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def by_text(measures: Iterable[Any]) -> dict[str, Any]:
    """Measures by their texts, each once, in their order.

    Parameters
    ----------
    measures : iterable of Measure, MulticlassMeasure or Averaged
        All of one kind.

    Returns
    -------
    dict of str to measure

    Raises
    ------
    ValueError
        If two different ones have the same text: the figures of one would stand under the name of the other.
    """
    found: dict[str, Any] = {}
    for measure in measures:
        text = str(measure)
        if found.setdefault(text, measure) != measure:
            raise ValueError(
                f"measures need texts that tell them apart, got {text!r} twice, for different ones. Rename one of them."
            )
    return found
