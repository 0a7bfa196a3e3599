"""Figures of the study, drawn by matplotlib (extra `plots`), and the attention page."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara_nondecomp._figures import save_figure
from aesara_nondecomp._files import replacing
from benchmarks.plots import pyplot
from benchmarks.twitter.objectives import CLASS_WEIGHTED, CROSS_ENTROPY, DENIM, FOR_TABLES
from benchmarks.twitter.types import Attended

COLOURS = {
    FOR_TABLES: "#cc79a7",
    DENIM: "#0072b2",
    "DENIM-NS on BAKLD": "#56b4e9",
    "DENIM on KLD": "#009e73",
    "DENIM-NS on KLD": "#8fd175",
    CROSS_ENTROPY: "#d55e00",
    CLASS_WEIGHTED: "#e69f00",
}
NAMES = {"attention": "attention model (AM)", "lstm": "LSTM"}
POSITIVE, NEGATIVE = (0.20, 0.65, 0.30), (0.85, 0.20, 0.20)
FLOOR = 1e-6  # of the KLD on logarithmic axes


def draw_convergence(runs: Sequence[dict[str, Any]], dataset: str, path: str) -> None:
    """Test KLD against steps, samples and seconds, a row per network: medians over seeds, ranges shaded."""
    plt = pyplot()
    networks = sorted({run["network"] for run in runs})
    axes_of = ("step", "steps (mini-batches)"), ("samples", "tweets seen"), ("seconds", "seconds of training")
    size = (14, 4.2 * len(networks))
    figure, axes = plt.subplots(len(networks), 3, figsize=size, layout="constrained", squeeze=False)
    for row, network in zip(axes, networks):
        for axis, (quantity, label) in zip(row, axes_of):
            _draw_curves(axis, [run for run in runs if run["network"] == network], quantity)
            axis.set(xscale="log", yscale="log", xlabel=label, ylabel="test KLD", title=NAMES[network])
            axis.xaxis.set_minor_formatter("")  # within one decade they would overlap
            axis.grid(alpha=0.3)
    axes[0][0].legend(fontsize=8)
    figure.suptitle(f"{dataset}: KL divergence of the counted prevalence on the test set while training")
    save_figure(figure, path, dpi=100)
    plt.close(figure)


def _draw_curves(axis, runs, quantity: str) -> None:
    for objective, colour in COLOURS.items():
        own = [run["curve"] for run in runs if run["objective"] == objective]
        x = np.median([[point[quantity] for point in curve] for curve in own], axis=0)
        y = np.maximum([[point["kld"] for point in curve] for curve in own], FLOOR)
        axis.plot(x, np.median(y, axis=0), color=colour, label=objective, linewidth=1.6)
        axis.fill_between(x, y.min(axis=0), y.max(axis=0), color=colour, alpha=0.12, linewidth=0)


def draw_drift(summary: Sequence[dict[str, Any]], dataset: str, path: str) -> None:
    """Mean KLD against the prevalence of the resampled test sets, with a panel for each network."""
    plt = pyplot()
    drift = [row for row in summary if row["sets"] == "drift"]
    networks = sorted({row["network"] for row in drift} - {"none"})
    figure, axes = plt.subplots(1, len(networks), figsize=(7 * len(networks), 5.6), layout="constrained", squeeze=False)
    for axis, network in zip(axes[0], networks):
        for row in drift:
            style = _drift_style(row)
            if row["network"] in (network, "none") and style:
                shares = sorted(row["kld_by_share"])
                axis.plot([100 * s for s in shares], [max(row["kld_by_share"][s], FLOOR) for s in shares], **style)
        axis.set(yscale="log", xlabel="positive tweets in the test set (%)", ylabel="mean KLD", title=NAMES[network])
        axis.grid(alpha=0.3)
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8)
    figure.suptitle(f"{dataset}: drift of the prevalence")
    save_figure(figure, path, dpi=100)
    plt.close(figure)


def _drift_style(row) -> dict[str, Any] | None:
    if row["network"] == "none":
        return {"color": "black", "linestyle": ":", "label": row["objective"]}
    name, reading = row["objective"], row["reading"]
    if reading == "cc":
        return {"color": COLOURS[name], "label": f"{name}, counted"}
    if reading == "acc" and name in (CROSS_ENTROPY, DENIM):
        return {"color": COLOURS[name], "linestyle": "--", "label": f"{name}, adjusted count"}
    return None


def draw_attention(tweets: Sequence[Attended], path: str) -> None:
    """The tweets line by line, each word shaded by its weight, green for a positive and red for a negative tweet."""
    plt = pyplot()
    figure = plt.figure(figsize=(11, 0.36 * len(tweets) + 0.8))
    renderer = figure.canvas.get_renderer()
    width, line = figure.bbox.width, 1 / (len(tweets) + 1.5)
    figure.text(0.01, 1 - 0.6 * line, "Where the attention is: words shaded by weight; green: positive, red: negative")
    for k, tweet in enumerate(tweets):
        x, y = 0.01, 1 - (k + 1.6) * line
        for word, shade in zip(tweet.words, _shades(tweet)):
            box = {"facecolor": shade, "edgecolor": "none", "pad": 1.5}
            drawn = figure.text(x, y, word.replace("$", r"\$"), fontsize=11, bbox=box, family="DejaVu Sans")
            x += (drawn.get_window_extent(renderer).width + 7) / width
    save_figure(figure, path, dpi=100)
    plt.close(figure)


def write_attention(tweets: Sequence[Attended], path: str) -> None:
    """The same as a page, with each word's weight as its tooltip."""
    lines = ["<!DOCTYPE html><meta charset='utf-8'><title>Where the attention is</title>"]
    lines.append("<style>body{font:16px sans-serif;margin:2em}span{padding:2px 4px;border-radius:3px}</style>")
    lines.append(
        "<h1>Where the attention is</h1><p>Words shaded by attention weight; green: predicted positive, red: "
        "predicted negative.</p>"
    )
    for tweet in tweets:
        words = [
            f"<span style='background:rgba({_rgb(tweet)},{shade[3]:.2f})' title='{weight:.3f}'>"
            f"{html.escape(word)}</span>"
            for word, weight, shade in zip(tweet.words, tweet.weights, _shades(tweet))
        ]
        lines.append(f"<p>{' '.join(words)}</p>")
    with replacing(path, text=True) as page:
        page.write("\n".join(lines) + "\n")


def _shades(tweet: Attended) -> list[tuple[float, float, float, float]]:
    """A colour per word, as opaque as its weight is large beside the largest of the tweet."""
    largest = max(tweet.weights) or 1.0
    return [(*_colour(tweet), 0.85 * weight / largest) for weight in tweet.weights]


def _colour(tweet: Attended) -> tuple[float, float, float]:
    return POSITIVE if tweet.score > 0 else NEGATIVE


def _rgb(tweet: Attended) -> str:
    return ",".join(str(round(255 * part)) for part in _colour(tweet))
