"""What a command runs: the panels of the figures, and one `Run` for each training, seed and learning rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from aesara_nondecomp._checks import choose
from benchmarks.paper.datasets import resolve
from benchmarks.paper.methods import METHODS, SHIFT_TRAININGS, TRAININGS, serving

FIGURES: dict[str, tuple[str, ...]] = {
    "min": ("ppi", "kdd08", "covtype", "ijcnn1"),
    "qmean": ("ppi", "kdd08", "ijcnn1", "a9a"),
    "f1": ("kdd08", "cod-rna", "letter", "a9a", "covtype", "ijcnn1"),
    "kld": ("ppi", "letter", "covtype", "ijcnn1"),
}
"""The paper's figures: the measure, and the data sets of its panels."""
LADDER = (1, 2, 5, 10, 20, 40, 80, 150, 300, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)


class Panel(NamedTuple):
    """One panel of a figure: a measure, the paper's data set, and the data set that is used for it."""

    measure: str
    dataset: str
    used: str


class Run(NamedTuple):
    """One training run. Its name holds everything that its lines depend on."""

    dataset: str
    training: str
    measure: str
    """"any" for a training that does not depend on the measure."""
    seed: int
    rate: float
    steps: int

    @property
    def name(self) -> str:
        """File name, without its ending."""
        return f"{self.dataset}.{self.training}.{self.measure}.seed{self.seed}.rate{self.rate:g}.steps{self.steps}"


class Grid(NamedTuple):
    """All that one command runs and reports."""

    panels: list[Panel]
    methods: list[str]
    seeds: list[int]
    steps: int
    data_dir: str | None

    @property
    def used_datasets(self) -> list[str]:
        """The data sets in use, each once."""
        return list(dict.fromkeys(panel.used for panel in self.panels))


def make_grid(
    figures: Sequence[str],
    datasets: Sequence[str] | None,
    methods: Sequence[str] | None,
    seeds: Sequence[int],
    steps: int,
    data_dir: str | None,
) -> Grid:
    """Check what a command asks for, and choose the panels.

    Parameters
    ----------
    figures : sequence of str
        Names of `FIGURES`.
    datasets : sequence of str or None
        Data sets of every figure, by the paper's names; None for those of the paper's figure.
    methods : sequence of str or None
        Names of `METHODS`; None for all.
    seeds : sequence of int
        At least one.
    steps : int
        Steps of a run, at least 1.
    data_dir : str or None
        Folder of the data sets that are not embedded.

    Returns
    -------
    Grid
        All that is run and reported.

    Raises
    ------
    ValueError
        For unknown figures, data sets or methods (the nearest is suggested), no seed or step, or nothing to run.
    """
    if not seeds or steps < 1:
        raise ValueError(f"at least one seed and one step are needed, got {len(seeds)} seeds and {steps} steps")
    panels = []
    for figure in figures:
        shown = choose("figure", figure, FIGURES)
        for name in datasets or shown:
            panels.append(Panel(figure, name, resolve(name, data_dir)))
    for method in methods or ():
        choose("method", method, METHODS)
    grid = Grid(panels, list(methods or METHODS), list(seeds), steps, data_dir)
    if not any(serving(grid.methods, panel.measure) for panel in panels):
        raise ValueError(f"none of the methods {grid.methods} is trained for the measures {list(figures)}")
    return grid


def runs(grid: Grid) -> list[Run]:
    """Every run of a grid once, seed by seed, so that an interrupted command has completed whole seeds."""
    every = (run for seed in grid.seeds for panel in grid.panels for run in _runs_of(grid, panel, seed))
    return list(dict.fromkeys(every))


def _runs_of(grid: Grid, panel: Panel, seed: int) -> Iterator[Run]:
    for method in serving(grid.methods, panel.measure):
        for rate in TRAININGS[METHODS[method].training].rates:
            yield run_for(grid, panel, method, seed, rate)
    if panel.measure == "kld":
        yield from (shift_run(grid, panel, training, seed) for training in SHIFT_TRAININGS)


def shift_run(grid: Grid, panel: Panel, training: str, seed: int) -> Run:
    """The run behind a row of the quantification table."""
    (rate,) = SHIFT_TRAININGS[training].rates
    return Run(panel.used, training, panel.measure, seed, rate, grid.steps)


def run_for(grid: Grid, panel: Panel, method: str, seed: int, rate: float) -> Run:
    """The run whose lines a method uses on a panel."""
    name = METHODS[method].training
    training = TRAININGS[name]
    steps = 0 if training.baseline else grid.steps
    return Run(panel.used, name, panel.measure if training.per_measure else "any", seed, rate, steps)


def checkpoints(steps: int) -> list[int]:
    """Steps after which a run is evaluated: roughly 1, 2, 5, 10, ..., and the last one."""
    return [step for step in LADDER if step < steps] + [steps]
