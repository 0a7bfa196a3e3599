"""The paper's figures: test values against mini-batches and seconds, two plots for each data set.

Samples, the paper's third axis, are mini-batches times 512 but for the rows of pre-training; `claims` counts them.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from aesara_nondecomp._figures import save_figure
from benchmarks.paper.datasets import PAPER_TABLE, TWINS
from benchmarks.paper.grid import Panel
from benchmarks.paper.methods import METHODS, TRAININGS, larger_is_better
from benchmarks.paper.results import Results, trivial
from benchmarks.plots import TITLES, pyplot

AXES = {"step": "mini-batches", "seconds": "seconds of training"}
KLD_FLOOR = 1e-7
DIRECT_WIDTH = 2.0


class Style(NamedTuple):
    """How a method's curve is drawn, in colours that colour-blind readers can distinguish."""

    colour: str
    line: Any
    width: float = 1.4


def _styles() -> dict[str, Style]:
    blue, sky, grey, orange, green, red, purple = (
        "#0072b2", "#56b4e9", "#777777", "#e69f00", "#009e73", "#d55e00", "#cc79a7",
    )  # fmt: skip
    styles = {}
    for driver in ("duple", "dame", "denim"):
        styles[driver] = Style(blue, "-", DIRECT_WIDTH)
        styles[f"{driver}_ns"] = Style(blue, "--")
        styles[f"{driver}_paper"] = Style(sky, "-")
        styles[f"{driver}_ns_paper"] = Style(sky, "--")
    return {
        **styles,
        "struct_ann": Style(red, "-"),
        "direct_loss": Style(red, ":"),
        "cross_entropy": Style(grey, "-"),
        "plug_in": Style(grey, "--"),
        "class_weighted": Style(orange, "-"),
        "logit_adjusted": Style(green, "-."),
        "hist_gradient_boosting": Style(purple, (0, (6, 2))),
    }


def draw(results: Results, figure: str, path: Path) -> None:
    """Draw one figure of the grid: below each data set's name one plot for each axis."""
    plt = pyplot()
    panels = [panel for panel in results.grid.panels if panel.measure == figure]
    columns = len(panels) if len(panels) < 4 else math.ceil(len(panels) / 2)
    blocks = math.ceil(len(panels) / columns)
    size = (4.1 * columns + 0.4, 2.7 * len(AXES) * blocks + 1.3)
    shape = len(AXES) * blocks, columns
    picture, axes = plt.subplots(*shape, figsize=size, squeeze=False, sharey=True, layout="constrained")
    of_panels = axes.reshape(blocks, len(AXES), columns).swapaxes(1, 2).reshape(-1, len(AXES))
    for panel, plots in zip(panels, of_panels):
        for plot, axis in zip(plots, AXES):
            _draw_panel(plot, results, panel, axis)
        plots[0].set_title(_title(panel), fontsize=11)
    for unused in of_panels[len(panels) :].flat:
        unused.set_visible(False)
    better = "larger" if larger_is_better(figure) else "smaller"
    picture.supylabel(f"{TITLES[figure]} on test rows ({better} is better)", fontsize=10)
    picture.legend(*_all_handles(axes), loc="outside lower center", ncols=min(3, columns), fontsize=9, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_figure(picture, path, dpi=90)
    plt.close(picture)


def _title(panel: Panel) -> str:
    title = PAPER_TABLE[panel.dataset].title if panel.dataset in PAPER_TABLE else panel.dataset
    if panel.used == panel.dataset:
        return title
    return f"{title}: synthetic twin" if panel.used in TWINS else f"{title}: stand-in {panel.used}"


def _draw_panel(plot, results: Results, panel: Panel, axis: str) -> None:
    for method in results.methods(panel):
        style = _styles().get(method)
        if style:
            look = {"color": style.colour, "linestyle": style.line, "linewidth": style.width}
            _draw_method(plot, results, panel, method, axis, {**look, "label": METHODS[method].title})
    floor = trivial(panel, results.grid)
    level = floor.value if floor.training_prior is None else floor.training_prior
    label = "trivial predictor" if floor.training_prior is None else "answering the training prior"
    plot.axhline(max(level, KLD_FLOOR), color="black", linestyle=(0, (1, 2)), linewidth=1.2, label=label)
    plot.set_xscale("log")
    plot.set_yscale("log" if panel.measure == "kld" else "linear")
    plot.set_xlabel(AXES[axis], fontsize=8)
    plot.tick_params(labelsize=8)
    plot.grid(alpha=0.3)


def _draw_method(plot, results: Results, panel: Panel, method: str, axis: str, look: dict) -> None:
    """Medians over seeds, with the range for the direct method; a baseline without steps is a horizontal line."""
    if TRAININGS[METHODS[method].training].baseline:
        plot.axhline(results.median(panel, method), **look)
        return
    along, values = results.curve(panel, method, axis)
    values = np.maximum(values, KLD_FLOOR) if panel.measure == "kld" else values
    plot.plot(along, np.median(values, axis=0), **look)
    if look["linewidth"] == DIRECT_WIDTH:
        low, high = values.min(axis=0), values.max(axis=0)
        plot.fill_between(along, low, high, color=look["color"], alpha=0.15, linewidth=0)


def _all_handles(axes) -> tuple[list, list]:
    """One legend entry for each label of any panel."""
    found: dict[str, Any] = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels()):
            found.setdefault(label, handle)
    return list(found.values()), list(found)
