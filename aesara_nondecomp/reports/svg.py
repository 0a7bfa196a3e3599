"""Charts as SVG elements inside a page, which colours them, light or dark."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from aesara_nondecomp.reports.markup import escaped

WIDTH, HEIGHT = 420, 320
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 14, 48


class Axis(NamedTuple):
    """An axis of a chart.

    Attributes
    ----------
    label : str
        What it shows, with its unit.
    low : float
        Its first value.
    high : float
        Its last value, above `low`.
    """

    label: str
    low: float
    high: float

    @classmethod
    def over(cls, label: str, values: Any, margin: float = 0.05) -> Axis:
        """An axis that holds all finite values.

        Parameters
        ----------
        label : str
            What it shows.
        values : sequence of float
            Of the lines to draw.
        margin : float, default 0.05
            Room at both ends, in parts of the range.

        Returns
        -------
        Axis
        """
        finite = np.asarray(values, float)
        finite = finite[np.isfinite(finite)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        room = margin * (high - low) or 0.05 * abs(high) or 1.0
        return cls(label, low - room, high + room)

    def ticks(self) -> list[float]:
        """About five round values."""
        rough = (self.high - self.low) / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= rough * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        return [k * step for k in range(first, math.floor(self.high / step + 1e-9) + 1)]


class Chart:
    """A chart of lines and points.

    Parameters
    ----------
    x : Axis
        The horizontal axis.
    y : Axis
        The vertical axis.
    key : str
        A name that no other chart of the page has.
    title : str
        What a screen reader says first.
    text : str
        What a screen reader says of what it shows.
    """

    def __init__(self, x: Axis, y: Axis, key: str, title: str, text: str) -> None:
        self.x, self.y, self._key, self._title, self._text = x, y, key, title, text
        self._parts: list[str] = []

    def line(self, xs: Iterable[float], ys: Iterable[float], kind: str) -> None:
        """Draw a line; values that are not finite interrupt it, and those outside are cut off at the edge.

        Parameters
        ----------
        xs : iterable of float
            Of its points.
        ys : iterable of float
            Of its points.
        kind : str
            Class of the line.
        """
        path, pen = [], "M"
        for x, y in zip(xs, ys):
            if not (math.isfinite(x) and math.isfinite(y)):
                pen = "M"
                continue
            path.append(f"{pen}{self._at(x, y)}")
            pen = "L"
        if path:
            self._parts.append(f'<path class="line {kind}" d="{"".join(path)}"/>')

    def pieces(self, pieces: Sequence[tuple[float, float, float, float]], kind: str, label: str = "") -> None:
        """Draw a line of many pieces, with a label where it ends on the right.

        Parameters
        ----------
        pieces : sequence of tuple (x1, y1, x2, y2)
            As from `Plane.isoline`.
        kind : str
            Class of the line.
        label : str, optional
            Its label.
        """
        if not pieces:
            return
        path = "".join(f"M{self._at(a, b)}L{self._at(c, d)}" for a, b, c, d in pieces)
        self._parts.append(f'<path class="line {kind}" d="{path}"/>')
        if label:
            x, y = max((max((a, b), (c, d)) for a, b, c, d in pieces), key=lambda end: (round(end[0], 2), end[1]))
            across = min(max(self._across(x), LEFT + 30), WIDTH - RIGHT - 4)
            down = min(max(self._down(y), TOP + 12), HEIGHT - BOTTOM - 4)
            self._parts.append(
                f'<text class="level" x="{across:.1f}" y="{down:.1f}" text-anchor="end">{escaped(label)}</text>'
            )

    def steps(self, edges: Any, heights: Any, kind: str) -> None:
        """Draw a histogram as a filled outline.

        Parameters
        ----------
        edges : array, shape (n + 1,)
            Of the bins.
        heights : array, shape (n,)
            Of the bins.
        kind : str
            Class of the outline.
        """
        xs = np.repeat(np.asarray(edges, float), 2)
        ys = np.concatenate([[0.0], np.repeat(np.asarray(heights, float), 2), [0.0]])
        path = "L".join(self._at(x, y) for x, y in zip(xs, ys))
        self._parts.append(f'<path class="line area {kind}" d="M{path}"/>')

    def point(self, x: float, y: float, kind: str = "point") -> None:
        """Draw a point.

        Parameters
        ----------
        x : float
            Its place.
        y : float
            Its place.
        kind : str, default "point"
            Its class.
        """
        if math.isfinite(x) and math.isfinite(y):
            self._parts.append(f'<circle class="{kind}" cx="{self._across(x):.1f}" cy="{self._down(y):.1f}" r="4.5"/>')

    def cell(self, x: float, y: float, share: float) -> None:
        """Draw a square of side 1 around a point, the more solid the larger its share.

        Parameters
        ----------
        x : float
            Its middle.
        y : float
            Its middle.
        share : float
            In [0, 1].
        """
        left, top = self._across(x - 0.5), self._down(y + 0.5)
        width, height = self._across(x + 0.5) - left, self._down(y - 0.5) - top
        self._parts.append(
            f'<rect class="square" x="{left:.2f}" y="{top:.2f}" width="{width:.2f}" height="{height:.2f}" '
            f'opacity="{share:.3f}"/>'
        )

    def svg(self) -> str:
        """The chart as an element of a page."""
        key = self._key
        return (
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{key}-title {key}-text">'
            f'<title id="{key}-title">{escaped(self._title)}</title><desc id="{key}-text">{escaped(self._text)}</desc>'
            f"{self._axes()}{''.join(self._parts)}</svg>"
        )

    def _axes(self) -> str:
        right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
        parts = []
        for value in self.x.ticks():
            x = f"{self._across(value):.1f}"
            parts.append(f'<path class="grid" d="M{x} {TOP}V{bottom}"/>')
            parts.append(f'<text x="{x}" y="{bottom + 17}" text-anchor="middle">{value:.6g}</text>')
        for value in self.y.ticks():
            y = self._down(value)
            parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{right}"/>')
            parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:.6g}</text>')
        middle, height = (LEFT + right) / 2, (TOP + bottom) / 2
        return (
            f'{"".join(parts)}<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>'
            f'<text x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">{escaped(self.x.label)}</text>'
            f'<text x="{-height}" y="14" transform="rotate(-90)" text-anchor="middle">{escaped(self.y.label)}</text>'
        )

    def _at(self, x: float, y: float) -> str:
        return f"{self._across(x):.1f} {self._down(y):.1f}"

    def _across(self, x: float) -> float:
        share = (min(max(x, self.x.low), self.x.high) - self.x.low) / (self.x.high - self.x.low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def _down(self, y: float) -> float:
        share = (min(max(y, self.y.low), self.y.high) - self.y.low) / (self.y.high - self.y.low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
