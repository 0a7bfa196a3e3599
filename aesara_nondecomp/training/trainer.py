"""Train the networks of a call to completion: validation, callbacks, checkpoints, early stopping."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from numpy.typing import NDArray

from aesara_nondecomp._checks import warn_caller
from aesara_nondecomp.parallel import abort_on_error
from aesara_nondecomp.training.checkpoints import CheckpointFile
from aesara_nondecomp.training.cross_fitting import Choice, CrossFit
from aesara_nondecomp.training.fold_processes import processes_for, train_in_parallel
from aesara_nondecomp.training.progress import progress_bar
from aesara_nondecomp.training.run import TrainingRun
from aesara_nondecomp.training.validation_monitor import ValidationMonitor

Callback = Callable[[Any], Any]


def run_training(
    fitting: CrossFit, checkpoint: CheckpointFile | None, callbacks: Sequence[Callback], progress: bool | None
) -> bool:
    """Make the remaining steps of all networks.

    Ctrl-C ends them early with a warning, unless no step was made yet or other processes take part.

    Parameters
    ----------
    fitting : CrossFit
        Continues from its last step.
    checkpoint : CheckpointFile or None
        Written every so many steps and at the last one of each network.
    callbacks : sequence of callables
        Called with each Step; returning True stops training.
    progress : bool or None
        See `progress.progress_bar`; only rank 0 shows the bar.

    Returns
    -------
    bool
        Whether training ran to its end, and was not stopped by a callback or Ctrl-C.
    """
    comm = fitting.functions.comm
    shown = progress if comm.rank == 0 else False
    with progress_bar(fitting.total, len(fitting.history), shown) as advance, abort_on_error(comm):
        try:
            processes = 1 if checkpoint or callbacks else processes_for(fitting)
            if processes == 1:
                return _train_all(fitting, checkpoint, [*callbacks, advance])
            in_parallel = train_in_parallel(fitting, processes, _train_one, advance)
            return in_parallel or _train_all(fitting, None, [advance])
        except KeyboardInterrupt:
            made = len(fitting.history)
            if not made or comm.size > 1:
                raise  # there is no model yet, or other processes wait for the next sums
            warn_caller(
                f"training was interrupted after {made} of {fitting.total} steps: the model returned is the "
                "best so far. Training can be resumed from the last checkpoint, if any."
            )
            return False
        finally:
            fitting.run.close()


class Completed(NamedTuple):
    """What a call has trained.

    Attributes
    ----------
    choice : Choice
        The best weights of its networks, or those of a last network on all rows.
    interrupted : bool
        Whether a callback or Ctrl-C ended training before its time.
    """

    choice: Choice
    interrupted: bool


def complete_training(
    fitting: CrossFit,
    checkpoint: CheckpointFile | None,
    callbacks: Sequence[Callback],
    progress: bool | None,
    refits: bool,
) -> Completed:
    """Train all networks, and a last one on all rows if asked for; its functions then have the model's weights.

    Parameters
    ----------
    fitting : CrossFit
        As in `run_training`.
    checkpoint : CheckpointFile or None
        As in `run_training`.
    callbacks : sequence of callables
        As in `run_training`.
    progress : bool or None
        As in `run_training`.
    refits : bool
        Whether a last network is trained.

    Returns
    -------
    Completed
    """
    complete = run_training(fitting, checkpoint, callbacks, progress)
    choice = fitting.choice()
    again = refit(fitting, choice.step, callbacks, progress) if refits and complete and choice.step else None
    if again is not None:
        choice = choice._replace(parameters=[again], folds=())
    fitting.functions.load(choice.parameters[0])
    return Completed(choice, not complete or refits and again is None)


def with_votes(
    fitting: CrossFit, choice: Choice, truth: NDArray[Any] | None, group: NDArray[Any] | None = None
) -> Choice:
    """Score the held-out rows with all networks; Ctrl-C leaves that out, with a warning.

    Parameters
    ----------
    fitting : CrossFit
        Whose networks are trained.
    choice : Choice
        Of their weights.
    truth : array, shape (n,) or (n, L), or None
        Labels of the rows held out, of two values, or of several classes their cells; None without such rows.
    group : int array, shape (n,), optional
        Their groups, where they play a part.

    Returns
    -------
    Choice
        With `votes`, if there are several networks; of one, tied scores have one value.
    """
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


def refit(
    fitting: CrossFit, steps: int, callbacks: Sequence[Callback], progress: bool | None
) -> list[NDArray[Any]] | None:
    """Train a last network on all rows.

    Parameters
    ----------
    fitting : CrossFit
        Whose networks are trained.
    steps : int
        As many as turned out best; the schedule is that of a whole run.
    callbacks : sequence of callables
        As in `run_training`.
    progress : bool or None
        As in `run_training`.

    Returns
    -------
    list of arrays or None
        The averaged weights; None if a callback or Ctrl-C stopped the training, with a warning for the latter.
    """
    run, comm = fitting.refit(), fitting.functions.comm
    with progress_bar(steps, 0, progress if comm.rank == 0 else False) as advance, abort_on_error(comm):
        try:
            for step in islice(run.steps(), steps):
                if any([callback(step) for callback in (*callbacks, advance)]):
                    return None
            return run.averaged_parameters()
        except KeyboardInterrupt:
            if comm.size > 1:
                raise
            warn_caller("training on all rows was interrupted: the model returned is the one before it")
            return None
        finally:
            run.close()


def _train_all(fitting: CrossFit, checkpoint: CheckpointFile | None, callbacks: Sequence[Callback]) -> bool:
    """Train network after network; False if a callback stops it."""
    write = None if checkpoint is None else (lambda: checkpoint.write(fitting))
    every = checkpoint.every if checkpoint else 0
    return all(_train_one(run, monitor, callbacks, write, every) for run, monitor in fitting.runs())


def _train_one(
    run: TrainingRun,
    monitor: ValidationMonitor | None,
    callbacks: Sequence[Callback],
    write: Callable[[], None] | None = None,
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
        ends = stopped or evaluated and _out_of_patience(run, monitor)
        if write and (ends or last or made % every == 0):
            write()
        if ends:
            return not stopped
    return True


def _out_of_patience(run: TrainingRun, monitor: ValidationMonitor | None) -> bool:
    if monitor is None:
        return False
    start = run.last_phase_begins
    return start is not None and monitor.should_stop(since=start)
