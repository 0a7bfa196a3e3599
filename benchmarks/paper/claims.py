"""The parts of the claims table: its rows, comparisons between methods, and the rule for the verdict.

A claim *holds* if it is true of the paper's own listing, with steps counted as mini-batches. It *holds under this
reading* if it is true in the sense of its `reading`, for example of the default recipes in most (two thirds) of the
cells. Otherwise it *does not hold*. A verdict names what the claim is measured against, and by how much it wins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.paper.grid import Panel
from benchmarks.paper.methods import DEFAULT, DIRECT, larger_is_better
from benchmarks.paper.results import Results

HOLDS, READING, FAILS = "holds", "holds under this reading", "does not hold"
NOT_RUN = "not measured in this run"
ALL = ("min", "qmean", "f1", "kld")
COMMAND = "python -m benchmarks paper"
ITERATION = 100  # mini-batches between two points of the authors' curves


class Claim(NamedTuple):
    """A row of the claims table."""

    source: str
    claim: str
    measured: str
    verdict: str
    command: str
    """Without the options that make the grid: the report adds them."""
    rival: str
    """What the verdict compares with: a method, or a bound."""
    margin: str
    """By how much the claim wins, where it holds."""
    reading: str = "default recipes, most cells"
    """What `READING` refers to."""


class Duel(NamedTuple):
    """The number of cells in which one method beats another."""

    wins: int
    cells: int

    def __str__(self) -> str:
        return f"{self.wins} of {self.cells}"

    @property
    def all(self) -> bool:
        """Whether it wins all of them."""
        return 0 < self.cells == self.wins

    @property
    def most(self) -> bool:
        """Whether it wins at least two thirds of them."""
        return 0 < self.cells and self.wins >= self.needed

    @property
    def needed(self) -> int:
        """The smallest number of wins that is two thirds of the cells."""
        return -(-2 * self.cells // 3)


def panels_of(results: Results, *measures: str) -> list[Panel]:
    """The panels of the figures of these measures."""
    return [panel for panel in results.grid.panels if panel.measure in measures]


def panel_of(results: Results, measure: str, dataset: str) -> Panel | None:
    """The panel of a measure and of the paper's data set."""
    return next((panel for panel in panels_of(results, measure) if panel.dataset == dataset), None)


def direct_method(panel: Panel, variant: str = "") -> str:
    """The direct method of a panel: "" is the default of `fit`, "_paper" the listing, "_ns" the count-based form."""
    return DIRECT[panel.measure] + variant if variant else DEFAULT[panel.measure]


def beats(results: Results, panel: Panel, method: str, rival: str, margin: float = 0.0) -> bool | None:
    """Whether the median test value is better by more than `margin`; None if one of them is missing."""
    if not (results.choices(panel, method) and results.choices(panel, rival)):
        return None
    sign = 1 if larger_is_better(panel.measure) else -1
    return sign * (results.median(panel, method) - results.median(panel, rival)) > margin


def duel(outcomes: Iterable[bool | None]) -> Duel:
    """Count the cells won; None stands for a cell without results."""
    known = [outcome for outcome in outcomes if outcome is not None]
    return Duel(sum(known), len(known))


def duels_of(results: Results, panels: Sequence[Panel], variant: str, rival: str) -> Duel:
    """The direct method against a rival, over panels."""
    return duel(beats(results, panel, direct_method(panel, variant), rival) for panel in panels)


def cells_won(verdict: str, literal: Sequence[Duel], default: Sequence[Duel]) -> str:
    """The cells behind a verdict that holds, and how many it needs: all of the listing's, or most of the default's."""
    if verdict == HOLDS:
        return ", ".join(f"{duel} cells (all needed)" for duel in literal)
    return ", ".join(f"{duel} cells ({duel.needed} needed)" for duel in default)


def lead(results: Results, panels: Sequence[Panel], verdict: str, rival: str) -> str:
    """By how much the direct method's median is ahead of a rival's: median and range over the panels, but KLD's."""
    variant = "_paper" if verdict == HOLDS else ""
    gaps = np.array(
        [
            results.median(panel, direct_method(panel, variant)) - results.median(panel, rival)
            for panel in panels
            if panel.measure != "kld"
        ]
    )
    gaps = gaps[~np.isnan(gaps)]
    if not len(gaps):
        return "-"
    return f"median {np.median(gaps):+.3f} [{gaps.min():+.3f}, {gaps.max():+.3f}]"


def spread(results: Results, panel: Panel, method: str, digits: str = ".3f") -> str:
    """Median and range over the seeds."""
    values = results.values(panel, method)
    if not values:
        return "-"
    return f"{np.median(values):{digits}} [{min(values):{digits}}, {max(values):{digits}}]"


def each(panels: Iterable[Panel], say: Callable[[Panel], str]) -> str:
    """What `say` has to say about each panel, in one line."""
    return "; ".join(f"{panel.used} {say(panel)}" for panel in panels)


def number(value: float) -> str:
    """Three digits; "never" for infinite, "-" for NaN."""
    if math.isnan(value):
        return "-"
    return "never" if math.isinf(value) else f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def verdict_of(holds: bool, reading: bool, *evidence: Duel | float) -> str:
    """The verdict, or `NOT_RUN` if a part of the evidence has no cell or is NaN."""
    if any(part.cells == 0 if isinstance(part, Duel) else math.isnan(part) for part in evidence):
        return NOT_RUN
    return HOLDS if holds else READING if reading else FAILS


def command_for(*figures: str, datasets: str = "") -> str:
    """The command that runs what a claim needs."""
    return f"{COMMAND} --figures {' '.join(figures)}{' --datasets ' + datasets if datasets else ''}"


def missing(source: str, claim: str, *figures: str) -> Claim:
    """The row of a claim that needs a panel that is not in the grid."""
    return Claim(source, claim, "", NOT_RUN, command_for(*figures), "", "")
