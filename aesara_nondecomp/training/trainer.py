"""Drive a run to completion: validation, callbacks, checkpoints, early stopping."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import NDArray

from aesara_nondecomp._checks import warn_caller
from aesara_nondecomp.parallel import abort_on_error
from aesara_nondecomp.training.checkpoints import CheckpointFile
from aesara_nondecomp.training.early_stopping import ValidationMonitor
from aesara_nondecomp.training.progress import progress_bar
from aesara_nondecomp.training.run import TrainingRun

Callback = Callable[[Any], Any]


def run_training(
    run: TrainingRun,
    validation: ValidationMonitor | None,
    checkpoint: CheckpointFile | None,
    callbacks: Sequence[Callback],
    progress: bool | None,
) -> None:
    """Make the remaining steps of a run.

    Ctrl-C ends them early with a warning, unless no step was made yet or other processes take part.

    Parameters
    ----------
    run : TrainingRun
        Continues from its last step.
    validation : ValidationMonitor or None
        Evaluates every so many steps and at the last one; it may end the run.
    checkpoint : CheckpointFile or None
        Written every so many steps and at the last one.
    callbacks : sequence of callables
        Called with each Step; returning True stops training.
    progress : bool or None
        See `progress.progress_bar`; only rank 0 shows the bar.
    """
    comm = run.functions.comm
    shown = progress if comm.rank == 0 else False
    with progress_bar(run.total, len(run.history), shown) as advance, abort_on_error(comm):
        try:
            _make_steps(run, validation, checkpoint, [*callbacks, advance])
        except KeyboardInterrupt:
            if not run.history or comm.size > 1:
                raise  # there is no model yet, or other processes wait for the next sums
            warn_caller(
                f"training was interrupted after {len(run.history)} of {run.total} steps: the model returned is the "
                "best so far. Training can be resumed from the last checkpoint, if any."
            )
        finally:
            run.close()


def final_parameters(run: TrainingRun, validation: ValidationMonitor | None) -> list[NDArray[Any]]:
    """The parameters of the trained model, which the functions of the run hold afterwards.

    Parameters
    ----------
    run : TrainingRun
        Whose steps have ended.
    validation : ValidationMonitor or None
        Of the run.

    Returns
    -------
    list of arrays
        The best ones by validation, or the running average.
    """
    best = validation.best_parameters if validation else None
    run.functions.load(best or run.averaged_parameters())
    return run.functions.parameters()


def _make_steps(
    run: TrainingRun,
    validation: ValidationMonitor | None,
    checkpoint: CheckpointFile | None,
    callbacks: Sequence[Callback],
) -> None:
    if _out_of_patience(run, validation):  # a finished run was resumed
        return
    for step in run.steps():
        last = step.step == run.total
        if validation and (last or step.step % validation.every == 0):
            validation.evaluate(run.functions, run.averaged_parameters(), step.step)
        answers = [callback(step) for callback in callbacks]
        stop = any(answers) or _out_of_patience(run, validation)
        if checkpoint and (stop or last or step.step % checkpoint.every == 0):
            checkpoint.write(run, validation)
        if stop:
            return


def _out_of_patience(run: TrainingRun, validation: ValidationMonitor | None) -> bool:
    if validation is None:
        return False
    start = run.last_phase_begins
    return start is not None and validation.should_stop(since=start)
