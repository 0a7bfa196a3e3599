"""HTML: text that is escaped and shortened, tables, lists of terms, and figures with their captions."""

from __future__ import annotations

import html
import math
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

LONGEST_NAME = 60  # characters of a name or label
_BREAKS_TEXT = ("Cc", "Cs", "Co", "Cn", "Zl", "Zp")  # controls, lone surrogates and their like
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class Markup(str):
    """Text that is HTML already, and is not escaped again.

    Parameters
    ----------
    text : str
        HTML.
    """

    def __new__(cls, text: str) -> Markup:
        return super().__new__(cls, text)


class Section(NamedTuple):
    """A part of a page.

    Attributes
    ----------
    key : str
        Its place, as in ``#key``.
    title : str
        Its heading.
    body : str
        HTML.
    """

    key: str
    title: str
    body: str


def escaped(value: Any) -> Markup:
    """Escape a text; HTML is left as it is.

    Parameters
    ----------
    value : object
        Of which the ``str`` is taken.

    Returns
    -------
    Markup
    """
    return value if isinstance(value, Markup) else Markup(html.escape(str(value)))


def name(value: Any, longest: int = LONGEST_NAME) -> Markup:
    """Write a name that a user gave, such as a column's, so that it cannot disturb the text around it.

    Parameters
    ----------
    value : object
        Of which the ``str`` is taken. It is shortened, characters that cannot be shown or turn the direction of the
        text are replaced, and it is isolated from the direction of its surroundings.
    longest : int, default 60
        Characters that are kept.

    Returns
    -------
    Markup
    """
    return Markup(f"<bdi>{html.escape(plain_name(value, longest))}</bdi>")


def plain_name(value: Any, longest: int = LONGEST_NAME) -> str:
    """Shorten a name and replace what cannot be shown, without escaping it.

    Parameters
    ----------
    value : object
        Of which the ``str`` is taken.
    longest : int, default 60
        Characters that are kept.

    Returns
    -------
    str
        "(empty)" for an empty name.
    """
    text = str(value)
    if len(text) > longest:
        text = f"{text[: longest - 15]} … {text[-12:]}"
    shown = "".join(" " if c.isspace() else "\ufffd" if _is_hidden(c) else c for c in text)
    return shown if shown.strip() else "(empty)"


def number(value: float | None) -> str:
    """Write a number with four decimals, or if it is smaller with two digits.

    Parameters
    ----------
    value : float or None
        The number; NaN and None are "undefined".

    Returns
    -------
    str
    """
    if value is None or math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.1e}" if 0 < abs(value) < 0.001 else f"{value:.4f}"


def interval(low: float | None, high: float | None) -> str:
    """Write an interval.

    Parameters
    ----------
    low : float or None
        Its lower end.
    high : float or None
        Its upper end.

    Returns
    -------
    str
    """
    return f"{number(low)} to {number(high)}"


def paragraph(text: Any, kind: str = "") -> str:
    """Write a paragraph.

    Parameters
    ----------
    text : object
        Escaped unless it is Markup.
    kind : str, optional
        Its class.

    Returns
    -------
    str
    """
    return f'<p class="{kind}">{escaped(text)}</p>' if kind else f"<p>{escaped(text)}</p>"


def terms(pairs: Iterable[tuple[Any, Any]]) -> str:
    """Write a list of terms and what they are.

    Parameters
    ----------
    pairs : iterable of tuple
        Terms and descriptions.

    Returns
    -------
    str
    """
    return f"<dl>{''.join(f'<div><dt>{escaped(a)}</dt><dd>{escaped(b)}</dd></div>' for a, b in pairs)}</dl>"


def bullets(items: Iterable[Any]) -> str:
    """Write a list.

    Parameters
    ----------
    items : iterable
        Its items.

    Returns
    -------
    str
    """
    return f"<ul>{''.join(f'<li>{escaped(item)}</li>' for item in items)}</ul>"


def table(caption: Any, header: Sequence[Any], rows: Iterable[Sequence[Any]], marked: int | None = None) -> str:
    """Write a table whose first column names the rows; it scrolls by itself where the page is narrow.

    Parameters
    ----------
    caption : object
        What it shows; escaped unless it is Markup.
    header : sequence
        Names of the columns.
    rows : iterable of sequence
        Cells of each row, as many as there are columns.
    marked : int, optional
        Index of a row to set off.

    Returns
    -------
    str
    """
    head = "".join(f'<th scope="col">{escaped(cell)}</th>' for cell in header)
    body = "".join(
        f'<tr{" class=marked" if k == marked else ""}><th scope="row">{escaped(first)}</th>'
        f"{''.join(f'<td>{escaped(cell)}</td>' for cell in cells)}</tr>"
        for k, (first, *cells) in enumerate(rows)
    )
    label = caption.replace("<bdi>", "").replace("</bdi>", "") if isinstance(caption, Markup) else escaped(caption)
    return (
        f'<div class="scroll" role="region" aria-label="{label}" tabindex="0"><table>'
        f"<caption>{escaped(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def bar(value: float, largest: float) -> Markup:
    """Draw a bar in a cell of a table, beside its number.

    Parameters
    ----------
    value : float
        Its length; one below 0 has none.
    largest : float
        The length of the longest bar.

    Returns
    -------
    Markup
    """
    share = min(1.0, max(0.0, value / largest)) if largest > 0 and math.isfinite(value) else 0.0
    return Markup(f'<span class="track"><span class="bar" style="width:{100 * share:.1f}%"></span></span>')


def shaded(text: Any, share: float) -> Markup:
    """Shade a cell of a table behind its text.

    Parameters
    ----------
    text : object
        Escaped unless it is Markup.
    share : float
        How strongly, in [0, 1]; NaN is not at all.

    Returns
    -------
    Markup
    """
    strength = 0.0 if math.isnan(share) else 0.5 * share  # the text stays readable
    return Markup(
        f'<span class="cell"><span class="shade" style="opacity:{strength:.2f}"></span>{escaped(text)}</span>'
    )


def figure(drawing: str, caption: Any, legend: Sequence[tuple[str, Any]] = ()) -> str:
    """Write a picture with its legend and caption.

    Parameters
    ----------
    drawing : str
        An SVG element, from `svg.Chart`.
    caption : object
        What it shows.
    legend : sequence of tuple (str, object)
        Classes of the lines and what they are.

    Returns
    -------
    str
    """
    keys = "".join(f'<li><span class="key {kind}"></span>{escaped(text)}</li>' for kind, text in legend)
    listed = f'<ul class="legend">{keys}</ul>' if keys else ""
    return f"<figure>{drawing}<figcaption>{listed}{escaped(caption)}</figcaption></figure>"


def figures(*drawn: str) -> str:
    """Put figures side by side where there is room.

    Parameters
    ----------
    *drawn : str
        From `figure`.

    Returns
    -------
    str
    """
    return f'<div class="figures">{"".join(drawn)}</div>'


def _is_hidden(character: str) -> bool:
    return character in _DIRECTIONS or unicodedata.category(character) in _BREAKS_TEXT
