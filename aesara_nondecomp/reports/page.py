"""A report as one HTML file, which loads nothing and runs nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any

from numpy.typing import NDArray

from aesara_nondecomp import __version__
from aesara_nondecomp._files import replacing
from aesara_nondecomp.reports.columns import value_at_threshold
from aesara_nondecomp.reports.frame import Evaluated
from aesara_nondecomp.reports.markup import Section, escaped, plain_name
from aesara_nondecomp.reports.sections import SECTIONS

# What a browser is to refuse, should something have slipped through: everything but the page's own style.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def evaluation_page(
    model: Any, X: Any, signs: NDArray[Any], scores: NDArray[Any], facts: dict[str, Any], seed: Any = 0
) -> str:
    """Make the page of a model on labelled rows.

    Parameters
    ----------
    model : Model
        The model.
    X : matrix, shape (n, d), table or list of str
        As raw as the training rows.
    signs : array, shape (n,)
        Labels in {-1, +1}.
    scores : array, shape (n,)
        The model's scores of X.
    facts : dict of str to object
        The figures, as in the JSON report.
    seed : int, numpy Generator or None, default 0
        Of the importance of columns.

    Returns
    -------
    str
        HTML.
    """
    return page_of(Evaluated.of(model, X, signs, scores, facts, seed, value_at_threshold(model)), SECTIONS)


def page_of(found: Any, makers: Sequence[Callable[[Any], Section | None]]) -> str:
    """Make the page of those sections that have anything to say.

    Parameters
    ----------
    found : Evaluated
        A model and its rows.
    makers : sequence of callable
        What makes each section.

    Returns
    -------
    str
        HTML.
    """
    sections = [section for make in makers if (section := make(found)) is not None]
    return page(f"Report of a model for {plain_name(found.facts['model']['measure'])}", sections)


def page(title: str, sections: Sequence[Section]) -> str:
    """Make a page of sections.

    Parameters
    ----------
    title : str
        Its heading.
    sections : sequence of Section
        Its parts.

    Returns
    -------
    str
        HTML.
    """
    style = (resources.files("aesara_nondecomp.reports") / "page.css").read_text(encoding="utf-8")
    links = "".join(f'<li><a href="#{s.key}">{escaped(s.title)}</a></li>' for s in sections)
    parts = "".join(
        f'<section id="{s.key}" aria-labelledby="{s.key}-heading"><h2 id="{s.key}-heading">{escaped(s.title)}</h2>'
        f"{s.body}</section>\n"
        for s in sections
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escaped(title)}</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">\n'
        f"<style>{style}</style></head>\n<body>"
        f'<a class="skip" href="#main">Skip to the report</a><header><h1>{escaped(title)}</h1>'
        f'<nav aria-label="Sections"><ul>{links}</ul></nav></header>\n<main id="main">\n{parts}</main>'
        f"<footer><p>Made by aesara_nondecomp {escaped(__version__)}.</p></footer></body></html>\n"
    )


def write_page(path: str | os.PathLike[str], text: str) -> None:
    """Write a page to a file, completely or not at all.

    Parameters
    ----------
    path : str or path-like
        The file.
    text : str
        HTML.
    """
    with replacing(path, text=True) as file:
        file.write(text)
