"""Curves of benchmark results, drawn by matplotlib (extra `plots`)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from aesara_nondecomp._figures import save_figure

TITLES = {"min": "min(TPR, TNR)", "qmean": "Q-mean", "f1": "F1", "kld": "KL divergence of the class shares"}
COLOURS = ("#0072b2", "#888888", "#e69f00", "#009e73")  # direct method first; colour-blind readers can distinguish them
STYLES = ("-", ":", "--", "-.")


class Panel(NamedTuple):
    """One measure's curves: per method an array (seeds, checkpoints)."""

    measure: Any
    steps: Sequence[int]
    curves: dict[str, np.ndarray]
    trivial: float


def draw_curves(panels: Sequence[Panel], dataset: str, path: str) -> None:
    """Test value against steps, with a panel for each measure: medians, shaded ranges, dotted trivial value."""
    plt = pyplot()
    figure, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
    for axis, panel in zip(axes.flat, panels):
        _draw_panel(axis, panel)
    figure.suptitle(f"{dataset}: test values while training (median and range of 3 seeds)")
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    save_figure(figure, path, dpi=110)
    plt.close(figure)


def _draw_panel(axis: Any, panel: Panel) -> None:
    for (method, values), colour, style in zip(panel.curves.items(), COLOURS, STYLES):
        axis.plot(panel.steps, np.median(values, axis=0), style, color=colour, label=method, linewidth=1.8)
        axis.fill_between(panel.steps, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.15, linewidth=0)
    axis.axhline(panel.trivial, color="black", linestyle=(0, (1, 3)), linewidth=1.2, label="trivial predictor")
    axis.set_xscale("log")
    better = "larger" if panel.measure.greater_is_better else "smaller"
    if panel.measure.name == "kld":
        axis.set_yscale("log")
    axis.set_title(TITLES.get(panel.measure.name, str(panel.measure)))
    axis.set_xlabel("mini-batches of 512 rows")
    axis.set_ylabel(f"test value ({better} is better)")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)


def pyplot() -> Any:
    """matplotlib.pyplot, drawing to files; a ValueError with the remedy where it is missing."""
    try:
        import matplotlib
    except ImportError as missing:
        raise ValueError("figures need matplotlib: pip install 'aesara-nondecomp[plots]'") from missing
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt
