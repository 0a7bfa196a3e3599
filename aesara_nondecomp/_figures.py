"""Figures, drawn by matplotlib (extra `plots`) without pyplot: they open no window."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from aesara_nondecomp._files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, sized in inches and freed with its last reference; ImportError if matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("a picture needs matplotlib: pip install 'aesara-nondecomp[plots]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def plain_text(text: Any) -> str:
    """Text that a figure shows as it is.

    Matplotlib reads a pair of dollars as mathematics, and leaves labels that begin with "_" out of a legend.

    Parameters
    ----------
    text : object
        Such as a class.

    Returns
    -------
    str
        With escaped dollars, and a space before a leading "_".
    """
    shown = str(text).replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def save_figure(figure: Figure, path: str | os.PathLike[str], dpi: float) -> None:
    """Write a figure to a file, completely or not at all.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    path : str or path-like
        The file; its suffix says the format. Without one, that of matplotlib's default format is added.
    dpi : float
        Dots per inch.
    """
    suffix = os.path.splitext(path)[1][1:]
    chosen = suffix or figure.canvas.get_default_filetype()
    with replacing(path if suffix else f"{os.fspath(path).rstrip('.')}.{chosen}") as file:
        figure.savefig(file, format=chosen, dpi=dpi)
