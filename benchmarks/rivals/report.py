"""Tables of means and verdicts as Markdown, and a picture of the verdicts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from aesara_nondecomp._figures import save_figure
from benchmarks.plots import COLOURS, TITLES, pyplot
from benchmarks.rivals.methods import OURS
from benchmarks.rivals.verdicts import Verdict


def tables(cells: Sequence[dict[str, Any]], verdicts: Sequence[Verdict]) -> str:
    """A table of means for each measure, one of seconds, and one of the verdicts.

    Parameters
    ----------
    cells : sequence of dict
        From `verdicts.cells_of`.
    verdicts : sequence of Verdict
        From `verdicts.against`.

    Returns
    -------
    str
        Markdown.
    """
    parts = []
    for measure in dict.fromkeys(cell["measure"] for cell in cells):
        found = {(cell["data"], cell["method"]): f"{cell['mean']:.4f}" for cell in cells if cell["measure"] == measure}
        parts.append(_table(f"{measure}, means over the seeds", found))
    seconds = {(cell["data"], cell["method"]): f"{cell['seconds']:.1f}" for cell in cells}
    parts.append(_table("seconds of a call, all configurations included", seconds))
    return "\n\n".join([*parts, _verdict_table(verdicts)] if verdicts else parts)


def _table(title: str, found: dict[tuple[str, str], str]) -> str:
    sets = list(dict.fromkeys(data for data, _ in found))
    methods = list(dict.fromkeys(method for _, method in found))
    rows = [f"| {title} | {' | '.join(sets)} |", "|---" * (len(sets) + 1) + "|"]
    rows += [f"| {method} | {' | '.join(found.get((data, method), '') for data in sets)} |" for method in methods]
    return "\n".join(rows)


def _verdict_table(verdicts: Sequence[Verdict]) -> str:
    rows = ["| measure | ours | minus rival | sets | difference | won | lost | goal | |", "|---" * 9 + "|"]
    for each in verdicts:
        spread = "" if each.se is None else f" ± {each.se:.4f}"
        goal = "" if each.goal is None else f">= {each.goal:+g}"
        mark = "**missed**" if each.holds is False else ""
        rows.append(
            f"| {each.measure} | {each.ours} | {each.rival} | {each.sets} | {each.mean_difference:+.4f}{spread} "
            f"| {each.won} | {each.lost} | {goal} | {mark} |"
        )
    return "\n".join(rows)


def draw(verdicts: Sequence[Verdict], path: str) -> None:
    """The mean differences with their standard errors, a panel for each measure that has goals.

    Parameters
    ----------
    verdicts : sequence of Verdict
        From `verdicts.against`.
    path : str
        The picture to write; its ending is its format.
    """
    plt = pyplot()
    shown = [each for each in verdicts if each.goal is not None and each.se is not None]
    measures = list(dict.fromkeys(each.measure for each in shown))
    rivals = list(dict.fromkeys(each.rival for each in shown))[::-1]
    figure, axes = plt.subplots(
        1, max(len(measures), 1), figsize=(14, 2 + 0.25 * len(rivals)), sharey=True, squeeze=False, layout="constrained"
    )
    for axis, measure in zip(axes.flat, measures):
        for number, (ours, colour) in enumerate(zip(OURS, COLOURS)):
            found = [each for each in shown if (each.measure, each.ours) == (measure, ours)]
            places = [rivals.index(each.rival) - 0.25 * number for each in found]
            axis.errorbar(
                [each.mean_difference for each in found], places, xerr=[each.se for each in found],
                fmt="o", color=colour, label=ours, markersize=4,
            )  # fmt: skip
        axis.axvline(0, color="black", linewidth=1)
        axis.set_title(TITLES[measure])
        axis.set_xlabel("ours minus the rival, mean over sets")
        axis.set_yticks(range(len(rivals)), rivals)
        axis.grid(alpha=0.3)
    axes.flat[0].legend(fontsize=8)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    save_figure(figure, path, dpi=110)
    plt.close(figure)
