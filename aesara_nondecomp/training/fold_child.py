"""What a forked process does: train the network of one fold, and send the result to its parent."""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.training.cross_fitting import CrossFit, Trained
from aesara_nondecomp.training.run import TrainingRun
from aesara_nondecomp.training.validation_monitor import Snapshot

TrainOne = Callable[[TrainingRun, Any, Any], bool]

# The remedy of every error that only processes make, on both sides.
ONE_PROCESS = "With OMP_NUM_THREADS=1 networks are trained one after another, in the calling process."


class SharedNumbers:
    """Numbers that the parent and the processes of a call see at once.

    Parameters
    ----------
    count : int
        Number of networks.

    Attributes
    ----------
    steps : int64 array, shape (count,)
        How many steps each network has made.
    evaluations : int64 array, shape (count,)
        How many evaluations each complete network has; 0 for the others.
    parent : int64 array, shape (1,)
        The parent's process id.
    stop : int64 array, shape (1,)
        Whether all are to stop.
    """

    def __init__(self, count: int) -> None:
        numbers = np.frombuffer(mmap.mmap(-1, 8 * (2 * count + 2)), dtype=np.int64)
        self.steps, self.evaluations, self.parent, self.stop = np.split(numbers, [count, 2 * count, 2 * count + 1])
        self.parent[0] = os.getpid()

    def most_evaluations(self, index: int) -> int | None:
        """After how many evaluations a network may stop, as those before it did.

        Parameters
        ----------
        index : int
            Of the network.

        Returns
        -------
        int or None
            None as long as none of them is complete.
        """
        return min((int(made) for made in self.evaluations[:index] if made), default=None)


class Result(NamedTuple):
    """What a process sends back.

    Attributes
    ----------
    fold : int
        Without which it trained a network.
    complete : bool
        Whether training ran to its end.
    history : list of Step
        Its steps.
    rows : tuple of arrays
        Labels, weights and cells of the rows held out from it.
    evaluations : list of Evaluation
        On these.
    snapshots : dict of int to Snapshot
        Of its monitor.
    parameters : list of array
        The averaged weights, if it was stopped.
    error : BaseException or None
        What training raised.
    traceback : str
        Where.
    warnings : list of tuple
        Message and kind of each warning.
    """

    fold: int
    complete: bool
    history: list[Any] = []
    rows: tuple[Any, Any, Any] = (None, None, None)
    evaluations: list[Any] = []
    snapshots: dict[int, Snapshot] = {}
    parameters: list[NDArray[Any]] = []
    error: BaseException | None = None
    traceback: str = ""
    warnings: list[tuple[str, type[Warning]]] = []

    def trained(self, fitting: CrossFit) -> Trained:
        """The network, as if this process had trained it.

        Parameters
        ----------
        fitting : CrossFit
            Of the call.

        Returns
        -------
        Trained
        """
        assert fitting.monitor is not None
        monitor = fitting.monitor.of_fold(self.fold, *self.rows)
        monitor.evaluations, monitor.snapshots = self.evaluations, self.snapshots
        return Trained(self.history, monitor)


def serve(
    fitting: CrossFit,
    index: int,
    train_one: TrainOne,
    shared: SharedNumbers,
    writer: Connection,
    inherited: list[Connection],
) -> None:
    """Train one network and send the result.

    Parameters
    ----------
    fitting : CrossFit
        As the process inherits it.
    index : int
        Of the network.
    train_one : callable (run, monitor, callbacks) -> bool
        Trains a network.
    shared : SharedNumbers
        Of the call.
    writer : Connection
        Takes the result.
    inherited : list of Connection
        Ends of pipes that are the parent's alone.
    """
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says when to stop: a terminal interrupts both
    for number in (signal.SIGTERM, signal.SIGHUP):  # the caller's own handlers must not run in the child
        signal.signal(number, signal.SIG_DFL)
    for reader in inherited:  # otherwise writes would succeed after the parent died
        reader.close()
    parent = os.getppid()
    if parent not in (0, shared.parent[0]):  # 0: it is in another name space
        return

    def is_stopped() -> bool:
        return bool(shared.stop[0]) or os.getppid() != parent

    with warnings.catch_warnings(record=True) as caught:
        result = _trained_alone(fitting, index, train_one, shared, is_stopped)
    if os.getppid() == parent:
        with suppress(BrokenPipeError):
            writer.send_bytes(
                _packed(result._replace(warnings=[(str(each.message), each.category) for each in caught]))
            )


def _trained_alone(
    fitting: CrossFit, index: int, train_one: TrainOne, shared: SharedNumbers, is_stopped: Callable[[], bool]
) -> Result:
    result, run, monitor = Result(index, False), None, None
    try:
        run, monitor = fitting.begin_alone(index)
        assert monitor is not None

        def advance(step: Any) -> bool:
            shared.steps[index] += 1
            monitor.most_evaluations = shared.most_evaluations(index)
            return is_stopped()

        complete = train_one(run, monitor, [advance])
        shared.evaluations[index] = len(monitor.evaluations) if complete else 0
        parameters = [] if complete else run.averaged_parameters()
        result = result._replace(complete=complete, parameters=parameters)
    except BaseException as error:
        result = result._replace(error=error, traceback=traceback.format_exc())
    if run is None or monitor is None:
        return result
    run.close()
    rows = monitor.signs, monitor.weight, monitor.cell
    return result._replace(history=run.history, rows=rows, evaluations=monitor.evaluations, snapshots=monitor.snapshots)


def _packed(result: Result) -> bytes:
    """A result as bytes; what cannot be pickled, or be made from that again, is told in words."""
    known = [(message, category if _takes(category, message) else UserWarning) for message, category in result.warnings]
    error = result.error
    if error is not None and not _travels(error):
        error = RuntimeError(f"{type(error).__name__}: {error}")
    result = result._replace(warnings=known, error=error)
    try:
        return pickle.dumps(result)
    except Exception:
        why = "a network's record cannot be sent to another process: its driver's duals must be numbers."
        return pickle.dumps(Result(result.fold, False, error=ValueError(f"{why} {ONE_PROCESS}")))


def _takes(category: type[Warning], message: str) -> bool:
    """Whether a warning of this kind can be made here from its message."""
    try:
        return _travels(category(message))
    except Exception:
        return False


def _travels(value: Any) -> bool:
    try:
        pickle.loads(pickle.dumps(value))
    except Exception:
        return False
    return True
