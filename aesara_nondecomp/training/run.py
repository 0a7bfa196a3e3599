"""A training run: the phases of a recipe one after another, in a state that can be stored and taken up again."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from aesara_nondecomp.data import MiniBatches, select_rows
from aesara_nondecomp.history import Step
from aesara_nondecomp.step.prefetch import row_loader_for
from aesara_nondecomp.step.train_functions import TrainFunctions
from aesara_nondecomp.training.loop import train
from aesara_nondecomp.training.recipes import Phase

# The duals start from rows of both classes, which a batch of a few rows seldom holds (and one row never).
SMALL_BATCH, ROWS_FOR_SMALL_BATCHES = 8, 512


class TrainingRows(NamedTuple):
    """What is trained on."""

    X: Any
    """Prepared features: array, LazyRows or CSR matrix, shape (n, d)."""
    signs: np.ndarray
    """Labels (n,) in {-1, +1}."""
    weight: np.ndarray | None
    """Sample weights (n,), positive; None for equal ones."""


class Settings(NamedTuple):
    """What all phases of a run share; see `fitting.fit`."""

    steps: int
    learning_rate: float
    schedule: Callable[[int], float]
    averaging: float
    l2: float
    temperature: float
    batch_size: int
    sampler: str | float
    normalize: str


class TrainingRun:
    """One training run on initialised functions; iterate over `steps` to train.

    Parameters
    ----------
    functions : TrainFunctions. Moved in place.
    phases : sequence of Phase. Their drivers are copied, so that a recipe can be used again.
    rows : TrainingRows
    settings : Settings
    rng : numpy Generator

    Attributes
    ----------
    history : list of Step
    phase : int
        Index of the present phase; the number of phases once all are done.
    """

    def __init__(
        self,
        functions: TrainFunctions,
        phases: Sequence[Phase],
        rows: TrainingRows,
        settings: Settings,
        rng: np.random.Generator,
    ):
        self.functions, self.rows, self.settings, self.rng = functions, rows, settings, rng
        self.phases = copy.deepcopy(list(phases))
        self.last_steps = np.cumsum(_steps_of_phases(self.phases, settings.steps)).tolist()
        self.history: list[Step] = []
        self.phase = 0
        self._phase_state: _PhaseState | None = None

    @property
    def total(self) -> int:
        """Steps of the whole run."""
        return self.last_steps[-1]

    @property
    def last_phase_begins(self) -> int | None:
        """Number of steps before the last phase; None while an earlier one runs."""
        if self.phase < len(self.phases) - 1:
            return None
        return self.last_steps[-2] if len(self.phases) > 1 else 0

    def steps(self) -> Iterator[Step]:
        """Train: the steps that are left, each recorded in `history` before it is yielded.

        A phase ends with the parameters at their running average.
        """
        while self.phase < len(self.phases):
            self._phase_state = self._phase_state or _PhaseState(self, self.phases[self.phase])
            left = self.last_steps[self.phase] - len(self.history)
            for step in islice(self._phase_state.train(self.history[-1] if self.history else None), left):
                self.history.append(step)
                yield step
            self._phase_state.functions.load(self._phase_state.functions.averaged_parameters())
            self.close()
            self._phase_state = None
            self.phase += 1

    def close(self) -> None:
        """Read the rows no more: to be called where the steps end, however they do."""
        if self._phase_state:
            self._phase_state.batches.close()

    def averaged_parameters(self) -> list[np.ndarray]:
        """All parameters, those that train now at their running average."""
        if self._phase_state is None:
            return self.functions.parameters()
        training = self._phase_state.functions
        with training.using(training.averaged_parameters()):
            return self.functions.parameters()

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Everything needed to go on exactly after a step: values that JSON can hold, and arrays by name.

        `history` is left to the caller.
        """
        stretch = self._phase_state
        if stretch is None:
            raise ValueError("a run has a state after one of its steps only: iterate over `steps` first")
        values = {
            "phase": self.phase,
            "rng": stretch.rng_at_start,
            "batches": stretch.batches.state(),
            "driver": stretch.driver.state(),
        }
        whole = {f"whole.{k}": value for k, value in enumerate(self.functions.parameters())}
        training = {f"training.{name}": value for name, value in stretch.functions.state().items()}
        return values, {**whole, **training}

    def restore(self, values: dict[str, Any], arrays: dict[str, np.ndarray], history: list[Step]) -> None:
        """Take up what `state` gave, on the same rows with the same phases and settings."""
        self.phase, self.history = values["phase"], history
        self.rng.bit_generator.state = values["rng"]
        n_parameters = len(self.functions.network.parameters)
        self.functions.load([arrays[f"whole.{k}"] for k in range(n_parameters)])
        # Begun as at its first step, on the same random numbers; then everything that has moved since is put back.
        self._phase_state = stretch = _PhaseState(self, self.phases[self.phase])
        stretch.functions.restore(
            {name.removeprefix("training."): value for name, value in arrays.items() if name.startswith("training.")}
        )
        stretch.batches.restore(values["batches"])
        stretch.driver.restore(values["driver"])


class _PhaseState:
    """What one phase trains with: the functions (of all layers or the head), its driver, batches and round rows."""

    def __init__(self, run: TrainingRun, phase: Phase):
        self.settings, self.driver = run.settings, phase.driver
        self.rng_at_start = run.rng.bit_generator.state
        X, signs, weight = run.rows
        self.functions = run.functions.head if phase.head_only else run.functions
        X = run.functions.features(X) if phase.head_only else X
        settings = run.settings
        self.functions.configure(l2=settings.l2, averaging=settings.averaging, temperature=settings.temperature)
        self.functions.restart()
        dtype = self.functions.network.dtype
        fetch = row_loader_for(X, self.functions.backend)
        self.batches = MiniBatches(X, signs, settings.batch_size, run.rng, settings.sampler, weight, dtype, fetch)
        rows = phase.driver.round_rows
        if rows is None and self.batches.batch_size < SMALL_BATCH:
            rows = ROWS_FOR_SMALL_BATCHES
        self.round_data = _round_data(X, signs, rows, run.rng, weight, dtype)

    def train(self, after: Step | None) -> Iterator[Step]:
        """Endless steps."""
        return train(
            self.functions,
            self.driver,
            self.batches,
            learning_rate=self.settings.learning_rate,
            schedule=self.settings.schedule,
            round_data=self.round_data,
            normalize=self.settings.normalize,
            after=after,
        )


def _round_data(X, signs, rows: int | None, rng, weight=None, dtype="float32"):
    """The rows that a driver's rounds are evaluated on: a fixed sample, or None for a batch each time."""
    if rows is None:
        return None
    order = rng.permutation(len(signs))
    # One row of each class at least: a level taken without one of them would mean nothing (spec 1.4).
    of_each = [order[signs[order] == sign][0] for sign in (1, -1)]
    chosen = np.unique([*of_each, *order[:rows]])
    sample = select_rows(X, chosen)[:]
    sample = sample.toarray() if scipy.sparse.issparse(sample) else sample
    signed = signs[chosen].astype(dtype)
    return sample, signed if weight is None else signed * weight[chosen].astype(dtype)


def _steps_of_phases(phases: Sequence[Phase], steps: int) -> list[int]:
    """`steps` divided among the phases by their shares, each at least 1; the last one takes the rest."""
    total = sum(phase.share for phase in phases)
    first = [max(1, round(steps * phase.share / total)) for phase in phases[:-1]]
    return [*first, max(1, steps - sum(first))]
