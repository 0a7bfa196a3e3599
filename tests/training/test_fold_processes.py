"""Networks of folds trained in parallel: the same models, one report of what went wrong, no process left."""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp import EarlyStopping, TrainFunctions, mlp
from aesara_nondecomp.step.class_functions import ClassFunctions
from aesara_nondecomp.training import fold_processes, trainer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="networks are trained in parallel on Linux")

N_ROWS, D, FOLDS, STEPS = 150, 3, 4, 60
rng = np.random.default_rng(3)
Y = np.where(np.arange(N_ROWS) % 3 == 0, 1, -1)
X = (rng.standard_normal((N_ROWS, D)) + 0.9 * Y[:, None]).astype("float32")


@pytest.fixture(scope="module")
def functions():
    return TrainFunctions(mlp(D, (4,), dropout=0.2, seed=0))


@pytest.fixture(autouse=True)
def counted(monkeypatch):
    """Any amount of work is enough, and two processes are allowed; how many were used in each call."""
    used = []
    monkeypatch.setattr(fold_processes, "LEAST_WORK", 0.0)
    monkeypatch.setattr(fold_processes, "threads_of_steps", lambda ldflags: 2)
    plain = fold_processes.processes_for
    monkeypatch.setattr(trainer, "processes_for", lambda fitting: used.append(plain(fitting)) or used[-1])
    yield used
    assert not our_processes()


def our_processes():
    """Those that fit has started and not ended: daemons, other than the workers that other tests leave behind."""
    return [process for process in multiprocessing.active_children() if process.daemon]


def fit(functions, X=X, y=Y, measure="f1", one_after_another=False, **options):
    how = EarlyStopping(FOLDS, every=4, patience=2)
    given = {"validation": how, "steps": STEPS, "batch_size": 16, "learning_rate": 0.05, "seed": 5}
    callback = {"on_step": lambda step: None} if one_after_another else {}  # which sees each step as it is made
    return an.fit(X, y, measure, network=functions, **{**given, **callback, **options})


def facts(model):
    """All that a model is, but for the time that its steps took."""
    networks = [model.parameters, *model.voters]
    arrays = [value.tobytes() for parameters in networks for value in parameters]
    steps = [step._replace(seconds=0.0) for step in model.history]
    return arrays, steps, model.evaluations, getattr(model, "threshold", None)


def test_networks_trained_in_parallel_are_those_trained_one_after_another(functions, counted):
    first, second = fit(functions), fit(functions, one_after_another=True)
    assert counted == [2]  # the second call was not asked
    assert facts(first) == facts(second)
    lengths = [step.step for step in first.history]
    assert lengths == list(range(1, len(lengths) + 1)) and len(first.voters) == FOLDS - 1
    assert len(lengths) < FOLDS * STEPS  # patience ended some
    seconds = [step.seconds for step in first.history]
    assert seconds == sorted(seconds)


def test_so_are_networks_of_several_classes_with_groups_whose_duals_move(counted):
    rng = np.random.default_rng(4)
    classes, groups = np.arange(600) % 3, np.arange(600) // 3 % 2
    rows = rng.standard_normal((600, D)).astype("float32") + np.eye(3, dtype="float32")[classes]
    functions = ClassFunctions(mlp(D, (4,), n_scores=3, seed=0), an.measures.multiclass.Cells(np.full(3, 1 / 3)))
    options = {"X": rows, "y": classes, "measure": "worst_cell", "groups": groups, "validation": 3}
    first, second = fit(functions, **options), fit(functions, **options, one_after_another=True)
    assert counted == [2] and any("lambda" in name or "alpha" in name for name in first.history[-1].duals)
    assert facts(first) == facts(second)


def test_a_last_network_on_all_rows_follows(functions):
    how = EarlyStopping(FOLDS, every=4, patience=2, refit=True)
    assert facts(fit(functions, validation=how)) == facts(fit(functions, validation=how, one_after_another=True))


def test_weights_and_sparse_rows_come_through(functions, counted):
    from scipy.sparse import csr_matrix

    weights = np.random.default_rng(1).uniform(0.5, 2.0, N_ROWS)
    for rows in (X, csr_matrix(X)):
        options = {"X": rows, "sample_weight": weights}
        assert facts(fit(functions, **options)) == facts(fit(functions, **options, one_after_another=True))
    assert counted == [2, 2]


def test_all_steps_count_as_progress_and_the_functions_are_compiled_here(monkeypatch):
    advanced = []
    monkeypatch.setattr(trainer, "progress_bar", lambda *given: contextlib.nullcontext(advanced.append))
    functions = TrainFunctions(mlp(D, (4,), seed=0))
    model = fit(functions, l2=0.01)
    assert len(model.history) <= len(advanced) <= FOLDS * STEPS  # some made steps that do not count
    assert "_ascend" in vars(functions) and functions._optimiser_state._decay.get_value().max() > 0


# -- errors and warnings ---------------------------------------------------------------------------------------------


def instead_of_training(act, monkeypatch):
    """Something else happens in the processes: a function of the run, the monitor and the callbacks."""
    plain = trainer._train_one
    monkeypatch.setattr(trainer, "_train_one", lambda *given: act(*given) or plain(*given))


def test_an_error_in_a_process_is_raised_here_with_its_place(functions, counted):
    with pytest.raises(ValueError, match="diverged") as raised:
        fit(functions, learning_rate=1e37)
    assert "fold_child" in str(raised.value.__cause__) and counted == [2]


class TwoPartsError(ValueError):
    """Pickles, and cannot be made from that again."""

    def __init__(self, what, why):
        super().__init__(f"{what}, {why}")


class LocalWarning(UserWarning):
    def __init__(self, what, why):
        super().__init__(f"{what}, {why}")


def test_an_error_that_cannot_be_sent_is_told_in_words(functions, monkeypatch):
    def failing(run, monitor, callbacks):
        raise TwoPartsError("no such row", "it was removed")

    instead_of_training(failing, monkeypatch)
    with pytest.raises(RuntimeError, match="TwoPartsError: no such row, it was removed"):
        fit(functions)


def test_an_exit_is_one_here_too(functions, monkeypatch):
    instead_of_training(lambda *given: sys.exit(3), monkeypatch)
    with pytest.raises(SystemExit) as raised:
        fit(functions)
    assert raised.value.args == (3,)


def test_a_record_that_cannot_be_sent_is_named(functions, monkeypatch):
    instead_of_training(lambda run, *rest: setattr(run, "history", [lambda: None]), monkeypatch)
    with pytest.raises(ValueError, match="its driver's duals must be numbers"):
        fit(functions)


def test_an_error_past_the_point_where_a_network_would_have_been_stopped_does_not_count(functions, monkeypatch):
    """Of two networks the second one fails after an evaluation that the first one, which stops, does not reach."""
    failed = multiprocessing.get_context("fork").Event()
    plain, serve, index = trainer._train_one, fold_processes.serve, []

    def failing_late(run, monitor, callbacks):
        monitor.patience = None if index[0] else 1
        if index[0] == 0:
            assert failed.wait(60)
            return plain(run, monitor, callbacks)

        def watch(step):
            if len(monitor.evaluations) == STEPS // 4:
                failed.set()
                raise ValueError("past the point")

        return plain(run, monitor, [*callbacks, watch])

    monkeypatch.setattr(trainer, "_train_one", failing_late)
    monkeypatch.setattr(fold_processes, "serve", lambda fitting, k, *rest: index.append(k) or serve(fitting, k, *rest))
    model = fit(functions, validation=EarlyStopping(2, every=4, patience=5))
    assert len(model.voters) == 1 and len(model.evaluations) < STEPS // 4


def test_a_network_in_training_stops_once_one_before_it_has(functions, monkeypatch):
    """Of two, the second waits until it has heard of the first, which stops long before the last step."""
    plain, serve, index = trainer._train_one, fold_processes.serve, []

    def waiting(run, monitor, callbacks):
        monitor.patience, deadline = None if index[0] else 1, time.monotonic() + 60

        def wait(step):
            while index[0] and monitor.most_evaluations is None and time.monotonic() < deadline:
                callbacks[0](step)

        complete = plain(run, monitor, [wait, *callbacks])
        assert len(monitor.evaluations) == (monitor.most_evaluations or len(monitor.evaluations)) < STEPS // 4
        return complete

    monkeypatch.setattr(trainer, "_train_one", waiting)
    monkeypatch.setattr(fold_processes, "serve", lambda fitting, k, *rest: index.append(k) or serve(fitting, k, *rest))
    assert len(fit(functions, validation=EarlyStopping(2, every=4)).voters) == 1


def test_a_warning_of_several_processes_comes_once(functions, monkeypatch):
    instead_of_training(lambda *given: warnings.warn(LocalWarning("few", "rows"), stacklevel=1), monkeypatch)
    with pytest.warns(UserWarning, match="few, rows") as caught:
        fit(functions)
    assert len([each for each in caught if "few, rows" in str(each.message)]) == 1
    assert caught[0].filename == __file__


def test_threads_of_the_caller_are_no_reason_to_warn(functions):
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fit(functions)
    finally:
        done.set()
        other.join()


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_that_is_killed_ends_the_call_with_an_error(how, held, functions, monkeypatch):
    """Also where somebody holds the other end of its pipe, as a process that another thread has forked may."""
    context, copies = multiprocessing.get_context("fork"), []
    pipe = context.Pipe

    def held_pipe(duplex):
        reader, writer = pipe(duplex)
        copies.append(os.dup(writer.fileno()))
        return reader, writer

    if held:
        monkeypatch.setattr(context, "Pipe", held_pipe)
    before = signal.signal(signal.SIGTERM, lambda *given: None)  # the caller's own handler is not for the processes
    instead_of_training(lambda *given: os.kill(os.getpid(), how), monkeypatch)
    try:
        with pytest.raises(RuntimeError, match=rf"network \d of 4 ended by signal {how.value}.*OMP_NUM_THREADS=1"):
            fit(functions)
    finally:
        signal.signal(signal.SIGTERM, before)
        for copy in copies:
            os.close(copy)


@pytest.mark.parametrize("allowed", [0, 1, 2])
def test_where_the_system_allows_fewer_processes_they_do(allowed, functions, monkeypatch, counted):
    expected = facts(fit(functions))
    kind = multiprocessing.get_context("fork").Process
    start = kind.start

    def limited(self):
        if len(our_processes()) >= allowed:
            raise BlockingIOError(11, "no more processes")
        start(self)

    monkeypatch.setattr(kind, "start", limited)
    assert facts(fit(functions)) == expected and counted == [2, 2]


def test_where_the_system_allows_no_further_process_the_error_says_so(functions, monkeypatch):
    context = multiprocessing.get_context("fork")
    pipes = iter([context.Pipe(duplex=False)])

    def pipe(duplex):
        for made in pipes:
            return made
        raise OSError(24, "too many open files")

    monkeypatch.setattr(context, "Pipe", pipe)
    with pytest.raises(OSError, match="too many open files"):
        fit(functions)


# -- interrupts ------------------------------------------------------------------------------------------------------


def interrupted_after(steps, monkeypatch):
    """Ctrl-C here and in all processes when the first two have made so many steps; then they wait for their end."""
    plain, parent = trainer._train_one, os.getpid()
    ready = multiprocessing.get_context("fork").Barrier(2)

    def interrupting(run, monitor, callbacks):
        def watch(step):
            if len(run.history) == steps:
                os.kill(os.getpid(), signal.SIGINT)
                if ready.wait(60) == 0:
                    os.kill(parent, signal.SIGINT)
                while not callbacks[0](step):  # which says when to stop
                    pass
                return True
            return callbacks[0](step)

        return plain(run, monitor, [watch])

    monkeypatch.setattr(trainer, "_train_one", interrupting)


def test_an_interrupt_returns_the_best_weights_so_far(functions, monkeypatch):
    interrupted_after(10, monkeypatch)
    with pytest.warns(UserWarning, match="training was interrupted after"):
        model = fit(functions)
    assert model.interrupted and len(model.evaluations) == 2 and model.best_step in (4, 8) and len(model.voters) == 1
    assert np.isfinite(model.decision_function(X)).all()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("trained", [(0, 1), (1, 2)])
def test_an_interrupt_keeps_the_networks_that_were_complete(trained, functions, monkeypatch):
    """Ctrl-C by the last one to begin, when two others are complete."""
    plain, serve, parent, index = trainer._train_one, fold_processes.serve, os.getpid(), []
    complete = multiprocessing.get_context("fork").Semaphore(0)

    def interrupting(run, monitor, callbacks):
        if index[0] in trained:
            ended = plain(run, monitor, callbacks)
            complete.release()
            return ended
        if index[0] == max(trained) + 1:
            assert complete.acquire(timeout=60) and complete.acquire(timeout=60)
            os.kill(parent, signal.SIGINT)
        while not callbacks[0](None):
            pass
        return False

    monkeypatch.setattr(trainer, "_train_one", interrupting)
    monkeypatch.setattr(fold_processes, "serve", lambda fitting, k, *rest: index.append(k) or serve(fitting, k, *rest))
    with pytest.warns(UserWarning, match="training was interrupted after"):
        model = fit(functions)
    assert model.interrupted and len(model.voters) == 1 and len(model.evaluations) > 2


def test_a_handler_of_the_callers_own_that_interrupts_leaves_a_model_too(functions, monkeypatch):
    def interrupt(number, frame):
        raise KeyboardInterrupt

    interrupted_after(10, monkeypatch)
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        with pytest.warns(UserWarning, match="training was interrupted after"):
            model = fit(functions)
        assert model.interrupted and len(model.evaluations) == 2
        assert signal.getsignal(signal.SIGINT) is interrupt
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_before_the_first_evaluation_returns_the_weights_so_far(functions, monkeypatch):
    interrupted_after(3, monkeypatch)
    with pytest.warns(UserWarning, match="training was interrupted after 3 of"):
        model = fit(functions, validation=EarlyStopping(FOLDS, every=20))
    assert model.interrupted and not model.voters and len(model.history) == 3 and not model.evaluations


def test_interrupts_at_any_moment_leave_no_process_and_no_other_error(functions, monkeypatch):
    moments = np.random.default_rng(0).uniform(0.0, 0.25, 20)
    parent = os.getpid()
    for moment in moments:
        timer = threading.Timer(moment, os.kill, (parent, signal.SIGINT))
        try:
            timer.start()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fit(functions, steps=400, validation=EarlyStopping(FOLDS, every=10, patience=None))
            timer.join()
            threading.Event().wait(0.01)
        except KeyboardInterrupt:
            pass
        timer.join()
        assert not our_processes()


@pytest.mark.parametrize("moment", ["in training", "before the result"])
def test_a_child_whose_parent_was_killed_ends(moment, tmp_path):
    """Its result is larger than what a pipe holds; a training of its own would take an hour."""
    script = f"""
import os, signal, sys
sys.path[:0] = {sys.path!r}
import numpy as np
import aesara_nondecomp as an
from aesara_nondecomp.training import fold_child, fold_processes, trainer
fold_processes.LEAST_WORK, fold_processes.threads_of_steps = 0.0, lambda ldflags: 2
plain, packed = trainer._train_one, fold_child._packed
def kill():
    os.kill(os.getppid(), signal.SIGKILL)
def one(run, monitor, callbacks):
    open({str(tmp_path)!r} + f"/{{os.getpid()}}", "w").close()
    if {moment == "before the result"}:
        return True
    kill()
    return plain(run, monitor, callbacks)
trainer._train_one = one
large = [os.urandom(1000) for _ in range(1000)]
fold_child._packed = lambda result: kill() or packed(result._replace(history=large))
y = np.arange(200) % 2
an.fit(np.random.default_rng(0).normal(size=(200, 3)), y, network=(4,), validation=2, steps=10_000_000, seed=0)
"""
    with open(tmp_path / "stderr", "wb") as stderr:  # no pipe, which the children would hold open
        parent = subprocess.run([sys.executable, "-c", script], stderr=stderr, timeout=600, check=False)
    assert parent.returncode == -signal.SIGKILL, (tmp_path / "stderr").read_text()
    children = [int(name) for name in os.listdir(tmp_path) if name.isdigit()]
    for _ in range(600):
        if not any(map(running, children)):
            break
        threading.Event().wait(0.05)
    assert children and not any(map(running, children))
    assert (tmp_path / "stderr").read_text() == ""


def running(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


# -- when they are not -----------------------------------------------------------------------------------------------


def test_one_after_another_with_a_checkpoint_or_a_callback_that_sees_each_step(functions, counted, tmp_path):
    fit(functions, checkpoint=tmp_path / "run.npz")
    fit(functions, one_after_another=True)
    assert counted == []


REASONS = {
    "one thread": (fold_processes, "threads_of_steps", lambda ldflags: 1),
    "little work": (fold_processes, "LEAST_WORK", 1e12),
    "large layers": (fold_processes, "LARGE_LAYER", 10.0),
    "no room": (fold_processes, "ROOM", 10),
    "another system": (sys, "platform", "darwin"),
}


@pytest.mark.parametrize("reason", REASONS)
def test_one_after_another_where_processes_do_not_pay_or_cannot_be(reason, functions, counted, monkeypatch):
    monkeypatch.setattr(*REASONS[reason])
    fit(functions)
    assert counted == [1]


def test_one_after_another_below_a_daemon_and_beside_mpi(functions, counted, monkeypatch):
    with monkeypatch.context() as within:
        within.setitem(multiprocessing.current_process()._config, "daemon", True)
        fit(functions)
    with monkeypatch.context() as within:
        within.setitem(sys.modules, "mpi4py.MPI", None)
        fit(functions)
    assert counted == [1, 1]


def test_one_after_another_for_one_network_mapped_rows_and_recipes_of_the_head(functions, counted, tmp_path):
    fit(functions, validation=0.2)
    np.save(tmp_path / "rows.npy", X)
    fit(functions, X=np.load(tmp_path / "rows.npy", mmap_mode="r"))
    fit(functions, algorithm="paper_dame", validation=EarlyStopping(2))
    assert counted == [1, 1, 1]


def test_a_child_of_the_callers_trains_in_processes_of_its_own(functions, counted):
    """A pool of workers that are no daemons, as of concurrent.futures, calls fit in a forked process."""
    expected = facts(fit(functions))[0]
    reader, writer = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=lambda: writer.send((facts(fit(functions))[0], counted)), daemon=False
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python and JAX warn of forks beside threads
        process.start()
    assert reader.poll(60) and reader.recv() == (expected, [2, 2])
    process.join()
