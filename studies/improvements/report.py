"""Tables of the results: medians over seeds, means over data sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

Line = dict[str, Any]
TREES = "HistGradientBoosting, tuned"


def tables(lines: Sequence[Line], measures: Sequence[str]) -> str:
    """A table of values and one of differences for each measure, in Markdown."""
    parts = []
    for measure in measures:
        mine = [line for line in lines if line["measure"] == measure]
        parts += [f"### {measure}", _values(mine), _differences(mine)]
    return "\n\n".join(parts) + "\n"


def _values(lines: Sequence[Line]) -> str:
    datasets = list(dict.fromkeys(line["dataset"] for line in lines))
    rows = [["method", *datasets, "mean"]]
    for method in dict.fromkeys(line["method"] for line in lines):
        cells = [_cell(_by_seed(lines, method, dataset)) for dataset in datasets]
        rows.append([method, *cells, _number(_mean_of_medians(lines, method))])
    return _markdown(rows)


def _cell(values: Sequence[float]) -> str:
    return f"{np.median(values):.4f} ±{(max(values) - min(values)) / 2:.3f}" if values else "–"


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.4f}"


def _differences(lines: Sequence[Line]) -> str:
    """Each direct row minus the rows of the cross-entropy family that it is compared with."""
    names = list(dict.fromkeys(line["method"] for line in lines))
    rivals = {name: _mean_of_medians(lines, name) for name in names if name.startswith(("CE", "wCE"))}
    best = max(rivals, key=lambda name: np.nan_to_num(rivals[name]))
    against = [name for name in names if name in ("CE tuned", "CE family by validation, tuned", best, TREES)]
    rows = [["minus", *(f"{name} (best)" if name == best else name for name in against)]]
    for name in names:
        if name.startswith("direct") and not np.isnan(_mean_of_medians(lines, name)):
            rows.append([name, *(_difference(lines, name, rival) for rival in against)])
    return _markdown(rows)


def _difference(lines: Sequence[Line], name: str, rival: str) -> str:
    """Mean over data sets of the median paired difference, its standard error, and the runs won and lost."""
    datasets = dict.fromkeys(line["dataset"] for line in lines)
    paired = [np.subtract(_by_seed(lines, name, d), _by_seed(lines, rival, d)) for d in datasets]
    medians = [float(np.median(values)) for values in paired]
    error = np.std(medians, ddof=1) / np.sqrt(len(medians)) if len(medians) > 1 else float("nan")
    flat = np.concatenate(paired)
    return f"{np.mean(medians):+.4f} (se {error:.4f}; {np.sum(flat > 0)} won, {np.sum(flat < 0)} lost of {len(flat)})"


def _by_seed(lines: Iterable[Line], method: str, dataset: str) -> list[float]:
    mine = {line["seed"]: line["value"] for line in lines if line["method"] == method and line["dataset"] == dataset}
    return [mine[seed] for seed in sorted(mine)]


def _mean_of_medians(lines: Sequence[Line], method: str) -> float:
    """Mean over data sets of the median over seeds; NaN for a method that was not run on all of them."""
    datasets = dict.fromkeys(line["dataset"] for line in lines)
    values = [_by_seed(lines, method, dataset) for dataset in datasets]
    return float(np.mean([np.median(v) for v in values])) if all(values) else float("nan")


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    head, *body = rows
    ruled = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(row) + " |" for row in ruled)
