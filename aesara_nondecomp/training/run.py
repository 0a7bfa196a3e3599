"""A training run: the phases of a recipe one after another, in a state that can be stored and restored."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import is_sparse
from aesara_nondecomp._checks import require
from aesara_nondecomp.data import MiniBatches, select_rows
from aesara_nondecomp.history import Step
from aesara_nondecomp.parallel import Functions
from aesara_nondecomp.step.prefetch import row_loader_for
from aesara_nondecomp.training.divergence import check_weights
from aesara_nondecomp.training.loop import train
from aesara_nondecomp.training.recipes import Phase
from aesara_nondecomp.training.schedules import factor_at

if TYPE_CHECKING:  # their modules take long to load, and most runs are of two classes
    from aesara_nondecomp.step.class_functions import ClassFunctions

# The duals start from rows of both classes, which a batch of a few rows seldom holds (and one row never).
SMALL_BATCH, ROWS_FOR_SMALL_BATCHES = 8, 512
# How often drivers of cells move their duals, and the most rows that are scored for it.
DUAL_MOVES, HELD_ROWS = 200, 10_000


class TrainingRows(NamedTuple):
    """The training set.

    Attributes
    ----------
    X : array, LazyRows, CSR matrix or BatchSource, shape (n, d)
        Prepared features.
    signs : array, shape (n,)
        Labels in {-1, +1}.
    weight : array, shape (n,), or None
        Positive sample weights; None for equal ones.
    cell : int32 array, shape (n,), or None
        Cell of each row; None where cells play no part.
    """

    X: Any
    signs: NDArray[Any]
    weight: NDArray[Any] | None
    cell: NDArray[Any] | None = None

    def part(self, rows: NDArray[Any]) -> TrainingRows:
        """Select some of the rows.

        Parameters
        ----------
        rows : int array, shape (k,)
            Row indices.

        Returns
        -------
        TrainingRows
        """
        weight, cell = (None if values is None else values[rows] for values in (self.weight, self.cell))
        return TrainingRows(select_rows(self.X, rows), self.signs[rows], weight, cell)


class Settings(NamedTuple):
    """Settings that all phases of a run share; see `fit`.

    Attributes
    ----------
    steps : int
        Of the whole run.
    learning_rate : float
        Before the schedule.
    schedule : callable
        From the index of a step to a factor on the learning rate.
    averaging : float
        Decay of the running average of the weights.
    l2 : float
        Weight decay.
    temperature : float
        Of the sigmoid reward.
    batch_size : int
        Rows per batch.
    sampler : str or float
        See `data.MiniBatches`.
    normalize : str
        See `train`.
    first_evaluation : int
        Steps before the first evaluation on rows held out, unless `EarlyStopping` says otherwise.
    """

    steps: int
    learning_rate: float
    schedule: Callable[[int], float]
    averaging: float
    l2: float
    temperature: float
    batch_size: int
    sampler: str | float
    normalize: str
    first_evaluation: int


class TrainingRun:
    """One training run on initialised functions; iterate over `steps` to train.

    Parameters
    ----------
    functions : Functions or ClassFunctions, possibly distributed
        Their parameters are updated in place.
    phases : sequence of Phase
        Their drivers are copied, so that a recipe can be used again.
    rows : TrainingRows
        The training set.
    settings : Settings
        Of all phases.
    rng : numpy Generator
        Of the order of rows.
    after : Step, optional
        The last step of the run before, from which counts continue. Default: counts start at 0.
    held : TrainingRows, optional
        Rows that are not trained on, by which drivers of cells move their duals.

    Attributes
    ----------
    history : list of Step
        The record of all steps of this run so far.
    phase : int
        Index of the current phase; the number of phases after the last one.
    """

    def __init__(
        self,
        functions: Functions | ClassFunctions,
        phases: Sequence[Phase],
        rows: TrainingRows,
        settings: Settings,
        rng: np.random.Generator,
        after: Step | None = None,
        held: TrainingRows | None = None,
    ):
        self.functions, self.rows, self.settings, self.rng, self.after = functions, rows, settings, rng, after
        self.phases = copy.deepcopy(list(phases))
        moved = any(phase.driver.moves for phase in self.phases)
        self.held = None
        if moved and held is not None and held.cell is not None:
            self.held = held.part(_rows_of_each_cell(held.cell))
        self.last_steps: list[int] = np.cumsum(_steps_of_phases(self.phases, settings.steps)).tolist()
        self.history: list[Step] = []
        self.phase = 0
        self._phase_state: _PhaseState | None = None

    @property
    def total(self) -> int:
        """Number of steps of the whole run."""
        return self.last_steps[-1]

    @property
    def phase_begins(self) -> int:
        """Number of steps before the current phase."""
        return self.last_steps[self.phase - 1] if self.phase else 0

    @property
    def last_phase_begins(self) -> int | None:
        """Number of steps before the last phase; None during an earlier one."""
        if self.phase < len(self.phases) - 1:
            return None
        return self.last_steps[-2] if len(self.phases) > 1 else 0

    def steps(self) -> Iterator[Step]:
        """Make the remaining steps.

        Each phase ends by setting the parameters to their running average.

        Yields
        ------
        Step
            Is in `history` already.
        """
        while self.phase < len(self.phases):
            self._phase_state = self._phase_state or _PhaseState(self, self.phases[self.phase])
            left = self.last_steps[self.phase] - len(self.history)
            last = self.history[-1] if self.history else self.after
            for step in islice(self._phase_state.train(last, self.after), left):
                self.history.append(step)
                yield step
            self._phase_state.functions.load(self._phase_state.functions.averaged_parameters())
            self.close()
            self._phase_state = None
            self.phase += 1

    def close(self) -> None:
        """Stop reading the rows. Call this when the steps end, even by an error."""
        if self._phase_state:
            self._phase_state.batches.close()

    def averaged_parameters(self) -> list[NDArray[Any]]:
        """All parameters; those that the current phase trains at their running average.

        Raises
        ------
        ValueError
            If one is not finite.
        """
        if self._phase_state is None:
            parameters = self.functions.parameters()
        else:
            training = self._phase_state.functions
            with training.using(training.averaged_parameters()):
                parameters = self.functions.parameters()
        check_weights(self.functions.comm, parameters, self.history[-1] if self.history else None)
        return parameters

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Complete state for exact resumption, except `history`.

        Returns
        -------
        values : dict
            Values that JSON can hold.
        arrays : dict of str to array
            The rest.

        Raises
        ------
        ValueError
            Before the first step, or if a number is not finite.
        """
        phase = self._phase_state
        if phase is None:
            raise ValueError("a run has a state after one of its steps only: iterate over `steps` first")
        values = {
            "phase": self.phase,
            "rng": phase.rng_at_start,
            "batches": phase.batches.state(),
            "driver": phase.driver.state(),
        }
        whole = {f"whole.{k}": value for k, value in enumerate(self.functions.parameters())}
        training = {f"training.{name}": value for name, value in phase.functions.state().items()}
        check_weights(self.functions.comm, [*whole.values(), *training.values()], self.history[-1])
        return values, {**whole, **training}

    def restore(self, values: dict[str, Any], arrays: dict[str, NDArray[Any]], history: list[Step]) -> None:
        """Restore a state returned by `state`, on the same rows with the same phases and settings.

        Parameters
        ----------
        values : dict
            As from `state`.
        arrays : dict of str to array
            As from `state`.
        history : list of Step
            The record of the steps before.

        Raises
        ------
        ValueError
            If it is the state of another run, or none.
        """
        index, last = values["phase"], len(self.phases) - 1
        require(type(index) is int and 0 <= index <= last, f"a phase must be a whole number from 0 to {last}", index)
        first, end = [0, *self.last_steps][index], self.last_steps[index]
        require(first <= len(history) <= end, f"phase {index} has steps {first} to {end}", len(history))
        self.phase, self.history = index, history
        self.rng.bit_generator.state = values["rng"]
        n_parameters = len(self.functions.network.parameters)
        self.functions.load([arrays[f"whole.{k}"] for k in range(n_parameters)])
        # Build the phase as before its first step, from the same random numbers; then restore what has changed since.
        self._phase_state = phase = _PhaseState(self, self.phases[self.phase])
        phase.functions.restore(
            {name.removeprefix("training."): value for name, value in arrays.items() if name.startswith("training.")}
        )
        for part, name in ((phase.batches, "batches"), (phase.driver, "driver")):
            require(_alike(values[name], part.state()), f"{name} need a state of other values", values[name])
            part.restore(values[name])


def _alike(stored: Any, like: Any) -> bool:
    """Whether a stored state has the form of another one: the same names and counts of numbers, texts or None."""
    if isinstance(like, dict):
        return (
            isinstance(stored, dict) and stored.keys() == like.keys() and all(_alike(stored[k], like[k]) for k in like)
        )
    if isinstance(like, (list, tuple)):
        return isinstance(stored, list) and len(stored) == len(like) and all(map(_alike, stored, like))
    return isinstance(stored, str) if isinstance(like, str) else stored is None or isinstance(stored, (int, float))


class _PhaseState:
    """The state of one phase: its functions (of all layers or of the head), driver, batches and round rows."""

    def __init__(self, run: TrainingRun, phase: Phase):
        self.settings, self.driver = run.settings, phase.driver
        self.rng_at_start = run.rng.bit_generator.state
        X, signs, weight, cell = run.rows
        self.held = run.held
        self.functions: Functions | ClassFunctions = run.functions
        if phase.head_only and not run.functions.several_classes:
            self.functions, X = run.functions.head, run.functions.features(X)
        settings = run.settings
        self.functions.configure(l2=settings.l2, averaging=settings.averaging, temperature=settings.temperature)
        self.functions.restart()
        dtype = self.functions.network.dtype
        loader = row_loader_for(X, self.functions.backend)
        self.batches = MiniBatches(
            X, signs, settings.batch_size, run.rng, settings.sampler, weight, dtype, loader, cell
        )
        self.round_data = None
        if not phase.driver.several_classes:
            rows = phase.driver.round_rows
            if rows is None and self.batches.batch_size < SMALL_BATCH:
                rows = ROWS_FOR_SMALL_BATCHES
            self.round_data = _round_data(X, signs, rows, run.rng, weight, dtype)

    def train(self, last: Step | None, after: Step | None) -> Iterator[Step]:
        """Infinitely many steps; `after` is the last step of the run before, after which the run's own begin."""
        before, schedule = after.step if after else 0, self.settings.schedule
        every = max(1, self.settings.steps // DUAL_MOVES)
        return train(
            self.functions,
            self.driver,
            self.batches,
            learning_rate=self.settings.learning_rate,
            schedule=lambda step: factor_at(schedule, step - before),  # an error names the step that the schedule got
            round_data=self.round_data,
            normalize=self.settings.normalize,
            after=last,
            held=self.held,
            moves=lambda step: (step - before + 1) % every == 0,
        )


def _rows_of_each_cell(cell: NDArray[Any]) -> NDArray[Any]:
    """Rows that suffice for the rates of all cells: at most so many of each, spread evenly."""
    members = (np.flatnonzero(cell == value) for value in np.unique(cell))
    most = HELD_ROWS // (int(cell.max()) + 1)
    return np.sort(np.concatenate([rows[:: max(1, -(-len(rows) // most))] for rows in members]))


def _round_data(
    X: Any,
    signs: NDArray[Any],
    rows: int | None,
    rng: np.random.Generator,
    weight: NDArray[Any] | None = None,
    dtype: str = "float32",
) -> tuple[Any, NDArray[Any]] | None:
    """A fixed sample to evaluate when a driver asks for a refresh; None for a batch each time."""
    if rows is None:
        return None
    order = rng.permutation(len(signs))
    # At least one row of each class: a level taken without one of them would mean nothing (docs/algorithms.md 1.4).
    of_each = [order[signs[order] == sign][0] for sign in (1, -1)]
    chosen = np.unique([*of_each, *order[:rows]])
    sample = select_rows(X, chosen)[:]
    sample = sample.toarray() if is_sparse(sample) else sample
    signed = signs[chosen].astype(dtype)
    return sample, signed if weight is None else signed * weight[chosen].astype(dtype)


def _steps_of_phases(phases: Sequence[Phase], steps: int) -> list[int]:
    """`steps` divided among the phases by their shares, each at least 1; the last phase takes the rest."""
    total = sum(phase.share for phase in phases)
    first = [max(1, round(steps * phase.share / total)) for phase in phases[:-1]]
    return [*first, max(1, steps - sum(first))]
