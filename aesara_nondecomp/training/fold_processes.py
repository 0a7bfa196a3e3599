"""Networks of folds that are trained in parallel, each in a forked process of its own.

The model is that of training one network after another, to the last bit: each network has a generator of its own, and
what it did past the point where its predecessors would have stopped it is discarded, errors included. What training
calls is compiled before the processes begin, so that these share it and the rows.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np

from aesara_nondecomp._aesara.imports import aesara
from aesara_nondecomp._aesara.linked_blas import one_blas_thread, threads_of_steps
from aesara_nondecomp._arrays import is_sparse
from aesara_nondecomp._checks import warn_caller
from aesara_nondecomp.step.locks import ForkedLock
from aesara_nondecomp.step.prefetch import row_loader_for
from aesara_nondecomp.training.cross_fitting import CrossFit
from aesara_nondecomp.training.fold_child import ONE_PROCESS, Result, SharedNumbers, TrainOne, serve
from aesara_nondecomp.training.loop import compile_step

# In multiply-adds. With less in all, about a second, processes would save no more than they take to start; from so many
# in the product of a layer, a step shares its rows among threads by itself (see ops/cpp/threads.h).
LEAST_WORK, LARGE_LAYER = 6e10, 8e6
ROOM = 2**30  # bytes of rows that all processes may copy
POLL = 0.05  # seconds between two looks at the progress
_FORKING = ForkedLock()  # by one thread at a time, as filters of warnings belong to all


def processes_for(fitting: CrossFit) -> int:
    """How many networks of a call are trained in parallel.

    Parameters
    ----------
    fitting : CrossFit
        Before its first step.

    Returns
    -------
    int
        1 for one after another.
    """
    if fitting.count == 1 or fitting.monitor is None or not _may_fork(fitting):
        return 1
    sizes = [value.get_value(borrow=True).size for value in fitting.functions.network.parameters]
    batch = min(fitting.settings.batch_size, len(fitting.run.rows.signs))
    if 3.0 * batch * sum(sizes) * fitting.total < LEAST_WORK or batch * max(sizes) >= LARGE_LAYER:
        return 1
    fit_in = ROOM // max(1, _n_bytes(fitting.data.rows.X))
    return max(1, min(fitting.count, threads_of_steps(aesara.config.blas__ldflags), fit_in))


def train_in_parallel(fitting: CrossFit, processes: int, train_one: TrainOne, advance: Callable[[Any], Any]) -> bool:
    """Train all networks of a call.

    Parameters
    ----------
    fitting : CrossFit
        Before its first step; has all networks then. After an interrupt it has what they had made.
    processes : int
        How many there are at a time, at least 2.
    train_one : callable (run, monitor, callbacks) -> bool
        Trains a network.
    advance : callable
        Called once for each step, with any argument.

    Returns
    -------
    bool
        False if the system allows not even the first process, and nothing was done.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C.
    OSError
        If the system allows no further process after the first one.
    RuntimeError
        If a process ends without a result.
    BaseException
        What training raised.
    """
    _prepare(fitting)
    one_thread = one_blas_thread(aesara.config.blas__ldflags)
    with _interrupts_noted() as interrupted, one_thread, _Workers(fitting, train_one, advance) as workers:
        try:
            for index in range(fitting.count):
                while not interrupted and (len(workers.running) >= processes or not workers.start(index)):
                    if not workers.running and not interrupted:
                        return False
                    workers.poll()
            while workers.running and not interrupted:
                workers.poll()
        except KeyboardInterrupt:  # by a handler of the caller's own
            interrupted.append(signal.SIGINT)
        if interrupted:
            workers.stop()
    if interrupted:
        raise KeyboardInterrupt
    return True


class _Workers:
    """The processes of one call; results are taken over in the order of the networks."""

    def __init__(self, fitting: CrossFit, train_one: TrainOne, advance: Callable[[Any], Any]) -> None:
        self.running: dict[Connection, tuple[int, Any]] = {}
        self._fitting, self._train_one, self._advance = fitting, train_one, advance
        self._waiting: dict[int, Result] = {}  # for those of networks before
        self._shared = SharedNumbers(fitting.count)
        self._shown, self._warned, self._stopping = 0, set[str](), False

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self._shared.stop[0] = True  # also for a process whose start was cut short, so that it is not known here
        for _index, process in self.running.values():
            process.kill()
        for reader, (_index, process) in self.running.items():
            process.join()
            reader.close()

    def start(self, index: int) -> bool:
        """Start the process of a network; False if the system allows none, or none before another one has ended."""
        try:
            reader, writer = multiprocessing.get_context("fork").Pipe(duplex=False)
        except OSError as error:
            return self._refused(index, error)
        given = (self._fitting, index, self._train_one, self._shared, writer)
        inherited = [*self.running, reader]
        process = multiprocessing.get_context("fork").Process(target=serve, args=(*given, inherited), daemon=True)
        try:
            with _FORKING, _no_warning_of_threads():
                process.start()
        except OSError as error:
            reader.close()
            return self._refused(index, error)
        finally:
            writer.close()
        self.running[reader] = index, process
        return True

    def _refused(self, index: int, error: OSError) -> bool:
        """False; or the error, where others have ended without being of help."""
        if index and not self.running:
            raise error
        return False

    def poll(self) -> None:
        """Wait a moment for results, and show the steps made meanwhile."""
        ready = wait(list(self.running), timeout=POLL)
        for reader, (_index, process) in list(self.running.items()):
            # There may be no end of file, as a process forked by another thread may hold the other end.
            if reader in ready or not process.is_alive():
                self._take(reader)
        made = int(self._shared.steps.sum())
        for _ in range(made - self._shown):
            self._advance(None)
        self._shown = made

    def stop(self) -> None:
        """Have all processes stop after their current step, or their first one, and take their results."""
        self._shared.stop[0] = self._stopping = True
        while self.running:
            self.poll()
        first = self._waiting.get(0)
        evaluated = self._fitting.done or any(result.evaluations for result in self._waiting.values())
        if first and first.parameters and not evaluated:
            self._fitting.begin_with(first.history, first.parameters)
            return
        for complete in (True, False):
            for _, result in sorted(self._waiting.items()):
                if result.complete is complete and result.error is None:
                    (self._fitting.adopt if complete else self._fitting.adopt_unfinished)(result.trained(self._fitting))

    def _take(self, reader: Connection) -> None:
        index, process = self.running.pop(reader)
        try:
            sent = reader.recv_bytes() if reader.poll() else b""
        except (EOFError, OSError):
            sent = b""
        reader.close()
        if not sent:
            process.kill()
        process.join()
        if not sent and self._stopping:
            return
        if not sent:
            raise RuntimeError(_ended(index, self._fitting.count, process.exitcode))
        self._waiting[index] = pickle.loads(sent)
        while not self._stopping and len(self._fitting.done) in self._waiting:
            self._adopt(self._waiting.pop(len(self._fitting.done)))

    def _adopt(self, result: Result) -> None:
        """Take over a network all of whose predecessors are done, or raise the error that ended its training."""
        trained = result.trained(self._fitting)
        if result.error is not None and not self._fitting.is_cut(trained):
            raise result.error from _WorkerError(result.traceback)
        if result.error is None and not result.complete:
            raise RuntimeError(f"a process stopped training too early. {ONE_PROCESS}")
        for message, category in result.warnings:
            if message not in self._warned:
                self._warned.add(message)
                warn_caller(message, category)
        self._fitting.adopt(trained)


class _WorkerError(Exception):
    """Where an error arose in another process."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def _ended(index: int, count: int, status: int | None) -> str:
    how = f"with status {status}"
    if status is not None and status < 0:
        how = f"by signal {-status}" + (", perhaps for lack of memory" if -status == signal.SIGKILL else "")
    return f"the process that trained network {index + 1} of {count} ended {how}, without a result. {ONE_PROCESS}"


def _may_fork(fitting: CrossFit) -> bool:
    """Whether training is our own C++ on tables in memory, and this process can have others."""
    ours = fitting.functions.backend == "c" and fitting.functions.comm.size == 1
    whole = not any(phase.head_only for phase in fitting.phases)
    X = fitting.data.rows.X
    in_memory = (type(X) is np.ndarray and X.dtype.kind == "f") or is_sparse(X)
    # MPI does not allow forks, nor does Python below a daemon, as in some pools of workers.
    free = "mpi4py.MPI" not in sys.modules and not multiprocessing.current_process().daemon
    return sys.platform == "linux" and ours and whole and in_memory and free


def _prepare(fitting: CrossFit) -> None:
    """Compile what the processes call, and leave the functions configured as training leaves them."""
    assert fitting.monitor is not None
    functions, settings = fitting.functions, fitting.settings
    functions.configure(l2=settings.l2, averaging=settings.averaging, temperature=settings.temperature)
    for phase in fitting.run.phases:
        compile_step(functions, phase.driver)
    functions.scores(fitting.monitor.X[:1])
    row_loader_for(fitting.run.rows.X, functions.backend)


def _n_bytes(X: Any) -> int:
    return int(X.data.nbytes + X.indices.nbytes) if is_sparse(X) else int(X.nbytes)


@contextmanager
def _interrupts_noted() -> Iterator[list[int]]:
    """Ctrl-C adds to a list, so that nothing is cut short that must be put right; the second one interrupts."""
    noted: list[int] = []

    def note(number: int, frame: Any) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        noted.append(number)

    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not usual or threading.current_thread() is not threading.main_thread():
        yield noted
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def _no_warning_of_threads() -> Iterator[None]:
    """Of forks beside threads Python warns, as does JAX; ours start anew in the child (see ops/cpp/threads.h)."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"(?s).*fork\(\)")
        yield
