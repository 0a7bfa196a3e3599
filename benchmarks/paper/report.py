"""``report.md`` and its figures, from the finished runs of a grid."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aesara_nondecomp._files import replacing
from benchmarks.paper import claims_concave, claims_other, claims_twitter
from benchmarks.paper.claims import COMMAND, HOLDS, READING, Claim
from benchmarks.paper.command import FIRST_SEED, SEEDS
from benchmarks.paper.datasets import PAPER_TABLE, load, remark
from benchmarks.paper.figures import draw
from benchmarks.paper.grid import FIGURES, Grid, Panel, runs, shift_run
from benchmarks.paper.methods import METHODS, RATES, SHIFT_TITLES, SHIFT_TRAININGS, SLOW_RATES, larger_is_better
from benchmarks.paper.results import Results, failures, read_lines, trivial
from benchmarks.paper.runner import lines_path
from benchmarks.paper.step_cost import step_costs
from benchmarks.paper.training import SHIFT
from benchmarks.plots import TITLES

ESTIMATORS = {
    "training_prior": "training prior", "cc": "classify and count", "acc": "adjusted count",
    "tuned": "classify and count, threshold tuned", "pcc": "probabilistic count", "pacc": "adjusted prob. count",
    "sld": "SLD (EM)",
}  # fmt: skip
TREES = (
    "HistGradientBoosting has the best of three rates and a tuned threshold; its leaves, its regularisation and the "
    "rows that stop it (a tenth) are not tuned. `python -m benchmarks rivals` has tuned trees."
)
SAMPLED = {"covtype": "a sample: 180,000 of 581,012 rows, class 5 against all"}


def write_report(grid: Grid, out: Path) -> Path:
    """Draw every figure and write ``out/report/report.md``; its path."""
    folder = out / "report"
    folder.mkdir(parents=True, exist_ok=True)
    results, costs = Results(grid, out), step_costs(out)
    figures = [figure for figure in FIGURES if any(panel.measure == figure for panel in grid.panels)]
    for figure in figures:
        draw(results, figure, folder / f"{figure}.png")
    sections = [
        _head(results),
        _claims_table(results, costs),
        _data_table(grid),
        *(_figure_section(results, figure) for figure in figures),
        _cost_table(costs),
        _shift_table(results),
        _failure_table(results),
    ]
    target = folder / "report.md"
    with replacing(target, text=True) as file:
        file.write("\n\n".join(section for section in sections if section) + "\n")
    return target


# -- head ------------------------------------------------------------------------------------------------------------


def _head(results: Results) -> str:
    grid = results.grid
    stamps = [lines[0] for run in runs(grid) if (lines := read_lines(results.out, run))]
    commits = ", ".join(dict.fromkeys(stamp.get("commit", "unknown") for stamp in stamps)) or "unknown"
    versions = "; ".join(dict.fromkeys(_versions(stamp) for stamp in stamps))
    seeds = ", ".join(map(str, grid.seeds))
    return f"""# The paper's experiments, measured

Seeds {seeds}, {grid.steps} steps, runs of commit {commits} ({versions}; {platform.machine()},
{os.cpu_count()} cores, one BLAS thread per process, processes side by side, so seconds are upper bounds).

**Protocol.** One network for all methods (64-64 rectifiers; the rows "as released" and "linear" have their own), Adam,
batches of 512; same initial weights and batches for all methods of a seed. Each seed cuts 20 % off the training rows
(by group where the data has groups). On these rows are chosen: the learning rate (of {", ".join(map(str, RATES))}, or
of {", ".join(map(str, SLOW_RATES))} for the paper's listing, which diverges above, and AMP; the released settings are
fixed), the checkpoint (for KLD the last one), and thresholds where a method has one. Default recipes average the
weights, for baselines too. All values are of hard predictions on test rows, median [lowest, highest] of the seeds.

**What is not shown.** The default recipes were picked by looking at test tables of the same data sets (the twin
excepted), so their margins are optimistic. They have the fixed number of steps and the network above; a plain call of
`fit` chooses its own. `python -m benchmarks rivals` compares plain calls with tuned rivals on splits of its own.

`{COMMAND}{_options(grid, figures=True)} --data-dir DIR` makes all figures and tables again, but for Twitter."""


def _options(grid: Grid, figures: bool = False, datasets: bool = True) -> str:
    """What a command needs to make the runs of this grid."""
    shown = list(dict.fromkeys(panel.measure for panel in grid.panels))
    options = f" --figures {' '.join(shown)}" if figures and len(shown) < len(FIGURES) else ""
    options += f" --steps {grid.steps}"
    if len(grid.seeds) != SEEDS or grid.seeds[0] != FIRST_SEED:
        options += f" --first-seed {grid.seeds[0]} --seeds {len(grid.seeds)}"
    if grid.methods != list(METHODS):
        options += f" --methods {' '.join(grid.methods)}"
    used = {figure: {p.dataset for p in grid.panels if p.measure == figure} for figure in FIGURES}
    if datasets and any(names and names != set(FIGURES[figure]) for figure, names in used.items()):
        options += f" --datasets {' '.join(dict.fromkeys(panel.dataset for panel in grid.panels))}"
    return options


def _versions(stamp: dict) -> str:
    return ", ".join(f"{name} {version}" for name, version in stamp.get("versions", {}).items())


# -- tables ----------------------------------------------------------------------------------------------------------


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _claims_table(results: Results, costs: Sequence[dict]) -> str:
    grid = results.grid
    of_grid = [*claims_concave.rows(results, costs), *claims_other.rows(results, costs)]
    commands = [_command(claim, grid) for claim in of_grid]
    of_text = claims_twitter.rows(results.out)
    commands += [claim.command for claim in of_text]
    rows = [
        [claim.claim, claim.source, _verdict_cell(claim), claim.measured, f"`{command}`"]
        for claim, command in zip([*of_grid, *of_text], commands)
    ]
    intro = (
        "A claim *holds* if it is true of the paper's own listing, with steps counted as mini-batches. It *holds under "
        "this reading* if it is true in the sense that follows the verdict. Otherwise it *does not hold*. A cell is a "
        "data set of a figure; most cells are two thirds of them. Orderings compare medians over the seeds. The "
        "Twitter rows are of the default recipe on BAKLD, not of the listing. A verdict that holds names its rival and "
        "its margin: the cells won, or median [lowest, highest] over the cells of the lead. Numbers behind each row: "
        "the tables below."
    )
    intro = " ".join([intro, *_remarks(grid.panels)])
    header = ["claim", "where", "verdict", "measured", "command (add `--data-dir DIR`)"]
    return f"## Claims\n\n{intro}\n\n{_table(header, rows)}"


def _verdict_cell(claim: Claim) -> str:
    if claim.verdict not in (HOLDS, READING):
        return f"**{claim.verdict}**"
    reading = f": {claim.reading}" if claim.verdict == READING else ""
    return f"**{claim.verdict}**{reading}. Rival: {claim.rival}. Margin: {claim.margin}."


def _command(claim: Claim, grid: Grid) -> str:
    if not claim.command.startswith(COMMAND):
        return claim.command
    return claim.command + _options(grid, datasets="--datasets" not in claim.command)


def _data_table(grid: Grid) -> str:
    used = dict.fromkeys((panel.dataset, panel.used) for panel in grid.panels)
    rows = []
    for name, actual in used:
        data = load(actual, grid.data_dir)
        y = np.concatenate([data.y_train, data.y_test])
        paper = PAPER_TABLE.get(name)
        rows.append(
            [
                paper.title if paper else name,
                *((paper.rows, paper.features, paper.positives) if paper else ("-", "-", "-")),
                f"{len(data.y_train):,} + {len(data.y_test):,}",
                str(data.X_train.shape[1]),
                f"{100 * y.mean():.2f} %",
                remark(name, actual) or SAMPLED.get(actual, "the data itself"),
            ]
        )
    header = ["data set", "paper: rows", "features", "positives", "here: rows (training + test)"]
    header += ["features", "positives", "remark"]
    twitter = "Twitter, the last row of the paper's table, is a study of its own; its claims above have the command."
    return f"## Data\n\n{_table(header, rows)}\n\n{twitter}"


def _figure_section(results: Results, figure: str) -> str:
    panels = [panel for panel in results.grid.panels if panel.measure == figure]
    caption = " ".join(["Median over the seeds; range shaded for the direct method.", *_remarks(panels)])
    methods = _methods(results, panels)
    if "hist_gradient_boosting" in methods:
        caption += " " + TREES
    rows = [[METHODS[method].title, *(_cell(results, panel, method) for panel in panels)] for method in methods]
    rows.append(["*trivial predictor*", *(_trivial_cell(results, panel) for panel in panels)])
    if figure == "kld":
        caption += " In brackets after KLD: balanced accuracy, which tells a quantifier from a useless classifier."
        priors = [trivial(panel, results.grid).training_prior or 0.0 for panel in panels]
        rows.append(["*answering the training prior*", *(f"{prior:.1e}" for prior in priors)])
    table = _table(["method", *(panel.used for panel in panels)], rows)
    return f"## {TITLES[figure]}\n\n![{TITLES[figure]}]({figure}.png)\n\n{caption}\n\n{table}"


def _remarks(panels: Sequence[Panel]) -> list[str]:
    """What a caption must say of the data sets, each remark once."""
    return [said for said in dict.fromkeys(remark(panel.dataset, panel.used) for panel in panels) if said]


def _methods(results: Results, panels: Sequence[Panel]) -> list[str]:
    return list(dict.fromkeys(method for panel in panels for method in results.methods(panel)))


def _cell(results: Results, panel: Panel, method: str) -> str:
    values = results.values(panel, method)
    if not values:
        return "-"
    if panel.measure == "kld":
        balanced = results.values(panel, method, "balanced_accuracy")
        extra = "" if np.isnan(balanced).any() else f" ({np.median(balanced):.2f})"
        return f"{np.median(values):.1e} [{min(values):.0e}, {max(values):.0e}]{extra}{_fewer(results, values)}"
    text = f"{np.median(values):.3f} [{min(values):.3f}, {max(values):.3f}]" + _fewer(results, values)
    return f"**{text}**" if _is_best(results, panel, method) else text


def _fewer(results: Results, values: Sequence[float]) -> str:
    """A remark where not all seeds have been run."""
    return "" if len(values) == len(results.grid.seeds) else f", {len(values)} seeds"


def _is_best(results: Results, panel: Panel, method: str) -> bool:
    sign = 1 if larger_is_better(panel.measure) else -1
    return sign * results.median(panel, method) >= max(
        sign * results.median(panel, rival) for rival in results.methods(panel)
    )


def _trivial_cell(results: Results, panel: Panel) -> str:
    floor = trivial(panel, results.grid).value
    return f"{floor:.1e}" if panel.measure == "kld" else f"{floor:.3f}"


def _cost_table(costs: Sequence[dict]) -> str:
    rows = [
        [
            cost["measure"], str(cost["batch"]), f"{100 * cost['prior']:g} %", f"{cost['direct_ms']:.2f}",
            f"{cost['struct_ann_ms']:.2f}", f"{cost['ratio']:.1f}",
        ]
        for cost in costs
    ]  # fmt: skip
    header = ["measure", "rows a batch", "positives", "DUPLE / DAME / DENIM, ms", "STRUCT-ANN, ms", "ratio"]
    intro = "54 features, 64-64 network, Adam; medians, compilation outside of both loops."
    return f"## Cost of a step\n\n{intro}\n\n{_table(header, rows)}"


def _shift_table(results: Results) -> str:
    """Errors of every estimator on every network, medians over seeds."""
    panels = [panel for panel in results.grid.panels if panel.measure == "kld"]
    rows: list[list[str]] = []
    for training in SHIFT_TRAININGS:
        for estimator, title in ESTIMATORS.items():
            cells = [_shift_cell(results, panel, training, estimator) for panel in panels]
            if any(cells) and (estimator != "training_prior" or not rows):
                rows.append([title if estimator == "training_prior" else f"{SHIFT_TITLES[training]}: {title}", *cells])
    if not rows:
        return ""
    intro = (
        f"Test sets of {SHIFT['sample_size']} rows resampled to {SHIFT['grid']} prevalences from 0 to 1, "
        f"{SHIFT['repeats']} sets each (the artificial-prevalence protocol of QuaPy). Mean absolute error / relative "
        "absolute error / KL divergence of the estimated prevalence; default recipes at the default rate, last "
        "step, posteriors calibrated and the threshold chosen (for KLD) on the validation rows; medians over the seeds."
    )
    intro = " ".join([intro, *_remarks(panels)])
    table = _table(["estimator", *(panel.used for panel in panels)], rows)
    return f"## Quantification under prevalence shift\n\n{intro}\n\n{table}"


def _shift_cell(results: Results, panel: Panel, training: str, estimator: str) -> str:
    grid = results.grid
    of_seeds = [read_lines(results.out, shift_run(grid, panel, training, seed)) for seed in grid.seeds]
    errors = [lines[-1]["shift"][estimator] for lines in of_seeds if lines]
    if not errors:
        return ""
    return " / ".join(f"{np.median([error[name] for error in errors]):.3f}" for name in ("ae", "rae", "kld"))


def _failure_table(results: Results) -> str:
    every = runs(results.grid)
    missing = sum(not lines_path(results.out, run).exists() for run in every)
    failed = failures(results.out, {run.name for run in every})
    text = f"## Runs\n\n{len(every)} runs in the grid, {missing} without result, {len(failed)} of them failed."
    if not failed:
        return text
    rows = [[f"{f['training']} on {f['dataset']}, seed {f['seed']}, rate {f['rate']:g}", f["error"]] for f in failed]
    return f"{text}\n\n{_table(['run', 'error'], rows)}"
