"""Tables and numbers as lines of text, for what people read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any


def table_lines(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """The lines of a table, with columns as wide as their longest cells; each row has as many cells as the header."""
    texts = [[str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[k]) for row in texts) for k in range(len(header))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in texts]


def number_text(value: float) -> str:
    """A number to four digits; "undefined" for NaN."""
    return "undefined" if math.isnan(value) else f"{value:.4f}"


def interval_text(low: float, high: float) -> str:
    """An interval, likewise."""
    return f"{number_text(low)} .. {number_text(high)}"
