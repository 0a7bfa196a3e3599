"""What reports by group share, of two classes or of several: the value of the worst group, text and pictures."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp._figures import new_figure, plain_text, save_figure
from aesara_nondecomp._tables import interval_text, number_text, table_lines
from aesara_nondecomp.measures.groups import WorstOfForms
from aesara_nondecomp.metrics.cell_intervals import interval_of_largest, recall_draws

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[Any]


def worst_value(measure: Any, right: Array, cells: Any, constant: Iterable[Array]) -> dict[str, float]:
    """Evaluate a measure of the worst group.

    Parameters
    ----------
    measure : measures.groups.WorstOfForms
        Such as "worst_cell".
    right : int array, shape (m,)
        Rows of each cell that are predicted right.
    cells : measures.Cells or measures.multiclass.GroupedCells
        Of the rows.
    constant : iterable of array, shape (m,)
        Recalls of the constant predictions.

    Returns
    -------
    dict of str to float
        "value", "low", "high" and "trivial"; all NaN if no group takes part.

    Raises
    ------
    ValueError
        If the measure is none of groups.
    """
    require(isinstance(measure, WorstOfForms), "a measure of the worst group is needed, as 'worst_cell'", measure)
    forms = measure.forms(cells)
    if not len(forms):
        return dict.fromkeys(("value", "low", "high", "trivial"), math.nan)
    known = np.where(cells.rows > 0, share_of(right, cells.rows), 0.0)
    value = float(np.min(known @ forms.T))
    draws = -_form_draws(measure, forms, right, cells.rows)
    low, high = interval_of_largest(np.max(draws, axis=0), draws, len(draws), -value)
    trivial = max(float(np.min(recalls.astype(float) @ forms.T)) for recalls in constant)
    return {"value": value, "low": -high, "high": -low, "trivial": trivial}


def _form_draws(measure: WorstOfForms, forms: Array, right: Array, rows: Array) -> Array:
    """Draws of the forms, shape (k, 4000)."""
    if not measure.pools_rows:
        return np.asarray((recall_draws(right, rows) @ forms.T).T)
    members = forms > 0
    return recall_draws(members @ right, members @ rows).T


def report_dict(report: Any) -> dict[str, Any]:
    """A report by group as plain values, for JSON; what is undefined is None.

    Parameters
    ----------
    report : GroupReport or ClassGroupReport
        The report.

    Returns
    -------
    dict of str to object
        "cells" and "groups" are lists of dicts of what they hold; "worst_cell" and "worst_group" are names.
    """
    worst = report.worst_group
    return {
        "cells": [plain(cell) for cell in report.cells],
        "groups": [plain(group) for group in report.groups],
        "rows_without_group": report.rows_without_group,
        "worst_cell": report.worst_cell.name,
        "worst_group": None if worst is None else worst.name,
    }


def report_text(
    cells: Sequence[Any], header: Sequence[str], groups: Sequence[Sequence[Any]], worst: str, left_out: int
) -> str:
    """The tables of a report.

    Parameters
    ----------
    cells : sequence of NamedTuple
        With name, rows, rate, low and high.
    header : sequence of str
        Of the table of groups.
    groups : sequence of sequence of str
        Its rows.
    worst : str
        What is said of the worst ones.
    left_out : int
        Number of rows without a group.

    Returns
    -------
    str
    """
    of_cells = [(c.name, c.rows, number_text(c.rate), interval_text(c.low, c.high)) for c in cells]
    return "\n".join(
        [
            *table_lines(("cell", "rows", "predicted right", "95 % interval"), of_cells),
            "",
            *table_lines(header, groups),
            "",
            worst,
            *[f"{left_out} rows without a group are left out"] * bool(left_out),
        ]
    )


def draw_cells(
    cells: Sequence[Any], parts: Iterable[tuple[Sequence[bool], str, str, str]], path: str | os.PathLike[str] | None
) -> Figure:
    """Draw the rates of cells with their intervals.

    Parameters
    ----------
    cells : sequence of NamedTuple
        With name, rows, rate, low and high.
    parts : iterable of tuple (chosen, colour, marker, label)
        Which cells are drawn how.
    path : str or path-like, optional
        Also write the figure to this file.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = new_figure(3.5, 1.2 + 0.22 * len(cells))
    axis = figure.subplots()
    for chosen, colour, marker, label in parts:
        known = [(row, cell) for row, cell in enumerate(cells) if cell.rows and chosen[row]]
        draw_intervals(axis, [(row, c.rate, c.low, c.high) for row, c in known], colour, marker, label)
    names = [plain_text(f"{cell.name} ({cell.rows})") for cell in cells]
    axis.set_yticks(range(len(names)), names, fontsize=7)
    axis.set(ylim=(len(cells) - 0.5, -0.5), xlim=(0, 1.02))
    axis.set_xlabel("rate predicted right, 95 % interval", fontsize=8)
    finish(figure, axis)
    if path is not None:
        save_figure(figure, path, dpi=200)
    return figure


def draw_intervals(
    axis: Any, shown: Sequence[tuple[int, float, float, float]], colour: str, marker: str, label: str
) -> None:
    """Draw values with their intervals, one per line of a figure.

    Parameters
    ----------
    axis : matplotlib.axes.Axes
        Where to draw.
    shown : sequence of tuple (line, value, low, high)
        What to draw.
    colour : str
        Of all of them.
    marker : str
        Of all of them.
    label : str
        For the legend.
    """
    if not shown:
        return
    lines, values, low, high = np.array(shown).T
    reach = np.stack([values - low, high - values])
    axis.errorbar(
        values, lines, xerr=reach, fmt=marker, color=colour, markersize=4, capsize=2, linewidth=1, label=label
    )


def finish(figure: Any, axis: Any) -> None:
    """Set what all figures of intervals share.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    axis : matplotlib.axes.Axes
        Its axis.
    """
    axis.tick_params(axis="x", labelsize=7)
    axis.grid(axis="x", linewidth=0.4, color="0.85")
    axis.set_axisbelow(True)
    figure.legend(loc="outside upper right", ncols=4, columnspacing=1.0, fontsize=7, frameon=False)


def plain(values: Any) -> dict[str, Any]:
    """The fields of a named tuple for JSON, which cannot hold NaN.

    Parameters
    ----------
    values : NamedTuple
        Of plain values.

    Returns
    -------
    dict of str to object
        None in place of NaN.
    """
    return {name: None if value != value else value for name, value in values._asdict().items()}


def share_of(part: Array, whole: Array) -> Array:
    """Shares of counts.

    Parameters
    ----------
    part : array
        The counts.
    whole : array
        Of what they are a part.

    Returns
    -------
    float64 array
        NaN where that is 0.
    """
    with np.errstate(invalid="ignore"):
        return np.asarray(part / whole)
