"""Train the networks of a call to completion: validation, callbacks, checkpoints, early stopping."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

from aesara_nondecomp._checks import warn_caller
from aesara_nondecomp.parallel import Communicator, abort_on_error, agree, all_succeed, distributed, on_root
from aesara_nondecomp.step import TrainFunctions
from aesara_nondecomp.training.checkpoints import CheckpointFile
from aesara_nondecomp.training.cross_fitting import Choice, CrossFit
from aesara_nondecomp.training.fingerprint import fingerprint
from aesara_nondecomp.training.fold_processes import processes_for, train_in_parallel
from aesara_nondecomp.training.progress import progress_bar
from aesara_nondecomp.training.recipes import Phase
from aesara_nondecomp.training.run import Settings, TrainingRows, TrainingRun
from aesara_nondecomp.training.run_settings import generator_of, placement_of
from aesara_nondecomp.training.training_data import TrainingData
from aesara_nondecomp.training.validation_monitor import ValidationMonitor

if TYPE_CHECKING:  # its module takes long to load, and most runs are of two classes
    from aesara_nondecomp.step.class_functions import ClassFunctions

Callback = Callable[[Any], Any]


class Completed(NamedTuple):
    """What a call has trained.

    Attributes
    ----------
    choice : Choice
        The best weights of its networks, or those of a last network on all rows.
    history : list of Step
        Steps of all networks.
    interrupted : bool
        Whether a callback or Ctrl-C ended training before its time.
    """

    choice: Choice
    history: list[Any]
    interrupted: bool


class Trainer:
    """Trains the networks of a call, with its callbacks, progress bar and checkpoint.

    Parameters
    ----------
    given : mapping of str to object
        Checked parameters of `fit`.
    seed : int, numpy Generator or None
        As given to `fit`.
    comm : communicator
        Of the processes.

    Attributes
    ----------
    rng : numpy Generator
        Of the rows held out, the initial weights and the order of rows.
    """

    def __init__(self, given: Mapping[str, Any], seed: Any, comm: Communicator) -> None:
        self._callbacks, self._comm = _on_first_process(given["on_step"], comm), comm
        self._progress = given["progress"] if comm.rank == 0 else False
        self._checkpoint = None if given["checkpoint"] is None else CheckpointFile(given["checkpoint"], comm)
        self.rng = generator_of(seed, self._checkpoint, comm)
        self._start = dict(self.rng.bit_generator.state)

    def train(
        self,
        functions: TrainFunctions | ClassFunctions,
        data: TrainingData,
        phases: Sequence[Phase],
        settings: Settings,
        monitor: Callable[[TrainingRows, bool], ValidationMonitor] | None,
        truth: Callable[[Choice], Sequence[Any]],
        *,
        further: Any,
        refits: bool,
        **identity: Any,
    ) -> Completed:
        """Train all networks, and a last one on all rows if asked for; the functions then have the model's weights.

        Parameters
        ----------
        functions : TrainFunctions or ClassFunctions
            What is trained. With a checkpoint to resume, training goes on from there.
        data : TrainingData
            Rows and folds.
        phases : sequence of Phase
            Of the recipe.
        settings : Settings
            Of each network.
        monitor : callable (held, keep_all) -> ValidationMonitor, or None
            As for `CrossFit`.
        truth : callable (Choice) -> sequence
            Gives the labels of the rows held out, and possibly their groups, as `CrossFit.with_votes` takes them.
        further : Model, ClassModel, MultilabelModel or None
            Whose weights to start from.
        refits : bool
            Whether a last network is trained.
        **identity : object
            What a checkpoint, and other processes, must have in common beside the rows and settings; see `fingerprint`.

        Returns
        -------
        Completed

        Raises
        ------
        ValueError
            If processes or a checkpoint to resume have other rows or settings.
        """
        initial = [further.parameters, *further.voters] if further else []
        with functions.lock.training():
            placed, spread = placement_of(functions.backend), distributed(functions, self._comm)
            fitting = CrossFit(spread, data, phases, settings, monitor, self.rng, initial, placed)
            if len(initial) > fitting.count:
                warn_caller(
                    f"training goes on from the first {fitting.count} of the {len(initial)} networks that vote, and "
                    "leaves the others. To keep a vote, give validation a number of folds; or train a single network "
                    "before, with a share of the rows held out."
                )
            self._begin(fitting, {**identity, "initial": initial})
            complete = self._run(fitting)
            choice = fitting.choice()
            again = self._refit(fitting, choice.step) if refits and complete and choice.step else None
            if again is not None:
                choice = choice._replace(parameters=[again], folds=())
            fitting.functions.load(choice.parameters[0])
            choice = _with_votes(fitting, choice, *truth(choice))
        return Completed(choice, fitting.history, not complete or refits and again is None)

    def _begin(self, fitting: CrossFit, identity: dict[str, Any]) -> None:
        """Go on from the checkpoint, if there is one, after a check that all processes train alike."""
        checkpoint = self._checkpoint
        if checkpoint is None and self._comm.size == 1:
            return
        mark = fingerprint(fitting, **identity)
        agree(self._comm, mark)
        if checkpoint is not None:
            all_succeed(self._comm, lambda: checkpoint.begin(self._start, mark, fitting))

    def _run(self, fitting: CrossFit) -> bool:
        """Make the remaining steps of all networks; False if a callback or Ctrl-C stops them."""
        checkpoint, callbacks = self._checkpoint, self._callbacks
        bar = progress_bar(fitting.total, len(fitting.history), self._progress)
        with bar as advance, abort_on_error(self._comm):
            try:
                processes = 1 if checkpoint or callbacks else processes_for(fitting)
                if processes == 1:
                    return _train_all(fitting, checkpoint, [*callbacks, advance])
                in_parallel = train_in_parallel(fitting, processes, _train_one, advance)
                return in_parallel or _train_all(fitting, None, [advance])
            except KeyboardInterrupt:
                made = len(fitting.history)
                if not made or self._comm.size > 1:
                    raise  # there is no model yet, or other processes wait for the next sums
                warn_caller(
                    f"training was interrupted after {made} of {fitting.total} steps: the model returned is the "
                    "best so far. Training can be resumed from the last checkpoint, if any."
                )
                return False
            finally:
                fitting.run.close()

    def _refit(self, fitting: CrossFit, steps: int) -> list[NDArray[Any]] | None:
        """The averaged weights of a last network on all rows after so many steps; None if its training is stopped."""
        run = fitting.refit()
        with progress_bar(steps, 0, self._progress) as advance, abort_on_error(self._comm):
            try:
                for step in islice(run.steps(), steps):
                    if any([callback(step) for callback in (*self._callbacks, advance)]):
                        return None
                return run.averaged_parameters()
            except KeyboardInterrupt:
                if self._comm.size > 1:
                    raise
                warn_caller("training on all rows was interrupted: the model returned is the one before it")
                return None
            finally:
                run.close()


def _with_votes(
    fitting: CrossFit, choice: Choice, truth: NDArray[Any] | None, group: NDArray[Any] | None = None
) -> Choice:
    """Score the held-out rows, if there are any, with all networks; Ctrl-C leaves that out, with a warning."""
    comm = fitting.functions.comm
    if truth is None:
        return choice
    with abort_on_error(comm):
        try:
            return fitting.with_votes(choice, truth, group)
        except KeyboardInterrupt:
            if comm.size > 1:
                raise
            warn_caller(
                "scoring the held-out rows with all networks was interrupted: threshold or rule, and calibration, are "
                "those of single networks, so that the vote will predict a rare class less often"
            )
            return choice


def _on_first_process(callbacks: Sequence[Callback], comm: Communicator) -> list[Callback]:
    """Callbacks that only the first process calls, and whose results all processes get."""
    return list(callbacks) if comm.size == 1 else [on_root(comm, callback) for callback in callbacks]


def _train_all(fitting: CrossFit, checkpoint: CheckpointFile | None, callbacks: Sequence[Callback]) -> bool:
    """Train network after network; False if a callback stops it."""
    write = None if checkpoint is None else (lambda finished: checkpoint.write(fitting, finished))
    every = checkpoint.every if checkpoint else 0
    return all(_train_one(run, monitor, callbacks, write, every) for run, monitor in fitting.runs())


def _train_one(
    run: TrainingRun,
    monitor: ValidationMonitor | None,
    callbacks: Sequence[Callback],
    write: Callable[[bool], None] | None = None,
    every: int = 0,
) -> bool:
    """Make the remaining steps of a network; False if a callback stops it."""
    if _out_of_patience(run, monitor):  # a finished run was resumed
        return True
    for step in run.steps():
        made = len(run.history)
        last = made == run.total
        evaluated = monitor is not None and (last or monitor.is_due(made, run.phase_begins))
        if monitor and evaluated:
            monitor.evaluate(run.functions, run.averaged_parameters(), made)
        stopped = any([callback(step) for callback in callbacks])
        finished = last or evaluated and _out_of_patience(run, monitor)
        ends = stopped or finished and not last
        if write and (ends or last or made % every == 0):
            write(finished)
        if ends:
            return not stopped
    return True


def _out_of_patience(run: TrainingRun, monitor: ValidationMonitor | None) -> bool:
    if monitor is None:
        return False
    start = run.last_phase_begins
    return start is not None and monitor.should_stop(since=start)
